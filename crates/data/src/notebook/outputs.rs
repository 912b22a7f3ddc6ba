//! What code cells have put out: a few words on it, and images.

use super::field;
use crate::node::{Data, Kind, Node};

/// An image among the outputs of a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Which output of the cell it is in, counted from 0.
    pub output: usize,
    /// Its type, such as `image/png`.
    pub mime: String,
    /// Its bytes in base64, without blanks or line endings.
    pub base64: String,
}

/// Says what a code cell has put out.
pub(super) fn summary(cell: &Node) -> String {
    let outputs = list(cell);
    if outputs.is_empty() {
        return "no outputs".to_owned();
    }
    let mut words: Vec<String> = Vec::new();
    for word in outputs.iter().map(word) {
        if !words.contains(&word) {
            words.push(word);
        }
    }
    let count = match outputs.len() {
        1 => "1 output".to_owned(),
        count => format!("{count} outputs"),
    };
    format!("{count}: {}", words.join(", "))
}

/// Returns whether a cell has outputs or a count that can be cleared.
pub(super) fn has_outputs(cell: &Node) -> bool {
    let has_count = field(cell, "execution_count").is_some_and(|count| count.data() != Data::Null);
    has_count || !list(cell).is_empty()
}

/// Returns the images that are written in base64. An SVG is a text, and no image here.
pub(super) fn images(cell: &Node) -> Vec<Image> {
    let mut images = Vec::new();
    for (output, node) in list(cell).iter().enumerate() {
        for (mime, value) in data(node) {
            if let (true, Some(written)) = (is_image(mime), joined(value)) {
                let base64 = written.split_ascii_whitespace().collect();
                images.push(Image { output, mime: mime.to_owned(), base64 });
            }
        }
    }
    images
}

/// Returns a text that is written as one or as a list of its lines.
pub(super) fn joined(node: &Node) -> Option<String> {
    match &node.kind {
        Kind::Scalar(Data::Text(text), _) => Some(text.clone()),
        Kind::List(items, _) => items.iter().map(text).collect(),
        _ => None,
    }
}

/// Returns what a string holds.
pub(super) fn text(node: &Node) -> Option<&str> {
    match &node.kind {
        Kind::Scalar(Data::Text(text), _) => Some(text),
        _ => None,
    }
}

fn list(cell: &Node) -> &[Node] {
    match field(cell, "outputs").map(|outputs| &outputs.kind) {
        Some(Kind::List(items, _)) => items,
        _ => &[],
    }
}

/// Says what an output is: the error, the image, or the type that says most.
fn word(output: &Node) -> String {
    let named = |key| field(output, key).and_then(text);
    match named("output_type") {
        Some("stream") if named("name") == Some("stderr") => "stderr".to_owned(),
        Some("stream") => "text".to_owned(),
        Some("error") => format!("error {}", named("ename").unwrap_or_default()).trim_end().to_owned(),
        _ => {
            let types: Vec<&str> = data(output).map(|(mime, _)| mime).collect();
            let image = types.iter().find(|mime| mime.starts_with("image/"));
            let other = types.iter().find(|mime| **mime != "text/plain");
            match image.or(other) {
                Some(mime) => (*mime).to_owned(),
                None if types.is_empty() => "empty".to_owned(),
                None => "text".to_owned(),
            }
        }
    }
}

/// Returns the forms in which an output is there, by their types.
fn data(output: &Node) -> impl Iterator<Item = (&str, &Node)> {
    let entries = match field(output, "data").map(|data| &data.kind) {
        Some(Kind::Map(entries, _)) => entries.as_slice(),
        _ => &[],
    };
    entries.iter().map(|entry| (entry.key.as_str(), &entry.value))
}

fn is_image(mime: &str) -> bool {
    mime.starts_with("image/") && !mime.starts_with("image/svg")
}
