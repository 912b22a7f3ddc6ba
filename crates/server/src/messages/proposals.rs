//! Why what an apply model proposed is refused, for the model and for the caller.

use emend_edit::patch::answer::AnswerFault;
use emend_edit::proposal::Objection;

/// Returns why a proposal is no reading of its sketch.
pub(crate) fn objection(objection: &Objection) -> String {
    match objection {
        Objection::EmptySketch => "the sketch has a part without a line of its own".into(),
        Objection::NoChange => "it is the file as it is".into(),
        Objection::LineMissing(line) => format!("it lacks a line of the sketch: '{}'", line.trim()),
        Objection::ForeignLine(line) => {
            format!("its line {line} is neither one of the file nor one of the sketch")
        }
        Objection::ChangedElsewhere => {
            "it changes, moves or loses lines that the sketch does not name".into()
        }
        Objection::TooMuch => "it could be read in too many ways to check it".into(),
    }
}

/// Returns why an answer is not taken.
pub(crate) fn answer_fault(fault: AnswerFault) -> &'static str {
    match fault {
        AnswerFault::Blocks => {
            "its SEARCH/REPLACE blocks do not parse, do not fit the file or are for another one"
        }
        AnswerFault::Fences => "it is not certain where its text begins and ends",
    }
}
