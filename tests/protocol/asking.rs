//! Approval by a client that can ask its user, in both eras: what the user is shown, what each answer does, and what no
//! answer can do.

#![cfg(unix)]

use std::io::{Read, Write};
use std::net::TcpStream;

use emend_testkit::client::patch;
use emend_testkit::{Answer, Client, Folder, Http, HttpServer, Launch};
use serde_json::{Value, json};

use crate::policy::serve_with;
use crate::{EMEND, launch};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Era {
    Legacy,
    Modern,
}

const ERAS: [Era; 2] = [Era::Legacy, Era::Modern];

fn start(launch: &Launch, era: Era) -> Client {
    match era {
        Era::Legacy => launch.legacy(),
        Era::Modern => launch.modern(),
    }
}

/// A client that can ask, of a server where every edit needs a person's word.
fn asking(folder: &Folder, era: Era) -> Client {
    start(&launch(folder).argument("--mode").argument("ask").asking(), era)
}

/// A question, and the call that waits for its answer.
struct Question {
    era: Era,
    tool: String,
    arguments: Value,
    /// The request of the server's own, or its answer.
    asked: Value,
    call: u64,
}

impl Question {
    /// Sends a call, which must lead to a question.
    fn from_call(client: &mut Client, era: Era, tool: &str, arguments: Value) -> Self {
        let call = client.send_call(tool, arguments.clone());
        let asked = match era {
            Era::Legacy => client.wait_for_request(),
            Era::Modern => client.wait(call).unwrap(),
        };
        Self { era, tool: tool.to_owned(), arguments, asked, call }
    }

    /// What the person reads and fills in.
    fn form(&self) -> &Value {
        let request = match self.era {
            Era::Legacy => &self.asked,
            Era::Modern => {
                assert_eq!(self.asked["resultType"], "input_required", "{}", self.asked);
                &self.asked["inputRequests"]["approve"]
            }
        };
        assert_eq!(request["method"], "elicitation/create");
        &request["params"]
    }

    /// The person answers. Yields the answer to the call.
    fn answer(&self, client: &mut Client, said: &Value) -> Answer {
        match self.era {
            Era::Legacy => {
                client.respond(&self.asked, said.clone());
                client.answer(self.call)
            }
            Era::Modern => Answer::from_result(&self.again(client, said).unwrap()),
        }
    }

    /// The same call with the answer, as clients of 2026 send it.
    fn again(&self, client: &mut Client, said: &Value) -> Result<Value, Value> {
        let call = json!({"name": self.tool, "arguments": self.arguments,
                          "inputResponses": {"approve": said}, "requestState": self.asked["requestState"]});
        client.request("tools/call", call)
    }
}

fn yes() -> Value {
    json!({"action": "accept", "content": {"approve": true}})
}

fn replace(path: &str, old: &str, new: &str) -> Value {
    json!({"path": path, "old_string": old, "new_string": new})
}

fn waiting(folder: &Folder) -> Vec<Value> {
    let listed = emend_testkit::command(EMEND)
        .args(["approve", "--json", "--state-dir"])
        .arg(folder.state())
        .output()
        .unwrap();
    serde_json::from_slice(&listed.stdout).unwrap()
}

#[test]
fn a_person_is_shown_the_edit_and_their_yes_makes_it() {
    for era in ERAS {
        let folder = Folder::with([("a.txt", "one\n```\n\u{1b}[2K\n")]);
        let mut client = asking(&folder, era);
        let question = Question::from_call(&mut client, era, "str_replace", replace("a.txt", "one", "ONE"));
        let form = question.form();
        assert_eq!(form["requestedSchema"]["required"], json!(["approve"]));
        assert_eq!(form["requestedSchema"]["properties"]["approve"]["type"], "boolean");
        let message = form["message"].as_str().unwrap();
        let change = "Approve an edit of `a.txt` (+1 -1) at line 1?\n\n```diff\n-one\n+ONE\n```\n";
        assert!(message.starts_with(change), "{message}");
        for part in ["testkit", "str_replace", "the mode is ask", "`emend review`"] {
            assert!(message.contains(part), "{part} in {message}");
        }
        assert_eq!(folder.text("a.txt"), "one\n```\n\u{1b}[2K\n");
        question.answer(&mut client, &yes()).ok();
        assert_eq!(folder.text("a.txt"), "ONE\n```\n\u{1b}[2K\n");
        assert_eq!(waiting(&folder).len(), 0);
    }
}

