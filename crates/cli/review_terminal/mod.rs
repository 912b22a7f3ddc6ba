//! `emend review` in a terminal: what the review page shows, for who has no browser. It asks the server what the page asks it,
//! and calls the same tools.

mod page;
mod screen;

use std::collections::BTreeMap;
use std::time::{Duration, UNIX_EPOCH};

use anyhow::{Context, bail};
use crossterm::event::KeyCode;
use emend_server::in_process::InProcess;
use emend_workspace::history::ago;
use rmcp::model::JsonObject;
use serde_json::{Value, json};

pub(crate) use self::page::Subject;
use self::page::{Choice, Kept, Page};
use self::screen::{Paint, Row, Screen};
use crate::exit::Exit;
use crate::output::Colours;

const KEYS_OF_LIST: &str = "j k choose   enter open   r look again   q quit";
const KEYS_OF_PREVIEW: &str = "j k next/previous hunk   a accept   r reject   u take back   c comment   e edit   A apply   \
                               D decline   q back";
const KEYS_OF_APPROVAL: &str = "j k next/previous   y approve   n decline   c comment   q back";
const KEYS_OF_EDIT: &str = "j k next/previous   T take back   s whole session   q back";
const KEYS_OF_SESSION: &str = "j k next/previous   q back";
const KEYS_OF_STALE: &str =
    "P preview again   j k next/previous hunk   a accept   r reject   c comment   D decline   q back";
/// What A says of files that have changed.
const STALE: &str = "Its files have changed: P previews it again, and keeps what you have chosen.";
/// What is asked before a no.
const WHY: &str = "What do you want instead (enter declines; esc: go on)? ";

/// Something of the list.
struct Entry {
    subject: Subject,
    title: String,
}

/// What became of a call that makes an edit.
enum Made {
    Edit(String),
    /// It waits for approval.
    Waits(Subject),
    /// It was refused, for this reason.
    Not(String),
}

/// What the person sees, and whom it asks.
struct Review {
    client: InProcess,
    screen: Screen,
    /// What the person has chosen of previews that they have left, by their handles.
    kept: BTreeMap<String, Kept>,
}

/// Runs until the person leaves. `why` says why it is in the terminal, where nobody has asked for that.
pub(crate) async fn run(
    client: InProcess,
    first: Option<Subject>,
    colours: Colours,
    why: &str,
) -> anyhow::Result<Exit> {
    let screen = Screen::open(colours).context("the review needs a terminal")?;
    let mut review = Review { client, screen, kept: BTreeMap::new() };
    let mut status = why.to_owned();
    let mut next = first;
    loop {
        let subject = match next.take() {
            Some(subject) => Some(subject),
            None => review.choose(&status).await?,
        };
        let Some(subject) = subject else {
            let what = match review.kept.len() {
                0 => return Ok(Exit::Done),
                1 => "a preview".to_owned(),
                left => format!("{left} previews"),
            };
            let question = format!("Leave, and drop what you chose of {what}");
            if review.screen.confirms(&question).await? {
                return Ok(Exit::Done);
            }
            continue;
        };
        (status, next) = match review.look(subject).await {
            Ok(seen) => seen,
            Err(error) => (error.to_string(), None),
        };
    }
}

impl Review {
    async fn call(&self, tool: &str, arguments: Value) -> anyhow::Result<Value> {
        call(&self.client, tool, arguments).await
    }

    /// Shows the list until the person chooses; `None` if they leave.
    async fn choose(&mut self, status: &str) -> anyhow::Result<Option<Subject>> {
        let mut entries = entries_of(&self.client).await?;
        let mut current = 0;
        loop {
            let row = |(at, entry): (usize, &Entry)| Row {
                text: screen::plain(&entry.title),
                paint: Paint::Plain,
                item: Some(at),
                is_continued: false,
            };
            let mut rows: Vec<Row> = entries.iter().enumerate().map(row).collect();
            if rows.is_empty() {
                let text = "Nothing waits, and nothing was edited yet.".into();
                rows.push(Row { text, paint: Paint::Plain, item: None, is_continued: false });
            }
            self.screen.draw(
                "What there is to review",
                &rows,
                Some(current),
                &screen::plain(status),
                KEYS_OF_LIST,
            )?;
            match self.screen.key().await? {
                KeyCode::Char('j') | KeyCode::Down => {
                    current = (current + 1).min(entries.len().saturating_sub(1));
                }
                KeyCode::Char('k') | KeyCode::Up => current = current.saturating_sub(1),
                KeyCode::Enter if current < entries.len() => {
                    return Ok(Some(entries.swap_remove(current).subject));
                }
                KeyCode::Char('r') | KeyCode::Null => {
                    let id = entries.get(current).map(|entry| entry.subject.clone());
                    entries = entries_of(&self.client).await?;
                    let same = entries.iter().position(|entry| Some(&entry.subject) == id.as_ref());
                    current = same.unwrap_or(current).min(entries.len().saturating_sub(1));
                }
                KeyCode::Char('q') | KeyCode::Esc => return Ok(None),
                _ => {}
            }
        }
    }

