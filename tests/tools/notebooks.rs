//! Cells of notebooks: `cell` of `read_file`, `str_replace` and `replace_lines`.

use emend_testkit::{Answer, Client, Folder};
use serde_json::{Value, json};

use crate::serve;

/// A notebook as Jupyter writes it.
const NOTEBOOK: &str = r##"{
 "cells": [
  {
   "cell_type": "markdown",
   "id": "intro",
   "metadata": {},
   "source": [
    "# Title\n",
    "caf\u00e9"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": 3,
   "id": "load",
   "metadata": {"tags": [ ]},
   "outputs": [
    {
     "data": {
      "image/png": "iVBORw0KGgo=\n",
      "text/plain": [
       "<Figure>"
      ]
     },
     "metadata": {},
     "output_type": "display_data"
    }
   ],
   "source": [
    "import x\n",
    "y = x.load()\n",
    "y.show()"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": null,
   "id": "2",
   "metadata": {},
   "outputs": [],
   "source": [
    "y = 2"
   ]
  }
 ],
 "metadata": {},
 "nbformat": 4,
 "nbformat_minor": 5
}
"##;

#[test]
fn lines_go_before_the_first_and_arguments_that_do_not_fit_are_refused() {
    let (folder, mut client) = with_notebook();
    let version = version(&mut client);
    let before = folder.tree();
    let mut asked = |more: Value| {
        let mut arguments = json!({"path": "a.ipynb", "version": version, "cell": "1"});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        client.call("replace_lines", arguments)
    };
    for more in [
        json!({"start_line": 2, "end_line": 0, "new_text": "x\n"}),
        json!({"start_line": 1, "end_line": u64::MAX, "new_text": "x\n"}),
        json!({"new_text": "", "clear_outputs": true}),
        json!({"new_text": "", "kind": "markdown"}),
        json!({"start_line": 1, "kind": "markdown"}),
        json!({"start_line": 1, "clear_outputs": true}),
        json!({"insert": "after", "new_text": "x", "clear_outputs": true}),
    ] {
        asked(more.clone()).refused("invalid-argument");
        assert_eq!(folder.tree(), before, "{more}");
    }
    asked(json!({"start_line": 1, "end_line": 0, "new_text": "first()\n"})).ok();
    let after: Value = serde_json::from_str(&folder.text("a.ipynb")).unwrap();
    assert_eq!(after["cells"][1]["source"], json!(["first()\n", "import x\n", "y = x.load()\n", "y.show()"]));
}

fn with_notebook() -> (Folder, Client) {
    let folder = Folder::with([("a.ipynb", NOTEBOOK)]);
    let client = serve(&folder);
    (folder, client)
}

fn call(client: &mut Client, tool: &str, more: &Value) -> Answer {
    let mut arguments = json!({"path": "a.ipynb"});
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    if tool == "replace_lines" && arguments["version"].is_null() && arguments["from"].is_null() {
        arguments["version"] = version(client).into();
    }
    client.call(tool, arguments)
}

fn version(client: &mut Client) -> String {
    client.read("a.ipynb").text.lines().next().unwrap().rsplit(' ').next().unwrap().to_owned()
}

#[test]
fn a_notebook_is_shown_by_its_cells() {
    let (_folder, mut client) = with_notebook();
    let text = client.read("a.ipynb").text;
    let (header, cells) = text.split_once('\n').unwrap();
    assert!(header.starts_with("a.ipynb · 3 cells · version "), "{header}");
    assert_eq!(
        cells,
        "[0] markdown id=intro\n     1\t# Title\n     2\tcafé\n\
         [1] code id=load (1 output: image/png)\n     1\timport x\n     2\ty = x.load()\n     3\ty.show()\n\
         [2] code id=2 (no outputs)\n     1\ty = 2\n"
    );
    let asked = json!({"name": "read_file", "arguments": {"path": "a.ipynb", "cell": "load"}});
    let answer = client.request("tools/call", asked).unwrap();
    let text = answer["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("cell 1 of 3"), "{text}");
    let image = &answer["content"][1];
    assert_eq!((&image["type"], &image["mimeType"]), (&json!("image"), &json!("image/png")));
    assert_eq!(image["data"], "iVBORw0KGgo=");
    let lines = call(&mut client, "read_file", &json!({"offset": 3, "limit": 1})).text;
    assert!(lines.contains("     3\t  {"), "{lines}");
    let missing = call(&mut client, "read_file", &json!({"cell": "laod"})).refused("invalid-argument");
    assert!(
        missing.text.contains("there is no cell laod: the notebook has 3, with ids such as load"),
        "{}",
        missing.text
    );
}

#[test]
fn a_text_is_replaced_in_one_cell_and_every_other_byte_stays() {
    let (folder, mut client) = with_notebook();
    call(&mut client, "str_replace", &json!({"old_string": "y", "new_string": "z"}))
        .refused("ambiguous-match");
    call(
        &mut client,
        "str_replace",
        &json!({"cell": "2", "old_string": "y = 2", "new_string": "y = 3\nz = \"é\""}),
    )
    .ok();
    let expected = NOTEBOOK.replace("    \"y = 2\"\n", "    \"y = 3\\n\",\n    \"z = \\\"\\u00e9\\\"\"\n");
    assert_eq!(folder.text("a.ipynb"), expected);
    let refused =
        call(&mut client, "str_replace", &json!({"cell": "load", "old_string": "x", "new_string": "q"}));
    let refused = refused.refused("ambiguous-match");
    assert!(refused.text.contains("at lines 1 and 2"), "the lines are those of the cell: {}", refused.text);
    assert_eq!(folder.text("a.ipynb"), expected);
    client.call("undo_edit", json!({})).ok();
    assert_eq!(folder.text("a.ipynb"), NOTEBOOK);
}

#[test]
fn a_cell_and_its_lines_are_replaced_and_outputs_stay_unless_they_are_cleared() {
    let (folder, mut client) = with_notebook();
    let version = client.read("a.ipynb").text;
    let version = version.lines().next().unwrap().rsplit(' ').next().unwrap().to_owned();
    let lines =
        json!({"cell": "load", "version": version, "start_line": 2, "end_line": 3, "new_text": "show()"});
    call(&mut client, "replace_lines", &lines).ok();
    let shown = "    \"import x\\n\",\n    \"show()\"\n";
    let expected =
        NOTEBOOK.replace("    \"import x\\n\",\n    \"y = x.load()\\n\",\n    \"y.show()\"\n", shown);
    assert_eq!(folder.text("a.ipynb"), expected);
    call(&mut client, "replace_lines", &lines).ok();
    assert_eq!(folder.text("a.ipynb"), expected, "the same call again is made once");
    let stale = json!({"cell": "load", "version": version, "new_text": "x"});
    let refused = call(&mut client, "replace_lines", &stale).refused("stale-file");
    assert!(refused.text.contains("The cell is another than in version"), "{}", refused.text);
    assert!(!refused.text.contains("line numbers"), "{}", refused.text);
    call(&mut client, "replace_lines", &json!({"cell": "load", "new_text": "a\nb", "clear_outputs": true}))
        .ok();
    let text = folder.text("a.ipynb");
    assert!(text.contains("\"execution_count\": null,\n   \"id\": \"load\",\n   \"metadata\": {\"tags\": [ ]},\n   \"outputs\": [],"), "{text}");
    assert!(text.contains("    \"a\\n\",\n    \"b\"\n"), "{text}");
    call(&mut client, "replace_lines", &json!({"cell": "intro", "kind": "raw"})).ok();
    assert!(folder.text("a.ipynb").contains("\"cell_type\": \"raw\",\n   \"id\": \"intro\""));
}

#[test]
fn cells_come_go_and_move() {
    let (folder, mut client) = with_notebook();
    let cells = |folder: &Folder| {
        let notebook: Value = serde_json::from_str(&folder.text("a.ipynb")).unwrap();
        let cell = |cell: &Value| {
            let lines = cell["source"].as_array().unwrap().iter().map(|line| line.as_str().unwrap());
            format!("{} {}", cell["cell_type"].as_str().unwrap(), lines.collect::<String>())
        };
        notebook["cells"].as_array().unwrap().iter().map(cell).collect::<Vec<String>>()
    };
    let before = cells(&folder);
    let new = json!({"cell": "0", "insert": "after", "new_text": "## More", "kind": "markdown"});
    call(&mut client, "replace_lines", &new).ok();
    assert_eq!(cells(&folder)[1], "markdown ## More");
    call(&mut client, "replace_lines", &json!({"cell": "1", "new_text": ""})).ok();
    assert_eq!(folder.text("a.ipynb"), NOTEBOOK);
    let version = client.read("a.ipynb").text.lines().next().unwrap().rsplit(' ').next().unwrap().to_owned();
    let from = json!({"path": "a.ipynb", "version": version, "cell": "2", "move": true});
    call(&mut client, "replace_lines", &json!({"cell": "intro", "insert": "before", "from": from})).ok();
    assert_eq!(cells(&folder), [&before[2][..], &before[0], &before[1]]);
    call(&mut client, "replace_lines", &json!({"cell": "2", "new_text": "only\n"})).ok();
    assert_eq!(cells(&folder)[0], "code only\n", "an id comes before a number");
}

#[test]
fn what_is_no_cell_or_not_certain_is_refused() {
    let (folder, mut client) = with_notebook();
    folder.write("b.py", "x = 1\n");
    folder.write("c.ipynb", "{\"cells\": 5}\n");
    let before = folder.tree();
    for (tool, arguments, said) in [
        ("replace_lines", json!({"cell": "9", "new_text": "x"}), "there is no cell 9: the notebook has 3"),
        ("replace_lines", json!({"cell": "2", "start_line": 2, "new_text": "x"}), "the cell has 1 lines"),
        ("replace_lines", json!({"cell": "2"}), "new_text"),
        ("replace_lines", json!({"cell": "2", "symbol": "y", "new_text": "x"}), "either cell or symbol"),
        ("replace_lines", json!({"kind": "raw", "new_text": "x"}), "required with kind"),
        ("replace_lines", json!({"cell": "2", "new_text": "y = 2"}), "its source is that already"),
        ("replace_lines", json!({"cell": 2, "clear_outputs": true}), "it has no outputs"),
        (
            "str_replace",
            json!({"path": "b.py", "cell": "0", "old_string": "x", "new_string": "y"}),
            "only notebooks",
        ),
        (
            "str_replace",
            json!({"path": "c.ipynb", "cell": "0", "old_string": "x", "new_string": "y"}),
            "no notebook's",
        ),
        ("read_file", json!({"cell": "0", "limit": 3}), "as a whole"),
    ] {
        let answer = call(&mut client, tool, &arguments).refused("invalid-argument");
        assert!(answer.text.contains(said), "{arguments}: {}", answer.text);
    }
    let part = json!({"edits": [{"tool": "replace_lines", "path": "a.ipynb", "cell": "0", "new_text": "x"}]});
    let answer = client.call("edit_files", part).refused("invalid-argument");
    assert!(answer.text.contains("a call of its own"), "{}", answer.text);
    assert_eq!(folder.tree(), before);
}

#[test]
fn a_cell_that_is_as_it_was_is_changed_though_the_file_is_another() {
    let (folder, mut client) = with_notebook();
    let old = version(&mut client);
    call(&mut client, "str_replace", &json!({"cell": "intro", "old_string": "# Title", "new_string": "# T"}))
        .ok();
    let change = json!({"cell": "2", "version": old, "new_text": "y = 4"});
    call(&mut client, "replace_lines", &change).ok();
    assert!(folder.text("a.ipynb").contains("\"y = 4\""));
    let same = json!({"cell": "intro", "version": old, "old_string": "caf", "new_string": "x"});
    call(&mut client, "str_replace", &same).refused("stale-file");
}

#[test]
fn a_refusal_of_a_cell_names_the_version_of_the_file() {
    let (_folder, mut client) = with_notebook();
    let now = version(&mut client);
    let missing = json!({"cell": "load", "old_string": "import y\nz = 1", "new_string": "q"});
    let refused = call(&mut client, "str_replace", &missing).refused("search-not-found");
    assert_eq!(refused.problems()[0]["current_version"], now.as_str());
    let without = client.call("replace_lines", json!({"path": "a.ipynb", "cell": "2", "new_text": "x"}));
    let without = without.refused("invalid-argument");
    assert!(without.text.contains("'version': it is required"), "{}", without.text);
}

#[test]
fn a_text_in_cells_is_found_without_a_cell_and_outputs_of_old_code_are_told() {
    let (_folder, mut client) = with_notebook();
    let text = json!({"old_string": "import x\ny = x.load()", "new_string": "q"});
    let refused = call(&mut client, "str_replace", &text).refused("invalid-argument");
    assert!(refused.text.contains("the text is in cell load; give cell = \"load\""), "{}", refused.text);
    let whole = client.call("delete_file", json!({"path": "a.ipynb", "cell": "2"}));
    let whole = whole.refused("invalid-argument");
    assert!(whole.text.contains("an empty new_text deletes a cell"), "{}", whole.text);
    let answer = call(&mut client, "replace_lines", &json!({"cell": 1, "new_text": "x"})).ok();
    assert!(
        answer.text.contains("Cell load: its outputs are still those of the old code"),
        "{}",
        answer.text
    );
}

#[test]
fn no_part_of_a_previewed_change_of_a_cell_is_applied_without_the_rest() {
    let (folder, mut client) = with_notebook();
    let change = json!({"tool": "replace_lines", "cell": "load", "new_text": "z", "clear_outputs": true});
    let mut arguments = change.clone();
    arguments["version"] = version(&mut client).into();
    let preview = call(&mut client, "edit_preview", &arguments).ok();
    let handle = preview.handle();
    let part = client.call("apply_preview", json!({"preview": handle, "hunks": [1]}));
    let refused = part.refused("invalid-argument");
    assert!(refused.text.contains("are one change"), "{}", refused.text);
    assert_eq!(folder.text("a.ipynb"), NOTEBOOK);
    client.call("apply_preview", json!({"preview": handle})).ok();
    let after: Value = serde_json::from_str(&folder.text("a.ipynb")).unwrap();
    assert_eq!((&after["cells"][1]["source"], &after["cells"][1]["outputs"]), (&json!(["z"]), &json!([])));
}

#[test]
fn a_cell_gets_code_with_quotes_and_no_placeholder_for_code_that_goes() {
    let (folder, mut client) = with_notebook();
    for (tool, change) in [
        ("str_replace", json!({"cell": "load", "old_string": "y.show()", "new_string": "print(\"\\\"\")"})),
        ("replace_lines", json!({"cell": "2", "new_text": "print(\"&gt;\")"})),
    ] {
        call(&mut client, tool, &change).ok();
    }
    let before = folder.text("a.ipynb");
    let after: Value = serde_json::from_str(&before).unwrap();
    assert_eq!(after["cells"][1]["source"][2], "print(\"\\\"\")");
    assert_eq!(after["cells"][2]["source"], json!(["print(\"&gt;\")"]));
    let omitting = "import x\n# ... existing code ...\n";
    let whole = json!({"cell": "load", "new_text": omitting});
    let lines =
        json!({"cell": "load", "start_line": 2, "end_line": 3, "new_text": "# ... existing code ..."});
    let text = json!({"cell": "load", "old_string": "import x\ny = x.load()\n", "new_string": omitting});
    for (tool, change) in [("replace_lines", &whole), ("replace_lines", &lines), ("str_replace", &text)] {
        call(&mut client, tool, change).refused("omission-placeholder");
        assert_eq!(folder.text("a.ipynb"), before, "{change}");
    }
}

#[test]
fn a_cell_may_get_its_own_text_with_other_line_endings() {
    let with_crlf = NOTEBOOK
        .replace(r#"import x\n""#, r#"import x\r\n""#)
        .replace(r#"y = x.load()\n""#, r#"y = x.load()\r\n""#);
    let (folder, mut client) = with_notebook();
    folder.write("a.ipynb", &with_crlf);
    call(
        &mut client,
        "replace_lines",
        &json!({"cell": "load", "new_text": "import x\ny = x.load()\ny.show()"}),
    )
    .ok();
    assert_eq!(folder.text("a.ipynb"), NOTEBOOK);
}

#[test]
fn what_a_cell_has_not_is_said_and_nothing_is_lost_without_a_word() {
    let (folder, mut client) = with_notebook();
    // There is nothing to clear beside the new source, which is a change all the same.
    call(&mut client, "replace_lines", &json!({"cell": "2", "new_text": "y = 3", "clear_outputs": true}))
        .ok();
    assert_eq!(folder.text("a.ipynb"), NOTEBOOK.replace("y = 2", "y = 3"));
    call(&mut client, "replace_lines", &json!({"cell": "2", "clear_outputs": true}))
        .refused("invalid-argument");
    for odd in ["+1", " 1 ", "1.0", "-0"] {
        call(&mut client, "read_file", &json!({"cell": odd})).refused("invalid-argument");
    }
    // The same file by another spelling of its path.
    let from = json!({"path": "./a.ipynb", "version": version(&mut client), "cell": "intro"});
    call(&mut client, "replace_lines", &json!({"cell": "2", "insert": "after", "from": from})).ok();
    let after: Value = serde_json::from_str(&folder.text("a.ipynb")).unwrap();
    assert_eq!(after["cells"][3]["source"], json!(["# Title\n", "café"]));
    // A looser layer found it, which is said as it is for a file.
    let looser = json!({"cell": "load", "old_string": "  import x\n  y = x.load()", "new_string": "  import x\n  z = x.load()"});
    let answer = call(&mut client, "str_replace", &looser).ok();
    assert!(answer.text.contains("indentation"), "{}", answer.text);
    let attached = NOTEBOOK.replace(
        "   \"id\": \"intro\",\n",
        "   \"attachments\": {\"a.png\": {\"image/png\": \"iVBORw0KGgo=\"}},\n   \"id\": \"intro\",\n",
    );
    std::fs::write(folder.at("a.ipynb"), &attached).unwrap();
    let from = json!({"path": "a.ipynb", "version": version(&mut client), "cell": "intro"});
    let refused = call(&mut client, "replace_lines", &json!({"cell": "2", "insert": "after", "from": from}));
    assert!(refused.refused("invalid-argument").text.contains("which a copy would not have; move it"));
    assert_eq!(folder.text("a.ipynb"), attached);
}

#[test]
fn a_reading_of_a_long_cell_says_that_it_goes_on_and_an_id_is_one_line() {
    let long = NOTEBOOK.replace("\"# Title\\n\"", &format!("\"{}\"", "x".repeat(100_000)));
    let folder = Folder::with([("a.ipynb", long.as_str())]);
    let mut client = serve(&folder);
    for arguments in [json!({"path": "a.ipynb"}), json!({"path": "a.ipynb", "cell": "0"})] {
        let text = client.call("read_file", arguments).ok().text;
        assert!(
            text.contains("\nThe cell goes on: offset and limit show the lines of the file."),
            "{}",
            text.len()
        );
    }
    let folder = Folder::with([("a.ipynb", NOTEBOOK.replace("\"intro\"", "\"a\\n[1] code id=b\"").as_str())]);
    let text = serve(&folder).read("a.ipynb").text;
    assert!(text.contains("\n[0] markdown id=a\\n[1] code id=b\n"), "{text}");
}
