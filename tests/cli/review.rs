//! `emend review`: the page on loopback and its double in a terminal, for clients that show no page of their own.

#![cfg(unix)]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use emend_testkit::{Folder, at_terminal_ahead};
use serde_json::{Value, json};

use crate::{EMEND, serve};

/// `emend review`, for what is to be reviewed here.
fn review(folder: &Folder, arguments: &[&str]) -> Command {
    let mut command = emend_testkit::command(EMEND);
    command.arg("review").args(["--workspace"]).arg(folder.path()).arg("--state-dir").arg(folder.state());
    command.args(["--no-config", "--notify-lsp=false"]).args(arguments);
    command
}

/// A running page, and the browser of the person who has come in.
struct Page {
    process: Child,
    /// `127.0.0.1:PORT`
    address: String,
    token: String,
    cookie: String,
    key: String,
}

impl Drop for Page {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The head and the body of a response.
type Response = (String, String);

impl Page {
    fn open(folder: &Folder, arguments: &[&str]) -> Self {
        let mut command = review(folder, &["--no-open"]);
        command.args(arguments);
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines().map(Result::unwrap);
        let way = lines.find(|line| line.ends_with(".html")).expect("a file that leads to the page");
        let text = fs::read_to_string(&way).unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&way).unwrap().permissions().mode() & 0o777, 0o600);
        }
        let url = text.split("url=http://").nth(1).unwrap().split('"').next().unwrap();
        let (address, token) = url.split_once("/?").unwrap();
        let (address, token) = (address.to_owned(), token.to_owned());
        Self { process, address, token, cookie: String::new(), key: String::new() }
    }

    /// Comes in with the token, as the browser does.
    fn entered(folder: &Folder) -> Self {
        Self::entered_with(folder, &[])
    }

    fn entered_with(folder: &Folder, arguments: &[&str]) -> Self {
        let mut page = Self::open(folder, arguments);
        let (head, body) = page.send(&format!("GET /?{} HTTP/1.1", page.token), &[], "");
        assert!(head.starts_with("HTTP/1.1 200"), "{head}\n{body}");
        let set = head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).expect("a cookie");
        assert!(set.contains("HttpOnly") && set.contains("SameSite=Strict"), "{set}");
        page.cookie = set.split(';').next().unwrap().to_owned();
        let key = body.split("<meta name=\"emend-key\" content=\"").nth(1).expect("a key");
        page.key = key.split('"').next().unwrap().to_owned();
        page
    }

    /// Sends a request with the address as its host, and returns the response.
    fn send(&self, line: &str, headers: &[&str], body: &str) -> Response {
        let host = format!("Host: {}", self.address);
        let has_host = headers.iter().any(|header| header.starts_with("Host:"));
        let own = if has_host { Vec::new() } else { vec![&*host] };
        let headers: String = own.iter().chain(headers).map(|header| format!("{header}\r\n")).collect();
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(
            stream,
            "{line}\r\n{headers}Connection: close\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        let (head, body) = response.split_once("\r\n\r\n").unwrap();
        (head.to_owned(), body.to_owned())
    }

    fn headers(&self) -> [String; 4] {
        [
            format!("Cookie: {}", self.cookie),
            format!("Origin: http://{}", self.address),
            "Content-Type: application/json".to_owned(),
            format!("X-Emend-Key: {}", self.key),
        ]
    }

    /// Calls a tool, as the page does, which applies what it has seen.
    #[track_caller]
    fn call(&self, name: &str, arguments: &Value) -> Value {
        let mut arguments = arguments.clone();
        if let (true, Some(handle)) = (name == "apply_preview", arguments["preview"].as_str())
            && !handle.contains(':')
        {
            let seen = self.call("review", &json!({"preview": handle, "state_only": true}));
            let shown = seen["structuredContent"]["shown"].as_str().unwrap_or_default();
            arguments["preview"] = json!(format!("{handle}:{shown}"));
        }
        let headers = self.headers();
        let body = json!({"name": name, "arguments": arguments}).to_string();
        let (head, body) =
            self.send("POST /call HTTP/1.1", &headers.each_ref().map(|header| &**header), &body);
        assert!(head.starts_with("HTTP/1.1 200"), "{head}\n{body}");
        serde_json::from_str(&body).unwrap()
    }

    #[track_caller]
    fn ok(&self, name: &str, arguments: &Value) -> Value {
        let result = self.call(name, arguments);
        assert_ne!(result["isError"], true, "{result}");
        result["structuredContent"].clone()
    }
}

