//! The answer of a tool, and the assertions that most tests make about it.

use serde_json::Value;

/// The note in an answer that repeats an earlier outcome.
const REPEATED: &str = "Nothing was changed by this call";

/// The answer of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Whether the call was refused.
    pub is_error: bool,
    /// The text for the model.
    pub text: String,
    /// The structured outcome of an edit; null for a tool that reads.
    pub structured: Value,
    /// The answer's `_meta`; null if it has none.
    pub meta: Value,
}

impl Answer {
    /// Reads the answer from the result of `tools/call`.
    #[must_use]
    pub fn from_result(result: &Value) -> Self {
        let blocks = result["content"].as_array().into_iter().flatten();
        Self {
            is_error: result["isError"].as_bool().unwrap_or(false),
            text: blocks.filter_map(|block| block["text"].as_str()).collect(),
            structured: result["structuredContent"].clone(),
            meta: result["_meta"].clone(),
        }
    }

    /// The code of the first problem. Tools that only read give it in the last line of their text, before any remarks
    /// about other programs' changes.
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

    /// The version of the one file in the answer: the one that was read, or the one after the edit.
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

    /// Whether the answer repeats an earlier outcome and says so.
    #[must_use]
    pub fn is_repeated(&self) -> bool {
        self.text.contains(REPEATED)
    }

    /// Asserts that this answer repeats `first`, and says so in its text and in its structured content.
    #[track_caller]
    pub fn assert_repeats(&self, first: &Self) {
        assert!(!self.is_error && self.is_repeated(), "{}", self.text);
        let (mut again, mut outcome) = (self.structured.clone(), first.structured.clone());
        let note = again["notes"][0].take();
        assert!(note.as_str().is_some_and(|note| note.contains(REPEATED)), "{note}");
        assert_eq!(again.as_object_mut().unwrap().remove("is_repeated"), Some(true.into()));
        let notes = again["notes"].as_array_mut().unwrap();
        notes.remove(0);
        if notes.is_empty() && outcome["notes"].is_null() {
            let _ = again["notes"].take();
            let _ = outcome["notes"].take();
        }
        assert_eq!(again, outcome);
    }

    /// Asserts that the call succeeded.
    #[track_caller]
    pub fn ok(self) -> Self {
        assert!(!self.is_error, "the call was refused:\n{}", self.text);
        self
    }

    /// Asserts that the call was refused with this code.
    #[track_caller]
    pub fn refused(self, code: &str) -> Self {
        assert!(self.is_error, "the call should be refused as {code}:\n{}", self.text);
        assert_eq!(self.code(), Some(code), "{}", self.text);
        self
    }
}
