//! Detection of MCP server configuration in a text: the commands, arguments, variables and addresses beneath
//! `mcpServers`, `servers`, `context_servers` or `mcp_servers`, whatever the file is called.
//!
//! Two formats are parsed: JSON as leniently as the most lenient client (comments, single quotes, missing commas), in
//! one pass that no error stops, and TOML. Only a text that is entirely in one of them counts, so that documents and
//! source code that quote a configuration do not. The work is linear in the text, and no value is kept. In a file named
//! as YAML, the relevant lines count too ([`super::yaml`]).

use std::borrow::Cow;
use std::collections::BTreeSet;

use blake3::{Hash, Hasher};
use memchr::memmem;
use toml::de::{DeTable, DeValue};

use emend_edit::plan::Action;

use super::escapes::unescaped;
use super::yaml;

/// The fields that decide how a server is started, its identity, and what it may do without asking.
const FIELDS: [&str; 19] = [
    "command",
    "args",
    "env",
    "url",
    "httpUrl",
    "serverUrl",
    "cwd",
    "envFile",
    "env_vars",
    "headers",
    "http_headers",
    "bearer_token_env_var",
    "env_http_headers",
    "type",
    "disabled",
    "enabled",
    "trust",
    "alwaysAllow",
    "autoApprove",
];
/// The nesting depth below which objects are skipped: no client looks for servers there.
const DEEPEST: usize = 64;
/// The number of bytes that tell whether a text may be JSON or TOML.
const HEAD: usize = 4 * 1024;
/// The largest text that is parsed as TOML. A larger one with a section of servers counts as a whole.
const LONGEST_TOML: usize = 4 * 1024 * 1024;

/// Returns whether an action changes how servers are started.
pub(crate) fn changes_servers(action: &Action, is_yaml: bool) -> bool {
    let before = action.base().map(|base| Starts::in_pieces(&[base.bytes()], is_yaml)).unwrap_or_default();
    let after = action.view().map(|after| Starts::in_pieces(&after, is_yaml)).unwrap_or_default();
    match action {
        // A move removes them from the old path and adds them at the new one.
        Action::Move { .. } => before != Starts::default() || after != Starts::default(),
        _ => before != after,
    }
}

/// The server configuration in a text: equal values start the same servers.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Starts(BTreeSet<[u8; 32]>);

impl Starts {
    /// Finds the configuration in a text made of these pieces.
    pub(super) fn in_pieces(pieces: &[&[u8]], is_yaml: bool) -> Self {
        if !is_yaml && !may_be_configuration(pieces) {
            return Self::default();
        }
        let text = match pieces {
            [whole] => Cow::Borrowed(*whole),
            pieces => Cow::Owned(pieces.concat()),
        };
        if !may_name_a_section(&text) {
            return Self::default();
        }
        let mut found = Self::in_json_or_toml(&text);
        if is_yaml {
            // A client may read this file as JSON, or after a move as TOML.
            found.0.extend(yaml::parts(&String::from_utf8_lossy(&text)));
        }
        found
    }

    fn in_json_or_toml(text: &[u8]) -> Self {
        let is_json = matches!(Tokens::new(text).next(), Some(Token::Open(b'{')));
        if !is_json && text.len() > LONGEST_TOML {
            let has_section = text.split(|&byte| byte == b'\n').any(is_a_section);
            return Self(has_section.then(|| *blake3::hash(text).as_bytes()).into_iter().collect());
        }
        let mut found = Found::default();
        if is_json {
            read_json(text, &mut found);
        } else if begins_like_toml(text, false)
            && let Ok(text) = std::str::from_utf8(text)
            && let Ok(table) = DeTable::parse(text)
        {
            read_table(table.get_ref(), &mut found, 0);
        }
        Self(found.starts)
    }
}

/// Returns whether the text may contain the name of a section, plain or escaped.
fn may_name_a_section(text: &[u8]) -> bool {
    memmem::find(text, b"ervers").is_some() || memmem::find(text, b"\\").is_some()
}

