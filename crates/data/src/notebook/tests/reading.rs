//! What is read of a notebook, and which texts are none.

use super::*;

/// Checks that a text is no notebook, for this reason and in this line.
#[track_caller]
fn check_refused(text: &str, line: usize, why: &str) {
    let unread = Notebook::read(text).unwrap_err();
    assert!(unread.why.contains(why), "{}", unread.why);
    assert_eq!(unread.line, line);
}

fn outputs(text: &str) -> Vec<Option<String>> {
    Notebook::read(text).unwrap().cells().iter().map(|cell| cell.outputs.clone()).collect()
}

/// A notebook with these cells.
fn with_cells(cells: &str) -> String {
    format!("{{\"cells\": [\n{cells}\n], \"metadata\": {{}}, \"nbformat\": 4, \"nbformat_minor\": 5}}")
}

#[test]
fn cells_have_ids_kinds_and_sources() {
    let notebook = Notebook::read(JUPYTER).unwrap();
    let [first, second, third] = notebook.cells() else { panic!() };
    assert_eq!((first.position, first.id.as_deref(), first.kind), (0, Some("intro"), CellKind::Markdown));
    assert_eq!(first.source, "# Röntgen 😀\n\nCafé / café\nText with \"quotes\"");
    assert_eq!(second.source, "import numpy as np\nx = 1\nprint(x)");
    assert_eq!((third.kind, third.source.as_str()), (CellKind::Code, ""));
    assert!(notebook.has_ids());
}

#[test]
fn places_are_those_of_the_text() {
    let text = format!("\u{feff}{JUPYTER}").replace('\n', "\r\n");
    for text in [JUPYTER, &text] {
        let notebook = Notebook::read(text).unwrap();
        let second = notebook.find(&id("4f1c22aa")).unwrap();
        assert!(text[second.range.clone()].starts_with('{') && text[second.range.clone()].ends_with('}'));
        assert!(text[second.source_range.clone()].starts_with('['));
        assert!(text[second.source_range.clone()].contains("\"print(x)\""));
        assert_eq!(&text[notebook.cells()[2].source_range.clone()], "[]");
    }
}

#[test]
fn outputs_are_told_in_a_few_words() {
    let words = |words: &[Option<&str>]| words.iter().map(|word| word.map(str::to_owned)).collect::<Vec<_>>();
    assert_eq!(outputs(JUPYTER), words(&[None, Some("2 outputs: text, image/png"), Some("no outputs")]));
    assert_eq!(outputs(COLAB), words(&[None, Some("1 output: error ZeroDivisionError")]));
    assert_eq!(outputs(MINIFIED), words(&[Some("1 output: text"), None]));
    assert_eq!(outputs(VSCODE), words(&[Some("2 outputs: stderr, text/html"), None]));
}

#[test]
fn images_come_as_base64_without_line_endings() {
    let notebook = Notebook::read(JUPYTER).unwrap();
    let images = notebook.images(1);
    assert_eq!(images.len(), 1);
    assert_eq!((images[0].output, images[0].mime.as_str()), (1, "image/png"));
    assert_eq!(images[0].base64, "iVBORw0KGgoAAAANSUhEUg==");
    assert_eq!(notebook.images(0), []);
    assert_eq!(notebook.images(9), []);
}

#[test]
fn an_svg_is_a_text() {
    let output = r#"{"output_type": "display_data", "metadata": {}, "data": {"image/svg+xml": ["<svg>\n", "</svg>"]}}"#;
    let text = with_cells(&format!(
        "{{\"cell_type\": \"code\", \"execution_count\": 1, \"id\": \"a\", \"metadata\": {{}}, \"outputs\": [{output}], \"source\": []}}"
    ));
    assert_eq!(outputs(&text), [Some("1 output: image/svg+xml".to_owned())]);
    assert_eq!(Notebook::read(&text).unwrap().images(0), []);
}

#[test]
fn a_source_may_be_one_text() {
    let notebook = Notebook::read(MINIFIED).unwrap();
    assert_eq!(notebook.cells()[0].source, "x = 1\nx + 1");
    assert_eq!(notebook.cells()[1].source, "*é*");
    assert!(!Notebook::read(COLAB).unwrap().has_ids());
}

