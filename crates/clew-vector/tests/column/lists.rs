//! Columns of inverted lists: as good as their effort, exact where they have to be, and never wrong
//! about damage.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use clew_vector::{
    Column, ColumnBuilder, ColumnOptions, Element, ErrorKind, Filter, GraphChoice, ImageOptions,
    IvfOptions, LISTS_MAX, ListCodes, Method, Scratch, SearchOutcome, SearchRequest, Space,
    Strategy, VectorError,
};
use proptest::prelude::*;

/// A plain multiplicative generator: the same numbers in every run.
struct Noise(u64);

impl Noise {
    fn unit(&mut self) -> f32 {
        self.0 = self
            .0
            .wrapping_mul(0x5851_F42D_4C95_7F2D)
            .wrapping_add(0x1405_7B7E_F767_814F);
        ((self.0 >> 40) as f32) / (1_u64 << 24) as f32 - 0.5
    }

    /// About normal.
    fn normal(&mut self) -> f32 {
        (0..6).map(|_| self.unit()).sum()
    }

    fn vector(&mut self, dimension: usize) -> Vec<f32> {
        (0..dimension).map(|_| self.normal()).collect()
    }
}

/// Vectors around `clusters` centres, and a few more like them as queries.
pub(crate) fn clustered(
    count: usize,
    dimension: usize,
    seed: u64,
) -> (Vec<Vec<f32>>, Vec<Vec<f32>>) {
    const CLUSTERS: usize = 40;
    let mut noise = Noise(seed);
    let centres: Vec<_> = (0..CLUSTERS).map(|_| noise.vector(dimension)).collect();
    let mut all: Vec<Vec<f32>> = (0..count + 50)
        .map(|at| {
            let near = noise.vector(dimension);
            let pairs = centres[at * 7 % CLUSTERS].iter().zip(near);
            pairs.map(|(centre, x)| centre + 0.6 * x).collect()
        })
        .collect();
    let queries = all.split_off(count);
    (all, queries)
}

fn lists(codes: ListCodes) -> Method {
    Method::Lists(IvfOptions { lists: 0, codes })
}

fn options(dimension: usize, space: Space, codes: ListCodes) -> ColumnOptions {
    ColumnOptions {
        method: lists(codes),
        ..ColumnOptions::new(dimension, space)
    }
}

const HOW: ImageOptions = ImageOptions {
    graph: GraphChoice::Always,
    seed: 11,
    threads: 1,
};

fn builder(options: ColumnOptions, rows: &[Vec<f32>]) -> ColumnBuilder {
    let mut builder = ColumnBuilder::new(options).unwrap();
    for (doc, row) in (0_u32..).zip(rows) {
        builder.push(doc, row).unwrap();
    }
    builder
}

fn image(options: ColumnOptions, rows: &[Vec<f32>]) -> Vec<u8> {
    let mut image = Vec::new();
    builder(options, rows).write(HOW, &mut image).unwrap();
    image
}

fn open(image: Vec<u8>) -> Column<Vec<u8>> {
    let column = Column::open(image).unwrap();
    column.verify().unwrap();
    column
}

pub(crate) fn docs(outcome: &SearchOutcome) -> Vec<u32> {
    outcome.hits.iter().map(|hit| hit.doc).collect()
}

fn ask(column: &Column<Vec<u8>>, request: &SearchRequest<'_>) -> SearchOutcome {
    column.search(request, &mut Scratch::default()).unwrap()
}

pub(crate) fn exact(column: &Column<Vec<u8>>, request: &SearchRequest<'_>) -> SearchOutcome {
    let request = SearchRequest {
        exact: true,
        ..*request
    };
    let outcome = ask(column, &request);
    assert_eq!(outcome.strategy, Strategy::Exact);
    outcome
}

