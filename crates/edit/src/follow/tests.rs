//! Lines are followed through edits and past changes: single cases, and a file whose lines are known one by one while it is
//! changed at random.

use alloc::string::String;
use alloc::vec;
use std::format;

use proptest::prelude::*;

use super::*;
use crate::edit::EditBuilder;

fn text(content: &str) -> Text {
    Text::new(content.as_bytes().to_vec()).unwrap()
}

/// The edit that makes these replacements.
fn edited(base: &Text, spans: &[(Range<usize>, &str)]) -> Edit {
    let mut builder = EditBuilder::new(base);
    for (range, new) in spans {
        builder.replace(1, range.clone(), new.as_bytes().to_vec());
    }
    builder.finish().unwrap()
}

/// What a map says of lines `from..to`, counted from 1 as a person does; with `to` before `from`, of the place before it.
fn step(map: &LineMap, from: usize, to: usize) -> Result<(usize, usize), ()> {
    map.step(&(from - 1..to)).map(|kept| (kept.start + 1, kept.end)).map_err(|_| ())
}

fn lines_map(old: usize, blocks: &[(usize, usize, usize)]) -> LineMap {
    let blocks: Vec<LineBlock> =
        blocks.iter().map(|&(first, gone, came)| LineBlock { first: first - 1, gone, came }).collect();
    let (came, gone) = moved(&blocks);
    LineMap::from_blocks(old, old + came - gone, blocks).unwrap()
}

#[test]
fn lines_beside_a_change_move_with_it_and_those_within_it_are_gone() {
    // Lines 4 and 5 of ten became three.
    let map = lines_map(10, &[(4, 2, 3)]);
    assert_eq!(step(&map, 1, 3), Ok((1, 3)));
    assert_eq!(step(&map, 6, 10), Ok((7, 11)));
    for (from, to) in [(4, 4), (5, 5), (3, 4), (5, 6), (1, 10)] {
        assert_eq!(step(&map, from, to), Err(()), "{from}-{to}");
    }
    assert_eq!(map.step(&(3..5)), Err((3..6, true)));
    assert_eq!(map.step(&(4..5)), Err((3..6, false)));
}

#[test]
fn lines_that_were_parted_are_gone_and_their_ends_are_not() {
    let map = lines_map(4, &[(3, 0, 1)]);
    assert_eq!(step(&map, 2, 3), Err(()));
    assert_eq!(step(&map, 1, 2), Ok((1, 2)));
    assert_eq!(step(&map, 3, 4), Ok((4, 5)));
}

#[test]
fn a_place_between_lines_needs_both_of_them_side_by_side() {
    let map = lines_map(6, &[(3, 1, 2)]);
    assert_eq!(step(&map, 2, 1), Ok((2, 1)));
    assert_eq!(step(&map, 3, 2), Err(()), "the line after it is gone");
    assert_eq!(step(&map, 4, 3), Err(()), "the line before it is gone");
    assert_eq!(step(&map, 5, 4), Ok((6, 5)));
    let map = lines_map(2, &[(1, 0, 1), (3, 0, 1)]);
    assert_eq!(step(&map, 1, 0), Err(()), "another line begins the file");
    assert_eq!(step(&map, 2, 1), Ok((3, 2)));
    assert_eq!(step(&map, 3, 2), Err(()), "another line ends the file");
}

#[test]
fn blocks_that_do_not_fit_are_no_map() {
    let block = |first, gone, came| LineBlock { first, gone, came };
    assert!(LineMap::from_blocks(3, 3, vec![block(0, 1, 1), block(1, 1, 1)]).is_some());
    assert!(LineMap::from_blocks(3, 3, vec![block(1, 1, 1), block(0, 1, 1)]).is_none());
    assert!(LineMap::from_blocks(3, 4, vec![block(0, 1, 1)]).is_none());
    assert!(LineMap::from_blocks(3, 3, vec![block(3, 1, 1)]).is_none());
    assert!(LineMap::from_blocks(3, 3, vec![block(usize::MAX, 1, 1)]).is_none());
    assert!(LineMap::from_blocks(3, 2, vec![block(0, 0, usize::MAX)]).is_none());
}

