//! An entry or a setting in a client's configuration file: read, added or changed. Everything else in the file keeps
//! its bytes, since comments, order and indentation are somebody's work.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstObject, CstObjectProp, CstRootNode};
use serde_json::{Value, json};
use toml_edit::{DocumentMut, Item, Table};

use super::clients::{Format, Setting, Wanted};

/// The name of the entry.
pub(super) const NAME: &str = "emend";

/// Where opencode has its permissions: rules, or one word for all.
const PERMISSION: &str = "permission";

/// Where Claude Code has the hooks that run after a tool.
const AFTER: &str = "PostToolUse";
const COMMAND: &str = "command";
/// The end of the command of our hook.
const HOOK: &str = " hook claude-code";
/// The tools of Emend as a server of its own, and of its plug-in.
const TOOLS: &str = "mcp__(plugin_emend_)?emend__.*";

/// The fields of an entry, in the order in which they are written.
pub(crate) type Entry = Vec<(&'static str, Value)>;

/// The reason why a configuration file cannot be read or changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unfit {
    /// The line of the mistake, if there is one.
    pub(crate) line: Option<usize>,
    pub(crate) what: String,
}

/// Reads the entry below this key, if there is one.
pub(crate) fn read(text: &str, format: Format, key: &str) -> Result<Option<Value>, Unfit> {
    match format {
        Format::Json => {
            let root = parse_json(text)?;
            let servers = root.object_value().and_then(|root| root.object_value(key));
            let entry = servers.and_then(|servers| servers.get(NAME)).and_then(|entry| entry.value());
            Ok(entry.and_then(|entry| entry.to_serde_value()))
        }
        Format::Toml => {
            let document = parse_toml(text)?;
            let entry = document.get(key).and_then(Item::as_table_like).and_then(|servers| servers.get(NAME));
            Ok(entry.map(from_toml))
        }
    }
}

/// Whether an entry has these fields, whatever else the user has written into it.
pub(crate) fn says(there: &Value, wanted: &Entry) -> bool {
    wanted.iter().all(|(name, value)| there.get(name) == Some(value))
}

/// Returns the text with this entry in it.
pub(crate) fn put(text: &str, format: Format, key: &str, entry: &Entry) -> Result<String, Unfit> {
    match format {
        Format::Json => put_json(text, key, entry),
        Format::Toml => put_toml(text, key, entry),
    }
}

fn put_json(text: &str, key: &str, entry: &Entry) -> Result<String, Unfit> {
    let root = parse_json(if text.trim().is_empty() { "{}\n" } else { text })?;
    let whole = || {
        CstInputValue::Object(entry.iter().map(|(name, value)| (name.to_string(), input(value))).collect())
    };
    let servers = below(&root, &[key])?;
    once(&servers, NAME)?;
    match servers.get(NAME) {
        None => drop(servers.append(NAME, whole())),
        Some(old) => match old.object_value() {
            None => old.set_value(whole()),
            Some(old) => entry.iter().for_each(|(name, value)| set(&old, name, value)),
        },
    }
    Ok(root.to_string())
}

/// Returns the text of a JSON file with this setting in it. `at` are the keys that lead to it.
pub(crate) fn put_setting(text: &str, at: &[&str], wanted: Wanted) -> Result<String, Unfit> {
    let root = parse_json(if text.trim().is_empty() { "{}\n" } else { text })?;
    let Some((name, above)) = at.split_last() else { return Ok(text.to_owned()) };
    if let &[PERMISSION] = above {
        spread_permission(&root);
    }
    let object = below(&root, above)?;
    once(&object, name)?;
    let value = match (wanted, object.get(name).and_then(|there| there.to_serde_value())) {
        (Wanted::Items(items), Some(there)) => {
            let mut list =
                there.as_array().cloned().ok_or_else(|| unfit(format!("'{}' is no list", at.join("."))))?;
            let missing = items.iter().map(|item| Value::from(*item)).filter(|item| !list.contains(item));
            let missing: Vec<_> = missing.collect();
            list.extend(missing);
            Value::Array(list)
        }
        (wanted, _) => wanted.value(),
    };
    set(&object, name, &value);
    Ok(root.to_string())
}

