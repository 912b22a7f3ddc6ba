//! Cells that go, move, become others or lose their outputs.

use super::*;

/// The part of a text from here to there, both included.
fn part<'t>(text: &'t str, from: &str, to: &str) -> &'t str {
    let start = text.find(from).unwrap();
    let end = start + text[start..].find(to).unwrap() + to.len();
    &text[start..end]
}

/// The bytes of a cell.
fn cell(text: &str, position: usize) -> &str {
    &text[Notebook::read(text).unwrap().cells()[position].range.clone()]
}

fn delete(position: usize) -> CellChange {
    CellChange::Delete { cell: CellAddress::Index(position) }
}

fn moved(position: usize, to: CellPlace) -> CellChange {
    CellChange::Move { cell: CellAddress::Index(position), to }
}

fn clear(position: usize) -> CellChange {
    CellChange::ClearOutputs { cell: Some(CellAddress::Index(position)) }
}

#[test]
fn a_cell_goes_with_its_comma() {
    let [first, second, third] = [0, 1, 2].map(|at| cell(JUPYTER, at));
    check_replaced(JUPYTER, &[delete(0)], &format!("{first},\n  "), "");
    check_replaced(JUPYTER, &[delete(1)], &format!("{second},\n  "), "");
    check_replaced(JUPYTER, &[delete(2)], &format!(",\n  {third}"), "");
    check_replaced(MINIFIED, &[delete(1)], &format!(",{}", cell(MINIFIED, 1)), "");
}

#[test]
fn a_notebook_without_cells_has_an_empty_list() {
    let cells = part(COLAB, "[\n    {", "}\n  ]");
    check_replaced(COLAB, &[delete(0), delete(0)], cells, "[]");
}

#[test]
fn a_cell_moves_with_its_very_bytes() {
    let [first, second, third] = [0, 1, 2].map(|at| cell(JUPYTER, at));
    let old = format!("{first},\n  {second},\n  {third}");
    let order = |one: &str, two: &str, three: &str| format!("{one},\n  {two},\n  {three}");
    let last_first = order(third, first, second);
    check_replaced(JUPYTER, &[moved(2, CellPlace::At(0))], &old, &last_first);
    check_replaced(JUPYTER, &[moved(2, CellPlace::Before(id("intro")))], &old, &last_first);
    let first_last = order(second, third, first);
    check_replaced(JUPYTER, &[moved(0, CellPlace::At(2))], &old, &first_last);
    check_replaced(JUPYTER, &[moved(0, CellPlace::After(id("9b0d11c3")))], &old, &first_last);
    check_replaced(
        JUPYTER,
        &[moved(0, CellPlace::After(id("4f1c22aa")))],
        &old,
        &order(second, first, third),
    );
    check_replaced(
        JUPYTER,
        &[moved(0, CellPlace::At(2)), moved(0, CellPlace::At(1))],
        &old,
        &order(third, second, first),
    );
}

#[test]
fn a_cell_that_moves_little_leaves_the_others_where_they_are() {
    let splices = Notebook::read(JUPYTER).unwrap().change(&[moved(2, CellPlace::At(0))]).unwrap();
    let changed: usize = splices.iter().map(|splice| splice.range.len() + splice.new.len()).sum();
    assert_eq!(changed, 2 * (cell(JUPYTER, 2).len() + ",\n  ".len()));
}

#[test]
fn a_cell_that_is_there_already_is_told() {
    for to in [CellPlace::At(1), CellPlace::After(id("intro")), CellPlace::Before(id("4f1c22aa"))] {
        assert_eq!(
            made(JUPYTER, &[moved(1, to)]),
            Err((0, CellFault::Same(crate::notebook::Already::Place)))
        );
    }
    assert_eq!(
        made(JUPYTER, &[moved(1, CellPlace::At(3))]),
        Err((0, CellFault::NoPlace { position: 3, count: 2 }))
    );
}

#[test]
fn a_cell_moves_and_changes() {
    let [first, second] = [0, 1].map(|at| cell(MINIFIED, at));
    let new = second.replace("*\\u00e9*", "b");
    check_replaced(
        MINIFIED,
        &[source(id("b"), "b"), moved(1, CellPlace::At(0))],
        &format!("{first},{second}"),
        &format!("{new},{first}"),
    );
}

#[test]
fn code_becomes_markdown_without_outputs() {
    let outputs = part(JUPYTER, "   \"outputs\": [\n    {", "   ],\n   \"source\": [\n    \"import");
    let expected = JUPYTER
        .replace(outputs, "   \"source\": [\n    \"import")
        .replace("   \"execution_count\": 7,\n", "")
        .replace("\"code\",\n   \"id\": \"4f", "\"markdown\",\n   \"id\": \"4f");
    check(JUPYTER, &[kind(id("4f1c22aa"), CellKind::Markdown)], &expected);
    check(
        JUPYTER,
        &[kind(id("4f1c22aa"), CellKind::Raw), kind(id("4f1c22aa"), CellKind::Markdown)],
        &expected,
    );
}

#[test]
fn code_of_colab_becomes_raw() {
    let outputs = part(COLAB, ",\n      \"execution_count\": 1", "        }\n      ]");
    let expected = COLAB.replace(outputs, "").replace("\"code\"", "\"raw\"");
    check(COLAB, &[kind(CellAddress::Index(1), CellKind::Raw)], &expected);
}

