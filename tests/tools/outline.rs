//! Reading less: a definition by its name, the outline of files, and several readings in one call. What they show has the
//! lines and the version by which it can be edited.

use std::fmt::Write;

use emend_testkit::{Answer, Folder};
use serde_json::{Value, json};

use crate::serve;

const CLIENT: &str = "\
import net

LIMIT = 3


# Carries requests.
@dataclass
class Transport:
    url: str

    @retry(3)
    def handle(self, request):
        return self.send(request)

    def send(self, request):
        return net.post(self.url, request)


class Fake:
    def send(self, request): return None


def handle_all(): pass
";

/// The numbers of the lines that are shown.
fn numbers(answer: &Answer) -> Vec<usize> {
    let number = |line: &str| line.split_once('\t')?.0.trim_start().parse().ok();
    answer.text.lines().filter_map(number).collect()
}

fn project() -> Folder {
    Folder::with([
        ("src/client.py", CLIENT),
        ("src/lib.rs", "pub mod a;\n\n/// Runs.\npub fn run() {\n}\n"),
        ("notes.txt", "no definitions\n"),
        (".env", "KEY=classified\n"),
        ("src/.env.py", "def classified(): pass\n"),
    ])
}

#[test]
fn a_reading_of_a_symbol_as_a_model_sees_it() {
    let folder = project();
    let before = folder.everything();
    let answer =
        serve(&folder).call("read_file", json!({"path": "src/client.py", "symbol": "Transport.handle"}));
    insta::assert_snapshot!(answer.ok().text);
    assert_eq!(folder.everything(), before, "a reading leaves nothing behind");
}

#[test]
fn a_symbol_is_read_whole_with_what_belongs_to_it() {
    let folder = project();
    let mut client = serve(&folder);
    let mut read = |symbol: &str| {
        let answer = client.call("read_file", json!({"path": "src/client.py", "symbol": symbol})).ok();
        assert_eq!(answer.structured, Value::Null);
        assert_eq!(answer.meta["emend/path"], "src/client.py");
        numbers(&answer)
    };
    assert_eq!(read("Transport"), (6..=16).collect::<Vec<_>>());
    assert_eq!(read("handle"), [11, 12, 13]);
    assert_eq!(read("Transport::send"), [15, 16]);
    assert_eq!(read("LIMIT"), [3]);
    let answer = client.call("read_file", json!({"path": "src/lib.rs", "symbol": "run"})).ok();
    assert_eq!(numbers(&answer), [3, 4, 5]);
    assert_eq!(answer.version(), client.read("src/lib.rs").version());
}

#[test]
fn a_symbol_that_is_not_one_definition_is_refused_with_those_there_are() {
    let folder = project();
    let mut client = serve(&folder);
    let mut refused = |path: &str, symbol: &str, code: &str| {
        let answer = client.call("read_file", json!({"path": path, "symbol": symbol}));
        answer.refused(code).text
    };
    let several = refused("src/client.py", "send", "ambiguous-symbol");
    assert!(
        several.contains("15-16 method Transport.send") && several.contains("20 method Fake.send"),
        "{several}"
    );
    let misspelt = refused("src/client.py", "Transport.handel", "symbol-not-found");
    assert!(misspelt.contains("11-13 method Transport.handle"), "{misspelt}");
    let unlike = refused("src/client.py", "zzzzzzzz", "symbol-not-found");
    assert!(unlike.contains("6-16 class Transport") && !unlike.contains("Transport.handle"), "{unlike}");
    refused("notes.txt", "a", "symbol-not-found");
    let both = json!({"path": "src/client.py", "symbol": "LIMIT", "offset": 2});
    client.call("read_file", both).refused("invalid-argument");
    client.call("read_file", json!({"path": ".env", "symbol": "KEY"})).refused("path-forbidden");
}

#[test]
fn of_a_long_symbol_the_first_lines_can_be_read() {
    let folder = project();
    let mut client = serve(&folder);
    let mut read = |limit: usize| {
        let asked = json!({"path": "src/client.py", "symbol": "Transport", "limit": limit});
        client.call("read_file", asked).ok()
    };
    let head = read(3);
    assert_eq!(numbers(&head), [6, 7, 8]);
    assert!(head.text.contains("lines 6-8 of") && head.text.contains("goes on to line 16."), "{}", head.text);
    let whole = read(11);
    assert_eq!(numbers(&whole).len(), 11);
    assert!(!whole.text.contains("goes on"), "{}", whole.text);
    assert_eq!(numbers(&read(usize::MAX)).len(), 11);
}

