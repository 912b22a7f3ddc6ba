//! The tool `read_file`.

use rmcp::model::{CallToolResult, ContentBlock, MetaObject};
use serde_json::json;

use emend_workspace::NotDone;

use super::Call;
use super::spec::{About, Effect, Given, Tool, ToolArguments};
use crate::answer::{Answer, Unanswered};
use crate::wire::ReadFile;

impl ToolArguments for ReadFile {
    const ABOUT: About = About {
        name: "read_file",
        title: "Read a file",
        description: "Read a text file: numbered lines under a header with its line count, line endings \
and version. Read a file before you edit it; the edit tools then notice if somebody else changed it since. \
The number and the tab before each line are not part of the file.",
        effect: Effect::Reads,
        is_idempotent: false,
        is_core: true,
    };
}

impl Tool for ReadFile {
    fn answer(call: &Call<'_>, given: Given<'_, Self>) -> Result<Answer, Unanswered> {
        let answer = given.read().map_err(NotDone::from).and_then(|asked| read(call, &asked));
        answer.or_else(|why| match why {
            NotDone::NotQuick => Err(Unanswered::NotQuick),
            NotDone::Refused(problem) => Ok(Answer::reading(Err(problem))),
        })
    }
}

fn read(call: &Call<'_>, asked: &ReadFile) -> Result<Answer, NotDone> {
    let (name, snapshot) = call.workspace.files().read_within(&asked.path, call.effort)?;
    let shown = crate::reading::show(&name, &snapshot.text, asked.offset, asked.limit)?;
    let readings = call.caller.readings();
    readings.lock().saw(&name, &snapshot, shown.shown, shown.total);
    let mut result = CallToolResult::success(vec![ContentBlock::text(shown.text)]);
    let facts = json!({
        "emend/path": name,
        "emend/version": snapshot.text.version().short(),
        "emend/lines": shown.total,
    });
    result.meta = facts.as_object().cloned().map(MetaObject);
    Ok(Answer::Text(Box::new(result)))
}
