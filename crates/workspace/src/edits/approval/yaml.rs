//! What in a text that is YAML says how MCP servers are started: the lines beneath `mcpServers`, `mcp_servers` or
//! `context_servers`, and beneath `servers` inside `mcp`.
//!
//! It is no parser. Every line that has one of these names counts, with all that can belong to it: the lines that stand deeper,
//! or, where brackets or other forms may be open, the whole entry of the file or the whole file. So more may count than there
//! is, but nothing is missed that is written down in the file.

use std::collections::BTreeSet;

use super::escapes::unescaped;

/// The keys beneath which servers are.
const SECTIONS: [&str; 3] = ["mcpServers", "mcp_servers", "context_servers"];
/// Where YAML lets a line end, in any of its versions.
const BREAKS: [char; 5] = ['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}'];

/// Whether a file of this name is read as YAML.
pub(crate) fn is_yaml(name: &str) -> bool {
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending.trim_end());
    ["yaml", "yml"].iter().any(|yaml| ending.eq_ignore_ascii_case(yaml))
}

/// The hashes of the parts that say how servers are started.
pub(super) fn parts(text: &str) -> BTreeSet<[u8; 32]> {
    let lines: Vec<Line<'_>> = text.split(BREAKS).filter_map(Line::new).collect();
    let whole = || BTreeSet::from([*blake3::hash(text.as_bytes()).as_bytes()]);
    // A key may be spelled over several lines there.
    if lines.iter().any(|line| line.entry.starts_with("? ") || line.entry == "?") {
        return whole();
    }
    let is_plain = lines.iter().all(|line| line.column > 0 || line.is_comment || line.may_stand_first());
    let mut found = BTreeSet::new();
    let (mut top, mut end) = (0, 0);
    // The first line of the entry that has brackets.
    let mut bracket: Option<usize> = None;
    // Where each key named `mcp` stands that the line is beneath.
    let mut inside: Vec<usize> = Vec::new();
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| !line.is_comment) {
        if line.column == 0 && !line.is_item {
            top = at;
            bracket = None;
        }
        if bracket.is_none() && line.text.contains(['{', '[']) {
            bracket = Some(at);
        }
        inside.retain(|&column| column < line.key_column);
        if line.is_key("mcp") {
            inside.push(line.key_column);
        }
        if at < end || !line.names_servers(!inside.is_empty()) {
            continue;
        }
        if !is_plain {
            return whole();
        }
        // Between brackets, how far a line is indented says nothing.
        let start = if bracket.is_some_and(|bracket| (top..at).contains(&bracket)) { top } else { at };
        let head = &lines[start];
        let beneath = lines[start + 1..].iter().take_while(|line| line.is_comment || line.is_beneath(head));
        end = (start + 1 + beneath.count()).max(at + 1);
        // What stands before the next entry is about that. One that stands deeper may be in a text.
        while lines[end - 1].is_comment && lines[end - 1].column <= head.column {
            end -= 1;
        }
        let part = &lines[start..end];
        if part.iter().any(Line::refers) {
            return whole();
        }
        let mut hash = blake3::Hasher::new();
        for line in part {
            hash.update(&(line.column as u64).to_le_bytes()).update(line.text.as_bytes()).update(b"\n");
        }
        found.insert(*hash.finalize().as_bytes());
    }
    found
}

/// A line with something in it.
struct Line<'a> {
    /// How far it is indented.
    column: usize,
    /// What stands there, without blanks around it.
    text: &'a str,
    is_comment: bool,
    is_item: bool,
    /// The same behind the dashes of items, and where it begins.
    entry: &'a str,
    key_column: usize,
}

impl<'a> Line<'a> {
    fn new(line: &'a str) -> Option<Self> {
        let text = line.trim_start_matches([' ', '\t', '\u{feff}']);
        let column = line.len() - text.len();
        let text = text.trim_end();
        let mut entry = text;
        while let Some(rest) = entry.strip_prefix("- ") {
            entry = rest.trim_start();
        }
        let key_column = column + text.len() - entry.len();
        let is_item = text == "-" || text.starts_with("- ");
        let is_comment = text.starts_with('#');
        (!text.is_empty()).then_some(Self { column, text, is_comment, is_item, entry, key_column })
    }

    /// Whether at the very beginning of a line nothing but a key, an item or the end of a document stands there.
    fn may_stand_first(&self) -> bool {
        let is_key = self.text.starts_with(|first: char| first.is_alphanumeric() || "_\"'$.".contains(first));
        let is_item = self.is_item && !self.entry.starts_with(['{', '[', '&', '*', '!']);
        is_key && self.text.contains(':') || is_item || matches!(self.text, "---" | "...")
    }

