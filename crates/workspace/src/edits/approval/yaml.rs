//! Detection of MCP server configuration in YAML: the lines beneath `mcpServers`, `mcp_servers` or `context_servers`,
//! and beneath `servers` inside `mcp`.
//!
//! A text that a parser takes whole counts for nothing if no key of it names a section, as in prose. The rest is no parser:
//! in a text of block mappings, every line with one of these names counts, with the lines indented
//! deeper. If a text has these names anywhere and uses any other feature of YAML (brackets, anchors, aliases, tags,
//! escapes, keys over several lines), all of it counts. So more may count than necessary, but nothing written in the
//! file is missed.

use std::collections::BTreeSet;

use saphyr_parser::{Event, Parser};

use super::escapes::unescaped;

/// The keys beneath which servers are configured.
const SECTIONS: [&str; 3] = ["mcpServers", "mcp_servers", "context_servers"];
/// The line breaks of any version of YAML.
const BREAKS: [char; 5] = ['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}'];

/// Returns whether a file of this name is read as YAML.
pub(crate) fn is_yaml(name: &str) -> bool {
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending.trim_end());
    ["yaml", "yml"].iter().any(|yaml| ending.eq_ignore_ascii_case(yaml))
}

/// Returns the hashes of the parts that decide how servers are started.
pub(super) fn parts(text: &str) -> BTreeSet<[u8; 32]> {
    if !(may_name_servers(text) || text.contains('\\') && may_name_servers(&joined(text))) {
        return BTreeSet::new();
    }
    if only_mentions_servers(text) {
        return BTreeSet::new();
    }
    let lines: Vec<Line<'_>> = text.split(BREAKS).filter_map(Line::new).collect();
    let is_plain =
        |line: &Line<'_>| line.is_comment || line.is_block() && (line.column > 0 || line.may_stand_first());
    if !lines.iter().all(is_plain) {
        return BTreeSet::from([*blake3::hash(text.as_bytes()).as_bytes()]);
    }
    let mut found = BTreeSet::new();
    let mut end = 0;
    // The columns of the `mcp` keys that enclose the line.
    let mut inside: Vec<usize> = Vec::new();
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| !line.is_comment) {
        inside.retain(|&column| column < line.key_column);
        if line.is_key("mcp") {
            inside.push(line.key_column);
        }
        if at < end || !line.names_servers(!inside.is_empty()) {
            continue;
        }
        let beneath = lines[at + 1..].iter().take_while(|other| other.is_comment || other.is_beneath(line));
        end = at + 1 + beneath.count();
        // Comments before the next entry belong to it. A deeper one may be inside a block scalar.
        while lines[end - 1].is_comment && lines[end - 1].column <= line.column {
            end -= 1;
        }
        let mut hash = blake3::Hasher::new();
        for line in &lines[at..end] {
            hash.update(&(line.column as u64).to_le_bytes()).update(line.text.as_bytes()).update(b"\n");
        }
        found.insert(*hash.finalize().as_bytes());
    }
    found
}

/// The nesting depth above which a text counts as one that cannot be parsed.
const DEEPEST: usize = 64;

/// Returns whether a text names sections in its values and comments alone: it parses, no key names a section, and nothing
/// looks like such a key to a parser that takes the text in another way.
fn only_mentions_servers(text: &str) -> bool {
    let has_odd_breaks = text.contains(['\u{85}', '\u{2028}', '\u{2029}']);
    let may_have_one = has_odd_breaks
        || looks_like_a_section(text)
        || text.contains('\\') && looks_like_a_section(&joined(text));
    !may_have_one && has_no_section(text)
}

/// Returns whether a colon follows the name of a section somewhere.
fn looks_like_a_section(text: &str) -> bool {
    let is_key = |name: &&str| {
        text.match_indices(*name).any(|(at, _)| {
            let is_between = |between: char| between.is_whitespace() || matches!(between, '"' | '\'');
            text[at + name.len()..].trim_start_matches(is_between).starts_with(':')
        })
    };
    SECTIONS.iter().any(is_key) || is_key(&"mcp") && is_key(&"servers")
}