/// Whether the text of a JSON file has this setting, or an item of it.
pub(crate) fn has_setting(text: &str, (at, wanted): &Setting) -> bool {
    let root = parse_json(text).ok().and_then(|root| root.to_serde_value()).unwrap_or_default();
    let there = at.iter().try_fold(&root, |value, key| value.get(*key));
    match (there, wanted) {
        (Some(Value::Array(list)), Wanted::Items(items)) => {
            list.iter().any(|own| items.iter().any(|item| own == item))
        }
        (there, wanted) => there == Some(&wanted.value()),
    }
}

/// The command of our hook in Claude Code's settings, if it is there.
pub(crate) fn hook(text: &str) -> Option<String> {
    let command = |hook: CstObject| Some(hook.get(COMMAND)?.to_serde_value()?.as_str()?.to_owned());
    command(our_hook(&parse_json(text).ok()?.object_value()?.object_value("hooks")?.array_value(AFTER)?)?)
}

/// The program that the command of our hook starts.
pub(crate) fn program_of_hook(command: &str) -> Option<&str> {
    Some(command.strip_suffix(HOOK)?.trim_matches(['"', '\'']))
}

/// The command of our hook, which runs these words.
pub(crate) fn hook_command<'a>(words: impl Iterator<Item = &'a String>) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte);
    let quoted = |word: &String| match word.bytes().all(is_plain) {
        true => word.clone(),
        // A shell reads nothing in single quotes.
        false if cfg!(unix) && !word.contains('\'') => format!("'{word}'"),
        false => format!("\"{word}\""),
    };
    words.map(quoted).collect::<Vec<_>>().join(" ") + HOOK
}

/// Returns the text of Claude Code's settings with our hook, which runs this command. Other hooks stay.
pub(crate) fn put_hook(text: &str, command: &str) -> Result<String, Unfit> {
    let root = parse_json(if text.trim().is_empty() { "{}\n" } else { text })?;
    let hooks = below(&root, &["hooks"])?;
    once(&hooks, AFTER)?;
    let groups =
        hooks.array_value_or_create(AFTER).ok_or_else(|| unfit(format!("'hooks.{AFTER}' is no list")))?;
    match our_hook(&groups) {
        Some(hook) => set(&hook, COMMAND, &command.into()),
        None => {
            let hook = json!({"type": COMMAND, COMMAND: command});
            drop(groups.append(input(&json!({"matcher": TOOLS, "hooks": [hook]}))));
        }
    }
    Ok(root.to_string())
}

/// Our hook in this list, whatever the path of its program is. Another program may have the same arguments.
fn our_hook(groups: &CstArray) -> Option<CstObject> {
    let runs_emend = |command: &str| {
        let program = program_of_hook(command).and_then(|program| program.rsplit(['/', '\\', ' ']).next());
        program.is_some_and(|name| name == NAME || name == "emend.exe")
    };
    let is_ours = |hook: &CstObject| {
        let command = hook.get(COMMAND).and_then(|command| command.to_serde_value());
        command.is_some_and(|command| command.as_str().is_some_and(runs_emend))
    };
    let hooks = groups.elements().into_iter().filter_map(|group| group.as_object()?.array_value("hooks"));
    hooks.flat_map(|hooks| hooks.elements()).filter_map(|hook| hook.as_object()).find(is_ours)
}

impl Wanted {
    /// The value where there is none yet.
    pub(crate) fn value(self) -> Value {
        match self {
            Self::True => Value::Bool(true),
            Self::Text(text) => text.into(),
            Self::Items(items) => items.into(),
        }
    }
}

/// Makes of opencode's one word for all permissions the rule for all that have no rule of their own, which means the same.
fn spread_permission(root: &CstRootNode) {
    let there = root.object_value().and_then(|root| root.get(PERMISSION));
    let word = there.as_ref().and_then(CstObjectProp::to_serde_value).filter(Value::is_string);
    if let (Some(there), Some(word)) = (there, word) {
        there.set_value(input(&json!({"*": word})));
    }
}

