//! The page of figures, as it is written. What is added is shown at once, since the measurements take minutes.

use std::fmt;

/// The width of the page's paragraphs.
const WIDTH: usize = 120;

/// The text of the page.
#[derive(Debug, Default)]
pub(super) struct Page {
    pub(super) text: String,
}

/// What was wanted of a measurement, and what came out.
#[derive(Debug)]
pub(super) struct Goal {
    what: String,
    wanted: Bound,
    came: f64,
    /// The number of decimals that are shown.
    decimals: usize,
}

/// The bound of a goal.
#[derive(Clone, Copy, Debug)]
enum Bound {
    AtLeast(f64),
    AtMost(f64),
}

impl Goal {
    /// The value that came out must be at least this.
    pub(super) fn at_least(wanted: f64, what: impl Into<String>, came: f64) -> Self {
        Self { what: what.into(), wanted: Bound::AtLeast(wanted), came, decimals: 2 }
    }

    /// The value that came out must be at most this.
    pub(super) fn at_most(wanted: f64, what: impl Into<String>, came: f64) -> Self {
        Self { what: what.into(), wanted: Bound::AtMost(wanted), came, decimals: 2 }
    }

    /// Sets the number of decimals that are shown.
    pub(super) fn decimals(mut self, decimals: usize) -> Self {
        self.decimals = decimals;
        self
    }

    fn is_met(&self) -> bool {
        match self.wanted {
            Bound::AtLeast(wanted) => self.came >= wanted,
            Bound::AtMost(wanted) => self.came <= wanted,
        }
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (bound, wanted) = match self.wanted {
            Bound::AtLeast(wanted) => ("at least", wanted),
            Bound::AtMost(wanted) => ("at most", wanted),
        };
        let (what, came, decimals) = (&self.what, self.came, self.decimals);
        let met = if self.is_met() { "met" } else { "**missed**" };
        write!(f, "- {what}: {bound} {wanted:.decimals$} is the goal, {came:.decimals$} came out: {met}.")
    }
}

impl Page {
    /// Adds a heading of this level.
    pub(super) fn heading(&mut self, level: usize, heading: &str) {
        self.add(&format!("{} {heading}\n", "#".repeat(level)));
    }

    /// Adds a paragraph and breaks its lines.
    pub(super) fn paragraph(&mut self, text: &str) {
        self.add(&wrapped(text, ""));
    }

    /// Adds a table.
    pub(super) fn table<const N: usize>(&mut self, heading: [&str; N], rows: &[[String; N]]) {
        let row = |cells: &[&str]| format!("| {} |\n", cells.join(" | "));
        let mut text = row(&heading) + "|---" + &"|---:".repeat(N - 1) + "|\n";
        for cells in rows {
            text += &row(&cells.each_ref().map(String::as_str));
        }
        self.add(&text);
    }

    /// Adds a list of goals.
    pub(super) fn goals(&mut self, goals: &[Goal]) {
        let lines: String = goals.iter().map(|goal| wrapped(&goal.to_string(), "  ")).collect();
        self.add(&lines);
    }

    fn add(&mut self, block: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
            println!();
        }
        self.text += block;
        print!("{block}");
    }
}

/// A text in lines, of which all but the first begin with this indent.
fn wrapped(text: &str, indent: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last().map_or(0, |line| line.chars().count());
        if line > indent.len() && line + 1 + word.chars().count() > WIDTH {
            lines.push(indent.to_owned());
        }
        if let Some(line) = lines.last_mut() {
            if !line.trim().is_empty() {
                line.push(' ');
            }
            *line += word;
        }
    }
    lines.join("\n") + "\n"
}

/// A time in milliseconds with three significant digits.
pub(super) fn millis(time: f64) -> String {
    let decimals = if time < 10.0 { 2 } else { usize::from(time < 100.0) };
    format!("{time:.decimals$} ms")
}

/// A ratio.
pub(super) fn times(ratio: f64) -> String {
    format!("{ratio:.2}")
}

/// A rate or a number, whole, with a comma between thousands.
pub(super) fn whole(number: f64) -> String {
    let digits = format!("{number:.0}");
    let mut shown = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_says_what_was_wanted_and_whether_it_came_out() {
        let goal = Goal::at_least(0.8, "16 servers over one", 0.25).to_string();
        assert_eq!(goal, "- 16 servers over one: at least 0.80 is the goal, 0.25 came out: **missed**.");
        let goal = Goal::at_most(60.0, "MB", 12.0).decimals(0).to_string();
        assert_eq!(goal, "- MB: at most 60 is the goal, 12 came out: met.");
    }

    #[test]
    fn numbers_are_as_short_as_they_can_be_read() {
        assert_eq!([0.4567, 45.67, 456.7].map(millis), ["0.46 ms", "45.7 ms", "457 ms"]);
        assert_eq!([12.0, 999.6, 1_234_567.0].map(whole), ["12", "1,000", "1,234,567"]);
    }

    #[test]
    fn lines_are_broken_between_words() {
        let text = format!("- {} end", "word ".repeat(30));
        let lines: Vec<String> = wrapped(&text, "  ").lines().map(Into::into).collect();
        assert_eq!(lines.len(), 2);
        assert!(lines.iter().all(|line| line.len() <= WIDTH) && lines[1].starts_with("  word"));
    }
}
