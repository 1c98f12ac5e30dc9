//! Columns whose lists share their centres: searched together they find what each would alone, for less.

mod at_once;

use std::sync::{Arc, Barrier, LazyLock};

use clew_vector::{
    Column, ColumnBuilder, ColumnOptions, Filter, GraphChoice, Horizon, ImageOptions, IvfOptions,
    ListCodes, Method, Scratch, SearchOutcome, SearchRequest, SharedCentres, Space,
};
use proptest::prelude::*;

use crate::lists::{clustered, exact};

const DIMENSION: usize = 40;
const PARTS: usize = 6;
const PART_ROWS: usize = 1_200;
const HOW: ImageOptions = ImageOptions {
    graph: GraphChoice::Always,
    seed: 3,
    threads: 1,
};

fn options(space: Space, codes: ListCodes) -> ColumnOptions {
    ColumnOptions {
        method: Method::Lists(IvfOptions { lists: 0, codes }),
        ..ColumnOptions::new(DIMENSION, space)
    }
}

fn builder(options: ColumnOptions, rows: &[Vec<f32>]) -> ColumnBuilder {
    let mut builder = ColumnBuilder::new(options).unwrap();
    for (doc, row) in (0_u32..).zip(rows) {
        builder.push(doc, row).unwrap();
    }
    builder
}

fn column(
    options: ColumnOptions,
    rows: &[Vec<f32>],
    centres: &Arc<SharedCentres>,
) -> Column<Vec<u8>> {
    let builder = builder(options, rows).sharing(centres.clone());
    let mut image = Vec::new();
    builder.write(HOW, &mut image).unwrap();
    let column = Column::open(image).unwrap();
    column.verify().unwrap();
    column
}

/// Parts of one set of vectors, and queries.
struct Whole {
    parts: Vec<Column<Vec<u8>>>,
    queries: Vec<Vec<f32>>,
}

impl Whole {
    fn new(space: Space, codes: ListCodes) -> Self {
        let (rows, queries) = clustered(PARTS * PART_ROWS, DIMENSION, 8);
        let centres = Arc::new(SharedCentres::new(PARTS));
        let parts = rows.chunks(PART_ROWS);
        let parts = parts.map(|part| column(options(space, codes), part, &centres));
        Whole {
            parts: parts.collect(),
            queries,
        }
    }
}

static WHOLES: LazyLock<Vec<Whole>> = LazyLock::new(|| {
    let whole = |(space, codes)| Whole::new(space, codes);
    [
        (Space::L2, ListCodes::Chosen),
        (Space::Cosine, ListCodes::Product),
        (Space::InnerProduct, ListCodes::Chosen),
    ]
    .map(whole)
    .into()
});

fn search(
    column: &Column<Vec<u8>>,
    request: &SearchRequest<'_>,
    scratch: &mut Scratch,
) -> SearchOutcome {
    column.search(request, scratch).unwrap()
}

/// The nearest of several answers, by part and document, and how many vectors were measured.
fn merged(outcomes: &[SearchOutcome], k: usize) -> (Vec<(usize, u32)>, u64) {
    let hits = outcomes.iter().enumerate().flat_map(|(part, outcome)| {
        let hits = outcome.hits.iter();
        hits.map(move |hit| (hit.distance, part, hit.doc))
    });
    let mut hits: Vec<(f32, usize, u32)> = hits.collect();
    hits.sort_by(|a, b| a.partial_cmp(b).unwrap());
    hits.truncate(k);
    let measured = outcomes.iter().map(|outcome| outcome.profile.reranked);
    (
        hits.into_iter().map(|(_, part, doc)| (part, doc)).collect(),
        measured.sum(),
    )
}

