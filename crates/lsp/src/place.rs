//! Places of symbols, as a server names them.

use std::ops::Range;
use std::path::PathBuf;

use serde_json::Value;

use crate::position::{ColumnUnits, Lines, Position};
use crate::wire;

/// A range of a file. It says where something stands only for the text that the server had.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The absolute path of the file.
    pub path: PathBuf,
    start: Position,
    end: Position,
    units: ColumnUnits,
}

impl Place {
    /// Returns the bytes of the place in the text of the file; `None` if the text has no such place.
    #[must_use]
    pub fn range(&self, text: &str) -> Option<Range<usize>> {
        let lines = Lines::new(text);
        let (start, end) = (lines.offset(self.units, self.start)?, lines.offset(self.units, self.end)?);
        (start <= end).then_some(start..end)
    }

    /// Reads a `Location` or a `LocationLink`; `None` if it is no place in a file.
    fn read(sent: &Value, units: ColumnUnits) -> Option<Self> {
        let (uri, range) = match sent["targetUri"].as_str() {
            Some(uri) => (uri, &sent["targetSelectionRange"]),
            None => (sent["uri"].as_str()?, &sent["range"]),
        };
        let place = |end: &str| {
            let part = |name: &str| u32::try_from(range[end][name].as_u64()?).ok();
            Some(Position { line: part("line")?, units: part("character")? })
        };
        Some(Self { path: wire::path(uri)?, start: place("start")?, end: place("end")?, units })
    }
}

/// Reads the places of an answer, which may be one, several or none.
pub(crate) fn places(sent: &Value, units: ColumnUnits) -> Vec<Place> {
    let one = std::slice::from_ref(sent);
    let all = sent.as_array().map_or(one, Vec::as_slice);
    sorted(all.iter().filter_map(|sent| Place::read(sent, units)).collect())
}

/// Reads the places of those symbols of an answer whose path ends like this one: `c`, `B.c` or `a::B.c`.
pub(crate) fn places_of_name(sent: &Value, name: &str, units: ColumnUnits) -> Vec<Place> {
    let wanted = parts(name);
    let is_meant = |symbol: &&Value| {
        let own = symbol["name"].as_str().unwrap_or_default();
        let path = [parts(symbol["containerName"].as_str().unwrap_or_default()), parts(own)].concat();
        !wanted.is_empty() && path.ends_with(&wanted)
    };
    let all = sent.as_array().into_iter().flatten().filter(is_meant);
    sorted(all.filter_map(|symbol| Place::read(&symbol["location"], units)).collect())
}

/// Splits a path of names. What follows a name in parentheses is no part of it.
fn parts(path: &str) -> Vec<&str> {
    let path = path.split('(').next().unwrap_or_default();
    path.split(['.', ':', '/', '#', ' ']).filter(|part| !part.is_empty()).collect()
}

fn sorted(mut places: Vec<Place>) -> Vec<Place> {
    places.sort();
    places.dedup();
    places
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn range(line: u32, from: u32, to: u32) -> Value {
        let at = |character: u32| json!({"line": line, "character": character});
        json!({"start": at(from), "end": at(to)})
    }

    #[test]
    fn each_form_of_an_answer_gives_places_in_order_and_once() {
        let location =
            |file: &str, line| json!({"uri": format!("file:///{file}"), "range": range(line, 1, 3)});
        let link = json!({"targetUri": "file:///a", "targetRange": range(0, 0, 9), "targetSelectionRange": range(1, 1, 3)});
        let sent = json!([location("b", 0), link, location("a", 0), location("b", 0), {"uri": "untitled:x"}]);
        let found = places(&sent, ColumnUnits::Utf16);
        let files: Vec<_> = found.iter().map(|place| (place.path.to_str(), place.start.line)).collect();
        assert_eq!(files, [(Some("/a"), 0), (Some("/a"), 1), (Some("/b"), 0)]);
        assert_eq!(places(&location("a", 0), ColumnUnits::Utf16).len(), 1);
        assert!(places(&Value::Null, ColumnUnits::Utf16).is_empty());
    }

    #[test]
    fn a_place_is_one_of_the_text_that_the_server_had() {
        let sent = json!({"uri": "file:///a", "range": range(1, 1, 3)});
        let [place] = <[Place; 1]>::try_from(places(&sent, ColumnUnits::Utf16)).expect("one");
        assert_eq!(place.range("x\r\nabc\r\n"), Some(4..6));
        assert_eq!([place.range("x\nab"), place.range("x")], [None, None]);
    }

    #[test]
    fn a_name_is_found_by_the_end_of_its_path_alone() {
        let symbol = |name: &str, container: &str| json!({"name": name, "containerName": container, "location": {"uri": "file:///a", "range": range(0, 0, 1)}});
        let is_found =
            |sent: Value, name: &str| !places_of_name(&json!([sent]), name, ColumnUnits::Utf8).is_empty();
        for (name, container) in [("c", "B"), ("c(int)", "a::B"), ("B.c", "example.com/pkg"), ("B::c", "")] {
            assert!(is_found(symbol(name, container), "B.c"), "{name}");
            assert!(is_found(symbol(name, container), "c"), "{name}");
        }
        for (name, container) in [("cc", "B"), ("c", ""), ("c", "AB"), ("B", "c")] {
            assert!(!is_found(symbol(name, container), "B.c"), "{name} in {container}");
        }
    }
}
