//! `apply_sketch`: what lands where, and what is refused.

use emend_testkit::{Answer, Folder};
use serde_json::json;

use crate::serve;

const CLASS: &str = "import os\n\n\nclass A:\n    def first(self):\n        return 1\n\n    # Of second.\n    \
                     def second(self):\n        value = 2\n        return value\n\n\nclass B:\n    def first(self):\n        \
                     return 1\n";

/// One sketch for a file of these bytes: the answer, and the bytes afterwards.
#[track_caller]
fn sketch(path: &str, before: &str, sketch: &str) -> (Answer, String) {
    let folder = Folder::with([(path, before)]);
    let answer = serve(&folder).call("apply_sketch", json!({"path": path, "sketch": sketch}));
    (answer, String::from_utf8(folder.read(path)).unwrap())
}

#[track_caller]
fn check(path: &str, before: &str, text: &str, after: &str) {
    let (answer, found) = sketch(path, before, text);
    answer.ok();
    assert_eq!(found, after, "{text}");
}

#[track_caller]
fn check_refused(path: &str, before: &str, text: &str, code: &str) -> Answer {
    let (answer, found) = sketch(path, before, text);
    assert_eq!(answer.code(), Some(code), "{}", answer.text);
    assert_eq!(found, before);
    answer
}

#[test]
fn a_sketch_lands_where_its_lines_stand() {
    let import = "import os\nimport re\n# ... existing code ...\n        value = 3\n        return value\n";
    check_refused("a.py", CLASS, import, "uncertain-sketch");
    let whole = "import os\nimport re\n# ... existing code ...\n    def second(self):\n        value = 3\n        return \
                 value\n# ... existing code ...\n";
    let after = CLASS.replace("import os\n", "import os\nimport re\n").replace("value = 2", "value = 3");
    check("a.py", CLASS, whole, &after);
    let json = "{\n  \"a\": 1,\n  \"xyz\": 1,\n  \"bcd\": 2\n}\n";
    check(
        "a.json",
        json,
        "{\n  // ... existing code ...\n  \"xyz\": 1,\n  \"bcd\": 2,\n  \"efg\": 3\n}\n",
        &json.replace("2\n", "2,\n  \"efg\": 3\n"),
    );
    let page = "<ul>\n  <li>one</li>\n  <li>two</li>\n</ul>\n";
    let added = "<!-- ... existing markup ... -->\n  <li>two</li>\n  <li>three</li>\n</ul>\n";
    check("a.html", page, added, &page.replace("two</li>\n", "two</li>\n  <li>three</li>\n"));
}

#[test]
fn a_definition_that_is_whole_takes_the_place_of_its_namesake() {
    let text = "# ... existing code ...\nclass A:\n    # ... existing code ...\n    def second(self, more):\n        return \
                more\n# ... existing code ...\n";
    let after = CLASS
        .replace("second(self)", "second(self, more)")
        .replace("        value = 2\n        return value\n", "        return more\n");
    // One of its three lines goes. The marker ends the class; what else the class has would go without a word.
    check_refused("a.py", CLASS, text, "uncertain-sketch");
    let folder = Folder::with([("a.py", CLASS)]);
    let arguments = json!({"path": "a.py", "sketch": text, "replace_whole": ["A.second"]});
    let answer = serve(&folder).call("apply_sketch", arguments).ok();
    let said =
        "Dropped from method A.second, which the sketch shows as a whole without these lines:\n    10\t";
    assert!(answer.text.contains(said), "{}", answer.text);
    assert_eq!(folder.text("a.py"), after);
    let longer = CLASS.replace("return value\n", "return value\n\n    def third(self):\n        return 3\n");
    check_refused("a.py", &longer, text, "uncertain-sketch");
}

#[test]
fn what_a_sketch_leaves_out_without_a_word_stays() {
    let text = "# ...\n    def second(self):\n        return value\n# ...\n";
    let refused = check_refused("a.py", CLASS, text, "uncertain-sketch");
    assert!(refused.text.contains("value = 2"), "{}", refused.text);
    let said = "# ...\n    def second(self):\n        # ... removed ...\n        return value\n# ...\n";
    check("a.py", CLASS, said, &CLASS.replace("        value = 2\n", ""));
}