#[track_caller]
fn check_blocks(base: &str, spans: &[(Range<usize>, &str)], expected: &[(usize, usize, usize)]) {
    let base = text(base);
    let map = LineMap::from_edit(&base, &edited(&base, spans)).unwrap();
    let found: Vec<_> = map.blocks.iter().map(|block| (block.first + 1, block.gone, block.came)).collect();
    assert_eq!(found, expected);
}

#[test]
fn spans_touch_the_lines_that_they_change_and_no_others() {
    check_blocks("a\nb\nc\n", &[(2..3, "B")], &[(2, 1, 1)]);
    check_blocks("a\nb\nc\n", &[(2..4, "B\nB\n")], &[(2, 1, 2)]);
    check_blocks("a\nb\nc\n", &[(2..4, "")], &[(2, 1, 0)]);
    check_blocks("a\nb\nc\n", &[(2..2, "x\n")], &[(2, 0, 1)]);
    check_blocks("a\nb\nc\n", &[(6..6, "x\n")], &[(4, 0, 1)]);
    check_blocks("a\nb\nc", &[(5..5, "\nx")], &[(4, 0, 1)]);
    check_blocks("a\nb\nc", &[(5..5, "x")], &[(3, 1, 1)]);
    check_blocks("a\nb\nc", &[(4..5, "C"), (5..5, "x")], &[(3, 1, 1)]);
    check_blocks("", &[(0..0, "x\n")], &[(1, 0, 1)]);
    // Lines that are joined are both touched.
    check_blocks("a\nb\nc\n", &[(1..2, "")], &[(1, 2, 1)]);
    check_blocks("a\nb\nc\n", &[(1..4, "")], &[(1, 3, 1)]);
    check_blocks("a\nb\nc\n", &[(0..0, "x")], &[(1, 1, 1)]);
    check_blocks("a\nb\nc\n", &[(0..1, "x"), (1..1, "y"), (4..4, "z\n")], &[(1, 1, 1), (3, 0, 1)]);
    check_blocks("\u{feff}a\nb\n", &[(3..4, "A")], &[(1, 1, 1)]);
}

/// What a comparison takes for the changed lines.
fn compared(then: &Text, now: &Text) -> LineMap {
    crate::plan::changed_lines(then, now).unwrap()
}

/// Where these lines of `then` are in `now`, by what they hold.
fn by_content(then: &str, now: &str, from: usize, to: usize) -> Followed {
    let (then, now) = (text(then), text(now));
    let named = NamedLines::new(from, to + 1 - from).unwrap();
    let map = compared(&then, &now);
    follow(named, [Step::Compared { then: &then, now: &now, map: &map }], now.lines().len())
}

fn kept(first: usize, count: usize) -> Followed {
    Followed::Kept(CurrentLines { first: first - 1, count })
}

#[test]
fn lines_that_stand_once_in_both_contents_are_the_same() {
    assert_eq!(by_content("a\nb\nc\n", "new\na\nb\nc\n", 2, 2), kept(3, 1));
    assert_eq!(by_content("a\nb\nc\n", "a\nb", 2, 2), kept(2, 1));
    assert_eq!(by_content("a\r\nb\r\nc\r\n", "x\na\nb\nc\n", 1, 3), kept(2, 3));
    assert_eq!(by_content("a\nb\nc\n", "a\nB\nc\n", 2, 2), Followed::Changed(None));
    assert_eq!(by_content("a\nb\nc\n", "a\nb\nnew\nc\n", 2, 3), Followed::Changed(None));
    assert!(
        matches!(by_content("a\nb\nc\n", "a\nb\nc\nb\n", 2, 2), Followed::Several(places) if places.len() == 2)
    );
    assert_eq!(by_content("a\nb\n", "a\n", 3, 3), Followed::Missing { total: 2 });
}

