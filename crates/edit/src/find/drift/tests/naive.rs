//! Comparison of the layer's conditions with a naive second implementation that tries everything.

use alloc::string::ToString;

use proptest::prelude::*;

use super::super::*;
use crate::find::tests::hunk;
use crate::find::{BlockForm, FindLimits};
use crate::text::Text;

/// The lowest cost and the fewest rows lost, of all ways to stand these rows on the lines from `at` on; the first `done`
/// rows have their place already.
fn cheapest(rows: &[RequestRow<'_>], file: &[&[u8]], done: usize, at: usize) -> Option<(usize, usize)> {
    if at.abs_diff(done) > DRIFT {
        return None;
    }
    let (mut ways, row) = (Vec::new(), rows.get(done));
    if row.is_none_or(|row| !row.joined) && at < file.len() && (done > 0 || row.is_some()) {
        ways.push(cheapest(rows, file, done, at + 1).map(|(cost, lost)| (cost + 1, lost)));
    }
    let Some(row) = row else {
        ways.push(Some((0, 0)));
        return ways.into_iter().flatten().min();
    };
    if file.get(at) == Some(&row.text) {
        ways.push(cheapest(rows, file, done + 1, at + 1));
    } else if at < file.len() && !row.must {
        ways.push(cheapest(rows, file, done + 1, at + 1).map(|(cost, lost)| (cost + 1, lost + 1)));
    }
    if !row.must {
        ways.push(cheapest(rows, file, done + 1, at).map(|(cost, lost)| (cost + 1, lost + 1)));
    }
    ways.into_iter().flatten().min()
}

fn block_of<T>(request: &str, lines: usize, ask: impl FnOnce(&Block<'_>) -> T) -> T {
    let lines_of_request = hunk(request);
    let starts = [0..lines];
    ask(&Block::new(&lines_of_request, &starts, BlockForm::Diff, &[]))
}

fn aligned(at: &[Option<usize>]) -> Alignment {
    Alignment { at: at.to_vec() }
}

const WORDS: [&str; 4] = ["alpha", "beta", "gamma", "delta"];

proptest! {
    #[test]
    fn the_way_of_the_rows_through_the_file_is_the_cheapest(
        rows in proptest::collection::vec((0..2usize, any::<bool>(), any::<bool>()), 0..6),
        file in proptest::collection::vec(0..2usize, 0..10),
    ) {
        let row = |&(word, must, joined): &(usize, bool, bool)| RequestRow { text: WORDS[word].as_bytes(), must, joined };
        let rows: Vec<RequestRow<'_>> = rows.iter().map(row).collect();
        let file: Vec<&[u8]> = file.iter().map(|&word| WORDS[word].as_bytes()).collect();
        let found = walk(&rows, |at| file.get(at).copied());
        let lost = |stand: &[Option<usize>]| stand.iter().filter(|at| at.is_none()).count();
        let told = found.as_ref().map(|(stand, cost)| (*cost, lost(stand)));
        prop_assert_eq!(told, cheapest(&rows, &file, 0, 0));
        let Some((stand, _)) = found else { return Ok(()) };
        prop_assert_eq!(stand.len(), rows.len());
        prop_assert!(stand.iter().flatten().is_sorted_by(|a, b| a < b));
        for (row, at) in rows.iter().zip(&stand) {
            prop_assert!(at.map_or(!row.must, |at| file[at] == row.text));
        }
        for (pair, rows) in stand.windows(2).zip(rows.windows(2)) {
            if let ([Some(a), Some(b)], true) = (pair, rows[1].joined) {
                prop_assert_eq!(a + 1, *b);
            }
        }
    }

    #[test]
    fn a_rival_has_as_many_lines_or_more_of_the_context_in_a_stretch_of_twice_the_drift(
        // Most lines are not of the request, so that the others stand near each other or not.
        file in proptest::collection::vec(0..16usize, 3..40),
        old in proptest::collection::vec((0..4usize, any::<bool>()), 2..5),
        lines in 2..4usize, context in 0..3usize, taken in 0..3usize,
    ) {
        let texts: Vec<&str> = file.iter().map(|&word| WORDS.get(word).copied().unwrap_or("other")).collect();
        let text = Text::new(texts.join("\n").into_bytes()).unwrap();
        let (is_context, rows): (Vec<bool>, Vec<&str>) = old.iter().map(|&(word, is)| (is, WORDS[word])).unzip();
        let bytes: Vec<&[u8]> = rows.iter().map(|row| row.as_bytes()).collect();
        let stand = aligned(&[Some(taken)]);
        let limits = FindLimits::default();
        let h = Haystack::new(&text);
        let found =
            has_rival(&h, &bytes, &is_context, &stand, Score { lines, context }, &Budget::new(&limits)).unwrap();
        // Each pair of equal lines votes for a start of the block.
        let pairs = (0..texts.len()).filter(|&at| at != taken).flat_map(|at| (0..rows.len()).map(move |row| (at, row)));
        let votes: Vec<(usize, usize)> =
            pairs.filter(|&(at, row)| texts[at] == rows[row]).map(|(at, row)| (at + rows.len() - row, row)).collect();
        let wanted = votes.iter().any(|&(end, _)| {
            let near = votes.iter().filter(|(start, _)| (end.saturating_sub(2 * DRIFT)..=end).contains(start));
            let near: BTreeSet<usize> = near.map(|&(_, row)| row).collect();
            near.len() >= lines || near.iter().filter(|&&row| is_context[row]).count() > context
        });
        prop_assert_eq!(found, wanted, "{:?} in {:?}", rows, texts);
    }

    #[test]
    fn added_lines_stand_already_where_all_of_a_run_stand_together(
        file in proptest::collection::vec(0..4usize, 0..8),
        request in proptest::collection::vec((0..3usize, 0..4usize), 1..6),
    ) {
        let texts: Vec<&str> = file.iter().map(|&word| WORDS[word]).collect();
        let text = Text::new(texts.join("\n").into_bytes()).unwrap();
        let line = |&(mark, word): &(usize, usize)| [["+", "-", " "][mark], WORDS[word], "\n"].concat();
        let request: alloc::string::String = request.iter().map(line).collect();
        let limits = FindLimits::default();
        let h = Haystack::new(&text);
        let found = block_of(&request, texts.len(), |block| stands_already(&h, block, &Budget::new(&limits)));
        let runs = request.lines().map(|line| line.strip_prefix('+')).collect::<Vec<_>>();
        let mut runs = runs.split(Option::is_none).filter(|run| !run.is_empty());
        let wanted = runs.any(|run| texts.windows(run.len()).any(|window| window.iter().zip(run).all(|(a, b)| Some(*a) == *b)));
        prop_assert_eq!(found.unwrap(), wanted, "{} in {:?}", request, texts);
    }
}

/// Makes a file of numbered lines, some of which are replaced.
fn numbered(others: &[(usize, &str)]) -> Text {
    let line = |at: usize| {
        let other = others.iter().find(|(place, _)| *place == at);
        other.map_or_else(|| ["number ", &at.to_string()].concat(), |(_, text)| text.to_string())
    };
    Text::new((0..40).map(line).collect::<Vec<_>>().join("\n").into_bytes()).unwrap()
}

#[test]
fn a_line_that_must_be_there_and_stands_once_more_within_the_drift_is_a_choice() {
    let request = " number 19\n-number 20\n number 21\n";
    let old: [&[u8]; 3] = [b"number 19", b"number 20", b"number 21"];
    let stand = aligned(&[Some(19), Some(20), Some(21)]);
    for (place, is_choice) in [(12, false), (13, true), (18, true), (22, true), (27, true), (28, false)] {
        let text = numbered(&[(place, "number 20")]);
        let h = Haystack::new(&text);
        let has_choice = |block: &Block<'_>| {
            RequiredLines::from_block(block).is_some_and(|core| core.has_choice(&h, &old, &stand))
        };
        assert_eq!(block_of(request, 40, has_choice), is_choice, "line {place}");
    }
    // Context lines may stand anywhere within reach.
    let text = numbered(&[(18, "number 19")]);
    let h = Haystack::new(&text);
    let has_choice = |block: &Block<'_>| {
        RequiredLines::from_block(block).is_some_and(|core| core.has_choice(&h, &old, &stand))
    };
    assert!(!block_of(request, 40, has_choice));
}

