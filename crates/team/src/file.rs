//! The parser of the file: it knows only what is declared, and says of everything else in which line it is.

use std::collections::BTreeMap;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::declaration::{Key, Kind, TABLES, Table};

/// A value that fits the declaration of its setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Texts(Vec<String>),
    Truth(bool),
    Number(u64),
}

/// The values of one table, and the line in which it begins.
#[derive(Clone, Debug, Default)]
pub(crate) struct Values {
    pub(crate) line: usize,
    set: BTreeMap<&'static str, Value>,
}

impl Values {
    pub(crate) fn texts(&self, key: &str) -> Option<Vec<String>> {
        match self.set.get(key) {
            Some(Value::Texts(texts)) => Some(texts.clone()),
            _ => None,
        }
    }

    pub(crate) fn text(&self, key: &str) -> Option<String> {
        self.texts(key)?.into_iter().next()
    }

    pub(crate) fn truth(&self, key: &str) -> bool {
        self.set.get(key) == Some(&Value::Truth(true))
    }

    pub(crate) fn number(&self, key: &str) -> Option<u64> {
        match self.set.get(key) {
            Some(Value::Number(number)) => Some(*number),
            _ => None,
        }
    }
}

/// The values of all tables, by their names.
pub(crate) type Tables = BTreeMap<&'static str, Vec<Values>>;

/// Parses a file. The error says what is wrong, and in which line.
pub(crate) fn parse(text: &str) -> Result<Tables, String> {
    let line = |offset: usize| text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1;
    let wrong = |offset: usize, what: String| format!("line {}: {what}", line(offset));
    let parsed = DeTable::parse(text)
        .map_err(|error| wrong(error.span().map_or(0, |span| span.start), error.message().to_owned()))?;
    let mut tables = Tables::new();
    let top = &TABLES[0];
    let mut above = Values { line: 1, ..Values::default() };
    for (name, value) in parsed.get_ref() {
        let at = name.span().start;
        if let Some(key) = find(top, name.get_ref()) {
            above.set.insert(key.name, read(key, value.get_ref()).map_err(|what| wrong(at, what))?);
            continue;
        }
        let table = TABLES[1..].iter().find(|table| table.name == name.get_ref());
        let table = table.ok_or_else(|| wrong(at, format!("there is no setting '{}'", name.get_ref())))?;
        let all: Vec<&Spanned<DeValue<'_>>> = match value.get_ref() {
            DeValue::Array(all) if table.is_list => all.iter().collect(),
            DeValue::Table(_) if !table.is_list => vec![value],
            _ => {
                let shown =
                    if table.is_list { format!("[[{}]]", table.name) } else { format!("[{}]", table.name) };
                return Err(wrong(at, format!("'{}' is a table: {shown}", table.name)));
            }
        };
        let read = all.into_iter().map(|one| table_of(table, one, &wrong, line(one.span().start)));
        tables.insert(table.name, read.collect::<Result<_, _>>()?);
    }
    tables.insert("", vec![above]);
    Ok(tables)
}

fn table_of(
    table: &Table,
    value: &Spanned<DeValue<'_>>,
    wrong: &dyn Fn(usize, String) -> String,
    line: usize,
) -> Result<Values, String> {
    let begin = value.span().start;
    let fields =
        value.get_ref().as_table().ok_or_else(|| wrong(begin, format!("{} is a table", table.name)))?;
    let mut values = Values { line, ..Values::default() };
    for (name, value) in fields {
        let at = name.span().start;
        let key = find(table, name.get_ref());
        let key = key.ok_or_else(|| wrong(at, format!("{} has no '{}'", table.name, name.get_ref())))?;
        values.set.insert(key.name, read(key, value.get_ref()).map_err(|what| wrong(at, what))?);
    }
    match table.keys.iter().find(|key| key.default.is_empty() && !values.set.contains_key(key.name)) {
        Some(missing) => Err(wrong(begin, format!("{} lacks '{}'", table.name, missing.name))),
        None => Ok(values),
    }
}

fn find(table: &Table, name: &str) -> Option<&'static Key> {
    let table = TABLES.iter().find(|other| other.name == table.name)?;
    table.keys.iter().find(|key| key.name == name)
}

fn read(key: &Key, value: &DeValue<'_>) -> Result<Value, String> {
    let text = |value: &DeValue<'_>| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let (read, must) = match key.kind {
        Kind::Text => (text(value).map(|one| Value::Texts(vec![one])), "a text".to_owned()),
        Kind::Texts => {
            let all = match value {
                DeValue::Array(all) if all.is_empty() => None,
                DeValue::Array(all) => all.iter().map(|one| text(one.get_ref())).collect(),
                one => text(one).map(|one| vec![one]),
            };
            (all.map(Value::Texts), "a text or a list of texts".to_owned())
        }
        Kind::Truth => (value.as_bool().map(Value::Truth), "true or false".to_owned()),
        Kind::Number(least, most) => {
            let number = value.as_integer().and_then(|number| {
                let digits = number.as_str().replace('_', "");
                u64::from_str_radix(&digits, number.radix())
                    .ok()
                    .filter(|number| (least..=most).contains(number))
            });
            (number.map(Value::Number), format!("a whole number from {least} to {most}"))
        }
    };
    read.ok_or_else(|| format!("{}: it must be {must}", key.name))
}
