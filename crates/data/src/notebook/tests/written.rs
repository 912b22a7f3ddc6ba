//! New cells, as their notebook writes them.

use super::*;

/// A notebook without cells, in lines.
const EMPTY: &str =
    "{\n  \"cells\": [],\n  \"metadata\": {},\n  \"nbformat\": 4,\n  \"nbformat_minor\": 4\n}\n";

/// The id of the cell at a position.
fn id_at(text: &str, position: usize) -> String {
    Notebook::read(text).unwrap().cells()[position].id.clone().unwrap()
}

#[test]
fn code_has_an_id_a_count_and_outputs() {
    let change = [insert(CellPlace::After(id("intro")), CellKind::Code, "import os\nos.getcwd()")];
    let id = id_at(&made(JUPYTER, &change).unwrap(), 1);
    assert!(id.len() == 8 && id.bytes().all(|byte| byte.is_ascii_hexdigit()), "{id}");
    let new = format!(
        r#"  {{
   "cell_type": "code",
   "execution_count": null,
   "id": "{id}",
   "metadata": {{}},
   "outputs": [],
   "source": [
    "import os\n",
    "os.getcwd()"
   ]
  }},
"#
    );
    let next = "  {\n   \"cell_type\": \"code\",\n   \"execution_count\": 7";
    check_replaced(JUPYTER, &change, next, &format!("{new}{next}"));
}

#[test]
fn markdown_behind_the_last_cell() {
    let change = [insert(CellPlace::At(3), CellKind::Markdown, "end")];
    let id = id_at(&made(JUPYTER, &change).unwrap(), 3);
    let last = "\"source\": []\n  }\n";
    let new = format!(
        "\"source\": []\n  }},\n  {{\n   \"cell_type\": \"markdown\",\n   \"id\": \"{id}\",\n   \"metadata\": {{}},\n   \"source\": [\n    \"end\"\n   ]\n  }}\n"
    );
    check_replaced(JUPYTER, &change, last, &new);
}

#[test]
fn no_id_before_nbformat_4_5() {
    check_replaced(
        COLAB,
        &[insert(CellPlace::Before(CellAddress::Index(0)), CellKind::Raw, "")],
        "  \"cells\": [\n",
        "  \"cells\": [\n    {\n      \"cell_type\": \"raw\",\n      \"metadata\": {},\n      \"source\": []\n    },\n",
    );
}

#[test]
fn in_one_line_with_sources_of_one_string() {
    let change = [insert(CellPlace::At(1), CellKind::Code, "é\n1")];
    let id = id_at(&made(MINIFIED, &change).unwrap(), 1);
    let new = format!(
        "{{\"cell_type\":\"code\",\"execution_count\":null,\"id\":\"{id}\",\"metadata\":{{}},\"outputs\":[],\"source\":\"\\u00e9\\n1\"}},"
    );
    let next = "{\"cell_type\":\"markdown\"";
    check_replaced(MINIFIED, &change, next, &format!("{new}{next}"));
}

#[test]
fn in_one_line_with_blanks() {
    check_replaced(
        ESCAPED,
        &[insert(CellPlace::At(1), CellKind::Markdown, "a\nü")],
        "\"two\"]}",
        "\"two\"]}, {\"cell_type\": \"markdown\", \"metadata\": {}, \"source\": [\"a\\n\", \"\\u00fc\"]}",
    );
}

#[test]
fn with_four_blanks_and_crlf() {
    let text = VSCODE.replace('\n', "\r\n");
    check_replaced(
        &text,
        &[insert(CellPlace::At(2), CellKind::Markdown, "a")],
        "attachment:i.png)\"\r\n            ]\r\n        }",
        "attachment:i.png)\"\r\n            ]\r\n        },\r\n        {\r\n            \"cell_type\": \"markdown\",\r\n            \"metadata\": {},\r\n            \"source\": [\r\n                \"a\"\r\n            ]\r\n        }",
    );
}

#[test]
fn with_tabs() {
    let text = EMPTY.replace("  ", "\t");
    check_replaced(
        &text,
        &[insert(CellPlace::At(0), CellKind::Raw, "a")],
        "[]",
        "[\n\t\t{\n\t\t\t\"cell_type\": \"raw\",\n\t\t\t\"metadata\": {},\n\t\t\t\"source\": [\n\t\t\t\t\"a\"\n\t\t\t]\n\t\t}\n\t]",
    );
}

