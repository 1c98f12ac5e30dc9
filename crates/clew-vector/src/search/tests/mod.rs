//! Recall of every strategy against the exact scan, and the promise of `k` hits.

mod asks;
mod elements;
mod multi;
mod promises;
mod target;
mod walks;
mod ways;

use std::sync::LazyLock;

use super::*;
use crate::{
    Column, ColumnBuilder, Filter, GraphChoice, HnswOptions, ImageOptions, RecallOptions, Space,
};

const DIMENSION: usize = 128;
const COUNT: usize = 20_000;
const QUERIES: usize = 100;
const K: usize = 10;
const EF: usize = 64;

/// Seeded numbers, roughly normal.
struct Noise(u64);

impl Noise {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn unit(&mut self) -> f32 {
        (self.bits() >> 40) as f32 / (1_u64 << 24) as f32
    }

    fn normal(&mut self) -> f32 {
        (0..4).map(|_| self.unit() - 0.5).sum::<f32>() * 1.7
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.bits() % limit as u64).unwrap()
    }
}

/// Vectors around random centres, the cluster of each, and queries drawn in the same way.
struct Data {
    vectors: Vec<Vec<f32>>,
    clusters: Vec<usize>,
    queries: Vec<Vec<f32>>,
}

fn data(count: usize) -> Data {
    let mut noise = Noise(42);
    let centres: Vec<Vec<f32>> = (0..200)
        .map(|_| (0..DIMENSION).map(|_| noise.normal()).collect())
        .collect();
    let draw = |noise: &mut Noise| {
        let cluster = noise.below(centres.len());
        // Lengths differ, so that the three spaces do not agree on who is near.
        let length = 0.5 + noise.unit();
        let vector = centres[cluster]
            .iter()
            .map(|x| (x + 0.8 * noise.normal()) * length)
            .collect();
        (vector, cluster)
    };
    let (vectors, clusters) = (0..count).map(|_| draw(&mut noise)).unzip();
    let queries = (0..QUERIES).map(|_| draw(&mut noise).0).collect();
    Data {
        vectors,
        clusters,
        queries,
    }
}

/// The image of a column of `data`; vector `i` belongs to document `i * stride`.
fn image(data: &Data, space: Space, stride: u32) -> Vec<u8> {
    let hnsw = HnswOptions {
        m: 16,
        ef_construction: 100,
    };
    let options = ColumnOptions {
        hnsw,
        exact_structure: true,
        ..ColumnOptions::new(DIMENSION, space)
    };
    let mut builder = ColumnBuilder::new(options).unwrap();
    for (doc, vector) in (0_u32..).step_by(stride as usize).zip(&data.vectors) {
        builder.push(doc, vector).unwrap();
    }
    let mut image = Vec::new();
    builder
        .write(
            ImageOptions {
                graph: GraphChoice::WhenWorthIt,
                seed: 7,
                threads: 1,
            },
            &mut image,
        )
        .unwrap();
    image
}

fn column(data: &Data, space: Space, stride: u32) -> Column<Vec<u8>> {
    let column = Column::open(image(data, space, stride)).unwrap();
    column.verify().unwrap();
    assert!(column.has_graph());
    column
}

/// 20,000 vectors in a column by Euclidean distance, built once for all tests.
fn shared() -> &'static (Data, Column<Vec<u8>>) {
    static SHARED: LazyLock<(Data, Column<Vec<u8>>)> = LazyLock::new(|| {
        let data = data(COUNT);
        let column = column(&data, Space::L2, 1);
        (data, column)
    });
    &SHARED
}

/// Bits of the documents whose row is in `pass`.
fn bits(count: usize, stride: u32, pass: impl Fn(usize) -> bool) -> (Vec<u64>, usize) {
    let mut words = vec![0_u64; (count * stride as usize).div_ceil(64)];
    let passing: Vec<usize> = (0..count).filter(|&row| pass(row)).collect();
    for row in &passing {
        let doc = row * stride as usize;
        words[doc / 64] |= 1 << (doc % 64);
    }
    (words, passing.len())
}

