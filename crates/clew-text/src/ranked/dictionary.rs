//! The dictionary of a field in a segment: an automaton that numbers the words in their order, and behind it a
//! table of where the postings of each number lie: blocks of 256 words, the first of each written out, the others
//! as bit-packed differences from it.

use tantivy::directory::OwnedBytes;
use tantivy::postings::TermInfo;
use tantivy_fst::raw::Fst;

/// Behind the table: its size and two versions.
const TRAILER: usize = 8 + 4 + 4;
/// Before the table: the size of its entries and how many words there are.
const HEADER: usize = 8 + 8;
/// Words of a block.
const BLOCK: u64 = 256;
/// An entry of a block: where its differences begin, its first word's frequency, where the postings begin and how
/// long they are, the same of the positions, and the width of the differences of frequencies and of both places.
const ENTRY: usize = 8 + 4 + 8 + 4 + 8 + 4 + 3;

/// The words of a field in a segment.
pub(crate) struct Dictionary {
    automaton: Fst<OwnedBytes>,
    entries: OwnedBytes,
    differences: OwnedBytes,
}

impl Dictionary {
    /// `None` when the bytes are not those of a dictionary.
    pub(super) fn open(bytes: &OwnedBytes) -> Option<Self> {
        let end = bytes.len().checked_sub(TRAILER)?;
        let size = usize::try_from(long(bytes.get(end..)?)?).ok()?;
        let begin = end.checked_sub(size)?;
        let entries = usize::try_from(long(bytes.get(begin..end)?)?).ok()?;
        let from = begin.checked_add(HEADER)?;
        let behind = from.checked_add(entries).filter(|behind| *behind <= end)?;
        Some(Dictionary {
            automaton: Fst::new(bytes.slice(0..begin)).ok()?,
            entries: bytes.slice(from..behind),
            differences: bytes.slice(behind..end),
        })
    }

    /// The automaton, which tells the numbers of words.
    pub(crate) fn automaton(&self) -> &Fst<OwnedBytes> {
        &self.automaton
    }

    /// Where the postings of a word lie.
    pub(super) fn get(&self, word: &[u8]) -> Option<TermInfo> {
        self.numbered(self.automaton.get(word)?.value())
    }

    /// Where the postings of the word with a number lie; `None` when there is no such word.
    pub(super) fn numbered(&self, number: u64) -> Option<TermInfo> {
        let block = usize::try_from(number / BLOCK).ok()?;
        let entry = self
            .entries
            .get(block.checked_mul(ENTRY)?..)?
            .get(..ENTRY)?;
        let first = TermInfo {
            doc_freq: word32(&entry[8..])?,
            postings_range: range(&entry[12..])?,
            positions_range: range(&entry[24..])?,
        };
        let Some(place) = usize::try_from(number % BLOCK).ok()?.checked_sub(1) else {
            return Some(first);
        };
        let [frequency, postings, positions] = *entry[36..].first_chunk()?;
        let width = usize::from(frequency) + usize::from(postings) + usize::from(positions);
        let begin = usize::try_from(long(entry)?).ok()?;
        let bits = Bits(self.differences.get(begin..)?);
        let at = width * place;
        let postings_at = |at: usize| Some(first.postings_range.start + bits.read(at, postings)?);
        let behind = at + usize::from(postings);
        let positions_at =
            |at: usize| Some(first.positions_range.start + bits.read(at, positions)?);
        let doc_freq = bits.read(behind + usize::from(positions), frequency)?;
        Some(TermInfo {
            doc_freq: u32::try_from(doc_freq).ok()?,
            postings_range: postings_at(at)?..postings_at(at + width)?,
            positions_range: positions_at(behind)?..positions_at(behind + width)?,
        })
    }
}

/// Numbers of some bits, one after the other, the lowest bits first.
struct Bits<'a>(&'a [u8]);

impl Bits<'_> {
    fn read(&self, at: usize, width: u8) -> Option<usize> {
        let bytes = self.0.get(at / 8..)?;
        let eight = match bytes.first_chunk() {
            Some(eight) => u64::from_le_bytes(*eight),
            None => {
                let mut padded = [0; 8];
                padded[..bytes.len()].copy_from_slice(bytes);
                u64::from_le_bytes(padded)
            }
        };
        let mask = 1u64.checked_shl(width.into())?.wrapping_sub(1);
        usize::try_from(eight >> (at % 8) & mask).ok()
    }
}

fn long(bytes: &[u8]) -> Option<u64> {
    bytes.first_chunk().map(|eight| u64::from_le_bytes(*eight))
}

fn word32(bytes: &[u8]) -> Option<u32> {
    bytes.first_chunk().map(|four| u32::from_le_bytes(*four))
}

/// Where something begins, and how long it is.
fn range(bytes: &[u8]) -> Option<std::ops::Range<usize>> {
    let begin = usize::try_from(long(bytes)?).ok()?;
    let length = usize::try_from(word32(&bytes[8..])?).ok()?;
    Some(begin..begin.checked_add(length)?)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tantivy::termdict::TermDictionaryBuilder;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn what_was_written_is_found_again(
            lists in proptest::collection::vec((1u32..1 << 20, 0usize..100_000, 0usize..3_000), 1..900),
        ) {
            let mut writer = TermDictionaryBuilder::create(Vec::new()).unwrap();
            let (mut postings, mut positions) = (7, 0);
            let mut wanted = Vec::new();
            for (number, (doc_freq, size, more)) in lists.into_iter().enumerate() {
                let info = TermInfo {
                    doc_freq,
                    postings_range: postings..postings + size,
                    positions_range: positions..positions + more,
                };
                (postings, positions) = (postings + size, positions + more);
                let word = format!("{number:08}");
                writer.insert(&word, &info).unwrap();
                wanted.push((word, info));
            }
            let bytes = OwnedBytes::new(writer.finish().unwrap());
            let dictionary = Dictionary::open(&bytes).unwrap();
            for (number, (word, info)) in (0..).zip(&wanted) {
                prop_assert!(dictionary.get(word.as_bytes()).as_ref() == Some(info));
                prop_assert!(dictionary.numbered(number).as_ref() == Some(info));
            }
            prop_assert!(dictionary.get(b"1").is_none());
            for end in [0, 8, bytes.len() / 2, bytes.len() - 1] {
                // Whatever is there, nothing is read where nothing is.
                if let Some(cut) = Dictionary::open(&bytes.slice(0..end)) {
                    let _ = cut.numbered(300);
                }
            }
        }
    }
}
