//! Images that are damaged, old or of another build.

use clew_vector::ErrorKind;

use super::*;
use crate::header::{HEADER_BYTES, seal, sections};

#[test]
fn every_bit_of_a_column_is_covered_by_a_checksum() {
    let rows: Vec<_> = (1..4).map(|doc| (doc * 2, vec![doc as f32, 1.0])).collect();
    let good = image(options(2, Space::Cosine), &rows);
    Column::open(good.clone()).unwrap().verify().unwrap();
    let mut padding = 0;
    for at in 0..good.len() {
        let mut bad = good.clone();
        bad[at] ^= 4;
        match Column::open(bad) {
            Ok(column) if column.verify().is_ok() => padding += 1,
            Ok(_) => {}
            Err(error) => assert_eq!(error.kind(), ErrorKind::Corrupt),
        }
    }
    // Four sections of 12, 12, 4 and 24 bytes, each filled up to 64.
    assert_eq!(padding, 52 + 52 + 60 + 40);
}

#[test]
fn an_image_at_an_odd_address_is_refused() {
    let good = image(options(1, Space::L2), &[(0, vec![1.0])]);
    let mut room = vec![0_u8; good.len() + 8];
    let base = room.as_ptr().align_offset(4) + 1;
    room[base..base + good.len()].copy_from_slice(&good);
    let error = Column::open(&room[base..base + good.len()]).unwrap_err();
    assert!(matches!(error, VectorError::Misaligned { .. }), "{error}");
}

#[test]
fn a_newer_version_is_refused_by_number() {
    let mut newer = image(options(1, Space::L2), &[(0, vec![1.0])]);
    newer[8] = 3;
    seal(&mut newer, HEADER_BYTES);
    let error = Column::open(newer).unwrap_err();
    assert!(
        matches!(error, VectorError::UnsupportedVersion { version: 3, .. }),
        "{error}"
    );
}

#[test]
fn an_image_of_version_1_is_read_without_its_graph() {
    let mut older = image_with_graph();
    older[8] = 1;
    seal(&mut older, HEADER_BYTES);
    let column = Column::open(older).unwrap();
    assert!(!column.has_graph() && column.len() > 256);
    column.verify().unwrap();
    use_column(&column).unwrap();
    let last = column.docs().last().unwrap();
    assert_eq!(column.vector(last).unwrap().unwrap().len(), 2_048);
    assert_eq!(column.vector(last + 1).unwrap(), None);
}

#[test]
fn a_graph_that_points_outside_is_given_up_without_a_panic() {
    let good = image_with_graph();
    assert!(Column::open(good.clone()).unwrap().has_graph());
    use_column(&Column::open(good.clone()).unwrap()).unwrap();
    // The links come first, and have the first line of the section table.
    let links_bytes = u64::from_le_bytes(good[80..88].try_into().unwrap());
    let links = 448..448 + usize::try_from(links_bytes).unwrap();
    let (mut refused, mut survived) = (0, 0);
    // Every third of the first numbers becomes one of a few wild ones.
    for (round, wild) in [300_u32, 1 << 30, u32::MAX - 1, u32::MAX]
        .into_iter()
        .enumerate()
    {
        let mut bad = good.clone();
        for number in bad[448..448 + 9_000]
            .chunks_exact_mut(4)
            .skip(round)
            .step_by(3)
        {
            number.copy_from_slice(&wild.to_le_bytes());
        }
        let column = Column::open(bad.clone()).unwrap();
        assert_eq!(column.verify().unwrap_err().kind(), ErrorKind::Corrupt);
        use_column(&column).unwrap();
        assert!(!column.has_graph(), "damage was served");
        // With a checksum that says all is well, the walk has to see for itself.
        let checksum = crc32c::crc32c(&bad[links.clone()]);
        bad[68..72].copy_from_slice(&checksum.to_le_bytes());
        seal(&mut bad, HEADER_BYTES);
        let column = Column::open(bad).unwrap();
        use_column(&column).unwrap();
        match column.graph_damage() {
            None => survived += 1,
            Some(error) => {
                assert_eq!(error.kind(), ErrorKind::Corrupt);
                refused += 1;
            }
        }
    }
    // Ending lists early is legal in shape; numbers beyond the column are not.
    assert!(
        refused >= 2 && survived >= 1,
        "{refused} refused, {survived} survived"
    );
}

#[test]
fn a_flipped_bit_is_named_when_it_is_first_touched_and_never_served() {
    const VECTORS: u32 = 1;
    const BESIDE_THE_GRAPH: [u32; 4] = [VECTORS, 2, 3, 11];
    let good = image_with_graph();
    let sections = sections(&good);
    assert_eq!(sections.len(), 12);
    for (kind, offset, len) in sections {
        for at in [0, len / 3, len - 1] {
            let mut bad = good.clone();
            bad[offset + at] ^= 0x10;
            let column = Column::open(bad).unwrap();
            let error = if kind == VECTORS {
                let doc = u32::try_from(at / 2_048 / 4 * 2).unwrap();
                column.vector(doc).unwrap_err()
            } else if BESIDE_THE_GRAPH.contains(&kind) {
                use_column(&column).unwrap_err()
            } else {
                use_column(&column).unwrap();
                assert!(!column.has_graph());
                column.graph_damage().unwrap()
            };
            match error {
                VectorError::Corrupt { offset_bytes, .. } => {
                    let start = usize::try_from(offset_bytes).unwrap();
                    assert!(start <= offset + at && offset + at < start + len.max(1 << 16));
                }
                other => panic!("{other}"),
            }
            // A search may succeed beside damaged vectors that it does not read; what it says of
            // those it reads is right.
            assert!(column.verify().is_err());
        }
    }
}

#[test]
fn a_damaged_header_over_a_graph_never_panics() {
    let good = image_with_graph();
    let mut opened = 0;
    for at in 16..260 {
        for value in [0, 1, 0x7F, 0xFF] {
            let mut bad = good.clone();
            bad[at] = value;
            seal(&mut bad, HEADER_BYTES);
            if let Ok(column) = Column::open(bad) {
                opened += 1;
                let _ = use_column(&column);
            }
        }
    }
    // Checksums, the seed and the way into the graph can be anything.
    assert!(opened > 0);
}
