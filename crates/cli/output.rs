//! The output of a command: text for people, in colour on a terminal, or one JSON document for scripts.
//!
//! The reader may close the pipe early (`emend log | head`). Then the rest is not shown, and the command still runs to
//! its end. On a terminal, the content of files is shown without control characters, which could disguise it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::{self, BufRead, ErrorKind, IsTerminal, Write};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use clap::ValueEnum;
use emend_server::messages::Audience;
use emend_server::render::{self, Tense};
use emend_server::wire::Outcome;
use emend_workspace::approval::visible;
use emend_workspace::edit::diff::words;
use emend_workspace::problem::Code;
use serde_json::{Value, json};

use crate::exit::Stop;
use crate::pager;

/// Up to so many problems, their number stands only above them.
const FEW: usize = 5;

#[derive(clap::Args, Clone, Copy)]
pub(crate) struct OutputFlags {
    /// Print one JSON document, of a refusal too.
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    colour: ColourFlag,

    /// Show a long result without a pager.
    #[arg(long)]
    no_pager: bool,
}

#[derive(clap::Args, Clone, Copy)]
pub(crate) struct ColourFlag {
    /// Whether to use colours: auto means on a terminal that can show them, unless NO_COLOR is set.
    #[arg(long = "color", value_name = "WHEN", default_value = "auto")]
    when: When,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum When {
    Auto,
    Always,
    Never,
}

/// Whether to use colours.
#[derive(Clone, Copy)]
pub(crate) struct Colours(bool);

/// How a command shows its results.
#[derive(Clone, Copy)]
pub(crate) struct Output {
    pub(crate) json: bool,
    pub(crate) colours: Colours,
    /// Whether what is longer than the terminal is shown in a pager.
    pub(crate) pages: bool,
}

impl ColourFlag {
    pub(crate) fn colours(self) -> Colours {
        Colours(match self.when {
            When::Always => true,
            When::Never => false,
            When::Auto => return Colours::of_standard_output(),
        })
    }
}

impl OutputFlags {
    pub(crate) fn output(self) -> Output {
        Output { json: self.json, colours: self.colour.colours(), pages: !self.no_pager }
    }
}

impl Colours {
    pub(crate) fn bold(self, text: &str) -> String {
        self.paint(Style::new().bold(), text)
    }

    pub(crate) fn faint(self, text: &str) -> String {
        self.paint(Style::new().dimmed(), text)
    }

    pub(crate) fn red(self, text: &str) -> String {
        self.paint(AnsiColor::Red.on_default(), text)
    }

    pub(crate) fn green(self, text: &str) -> String {
        self.paint(AnsiColor::Green.on_default(), text)
    }

    pub(crate) fn yellow(self, text: &str) -> String {
        self.paint(AnsiColor::Yellow.on_default(), text)
    }