/// A list or map that has not ended.
struct Open {
    is_map: bool,
    /// Whether the next node is a key.
    is_at_key: bool,
    is_in_mcp: bool,
    /// Whether the last key is `mcp`.
    is_mcp: bool,
}

/// Returns whether a text parses, and none of its keys names a section. What a parser may resolve in different ways is no
/// such text: aliases, and keys that are lists or maps.
fn has_no_section(text: &str) -> bool {
    let mut open: Vec<Open> = Vec::new();
    for event in Parser::new_from_str(text) {
        let Ok((event, _)) = event else { return false };
        let is_key = open.last().is_some_and(|open| open.is_map && open.is_at_key);
        match event {
            Event::Alias(_) => return false,
            Event::MappingStart(..) | Event::SequenceStart(..) => {
                if is_key || open.len() >= DEEPEST {
                    return false;
                }
                let is_map = matches!(event, Event::MappingStart(..));
                let is_in_mcp = open.last().is_some_and(|above| above.is_in_mcp || above.is_mcp);
                open.push(Open { is_map, is_at_key: true, is_in_mcp, is_mcp: false });
            }
            Event::MappingEnd | Event::SequenceEnd => {
                open.pop();
                open.last_mut().into_iter().for_each(|above| above.is_at_key = true);
            }
            Event::Scalar(key, ..) if is_key => {
                let Some(map) = open.last_mut() else { return false };
                let last = key.rsplit('.').next().unwrap_or(&key);
                if SECTIONS.iter().any(|name| key.contains(name)) || map.is_in_mcp && last == "servers" {
                    return false;
                }
                (map.is_mcp, map.is_at_key) = (last == "mcp", false);
            }
            Event::Scalar(..) => open.last_mut().into_iter().for_each(|above| above.is_at_key = true),
            _ => {}
        }
    }
    true
}

/// Returns whether a text contains the names that a server configuration needs, at any place.
fn may_name_servers(text: &str) -> bool {
    SECTIONS.iter().any(|name| text.contains(name)) || text.contains("mcp") && text.contains("servers")
}

/// Returns a text without its escapes, with lines that end in one joined.
fn joined(text: &str) -> String {
    let mut joined = String::with_capacity(text.len());
    for line in text.split_inclusive(BREAKS) {
        let line = if joined.ends_with('\\') { line.trim_start() } else { line };
        if joined.ends_with('\\') {
            joined.pop();
        }
        let content = line.trim_end_matches(BREAKS);
        joined.push_str(if content.ends_with('\\') { content } else { line });
    }
    unescaped(joined.as_bytes()).into_owned()
}