#[test]
fn several_parts_of_several_files_are_read_in_one_call() {
    let folder = project();
    let mut client = serve(&folder);
    let files = json!([
        {"path": "src/client.py", "symbol": "Fake"},
        {"path": "src/client.py", "offset": 1, "limit": 2},
        {"path": "src/lib.rs"},
    ]);
    let answer = client.call("read_file", json!({"files": files, "path": "", "offset": 0})).ok();
    assert_eq!(numbers(&answer), [19, 20, 1, 2, 1, 2, 3, 4, 5]);
    let files = answer.meta["emend/files"].as_array().unwrap();
    let paths: Vec<&Value> = files.iter().map(|file| &file["emend/path"]).collect();
    assert_eq!(paths, ["src/client.py", "src/client.py", "src/lib.rs"]);
    assert_eq!(files[2]["emend/version"], client.read("src/lib.rs").version());
}

#[test]
fn of_several_readings_each_is_asked_for_by_itself() {
    let folder = project();
    let mut client = serve(&folder);
    let files = json!([{"path": "none.py"}, {"path": ".env"}, {"path": "src/lib.rs", "limit": 1}]);
    let answer = client.call("read_file", json!({"files": files})).ok();
    assert_eq!(numbers(&answer), [1]);
    assert!(
        answer.text.contains("[missing-original]") && answer.text.contains("[path-forbidden]"),
        "{}",
        answer.text
    );
    assert!(!answer.text.contains("classified"), "{}", answer.text);
    let none = client.call("read_file", json!({"files": [{"path": ".env"}, {"path": "none.py"}]}));
    assert!(none.is_error, "{}", none.text);
    for wrong in [
        json!({}),
        json!({"files": []}),
        json!({"path": "a", "files": [{"path": "b"}]}),
        json!({"files": [{"path": "src/lib.rs"}], "offset": 2}),
    ] {
        client.call("read_file", wrong).refused("invalid-argument");
    }
    let aliased = json!({"files": [{"file_path": "src/lib.rs", "symbol": "", "limit": 1}, {"path": "a", "symbl": "b"}]});
    let answer = client.call("read_file", aliased).ok();
    assert_eq!(numbers(&answer), [1]);
    assert!(answer.text.contains("[unknown-argument]"), "{}", answer.text);
}

#[test]
fn several_readings_share_the_room_of_one_unless_they_have_a_limit() {
    let long = format!("{}\n", "y".repeat(99)).repeat(900);
    let folder = Folder::with([("a.py", &long_code()), ("b.txt", &long), ("c.txt", "short\n")]);
    let mut client = serve(&folder);
    let mut read = |files: Value| client.call("read_file", json!({"files": files})).ok();
    let three = read(json!([{"path": "c.txt"}, {"path": "a.py"}, {"path": "b.txt"}]));
    assert!(three.text.len() < 16_800, "{}", three.text.len());
    let b = three.text.find("\nb.txt · ").unwrap();
    assert!((4_000..8_800).contains(&b) && three.text.contains("\n84-85 function f20\n"), "{}", three.text);
    assert_eq!(three.text.matches("There is more: read_file with offset").count(), 2, "{}", three.text);
    let limited = read(json!([{"path": "b.txt", "limit": 300}, {"path": "a.py"}, {"path": "a.py"}]));
    assert!(limited.text.len() < 50_000, "{}", limited.text.len());
    assert!(limited.text.contains("lines 1-300 of 900"), "{}", limited.text.len());
    let all = read(json!([{"path": "b.txt", "limit": 900}, {"path": "a.py"}]));
    assert!(all.text.len() < 50_000 && all.text.contains("a.py was not read"), "{}", all.text.len());
    let many = read(Value::from(vec![json!({"path": "b.txt"}); 40]));
    assert!(many.text.len() < 20_000 && many.text.contains("b.txt was not read"), "{}", many.text.len());
}

/// A file with more lines than a reading shows.
fn long_code() -> String {
    (0..1_000).fold("import a\n".to_owned(), |mut text, number| {
        write!(text, "\n\ndef f{number}():\n    return {number}\n").unwrap();
        text
    })
}

