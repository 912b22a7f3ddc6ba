//! `emend doctor`: says what is wrong with a set-up and what to do about it. To learn what a file system can do, it
//! uses a temporary folder. It changes nothing else and recovers no interrupted edit. With `--http` it says what is wrong with
//! a server that is reached over HTTP.

mod clients;
mod folders;
mod machine;
#[cfg(feature = "team")]
mod over_http;
mod programs;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::exit::{Ended, Exit, Stop};
use crate::output::{Output, OutputFlags};
use crate::workspace::WorkspaceFlags;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) output: OutputFlags,

    #[command(flatten)]
    workspace: WorkspaceFlags,

    /// Check the server over HTTP with this address instead, as a client would.
    #[arg(long, value_name = "URL")]
    http: Option<String>,

    /// The file with a token to show to that server.
    #[arg(long, value_name = "FILE", requires = "http")]
    token_file: Option<PathBuf>,
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    /// As it should be.
    Ok,
    /// Good to know.
    Note,
    /// It works, but perhaps not as it is meant.
    Warning,
    /// Something does not work.
    Problem,
}

impl Level {
    fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Problem => "problem",
        }
    }
}

/// One result of a check.
struct Finding {
    about: &'static str,
    level: Level,
    what: String,
    /// What the user should do about it.
    next: Option<String>,
}

/// All results so far.
#[derive(Default)]
struct Findings(Vec<Finding>);

impl Findings {
    fn ok(&mut self, about: &'static str, what: impl Into<String>) {
        self.0.push(Finding { about, level: Level::Ok, what: what.into(), next: None });
    }

    fn add(&mut self, about: &'static str, level: Level, what: impl Into<String>, next: impl Into<String>) {
        let next = Some(next.into()).filter(|next| !next.is_empty());
        self.0.push(Finding { about, level, what: what.into(), next });
    }

    fn worst(&self) -> Level {
        self.0.iter().map(|finding| finding.level).max().unwrap_or(Level::Ok)
    }

    fn document(&self) -> Value {
        let finding = |finding: &Finding| {
            let mut document =
                json!({"about": finding.about, "level": finding.level.name(), "what": finding.what});
            if let Some(next) = &finding.next {
                document["next"] = json!(next);
            }
            document
        };
        let findings: Vec<Value> = self.0.iter().map(finding).collect();
        json!({"version": env!("CARGO_PKG_VERSION"), "worst": self.worst().name(), "findings": findings})
    }

    fn text(&self, output: Output) -> String {
        let colours = output.colours;
        let mut text = String::new();
        let mut about = "";
        for finding in &self.0 {
            if finding.about != about {
                about = finding.about;
                text.push_str(&format!("{}\n", colours.bold(about)));
            }
            let level = format!("{:<7}", finding.level.name());
            let level = match finding.level {
                Level::Ok => colours.green(&level),
                Level::Note => colours.faint(&level),
                Level::Warning => colours.yellow(&level),
                Level::Problem => colours.red(&level),
            };
            text.push_str(&format!("  {level}  {}\n", output.plain(&finding.what)));
            if let Some(next) = &finding.next {
                text.push_str(&format!("           -> {}\n", output.plain(next)));
            }
        }
        let count = |level| self.0.iter().filter(|finding| finding.level == level).count();
        let end = match (count(Level::Problem), count(Level::Warning)) {
            (0, 0) => "Everything is as it should be.".to_owned(),
            (problems, warnings) => {
                let s = |count| if count == 1 { "" } else { "s" };
                format!("{problems} problem{}, {warnings} warning{}.", s(problems), s(warnings))
            }
        };
        format!("{text}\n{end}\n")
    }
}

pub(crate) fn run(arguments: &Arguments, output: Output) -> Ended {
    let mut findings = Findings::default();
    match &arguments.http {
        Some(address) => look_over_http(address, arguments.token_file.as_deref(), &mut findings)?,
        None => look_here(arguments, &mut findings),
    }
    match output.json {
        true => output.document(&findings.document())?,
        false => output.show(&findings.text(output))?,
    }
    Ok(if findings.worst() == Level::Problem { Exit::Refused } else { Exit::Done })
}

#[cfg(feature = "team")]
fn look_over_http(address: &str, token_file: Option<&Path>, findings: &mut Findings) -> Result<(), Stop> {
    let token = token_file.map(crate::http::read_secret).transpose().map_err(Stop::of)?;
    let token = token.as_deref().map(str::trim);
    if token.is_some_and(|token| token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic())) {
        return Err(Stop::usage("--token-file: the file must hold one token and nothing else"));
    }
    over_http::look(address, token, findings);
    Ok(())
}

#[cfg(not(feature = "team"))]
fn look_over_http(_: &str, _: Option<&Path>, _: &mut Findings) -> Result<(), Stop> {
    Err(Stop::usage(
        "--http cannot be taken: this build has no client for HTTP. Releases have it, and so has what \
         `cargo install --locked --path . --features team` builds",
    ))
}

fn look_here(arguments: &Arguments, findings: &mut Findings) {
    machine::look(findings);
    let home = crate::workspace::home();
    match arguments.workspace.opening.policy.merged(home.as_deref()) {
        Ok(said) => folders::configuration(&said, findings),
        Err(wrong) => {
            let next = "Mend it: no server starts with it, and no command works.";
            findings.add("configuration", Level::Problem, format!("{wrong:#}"), next);
        }
    }
    let mut projects = Vec::new();
    match arguments.workspace.options() {
        Ok(options) => {
            projects.extend(options.roots.iter().flatten().map(|root| root.path.clone()));
            programs::look(&options.effect_settings.programs, &projects, findings);
            if let Some(why) = options.apply_model.unavailable() {
                let next = "Mend what it names, or take [apply_model] out of the configuration file.";
                findings.add("apply model", Level::Warning, why, next);
            } else if options.apply_model.is_there() {
                findings.ok("apply model", "configured; nothing is sent to it until it is asked".to_owned());
            }
            folders::look(options, findings);
        }
        // The findings above already name the cause.
        Err(_) if findings.worst() == Level::Problem => {}
        Err(wrong) => {
            findings.add("configuration", Level::Problem, format!("{wrong:#}"), "Mend what it names.");
        }
    }
    clients::look(&projects, findings);
}