#[test]
fn a_line_of_other_spelling_is_looked_for_within_the_drift() {
    let old: [&[u8]; 3] = [b"num ber 19", b"number 20", b"number 21"];
    let stand = aligned(&[None, Some(20), Some(21)]);
    for (place, differs) in [(13, false), (14, true), (19, true), (22, true), (27, true), (28, false)] {
        let text = numbered(&[(place, "number\t19"), (19, "else")]);
        let h = Haystack::new(&text);
        assert_eq!(differs_in_spelling_alone(&h, &old, &stand), differs, "line {place}");
    }
    // A matched line is not compared, and a blank one is no other spelling of a line.
    let text = numbered(&[(19, "else"), (18, ""), (17, "number  20")]);
    let h = Haystack::new(&text);
    assert!(!differs_in_spelling_alone(&h, &old, &stand));
    assert!(!differs_in_spelling_alone(&h, &[b" ", b"number 20", b"number 21"], &stand));
}

#[test]
fn removed_lines_stand_together_and_the_neighbours_of_an_insertion_beside_each_other() {
    let core = |request: &str| {
        let core = block_of(request, 9, |block| {
            RequiredLines::from_block(block)
                .map(|core| (core.must, core.joined, core.start, core.may_differ, core.removed.len()))
        });
        core.unwrap()
    };
    let removal = " alpha\n-be\n-gamma\n delta\n epsilon\n";
    let (must, joined) = (vec![false, true, true, false, false], vec![false, true, false, false, false]);
    assert_eq!(core(removal), (must, joined, 2, 1, 2));
    let insertion = " alpha\n beta\n+new\n gamma\n delta\n";
    let (must, joined) = (vec![false, true, true, false], vec![false, true, false, false]);
    assert_eq!(core(insertion), (must, joined, 2, 1, 0));
    // A third of the context may differ.
    let long = [" alpha\n beta\n gamma\n".repeat(2), "-delta\n+new\n-\n".to_string()].concat();
    let must = [vec![false; 6], vec![true; 2]].concat();
    let joined = [vec![false; 6], vec![true, false]].concat();
    assert_eq!(core(&long), (must, joined, 6, 2, 1));
    for request in ["+new\n alpha\n", " alpha\n+new\n", "-alpha\n-beta\n", " alpha\n-\n"] {
        assert!(block_of(request, 9, |block| RequiredLines::from_block(block).is_none()), "{request}");
    }
}
