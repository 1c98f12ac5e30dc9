//! What a column of sparse vectors refuses, and that damaged images are refused without a panic.

use clew_vector::{
    ErrorKind, Filter, ROW_NONZEROS_MAX, SparseColumn, SparseColumnBuilder, SparseEntry,
    SparseSearchRequest, VectorError,
};

use crate::header::seal;

const HEADER_BYTES: usize = 384;

fn entry(dimension: u32, weight: f32) -> SparseEntry {
    SparseEntry { dimension, weight }
}

/// 200 vectors: one dimension has a full block and a short one, the others short ones.
fn image(stride: u32) -> Vec<u8> {
    let mut builder = SparseColumnBuilder::new();
    for row in 0..200_u32 {
        let mut vector = vec![entry(3, (row % 7 + 1) as f32)];
        if row % 3 == 0 {
            vector.push(entry(1_000 + row, 0.5));
        }
        builder.push(row * stride, &vector).unwrap();
    }
    assert!(builder.len() == 200 && builder.mem_bytes() >= 200 * 16);
    let mut image = Vec::new();
    builder.write(&mut image).unwrap();
    image
}

const QUERY: [SparseEntry; 3] = [
    SparseEntry {
        dimension: 3,
        weight: 1.0,
    },
    SparseEntry {
        dimension: 1_000,
        weight: 2.0,
    },
    SparseEntry {
        dimension: 1_099,
        weight: 2.0,
    },
];

/// What a reader can be asked, and all that it answers.
type Answers = Vec<String>;

fn use_column(column: &SparseColumn<Vec<u8>>) -> Result<Answers, VectorError> {
    let mut answers = Vec::new();
    let bits = [0b1001, u64::MAX];
    let few = Filter {
        bits: &bits,
        count: 66,
    };
    for filter in [None, Some(few)] {
        let request = SparseSearchRequest {
            filter,
            ..SparseSearchRequest::new(&QUERY, 5)
        };
        answers.push(format!("{:?}", column.search(&request)?));
    }
    let docs: Vec<u32> = column.docs()?.collect();
    for doc in docs {
        answers.push(format!("{:?}", column.vector(doc)?));
    }
    Ok(answers)
}

/// Writes all checksums anew: what an image says is then believed, but may be nonsense.
fn seal_all(image: &mut [u8]) {
    let word = |image: &[u8], at: usize| u32::from_le_bytes(image[at..at + 4].try_into().unwrap());
    let range = |image: &[u8], kind: u32| {
        let slots = (64..HEADER_BYTES).step_by(24);
        let at = slots.take(10).find(|&at| word(image, at) == kind);
        at.map_or(0..0, |at| {
            let start = word(image, at + 8) as usize;
            start..start + word(image, at + 16) as usize
        })
    };
    let mut sums = Vec::new();
    for kind in [2, 9] {
        for block in image[range(image, kind)].chunks(1 << 16) {
            sums.extend(crc32c::crc32c(block).to_le_bytes());
        }
    }
    let place = range(image, 10);
    image[place].copy_from_slice(&sums);
    for slot in 0..10 {
        let at = 64 + slot * 24;
        let kind = word(image, at);
        let checksum = crc32c::crc32c(&image[range(image, kind)]);
        image[at + 4..at + 8].copy_from_slice(&checksum.to_le_bytes());
    }
    seal(image, HEADER_BYTES);
}

#[test]
fn every_flipped_byte_is_found_or_does_not_matter() {
    for stride in [1, 2] {
        let image = image(stride);
        let whole = SparseColumn::open(image.clone()).unwrap();
        whole.verify().unwrap();
        let right = use_column(&whole).unwrap();
        let mut found = 0;
        for at in 0..image.len() {
            let mut damaged = image.clone();
            damaged[at] ^= 1 << (at % 8);
            match SparseColumn::open(damaged).and_then(|column| use_column(&column)) {
                // Padding, or a posting that only others would have needed.
                Ok(answers) => assert_eq!(answers, right, "byte {at}"),
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Corrupt, "byte {at}: {error}");
                    found += 1;
                }
            }
        }
        // Gaps between sections are the only bytes that are not checked.
        assert!(image.len() - found < 10 * 64, "{found} of {}", image.len());
    }
}

#[test]
fn nonsense_under_right_checksums_does_not_panic() {
    let image = image(2);
    for at in 64..image.len() {
        for flip in [0x01, 0x80, 0xFF] {
            let mut damaged = image.clone();
            damaged[at] ^= flip;
            // The table of sections is what the checksums are found by.
            if at >= HEADER_BYTES {
                seal_all(&mut damaged);
            } else {
                seal(&mut damaged, HEADER_BYTES);
            }
            if let Ok(column) = SparseColumn::open(damaged) {
                let _ = use_column(&column);
                let _ = column.verify();
            }
        }
    }
}

