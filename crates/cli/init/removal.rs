//! What a file is once more without what `emend init` put into it. Where nothing else has changed, these are the bytes
//! of before. Otherwise each value that still is what was put is taken back, and what somebody else changed stays.

use jsonc_parser::cst::{CstArray, CstObject};
use serde_json::{Map, Value};
use toml_edit::{Item, TableLike};

use super::clients::Format;
use super::entry::{self, NAME, Unfit};
use super::file::without_bom;
use super::record::Step;
use super::rules;

/// How a file is understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Settings(Format),
    /// Rules in prose. A file that has nothing but this head was made for the paragraph.
    Rules {
        head: &'static str,
    },
}

/// The file without what was put into it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Removal {
    /// The text; `None` if there is no file any more.
    pub(super) text: Option<String>,
    /// What stays, since it has been changed.
    pub(super) kept: Vec<String>,
}

/// Takes these changes back, the newest first.
pub(super) fn take_back(now: Option<&str>, steps: &[Step], kind: Kind) -> Result<Removal, Unfit> {
    let mut text = now.map(str::to_owned);
    let mut kept = Vec::new();
    for step in steps.iter().rev() {
        let Some(there) = &text else { break };
        if *there == step.after {
            text.clone_from(&step.before);
            continue;
        }
        let before = step.before.as_deref().unwrap_or_default();
        let bom = &there[..there.len() - without_bom(there).len()];
        let [there, before, after] = [there, before, &step.after].map(without_bom);
        let without = match kind {
            Kind::Settings(Format::Json) => from_json(there, before, after, &mut kept)?,
            Kind::Settings(Format::Toml) => from_toml(there, before, after, &mut kept)?,
            Kind::Rules { .. } => from_rules(there, &mut kept),
        };
        let is_ours_alone = step.before.is_none() && kind.is_bare(&without);
        text = (!is_ours_alone).then(|| format!("{bom}{without}"));
    }
    // Its marks show whose the paragraph is, without any record: of a project that was cloned, say.
    if let (Kind::Rules { head }, true, Some(there)) = (kind, steps.is_empty(), &text) {
        let without = from_rules(there, &mut kept);
        text = (head.is_empty() || without != head).then_some(without);
    }
    Ok(Removal { text, kept })
}

impl Kind {
    /// Whether this text says nothing.
    fn is_bare(self, text: &str) -> bool {
        match self {
            Self::Settings(Format::Json) => text.split_whitespace().collect::<String>() == "{}",
            Self::Settings(Format::Toml) => text.trim().is_empty(),
            Self::Rules { head } => text.trim() == head.trim(),
        }
    }
}

fn from_rules(text: &str, kept: &mut Vec<String>) -> String {
    let (without, is_left) = rules::take_out(text);
    if is_left {
        kept.push("the paragraph about Emend".into());
    }
    without
}

fn from_json(now: &str, before: &str, after: &str, kept: &mut Vec<String>) -> Result<String, Unfit> {
    let value = |text: &str| {
        let root = entry::parse_json(if text.trim().is_empty() { "{}" } else { text })?;
        Ok(root.to_serde_value().unwrap_or_default())
    };
    let (before, after) = (value(before)?, value(after)?);
    let root = entry::parse_json(now)?;
    if let (Some(object), Some(after)) = (root.object_value(), after.as_object()) {
        let none = Map::new();
        take_fields(&object, before.as_object().unwrap_or(&none), after, "", kept);
    }
    Ok(root.to_string())
}

