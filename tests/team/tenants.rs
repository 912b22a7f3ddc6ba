//! Tenants: what each has, and that none learns anything of another.

use emend_testkit::{Folder, Http, HttpServer};
use serde_json::{Value, json};

use super::{ALL, Issuer, client, serve_tenants};

/// Two tenants with a file each, of the same authority.
struct Scene {
    folder: Folder,
    issuer: Issuer,
    server: HttpServer,
}

/// A word that stands in the files, the paths and the edits of the tenant `blue`, and may be told to nobody else.
const SECRET: &str = "blueberry";

fn scene(more: &str) -> Scene {
    let folder = Folder::with([("red/a.txt", "one\n"), ("blue/blueberry.txt", "one blueberry\n")]);
    let issuer = Issuer::start();
    let settings = format!(
        "{}\n[[tenant]]\nname = \"red\"\nworkspace = {:?}\n{more}\n[[tenant]]\nname = \"blue\"\nworkspace = {:?}\n",
        issuer.settings(),
        folder.at("red"),
        folder.at("blue")
    );
    let server = serve_tenants(&folder, &settings);
    Scene { folder, issuer, server }
}

impl Scene {
    fn client(&self, subject: &str, tenant: &str) -> Http {
        client(&self.server, &self.issuer.of_tenant(subject, tenant))
    }
}

