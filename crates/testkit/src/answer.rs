//! What a tool answered, and the two assertions that every test makes of it.

use serde_json::Value;

/// What an answer says that only gives an earlier outcome again.
const REPEATED: &str = "this call changed nothing";

/// What a tool answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Whether the call was refused.
    pub is_error: bool,
    /// What a model reads.
    pub text: String,
    /// The outcome; null for a reading.
    pub structured: Value,
    /// What the answer says about itself; null if it says nothing.
    pub meta: Value,
}

impl Answer {
    /// The answer in the result of `tools/call`.
    #[must_use]
    pub fn of(result: &Value) -> Self {
        let blocks = result["content"].as_array().into_iter().flatten();
        Self {
            is_error: result["isError"].as_bool().unwrap_or(false),
            text: blocks.filter_map(|block| block["text"].as_str()).collect(),
            structured: result["structuredContent"].clone(),
            meta: result["_meta"].clone(),
        }
    }

    /// The code of the first problem. A reading has no structured content: its code is the last line, behind which there may
    /// be remarks on what others do meanwhile.
    #[must_use]
    pub fn code(&self) -> Option<&str> {
        if !self.is_error {
            return None;
        }
        let mut lines = self.text.lines().rev();
        let last_line = || lines.find_map(|line| line.strip_prefix('[')?.strip_suffix(']'));
        self.structured["error"]["code"].as_str().or_else(last_line)
    }

    /// The codes of all problems.
    #[must_use]
    pub fn codes(&self) -> Vec<&str> {
        self.problems().iter().filter_map(|problem| problem["code"].as_str()).collect()
    }

    /// All problems.
    #[must_use]
    pub fn problems(&self) -> &[Value] {
        self.structured["problems"].as_array().map_or(&[], Vec::as_slice)
    }

    /// The version of the one file that this is about: what was read, or what the edit made of it.
    #[must_use]
    #[track_caller]
    pub fn version(&self) -> String {
        let read = &self.meta["emend/version"];
        let edited = &self.structured["files"][0]["version_after"];
        match read.as_str().or(edited.as_str()) {
            Some(version) => version.to_owned(),
            None => panic!("no version in {self:#?}"),
        }
    }

    /// The handle of the preview.
    #[must_use]
    #[track_caller]
    pub fn handle(&self) -> String {
        match self.structured["preview"].as_str() {
            Some(handle) => handle.to_owned(),
            None => panic!("no preview in {self:#?}"),
        }
    }

    /// Whether it gives an earlier outcome again, and says so.
    #[must_use]
    pub fn is_repeated(&self) -> bool {
        self.text.contains(REPEATED)
    }

    /// Asserts that this gives `first` again, and says so in either form.
    #[track_caller]
    pub fn assert_repeats(&self, first: &Self) {
        assert!(!self.is_error && self.is_repeated(), "{}", self.text);
        let (mut again, mut outcome) = (self.structured.clone(), first.structured.clone());
        let note = again["notes"][0].take();
        assert!(note.as_str().is_some_and(|note| note.contains(REPEATED)), "{note}");
        let notes = again["notes"].as_array_mut().unwrap();
        notes.remove(0);
        if notes.is_empty() && outcome["notes"].is_null() {
            let _ = again["notes"].take();
            let _ = outcome["notes"].take();
        }
        assert_eq!(again, outcome);
    }

    /// The same answer, which must be a success.
    #[track_caller]
    pub fn ok(self) -> Self {
        assert!(!self.is_error, "the call was refused:\n{}", self.text);
        self
    }

    /// The same answer, which must be a refusal with this code.
    #[track_caller]
    pub fn refused(self, code: &str) -> Self {
        assert!(self.is_error, "the call should be refused as {code}:\n{}", self.text);
        assert_eq!(self.code(), Some(code), "{}", self.text);
        self
    }
}
