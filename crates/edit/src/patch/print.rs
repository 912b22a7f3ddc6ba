//! Printing of a patch as a diff that its parser reads back as the same patch.
//!
//! A diff cannot express everything. A patch that it cannot express is not printed at all.

use alloc::format;
use alloc::string::String;

use super::body::BodyScope;
use super::lines::numbered;
use super::{Change, Hunk, Line, LineChange, Operation, Patch, RangeChange, Section, names};

/// Prints the patch as a git diff, which has no whole-file writes, texts or blocks, and places only insertions by line
/// number.
#[must_use]
pub fn unified(patch: &Patch) -> Option<String> {
    let mut text = String::new();
    for section in numbered_in_order(patch)? {
        text.push_str(&unified_section(section)?);
    }
    Some(text)
}

fn unified_section(section: &Section) -> Option<String> {
    let from = one_line(&section.path).filter(|path| !path.starts_with("./"))?;
    let (mut to, mut renamed) = (from, false);
    if let Operation::Update { move_to: Some(target), .. } = &section.operation {
        to = one_line(target).filter(|path| !path.starts_with("./") && *path != from)?;
        renamed = true;
    }
    let side = |prefix: &str, path: &str| names::quote(&format!("{prefix}/{path}"));
    let (old, new) = (side("a", from), side("b", to));
    let mut text = format!("diff --git {old} {new}\n");
    let mode = section.executable.map(|executable| if executable { "100755" } else { "100644" });
    match &section.operation {
        Operation::Write(_) | Operation::Replace(_) | Operation::Take { .. } => return None,
        Operation::Add(content) => {
            match mode {
                Some(mode) => text.push_str(&format!("new file mode {mode}\n")),
                // Only its mode makes an empty file visible.
                None if content.is_empty() => return None,
                None => {}
            }
            if !content.is_empty() {
                text.push_str(&format!("--- /dev/null\n+++ {new}\n"));
                text.push_str(&format!("@@ -0,0 +1,{} @@\n", content.split_inclusive('\n').count()));
                push_side(&mut text, '+', content);
            }
        }
        Operation::Fill(content) if content.is_empty() => return None,
        Operation::Fill(content) => {
            if let Some(mode) = mode {
                text.push_str(&modes(mode));
            }
            text.push_str(&format!("--- {old}\n+++ {new}\n"));
            text.push_str(&format!("@@ -0,0 +1,{} @@\n", content.split_inclusive('\n').count()));
            push_side(&mut text, '+', content);
        }
        Operation::Delete { content } => {
            if mode.is_some() {
                return None;
            }
            match content.as_deref() {
                Some("") => return None,
                Some(content) => {
                    text.push_str(&format!("--- {old}\n+++ /dev/null\n"));
                    text.push_str(&format!("@@ -1,{} +0,0 @@\n", content.split_inclusive('\n').count()));
                    push_side(&mut text, '-', content);
                }
                None => text.push_str("deleted file mode 100644\n"),
            }
        }
        Operation::Update { hunks, .. } => {
            if let Some(mode) = mode {
                text.push_str(&modes(mode));
            }
            if renamed {
                text.push_str(&format!(
                    "rename from {}\nrename to {}\n",
                    names::quote(from),
                    names::quote(to)
                ));
            }
            match &hunks[..] {
                [] => return (mode.is_some() || renamed).then_some(text),
                // It would be read as a creation.
                [Hunk { change: Change::Range(RangeChange { first: 1, .. }), .. }] if !renamed => {
                    return None;
                }
                _ => {}
            }
            text.push_str(&format!("--- {old}\n+++ {new}\n"));
            for hunk in hunks {
                match &hunk.change {
                    Change::Lines(change) => text.push_str(&unified_hunk(change)?),
                    Change::Range(change) => text.push_str(&insertion(change)?),
                    Change::Text(_)
                    | Change::Insertion(_)
                    | Change::Block(_)
                    | Change::Numbered(_)
                    | Change::Place(_)
                    | Change::Sketch(_) => {
                        return None;
                    }
                }
            }
        }
    }
    Some(text)
}

fn push_side(text: &mut String, sign: char, content: &str) {
    for line in content.split_inclusive('\n') {
        text.push(sign);
        text.push_str(line);
    }
    if !content.ends_with('\n') {
        text.push_str("\n\\ No newline at end of file\n");
    }
}

/// Returns the headers that give a file this mode.
fn modes(mode: &str) -> String {
    let before = if mode == "100755" { "100644" } else { "100755" };
    format!("old mode {before}\nnew mode {mode}\n")
}