/// Returns whether the text of these pieces begins as JSON or TOML does. This spares nearly all other texts, however large,
/// from being copied and looked through.
fn may_be_configuration(pieces: &[&[u8]]) -> bool {
    let length: usize = pieces.iter().map(|piece| piece.len()).sum();
    let head: Vec<u8> = pieces.iter().flat_map(|piece| piece.iter().take(HEAD)).take(HEAD).copied().collect();
    let is_cut = head.len() < length;
    let mut tokens = Tokens::new(&head);
    match tokens.next() {
        Some(Token::Open(b'{')) => true,
        // The first token may go on, or be the beginning of a comment.
        _ if is_cut && tokens.at >= head.len() => true,
        _ => begins_like_toml(&head, is_cut),
    }
}

/// Returns whether the first significant line may be TOML. Where the text is cut off before the end of that line, it may.
fn begins_like_toml(text: &[u8], is_cut: bool) -> bool {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let mut lines = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii).peekable();
    while let Some(line) = lines.next() {
        if is_cut && lines.peek().is_none() {
            return true;
        }
        if !line.is_empty() && !line.starts_with(b"#") {
            return line.starts_with(b"[") || line.contains(&b'=');
        }
    }
    false
}

/// Returns whether this line, as TOML, begins a section; for texts too large to be parsed.
fn is_a_section(line: &[u8]) -> bool {
    if !may_name_a_section(line) {
        return false;
    }
    let line = line.trim_ascii();
    // In some strings a backslash is just a backslash.
    [String::from_utf8_lossy(line), unescaped(line)].iter().any(|line| {
        let key = line.trim_start_matches('[').split(['=', ']', '#']).next().unwrap_or_default();
        let mut names = key.split('.').map(|name| name.trim().trim_matches(['"', '\'']));
        names.any(|name| Section::named(name).is_some())
    })
}

/// A key beneath which servers are configured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    /// A name that only configurations have: fields count at any depth beneath it.
    Sure,
    /// `servers`, which many files have: only an object of objects counts, and only the fields directly in those.
    Perhaps,
}

impl Section {
    fn named(key: &str) -> Option<Self> {
        // Editors have flat settings, such as `amp.mcpServers`.
        match key.rsplit('.').next().unwrap_or(key) {
            "mcpServers" | "mcp_servers" | "context_servers" => Some(Self::Sure),
            "servers" => Some(Self::Perhaps),
            _ => None,
        }
    }
}

/// An open object or list.
#[derive(Debug)]
struct Frame {
    is_object: bool,
    /// The key, or the index of the item, of the next value.
    key: Option<String>,
    items: usize,
    /// The enclosing section, and its depth.
    section: Option<(Section, usize)>,
    /// A hash of all keys from the section on.
    trail: Hash,
}

/// A value that is being hashed as a whole.
#[derive(Debug)]
struct Value {
    /// The number of open frames around it.
    depth: usize,
    hash: Hasher,
}

/// The state of the scan and what it has found so far.
#[derive(Debug, Default)]
struct Found {
    frames: Vec<Frame>,
    /// The number of open frames beyond [`DEEPEST`].
    deeper: usize,
    value: Option<Value>,
    starts: BTreeSet<[u8; 32]>,
}

impl Found {
    fn open(&mut self, is_object: bool) {
        self.begin();
        self.take(if is_object { b"{" } else { b"[" });
        if self.frames.len() == DEEPEST {
            self.deeper += 1;
            return;
        }
        let (section, trail) = match self.frames.last() {
            None => (None, blake3::hash(b"")),
            Some(above) => (above.section_of_next(is_object), above.trail_of_next()),
        };
        self.frames.push(Frame { is_object, key: None, items: 0, section, trail });
    }

    fn close(&mut self) {
        self.take(b"}");
        if self.deeper > 0 {
            self.deeper -= 1;
            return;
        }
        self.frames.pop();
        self.end();
    }

    fn key(&mut self, key: String) {
        if self.deeper > 0 || self.value.is_some() {
            self.take(key.as_bytes());
        }
        if self.deeper == 0
            && let Some(frame) = self.frames.last_mut()
        {
            frame.key = Some(key);
        }
    }

    /// Adds a scalar. `"true"` and `true` are different values.
    fn scalar(&mut self, text: &[u8], is_quoted: bool) {
        self.begin();
        self.take(if is_quoted { b"\"" } else { b"" });
        self.take(text);
        if self.deeper == 0 {
            self.end();
        }
    }

