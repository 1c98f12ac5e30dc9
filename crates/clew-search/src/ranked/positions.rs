//! The positions of a word in a segment, document after document: differences in bit-packed blocks of 128, whose
//! widths come first; what remains after the last full block is written as variable-length numbers.

use bitpacking::{BitPacker, BitPacker4x};

use super::layout::{MARK, read_frequencies, variable};
use super::list::{BLOCK, BYTES_A_BIT};

/// A reader of one word's positions. It goes forward; going back begins anew.
pub(super) struct Positions<'a> {
    widths: &'a [u8],
    data: &'a [u8],
    /// The block that is decompressed.
    loaded: Option<usize>,
    /// A block, and where it begins in `data`.
    summed: (usize, usize),
    values: [u32; BLOCK],
}

impl Default for Positions<'_> {
    fn default() -> Self {
        Positions {
            widths: &[],
            data: &[],
            loaded: None,
            summed: (0, 0),
            values: [0; BLOCK],
        }
    }
}

impl<'a> Positions<'a> {
    /// Goes to the beginning of a word's positions; what was read before is forgotten.
    pub(super) fn open(&mut self, bytes: &'a [u8]) {
        let (blocks, used) = variable(bytes);
        let bytes = &bytes[used..];
        (self.widths, self.data) = bytes.split_at(bytes.len().min(blocks as usize));
        self.loaded = None;
        self.summed = (0, 0);
    }

    /// Adds `count` positions to `found`, before which come `before` others of the word; all of them are moved on by
    /// `shift`.
    pub(super) fn read(&mut self, (before, count): (u64, u32), shift: u32, found: &mut Vec<u32>) {
        let (mut block, mut place) = place_of(before);
        let mut left = count as usize;
        let mut position = shift;
        while left > 0 {
            if self.loaded != Some(block) {
                self.load(block);
            }
            let here = &self.values[place..BLOCK.min(place + left)];
            found.extend(here.iter().map(|more| {
                position = position.wrapping_add(*more);
                position
            }));
            left -= here.len();
            (block, place) = (block + 1, 0);
        }
    }

    fn load(&mut self, block: usize) {
        let (mut from, mut offset) = self.summed;
        if block < from {
            (from, offset) = (0, 0);
        }
        let packed = block.min(self.widths.len());
        let bits = self.widths[from.min(packed)..packed].iter();
        offset += bits.map(|width| usize::from(*width)).sum::<usize>() * BYTES_A_BIT;
        self.summed = (packed, offset);
        self.loaded = Some(block);
        let bytes = self.data.get(offset..).unwrap_or_default();
        if let Some(width) = self.widths.get(block) {
            BitPacker4x::new().decompress(bytes, &mut self.values, *width);
            return;
        }
        // Each number ends in a byte that is marked.
        let ends = bytes.iter().filter(|byte| **byte & MARK != 0);
        let count = ends.count().min(BLOCK);
        read_frequencies(bytes, &mut self.values[..count]);
        self.values[count..].fill(0);
    }
}

/// The block of a position among those of its word, and its place there.
#[allow(
    clippy::cast_possible_truncation,
    reason = "a word's positions are in memory"
)]
fn place_of(number: u64) -> (usize, usize) {
    let number = number as usize;
    (number / BLOCK, number % BLOCK)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tantivy::positions::PositionSerializer;

    use super::*;

    fn written(differences: &[u32]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut writer = PositionSerializer::new(&mut bytes);
        writer.write_positions_delta(differences);
        writer.close_term().unwrap();
        writer.close().unwrap();
        bytes
    }

    fn sized() -> impl Strategy<Value = u32> {
        prop_oneof![Just(0u32), 1u32..5, 1u32..200, 1u32..70_000]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn positions_are_read_as_they_were_written(
            differences in proptest::collection::vec(sized(), 0..900),
            reads in proptest::collection::vec((0usize..900, 0usize..300), 1..30), ascending: bool, shift in 0u32..9,
        ) {
            let bytes = written(&differences);
            let mut reads = reads;
            if ascending {
                reads.sort_unstable();
            }
            let mut positions = Positions::default();
            positions.open(&bytes);
            for (before, count) in reads {
                let before = before.min(differences.len());
                let count = count.min(differences.len() - before);
                let mut found = vec![7];
                positions.read((before as u64, u32::try_from(count).unwrap()), shift, &mut found);
                let mut wanted = vec![7];
                let mut position = shift;
                for difference in &differences[before..before + count] {
                    position += difference;
                    wanted.push(position);
                }
                prop_assert_eq!(found, wanted);
            }
        }
    }
}
