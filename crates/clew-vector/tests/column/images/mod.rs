//! What a column keeps, what it refuses, and that damaged images are refused without a panic.

mod damage;
mod model;
mod refused;
mod several;

use clew_vector::{
    Column, ColumnBuilder, ColumnOptions, Filter, GRAPH_BYTES_MIN, GraphChoice, HnswOptions,
    ImageOptions, Scratch, SearchRequest, Space, Strategy as Found, VectorError,
};

fn options(dimension: usize, space: Space) -> ColumnOptions {
    ColumnOptions {
        hnsw: HnswOptions {
            m: 4,
            ef_construction: 16,
        },
        ..ColumnOptions::new(dimension, space)
    }
}

fn how(graph: GraphChoice) -> ImageOptions {
    ImageOptions {
        graph,
        seed: 1,
        threads: 1,
    }
}

fn image(options: ColumnOptions, rows: &[(u32, Vec<f32>)]) -> Vec<u8> {
    let mut builder = ColumnBuilder::new(options).unwrap();
    for (doc, vector) in rows {
        builder.push(*doc, vector).unwrap();
    }
    assert_eq!(builder.len(), rows.len());
    let mut image = Vec::new();
    builder
        .write(how(GraphChoice::WhenWorthIt), &mut image)
        .unwrap();
    image
}

/// The smallest column of wide vectors that gets a graph.
fn image_with_graph() -> Vec<u8> {
    const DIMENSION: usize = 2_048;
    let mut state = 1_u32;
    let rows: Vec<_> = (0_u32..)
        .take(GRAPH_BYTES_MIN / 4 / DIMENSION + 44)
        .map(|row| {
            let vector = (0..DIMENSION).map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 8) as f32
            });
            (row * 2, vector.collect())
        })
        .collect();
    let options = ColumnOptions {
        exact_structure: true,
        ..options(DIMENSION, Space::Cosine)
    };
    image(options, &rows)
}

/// Does everything a reader can do; answers whether the search went through.
fn use_column(column: &Column<Vec<u8>>) -> Result<(), VectorError> {
    let _ = column.verify();
    let docs: Vec<u32> = column.docs().take(1_000).collect();
    for doc in docs.iter().chain(&[0, 1, u32::MAX]) {
        let _ = column.vector(*doc);
    }
    let vector = vec![1.0; column.options().dimension];
    let bits = [u64::MAX - 1; 20];
    for filter in [
        None,
        Some(Filter {
            bits: &bits,
            count: 1_260,
        }),
    ] {
        for exact in [false, true] {
            let request = SearchRequest {
                // So little that the graph is walked even where there are few rows.
                ef_search: 2,
                filter,
                exact,
                ..SearchRequest::new(&vector, 2)
            };
            column.search(&request, &mut Scratch::default())?;
            let mut pages = column.pages(&request)?;
            while !pages.is_done() {
                column.next_page(&mut pages, 2, &mut Scratch::default())?;
            }
        }
    }
    Ok(())
}

#[test]
fn an_empty_column_answers_nothing() {
    let column = Column::open(image(options(3, Space::Cosine), &[])).unwrap();
    assert!(column.is_empty() && !column.has_graph());
    column.verify().unwrap();
    assert_eq!(column.docs().count(), 0);
    assert_eq!(column.vector(0).unwrap(), None);
    let request = SearchRequest {
        ef_search: 5,
        ..SearchRequest::new(&[1.0; 3], 5)
    };
    let outcome = column.search(&request, &mut Scratch::default()).unwrap();
    assert_eq!((outcome.hits.len(), outcome.strategy), (0, Found::Exact));
}

#[test]
fn equal_distances_are_ordered_by_document() {
    let rows: Vec<_> = (0..40).map(|doc| (doc, vec![1.0, 0.0])).collect();
    let column = Column::open(image(options(2, Space::L2), &rows)).unwrap();
    let request = SearchRequest {
        ef_search: 7,
        ..SearchRequest::new(&[0.0, 1.0], 7)
    };
    let outcome = column.search(&request, &mut Scratch::default()).unwrap();
    let docs: Vec<u32> = outcome.hits.iter().map(|hit| hit.doc).collect();
    assert_eq!(docs, (0..7).collect::<Vec<u32>>());
}
