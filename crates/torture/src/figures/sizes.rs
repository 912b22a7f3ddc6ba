//! One edit at a time: by the size of its file, over each transport, and with what may follow an edit.

use std::fs;

use anyhow::Result;
use emend_testkit::http::HttpServer;
use emend_testkit::{Folder, Launch};

use super::http::{self, Connection, Era};
use super::measurement::Measurement;
use super::page::{Goal, Page, millis, times};
use super::stdio::{self, StdioServer};
use super::times::{Editor, in_turn};
use super::{floor, sample};

/// The goals for the sizes of `sample::SIZES`, as multiples of the floor.
const GOALS: [f64; 3] = [2.0, 1.5, 1.3];
/// The goal for a file of code with everything on, as a multiple of everything off.
const EFFECTS_GOAL: f64 = 1.1;

/// Measures the sizes, then the ways.
pub(super) fn run(measurement: &Measurement, page: &mut Page) -> Result<()> {
    page.heading(2, "One edit");
    by_size(measurement, page)?;
    by_way(measurement, page)
}

fn by_size(measurement: &Measurement, page: &mut Page) -> Result<()> {
    page.paragraph(
        "One client over standard input and output replaces one line with `str_replace`, as Emend comes. The floor \
         takes turns with it, edit by edit, on a file of the same content.",
    );
    let (mut rows, mut goals) = (Vec::new(), Vec::new());
    for ((name, bytes), goal) in sample::SIZES.into_iter().zip(GOALS) {
        let (ours, floors) = (Folder::new(), Folder::new());
        let content = sample::text(bytes);
        ours.write("a.txt", &content);
        let server = StdioServer::start(&mut stdio::emend(&measurement.emend, &ours, stdio::NO_FLAGS))?;
        let mut editors = [
            ("Emend", stdio::editor(server, "a.txt".into())),
            ("the floor", floor_of(&floors, "a.txt", &content)?),
        ];
        let measured = in_turn(measurement.rounds(bytes), &mut editors)?;
        let [emend, floor] = &measured[..] else { unreachable!("two were measured") };
        let ratio = emend.median() / floor.median();
        let cells = [emend.median(), emend.percentile(95), floor.median(), floor.percentile(95)].map(millis);
        let [median, p95, floor_median, floor_p95] = cells;
        rows.push([name.into(), median, p95, floor_median, floor_p95, times(ratio)]);
        goals.push(Goal::at_most(goal, format!("An edit of {name} over the floor"), ratio));
    }
    page.table(
        ["File", "Emend, median", "95 % within", "Floor, median", "95 % within", "Emend over the floor"],
        &rows,
    );
    page.goals(&goals);
    Ok(())
}

/// An editor at the floor in a folder of its own.
fn floor_of(folder: &Folder, name: &str, content: &str) -> Result<Editor<'static>> {
    let kept = folder.beside("kept");
    fs::create_dir_all(&kept)?;
    folder.write(name, content);
    Ok(floor::editor(folder.at(name), kept))
}

const OFF: [&str; 4] =
    ["--notify-lsp=false", "--notify-editor=false", "--emit-event=false", "--syntax-guard=off"];
const ON: [&str; 4] = ["--notify-lsp", "--notify-editor", "--emit-event", "--syntax-guard=warn"];
const NO_HISTORY: &str = "--track-history=false";
/// Hooks of all kinds that do not concern the edited file.
const HOOKS: &str = r#"
[[hooks.format]]
command = ["true"]
files = ["*.rs"]

[[hooks.before]]
command = ["true"]
files = ["*.rs"]

[[hooks.after]]
command = ["true"]
files = ["*.rs"]
"#;

fn by_way(measurement: &Measurement, page: &mut Page) -> Result<()> {
    page.paragraph(
        "A file of 4 KB, edited in each of these ways in turn. In the text file, Emend is as it comes. In the Python \
         file, everything is the syntax guard, language servers, editors, events, the history, and hooks for other \
         files; no language server is installed.",
    );
    const BYTES: usize = 4 << 10;
    let folders: [Folder; 7] = std::array::from_fn(|_| Folder::new());
    let [floors, stdio, stateless, session, on, history, off] = &folders;
    let floor = floor_of(floors, "a.txt", &sample::text(BYTES))?;
    [stdio, stateless, session].iter().for_each(|folder| folder.write("a.txt", sample::text(BYTES)));
    [on, history, off].iter().for_each(|folder| folder.write("a.py", sample::python(BYTES)));
    let emend = &measurement.emend;
    let serve =
        |folder| HttpServer::start(&Launch::new(emend).workspace(Folder::path(folder)).state(folder.state()));
    let servers = [stateless, session].map(serve);
    let over_http =
        |server, era| Ok::<_, anyhow::Error>(http::editor(Connection::open(server, era)?, "a.txt".into()));

    let settings = on.beside("config");
    fs::create_dir_all(settings.join("emend"))?;
    fs::write(settings.join("emend/config.toml"), HOOKS)?;
    let mut with_all = stdio::emend(emend, on, ON);
    with_all.env("XDG_CONFIG_HOME", settings).env("PATH", "/usr/bin:/bin");
    let with_history = stdio::emend(emend, history, OFF);
    let without = stdio::emend(emend, off, OFF.into_iter().chain([NO_HISTORY]));
    let python =
        |mut command| Ok::<_, anyhow::Error>(stdio::editor(StdioServer::start(&mut command)?, "a.py".into()));

    let text = StdioServer::start(&mut stdio::emend(emend, stdio, stdio::NO_FLAGS))?;
    let mut editors = [
        ("the floor", floor),
        ("a.txt, standard input and output", stdio::editor(text, "a.txt".into())),
        ("a.txt, HTTP without sessions (2026-07-28)", over_http(&servers[0], Era::Stateless)?),
        ("a.txt, HTTP in a session (2025-06-18)", over_http(&servers[1], Era::Session)?),
        ("a.py, everything on", python(with_all)?),
        ("a.py, only the history on", python(with_history)?),
        ("a.py, everything off", python(without)?),
    ];
    let measured = in_turn(measurement.rounds(BYTES), &mut editors)?;
    let floor = measured[0].median();
    let rows: Vec<[String; 4]> = editors
        .iter()
        .zip(&measured)
        .map(|((name, _), took)| {
            let (median, p95) = (took.median(), took.percentile(95));
            [(*name).into(), millis(median), millis(p95), times(median / floor)]
        })
        .collect();
    page.table(["Way", "Median", "95 % within", "Over the floor"], &rows);
    let [.., on, history, off] = &measured[..] else { unreachable!("seven were measured") };
    page.goals(&[
        Goal::at_most(EFFECTS_GOAL, "Everything on over everything off", on.median() / off.median()),
        Goal::at_most(EFFECTS_GOAL, "Everything on over the history alone", on.median() / history.median()),
    ]);
    Ok(())
}