#[test]
fn what_another_process_previewed_is_seen_chosen_and_applied() {
    let folder = Folder::with([("a.txt", "one\ntwo\nthree\nfour\nfive\n")]);
    let mut client = serve(&folder);
    let patch = "*** Update File: a.txt\n@@\n-one\n+1\n@@\n-five\n+5";
    let patch = json!({"patch": emend_testkit::client::patch(patch)});
    let handle = client.preview("apply_patch", patch.clone()).ok().handle();
    let patch = emend_testkit::client::patch("*** Update File: a.txt\n@@\n-three\n+3");
    let other = client.preview("apply_patch", json!({"patch": patch})).ok().handle();

    let page = Page::entered(&folder);
    let list = page.ok("review", &json!({}));
    let entries = list["entries"].as_array().unwrap();
    assert_eq!(entries.len(), 2, "{list}");
    assert_eq!((&entries[1]["subject"], &entries[1]["id"]), (&json!("preview"), &json!(handle)));
    let shown = page.ok("review", &json!({"preview": handle}));
    assert_eq!((&shown["state"], &shown["total"]), (&json!("waiting"), &json!(2)));
    let numbers: Vec<&Value> =
        shown["hunks"].as_array().unwrap().iter().map(|hunk| &hunk["numbers"]).collect();
    assert_eq!(numbers, [&json!([1]), &json!([2])], "the numbers that the client was given");
    let edit = page.ok("apply_preview", &json!({"preview": handle, "hunks": [2]}))["edit"].clone();
    assert_eq!(folder.text("a.txt"), "one\ntwo\nthree\nfour\n5\n");
    page.ok("decide", &json!({"preview": handle, "is_allowed": true, "comment": "Leave line one."}));

    let told = client.call("apply_preview", json!({"preview": handle})).ok();
    assert_eq!(told.structured["edit"], edit);
    assert!(
        told.text.contains("applied this preview themselves, on the review page, without its hunk 1."),
        "{}",
        told.text
    );
    assert!(told.text.contains("They say: Leave line one."), "{}", told.text);
    assert_eq!(folder.text("a.txt"), "one\ntwo\nthree\nfour\n5\n", "it is applied once");

    page.ok("decide", &json!({"preview": other, "is_allowed": false, "comment": "Not five."}));
    let told = client.call("apply_preview", json!({"preview": other})).refused("approval-denied");
    assert!(told.text.contains("says: Not five."), "{}", told.text);

    page.ok("undo_edit", &json!({"edit": edit}));
    assert_eq!(folder.text("a.txt"), "one\ntwo\nthree\nfour\nfive\n");
    let told = client.call("apply_preview", json!({"preview": handle})).ok();
    assert!(told.text.contains("and taken it back since"), "{}", told.text);
}

#[test]
fn silent_connections_are_closed_for_new_ones_and_keep_nobody_out() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let page = Page::entered(&folder);
    let silent: Vec<TcpStream> = (0..300).map(|_| TcpStream::connect(&page.address).unwrap()).collect();
    page.ok("review", &json!({}));
    // The first of them is closed, the last is not.
    let first = &silent[0];
    assert_eq!((&mut &*first).read(&mut [0; 1]).unwrap_or(0), 0);
    let last = &silent[silent.len() - 1];
    last.set_nonblocking(true).unwrap();
    assert_eq!((&mut &*last).read(&mut [0; 1]).unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
}