#[test]
fn what_is_no_yes_changes_nothing() {
    for era in ERAS {
        let folder = Folder::with([("a.txt", "old\n")]);
        let mut client = asking(&folder, era);
        for (said, code) in [
            (json!({"action": "decline"}), "approval-denied"),
            (json!({"action": "accept", "content": {"approve": false}}), "approval-denied"),
            (json!({"action": "cancel"}), "approval-needed"),
            (json!({"action": "accept", "content": {}}), "approval-needed"),
        ] {
            let question =
                Question::from_call(&mut client, era, "str_replace", replace("a.txt", "old", "new"));
            question.answer(&mut client, &said).refused(code);
            assert_eq!(folder.text("a.txt"), "old\n");
        }
        // What was left open waits for the command.
        assert_eq!(waiting(&folder).len(), 1);
        let question = Question::from_call(&mut client, era, "str_replace", replace("a.txt", "old", "new"));
        question.answer(&mut client, &yes()).ok();
        assert_eq!(waiting(&folder).len(), 0);
    }
}

/// Codex for one declines by itself where it runs without a terminal: then nobody was asked.
#[test]
fn what_a_client_declines_while_its_call_waits_can_be_allowed_in_a_terminal() {
    let folder = Folder::with([("a.txt", "old\n")]);
    let mut client = asking(&folder, ERAS[0]);
    let question = Question::from_call(&mut client, ERAS[0], "str_replace", replace("a.txt", "old", "new"));
    let told = question.answer(&mut client, &json!({"action": "decline"})).refused("approval-denied").text;
    let id = waiting(&folder)[0]["id"].as_str().unwrap().to_owned();
    assert!(told.contains("emend approve") && told.contains(&id), "{told}");
    // It was not made, and a person is asked again.
    assert_eq!(folder.text("a.txt"), "old\n");
    let question = Question::from_call(&mut client, ERAS[0], "str_replace", replace("a.txt", "old", "new"));
    question.answer(&mut client, &yes()).ok();
    assert_eq!(waiting(&folder).len(), 0);
}

#[test]
fn a_client_that_cannot_ask_is_not_asked() {
    for era in ERAS {
        let folder = Folder::with([("a.txt", "old\n")]);
        let mut client = start(&launch(&folder).argument("--mode").argument("ask"), era);
        client.replace("a.txt", "old", "new").refused("approval-needed");
        assert_eq!(waiting(&folder).len(), 1);
    }
}

#[test]
fn what_cannot_be_shown_whole_is_not_asked_in_a_question() {
    for era in ERAS {
        let folder = Folder::new();
        let mut client = asking(&folder, era);
        let refused = |client: &mut Client, content: String| {
            let told = client.call("write_file", json!({"path": "a.txt", "content": content}));
            let told = told.refused("approval-needed").text;
            let waits = waiting(&folder);
            let edit = waits.iter().find(|edit| told.contains(edit["id"].as_str().unwrap())).unwrap();
            let diff = edit["diff"].as_str().unwrap();
            assert_eq!(
                diff.lines().filter(|line| line.starts_with('+')).count(),
                content.lines().count() + 1
            );
        };
        refused(&mut client, "line\n".repeat(1_000));
        refused(&mut client, "line\n".repeat(7));
        refused(&mut client, "x".repeat(120) + "\n");
        let six = json!({"path": "a.txt", "content": "line\n".repeat(6)});
        let question = Question::from_call(&mut client, era, "write_file", six);
        let message = question.form()["message"].as_str().unwrap();
        let start = "Approve a new file `a.txt` (+6 -0)?\n\n```diff\n+line\n";
        assert!(message.starts_with(start) && message.matches("+line\n").count() == 6, "{message}");
        question.answer(&mut client, &yes()).ok();
    }
}