/// Share of the exact hits that were found, by lists throughout.
fn recall<'a>(
    column: &Column<Vec<u8>>,
    requests: impl IntoIterator<Item = SearchRequest<'a>>,
) -> f64 {
    let (mut found, mut wanted) = (0, 0);
    for request in requests {
        let outcome = ask(column, &request);
        assert_eq!(outcome.strategy, Strategy::Lists);
        assert!(outcome.hits.is_sorted_by(|a, b| a.distance <= b.distance));
        let truth = docs(&exact(column, &request));
        assert_eq!(outcome.hits.len(), truth.len(), "hits are missing");
        wanted += truth.len();
        found += truth
            .iter()
            .filter(|doc| docs(&outcome).contains(doc))
            .count();
    }
    found as f64 / wanted as f64
}

fn requests<'a>(
    queries: &'a [Vec<f32>],
    probes: Option<usize>,
) -> impl Iterator<Item = SearchRequest<'a>> {
    queries.iter().map(move |query| SearchRequest {
        probes,
        ..SearchRequest::new(query, 10)
    })
}

const COUNT: usize = 12_000;

#[test]
fn lists_of_every_space_and_code_find_nearly_all() {
    let (rows, queries) = clustered(COUNT, 96, 1);
    for space in [Space::L2, Space::Cosine, Space::InnerProduct] {
        for codes in [ListCodes::Chosen, ListCodes::Product] {
            let column = open(image(options(96, space, codes), &rows));
            assert!(column.has_lists() && !column.has_graph());
            assert_eq!(column.options().method, lists(codes));
            let usual = recall(&column, requests(&queries, None));
            assert!(usual > 0.93, "{space:?} {codes:?}: {usual}");
            let all = recall(&column, requests(&queries, Some(usize::MAX)));
            assert!(
                all >= usual - 0.01 && all > 0.985,
                "{space:?} {codes:?}: {all}"
            );
        }
    }
}

#[test]
fn more_lists_are_more_work_and_better_hits() {
    let (rows, queries) = clustered(COUNT, 96, 2);
    let column = open(image(options(96, Space::L2, ListCodes::Chosen), &rows));
    let (mut last_recall, mut last_codes) = (0.0, 0);
    for probes in [1, 4, 16, 64] {
        let now = recall(&column, requests(&queries, Some(probes)));
        let outcomes = requests(&queries, Some(probes)).map(|one| ask(&column, &one));
        let codes: u64 = outcomes.map(|outcome| outcome.profile.codes).sum();
        assert!(now >= last_recall && codes > last_codes, "{probes}: {now}");
        (last_recall, last_codes) = (now, codes);
    }
    // Without a number, the effort follows `ef_search`.
    let mut last_codes = 0;
    for ef_search in [10, 40, 160] {
        let request = SearchRequest {
            ef_search,
            ..SearchRequest::new(&queries[0], 10)
        };
        let codes = ask(&column, &request).profile.codes;
        assert!(codes > last_codes, "ef {ef_search}: {codes}");
        last_codes = codes;
    }
}

#[test]
fn stored_types_and_odd_dimensions_have_lists_too() {
    for (element, dimension, count) in [
        (Element::F16, 70, 6_000),
        (Element::Bf16, 97, 6_000),
        (Element::F32, 33, 6_000),
        // More codes than entries of 8 bits fit into a sum.
        (Element::F32, 1_100, 2_000),
    ] {
        let (rows, queries) = clustered(count, dimension, 3);
        let options = ColumnOptions {
            element,
            ..options(dimension, Space::L2, ListCodes::Chosen)
        };
        let column = open(image(options, &rows));
        let found = recall(&column, requests(&queries, None));
        assert!(found > 0.9, "{element:?} of {dimension}: {found}");
    }
    let mut noise = Noise(4);
    let whole = |noise: &mut Noise| -> Vec<f32> {
        noise
            .vector(80)
            .iter()
            .map(|x| (x * 40.0).round())
            .collect()
    };
    let rows: Vec<_> = (0..6_000).map(|_| whole(&mut noise)).collect();
    let queries: Vec<_> = (0..20).map(|_| whole(&mut noise)).collect();
    let bytes = ColumnOptions {
        element: Element::I8,
        ..options(80, Space::L2, ListCodes::Chosen)
    };
    let column = open(image(bytes, &rows));
    let found = recall(&column, requests(&queries, Some(usize::MAX)));
    assert!(found > 0.95, "bytes without clusters: {found}");
}

