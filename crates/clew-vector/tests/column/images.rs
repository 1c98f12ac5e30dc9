//! What a column keeps, what it refuses, and that damaged images are refused without a panic.

use clew_vector::{
    Column, ColumnBuilder, ColumnOptions, ErrorKind, Filter, GRAPH_BYTES_MIN, GraphChoice,
    HnswOptions, ImageOptions, Scratch, SearchRequest, Space, Strategy as Found, VectorError,
    check_direction, validate,
};
use proptest::prelude::*;

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

/// Writes the header checksum anew, so that damage gets past it and meets the other checks.
fn seal(image: &mut [u8]) {
    if let Some(header) = image.get_mut(..448) {
        header[12..16].fill(0);
        let checksum = crc32c::crc32c(header);
        header[12..16].copy_from_slice(&checksum.to_le_bytes());
    }
}

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
    seal(&mut image);
    let error = Column::open(image).unwrap_err();
    assert_eq!(
        error.to_string(),
        "column image is corrupt at byte 31: unknown flags"
    );
}

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
        seal(&mut bad);
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
        seal(&mut bad);
        let column = Column::open(bad).unwrap();
        let _ = use_column(&column);
    }
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
    seal(&mut newer);
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
    seal(&mut older);
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
        seal(&mut bad);
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

/// Offset and size of every section, in the order of the table.
fn sections(image: &[u8]) -> Vec<(u32, usize, usize)> {
    let slots = usize::from(image[30]);
    let slot = |at: usize| {
        let slot = &image[64 + at * 24..][..24];
        let number = |at: usize| {
            u64::from_le_bytes(slot[at..at + 8].try_into().unwrap())
                .try_into()
                .unwrap()
        };
        let kind = u32::from_le_bytes(slot[..4].try_into().unwrap());
        (kind, number(8), number(16))
    };
    (0..slots).map(slot).collect()
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

fn a_space() -> impl Strategy<Value = Space> {
    prop::sample::select(vec![Space::L2, Space::Cosine, Space::InnerProduct])
}

fn a_column() -> impl Strategy<Value = (usize, Space, Vec<(u32, Vec<f32>)>)> {
    (1_usize..20, a_space(), 1_u32..4).prop_flat_map(|(dimension, space, gap)| {
        let number = (1_u16..1_000).prop_map(|hundredths| f32::from(hundredths) / 100.0);
        let vector = prop::collection::vec(number, dimension);
        let rows = prop::collection::vec((0..gap, vector), 0..60);
        rows.prop_map(move |rows| {
            let mut doc = 0;
            let rows = rows.into_iter().map(|(skip, vector)| {
                let own = doc + skip;
                doc = own + 1;
                (own, vector)
            });
            (dimension, space, rows.collect())
        })
    })
}

fn distance(space: Space, a: &[f32], b: &[f32]) -> f64 {
    let pairs = || a.iter().zip(b).map(|(x, y)| (f64::from(*x), f64::from(*y)));
    let dot: f64 = pairs().map(|(x, y)| x * y).sum();
    let squares = pairs().fold((0.0, 0.0), |(p, q), (x, y)| (p + x * x, q + y * y));
    match space {
        Space::L2 => pairs().map(|(x, y)| (x - y) * (x - y)).sum(),
        Space::Cosine => 1.0 - dot / (squares.0 * squares.1).sqrt(),
        Space::InnerProduct => -dot,
        Space::Hamming | Space::Jaccard | Space::MinHash8 | Space::MinHash32 | Space::MinHash64 => {
            unreachable!("not drawn")
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn what_was_pushed_comes_back_and_is_ranked_by_distance(
        (dimension, space, rows) in a_column(),
        odd_only in any::<bool>(),
        k in 0_usize..70,
    ) {
        let column = Column::open(image(options(dimension, space), &rows)).unwrap();
        column.verify().unwrap();
        prop_assert_eq!(column.options(), &options(dimension, space));
        prop_assert_eq!(column.docs().collect::<Vec<_>>(), rows.iter().map(|(doc, _)| *doc).collect::<Vec<_>>());
        for (doc, vector) in &rows {
            let kept = column.vector(*doc).unwrap();
            prop_assert_eq!(kept.as_deref(), Some(vector.as_slice()));
        }
        let bits = [0xAAAA_AAAA_AAAA_AAAA; 4];
        let filter = odd_only.then_some(Filter { bits: &bits, count: 128 });
        let query = vec![1.0; dimension];
        let request = SearchRequest {
ef_search: 10,
filter,
..SearchRequest::new(&query, k)
};
        let outcome = column.search(&request, &mut Scratch::default()).unwrap();
        let mut expected: Vec<_> = rows
            .iter()
            .filter(|(doc, _)| !odd_only || doc % 2 == 1)
            .map(|(_, vector)| distance(space, &query, vector))
            .collect();
        expected.sort_by(f64::total_cmp);
        expected.truncate(k);
        prop_assert_eq!(outcome.hits.len(), expected.len());
        for (hit, expected) in outcome.hits.iter().zip(expected) {
            let gap = (f64::from(hit.distance) - expected).abs();
            prop_assert!(gap <= 1e-4 * (1.0 + expected.abs()), "{} for {expected}", hit.distance);
        }
    }

    #[test]
    fn damaged_images_never_panic(
        (dimension, space, rows) in a_column(),
        damage in prop::collection::vec((0_usize..600, any::<u8>()), 1..8),
        keep in prop::option::of(0_usize..5_000),
        sealed in any::<bool>(),
    ) {
        let mut bytes = image(options(dimension, space), &rows);
        for (at, value) in damage {
            if let Some(byte) = bytes.get_mut(at) {
                *byte = value;
            }
        }
        bytes.truncate(keep.unwrap_or(usize::MAX));
        if sealed {
            seal(&mut bytes);
        }
        if let Ok(column) = Column::open(bytes) {
            let _ = use_column(&column);
        }
    }

    #[test]
    fn noise_is_not_a_column(bytes in prop::collection::vec(any::<u8>(), 0..1_000)) {
        prop_assert!(Column::open(bytes).is_err());
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
            seal(&mut bad);
            if let Ok(column) = Column::open(bad) {
                opened += 1;
                let _ = use_column(&column);
            }
        }
    }
    // Checksums, the seed and the way into the graph can be anything.
    assert!(opened > 0);
}