    /// Shows a subject until the person leaves it. Returns what became of it, and what is shown next.
    async fn look(&mut self, subject: Subject) -> anyhow::Result<(String, Option<Subject>)> {
        let mut page = self.load(&subject, false).await?;
        if let Subject::Preview(id) = &subject
            && !page.is_lost()
            && let Some(kept) = self.kept.remove(id)
        {
            page.take_over(kept);
        }
        let mut status = String::new();
        // What makes an edit once it is approved.
        let mut held: Option<(&str, Value)> = None;
        loop {
            let keys = match page.subject {
                Subject::Preview(_) if page.is_stale() => KEYS_OF_STALE,
                Subject::Preview(_) => KEYS_OF_PREVIEW,
                Subject::Approval(_) => KEYS_OF_APPROVAL,
                Subject::Edit(_) => KEYS_OF_EDIT,
                Subject::Session(_) => KEYS_OF_SESSION,
            };
            let rows = page.rows();
            let stale = match &page.stale[..] {
                [] => String::new(),
                files => match &page.subject {
                    Subject::Preview(_) => {
                        format!("Changed since this preview: {}. P previews it again.", files.join(", "))
                    }
                    _ => format!("Changed since: {}.", files.join(", ")),
                },
            };
            let progress = page.progress();
            let line = [&*status, &stale, &progress].into_iter().find(|line| !line.is_empty());
            let line = screen::plain(line.unwrap_or_default());
            self.screen.draw(&page.title(), &rows, Some(page.current), &line, keys)?;
            let key = self.screen.key().await?;
            if key == KeyCode::Null {
                // What cannot be asked now is asked again, and what was chosen stays.
                if let Ok(Some(applied)) = self.look_again(&mut page).await {
                    return Ok(applied);
                }
                continue;
            }
            status.clear();
            match (&page.subject, key) {
                (_, KeyCode::Char('q') | KeyCode::Esc) => {
                    if let Subject::Preview(id) = &subject
                        && page.has_choices()
                    {
                        self.kept.insert(id.clone(), page.kept());
                    }
                    return Ok((String::new(), None));
                }
                (_, KeyCode::Char('j') | KeyCode::Down) => page.go(1),
                (_, KeyCode::Char('k') | KeyCode::Up) => page.go(-1),
                (_, KeyCode::Char(' ') | KeyCode::PageDown) => self.screen.scroll(1),
                (_, KeyCode::Char('b') | KeyCode::PageUp) => self.screen.scroll(-1),
                (Subject::Preview(_), KeyCode::Char('P')) => {
                    // A refusal leaves what is shown as it is.
                    match self.load(&subject, true).await {
                        Ok(mut now) => {
                            // Of one of which nothing could be shown, they are where they were left.
                            let left = self.kept.remove(subject.id()).filter(|_| page.is_lost());
                            let (all, gone) = now.take_over(left.unwrap_or_else(|| page.kept()));
                            page = now;
                            status = carried(all, gone);
                        }
                        Err(error) => status = error.to_string(),
                    }
                }
                (Subject::Preview(_), KeyCode::Char('A')) if page.is_stale() => STALE.clone_into(&mut status),
                (Subject::Preview(_), KeyCode::Char('e')) => {
                    "A hunk is written by hand on the page: emend review, in a browser."
                        .clone_into(&mut status);
                }
                (Subject::Preview(_), KeyCode::Char('a')) => page.choose(Choice::Accepted),
                (Subject::Preview(_), KeyCode::Char('r')) => page.choose(Choice::Rejected),
                (Subject::Preview(_), KeyCode::Char('u')) => page.back(),
                (Subject::Preview(_) | Subject::Approval(_), KeyCode::Char('c')) => {
                    let comment =
                        self.screen.ask("Comment for the model (enter sends, esc drops it): ").await?;
                    if let Some(comment) = comment.filter(|comment| !comment.is_empty()) {
                        page.comment(&comment);
                        "The model gets it with your decision.".clone_into(&mut status);
                    }
                }
                (Subject::Preview(id), KeyCode::Char('A')) => {
                    let Some(hunks) = page.taken() else {
                        "You have rejected all of it: D declines it.".clone_into(&mut status);
                        continue;
                    };
                    let (all, rejected) = page.counts();
                    let without = match rejected {
                        0 => String::new(),
                        count => format!(", without {count} that you rejected"),
                    };
                    let question = format!("Apply {} of {all} hunks{without}", all - rejected);
                    if !self.screen.confirms(&question).await? {
                        continue;
                    }
                    let mut arguments = json!({"preview": format!("{id}:{}", page.shown)});
                    if let Some(hunks) = hunks {
                        arguments["hunks"] = json!(hunks);
                    }
                    match self.make("apply_preview", arguments.clone()).await? {
                        Made::Waits(waiting) => {
                            page = self.load_with(waiting, page.said("")).await?;
                            held = Some(("apply_preview", arguments));
                            "Nothing was changed yet.".clone_into(&mut status);
                        }
                        Made::Edit(edit) => {
                            self.comment_on_preview(id, &page.said("")).await?;
                            return Ok((format!("Applied as edit {edit}{without}."), None));
                        }
                        Made::Not(why) => {
                            // Perhaps its files have changed, or somebody else has applied it.
                            if let Some(applied) = self.look_again(&mut page).await? {
                                return Ok(applied);
                            }
                            status = why;
                        }
                    }
                }
                (Subject::Preview(_), KeyCode::Char('D')) | (Subject::Approval(_), KeyCode::Char('n')) => {
                    let Some(words) = self.screen.ask(WHY).await? else { continue };
                    self.decide(&page, false, &words).await?;
                    return Ok(("Declined. Nothing was changed.".into(), None));
                }
                (Subject::Approval(_), KeyCode::Char('y')) => {
                    self.decide(&page, true, "").await?;
                    let Some((tool, arguments)) = held.take() else {
                        let then = "Approved. Tell the assistant to try again: it makes the edit when it sends the same call.";
                        return Ok((then.into(), None));
                    };
                    return Ok(match self.make(tool, arguments).await? {
                        Made::Edit(edit) => {
                            if let Subject::Preview(id) = &subject {
                                self.comment_on_preview(id, &page.said("")).await?;
                            }
                            (format!("Approved, and made as edit {edit}."), None)
                        }
                        Made::Waits(waiting) => (String::new(), Some(waiting)),
                        Made::Not(why) => (why, None),
                    });
                }
                (Subject::Edit(id), KeyCode::Char('T')) => {
                    let sure = self.screen.confirms("Take all of this edit back").await?;
                    if !sure {
                        continue;
                    }
                    let arguments = json!({"edit": id});
                    match self.make("undo_edit", arguments.clone()).await? {
                        Made::Waits(waiting) => {
                            page = self.load(&waiting, false).await?;
                            held = Some(("undo_edit", arguments));
                            "Nothing was changed yet.".clone_into(&mut status);
                        }
                        Made::Edit(_) => {
                            return Ok(("Taken back: the files are as they were before.".into(), None));
                        }
                        Made::Not(why) => status = why,
                    }
                }
                (Subject::Edit(_), KeyCode::Char('s')) => match &page.session {
                    Some(session) => return Ok((String::new(), Some(Subject::Session(session.clone())))),
                    None => "It was made in no session.".clone_into(&mut status),
                },
                _ => {}
            }
        }
    }