fn insertion(change: &RangeChange) -> Option<String> {
    let RangeChange { first, count: 0, lines } = change else { return None };
    let before = first.checked_sub(1).filter(|_| !lines.is_empty())?;
    let mut text = format!("@@ -{before},0 +{first},{} @@\n", lines.len());
    for line in lines {
        text.push_str(&signed(&Line::Added(line.clone()))?);
        text.push('\n');
    }
    Some(text)
}

fn unified_hunk(change: &LineChange) -> Option<String> {
    let LineChange { anchors, lines, at_end, hint, final_newline } = change;
    let last_old = lines.iter().rposition(|line| line.before().is_some());
    let last_new = lines.iter().rposition(|line| line.after().is_some());
    let old_count = lines.iter().filter(|line| line.before().is_some()).count();
    let new_count = lines.iter().filter(|line| line.after().is_some()).count();
    // The sides that are marked as without final newline.
    let (old_unended, new_unended) = match (at_end, final_newline) {
        (false, None) => (false, false),
        (false, Some(false)) if last_new.is_some() => (false, true),
        (true, Some(true)) => (true, false),
        (true, None) => (true, last_new.is_some()),
        (true, Some(false)) | (false, Some(_)) => return None,
    };
    let header = match (hint, &anchors[..]) {
        // A hunk of only additions needs a place.
        (None, []) if old_count == 0 => return None,
        (None, []) => "@@".into(),
        (None, [anchor]) => {
            let plain =
                anchor.trim() == anchor && !anchor.contains("@@") && !anchor.starts_with(['-', '.', '…']);
            format!("@@ {}", one_line(anchor).filter(|_| plain)?)
        }
        (Some(line), []) if *line > 0 => {
            // Additions alone are printed as lines, not as a range, only if they remove the final newline.
            if old_count == 0 && !new_unended {
                return None;
            }
            let start = match (new_count, final_newline) {
                (0, None) if *at_end => 0,
                (0, Some(true)) => line.checked_sub(1).filter(|&before| before > 0)?,
                (0, _) => line - 1,
                _ => *line,
            };
            format!("@@ -{line},{old_count} +{start},{new_count} @@")
        }
        _ => return None,
    };
    // Without numbers, an emptied file and one that merely gains its newline look the same.
    if lines.is_empty() || (hint.is_none() && *at_end && last_new.is_none() && final_newline.is_none()) {
        return None;
    }
    let mut text = format!("{header}\n");
    for (i, line) in lines.iter().enumerate() {
        text.push_str(&signed(line)?);
        text.push('\n');
        let (ends_old, ends_new) = (old_unended && last_old == Some(i), new_unended && last_new == Some(i));
        // A marker after a context line counts for both sides.
        if (ends_old && line.after().is_some() && !ends_new)
            || (ends_new && line.before().is_some() && !ends_old)
        {
            return None;
        }
        text.push_str(if ends_old || ends_new { "\\ No newline at end of file\n" } else { "" });
    }
    if old_unended && last_old.is_none() {
        return None;
    }
    stays_whole(&text, hint.is_some()).then_some(text)
}

/// Returns whether no line of the hunk could be read as its end or as a marker.
fn stays_whole(hunk: &str, counted: bool) -> bool {
    let lines = numbered(hunk);
    let scope = BodyScope { lines: &lines, wrappers: &[] };
    (1..lines.len()).all(|at| {
        let line = lines[at].text;
        let bare = !line.starts_with([' ', '-', '+']);
        let sure = counted && !bare;
        sure || !(scope.ends_hunk(at) || matches!(line, "-- " | "--"))
    })
}

/// Returns a line with its sign, if it is one line and is read back as it is.
fn signed(line: &Line) -> Option<String> {
    let (sign, text) = match line {
        Line::Context(text) => (" ", text),
        Line::Removed(text) => ("-", text),
        Line::Added(text) => ("+", text),
        Line::Bare(text) if text.is_empty() || text.starts_with([' ', '-', '+', '\\']) => return None,
        Line::Bare(text) => ("", text),
    };
    (!text.contains('\n') && !text.ends_with('\r')).then(|| format!("{sign}{text}"))
}

/// Returns a name or anchor that fits on a header line as it is.
fn one_line(text: &str) -> Option<&str> {
    (!text.is_empty() && text.trim_end() == text && text.trim_start() == text && !text.contains('\n'))
        .then_some(text)
}