/// The object below these keys, which is made where it is missing.
fn below(root: &CstRootNode, keys: &[&str]) -> Result<CstObject, Unfit> {
    let mut object = root.object_value().ok_or_else(|| unfit("it is no JSON object".into()))?;
    for (depth, key) in keys.iter().enumerate() {
        once(&object, key)?;
        object = match object.get(key) {
            None => object.object_value_or_set(key),
            Some(there) => there
                .object_value()
                .ok_or_else(|| unfit(format!("'{}' is no object", keys[..=depth].join("."))))?,
        };
    }
    Ok(object)
}

/// Refuses an object that has a key twice: a client takes the last, and we cannot know which one the user means.
fn once(object: &CstObject, name: &str) -> Result<(), Unfit> {
    let is_it =
        |own: &CstObjectProp| own.name().and_then(|own| own.decoded_value().ok()).as_deref() == Some(name);
    match object.properties().iter().filter(|own| is_it(own)).count() {
        0 | 1 => Ok(()),
        _ => Err(unfit(format!("'{name}' stands twice in one object"))),
    }
}

fn unfit(what: String) -> Unfit {
    Unfit { line: None, what }
}

/// Sets a field unless it has this value already.
fn set(object: &CstObject, name: &str, value: &Value) {
    match object.get(name) {
        None => drop(object.append(name, input(value))),
        Some(old) => {
            let there = old.value().and_then(|old| old.to_serde_value());
            match (there.as_ref().and_then(|there| more(there, value)), old.array_value()) {
                // Appending to the list keeps its comments.
                (Some(more), Some(list)) => more.iter().for_each(|item| drop(list.append(input(item)))),
                _ if there.as_ref() == Some(value) => {}
                _ => old.set_value(input(value)),
            }
        }
    }
}

/// The rest of the list `value`, if it begins with all items of the list `there`.
fn more<'a>(there: &Value, value: &'a Value) -> Option<&'a [Value]> {
    value.as_array()?.strip_prefix(there.as_array()?.as_slice())
}

pub(super) fn parse_json(text: &str) -> Result<CstRootNode, Unfit> {
    // JSON for people: comments and trailing commas, and no more. A client could not read anything beyond that.
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    CstRootNode::parse(text, &options)
        .map_err(|error| Unfit { line: Some(error.line_display()), what: error.kind().to_string() })
}

pub(super) fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(truth) => CstInputValue::Bool(*truth),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(fields) => {
            CstInputValue::Object(fields.iter().map(|(name, value)| (name.clone(), input(value))).collect())
        }
    }
}

/// Changes a TOML file. toml_edit writes LF in new lines, so the whole text uses LF until it is done.
pub(super) fn edit_toml(
    text: &str,
    edit: impl FnOnce(&mut DocumentMut) -> Result<(), Unfit>,
) -> Result<String, Unfit> {
    let has_crlf = text.contains("\r\n");
    let plain = text.replace("\r\n", "\n");
    let as_it_was = |plain: &str| if has_crlf { plain.replace('\n', "\r\n") } else { plain.to_owned() };
    if as_it_was(&plain) != text {
        return Err(unfit("some of its lines end in CRLF and some in LF alone".into()));
    }
    let mut document = parse_toml(&plain)?;
    edit(&mut document)?;
    Ok(as_it_was(&document.to_string()))
}

fn put_toml(text: &str, key: &str, entry: &Entry) -> Result<String, Unfit> {
    edit_toml(text, |document| put_into_toml(document, key, entry))
}

