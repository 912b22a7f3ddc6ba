//! What a person sees of one subject in the terminal, and what they have chosen of it.

use std::collections::BTreeMap;

use anyhow::Context;
use rmcp::model::JsonObject;
use serde_json::Value;

use super::screen::{Paint, Row, plain};

/// What is looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    Preview(String),
    Approval(String),
    Edit(String),
    Session(String),
}

impl Subject {
    pub(super) fn of(subject: &str, id: &str) -> Option<Self> {
        let id = id.to_owned();
        match subject {
            "preview" => Some(Self::Preview(id)),
            "approval" => Some(Self::Approval(id)),
            "edit" => Some(Self::Edit(id)),
            _ => None,
        }
    }

    pub(crate) fn id(&self) -> &str {
        let (Self::Preview(id) | Self::Approval(id) | Self::Edit(id) | Self::Session(id)) = self;
        id
    }

    /// The word for what it is, in the list.
    pub(super) fn head(&self) -> &'static str {
        match self {
            Self::Preview(_) => "previewed",
            Self::Approval(_) => "waits    ",
            Self::Edit(_) | Self::Session(_) => "edited   ",
        }
    }

    /// The argument of `review` that names it.
    pub(super) fn argument(&self) -> JsonObject {
        JsonObject::from_iter([(self.name().to_owned(), self.id().into())])
    }

    /// The name of that argument.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Preview(_) => "preview",
            Self::Approval(_) => "approval",
            Self::Edit(_) => "edit",
            Self::Session(_) => "session",
        }
    }
}

/// What a person has said of a hunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    Open,
    Accepted,
    Rejected,
}

/// A subject as it is shown.
pub(super) struct Page {
    pub(super) subject: Subject,
    /// What a preview would make, for the call that applies what was shown.
    pub(super) shown: String,
    pub(super) session: Option<String>,
    /// The hunk that is selected.
    pub(super) current: usize,
    /// What the person says to the model of all of it.
    words: Vec<String>,
    made_by: String,
    state: String,
    above: Vec<String>,
    files: Vec<String>,
    paths: Vec<String>,
    hunks: Vec<Hunk>,
    /// The hunks that are only taken together.
    together: Vec<Vec<u64>>,
    choices: BTreeMap<u64, Choice>,
    /// What was chosen before, for each choice.
    past: Vec<BTreeMap<u64, Choice>>,
}

struct Hunk {
    file: usize,
    numbers: Vec<u64>,
    line: u64,
    forgiven: Option<String>,
    lines: Vec<String>,
    /// What the person says of it.
    comments: Vec<String>,
}

impl Page {
    /// Begins with the first page that the server gives.
    pub(super) fn begin(subject: Subject, first: &Value) -> anyhow::Result<Self> {
        let file = |file: &Value| {
            let from = file["moved_from"].as_str().map(|from| format!("{from} to ")).unwrap_or_default();
            let (change, path) = (file["change"].as_str()?, file["path"].as_str()?);
            let modes = file["modes"].as_str().unwrap_or_default().trim().replace('\n', ", ");
            let modes = if modes.is_empty() { modes } else { format!(", {modes}") };
            Some(format!("{change} {from}{path}, +{} -{}{modes}", file["added"], file["removed"]))
        };
        let files = first["files"].as_array().into_iter().flatten().map(file).collect::<Option<Vec<_>>>();
        let path = |file: &Value| file["path"].as_str().unwrap_or_default().to_owned();
        let stale: Vec<String> = strings(&first["stale"]);
        let mut above: Vec<String> = strings(&first["notes"]);
        let rules = strings(&first["rules"]);
        if !rules.is_empty() {
            above.push(format!("It needs your approval, since {}.", rules.join(", and ")));
        }
        if !stale.is_empty() {
            above.push(format!("Changed since: {}.", stale.join(", ")));
        }
        let mut page = Self {
            subject,
            shown: first["shown"].as_str().unwrap_or_default().to_owned(),
            session: first["session"].as_str().map(str::to_owned),
            current: 0,
            words: Vec::new(),
            made_by: first["made_by"].as_str().unwrap_or_default().to_owned(),
            state: first["state"].as_str().unwrap_or_default().to_owned(),
            above,
            files: files.context("a file has no path")?,
            paths: first["files"].as_array().into_iter().flatten().map(path).collect(),
            hunks: Vec::new(),
            together: first["together"].as_array().into_iter().flatten().map(numbers).collect(),
            choices: BTreeMap::new(),
            past: Vec::new(),
        };
        page.add(first);
        Ok(page)
    }

