//! `read_file`.

use rmcp::model::{CallToolResult, ContentBlock, JsonObject, MetaObject};
use serde_json::json;

use emend_edit::problem::Problem;

use super::{Answer, Call, Unanswered, find};
use crate::arguments;
use crate::wire::ReadFile;

pub(super) fn read_file(call: &Call<'_>, arguments: JsonObject) -> Result<Answer, Unanswered> {
    read(call, arguments).or_else(|problem| Answer::reading(Err(problem)))
}

fn read(call: &Call<'_>, arguments: JsonObject) -> Result<Answer, Problem> {
    let input = &find("read_file").expect("it is in the table").input;
    let asked: ReadFile = arguments::read(input, arguments)?;
    let (name, snapshot) = call.workspace.read(&asked.path, call.effort)?;
    let shown = crate::reading::show(&name, &snapshot.text, asked.offset, asked.limit)?;
    let readings = call.caller.readings();
    readings.lock().unwrap_or_else(std::sync::PoisonError::into_inner).saw(
        &name,
        &snapshot,
        shown.shown,
        shown.total,
    );
    let mut result = CallToolResult::success(vec![ContentBlock::text(shown.text)]);
    let facts = json!({
        "emend/path": name,
        "emend/version": snapshot.text.version().short(),
        "emend/lines": shown.total,
    });
    result.meta = facts.as_object().cloned().map(MetaObject);
    Ok(Answer::Text(Box::new(result)))
}
