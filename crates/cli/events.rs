//! `emend events`: shows which edits were made and refused, by any process, and follows new ones.
//!
//! The log belongs to the user at the keyboard, so they see all of it, whatever today's policy forbids to clients.

use std::collections::VecDeque;
use std::io::{self, BufWriter, ErrorKind, IsTerminal, StdoutLock, Write, stdout};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::ValueEnum;
use emend_server::events::summary_line;
use emend_workspace::approval::visible_line;
use emend_workspace::event_log::{EventLog, Line, Position};
use serde_json::Value;

use crate::exit::{Ended, Exit, Stop};
use crate::settings::without_links;
use crate::workspace::WorkspaceFlags;

/// How many events are shown without `--after` and `--limit`.
const NEWEST: usize = 20;
/// The longest delay until a new event is shown.
const WAIT: Duration = Duration::from_millis(100);

#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  emend events --follow          the newest, and then each as it comes\n  \
                        emend events --after 0 --json  all that are kept\n  \
                        emend events --follow --after 41 --limit 1 --json  the next one after 41"
)]
pub(crate) struct Arguments {
    /// Wait for more, until Ctrl-C.
    #[arg(long, short)]
    follow: bool,

    /// Begin behind the event of this number; 0 is before all that are kept.
    #[arg(long, value_name = "N")]
    after: Option<u64>,

    /// How many: of the newest (20 unless it is said), or with --after the first ones.
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<NonZeroUsize>,

    /// Only those of this type. May be given several times.
    #[arg(long = "type", value_name = "TYPE")]
    types: Vec<Type>,

    /// Those of all folders, not only of the workspace.
    #[arg(long)]
    all: bool,

    /// Show the lines of JSON on a terminal too.
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    workspace: WorkspaceFlags,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Type {
    Edit,
    Refused,
    Preview,
    Diagnostics,
    Session,
}

/// The filter for events.
struct Filter {
    /// The folders whose events are shown; empty means all.
    roots: Vec<PathBuf>,
    types: Vec<Type>,
}

/// The reader of the events, on standard output.
struct Reader {
    out: BufWriter<StdoutLock<'static>>,
    is_short: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Ended {
    let options = arguments.workspace.options().map_err(Stop::Usage)?;
    let state =
        options.state.ok_or_else(|| Stop::usage("there is no state folder; name it with --state-dir"))?;
    let roots = match arguments.all {
        true => Vec::new(),
        false => options.roots?.into_iter().map(|root| without_links(&root.path)).collect(),
    };
    let filter = Filter { roots, types: arguments.types.clone() };
    let is_short = !arguments.json && stdout().is_terminal();
    let mut reader = Reader { out: BufWriter::new(stdout().lock()), is_short };
    match show(arguments, &EventLog::in_state(&state), &filter, &mut reader) {
        // The reader has closed the pipe, as `head` does.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(Exit::Done),
        Err(error) => Err(error.into()),
        Ok(()) => Ok(Exit::Done),
    }
}

fn show(arguments: &Arguments, log: &EventLog, filter: &Filter, reader: &mut Reader) -> io::Result<()> {
    let mut position = Position::after(arguments.after.unwrap_or(0));
    let mut left = arguments.limit.map_or(usize::MAX, NonZeroUsize::get);
    if arguments.after.is_none() {
        let (limit, mut newest) = (arguments.limit.map_or(NEWEST, NonZeroUsize::get), VecDeque::new());
        log.read(&mut position, |line| {
            if filter.has(&line) {
                newest.push_back(line);
                newest.drain(..newest.len().saturating_sub(limit));
            }
            true
        })?;
        if newest.is_empty() && !arguments.json && !arguments.follow {
            eprintln!(
                "No events. They are written where emit_event is on (emend serve --emit-event), by a team's server to the state folder of each tenant."
            );
        }
        newest.iter().try_for_each(|line| reader.show(line))?;
        left = usize::MAX;
    }
    loop {
        let mut shown = Ok(());
        log.read(&mut position, |line| {
            if left > 0 && filter.has(&line) {
                shown = reader.show(&line);
                left -= 1;
            }
            left > 0 && shown.is_ok()
        })?;
        shown?;
        reader.out.flush()?;
        if !arguments.follow || left == 0 || !reader.is_there_after(WAIT)? {
            return Ok(());
        }
    }
}

impl Filter {
    fn has(&self, line: &Line) -> bool {
        let Ok(event) = serde_json::from_str::<Value>(&line.text) else { return false };
        let is_of = |root: &Value| {
            let path = root["path"].as_str();
            path.is_some_and(|path| self.roots.iter().any(|root| root == Path::new(path)))
        };
        let is_here = self.roots.is_empty() || event["roots"].as_array().into_iter().flatten().any(is_of);
        let is_type =
            |kind: &Type| kind.to_possible_value().is_some_and(|kind| event["type"] == kind.get_name());
        is_here && (self.types.is_empty() || self.types.iter().any(is_type))
    }
}

impl Reader {
    fn show(&mut self, line: &Line) -> io::Result<()> {
        match summary_line(&line.text).filter(|_| self.is_short) {
            Some(short) => writeln!(self.out, "{}", visible_line(&short)),
            None => writeln!(self.out, "{}", line.text),
        }
    }

    /// Whether the reader still has the pipe open after this time. While no event comes, no write would fail and tell.
    #[cfg(unix)]
    fn is_there_after(&self, patience: Duration) -> io::Result<bool> {
        use rustix::event::{PollFd, PollFlags, poll};
        let out = stdout();
        let mut polled = [PollFd::new(&out, PollFlags::empty())];
        let timeout = patience.try_into().map_err(io::Error::other)?;
        match poll(&mut polled, Some(&timeout)) {
            Ok(_) => Ok(!polled[0].revents().intersects(PollFlags::ERR | PollFlags::HUP)),
            Err(rustix::io::Errno::INTR) => Ok(true),
            Err(error) => Err(error.into()),
        }
    }

    #[cfg(not(unix))]
    fn is_there_after(&self, patience: Duration) -> io::Result<bool> {
        std::thread::sleep(patience);
        Ok(true)
    }
}