#[test]
fn a_header_that_contradicts_itself_is_refused_by_name() {
    let check = |at: usize, bytes: &[u8], expected: &str| {
        let mut image = image(1);
        image[at..at + bytes.len()].copy_from_slice(bytes);
        seal(&mut image, HEADER_BYTES);
        let error = SparseColumn::open(image).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert_eq!(error.to_string(), expected);
    };
    let corrupt = |at, bytes: &[u8], byte: u64, what: &str| {
        let expected = format!("column image is corrupt at byte {byte}: {what}");
        check(at, bytes, &expected);
    };
    corrupt(0, b"clewvect", 0, "not a column of sparse vectors");
    let version = "column image has version 2, this program reads up to 1";
    check(8, &[2], version);
    corrupt(16, &[0xFF; 4], 16, "too many vectors");
    corrupt(20, &[0xFF; 4], 20, "too many weights");
    corrupt(16, &[7], 64, "a section has the wrong size");
    corrupt(24, &[0xFF; 4], 64, "a section has the wrong size");
    corrupt(28, &[0xFF; 4], 64, "a section has the wrong size");
    corrupt(32, &[1], 32, "image is cut off or continued");
    corrupt(40, &[0xFF; 8], 64, "a section has the wrong size");
    corrupt(48, &[13], 48, "too many sections");
    corrupt(64, &[0, 0, 0, 0x80], 64, "a section is of an unknown kind");
    corrupt(72, &[1], 64, "a section is misplaced");
    corrupt(79, &[0xFF], 64, "a section is misplaced");
    corrupt(64, &[2], 64, "a section has the wrong size");
}

#[test]
fn cut_off_and_misaligned_images_are_refused() {
    let image = image(1);
    for len in [0, 1, HEADER_BYTES - 1, HEADER_BYTES, image.len() - 1] {
        let error = SparseColumn::open(image[..len].to_vec()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{len}");
    }
    let mut flipped = image.clone();
    flipped[17] ^= 1;
    let error = SparseColumn::open(flipped).unwrap_err();
    let expected = "column image is corrupt at byte 0: header checksum does not match";
    assert_eq!(error.to_string(), expected);
    let words = vec![0_u32; image.len() / 4 + 1];
    let mut bytes: Vec<u8> = bytemuck::cast_slice(&words).to_vec();
    let odd = usize::from(bytes.as_ptr().addr().is_multiple_of(4));
    bytes[odd..odd + image.len()].copy_from_slice(&image);
    let error = SparseColumn::open(&bytes[odd..odd + image.len()]).unwrap_err();
    let expected = "column image must start at an address that is a multiple of 4 bytes";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn vectors_out_of_bounds_are_refused_by_name() {
    let column = SparseColumn::open(image(1)).unwrap();
    let vector = |vector: &[SparseEntry], expected: &str| {
        let mut builder = SparseColumnBuilder::new();
        let error = builder.push(0, vector).unwrap_err();
        assert_eq!(
            (error.to_string().as_str(), error.kind()),
            (expected, ErrorKind::Invalid)
        );
        assert!(builder.is_empty());
        let error = column
            .search(&SparseSearchRequest::new(vector, 1))
            .unwrap_err();
        assert_eq!(error.to_string(), expected);
    };
    vector(
        &[entry(1, 0.5), entry(1, 0.5)],
        "dimension 1 comes after dimension 1",
    );
    vector(
        &[entry(9, 0.5), entry(8, 0.5)],
        "dimension 8 comes after dimension 9",
    );
    vector(
        &[entry(4, -0.5)],
        "weight -0.5 of dimension 4 must be from 0 to 1e15",
    );
    vector(
        &[entry(4, f32::NAN)],
        "weight NaN of dimension 4 must be from 0 to 1e15",
    );
    vector(
        &[entry(4, f32::INFINITY)],
        "weight inf of dimension 4 must be from 0 to 1e15",
    );
    let long: Vec<_> = (0..=ROW_NONZEROS_MAX)
        .map(|at| entry(u32::try_from(at).unwrap(), 1.0))
        .collect();
    vector(
        &long,
        "number of weights is 1048577, must be from 0 to 1048576",
    );

    let mut builder = SparseColumnBuilder::new();
    builder.push(4, &[entry(1, 1.0)]).unwrap();
    let error = builder.push(4, &[entry(1, 1.0)]).unwrap_err();
    assert_eq!(error.to_string(), "document 4 was pushed after document 4");
    assert_eq!(error.kind(), ErrorKind::Internal);
}

#[test]
fn requests_out_of_bounds_are_refused_by_name() {
    let column = SparseColumn::open(image(1)).unwrap();
    let request = SparseSearchRequest::new(&QUERY, 1);
    let refused = |request: &SparseSearchRequest<'_>, expected: &str| {
        let error = column.search(request).unwrap_err();
        assert_eq!(
            (error.to_string().as_str(), error.kind()),
            (expected, ErrorKind::Invalid)
        );
    };
    let drop_ratio = "drop_ratio is 1, must be from 0.0 to 0.99999994";
    refused(
        &SparseSearchRequest {
            drop_ratio: 1.0,
            ..request
        },
        drop_ratio,
    );
}