#[test]
fn a_filter_gets_all_its_hits_however_far_away_they_lie() {
    let (rows, queries) = clustered(COUNT, 64, 5);
    let column = open(image(options(64, Space::Cosine, ListCodes::Chosen), &rows));
    let mut strategies = Vec::new();
    for every in [1, 2, 10, 100, 1_000, 5_000] {
        let mut bits = vec![0_u64; COUNT.div_ceil(64)];
        for doc in (0..COUNT).step_by(every) {
            bits[doc / 64] |= 1 << (doc % 64);
        }
        let count = COUNT.div_ceil(every);
        let filter = Some(Filter { bits: &bits, count });
        let (mut found, mut wanted) = (0, 0);
        for request in requests(&queries, Some(3)) {
            let request = SearchRequest { filter, ..request };
            let outcome = ask(&column, &request);
            strategies.push(outcome.strategy);
            let truth = docs(&exact(&column, &request));
            assert_eq!(outcome.hits.len(), count.min(10));
            assert!(
                docs(&outcome)
                    .iter()
                    .all(|&doc| (doc as usize).is_multiple_of(every))
            );
            wanted += truth.len();
            found += truth
                .iter()
                .filter(|doc| docs(&outcome).contains(doc))
                .count();
        }
        assert!(
            found * 10 >= wanted * 7,
            "one in {every}: {found} of {wanted}"
        );
    }
    assert!(strategies.contains(&Strategy::Lists));
    assert!(strategies.contains(&Strategy::Exact), "few rows are picked");

    // All that pass lie in one far list, and the planner is told that many do.
    let far: Vec<usize> = (0..COUNT).filter(|at| at * 7 % 40 == 3).take(12).collect();
    let mut bits = vec![0_u64; COUNT.div_ceil(64)];
    for doc in &far {
        bits[doc / 64] |= 1 << (doc % 64);
    }
    let request = SearchRequest {
        filter: Some(Filter {
            bits: &bits,
            count: COUNT,
        }),
        probes: Some(1),
        ..SearchRequest::new(&queries[0], 10)
    };
    let outcome = ask(&column, &request);
    assert_eq!(outcome.strategy, Strategy::Lists);
    assert_eq!(outcome.hits.len(), 10);

    let nothing = SearchRequest {
        filter: Some(Filter {
            bits: &[],
            count: COUNT,
        }),
        ..SearchRequest::new(&queries[0], 10)
    };
    assert_eq!(ask(&column, &nothing).hits, []);
}

#[test]
fn duplicates_and_more_hits_than_rows_are_no_problem() {
    let one = Noise(6).vector(96);
    let mut moved = one.clone();
    moved[0] += 4.0;
    let equal = vec![one.clone(); 700];
    for codes in [ListCodes::Chosen, ListCodes::Product] {
        let column = open(image(options(96, Space::L2, codes), &equal));
        let request = SearchRequest::new(&one, 1_000);
        let outcome = ask(&column, &request);
        assert_eq!(outcome.strategy, Strategy::Lists);
        assert_eq!(docs(&outcome), (0..700).collect::<Vec<u32>>());
        assert!(outcome.hits.iter().all(|hit| hit.distance == 0.0));
        let near = SearchRequest {
            max_distance: Some(0.5),
            probes: Some(1),
            ..SearchRequest::new(&moved, 3)
        };
        assert_eq!(ask(&column, &near).hits, []);
    }
    // So few are scanned whatever there is beside them.
    for count in [1, 2, 31, 33] {
        let (rows, queries) = clustered(count, 8, 6);
        let column = open(image(options(8, Space::L2, ListCodes::Chosen), &rows));
        let request = SearchRequest::new(&queries[0], 100);
        assert_eq!(
            docs(&ask(&column, &request)),
            docs(&exact(&column, &request))
        );
    }
}

#[test]
fn too_few_rows_for_a_code_book_are_scanned() {
    let (rows, queries) = clustered(255, 8, 6);
    let column = open(image(options(8, Space::L2, ListCodes::Product), &rows));
    assert!(!column.has_lists());
    let outcome = ask(&column, &SearchRequest::new(&queries[0], 3));
    assert_eq!(outcome.strategy, Strategy::Exact);
    assert_eq!(column.options().method, lists(ListCodes::Product));
}

