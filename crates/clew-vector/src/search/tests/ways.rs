//! Small columns of every sort of data, searched in every way; and graphs built by several threads
//! or from another graph.

use super::*;
use crate::{CodeBits, Element, IvfOptions, Method};

/// A sort of data, as a function of row and dimension.
type Sort = fn(&mut Noise, usize, usize) -> Vec<f32>;

const SORTS: [(&str, Sort); 6] = [
    ("random", |noise, _, dimension| {
        (0..dimension).map(|_| noise.normal()).collect()
    }),
    ("few distinct", |_, row, dimension| {
        let mut noise = Noise(row as u64 % 7);
        (0..dimension).map(|_| noise.normal() + 0.1).collect()
    }),
    ("all equal", |_, _, dimension| vec![0.5; dimension]),
    ("one number differs", |_, row, dimension| {
        let mut vector = vec![1.0; dimension];
        vector[row % dimension] += row as f32 * 0.01;
        vector
    }),
    ("lengths differ", |noise, row, dimension| {
        let length = 10_f32.powi(i32::try_from(row % 3).unwrap() - 1);
        (0..dimension).map(|_| noise.normal() * length).collect()
    }),
    ("many zeros", |noise, row, dimension| {
        let mut vector = vec![0.0; dimension];
        vector[row * 31 % dimension] = 1.0 + noise.unit();
        vector
    }),
];

/// Whoever takes a column for one of other settings writes it again and again.
#[test]
fn columns_are_of_the_settings_that_they_were_written_under() {
    let mut noise = Noise(5);
    let lists = Method::Lists(IvfOptions::default());
    for (dimension, method) in [(3, Method::Graph), (32, Method::Graph), (32, lists)] {
        let vectors: Vec<Vec<f32>> = (0..200)
            .map(|_| (0..dimension).map(|_| noise.normal()).collect())
            .collect();
        for code_bits in CodeBits::ALL {
            let options = ColumnOptions {
                code_bits,
                method,
                ..ColumnOptions::new(dimension, Space::L2)
            };
            for graph in [GraphChoice::Always, GraphChoice::Never] {
                let mut builder = ColumnBuilder::new(options).unwrap();
                for (doc, vector) in (0_u32..).zip(&vectors) {
                    builder.push(doc, vector).unwrap();
                }
                let how = ImageOptions {
                    graph,
                    seed: 3,
                    threads: 1,
                };
                let mut image = Vec::new();
                builder.write(how, &mut image).unwrap();
                let column = Column::open(image).unwrap();
                assert!(column.is_of(&options), "{options:?} {graph:?}");
                let others = [
                    ColumnOptions {
                        element: Element::F16,
                        ..options
                    },
                    ColumnOptions {
                        exact_structure: true,
                        ..options
                    },
                ];
                for other in others {
                    assert!(!column.is_of(&other), "{other:?} {graph:?}");
                }
            }
        }
    }
}

/// A column with a graph, however small.
pub(super) fn small_column(vectors: &[Vec<f32>], space: Space, threads: usize) -> Column<Vec<u8>> {
    let options = ColumnOptions {
        hnsw: HnswOptions {
            m: 8,
            ef_construction: 64,
        },
        ..ColumnOptions::new(vectors[0].len(), space)
    };
    small_column_of(options, vectors, threads)
}

/// A column of any options with a graph, however small.
pub(super) fn small_column_of(
    options: ColumnOptions,
    vectors: &[Vec<f32>],
    threads: usize,
) -> Column<Vec<u8>> {
    let mut builder = ColumnBuilder::new(options).unwrap();
    for (doc, vector) in (0_u32..).zip(vectors) {
        builder.push(doc, vector).unwrap();
    }
    let mut image = Vec::new();
    let how = ImageOptions {
        graph: GraphChoice::Always,
        seed: 3,
        threads,
    };
    builder.write(how, &mut image).unwrap();
    let column = Column::open(image).unwrap();
    column.verify().unwrap();
    assert!(column.has_graph());
    column
}