    /// Adds the hunks of a page.
    pub(super) fn add(&mut self, page: &Value) {
        for hunk in page["hunks"].as_array().into_iter().flatten() {
            let own = numbers(&hunk["numbers"]);
            self.choices.extend(own.iter().map(|number| (*number, Choice::Open)));
            let lines = strings(&hunk["lines"]);
            let context = lines.iter().take_while(|line| line.starts_with(' ')).count() as u64;
            self.hunks.push(Hunk {
                file: hunk["file"].as_u64().and_then(|at| usize::try_from(at).ok()).unwrap_or_default(),
                numbers: own,
                line: hunk["new"].as_u64().unwrap_or_default() + context + 1,
                forgiven: hunk["forgiven"].as_str().map(str::to_owned),
                lines,
                comments: Vec::new(),
            });
        }
    }

    pub(super) fn title(&self) -> String {
        let what = match &self.subject {
            Subject::Preview(_) => "Review before it is made".to_owned(),
            Subject::Approval(_) => "Waits for your approval".to_owned(),
            Subject::Edit(id) => format!("Edit {id}"),
            Subject::Session(_) => "What the session has changed".to_owned(),
        };
        let state = match self.state.as_str() {
            "lost" => " (it cannot be shown as it was)",
            "undone" => " (taken back)",
            "allowed" => " (approved)",
            "denied" => " (declined)",
            _ => "",
        };
        plain(&format!("{what}{state} {}", self.made_by))
    }

    /// Goes so many hunks further.
    pub(super) fn go(&mut self, steps: isize) {
        self.current = self.current.saturating_add_signed(steps).min(self.hunks.len().saturating_sub(1));
    }

    /// Chooses for the hunk that is selected, and those that go with it, and goes to the next.
    pub(super) fn choose(&mut self, choice: Choice) {
        let Some(hunk) = self.hunks.get(self.current) else { return };
        let with = |number: &u64| self.together.iter().find(|unit| unit.contains(number));
        let all: Vec<u64> =
            hunk.numbers.iter().flat_map(|number| with(number).cloned().unwrap_or(vec![*number])).collect();
        let before = all.iter().map(|number| (*number, self.choices.insert(*number, choice)));
        let before = before.map(|(number, before)| (number, before.unwrap_or(Choice::Open))).collect();
        self.past.push(before);
        self.go(1);
    }

    /// Takes the last choice back.
    pub(super) fn back(&mut self) {
        self.choices.extend(self.past.pop().unwrap_or_default());
    }

    /// Keeps a comment on the hunk that is selected, or on all of it where there is none.
    pub(super) fn comment(&mut self, comment: &str) {
        match self.hunks.get_mut(self.current) {
            Some(hunk) => hunk.comments.push(comment.to_owned()),
            None => self.words.push(comment.to_owned()),
        }
    }

    /// Returns all that the person says to the model, with these words at the end.
    pub(super) fn said(&self, words: &str) -> String {
        let mut all = Vec::new();
        for (at, hunk) in self.hunks.iter().enumerate() {
            let path = self.paths.get(hunk.file).map(String::as_str).unwrap_or_default();
            let about = format!("{} of {path} (line {})", hunk.name(at), hunk.line);
            all.extend(hunk.comments.iter().map(|said| format!("{about}: {said}")));
        }
        all.extend(self.words.iter().cloned());
        all.extend((!words.is_empty()).then(|| words.to_owned()));
        all.join("\n")
    }

    /// Takes over what was said of another page of the same.
    pub(super) fn take_words(&mut self, words: String) {
        self.words.extend((!words.is_empty()).then_some(words));
    }