/// Takes back the fields that `after` has and `before` has not, or has otherwise.
fn take_fields(
    now: &CstObject,
    before: &Map<String, Value>,
    after: &Map<String, Value>,
    above: &str,
    kept: &mut Vec<String>,
) {
    let is_in_entry = above.rsplit('.').next() == Some(NAME);
    for (name, put) in after {
        let old = before.get(name);
        let Some(field) = now.get(name).filter(|_| old != Some(put)) else { continue };
        let path = if above.is_empty() { name.clone() } else { format!("{above}.{name}") };
        let is_as_put = field.to_serde_value().as_ref() == Some(put);
        match (old, put) {
            (None, _) if is_as_put => field.remove(),
            // Half an entry would start nothing.
            (None, _) if name == NAME => kept.push(path),
            (None | Some(Value::Object(_)), Value::Object(put)) => {
                let none = Map::new();
                let old_fields = old.and_then(Value::as_object).unwrap_or(&none);
                let Some(object) = field.object_value() else { continue };
                take_fields(&object, old_fields, put, &path, kept);
                if old.is_none() && object.properties().is_empty() {
                    field.remove();
                }
            }
            // Arguments have an order, and a part of them would mean something else.
            (Some(Value::Array(_)), Value::Array(_)) if is_in_entry && !is_as_put => kept.push(path),
            (None | Some(Value::Array(_)), Value::Array(put)) if !is_in_entry => {
                let Some(list) = field.array_value() else { continue };
                take_items(&list, old.and_then(Value::as_array).map_or(&[], Vec::as_slice), put);
                if old.is_none() && list.elements().is_empty() {
                    field.remove();
                }
            }
            (Some(old), _) if is_as_put => field.set_value(entry::input(old)),
            _ => kept.push(path),
        }
    }
}

/// Takes each item out that was put into the list. Of equal ones the last were put.
fn take_items(now: &CstArray, before: &[Value], after: &[Value]) {
    let mut before: Vec<&Value> = before.iter().collect();
    for put in after {
        if let Some(own) = before.iter().position(|own| *own == put) {
            before.swap_remove(own);
            continue;
        }
        let there = now.elements().into_iter().rfind(|item| item.to_serde_value().as_ref() == Some(put));
        if let Some(there) = there {
            there.remove();
        }
    }
}

fn from_toml(now: &str, before: &str, after: &str, kept: &mut Vec<String>) -> Result<String, Unfit> {
    let (before, after) = (entry::parse_toml(before)?, entry::parse_toml(after)?);
    entry::edit_toml(now, |document| {
        take_keys(document.as_table_mut(), Some(before.as_table()), after.as_table(), "", kept);
        Ok(())
    })
}