#[test]
fn columns_take_the_centres_of_the_first_as_long_as_they_fit() {
    for whole in WHOLES.iter() {
        let first = whole.parts[0].list_centres();
        assert!(first.is_some());
        assert!(whole.parts.iter().all(|part| part.list_centres() == first));
    }
    let options = options(Space::L2, ListCodes::Chosen);
    let centres = Arc::new(SharedCentres::new(2));
    let (rows, _) = clustered(2 * PART_ROWS, DIMENSION, 8);
    let (some, others) = rows.split_at(PART_ROWS);
    let (some, others) = (
        column(options, some, &centres),
        column(options, others, &centres),
    );
    assert_eq!(some.list_centres(), others.list_centres());
    // Vectors that lie elsewhere have centres of their own, and what is like them comes to those.
    let far = |seed| -> Vec<Vec<f32>> {
        let rows = clustered(PART_ROWS, DIMENSION, seed).0;
        let moved = |row: Vec<f32>| row.iter().map(|x| 9.0 + 3.0 * x).collect();
        rows.into_iter().map(moved).collect()
    };
    let elsewhere = column(options, &far(9), &centres);
    assert_ne!(elsewhere.list_centres(), some.list_centres());
    assert_eq!(
        column(options, &far(9)[..1_100], &centres).list_centres(),
        elsewhere.list_centres()
    );
    // Alone it has lists for what it holds itself.
    let alone = column(options, &far(9), &Arc::new(SharedCentres::new(1)));
    assert!(alone.sizes().lists < elsewhere.sizes().lists);
}