/// A line that is not blank.
struct Line<'a> {
    /// The indentation.
    column: usize,
    /// The text without surrounding blanks.
    text: &'a str,
    is_comment: bool,
    is_item: bool,
    /// The text after the dashes of list items.
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

    /// Returns whether the line may begin in the first column: it is a key, a list item or the end of a document.
    fn may_stand_first(&self) -> bool {
        let is_key = self.text.starts_with(|first: char| first.is_alphanumeric() || "_\"'$.".contains(first));
        let is_item = self.is_item && !self.entry.starts_with(['{', '[', '&', '*', '!']);
        is_key && self.text.contains(':') || is_item || matches!(self.text, "---" | "...")
    }

    fn is_key(&self, name: &str) -> bool {
        let plain = self.entry.trim_start_matches(['"', '\'']).strip_prefix(name);
        plain.is_some_and(|rest| rest.trim_start_matches(['"', '\'']).trim_start().starts_with(':'))
    }

    fn names_servers(&self, is_in_mcp: bool) -> bool {
        SECTIONS.iter().any(|name| self.text.contains(name)) || is_in_mcp && self.text.contains("servers")
    }

    fn is_beneath(&self, head: &Self) -> bool {
        self.column > head.column || self.column == head.column && self.is_item && !head.is_item
    }

    /// Returns whether the line is plain block YAML: without brackets, multi-line keys, escapes, tags or references.
    fn is_block(&self) -> bool {
        let bytes = self.text.as_bytes();
        let begins = |at: usize| at == 0 || b" \t,:-".contains(&bytes[at - 1]);
        let goes_on = |at: usize| bytes.get(at + 1).is_some_and(|next| !b" \t".contains(next));
        let is_sign = |at: usize| matches!(bytes[at], b'*' | b'&' | b'!') && begins(at) && goes_on(at);
        let is_long_key = self.entry == "?" || self.entry.starts_with("? ");
        !is_long_key && !self.text.contains(['{', '[', '\\']) && !(0..bytes.len()).any(is_sign)
    }
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
        for same in [CONFIG.replace("- m", "- n"), CONFIG.replace("models:", "# mine\nmodels:")] {
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
            "{mcp: {servers: {a: {command: npx}}}}\n",
            "- {mcp: {servers: {a: {command: npx}}}}\n",
            "{a: 1, mcp:\n{servers: {a: {command: npx}}}}\n",
            "!!str mcp:\n  servers:\n    a:\n      command: npx\n",
            "&x mcp:\n  servers:\n    a:\n      command: npx\n",
            "k: &k mcp\n*k :\n  servers:\n    a:\n      command: npx\n",
            "x: {\"mcp\\\n  Servers\": {a: {command: npx}}}\n",
            "x: {? \"mcp\\\n  Servers\" : {a: {command: npx}}}\n",
            "y: &\"b\n  command: npx\nmcpServers:\n  a: *\"b\n",
            "y: &*b\n  command: npx\nmcpServers:\n  a: **b\n",
        ] {
            assert_ne!(parts(text), parts(&text.replace("npx", "evil")), "{text}");
        }
    }

    #[test]
    fn prose_that_names_a_section_counts_only_where_a_parser_might_take_it_for_one() {
        let prose = "a: [1]\nb: the `mcpServers` of mcp, its servers, and {mcp_servers}\n";
        for text in [
            prose.to_owned(),
            format!("{prose}c: |\n  mcpServers are told of here\n# mcpServers\n"),
            "servers: [{url: x}]\nx: the mcp of it\n".to_owned(),
        ] {
            assert_eq!(parts(&text).len(), 0, "{text}");
        }
        for section in [
            "mcpServers: {a: {command: npx}}\n",
            "mcpServers : {a: {command: npx}}\n",
            "? mcpServers\n: {a: {command: npx}}\n",
            "? [mcpServers]\n: {a: {command: npx}}\n",
            "x: {mcpServers\n: {a: {command: npx}}}\n",
            "amp.mcpServers: {a: {command: npx}}\n",
            "k: &k mcpServers\n*k : {a: {command: npx}}\n",
            "!!str mcpServers: {a: {command: npx}}\n",
            "\"mcp\\x53ervers\": {a: {command: npx}}\n",
            "mcp: {x: {servers: {a: {command: npx}}}}\n",
            "z: \u{2028}mcpServers: {a: {command: npx}}\n",
            "z: 'no end\nmcpServers\n  {a: {command: npx}}\n",
        ] {
            let text = format!("{prose}{section}");
            assert_ne!(parts(&text), parts(&text.replace("npx", "evil")), "{text}");
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
        let _ = parts(&"- a: {mcpServers: 1}\n".repeat(50_000));
        let _ = parts(&"- mcpServers: 1\n".repeat(50_000));
        let _ = parts(&"\\\n".repeat(50_000));
        let _ = parts(&format!("a:\n{}", "  mcpServers:\n".repeat(50_000)));
        let _ = parts(&(0..3000).map(|at| format!("{}mcp:\n", " ".repeat(at))).collect::<String>());
    }
}