/// Checks every way through a column against the exact hits: as many, in order, with distances that
/// are right, and on average nearly the best.
pub(super) fn check_ways(column: &Column<Vec<u8>>, queries: &[Vec<f32>], what: &str) {
    let mut scratch = Scratch::default();
    for plan in [None, Some(Plan::Walk), Some(Plan::ScanCodes)] {
        if plan == Some(Plan::ScanCodes) && column.view().unwrap().codes.is_none() {
            continue;
        }
        let (mut found, mut wanted) = (0, 0);
        for query in queries {
            for (k, ef_search) in [(K, 64), (K, 1), (column.len() + 5, 1)] {
                let request = SearchRequest {
                    ef_search: ef_search.max(k),
                    ..SearchRequest::new(query, k)
                };
                let exact = SearchRequest {
                    exact: true,
                    ..request
                };
                let truth = column.search(&exact, &mut scratch).unwrap().hits;
                let hits = run(column, &request, plan, &mut scratch).hits;
                assert_eq!(hits.len(), truth.len(), "{what}: {plan:?}, k {k}");
                assert!(hits.is_sorted_by(|a, b| (a.distance, a.doc) < (b.distance, b.doc)));
                // Ties may be broken by other documents, so distances are compared.
                let worst = truth.last().unwrap().distance;
                let enough = worst + 1e-5 * worst.abs();
                wanted += truth.len();
                found += hits.iter().filter(|hit| hit.distance <= enough).count();
            }
        }
        assert!(
            found * 100 >= wanted * 97,
            "{what}: {plan:?} found {found} of {wanted}"
        );
    }
}

#[test]
fn every_sort_of_data_and_every_dimension_is_found_in_every_way() {
    for dimension in [1, 2, 7, 64, 65, 100, 129, 300, 384] {
        for (name, sort) in SORTS {
            for space in [Space::L2, Space::Cosine, Space::InnerProduct] {
                let mut noise = Noise(dimension as u64);
                let vectors: Vec<Vec<f32>> = (0..300)
                    .map(|row| sort(&mut noise, row, dimension))
                    .collect();
                let column = small_column(&vectors, space, 1);
                let mut queries: Vec<Vec<f32>> = (0..8)
                    .map(|row| sort(&mut noise, row * 37, dimension))
                    .collect();
                queries.extend(vectors.iter().take(2).cloned());
                let what = format!("{name}, {dimension} dimensions, {space:?}");
                check_ways(&column, &queries, &what);
            }
        }
    }
}

#[test]
fn wide_vectors_and_single_vectors_are_found() {
    let mut noise = Noise(8);
    let mut draw = |count: usize, dimension: usize| -> Vec<Vec<f32>> {
        let mut one = || (0..dimension).map(|_| noise.normal()).collect();
        (0..count).map(|_| one()).collect()
    };
    for (count, dimension) in [(200, 4_096), (1, 384), (2, 70), (1, 3)] {
        let column = small_column(&draw(count, dimension), Space::L2, 1);
        check_ways(
            &column,
            &draw(5, dimension),
            &format!("{count} x {dimension}"),
        );
    }
}

#[test]
fn zero_vectors_are_found_where_they_may_be_stored() {
    let mut noise = Noise(9);
    for space in [Space::L2, Space::InnerProduct, Space::Cosine] {
        let vectors: Vec<Vec<f32>> = (0..300)
            .map(|row| match row % 3 {
                0 => vec![0.0; 80],
                _ => (0..80).map(|_| noise.normal()).collect(),
            })
            .collect();
        let column = small_column(&vectors, space, 1);
        check_ways(&column, &[vec![0.0; 80], vectors[1].clone()], "zeros");
    }
}

#[test]
fn nothing_passes_and_nothing_is_found() {
    let (data, column) = shared();
    for words in [vec![], vec![0_u64; COUNT.div_ceil(64)]] {
        // A count that is wrong must not be believed.
        for count in [0, 50, COUNT] {
            let request = SearchRequest {
                ef_search: EF,
                filter: Some(Filter {
                    bits: &words,
                    count,
                }),
                ..SearchRequest::new(&data.queries[0], K)
            };
            let outcome = column.search(&request, &mut Scratch::default()).unwrap();
            assert!(outcome.hits.is_empty(), "{:?}", outcome.strategy);
        }
    }
}