#[test]
fn lines_that_stand_several_times_need_neighbours_that_tell_them_apart() {
    let then = "f {\n x\n}\ng {\n x\n}\n";
    assert_eq!(by_content(then, "// new\nf {\n x\n}\ng {\n x\n}\n", 5, 5), kept(6, 1));
    assert_eq!(by_content(then, "h {\n x\n}\nf {\n x\n}\ng {\n x\n}\n", 2, 2), kept(5, 1));
    assert_eq!(by_content(then, "f {\n x\n}\ng2 {\n x\n}\n", 5, 5), Followed::Changed(None));
    assert!(matches!(by_content(then, "f {\n x\n}\ng {\n x\n}\ng {\n x\n}\n", 5, 5), Followed::Several(_)));
}

#[test]
fn a_line_that_none_of_its_neighbours_has_gone_with_is_not_followed() {
    assert_eq!(by_content("a\nb\nc\nd\n", "a\nB\nc\nd\nb\nx\n", 2, 2), Followed::Changed(None));
    // A bracket is no company: the line of one block was changed, and its like was written into the other.
    let (then, now) = ("f {\n x\n}\ng {\n y\n}\n", "f {\n z\n}\ng {\n y\n x\n}\n");
    assert_eq!(by_content(then, now, 2, 2), Followed::Changed(None));
}

#[test]
fn a_place_by_content_needs_both_neighbours_side_by_side() {
    assert_eq!(by_content("a\nb\nc\n", "new\na\nb\nc\n", 2, 1), kept(3, 0));
    assert_eq!(by_content("a\nb\nc\n", "a\nnew\nb\nc\n", 2, 1), Followed::Changed(None));
    assert_eq!(by_content("a\nb\nc\n", "new\na\nb\nc\n", 1, 0), Followed::Changed(None));
    assert_eq!(by_content("a\nb\nc\n", "new\na\nb\nc\n", 4, 3), kept(5, 0));
    assert_eq!(by_content("a\nb\nc\n", "a\nb\nc\nnew\n", 4, 3), Followed::Changed(None));
    assert_eq!(by_content("", "", 1, 0), kept(1, 0));
}

#[test]
fn steps_follow_each_other() {
    let [then, now] = ["a\nb\nc\n", "0\na\nb\nc\n"].map(text);
    let map = LineMap::from_edit(&now, &edited(&now, &[(0..2, "")])).unwrap();
    let whole = compared(&then, &now);
    let first = Step::Compared { then: &then, now: &now, map: &whole };
    let steps = |named| follow(named, [first, Step::Edited(&map)], 3);
    assert_eq!(steps(NamedLines::new(2, 1).unwrap()), kept(2, 1));
    // What was changed stays so, and what took its place is followed.
    let maps = [lines_map(4, &[(2, 1, 2)]), lines_map(5, &[(1, 0, 1)])];
    let found = follow(NamedLines::new(2, 1).unwrap(), maps.iter().map(Step::Edited), 6);
    let remains = Remains { lines: CurrentLines { first: 2, count: 2 }, is_tight: true };
    assert_eq!(found, Followed::Changed(Some(remains)));
    assert_eq!(follow(NamedLines::new(2, 1).unwrap(), [], 1), Followed::Missing { total: 1 });
    assert_eq!((NamedLines::new(0, 1), NamedLines::new(2, usize::MAX)), (None, None));
}

#[test]
fn many_equal_lines_are_soon_refused() {
    let [then, now] =
        ["x\n".repeat(200_000), format!("{}y\n", "x\n".repeat(200_000))].map(|content| text(&content));
    let named = NamedLines::new(50_000, 50_000).unwrap();
    let map = compared(&then, &now);
    let found = follow(named, [Step::Compared { then: &then, now: &now, map: &map }], 200_001);
    assert!(matches!(found, Followed::Several(_)), "{found:?}");
}

