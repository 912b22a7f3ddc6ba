//! Why a value of a data file cannot be found or changed by its key.

use emend_data::notebook::Already;
use emend_data::notebook::{CellAddress, CellFault};
use emend_data::{Bar, Fault, Format, Note, Shape};
use emend_edit::excerpt::around;
use emend_workspace::problem::nearest;

/// How many keys a refusal names.
const NAMED: usize = 12;
/// How many characters of what is there it shows.
const SHOWN: usize = 200;

/// What a call asks for of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// To read or delete it: what is not there need not be added.
    Present,
    /// To set it.
    Set,
    /// To add it.
    Insert,
}

/// Returns the argument that is wrong, and why.
pub(crate) fn fault(fault: &Fault, format: Format, asked: Asked) -> (&'static str, String) {
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
        Fault::Missing { key, known, elsewhere, is_last } => missing(key, (known, elsewhere), *is_last, asked),
        Fault::NoSection { key, having, sections } => no_section(key, having, sections),
        Fault::Slip { key, near, is_last: true } => {
            format!("there is no {key}; did you mean {near}? insert = true adds it all the same")
        }
        Fault::Slip { key, near, is_last: false } => format!(
            "there is no {key}; did you mean {near}? If it is to be new, add it first, with json = \"{{}}\" or \"[]\" and insert"
        ),
        Fault::NoList { within, step, known } => no_list(within.as_deref(), step, known),
        Fault::NoElement { key, known } => no_element(key, known),
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
            let key = key.trim_start_matches("$.");
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
            let key = key.trim_start_matches("$.");
            format!("{key} can be read in several ways, since a key here has dots; give a list of keys")
        }
        Fault::Exists(Shape::List(len)) => {
            format!("it is there already, a list of {len}; to append to it, end key with \"-1\"")
        }
        Fault::Exists(Shape::Map(len)) => {
            format!("it is there already, with {len} keys; to add one to it, put its name at the end of key")
        }
        Fault::Exists(_) => "it is there already; leave insert out to set it".to_owned(),
        Fault::Merged => "it is not there itself, but may come from what is merged in by <<; change it where it stands".to_owned(),
        Fault::Barred(bar) => barred(*bar).to_owned(),
        Fault::Other(now) => return ("expected", format!("what stands there is {}", around(now.as_bytes(), 0, SHOWN))),
        Fault::OtherKind { now, new } => return ("value", other_kind(*now, new)),
        Fault::Whole(now) => {
            let (what, how) = match now {
                Shape::List(len) => (format!("a list of {len}"), "to append, end key with \"-1\" and insert; "),
                Shape::Map(len) => (format!("an object of {len} keys"), ""),
                _ => ("more".to_owned(), ""),
            };
            return (
                "expected",
                format!("what stands there is {what}; {how}to replace the whole of it, give it as expected"),
            );
        }
        Fault::NoSuchValue => return ("json", no_such_value(format).to_owned()),
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

/// Says what a change has done beyond the value that it names.
pub(crate) fn note(note: &Note) -> String {
    match note {
        Note::Made { key, is_list: true } => format!("{key} was not there: it was added, as a list."),
        Note::Made { key, is_list: false } => format!("{key} was not there: it was added."),
        Note::CommentGone(comment) => {
            format!("The comment above it went with it: {}", around(comment.as_bytes(), 0, SHOWN))
        }
    }
}

fn no_section(key: &str, having: &[String], sections: &[String]) -> String {
    let there = match having {
        [] => format!("the sections are {}", some(sections)),
        having => having.iter().map(|name| format!("{name} has a {key}")).collect::<Vec<_>>().join(", "),
    };
    let first = having.first().or(sections.first()).map_or("", String::as_str);
    format!("a key of this file stands in a section; {there}: key = [\"{first}\", \"{key}\"]")
}

fn no_list(within: Option<&str>, step: &str, known: &[String]) -> String {
    let within = within.unwrap_or("the file");
    if known.is_empty() {
        return format!("{within} is not there or has no such element; a new list begins with \"-1\"");
    }
    let value = step.split_once('=').map(|(_, value)| value);
    let how = match value {
        Some(value) => {
            format!(
                "; a key of it is given by its name: \"{value}\" (and one that is called {step} in quotes)"
            )
        }
        None => String::new(),
    };
    format!("{within} is no list, so {step} names nothing in it; its keys are {}{how}", some(known))
}

fn no_element(key: &str, known: &[String]) -> String {
    let named: Vec<String> = known.iter().enumerate().map(|(at, word)| format!("{at} {word}")).collect();
    let how = match known.iter().position(|word| word == key.split_once('=').map_or(key, |(_, value)| value))
    {
        Some(at) => format!("; give \"{at}\""),
        None => String::new(),
    };
    match named.is_empty() {
        true => format!("the list has no element {key}: it is empty"),
        false => format!("the list has no element {key}: it has {}{how}", some(&named)),
    }
}

fn other_kind(now: Shape, new: &str) -> String {
    let what = match now {
        Shape::Bool if matches!(new, "true" | "false") => return format!("give it as json = \"{new}\""),
        Shape::Bool => "true or false",
        Shape::List(_) => "a list; to append to it, end key with \"-1\" and insert; else",
        Shape::Map(_) => "an object;",
        Shape::Single if new.parse::<f64>().is_ok() => return format!("give it as json = \"{new}\""),
        Shape::Single => "a number;",
    };
    format!("what stands there is {what} give the new value as json, a text too: json = \"\\\"text\\\"\"")
}

fn no_such_value(format: Format) -> &'static str {
    match format {
        Format::Toml => {
            "TOML has no null; delete the key instead, or give an object for an element of [[tables]]"
        }
        Format::Ini => {
            "INI has one line of text for a key: give a list as your program reads it, in value; an object is a new section"
        }
        Format::Env => ".env has one text for a name: give it in value",
        Format::Json | Format::Yaml => "the format cannot hold such a value there; use str_replace",
    }
}

fn missing(key: &str, (known, elsewhere): (&[String], &[String]), is_last: bool, asked: Asked) -> String {
    let mut how = match (is_last, asked) {
        (true, Asked::Set) => "; insert = true, without expected, adds it".to_owned(),
        (false, Asked::Set) => "; insert = true adds it, with what it is in".to_owned(),
        _ => String::new(),
    };
    if let [within, ..] = elsewhere {
        how.insert_str(0, &format!("; {within} has a {key}"));
    }
    if known.is_empty() {
        return format!("there is no {key}, nor any other key{how}");
    }
    let nearest = nearest(key, known.iter().map(String::as_str));
    let mut named: Vec<String> =
        known.iter().filter(|name| Some(name.as_str()) != nearest).cloned().collect();
    named.splice(0..0, nearest.map(str::to_owned));
    format!("there is no {key}; there are {}{how}", some(&named))
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
        CellFault::Same(already) => match already {
            Already::Source => "its source is that already",
            Already::Kind => "it is of that kind already",
            Already::Place => "the cell stands there already",
            Already::Outputs => "it has no outputs",
        }
        .to_owned(),
        CellFault::Attachments => "it has attachments, which code cannot have".to_owned(),
        CellFault::Breaks => {
            "the notebook would not be what was asked for, so it was left alone; use str_replace without cell"
                .to_owned()
        }
    }
}
