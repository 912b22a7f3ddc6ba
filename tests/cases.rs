//! The fixtures of `tests/cases` against the built command; each is a test with the name of its folder. It runs all
//! fixtures that need more than a plan, and every tenth of those that `crates/edit/tests/cases` runs in process.
//!
//! ```text
//! cargo test -p emend-mcp --test cases v4a/          those whose names contain this
//! ```
//!
//! Each case has a server of its own: what one remembers must not help another.

#![expect(clippy::unwrap_used, reason = "in a test, a panic is the report")]

#[path = "../crates/edit/tests/cases/case.rs"]
mod case;

use std::path::Path;

use emend_testkit::{Folder, Launch};
use libtest_mimic::{Arguments, Trial};

use self::case::Case;

/// Of how many cases that a plan decides one is run here too.
const SAMPLE: usize = 10;

fn main() {
    let arguments = Arguments::from_args();
    let mut planned = 0;
    let mut trials = Vec::new();
    for (name, case) in case::all(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases")) {
        if case.as_ref().is_ok_and(Case::is_planned) {
            planned += 1;
            if planned % SAMPLE != 1 {
                continue;
            }
        }
        trials.push(Trial::test(name, move || Ok(run(&case?)?)));
    }
    libtest_mimic::run(&arguments, trials).exit();
}

fn run(case: &Case) -> Result<(), String> {
    let workspace = Folder::new();
    for (name, bytes) in &case.input {
        workspace.write(name, bytes);
    }
    let launch = Launch::new(env!("CARGO_BIN_EXE_emend"));
    let mut client =
        launch.workspace(workspace.path()).state(workspace.state()).argument("--answers=full").legacy();
    for name in &case.read {
        client.read(name);
    }
    let answer = client.call(&case.tool, case.arguments.clone().into());
    let layer = answer.structured["files"][0]["hunks"][0]["layer"].as_str();
    case.check(answer.code().unwrap_or("ok"), layer, &workspace.tree(), &answer.text)
}