#[test]
fn a_preview_whose_file_has_changed_is_not_applied_but_made_anew() {
    let folder = Folder::with([("a.txt", "one\n"), ("b.txt", "one\n")]);
    let mut client = serve(&folder);
    let replace = |path: &str| json!({"path": path, "old_string": "one", "new_string": "1"});
    let seen = client.preview("str_replace", replace("a.txt")).ok().handle();
    let unseen = client.preview("str_replace", replace("b.txt")).ok().handle();
    let page = Page::entered(&folder);
    assert_eq!(page.ok("review", &json!({"preview": seen}))["stale"], json!([]));
    folder.write("a.txt", "zero\none\n");
    folder.write("b.txt", "zero\none\n");
    assert_eq!(page.ok("review", &json!({"preview": seen, "state_only": true}))["stale"], json!(["a.txt"]));
    let refused = page.call("apply_preview", &json!({"preview": seen}));
    assert_eq!(refused["isError"], true);
    let again = page.ok("review", &json!({"preview": seen, "again": true}));
    assert_eq!(again["hunks"][0]["lines"], json!([" zero", "-one", "+1"]));
    page.ok("apply_preview", &json!({"preview": seen}));
    assert_eq!(folder.text("a.txt"), "zero\n1\n");
    // One that was never shown here is not planned for other files than those that the client was shown.
    let lost = page.ok("review", &json!({"preview": unseen}));
    assert_eq!((&lost["state"], &lost["stale"]), (&json!("lost"), &json!(["b.txt"])));
    assert_eq!(folder.text("b.txt"), "zero\none\n");
    let again = page.ok("review", &json!({"preview": unseen, "again": true}));
    assert_eq!(again["hunks"][0]["lines"], json!([" zero", "-one", "+1"]));
    page.ok("apply_preview", &json!({"preview": unseen}));
    assert_eq!(folder.text("b.txt"), "zero\n1\n");
}

#[test]
fn what_waits_is_approved_on_the_page_and_made_by_the_client() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let mut client = crate::launch(&folder).argument("--mode=ask").legacy();
    client.replace("a.txt", "one", "two").refused("approval-needed");
    let page = Page::entered(&folder);
    let list = page.ok("review", &json!({}));
    let id = list["entries"][0]["id"].clone();
    assert_eq!(list["entries"][0]["subject"], "approval");
    let shown = page.ok("review", &json!({"approval": id}));
    assert_eq!(shown["rules"], json!(["the mode is ask"]));
    assert_eq!(shown["hunks"][0]["lines"], json!(["-one", "+two"]));
    page.ok("decide", &json!({"approval": id, "is_allowed": true}));
    assert_eq!(folder.text("a.txt"), "one\n");
    client.replace("a.txt", "one", "two").ok();
    assert_eq!(folder.text("a.txt"), "two\n");
}

#[test]
fn what_a_person_applies_under_approval_they_approve_themselves() {
    let folder = Folder::with([("a.txt", "one\n"), ("b.txt", "one\n")]);
    let mut client = serve(&folder);
    let mut preview = |path: &str| {
        let edit = json!({"path": path, "old_string": "one", "new_string": "two"});
        client.preview("str_replace", edit).ok().handle()
    };
    let (on_page, in_terminal) = (preview("a.txt"), preview("b.txt"));
    let page = Page::entered_with(&folder, &["--mode", "ask"]);
    page.ok("review", &json!({"preview": on_page}));
    let held = page.call("apply_preview", &json!({"preview": on_page}));
    let id = held["_meta"]["emend/approval"]["id"].clone();
    assert!(id.is_string() && held["isError"] == true, "{held}");
    page.ok("decide", &json!({"approval": id, "is_allowed": true}));
    page.ok("apply_preview", &json!({"preview": on_page}));
    assert_eq!(folder.text("a.txt"), "two\n");
    let mut terminal = review(&folder, &["--terminal", "--mode", "ask", &in_terminal[..12]]);
    let (status, shown) = at_terminal_ahead(&mut terminal, "Ay\nyq", "");
    assert!(status.success() && shown.contains("Approved, and made as edit"), "{shown}");
    assert_eq!(folder.text("b.txt"), "two\n");
    // What its own client applies is not offered any more.
    folder.write("b.txt", "one\n");
    let own = preview("b.txt");
    client.call("apply_preview", json!({"preview": own})).ok();
    let none = review(&folder, &["--terminal", &own]).output().unwrap();
    assert_eq!(none.status.code(), Some(1));
}