#[test]
fn pages_and_batches_of_a_column_of_lists() {
    let (rows, queries) = clustered(3_000, 64, 7);
    let column = open(image(options(64, Space::L2, ListCodes::Chosen), &rows));
    let request = SearchRequest::new(&queries[0], 10);
    let mut pages = column.pages(&request).unwrap();
    let mut seen = Vec::new();
    for _ in 0..3 {
        let page = column.next_page(&mut pages, 10, &mut Scratch::default());
        seen.extend(docs(&page.unwrap()));
    }
    let thirty = docs(&exact(&column, &SearchRequest::new(&queries[0], 30)));
    let found = thirty.iter().filter(|doc| seen.contains(doc)).count();
    assert!(found >= 28, "{found}: {seen:?}, not {thirty:?}");
    while !pages.is_done() {
        let page = column.next_page(&mut pages, 500, &mut Scratch::default());
        let page = page.unwrap();
        assert!(page.hits.is_sorted_by(|a, b| a.distance <= b.distance));
        seen.extend(docs(&page));
    }
    let all: BTreeSet<u32> = seen.iter().copied().collect();
    assert_eq!(
        (seen.len(), all.len()),
        (3_000, 3_000),
        "one is lost, or comes twice"
    );

    let all: Vec<_> = requests(&queries, None).collect();
    let mut scratches = [Scratch::default(), Scratch::default()];
    for (request, outcome) in all.iter().zip(column.search_batch(&all, &mut scratches)) {
        assert_eq!(docs(&outcome.unwrap()), docs(&ask(&column, request)));
    }
}

type Searchable = (Column<Vec<u8>>, Vec<Vec<f32>>);

/// Columns of lists by either codes, and vectors to search for, of which some are the same.
static TOGETHER: LazyLock<[Searchable; 3]> = LazyLock::new(|| {
    let of = |(count, dimension), space, codes| {
        let (rows, mut queries) = clustered(count, dimension, 17);
        queries.extend_from_within(..8);
        queries.extend(rows.iter().step_by(count / 60).cloned());
        (
            open(image(options(dimension, space, codes), &rows)),
            queries,
        )
    };
    [
        of((6_000, 64), Space::L2, ListCodes::Chosen),
        of((4_000, 530), Space::Cosine, ListCodes::Chosen),
        of((5_000, 48), Space::InnerProduct, ListCodes::Product),
    ]
});

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn searches_through_lists_find_together_what_each_finds_alone(
        which in 0_usize..3,
        asks in prop::collection::vec((
            any::<prop::sample::Index>(),
            prop_oneof![Just(0_usize), 1_usize..40, Just(300)],
            prop::option::of(1_usize..90),
            prop::option::of(0_usize..3),
            prop::option::of(0.3_f32..1.2),
        ), 1..150),
        threads in 0_usize..4,
    ) {
        let (column, queries) = &TOGETHER[which];
        let filters = [2, 3, 40].map(|n| {
            let passes = |doc: usize| doc < column.len() && doc.is_multiple_of(n);
            let word = |at: usize| (0..64).fold(0, |word, bit| word | u64::from(passes(64 * at + bit)) << bit);
            let bits: Vec<u64> = (0..column.len().div_ceil(64)).map(word).collect();
            let count = bits.iter().map(|word| word.count_ones() as usize).sum();
            (bits, count)
        });
        let requests: Vec<SearchRequest<'_>> = asks.iter().map(|(query, k, probes, filter, within)| {
            let vector = query.get(queries);
            let nearest = || exact(column, &SearchRequest::new(vector, 1)).hits[0].distance;
            SearchRequest {
                probes: *probes,
                filter: filter.map(|at: usize| Filter { bits: &filters[at].0, count: filters[at].1 }),
                max_distance: within.map(|times| nearest() + times),
                ..SearchRequest::new(vector, *k)
            }
        }).collect();
        let mut scratches: Vec<Scratch> = (0..threads).map(|_| Scratch::default()).collect();
        for (request, together) in requests.iter().zip(column.search_batch(&requests, &mut scratches)) {
            let (alone, together) = (ask(column, request), together.unwrap());
            prop_assert_eq!(&alone.hits, &together.hits);
            prop_assert_eq!(alone.strategy, together.strategy);
            prop_assert_eq!(alone.profile.codes, together.profile.codes);
        }
    }
}

