//! Resources: the files of the workspace, the skill, the review page, the history, what the client has read, and the diffs of edits.
//!
//! Reading a resource does not count as a reading for the edit tools: a client may read one without any model seeing
//! it. A file that may not be read is reported as missing.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::model::{
    CacheScope, ListResourceTemplatesResult, ListResourcesResult, MetaObject, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate,
};
use serde_json::{Value, json};

use emend_workspace::catalogue::{After, Listed};
use emend_workspace::problem::{Code, Problem};
use emend_workspace::roots::Root;
use emend_workspace::{Fingerprint, Workspace};

use crate::effects::Effects;
use crate::events;
use crate::messages::{Audience, message};
use crate::review_page;
use crate::session::Caller;
use crate::skills;
use crate::tools;
use crate::uri::{self, DIAGNOSTICS, EVENTS, HISTORY, READINGS, SESSION, Uri};

/// The number of files on a page of the list.
const FILES_PER_PAGE: usize = 200;
/// The largest text that is sent as one resource.
const LARGEST_TEXT: usize = 4 * 1024 * 1024;
/// The time that a client may cache the templates, which never change while a server runs.
const TEMPLATES_FRESH_MS: u64 = 60 * 60 * 1_000;
/// The URI template of the diffs of edits.
pub(crate) const EDIT_TEMPLATE: &str = "emend://edit/{id}.diff";

/// The URI template of the events after a number.
const EVENTS_TEMPLATE: &str = "emend://events{?after}";
const JSON: &str = "application/json";
const JSON_LINES: &str = "application/x-ndjson";

/// Lists a page of the resources: those of Emend itself, then the files. Blocks.
pub(crate) fn list(
    workspace: &Workspace,
    caller: Caller<'_>,
    shows_apps: bool,
    cursor: Option<&str>,
    cancelled: &dyn Fn() -> bool,
) -> Result<ListResourcesResult, ErrorData> {
    let mut resources = Vec::new();
    if cursor.is_none() {
        resources.extend(skills::are_offered(workspace.mode()).then(skills::resource));
        resources.extend(shows_apps.then(review_page::resource));
        resources.push(text_resource(HISTORY, "history", "Past edits", "What was edited, the newest first."));
        if workspace.roots().any(|terms| terms.notify_lsp) {
            let about = "What language servers find wrong in the files that were edited lately.";
            resources.push(
                text_resource(DIAGNOSTICS, "diagnostics", "Errors and warnings", about).with_mime_type(JSON),
            );
        }
        if caller.is_lasting() {
            let about =
                "The files that were read with read_file in this session, and whether they still are so.";
            resources.push(text_resource(READINGS, "readings", "What was read", about));
            let about = "How many edits were made and refused in this session, and of which files.";
            resources.push(text_resource(SESSION, "session", "This session", about).with_mime_type(JSON));
        }
        if events::are_enabled(workspace) {
            let about =
                "The outcomes of edits as lines of JSON, the newest last; ?after=N for those behind event N.";
            resources.push(text_resource(EVENTS, "events", "Events", about).with_mime_type(JSON_LINES));
        }
    }
    let after = cursor.map(|cursor| parse_cursor(workspace, cursor)).transpose()?;
    let after = after.as_ref().map(|(root, path)| After { root, path: Path::new(path) });
    let (files, more) =
        workspace.files().page(after, FILES_PER_PAGE, cancelled).map_err(|problem| read_error(&problem))?;
    let last = files.last().map(|file| uri::for_file(&file.root.path.join(&file.path)));
    resources.extend(files.iter().map(file_resource));
    let mut result = ListResourcesResult::with_all_items(resources);
    // The cursor is the last file of the page, so that it stays valid when files come and go.
    result.next_cursor = last.filter(|_| more);
    Ok(result.with_ttl_ms(0).with_cache_scope(CacheScope::Private))
}

/// Lists the resource templates.
pub(crate) fn templates(workspace: Option<&Workspace>) -> ListResourceTemplatesResult {
    let roots = workspace.map_or(&[][..], |workspace| workspace.roots().all());
    let root_template = |root: &Arc<Root>| {
        ResourceTemplate::new(uri::file_template(root), root.name.clone())
            .with_title(format!("Files of {}", root.name))
            .with_description("A file by its path in this folder.")
    };
    let edit = ResourceTemplate::new(EDIT_TEMPLATE, "edit")
        .with_title("Diff of an edit")
        .with_description(
            "All that one edit changed; its id is in the answer of the edit and in edit_history.",
        )
        .with_mime_type("text/x-diff");
    let events = ResourceTemplate::new(EVENTS_TEMPLATE, "events")
        .with_title("Events behind a number")
        .with_description("The first events behind this one, as lines of JSON.")
        .with_mime_type(JSON_LINES);
    let events = workspace.is_some_and(events::are_enabled).then_some(events);
    ListResourceTemplatesResult::with_all_items(
        roots.iter().map(root_template).chain([edit]).chain(events).collect(),
    )
    .with_ttl_ms(TEMPLATES_FRESH_MS)
    .with_cache_scope(CacheScope::Private)
}