    fn paint(self, style: Style, text: &str) -> String {
        if self.0 { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }

    /// Colours if standard output can show them and no variable forbids them (NO_COLOR, CLICOLOR, CLICOLOR_FORCE,
    /// TERM).
    pub(crate) fn of_standard_output() -> Self {
        Self(AutoStream::choice(&io::stdout()) != ColorChoice::Never)
    }

    /// Colours for what Claude Code shows: in its terminal, and not in the editors and programs that start it.
    pub(crate) fn of_claude_code() -> Self {
        let variable = |name| std::env::var_os(name).unwrap_or_default();
        Self(variable("CLAUDE_CODE_ENTRYPOINT") == "cli" && variable("NO_COLOR").is_empty())
    }

    /// Colours a unified diff. Inside a hunk, a line that looks like a header is content.
    pub(crate) fn diff(self, diff: &str) -> String {
        if !self.0 {
            return diff.to_owned();
        }
        let (mut old, mut new) = (0, 0);
        let lines: Vec<&str> = diff.split_inclusive('\n').collect();
        // The partners of changed lines, from the hunk's body alone.
        let mut partners: BTreeMap<usize, usize> = BTreeMap::new();
        // Each run of lines is looked at once.
        let mut looked_at = 0;
        let mut shown = String::with_capacity(diff.len() * 2);
        for (at, line) in lines.iter().copied().enumerate() {
            let (text, end) = line.strip_suffix('\n').map_or((line, ""), |text| (text, "\n"));
            let first = text.as_bytes().first();
            let is_body = old + new > 0;
            if is_body {
                old -= usize::from(old > 0 && matches!(first, Some(b' ' | b'-') | None));
                new -= usize::from(new > 0 && matches!(first, Some(b' ' | b'+') | None));
            } else if let Some(counts) = counts(text) {
                (old, new) = counts;
            }
            let text = match first {
                _ if !is_body && ["+++ ", "--- ", "diff "].iter().any(|start| text.starts_with(start)) => {
                    self.bold(text)
                }
                Some(b'-') if is_body => {
                    if at >= looked_at {
                        let (gone, found) = pairs(&lines, at);
                        partners.extend(found);
                        looked_at = at + gone;
                    }
                    self.changed(text, partners.get(&at).map(|&new| lines[new]), AnsiColor::Red)
                }
                Some(b'+') if is_body => {
                    self.changed(text, partners.get(&at).map(|&old| lines[old]), AnsiColor::Green)
                }
                Some(b'+') => self.green(text),
                Some(b'-') => self.red(text),
                Some(b'@') => self.paint(AnsiColor::Cyan.on_default(), text),
                _ => text.to_owned(),
            };
            shown.push_str(&text);
            shown.push_str(end);
        }
        shown
    }

    /// Colours a changed line of a hunk, and inverts the words that differ from its partner.
    fn changed(self, text: &str, partner: Option<&str>, colour: AnsiColor) -> String {
        let style = colour.on_default();
        let inside = |line: &'_ str| line.get(1..).map(|line| line.trim_end_matches('\n').to_owned());
        let other = partner.and_then(inside).unwrap_or_default();
        let Some((parts, _)) = words::compare(&text[1..], &other) else { return self.paint(style, text) };
        let mut shown = self.paint(style, &text[..1]);
        for (differs, part) in parts {
            shown.push_str(&self.paint(if differs { style.invert() } else { style }, part));
        }
        shown
    }
}

/// Returns how many lines go from here on, and the pairs of a line that goes and the one in its place, both ways round. There
/// are pairs only where as many lines come as go.
fn pairs(lines: &[&str], at: usize) -> (usize, Vec<(usize, usize)>) {
    let run =
        |from: usize, sign: char| lines[from..].iter().take_while(|line| line.starts_with(sign)).count();
    let gone = run(at, '-');
    if run(at + gone, '+') != gone {
        return (gone, Vec::new());
    }
    (gone, (at..at + gone).flat_map(|old| [(old, old + gone), (old + gone, old)]).collect())
}

/// The numbers of old and of new lines in a hunk, from its header.
fn counts(header: &str) -> Option<(usize, usize)> {
    let mut sides = header.strip_prefix("@@ -")?.split(' ');
    let count = |side: &str| side.split_once(',').map_or(Some(1), |(_, count)| count.parse().ok());
    Some((count(sides.next()?)?, count(sides.next()?.strip_prefix('+')?)?))
}

impl Output {
    /// The output of a command that only shows why it failed.
    pub(crate) fn of_errors() -> Self {
        Self { json: false, colours: Colours(false), pages: false }
    }

    /// The output of a wrong command line with `--json`.
    pub(crate) fn of_documents() -> Self {
        Self { json: true, colours: Colours(false), pages: false }
    }

    /// Shows a text whose only control characters are our colours.
    pub(crate) fn show(self, text: &str) -> io::Result<()> {
        // Written as it is, but old Windows consoles get calls instead of colour codes.
        let mut out = AutoStream::always(io::stdout().lock());
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            shown => shown,
        }
    }

    /// Shows a text that may be long, in a pager if it is longer than the terminal. Nothing may be asked after it.
    pub(crate) fn show_long(self, text: &str) -> io::Result<()> {
        if self.pages && pager::page(text) { Ok(()) } else { self.show(text) }
    }

    /// Shows a JSON document.
    pub(crate) fn document(self, document: &Value) -> io::Result<()> {
        self.show(&format!("{document}\n"))
    }