/// Claude Code shows four lines of a question, each cut at the width of the terminal.
#[test]
fn a_question_in_claude_code_has_four_lines() {
    let folder = Folder::with([("a.txt", "one\ntwo\n```\n"), ("b.txt", "one\n")]);
    let mut client = launch(&folder).argument("--mode").argument("ask").asking().start();
    let opening = json!({"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}},
                         "clientInfo": {"name": "claude-code", "version": "2"}});
    client.request("initialize", opening).unwrap();
    client.write_line("{\"jsonrpc\": \"2.0\", \"method\": \"notifications/initialized\"}");
    let era = Era::Legacy;
    for (old, new, lines) in [
        ("two", "2", "(+1 -1) at line 2?\n`-two`\n`+2`"),
        ("```", "`", "(+1 -1) at line 3?\n```` -``` ````\n`` +` ``"),
        ("one\n", "one\n\tnew\n", "(+1 -0) at line 2?\n`+\tnew`"),
    ] {
        let question = Question::from_call(&mut client, era, "str_replace", replace("a.txt", old, new));
        let message = question.form()["message"].as_str().unwrap();
        let rest = "`emend review` shows it in its file. You are asked since the mode is ask.";
        assert_eq!(message, format!("Approve an edit of `a.txt` {lines}\n{rest}"));
        question.answer(&mut client, &json!({"action": "decline"})).refused("approval-denied");
    }
    for (old, new) in
        [("two", "TWO\nmore"), ("one\ntwo", "ONE\nTWO"), ("two", &"x".repeat(80)), ("two", &"\t".repeat(9))]
    {
        client.replace("a.txt", old, new).refused("approval-needed");
    }
    client
        .patch("*** Update File: a.txt\n@@\n-two\n+2\n*** Update File: b.txt\n@@\n+x\n")
        .refused("approval-needed");
    assert_eq!(folder.text("a.txt"), "one\ntwo\n```\n");
}

#[test]
fn every_way_to_edit_is_asked_about() {
    for era in ERAS {
        let folder = Folder::with([("a.txt", "a\n"), ("b.txt", "b\n")]);
        let mut client = asking(&folder, era);
        let allow = |client: &mut Client, tool: &str, arguments: Value| {
            Question::from_call(client, era, tool, arguments).answer(client, &yes()).ok()
        };
        let two =
            json!({"patch": patch("*** Update File: a.txt\n@@\n-a\n+A\n*** Update File: b.txt\n@@\n-b\n+B")});
        allow(&mut client, "apply_patch", two.clone());
        assert_eq!((folder.text("a.txt"), folder.text("b.txt")), ("A\n".into(), "B\n".into()));
        allow(&mut client, "undo_edit", json!({}));
        assert_eq!((folder.text("a.txt"), folder.text("b.txt")), ("a\n".into(), "b\n".into()));
        let preview = client.preview("apply_patch", two).ok().handle();
        let all = json!({"preview": preview});
        // The preview outlives a no, and answers again after a yes.
        let question = Question::from_call(&mut client, era, "apply_preview", all.clone());
        question.answer(&mut client, &json!({"action": "decline"})).refused("approval-denied");
        let done = allow(&mut client, "apply_preview", all.clone());
        assert_eq!(client.call("apply_preview", all).ok().structured["edit"], done.structured["edit"]);
        assert_eq!((folder.text("a.txt"), folder.text("b.txt")), ("A\n".into(), "B\n".into()));
    }
}

