//! When nothing matches: the lines of the file that come nearest, so that one more call mends the first.
//!
//! Words that the request shares with the file vote for places (`vote`), the best of them are compared line
//! by line (`align`), and what parts the lines is named (`difference`). All of this is a suggestion: no edit
//! is ever made of it, so here, and only here, lines are compared loosely.

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
/// How many of the first lines are shown of a longer one.
const SHOWN_HEAD: usize = 20;
/// How many places are shown.
const PLACES: usize = 3;
/// Another place is shown when it is so good, compared with the best; in thousandths.
const CLOSE: u32 = 930;
/// A worse place resembles nothing; in thousandths.
const NEAR: u32 = 330;
/// A place that surely is the one that was meant; in thousandths.
const SURE: u32 = 600;
/// How many diagonals are compared line by line.
const COMPARED: usize = 8;
/// The same, when an elision makes it dear.
const COMPARED_ELIDED: usize = 3;
/// Lines that are looked at where no word is shared, for a word that is misspelt.
const SPELT: usize = 20_000;
/// Lines that are compared to find the new text.
const NEW_WORK: usize = 200_000;

/// Shows nothing but the version: enough was shown of this file already.
#[must_use]
pub fn version_only(haystack: &Haystack<'_>) -> Near {
    answer(haystack, Relation::Head, Vec::new())
}

/// What to show of the file to somebody whose `wanted` lines are not in it and whose `new` lines would
/// have taken their place.
#[must_use]
pub fn near(haystack: &Haystack<'_>, wanted: &[&[u8]], new: &[&[u8]]) -> Near {
    let total = haystack.lines().len();
    let already = already_there(haystack, wanted, new);
    let readings = request::interpretations(wanted);
    let mut best: Option<(&[RequestLine<'_>], Vec<Alignment>)> = None;
    for reading in &readings {
        let places = places(haystack, reading);
        let score = |places: &[Alignment]| places.first().map_or(0, |place| place.score);
        if score(&places) > best.as_ref().map_or(0, |(_, places)| score(places)) {
            best = Some((reading, places));
        }
    }
    // Where lines are only taken away before or after the others, that these stand there proves nothing as long as
    // something like the ones to go does. Where they were between them, the others are neighbours only without them.
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

/// The places where the request may stand, best first: one, or up to three that are about as good.
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
    // Stable: of equals, the one with more votes.
    aligned.sort_by_key(|place| core::cmp::Reverse(place.score));
    let mut places: Vec<Alignment> = Vec::new();
    for place in aligned {
        let good = places.first().is_none_or(|best| place.score >= best.score * CLOSE / 1000);
        let ends = place.ends();
        let apart = places.iter().all(|other| match (ends, other.ends()) {
            (Some((first, last)), Some((from, to))) => last < from || first > to,
            _ => false,
        });
        if good && apart && places.len() < PLACES {
            places.push(place);
        }
    }
    places
}

/// The place of the longest line where not one word is shared: that with the same beginning and end.
fn misspelt(haystack: &Haystack<'_>, request: &[RequestLine<'_>]) -> Option<isize> {
    let (i, line) = request.iter().enumerate().rev().max_by_key(|(_, line)| line.content.len())?;
    let lines = haystack.lines();
    let best = (0..lines.len().min(SPELT))
        .map(|at| (align::alike_ends(lines.content(at), &line.content), at))
        .rev()
        .max_by_key(|&(alike, _)| alike)?;
    (best.0 >= SURE).then_some(best.1 as isize - i as isize)
}

/// Where the new lines stand already.
struct NewTextPlace {
    at: usize,
    /// Byte for byte, not but for white space.
    exact: bool,
    /// They stand in the old lines as they are, so where they stand in the file they may be the old ones.
    is_part: bool,
}

/// Where the new lines stand already, if they say anything.
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
    // Where white space is what is to change, it counts.
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
    // A text that begins inside of a line has none of its indentation.
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