    fn is_key(&self, name: &str) -> bool {
        either_way(self.entry, |entry| {
            let plain = entry.trim_start_matches(['"', '\'']).strip_prefix(name);
            plain.is_some_and(|rest| rest.trim_start_matches(['"', '\'']).trim_start().starts_with(':'))
        })
    }

    fn names_servers(&self, is_in_mcp: bool) -> bool {
        either_way(self.text, |text| {
            SECTIONS.iter().any(|name| text.contains(name)) || is_in_mcp && text.contains("servers")
        })
    }

    fn is_beneath(&self, head: &Self) -> bool {
        self.column > head.column || self.column == head.column && self.is_item && !head.is_item
    }

    /// Whether it may stand for something that stands elsewhere.
    fn refers(&self) -> bool {
        let bytes = self.text.as_bytes();
        let begins = |at: usize| at == 0 || b" \t,:[{-".contains(&bytes[at - 1]);
        let goes_on = |at: usize| bytes.get(at + 1).is_some_and(|next| !b" \t\"',]}*&".contains(next));
        (0..bytes.len()).any(|at| matches!(bytes[at], b'*' | b'&') && begins(at) && goes_on(at))
    }
}

/// Whether this is so of a text as it stands, where a backslash may be nothing but one, or without its escapes.
fn either_way(text: &str, is_so: impl Fn(&str) -> bool) -> bool {
    is_so(text) || text.contains('\\') && is_so(&unescaped(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: &str =
        "name: x\nmcpServers:\n- name: a\n  command: npx\n  # why\n  args:\n    - b\nmodels:\n  - m\n";

    #[test]
    fn what_is_beneath_a_section_counts_and_what_is_beside_it_does_not() {
        for other in [
            CONFIG.replace("npx", "evil"),
            CONFIG.replace("    - b", "    - c"),
            CONFIG.replace("why", "because"),
            CONFIG.replace("mcpServers", "'mcp_servers'"),
            CONFIG.replace("models:", "mcpServers:"),
            String::new(),
        ] {
            assert_ne!(parts(CONFIG), parts(&other), "{other}");
        }
        for same in [
            CONFIG.replace("- m", "- n"),
            CONFIG.replace("models:", "# mine\nmodels:"),
            CONFIG.replace("name: x", "a: [1]"),
        ] {
            assert_eq!(parts(CONFIG), parts(&same), "{same}");
        }
    }

    #[test]
    fn no_form_hides_a_command() {
        for text in [
            "mcp:\n  servers:\n    a:\n      command: npx\n",
            "x: {mcpServers: {a: {command: npx}}}\n",
            "mcp: {servers: {a: {command: npx}}}\n",
            "x: {\n   y: 1,\n   mcpServers:\n {a: {command: npx}}}\n",
            "--- {\nmcpServers: {\na: {\ncommand: npx}}}\n",
            "{mcpServers: {a: {command: run npx}}}\n",
            "\"mcp\\x53ervers\":\n  a:\n    command: npx\n",
            "\"\\U0000006dcpServers\": {a: {command: npx}}\n",
            "x: {'\\u',mcpServers: {a: {command: npx}}}\n",
            "? \"mcp\\\n  Servers\"\n: {a: {command: npx}}\n",
            "y: &a\n  command: npx\nmcpServers:\n  a: *a\n",
            "y: &k mcpServers\n*k :\n  a:\n    command: npx\n",
            "mcpServers:\n  a:\n    <<: *b\nz: &b\n  command: npx\n",
            "   a: 1\rmcpServers:\n  x:\n    command: npx\n",
            "- mcpServers:\n    - command: npx\n",
        ] {
            assert_ne!(parts(text), parts(&text.replace("npx", "evil")), "{text}");
        }
    }

    #[test]
    fn what_names_no_servers_counts_for_nothing() {
        for text in [
            "servers:\n  - url: https://x\n",
            "services:\n  mcp:\n    command: x\nservers:\n  a:\n    command: x\n",
            "# mcpServers:\n#   a: 1\na: 1\n",
            "a: *b\n",
            "",
        ] {
            assert_eq!(parts(text).len(), 0, "{text}");
        }
        assert!(is_yaml("a.yml") && is_yaml("a/b.YAML") && !is_yaml("yaml") && !is_yaml("a.yaml.md"));
    }

    #[test]
    fn it_takes_no_longer_than_the_text_is_long() {
        let _ = parts(&"mcp: {servers:\n".repeat(50_000));
        let _ = parts(&format!("a:\n{}", "  mcpServers:\n".repeat(50_000)));
        let _ = parts(&(0..3000).map(|at| format!("{}mcp:\n", " ".repeat(at))).collect::<String>());
    }
}