#[test]
fn a_long_file_is_its_head_and_its_outline() {
    let folder = Folder::with([("long.py", &long_code()), ("long.txt", &long_code())]);
    let mut client = serve(&folder);
    let whole = client.read("long.py");
    assert_eq!(numbers(&whole), (1..=60).collect::<Vec<_>>());
    assert!(whole.text.contains("\n84-85 function f20\n") && whole.text.len() < 12_000, "{}", whole.text);
    assert!(whole.text.contains("There is more: read_file with offset 61.\n"), "{}", whole.text);
    assert!(whole.text.ends_with(" more\n"), "{}", whole.text);
    assert_eq!(whole.meta["emend/lines"], 4_001);
    // What was shown of it is not all of it.
    let new = json!({"path": "long.py", "content": "a = 1\n"});
    client.call("write_file", new).refused("not-read");
    let lines = client.call("read_file", json!({"path": "long.py", "limit": 2_000})).ok();
    assert_eq!(numbers(&lines), (1..=2_000).collect::<Vec<_>>());
    assert!(!lines.text.contains("There is more"), "{}", lines.text);
    for lines in [json!({"path": "long.py", "offset": 1}), json!({"path": "long.txt"})] {
        let lines = client.call("read_file", lines).ok();
        let next = numbers(&lines).len() + 1;
        assert!((15_000..16_200).contains(&lines.text.len()), "{}", lines.text.len());
        assert!(
            lines.text.ends_with(&format!("There is more: read_file with offset {next}.\n")),
            "{}",
            lines.text
        );
    }
}

#[test]
fn an_outline_of_files_as_a_model_sees_it() {
    let folder = project();
    let before = folder.everything();
    let answer = serve(&folder).call("list_files", json!({"path": "src", "outline": true})).ok();
    insta::assert_snapshot!(answer.text);
    assert_eq!(folder.everything(), before, "an outline leaves nothing behind");
}

#[test]
fn an_outline_is_of_a_file_a_folder_or_a_glob() {
    let folder = project();
    let mut client = serve(&folder);
    let mut outline = |mut arguments: Value| {
        arguments["outline"] = true.into();
        client.call("list_files", arguments).ok().text
    };
    let file = outline(json!({"path": "src/client.py"}));
    assert!(file.contains("  11-13 method handle") && !file.contains("run"), "{file}");
    let all = outline(json!({}));
    assert!(all.contains("function run") && all.contains("class Fake") && all.contains("notes.txt"), "{all}");
    assert!(!all.contains("classified") && !all.contains(".env"), "{all}");
    let rust = outline(json!({"glob": "*.rs"}));
    assert!(rust.contains("3-5 function run") && !rust.contains("Fake"), "{rust}");
}

#[test]
fn many_outlines_are_bounded_and_say_so() {
    let folder = Folder::new();
    (0..120).for_each(|number| {
        folder.write(&format!("{number:03}.py"), "class A:\n    def b(): pass\n".repeat(40));
    });
    let answer = serve(&folder).call("list_files", json!({"outline": true})).ok();
    assert!(answer.text.len() < 40_000, "{}", answer.text.len());
    assert!(
        answer.text.contains("inside of these") && answer.text.contains("Only 100 files"),
        "{}",
        answer.text
    );
    assert!(answer.text.contains("119.py"), "the others are still listed");
}

#[test]
fn lines_that_were_shown_are_followed_to_where_they_are() {
    let folder = project();
    let mut client = serve(&folder);
    let symbol = client.call("read_file", json!({"path": "src/client.py", "symbol": "Fake.send"})).ok();
    let outline = client.call("list_files", json!({"path": "src/lib.rs", "outline": true})).ok();
    let version = outline.text.split("version ").nth(1).unwrap().lines().next().unwrap();
    // Somebody else inserts lines above.
    folder.write("src/client.py", format!("# new\n{CLIENT}"));
    folder.write("src/lib.rs", "//! New.\npub mod a;\n\n/// Runs.\npub fn run() {\n}\n");
    let lines = |path: &str, version: &str, first: usize, last: usize, text: &str| json!({"path": path, "version": version, "start_line": first, "end_line": last, "new_text": text});
    let edit = lines("src/client.py", &symbol.version(), 20, 20, "    def send(self, request): return 1\n");
    client.call("replace_lines", edit).ok();
    client.call("replace_lines", lines("src/lib.rs", version, 3, 5, "")).ok();
    assert_eq!(folder.text("src/client.py"), format!("# new\n{CLIENT}").replace("return None", "return 1"));
    assert_eq!(folder.text("src/lib.rs"), "//! New.\npub mod a;\n\n");
}

#[test]
fn an_outline_is_no_reading() {
    let folder = project();
    folder.write(".emend.toml", "require_read = 'always'\n");
    let mut client = serve(&folder);
    let edit = json!({"path": "src/lib.rs", "old_string": "pub mod a;", "new_string": "mod a;"});
    client.call("list_files", json!({"outline": true})).ok();
    client.call("str_replace", edit.clone()).refused("not-read");
    client.call("read_file", json!({"path": "src/lib.rs", "symbol": "run"})).ok();
    client.call("str_replace", edit).ok();
}
