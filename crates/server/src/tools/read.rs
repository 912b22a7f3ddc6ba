//! The tool `read_file`.

use rmcp::model::{CallToolResult, ContentBlock, JsonObject, MetaObject};
use serde_json::{Value, json};

use emend_workspace::problem::{Kind, Problem};
use emend_workspace::{Effort, NotDone};

use super::Call;
use super::spec::{About, Effect, Given, Tool, ToolArguments};
use crate::answer::{Answer, TextAnswer, Unanswered};
use crate::messages::{Audience, message};
use crate::reading::{self, ReadPart, Reading};
use crate::wire::ReadFile;
use crate::{arguments, refusal};

/// The least room of a reading of several, in bytes.
const LEAST: usize = 1_000;
/// The most characters of a reason why one was not made.
const REASON: usize = 1_000;

impl ToolArguments for ReadFile {
    const ABOUT: About = About {
        name: "read_file",
        title: "Read a file",
        description: "Read numbered lines of text files, with their version. Number and tab are no part of a line.",
        effect: Effect::Reads,
        is_idempotent: false,
        is_core: true,
    };
}

impl Tool for ReadFile {
    fn answer(call: &Call<'_>, given: Given<'_, Self>) -> Result<Answer, Unanswered> {
        let schema = given.schema();
        let asked = given.read().and_then(|mut asked| Ok((asked.several()?, asked)));
        let answer = asked.map_err(NotDone::from).and_then(|(several, asked)| match several {
            Some(several) => read_several(call, schema, several),
            None => {
                let (reading, facts) = read(call, &asked, room(&asked))?;
                Ok(success(vec![ReadPart::Shown(Box::new(reading))], &facts))
            }
        });
        answer.or_else(|why| match why {
            NotDone::NotQuick => Err(Unanswered::NotQuick),
            NotDone::Refused(problem) => Ok(Answer::reading(Err(problem))),
        })
    }
}

/// Returns how many bytes a reading may have that is the only one.
fn room(asked: &ReadFile) -> usize {
    if asked.limit.is_some() { reading::BYTES } else { reading::SHOWN }
}

/// Reads a part of one file, in so many bytes.
fn read(call: &Call<'_>, asked: &ReadFile, room: usize) -> Result<(Reading, Value), NotDone> {
    let (path, part) = asked.part()?;
    let (name, snapshot) = call.workspace.files().read_within(path, call.effort)?;
    if call.effort == Effort::Quick && reading::is_long(&snapshot.text, part, room) {
        return Err(NotDone::NotQuick);
    }
    let shown = reading::show(&name, &snapshot.text, part, room)?;
    call.caller.readings().lock().saw(&name, &snapshot, shown.shown.clone(), shown.total);
    let facts = json!({
        "emend/path": name,
        "emend/version": snapshot.text.version().short(),
        "emend/lines": shown.total,
    });
    Ok((shown, facts))
}

/// Reads parts of several files. What cannot be read has the reason in its place. Readings without a limit share the
/// bytes of one; what one leaves is for those after it.
fn read_several(call: &Call<'_>, schema: &JsonObject, several: Vec<JsonObject>) -> Result<Answer, NotDone> {
    let mut parts: Vec<ReadPart> = Vec::new();
    let mut files = Vec::new();
    let mut refused = 0;
    let asked = |arguments| match arguments::read::<ReadFile>(schema, arguments) {
        Ok(ReadFile { files: Some(_), .. }) => Err(one_alone()),
        asked => asked,
    };
    let several: Vec<Result<ReadFile, Problem>> = several.into_iter().map(asked).collect();
    let mut sharing = several.iter().flatten().filter(|asked| asked.limit.is_none()).count();
    let (mut left, mut shared) = (reading::BYTES, reading::SHOWN);
    for (at, asked) in several.into_iter().enumerate() {
        let is_sharing = asked.as_ref().is_ok_and(|asked| asked.limit.is_none());
        let room = match is_sharing {
            true => left.min(shared).min(LEAST.max(shared / sharing)),
            false => left,
        };
        sharing -= usize::from(is_sharing);
        let name = asked
            .as_ref()
            .ok()
            .and_then(|asked| asked.path.clone())
            .unwrap_or_else(|| format!("files[{at}]"));
        if room < LEAST {
            parts.push(ReadPart::Said(format!("{name} was not read: this answer is full.\n")));
            continue;
        }
        match asked.map_err(NotDone::from).and_then(|asked| read(call, &asked, room)) {
            Ok((shown, facts)) => {
                let length = shown.text().len() + 1;
                left = left.saturating_sub(length);
                shared = shared.saturating_sub(if is_sharing { length } else { 0 });
                parts.push(ReadPart::Shown(Box::new(shown)));
                files.push(facts);
            }
            Err(NotDone::NotQuick) => return Err(NotDone::NotQuick),
            Err(NotDone::Refused(problem)) => {
                let message = refusal::fitted(&message(&problem, Audience::Model), REASON);
                let said = format!("{name} was not read. {message}\n[{}]\n", problem.code());
                left = left.saturating_sub(said.len() + 1);
                parts.push(ReadPart::Said(said));
                refused += 1;
            }
        }
    }
    if files.is_empty() && refused > 0 {
        let said: Vec<String> = parts.iter().map(ReadPart::text).collect();
        let content = vec![ContentBlock::text(said.join("\n").trim_end())];
        return Ok(TextAnswer::from(CallToolResult::error(content)).into());
    }
    Ok(success(parts, &json!({"emend/files": files})))
}

fn one_alone() -> Problem {
    let message = "it belongs beside no other argument".into();
    Problem::new(Kind::InvalidArgument { name: "files".into(), message })
}

fn success(parts: Vec<ReadPart>, facts: &Value) -> Answer {
    let mut result = CallToolResult::success(Vec::new());
    result.meta = facts.as_object().cloned().map(MetaObject);
    TextAnswer { parts, ..TextAnswer::from(result) }.into()
}