    /// A text from a file or another program, made safe for the terminal.
    pub(crate) fn plain(self, text: &str) -> Cow<'_, str> {
        if io::stdout().is_terminal() { Cow::Owned(visible(text)) } else { Cow::Borrowed(text) }
    }

    /// A diff, made safe for the terminal and coloured.
    pub(crate) fn diff(self, diff: &str) -> String {
        self.colours.diff(&self.plain(diff))
    }

    /// Reports why a command failed.
    pub(crate) fn stop(self, stop: &Stop) {
        if self.json {
            let error = |code: &str, error: &dyn Display| json!({"error": {"code": code, "message": format!("{error:#}")}});
            let document = match stop {
                Stop::Refused(problems) => json!(Outcome::failure_in_full(problems, Audience::Person)),
                Stop::Unknown(what) => error(Code::UnknownEdit.as_str(), what),
                Stop::Usage(wrong) => error("wrong-usage", wrong),
                Stop::Fault(broken) => error("io-error", broken),
            };
            if self.document(&document).is_ok() {
                return;
            }
        }
        let said = match stop {
            Stop::Refused(problems) => {
                render::outcome(&Outcome::failure_in_full(problems, Audience::Person), Tense::Done)
            }
            Stop::Unknown(what) => format!("{what}\n[{}]", Code::UnknownEdit.as_str()),
            Stop::Usage(error) | Stop::Fault(error) => format!("{error:#}"),
        };
        let mut said = if io::stderr().is_terminal() { visible(&said) } else { said };
        // Who reads a long refusal is at its end.
        if let Stop::Refused(problems) = stop
            && problems.len() > FEW
        {
            said = format!("{}\n\n{} problems; nothing was changed.", said.trim_end(), problems.len());
        }
        let _ = writeln!(io::stderr(), "emend: {}", said.trim_end());
    }

    /// Whether the user can be asked.
    pub(crate) fn can_ask(self) -> bool {
        !self.json && io::stdin().is_terminal() && io::stdout().is_terminal()
    }

    /// Asks the user a question. Returns the answer in lower case; `None` if the input has ended.
    pub(crate) fn ask_for_answer(self, question: &str) -> io::Result<Option<String>> {
        forget_typed()?;
        self.show(question)?;
        let mut answer = String::new();
        let read = io::stdin().lock().read_line(&mut answer)?;
        Ok((read > 0).then(|| answer.trim().to_lowercase()))
    }

    /// Asks the user a question. Only yes means yes.
    pub(crate) fn ask(self, question: &str) -> io::Result<bool> {
        let answer = self.ask_for_answer(&format!("{question} [y/N] "))?;
        Ok(matches!(answer.as_deref(), Some("y" | "yes")))
    }
}

/// Discards typed input that was not read yet. Nobody can have answered a question before it is shown.
pub(crate) fn forget_typed() -> io::Result<()> {
    #[cfg(unix)]
    rustix::termios::tcflush(io::stdin(), rustix::termios::QueueSelector::IFlush)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_has_colours_by_line_and_keeps_its_text() {
        let diff = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n same";
        assert_eq!(Colours(false).diff(diff), diff);
        let coloured = Colours(true).diff(diff);
        assert!(coloured.contains("\x1b[31m-old\x1b[0m\n\x1b[32m+new\x1b[0m\n same"), "{coloured}");
        assert!(coloured.starts_with("\x1b[1m--- a/x\x1b[0m\n"), "{coloured}");
        let words = Colours(true).diff("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-let a = 1;\n+let b = 1;\n");
        assert!(
            words.contains("\x1b[31mlet \x1b[0m\x1b[7m\x1b[31ma\x1b[0m\x1b[31m = 1;\x1b[0m\n"),
            "{words:?}"
        );
        let sql = Colours(true).diff("--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n--- a comment\n same\n--- a/y\n");
        assert!(
            sql.contains("\x1b[31m--- a comment\x1b[0m") && sql.ends_with("\x1b[1m--- a/y\x1b[0m\n"),
            "{sql}"
        );
    }
}