#[test]
fn lists_that_nobody_waits_for_are_read_no_further() {
    let (column, queries) = &TOGETHER[0];
    let requests: Vec<_> = requests(queries, Some(60)).collect();
    let codes = || {
        let found = column.search_batch(&requests, &mut []).into_iter();
        found.map(|one| one.unwrap().profile.codes).sum::<u64>()
    };
    let whole = codes();
    let token = clew_platform::CancellationToken::new();
    token.cancel("by user request");
    let _entered = token.enter();
    let cut_short = codes();
    assert!(cut_short * 4 < whole, "{cut_short} of {whole}");
}

#[test]
fn the_same_seed_gives_the_same_image_on_any_number_of_threads() {
    let (rows, _) = clustered(3_000, 64, 8);
    for codes in [ListCodes::Chosen, ListCodes::Product] {
        let options = options(64, Space::Cosine, codes);
        let write = |how: ImageOptions| {
            let mut image = Vec::new();
            builder(options, &rows).write(how, &mut image).unwrap();
            image
        };
        let one = write(HOW);
        assert!(one == write(HOW), "{codes:?}");
        assert!(
            one == write(ImageOptions { threads: 3, ..HOW }),
            "{codes:?}"
        );
        assert!(one != write(ImageOptions { seed: 12, ..HOW }), "{codes:?}");
    }
}

#[test]
fn a_merge_keeps_lists_that_fit_and_forms_others_that_do_not() {
    for codes in [ListCodes::Chosen, ListCodes::Product] {
        let (rows, queries) = clustered(9_000, 64, 9);
        let options = options(64, Space::L2, codes);
        let base = open(image(options, &rows[..6_000]));
        let merge = |rows: &[Vec<f32>], how: ImageOptions, new_doc: &dyn Fn(u32) -> Option<u32>| {
            let mut image = Vec::new();
            let from = (&base, new_doc);
            builder(options, rows)
                .write_from(how, from, &mut image)
                .unwrap();
            open(image)
        };
        let other_seed = ImageOptions { seed: 99, ..HOW };

        // Everything is kept, so the seed has nothing to decide: only the header names it.
        let mut same = Vec::new();
        let from = (&base, &Some as &dyn Fn(u32) -> Option<u32>);
        let again = builder(options, &rows[..6_000]);
        again.write_from(other_seed, from, &mut same).unwrap();
        assert!(
            same[448..] == image(options, &rows[..6_000])[448..],
            "{codes:?}"
        );

        // Some are gone, others come.
        let rest = &rows[1_000..];
        let merged = merge(rest, other_seed, &|doc| doc.checked_sub(1_000));
        let found = recall(&merged, requests(&queries, None));
        assert!(found > 0.9, "{codes:?} after a merge: {found}");

        // Quite other vectors: what was learned is thrown away.
        let (strangers, queries) = clustered(6_000, 64, 1_234);
        let far: Vec<Vec<f32>> = strangers
            .iter()
            .map(|row| row.iter().map(|x| 5.0 * x + 3.0).collect())
            .collect();
        let anew = merge(&far, HOW, &|_| None);
        let mut fresh = Vec::new();
        builder(options, &far).write(HOW, &mut fresh).unwrap();
        assert_eq!(anew.len(), 6_000);
        let moved: Vec<Vec<f32>> = queries
            .iter()
            .map(|row| row.iter().map(|x| 5.0 * x + 3.0).collect())
            .collect();
        let (kept, new) = (
            recall(&anew, requests(&moved, None)),
            recall(&open(fresh), requests(&moved, None)),
        );
        assert!((kept - new).abs() < 1e-9, "{kept} {new}");
    }
}

