//! Damaged lists are named, and never served.

use clew_vector::{
    Column, ColumnBuilder, ErrorKind, ListCodes, Scratch, SearchRequest, Space, VectorError,
};

use super::{HOW, clustered, image, options};
use crate::header::{self, HEADER_BYTES, sections};

/// Writes all checksums anew, so that damage gets past them and meets the other checks.
fn seal(image: &mut [u8]) {
    for (slot, (_, start, len)) in sections(image).into_iter().enumerate() {
        let checksum = image.get(start..start + len).map_or(0, crc32c::crc32c);
        image[68 + 24 * slot..][..4].copy_from_slice(&checksum.to_le_bytes());
    }
    header::seal(image, HEADER_BYTES);
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
