//! The state of a workspace after a fault, and whether the answer is true.

use std::fmt::Write as _;

use emend_testkit::{Answer, Entries};

use super::scenario::{Scenario, States};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    AllOld,
    AllNew,
    /// Neither: each unexpected path with its state.
    Third(String),
}

impl States {
    pub(super) fn judge(&self, now: &Entries) -> Verdict {
        if *now == self.old {
            return Verdict::AllOld;
        }
        if *now == self.new {
            return Verdict::AllNew;
        }
        let mut states = String::new();
        let mut paths: Vec<&String> = self.old.keys().chain(self.new.keys()).chain(now.keys()).collect();
        paths.sort_unstable();
        paths.dedup();
        for path in paths {
            let (old, new, now) = (self.old.get(path), self.new.get(path), now.get(path));
            let what = match now {
                _ if old == new && now == old => continue,
                _ if now == old => "old",
                _ if now == new => "new",
                None => "missing",
                Some(_) if old.or(new).is_none() => "left over",
                Some(_) => "neither",
            };
            let _ = write!(states, "{}{path} {what}", if states.is_empty() { "" } else { ", " });
            if let ("neither", Some(now)) = (what, now) {
                let _ = write!(states, " ({now:?})");
            }
        }
        Verdict::Third(states)
    }

    /// The false statements of an answer; empty if it is true.
    pub(super) fn lies(&self, scenario: &Scenario, answer: &Answer, now: &Entries) -> String {
        let verdict = self.judge(now);
        let states = answer.problems().iter().find_map(|problem| problem["file_states"].as_object());
        let Some(states) = states else {
            let (claimed, said) = match answer.code() {
                None => (Verdict::AllNew, "success"),
                Some(code) => (Verdict::AllOld, code),
            };
            return if verdict == claimed {
                String::new()
            } else {
                format!("answered {said}, but it is {verdict:?}")
            };
        };
        let mut lies = String::new();
        for (name, paths) in scenario.files {
            let is = |state: &Entries| paths.iter().all(|path| now.get(*path) == state.get(*path));
            let said = states.get(*name).and_then(|state| state.as_str());
            let is_true = match said {
                Some("untouched" | "restored") => is(&self.old),
                Some("written") => is(&self.new),
                Some("unknown") => true,
                _ => false,
            };
            if !is_true {
                let is = if is(&self.old) {
                    "old"
                } else if is(&self.new) {
                    "new"
                } else {
                    "neither"
                };
                let said = said.unwrap_or("nothing");
                let _ = write!(lies, "the answer says {said} of {name}, which is {is}; ");
            }
        }
        lies
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::strace::scenario::SCENARIOS;

    fn answer(structured: Value) -> Answer {
        let is_error = !structured["error"].is_null();
        Answer { is_error, text: String::new(), structured, meta: Value::Null }
    }

    fn failed(states: &Value) -> Answer {
        answer(
            json!({"error": {"code": "io-error"}, "problems": [{"code": "io-error", "file_states": states}]}),
        )
    }

    #[test]
    fn what_an_answer_says_is_compared_with_what_is_there() {
        let scenario = &SCENARIOS[0];
        let states = scenario.states();
        let is_true = |answer: &Answer, now: &Entries| states.lies(scenario, answer, now).is_empty();
        let (success, nothing) = (answer(json!({})), failed(&Value::Null));
        assert!(is_true(&success, &states.new) && !is_true(&success, &states.old));
        assert!(is_true(&nothing, &states.old) && !is_true(&nothing, &states.new));
        let (written, restored) =
            (failed(&json!({"change.txt": "written"})), failed(&json!({"change.txt": "restored"})));
        assert!(is_true(&written, &states.new) && !is_true(&written, &states.old));
        assert!(is_true(&restored, &states.old) && !is_true(&restored, &states.new));
        let other = failed(&json!({"steady.txt": "untouched"}));
        assert!(!is_true(&other, &states.old), "every file of the edit is to be named");
    }

    #[test]
    fn a_third_state_is_told_by_path() {
        let states = SCENARIOS[0].states();
        let mut now = states.old.clone();
        now.remove("change.txt");
        now.insert("left.txt".into(), states.old["steady.txt"].clone());
        let expected = "change.txt missing, left.txt left over";
        assert_eq!(states.judge(&now), Verdict::Third(expected.into()));
    }
}