#[test]
fn markdown_becomes_code_with_what_code_has() {
    check_replaced(
        JUPYTER,
        &[kind(id("intro"), CellKind::Code)],
        "\"markdown\",\n   \"id\": \"intro\",\n   \"metadata\": {},\n",
        "\"code\",\n   \"execution_count\": null,\n   \"id\": \"intro\",\n   \"metadata\": {},\n   \"outputs\": [],\n",
    );
    check_replaced(
        MINIFIED,
        &[kind(id("b"), CellKind::Code)],
        "\"markdown\",\"id\":\"b\",\"metadata\":{},",
        "\"code\",\"execution_count\":null,\"id\":\"b\",\"metadata\":{},\"outputs\":[],",
    );
}

#[test]
fn keys_come_last_where_they_are_in_no_order() {
    let expected = COLAB.replace("\"markdown\"", "\"code\"").replace(
        "\"Xa9_\"\n      }\n",
        "\"Xa9_\"\n      },\n      \"execution_count\": null,\n      \"outputs\": []\n",
    );
    check(COLAB, &[kind(CellAddress::Index(0), CellKind::Code)], &expected);
}

#[test]
fn code_that_was_markdown_in_between_has_no_outputs() {
    let cell = || CellAddress::Index(0);
    let expected = MINIFIED.replace("\"execution_count\":2,\"id\"", "\"execution_count\":null,\"id\"");
    let expected = expected.replace(part(MINIFIED, "[{\"data\"", "}]"), "[]");
    check(MINIFIED, &[kind(cell(), CellKind::Markdown), kind(cell(), CellKind::Code)], &expected);
}

#[test]
fn attachments_are_not_lost() {
    let cell = || CellAddress::Index(1);
    assert_eq!(made(VSCODE, &[kind(cell(), CellKind::Code)]), Err((0, CellFault::Attachments)));
    check_replaced(VSCODE, &[kind(cell(), CellKind::Raw)], "\"markdown\"", "\"raw\"");
    let attachments = part(VSCODE, "{\n                \"i.png\"", "            },");
    let empty = VSCODE.replace(attachments, "{},");
    let expected = empty
        .replace("            \"attachments\": {},\n", "")
        .replace("\"markdown\",\n", "\"code\",\n            \"execution_count\": null,\n")
        .replace("[\n                \"![", "[],\n            \"source\": [\n                \"![")
        .replace("\"source\": [],", "\"outputs\": [],");
    check(&empty, &[kind(cell(), CellKind::Code)], &expected);
}

#[test]
fn a_kind_that_is_so_already_is_told() {
    assert_eq!(
        made(COLAB, &[kind(CellAddress::Index(0), CellKind::Markdown)]),
        Err((0, CellFault::Same(crate::notebook::Already::Kind)))
    );
}

#[test]
fn outputs_are_cleared_with_the_count() {
    let outputs = part(JUPYTER, "[\n    {\n     \"name\"", "   ],");
    let expected = JUPYTER.replace(outputs, "[],").replace("_count\": 7", "_count\": null");
    check(JUPYTER, &[clear(1)], &expected);
    check(JUPYTER, &[CellChange::ClearOutputs { cell: None }], &expected);
    assert_eq!(made(JUPYTER, &[clear(0)]), Err((0, CellFault::Same(crate::notebook::Already::Outputs))));
    assert_eq!(made(JUPYTER, &[clear(2)]), Err((0, CellFault::Same(crate::notebook::Already::Outputs))));
    assert_eq!(
        made(&expected, &[CellChange::ClearOutputs { cell: None }]),
        Err((0, CellFault::Same(crate::notebook::Already::Outputs)))
    );
}

#[test]
fn a_source_is_set_and_outputs_are_cleared() {
    let expected = COLAB.replace("1 / 0", "1 / 2").replace("_count\": 1", "_count\": null");
    let expected =
        expected.replace(part(COLAB, "[\n        {\n          \"output_type\"", "\n      ]"), "[]");
    check(COLAB, &[source(CellAddress::Index(1), "1 / 2"), clear(1)], &expected);
}

#[test]
fn a_change_is_of_what_those_before_it_have_left() {
    let change = [delete(0), source(CellAddress::Index(0), "2")];
    let expected = COLAB.replace(&format!("{},\n    ", cell(COLAB, 0)), "").replace("1 / 0", "2");
    check(COLAB, &change, &expected);
    let fault = made(COLAB, &[delete(0), source(CellAddress::Index(1), "2")]);
    let address = CellAddress::Index(1);
    assert_eq!(fault, Err((1, CellFault::NoCell { address, nearest: Vec::new(), count: 1 })));
}

#[test]
fn changes_that_come_to_nothing_change_nothing() {
    let back = [source(id("a"), "1"), source(id("a"), "x = 1\nx + 1")];
    assert_eq!(Notebook::read(MINIFIED).unwrap().change(&back), Ok(Vec::new()));
    let back = [moved(0, CellPlace::At(1)), moved(0, CellPlace::At(1))];
    assert_eq!(Notebook::read(MINIFIED).unwrap().change(&back), Ok(Vec::new()));
    assert_eq!(Notebook::read(MINIFIED).unwrap().change(&[]), Ok(Vec::new()));
}