#[test]
fn into_a_notebook_without_cells() {
    check_replaced(
        EMPTY,
        &[
            insert(CellPlace::At(0), CellKind::Markdown, "b"),
            insert(CellPlace::Before(CellAddress::Index(0)), CellKind::Code, ""),
        ],
        "[]",
        "[\n    {\n      \"cell_type\": \"code\",\n      \"execution_count\": null,\n      \"metadata\": {},\n      \"outputs\": [],\n      \"source\": []\n    },\n    {\n      \"cell_type\": \"markdown\",\n      \"metadata\": {},\n      \"source\": [\n        \"b\"\n      ]\n    }\n  ]",
    );
    check_replaced(
        "{\"cells\":[],\"metadata\":{},\"nbformat\":4,\"nbformat_minor\":4}",
        &[insert(CellPlace::At(0), CellKind::Raw, "a\nb")],
        "[]",
        "[{\"cell_type\":\"raw\",\"metadata\":{},\"source\":[\"a\\n\",\"b\"]}]",
    );
}

#[test]
fn blanks_in_a_list_without_cells_stay_until_one_comes() {
    let text = EMPTY.replace("[]", "[\n  ]");
    let change =
        [insert(CellPlace::At(0), CellKind::Raw, ""), CellChange::Delete { cell: CellAddress::Index(0) }];
    assert_eq!(Notebook::read(&text).unwrap().change(&change), Ok(Vec::new()));
    assert_eq!(made(&text, &change[..1]), made(EMPTY, &change[..1]));
}

#[test]
fn without_indentation() {
    let text = EMPTY.replace("  ", "").replace('\n', "\r\n");
    let change = [insert(CellPlace::At(0), CellKind::Raw, "a\nb")];
    let one =
        "{\r\n\"cell_type\": \"raw\",\r\n\"metadata\": {},\r\n\"source\": [\r\n\"a\\n\",\r\n\"b\"\r\n]\r\n}";
    check_replaced(&text, &change, "[]", &format!("[\r\n{one}\r\n]"));
    let text = made(&text, &change).unwrap();
    check_replaced(&text, &change, one, &format!("{one},\r\n{one}"));
}

#[test]
fn in_the_place_of_all_others() {
    let change = [
        insert(CellPlace::At(2), CellKind::Raw, "new"),
        CellChange::Delete { cell: CellAddress::Index(0) },
        CellChange::Delete { cell: CellAddress::Index(0) },
    ];
    let from = COLAB.find("    {\n      \"cell_type\"").unwrap();
    let cell = "    {\n      \"cell_type\": \"raw\",\n      \"metadata\": {},\n      \"source\": [\n        \"new\"\n      ]\n    }";
    check(COLAB, &change, &format!("{}{cell}\n  ]\n}}", &COLAB[..from]));
}

#[test]
fn ids_are_the_same_each_time_and_never_of_another_cell() {
    let change = [insert(CellPlace::At(0), CellKind::Raw, "a")];
    let once = made(JUPYTER, &change).unwrap();
    assert_eq!(made(JUPYTER, &change).unwrap(), once);
    // The same text at the same place again.
    let twice = made(&once, &change).unwrap();
    assert_ne!(id_at(&twice, 0), id_at(&twice, 1));
    let both = [change.to_vec(), change.to_vec()].concat();
    assert_eq!(made(JUPYTER, &both).unwrap(), twice);
}

#[test]
fn a_new_cell_is_changed_in_the_same_call() {
    let new = insert(CellPlace::At(0), CellKind::Markdown, "a");
    let change = [new, kind(CellAddress::Index(0), CellKind::Code), source(CellAddress::Index(0), "b")];
    check_replaced(
        COLAB,
        &change,
        "\"cells\": [\n",
        "\"cells\": [\n    {\n      \"cell_type\": \"code\",\n      \"execution_count\": null,\n      \"metadata\": {},\n      \"outputs\": [],\n      \"source\": [\n        \"b\"\n      ]\n    },\n",
    );
}

#[test]
fn a_place_that_is_none_is_told() {
    assert_eq!(
        made(COLAB, &[insert(CellPlace::At(3), CellKind::Raw, "a")]),
        Err((0, CellFault::NoPlace { position: 3, count: 2 }))
    );
    let address = id("Xa9_");
    assert_eq!(
        made(COLAB, &[insert(CellPlace::After(address.clone()), CellKind::Raw, "a")]),
        Err((0, CellFault::NoCell { address, nearest: Vec::new(), count: 2 }))
    );
}