fn put_into_toml(document: &mut DocumentMut, key: &str, entry: &Entry) -> Result<(), Unfit> {
    let hidden = || {
        // The table `[mcp_servers]` itself has no fields.
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    };
    let servers = document.entry(key).or_insert_with(hidden);
    let servers = servers.as_table_like_mut().ok_or_else(|| unfit(format!("'{key}' is no table")))?;
    let own = servers.entry(NAME).or_insert_with(toml_edit::table);
    let own = own.as_table_like_mut().ok_or_else(|| unfit(format!("'{key}.{NAME}' is no table")))?;
    for (name, value) in entry {
        let there = own.get(name).map(from_toml);
        let more = there.as_ref().and_then(|there| more(there, value));
        match (more, own.get_mut(name).and_then(Item::as_array_mut)) {
            (Some(more), Some(list)) => list.extend(more.iter().map(to_toml)),
            _ if there.as_ref() == Some(value) => {}
            _ => drop(own.insert(name, toml_edit::value(to_toml(value)))),
        }
    }
    Ok(())
}

pub(super) fn parse_toml(text: &str) -> Result<DocumentMut, Unfit> {
    text.parse().map_err(|error: toml_edit::TomlError| {
        let line = error.span().map(|span| text[..span.start].matches('\n').count() + 1);
        Unfit { line, what: error.message().to_owned() }
    })
}

/// A value of an entry as TOML: a string, a truth, or a list of strings.
fn to_toml(value: &Value) -> toml_edit::Value {
    match value {
        Value::Bool(truth) => (*truth).into(),
        Value::Array(items) => items.iter().map(to_toml).collect(),
        value => value.as_str().unwrap_or_default().into(),
    }
}

