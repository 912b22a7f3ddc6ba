//! The whole screen of the terminal: rows that scroll, a line for what happened, and one for the keys. Whatever ends the
//! program, the terminal is left as it was.

use std::io::{self, Write, stdout};
use std::time::Duration;

use anyhow::Context;
use crossterm::cursor::{Hide, MoveTo, Show};
use crossterm::event::{
    self, DisableBracketedPaste, EnableBracketedPaste, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers,
};
use crossterm::terminal::{
    self, Clear, ClearType, DisableLineWrap, EnableLineWrap, EnterAlternateScreen, LeaveAlternateScreen,
};
use crossterm::{execute, queue};
use emend_workspace::approval::visible_line;

use crate::output::Colours;

/// A line of the screen, without control characters.
pub(super) struct Row {
    pub(super) text: String,
    pub(super) paint: Paint,
    /// What can be selected, of which this is a line.
    pub(super) item: Option<usize>,
    /// Whether it goes on with the line above.
    pub(super) is_continued: bool,
}

/// What a person does, or that they do nothing for a while.
enum Input {
    Key(KeyCode),
    Pasted(String),
    Nothing,
}

/// The time after which somebody who does nothing is told what has changed meanwhile.
const A_WHILE: Duration = Duration::from_millis(2_500);

impl Row {
    /// The rows that it takes on a screen of so many columns.
    fn wrapped(&self, columns: usize) -> Vec<Self> {
        let mut rows = vec![String::new()];
        let mut taken = 0;
        for character in self.text.chars() {
            let width = if is_wide(character) { 2 } else { 1 };
            if taken + width > columns.max(2) {
                rows.push(String::new());
                taken = 0;
            }
            taken += width;
            if let Some(row) = rows.last_mut() {
                row.push(character);
            }
        }
        let row = |(at, text): (usize, String)| Self {
            text,
            paint: self.paint,
            item: self.item,
            is_continued: at > 0,
        };
        rows.into_iter().enumerate().map(row).collect()
    }
}

/// Whether a terminal gives a character two columns.
fn is_wide(character: char) -> bool {
    matches!(u32::from(character),
        0x1100..=0x115f | 0x2e80..=0xa4cf | 0xac00..=0xd7a3 | 0xf900..=0xfaff | 0xfe30..=0xfe6f | 0xff00..=0xff60
        | 0xffe0..=0xffe6 | 0x1f300..=0x1faff | 0x20000..=0x3fffd)
}

/// How a line looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Paint {
    Plain,
    Head,
    Faint,
    Note,
    Added,
    Removed,
}

impl Paint {
    fn on(self, text: &str, colours: Colours) -> String {
        match self {
            Self::Plain => text.to_owned(),
            Self::Head => colours.bold(text),
            Self::Faint => colours.faint(text),
            Self::Note => colours.yellow(text),
            Self::Added => colours.green(text),
            Self::Removed => colours.red(text),
        }
    }
}

/// The screen.
pub(super) struct Screen {
    colours: Colours,
    top: usize,
    /// The number of rows that fit.
    room: usize,
    /// What was selected when the screen was drawn last.
    current: Option<usize>,
    /// The columns and rows that it had then.
    size: (u16, u16),
}

impl Screen {
    pub(super) fn open(colours: Colours) -> io::Result<Self> {
        terminal::enable_raw_mode()?;
        let screen = Self { colours, top: 0, room: 20, current: None, size: size() };
        execute!(stdout(), EnterAlternateScreen, DisableLineWrap, EnableBracketedPaste, Hide)?;
        Ok(screen)
    }

    /// Begins something else, from its top.
    pub(super) fn begin(&mut self) {
        (self.top, self.current) = (0, None);
    }

    /// Scrolls by so many screens.
    pub(super) fn scroll(&mut self, screens: isize) {
        self.top = self.top.saturating_add_signed(screens * self.room.saturating_sub(2).cast_signed());
    }