#[test]
fn several_threads_build_a_graph_as_good() {
    let data = data(8_000);
    let mut scratch = Scratch::default();
    let mut found = |threads: usize| -> usize {
        let column = small_column(&data.vectors, Space::L2, threads);
        let queries = data.queries.iter().map(|query| {
            let request = SearchRequest {
                ef_search: EF,
                ..SearchRequest::new(query, K)
            };
            let exact = SearchRequest {
                exact: true,
                ..request
            };
            let truth = column.search(&exact, &mut scratch).unwrap().hits;
            let outcome = column.search(&request, &mut scratch).unwrap();
            assert_eq!(outcome.strategy, Strategy::Graph);
            outcome
                .hits
                .iter()
                .filter(|hit| truth.contains(hit))
                .count()
        });
        queries.sum()
    };
    let alone = found(1);
    for threads in [2, 3, 4] {
        let together = found(threads);
        // Two per cent of 1,000 neighbours: the order of rows alone moves recall by one.
        assert!(
            together + 20 >= alone,
            "{together} by {threads}, {alone} by one"
        );
    }
}

#[test]
fn a_merge_that_keeps_a_graph_finds_as_much_as_one_that_builds_anew() {
    let data = data(12_000);
    // 9,000 vectors with a graph, of which every seventh has died, and 3,000 new ones; the documents
    // of both are renumbered as a merge does, the new ones first.
    let base = small_column(&data.vectors[..9_000], Space::L2, 1);
    let lives = |old: u32| !old.is_multiple_of(7);
    let before = |old: u32| u32::try_from((0..old).filter(|&old| lives(old)).count()).unwrap();
    let new_docs: Vec<Option<u32>> = (0..9_000)
        .map(|old| lives(old).then(|| 3_000 + before(old)))
        .collect();
    let vectors: Vec<&Vec<f32>> = data.vectors[9_000..]
        .iter()
        .chain(
            (0..9_000_u32)
                .filter(|&old| lives(old))
                .map(|old| &data.vectors[old as usize]),
        )
        .collect();
    let write = |reuse: bool| {
        let mut builder = ColumnBuilder::new(*base.options()).unwrap();
        for (doc, vector) in (0_u32..).zip(&vectors) {
            builder.push(doc, vector).unwrap();
        }
        let how = ImageOptions {
            graph: GraphChoice::Always,
            seed: 5,
            threads: 1,
        };
        let mut image = Vec::new();
        let new_doc = |old: u32| new_docs[old as usize];
        if reuse {
            builder
                .write_from(how, (&base, &new_doc), &mut image)
                .unwrap();
        } else {
            builder.write(how, &mut image).unwrap();
        }
        let column = Column::open(image).unwrap();
        column.verify().unwrap();
        column
    };
    let mut scratch = Scratch::default();
    let mut found = |column: &Column<Vec<u8>>| -> usize {
        let queries = data.queries.iter().map(|query| {
            let request = SearchRequest {
                ef_search: EF,
                ..SearchRequest::new(query, K)
            };
            let exact = SearchRequest {
                exact: true,
                ..request
            };
            let truth = column.search(&exact, &mut scratch).unwrap().hits;
            let hits = run(column, &request, Some(Plan::Walk), &mut scratch).hits;
            hits.iter().filter(|hit| truth.contains(hit)).count()
        });
        queries.sum()
    };
    let (kept, anew) = (found(&write(true)), found(&write(false)));
    assert!(
        kept + 10 >= anew,
        "{kept} with the graph kept, {anew} without"
    );
    assert!(anew > 950, "{anew}");
}

#[test]
fn a_merge_may_keep_nothing_of_a_graph() {
    let data = data(1_000);
    let base = small_column(&data.vectors[..400], Space::Cosine, 1);
    let kept: [fn(u32) -> Option<u32>; 3] = [
        |_| None,
        |old| (old == 7).then_some(0),
        |old| (old < 3).then_some(old),
    ];
    for new_doc in kept {
        let mut builder = ColumnBuilder::new(*base.options()).unwrap();
        for (doc, vector) in (0_u32..).zip(&data.vectors[400..]) {
            builder.push(doc, vector).unwrap();
        }
        let how = ImageOptions {
            graph: GraphChoice::Always,
            seed: 5,
            threads: 1,
        };
        let mut image = Vec::new();
        builder
            .write_from(how, (&base, &new_doc), &mut image)
            .unwrap();
        check_ways(
            &Column::open(image).unwrap(),
            &data.queries[..5],
            "nothing kept",
        );
    }
}
