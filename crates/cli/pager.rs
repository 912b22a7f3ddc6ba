//! The pager: `$EMEND_PAGER`, else `$PAGER`, else `less -FRX`, where standard output is a terminal and the text is longer
//! than it. What cannot be paged is shown as it is, so that nothing is lost by a pager that is missing.

use std::ffi::OsString;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::process::{Child, Command, Stdio};

use anstream::adapter::strip_str;
use crossterm::terminal;

/// Shows a text in the pager. Returns false if there is none to use, so that the caller shows the text itself.
pub(crate) fn page(text: &str) -> bool {
    if !io::stdout().is_terminal() || !size().is_some_and(|(rows, columns)| is_longer(text, rows, columns)) {
        return false;
    }
    let Some(mut command) = chosen() else { return false };
    // Ctrl-C belongs to the pager meanwhile: it stops its search, and must not end this process before it.
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
        return false;
    };
    let _entered = runtime.enter();
    #[cfg(unix)]
    let _interrupts = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt());
    match command.stdin(Stdio::piped()).spawn() {
        Ok(child) => show_in(child, text).unwrap_or(false),
        Err(_) => false,
    }
}

/// Gives the text to a pager and waits for its end. Returns whether it was there: a shell that finds no such program
/// ends with 127, and with 126 if it cannot be run.
fn show_in(mut child: Child, text: &str) -> io::Result<bool> {
    if let Some(mut input) = child.stdin.take() {
        match input.write_all(text.as_bytes()) {
            // Whoever has seen enough leaves.
            Err(error) if error.kind() != ErrorKind::BrokenPipe => return Err(error),
            _ => {}
        }
    }
    Ok(!matches!(child.wait()?.code(), Some(126 | 127)))
}

/// The pager, or none if it is switched off by an empty variable or by `cat`.
fn chosen() -> Option<Command> {
    let said = ["EMEND_PAGER", "PAGER"].iter().find_map(std::env::var_os);
    let Some(said) = said else {
        let mut less = Command::new("less");
        less.arg("-FRX");
        return Some(less);
    };
    (!said.is_empty() && said != "cat").then(|| through_shell(said))
}

/// A command line of the user, which may have arguments.
fn through_shell(line: OsString) -> Command {
    let (shell, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
    let mut command = Command::new(shell);
    command.arg(flag).arg(line);
    // As git does: `less` alone would show the codes of colours, and stay open for a single screen.
    if std::env::var_os("LESS").is_none() {
        command.env("LESS", "FRX");
    }
    command
}

/// Returns whether a text fills so many rows, of which a long line takes several.
fn is_longer(text: &str, rows: usize, columns: usize) -> bool {
    let of_line = |line: &str| strip_str(line).to_string().chars().count().div_ceil(columns.max(1)).max(1);
    let mut taken = 0;
    text.lines().any(|line| {
        taken += of_line(line);
        taken >= rows
    })
}

/// The rows and columns of the terminal; `None` if it does not say.
fn size() -> Option<(usize, usize)> {
    let said = terminal::size().ok().map(|(columns, rows)| (usize::from(rows), usize::from(columns)));
    let of_variables = || {
        let number = |name: &str| std::env::var(name).ok()?.parse::<usize>().ok();
        Some((number("LINES")?, number("COLUMNS").unwrap_or(80)))
    };
    said.filter(|&(rows, columns)| rows > 0 && columns > 0).or_else(of_variables)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_longer_if_it_would_leave_no_row_for_the_prompt() {
        assert!(!is_longer("", 3, 80) && !is_longer("a\nb\n", 3, 80));
        assert!(is_longer("a\nb\nc\n", 3, 80) && is_longer("a\nb\nc\nd\n", 3, 80));
        assert!(is_longer("12345\n12345\n", 3, 4), "long lines take several rows");
        assert!(!is_longer("\u{1b}[31m1234\u{1b}[0m\n1234\n", 3, 4), "colours take none");
    }
}
