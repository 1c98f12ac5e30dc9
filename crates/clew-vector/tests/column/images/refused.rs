//! What a builder refuses, by name.

use clew_vector::{ErrorKind, check_direction, validate};

use super::*;
use crate::header::{HEADER_BYTES, seal};

#[test]
fn vectors_that_cannot_be_compared_are_refused_by_name() {
    let check = |space, vector: &[f32], expected: &str| {
        let error = validate(vector, &options(2, space)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert_eq!(error.to_string(), expected);
        let mut builder = ColumnBuilder::new(options(2, space)).unwrap();
        assert_eq!(builder.push(0, vector).unwrap_err().to_string(), expected);
        builder.push(0, &[1.0, 2.0]).unwrap();
        let mut image = Vec::new();
        builder.write(how(GraphChoice::Never), &mut image).unwrap();
        let request = SearchRequest {
            ef_search: 1,
            ..SearchRequest::new(vector, 1)
        };
        let column = Column::open(image).unwrap();
        let error = column
            .search(&request, &mut Scratch::default())
            .unwrap_err();
        assert_eq!(error.to_string(), expected);
    };
    check(
        Space::L2,
        &[1.0],
        "vector has dimension 1, the column has 2",
    );
    check(
        Space::L2,
        &[1.0, f32::NAN],
        "vector component 1 is not a finite number",
    );
    check(
        Space::L2,
        &[f32::NEG_INFINITY, 0.0],
        "vector component 0 is not a finite number",
    );
    check(
        Space::L2,
        &[1e20, 0.0],
        "vector of length 1.0000000200408773e20 is too long for single precision",
    );
    for space in [Space::L2, Space::Cosine, Space::InnerProduct] {
        assert!(validate(&[0.0, 0.0], &options(2, space)).is_ok());
    }
    let error = check_direction(&[0.0, -0.0], Space::Cosine).unwrap_err();
    assert_eq!(
        error.to_string(),
        "zero vector has no direction, which space cosinesimil needs"
    );
}

#[test]
fn options_out_of_bounds_are_refused_by_name() {
    let check = |dimension, m, ef_construction, expected: &str| {
        let hnsw = HnswOptions { m, ef_construction };
        let error = ColumnBuilder::new(ColumnOptions {
            hnsw,
            ..ColumnOptions::new(dimension, Space::L2)
        });
        assert_eq!(error.unwrap_err().to_string(), expected);
    };
    check(0, 16, 100, "dimension is 0, must be from 1 to 32768");
    check(
        32_769,
        16,
        100,
        "dimension is 32769, must be from 1 to 32768",
    );
    check(4, 1, 100, "m is 1, must be from 2 to 512");
    check(4, 16, 1, "ef_construction is 1, must be from 2 to 4096");
    check(
        4,
        16,
        5_000,
        "ef_construction is 5000, must be from 2 to 4096",
    );
}

#[test]
fn documents_out_of_order_are_refused_and_change_nothing() {
    let mut builder = ColumnBuilder::new(options(1, Space::L2)).unwrap();
    builder.push(5, &[1.0]).unwrap();
    for doc in [5, 4] {
        let error = builder.push(doc, &[2.0]).unwrap_err();
        assert!(matches!(error, VectorError::DocOrder { previous: 5, .. }));
    }
    builder.push(6, &[2.0]).unwrap();
    assert_eq!(builder.len(), 2);
}

#[test]
fn documents_of_several_vectors_come_in_ascending_order_too() {
    let options = ColumnOptions {
        multi: true,
        ..options(1, Space::L2)
    };
    let mut builder = ColumnBuilder::new(options).unwrap();
    for (doc, number) in [(0, 1.0), (0, 2.0), (2, 3.0), (2, 3.0)] {
        builder.push(doc, &[number]).unwrap();
    }
    let error = builder.push(1, &[2.0]).unwrap_err();
    assert!(matches!(error, VectorError::DocOrder { previous: 2, .. }));
    let mut image = Vec::new();
    builder.write(how(GraphChoice::Never), &mut image).unwrap();
    // A reader from before sees a number of sections that there cannot be.
    assert_eq!(image[31], 1);
    let column = Column::open(image.clone()).unwrap();
    column.verify().unwrap();
    assert_eq!(column.options(), &options);
    assert_eq!((column.len(), column.doc_count().unwrap()), (4, 2));
    assert_eq!(column.docs().collect::<Vec<_>>(), [0, 2]);
    assert_eq!(*column.vectors(0).unwrap(), [1.0, 2.0]);
    assert!(column.vectors(1).unwrap().is_empty());

    image[31] = 4;
    seal(&mut image, HEADER_BYTES);
    let error = Column::open(image).unwrap_err();
    assert_eq!(
        error.to_string(),
        "column image is corrupt at byte 31: unknown flags"
    );
}