#[test]
fn one_of_two_files_is_enough_to_be_asked_and_one_that_needs_no_word_is_not() {
    for era in ERAS {
        let folder = Folder::with([("x.sql", "a\n"), ("a.txt", "a\n")]);
        let mut client = start(&launch(&folder).argument("--approve").argument("*.sql").asking(), era);
        client.replace("a.txt", "a", "b").ok();
        let both =
            json!({"patch": patch("*** Update File: x.sql\n@@\n-a\n+b\n*** Update File: a.txt\n@@\n-b\n+c")});
        let question = Question::from_call(&mut client, era, "apply_patch", both);
        let diff = "```diff\n@@ x.sql, line 1 @@\n-a\n+b\n@@ a.txt, line 1 @@\n-b\n+c\n```";
        assert!(question.form()["message"].as_str().unwrap().contains(diff), "all of it is shown");
        question.answer(&mut client, &yes()).ok();
        assert_eq!((folder.text("x.sql"), folder.text("a.txt")), ("b\n".into(), "c\n".into()));
        // What does not fit, or is forbidden, is not asked about.
        client.replace("x.sql", "nowhere", "x").refused("search-not-found");
        client.patch("*** Update File: x.sql\n@@\n-b\n+c\n*** Add File: .env\n+x").refused("path-forbidden");
    }
}

#[test]
fn a_file_that_changes_while_a_person_thinks_is_not_written() {
    for era in ERAS {
        let folder = Folder::with([("a.txt", "old\n")]);
        let mut client = asking(&folder, era);
        client.read("a.txt");
        let question = Question::from_call(&mut client, era, "str_replace", replace("a.txt", "old", "new"));
        folder.write("a.txt", "old\ntheirs\n");
        question.answer(&mut client, &yes()).refused("stale-file");
        assert_eq!(folder.text("a.txt"), "old\ntheirs\n");
    }
}

#[test]
fn what_nobody_has_read_and_changed_meanwhile_is_asked_about_again() {
    let folder = Folder::with([("a.txt", "old\n")]);
    let mut client = asking(&folder, Era::Legacy);
    let question =
        Question::from_call(&mut client, Era::Legacy, "str_replace", replace("a.txt", "old", "new"));
    folder.write("a.txt", "old\ntheirs\n");
    client.respond(&question.asked, yes());
    let second = client.wait_for_request();
    assert_eq!(folder.text("a.txt"), "old\ntheirs\n");
    client.respond(&second, yes());
    client.answer(question.call).ok();
    assert_eq!(folder.text("a.txt"), "new\ntheirs\n");

    let folder = Folder::with([("a.txt", "old\n")]);
    let mut client = asking(&folder, Era::Modern);
    let first = Question::from_call(&mut client, Era::Modern, "str_replace", replace("a.txt", "old", "new"));
    folder.write("a.txt", "old\ntheirs\n");
    let asked = first.again(&mut client, &yes()).unwrap();
    assert_eq!(folder.text("a.txt"), "old\ntheirs\n");
    let second = Question { asked, ..first };
    assert!(second.form()["message"].as_str().unwrap().contains("+new"));
    second.answer(&mut client, &yes()).ok();
    assert_eq!(folder.text("a.txt"), "new\ntheirs\n");
}

#[test]
fn others_edit_while_a_person_thinks() {
    for era in ERAS {
        let folder = Folder::with([("a.txt", "old\n"), ("b.txt", "old\n")]);
        let mut client = asking(&folder, era);
        let question = Question::from_call(&mut client, era, "str_replace", replace("a.txt", "old", "new"));
        serve_with(&folder, &[]).replace("b.txt", "old", "new").ok();
        client.read("b.txt");
        question.answer(&mut client, &yes()).ok();
        assert_eq!((folder.text("a.txt"), folder.text("b.txt")), ("new\n".into(), "new\n".into()));
    }
}

#[test]
fn a_call_that_is_cancelled_while_a_person_thinks_changes_nothing() {
    let folder = Folder::with([("a.txt", "old\n")]);
    let mut client = asking(&folder, Era::Legacy);
    let question =
        Question::from_call(&mut client, Era::Legacy, "str_replace", replace("a.txt", "old", "new"));
    let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": question.call}});
    client.write_line(&cancelled.to_string());
    client.read("a.txt");
    client.respond(&question.asked, yes());
    client.read("a.txt");
    assert_eq!(folder.text("a.txt"), "old\n");
    assert_eq!(waiting(&folder).len(), 0);
}