    /// Looks what has become of a preview meanwhile. Returns what to say and to show if it was applied.
    async fn look_again(&self, page: &mut Page) -> anyhow::Result<Option<(String, Option<Subject>)>> {
        let Subject::Preview(id) = &page.subject else { return Ok(None) };
        let now = self.call("review", json!({"preview": id, "state_only": true})).await?;
        let now = &now["structuredContent"];
        if let ("applied", Some(edit)) = (now["state"].as_str().unwrap_or_default(), now["edit"].as_str()) {
            let by = if now["by_client"] == true { "The assistant has applied it" } else { "It was applied" };
            return Ok(Some((format!("{by} meanwhile, as edit {edit}."), None)));
        }
        page.stale = page::strings(&now["stale"]);
        if now["state"] == "waiting" && now["shown"] != page.shown.as_str() {
            page.stale.push("what it would make, since it was planned anew elsewhere".to_owned());
        }
        Ok(None)
    }

    /// Makes an edit, unless it waits for approval or is refused.
    async fn make(&self, tool: &str, arguments: Value) -> anyhow::Result<Made> {
        let result = self.client.call(tool, object(arguments)).await?;
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let waits = text(&result["_meta"]["emend/approval"]["id"]).map(Subject::Approval).map(Made::Waits);
        let edit = || text(&result["structuredContent"]["edit"]).map(Made::Edit);
        Ok(waits.or_else(edit).unwrap_or_else(|| Made::Not(said(&result))))
    }