/// Reads a resource. Blocks.
pub(crate) fn read(
    workspace: &Workspace,
    effects: &Effects,
    caller: Caller<'_>,
    uri: &str,
) -> Result<ReadResourceResult, ErrorData> {
    let mut meta = None;
    let (text, mime) = match uri::understood(workspace, uri)? {
        Uri::File(path) => {
            let (text, facts) = file(workspace, uri, &path)?;
            meta = Some(facts);
            (text, mime_type(Path::new(&path)))
        }
        Uri::Review => {
            let page = ReadResourceResult::new(vec![review_page::contents()]);
            return Ok(page.with_ttl_ms(TEMPLATES_FRESH_MS).with_cache_scope(CacheScope::Public));
        }
        Uri::Skill => (skills::text().to_owned(), skills::MARKDOWN),
        Uri::History => {
            let listed = tools::recent_edits(workspace, caller).map_err(|problem| read_error(&problem))?;
            (listed, "text/plain")
        }
        Uri::Diagnostics => (format!("{}\n", diagnostics(workspace, effects)), JSON),
        Uri::Readings | Uri::Session if !caller.is_lasting() => return Err(needs_session(uri)),
        Uri::Readings => (readings(workspace, caller), "text/plain"),
        Uri::Session => {
            let session = session(caller).ok_or_else(|| uri::unknown(workspace, uri))?;
            (format!("{session}\n"), JSON)
        }
        Uri::Events(_) if !events::are_enabled(workspace) => {
            let off = "Events are off here. A person turns them on with emit_event = true in Emend's configuration, or \
                       --emit-event.\n";
            (off.to_owned(), "text/plain")
        }
        Uri::Events(after) => {
            let listed = events::list(workspace, after).map_err(|error| {
                ErrorData::internal_error(format!("The log of events cannot be read: {error}"), None)
            })?;
            meta = metadata(&json!({"emend/last": listed.last, "emend/more": listed.has_more}));
            (listed.lines, JSON_LINES)
        }
        Uri::Edit(id) => {
            let edited = workspace.past_edits().find(&id, caller.visible_session()).ok();
            let diff = edited.and_then(|edited| edited.diff).ok_or_else(|| uri::unknown(workspace, uri))?;
            (diff, "text/x-diff")
        }
    };
    let contents = ResourceContents::text(text, uri).with_mime_type(mime);
    let contents = match meta {
        Some(meta) => contents.with_meta(meta),
        None => contents,
    };
    Ok(ReadResourceResult::new(vec![contents]).with_ttl_ms(0).with_cache_scope(CacheScope::Private))
}

/// The error for a resource about a session where the request has none.
fn needs_session(uri: &str) -> ErrorData {
    let message = format!(
        "'{uri}' is about a session, and this connection has none: nothing is remembered from one call to the next."
    );
    ErrorData::resource_not_found(message, Some(json!({"uri": uri})))
}

/// Returns the text of a file, and its name and version as metadata.
fn file(workspace: &Workspace, uri: &str, path: &str) -> Result<(String, MetaObject), ErrorData> {
    let refused = |problem: Problem| match problem.code() {
        Code::NotText | Code::TooLarge | Code::IoError => read_error(&problem),
        _ => uri::unknown(workspace, uri),
    };
    let (name, snapshot) = workspace.files().read(path).map_err(refused)?;
    let text = &snapshot.text;
    let body = &text.bytes()[text.body()];
    if body.len() > LARGEST_TEXT {
        let message = format!(
            "{name} has {} bytes, and a resource at most {LARGEST_TEXT}. Read a part of it with read_file \
             {{\"path\": \"{name}\", \"offset\": LINE, \"limit\": LINES}}.",
            body.len()
        );
        return Err(ErrorData::invalid_params(message, Some(json!({"code": Code::TooLarge.to_string()}))));
    }
    let facts = metadata(&json!({"emend/path": name, "emend/version": text.version().short()}));
    Ok((String::from_utf8_lossy(body).into_owned(), facts.unwrap_or_default()))
}

