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
    /// The files that have changed since, or that nothing can be seen of any more.
    pub(super) stale: Vec<String>,
}

/// What a person has chosen and said of a preview, for when they come back to it: of each hunk by what it changes.
#[derive(Clone, Debug, Default)]
pub(super) struct Kept {
    hunks: Vec<KeptHunk>,
    words: Vec<String>,
}

#[derive(Clone, Debug)]
struct KeptHunk {
    change: String,
    about: String,
    choice: Choice,
    comments: Vec<String>,
}

struct Hunk {
    file: usize,
    numbers: Vec<u64>,
    /// The lines above it on both sides.
    old: u64,
    new: u64,
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
            stale,
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
                old: hunk["old"].as_u64().unwrap_or_default(),
                new: hunk["new"].as_u64().unwrap_or_default(),
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

    /// Takes the last choice back, and goes to its hunk.
    pub(super) fn back(&mut self) {
        let before = self.past.pop().unwrap_or_default();
        let is_its = |hunk: &Hunk| hunk.numbers.iter().any(|number| before.contains_key(number));
        if let Some(at) = self.hunks.iter().position(is_its) {
            self.current = at;
        }
        self.choices.extend(before);
    }

    fn choice(&self, hunk: &Hunk) -> Choice {
        hunk.numbers.first().and_then(|number| self.choices.get(number)).copied().unwrap_or(Choice::Open)
    }

    /// Returns whether a person has chosen or said something that is not applied.
    pub(super) fn has_choices(&self) -> bool {
        !self.kept().is_empty()
    }

    /// Returns what a person has chosen and said.
    pub(super) fn kept(&self) -> Kept {
        let hunk = |(at, hunk): (usize, &Hunk)| KeptHunk {
            change: self.change(hunk),
            about: self.about(at, hunk),
            choice: self.choice(hunk),
            comments: hunk.comments.clone(),
        };
        let is_something = |kept: &KeptHunk| kept.choice != Choice::Open || !kept.comments.is_empty();
        let hunks = self.hunks.iter().enumerate().map(hunk).filter(is_something).collect();
        Kept { hunks, words: self.words.clone() }
    }

    /// Takes over what a person has chosen and said before. Returns of how many hunks that was, and of how many there are no more.
    pub(super) fn take_over(&mut self, kept: Kept) -> (usize, usize) {
        let all = kept.hunks.len();
        let mut left = kept.hunks;
        for at in 0..self.hunks.len() {
            let Some(hunk) = self.hunks.get(at) else { continue };
            let change = self.change(hunk);
            let Some(found) = left.iter().position(|kept| kept.change == change) else { continue };
            let KeptHunk { choice, comments, .. } = left.remove(found);
            let numbers = hunk.numbers.clone();
            self.choices.extend(numbers.into_iter().map(|number| (number, choice)));
            if let Some(hunk) = self.hunks.get_mut(at) {
                hunk.comments = comments;
            }
        }
        let said = |kept: &KeptHunk| {
            kept.comments.iter().map(|said| format!("{}: {said}", kept.about)).collect::<Vec<_>>()
        };
        let loose: Vec<String> = left.iter().flat_map(said).collect();
        self.words = kept.words;
        self.words.extend(loose);
        (all, left.len())
    }

    /// Returns what a hunk changes, by which it is known again.
    fn change(&self, hunk: &Hunk) -> String {
        let path = self.paths.get(hunk.file).map(String::as_str).unwrap_or_default();
        let changed = hunk.lines.iter().filter(|line| !line.starts_with(' '));
        std::iter::once(path).chain(changed.map(String::as_str)).collect::<Vec<_>>().join("\n")
    }

    fn about(&self, at: usize, hunk: &Hunk) -> String {
        let path = self.paths.get(hunk.file).map(String::as_str).unwrap_or_default();
        format!("{} of {path} (line {})", hunk.name(at), hunk.line)
    }

    /// Returns how many hunks there are, and which are rejected.
    pub(super) fn counts(&self) -> (usize, usize) {
        let rejected = self.choices.values().filter(|choice| **choice == Choice::Rejected).count();
        (self.choices.len(), rejected)
    }

