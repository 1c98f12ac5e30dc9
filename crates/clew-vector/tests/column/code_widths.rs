//! Columns whose graphs are walked by codes of one, two, four and eight bits.

use clew_vector::{
    CodeBits, Column, ColumnBuilder, ColumnOptions, ErrorKind, GraphChoice, ImageOptions, Scratch,
    SearchRequest, Space, Strategy,
};

use crate::header::{HEADER_BYTES, seal};

/// Wide enough that rows of every width differ in size.
const DIMENSION: usize = 256;
/// So many that walking them is cheaper than a scan of their codes.
const ROWS: usize = 8_000;
const QUERIES: usize = 100;
const K: usize = 10;
const FRAME: u32 = 10;

/// Vectors around a hundred centres, from a plain generator: the same in every run.
fn vectors(count: usize, seed: u64) -> Vec<Vec<f32>> {
    let mut state = seed;
    let mut unit = move || {
        state = state
            .wrapping_mul(0x5851_F42D_4C95_7F2D)
            .wrapping_add(0x1405_7B7E_F767_814F);
        (state >> 40) as f32 / (1_u64 << 24) as f32 - 0.5
    };
    let mut spread = |size: f32| -> Vec<f32> {
        let one = |_| (unit() + unit() + unit()) * size;
        (0..DIMENSION).map(one).collect()
    };
    let centres: Vec<Vec<f32>> = (0..100).map(|_| spread(1.0)).collect();
    (0..count)
        .map(|row| {
            let noise = spread(0.8);
            let centre = &centres[row * 37 % centres.len()];
            centre.iter().zip(noise).map(|(x, y)| x + y).collect()
        })
        .collect()
}

fn image(vectors: &[Vec<f32>], code_bits: CodeBits, seed: u64) -> Vec<u8> {
    let options = ColumnOptions {
        code_bits,
        ..ColumnOptions::new(DIMENSION, Space::Cosine)
    };
    let mut builder = ColumnBuilder::new(options).unwrap();
    for (doc, vector) in (0_u32..).zip(vectors) {
        builder.push(doc, vector).unwrap();
    }
    let mut image = Vec::new();
    builder.write(how(seed), &mut image).unwrap();
    image
}

fn how(seed: u64) -> ImageOptions {
    ImageOptions {
        graph: GraphChoice::Always,
        seed,
        threads: 1,
    }
}

fn open(image: Vec<u8>) -> Column<Vec<u8>> {
    let column = Column::open(image).unwrap();
    column.verify().unwrap();
    column
}

/// Recall@10 with 64 candidates.
fn recall(column: &Column<Vec<u8>>, queries: &[Vec<f32>]) -> f64 {
    let mut scratch = Scratch::default();
    let mut found = 0;
    for query in queries {
        let request = SearchRequest {
            ef_search: 64,
            ..SearchRequest::new(query, K)
        };
        let exact = SearchRequest {
            exact: true,
            ..request
        };
        let truth = column.search(&exact, &mut scratch).unwrap();
        let outcome = column.search(&request, &mut scratch).unwrap();
        let by_codes = matches!(outcome.strategy, Strategy::Graph | Strategy::Codes);
        assert!(by_codes, "{:?}", outcome.strategy);
        let hits = outcome.hits.iter();
        found += hits.filter(|hit| truth.hits.contains(hit)).count();
    }
    found as f64 / (queries.len() * K) as f64
}

#[test]
fn codes_of_every_width_find_the_nearest() {
    let mut all = vectors(ROWS + QUERIES, 11);
    let queries = all.split_off(ROWS);
    let mut sizes = Vec::new();
    for (bits, recall_min) in CodeBits::ALL.into_iter().zip([0.85, 0.95, 0.97, 0.97]) {
        let image = image(&all, bits, 1);
        sizes.push(image.len());
        let column = open(image);
        assert_eq!(column.options().code_bits, bits);
        let recall = recall(&column, &queries);
        assert!(recall >= recall_min, "recall {recall} in {bits:?}");
    }
    assert!(sizes.is_sorted_by(|a, b| a < b), "{sizes:?}");
}

#[test]
fn the_same_seed_makes_the_same_codes_and_another_seed_others() {
    let vectors = vectors(300, 3);
    for bits in CodeBits::ALL {
        let first = image(&vectors, bits, 1);
        assert_eq!(first, image(&vectors, bits, 1), "{bits:?}");
        assert_ne!(first, image(&vectors, bits, 2), "{bits:?}");
    }
}