fn metadata(facts: &Value) -> Option<MetaObject> {
    facts.as_object().cloned().map(MetaObject)
}

/// Returns the diagnostics of the files that any client has edited lately.
fn diagnostics(workspace: &Workspace, effects: &Effects) -> Value {
    let Some(servers) = effects.diagnostics().filter(|_| workspace.roots().any(|terms| terms.notify_lsp))
    else {
        return json!({"servers": [], "off": "notify_lsp"});
    };
    let text = |path: PathBuf| {
        let (_, snapshot) = workspace.files().read(path.to_str()?).ok()?;
        Some((path, String::from_utf8_lossy(snapshot.text.bytes()).into_owned()))
    };
    let texts: Vec<(PathBuf, String)> = servers.recent().into_iter().filter_map(text).collect();
    json!({"servers": servers.ask(workspace, &texts, tools::DIAGNOSTICS_PATIENCE)})
}

/// Returns the counts of the caller's session, if it has one.
fn session(caller: Caller<'_>) -> Option<Value> {
    let mut session = json!(caller.tally()?.summary());
    session["client"] = caller.client().into();
    session["session"] = caller.session().into();
    Some(session)
}

/// Lists the files that were read in the session, and whether each is still as it was read.
fn readings(workspace: &Workspace, caller: Caller<'_>) -> String {
    let read = caller.readings().lock().versions();
    if read.is_empty() {
        return "No file was read in this session.\n".into();
    }
    let mut text = String::new();
    for (name, version) in read {
        let read = version.short();
        let _ = match workspace.files().fingerprint(&name) {
            Fingerprint::Text(now) if now == version => {
                writeln!(text, "{name}: version {read}, as it was read")
            }
            Fingerprint::Text(now) => {
                writeln!(text, "{name}: version {read} was read, it has {} now", now.short())
            }
            Fingerprint::Other(_) => writeln!(text, "{name}: version {read} was read, it is no text now"),
            Fingerprint::Unreadable => {
                writeln!(text, "{name}: version {read} was read, it cannot be read now")
            }
        };
    }
    text
}

fn read_error(problem: &Problem) -> ErrorData {
    let code = problem.code();
    let message = match code {
        Code::NotText | Code::TooLarge => {
            format!("{}\nread_file answers the same.", message(problem, Audience::Model))
        }
        _ => message(problem, Audience::Model),
    };
    let data = Some(json!({"code": code.to_string()}));
    match code {
        Code::IoError => ErrorData::internal_error(message, data),
        _ => ErrorData::invalid_params(message, data),
    }
}

/// Parses a cursor into the root and the path of the last file of the page before.
fn parse_cursor(workspace: &Workspace, cursor: &str) -> Result<(Arc<Root>, String), ErrorData> {
    let unknown =
        || ErrorData::invalid_params("This cursor is not from resources/list; begin without one.", None);
    let Ok(Some(Uri::File(path))) = Uri::parse(cursor) else { return Err(unknown()) };
    let inside = |root: &Arc<Root>| {
        let inside = Path::new(&path).strip_prefix(&root.path).ok()?;
        Some((Arc::clone(root), inside.to_str()?.to_owned()))
    };
    workspace.roots().all().iter().find_map(inside).ok_or_else(unknown)
}

fn text_resource(uri: &str, name: &str, title: &str, description: &str) -> Resource {
    Resource::new(uri, name).with_title(title).with_description(description).with_mime_type("text/plain")
}

fn file_resource(file: &Listed) -> Resource {
    Resource::new(uri::for_file(&file.root.path.join(&file.path)), file.name.clone())
        .with_mime_type(mime_type(&file.path))
        .with_size(file.size)
}

/// Returns the MIME type of a file by its extension, which needs no look at its content.
fn mime_type(path: &Path) -> &'static str {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    match ending.to_ascii_lowercase().as_str() {
        "css" => "text/css",
        "csv" => "text/csv",
        "diff" | "patch" => "text/x-diff",
        "gif" => "image/gif",
        "htm" | "html" => "text/html",
        "jpeg" | "jpg" => "image/jpeg",
        "js" | "mjs" => "text/javascript",
        "json" => "application/json",
        "md" => "text/markdown",
        "pdf" => "application/pdf",
        "png" => "image/png",
        "svg" => "image/svg+xml",
        "toml" => "application/toml",
        "webp" => "image/webp",
        "xml" => "application/xml",
        "yaml" | "yml" => "application/yaml",
        "zip" => "application/zip",
        _ => "text/plain",
    }
}