#[test]
fn columns_that_are_built_at_the_same_time_agree_on_their_centres() {
    let options = options(Space::L2, ListCodes::Chosen);
    let (rows, _) = clustered(PARTS * PART_ROWS, DIMENSION, 8);
    let centres = Arc::new(SharedCentres::new(PARTS));
    let begin = Barrier::new(PARTS);
    let build = |part: &[Vec<f32>]| {
        begin.wait();
        column(options, part, &centres).list_centres()
    };
    let build = &build;
    let formed: Vec<_> = std::thread::scope(|scope| {
        let parts = rows.chunks(PART_ROWS);
        let builds: Vec<_> = parts.map(|part| scope.spawn(move || build(part))).collect();
        builds.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert!(formed[0].is_some());
    assert!(formed.iter().all(|one| *one == formed[0]), "{formed:?}");
}

#[test]
fn a_merge_goes_over_to_the_centres_of_the_others() {
    let options = options(Space::L2, ListCodes::Chosen);
    let (rows, _) = clustered(2 * PART_ROWS, DIMENSION, 8);
    let (own, others) = rows.split_at(PART_ROWS);
    let before = column(options, own, &Arc::new(SharedCentres::new(2)));
    let centres = Arc::new(SharedCentres::new(2));
    let others = column(options, others, &centres);
    assert_ne!(before.list_centres(), others.list_centres());
    let again = |base: &Column<Vec<u8>>| {
        let mut image = Vec::new();
        let builder = builder(options, own).sharing(centres.clone());
        builder
            .write_from(HOW, (base, &|doc| Some(doc)), &mut image)
            .unwrap();
        Column::open(image).unwrap()
    };
    let gone_over = again(&before);
    assert_eq!(gone_over.list_centres(), others.list_centres());
    let kept = again(&gone_over);
    assert_eq!(kept.list_centres(), others.list_centres());
}

#[test]
fn together_they_find_as_much_as_one_by_one_and_measure_less() {
    const K: usize = 10;
    for whole in WHOLES.iter() {
        let (mut found, mut found_alone, mut wanted) = (0, 0, 0);
        let (mut measured, mut measured_alone) = (0, 0);
        for query in &whole.queries {
            let request = SearchRequest {
                probes: Some(12),
                ..SearchRequest::new(query, K)
            };
            let horizon = Horizon::new(K, request.ef_search);
            let together = SearchRequest {
                horizon: Some(&horizon),
                ..request
            };
            let all = |request: &SearchRequest<'_>| -> Vec<SearchOutcome> {
                let mut scratch = Scratch::default();
                let parts = whole.parts.iter();
                parts
                    .map(|part| search(part, request, &mut scratch))
                    .collect()
            };
            let truth: Vec<SearchOutcome> = whole
                .parts
                .iter()
                .map(|part| exact(part, &request))
                .collect();
            let truth = merged(&truth, K).0;
            let (hits, took) = merged(&all(&together), K);
            let (hits_alone, took_alone) = merged(&all(&request), K);
            wanted += truth.len();
            found += hits.iter().filter(|hit| truth.contains(hit)).count();
            found_alone += hits_alone.iter().filter(|hit| truth.contains(hit)).count();
            measured += took;
            measured_alone += took_alone;
        }
        let lost = found_alone as f64 - found as f64;
        assert!(
            lost <= 0.01 * wanted as f64,
            "{found} {found_alone} of {wanted}"
        );
        assert!(found as f64 >= 0.9 * wanted as f64, "{found} of {wanted}");
        assert!(
            4 * measured < 3 * measured_alone,
            "{measured} {measured_alone}"
        );
    }
}

#[test]
fn parts_that_would_be_scanned_alone_are_searched_at_once_by_lists_of_the_whole() {
    const SMALL: usize = 450;
    const SMALL_PARTS: usize = 8;
    const LONG: usize = 256;
    const K: usize = 10;
    let (rows, queries) = clustered(SMALL_PARTS * SMALL, LONG, 8);
    let options = ColumnOptions::new(LONG, Space::L2);
    let built =
        |rows: &[Vec<f32>], centres: &Arc<SharedCentres>, base: Option<&Column<Vec<u8>>>| {
            let how = ImageOptions {
                graph: GraphChoice::WhenWorthIt,
                ..HOW
            };
            let builder = builder(options, rows).sharing(centres.clone());
            let mut image = Vec::new();
            match base {
                Some(base) => builder.write_from(how, (base, &|doc| Some(doc)), &mut image),
                None => builder.write(how, &mut image),
            }
            .unwrap();
            let column = Column::open(image).unwrap();
            column.verify().unwrap();
            column
        };
    let alone = built(&rows[..SMALL], &Arc::new(SharedCentres::new(1)), None);
    assert!(!alone.has_lists() && !alone.has_graph());
    let centres = Arc::new(SharedCentres::new(SMALL_PARTS));
    let parts = rows.chunks(SMALL).map(|part| built(part, &centres, None));
    let mut parts: Vec<Column<Vec<u8>>> = parts.collect();
    // A merge keeps them.
    parts[3] = built(&rows[3 * SMALL..4 * SMALL], &centres, Some(&parts[3]));
    let first = parts[0].list_centres();
    assert!(first.is_some() && parts.iter().all(|part| part.list_centres() == first));
    let asked: Asked<'_> = parts.iter().map(|part| (part, None)).collect();
    let (mut found, mut wanted, mut read, mut scanned) = (0, 0, 0, 0);
    for query in &queries {
        let request = SearchRequest::new(query, K);
        let truth: Vec<SearchOutcome> = parts.iter().map(|part| exact(part, &request)).collect();
        let outcomes = at_once(&asked, &request, &mut Scratch::default());
        let bytes = |outcomes: &[SearchOutcome]| -> u64 {
            outcomes.iter().map(|one| one.profile.bytes_read).sum()
        };
        read += bytes(&outcomes);
        scanned += bytes(&truth);
        let truth = merged(&truth, K).0;
        let hits = merged(&outcomes, K).0;
        wanted += truth.len();
        found += hits.iter().filter(|hit| truth.contains(hit)).count();
    }
    assert!(found as f64 >= 0.97 * wanted as f64, "{found} of {wanted}");
    assert!(5 * read < scanned, "{read} {scanned}");
}

#[test]
fn small_parts_go_through_as_many_lists_as_their_own_trials_ask_for() {
    const LONG: usize = 64;
    const ROWS: usize = 1_200;
    const PARTS: usize = 8;
    const K: usize = 10;
    let (rows, queries) = clustered(PARTS * ROWS, LONG, 40);
    let how = ImageOptions {
        graph: GraphChoice::WhenWorthIt,
        ..HOW
    };
    let centres = Arc::new(SharedCentres::new(PARTS));
    let parts = rows.chunks(ROWS).map(|part| {
        let builder = builder(ColumnOptions::new(LONG, Space::L2), part).sharing(centres.clone());
        let mut image = Vec::new();
        builder.write(how, &mut image).unwrap();
        Column::open(image).unwrap()
    });
    let parts: Vec<Column<Vec<u8>>> = parts.collect();
    assert!(
        parts
            .iter()
            .all(|part| part.has_lists() && part.choice().is_none())
    );
    let asked: Asked<'_> = parts.iter().map(|part| (part, None)).collect();
    let (mut found, mut wanted, mut codes) = (0, 0, 0);
    for query in &queries {
        let request = SearchRequest {
            ef_search: 100,
            ..SearchRequest::new(query, K)
        };
        let truth: Vec<SearchOutcome> = parts.iter().map(|part| exact(part, &request)).collect();
        let truth = merged(&truth, K).0;
        let outcomes = at_once(&asked, &request, &mut Scratch::default());
        codes += outcomes.iter().map(|one| one.profile.codes).sum::<u64>();
        let hits = merged(&outcomes, K).0;
        wanted += truth.len();
        found += hits.iter().filter(|hit| truth.contains(hit)).count();
    }
    assert!(found as f64 >= 0.97 * wanted as f64, "{found} of {wanted}");
    // A rule made with 547 lists asks for seven tenths.
    let all = (PARTS * ROWS * queries.len()) as u64;
    assert!(5 * codes < 2 * all, "{codes} of {all}");
}

#[test]
fn parts_that_are_free_to_choose_choose_alike() {
    const LONG: usize = 256;
    const ROWS: usize = 2_200;
    let (rows, queries) = clustered(3 * ROWS, LONG, 8);
    let centres = Arc::new(SharedCentres::new(3));
    let how = ImageOptions {
        graph: GraphChoice::WhenWorthIt,
        ..HOW
    };
    let parts = rows.chunks(ROWS).map(|part| {
        let builder = builder(ColumnOptions::new(LONG, Space::L2), part).sharing(centres.clone());
        let mut image = Vec::new();
        builder.write(how, &mut image).unwrap();
        Column::open(image).unwrap()
    });
    let parts: Vec<Column<Vec<u8>>> = parts.collect();
    let first = parts[0].choice().unwrap();
    for part in &parts {
        part.verify().unwrap();
        assert_eq!(part.choice().unwrap(), first);
        assert_eq!(part.has_lists(), first.is_for_lists());
        assert_eq!(part.has_graph(), !first.is_for_lists());
        // An effort means as much in those that were not measured.
        let (mut found, mut wanted) = (0, 0);
        for query in &queries {
            let request = SearchRequest::new(query, 10);
            let truth = exact(part, &request).hits;
            let hits = search(part, &request, &mut Scratch::default()).hits;
            wanted += truth.len();
            found += hits.iter().filter(|hit| truth.contains(hit)).count();
        }
        assert!(found as f64 > 0.9 * wanted as f64, "{found} of {wanted}");
    }
}

/// The columns, with the documents that may be hits in each.
type Asked<'a> = Vec<(&'a Column<Vec<u8>>, Option<Filter<'a>>)>;

fn all_of(whole: &Whole) -> Asked<'_> {
    whole.parts.iter().map(|part| (part, None)).collect()
}

