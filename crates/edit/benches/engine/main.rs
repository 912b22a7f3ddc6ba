//! Benchmarks of the engine on files of 4 KB, 1 MB and 50 MB, and of 100,000 lines: `cargo bench -p emend-edit`,
//! optionally followed by `--` and a part of a name. Large files get few samples.

use std::time::Duration;

mod fixture;

use divan::{Bencher, black_box};

use emend_edit::Text;
use emend_edit::diff;
use emend_edit::find::{self, Block, Budget, FindLimits, Haystack, LAYERS, LITERAL, Layer, Needle};
use emend_edit::patch::Patch;
use emend_edit::patch::recognise::{self, Format};
use emend_edit::plan::{self, Plan};

use crate::fixture::{Asked, Edits, PATH, SEARCHED, SIZES, Size, request};

fn main() {
    divan::Divan::default().max_time(Duration::from_millis(300)).config_with_args().main();
}

mod text {
    use super::*;

    #[divan::bench(args = SIZES)]
    fn new(bencher: Bencher<'_, '_>, size: Size) {
        let bytes = fixture::text(size).bytes();
        bencher.with_inputs(|| bytes.to_vec()).bench_values(|bytes| Text::new(bytes).is_ok());
    }

    #[divan::bench(args = SIZES)]
    fn new_beyond_ascii(bencher: Bencher<'_, '_>, size: Size) {
        let bytes = String::from_utf8_lossy(fixture::text(size).bytes()).replace("value", "größe");
        bencher.with_inputs(|| bytes.clone().into_bytes()).bench_values(|bytes| Text::new(bytes).is_ok());
    }

    #[divan::bench(args = SIZES)]
    fn new_utf_16(bencher: Bencher<'_, '_>, size: Size) {
        let text = String::from_utf8_lossy(fixture::text(size).bytes());
        let units = "\u{feff}".encode_utf16().chain(text.encode_utf16());
        let bytes: Vec<u8> = units.flat_map(u16::to_le_bytes).collect();
        bencher.with_inputs(|| bytes.clone()).bench_values(|bytes| Text::new(bytes).is_ok());
    }

    #[divan::bench(args = SIZES)]
    fn lines(bencher: Bencher<'_, '_>, size: Size) {
        bencher.bench(|| black_box(fixture::text(size)).lines().len());
    }
}

mod find_one {
    use super::*;

    fn bytes(bencher: Bencher<'_, '_>, size: Size, wanted: &[u8]) {
        let text = fixture::text(size);
        let limits = FindLimits::default();
        bencher.bench(|| {
            let haystack = Haystack::new(black_box(text));
            find::locate(&haystack, &Needle::Bytes(wanted), LITERAL, &limits, &Budget::new(&limits))
        });
    }

    #[divan::bench(args = SEARCHED)]
    fn bytes_hit(bencher: Bencher<'_, '_>, size: Size) {
        bytes(bencher, size, &request("exact", size, Asked::Hit).bytes());
    }

    #[divan::bench(args = SEARCHED)]
    fn bytes_miss(bencher: Bencher<'_, '_>, size: Size) {
        bytes(bencher, size, &request("exact", size, Asked::Miss).bytes());
    }

    /// Measures one layer alone, on a file whose lines are not indexed yet.
    fn layer(bencher: Bencher<'_, '_>, (layer, size): (&str, Size), asked: Asked) {
        let limits = FindLimits::default();
        let request = request(layer, size, asked);
        let layers: Vec<Layer> = LAYERS.iter().filter(|known| known.name() == layer).copied().collect();
        let text = if request.crlf { fixture::crlf(size) } else { fixture::text(size) };
        let starts = [0..text.lines().len()];
        let block = Block::new(&request.lines, &starts, request.form, &[]);
        let look = || {
            let haystack = Haystack::new(black_box(text));
            find::locate(&haystack, &Needle::Block(&block), &layers, &limits, &Budget::new(&limits))
        };
        let found = look();
        assert_eq!(matches!(found, Ok(Some(_))), asked == Asked::Hit, "{layer}: {found:?}");
        bencher.bench(look);
    }

    fn cases() -> impl Iterator<Item = String> {
        LAYERS.iter().flat_map(|layer| SEARCHED.iter().map(|size| format!("{} {size}", layer.name())))
    }

    fn case(case: &str) -> (&str, Size) {
        let (layer, size) = case.split_once(' ').expect("a layer and a size");
        (layer, *SEARCHED.iter().find(|known| known.to_string() == size).expect("a known size"))
    }

    #[divan::bench(args = cases())]
    fn layer_hit(bencher: Bencher<'_, '_>, named: &str) {
        layer(bencher, case(named), Asked::Hit);
    }