#[test]
fn options_that_make_no_sense_are_refused_by_name() {
    let refused = |options: ColumnOptions, message: &str| {
        let error = ColumnBuilder::new(options).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert_eq!(error.to_string(), message);
    };
    refused(
        ColumnOptions {
            element: Element::Bit,
            ..options(64, Space::Hamming, ListCodes::Chosen)
        },
        "vectors of type binary cannot be put into inverted lists",
    );
    refused(
        ColumnOptions {
            method: Method::Lists(IvfOptions {
                lists: LISTS_MAX + 1,
                codes: ListCodes::Chosen,
            }),
            ..ColumnOptions::new(64, Space::L2)
        },
        "lists is 262145, must be from 0 to 262144",
    );
}

/// Kind, offset and size of every section, in the order of the table.
pub(crate) fn sections(image: &[u8]) -> Vec<(u32, usize, usize)> {
    let number = |at: usize| u64::from_le_bytes(image[at..at + 8].try_into().unwrap());
    let slots = usize::from(image[30]);
    (0..slots)
        .map(|slot| 64 + 24 * slot)
        .map(|at| {
            let kind = u32::from_le_bytes(image[at..at + 4].try_into().unwrap());
            let [start, len] = [8, 16].map(|field| usize::try_from(number(at + field)).unwrap());
            (kind, start, len)
        })
        .collect()
}

/// Writes all checksums anew, so that damage gets past them and meets the other checks.
fn seal(image: &mut [u8]) {
    for (slot, (_, start, len)) in sections(image).into_iter().enumerate() {
        let checksum = image.get(start..start + len).map_or(0, crc32c::crc32c);
        image[68 + 24 * slot..][..4].copy_from_slice(&checksum.to_le_bytes());
    }
    image[12..16].fill(0);
    let checksum = crc32c::crc32c(&image[..448]);
    image[12..16].copy_from_slice(&checksum.to_le_bytes());
}

/// Searches in every way that reads lists, and merges; all of that goes well without the lists, too.
/// Answers what was found wrong with them.
fn use_column(image: Vec<u8>) -> Result<(), VectorError> {
    let (column, again) = (Column::open(image.clone())?, Column::open(image)?);
    let query = vec![0.25; column.options().dimension];
    let together = [1, 5, usize::MAX, 5].map(|probes| SearchRequest {
        probes: Some(probes),
        ..SearchRequest::new(&query, 5)
    });
    for found in again.search_batch(&together, &mut []) {
        assert_eq!(found.unwrap().hits.len(), 5);
    }
    for probes in [1, 5, usize::MAX] {
        let request = SearchRequest {
            probes: Some(probes),
            ..SearchRequest::new(&query, 5)
        };
        let found = column.search(&request, &mut Scratch::default()).unwrap();
        assert_eq!(found.hits.len(), 5);
    }
    let mut next = ColumnBuilder::new(*column.options()).unwrap();
    for doc in 0..300 {
        next.push(doc, &query).unwrap();
    }
    next.write_from(HOW, (&column, &Some), &mut Vec::new())
        .unwrap();
    column.graph_damage().map_or(Ok(()), Err)
}

#[test]
fn a_flipped_bit_in_a_section_of_lists_is_named_and_never_served() {
    let (rows, _) = clustered(600, 20, 10);
    let good = image(options(20, Space::L2, ListCodes::Product), &rows);
    use_column(good.clone()).unwrap();
    let of_lists = sections(&good).into_iter().filter(|(kind, ..)| *kind >= 12);
    let of_lists: Vec<_> = of_lists.collect();
    // The last is what was learnt of them.
    assert_eq!(of_lists.len(), 7);
    for (kind, start, len) in of_lists {
        for at in [start, start + len / 2, start + len - 1] {
            let mut bad = good.clone();
            bad[at] ^= 4;
            let error = use_column(bad).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt, "section {kind}: {error}");
        }
    }
}