    /// Begins a value, perhaps that of a field.
    fn begin(&mut self) {
        if self.deeper > 0 || self.value.is_some() {
            return;
        }
        let Some(frame) = self.frames.last() else { return };
        let is_beneath = match frame.section {
            Some((Section::Sure, depth)) => depth > 0,
            Some((Section::Perhaps, depth)) => depth == 1,
            None => false,
        };
        let is_field = frame.key.as_deref().is_some_and(|key| FIELDS.contains(&key));
        if is_beneath && frame.is_object && is_field {
            let mut hash = Hasher::new();
            hash.update(frame.trail_of_next().as_bytes());
            self.value = Some(Value { depth: self.frames.len(), hash });
        }
    }

    fn take(&mut self, token: &[u8]) {
        if let Some(value) = &mut self.value {
            value.hash.update(&(token.len() as u64).to_le_bytes()).update(token);
        }
    }

    /// Ends a value.
    fn end(&mut self) {
        if let Some(value) = self.value.take_if(|value| value.depth >= self.frames.len()) {
            self.starts.insert(*value.hash.finalize().as_bytes());
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.key = None;
            frame.items += 1;
        }
    }
}

impl Frame {
    fn section_of_next(&self, is_object: bool) -> Option<(Section, usize)> {
        let named = self.key.as_deref().and_then(Section::named);
        let named = named.filter(|section| is_object || *section == Section::Sure);
        match (self.section, named) {
            (Some((Section::Perhaps, _)) | None, Some(Section::Sure)) => Some((Section::Sure, 0)),
            (Some((section, depth)), _) => Some((section, depth + 1)),
            (None, named) => named.map(|section| (section, 0)),
        }
    }

    fn trail_of_next(&self) -> Hash {
        let mut hash = Hasher::new();
        match &self.key {
            Some(key) => hash.update(self.trail.as_bytes()).update(key.as_bytes()),
            None => hash.update(self.trail.as_bytes()).update(&self.items.to_le_bytes()),
        };
        hash.finalize()
    }
}

/// A token of lenient JSON.
#[derive(Debug, PartialEq, Eq)]
enum Token<'a> {
    Open(u8),
    Close,
    Colon,
    Comma,
    /// A quoted string, without its escapes.
    Quoted(Cow<'a, str>),
    /// An unquoted word.
    Word(Cow<'a, str>),
}

struct Tokens<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Tokens<'a> {
    fn new(text: &'a [u8]) -> Self {
        let at = if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        Self { text, at }
    }

    /// Skips to the next `end`, and past it.
    fn pass(&mut self, end: &[u8]) {
        let rest = &self.text[self.at..];
        self.at += memmem::find(rest, end).map_or(rest.len(), |found| found + end.len());
    }

    fn quoted(&mut self, quote: u8) -> Cow<'a, str> {
        let start = self.at;
        while let Some(&byte) = self.text.get(self.at) {
            match byte {
                b'\\' => self.at += 2,
                // An unclosed string ends with its line.
                _ if byte == quote || byte == b'\n' => break,
                _ => self.at += 1,
            }
        }
        let end = self.at.min(self.text.len());
        self.at = end + usize::from(self.text.get(end) == Some(&quote));
        unescaped(&self.text[start..end])
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        loop {
            let byte = *self.text.get(self.at)?;
            self.at += 1;
            match byte {
                b'{' | b'[' => return Some(Token::Open(byte)),
                b'}' | b']' => return Some(Token::Close),
                b':' => return Some(Token::Colon),
                b',' => return Some(Token::Comma),
                b'"' | b'\'' => return Some(Token::Quoted(self.quoted(byte))),
                b'/' if self.text.get(self.at) == Some(&b'/') => self.pass(b"\n"),
                b'/' if self.text.get(self.at) == Some(&b'*') => {
                    self.at += 1;
                    self.pass(b"*/");
                }
                _ if byte.is_ascii_whitespace() => {}
                _ => {
                    let start = self.at - 1;
                    let ends = |byte: &u8| byte.is_ascii_whitespace() || b"{}[]:,\"'/".contains(byte);
                    let length = self.text[self.at..].iter().position(ends);
                    self.at = length.map_or(self.text.len(), |length| self.at + length);
                    return Some(Token::Word(String::from_utf8_lossy(&self.text[start..self.at])));
                }
            }
        }
    }
}