/// A share of rows chosen by hash, one row apart from the next.
fn scattered(ratio: f64) -> impl Fn(usize) -> bool {
    move |row| (Noise(row as u64 + 1).bits() >> 11) as f64 / ((1_u64 << 53) as f64) < ratio
}

/// Runs one query by a plan of the test's choosing; `None` leaves the choice to the planner.
fn run(
    column: &Column<Vec<u8>>,
    request: &SearchRequest<'_>,
    plan: Option<Plan>,
    scratch: &mut Scratch,
) -> SearchOutcome {
    let Some(plan) = plan else {
        return column.search(request, scratch).unwrap();
    };
    let view = column.view().unwrap();
    let query = Query::check(request.vector, column.options()).unwrap();
    let (search, situation) = Search::prepare(&view, &query, request).unwrap();
    // Without an estimate to give up by, the walk is judged and not the fallback.
    let situation = Situation {
        survivors: None,
        ef: request.ef_search,
        ..situation
    };
    search.run(&situation, plan, scratch).unwrap()
}

/// Checks recall@10 of a plan over all queries, and which strategies it may report.
fn check_recall(
    column: &Column<Vec<u8>>,
    queries: &[Vec<f32>],
    filter: Option<Filter<'_>>,
    (plan, recall_min, strategies): (Option<Plan>, f64, &[Strategy]),
) {
    let mut scratch = Scratch::default();
    let (mut found, mut wanted) = (0, 0);
    for query in queries {
        let request = SearchRequest {
            ef_search: EF,
            filter,
            ..SearchRequest::new(query, K)
        };
        let exact = SearchRequest {
            exact: true,
            ..request
        };
        let truth = column.search(&exact, &mut scratch).unwrap();
        assert_eq!(truth.strategy, Strategy::Exact);
        let outcome = run(column, &request, plan, &mut scratch);
        assert!(
            strategies.contains(&outcome.strategy),
            "{:?}",
            outcome.strategy
        );
        assert_eq!(outcome.hits.len(), truth.hits.len());
        for hits in [&truth.hits, &outcome.hits] {
            assert!(hits.is_sorted_by(|a, b| (a.distance, a.doc) < (b.distance, b.doc)));
            assert!(
                hits.iter()
                    .all(|hit| hit.score == column.options().space.score(hit.distance))
            );
        }
        wanted += truth.hits.len();
        found += outcome
            .hits
            .iter()
            .filter(|hit| truth.hits.contains(hit))
            .count();
    }
    let recall = found as f64 / wanted as f64;
    let space = column.options().space;
    assert!(
        recall >= recall_min,
        "recall {recall} of {plan:?} in {space:?}"
    );
}

#[test]
fn a_column_with_gaps_answers_by_document() {
    let data = data(8_000);
    let column = column(&data, Space::Cosine, 3);
    check_recall(
        &column,
        &data.queries,
        None,
        (None, 0.95, &[Strategy::Graph]),
    );
    let (words, count) = bits(8_000, 3, scattered(0.8));
    let filter = Some(Filter {
        bits: &words,
        count,
    });
    check_recall(
        &column,
        &data.queries,
        filter,
        (None, 0.95, &[Strategy::FilteredGraph]),
    );
    let docs: Vec<u32> = column.docs().collect();
    assert_eq!(docs, (0..8_000).map(|row| row * 3).collect::<Vec<u32>>());
    for (row, vector) in data.vectors.iter().enumerate().step_by(97) {
        let doc = u32::try_from(row * 3).unwrap();
        assert_eq!(
            column.vector(doc).unwrap().as_deref(),
            Some(vector.as_slice())
        );
        assert_eq!(column.vector(doc + 1).unwrap(), None);
    }
}

#[test]
fn the_same_seed_builds_the_same_image() {
    let data = data(5_000);
    assert_eq!(image(&data, Space::L2, 1), image(&data, Space::L2, 1));
}

