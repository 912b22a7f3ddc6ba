//! The texts of answers for a model, as one document for a review as prose. No other test compares these texts.

use std::fmt::Write;

use emend_testkit::{Answer, Folder};
use serde_json::json;

#[cfg(unix)]
use crate::policy::hooks::configured;
use crate::serve;

const CODE: &str =
    "def total(items):\n\treturn sum(items)\n\n\ndef mean(items):\n\treturn total(items) / len(items)\n";

/// The answers under their titles, without what differs between two runs.
struct Document {
    folder: Folder,
    text: String,
}

impl Document {
    fn add(&mut self, title: &str, answer: &Answer) {
        let mut said = answer.text.replace(self.folder.path().to_str().unwrap(), "WORKSPACE");
        for (name, stand_in) in [("preview", "HANDLE"), ("edit", "ID")] {
            if let Some(random) = answer.structured[name].as_str() {
                said = said.replace(random, stand_in);
            }
        }
        writeln!(self.text, "# {title}\n\n{}\n", said.trim_end()).unwrap();
    }
}

#[test]
fn what_a_model_reads_in_the_answers() {
    let folder = Folder::with([
        ("src/sums.py", CODE),
        ("notes.md", "- one\n- two\n- one"),
        ("settings.ini", "retries = 3\r\n"),
    ]);
    let mut client = serve(&folder);
    let mut document = Document { folder, text: String::new() };
    let mut add = |title: &str, answer: Answer| document.add(title, &answer);

    add("An edit", client.replace("src/sums.py", "return sum(items)", "return sum(items, start=0)"));
    add(
        "A last line without its ending",
        client.patch("*** Update File: notes.md\n@@\n - two\n - one\n+- three"),
    );
    add(
        "Several files",
        client.patch("*** Add File: docs/new.md\n+# New\n*** Move File: notes.md -> docs/notes.md"),
    );
    add("A preview", client.preview("write_file", json!({"path": "a/b.txt", "content": "hello\n"})));
    add("A name that is nearly right", client.replace("src/sums.txt", "x", "y"));
    add(
        "A tab where the request has spaces",
        client.replace("src/sums.py", "def mean(items):\n    return", "x"),
    );
    add(
        "A misremembered word and a forgotten line",
        client.replace(
            "src/sums.py",
            "def total(item):\n\treturn sum(items, start=0)\n\ndef mean(items):\n",
            "x",
        ),
    );
    add(
        "Copied with the line numbers of a reading",
        client.replace(
            "src/sums.py",
            "     5\tdef mean(items):\n     6\t\treturn total(items) / len(items)\n",
            "x",
        ),
    );
    add(
        "Line breaks and quotes that were escaped",
        client.replace("src/sums.py", "def mean(items):\\n\\treturn total(items) / len(items)\\n", "x"),
    );
    add(
        "The new text is there already",
        client.replace("src/sums.py", "return sum(items)\n", "return sum(items, start=0)\n"),
    );
    add(
        "Lines that a patch misremembers",
        client.patch("*** Update File: src/sums.py\n@@ def mean(items):\n \t# The arithmetic mean.\n-\treturn total(items)/len(items)\n+\treturn 0"),
    );
    add("Nothing like it", client.replace("settings.ini", "zzz", "y"));
    add("More than one place", client.replace("docs/notes.md", "- one", "- 1"));
    add(
        "More than one problem",
        client.patch("*** Update File: docs/notes.md\n@@\n-- one\n+- 1\n@@\n-- four\n+- 4\n*** Delete File: src/sums.py"),
    );
    add(
        "A patch that was cut off",
        client.call("apply_patch", json!({"patch": "*** Begin Patch\n*** Update File: a\n@@"})),
    );
    add("An argument that does not exist", client.call("read_file", json!({"path": "a", "ofset": 3})));
    add("A path that leaves", client.call("read_file", json!({"path": "../secret"})));
    client.read("settings.ini");
    document.folder.write("settings.ini", "retries = 5\r\n");
    document.add("A change from outside", &client.replace("settings.ini", "retries", "tries"));
    insta::assert_snapshot!(document.text);
}

#[cfg(unix)]
#[test]
fn what_a_model_reads_of_hooks_and_of_the_syntax_guard() {
    let folder = Folder::with([("src/a.py", "def f(a):\n    return (a + 1)\n"), ("b.md", "b\n")]);
    let hook = |kind: &str, name: &str, files: &str, script: &str| {
        let command = format!("command = ['/bin/sh', '-c', '{script}']");
        format!("[[hooks.{kind}]]\nname = '{name}'\nfiles = ['{files}']\n{command}\n")
    };
    let formats = hook("format", "spaces", "*.py", r#"sed "s/  */ /g; s/^ /    /""#);
    let fails = hook("format", "broken", "*.md", "echo line 1: no heading >&2; exit 2");
    let absent = "[[hooks.before]]\nname = 'absent'\ncommand = ['no-such-program']\n";
    let refuses = hook("before", "no-secrets", "*.key.txt", "echo Line 1 looks like a key.; exit 1");
    let mut client = configured(&folder, &[formats, fails, absent.into(), refuses].concat()).legacy();
    let mut strict =
        configured(&folder, &format!("syntax_guard = 'refuse'\n{absent}required = true")).legacy();
    let mut document = Document { folder, text: String::new() };
    let mut add = |title: &str, answer: Answer| document.add(title, &answer);

    add("Formatted", client.replace("src/a.py", "(a + 1)", "(a  +   2)"));
    add("Formatted back", client.replace("src/a.py", "(a + 2)", "(a  +  2)"));
    add("A formatter that fails", client.replace("b.md", "b", "B"));
    add("A hook that refuses", client.call("write_file", json!({"path": "my.key.txt", "content": "x\n"})));
    let breaking = json!({"path": "src/a.py", "old_string": "(a + 2)", "new_string": "(a + 2"});
    add("A preview that would break the parse", client.preview("str_replace", breaking));
    add("A hook that is required and not there", strict.replace("b.md", "B", "b"));
    add(
        "A broken parse that is refused",
        strict.call("write_file", json!({"path": "c.py", "content": "def (\n"})),
    );
    insta::assert_snapshot!(document.text);
}
