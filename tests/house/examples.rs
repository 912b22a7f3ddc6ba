//! The examples of docs/ERRORS.md, made again: each code is provoked by a call, and what is answered is compared with
//! the page.

#![cfg(unix)]

use std::fs;

use emend_server::messages::{Audience, message};
use emend_testkit::{Answer, Client, Folder, Launch};
use emend_workspace::problem::{Code, Kind, Problem};
use serde_json::{Value, json};

use crate::policy::approval;
use crate::policy::hooks::configured;
use crate::{EMEND, launch, serve};

/// The workspace in the examples.
const WORKSPACE: &str = "/home/ann/project";

/// A file of Python with two classes.
const CLASSES: &str = "class Transport:\n    def handle(self):\n        pass\n\n    def send(self):\n        pass\n\n\n\
                       class Fake:\n    def send(self):\n        pass\n";

#[test]
fn the_examples_of_the_page_of_errors_are_what_is_answered() {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/ERRORS.md")).unwrap();
    let mut wrong = String::new();
    for code in Code::ALL {
        let row = page.lines().find(|line| line.starts_with(&format!("| `{code}` |"))).unwrap();
        let example = row.trim_end_matches(" |").rsplit(" | ").next().unwrap();
        let answered = refusal(*code);
        if !is_shown_by(&plain(example), &plain(&answered)) {
            wrong.push_str(&format!("{code}\n  page:   {example}\n  answer: {}\n", plain(&answered)));
        }
    }
    assert!(wrong.is_empty(), "docs/ERRORS.md has other examples:\n{wrong}");
}

/// Whether an example shows this text: all of it, or with ` ... ` for what it leaves out.
fn is_shown_by(example: &str, text: &str) -> bool {
    let mut rest = Some(text);
    let mut parts = example.split("...").map(str::trim).enumerate();
    let begins_well = parts.all(|(at, part)| {
        let found = rest.and_then(|rest| rest.find(part).filter(|found| at > 0 || *found == 0));
        rest = rest.zip(found).map(|(rest, found)| &rest[found + part.len()..]);
        rest.is_some()
    });
    begins_well && (example.ends_with("...") || rest.is_some_and(|rest| rest.trim().is_empty()))
}

