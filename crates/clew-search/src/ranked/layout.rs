//! How numbers lie in a posting list: the table before its blocks, and the variable-length numbers behind them.

use tantivy::DocId;
use tantivy::schema::IndexRecordOption;

/// Where a table entry says what; the last document and the width of the documents come first in all.
#[derive(Clone, Copy)]
pub(super) struct Layout {
    pub(super) size: usize,
    /// The width of the frequencies.
    pub(super) frequencies: Option<usize>,
    /// How many positions the block has.
    pub(super) occurrences: Option<usize>,
    /// The stored length and the frequency of the best document.
    pub(super) best: Option<usize>,
}

impl Layout {
    pub(super) fn of(option: IndexRecordOption) -> Self {
        match option {
            IndexRecordOption::Basic => Layout {
                size: 5,
                frequencies: None,
                occurrences: None,
                best: None,
            },
            IndexRecordOption::WithFreqs => Layout {
                size: 8,
                frequencies: Some(5),
                occurrences: None,
                best: Some(6),
            },
            IndexRecordOption::WithFreqsAndPositions => Layout {
                size: 12,
                frequencies: Some(5),
                occurrences: Some(6),
                best: Some(10),
            },
        }
    }
}

/// The width of a block's documents in a table entry.
pub(super) const WIDTH: usize = 4;

pub(super) fn number(bytes: &[u8]) -> u32 {
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

/// The last byte of a number is marked.
pub(super) const MARK: u8 = 0x80;
const MARKS: u64 = 0x8080_8080_8080_8080;

/// A number of seven bits a byte, the last byte marked, and how many bytes it takes.
pub(super) fn variable(bytes: &[u8]) -> (u32, usize) {
    let mut value = 0;
    for (place, byte) in bytes.iter().enumerate().take(5) {
        value |= u32::from(byte & 0x7f) << (7 * place);
        if byte & MARK != 0 {
            return (value, place + 1);
        }
    }
    (value, bytes.len().min(5))
}

/// The number that some bits are, of seven in each byte.
#[inline]
#[allow(clippy::cast_possible_truncation, reason = "the masks leave 32 bits")]
fn joined(bytes: u64) -> u32 {
    let seven = |place: u32| bytes >> place & 0x7f << (7 * place);
    (seven(0) | seven(1) | seven(2) | seven(3) | (bytes >> 4 & 0xf << 28)) as u32
}

/// Reads documents that are written as differences, and returns what comes behind them.
pub(super) fn read_docs<'a>(
    mut bytes: &'a [u8],
    mut doc: DocId,
    mut docs: &mut [DocId],
) -> &'a [u8] {
    while let (Some(eight), false) = (bytes.first_chunk(), docs.is_empty()) {
        // The numbers that end in these eight bytes. Where they end cannot be foreseen, so nothing depends on it
        // but how far the next step goes.
        let eight = u64::from_le_bytes(*eight);
        let mut marks = eight & MARKS;
        let count = (marks.count_ones() as usize).min(docs.len());
        if count == 0 {
            break;
        }
        let mut begin = 0;
        let (now, later) = docs.split_at_mut(count);
        for slot in now {
            let end = marks.trailing_zeros();
            let own = (eight & (u64::MAX >> (63 - end))) >> begin;
            doc = doc.wrapping_add(joined(own));
            *slot = doc;
            marks &= marks.wrapping_sub(1);
            begin = end + 1;
        }
        docs = later;
        bytes = &bytes[begin as usize / 8..];
    }
    for slot in docs {
        let (more, used) = variable(bytes);
        doc = doc.wrapping_add(more);
        *slot = doc;
        bytes = &bytes[used..];
    }
    bytes
}

/// Reads frequencies, nearly all of which take one byte.
pub(super) fn read_frequencies(mut bytes: &[u8], mut slots: &mut [u32]) {
    while !slots.is_empty() {
        if let (Some(eight), Some(first)) = (bytes.first_chunk::<8>(), slots.first_chunk_mut::<8>())
            && u64::from_le_bytes(*eight) & MARKS == MARKS
        {
            for (slot, byte) in first.iter_mut().zip(eight) {
                *slot = u32::from(byte & 0x7f);
            }
            bytes = &bytes[8..];
            slots = &mut slots[8..];
            continue;
        }
        let (frequency, used) = variable(bytes);
        slots[0] = frequency;
        bytes = &bytes[used..];
        slots = &mut slots[1..];
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn write(mut number: u32, bytes: &mut Vec<u8>) {
        while number >= 0x80 {
            bytes.push(number.to_le_bytes()[0] & 0x7f);
            number >>= 7;
        }
        bytes.push(number.to_le_bytes()[0] | 0x80);
    }

    fn sized() -> impl Strategy<Value = u32> {
        prop_oneof![0u32..3, 0u32..200, 0u32..20_000, Just(1 << 24)]
    }

    proptest! {
        #[test]
        fn numbers_are_read_as_they_were_written(
            more in proptest::collection::vec(sized(), 0..128), often in proptest::collection::vec(sized(), 128),
        ) {
            let mut bytes = Vec::new();
            let mut wanted = vec![5];
            for one in &more {
                write(*one, &mut bytes);
                wanted.push(wanted.last().unwrap() + one);
            }
            let often = &often[..more.len()];
            often.iter().for_each(|one| write(*one, &mut bytes));
            let (mut docs, mut frequencies) = (vec![0; more.len()], vec![0; more.len()]);
            let rest = read_docs(&bytes, 5, &mut docs);
            read_frequencies(rest, &mut frequencies);
            prop_assert_eq!(&docs, &wanted[1..]);
            prop_assert_eq!(frequencies, often);
        }
    }

    #[test]
    fn the_greatest_number_is_read() {
        for number in [0, 127, 128, 1 << 28, u32::MAX] {
            let mut bytes = Vec::new();
            write(number, &mut bytes);
            let length = bytes.len();
            assert_eq!(variable(&bytes), (number, length));
            bytes.resize(9, 0xff);
            let mut doc = [0];
            assert_eq!(read_docs(&bytes, 0, &mut doc).len(), 9 - length);
            assert_eq!(doc, [number]);
        }
    }
}