fn at_once(
    asked: &Asked<'_>,
    request: &SearchRequest<'_>,
    scratch: &mut Scratch,
) -> Vec<SearchOutcome> {
    let found = Column::search_together(asked, request, scratch).into_iter();
    found.map(|one| one.unwrap()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Where nothing is bounded by what others have found, answers are the same to the last bit.
    #[test]
    fn a_vector_prepared_for_another_column_finds_the_same(
        whole in 0..3_usize,
        query in 0..50_usize,
        k in 1..30_usize,
        probes in prop::collection::vec(1..200_usize, PARTS),
    ) {
        let whole = &WHOLES[whole];
        let horizon = Horizon::new(1_000_000, 1_000_000);
        let mut scratch = Scratch::default();
        for (part, &probes) in whole.parts.iter().zip(&probes) {
            let request = SearchRequest {
                probes: Some(probes),
                ..SearchRequest::new(&whole.queries[query], k)
            };
            let together = SearchRequest { horizon: Some(&horizon), ..request };
            let alone = search(part, &request, &mut Scratch::default());
            prop_assert_eq!(&search(part, &together, &mut scratch), &alone);
        }
    }

    /// Whatever was found, and prepared, in the columns before: together each finds what it would alone.
    #[test]
    fn a_batch_over_columns_finds_what_its_searches_find_one_by_one(
        whole in 0..3_usize,
        asks in prop::collection::vec((0..50_usize, 1..30_usize, 1..60_usize), 1..20),
        more in prop::collection::vec(0..60_usize, PARTS),
        threads in 1..3_usize,
    ) {
        let whole = &WHOLES[whole];
        let horizons = || -> Vec<Horizon> {
            asks.iter().map(|&(_, k, _)| Horizon::new(k, 100)).collect()
        };
        let (together, alone) = (horizons(), horizons());
        let mut scratches: Vec<Scratch> = (0..threads).map(|_| Scratch::default()).collect();
        for (part, more) in whole.parts.iter().zip(more) {
            let request = |((query, k, probes), horizon): ((usize, usize, usize), _)| SearchRequest {
                probes: Some(probes + more),
                horizon: Some(horizon),
                ..SearchRequest::new(&whole.queries[query], k)
            };
            let of = asks.iter().copied();
            let requests: Vec<_> = of.clone().zip(&together).map(request).collect();
            let batch = part.search_batch(&requests, &mut scratches);
            for (request, found) in of.zip(&alone).map(request).zip(batch) {
                let (alone, found) = (search(part, &request, &mut Scratch::default()), found.unwrap());
                prop_assert_eq!(&alone.hits, &found.hits);
                prop_assert_eq!(alone.profile.codes, found.profile.codes);
            }
        }
    }

    /// Each has the documents that may be hits there, and all of them that are wanted come, however far away they lie.
    #[test]
    fn filters_of_columns_are_regarded_and_as_many_are_found_as_pass(
        whole in 0..3_usize,
        query in 0..50_usize,
        k in 1..30_usize,
        probes in 1..40_usize,
        words in prop::collection::vec(any::<u64>(), PARTS),
        dense in 0..PARTS,
    ) {
        let whole = &WHOLES[whole];
        // Half of the documents of each part, of one of them all, and half of those again in places that repeat.
        let bits: Vec<Vec<u64>> = words.iter().map(|&word| {
            (0_u32..).take(PART_ROWS.div_ceil(64)).map(|at| word.rotate_left(at)).collect()
        }).collect();
        let passes = |part: usize, doc: u32| {
            part == dense || bits[part][doc as usize / 64] >> (doc % 64) & 1 == 1
        };
        let docs = |part: usize| (0_u32..).take(PART_ROWS).filter(move |&doc| passes(part, doc));
        let asked = whole.parts.iter().enumerate().map(|(part, column)| {
            let filter = Filter { bits: &bits[part], count: docs(part).count() };
            (column, (part != dense).then_some(filter))
        });
        let asked: Asked<'_> = asked.collect();
        let request = SearchRequest {
            probes: Some(probes),
            ..SearchRequest::new(&whole.queries[query], k)
        };
        let mut scratch = Scratch::default();
        let found = Column::search_together(&asked, &request, &mut scratch);
        let together: usize = found.iter().flatten().map(|found| found.hits.len()).sum();
        if found.iter().flatten().count() > 0 {
            prop_assert_eq!(together, k);
        }
        for (part, found) in found.iter().enumerate() {
            let hits = found.iter().flat_map(|found| &found.hits);
            for hit in hits {
                prop_assert!(passes(part, hit.doc));
            }
        }
    }
}