#[test]
fn each_tenant_has_its_own_files_history_and_state() {
    let scene = scene("");
    let (red, blue) = (scene.client("ann", "red"), scene.client("ben", "blue"));
    red.replace("a.txt", "one", "two").ok();
    blue.replace("blueberry.txt", "one", "two").ok();
    assert_eq!(scene.folder.text("red/a.txt"), "two\n");
    assert_eq!(scene.folder.text("blue/blueberry.txt"), "two blueberry\n");
    // Two of one tenant share their history.
    let told = scene.client("cy", "red").call("edit_history", json!({})).ok().text;
    assert!(told.contains("testkit (ann)") && !told.contains("ben"), "{told}");
    let states: Vec<String> = std::fs::read_dir(scene.folder.state().join("tenants"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(
        states.len() == 2 && states.iter().all(|name| name.starts_with("red-") || name.starts_with("blue-"))
    );
}

#[test]
fn no_answer_tells_one_tenant_of_another() {
    let scene = scene("");
    let blue = scene.client("ben", "blue").legacy();
    blue.read("blueberry.txt");
    let edit = blue.replace("blueberry.txt", "one", "two").ok().structured["edit"].clone();
    let asked =
        json!({"tool": "str_replace", "path": "blueberry.txt", "old_string": "two", "new_string": "2"});
    let handle = blue.call("edit_preview", asked).ok().handle();
    let keyed = json!({"name": "str_replace", "_meta": {"emend/idempotencyKey": "the-key"}, "arguments":
        {"path": "blueberry.txt", "old_string": "two", "new_string": "three"}});
    blue.request("tools/call", keyed).unwrap();
    let outside = scene.folder.at("blue/blueberry.txt").to_str().unwrap().to_owned();
    let beside = scene.folder.at("blue/none.txt").to_str().unwrap().to_owned();

    let mut said = String::new();
    // The same person, too, is another one in another tenant.
    for red in [scene.client("ann", "red"), scene.client("ben", "red"), scene.client("ben", "red").legacy()] {
        let mut tell = |tool: &str, arguments: Value| {
            let answer = red.call(tool, arguments);
            said.push_str(&format!("{tool}: {}\n{}\n", answer.text, answer.structured));
            answer
        };
        // A path that is there and one that is not are refused in the same words.
        for path in ["../blue/blueberry.txt", "blueberry.txt", "/etc/passwd"] {
            assert!(tell("read_file", json!({"path": path})).is_error);
        }
        let (there, absent) =
            (red.call("read_file", json!({"path": outside})), red.call("read_file", json!({"path": beside})));
        assert_eq!(there.text.replace(&outside, "X"), absent.text.replace(&beside, "X"));
        tell("list_files", json!({}));
        tell("search_text", json!({"pattern": "berry"}));
        tell("edit_history", json!({}));
        tell("undo_edit", json!({"edit": edit})).refused("unknown-edit");
        tell("edit_history", json!({"edit": edit})).refused("unknown-edit");
        tell("apply_preview", json!({"preview": handle})).refused("unknown-preview");
        tell("write_file", json!({"path": outside, "content": "x"})).refused("path-outside-workspace");
        for uri in [
            format!("file://{outside}"),
            "emend://history".into(),
            format!("emend://edit/{}.diff", edit.as_str().unwrap()),
            "emend://events".into(),
            "emend://diagnostics".into(),
            "emend://session".into(),
        ] {
            let (Ok(answer) | Err(answer)) = red.request("resources/read", json!({"uri": uri}));
            said.push_str(&answer.to_string().replace(&uri, "URI"));
        }
        let (Ok(list) | Err(list)) = red.request("resources/list", json!({}));
        said.push_str(&list.to_string());
        let argument = json!({"ref": {"type": "ref/resource", "uri": "file:///{+path}"}, "argument": {"name": "path", "value": "b"}});
        let (Ok(completed) | Err(completed)) = red.request("completion/complete", argument);
        said.push_str(&completed.to_string());
    }
    let said = said
        .replace(&outside, "OUTSIDE")
        .replace("../blue/blueberry.txt", "OUTSIDE")
        .replace("blueberry.txt", "NAMED");
    assert!(!said.contains(SECRET) && !said.contains("/blue") && !said.contains("\"blue\""), "{said}");
    assert_eq!(scene.folder.text("blue/blueberry.txt"), "three blueberry\n");

    // A session of another tenant is not there, even for the same person.
    let thief = blue.with_token(&scene.issuer.of_tenant("ben", "red"));
    assert_eq!(thief.begin("tools/list", json!({})).finish().status, 404);
    // An idempotency key is known only where it was used.
    let red = scene.client("ben", "red");
    let keyed = json!({"name": "str_replace", "_meta": {"emend/idempotencyKey": "the-key"}, "arguments":
        {"path": "a.txt", "old_string": "one", "new_string": "two"}});
    let made = red.request("tools/call", keyed).unwrap();
    assert_eq!((made["isError"].clone(), scene.folder.text("red/a.txt")), (false.into(), "two\n".into()));
}

#[test]
fn nobody_hears_of_another_tenants_changes() {
    let scene = scene("");
    let (red, blue) = (scene.client("ann", "red"), scene.client("ben", "blue"));
    let uri = format!("file://{}", scene.folder.at("blue/blueberry.txt").display());
    let own = format!("file://{}", scene.folder.at("red/a.txt").display());
    let listen =
        json!({"notifications": {"resourceSubscriptions": [uri, own], "resourcesListChanged": true}});
    let mut stream = red.begin("subscriptions/listen", listen);
    let accepted = stream.next_message().unwrap();
    assert!(!accepted.to_string().contains(SECRET), "{accepted}");
    blue.replace("blueberry.txt", "one", "two").ok();
    blue.call("write_file", json!({"path": "new.txt", "content": "x\n"})).ok();
    // What comes next is of the listener's own file.
    red.replace("a.txt", "one", "two").ok();
    let next = stream.next_message().unwrap().to_string();
    assert!(next.contains("a.txt") && !next.contains(SECRET) && !next.contains("new.txt"), "{next}");
}

#[test]
fn an_approval_is_of_its_tenant_alone() {
    let folder = Folder::with([("red/.mcp.json", "{}\n"), ("blue/.mcp.json", "{}\n")]);
    let issuer = Issuer::start();
    let tenant = |name: &str| format!("\n[[tenant]]\nname = \"{name}\"\nworkspace = {:?}\n", folder.at(name));
    let server = serve_tenants(&folder, &format!("{}{}{}", issuer.settings(), tenant("red"), tenant("blue")));
    let edit = json!({"path": ".mcp.json", "old_string": "{}", "new_string": "{\"mcpServers\": {}}"});
    let [red, blue] =
        ["red", "blue"].map(|tenant| client(&server, &issuer.of_tenant("ann", tenant)).asking());
    let call = json!({"name": "str_replace", "arguments": edit});
    let question = blue.request("tools/call", call.clone()).unwrap();
    assert_eq!(question["resultType"], "input_required", "{question}");
    let mut answered = call;
    answered["requestState"] = question["requestState"].clone();
    answered["inputResponses"] = json!({"approve": {"action": "accept", "content": {"approve": true}}});
    assert!(red.request("tools/call", answered.clone()).is_err());
    assert_eq!(folder.text("red/.mcp.json"), "{}\n");
    assert_eq!(blue.request("tools/call", answered).unwrap()["isError"], false);
    assert_eq!(folder.text("blue/.mcp.json"), "{\"mcpServers\": {}}\n");
}

#[test]
fn who_belongs_to_no_tenant_is_told_nothing_of_those_that_are_there() {
    let scene = scene("");
    let refusal = |token: &str| {
        let reply = client(&scene.server, token).begin("tools/list", json!({})).finish();
        (reply.status, reply.text())
    };
    let (status, said) = refusal(&scene.issuer.token("ann", ALL));
    assert_eq!(status, 403);
    for claim in [
        json!("green"),
        json!(""),
        json!("../blue"),
        json!("BLUE"),
        json!("blue/"),
        json!(["blue"]),
        json!(5),
    ] {
        let token = scene.issuer.token_with("ann", ALL, &[("tenant", claim.clone())]);
        assert_eq!(refusal(&token), (403, said.clone()), "{claim}");
    }
    // One who is not there and one whose folder is gone are told the same.
    std::fs::rename(scene.folder.at("blue"), scene.folder.at("gone")).unwrap();
    assert_eq!(refusal(&scene.issuer.of_tenant("ann", "blue")), (403, said));
}

#[test]
fn a_tenant_has_an_address_of_its_own_that_leads_nobody_else_anywhere() {
    let scene = scene("");
    let red = scene.client("ann", "red").at("/w/red/mcp").legacy();
    red.replace("a.txt", "one", "two").ok();
    // The session is the same at the address of everybody.
    red.clone().at("/mcp").replace("a.txt", "two", "three").ok();
    assert_eq!(scene.folder.text("red/a.txt"), "three\n");
    red.close();
    // Another's tenant, and one that is not there, are told in the same words; who shows no token learns less.
    let asked = |token: &str, name: &str| {
        let client = client(&scene.server, token).at(&format!("/w/{name}/mcp"));
        let reply = client.begin("tools/list", json!({})).finish();
        (reply.status, reply.text().replace(name, "NAME"))
    };
    let ann = scene.issuer.of_tenant("ann", "red");
    assert_eq!((asked(&ann, "blue").0, asked(&ann, "blue")), (404, asked(&ann, "none")));
    assert_eq!((asked("", "blue").0, asked("", "blue")), (401, asked("", "none")));
    for path in ["/w/red/mcp/", "/w/red", "/w//mcp", "/w/red/../blue/mcp"] {
        let reply = client(&scene.server, &ann).at(path).begin("tools/list", json!({})).finish();
        assert_eq!(reply.status, 404, "{path}");
    }
    let metadata = "GET /.well-known/oauth-protected-resource/w/red/mcp";
    assert_eq!(client(&scene.server, "").send(metadata, &[], b"").finish().status, 200);
}

#[test]
fn a_name_that_another_authority_gives_is_another_tenant() {
    let folder = Folder::with([("red/a.txt", "one\n"), ("others/x", "")]);
    let (own, other) = (Issuer::start(), Issuer::start());
    let settings = format!(
        "{}{}\n[[tenant]]\nname = \"red\"\nauthority = \"{}\"\nworkspace = {:?}\n\
         [[template]]\nauthority = \"{}\"\nworkspace = \"{}/{{tenant}}\"\ncreate = true\n",
        own.settings(),
        other.settings(),
        own.authority.issuer(),
        folder.at("red"),
        other.authority.issuer(),
        folder.at("others").display(),
    );
    let server = serve_tenants(&folder, &settings);
    client(&server, &own.of_tenant("ann", "red")).read("a.txt");
    let refused = client(&server, &other.of_tenant("ann", "red")).begin("tools/list", json!({})).finish();
    assert_eq!(refused.status, 403);
    client(&server, &other.of_tenant("ann", "green"))
        .call("write_file", json!({"path": "b.txt", "content": "x\n"}))
        .ok();
    assert_eq!(folder.text("others/green/b.txt"), "x\n");
}

#[test]
fn a_template_makes_a_folder_for_each_tenant_and_leads_nowhere_else() {
    let folder = Folder::with([("ws/x", ""), ("elsewhere/secret.txt", "secret\n")]);
    let issuer = Issuer::start();
    let settings = format!(
        "{}\n[[template]]\nworkspace = \"{}/{{tenant}}\"\ncreate = true\n",
        issuer.settings(),
        folder.at("ws").display()
    );
    let server = serve_tenants(&folder, &settings);
    for tenant in ["green", "ann@example.com", "3f2504e0-4f89-11d3"] {
        let member = client(&server, &issuer.of_tenant("ann", tenant));
        member.call("write_file", json!({"path": "a.txt", "content": "x\n"})).ok();
        assert_eq!(folder.text(&format!("ws/{tenant}/a.txt")), "x\n");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let mode = std::fs::metadata(folder.at("ws/green")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        symlink(folder.at("elsewhere"), folder.at("ws/link")).unwrap();
        symlink(folder.at("ws/green"), folder.at("ws/twin")).unwrap();
    }
    let before = std::fs::read_dir(folder.at("ws")).unwrap().count();
    for tenant in ["..", ".", "../elsewhere", "a/b", "/etc", "", "link", "twin", ".hidden", "x", "con"] {
        let token = issuer.of_tenant("ann", tenant);
        let reply = client(&server, &token).begin("tools/list", json!({})).finish();
        assert_eq!(reply.status, 403, "{tenant}");
    }
    assert_eq!(std::fs::read_dir(folder.at("ws")).unwrap().count(), before);
}

#[test]
fn a_tenant_that_does_too_much_in_a_minute_is_told_when_to_come_back() {
    let scene = scene("edits_per_minute = 2\n");
    let (ann, ben, blue) =
        (scene.client("ann", "red"), scene.client("ben", "red"), scene.client("ann", "blue"));
    ann.replace("a.txt", "one", "two").ok();
    ben.replace("a.txt", "two", "three").ok();
    let edit = json!({"name": "str_replace", "arguments": {"path": "a.txt", "old_string": "three", "new_string": "four"}});
    let refused = ann.begin("tools/call", edit.clone()).finish();
    let seconds: u64 = refused.header("retry-after").unwrap().parse().unwrap();
    assert_eq!(refused.status, 429);
    assert!((1..=31).contains(&seconds) && refused.text().contains("quota-exceeded"), "{}", refused.text());
    assert_eq!(ben.begin("tools/call", edit).finish().status, 429);
    assert_eq!(scene.folder.text("red/a.txt"), "three\n");
    // By a tool that reads or edits, as its arguments say, the same holds.
    let other = |command: &str| {
        let arguments = json!({"command": command, "path": "a.txt", "file_text": "five\n"});
        json!({"name": "str_replace_based_edit_tool", "arguments": arguments})
    };
    assert_eq!(ann.begin("tools/call", other("create")).finish().status, 429);
    assert_eq!(scene.folder.text("red/a.txt"), "three\n");
    let view =
        json!({"name": "str_replace_based_edit_tool", "arguments": {"command": "view", "path": "a.txt"}});
    assert_eq!(ann.begin("tools/call", view).finish().status, 200);
    // Reading goes on, and another tenant has its own.
    ann.read("a.txt");
    for (old, new) in [("one", "two"), ("two", "three"), ("three", "four")] {
        blue.replace("blueberry.txt", old, new).ok();
    }
}

#[test]
fn who_may_not_edit_uses_up_nothing_of_the_quota() {
    let folder = Folder::with([("red/a.txt", "one\n")]);
    let tokens = folder.beside("tokens");
    let [ann, cy] = ["ann", "cy"].map(|name| format!("{name}-has-a-long-token-0123456789"));
    std::fs::write(&tokens, format!("ann {ann} tenant=red\ncy {cy} files:read tenant=red\n")).unwrap();
    let settings = format!(
        "tokens = {tokens:?}\n[[tenant]]\nname = \"red\"\nworkspace = {:?}\nedits_per_minute = 1\n",
        folder.at("red")
    );
    let server = serve_tenants(&folder, &settings);
    for _ in 0..3 {
        client(&server, &cy).replace("a.txt", "one", "two").refused("insufficient-scope");
    }
    client(&server, &ann).replace("a.txt", "one", "two").ok();
}

#[test]
fn a_tenant_may_be_read_only_whatever_its_tokens_say() {
    let scene = scene("read_only = true\n");
    let red = scene.client("ann", "red");
    red.read("a.txt");
    red.replace("a.txt", "one", "two").refused("read-only");
    let tools = red.request("tools/list", json!({})).unwrap().to_string();
    assert!(!tools.contains("write_file"), "{tools}");
    assert_eq!(scene.folder.text("red/a.txt"), "one\n");
}

#[test]
fn static_tokens_have_tenants_too() {
    let folder = Folder::with([("red/a.txt", "one\n"), ("blue/b.txt", "one\n")]);
    let file = folder.beside("tokens");
    let (red, blue) = ("red-has-this-long-token", "blue-has-that-long-token");
    std::fs::write(&file, format!("ann {red} tenant=red\nben {blue} files:read tenant=blue\n")).unwrap();
    let tenant = |name: &str| format!("\n[[tenant]]\nname = \"{name}\"\nworkspace = {:?}\n", folder.at(name));
    let server = serve_tenants(&folder, &format!("tokens = {file:?}\n{}{}", tenant("red"), tenant("blue")));
    let (red, blue) = (client(&server, red), client(&server, blue));
    red.replace("a.txt", "one", "two").ok();
    assert!(red.call("read_file", json!({"path": "b.txt"})).is_error);
    blue.read("b.txt");
    blue.replace("b.txt", "one", "two").refused("insufficient-scope");
}