    /// Draws all of it, long lines in as many rows as they take: what a person says yes to must not end at the edge. A
    /// selection that has moved is brought into view.
    pub(super) fn draw(
        &mut self,
        title: &str,
        rows: &[Row],
        current: Option<usize>,
        status: &str,
        keys: &str,
    ) -> io::Result<()> {
        let (width, height) = size();
        let columns = usize::from(width);
        let keys = in_lines(keys, columns);
        let rows =
            &rows.iter().flat_map(|row| row.wrapped(columns.saturating_sub(2))).collect::<Vec<_>>()[..];
        self.room = usize::from(height).saturating_sub(2 + keys.len()).max(1);
        // At first the top is shown, which says what this is.
        if self.current.is_none() {
            self.current = current;
        }
        if self.current != current || self.size != (width, height) {
            let of_current = |row: &Row| row.item == current && current.is_some();
            let (first, last) = (rows.iter().position(of_current), rows.iter().rposition(of_current));
            if let (Some(first), Some(last)) = (first, last) {
                if last >= self.top + self.room {
                    self.top = (last + 1).saturating_sub(self.room).min(first);
                }
                self.top = self.top.min(first);
            }
            self.current = current;
        }
        self.size = (width, height);
        self.top = self.top.min(rows.len().saturating_sub(1));
        let mut out = stdout().lock();
        queue!(out, MoveTo(0, 0), Clear(ClearType::All))?;
        write!(out, "{}", self.colours.bold(&cut(title, columns)))?;
        for (at, row) in rows.iter().skip(self.top).take(self.room).enumerate() {
            let is_marked = row.item.is_some() && row.item == current && !row.is_continued;
            let mark = if is_marked { ">" } else { " " };
            queue!(out, MoveTo(0, u16::try_from(at + 1).unwrap_or(u16::MAX)))?;
            write!(out, "{mark} {}", row.paint.on(&row.text, self.colours))?;
        }
        let below = usize::from(height).saturating_sub(1 + keys.len());
        for (at, line) in std::iter::once(status).chain(keys.iter().map(String::as_str)).enumerate() {
            queue!(out, MoveTo(0, u16::try_from(below + at).unwrap_or(u16::MAX)))?;
            write!(out, "{}", cut(line, columns))?;
        }
        out.flush()
    }

    /// Waits for a key; [`KeyCode::Null`] if none comes for a while, or the terminal has another size. The end of the input and
    /// Ctrl-C are as Escape; what is pasted is no key.
    pub(super) async fn key(&self) -> anyhow::Result<KeyCode> {
        loop {
            match self.input().await? {
                Input::Key(key) => return Ok(key),
                Input::Nothing => return Ok(KeyCode::Null),
                Input::Pasted(_) => {}
            }
        }
    }

    /// Asks for a yes.
    pub(super) async fn confirms(&self, question: &str) -> anyhow::Result<bool> {
        let said = self.ask(&format!("{question} (y and enter; esc: no)? ")).await?;
        Ok(matches!(said.as_deref(), Some("y" | "yes")))
    }

