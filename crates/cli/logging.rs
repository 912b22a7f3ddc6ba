//! The log on standard error; standard output is for the protocol or for the result of a command.
//!
//! A level applies to Emend's own code. Other crates stay at warnings, since their details include messages and thus
//! the contents of files. A filter, as in `RUST_LOG`, is taken as written.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::io::{self, Write};
use std::panic::{self, PanicHookInfo};
use std::thread;

use tracing_subscriber::fmt::format::FmtSpan;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, fmt};

use crate::exit::Stop;

const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// The prefix of the names of Emend's own crates.
const OWN: &str = "emend";

/// Warnings, but none of rmcp's: it logs as errors that clients send bad requests or disconnect. Emend itself reports
/// what fails here.
const QUIET: &str = "warn,rmcp=off";

#[derive(clap::Args)]
#[command(next_help_heading = "Log")]
pub(crate) struct LogFlags {
    /// What to log on standard error: off, error, warn, info, debug or trace; or a filter such as
    /// emend_workspace=debug,warn.
    #[arg(
        hide_short_help = true,
        long,
        global = true,
        value_name = "LEVEL",
        env = "EMEND_LOG",
        default_value = "warn"
    )]
    log: String,

    /// Log a JSON object a line.
    #[arg(hide_short_help = true, long, global = true)]
    log_json: bool,
}

/// A running log. Dropping it sends the remaining telemetry.
#[derive(Default)]
pub(crate) struct Logging {
    #[cfg(feature = "otel")]
    telemetry: crate::telemetry::Telemetry,
}

impl LogFlags {
    /// Starts logging.
    pub(crate) fn start(&self) -> Result<Logging, Stop> {
        let wrong = |why: &str| Stop::usage(format!("--log (or EMEND_LOG) is not understood: {why}"));
        if let Some(part) = unknown_level(&self.log) {
            let levels = LEVELS.join(", ");
            return Err(wrong(&format!("'{part}' is no level ({levels}) and no TARGET=LEVEL")));
        }
        let filter = EnvFilter::try_new(filter(&self.log)).map_err(|error| wrong(&error.to_string()))?;
        // The log line at the end of a span is the only one that says how long it took.
        let log = fmt::layer().with_writer(io::stderr).with_ansi(false).with_span_events(FmtSpan::CLOSE);
        let log = match self.log_json {
            true => log.json().with_filter(filter).boxed(),
            false => log.with_filter(filter).boxed(),
        };
        let logging = Logging::default();
        let listeners = vec![log];
        #[cfg(feature = "otel")]
        let listeners: Vec<_> = listeners.into_iter().chain(logging.telemetry.layers()).collect();
        tracing_subscriber::registry().with(listeners).init();
        #[cfg(feature = "otel")]
        logging.telemetry.warnings.iter().for_each(|warning| tracing::warn!("{warning}"));
        Ok(logging)
    }
}

/// Reports each panic by its place. Its message stays out: where a slice of a text fails, it contains the text of a file.
pub(crate) fn report_panics_by_place() {
    panic::set_hook(Box::new(|panic| {
        let _ = io::stderr().write_all(report(panic).as_bytes());
    }));
}

fn report(panic: &PanicHookInfo<'_>) -> String {
    let place = panic.location().map(ToString::to_string).unwrap_or_default();
    let thread = thread::current();
    let name = thread.name().unwrap_or("without a name");
    let backtrace = Backtrace::capture();
    let backtrace = match backtrace.status() {
        BacktraceStatus::Captured => format!("{backtrace}"),
        _ => String::new(),
    };
    format!(
        "Emend has a bug: the thread '{name}' panicked at {place}. Please report this place.\n{backtrace}"
    )
}

/// The first part of a filter that is no level, and that the filter would take for the name of a crate.
fn unknown_level(said: &str) -> Option<&str> {
    let is_level = |part: &str| LEVELS.iter().any(|level| part.eq_ignore_ascii_case(level));
    // Spans and their fields are in brackets, and may contain commas.
    let parts = said.split(',').map(str::trim).filter(|part| !part.is_empty());
    let mut unknown = parts.filter(|part| !part.contains(['=', '[', ']']) && !is_level(part));
    unknown.next()
}

/// The filter for a level; a filter stays as it is.
fn filter(said: &str) -> String {
    let level = said.trim().to_lowercase();
    match level.as_str() {
        "" | "warn" => QUIET.into(),
        "debug" | "trace" | "info" => format!("{QUIET},{OWN}={level}"),
        level if LEVELS.contains(&level) => format!("{level},rmcp=off"),
        _ => said.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_level_is_not_taken_for_one() {
        for said in ["", "warn", " Debug ", "emend_workspace=debug,warn", "emend[edit]=trace,OFF"] {
            assert_eq!(unknown_level(said), None, "{said}");
        }
        for (said, part) in [("nonsense", "nonsense"), ("emend=debug,loud", "loud"), ("emend", "emend")] {
            assert_eq!(unknown_level(said), Some(part));
        }
    }

    #[test]
    fn a_panic_is_reported_without_its_message() {
        let (sender, receiver) = std::sync::mpsc::channel();
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |panic| drop(sender.send(report(panic)))));
        let text = String::from("PASSWORD=secret");
        let end = text.len() + 1;
        let failed = panic::catch_unwind(|| text[..end].len());
        panic::set_hook(usual);
        assert!(failed.unwrap_err().downcast_ref::<String>().unwrap().contains("secret"));
        let report = receiver.recv().unwrap();
        assert!(report.contains(&format!("panicked at {}:", file!())), "{report}");
        assert!(!report.contains("secret"), "{report}");
    }

    #[test]
    fn a_level_is_that_of_our_own_code_and_a_filter_is_itself() {
        assert_eq!(filter("Debug"), "warn,rmcp=off,emend=debug");
        assert_eq!(filter("error"), "error,rmcp=off");
        assert_eq!(filter(""), "warn,rmcp=off");
        assert_eq!(filter("rmcp=trace,warn"), "rmcp=trace,warn");
        LEVELS.iter().for_each(|level| drop(EnvFilter::try_new(filter(level)).unwrap()));
    }
}
