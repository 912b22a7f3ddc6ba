//! Data files and notebooks whose meaning is known, since they are written from values, and changes of these.

use emend_data::notebook::{CellAddress, CellChange, CellKind, CellPlace, Notebook};
use emend_data::{Action, Change, Changed, Data, Fault, Format, Key, Splice, Step, change};

const NAMES: &[&str] = &["a", "bb", "c.d", "e f", "g-h", "x/y", "\u{e9}", "k |", "# n", "q\"", "on", "7"];
const TEXTS: &[&str] = &[
    "x",
    "",
    "a b",
    "yes",
    "1e5",
    "~",
    "a: b",
    "a #b",
    "- x",
    "it's",
    "q\"",
    "\u{e9}\u{1f600}",
    "two\nlines",
    "end\n",
    " blank ",
    "[x",
    "{",
    "*a",
    "&a",
    "!t",
    "| x",
    "back\\slash",
    "2001-01-01",
    "tab\tx",
    "#",
    "a = b",
    "${x}",
    "\u{2028}",
    "k?",
    "a,b",
];
const NUMBERS: &[&str] = &["0", "-1", "15", "1.5", "1e5", "-2E-3", "123456789012345678901234567890"];

/// A case made of bytes. Behind their end all choices are the first.
struct Source<'b>(&'b [u8]);

