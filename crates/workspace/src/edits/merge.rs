//! Merging with changes of others: a file changed since its client read it, and the edit still fits. This module
//! decides whether the change is far enough from the edit for both to stand.
//!
//! It is, if they share no line and no neighbouring lines. In doubt, it is not.

use std::ops::Range;

use emend_edit::Text;
use emend_edit::plan::{self, Action, FilePlan, Plan};

/// Returns whether the change from `old` to `now` is away from everything that the plan does to the file `name`, which
/// contains `now`.
pub(crate) fn is_elsewhere(plan: &Plan, name: &str, old: &Text, now: &Text) -> bool {
    if plan.discarded().iter().any(|discarded| discarded == name) {
        return false;
    }
    let concerns = |file: &&FilePlan| match &file.action {
        Action::Move { from, .. } => from == name || file.name == name,
        _ => file.name == name,
    };
    let mut files = plan.files().iter().filter(concerns);
    let (Some(file), None) = (files.next(), files.next()) else { return false };
    match edited_lines(file, now) {
        Some(edited) => {
            let changed = changed_lines(old, now);
            !changed.iter().any(|changed| edited.iter().any(|edited| is_beside(changed, edited)))
        }
        None => false,
    }
}

/// Returns whether two ranges of lines overlap or touch.
fn is_beside(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.start <= b.end && b.start <= a.end
}

/// Returns the lines of `now` that another program wrote, as an empty range where it only removed some.
fn changed_lines(old: &Text, now: &Text) -> Vec<Range<usize>> {
    let rewrite = plan::rewrite_between(old, now);
    // The shift of each place by the changes before it.
    let (mut came, mut went) = (0, 0);
    let mut changed = Vec::new();
    for span in rewrite.spans() {
        let start = span.range.start + came - went;
        changed.push(lines(now, start..start + span.new.len()));
        came += span.new.len();
        went += span.range.len();
    }
    changed
}

/// Returns the lines that an edit matched and those that it changes; `None` if not all hunks were matched in this text.
fn edited_lines(file: &FilePlan, now: &Text) -> Option<Vec<Range<usize>>> {
    let (Action::Modify { base, edit } | Action::Move { base, edit, .. }) = &file.action else { return None };
    if !edit.is_separable() || base.version() != now.version() {
        return None;
    }
    let found = file.hunks.iter().map(|hunk| {
        let first = hunk.line.saturating_sub(1);
        first..first + hunk.lines
    });
    Some(found.chain(edit.spans().iter().map(|span| lines(now, span.range.clone()))).collect())
}

/// Returns the lines of a byte range.
fn lines(text: &Text, range: Range<usize>) -> Range<usize> {
    let lines = text.lines();
    let at =
        |offset: usize| if offset >= lines.start(lines.len()) { lines.len() } else { lines.index_of(offset) };
    let first = at(range.start);
    let starts_line = lines.start(first) == range.start;
    match range.is_empty() {
        true if starts_line => first..first,
        true => first..first + 1,
        false => first..at(range.end - 1) + 1,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use emend_edit::find::FindLimits;
    use emend_edit::patch::v4a;
    use emend_edit::plan::{Source, Sources};

    use super::*;

    const OLD: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";

    /// Checks whether an edit of line 5, with line 4 as its context, can be merged with this change.
    #[track_caller]
    fn check(now: &str, expected: bool) {
        let patch =
            v4a::parse("*** Begin Patch\n*** Update File: a\n@@\n 4\n-5\n+five\n*** End Patch").unwrap();
        let text = Arc::new(Text::new(now.into()).unwrap());
        let mut sources = Sources::default();
        sources.insert("a", "a", Source::Present(Arc::clone(&text)));
        let plan = plan::build(&patch, &sources, &FindLimits::default()).unwrap();
        let old = Text::new(OLD.into()).unwrap();
        assert_eq!(is_elsewhere(&plan, "a", &old, &text), expected, "{now:?}");
    }

    #[test]
    fn a_change_elsewhere_is_out_of_the_way() {
        check("one\n2\n3\n4\n5\n6\n7\n8\n9\n", true);
        check("1\n2\n3\n4\n5\n6\nseven\n8\n9\n", true);
        check("0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n", true);
        check("3\n4\n5\n6\n", true);
        check("1\n2\n3\n4\n5\n6\n7\n8\n9", true);
        check("one\n3\n4\n5\n6\n7\n8\nnine\n", true);
    }

    #[test]
    fn a_change_that_touches_or_borders_on_the_edit_is_in_the_way() {
        // Its context was only created by the change.
        let old_context = OLD.replace("4\n", "four\n4\n");
        check(&old_context, false);
        check("1\n2\nthree\n4\n5\n6\n7\n8\n9\n", false);
        check("1\n2\n3\n4\n5\nsix\n7\n8\n9\n", false);
        check("1\n2\n4\n5\n6\n7\n8\n9\n", false);
        check("1\n2\n3\n4\n5\n7\n8\n9\n", false);
        check("1\n2\n3\n4\n5\n", false);
        check("4\n5\n", false);
        check("0\n1\n2\n3\n4\n5\nnew\n6\n7\n8\n9\n", false);
    }
}
