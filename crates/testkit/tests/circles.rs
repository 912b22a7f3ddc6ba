//! Checks that no files of a crate import each other in a circle.

use std::path::Path;

use emend_testkit::imports::Imports;

#[test]
fn no_files_of_a_crate_import_each_other_in_a_circle() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut found = String::new();
    for entry in crates.read_dir().unwrap() {
        let folder = entry.unwrap().path();
        // The code of the command is directly in `crates/cli`.
        let code = if folder.join("src").is_dir() { folder.join("src") } else { folder.clone() };
        for circle in Imports::of_crate(&code).circles() {
            found += &format!("{}: {circle}\n", folder.file_name().unwrap().display());
        }
    }
    assert!(found.is_empty(), "{found}");
}