    /// Tells the client that asked for a preview what the person says of it.
    async fn comment_on_preview(&self, id: &str, comment: &str) -> anyhow::Result<()> {
        if !comment.is_empty() {
            let said = json!({"preview": id, "is_allowed": true, "comment": comment});
            self.call("decide", said).await?;
        }
        Ok(())
    }

    async fn decide(&self, page: &Page, is_allowed: bool, words: &str) -> anyhow::Result<()> {
        let mut said = page.subject.argument();
        said.insert("is_allowed".into(), is_allowed.into());
        let comment = page.said(words);
        if !comment.is_empty() {
            said.insert("comment".into(), comment.into());
        }
        self.call("decide", Value::Object(said)).await.map(drop)
    }

    /// Loads all of a subject, of which the person has said this already.
    async fn load_with(&mut self, subject: Subject, said: String) -> anyhow::Result<Page> {
        let mut page = self.load(&subject, false).await?;
        page.take_words(said);
        Ok(page)
    }

    /// Loads all of a subject, which is planned for the files as they are now if it is previewed again.
    async fn load(&mut self, subject: &Subject, is_again: bool) -> anyhow::Result<Page> {
        self.screen.begin();
        let mut arguments = subject.argument();
        if is_again {
            arguments.insert("again".into(), true.into());
        }
        let first = self.call("review", Value::Object(arguments.clone())).await?;
        let mut page = Page::begin(subject.clone(), &first["structuredContent"])?;
        arguments.remove("again");
        let mut next = first["structuredContent"]["next"].as_u64();
        while let Some(from) = next {
            arguments.insert("from".into(), from.into());
            let more = self.call("review", Value::Object(arguments.clone())).await?;
            page.add(&more["structuredContent"]);
            next = more["structuredContent"]["next"].as_u64();
        }
        Ok(page)
    }
}

/// Says what became of what was chosen of so many hunks, of which some are gone.
fn carried(all: usize, gone: usize) -> String {
    let now = "Previewed again.";
    match (all, gone) {
        (0, _) => now.to_owned(),
        (_, 0) => format!("{now} Your choices and comments stay."),
        _ => format!("{now} Of {all} hunks with choices or comments, {gone} have changed."),
    }
}

/// Calls a tool. The error is what it says of a refusal.
async fn call(client: &InProcess, tool: &str, arguments: Value) -> anyhow::Result<Value> {
    let result = client.call(tool, object(arguments)).await?;
    if result["isError"] == true {
        bail!("{}", said(&result));
    }
    Ok(result)
}

/// What there is to review.
async fn entries_of(client: &InProcess) -> anyhow::Result<Vec<Entry>> {
    let list = call(client, "review", json!({})).await?;
    let entries = list["structuredContent"]["entries"].as_array().cloned().unwrap_or_default();
    let entry = |entry: &Value| {
        let subject = Subject::of(entry["subject"].as_str()?, entry["id"].as_str()?)?;
        let files = entry["files"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let files: Vec<&str> = files.collect();
        let undone = if entry["is_undone"] == true { " (taken back)" } else { "" };
        let made = UNIX_EPOCH + Duration::from_millis(entry["time"].as_u64().unwrap_or_default());
        let (title, age) = (entry["title"].as_str()?, ago(made));
        let title = format!("{}  {title}, {age}{undone}: {}", subject.head(), files.join("; "));
        Some(Entry { subject, title })
    };
    Ok(entries.iter().filter_map(entry).collect())
}

/// The subject whose id begins so.
pub(crate) async fn named(client: &InProcess, id: &str) -> anyhow::Result<Subject> {
    let entries = entries_of(client).await?;
    let mut fitting = entries.into_iter().map(|entry| entry.subject).filter(|it| it.id().starts_with(id));
    match (fitting.next(), fitting.next()) {
        (Some(subject), None) if !id.is_empty() => Ok(subject),
        (None, _) => bail!("nothing waits, was previewed or was edited lately under {id}"),
        _ => bail!("more than one begins with '{id}': 'emend review' lists them"),
    }
}

fn object(value: Value) -> JsonObject {
    match value {
        Value::Object(object) => object,
        _ => JsonObject::default(),
    }
}

/// The text of a result.
fn said(result: &Value) -> String {
    let blocks = result["content"].as_array().into_iter().flatten();
    blocks.filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n")
}