fn take_keys(
    now: &mut dyn TableLike,
    before: Option<&dyn TableLike>,
    after: &dyn TableLike,
    above: &str,
    kept: &mut Vec<String>,
) {
    for (name, put) in after.iter() {
        let old = before.and_then(|before| before.get(name));
        let put_value = entry::from_toml(put);
        if old.is_some_and(|old| entry::from_toml(old) == put_value) {
            continue;
        }
        let Some(there) = now.get_mut(name) else { continue };
        let path = if above.is_empty() { name.to_owned() } else { format!("{above}.{name}") };
        let is_as_put = entry::from_toml(there) == put_value;
        match (old.map(Item::as_table_like), put.as_table_like()) {
            (None, None) if is_as_put => drop(now.remove(name)),
            (None, Some(_)) if name == NAME && is_as_put => drop(now.remove(name)),
            (None, _) if name == NAME => kept.push(path),
            (None | Some(Some(_)), Some(put)) => {
                let Some(table) = there.as_table_like_mut() else { continue };
                take_keys(table, old.and_then(Item::as_table_like), put, &path, kept);
                if old.is_none() && table.is_empty() {
                    now.remove(name);
                }
            }
            (Some(None), None) if is_as_put => {
                if let Some(old) = old {
                    now.insert(name, old.clone());
                }
            }
            _ => kept.push(path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(before: Option<&str>, after: &str) -> Step {
        Step { before: before.map(str::to_owned), after: after.to_owned(), ..Step::default() }
    }

    #[track_caller]
    fn check(kind: Kind, steps: &[Step], now: &str, expected: Option<&str>, kept: &[&str]) {
        let removal = take_back(Some(now), steps, kind).unwrap();
        assert_eq!(
            (removal.text.as_deref(), removal.kept),
            (expected, kept.iter().copied().map(str::to_owned).collect())
        );
    }

    const JSON: Kind = Kind::Settings(Format::Json);

    #[test]
    fn where_nothing_else_changed_the_bytes_are_those_of_before() {
        let steps = [step(Some("{ }"), "{\"a\": 1}"), step(Some("{\"a\": 1}"), "{\"a\": 2}")];
        check(JSON, &steps, "{\"a\": 2}", Some("{ }"), &[]);
        check(JSON, &[step(None, "{}\n")], "{}\n", None, &[]);
    }

    #[test]
    fn what_somebody_added_or_changed_stays() {
        let put =
            step(Some("{\"deny\": [\"Edit\"]}"), "{\"deny\": [\"Edit\", \"Write\"], \"allow\": [\"x\"]}");
        check(
            JSON,
            std::slice::from_ref(&put),
            "{\n  // mine\n  \"deny\": [\"Edit\", \"Bash\", \"Write\"],\n  \"allow\": [\"x\", \"y\"]\n}\n",
            Some("{\n  // mine\n  \"deny\": [\"Edit\", \"Bash\"],\n  \"allow\": [ \"y\"]\n}\n"),
            &[],
        );
        let edit = step(Some("{}"), "{\"permission\": {\"edit\": \"deny\"}}");
        check(
            JSON,
            &[edit],
            "{\"permission\": {\"edit\": \"ask\"}}",
            Some("{\"permission\": {\"edit\": \"ask\"}}"),
            &["permission.edit"],
        );
        let replaced = step(Some("{\"a\": {\"edit\": \"ask\"}}"), "{\"a\": {\"edit\": \"deny\"}}");
        check(
            JSON,
            &[replaced],
            "{\"a\": {\"edit\": \"deny\"}, \"b\": 1}",
            Some("{\"a\": {\"edit\": \"ask\"}, \"b\": 1}"),
            &[],
        );
    }

    #[test]
    fn the_arguments_of_an_entry_are_set_back_or_stay_as_a_whole() {
        let entry = |args: &str| format!("{{\"s\": {{\"emend\": {{\"args\": [{args}]}}}}}}\n");
        let own = "\"serve\", \"--workspace\", \"/mine\"";
        let both = format!("{own}, \"--workspace\", \"/p\"");
        let put = step(Some(&entry(own)), &entry(&both));
        let with_more = |args: &str| format!("\n{}", entry(args));
        check(JSON, std::slice::from_ref(&put), &with_more(&both), Some(&with_more(own)), &[]);
        let changed = with_more(&both.replace("/p", "/q"));
        check(JSON, &[put], &changed, Some(&changed), &["s.emend.args"]);
    }

    #[test]
    fn of_a_change_that_was_recorded_and_never_made_nothing_is_taken_back() {
        let entry = "{\"s\": {\"emend\": {\"command\": \"emend\"}}, \"deny\": [\"Edit\"]}";
        check(JSON, &[step(Some("{\"deny\": []}"), entry)], "{\"deny\": []}", Some("{\"deny\": []}"), &[]);
    }

    #[test]
    fn of_equal_items_those_go_that_were_put() {
        let put = step(Some("{\"a\": [1, 2]}"), "{\"a\": [1, 2, 1]}");
        check(JSON, &[put], "{\"a\": [1, 2, 1, 3]}", Some("{\"a\": [1, 2, 3]}"), &[]);
    }

    #[test]
    fn an_entry_goes_as_a_whole_or_stays() {
        let put = "{\"s\": {\"emend\": {\"command\": \"emend\"}}}";
        check(JSON, &[step(None, put)], &put.replace("}}}", "}}, \"b\": 1}"), Some("{ \"b\": 1}"), &[]);
        let changed = put.replace("\"}", "\", \"env\": {}}");
        check(JSON, &[step(None, put)], &changed, Some(&changed), &["s.emend"]);
        let toml = Kind::Settings(Format::Toml);
        let put = "model = 'x'\n\n[s.emend]\ncommand = 'emend'\n";
        let steps = [step(Some("model = 'x'\n"), put)];
        check(toml, &steps, &put.replace("'x'", "'y' # mine"), Some("model = 'y' # mine\n"), &[]);
        let changed = format!("{put}env = 'mine'\n");
        check(toml, &steps, &changed, Some(&changed), &["s.emend"]);
        let crlf = put.replace('\n', "\r\n").replace("'x'", "'y'");
        check(toml, &steps, &crlf, Some("model = 'y'\r\n"), &[]);
    }
}