#[test]
fn a_client_that_goes_while_a_person_thinks_keeps_no_server() {
    let folder = Folder::with([("a.txt", "old\n")]);
    let mut client = asking(&folder, Era::Legacy);
    let _asked = Question::from_call(&mut client, Era::Legacy, "str_replace", replace("a.txt", "old", "new"));
    assert!(client.close().0.success());
    assert_eq!(folder.text("a.txt"), "old\n");
}

#[test]
fn the_state_of_a_question_is_good_for_its_call_and_for_one_time() {
    let folder = Folder::with([("a.txt", "old\n"), ("b.txt", "old\n")]);
    let mut client = asking(&folder, Era::Modern);
    let ask = |client: &mut Client| {
        Question::from_call(client, Era::Modern, "str_replace", replace("a.txt", "old", "new"))
    };
    let refused = |client: &mut Client, question: &Question| {
        assert_eq!(question.again(client, &yes()).unwrap_err()["code"], -32602);
        assert_eq!((folder.text("a.txt"), folder.text("b.txt")), ("old\n".into(), "old\n".into()));
    };
    let check = |client: &mut Client, alter: &dyn Fn(&mut Question)| {
        let mut question = ask(client);
        alter(&mut question);
        refused(client, &question);
    };
    let question = ask(&mut client);
    // With another file, with more arguments, for another tool.
    check(&mut client, &|question| question.arguments = replace("b.txt", "old", "new"));
    check(&mut client, &|question| question.arguments["replace_all"] = true.into());
    check(&mut client, &|question| question.tool = "edit_preview".into());
    // Altered at any place, or somebody's own.
    for part in [0, 1, 2] {
        check(&mut client, &|question| {
            let state = question.asked["requestState"].as_str().unwrap();
            let at = (state.len() - 1) * part / 2;
            let other = if state.as_bytes()[at] == b'A' { "B" } else { "A" };
            question.asked["requestState"] = [&state[..at], other, &state[at + 1..]].concat().into();
        });
    }
    for own in ["", "yes", "rs1.e30.AAAA"] {
        check(&mut client, &|question| question.asked["requestState"] = own.into());
    }
    // Of another process.
    let mut other = asking(&folder, Era::Modern);
    refused(&mut other, &question);
    question.answer(&mut client, &yes()).ok();
    assert_eq!(folder.text("a.txt"), "new\n");
    folder.write("a.txt", "old\n");
    refused(&mut client, &question);
}

#[test]
fn over_http_the_question_comes_before_the_answer_of_its_call() {
    let folder = Folder::with([("a.txt", "old\n")]);
    let server = HttpServer::start(&launch(&folder).argument("--mode").argument("ask"));
    let client = server.client().asking().legacy();
    let call = json!({"name": "str_replace", "arguments": replace("a.txt", "old", "new")});
    let mut stream = client.begin("tools/call", call);
    let asked = stream.next_message().unwrap();
    assert_eq!(asked["method"], "elicitation/create");
    assert_eq!(folder.text("a.txt"), "old\n");
    let said = json!({"jsonrpc": "2.0", "id": asked["id"], "result": yes()});
    assert_eq!(client.post(&said).finish().status, 202);
    Answer::from_result(&stream.last().outcome().unwrap()).ok();
    assert_eq!(folder.text("a.txt"), "new\n");
}