impl Source<'_> {
    fn below(&mut self, count: usize) -> usize {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        usize::from(*first) % count
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == count - 1
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// Picks names that all differ.
    fn names(&mut self, from: &[&'static str], most: usize) -> Vec<&'static str> {
        let (first, count) = (self.below(from.len()), self.below(most + 1));
        (0..count.min(from.len())).map(|at| from[(first + at) % from.len()]).collect()
    }

    fn scalar(&mut self) -> Data {
        match self.below(6) {
            0 => Data::Bool(self.one_in(2)),
            1 => Data::Number(self.pick(NUMBERS).to_owned()),
            2 => Data::Null,
            _ => Data::Text(self.pick(TEXTS).to_owned()),
        }
    }

    fn value(&mut self, deep: usize) -> Data {
        match self.below(5) {
            0 if deep < 3 => Data::List((0..self.below(3)).map(|_| self.value(deep + 1)).collect()),
            1 if deep < 3 => {
                let names = self.names(NAMES, 3);
                Data::Map(names.into_iter().map(|name| (name.to_owned(), self.value(deep + 1))).collect())
            }
            _ => self.scalar(),
        }
    }

    fn comment(&mut self, sign: &str, rare: usize) -> String {
        if self.one_in(rare) { format!(" {sign} of: it") } else { String::new() }
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Writes a value as JSON with comments, in one line or in several.
fn json(source: &mut Source<'_>, value: &Data, indent: usize) -> String {
    let (brackets, parts): (_, Vec<String>) = match value {
        Data::List(items) => (["[", "]"], items.iter().map(|item| json(source, item, indent + 1)).collect()),
        Data::Map(entries) => {
            let mut part = |(name, value): &(String, Data)| {
                let blank = source.pick(&["", " ", " /* : */ "]);
                format!("{}{blank}: {}", quoted(name), json(source, value, indent + 1))
            };
            (["{", "}"], entries.iter().map(&mut part).collect())
        }
        Data::Null => return "null".to_owned(),
        Data::Bool(is) => return is.to_string(),
        Data::Number(written) => return written.clone(),
        Data::Text(text) => return quoted(text),
        _ => return String::new(),
    };
    let [open, close] = brackets;
    let (has_lines, last) = (source.one_in(2), if source.one_in(4) && !parts.is_empty() { "," } else { "" });
    let mut text = open.to_owned();
    let count = parts.len();
    for (at, part) in parts.into_iter().enumerate() {
        if has_lines {
            let above = source.pick(&["", "", "", "  // above,\n", "  /* two\n  lines */\n", "\n"]);
            text +=
                &format!("\n{above}{}{}", "  ".repeat(indent + 1), source.pick(&["", "", "", "/* in */"]));
        }
        text += &part;
        text += if at + 1 < count { "," } else { last };
        text += source.pick(&["", "", " /* } */"]);
    }
    if has_lines { format!("{text}\n{}{close}", "  ".repeat(indent)) } else { format!("{text}{close}") }
}

/// A YAML text with the anchors that it has so far.
struct Yaml<'s, 'b> {
    source: &'s mut Source<'b>,
    anchors: Vec<(usize, Data)>,
}

impl Yaml<'_, '_> {
    /// Writes a list or map in lines of a column, the first of which continues one that has begun.
    fn block(&mut self, value: &mut Data, column: usize) -> String {
        let indent = " ".repeat(column);
        let mut lines = Vec::new();
        match value {
            Data::List(items) => {
                for item in items {
                    let gap = self.source.pick(&[1, 1, 3]);
                    let written = match is_filled(item) && self.source.below(3) > 0 {
                        true => " ".repeat(gap) + &self.block(item, column + 1 + gap),
                        false => self.value(item, column),
                    };
                    lines.push(format!("-{written}"));
                }
            }
            Data::Map(entries) => {
                for (name, value) in entries {
                    let name = if self.source.one_in(3) { quoted(name) } else { plain_key(name) };
                    let deeper = column + self.source.pick(&[2, 1, 4]);
                    let is_list = matches!(value, Data::List(_));
                    let deeper = if is_list && self.source.one_in(3) { column } else { deeper };
                    let written = match is_filled(value) && self.source.below(3) > 0 {
                        true => {
                            let comment = self.source.comment("#", 4);
                            format!("{comment}\n{}{}", " ".repeat(deeper), self.block(value, deeper))
                        }
                        false => self.value(value, column),
                    };
                    lines.push(format!("{name}:{written}"));
                }
            }
            _ => {}
        }
        let between = format!("\n{}{indent}", self.source.pick(&["", "", "\n", "# above\n"]));
        lines.join(&between)
    }

    /// Writes what stands behind a colon or dash of this column.
    fn value(&mut self, value: &mut Data, column: usize) -> String {
        if self.source.one_in(8) && !self.anchors.is_empty() {
            // The last anchor of a name counts.
            let name = self.anchors[self.source.below(self.anchors.len())].0;
            *value = Data::Alias(format!("*n{name}"), 0);
            return format!(" *n{name}");
        }
        let anchor = match self.source.one_in(8) {
            true => {
                let name = self.source.below(2);
                self.anchors.push((name, value.clone()));
                format!(" &n{name}")
            }
            false => String::new(),
        };
        if let Data::Number(number) = value
            && number.contains(['e', 'E'])
        {
            *number = "1.0e+5".to_owned();
        }
        let indent = " ".repeat(column + self.source.pick(&[1, 2]));
        let is_block = |text: &str| {
            text.starts_with(|c: char| c.is_alphanumeric())
                && !text.contains(['\t', '\u{2028}'])
                && !text.ends_with(' ')
        };
        match value {
            Data::Text(text) if is_block(text) && self.source.one_in(2) => {
                let chomping = if text.ends_with('\n') { "" } else { "-" };
                let comment = self.source.comment("#", 3);
                let lines = text.trim_end_matches('\n').replace('\n', &format!("\n{indent}"));
                format!("{anchor} |{chomping}{comment}\n{indent}{lines}")
            }
            Data::Null if self.source.one_in(2) => anchor,
            value => format!("{anchor} {}{}", flow(value), self.source.comment("#", 6)),
        }
    }
}

fn is_filled(value: &Data) -> bool {
    matches!(value, Data::List(items) if !items.is_empty())
        || matches!(value, Data::Map(entries) if !entries.is_empty())
}

fn plain_key(name: &str) -> String {
    match name.starts_with(['#', 'o', '7']) || name.contains('"') {
        true => quoted(name),
        false => name.to_owned(),
    }
}

/// Writes a value as JSON, which YAML and nearly TOML have too.
fn flow(value: &Data) -> String {
    match value {
        Data::List(items) => format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", ")),
        Data::Map(entries) => {
            let entry = |(name, value): &(String, Data)| format!("{}: {}", quoted(name), flow(value));
            format!("{{{}}}", entries.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
        Data::Text(text) => quoted(text).replace('\u{2028}', "\\u2028"),
        Data::Number(number) => number.clone(),
        Data::Bool(is) => is.to_string(),
        _ => "null".to_owned(),
    }
}

/// Writes a value of TOML in its line. There is no null, and whole numbers are small.
fn toml(source: &mut Source<'_>, value: &mut Data) -> String {
    match value {
        Data::Null => *value = Data::Bool(false),
        Data::Number(number) if number.len() > 10 => *number = "8".to_owned(),
        _ => {}
    }
    match value {
        Data::List(items) => {
            let items: Vec<String> = items.iter_mut().map(|item| toml(source, item)).collect();
            match source.one_in(3) && !items.is_empty() {
                true => format!("[ # of: it\n  {},\n]", items.join(",\n  ")),
                false => format!("[{}]", items.join(", ")),
            }
        }
        Data::Map(entries) => {
            let mut entry = |(name, value): &mut (String, Data)| {
                format!("{} = {}", quoted(name), inline(toml(source, value)))
            };
            format!("{{ {} }}", entries.iter_mut().map(&mut entry).collect::<Vec<_>>().join(", "))
        }
        Data::Text(text) if !text.contains(['\'', '\n']) && source.one_in(3) => format!("'{text}'"),
        value => flow(value),
    }
}

/// An inline table of TOML stands in one line.
fn inline(value: String) -> String {
    match value.contains('\n') {
        true => value.replace("[ # of: it", "[").replace(",\n]", "]").replace('\n', " "),
        false => value,
    }
}

/// Writes lines of a table of TOML.
fn table(source: &mut Source<'_>, prefix: &str) -> (Vec<(String, Data)>, String) {
    let (mut entries, mut text) = (Vec::new(), String::new());
    for name in source.names(&["a", "bb", "c-d", "e f", "\u{e9}"], 3) {
        let mut value = source.value(1);
        let written = toml(source, &mut value);
        let above = source.pick(&["", "", "# above\n", "\n"]);
        let comment = source.comment("#", 5);
        let name_written = if name.contains([' ', '\u{e9}']) { quoted(name) } else { name.to_owned() };
        match source.one_in(5) {
            // A table that has no line of its own.
            true => {
                text += &format!("{above}{name_written}.p.q = {written}{comment}\n");
                let inner = Data::Map(vec![("q".to_owned(), value)]);
                entries.push((name.to_owned(), Data::Map(vec![("p".to_owned(), inner)])));
            }
            false => {
                text += &format!("{above}{name_written} = {written}{comment}\n");
                entries.push((name.to_owned(), value));
            }
        }
    }
    (entries, format!("{prefix}{text}"))
}

/// Writes a file, and returns it with what it means.
fn file(source: &mut Source<'_>, format: Format) -> (String, Vec<Data>) {
    match format {
        Format::Json => {
            let value = source.value(0);
            let text = json(source, &value, 0);
            (text + source.pick(&["\n", ""]), vec![value])
        }
        Format::Yaml => {
            let mut documents = Vec::new();
            let mut text = String::new();
            for _ in 0..=source.pick(&[0, 0, 1]) {
                let mut value = source.value(0);
                let mut yaml = Yaml { source, anchors: Vec::new() };
                text += if text.is_empty() && yaml.source.one_in(2) { "" } else { "---\n" };
                text += &match is_filled(&value) {
                    true => yaml.block(&mut value, 0) + "\n",
                    false => flow(&value) + "\n",
                };
                documents.push(value);
            }
            (text, documents)
        }
        Format::Toml => {
            let (mut entries, mut text) = table(source, "");
            for name in source.names(&["t", "u v", "w"], 3) {
                let header = quoted(name);
                let value = match source.below(4) {
                    0 => {
                        let (inner, lines) = table(source, &format!("\n# of it\n[{header}.s]\n"));
                        text += &lines;
                        Data::Map(vec![("s".to_owned(), Data::Map(inner))])
                    }
                    1 => {
                        let mut items = Vec::new();
                        for _ in 0..=source.below(2) {
                            let (inner, lines) = table(source, &format!("\n[[{header}]]\n"));
                            text += &lines;
                            items.push(Data::Map(inner));
                        }
                        Data::List(items)
                    }
                    _ => {
                        let (inner, lines) = table(source, &format!("\n[{header}]\n"));
                        text += &lines;
                        Data::Map(inner)
                    }
                };
                entries.push((name.to_owned(), value));
            }
            (text, vec![Data::Map(entries)])
        }
        Format::Env => {
            let (mut entries, mut text) = (Vec::new(), String::new());
            for name in source.names(&["A", "B_C", "D1", "e"], 4) {
                let value = source.pick(&["x", "", "a b", "a#b", "http://x/?a=b"]);
                let written = match source.below(3) {
                    0 => format!("'{value}'"),
                    1 => format!("\"{value}\""),
                    _ => value.to_owned(),
                };
                let before = source.pick(&["", "# above\n", "\n", "export "]);
                text += &format!("{before}{name}={written}{}\n", source.comment("#", 4));
                entries.push((name.to_owned(), Data::Text(value.to_owned())));
            }
            (text, vec![Data::Map(entries)])
        }
        Format::Ini => {
            let (mut sections, mut text) = (Vec::new(), String::new());
            for section in source.names(&["a", "b \"c\"", "d.e"], 3) {
                text += &format!("{}[{section}]\n", source.pick(&["", "; of it\n", "\n"]));
                let mut entries = Vec::new();
                let sign = source.pick(&[" = ", "=", ": "]);
                for name in source.names(&["k", "l m", "n-o"], 3) {
                    let value = source.pick(&["x", "", "a b", "\"q\"", "a = b"]);
                    text += &format!("{}{name}{sign}{value}\n", source.pick(&["", "# above\n"]));
                    entries.push((name.to_owned(), Data::Text(value.to_owned())));
                }
                sections.push((section.to_owned(), Data::Map(entries)));
            }
            (text, vec![Data::Map(sections)])
        }
    }
}

/// Returns the ways to all values.
fn ways(value: &Data, way: &[Step], all: &mut Vec<Vec<Step>>) {
    let next = |step: Step| [way, &[step]].concat();
    let children: Vec<(Step, &Data)> = match value {
        Data::List(items) => (0..).map(Step::Index).zip(items).collect(),
        Data::Map(entries) => entries.iter().map(|(name, value)| (Step::Name(name.clone()), value)).collect(),
        _ => return,
    };
    for (step, child) in children {
        all.push(next(step.clone()));
        ways(child, &next(step), all);
    }
}

fn at<'v>(value: &'v mut Data, way: &[Step]) -> Option<&'v mut Data> {
    way.iter().try_fold(value, |value, step| match (value, step) {
        (Data::List(items), Step::Index(index)) => items.get_mut(usize::try_from(*index).ok()?),
        (Data::Map(entries), Step::Name(name)) => {
            entries.iter_mut().find(|(own, _)| own == name).map(|(_, value)| value)
        }
        _ => None,
    })
}

/// Makes a change of what a file means; `None` if it is none.
fn meant(top: &Data, way: &[Step], action: &Action) -> Option<Data> {
    let mut top = top.clone();
    let (last, before) = way.split_last()?;
    let parent = at(&mut top, before)?;
    match (parent, last, action) {
        (Data::List(items), Step::Index(index), _) => {
            let index = usize::try_from(*index).ok()?;
            match action {
                Action::Insert { value, .. } => items.insert(index, value.clone()),
                Action::Delete => drop(items.remove(index)),
                Action::Set(value) => items[index] = value.clone(),
                Action::SetText(text) => items[index] = Data::Text(text.clone()),
            }
        }
        (Data::Map(entries), Step::Name(name), Action::Delete) => entries.retain(|(own, _)| own != name),
        (Data::Map(entries), Step::Name(name), Action::Set(value) | Action::Insert { value, .. }) => {
            entries.retain(|(own, _)| own != name);
            entries.push((name.clone(), value.clone()));
        }
        _ => return None,
    }
    Some(top)
}

fn applied(text: &str, splices: &[Splice]) -> String {
    let (mut new, mut end) = (String::new(), 0);
    for Splice { range, new: replaced } in splices {
        new += &text[end..range.start];
        new += replaced;
        end = range.end;
    }
    new + &text[end..]
}

fn has_alias(value: &Data) -> bool {
    match value {
        Data::Alias(..) => true,
        Data::List(items) => items.iter().any(has_alias),
        Data::Map(entries) => entries.iter().any(|(_, value)| has_alias(value)),
        _ => false,
    }
}

/// Fails if a text does not mean this in a document. An alias is only there.
fn expect(format: Format, text: &str, document: usize, way: &[Step], value: &Data) {
    if has_alias(value) || way.is_empty() {
        let mut ways_in = Vec::new();
        ways(value, &[], &mut ways_in);
        for inner in ways_in.iter().filter(|inner| inner.len() == 1) {
            let mut copy = value.clone();
            let child = at(&mut copy, inner).expect("a way to it").clone();
            expect(format, text, document, &[way, inner].concat(), &child);
        }
        return;
    }
    let action = Action::Set(value.clone());
    let same =
        Change { key: Key::Steps(way.to_vec()), document: Some(document), expected: Vec::new(), action };
    let said = change(format, text, &[same]);
    assert_eq!(said, Err((0, Fault::Same)), "{way:?} is not {value:?} in\n{text}");
}

/// Makes one change of one file, and returns whether it was made.
pub(crate) fn check_value(format: u8, bytes: &[u8]) -> bool {
    let formats = [Format::Json, Format::Yaml, Format::Toml, Format::Env, Format::Ini];
    let format = formats[usize::from(format) % formats.len()];
    let source = &mut Source(bytes);
    let (text, documents) = file(source, format);
    let has_lines = source.one_in(4);
    let text = if has_lines { text.replace('\n', "\r\n") } else { text };
    for (document, top) in documents.iter().enumerate() {
        if !has_lines || format == Format::Yaml {
            expect(format, &text, document, &[], top);
        }
    }
    let document = source.below(documents.len().max(1));
    let Some(top) = documents.get(document) else { return false };
    let mut all = Vec::new();
    ways(top, &[], &mut all);
    let mut containers = all.clone();
    containers.push(Vec::new());
    containers.retain(|way| {
        at(&mut top.clone(), way).is_some_and(|value| matches!(value, Data::List(_) | Data::Map(_)))
    });
    let value = match format {
        Format::Env | Format::Ini => Data::Text(source.pick(TEXTS).to_owned()),
        _ => source.value(1),
    };
    let (way, action) = match source.below(3) {
        0 if !all.is_empty() => (all[source.below(all.len())].clone(), Action::Delete),
        1 if !all.is_empty() => (all[source.below(all.len())].clone(), Action::Set(value)),
        _ if containers.is_empty() => return false,
        _ => {
            let mut way = containers[source.below(containers.len())].clone();
            let before = match at(&mut top.clone(), &way) {
                Some(Data::List(items)) => {
                    way.push(Step::Index(i64::try_from(source.below(items.len() + 1)).unwrap_or_default()));
                    None
                }
                Some(Data::Map(entries)) => {
                    way.push(Step::Name(source.pick(&["new", "n w", "n.w"]).to_owned()));
                    let before = source.below(entries.len() + 1);
                    entries.get(before).map(|(name, _)| name.clone())
                }
                _ => return false,
            };
            (way, Action::Insert { value, before })
        }
    };
    let Some(new_top) = meant(top, &way, &action) else { return false };
    let mut expected = Vec::new();
    if let (Some(old), Action::Set(_)) = (at(&mut top.clone(), &way), &action) {
        expected.extend((!has_alias(old)).then(|| old.clone()));
    }
    let asked = Change { key: Key::Steps(way.clone()), document: Some(document), expected, action };
    let Ok(Changed { splices, .. }) = change(format, &text, &[asked]) else { return false };
    let new = applied(&text, &splices);
    // The text of the change has no CRLF, and that of a file with such endings has.
    let new_top = if has_lines { return true } else { new_top };
    for (at, top) in documents.iter().enumerate() {
        expect(format, &new, at, &[], if at == document { &new_top } else { top });
    }
    true
}

/// Makes one change of one notebook, and returns whether it was made.
pub(crate) fn check_notebook(bytes: &[u8]) -> bool {
    let source = &mut Source(bytes);
    let kinds = [CellKind::Code, CellKind::Markdown, CellKind::Raw];
    let texts = ["", "x = 1", "a\nb\n", "\n\n", "\u{1b}[31m[[", "\"q\" \\n", "\u{2028}\u{e9}", "a\r\nb"];
    let minor = source.pick(&[5, 4]);
    let mut cells: Vec<(CellKind, String)> = Vec::new();
    let mut written = Vec::new();
    for at in 0..source.below(5) {
        let (kind, text) = (source.pick(&kinds), source.pick(&texts));
        let lines: Vec<String> = text.split_inclusive('\n').map(quoted).collect();
        let text_written = if source.one_in(2) { quoted(text) } else { format!("[{}]", lines.join(", ")) };
        let outputs =
            source.pick(&["[]", "[{\"output_type\": \"stream\", \"name\": \"stdout\", \"text\": \"]\"}]"]);
        let id = if minor == 5 { format!("\"id\": \"c{at}\", ") } else { String::new() };
        let outputs = match kind {
            CellKind::Code => {
                format!(", \"execution_count\": {}, \"outputs\": {outputs}", source.pick(&["null", "3"]))
            }
            _ => String::new(),
        };
        let name = kind.name();
        written.push(format!("{{{id}\"cell_type\": \"{name}\", \"metadata\": {{\"m\": {at}}}, \"source\": {text_written}{outputs}}}"));
        cells.push((kind, text.to_owned()));
    }
    let between = source.pick(&[", ", ",\n  "]);
    let text = format!(
        "{{\"cells\": [{}], \"metadata\": {{}}, \"nbformat\": 4, \"nbformat_minor\": {minor}}}\n",
        written.join(between)
    );
    let notebook = Notebook::read(&text).expect("a notebook");
    let shown = |notebook: &Notebook<'_>| -> Vec<(CellKind, String)> {
        notebook.cells().iter().map(|cell| (cell.kind, cell.source.clone())).collect()
    };
    assert_eq!(shown(&notebook), cells, "{text}");
    if cells.is_empty() {
        return false;
    }
    let (one, other) = (source.below(cells.len()), source.below(cells.len()));
    let cell = CellAddress::Index(one);
    let new = source.pick(&texts).to_owned();
    let asked = match source.below(6) {
        0 => {
            cells[one].1.clone_from(&new);
            CellChange::Source { cell, text: new }
        }
        1 => {
            cells.insert(one + 1, (CellKind::Code, new.clone()));
            CellChange::Insert { place: CellPlace::After(cell), kind: CellKind::Code, text: new }
        }
        2 => {
            cells.remove(one);
            CellChange::Delete { cell }
        }
        3 if one != other => {
            let moved = cells.remove(one);
            cells.insert(if one < other { other - 1 } else { other }, moved);
            CellChange::Move { cell, to: CellPlace::Before(CellAddress::Index(other)) }
        }
        4 => {
            cells[one].0 = CellKind::Markdown;
            CellChange::Kind { cell, kind: CellKind::Markdown }
        }
        _ => CellChange::ClearOutputs { cell: None },
    };
    let Ok(splices) = notebook.change(&[asked]) else { return false };
    let new = applied(&text, &splices);
    let new_notebook = Notebook::read(&new).expect("a notebook");
    assert_eq!(shown(&new_notebook), cells, "{text}\n{new}");
    // An independent reader agrees.
    let value: serde_json::Value = serde_json::from_str(&new).expect("it is JSON");
    let sources = value["cells"].as_array().expect("cells").iter().map(|cell| match &cell["source"] {
        serde_json::Value::Array(lines) => lines.iter().filter_map(serde_json::Value::as_str).collect(),
        source => source.as_str().unwrap_or_default().to_owned(),
    });
    assert!(sources.eq(cells.iter().map(|(_, source)| source.clone())), "{new}");
    true
}