    #[divan::bench(args = cases())]
    fn layer_miss(bencher: Bencher<'_, '_>, named: &str) {
        layer(bencher, case(named), Asked::Miss);
    }
}

mod refusal {
    use super::*;

    /// Measures the nearest lines, of a text whose words are not hashed yet.
    #[divan::bench(args = SEARCHED)]
    fn near_cold(bencher: Bencher<'_, '_>, size: Size) {
        let request = request("exact", size, Asked::Miss);
        let bytes = fixture::text(size).bytes();
        let input = || Text::new(bytes.to_vec()).expect("it is text");
        bencher.with_inputs(input).bench_values(|text| {
            find::near(&Haystack::new(&text), &request.there(), &request.wanted()).places.len()
        });
    }

    /// Measures all layers, and then the nearest lines.
    #[divan::bench(args = SEARCHED)]
    fn str_replace(bencher: Bencher<'_, '_>, size: Size) {
        let request = request("exact", size, Asked::Miss);
        let patch = request.str_replace();
        let bytes = fixture::text(size).bytes();
        let input = || fixture::sources(Text::new(bytes.to_vec()).expect("it is text"));
        bencher.with_inputs(input).bench_values(|sources| {
            plan::build(&patch, &sources, &FindLimits::default()).expect_err("it is not there").len()
        });
    }

    #[divan::bench(args = SEARCHED)]
    fn apply_patch(bencher: Bencher<'_, '_>, size: Size) {
        let request = request("bare-context", size, Asked::Miss);
        let patch = recognise::parse(&request.v4a(), None, None).expect("it is a patch");
        let bytes = fixture::text(size).bytes();
        let input = || fixture::sources(Text::new(bytes.to_vec()).expect("it is text"));
        bencher.with_inputs(input).bench_values(|sources| {
            plan::build(&patch, &sources, &FindLimits::default()).expect_err("it is not there").len()
        });
    }
}

mod parse {
    use super::*;

    fn cases() -> impl Iterator<Item = String> {
        Format::ALL.iter().flat_map(|format| SIZES.iter().map(|size| format!("{} {size}", format.as_str())))
    }

    #[divan::bench(args = cases())]
    fn format(bencher: Bencher<'_, '_>, case: &str) {
        let (name, size) = case.split_once(' ').expect("a format and a size");
        let format = Format::named(name).expect("a known format");
        let size = SIZES.iter().find(|known| known.to_string() == size).expect("a known size");
        let patch = fixture::patch(format, size.bytes());
        bencher.bench(|| recognise::parse(black_box(&patch), None, Some(PATH)).expect("it is a patch"));
    }
}

mod planned {
    use super::*;

    fn build(patch: &Patch, size: Size) -> Plan {
        let sources = fixture::sources(fixture::text(size).clone());
        plan::build(patch, &sources, &FindLimits::default()).expect("it fits")
    }

    #[divan::bench(args = SIZES)]
    fn one_str_replace(bencher: Bencher<'_, '_>, size: Size) {
        let patch = request("exact", size, Asked::Hit).str_replace();
        let sources = fixture::sources(fixture::text(size).clone());
        bencher.bench(|| plan::build(black_box(&patch), &sources, &FindLimits::default()).is_ok());
    }

    #[divan::bench(args = SIZES)]
    fn edits_500(bencher: Bencher<'_, '_>, size: Size) {
        let patch = Edits::of(500, size).patch();
        let sources = fixture::sources(fixture::text(size).clone());
        bencher.bench(|| plan::build(black_box(&patch), &sources, &FindLimits::default()).is_ok());
    }

    #[divan::bench(args = SIZES)]
    fn whole_file(bencher: Bencher<'_, '_>, size: Size) {
        let patch = Patch::write(PATH, Edits::of(20, size).applied());
        let sources = fixture::sources(fixture::text(size).clone());
        bencher.bench(|| plan::build(black_box(&patch), &sources, &FindLimits::default()).is_ok());
    }

    #[divan::bench(args = SIZES)]
    fn diff_of_one(bencher: Bencher<'_, '_>, size: Size) {
        let plan = build(&request("exact", size, Asked::Hit).str_replace(), size);
        bencher.bench(|| diff::from_plan(black_box(&plan.files()[0])));
    }

    #[divan::bench(args = SIZES)]
    fn diff_of_500(bencher: Bencher<'_, '_>, size: Size) {
        let plan = build(&Edits::of(500, size).patch(), size);
        bencher.bench(|| diff::from_plan(black_box(&plan.files()[0])));
    }

    #[divan::bench(args = SIZES)]
    fn diff_between(bencher: Bencher<'_, '_>, size: Size) {
        let old = fixture::text(size);
        let new = Text::new(Edits::of(20, size).applied().into_bytes()).expect("it is text");
        bencher.bench(|| diff::between(PATH, black_box(old), &new));
    }
}