#[test]
fn the_page_is_for_who_has_the_token_and_calls_come_from_it_alone() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let mut client = crate::launch(&folder).argument("--mode=ask").legacy();
    client.replace("a.txt", "one", "two").refused("approval-needed");
    let page = Page::entered(&folder);
    let id = page.ok("review", &json!({}))["entries"][0]["id"].clone();
    let forbidden = |line: &str, headers: &[&str], body: &str| {
        let (head, _) = page.send(line, headers, body);
        assert!(
            !head.starts_with("HTTP/1.1 2") && !head.contains("set-cookie"),
            "{line} {headers:?}: {head}"
        );
    };
    let (get, call) = ("GET / HTTP/1.1", "POST /call HTTP/1.1");
    let [cookie, origin, json_type, key] = &page.headers();
    forbidden(get, &[], "");
    forbidden(get, &["Cookie: emend_review=0"], "");
    forbidden(&format!("GET /?{} HTTP/1.1", page.token), &[], "");
    forbidden(get, &[cookie, "Host: rebound.example"], "");
    forbidden(get, &[cookie, "Host: localhost"], "");
    let yes = json!({"name": "decide", "arguments": {"approval": id, "is_allowed": true}}).to_string();
    for headers in [
        &[&**origin, json_type, key][..],
        // What another port of this machine gets from the browser.
        &[cookie, origin, json_type],
        &[cookie, origin, json_type, "X-Emend-Key: 0"],
        &[cookie, json_type, key],
        &[cookie, origin, key],
        &[cookie, "Origin: http://127.0.0.1:1", json_type, key],
        &[cookie, "Origin: null", json_type, key],
        &[cookie, "Origin: https://evil.example", json_type, key],
        &[cookie, origin, "Content-Type: text/plain", key],
        &[cookie, origin, json_type, "Host: rebound.example", key],
        &[cookie, origin, "Origin: https://evil.example", json_type, key],
    ] {
        forbidden(call, headers, &yes);
    }
    let mine = [&**cookie, origin, json_type, key];
    forbidden("GET /call HTTP/1.1", &mine, "");
    forbidden("OPTIONS /call HTTP/1.1", &["Origin: https://evil.example"], "");
    let other = json!({"name": "write_file", "arguments": {"path": "x", "content": ""}}).to_string();
    forbidden(call, &mine, &other);
    client.replace("a.txt", "one", "two").refused("approval-needed");
    let (head, body) = page.send(get, &[cookie], "");
    assert!(head.contains("content-security-policy: default-src 'none';"), "{head}");
    assert!(!head.to_lowercase().contains("access-control") && !body.contains(&page.token));
    assert!(!body.contains(&page.key), "who has the cookie alone gets no key");
}

#[test]
fn a_secret_of_the_page_is_printed_nowhere_and_its_file_goes() {
    let folder = Folder::new();
    let mut page = Page::open(&folder, &[]);
    let way = folder.state().join("review");
    assert_eq!(fs::read_dir(&way).unwrap().count(), 1);
    let pid = rustix::process::Pid::from_child(&page.process);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert!(page.process.wait().unwrap().success());
    assert_eq!(fs::read_dir(&way).unwrap().count(), 0);
}

#[test]
fn hunks_are_chosen_in_a_terminal_and_taken_back() {
    let folder = Folder::with([("a.txt", "one\ntwo\nthree\nfour\nfive\n")]);
    let mut client = serve(&folder);
    let patch = emend_testkit::client::patch("*** Update File: a.txt\n@@\n-one\n+1\n@@\n-five\n+\u{1b}[2J5");
    let handle = client.preview("apply_patch", json!({"patch": patch})).ok().handle();
    // Open the first, reject the first hunk, apply, leave.
    let (status, shown) = at_terminal_ahead(&mut review(&folder, &["--terminal"]), "\nrAy\nq", "");
    assert!(status.success(), "{shown}");
    assert!(shown.contains("+\\u{1b}[2J5") && shown.contains("Applied as edit"), "{shown}");
    assert_eq!(folder.text("a.txt"), "one\ntwo\nthree\nfour\n\u{1b}[2J5\n");
    assert!(
        client.call("apply_preview", json!({"preview": handle})).ok().text.contains("without its hunk 1.")
    );
    let (status, shown) = at_terminal_ahead(&mut review(&folder, &["--terminal"]), "\nTy\nq", "");
    assert!(status.success() && shown.contains("Taken back"), "{shown}");
    assert_eq!(folder.text("a.txt"), "one\ntwo\nthree\nfour\nfive\n");
}

