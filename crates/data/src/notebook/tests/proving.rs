//! Texts that are not what was meant.

use super::super::draft::Draft;
use super::*;

/// Returns whether this is what is meant by the source `x` in the cell at index 1 of Jupyter's notebook.
fn is_proven(text: &str) -> bool {
    let notebook = Notebook::read(JUPYTER).unwrap();
    let mut drafts: Vec<Draft> = notebook.cells().iter().map(Draft::from_cell).collect();
    drafts[1].source = "x".to_owned();
    notebook.is_proven(&drafts, text)
}

fn meant() -> String {
    made(JUPYTER, &[source(CellAddress::Index(1), "x")]).unwrap()
}

#[test]
fn what_is_meant_is_proven() {
    assert!(is_proven(&meant()));
    assert!(!is_proven(JUPYTER));
}

#[test]
fn any_other_byte_is_seen() {
    for (old, new) in [
        // In a cell that was not named, also if it means the same.
        ("Caf\\u00e9", "Café"),
        ("\"execution_count\": null", "\"execution_count\":  null"),
        ("\"9b0d11c3\"", "\"9b0d11c4\""),
        // In the cell that was named.
        ("\"execution_count\": 7", "\"execution_count\": 8"),
        ("\"parameters\"", "\"parameter\""),
        ("iVBORw0KGgo", "iVBORw0KGgp"),
        ("\"id\": \"4f1c22aa\",", "\"id\": \"4f1c22ab\","),
        ("\"x\"\n", "\"y\"\n"),
        // Outside of the cells.
        ("\"python3\"", "\"python2\""),
        ("\"nbformat_minor\": 5\n}\n", "\"nbformat_minor\": 5\n}"),
        ("{\n \"cells\"", "{ \"cells\""),
        // What is no notebook.
        ("\"nbformat\": 4", "\"nbformat\": 3"),
        ("\"metadata\": {},\n   \"outputs\": [],", "\"outputs\": [],\n   \"outputs\": [],"),
    ] {
        assert_eq!(meant().matches(old).count(), 1, "{old}");
        assert!(!is_proven(&meant().replace(old, new)), "{old}");
    }
}

#[test]
fn cells_too_many_and_too_few_are_seen() {
    let delete = |position| CellChange::Delete { cell: CellAddress::Index(position) };
    assert!(!is_proven(&made(&meant(), &[delete(2)]).unwrap()));
    assert!(!is_proven(&made(&meant(), &[insert(CellPlace::At(3), CellKind::Raw, "")]).unwrap()));
    let moved = CellChange::Move { cell: CellAddress::Index(0), to: CellPlace::At(1) };
    assert!(!is_proven(&made(&meant(), &[moved]).unwrap()));
}