proptest! {
    #[test]
    fn a_map_says_which_lines_are_as_they_were(
        old in "(\u{feff})?([ab]{0,2}\r?\n){0,12}[ab]{0,2}",
        cuts in proptest::collection::vec((0usize..60, 0usize..6, "[ab\n]{0,4}"), 0..5),
    ) {
        let base = text(&old);
        let mut builder = EditBuilder::new(&base);
        let mut at = base.body().start;
        for (skip, take, new) in cuts {
            let start = (at + skip % 9).min(old.len());
            let end = (start + take).min(old.len());
            builder.replace(1, start..end, new.into_bytes());
            at = end;
        }
        let edit = builder.finish().unwrap();
        let now = edit.result(&base);
        let map = LineMap::from_edit(&base, &edit).unwrap();
        let (was, is) = (base.lines(), now.lines());
        prop_assert_eq!((map.old, map.new), (was.len(), is.len()));
        prop_assert_eq!(LineMap::from_blocks(map.old, map.new, map.blocks.clone()), Some(map.clone()));
        for line in 0..was.len() {
            if let Ok(kept) = map.step(&(line..line + 1)) {
                prop_assert_eq!(was.content(line), is.content(kept.start));
            }
        }
    }
}

/// A line of the test, told from all others with its text.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Line {
    id: u32,
    text: u8,
}

/// Numbers that look random and are the same each time.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) % bound as u64) as usize
    }
}

/// A file whose lines are known one by one, and what became of them.
struct File {
    lines: Vec<Line>,
    next: u32,
    texts: usize,
}

impl File {
    fn random(random: &mut Random) -> Self {
        // Few texts recur often, many seldom.
        let texts = [2, 4, 12, 60][random.below(4)];
        let mut file = Self { lines: Vec::new(), next: 0, texts };
        for _ in 0..random.below(16) + 1 {
            let line = file.line(random);
            file.lines.push(line);
        }
        file
    }

    fn line(&mut self, random: &mut Random) -> Line {
        self.next += 1;
        Line { id: self.next, text: random.below(self.texts) as u8 }
    }

    fn text(&self) -> Text {
        text(&content(&self.lines))
    }

    /// Some neighbouring lines.
    fn some(&self, random: &mut Random) -> Range<usize> {
        let start = random.below(self.lines.len() + 1);
        start..start + random.below((self.lines.len() - start).min(4) + 1)
    }

    /// Replaces lines. Those that come are new ones even where they read the same.
    fn replace(&mut self, range: Range<usize>, new: Vec<Line>) {
        self.lines.splice(range, new);
    }

    /// Lines that read like these and are others.
    fn copies(&mut self, range: Range<usize>) -> Vec<Line> {
        let texts: Vec<u8> = self.lines[range].iter().map(|line| line.text).collect();
        let copy = |text| {
            self.next += 1;
            Line { id: self.next, text }
        };
        texts.into_iter().map(copy).collect()
    }

    /// An edit of Emend: lines are replaced, deleted or inserted, and what it did is known.
    fn edit(&mut self, random: &mut Random) -> LineMap {
        let base = self.text();
        let range = self.some(random);
        let new: Vec<Line> = match random.below(3) {
            0 => self.copies(range.clone()),
            _ => (0..random.below(3)).map(|_| self.line(random)).collect(),
        };
        let lines = base.lines();
        let bytes = lines.start(range.start)..lines.start(range.end);
        let edit = edited(&base, &[(bytes, &content(&new))]);
        self.replace(range, new);
        assert_eq!(edit.apply(base.bytes()), self.text().bytes());
        LineMap::from_edit(&base, &edit).unwrap()
    }

    /// What somebody else may do: change, move, double, delete or insert lines.
    fn disturb(&mut self, random: &mut Random) {
        let range = self.some(random);
        let to = random.below(self.lines.len() + 1);
        match random.below(5) {
            0 => {
                let new = range.clone().map(|_| self.line(random)).collect();
                self.replace(range, new);
            }
            1 => {
                let moved: Vec<Line> = self.lines.drain(range).collect();
                let to = to.min(self.lines.len());
                self.lines.splice(to..to, moved);
            }
            2 => {
                let copies = self.copies(range);
                self.replace(to..to, copies);
            }
            3 => self.replace(range, Vec::new()),
            _ => {
                let new = (0..random.below(3)).map(|_| self.line(random)).collect();
                self.replace(to..to, new);
            }
        }
    }
}

