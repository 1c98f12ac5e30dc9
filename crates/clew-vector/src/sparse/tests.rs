//! Every way of searching against a scan that knows nothing of images, blocks and bounds.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "tests draw small numbers, and round as the code under test does"
)]

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::Filter;
use crate::random::SplitMix;

type Vector = Vec<SparseEntry>;

fn entry(dimension: u32, weight: f32) -> SparseEntry {
    SparseEntry { dimension, weight }
}

fn below(noise: &mut SplitMix, limit: u32) -> u32 {
    u32::try_from(noise.draw() % u64::from(limit)).unwrap()
}

/// What the weights and dimensions of a test look like.
#[derive(Debug, Clone, Copy)]
enum Shape {
    /// Few frequent dimensions, many rare ones; weights of all sizes.
    LongTail,
    /// The same, and the weights are small whole numbers.
    Words,
    /// All vectors are the same.
    Equal,
    /// One of five vectors, some empty.
    Repeated,
    /// Weights at the ends of what is allowed, dimensions from all 32 bits.
    Extreme,
}

fn vector(shape: Shape, noise: &mut SplitMix) -> Vector {
    let mut fixed = SplitMix::new(noise.draw() % 5);
    let noise = match shape {
        Shape::Equal => &mut SplitMix::new(1),
        Shape::Repeated => &mut fixed,
        _ => noise,
    };
    let count = match shape {
        Shape::Equal => 6,
        Shape::Repeated => below(noise, 3) * 4,
        _ => below(noise, 20),
    };
    let one = |_| {
        let rank = (noise.unit() * 6.0).exp();
        let unit = noise.unit();
        let weight = match shape {
            Shape::Words => f64::from(1 + below(noise, 4)),
            Shape::Extreme => [0.0, 1e-45, 1e-30, unit, 1e15][below(noise, 5) as usize],
            _ => unit * unit * 3.0,
        };
        let dimension = match shape {
            Shape::Extreme => u32::MAX / (1 + rank as u32),
            _ => rank as u32,
        };
        (dimension, weight as f32)
    };
    let entries: BTreeMap<u32, f32> = (0..count).map(one).collect();
    entries.into_iter().map(|(d, w)| entry(d, w)).collect()
}

fn rows(shape: Shape, (count, stride): (u32, u32), seed: u64) -> Vec<(u32, Vector)> {
    let mut noise = SplitMix::new(seed);
    (0..count)
        .map(|row| (row * stride, vector(shape, &mut noise)))
        .collect()
}

fn image(rows: &[(u32, Vector)]) -> Vec<u8> {
    let mut builder = SparseColumnBuilder::new();
    for (doc, vector) in rows {
        builder.push(*doc, vector).unwrap();
    }
    let mut image = Vec::new();
    builder.write(&mut image).unwrap();
    image
}

fn naive_score(query: &[SparseEntry], vector: &[SparseEntry]) -> f32 {
    let query: BTreeMap<u32, f32> = query.iter().map(|e| (e.dimension, e.weight)).collect();
    let mut score = 0.0;
    for other in vector {
        if let Some(&weight) = query.get(&other.dimension) {
            score += f64::from(weight) * f64::from(other.weight);
        }
    }
    score as f32
}

fn naive(
    rows: &[(u32, Vector)],
    request: &SparseSearchRequest<'_>,
    passes: impl Fn(u32) -> bool,
) -> Vec<(u32, f32)> {
    let mut hits: Vec<(u32, f32)> = rows
        .iter()
        .filter(|(doc, _)| passes(*doc))
        .map(|(doc, vector)| (*doc, naive_score(request.query, vector)))
        .filter(|&(_, score)| score > 0.0 && request.range.is_none_or(|range| range.holds(score)))
        .collect();
    hits.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    hits.truncate(request.k);
    hits
}

fn run(
    column: &SparseColumn<Vec<u8>>,
    request: &SparseSearchRequest<'_>,
    forced: Option<SparseStrategy>,
) -> SparseOutcome {
    search(&column.view().unwrap(), request, forced).unwrap()
}

/// Both ways find what a scan finds, to the bit.
fn check(rows: &[(u32, Vector)], request: &SparseSearchRequest<'_>) {
    let column = SparseColumn::open(image(rows)).unwrap();
    let passes = |doc: u32| {
        request.filter.is_none_or(|filter| {
            let word = filter.bits.get(doc as usize / 64).copied();
            word.unwrap_or_default() >> (doc % 64) & 1 == 1
        })
    };
    let expected = naive(rows, request, passes);
    let ways = [SparseStrategy::Postings, SparseStrategy::Rows];
    for way in ways.map(Some).into_iter().chain([None]) {
        let outcome = run(&column, request, way);
        let found: Vec<_> = outcome
            .hits
            .iter()
            .map(|hit| (hit.doc, hit.score))
            .collect();
        assert_eq!(found, expected, "{way:?}");
    }
}