/// Returns the sections, if the hunks have the numbers that a parser would give them.
fn numbered_in_order(patch: &Patch) -> Option<&[Section]> {
    let in_order = patch.sections.iter().flat_map(Section::hunks).zip(1..).all(|(hunk, i)| hunk.number == i);
    (in_order && !patch.sections.is_empty()).then_some(&patch.sections)
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;
    use crate::patch::v4a::anchor_text;
    use crate::patch::{unified as diff, v4a as codex};
    use alloc::vec::Vec;
    use proptest::collection::vec;
    use proptest::option;
    use proptest::prelude::*;

    /// Prints the patch in V4A, which has no line numbers, modes, final newlines or checked deletions.
    fn v4a(patch: &Patch) -> Option<String> {
        let mut text = String::from("*** Begin Patch\n");
        for section in numbered_in_order(patch)? {
            let path = one_line(&section.path).filter(|_| section.executable.is_none())?;
            match &section.operation {
                Operation::Add(content) => {
                    if !(content.is_empty() || content.ends_with('\n')) || content.contains("\r\n") {
                        return None;
                    }
                    text.push_str(&format!("*** Add File: {path}\n"));
                    content.lines().for_each(|line| text.push_str(&format!("+{line}\n")));
                }
                Operation::Delete { content: None } => text.push_str(&format!("*** Delete File: {path}\n")),
                Operation::Update { hunks, move_to } if !hunks.is_empty() || move_to.is_some() => {
                    text.push_str(&format!("*** Update File: {path}\n"));
                    if let Some(target) = move_to {
                        text.push_str(&format!("*** Move to: {}\n", one_line(target)?));
                    }
                    for hunk in hunks {
                        text.push_str(&v4a_hunk(hunk)?);
                    }
                }
                _ => return None,
            }
        }
        text.push_str("*** End Patch\n");
        Some(text)
    }

    fn v4a_hunk(hunk: &Hunk) -> Option<String> {
        let Change::Lines(change) = &hunk.change else { return None };
        if change.lines.is_empty() || change.hint.is_some() || change.final_newline.is_some() {
            return None;
        }
        let mut text = String::new();
        for anchor in &change.anchors {
            let anchor = one_line(anchor).filter(|line| anchor_text(&format!(" {line}")) == Some(line))?;
            text.push_str(&format!("@@ {anchor}\n"));
        }
        if change.anchors.is_empty() {
            text.push_str("@@\n");
        }
        for line in &change.lines {
            let taken = ["***", "@@", "\\ No newline"];
            if matches!(line, Line::Bare(bare) if taken.iter().any(|taken| bare.starts_with(taken))) {
                return None;
            }
            text.push_str(&signed(line)?);
            text.push('\n');
        }
        text.push_str(if change.at_end { "*** End of File\n" } else { "" });
        Some(text)
    }

    fn line() -> impl Strategy<Value = Line> {
        let text = || prop_oneof!["[a-c -+@*\\\\]{0,4}", "(-- |[+][+] |\\*\\*\\* |@@ )?[a-c]{0,2}"];
        prop_oneof![
            3 => text().prop_map(Line::Context),
            3 => text().prop_map(Line::Removed),
            3 => text().prop_map(Line::Added),
            1 => text().prop_map(Line::Bare),
        ]
    }

    fn change() -> impl Strategy<Value = Change> {
        // Some values cannot be expressed in either format, but not most of them.
        let place = prop_oneof![
            2 => Just((Vec::new(), None)),
            2 => vec("[ab(:][ab ]{0,3}[ab:]", 0..3).prop_map(|anchors| (anchors, None)),
            2 => (1usize..9).prop_map(|line| (Vec::new(), Some(line))),
            1 => (vec("[ab]", 0..2), option::of(0usize..3)),
        ];
        let end = prop_oneof![
            4 => Just((false, None)),
            1 => Just((true, None)),
            1 => (any::<bool>(), option::of(any::<bool>())),
        ];
        let lines =
            (place, vec(line(), 0..6), end).prop_map(|((anchors, hint), lines, (at_end, final_newline))| {
                Change::Lines(LineChange { anchors, lines, at_end, hint, final_newline })
            });
        let range = (0usize..5, 0usize..2, vec("[a-c+-]{0,3}", 0..3))
            .prop_map(|(first, count, lines)| Change::Range(RangeChange { first, count, lines }));
        prop_oneof![6 => lines, 1 => range]
    }

    fn section() -> impl Strategy<Value = Section> {
        let path = || prop_oneof![3 => "[a-c][a-c/ é.]{0,4}[a-c]", 1 => "[a-c\"./\t\\\\ é]{1,6}"];
        let content = || "([ab+-]{0,3}\r?\n){0,3}[ab]{0,2}";
        let update = (vec(change(), 0..3), option::weighted(0.3, path())).prop_map(|(changes, move_to)| {
            let hunks = changes.into_iter().map(|change| Hunk { number: 0, change }).collect();
            Operation::Update { hunks, move_to }
        });
        let operation = prop_oneof![
            1 => content().prop_map(Operation::Add),
            1 => content().prop_map(Operation::Fill),
            1 => option::of(content()).prop_map(|content| Operation::Delete { content }),
            4 => update,
        ];
        (path(), option::weighted(0.1, any::<bool>()), operation).prop_map(|(path, executable, operation)| {
            Section { executable, is_unordered: true, ..Section::new(&path, operation) }
        })
    }

    fn numbered_patch(mut sections: Vec<Section>) -> Patch {
        let mut number = 0;
        for section in &mut sections {
            let Operation::Update { hunks, .. } = &mut section.operation else { continue };
            for hunk in hunks {
                number += 1;
                hunk.number = number;
            }
        }
        Patch { sections }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]

        #[test]
        fn a_printed_v4a_patch_reads_back_the_same(sections in vec(section(), 1..3)) {
            let mut patch = numbered_patch(sections);
            patch.sections.iter_mut().for_each(|section| section.is_unordered = false);
            if let Some(text) = v4a(&patch) {
                prop_assert_eq!(codex::parse(&text), Ok(patch), "{}", text);
            }
        }

        #[test]
        fn a_printed_diff_reads_back_the_same(sections in vec(section(), 1..3)) {
            let patch = numbered_patch(sections);
            if let Some(text) = unified(&patch) {
                prop_assert_eq!(diff::parse(&text, None), Ok(patch), "{}", text);
            }
        }
    }

    #[test]
    fn what_the_formats_can_say_is_printed() {
        let text = "diff --git a/x b/y z\nold mode 100644\nnew mode 100755\nrename from x\nrename to y z\n--- a/x\n+++ \
                    b/y z\n@@ -3,2 +3,1 @@\n a\n-b\n\\ No newline at end of file\n@@ -9,0 +10,1 @@\n+c\n@@\n-d\n+e\ndiff \
                    --git a/n b/n\nnew file mode 100644\ndiff --git a/o b/o\n--- /dev/null\n+++ b/o\n@@ -0,0 +1,2 \
                    @@\n+a\n+b\n\\ No newline at end of file\ndiff --git a/p b/p\ndeleted file mode 100644\n";
        assert_eq!(unified(&diff::parse(text, None).unwrap()).as_deref(), Some(text));
        let text = "*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@ class A\n@@ def f\n x\nbare\n-y\n+z\n*** End \
                    of File\n*** Add File: c\n+x\n*** Delete File: d\n*** End Patch\n";
        assert_eq!(v4a(&codex::parse(text).unwrap()).as_deref(), Some(text));
    }

    /// A hunk of these lines, its anchors, whether it ends the file, its line and what it says of the final newline.
    fn lines(
        lines: &[Line],
        anchors: &[&str],
        hint: Option<usize>,
        end: (bool, Option<bool>),
    ) -> Option<String> {
        let anchors = anchors.iter().map(|&anchor| anchor.into()).collect();
        let (at_end, final_newline) = end;
        unified_hunk(&LineChange { anchors, lines: lines.to_vec(), at_end, hint, final_newline })
    }

    #[test]
    fn a_hunk_is_printed_if_a_diff_can_say_it() {
        let [context, removed, added] =
            [Line::Context("a".into()), Line::Removed("b".into()), Line::Added("c".into())];
        const GONE: &str = "\\ No newline at end of file\n";
        let change = [context.clone(), removed.clone(), added.clone()];
        let printed = |text: &str| Some(text.to_string());
        let open = (false, None);
        assert_eq!(lines(&change, &[], None, open), printed("@@\n a\n-b\n+c\n"));
        assert_eq!(lines(&change, &["d e"], None, open), printed("@@ d e\n a\n-b\n+c\n"));
        assert_eq!(lines(&change, &[], Some(7), open), printed("@@ -7,2 +7,2 @@\n a\n-b\n+c\n"));
        // Of an insertion, only the final newline that it takes away is no range.
        let insertion = [added.clone()];
        assert_eq!(lines(&insertion, &[], Some(7), open), None);
        let ends = format!("@@ -7,0 +7,1 @@\n+c\n{GONE}");
        assert_eq!(lines(&insertion, &[], Some(7), (false, Some(false))), Some(ends));
        // What is left of a file that becomes shorter begins one line earlier, or nowhere.
        let deletion = [removed.clone()];
        assert_eq!(lines(&deletion, &[], Some(7), open), printed("@@ -7,1 +6,0 @@\n-b\n"));
        let emptied = format!("@@ -1,1 +0,0 @@\n-b\n{GONE}");
        assert_eq!(lines(&deletion, &[], Some(1), (true, None)), Some(emptied));
        let newline = format!("@@ -7,1 +6,0 @@\n-b\n{GONE}");
        assert_eq!(lines(&deletion, &[], Some(7), (true, Some(true))), Some(newline));
        // The marks of a final newline.
        let both = format!("@@\n a\n-b\n{GONE}+c\n{GONE}");
        assert_eq!(lines(&change, &[], None, (true, None)), Some(both));
        assert_eq!(lines(&change, &[], None, (true, Some(true))), Some(format!("@@\n a\n-b\n{GONE}+c\n")));
        assert_eq!(lines(&change, &[], None, (false, Some(false))), Some(format!("@@\n a\n-b\n+c\n{GONE}")));
        let inert = [removed.clone(), context.clone()];
        assert_eq!(lines(&inert, &[], None, (true, None)), Some(format!("@@\n-b\n a\n{GONE}")));
        for end in [(true, Some(true)), (false, Some(false))] {
            assert_eq!(lines(&inert, &[], None, end), None, "a mark below context counts for both sides");
        }
        for (change, anchors, hint, end) in [
            (&[][..], &[][..], None, open),
            (&insertion, &[], None, open),
            (&change, &[], Some(0), open),
            (&change, &["d"], Some(7), open),
            (&change, &["d", "e"], None, open),
            (&change, &["d@@"], None, open),
            (&change, &["-d"], None, open),
            (&change, &[".d"], None, open),
            (&change, &[" d"], None, open),
            (&change, &[""], None, open),
            (&change, &[], None, (true, Some(false))),
            (&change, &[], None, (false, Some(true))),
            (&deletion, &[], None, (true, None)),
            (&deletion, &[], Some(1), (true, Some(true))),
            (&insertion, &["d"], None, (true, None)),
            (&[removed.clone(), Line::Bare("@@".into())], &[], None, open),
            (&[removed.clone(), Line::Bare("diff".into())], &[], Some(0), open),
            (&[removed.clone(), Line::Context("a\r".into())], &[], None, open),
        ] {
            assert_eq!(lines(change, anchors, hint, end), None, "{change:?} {anchors:?} {hint:?} {end:?}");
        }
    }

    #[test]
    fn what_a_format_cannot_say_is_not_printed() {
        let cannot = |text: &str| v4a(&diff::parse(text, None).unwrap());
        let header = "--- a/x\n+++ b/x\n";
        assert_eq!(cannot(&[header, "@@ -1,1 +1,1 @@\n-a\n+b\n"].concat()), None, "a line number");
        assert_eq!(cannot(&[header, "@@ -0,0 +1,1 @@\n+b\n"].concat()), None, "a range");
        assert_eq!(cannot("diff --git a/x b/x\nold mode 100644\nnew mode 100755\n"), None, "a mode");
        assert_eq!(
            cannot("--- /dev/null\n+++ b/x\n@@ -0,0 +1,1 @@\n+b\n\\ No newline at end of file\n"),
            None
        );
        assert_eq!(cannot("--- a/x\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-b\n"), None, "content to delete");
        assert!(cannot(&[header, "@@\n-a\n+b\n"].concat()).is_some());
        assert_eq!(unified(&Patch::write("x", "a\n".into())), None);
        assert_eq!(v4a(&Patch::write("x", "a\n".into())), None);
        let section = |path: &str, operation| Section::new(path, operation);
        let printed = |section: Section| unified(&Patch { sections: alloc::vec![section] });
        assert_eq!(printed(section("x", Operation::Add(String::new()))), None, "it would be invisible");
        assert_eq!(printed(section("x", Operation::Delete { content: Some(String::new()) })), None);
        assert_eq!(printed(section("./x", Operation::Delete { content: None })), None);
        assert!(printed(section("x", Operation::Delete { content: None })).is_some());
        let moved = |to: &str| Operation::Update { hunks: Vec::new(), move_to: Some(to.into()) };
        assert_eq!([printed(section("x", moved("x"))), printed(section("x", moved("./y")))], [None, None]);
        assert!(printed(section("x", moved("y"))).is_some());
        let still = Operation::Update { hunks: Vec::new(), move_to: None };
        assert_eq!(printed(section("x", still)), None, "nothing changes");
        assert_eq!(unified(&Patch { sections: Vec::new() }), None);
    }
}