#[test]
fn new_definitions_do_not_pay_for_what_belongs_to_the_next_one() {
    let file = "import os\n\n\ndef alpha():\n    return one()\n\n\n@cache\ndef beta():\n    return two()\n";
    let gamma = "# ... existing code ...\n    return one()\n\n\ndef gamma():\n    return 3\n\n\ndef beta():\n    # ... existing \
                 code ...\n";
    let refused = check_refused("a.py", file, gamma, "uncertain-sketch");
    assert!(refused.text.contains("@cache"), "{}", refused.text);
    let shown = gamma.replace("def beta", "@cache\ndef beta");
    let after = file.replace("@cache", "def gamma():\n    return 3\n\n\n@cache");
    check("a.py", file, &shown, &after);
    let changed = gamma.replace("def beta", "@memoize(100)\ndef beta");
    check("a.py", file, &changed, &after.replace("@cache", "@memoize(100)"));

    let file = "use a;\n\nfn alpha() {\n    one();\n}\n\n/// Tests.\n#[test]\nfn beta() {\n    two();\n}\n";
    let gamma = "// ... existing code ...\n    one();\n}\n\nfn gamma() {\n    three();\n}\n\nfn beta() {\n    // ... existing code \
                 ...\n";
    check_refused("a.rs", file, gamma, "uncertain-sketch");
    // A statement that is new beside them pays for them as little.
    check_refused(
        "a.rs",
        file,
        &gamma.replace("fn gamma", "const X: u8 = 1;\nconst Y: u8 = 2;\nfn gamma"),
        "uncertain-sketch",
    );
}

#[test]
fn a_marker_above_a_definition_is_no_comment_of_it() {
    let file = "package a\n\nfunc one() int {\n\treturn 1\n}\n\nfunc two() int {\n\treturn 2\n}\n\nfunc three() int {\n\treturn 3\n}\n";
    let sketch = "// ... existing code ...\nfunc two() int {\n\treturn 7\n}\n// ... existing code ...\n";
    check("a.go", file, sketch, &file.replace("return 2", "return 7"));
    check("a.go", file, &sketch.replace("// ...", "..."), &file.replace("return 2", "return 7"));
}

#[test]
fn a_definition_of_another_indentation_is_another_one() {
    let file = "struct A;\nimpl A {\n    fn go() {\n        one();\n    }\n}\n";
    let sketch = "// ...\nfn go() {\n    two();\n}\n// ...\n";
    check_refused("a.rs", file, sketch, "uncertain-sketch");
    let file = "class C:\n    def go(self):\n        return 1\n\n    def other(self):\n        return 2\n";
    let sketch = "# ...\ndef go(self):\n    return 9\n# ...\n";
    check_refused("a.py", file, sketch, "uncertain-sketch");
    let right = "# ...\n    def go(self):\n        return 9\n    # ...\n";
    check("a.py", file, right, &file.replace("return 1", "return 9"));
}

#[test]
fn what_is_new_above_a_marker_goes_into_no_deeper_block() {
    let file = "def f(q):\n    if q:\n        one_thing()\n        two_thing()\n    return q\n";
    let log = "def f(q):\n    if q:\n        one_thing()\n    log_it(\"z\")\n    # ... existing code ...\n";
    check_refused("a.py", file, log, "uncertain-sketch");
    let inside = log.replace("    log_it", "        log_it");
    check("a.py", file, &inside, &file.replace("        two", "        log_it(\"z\")\n        two"));
}