#[test]
fn a_scratch_may_go_from_column_to_column() {
    let (data, large) = shared();
    let small_data = self::data(5_000);
    let small = column(&small_data, Space::Cosine, 1);
    let mut scratch = Scratch::default();
    for query in &data.queries {
        let request = SearchRequest {
            ef_search: 20,
            ..SearchRequest::new(query, K)
        };
        for column in [large, &small] {
            let fresh = column.search(&request, &mut Scratch::default()).unwrap();
            assert_eq!(fresh.strategy, Strategy::Graph);
            assert_eq!(column.search(&request, &mut scratch).unwrap(), fresh);
        }
    }
}

#[test]
fn equal_vectors_neither_hide_others_nor_get_lost() {
    let mut data = data(10_000);
    for row in (0..10_000).filter(|row| row % 10 < 3) {
        data.vectors[row] = data.vectors[5].clone();
    }
    let column = column(&data, Space::L2, 1);
    check_recall(
        &column,
        &data.queries,
        None,
        (None, 0.95, &[Strategy::Graph]),
    );
    let (words, count) = bits(10_000, 1, |row| row % 100 > 0);
    let filter = Some(Filter {
        bits: &words,
        count,
    });
    check_recall(
        &column,
        &data.queries,
        filter,
        (None, 0.95, &[Strategy::FilteredGraph]),
    );
    let request = SearchRequest {
        ef_search: 100,
        ..SearchRequest::new(&data.vectors[5], 100)
    };
    let outcome = column.search(&request, &mut Scratch::default()).unwrap();
    assert_eq!(outcome.strategy, Strategy::Graph);
    assert!(outcome.hits.iter().all(|hit| hit.distance == 0.0));
}

#[test]
fn within_a_distance_lie_the_same_hits_however_they_are_found() {
    let (data, column) = shared();
    let (words, count) = bits(COUNT, 1, scattered(0.3));
    let filters = [
        None,
        Some(Filter {
            bits: &words,
            count,
        }),
    ];
    let mut scratch = Scratch::default();
    for (query, filter) in data
        .queries
        .iter()
        .flat_map(|query| filters.map(|one| (query, one)))
    {
        let all = SearchRequest {
            ef_search: EF,
            filter,
            exact: true,
            ..SearchRequest::new(query, 500)
        };
        let truth = column.search(&all, &mut scratch).unwrap().hits;
        for wanted in [0, 1, 30, 400] {
            let max_distance = truth[wanted].distance;
            let near: Vec<Hit> = truth
                .iter()
                .copied()
                .filter(|hit| hit.distance <= max_distance)
                .collect();
            let within = SearchRequest {
                max_distance: Some(max_distance),
                ..all
            };
            assert_eq!(column.search(&within, &mut scratch).unwrap().hits, near);
            let coded = SearchRequest {
                exact: false,
                k: COUNT,
                ..within
            };
            let outcome = column.search(&coded, &mut scratch).unwrap();
            assert_eq!(outcome.strategy, Strategy::Codes);
            assert!(outcome.hits.iter().all(|hit| near.contains(hit)));
            assert!(
                outcome.hits.len() * 100 >= near.len() * 97,
                "{}",
                near.len()
            );
        }
    }
}

#[test]
fn measured_recall_is_that_of_the_searches() {
    let (data, column) = shared();
    let mut scratch = Scratch::default();
    let mut measure = |ef_search| {
        let options = RecallOptions { k: K, ef_search };
        let queries = data.queries.iter().map(Vec::as_slice);
        column
            .measure_recall(queries, options, &mut scratch)
            .unwrap()
    };
    let (poor, good) = (measure(K), measure(200));
    assert!(
        poor.mean <= good.mean && good.mean > 0.99,
        "{poor:?} {good:?}"
    );
    assert!(
        good.low > 0.9 && good.low <= good.mean && good.high == 1.0,
        "{good:?}"
    );
    assert_eq!(good.query_count, QUERIES);
}