#[test]
fn choices_outlive_the_list_in_a_terminal_and_leaving_asks() {
    let folder = Folder::with([("a.txt", "one\ntwo\nthree\nfour\nfive\n")]);
    let mut client = serve(&folder);
    let patch = emend_testkit::client::patch("*** Update File: a.txt\n@@\n-one\n+1\n@@\n-five\n+5");
    client.preview("apply_patch", json!({"patch": patch})).ok();
    let (status, shown) = at_terminal_ahead(&mut review(&folder, &["--terminal"]), "\nrqqn\nqy\n", "");
    assert!(status.success(), "{shown}");
    assert_eq!(
        shown.matches("drop what you chose of a preview (y and enter; esc: no)? y").count(),
        1,
        "{shown}"
    );
    assert_eq!(folder.text("a.txt"), "one\ntwo\nthree\nfour\nfive\n");
    // The first is rejected, the list is looked at, and the rest is applied; what is not confirmed is not.
    let (status, shown) = at_terminal_ahead(&mut review(&folder, &["--terminal"]), "\nrq\nAn\nAy\nq", "");
    assert!(status.success() && shown.contains("without 1 that you rejected"), "{shown}");
    assert_eq!(folder.text("a.txt"), "one\ntwo\nthree\nfour\n5\n");
}

#[test]
fn a_file_that_changes_is_told_in_a_terminal_and_previewed_again() {
    let folder = Folder::with([("a.txt", "one\ntwo\nthree\nfour\nfive\n")]);
    let mut client = serve(&folder);
    let patch = emend_testkit::client::patch("*** Update File: a.txt\n@@\n-one\n+1\n@@\n-five\n+5");
    let handle = client.preview("apply_patch", json!({"patch": patch})).ok().handle();
    let (mut terminal, open) = emend_testkit::terminal::new();
    let mut command = review(&folder, &["--terminal", &handle]);
    let mut process = command.stdin(open()).stdout(open()).stderr(open()).spawn().unwrap();
    let nothing = Stdio::null;
    command.stdin(nothing()).stdout(nothing()).stderr(nothing());
    let mut buffer = [0; 4096];
    let mut until = |terminal: &mut fs::File, text: &str| {
        let mut shown = String::new();
        while !shown.contains(text) {
            let read = terminal.read(&mut buffer).unwrap();
            assert!(read > 0, "{shown}");
            shown.push_str(&String::from_utf8_lossy(&buffer[..read]));
        }
    };
    until(&mut terminal, "2 open (will be applied)");
    terminal.write_all(b"r").unwrap();
    until(&mut terminal, "1 rejected, 1 open (will be applied)");
    folder.write("a.txt", "zero\none\ntwo\nthree\nfour\nfive\n");
    until(&mut terminal, "Changed since this preview: a.txt. P previews it again.");
    terminal.write_all(b"A").unwrap();
    until(&mut terminal, "Its files have changed: P previews it again");
    terminal.write_all(b"P").unwrap();
    until(&mut terminal, "Your choices and comments stay.");
    terminal.write_all(b"Ay\n").unwrap();
    until(&mut terminal, "without 1 that you rejected.");
    terminal.write_all(b"q").unwrap();
    while let Ok(1..) = terminal.read(&mut buffer) {}
    assert!(process.wait().unwrap().success());
    assert_eq!(folder.text("a.txt"), "zero\none\ntwo\nthree\nfour\n5\n");
}

#[test]
fn what_waits_is_denied_in_a_terminal_with_a_comment() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let mut client = crate::launch(&folder).argument("--mode=ask").legacy();
    client.replace("a.txt", "one", "two").refused("approval-needed");
    let (status, shown) =
        at_terminal_ahead(&mut review(&folder, &["--terminal"]), "\ncNot two.\nnThree.\nq", "");
    assert!(status.success(), "{shown}");
    let told = client.replace("a.txt", "one", "two").refused("approval-denied");
    assert!(told.text.contains("says: Change 1 of a.txt (line 1): Not two.\nThree."), "{}", told.text);
}

