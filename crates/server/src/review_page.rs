//! The review page as an MCP App (SEP-1865): one HTML file that a client shows for a preview and for an edit, and what the
//! lists say of it to clients that declare they can.
//!
//! Clients that do not declare the extension see neither the resource nor the tool for the page, and their lists have no byte
//! more. The page asks for no permission and reaches no other origin: all that it knows comes from the client's bridge.

use rmcp::RoleServer;
use rmcp::model::{MetaObject, Resource, ResourceContents, Tool as ListedTool};
use rmcp::service::RequestContext;
use serde_json::{Value, json};

#[cfg(feature = "team")]
use crate::principal::Scopes;
use crate::tools::{self, Effect};
use crate::uri::REVIEW;

/// The page, made by `cargo xtask review` from the sources in `review/`.
const PAGE: &str = include_str!("../review/review.html");

/// The type of an MCP App.
const APP: &str = "text/html;profile=mcp-app";

/// The extension by which a client says that it shows them.
const EXTENSION: &str = "io.modelcontextprotocol/ui";

/// Returns whether the client of a request says that it shows MCP Apps.
pub(crate) fn is_shown_to(context: &RequestContext<RoleServer>) -> bool {
    let capabilities = context.client_capabilities();
    let settings = capabilities.as_ref().and_then(|known| known.extensions.as_ref()?.get(EXTENSION));
    let types = settings.map(|settings| settings.get("mimeTypes").and_then(Value::as_array));
    types.is_some_and(|types| types.is_none_or(|types| types.iter().any(|named| named == APP)))
}

/// Adds the page to the tools of a list whose answers it shows, and the tool that only the page calls.
pub(crate) fn add_to(listed: &mut Vec<ListedTool>) {
    // Clients know the one spelling or the other.
    let shown = json!({"ui": {"resourceUri": REVIEW}, "ui/resourceUri": REVIEW});
    for tool in listed.iter_mut() {
        // In the dialects, tools have names of ours only where they are ours, or do the same.
        let own =
            tools::find(&tool.name).filter(|own| matches!(own.about.effect, Effect::Shows | Effect::Edits));
        if own.is_some() {
            tool.meta.get_or_insert_default().extend(metadata(shown.clone()));
        }
    }
    let for_page = metadata(json!({"ui": {"visibility": ["app"]}}));
    listed.extend(tools::of_page().iter().map(|tool| tool.listed().with_meta(for_page.clone())));
}

/// Returns the page as a resource of the list.
pub(crate) fn resource() -> Resource {
    Resource::new(REVIEW, "review")
        .with_title("Review an edit")
        .with_description(
            "The page on which a person sees an edit, chooses among its hunks and applies them.",
        )
        .with_mime_type(APP)
        .with_size(PAGE.len() as u64)
}

/// Returns the page. Nothing is allowed to it: it loads nothing, connects to nothing and frames nothing.
pub(crate) fn contents() -> ResourceContents {
    let csp = json!({"connectDomains": [], "resourceDomains": [], "frameDomains": [], "baseUriDomains": []});
    let meta = json!({"ui": {"csp": csp, "prefersBorder": true}});
    ResourceContents::text(PAGE, REVIEW).with_mime_type(APP).with_meta(metadata(meta))
}

/// Returns what a client declares that shows the page.
pub(crate) fn declaration() -> Value {
    json!({EXTENSION: {"mimeTypes": [APP]}})
}

/// Who asks for the page in a window of its own.
pub(crate) enum Asker<'a> {
    /// The person on this machine, with the key for the page's calls if it is the first time.
    OnLoopback { key: Option<&'a str> },
    /// Somebody who has signed in to a server over HTTP, by this name, and may do this.
    #[cfg(feature = "team")]
    SignedIn { name: &'a str, scopes: Scopes },
}

/// Returns the page for a window of its own, whose policy lets run only what has this nonce.
pub(crate) fn with_nonce(nonce: &str, asker: &Asker<'_>) -> String {
    let told = |name: &str, what: &str| format!("<meta name=\"emend-{name}\" content=\"{what}\">");
    let told = match asker {
        Asker::OnLoopback { key } => key.map(|key| told("key", key)).unwrap_or_default(),
        #[cfg(feature = "team")]
        Asker::SignedIn { name, scopes } => {
            told("person", &escaped(name)) + &told("scopes", &scopes.to_string())
        }
    };
    let mut page = PAGE.replacen("<style>", &format!("{told}<style>"), 1);
    for tag in ["style", "script"] {
        // The first is the page's own: text of it says neither.
        page = page.replacen(&format!("<{tag}>"), &format!("<{tag} nonce=\"{nonce}\">"), 1);
    }
    page
}

/// Writes a text so that it is nothing but text in HTML.
#[cfg(feature = "team")]
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn metadata(facts: Value) -> MetaObject {
    match facts {
        Value::Object(facts) => MetaObject(facts),
        _ => MetaObject::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The most bytes of the page.
    const LARGEST: usize = 150 * 1024;

    #[test]
    fn the_page_is_one_small_file_that_names_no_other() {
        assert!(PAGE.len() <= LARGEST, "it has {} bytes", PAGE.len());
        for loading in ["src=\"", "href=\"", "@import", "url("] {
            assert!(!PAGE.contains(loading), "{loading}");
        }
        assert_eq!(PAGE.matches("</script").count(), 1);
    }
}
