//! Detection of settings that loosen others. A command line is part of a client's configuration, which someone else may
//! have written: it is refused if it is less strict than the user's own file.

use super::settings::Settings;

impl Settings {
    /// Returns the first of these settings that is looser than the same setting in `held`, and that, both as written in
    /// a file. What `held` does not set may be anything. The `client` rule of each setting decides. Patterns are not
    /// compared, because lists of them add up.
    #[must_use]
    pub fn looser_than(&self, held: &Self) -> Option<(String, String)> {
        // A hook may be there to refuse edits.
        let replaces_programs =
            !self.programs.is_empty() && !held.programs.is_empty() && self.programs != held.programs;
        let programs =
            || replaces_programs.then(|| ("hooks, editors or language_servers".into(), "its own".into()));
        // Another model may be one that someone else reads along with.
        let replaces_model =
            self.apply_model.is_some() && held.apply_model.is_some() && self.apply_model != held.apply_model;
        let model = || replaces_model.then(|| ("apply_model".into(), "its own".into()));
        self.first_refused(held).or_else(programs).or_else(model)
    }
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
    fn programs_and_a_model_of_ones_own_are_replaced_by_none() {
        let [one, other] = ["x", "y"].map(|name| format!("[[hooks.before]]\ncommand = ['{name}']"));
        check(&one, "mode = 'ask'", None);
        check(&one, &one, None);
        check(&one, &other, Some("hooks, editors or language_servers"));
        let [one, other] =
            ["x", "y"].map(|name| format!("[apply_model]\nurl = 'https://{name}'\nmodel = 'm'"));
        check(&one, "mode = 'ask'", None);
        check(&one, &one, None);
        check(&one, &other, Some("apply_model"));
    }
}
