//! The nearest lines of the file when nothing matches, so that the caller's next request can succeed.
//!
//! Words that the request shares with the file vote for places (`vote`), the best places are compared line by line
//! (`align`), and the differences are named (`difference`). The result is only a suggestion and never becomes an edit,
//! so only here are lines compared loosely.

mod align;
mod difference;
mod fold;
mod request;
mod show;
mod vote;

use alloc::vec::Vec;

use self::align::{Aligner, Alignment};
use self::request::RequestLine;
use super::Haystack;
use crate::problem::{Near, NearPlace, Relation};

/// A file of at most this many lines is shown whole when nothing in it is near.
const SHOWN_WHOLE: usize = 60;
/// How many of the first lines are shown of a longer file.
const SHOWN_HEAD: usize = 20;
/// How many places are shown.
const PLACES: usize = 3;
/// How good another place must be to be shown, in thousandths of the best one.
const CLOSE: u32 = 930;
/// The least score of a place that counts as near, in thousandths.
const NEAR: u32 = 330;
/// The least score of a place that is surely meant, in thousandths.
const SURE: u32 = 600;
/// How many diagonals are compared line by line.
const COMPARED: usize = 8;
/// How many diagonals are compared when an elision makes that expensive.
const COMPARED_ELIDED: usize = 3;
/// How many lines are searched for a misspelt one if no word is shared.
const SPELT: usize = 20_000;
/// How many lines are compared to find the new text.
const NEW_WORK: usize = 200_000;

/// Returns only the version, once enough of this file was shown.
#[must_use]
pub fn version_only(haystack: &Haystack<'_>) -> Near {
    answer(haystack, Relation::Head, Vec::new())
}

/// Returns the lines to show if the `wanted` lines are not in the file; `new` are the lines that should have replaced
/// them.
#[must_use]
pub fn near(haystack: &Haystack<'_>, wanted: &[&[u8]], new: &[&[u8]]) -> Near {
    let total = haystack.lines().len();
    let already = already_there(haystack, wanted, new);
    let readings = request::interpretations(wanted);
    let placed = readings.iter().map(|reading| (&reading[..], places(haystack, reading)));
    // Among equal ones, the request as it was sent.
    let best = placed.rev().max_by_key(|(_, places)| places.first().map(|place| place.score));
    let best = best.filter(|(_, places)| !places.is_empty());
    // If only first or last lines are removed, the remaining ones prove nothing while a line like the removed ones is
    // there. If lines between them are removed, the remaining ones are adjacent only after the edit.
    let undone = best.as_ref().is_some_and(|(request, places)| places[0].has_changed(request, new));
    let already = already.filter(|stands| !stands.is_part || !undone);
    if let Some(stands) = &already {
        let (at, to) = (stands.at, stands.at + new.len());
        let elsewhere = best.as_ref().is_some_and(|(_, places)| {
            let (first, last) = places[0].ends().unwrap_or_default();
            places[0].score >= SURE && (last < at || first >= to)
        });
        if !elsewhere && !stands.is_part {
            let relation = if stands.exact { Relation::AlreadyThere } else { Relation::AlreadyThereButSpace };
            return answer(haystack, relation, alloc::vec![show::plain(haystack, at, new.len())]);
        }
    }
    match best {
        Some((request, places)) => {
            let shown = places.iter().enumerate().map(|(i, place)| match i {
                0 => show::best(haystack, request, place, new),
                _ => show::other(haystack, place),
            });
            let mut near = answer(haystack, Relation::Nearest, shown.collect());
            near.new_at = already.map(|stands| stands.at + 1);
            near
        }
        None if total <= SHOWN_WHOLE => {
            answer(haystack, Relation::WholeFile, alloc::vec![show::plain(haystack, 0, total)])
        }
        None => answer(haystack, Relation::Head, alloc::vec![show::plain(haystack, 0, SHOWN_HEAD)]),
    }
}

fn answer(haystack: &Haystack<'_>, relation: Relation, places: Vec<NearPlace>) -> Near {
    let (version, total) = (haystack.text().version(), haystack.lines().len());
    Near { version, total, relation, places, new_at: None }
}