fn content(lines: &[Line]) -> String {
    lines.iter().map(|line| format!("line {}\n", line.text)).collect()
}

/// Where lines of these identities stand together.
fn together(lines: &[Line], wanted: &[Line]) -> Option<usize> {
    lines.windows(wanted.len().max(1)).position(|window| window == wanted)
}

/// How far the neighbours of some lines are those of others, on both sides; the edges of the files are neighbours too.
fn margin(
    a: &[Line],
    at: &Range<usize>,
    b: &[Line],
    start: usize,
    is_same: fn(&Line, &Line) -> bool,
) -> usize {
    let edge = |lines: &[Line], at: isize| match at {
        -1 => None,
        at => lines.get(at as usize).cloned(),
    };
    let end = start + at.len();
    let mut margin = 0;
    loop {
        let step = margin as isize + 1;
        let sides = [
            (at.start as isize - step, start as isize - step),
            (at.end as isize + step - 1, end as isize + step - 1),
        ];
        let mut moved = false;
        for (in_a, in_b) in sides {
            if in_a < -1 || in_a > a.len() as isize {
                continue;
            }
            moved = true;
            if in_b < -1 || in_b > b.len() as isize {
                return margin;
            }
            match (edge(a, in_a), edge(b, in_b)) {
                (None, None) => {}
                (Some(a), Some(b)) if is_same(&a, &b) => {}
                _ => return margin,
            }
        }
        if !moved {
            return usize::MAX;
        }
        margin += 1;
    }
}

/// One case: a file is read, changed, and lines of what was read are looked for. Says whether they were followed.
fn hostile(seed: u64) -> bool {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    // The first numbers of neighbouring seeds are alike.
    (0..8).for_each(|_| _ = random.below(2));
    let mut file = File::random(&mut random);
    let read = file.lines.clone();
    let then = file.text();
    let range = file.some(&mut random);
    let wanted = &read[range.clone()];
    // The line before and after a place: it is where these two meet.
    let beside = range.start.saturating_sub(1)..(range.start + 1).min(read.len());
    let tracked = if wanted.is_empty() { &read[beside.clone()] } else { wanted };

    let by_others = random.below(2) == 0;
    // Whether the lines stood together all along.
    let mut stood = true;
    let is_there = |lines: &[Line]| {
        let at = if tracked.is_empty() { Some(0) } else { together(lines, tracked) };
        at.filter(|at| match wanted {
            // The edge of a file that a place is at is one of its neighbours.
            [] => {
                (range.start > 0 || *at == 0)
                    && (range.start < read.len() || at + tracked.len() == lines.len())
            }
            _ => true,
        })
    };
    let mut maps = Vec::new();
    for _ in 0..random.below(5) {
        if by_others {
            file.disturb(&mut random);
        } else {
            maps.push(file.edit(&mut random));
            stood &= is_there(&file.lines).is_some();
        }
    }
    let (between, compared) = (file.lines.clone(), file.text());
    let place = is_there(&between);
    // Edits of the same call come after what others did.
    let mut later = Vec::new();
    let mut stood_later = true;
    for _ in 0..random.below(2) {
        later.push(file.edit(&mut random));
        stood_later &= is_there(&file.lines).is_some();
    }
    let whole = self::compared(&then, &compared);
    let steps: Vec<Step<'_>> = match by_others {
        true => vec![Step::Compared { then: &then, now: &compared, map: &whole }],
        false => maps.iter().map(Step::Edited).collect(),
    };
    let named = NamedLines::new(range.start + 1, range.len()).unwrap();
    let found = follow(named, steps.iter().copied(), between.len());
    let Followed::Kept(at) = found else {
        assert!(by_others || !stood, "seed {seed}: these lines are there, and are refused: {found:?}");
        return false;
    };
    let told = |what: &str| format!("seed {seed}: {what}: {range:?} of {read:?} at {at:?} of {between:?}");
    let landed = &between[at.first..at.first + at.count];
    let is_itself = match wanted {
        [] => place.is_some_and(|place| at.first == place + range.start - beside.start),
        _ => landed == wanted,
    };
    if !by_others {
        assert!(is_itself, "{}", told("an edit that is known was followed to another place"));
    } else if !is_itself {
        let reads_the_same = |a: &Line, b: &Line| a.text == b.text;
        assert!(wanted.iter().zip(landed).all(|(a, b)| a.text == b.text), "{}", told("it reads otherwise"));
        let seen = margin(&read, &range, &between, at.first, reads_the_same);
        // Where the lines still stand, what stands around them there tells less than what stands around the other place.
        if let Some(place) = place {
            let start = if wanted.is_empty() { place + range.start - beside.start } else { place };
            let own = margin(&read, &range, &between, start, reads_the_same);
            assert!(own < seen, "{}", told("the lines themselves stand elsewhere"));
        }
        // And there is no second place that reads like that, neither then nor now.
        let places = |lines: &[Line]| {
            let starts = 0..=lines.len() - range.len().min(lines.len());
            let here = |start: &usize| {
                lines[*start..].iter().zip(wanted).filter(|(a, b)| a.text == b.text).count() == wanted.len()
                    && margin(&read, &range, lines, *start, reads_the_same) >= seen
            };
            starts.filter(here).count()
        };
        assert_eq!((places(&read), places(&between)), (1, 1), "{}", told("another place reads the same"));
    }
    let all = follow(named, steps.into_iter().chain(later.iter().map(Step::Edited)), file.lines.len());
    if let Followed::Kept(at) = all {
        let now = &file.lines[at.first..at.first + at.count];
        assert!(now == landed, "{}", told("an earlier edit of the call was not followed"));
    } else {
        assert!(!is_itself || !stood_later, "{}", told("an earlier edit of the call is in the way"));
    }
    true
}