#[test]
fn a_graph_is_kept_when_the_width_of_codes_changes() {
    const LINKS: u32 = 4;
    let vectors = vectors(300, 3);
    let links = |image: &[u8]| {
        let (_, offset, len) = section(image, LINKS);
        image[offset..offset + len].to_vec()
    };
    // Built with a seed of its own, so that its graph can be told from one that is built anew.
    let base = open(image(&vectors, CodeBits::Four, 9));
    let merged = |code_bits| {
        let options = ColumnOptions {
            code_bits,
            ..*base.options()
        };
        let mut builder = ColumnBuilder::new(options).unwrap();
        for (doc, vector) in (0_u32..).zip(&vectors) {
            builder.push(doc, vector).unwrap();
        }
        let mut merged = Vec::new();
        builder
            .write_from(how(1), (&base, &Some), &mut merged)
            .unwrap();
        merged
    };
    let kept = links(&merged(CodeBits::Four));
    assert_ne!(kept, links(&image(&vectors, CodeBits::Four, 1)));
    for code_bits in CodeBits::ALL {
        let merged = merged(code_bits);
        assert_eq!(kept, links(&merged), "{code_bits:?}");
        assert_eq!(open(merged).options().code_bits, code_bits);
    }
}

/// Slot in the table, offset and size of a section.
fn section(image: &[u8], wanted: u32) -> (usize, usize, usize) {
    let word = |at: usize| u32::from_le_bytes(image[at..at + 4].try_into().unwrap());
    let mut slots = (64..HEADER_BYTES).step_by(24);
    let slot = slots.find(|&slot| word(slot) == wanted).unwrap();
    (slot, word(slot + 8) as usize, word(slot + 16) as usize)
}

/// Writes another width into the frame, and both checksums anew.
fn with_width(mut image: Vec<u8>, width: u32) -> Vec<u8> {
    let (slot, offset, len) = section(&image, FRAME);
    image[offset + 12..offset + 16].copy_from_slice(&width.to_le_bytes());
    let checksum = crc32c::crc32c(&image[offset..offset + len]);
    image[slot + 4..slot + 8].copy_from_slice(&checksum.to_le_bytes());
    seal(&mut image, HEADER_BYTES);
    image
}

#[test]
fn an_image_that_says_no_width_has_four_bits_and_a_wrong_width_is_refused() {
    let vectors = vectors(300, 3);
    for bits in CodeBits::ALL {
        let good = image(&vectors, bits, 1);
        for width in [0, 1, 2, 3, 4, 8, 16, u32::MAX] {
            let fits = width == u32::from(bits.count()) || bits == CodeBits::Four && width == 0;
            match Column::open(with_width(good.clone(), width)) {
                Ok(column) => {
                    assert!(fits, "{width} in {bits:?}");
                    column.verify().unwrap();
                    assert_eq!(column.options().code_bits, bits);
                }
                Err(error) => {
                    assert!(!fits, "{width} in {bits:?}");
                    assert_eq!(error.kind(), ErrorKind::Corrupt);
                }
            }
        }
    }
}

#[test]
fn a_flipped_bit_in_codes_of_any_width_is_found_and_the_vectors_are_scanned_instead() {
    const CODES: u32 = 8;
    const FACTORS: u32 = 9;
    let vectors = vectors(300, 3);
    for bits in CodeBits::ALL {
        let good = image(&vectors, bits, 1);
        let exact = SearchRequest {
            exact: true,
            ..SearchRequest::new(&vectors[0], K)
        };
        let mut scratch = Scratch::default();
        let truth = open(good.clone()).search(&exact, &mut scratch).unwrap();
        for kind in [CODES, FACTORS, FRAME] {
            let (_, offset, len) = section(&good, kind);
            for at in [0, 13, len / 2, len - 1] {
                let mut bad = good.clone();
                bad[offset + at] ^= 0x10;
                let request = SearchRequest::new(&vectors[0], K);
                let column = match Column::open(bad) {
                    Ok(column) => column,
                    Err(error) => {
                        // The width itself says how large other sections have to be.
                        assert_eq!((kind, error.kind()), (FRAME, ErrorKind::Corrupt));
                        continue;
                    }
                };
                let found = column.search(&request, &mut scratch).unwrap();
                assert_eq!(found.hits, truth.hits, "{bits:?}");
                assert_eq!(found.strategy, Strategy::Exact);
                let damage = column.take_graph_damage().unwrap();
                assert_eq!(damage.kind(), ErrorKind::Corrupt);
                assert!(!column.has_graph() && column.take_graph_damage().is_none());
                assert!(column.verify().is_err());
            }
        }
    }
}