fn shapes() -> impl Strategy<Value = Shape> {
    prop_oneof![
        3 => Just(Shape::LongTail),
        2 => Just(Shape::Words),
        1 => Just(Shape::Equal),
        1 => Just(Shape::Repeated),
        1 => Just(Shape::Extreme),
    ]
}

/// What codes make of the smallest weights beside the largest is all error: no score is known of their row.
#[test]
fn rounding_is_not_taken_for_a_score() {
    let seed = 13_320_324_000_680_208_643;
    let rows = rows(Shape::Extreme, (11, 1), seed);
    let mut noise = SplitMix::new(!seed);
    for _ in 0..100 {
        let query = vector(Shape::Extreme, &mut noise);
        check(&rows, &SparseSearchRequest::new(&query, 2));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn both_ways_find_what_a_scan_finds(
        shape in shapes(),
        (count, stride) in (prop_oneof![0..40_u32, 100..9_000_u32], 1..3_u32),
        k in prop_oneof![0..20_usize, Just(20_000)],
        (seed, keep) in (any::<u64>(), prop_oneof![Just(None), (0..65_u64).prop_map(Some)]),
    ) {
        let rows = rows(shape, (count, stride), seed);
        let mut noise = SplitMix::new(!seed);
        // About `keep` of 64 documents pass.
        let words = (count * stride).div_ceil(64);
        let bits: Vec<u64> = (0..words)
            .map(|_| (0..64).map(|bit| u64::from(noise.draw() % 64 < keep.unwrap_or(0)) << bit).sum())
            .collect();
        let filter = keep.map(|_| Filter {
            bits: &bits,
            count: bits.iter().map(|word| word.count_ones() as usize).sum(),
        });
        for _ in 0..3 {
            let query = vector(shape, &mut noise);
            let request = SparseSearchRequest { filter, ..SparseSearchRequest::new(&query, k) };
            check(&rows, &request);
        }
    }

    /// The ends of ranges are scores that rows have.
    #[test]
    fn ranges_leave_the_best_within_them(
        shape in shapes(),
        (count, k) in (prop_oneof![1..40_u32, 100..6_000_u32], prop_oneof![1..20_usize, Just(20_000)]),
        (seed, ends) in (any::<u64>(), prop::array::uniform2(any::<prop::sample::Index>())),
        (bounded, drop_ratio) in (any::<bool>(), prop_oneof![Just(0.0), Just(0.5_f32)]),
    ) {
        let rows = rows(shape, (count, 1), seed);
        let query = vector(shape, &mut SplitMix::new(!seed));
        let all = naive(&rows, &SparseSearchRequest::new(&query, usize::MAX), |_| true);
        let mut ends = ends.map(|end| all.get(end.index(all.len().max(1))).map_or(0.0, |hit| hit.1));
        ends.sort_by(f32::total_cmp);
        let range = ScoreRange { above: ends[0], up_to: bounded.then_some(ends[1]) };
        // With an upper end nothing is dropped.
        let drop_ratio = if bounded { drop_ratio } else { 0.0 };
        let request = SparseSearchRequest { range: Some(range), drop_ratio, ..SparseSearchRequest::new(&query, k) };
        check(&rows, &request);
    }

    #[test]
    fn vectors_come_back_to_the_bit(shape in shapes(), count in 0..300_u32, stride in 1..3_u32) {
        let rows = rows(shape, (count, stride), 5);
        let column = SparseColumn::open(image(&rows)).unwrap();
        column.verify().unwrap();
        prop_assert_eq!(column.len(), rows.len());
        prop_assert_eq!(column.docs().unwrap().collect::<Vec<_>>(), rows.iter().map(|row| row.0).collect::<Vec<_>>());
        for (doc, vector) in &rows {
            let found = column.vector(*doc).unwrap().unwrap();
            let bits = |entries: &[SparseEntry]| bytemuck::cast_slice::<_, u32>(entries).to_vec();
            prop_assert_eq!(bits(found), bits(vector));
            if stride > 1 {
                prop_assert_eq!(column.vector(doc + 1).unwrap(), None);
            }
        }
        prop_assert_eq!(column.vector(count * stride).unwrap(), None);
    }

    #[test]
    fn postings_hold_every_row_and_no_smaller_weight(
        gaps in prop::collection::vec(prop_oneof![0..3_u32, 0..100_000_u32], 1..400),
        exponent in -40..16_i32,
        seed in any::<u64>(),
    ) {
        let mut noise = SplitMix::new(seed);
        let mut builder = SparseColumnBuilder::new();
        let mut pushed: Vec<(u32, f32)> = Vec::new();
        let mut row = 0;
        for gap in gaps.iter().map(|gap| gap % 500) {
            for _ in 0..gap {
                builder.push(row, &[]).unwrap();
                row += 1;
            }
            let weight = (noise.unit() * 10_f64.powi(exponent)).min(1e15) as f32;
            builder.push(row, &[entry(9, weight)]).unwrap();
            if weight > 0.0 {
                pushed.push((row, weight));
            }
            row += 1;
        }
        let mut image = Vec::new();
        builder.write(&mut image).unwrap();
        let column = SparseColumn::open(image).unwrap();
        let index = column.view().unwrap().index;
        let mut decoded = postings::Decoded::empty();
        let mut found = Vec::new();
        if let Some(list) = index.list(9).unwrap() {
            for block in 0..list.blocks.len() {
                decoded.fill(&index, &list, block).unwrap();
                let (rows, codes) = decoded.within(0, u32::MAX);
                let greatest = list.blocks[block].weight_max();
                for (&row, &code) in rows.iter().zip(codes) {
                    found.push((row, f32::from(code) * decoded.step));
                    prop_assert!(f32::from(code) * decoded.step <= greatest);
                }
            }
        }
        prop_assert_eq!(found.len(), pushed.len());
        for ((row, bound), (wanted, weight)) in found.iter().zip(&pushed) {
            prop_assert_eq!(row, wanted);
            prop_assert!(bound >= weight);
        }
    }
}

/// Long-tailed vectors, as many as take several windows, and a query of frequent and rare dimensions.
fn long_tail() -> (Vec<(u32, Vector)>, Vector) {
    let rows = rows(Shape::LongTail, (20_000, 1), 3);
    let query = vec![
        entry(1, 0.2),
        entry(2, 0.3),
        entry(5, 1.0),
        entry(40, 3.0),
        entry(300, 5.0),
    ];
    (rows, query)
}

#[test]
fn what_cannot_be_a_hit_is_left_out() {
    let (rows, query) = long_tail();
    let request = SparseSearchRequest::new(&query, 10);
    check(&rows, &request);
    let column = SparseColumn::open(image(&rows)).unwrap();
    let outcome = run(&column, &request, Some(SparseStrategy::Postings));
    let posted = |e: &SparseEntry| query.iter().any(|q| q.dimension == e.dimension);
    let postings = rows.iter().flat_map(|row| &row.1).filter(|e| posted(e));
    let postings = postings.count() as u64;
    assert!(
        outcome.postings * 4 < postings * 3,
        "{outcome:?} of {postings}"
    );
    assert!(outcome.rows < 500, "{outcome:?}");
    // Blocks are only left out where all of a block is, which few of these are.
    assert!(outcome.blocks_skipped > 0, "{outcome:?}");
}

#[test]
fn few_passing_documents_are_scored_one_by_one() {
    let (rows, query) = long_tail();
    let column = SparseColumn::open(image(&rows)).unwrap();
    let mut few = vec![0_u64; 20_000 / 64 + 1];
    (0..20).for_each(|doc| few[doc * 10] |= 1 << doc);
    let all = vec![u64::MAX; few.len()];
    let search = |bits: &[u64], count| {
        let filter = Some(Filter { bits, count });
        let request = SparseSearchRequest {
            filter,
            ..SparseSearchRequest::new(&query, 10)
        };
        column.search(&request).unwrap()
    };
    let found = search(&few, 20);
    assert_eq!((found.strategy, found.rows), (SparseStrategy::Rows, 20));
    let found = search(&all, 64 * all.len());
    assert_eq!(found.strategy, SparseStrategy::Postings);
    let unfiltered = column.search(&SparseSearchRequest::new(&query, 10));
    assert_eq!(found.hits, unfiltered.unwrap().hits);
    assert_eq!(search(&vec![0; few.len()], 0).hits, []);
}

#[test]
fn dropped_weights_still_count_for_the_score() {
    let (rows, query) = long_tail();
    let column = SparseColumn::open(image(&rows)).unwrap();
    let exact = SparseSearchRequest::new(&query, 10);
    let dropping = SparseSearchRequest {
        drop_ratio: 0.4,
        ..exact
    };
    let (all, some) = (
        column.search(&exact).unwrap(),
        column.search(&dropping).unwrap(),
    );
    assert!(some.postings < all.postings);
    let found = some
        .hits
        .iter()
        .filter(|hit| all.hits.contains(hit))
        .count();
    assert!(found >= 8, "{found} of 10");
    // Too few weights for a share to be one.
    let tiny = SparseSearchRequest {
        drop_ratio: 0.19,
        ..exact
    };
    assert_eq!(column.search(&tiny).unwrap(), all);
}

#[test]
fn zeros_are_kept_and_are_no_hits() {
    let rows = [
        (0, vec![entry(1, 0.0), entry(2, 1.0)]),
        (1, vec![entry(1, -0.0)]),
    ];
    let column = SparseColumn::open(image(&rows)).unwrap();
    let query = [entry(1, 1.0)];
    let outcome = column.search(&SparseSearchRequest::new(&query, 2)).unwrap();
    assert_eq!(outcome.hits, []);
    let query = [entry(1, 1.0), entry(2, 0.0)];
    let outcome = column.search(&SparseSearchRequest::new(&query, 2)).unwrap();
    assert_eq!(outcome.hits, []);
    let kept = column.vector(1).unwrap().unwrap();
    assert!(kept[0].weight.is_sign_negative());
}