/// How many cases there are unless it is told: `cargo xtask lines` runs a million.
const CASES: u64 = 20_000;

#[test]
fn stale_lines_are_followed_to_themselves_or_refused() {
    let told = std::env::var("EMEND_LINES").ok().and_then(|cases| cases.parse().ok());
    let cases = told.unwrap_or(CASES);
    let followed = (0..cases).filter(|seed| hostile(*seed)).count() as u64;
    std::println!("{cases} cases, {followed} followed");
    assert!(followed * 5 > cases, "only {followed} of {cases} are followed");
}

#[test]
fn among_equal_lines_nobody_knows_above_or_below_which_one_came_or_went() {
    let text = |content: &str| Text::new(content.into()).unwrap();
    let followed = |then: &str, now: &str, first: usize, count: usize| {
        let (then, now) = (text(then), text(now));
        let map = self::compared(&then, &now);
        let step = Step::Compared { then: &then, now: &now, map: &map };
        follow(NamedLines::new(first, count).unwrap(), [step], now.line_count())
    };
    let then = "1\n0\n0\n0\nx\ny\n";
    for now in ["1\n0\n0\n0\n0\nx\ny\n", "1\n0\n0\nx\ny\n"] {
        assert!(!matches!(followed(then, now, 3, 1), Followed::Kept(_)), "{now}");
        assert!(matches!(followed(then, now, 5, 2), Followed::Kept(_)), "{now}");
    }
    assert!(matches!(followed(then, "1\n0\n0\n0\n0\nx\ny\n", 2, 2), Followed::Several(_)));
    // Between the two, or below them.
    assert!(matches!(followed("a\nc\nz\n", "a\nc\nb\nc\nz\n", 1, 2), Followed::Several(_)));
    // All of them at once are followed.
    assert!(matches!(followed(then, "1\n0\n0\n0\nx\nx\ny\n", 2, 3), Followed::Kept(_)));
}
