//! `read_file`.

use rmcp::model::{CallToolResult, ContentBlock, JsonObject, MetaObject};
use serde_json::json;

use emend_edit::problem::Problem;

use super::{Call, NotQuick, find};
use crate::wire::ReadFile;
use crate::{arguments, reading};

pub(super) fn read_file(call: &Call<'_>, arguments: JsonObject) -> Result<CallToolResult, NotQuick> {
    match read(call, arguments) {
        Ok(result) => Ok(result),
        Err(problem) if NotQuick::is_in(std::slice::from_ref(&problem)) => Err(NotQuick),
        // No structured content here either: what reads is read as text.
        Err(problem) => {
            let code = problem.code();
            Ok(CallToolResult::error(vec![ContentBlock::text(format!("{problem}\n[{code}]"))]))
        }
    }
}

fn read(call: &Call<'_>, arguments: JsonObject) -> Result<CallToolResult, Problem> {
    let input = &find("read_file").expect("it is in the table").input;
    let asked: ReadFile = arguments::read(input, arguments)?;
    let (name, snapshot) = call.workspace.read(&asked.path, call.effort)?;
    let reading = reading::show(&name, &snapshot.text, asked.offset, asked.limit)?;
    let readings = call.callers.readings(call.caller);
    readings.lock().unwrap_or_else(std::sync::PoisonError::into_inner).saw(
        &name,
        &snapshot,
        reading.shown,
        reading.total,
    );
    let mut result = CallToolResult::success(vec![ContentBlock::text(reading.text)]);
    let facts = json!({
        "emend/path": name,
        "emend/version": snapshot.text.version().short(),
        "emend/lines": reading.total,
    });
    result.meta = facts.as_object().cloned().map(MetaObject);
    Ok(result)
}