    async fn input(&self) -> anyhow::Result<Input> {
        let reading = tokio::task::spawn_blocking(|| {
            loop {
                match event::poll(A_WHILE) {
                    Ok(true) => {}
                    Ok(false) => return Ok(Input::Nothing),
                    Err(error) => return Err(error),
                }
                match event::read() {
                    Ok(Event::Key(KeyEvent { code, modifiers, kind, .. }))
                        if kind != KeyEventKind::Release =>
                    {
                        if !modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) {
                            return Ok(Input::Key(code));
                        }
                        match code {
                            KeyCode::Char('c' | 'd') => return Ok(Input::Key(KeyCode::Esc)),
                            // What was typed before the screen was there may have come as a line.
                            KeyCode::Char('j') => return Ok(Input::Key(KeyCode::Enter)),
                            _ => {}
                        }
                    }
                    Ok(Event::Paste(text)) => return Ok(Input::Pasted(text)),
                    Ok(Event::Resize(..)) => return Ok(Input::Key(KeyCode::Null)),
                    Ok(_) => {}
                    Err(error) => return Err(error),
                }
            }
        });
        reading.await.context("the keys cannot be read")?.context("the keys cannot be read")
    }

    /// Asks for a line of text, which may be empty; `None` if it is given up.
    pub(super) async fn ask(&self, question: &str) -> anyhow::Result<Option<String>> {
        let mut text = String::new();
        loop {
            let (width, height) = size();
            let mut out = stdout();
            execute!(out, MoveTo(0, height.saturating_sub(2)), Clear(ClearType::FromCursorDown))?;
            let typed = plain(&text);
            // Of a long text its end is shown, where it is written.
            let room = usize::from(width).saturating_sub(question.chars().count() + 1);
            let behind = typed.chars().count().saturating_sub(room);
            let shown: String = typed.chars().skip(behind).collect();
            write!(out, "{question}{shown}")?;
            out.flush()?;
            match self.input().await? {
                Input::Key(KeyCode::Enter) => return Ok(Some(text.trim().to_owned())),
                Input::Key(KeyCode::Esc) => return Ok(None),
                Input::Key(KeyCode::Backspace) => drop(text.pop()),
                Input::Key(KeyCode::Char(typed)) => text.push(typed),
                // Several lines become one: the next would be taken for keys.
                Input::Pasted(pasted) => text.push_str(&pasted.replace(['\r', '\n'], " ")),
                Input::Key(_) | Input::Nothing => {}
            }
        }
    }
}

/// The columns and rows of the terminal, as far as it says.
fn size() -> (u16, u16) {
    terminal::size().ok().filter(|(width, height)| *width > 0 && *height > 0).unwrap_or((80, 24))
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = execute!(stdout(), Show, DisableBracketedPaste, EnableLineWrap, LeaveAlternateScreen);
        let _ = terminal::disable_raw_mode();
    }
}

/// The beginning of a text that fits.
fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}

/// Keys, which stand apart by several blanks, in lines that fit.
fn in_lines(keys: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for key in keys.split("   ") {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 3 + key.chars().count() <= width => {
                *line = format!("{line}   {key}");
            }
            _ => lines.push(key.to_owned()),
        }
    }
    lines
}

/// A text as one line that steers nothing.
pub(super) fn plain(text: &str) -> String {
    visible_line(&text.trim_end_matches('\n').replace('\t', "    ").replace('\n', " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_takes_as_many_rows_as_it_needs() {
        let row = Row {
            text: "12345\u{6f22}\u{5b57}8".into(),
            paint: Paint::Added,
            item: Some(1),
            is_continued: false,
        };
        let rows = row.wrapped(6);
        let texts: Vec<&str> = rows.iter().map(|row| row.text.as_str()).collect();
        assert_eq!(texts, ["12345", "\u{6f22}\u{5b57}8"]);
        assert!(rows.iter().all(|row| row.item == Some(1) && row.paint == Paint::Added));
        assert_eq!(
            rows.iter().map(|row| row.is_continued).collect::<Vec<_>>(),
            [false, true],
            "one line is marked once"
        );
        let empty = Row { text: String::new(), paint: Paint::Plain, item: None, is_continued: false };
        assert_eq!(empty.wrapped(80).len(), 1);
    }

    #[test]
    fn what_does_not_fit_is_cut_and_says_so() {
        assert_eq!(cut("+10 -10", 7), "+10 -10");
        assert_eq!(cut("+10 -10", 5), "+10 …");
        assert_eq!(in_lines("j next   k back   q leave", 16), ["j next   k back", "q leave"]);
        assert_eq!(in_lines("j next   k back   q leave", 3), ["j next", "k back", "q leave"]);
    }
}
