//! The dictionary of a field in a segment: an automaton that numbers the words in their order, and behind it a
//! table of where the postings of each number lie: blocks of 256 words, the first of each written out, the others
//! as bit-packed differences from it.

use std::ops::Range;

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

    /// How many words there are.
    pub(super) fn len(&self) -> u64 {
        self.automaton.len() as u64
    }

    /// The numbers of the words that begin so. What a transition adds is what the first word behind it needs, as
    /// numbers ascend with the words: so the first one's number is known where the beginning ends, and that of the
    /// first word behind all of them at the last transition beside the way there.
    pub(super) fn with_prefix(&self, prefix: &[u8]) -> Option<Range<u64>> {
        let mut node = self.automaton.root();
        let mut number = 0;
        let mut end = self.len();
        for byte in prefix {
            let at = node.find_input(*byte)?;
            if at + 1 < node.len() {
                end = number + node.transition(at + 1).out.value();
            }
            let transition = node.transition(at);
            number += transition.out.value();
            node = self.automaton.node(transition.addr);
        }
        (number < end).then_some(number..end)
    }

    /// Where the postings of a word lie.
    pub(super) fn get(&self, word: &[u8]) -> Option<TermInfo> {
        self.numbered(self.automaton.get(word)?.value())
    }

    /// Where the postings of the word with a number lie; `None` when there is no such word.
    pub(super) fn numbered(&self, number: u64) -> Option<TermInfo> {
        let (block, place) = place_of(number)?;
        let block = self.block(block)?;
        Some(TermInfo {
            positions_range: block.positions(place)?,
            ..block.postings(place)?
        })
    }

    /// Where the postings of words lie that follow each other; their positions are not told.
    pub(super) fn postings(&self, numbers: Range<u64>) -> impl Iterator<Item = TermInfo> + '_ {
        self.each(numbers, Block::postings)
    }

    /// How many documents such words have.
    pub(super) fn frequencies(&self, numbers: Range<u64>) -> impl Iterator<Item = u32> + '_ {
        self.each(numbers, Block::frequency)
    }

    fn each<'a, T>(
        &'a self,
        numbers: Range<u64>,
        read: impl Fn(&Block<'a>, usize) -> Option<T> + 'a,
    ) -> impl Iterator<Item = T> + 'a {
        let mut last: Option<(usize, Block<'a>)> = None;
        numbers.map_while(move |number| {
            let (wanted, place) = place_of(number)?;
            let known = last.take().filter(|(number, _)| *number == wanted);
            let block = match known {
                Some((_, block)) => block,
                None => self.block(wanted)?,
            };
            let found = read(&block, place);
            last = Some((wanted, block));
            found
        })
    }

    fn block(&self, block: usize) -> Option<Block<'_>> {
        let entry = self
            .entries
            .get(block.checked_mul(ENTRY)?..)?
            .get(..ENTRY)?;
        let begin = usize::try_from(long(entry)?).ok()?;
        Some(Block {
            frequency: word32(&entry[8..])?,
            postings: range(&entry[12..])?,
            positions: range(&entry[24..])?,
            widths: *entry[36..].first_chunk()?,
            differences: Bits(self.differences.get(begin..)?),
        })
    }
}

/// The block of a word, and its place there.
fn place_of(number: u64) -> Option<(usize, usize)> {
    let block = usize::try_from(number / BLOCK).ok()?;
    Some((block, usize::try_from(number % BLOCK).ok()?))
}

/// The words of a block: the first one, and the differences of the others from it.
struct Block<'a> {
    frequency: u32,
    postings: Range<usize>,
    positions: Range<usize>,
    /// Of the frequencies and of both places.
    widths: [u8; 3],
    differences: Bits<'a>,
}

impl Block<'_> {
    fn width(&self) -> usize {
        self.widths.iter().map(|width| usize::from(*width)).sum()
    }

    fn frequency(&self, place: usize) -> Option<u32> {
        let [width, postings, positions] = self.widths;
        let Some(place) = place.checked_sub(1) else {
            return Some(self.frequency);
        };
        let at = self.width() * place + usize::from(postings) + usize::from(positions);
        u32::try_from(self.differences.read(at, width)?).ok()
    }

    fn postings(&self, place: usize) -> Option<TermInfo> {
        let width = self.widths[1];
        let postings = self.range(place, (&self.postings, 0, width))?;
        Some(TermInfo {
            doc_freq: self.frequency(place)?,
            postings_range: postings,
            positions_range: 0..0,
        })
    }

    fn positions(&self, place: usize) -> Option<Range<usize>> {
        let [_, before, width] = self.widths;
        self.range(place, (&self.positions, before.into(), width))
    }

    /// From a word's place to the next one's, which are so many bits behind the beginning of what is kept of a word.
    fn range(
        &self,
        place: usize,
        (first, before, width): (&Range<usize>, usize, u8),
    ) -> Option<Range<usize>> {
        let Some(place) = place.checked_sub(1) else {
            return Some(first.clone());
        };
        let at = self.width() * place + before;
        let read = |at| Some(first.start + self.differences.read(at, width)?);
        Some(read(at)?..read(at + self.width())?)
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
fn range(bytes: &[u8]) -> Option<Range<usize>> {
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
        #![proptest_config(ProptestConfig::with_cases(200))]
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
            for begin in [0, 1, 255, 256, 600] {
                let numbers = begin..wanted.len() as u64;
                let infos = wanted.iter().skip(usize::try_from(begin).unwrap());
                let infos: Vec<_> = infos.map(|(_, info)| info.clone()).collect();
                let frequencies: Vec<_> = dictionary.frequencies(numbers.clone()).collect();
                prop_assert!(infos.iter().map(|info| info.doc_freq).eq(frequencies));
                let postings: Vec<_> = dictionary.postings(numbers).collect();
                let places = postings.iter().map(|info| (info.doc_freq, &info.postings_range));
                prop_assert!(infos.iter().map(|info| (info.doc_freq, &info.postings_range)).eq(places));
            }
            prop_assert!(dictionary.get(b"1").is_none());
            for end in [0, 8, bytes.len() / 2, bytes.len() - 1] {
                // Whatever is there, nothing is read where nothing is.
                if let Some(cut) = Dictionary::open(&bytes.slice(0..end)) {
                    let _ = cut.numbered(300);
                }
            }
        }

        #[test]
        fn words_that_begin_so_follow_each_other(
            mut words in proptest::collection::vec("[abé日\u{0}]{0,4}", 0..200), prefix in "[abé日\u{0}]{0,3}",
        ) {
            words.sort();
            words.dedup();
            let mut writer = TermDictionaryBuilder::create(Vec::new()).unwrap();
            for word in &words {
                writer.insert(word, &TermInfo::default()).unwrap();
            }
            let bytes = OwnedBytes::new(writer.finish().unwrap());
            let dictionary = Dictionary::open(&bytes).unwrap();
            let begin = words.iter().position(|word| word.starts_with(&prefix));
            let count = words.iter().filter(|word| word.starts_with(&prefix)).count() as u64;
            let wanted = begin.map(|begin| begin as u64..begin as u64 + count);
            prop_assert_eq!(dictionary.with_prefix(prefix.as_bytes()), wanted);
        }
    }
}
