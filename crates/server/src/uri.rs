//! The URIs of resources: `file://` with the absolute path of a file, `emend://` for Emend's own resources, `skill://`
//! for the skill, and `ui://` for the review page.
//!
//! Writing percent-encodes everything but letters, digits and `-._~/`. Reading gives a meaning to `%` alone: a file has
//! neither query nor fragment, and clients that fill in a template leave `?` and `#` as they are.

use std::path::Path;

use emend_workspace::Workspace;
use emend_workspace::roots::Root;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use rmcp::ErrorData;
use rmcp::model::Resource;
use serde_json::json;

/// The characters that are percent-encoded in the path of a URI.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// The URI of the text of the skill.
pub(crate) const SKILL: &str = "skill://emend/SKILL.md";
/// The URI of the history.
pub(crate) const HISTORY: &str = "emend://history";
/// The URI of the diagnostics of language servers.
pub(crate) const DIAGNOSTICS: &str = "emend://diagnostics";
/// The URI of the files that the client has read.
pub(crate) const READINGS: &str = "emend://readings";
/// The URI of the counts of the client's session.
pub(crate) const SESSION: &str = "emend://session";
/// The URI of the events of all clients of the workspace.
pub(crate) const EVENTS: &str = "emend://events";
/// The URI of the review page.
pub(crate) const REVIEW: &str = "ui://emend/review";
/// The query before the number of the last event that the client knows.
const AFTER: &str = "?after=";
/// The prefix and the suffix of an edit's id in the URI of its diff.
const EDIT: (&str, &str) = ("emend://edit/", ".diff");

/// The characters of an unknown URI that its error repeats.
const LONGEST_SHOWN: usize = 200;

/// The resource that a URI names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Uri {
    /// The file of this absolute path.
    File(String),
    /// The text of the skill.
    Skill,
    /// The review page.
    Review,
    /// The history, as `edit_history` lists it.
    History,
    /// The diagnostics of the files that were edited lately.
    Diagnostics,
    /// The files that the client has read, and whether they have changed.
    Readings,
    /// The counts of the client's session.
    Session,
    /// The newest events, or the first after this number.
    Events(Option<u64>),
    /// The diff of the edit with this id.
    Edit(String),
}

impl Uri {
    /// Parses a URI; `None` if there is no such resource. The error says why it is no URI of a resource.
    pub(crate) fn parse(uri: &str) -> Result<Option<Self>, &'static str> {
        if let Some(rest) = uri.strip_prefix("file:") {
            return path_of(rest).map(|path| Some(Self::File(path)));
        }
        if !has_scheme(uri) {
            return Err("it has no scheme, such as file:// or emend://");
        }
        let edit = || uri.strip_prefix(EDIT.0)?.strip_suffix(EDIT.1);
        Ok(match uri {
            SKILL => Some(Self::Skill),
            REVIEW => Some(Self::Review),
            HISTORY => Some(Self::History),
            DIAGNOSTICS => Some(Self::Diagnostics),
            READINGS => Some(Self::Readings),
            SESSION => Some(Self::Session),
            EVENTS => Some(Self::Events(None)),
            _ if uri.starts_with(EVENTS) => {
                let after = uri[EVENTS.len()..].strip_prefix(AFTER);
                after.and_then(|after| after.parse().ok()).map(|after| Self::Events(Some(after)))
            }
            _ => edit().filter(|id| is_id(id)).map(|id| Self::Edit(id.to_owned())),
        })
    }
}

/// Returns a path as it stands in a URI.
pub(crate) fn encoded(path: &str) -> String {
    utf8_percent_encode(path, ENCODED).to_string()
}

/// Returns the URI of a file.
pub(crate) fn for_file(path: &Path) -> String {
    // A file whose name is not UTF-8 is no resource, since no call could name it.
    let path = path.to_string_lossy();
    let path = if cfg!(windows) { after_scheme(&path).into() } else { path };
    format!("file://{}", encoded(&path))
}

/// Returns what comes after `file://` for a path on Windows: `/C:/folder/file`, or `server/share/file`.
fn after_scheme(path: &str) -> String {
    let path = path.replace('\\', "/");
    path.strip_prefix("//").map_or_else(|| format!("/{path}"), str::to_owned)
}

/// Returns the URI of an edit's diff.
pub(crate) fn for_edit(id: &str) -> String {
    format!("{}{id}{}", EDIT.0, EDIT.1)
}

/// Returns the URI template of a root's files.
pub(crate) fn file_template(root: &Root) -> String {
    format!("{}/{{+path}}", for_file(&root.path).trim_end_matches('/'))
}

/// Returns a link to the diff of an edit, for an answer that shows only its beginning.
pub(crate) fn link_to_diff(edit: &str) -> Resource {
    Resource::new(for_edit(edit), format!("{edit}.diff"))
        .with_title("The whole diff")
        .with_mime_type("text/x-diff")
}

/// Parses a URI; an error if it cannot be a resource of this workspace.
pub(crate) fn understood(workspace: &Workspace, uri: &str) -> Result<Uri, ErrorData> {
    match Uri::parse(uri) {
        Ok(Some(understood)) => Ok(understood),
        Ok(None) => Err(unknown(workspace, uri)),
        Err(why) => Err(ErrorData::invalid_params(format!("'{uri}' is no URI of a resource: {why}."), None)),
    }
}