#[test]
fn a_comment_goes_along_with_a_yes() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let mut client = crate::launch(&folder).argument("--mode=ask").legacy();
    client.replace("a.txt", "one", "two").refused("approval-needed");
    let (status, shown) =
        at_terminal_ahead(&mut review(&folder, &["--terminal"]), "\ncNow the tests.\nyq", "");
    assert!(status.success(), "{shown}");
    let told = client.replace("a.txt", "one", "two").ok();
    let said = "Whoever approved this edit says: Change 1 of a.txt (line 1): Now the tests.";
    assert!(told.text.contains(said), "{}", told.text);
}

#[test]
fn an_undo_that_needs_a_yes_asks_for_it_where_it_was_asked_for() {
    let folder = Folder::with([("a.txt", "one\n")]);
    serve(&folder).replace("a.txt", "one", "two").ok();
    let review = &mut review(&folder, &["--terminal", "--mode=ask"]);
    let (status, shown) = at_terminal_ahead(review, "\nTy\nyq", "");
    assert!(status.success() && shown.contains("Approved, and made as edit"), "{shown}");
    assert_eq!(folder.text("a.txt"), "one\n");
}

#[test]
fn a_signal_leaves_the_terminal_as_it_was() {
    let folder = Folder::new();
    let (mut terminal, open) = emend_testkit::terminal::new();
    let mut command = review(&folder, &["--terminal"]);
    let mut process = command.stdin(open()).stdout(open()).stderr(open()).spawn().unwrap();
    let nothing = std::process::Stdio::null;
    command.stdin(nothing()).stdout(nothing()).stderr(nothing());
    let mut shown = String::new();
    let mut buffer = [0; 4096];
    while !shown.contains("Nothing waits") {
        let read = terminal.read(&mut buffer).unwrap();
        shown.push_str(&String::from_utf8_lossy(&buffer[..read]));
    }
    assert!(shown.contains("\u{1b}[?1049h"));
    let pid = rustix::process::Pid::from_child(&process);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    let mut shown = Vec::new();
    while let Ok(read @ 1..) = terminal.read(&mut buffer) {
        shown.extend_from_slice(&buffer[..read]);
    }
    assert!(process.wait().unwrap().success());
    assert!(String::from_utf8_lossy(&shown).contains("\u{1b}[?1049l"));
}

#[test]
fn what_was_shown_is_what_is_applied_or_nothing_is() {
    let folder = Folder::with([("a.txt", "one\ntwo\n")]);
    let mut client = crate::serve(&folder);
    let edit = json!({"tool": "str_replace", "path": "a.txt", "old_string": "two", "new_string": "TWO"});
    let handle = client.call("edit_preview", edit).ok().structured["preview"].clone();
    let page = Page::entered(&folder);
    let handle = handle.as_str().unwrap();
    let shown = page.ok("review", &json!({"preview": handle}))["shown"].as_str().unwrap().to_owned();
    // Another page of this window writes something else under the handle.
    let by_hand =
        json!({"preview": handle, "path": "a.txt", "hunk": 1, "old": 0, "count": 2, "text": "one\nEVIL\n"});
    assert_ne!(page.call("revise", &by_hand)["isError"], true);
    for shown in [&*shown, "", "0"] {
        let refused = page.call("apply_preview", &json!({"preview": format!("{handle}:{shown}")}));
        assert_eq!(refused["isError"], true, "{refused}");
        assert_eq!(folder.text("a.txt"), "one\ntwo\n");
    }
    page.ok("apply_preview", &json!({"preview": handle}));
    assert_eq!(folder.text("a.txt"), "one\nEVIL\n");
    // What was applied is neither declined nor planned anew.
    let no = page.call("decide", &json!({"preview": handle, "is_allowed": false}));
    assert!(no.to_string().contains("undo_edit takes it back"), "{no}");
    let again = page.call("review", &json!({"preview": handle, "again": true}));
    assert!(again.to_string().contains("applied before"), "{again}");
}

