//! Why a value of a data file cannot be found or changed by its key.

use emend_data::notebook::{CellAddress, CellFault};
use emend_data::{Bar, Fault, Format};
use emend_edit::excerpt::around;
use emend_workspace::problem::nearest;

/// How many keys a refusal names.
const NAMED: usize = 12;
/// How many characters of what is there it shows.
const SHOWN: usize = 200;

/// Returns the argument that is wrong, and why.
pub(crate) fn fault(fault: &Fault, format: Format) -> (&'static str, String) {
    let message = match fault {
        Fault::Unread(unread) => {
            return ("path", format!("line {} cannot be read as {}: {}", unread.line, format.name(), unread.why));
        }
        Fault::TooMuch => {
            return ("edits", "these are too many changes of so large a file; make several calls".to_owned());
        }
        Fault::NoKey => "it is empty".to_owned(),
        Fault::BadKey(key) => format!("the quotes or brackets of {key} do not end; give a list of keys instead"),
        Fault::Documents(1) => return ("document", "the file has one document; leave document out".to_owned()),
        Fault::Documents(count) => {
            return ("document", format!("the file has {count} documents: say which, from 0 to {}", count - 1));
        }
        Fault::Missing { key, known, is_last } => missing(key, known, *is_last),
        Fault::NoElement { key, len } => format!("the list has no element {key}: it has {len}, counted from 0"),
        Fault::NoPlace { len } => {
            format!("a new element of this list goes before an index from 0 to {len}; -1 is its end")
        }
        Fault::NoNeighbour { key, known } => {
            let there = match known.is_empty() {
                true => "in a list, the index in key says before which element".to_owned(),
                false => format!("there are {}", some(known)),
            };
            return ("before", format!("there is no {key} to go before; {there}"));
        }
        Fault::DottedNew(key) => {
            let steps: Vec<String> = key.split('.').map(|step| format!("\"{step}\"")).collect();
            let steps = steps.join(", ");
            format!("a new key is given step by step: [{steps}]; if its name has dots: [\"\\\"{key}\\\"\"]")
        }
        Fault::NoMap { key } => format!("{key} would be in a value that is neither a list nor has keys"),
        Fault::Duplicate { key, count } => {
            format!("{key} stands {count} times in one place, and programs do not agree which counts; remove all but one by \
                     replace_lines")
        }
        Fault::Several(places) => {
            let places: Vec<String> = places.iter().map(ToString::to_string).collect();
            format!("several elements are like that: {}; give one of these numbers", places.join(", "))
        }
        Fault::Ambiguous(key) => {
            format!("{key} can be read in several ways, since a key here has dots; give a list of keys")
        }
        Fault::Exists => "it is there already; leave insert out to set it".to_owned(),
        Fault::Merged => "it is not there itself, but may come from what is merged in by <<; change it where it stands".to_owned(),
        Fault::Barred(bar) => barred(*bar).to_owned(),
        Fault::Other(now) => return ("expected", format!("what stands there is {}", around(now.as_bytes(), 0, SHOWN))),
        Fault::OtherKind => {
            let how = "what stands there is no text; give the new value as json, a text too: json = \"\\\"text\\\"\"";
            return ("value", how.to_owned());
        }
        Fault::NoSuchValue => return ("json", format!("{} cannot hold such a value there", format.name())),
        Fault::Table => "it is a table with lines of its own, or spread over the file; set its keys one by one, or use \
                         replace_lines"
            .to_owned(),
        Fault::OnlyOne => "it is the only one there; delete what it is in, or set that to json = \"{}\" or \"[]\"".to_owned(),
        Fault::Same => return ("value", "it is that already".to_owned()),
        Fault::Breaks => "the file would not mean what was asked for, so it was left alone; read that part and use str_replace"
            .to_owned(),
    };
    ("key", message)
}

fn missing(key: &str, known: &[String], is_last: bool) -> String {
    let how = match is_last {
        true => "insert = true adds it",
        false => {
            "if it is to be new, add it first, with json = \"{}\" and insert = true (edits takes several)"
        }
    };
    if known.is_empty() {
        return format!("there is no {key}, nor any other key; {how}");
    }
    let nearest = nearest(key, known.iter().map(String::as_str));
    let mut named: Vec<String> =
        known.iter().filter(|name| Some(name.as_str()) != nearest).cloned().collect();
    named.splice(0..0, nearest.map(str::to_owned));
    format!("there is no {key}; there are {}; {how}", some(&named))
}

/// Names some of these keys.
fn some(known: &[String]) -> String {
    let named = known.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    match known.len().saturating_sub(NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

fn barred(bar: Bar) -> &'static str {
    match bar {
        Bar::Anchor => {
            "it has an anchor or is in something that has one (&), so it is used elsewhere too; use str_replace"
        }
        Bar::Alias => {
            "it is an alias (*): what it names stands elsewhere; change it there, or use str_replace"
        }
        Bar::Tag => "it has a tag (!); use str_replace",
        Bar::OddKey => "its key is of a kind that no path can name; use str_replace",
        Bar::MaybeComment => {
            "whether a part of it is a comment depends on the program that reads it; use str_replace"
        }
        Bar::Quotes => {
            "programs do not agree on how such a value is quoted in this file; use str_replace, in the way that yours reads"
        }
        Bar::SeveralLines => "it goes on over several lines, or may do so; use str_replace",
    }
}

/// Says why a cell of a notebook cannot be found or changed.
pub(crate) fn cell_fault(fault: &CellFault) -> String {
    match fault {
        CellFault::NoCell { address: CellAddress::Index(index), count, .. } => {
            format!("there is no cell {index}: the notebook has {count}, counted from 0")
        }
        CellFault::NoCell { address: CellAddress::Id(id), nearest, count } => {
            let ids = if nearest.is_empty() {
                String::new()
            } else {
                format!(", with ids such as {}", nearest.join(", "))
            };
            format!("there is no cell {id}: the notebook has {count}{ids}; read_file shows them")
        }
        CellFault::NoPlace { count, .. } => format!("there is no such place among {count} cells"),
        CellFault::Same => "it is that already".to_owned(),
        CellFault::Attachments => "it has attachments, which code cannot have".to_owned(),
        CellFault::Breaks => {
            "the notebook would not be what was asked for, so it was left alone; use str_replace without cell"
                .to_owned()
        }
    }
}