/// Joins the lines of a text, and writes `#` for every version and id.
fn plain(text: &str) -> String {
    let is_id = |word: &str| {
        [12, 19].contains(&word.len()) && word.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    };
    let words = text.split_whitespace().map(|word| {
        let inner = word.trim_matches(|c: char| !c.is_alphanumeric());
        if is_id(inner) { word.replace(inner, "#") } else { word.to_owned() }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// The text of a refusal with this code, without the code at its end.
#[track_caller]
fn text(folder: &Folder, answer: Answer, code: Code) -> String {
    let said = answer.refused(code.as_str()).text;
    let said = said.split(&format!("\n[{code}]")).next().unwrap();
    let state = format!(" --state-dir {}", folder.state().display());
    said.replace(&state, "").replace(folder.path().to_str().unwrap(), WORKSPACE)
}

/// The message of a problem that no call of a test provokes.
fn message_of(kind: Kind, path: &str) -> String {
    message(&Problem::new(kind).at(path), Audience::Model)
}

/// Makes an example again. A new code has to be given one here.
fn refusal(code: Code) -> String {
    // A call in a workspace with one file.
    let with_file = |name: &str, content: &[u8], call: &dyn Fn(&mut Client) -> Answer| {
        let folder = Folder::new();
        folder.write(name, content);
        text(&folder, call(&mut serve(&folder)), code)
    };
    let replace = |name: &str, content: &str, old: &str, new: &str| {
        with_file(name, content.as_bytes(), &|client| client.replace(name, old, new))
    };
    // The same, with settings of the person.
    let with_settings = |settings: &str, name: &str, content: &str, old: &str, new: &str| {
        let folder = Folder::with([(name, content)]);
        let answer = configured(&folder, settings).legacy().replace(name, old, new);
        text(&folder, answer, code)
    };
    match code {
        Code::SearchNotFound => replace(
            "src/app.py",
            "import sys\n\n\ndef total(items):\n\treturn sum(items)\n",
            "def total(items):\n    return sum(numbers)",
            "def total(items):\n    return 0",
        ),
        Code::AmbiguousMatch => replace("notes.md", "# Notes\n\n- one\n- two\n- one\n", "- one", "- three"),
        Code::HunkContextMismatch => {
            with_file("greeting.py", b"def greet(name):\n\treturn \"Hello, \" + name\n", &|client| {
                client.patch(
                    "*** Update File: greeting.py\n@@\n def greet(name):\n-\treturn \"Adieu\"\n+\treturn 1",
                )
            })
        }
        Code::SymbolNotFound | Code::AmbiguousSymbol => {
            let name = if code == Code::SymbolNotFound { "Transport.handel" } else { "send" };
            with_file("src/client.py", CLASSES.as_bytes(), &|client| {
                client.call("read_file", json!({"path": "src/client.py", "symbol": name}))
            })
        }
        Code::UncertainSymbol => with_file("src/a.rs", b"fn a() {} fn b() {}\n", &|client| {
            let version = client.read("src/a.rs").version();
            let call =
                json!({"path": "src/a.rs", "version": version, "symbol": "a", "new_text": "fn a() {}\n"});
            client.call("replace_lines", call)
        }),
        Code::UncertainSketch => with_file("src/a.py", b"print(1)\nprint(2)\n", &|client| {
            let sketch = "# ... existing code ...\nprint(3)\n# ... existing code ...\n";
            client.call("apply_sketch", json!({"path": "src/a.py", "sketch": sketch}))
        }),
        Code::MissingOriginal => {
            with_file("docs/a.md", b"a\n", &|client| client.call("read_file", json!({"path": "A.md"})))
        }
        Code::InvalidFormat => with_file("a.txt", b"two\n", &|client| {
            let cut = "*** Begin Patch\n*** Update File: a.txt\n@@\n-two\n+TWO\n";
            client.call("apply_patch", json!({"patch": cut}))
        }),
        Code::StaleFile => {
            let folder = Folder::with([("settings.ini", "retries = 3\n")]);
            let mut client = serve(&folder);
            client.read("settings.ini");
            folder.write("settings.ini", "retries = 5\n");
            text(&folder, client.replace("settings.ini", "retries", "tries"), code)
        }
        Code::NotRead => with_file("a.txt", b"one\n", &|client| {
            client.call("write_file", json!({"path": "a.txt", "content": "two\n"}))
        }),
        Code::NoOp => with_file("a.txt", b"one\ntwo\n", &|client| {
            client.patch("*** Update File: a.txt\n@@\n one\n+two")
        }),
        Code::OverlappingEdits => with_file("a.txt", b"one\ntwo\n", &|client| {
            let edits = json!([
                {"old_string": "one\ntwo", "new_string": "1\n2"},
                {"old_string": "two\n", "new_string": "zwei\n"},
            ]);
            client.call("str_replace", json!({"path": "a.txt", "edits": edits}))
        }),
        Code::AlreadyExists => {
            with_file("a.txt", b"one\n", &|client| client.patch("*** Add File: a.txt\n+two"))
        }
        Code::EscapedText => {
            replace("src/lib.rs", "fn f() -> u8 {\n    1\n}\n", "fn f() -> u8 {", "fn f() -&gt; T {")
        }
        Code::OmissionPlaceholder => replace(
            "src/app.js",
            "one();\ntwo();\nthree();\n",
            "one();\ntwo();\nthree();",
            "one();\n// ... existing code ...\nfour();",
        ),
        Code::IndentationMismatch => replace(
            "src/app.py",
            "class A:\n    def f(self):\n        return 1\n",
            "return 1",
            "return 1\n\n    def g(self):",
        ),
        Code::NotText => with_file("logo.png", b"\x89PNG\0\0", &|client| {
            client.call("read_file", json!({"path": "logo.png"}))
        }),
        Code::NotEncodable => {
            let latin = "Die Stra\u{df}e f\u{fc}hrt \u{fc}ber die Br\u{fc}cke in die Stadt hinein.\n";
            let bytes: Vec<u8> = latin.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
            with_file("notes.txt", &bytes, &|client| client.replace("notes.txt", "hinein", "\u{2192}"))
        }
        Code::TooLarge => with_settings("max_file_bytes = 8", "dump.sql", "select 1;\n", "1", "2"),
        Code::NotAFile => with_file("src/a.rs", b"a\n", &|client| client.replace("src", "a", "b")),
        Code::HardLinked => {
            let folder = Folder::with([("h1", "one\n")]);
            fs::hard_link(folder.at("h1"), folder.at("h2")).unwrap();
            text(&folder, serve(&folder).replace("h1", "one", "two"), code)
        }
        // To mount a file takes more rights than a test has everywhere.
        Code::MountPoint => message_of(Kind::MountPoint, "config.yml"),
        Code::ReadOnly => with_settings("read_only = ['gen/']", "src/gen/api.rs", "fn a() {}\n", "a", "b"),
        Code::ExtensionNotAllowed => {
            with_settings("allowed_extensions = ['md', 'rs']", "notes.txt", "one\n", "one", "two")
        }
        Code::ApprovalNeeded => with_settings("approve = ['*.sql']", "db/x.sql", "select 1;\n", "1", "2"),
        Code::ApprovalDenied => {
            let folder = Folder::with([("a.txt", "old\n")]);
            let mut client = launch(&folder).argument("--mode=ask").legacy();
            client.replace("a.txt", "old", "new").refused("approval-needed");
            approval::say(&folder, "n");
            text(&folder, client.replace("a.txt", "old", "new"), code)
        }
        Code::InvalidPolicy => {
            let folder = Folder::with([("a.txt", "old\n"), (".emend.toml", "\nforbiden_paths = []\n")]);
            text(&folder, serve(&folder).replace("a.txt", "old", "new"), code)
        }
        Code::HookRefused => {
            let script = "echo src/a.py has a key in it; exit 1";
            let hook =
                format!("[[hooks.before]]\nname = 'no-secrets'\ncommand = ['/bin/sh', '-c', '{script}']");
            with_settings(&hook, "src/a.py", "key = ''\n", "''", "'1234'")
        }
        Code::SyntaxBroken => with_settings(
            "syntax_guard = 'refuse'",
            "src/a.rs",
            "fn a() {\n    b();\n}\n",
            "    b();\n}\n",
            "    b();\n",
        ),
        Code::LanguageServer => with_file("notes.txt", b"old\n", &|client| {
            client.call("rename_symbol", json!({"path": "notes.txt", "symbol": "old", "new_name": "new"}))
        }),
        // They need an endpoint, and a build that can ask one; tests/tools/draft_edit.rs has both.
        Code::ModelFailed => message_of(
            Kind::ModelFailed {
                model: Some("morph-v3-fast".into()),
                why: "its endpoint refused the key (HTTP 401)".into(),
            },
            "src/app.js",
        ),
        Code::ProposalRefused => message_of(
            Kind::ProposalRefused {
                model: "morph-v3-fast".into(),
                why: "it changes, moves or loses lines that the sketch does not name".into(),
                diff: String::new(),
            },
            "src/app.js",
        ),
        Code::PathOutsideWorkspace => {
            with_file("a.txt", b"one\n", &|client| client.call("read_file", json!({"path": "../x"})))
        }
        Code::PathForbidden => {
            with_file(".env", b"one\n", &|client| client.call("read_file", json!({"path": ".env"})))
        }
        Code::AmbiguousPath | Code::SeveralRoots => {
            let folder = Folder::with([("one/a", "a\n"), ("two/a", "a\n")]);
            let mut client = Launch::new(EMEND)
                .workspace(format!("one={}", folder.at("one").display()))
                .workspace(format!("two={}", folder.at("two").display()))
                .state(folder.state())
                .legacy();
            let answer = match code {
                Code::AmbiguousPath => client.replace("a", "a", "b"),
                _ => client.patch("*** Add File: one:b\n+b\n*** Add File: two:b\n+b"),
            };
            text(&folder, answer, code)
        }
        Code::NoWorkspace => {
            let folder = Folder::new();
            let mut client = Launch::new(EMEND).state(folder.state()).inside("/").legacy();
            text(&folder, client.replace("a.txt", "old", "new"), code)
        }
        Code::UnknownPreview => with_file("a.txt", b"one\n", &|client| {
            client.call("apply_preview", json!({"preview": "preview-0"}))
        }),
        Code::StalePreview => {
            let folder = Folder::with([("a.txt", "one\n")]);
            let mut client = serve(&folder);
            let edit = json!({"path": "a.txt", "old_string": "one", "new_string": "two"});
            let handle = client.preview("str_replace", edit).handle();
            folder.write("a.txt", "one, two\n");
            text(&folder, client.call("apply_preview", json!({"preview": handle})), code)
        }
        Code::UnknownArgument | Code::InvalidArgument => with_file("a.txt", b"one\n", &|client| {
            let (old, new): (Value, &str) = match code {
                Code::UnknownArgument => ("one".into(), "new_strin"),
                _ => (5.into(), "new_string"),
            };
            let mut call = json!({"path": "a.txt", "old_string": old});
            call[new] = "two".into();
            client.call("str_replace", call)
        }),
        Code::WorkLimit => with_file("a.txt", "x\n".repeat(1_001).as_bytes(), &|client| {
            client.call("replace_in_files", json!({"old_string": "x", "new_string": "y"}))
        }),
        Code::InsufficientScope => {
            let missing = Kind::ScopeMissing { scope: "files:write", what: "edit files" };
            message_of(missing, "a.txt")
        }
        // It takes ten seconds; `an_edit_that_waits_too_long_is_refused_as_busy` has shorter ones.
        Code::Busy => message_of(Kind::Busy { seconds: 10 }, "a.txt"),
        Code::UnknownEdit | Code::UndoConflict => {
            let folder = Folder::with([("a.txt", "one\n")]);
            let mut client = serve(&folder);
            let made = client.replace("a.txt", "one", "two").ok().structured["edit"].clone();
            let edit = if code == Code::UnknownEdit { "19a".into() } else { made };
            folder.write("a.txt", "three\n");
            text(&folder, client.call("undo_edit", json!({"edit": edit})), code)
        }
        Code::MaybeRepeated => {
            let folder = Folder::with([("src/app.py", "x = 1\n")]);
            let mut client = serve(&folder);
            client.replace("src/app.py", "x = 1", "x = 11").ok();
            client.replace("src/app.py", "x = 11", "x = 12").ok();
            text(&folder, client.replace("src/app.py", "x = 1", "x = 11"), code)
        }
        Code::RecoveryNeeded => {
            let folder = Folder::with([("a.txt", "one\n"), (".emend", "not a folder\n")]);
            fs::write(folder.beside("file"), "in the way").unwrap();
            let state = folder.beside("file").join("state");
            let mut client = Launch::new(EMEND).workspace(folder.path()).state(state).legacy();
            text(&folder, client.replace("a.txt", "one", "two"), code)
        }
        Code::IoError => with_file("a.txt", b"one\n", &|client| {
            let name = format!("{}.txt", "x".repeat(252));
            client.call("write_file", json!({"path": name, "content": "one\n"}))
        })
        .replace(&"x".repeat(252), "long-name"),
        // Whether a call is cancelled before it has written is left to chance here.
        Code::Cancelled => message_of(Kind::Cancelled, "a.txt"),
    }
}