#[test]
fn a_sketch_is_an_edit_like_any_other() {
    let folder = Folder::with([("a.py", CLASS)]);
    let mut client = serve(&folder);
    let text = "# ...\n        value = 5\n        print(value)\n        return value\n# ...\n";
    let arguments = json!({"path": "a.py", "sketch": "import os\nimport re\n# ... existing code ...\n"});
    let shown = client.preview("apply_sketch", arguments.clone()).ok();
    assert_eq!(folder.text("a.py"), CLASS);
    client.call("apply_preview", json!({"preview": shown.handle()})).ok();
    assert_eq!(folder.text("a.py"), CLASS.replace("import os\n", "import os\nimport re\n"));
    client.call("undo_edit", json!({})).ok();
    assert_eq!(folder.text("a.py"), CLASS);
    assert_eq!(
        client.call("apply_sketch", json!({"path": "a.py", "sketch": text})).code(),
        Some("uncertain-sketch")
    );
    let edit = |tool: &str, mut all: serde_json::Value| {
        all["tool"] = tool.into();
        all
    };
    let edits = json!([
        edit("str_replace", json!({"path": "a.py", "old_string": "value = 2", "new_string": "value = 4"})),
        edit("apply_sketch", arguments),
    ]);
    client.call("edit_files", json!({"edits": edits})).ok();
    let after = CLASS.replace("value = 2", "value = 4").replace("import os\n", "import os\nimport re\n");
    assert_eq!(folder.text("a.py"), after);
    let stale = json!({"path": "a.py", "sketch": "import os\n# ...\n", "version": "000000000000"});
    assert_eq!(client.call("apply_sketch", stale).code(), Some("stale-file"));
    // The names that other tools have for the arguments.
    let other =
        json!({"target_file": "a.py", "instructions": "x", "code_edit": "import os\nimport io\n# ...\n"});
    client.call("apply_sketch", other).refused("uncertain-sketch");
}

#[test]
fn a_definition_loses_few_lines_or_is_named() {
    let file = "def f(x):\n    return x.strip()\n\ndef g(x):\n    return 2\n";
    let text = "def f(x):\n    raise NotImplementedError(\"gone\")\n# ... existing code ...\n";
    let refused = check_refused("a.py", file, text, "uncertain-sketch");
    assert!(
        refused.text.contains("1 of its 2 lines") && refused.text.contains("replace_whole"),
        "{}",
        refused.text
    );
    let folder = Folder::with([("a.py", file)]);
    let arguments = json!({"path": "a.py", "sketch": text, "replace_whole": ["f"]});
    let answer = serve(&folder).call("apply_sketch", arguments).ok();
    assert!(answer.text.contains("Dropped from function f"), "{}", answer.text);
    assert_eq!(folder.text("a.py"), file.replace("return x.strip()", "raise NotImplementedError(\"gone\")"));

    let file = "def f(x):\n    one(1)\n    two(2)\n    three(3)\n    return x\n\ndef g(x):\n    return 2\n";
    let text = "# ...\ndef f(x):\n    one(5)\n# ...\n";
    check_refused("a.py", file, text, "uncertain-sketch");
    check_refused("a.py", file, &text.replace("    one(5)", "    one(5)\n    return x"), "uncertain-sketch");
    let few = "# ...\ndef f(x):\n    one(5)\n    three(3)\n    return x\n# ...\n";
    check("a.py", file, few, &file.replace("one(1)\n    two(2)", "one(5)"));
}

#[test]
fn a_new_definition_does_not_take_the_place_of_one_like_it() {
    let before = "class Report:\n    def load(self, page):\n        return page\n\n    def send_order(self, report):\n        \
                  if session:\n            save(item)\n        return report\n";
    let text = "class Report:\n    # ... existing code ...\n\n    def close(self, now):\n        if session:\n            \
                session.close(now)\n        return report\n";
    check_refused("a.py", before, text, "uncertain-sketch");
    let before = "export function useUser(id) {\n  const all = useAll();\n  return all.find(id);\n}\n";
    let text = "// ... existing code ...\n\nexport function useTeam(id) {\n  const all = useTeams();\n  return \
                all.find(id);\n}\n";
    let (_, found) = sketch("a.js", before, text);
    assert!(found.contains("useUser"), "{found}");
}

#[test]
fn a_definition_that_is_moved_does_not_stand_twice() {
    let load = "function load(id) {\n  const page = item.get();\n  return page;\n}\n";
    let group = "class Group {\n  add(one) {\n    this.all.push(one);\n  }\n}\n";
    let parse = "function parse(text) {\n  const price = Number(text);\n  return price;\n}\n";
    let before = [parse, "\n", group, "\n", load].concat();
    let text = format!(
        "// ... existing code ...\n  return price;\n}}\n\n{load}\nclass Group {{\n    // ... existing code ...\n}}\n"
    );
    check_refused("a.js", &before, &text, "uncertain-sketch");
}
