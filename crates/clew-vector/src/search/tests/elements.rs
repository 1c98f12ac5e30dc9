//! Columns of every type of element: stored, walked and measured as the type can hold it.

use super::ways::{check_ways, small_column_of};
use super::*;
use crate::Element;
use crate::element::whole;

const ROWS: usize = 300;

/// A vector that the element can hold, but for rounding; `numbers` of them as they come.
fn draw(noise: &mut Noise, element: Element, numbers: usize) -> Vec<f32> {
    let value = |noise: &mut Noise| match element {
        Element::F32 | Element::F16 | Element::Bf16 => noise.normal(),
        Element::I8 | Element::Bit => noise.below(256) as f32 - 128.0,
    };
    (0..numbers).map(|_| value(noise)).collect()
}

fn spaces(element: Element) -> &'static [Space] {
    match element {
        Element::Bit => &[Space::Hamming, Space::Jaccard],
        _ => &[Space::L2, Space::Cosine, Space::InnerProduct],
    }
}

/// The distance of a query to a row as it is stored, slowly.
fn distance(space: Space, query: &[f32], row: &[f32]) -> f64 {
    let pairs = || {
        let pairs = query.iter().zip(row);
        pairs.map(|(&x, &y)| (f64::from(x), f64::from(y)))
    };
    let bits = |count: fn(u8, u8) -> u32| -> f64 {
        let byte = |value: &f32| whole(*value).cast_unsigned();
        let pairs = query.iter().zip(row);
        pairs.map(|(x, y)| f64::from(count(byte(x), byte(y)))).sum()
    };
    let dot: f64 = pairs().map(|(x, y)| x * y).sum();
    let (p, q) = pairs().fold((0.0, 0.0), |(p, q), (x, y)| (p + x * x, q + y * y));
    match space {
        Space::L2 => pairs().map(|(x, y)| (x - y) * (x - y)).sum(),
        Space::Cosine => 1.0 - dot / (p * q).sqrt(),
        Space::InnerProduct => -dot,
        Space::Hamming => bits(|x, y| (x ^ y).count_ones()),
        Space::Jaccard => {
            1.0 - bits(|x, y| (x & y).count_ones()) / bits(|x, y| (x | y).count_ones())
        }
        Space::MinHash8 | Space::MinHash32 | Space::MinHash64 => {
            unreachable!("not among those that have graphs")
        }
    }
}

#[test]
fn every_element_and_space_is_found_in_every_way_with_the_right_distances() {
    for element in Element::ALL {
        for &space in spaces(element) {
            for dimension in [8, 64, 72, 384] {
                let what = format!("{element:?}, {space:?}, {dimension} dimensions");
                let options = ColumnOptions {
                    element,
                    hnsw: HnswOptions {
                        m: 8,
                        ef_construction: 64,
                    },
                    ..ColumnOptions::new(dimension, space)
                };
                let numbers = element.numbers(dimension);
                let mut noise = Noise(dimension as u64);
                let mut some = |count: usize| -> Vec<Vec<f32>> {
                    let draw = |_| draw(&mut noise, element, numbers);
                    (0..count).map(draw).collect()
                };
                let (vectors, queries) = (some(ROWS), some(6));
                let column = small_column_of(options, &vectors, 1);
                assert_eq!(column.options(), &options);
                check_ways(&column, &queries, &what);
                check_distances(&column, (&vectors, &queries), &what);
            }
        }
    }
}

fn check_distances(
    column: &Column<Vec<u8>>,
    (vectors, queries): (&[Vec<f32>], &[Vec<f32>]),
    what: &str,
) {
    let options = column.options();
    let mut buffer = Vec::new();
    for query in queries {
        let request = SearchRequest::new(query, K);
        let hits = column.search(&request, &mut Scratch::default()).unwrap();
        for hit in hits.hits {
            let stored = options
                .element
                .round(&vectors[hit.doc as usize], &mut buffer);
            let kept = column.vector(hit.doc).unwrap().unwrap();
            assert_eq!(kept, stored, "{what}");
            let expected = distance(options.space, query, stored);
            let gap = (f64::from(hit.distance) - expected).abs();
            assert!(
                gap <= 1e-4 * (1.0 + expected.abs()),
                "{what}: {} for {expected}",
                hit.distance
            );
        }
    }
}

#[test]
fn slots_are_compared_as_wholes_and_scanned() {
    for (space, slot) in [
        (Space::MinHash8, 1),
        (Space::MinHash32, 4),
        (Space::MinHash64, 8),
    ] {
        let options = ColumnOptions {
            element: Element::Bit,
            ..ColumnOptions::new(512, space)
        };
        // Row n has n slots in common with the query; in each of the others one byte is another one.
        let query: Vec<f32> = (0..64).map(|at| at as f32).collect();
        let slots = 64 / slot;
        let row = |common: usize| -> Vec<f32> {
            let differs = |at: usize| at >= common * slot && at.is_multiple_of(slot);
            let bytes = query.iter().enumerate();
            bytes
                .map(|(at, byte)| byte - f32::from(u8::from(differs(at))))
                .collect()
        };
        let rows: Vec<Vec<f32>> = (0..=slots).map(row).collect();
        let column = small_column_of(options, &rows, 1);
        let request = SearchRequest {
            exact: true,
            ..SearchRequest::new(&query, slots + 1)
        };
        let found = column.search(&request, &mut Scratch::default()).unwrap();
        for (rank, hit) in found.hits.iter().enumerate() {
            assert_eq!(hit.doc as usize, slots - rank, "{space:?}");
            assert!((hit.distance - rank as f32 / slots as f32).abs() < 1e-6);
        }
        assert_eq!(found.hits.len(), slots + 1);
    }
}

#[test]
fn half_precision_that_rounds_to_zero_has_no_direction() {
    let options = ColumnOptions {
        element: Element::F16,
        ..ColumnOptions::new(2, Space::Cosine)
    };
    let mut builder = ColumnBuilder::new(options).unwrap();
    builder.push(0, &[1e-9, 1e-9]).unwrap();
    builder.push(1, &[-1.0, 0.0]).unwrap();
    let mut image = Vec::new();
    let how = ImageOptions {
        graph: GraphChoice::Never,
        seed: 1,
        threads: 1,
    };
    builder.write(how, &mut image).unwrap();
    let column = Column::open(image).unwrap();
    let request = SearchRequest::new(&[1.0, 0.0], 2);
    let found = column.search(&request, &mut Scratch::default()).unwrap();
    let found: Vec<_> = found
        .hits
        .iter()
        .map(|hit| (hit.doc, hit.distance))
        .collect();
    assert_eq!(found, [(0, 1.0), (1, 2.0)]);
}

#[test]
fn a_space_of_other_elements_and_a_part_of_a_byte_are_refused() {
    let check = |element, space, dimension, expected: &str| {
        let options = ColumnOptions {
            element,
            ..ColumnOptions::new(dimension, space)
        };
        assert_eq!(options.validate().unwrap_err().to_string(), expected);
    };
    check(
        Element::Bit,
        Space::L2,
        8,
        "space l2 does not compare vectors of type binary",
    );
    check(
        Element::I8,
        Space::Hamming,
        8,
        "space hamming does not compare vectors of type byte",
    );
    check(
        Element::Bit,
        Space::Jaccard,
        12,
        "dimension of a binary vector is 12, must be a multiple of 8",
    );
    check(
        Element::Bit,
        Space::MinHash64,
        96,
        "dimension of a vector of slots is 96, must be a multiple of 64",
    );
}