#[test]
fn what_is_no_json_is_refused() {
    check_refused("", 1, "empty");
    check_refused("# a notebook", 1, "");
    check_refused(&JUPYTER.replace("\"source\": []", "\"source\": [],"), 54, "");
    check_refused(&JUPYTER.replace("   \"source\": []", "   // none\n   \"source\": []"), 54, "");
    check_refused(&COLAB.replace("\"Hello\"", "\"Hel\nlo\""), 18, "control character");
    check_refused(&COLAB.replace("\"Hello\"", "\u{a0}\"Hello\""), 18, "outside of strings");
    check_refused(&JUPYTER.replace("null", "NaN"), 50, "");
    check_refused(&format!("{MINIFIED}{{}}"), 1, "");
}

#[test]
fn what_is_no_notebook_is_refused() {
    check_refused("[]", 1, "no notebook");
    check_refused("{\"nbformat\": 4}", 1, "no list of cells");
    check_refused("{\"cells\": []}", 1, "nbformat");
    check_refused("{\n\"cells\": {}, \"nbformat\": 4}", 2, "no list");
    check_refused("{\"worksheets\": [], \"nbformat\": 3, \"nbformat_minor\": 0}", 1, "worksheets");
    check_refused("{\"cells\": [], \"nbformat\": 5}", 1, "nbformat 5");
}

#[test]
fn keys_that_come_twice_are_refused() {
    check_refused("{\"cells\": [],\n\"cells\": [], \"nbformat\": 4}", 2, "\"cells\" twice");
    let text = COLAB.replace("\"execution_count\": 1,", "\"source\": [],");
    check_refused(&text, 35, "the cell at index 1 has the key \"source\" twice");
    // It is the key that counts, and not how it is written.
    check_refused(&text.replace("\"source\": [],", "\"sourc\\u0065\": [],"), 35, "twice");
}

#[test]
fn ids_that_come_twice_are_refused() {
    check_refused(
        &MINIFIED.replace("\"id\":\"b\"", "\"id\":\"a\""),
        1,
        "index 1 has the id \"a\" of another",
    );
}

#[test]
fn cells_that_are_none_are_refused() {
    check_refused(&with_cells("1"), 2, "is no object");
    check_refused(&with_cells("{\"source\": []}"), 2, "no cell_type");
    check_refused(&with_cells("{\"cell_type\": \"heading\", \"source\": []}"), 2, "other than code");
    check_refused(&with_cells("{\"cell_type\": \"raw\"}"), 2, "no source");
    check_refused(&with_cells("{\"cell_type\": \"raw\", \"source\": [1]}"), 2, "neither");
    check_refused(&with_cells("{\"cell_type\": \"raw\", \"source\": \"\", \"id\": 1}"), 2, "no string");
    check_refused(&with_cells("{\"cell_type\": \"code\", \"source\": \"\", \"outputs\": 1}"), 2, "no list");
}

#[test]
fn only_brackets_outside_of_strings_are_nesting() {
    let colours = "\\u001b[0m[{".repeat(300);
    let text = COLAB.replace("\\u001b[0;31m", &colours);
    assert!(Notebook::read(&text).is_ok());
    let deep = format!("{}{}", "[".repeat(300), "]".repeat(300));
    check_refused(&COLAB.replace("\"provenance\": []", &format!("\"provenance\": {deep}")), 6, "too deeply");
}

#[test]
fn an_unknown_cell_is_told_with_those_like_it() {
    let notebook = Notebook::read(JUPYTER).unwrap();
    let found = |address: CellAddress| notebook.find(&address).map(|cell| cell.position);
    assert_eq!(found(id("9b0d11c3")), Ok(2));
    assert_eq!(found(CellAddress::Index(0)), Ok(0));
    let nearest = ["9b0d11c3", "intro", "4f1c22aa"].map(str::to_owned).to_vec();
    assert_eq!(found(id("9b0d11c")), Err(CellFault::NoCell { address: id("9b0d11c"), nearest, count: 3 }));
    let address = CellAddress::Index(3);
    assert_eq!(found(address.clone()), Err(CellFault::NoCell { address, nearest: Vec::new(), count: 3 }));
    // An id is no index.
    assert!(found(id("0")).is_err());
}
