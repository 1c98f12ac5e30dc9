//! Columns of documents of several vectors, damaged.

use proptest::prelude::*;

use super::*;
use crate::header::{HEADER_BYTES, seal};

/// A small column of documents of several vectors, with a graph, and where its documents lie.
fn image_of_several() -> (Vec<u8>, std::ops::Range<usize>, usize) {
    let options = ColumnOptions {
        multi: true,
        ..options(3, Space::L2)
    };
    let mut builder = ColumnBuilder::new(options).unwrap();
    for row in 0..300_u16 {
        let number = f32::from(row % 97);
        let vector = [number, f32::from(row % 13), 1.0];
        builder.push(u32::from(row / 3 * 2), &vector).unwrap();
    }
    let mut image = Vec::new();
    builder.write(how(GraphChoice::Always), &mut image).unwrap();
    let slots = usize::from(image[30]);
    let kind = |at: usize| u32::from_le_bytes(image[64 + at * 24..][..4].try_into().unwrap());
    let slot = 64 + 24 * (0..slots).find(|&at| kind(at) == 2).unwrap();
    let offset = u64::from_le_bytes(image[slot + 8..][..8].try_into().unwrap());
    let offset = usize::try_from(offset).unwrap();
    (image, offset..offset + 4 * 300, slot)
}

#[test]
fn damaged_documents_of_several_vectors_are_named_and_never_served() {
    let (good, docs, slot) = image_of_several();
    use_column(&Column::open(good.clone()).unwrap()).unwrap();
    for at in [0, 601, 1_199] {
        let mut bad = good.clone();
        bad[docs.start + at] ^= 1;
        let column = Column::open(bad).unwrap();
        let corrupt = |result: Result<(), VectorError>| match result.unwrap_err() {
            VectorError::Corrupt { offset_bytes, .. } => {
                assert_eq!(usize::try_from(offset_bytes).unwrap(), docs.start);
            }
            other => panic!("{other}"),
        };
        corrupt(use_column(&column));
        corrupt(column.vectors(4).map(|_| ()));
        corrupt(column.doc_count().map(|_| ()));
        assert!(column.verify().is_err());
    }
    // Fewer documents than vectors, or none at all, contradict the header.
    for len in [0_u64, 4 * 299] {
        let mut bad = good.clone();
        bad[slot + 16..][..8].copy_from_slice(&len.to_le_bytes());
        seal(&mut bad, HEADER_BYTES);
        let error = Column::open(bad).unwrap_err();
        assert!(error.to_string().ends_with("a section has the wrong size"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Checksums that say all is well: out of order, far away, all the same.
    #[test]
    fn documents_in_any_disorder_never_panic(
        damage in prop::collection::vec((0_usize..300, prop_oneof![any::<u32>(), 0_u32..700]), 1..40),
        all in prop::option::of(any::<u32>()),
    ) {
        let (mut bad, docs, slot) = image_of_several();
        let range = damage.iter().copied();
        let same = (0..300).filter_map(|row| Some((row, all?)));
        for (row, doc) in same.chain(range) {
            bad[docs.start + 4 * row..][..4].copy_from_slice(&doc.to_le_bytes());
        }
        let checksum = crc32c::crc32c(&bad[docs.clone()]);
        bad[slot + 4..][..4].copy_from_slice(&checksum.to_le_bytes());
        seal(&mut bad, HEADER_BYTES);
        let column = Column::open(bad).unwrap();
        let _ = use_column(&column);
    }
}