/// The parts of an entry that we look at, as JSON.
pub(super) fn from_toml(item: &Item) -> Value {
    let list = |array: &toml_edit::Array| array.iter().map(toml_edit::Value::as_str).collect::<Value>();
    if let Some(table) = item.as_table_like() {
        return table.iter().map(|(name, item)| (name.to_owned(), from_toml(item))).collect();
    }
    let text = item.as_str().map(Value::from).or_else(|| item.as_bool().map(Value::from));
    text.or_else(|| item.as_array().map(list)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn entry() -> Entry {
        vec![("command", json!("emend")), ("args", json!(["serve", "--workspace", "."]))]
    }

    #[track_caller]
    fn check(format: Format, key: &str, text: &str, expected: &str) {
        let put = put(text, format, key, &entry()).unwrap();
        assert_eq!(put, expected);
        let there = read(&put, format, key).unwrap().unwrap();
        assert!(says(&there, &entry()), "{there}");
        assert_eq!(super::put(&put, format, key, &entry()).unwrap(), put, "twice is once");
    }

    #[test]
    fn a_file_that_is_empty_or_not_there_gets_the_whole() {
        for text in ["", "\n", "{}\n"] {
            let expected = r#"{
  "mcpServers": {
    "emend": {
      "command": "emend",
      "args": ["serve", "--workspace", "."]
    }
  }
}
"#;
            check(Format::Json, "mcpServers", text, expected);
        }
        let toml = "[mcp_servers.emend]\ncommand = \"emend\"\nargs = [\"serve\", \"--workspace\", \".\"]\n";
        check(Format::Toml, "mcp_servers", "", toml);
    }

    #[test]
    fn comments_order_and_indentation_stay() {
        check(
            Format::Json,
            "context_servers",
            "// Zed\n{\n\t\"theme\": \"One\", // dark\n\t/* all */ \"z\": [1,2],\n\t\"a\": {\"b\":1},\n}\n",
            "// Zed\n{\n\t\"theme\": \"One\", // dark\n\t/* all */ \"z\": [1,2],\n\t\"a\": {\"b\":1},\n\t\
             \"context_servers\": {\n\t\t\"emend\": {\n\t\t\t\"command\": \"emend\",\n\t\t\t\"args\": [\"serve\", \
             \"--workspace\", \".\"]\n\t\t}\n\t},\n}\n",
        );
        check(
            Format::Json,
            "mcpServers",
            "{\r\n    \"mcpServers\": {\r\n        \"x\": {\"command\": \"x\"} // mine\r\n    }\r\n}\r\n",
            "{\r\n    \"mcpServers\": {\r\n        \"x\": {\"command\": \"x\"}, // mine\r\n        \"emend\": {\r\n            \
             \"command\": \"emend\",\r\n            \"args\": [\"serve\", \"--workspace\", \".\"]\r\n        \
             }\r\n    }\r\n}\r\n",
        );
        check(
            Format::Toml,
            "mcp_servers",
            "# mine\nmodel = \"o3\" # best\n\n[mcp_servers.x]\ncommand = 'x'\n\n[tui]\n",
            "# mine\nmodel = \"o3\" # best\n\n[mcp_servers.x]\ncommand = 'x'\n\n[mcp_servers.emend]\ncommand = \
             \"emend\"\nargs = [\"serve\", \"--workspace\", \".\"]\n\n[tui]\n",
        );
    }

    #[test]
    fn an_entry_that_is_there_keeps_what_else_it_has() {
        let file =
            |fields: &str| format!("{{\n  \"mcpServers\": {{\n    \"emend\": {{\n{fields}    }}\n  }}\n}}\n");
        check(
            Format::Json,
            "mcpServers",
            &file("      \"command\": \"/old\", // mine\n      \"env\": {\"A\": \"1\"}\n"),
            &file(
                "      \"command\": \"emend\", // mine\n      \"env\": {\"A\": \"1\"},\n      \"args\": \
                 [\"serve\", \"--workspace\", \".\"]\n",
            ),
        );
        check(
            Format::Toml,
            "mcp_servers",
            "[mcp_servers]\nemend = { command = \"emend\", args = [] }\n",
            "[mcp_servers]\nemend = { command = \"emend\", args = [\"serve\", \"--workspace\", \".\"] }\n",
        );
    }

    #[test]
    fn a_list_that_only_grows_keeps_what_stands_in_it() {
        let (json, toml) = (
            "{\"a\": {\"emend\": {\"command\": \"emend\", \"args\": [\"serve\" /* mine */]}}}",
            "[a.emend]\ncommand = 'emend'\nargs = [\n  'serve', # mine\n]\n",
        );
        for (format, text) in [(Format::Json, json), (Format::Toml, toml)] {
            let put = put(text, format, "a", &entry()).unwrap();
            assert!(
                put.contains(" mine") && says(&read(&put, format, "a").unwrap().unwrap(), &entry()),
                "{put}"
            );
        }
    }

    #[test]
    fn line_endings_of_toml_stay() {
        check(
            Format::Toml,
            "mcp_servers",
            "# mine\r\nmodel = \"o3\"\r\n\r\n[x]\r\nb = \"\"\"1\r\n2\"\"\"\r\n",
            "# mine\r\nmodel = \"o3\"\r\n\r\n[x]\r\nb = \"\"\"1\r\n2\"\"\"\r\n\r\n[mcp_servers.emend]\r\ncommand = \
             \"emend\"\r\nargs = [\"serve\", \"--workspace\", \".\"]\r\n",
        );
        let mixed = "# mine\r\nmodel = \"o3\"\n";
        assert!(put(mixed, Format::Toml, "mcp_servers", &entry()).is_err());
    }

    #[test]
    fn what_is_there_twice_is_refused() {
        for text in [
            r#"{"mcpServers": {}, "a": 1, "mcpServers": {}}"#,
            r#"{"mcpServers": {"emend": {}, "emend": {}}}"#,
        ] {
            assert!(put(text, Format::Json, "mcpServers", &entry()).is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_broken_is_refused_with_its_line() {
        let line = |format, text: &str| put(text, format, "mcpServers", &entry()).unwrap_err().line;
        assert_eq!(line(Format::Json, "{\n  \"a\": 1\n  \"b\": 2\n}"), Some(2));
        assert_eq!(line(Format::Json, "{\n  'a': 1\n}"), Some(2));
        assert_eq!(line(Format::Json, "{\n  \"a\": 1"), Some(1));
        assert_eq!(line(Format::Toml, "a = 1\nb = \n"), Some(2));
        assert_eq!(line(Format::Json, "[]"), None);
        assert_eq!(line(Format::Json, "{\"mcpServers\": []}"), None);
        assert_eq!(line(Format::Toml, "mcpServers = 1"), None);
    }
}
