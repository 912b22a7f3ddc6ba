//! What of one source of settings would loosen what another says. A command line stands in the configuration of a client,
//! which somebody else may have written: it is refused where it says less than the person's own file does.

use std::fmt::Display;

use super::extensions;
use super::settings::Settings;

/// What is said, and what is held of the same, both as they stand in a file.
type Looser = Option<(String, String)>;

impl Settings {
    /// The first of these settings that is looser than what the others say of the same, with that. What the others do not
    /// say is free. Patterns are not looked at, since lists of them add up; nor is which folders are opened, or how long
    /// an answer waits.
    #[must_use]
    pub fn looser_than(&self, held: &Self) -> Looser {
        // By name, so that a new setting is not forgotten here.
        let Self {
            workspace: _,
            forbidden_paths: _,
            read_only: _,
            approve: _,
            allowed_extensions,
            max_file_bytes,
            mode,
            require_mtime_check,
            require_read,
            on_change,
            write_in_place,
            write_read_only,
            track_history,
            notify_lsp,
            notify_editor,
            emit_event,
            syntax_guard,
            diagnostics_wait: _,
            programs,
        } = self;
        [
            if_less("mode", *mode, held.mode),
            if_less("require_mtime_check", *require_mtime_check, held.require_mtime_check),
            if_less("require_read", *require_read, held.require_read),
            if_less("on_change", *on_change, held.on_change),
            if_less("syntax_guard", *syntax_guard, held.syntax_guard),
            if_more("max_file_bytes", *max_file_bytes, held.max_file_bytes),
            if_more("write_in_place", *write_in_place, held.write_in_place),
            if_more("write_read_only", *write_read_only, held.write_read_only),
            if_more("notify_lsp", *notify_lsp, held.notify_lsp),
            if_more("notify_editor", *notify_editor, held.notify_editor),
            // Neither is stricter: one loses what a person wants to have, the other keeps what they may not want.
            if_other("track_history", *track_history, held.track_history),
            if_other("emit_event", *emit_event, held.emit_event),
            if_more_extensions(allowed_extensions.as_deref(), held.allowed_extensions.as_deref()),
            // A hook may be there to refuse edits.
            (!programs.is_empty() && !held.programs.is_empty() && *programs != held.programs)
                .then(|| ("hooks, editors or language_servers".into(), "its own".into())),
        ]
        .into_iter()
        .flatten()
        .next()
    }
}

/// Of a setting whose greater values are stricter.
fn if_less<T: Ord + Display>(name: &str, said: Option<T>, held: Option<T>) -> Looser {
    said.zip(held).filter(|(said, held)| said < held).map(|(said, held)| lines(name, &said, &held))
}

/// Of a setting whose smaller values are stricter.
fn if_more<T: Ord + Display>(name: &str, said: Option<T>, held: Option<T>) -> Looser {
    said.zip(held).filter(|(said, held)| said > held).map(|(said, held)| lines(name, &said, &held))
}

/// Of a setting with no value that is stricter.
fn if_other<T: Ord + Display>(name: &str, said: Option<T>, held: Option<T>) -> Looser {
    said.zip(held).filter(|(said, held)| said != held).map(|(said, held)| lines(name, &said, &held))
}

fn if_more_extensions(said: Option<&[String]>, held: Option<&[String]>) -> Looser {
    let (said, held) = said.zip(held)?;
    let line = |list: &[String]| format!("allowed_extensions = {list:?}");
    (!extensions(said).is_subset(&extensions(held))).then(|| (line(said), line(held)))
}

fn lines(name: &str, said: &dyn Display, held: &dyn Display) -> (String, String) {
    let line = |value: &dyn Display| {
        let value = value.to_string();
        let is_word = value.starts_with(char::is_alphabetic) && !["true", "false"].contains(&&*value);
        if is_word { format!("{name} = \"{value}\"") } else { format!("{name} = {value}") }
    };
    (line(said), line(held))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(said: &str, held: &str, looser: Option<&str>) {
        let [said, held] = [said, held].map(|text| Settings::parse(text).unwrap());
        assert_eq!(said.looser_than(&held).map(|(said, _)| said).as_deref(), looser);
    }

    #[test]
    fn only_what_both_say_and_one_says_less_strictly_is_looser() {
        check("mode = 'auto'\nwrite_in_place = true", "forbidden_paths = ['x']", None);
        check("", "mode = 'ask'", None);
        check("mode = 'auto'", "mode = 'auto'", None);
        check("mode = 'preview'", "mode = 'ask'", None);
        check("mode = 'auto'", "mode = 'ask'", Some("mode = \"auto\""));
        check("max_file_bytes = 9", "max_file_bytes = 10", None);
        check("max_file_bytes = 11", "max_file_bytes = 10", Some("max_file_bytes = 11"));
        check("diagnostics_wait = 9", "diagnostics_wait = 1", None);
    }

    #[test]
    fn of_what_has_no_stricter_value_only_the_same_may_be_said() {
        for setting in ["track_history", "emit_event"] {
            let line = |truth: bool| format!("{setting} = {truth}");
            for held in [true, false] {
                check(&line(held), &line(held), None);
                check(&line(!held), &line(held), Some(&line(!held)));
            }
        }
    }

    #[test]
    fn endings_are_compared_as_they_are_meant() {
        check("allowed_extensions = ['.RS']", "allowed_extensions = ['rs', 'md']", None);
        let more = Some("allowed_extensions = [\"rs\", \"py\"]");
        check("allowed_extensions = ['rs', 'py']", "allowed_extensions = ['rs']", more);
    }

    #[test]
    fn programs_of_ones_own_are_replaced_by_none() {
        let [one, other] = ["x", "y"].map(|name| format!("[[hooks.before]]\ncommand = ['{name}']"));
        check(&one, "mode = 'ask'", None);
        check(&one, &one, None);
        check(&one, &other, Some("hooks, editors or language_servers"));
    }
}