    /// Returns where the person is and what they have chosen, in a line.
    pub(super) fn progress(&self) -> String {
        let at = format!("{} of {}", (self.current + 1).min(self.hunks.len()), self.hunks.len());
        if !matches!(self.subject, Subject::Preview(_)) {
            return at;
        }
        let count = |choice| self.choices.values().filter(|chosen| **chosen == choice).count();
        let (accepted, rejected, open) =
            (count(Choice::Accepted), count(Choice::Rejected), count(Choice::Open));
        format!("{at}: {accepted} accepted, {rejected} rejected, {open} open (will be applied)")
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
            let about = self.about(at, hunk);
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

    /// Whether nothing of it can be applied: it is lost, or its files have changed.
    pub(super) fn is_stale(&self) -> bool {
        self.is_lost() || !self.stale.is_empty()
    }

    /// Returns all of it as lines.
    pub(super) fn rows(&self) -> Vec<Row> {
        let row = |text: &str, paint: Paint, item: Option<usize>| Row {
            text: plain(text),
            paint,
            item,
            is_continued: false,
        };
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
            let choice = match self.choice(hunk) {
                Choice::Accepted => " (accepted)",
                Choice::Rejected => " (rejected)",
                Choice::Open => "",
            };
            rows.push(row(&format!("{}, line {}{choice}", hunk.name(at), hunk.line), Paint::Faint, item));
            let forgiven = hunk.forgiven.iter().flat_map(|note| note.lines());
            rows.extend(forgiven.map(|note| row(note, Paint::Note, item)));
            rows.extend(hunk.comments.iter().map(|said| row(&format!("You: {said}"), Paint::Head, item)));
            let (mut old, mut new) = (hunk.old, hunk.new);
            for text in &hunk.lines {
                let number = match text.as_bytes().first() {
                    Some(b'-') => {
                        old += 1;
                        old
                    }
                    Some(b'+') => {
                        new += 1;
                        new
                    }
                    Some(b' ') => {
                        (old, new) = (old + 1, new + 1);
                        new
                    }
                    _ => 0,
                };
                let number = if number == 0 { String::new() } else { number.to_string() };
                let paint = match text.as_bytes().first() {
                    Some(b'+') => Paint::Added,
                    Some(b'-') => Paint::Removed,
                    _ => Paint::Plain,
                };
                rows.push(row(&format!("{number:>5} {text}"), paint, item));
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

impl Kept {
    fn is_empty(&self) -> bool {
        self.hunks.is_empty() && self.words.is_empty()
    }
}

impl Hunk {
    /// What it is called: by the numbers that the model knows, or else by its place.
    fn name(&self, at: usize) -> String {
        let numbers: Vec<String> = self.numbers.iter().map(u64::to_string).collect();
        if numbers.is_empty() { format!("Change {}", at + 1) } else { format!("Hunk {}", numbers.join(", ")) }
    }
}

pub(super) fn strings(list: &Value) -> Vec<String> {
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
        assert_eq!(page.current, 0, "it goes to what it took back");
        page.back();
        assert_eq!((page.taken(), page.current), (Some(None), 1));
    }

    #[test]
    fn what_was_chosen_stays_with_what_it_was_chosen_of() {
        let mut before = page();
        before.choose(Choice::Rejected);
        before.comment("Two of them?");
        before.choose(Choice::Accepted);
        let mut now = page();
        // The first is another one, and what was the second has another number.
        now.hunks.swap(0, 1);
        now.hunks[1].lines = vec!["+other".into()];
        assert_eq!(now.take_over(before.kept()), (3, 1));
        assert_eq!(now.taken(), Some(None));
        assert_eq!(now.hunks[0].comments, ["Two of them?"]);
        assert!(
            now.progress().contains("2 accepted, 0 rejected, 1 open (will be applied)"),
            "{}",
            now.progress()
        );
    }

    #[test]
    fn nothing_that_is_shown_steers_the_terminal() {
        let rows = page().rows();
        assert!(rows.iter().all(|row| !row.text.contains('\u{1b}')));
        assert!(rows.iter().any(|row| row.text == "    1 +two\\u{1b}[2J"));
    }
}