fn read_json(text: &[u8], found: &mut Found) {
    // A text is a key if a colon follows it.
    let mut last: Option<(Cow<'_, str>, bool)> = None;
    for token in Tokens::new(text) {
        if let Some((text, is_quoted)) = last.take() {
            match token {
                Token::Colon => {
                    found.key(text.into_owned());
                    continue;
                }
                _ => found.scalar(text.as_bytes(), is_quoted),
            }
        }
        match token {
            Token::Open(byte) => found.open(byte == b'{'),
            Token::Close => found.close(),
            Token::Quoted(text) => last = Some((text, true)),
            Token::Word(text) => last = Some((text, false)),
            Token::Colon | Token::Comma => {}
        }
    }
}

/// Reads a table, as deep as the TOML parser goes, which has its own depth limit.
fn read_table(table: &DeTable<'_>, found: &mut Found, depth: usize) {
    found.open(true);
    for (key, value) in table {
        found.key(key.get_ref().to_string());
        read_value(value.get_ref(), found, depth + 1);
    }
    found.close();
}

fn read_value(value: &DeValue<'_>, found: &mut Found, depth: usize) {
    match value {
        _ if depth > DEEPEST => {}
        DeValue::Table(table) => read_table(table, found, depth),
        DeValue::Array(items) => {
            found.open(false);
            items.iter().for_each(|item| read_value(item.get_ref(), found, depth + 1));
            found.close();
        }
        DeValue::String(text) => found.scalar(text.as_bytes(), true),
        DeValue::Integer(number) => found.scalar(number.as_str().as_bytes(), false),
        DeValue::Float(number) => found.scalar(number.as_str().as_bytes(), false),
        DeValue::Boolean(truth) => found.scalar(if *truth { b"true" } else { b"false" }, false),
        DeValue::Datetime(time) => found.scalar(time.to_string().as_bytes(), false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starts(text: &str) -> Starts {
        Starts::in_pieces(&[text.as_bytes()], false)
    }

    fn count(text: &str) -> usize {
        starts(text).0.len()
    }

    #[test]
    fn how_a_server_is_started_is_found_in_both_formats() {
        for (text, expected) in [
            ("{\"mcpServers\": {\"x\": {\"command\": \"x\", \"args\": [1, {\"a\": 2}], \"note\": 1}}}", 2),
            ("// y\n{/* x */ 'servers': {x: {url: 'http://x'}}}", 1),
            ("{\"servers\": {\"x\": {\"y\": {\"url\": 1}}, \"url\": 1}}", 0),
            ("{\"servers\": [{\"url\": 1}]}", 0),
            ("{\"servers\": {\"mcpServers\": {\"x\": {\"url\": 1}}}}", 1),
            ("{\"mcpServers\": [{\"command\": 1}, {\"command\": 1}]}", 2),
            ("{\"mcp\\u0053ervers\": {\"a\": {\"command\": 1}", 1),
            ("[mcp_servers.x]\ncommand = 'x'\nenv = {A = '1'}\n", 2),
            ("mcp_servers.x.url = 'x'\n", 1),
            ("x = 1\n[\"mcp_serv\\u0065rs\".x]\ncommand = 1\n", 1),
            ("const x = {mcpServers: {x: {command: 1}}}", 0),
            ("# mcp_servers\n```\n[mcp_servers.x]\ncommand = 1\n```\n", 0),
        ] {
            assert_eq!(count(text), expected, "{text}");
        }
    }

    #[test]
    fn what_stands_where_and_in_which_order_is_told_only_where_it_matters() {
        let one = "{\"mcpServers\": {\"x\": {\"command\": \"x\", \"args\": [\"a\", \"b\"]}, \"y\": {\"url\": \"u\"}}}";
        let same = "{\"theme\": 1, // x\n\"mcpServers\": {\"y\": {\"url\": \"u\"},\n \"x\": {\"args\": [\"a\", \"b\"], \"command\": \"x\", \"n\": 1,},}}";
        assert_eq!(starts(one), starts(same));
        for other in [
            one.replace("\"a\", \"b\"", "\"b\", \"a\""),
            one.replace("\"a\", \"b\"", "\"a, b\""),
            one.replace("\"x\":", "\"z\":"),
            one.replace("\"command\": \"x\", ", ""),
        ] {
            assert_ne!(starts(one), starts(&other), "{other}");
        }
    }

    #[test]
    fn a_word_in_quotes_is_another_value_than_one_without() {
        for (one, other) in [
            (
                "{\"servers\": {\"x\": {\"disabled\": true}}}",
                "{\"servers\": {\"x\": {\"disabled\": \"true\"}}}",
            ),
            ("[mcp_servers.x]\nenabled = false\n", "[mcp_servers.x]\nenabled = 'false'\n"),
        ] {
            assert_ne!(starts(one), starts(other), "{one}");
        }
    }

    #[test]
    fn what_begins_as_no_toml_does_is_not_read_as_that() {
        assert!(
            !may_be_configuration(&[b"\n# mine\nimport os\nx = '\\n'\n"])
                && !may_be_configuration(&[b"# a = 1\n"])
        );
        for text in [
            "# mine\n\n[mcp_servers.x]\ncommand = 'x'\n",
            "\u{feff}mcp_servers.x.command = 'x'\n",
            "\ta=1\n[mcp_servers.x]\nurl='x'",
        ] {
            assert!(may_be_configuration(&[text.as_bytes()]), "{text}");
            assert_eq!(count(text), 1, "{text}");
        }
    }

    #[test]
    fn however_late_and_in_however_many_pieces_a_configuration_begins_it_is_found() {
        let json = "{\"mcpServers\": {\"x\": {\"command\": \"x\"}}}\n";
        let toml = "[mcp_servers.x]\ncommand = 'x'\n";
        for late in [0, 1, HEAD - 2, HEAD - 1, HEAD, HEAD + 1, 3 * HEAD] {
            for text in [
                " ".repeat(late) + json,
                "\n".repeat(late) + toml,
                " ".repeat(late) + "// x\n" + json,
                " ".repeat(late) + "# x\n" + toml,
                format!("//{}\n{json}", "x".repeat(late)),
                format!("/*{}*/{json}", "x".repeat(late)),
                format!("#{}\n{toml}", "x".repeat(late)),
            ] {
                assert_eq!(count(&text), 1, "{late} {}", &text[text.len() - 60..]);
                let (one, rest) = text.as_bytes().split_at(late.min(7));
                let (other, last) = rest.split_at(rest.len() / 2);
                assert_eq!(Starts::in_pieces(&[one, other, last], false), starts(&text));
            }
        }
        let prose = "a line\n".repeat(HEAD) + json;
        assert!(!may_be_configuration(&[prose.as_bytes()]) && count(&prose) == 0);
    }

    #[test]
    fn a_text_that_is_too_long_to_be_read_counts_as_a_whole_if_it_has_a_section() {
        let long = format!("a = 1 # servers\n{}", "#".repeat(LONGEST_TOML)) + "\n";
        assert_eq!(count(&long), 0);
        for section in
            ["[mcp_servers.x]", "[ 'mcp_serv\\u0065rs' . x ]", "mcp_servers = {", "[a.\"servers\"]"]
        {
            let text = format!("{long}{section}\ncommand = 1\n");
            assert_eq!(count(&text), 1, "{section}");
            assert_ne!(starts(&text), starts(&text.replacen("a = 1", "a = 2", 1)));
        }
        assert_eq!(count(&format!("{{{long}")), 0, "JSON is read, however long it is");
    }

    #[test]
    fn nothing_makes_it_take_long_or_fail() {
        for text in [
            "{\"servers\":".repeat(200_000),
            "[".repeat(200_000),
            format!("{{{}", "[".repeat(1_000_000)),
            format!("{{\"mcpServers\":{{\"a\":{{\"command\":{}", "{\"command\":".repeat(200_000)),
            "}".repeat(100_000),
            "{\"servers\\".to_owned(),
            "{'servers\\u12".to_owned(),
        ] {
            let _ = starts(&text);
        }
        let deep = format!(
            "{{\"a\":{}1{}, \"mcpServers\": {{\"x\": {{\"command\": 1}}}}}}",
            "[".repeat(500),
            "]".repeat(500)
        );
        assert_eq!(count(&deep), 1);
    }
}
