//! The messages about a replacement in many files that is not made, and what it left out.

use std::fmt;

use emend_workspace::problem::{Expected, LeftOut, PlacesOfFile, UnexpectedPlaces};

/// The number of files whose places are counted one by one.
const FILES: usize = 60;
/// The number of characters of places that are shown.
const SHOWN: usize = 4_000;
/// The number of places of a file that are shown before those of all files were.
const FIRST: usize = 3;

/// Says what a replacement in many files has left out, if anything.
pub(crate) fn left_out(left_out: &LeftOut) -> Option<String> {
    let LeftOut {
        ignored_files,
        ignored_folders,
        binary,
        too_large,
        unreadable,
        other_language,
        unsound,
        fuller_places,
    } = *left_out;
    let counted = |count: usize, one: &str, several: &str| {
        (count > 0).then(|| format!("{count} {}", if count == 1 { one } else { several }))
    };
    let parts: Vec<String> = [
        counted(ignored_files, "ignored file", "ignored files"),
        counted(ignored_folders, "ignored folder", "ignored folders"),
        counted(binary, "binary file", "binary files"),
        counted(too_large, "file that is too large to be read", "files that are too large to be read"),
        counted(unreadable, "file or folder that cannot be read", "files or folders that cannot be read"),
        counted(other_language, "file in another language", "files in other languages"),
        counted(unsound, "file that cannot be parsed", "files that cannot be parsed"),
        counted(
            fuller_places,
            "place that has more in it than the pattern, such as a comment, a comma or a `;`",
            "places that have more in them than the pattern, such as a comment, a comma or a `;`",
        ),
    ]
    .into_iter()
    .flatten()
    .collect();
    (!parts.is_empty()).then(|| format!("Skipped: {}", parts.join(", ")))
}

pub(super) fn write_none(searched: usize, not: &LeftOut, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let left = left_out(not).map(|left| format!(" {left}.")).unwrap_or_default();
    if searched == 0 {
        return write!(
            f,
            "No file was searched: none is where path and glob say.{left} list_files shows what a glob takes."
        );
    }
    let s = if searched == 1 { "" } else { "s" };
    write!(
        f,
        "The text is not in the {searched} file{s} searched, or what would replace it stands there already.{left} search_text \
         finds what is there; case counts unless ignore_case is given."
    )
}

pub(super) fn write_unexpected(found: &UnexpectedPlaces, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let (places, files) = (found.places(), found.files.len());
    let all = format!("{places} place{} in {files} file{}", plural(places), plural(files));
    match found.expected {
        Expected::Count(expected) => write!(f, "There are {all}, and expected_count is {expected}.")?,
        Expected::Files(expected) => write!(f, "There are {all}, and expected_files is {expected}.")?,
        Expected::AtMost { places, files } => write!(
            f,
            "There are {all}. More than {places} places or {files} files are only changed by a call that says how many it \
             means, with expected_count and expected_files."
        )?,
    }
    f.write_str(" Nothing was changed.")?;
    if let Some(left) = left_out(&found.left_out) {
        write!(f, " {left}.")?;
    }
    write_counts(&found.files, f)?;
    write_places(&found.files, f)?;
    match &found.preview {
        Some(handle) => write!(
            f,
            "\nTo replace all: apply_preview {{\"preview\": \"{handle}\"}}; some: with \"hunks\": [their numbers]. The \
             handle is good for 30 minutes."
        ),
        None => f.write_str("\nCorrect what is expected, or narrow the glob or the text."),
    }
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

/// Writes the number of places in each file, and the numbers by which to name them.
fn write_counts(files: &[PlacesOfFile], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut first = 1;
    for file in files.iter().take(FILES) {
        let PlacesOfFile { name, count, .. } = file;
        match count {
            1 => write!(f, "\n{name}: 1 (number {first})")?,
            _ => write!(f, "\n{name}: {count} (numbers {first}-{})", first + count - 1)?,
        }
        first += count;
    }
    if let Some(more) = files.len().checked_sub(FILES).filter(|more| *more > 0) {
        let last: usize = files.iter().map(|file| file.count).sum();
        write!(f, "\n... and {more} more file{} (numbers {first}-{last})", plural(more))?;
    }
    f.write_str("\n")
}

/// Writes the first places of each file, and then others, as far as there is room.
fn write_places(files: &[PlacesOfFile], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let text = |file: &PlacesOfFile, at: usize| {
        let place = &file.shown[at];
        format!("\n{}. {}:{}: {}", place.number, file.name, place.line, place.text)
    };
    let mut room = SHOWN;
    let mut shown = vec![0; files.len()];
    for most in [FIRST, usize::MAX] {
        for (file, shown) in files.iter().zip(&mut shown) {
            while *shown < file.shown.len().min(most)
                && let Some(left) = room.checked_sub(text(file, *shown).chars().count())
            {
                (room, *shown) = (left, *shown + 1);
            }
        }
    }
    let mut left_out = 0;
    for (file, shown) in files.iter().zip(shown) {
        (0..shown).try_for_each(|at| f.write_str(&text(file, at)))?;
        left_out += file.count - shown;
    }
    if left_out > 0 {
        write!(f, "\n... and {left_out} more place{}; search_text shows them", plural(left_out))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use emend_workspace::problem::{Kind, NumberedPlace, Problem};

    use super::*;
    use crate::messages::{Audience, message};

    fn file(name: &str, first: usize, count: usize) -> PlacesOfFile {
        let place = |at: usize| NumberedPlace { number: first + at, line: at + 1, text: "x = 1".into() };
        PlacesOfFile { name: name.into(), count, shown: (0..count.min(50)).map(place).collect() }
    }

    fn told(expected: Expected, files: Vec<PlacesOfFile>, preview: Option<&str>) -> String {
        let left_out = LeftOut { ignored_folders: 1, binary: 2, ..LeftOut::default() };
        let preview = preview.map(str::to_owned);
        let found = UnexpectedPlaces { expected, files, left_out, preview };
        message(&Problem::new(Kind::UnexpectedPlaces(Box::new(found))), Audience::Model)
    }

    #[test]
    fn the_counts_of_files_come_first_and_then_numbered_places() {
        assert_eq!(
            told(Expected::Count(4), vec![file("a", 1, 2), file("b", 3, 1)], Some("preview-1")),
            "There are 3 places in 2 files, and expected_count is 4. Nothing was changed. Skipped: 1 ignored folder, 2 \
             binary files.\n\
             a: 2 (numbers 1-2)\n\
             b: 1 (number 3)\n\n\
             1. a:1: x = 1\n\
             2. a:2: x = 1\n\
             3. b:1: x = 1\n\
             To replace all: apply_preview {\"preview\": \"preview-1\"}; some: with \"hunks\": [their numbers]. The handle is \
             good for 30 minutes."
        );
    }

    #[test]
    fn of_many_places_each_file_has_some_and_the_others_are_counted() {
        let files = (0..100).map(|at| file(&format!("folder/file-{at}.txt"), at * 100 + 1, 100)).collect();
        let told = told(Expected::AtMost { places: 1_000, files: 100 }, files, None);
        assert!(told.contains("... and 40 more files (numbers 6001-10000)\n"), "{told}");
        assert!(told.contains("\n101. folder/file-1.txt:1: x = 1\n"), "{told}");
        assert!(told.contains("more places; search_text shows them\n"), "{told}");
        assert!(told.chars().count() < 7_000, "{}", told.chars().count());
    }
}