#[test]
fn what_was_applied_here_before_is_no_hindrance_when_it_is_gone() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let mut client = serve(&folder);
    let patch = json!({"patch": emend_testkit::client::patch("*** Add File: LICENSE\n+free")});
    let first = client.preview("apply_patch", patch.clone()).ok().handle();
    let page = Page::entered(&folder);
    page.ok("review", &json!({"preview": first}));
    page.ok("apply_preview", &json!({"preview": first}));
    fs::remove_file(folder.at("LICENSE")).unwrap();
    let second = client.preview("apply_patch", patch).ok().handle();
    let shown = page.ok("review", &json!({"preview": second}));
    assert_eq!((&shown["state"], &shown["stale"]), (&json!("waiting"), &json!([])), "{shown}");
    page.ok("apply_preview", &json!({"preview": second}));
    assert_eq!(folder.text("LICENSE"), "free\n");
}

#[test]
fn the_client_is_told_what_a_person_wrote_by_hand() {
    let folder = Folder::with([("a.txt", "one\ntwo\nthree\nfour\n")]);
    let mut client = serve(&folder);
    let patch = "*** Update File: a.txt\n@@\n-one\n+1\n@@\n-four\n+4";
    let handle =
        client.preview("apply_patch", json!({"patch": emend_testkit::client::patch(patch)})).ok().handle();
    let page = Page::entered(&folder);
    assert_eq!(page.ok("review", &json!({"preview": handle}))["hunks"][0].get("is_by_hand"), None);
    let by_hand = |text: Value| json!({"preview": handle, "path": "a.txt", "hunk": 1, "old": 0, "count": 4, "text": text});
    assert_ne!(page.call("revise", &by_hand(json!("eins\ntwo\nthree\nfour\n")))["isError"], true);
    let shown = page.ok("review", &json!({"preview": handle}));
    assert_eq!(shown["hunks"][0]["is_by_hand"], true);
    assert_eq!(shown["hunks"][1].get("is_by_hand"), None);
    // Back to what the model wrote, and by hand once more.
    assert_ne!(page.call("revise", &by_hand(Value::Null))["isError"], true);
    let shown = page.ok("review", &json!({"preview": handle}));
    assert_eq!((shown["hunks"][0].get("is_by_hand"), &shown["hunks"][0]["lines"][1]), (None, &json!("+1")));
    assert_ne!(page.call("revise", &by_hand(json!("uno\ntwo\nthree\nfour\n")))["isError"], true);
    page.ok("apply_preview", &json!({"preview": handle, "hunks": [1]}));
    page.ok("decide", &json!({"preview": handle, "is_allowed": true, "comment": "Thanks."}));
    assert_eq!(folder.text("a.txt"), "uno\ntwo\nthree\nfour\n");
    let told = client.call("apply_preview", json!({"preview": handle})).ok().text;
    assert!(told.contains("without its hunk 2. There is nothing more to apply. They say: Thanks."), "{told}");
    assert!(told.contains("The person wrote hunk 1 of a.txt by hand. It is now:\n-one\n+uno"), "{told}");
}

#[test]
fn what_the_client_applies_meanwhile_is_told_and_the_same_request_takes_one_place() {
    let folder = Folder::with([("a.txt", "one\ntwo\nthree\n")]);
    let mut client = serve(&folder);
    let patch = "*** Update File: a.txt\n@@\n-one\n+1\n@@\n-three\n+3";
    let patch = json!({"patch": emend_testkit::client::patch(patch)});
    client.preview("apply_patch", patch.clone()).ok();
    let handle = client.preview("apply_patch", patch.clone()).ok().handle();
    let page = Page::entered(&folder);
    let listed = page.ok("review", &json!({}));
    let ids: Vec<&Value> = listed["entries"].as_array().unwrap().iter().map(|entry| &entry["id"]).collect();
    assert_eq!(ids, [&json!(handle)], "{listed}");
    assert_eq!(listed["folders"].as_array().unwrap().len(), 1);
    page.ok("review", &json!({"preview": handle}));
    let edit = client.call("apply_preview", json!({"preview": handle, "hunks": [2]})).ok().structured["edit"]
        .clone();
    let shown = page.ok("review", &json!({"preview": handle, "state_only": true}));
    assert_eq!((&shown["state"], &shown["by_client"]), (&json!("applied"), &json!(true)));
    assert_eq!((&shown["edit"], &shown["applied"]), (&edit, &json!([2])));
    // One that nobody wants to see any more is not listed, and its client can still apply it.
    client.call("undo_edit", json!({"edit": edit})).ok();
    let other = client.preview("apply_patch", patch).ok().handle();
    let is_listed = || page.ok("review", &json!({})).to_string().contains(&other);
    assert!(is_listed());
    page.ok("decide", &json!({"preview": other, "is_allowed": false, "is_dismissed": true}));
    assert!(!is_listed());
    client.call("apply_preview", json!({"preview": other})).ok();
}