#[test]
fn a_server_that_is_told_to_stop_still_hears_the_answer_to_its_question() {
    let folder = Folder::with([("a.txt", "old\n")]);
    let server = HttpServer::start(&launch(&folder).argument("--mode").argument("ask"));
    let client = server.client().asking().legacy();
    let call = json!({"name": "str_replace", "arguments": replace("a.txt", "old", "new")});
    let mut stream = client.begin("tools/call", call);
    let asked = stream.next_message().unwrap();
    // Who stops takes no new connections: this one is kept.
    let mut kept = TcpStream::connect(server.address()).unwrap();
    kept.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let mut begin = [0; 12];
    kept.read_exact(&mut begin).unwrap();
    assert_eq!(&begin, b"HTTP/1.1 200");
    server.terminate();
    while TcpStream::connect(server.address()).is_ok() {
        std::thread::yield_now();
    }
    let said = json!({"jsonrpc": "2.0", "id": asked["id"], "result": yes()}).to_string();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nMcp-Session-Id: {}\r\n\
         Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         MCP-Protocol-Version: 2025-11-25\r\nContent-Length: {}\r\n\r\n",
        server.token(),
        client.session().unwrap(),
        said.len()
    );
    kept.write_all((head + &said).as_bytes()).unwrap();
    Answer::from_result(&stream.last().outcome().unwrap()).ok();
    assert_eq!(folder.text("a.txt"), "new\n");
    assert!(server.wait().success());
}

#[test]
fn over_http_the_state_of_a_question_belongs_to_its_token() {
    let folder = Folder::with([("a.txt", "old\n")]);
    let tokens = [("ann", "ann-has-this-long-token"), ("ben", "ben-has-that-long-token")];
    let launch = launch(&folder).argument("--mode").argument("ask");
    let server = HttpServer::with_tokens(&launch, &folder.beside("tokens"), &tokens);
    let [ann, ben] = tokens.map(|(_, token)| Http::new(server.address(), token).asking());
    let mut call = json!({"name": "str_replace", "arguments": replace("a.txt", "old", "new")});
    let asked = ann.request("tools/call", call.clone()).unwrap();
    assert_eq!(asked["resultType"], "input_required");
    call["requestState"] = asked["requestState"].clone();
    call["inputResponses"] = json!({"approve": yes()});
    assert_eq!(ben.request("tools/call", call.clone()).unwrap_err()["code"], -32602);
    assert_eq!(folder.text("a.txt"), "old\n");
    Answer::from_result(&ann.request("tools/call", call.clone()).unwrap()).ok();
    assert_eq!(ann.request("tools/call", call).unwrap_err()["code"], -32602);
    assert_eq!(folder.text("a.txt"), "new\n");
}

#[test]
fn over_http_another_server_may_get_the_answer_and_one_in_all_counts() {
    let folder = Folder::with([("a.txt", "old\n")]);
    let tokens = [("ann", "ann-has-this-long-token"), ("ben", "ben-has-that-long-token")];
    let launch = launch(&folder).argument("--mode").argument("ask");
    let server = || HttpServer::with_tokens(&launch, &folder.beside("tokens"), &tokens);
    let (first, next) = (server(), server());
    let client = |server: &HttpServer, token: usize| Http::new(server.address(), tokens[token].1).asking();
    let mut call = json!({"name": "str_replace", "arguments": replace("a.txt", "old", "new")});
    let asked = client(&first, 0).request("tools/call", call.clone()).unwrap();
    call["requestState"] = asked["requestState"].clone();
    call["inputResponses"] = json!({"approve": yes()});
    assert_eq!(client(&next, 1).request("tools/call", call.clone()).unwrap_err()["code"], -32602);
    assert_eq!(folder.text("a.txt"), "old\n");
    Answer::from_result(&client(&next, 0).request("tools/call", call.clone()).unwrap()).ok();
    assert_eq!(folder.text("a.txt"), "new\n");
    folder.write("a.txt", "old\n");
    for server in [&first, &next, &server()] {
        assert_eq!(client(server, 0).request("tools/call", call.clone()).unwrap_err()["code"], -32602);
    }
    assert_eq!(folder.text("a.txt"), "old\n");
}

#[test]
fn an_answer_without_a_state_is_none() {
    let folder = Folder::with([("a.txt", "old\n")]);
    let mut client = asking(&folder, Era::Modern);
    let call = json!({"name": "str_replace", "arguments": replace("a.txt", "old", "new"),
                      "inputResponses": {"approve": yes()}});
    assert_eq!(client.request("tools/call", call).unwrap()["resultType"], "input_required");
    assert_eq!(folder.text("a.txt"), "old\n");
}
