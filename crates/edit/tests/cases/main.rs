//! The fixtures of `tests/cases` that a plan decides, each a test with the name of its folder.
//!
//! ```text
//! cargo test -p emend-edit --test cases              all of them
//! cargo test -p emend-edit --test cases v4a/         those whose names contain this
//! ```

#![expect(clippy::unwrap_used, reason = "in a test, a panic is the report")]

mod case;
mod draw;
mod drawn;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use emend_edit::find::{FindLimits, LAYERS, Layer};
use emend_edit::patch::recognise::{self, Format};
use emend_edit::plan::{self, Action, Plan, Source, Sources};
use emend_edit::{Problem, Text};
use libtest_mimic::{Arguments, Failed, Trial};

use self::case::{Case, Files};

fn main() {
    let arguments = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases");
    let cases = case::all(&root);
    let layers = cases.iter().filter_map(|(name, case)| {
        let layer = case.as_ref().ok()?.layer.clone()?;
        name.starts_with("layers/").then_some(layer)
    });
    let shown: BTreeSet<String> = layers.collect();
    let mut trials = vec![Trial::test("every_layer_is_shown", move || every_layer_is_shown(&shown))];
    let mut planned = Vec::new();
    for (name, case) in cases {
        match case.map(Arc::new) {
            Ok(case) if !case.is_planned() => {}
            case => {
                planned.extend(case.iter().map(|case| (name.clone(), Arc::clone(case))));
                trials.push(Trial::test(name, move || Ok(run(&*case?)?)));
            }
        }
    }
    trials.push(Trial::test("drawn", move || drawn::run(&planned)));
    libtest_mimic::run(&arguments, trials).exit();
}

fn every_layer_is_shown(shown: &BTreeSet<String>) -> Result<(), Failed> {
    let all: BTreeSet<String> = LAYERS.iter().map(|layer| layer.name().into()).collect();
    if *shown == all { Ok(()) } else { Err(format!("shown are {shown:?}, there are {all:?}").into()) }
}

fn run(case: &Case) -> Result<(), String> {
    match plan(case) {
        Ok(plan) => {
            let layer = plan.files().first().and_then(|file| file.hunks.first()?.layer);
            let after = after(&plan, &case.input);
            case.check("ok", layer.map(Layer::name), &after, &format!("{plan:?}"))
        }
        Err(problems) => {
            let said: Vec<String> = problems.iter().map(ToString::to_string).collect();
            case.check(problems[0].code().as_str(), None, &case.input, &said.join("\n"))
        }
    }
}

/// Parses and plans a case.
fn plan(case: &Case) -> Result<Plan, Vec<Problem>> {
    assert!(case.tool == "apply_patch" && case.read.is_empty());
    let argument = |name: &str| case.arguments.get(name).map(|value| value.as_str().unwrap());
    let format = argument("format").map(|name| Format::named(name).unwrap());
    let patch = recognise::parse(argument("patch").unwrap(), format, argument("path"))?;
    let mut sources = Sources::default();
    for path in patch.paths() {
        match case.input.get(path).map(|bytes| Text::new(bytes.clone())) {
            Some(Ok(text)) => sources.insert(path, path, Source::Present(Arc::new(text))),
            // A file that is no text is no source.
            Some(Err(kind)) => return Err(vec![Problem::new(kind).at(path)]),
            None => sources.insert(path, path, Source::Absent),
        }
    }
    plan::build(&patch, &sources, &FindLimits::default())
}

/// Returns the workspace after a plan was applied.
fn after(plan: &Plan, before: &Files) -> Files {
    let mut files = before.clone();
    for file in plan.files() {
        match &file.action {
            Action::Delete { .. } => files.remove(&file.name),
            Action::Move { from, .. } => files.remove(from),
            Action::Create { .. } | Action::Modify { .. } => None,
        };
    }
    for file in plan.files() {
        if let Some(pieces) = file.action.pieces() {
            files.insert(file.name.clone(), pieces.concat());
        }
    }
    files
}