#[test]
fn what_a_person_wrote_outlives_the_page_and_goes_with_its_file() {
    let folder = Folder::with([("a.txt", "one\ntwo\n"), ("b.txt", "four\n")]);
    let mut client = serve(&folder);
    let patch = emend_testkit::client::patch(
        "*** Update File: a.txt\n@@\n-two\n+TWO\n*** Update File: b.txt\n@@\n-four\n+FOUR",
    );
    let handle = client.preview("apply_patch", json!({"patch": patch})).ok().handle();
    let by_hand = |path: &str, hunk: usize, count: usize, text: &str| json!({"preview": handle, "path": path, "hunk": hunk, "old": 0, "count": count, "text": text});
    let page = Page::entered(&folder);
    page.ok("review", &json!({"preview": handle}));
    assert_ne!(page.call("revise", &by_hand("a.txt", 1, 2, "one\nzwei\n"))["isError"], true);
    assert_ne!(page.call("revise", &by_hand("b.txt", 2, 1, "vier\n"))["isError"], true);
    drop(page);
    let page = Page::entered(&folder);
    let seen = page.ok("review", &json!({"preview": handle})).to_string();
    assert!(seen.contains("zwei") && seen.contains("vier") && !seen.contains("TWO"), "{seen}");
    folder.write("b.txt", "four\nfive\n");
    let seen = page.ok("review", &json!({"preview": handle, "again": true}));
    let notes = seen["notes"].to_string();
    assert!(notes.contains("What you wrote for hunk 2 of b.txt is gone"), "{notes}");
    page.ok("apply_preview", &json!({"preview": handle}));
    assert_eq!((folder.text("a.txt"), folder.text("b.txt")), ("one\nzwei\n".into(), "FOUR\nfive\n".into()));
}

#[test]
fn a_whole_file_without_a_version_is_previewed_again_for_what_is_there() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let mut client = serve(&folder);
    client.read("a.txt").ok();
    let handle = client.preview("write_file", json!({"path": "a.txt", "content": "two\n"})).ok().handle();
    folder.write("a.txt", "other\n");
    let page = Page::entered(&folder);
    let seen = page.ok("review", &json!({"preview": handle, "again": true})).to_string();
    assert!(seen.contains("-other"), "{seen}");
    page.ok("apply_preview", &json!({"preview": handle}));
    assert_eq!(folder.text("a.txt"), "two\n");
}

#[test]
fn a_preview_of_another_workspace_is_not_this_ones() {
    let (here, there) = (Folder::with([("a.txt", "one\n")]), Folder::new());
    let mut client = crate::serve(&there);
    let edit = json!({"tool": "write_file", "path": "new.txt", "content": "new\n"});
    let handle = client.call("edit_preview", edit).ok().structured["preview"].clone();
    // Both have the state folder of the same user.
    let _ = fs::remove_dir_all(here.state());
    std::os::unix::fs::symlink(there.state(), here.state()).unwrap();
    let page = Page::entered(&here);
    assert_eq!(page.call("review", &json!({"preview": handle}))["isError"], true);
    assert_eq!(page.call("decide", &json!({"preview": handle, "is_allowed": false}))["isError"], true);
    client.call("apply_preview", json!({"preview": handle})).ok();
    assert_eq!(here.tree().len(), 1);
}

#[test]
fn the_way_in_is_not_put_where_a_model_reads() {
    let folder = Folder::with([("a.txt", "one\n")]);
    fs::create_dir(folder.at("st")).unwrap();
    let mut command = emend_testkit::command(EMEND);
    command.args(["review", "--no-open", "--no-config", "--workspace"]).arg(folder.path());
    let ended = command.arg("--state-dir").arg(folder.at("st")).output().unwrap();
    assert_eq!(ended.status.code(), Some(2));
    assert!(!folder.at("st/review").exists());
}
