//! The log on standard error; standard output is for the protocol or for the result of a command.
//!
//! A level applies to Emend's own code. Other crates stay at warnings, since their details include messages and thus
//! the contents of files. A filter, as in `RUST_LOG`, is taken as written.

use std::io;

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
    fn a_level_is_that_of_our_own_code_and_a_filter_is_itself() {
        assert_eq!(filter("Debug"), "warn,rmcp=off,emend=debug");
        assert_eq!(filter("error"), "error,rmcp=off");
        assert_eq!(filter(""), "warn,rmcp=off");
        assert_eq!(filter("rmcp=trace,warn"), "rmcp=trace,warn");
        LEVELS.iter().for_each(|level| drop(EnvFilter::try_new(filter(level)).unwrap()));
    }
}