/// Creates the error for a resource that does not exist or may not be read.
pub(crate) fn unknown(workspace: &Workspace, uri: &str) -> ErrorData {
    let uri: String = uri.chars().take(LONGEST_SHOWN).collect();
    let roots = workspace.roots().all().iter().map(|root| file_template(root).replace("{+path}", "PATH"));
    let message = format!(
        "There is no resource '{uri}' that can be read. Resources are the files of the workspace ({}), {SKILL}, {HISTORY}, \
         {DIAGNOSTICS}, {READINGS}, {SESSION}, {EVENTS} (with ?after=NUMBER), and emend://edit/ID.diff for the diff of an edit; list_files \
         shows which files there are.",
        roots.collect::<Vec<_>>().join(", ")
    );
    ErrorData::resource_not_found(message, Some(json!({"uri": uri})))
}

/// Returns the path in the rest of a URI after `file:`.
fn path_of(rest: &str) -> Result<String, &'static str> {
    let path = rest.strip_prefix("//").ok_or("file: is followed by // and an absolute path")?;
    let path = match path.strip_prefix("localhost") {
        Some(path) if path.starts_with('/') => path,
        _ => path,
    };
    // Some write the drive right after the two slashes.
    let has_drive = cfg!(windows) && path.get(1..2) == Some(":");
    if !path.starts_with('/') && !has_drive {
        return Err("file:// is followed by an absolute path, which begins with a slash");
    }
    let mut pieces = path.split('%');
    pieces.next();
    let is_escape = |piece: &str| piece.bytes().take(2).filter(u8::is_ascii_hexdigit).count() == 2;
    if !pieces.all(is_escape) {
        return Err("a % is followed by two hexadecimal digits; % itself is %25");
    }
    let path = percent_decode_str(path).decode_utf8().map_err(|_| "its path is not UTF-8")?;
    if path.contains('\0') {
        return Err("a path has no NUL");
    }
    Ok(if cfg!(windows) { without_slash(&path) } else { &path }.to_owned())
}

/// Returns a path on Windows without the slash that a URI has before the drive.
fn without_slash(path: &str) -> &str {
    path.strip_prefix('/').filter(|path| path.get(1..2) == Some(":")).unwrap_or(path)
}

fn has_scheme(uri: &str) -> bool {
    uri.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    })
}

fn is_id(id: &str) -> bool {
    !id.is_empty() && id.len() <= 64 && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_of_windows_has_a_uri_with_slashes() {
        for (path, rest) in [
            (r"C:\ws\a b.txt", "/C:/ws/a b.txt"),
            (r"\\server\share\a", "server/share/a"),
            ("C:/ws", "/C:/ws"),
        ] {
            assert_eq!(after_scheme(path), rest);
        }
        assert_eq!(
            (without_slash("/C:/ws"), without_slash("/ws"), without_slash("/")),
            ("C:/ws", "/ws", "/")
        );
    }

    #[test]
    fn the_uri_of_a_file_is_plain_ascii_and_leads_back_to_it() {
        for (path, uri) in [
            ("/ws/src/main.rs", "file:///ws/src/main.rs"),
            ("/ws/a b#c?d%e", "file:///ws/a%20b%23c%3Fd%25e"),
            ("/ws/ä{x}[1]+&='\"~", "file:///ws/%C3%A4%7Bx%7D%5B1%5D%2B%26%3D%27%22~"),
            ("/ws/%41", "file:///ws/%2541"),
        ] {
            assert_eq!(for_file(Path::new(path)), uri);
            assert_eq!(Uri::parse(uri), Ok(Some(Uri::File(path.into()))));
        }
    }

    #[test]
    fn what_other_programs_write_is_understood() {
        for (uri, path) in [
            ("file:///ws/a b", "/ws/a b"),
            ("file:///ws/a?b#c", "/ws/a?b#c"),
            ("file://localhost/ws/a", "/ws/a"),
            ("file:///ws/%e4%bd%a0", "/ws/你"),
        ] {
            assert_eq!(Uri::parse(uri), Ok(Some(Uri::File(path.into()))));
        }
    }

    #[test]
    fn what_is_no_uri_is_told_from_one_that_names_nothing() {
        for malformed in [
            "",
            "a.txt",
            "/ws/a",
            "file:a",
            "file://ws/a",
            "file://",
            "file:///%",
            "file:///%4",
            "file:///%zz",
            "file:///%ff",
            "file:///%00",
            "1file:///a",
            ":x",
        ] {
            assert!(Uri::parse(malformed).is_err(), "{malformed}");
        }
        for unknown in [
            "http://x/a",
            "skill://x/SKILL.md",
            "emend://x",
            "emend://edit/",
            "emend://edit/.diff",
            "emend://edit/../a.diff",
        ] {
            assert_eq!(Uri::parse(unknown), Ok(None), "{unknown}");
        }
        assert_eq!(Uri::parse(SKILL), Ok(Some(Uri::Skill)));
        assert_eq!(Uri::parse(HISTORY), Ok(Some(Uri::History)));
        assert_eq!(Uri::parse(EVENTS), Ok(Some(Uri::Events(None))));
        assert_eq!(Uri::parse("emend://events?after=12"), Ok(Some(Uri::Events(Some(12)))));
        for unknown in
            ["emend://events?after=", "emend://events?after=-1", "emend://events?x=1", "emend://eventsx"]
        {
            assert_eq!(Uri::parse(unknown), Ok(None), "{unknown}");
        }
        assert_eq!(Uri::parse(&for_edit("01ab")), Ok(Some(Uri::Edit("01ab".into()))));
    }
}