#[test]
fn wild_numbers_under_right_checksums_are_errors_and_no_panics() {
    let (rows, _) = clustered(600, 20, 10);
    let (mut refused, mut survived) = (0, 0);
    for codes in [ListCodes::Chosen, ListCodes::Product] {
        let good = image(options(20, Space::Cosine, codes), &rows);
        for (kind, start, len) in sections(&good) {
            if kind < 12 {
                continue;
            }
            for (at, wild) in (start..start + len - 3)
                .step_by(4 * (len / 300).max(1))
                .zip(
                    [
                        0,
                        1,
                        700,
                        1 << 20,
                        1 << 31,
                        0x7F00_0000,
                        0x7F80_0000,
                        0x7FC0_0000,
                        u32::MAX,
                    ]
                    .iter()
                    .cycle(),
                )
            {
                let mut bad = good.clone();
                bad[at..at + 4].copy_from_slice(&wild.to_le_bytes());
                seal(&mut bad);
                match use_column(bad) {
                    Ok(()) => survived += 1,
                    Err(error) => {
                        assert_eq!(error.kind(), ErrorKind::Corrupt, "section {kind}: {error}");
                        refused += 1;
                    }
                }
            }
        }
    }
    assert!(
        refused > 50 && survived > 50,
        "{refused} refused, {survived} survived"
    );
}

#[test]
fn a_wild_header_over_lists_is_an_error_and_no_panic() {
    let (rows, _) = clustered(300, 20, 10);
    let good = image(options(20, Space::L2, ListCodes::Chosen), &rows);
    let slots = sections(&good).len();
    for at in (16..64 + 24 * slots).step_by(4) {
        for wild in [0, 1, 2, 3, 1 << 8, 1 << 24, u32::MAX] {
            let mut bad = good.clone();
            bad[at..at + 4].copy_from_slice(&u32::to_le_bytes(wild));
            bad[12..16].fill(0);
            let checksum = crc32c::crc32c(&bad[..448]);
            bad[12..16].copy_from_slice(&checksum.to_le_bytes());
            if let Ok(column) = Column::open(bad) {
                let query = vec![0.25; column.options().dimension];
                let request = SearchRequest::new(&query, 5);
                let _ = column.search(&request, &mut Scratch::default());
            }
        }
    }
}

#[test]
fn vectors_without_a_direction_are_as_far_as_nothing_can_tell() {
    let (mut rows, queries) = clustered(6_000, 96, 5);
    for row in rows.iter_mut().step_by(3) {
        row.fill(0.0);
    }
    for codes in [ListCodes::Chosen, ListCodes::Product] {
        let column = open(image(options(96, Space::Cosine, codes), &rows));
        assert!(column.has_lists());
        let requests = queries.iter().map(|query| SearchRequest::new(query, 20));
        assert!(recall(&column, requests) >= 0.9, "{codes:?}");
        let nowhere = vec![0.0; 96];
        let found = ask(&column, &SearchRequest::new(&nowhere, 5));
        assert_eq!(docs(&found), [0, 1, 2, 3, 4]);
        assert!(found.hits.iter().all(|hit| hit.distance == 1.0));
        // Behind those that point away from the query there is nothing.
        let all = ask(&column, &SearchRequest::new(&queries[0], rows.len()));
        let zeros = all.hits.iter().filter(|hit| hit.doc % 3 == 0);
        assert!(zeros.clone().all(|hit| hit.distance == 1.0));
        assert_eq!(zeros.count(), 2_000);
    }
}

/// Written when lists had codes of signs only: 600 vectors of 8 dimensions around 20 centres, which got codes of two
/// dimensions since.
#[test]
fn lists_of_signs_of_short_vectors_are_read_and_a_merge_codes_them_anew() {
    let old = open(include_bytes!("fixtures/lists-of-signs.vec").to_vec());
    assert_eq!(old.list_centres(), None, "nothing names its centres");
    let rows: Vec<Vec<f32>> = (0..600)
        .map(|row| old.vector(row).unwrap().unwrap().into_owned())
        .collect();
    let queries: Vec<Vec<f32>> = rows.iter().step_by(25).cloned().collect();
    let many = || requests(&queries, Some(20));
    assert!(recall(&old, many()) > 0.95);
    let options = options(8, Space::L2, ListCodes::Chosen);
    let mut merged = Vec::new();
    let from = (&old, &Some as &dyn Fn(u32) -> Option<u32>);
    builder(options, &rows)
        .write_from(HOW, from, &mut merged)
        .unwrap();
    assert_eq!(
        merged,
        image(options, &rows),
        "nothing of the signs is kept"
    );
    assert!(recall(&open(merged), many()) > 0.95);
}
