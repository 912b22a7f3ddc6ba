//! Random sketches of a known change, as in the tests of the crate: the file gets that change, or the sketch is refused.

use std::sync::Arc;

use emend_edit::Text;
use emend_edit::find::FindLimits;
use emend_edit::patch::Patch;
use emend_edit::patch::sketch::Sketch;
use emend_edit::plan::{self, Source, Sources};

#[path = "../../../crates/edit/tests/random/sketch.rs"]
mod random;

/// Applies a sketch.
pub fn check(bytes: &[u8]) {
    let sample = random::sample(bytes);
    let text = Text::new(sample.before.clone().into_bytes()).expect("it is text");
    let mut sources = Sources::default();
    sources.insert("a", "a", Source::Present(Arc::new(text)));
    let patch = Patch::sketch("a", Sketch::parse(&sample.sketch));
    if let Ok(plan) = plan::build(&patch, &sources, &FindLimits::default()) {
        let result = plan.files()[0].action.pieces().expect("the file stays").concat();
        assert_eq!(String::from_utf8_lossy(&result), sample.after, "{}", sample.sketch);
    }
}