    /// Returns the hunks that are applied, unless these are all: those that were not rejected. `None` if there are none.
    pub(super) fn taken(&self) -> Option<Option<Vec<u64>>> {
        let taken = self.choices.iter().filter(|(_, choice)| **choice != Choice::Rejected);
        let taken: Vec<u64> = taken.map(|(number, _)| *number).collect();
        if taken.is_empty() && !self.choices.is_empty() {
            return None;
        }
        Some((taken.len() < self.choices.len()).then_some(taken))
    }

    /// Whether it can only be previewed again.
    pub(super) fn is_lost(&self) -> bool {
        self.state == "lost"
    }

    /// Returns all of it as lines.
    pub(super) fn rows(&self) -> Vec<Row> {
        let row = |text: &str, paint: Paint, item: Option<usize>| Row { text: plain(text), paint, item };
        let above = self.above.iter().flat_map(|note| note.lines());
        let mut rows: Vec<Row> = above.map(|note| row(note, Paint::Note, None)).collect();
        let mut shown = None;
        for (at, hunk) in self.hunks.iter().enumerate() {
            if shown != Some(hunk.file) {
                shown = Some(hunk.file);
                let file = self.files.get(hunk.file).map(String::as_str).unwrap_or_default();
                rows.push(row("", Paint::Plain, None));
                rows.push(row(file, Paint::Head, None));
            }
            let item = Some(at);
            let choice = match hunk.numbers.first().and_then(|number| self.choices.get(number)) {
                Some(Choice::Accepted) => " (accepted)",
                Some(Choice::Rejected) => " (rejected)",
                _ => "",
            };
            rows.push(row(&format!("{}, line {}{choice}", hunk.name(at), hunk.line), Paint::Faint, item));
            let forgiven = hunk.forgiven.iter().flat_map(|note| note.lines());
            rows.extend(forgiven.map(|note| row(note, Paint::Note, item)));
            rows.extend(hunk.comments.iter().map(|said| row(&format!("You: {said}"), Paint::Head, item)));
            for text in &hunk.lines {
                let paint = match text.as_bytes().first() {
                    Some(b'+') => Paint::Added,
                    Some(b'-') => Paint::Removed,
                    _ => Paint::Plain,
                };
                rows.push(row(text, paint, item));
            }
        }
        // Files of which no line changes.
        for (at, file) in self.files.iter().enumerate() {
            if self.hunks.iter().all(|hunk| hunk.file != at) {
                rows.push(row(file, Paint::Head, None));
            }
        }
        rows
    }
}

impl Hunk {
    /// What it is called: by the numbers that the model knows, or else by its place.
    fn name(&self, at: usize) -> String {
        let numbers: Vec<String> = self.numbers.iter().map(u64::to_string).collect();
        if numbers.is_empty() { format!("Change {}", at + 1) } else { format!("Hunk {}", numbers.join(", ")) }
    }
}

fn strings(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn numbers(list: &Value) -> Vec<u64> {
    list.as_array().into_iter().flatten().filter_map(Value::as_u64).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn page() -> Page {
        let hunk = |number: u64, line: &str| json!({"file": 0, "numbers": [number], "old": 0, "new": 0, "lines": [line]});
        let first = json!({
            "state": "waiting",
            "files": [{"path": "a\u{1b}[2J", "change": "modify", "added": 3, "removed": 0}],
            "together": [[2, 3]],
            "hunks": [hunk(1, "+one"), hunk(2, "+two\u{1b}[2J"), hunk(3, "+three")],
        });
        Page::begin(Subject::Preview("preview-1".into()), &first).unwrap()
    }

    #[test]
    fn what_is_not_rejected_is_taken_and_what_goes_together_stays_so() {
        let mut page = page();
        assert_eq!(page.taken(), Some(None));
        page.go(1);
        page.choose(Choice::Rejected);
        assert_eq!((page.taken(), page.current), (Some(Some(vec![1])), 2));
        page.go(-2);
        page.choose(Choice::Rejected);
        assert_eq!(page.taken(), None, "all of it is rejected");
        page.back();
        page.back();
        assert_eq!(page.taken(), Some(None));
    }

    #[test]
    fn nothing_that_is_shown_steers_the_terminal() {
        let rows = page().rows();
        assert!(rows.iter().all(|row| !row.text.contains('\u{1b}')));
        assert!(rows.iter().any(|row| row.text == "+two\\u{1b}[2J"));
    }
}