/// Returns the likely places of the request, best first: one, or up to three that are about as good.
fn places(haystack: &Haystack<'_>, request: &[RequestLine<'_>]) -> Vec<Alignment> {
    let (lines, tokens) = (haystack.lines(), haystack.text().tokens());
    let elided = request.iter().any(|line| line.elision);
    let compared = if elided { COMPARED_ELIDED } else { COMPARED };
    let (mut diagonals, rarity) = vote::diagonals(tokens, request, compared);
    if diagonals.is_empty() {
        diagonals.extend(misspelt(haystack, request));
    }
    let aligner = Aligner::new(lines, tokens, request, &rarity);
    let aligned = diagonals.into_iter().map(|diagonal| aligner.align(diagonal));
    let mut aligned: Vec<Alignment> =
        aligned.filter(|place| place.score >= NEAR && place.ends().is_some()).collect();
    // The sort is stable: among equal scores, the place with more votes comes first.
    aligned.sort_by_key(|place| core::cmp::Reverse(place.score));
    let mut places: Vec<Alignment> = Vec::new();
    for place in aligned {
        let good = places.first().is_none_or(|best| place.score >= best.score * CLOSE / 1000);
        let (first, last) = place.ends().unwrap_or_default();
        let apart = places.iter().filter_map(Alignment::ends).all(|(from, to)| last < from || first > to);
        if good && apart && places.len() < PLACES {
            places.push(place);
        }
    }
    places
}

/// Finds the diagonal of the request's longest line by its beginning and end, for a request that shares no word.
fn misspelt(haystack: &Haystack<'_>, request: &[RequestLine<'_>]) -> Option<isize> {
    let (i, line) = request.iter().enumerate().rev().max_by_key(|(_, line)| line.content.len())?;
    let lines = haystack.lines();
    let best = (0..lines.len().min(SPELT))
        .map(|at| (align::alike_ends(lines.content(at), &line.content), at))
        .rev()
        .max_by_key(|&(alike, _)| alike)?;
    (best.0 >= SURE).then_some(best.1 as isize - i as isize)
}

/// A place where the new lines already stand.
struct NewTextPlace {
    at: usize,
    /// Whether they are equal byte for byte, not only except for white space.
    exact: bool,
    /// Whether they are a part of the old lines, so that those in the file may be the old ones.
    is_part: bool,
}

/// Finds where the new lines already stand, if they are distinctive.
fn already_there(haystack: &Haystack<'_>, wanted: &[&[u8]], new: &[&[u8]]) -> Option<NewTextPlace> {
    let tells = |line: &&[u8]| line.trim_ascii().len() > 3;
    let added = |line: &&[u8]| tells(line) && !wanted.iter().take(NEW_WORK / 100).any(|old| old == line);
    let is_part = || wanted.windows(new.len().max(1)).take(NEW_WORK / 100).any(|part| part == new);
    let (telling, adds) = match new.iter().take(1000).position(added) {
        Some(at) => (at, true),
        None => (new.iter().position(tells)?, false),
    };
    let is_part = !adds && is_part();
    let equal: fn(&[u8], &[u8]) -> bool = |a, b| a == b;
    if let Some(at) = stands_at(haystack, new, telling, equal) {
        return Some(NewTextPlace { at, exact: true, is_part });
    }
    // If the request changes white space, it counts.
    let same = |(a, b): (&&[u8], &&[u8])| fold::equal_but_space(a, b);
    if is_part || wanted.len() == new.len() && wanted.iter().zip(new).all(same) {
        return None;
    }
    let at = stands_at(haystack, new, telling, fold::equal_but_space)?;
    Some(NewTextPlace { at, exact: false, is_part })
}

fn stands_at(
    haystack: &Haystack<'_>,
    new: &[&[u8]],
    telling: usize,
    equal: fn(&[u8], &[u8]) -> bool,
) -> Option<usize> {
    let lines = haystack.lines();
    let last_start = lines.len().checked_sub(new.len())?;
    let mut work = 0;
    // A text that begins inside a line lacks the line's indentation.
    let stands = |at: usize, i: usize| match lines.content(at) {
        theirs if i == 0 => equal(theirs, new[0]) || equal(theirs.trim_ascii_start(), new[0]),
        theirs => equal(theirs, new[i]),
    };
    (0..=last_start).filter(|at| stands(at + telling, telling)).find(|at| {
        (0..new.len()).all(|i| {
            work += 1;
            work < NEW_WORK && stands(at + i, i)
        })
    })
}

#[cfg(test)]
mod tests;
