//! Which term stands where in one field, first in the order in which it came and then in the order of the terms.

use std::io;

use tantivy::DocId;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::schema::IndexRecordOption;

use super::automaton::Automaton;
use super::postings::PostingsWriter;
use super::terms::{TermAsked, TermTable};

/// Terms whose slots are on their way at once.
const AHEAD: usize = 16;

/// A field has more terms or occurrences than 32 bits count.
#[derive(Debug)]
pub(super) struct Full;

/// The occurrences of a field's terms.
///
/// Adding one touches the slot of its term and the ends of two lists. [`Occurrences::serialize`] brings them into the
/// order of the terms by counting, for which it takes the lists' memory once more; there is no list for each term that
/// grows in places of its own.
pub(super) struct Occurrences {
    record: IndexRecordOption,
    terms: TermTable,
    /// The term of each occurrence.
    numbers: Vec<u32>,
    /// The terms of those that follow, whose slots were asked for.
    asked: Vec<TermAsked>,
    /// Where each of them stands; `None` when that is not kept.
    positions: Option<Vec<u32>>,
    /// The documents that have any, and where the occurrences of each begin.
    docs: Vec<(DocId, u32)>,
}

impl Occurrences {
    pub(super) fn new(record: IndexRecordOption) -> Self {
        Occurrences {
            record,
            terms: TermTable::default(),
            numbers: Vec::new(),
            asked: Vec::with_capacity(AHEAD),
            positions: record.has_positions().then(Vec::new),
            docs: Vec::new(),
        }
    }

    /// Memory that they hold.
    pub(super) fn mem_usage(&self) -> usize {
        let positions = self.positions.as_ref().map_or(0, Vec::capacity);
        self.terms.mem_usage()
            + (self.numbers.capacity() + positions) * size_of::<u32>()
            + self.docs.capacity() * size_of::<(DocId, u32)>()
    }

    /// Their number.
    pub(super) fn count(&self) -> usize {
        self.numbers.len() + self.asked.len()
    }

    /// Says of which document those that follow are; whether it is another one than before.
    pub(super) fn begin(&mut self, doc: DocId) -> bool {
        let is_new = self.docs.last().is_none_or(|(last, _)| *last != doc);
        if is_new {
            let start = u32::try_from(self.count()).unwrap_or(u32::MAX);
            self.docs.push((doc, start));
        }
        is_new
    }

    /// Adds a term, which is the first `length` of the bytes. It is read faster where there are 16 of them.
    pub(super) fn push(&mut self, bytes: &[u8], length: usize, position: u32) -> Result<(), Full> {
        if self.count() >= u32::MAX as usize {
            return Err(Full);
        }
        if let Some(asked) = self.terms.ask(bytes, length) {
            self.asked.push(asked);
            if self.asked.len() >= AHEAD {
                self.settle()?;
            }
        } else {
            self.settle()?;
            let number = self.terms.number(&bytes[..length]);
            self.numbers.push(number.ok_or(Full)?);
        }
        if let Some(positions) = &mut self.positions {
            positions.push(position);
        }
        Ok(())
    }

    /// Looks up the terms that were asked for.
    pub(super) fn settle(&mut self) -> Result<(), Full> {
        for asked in self.asked.drain(..) {
            self.numbers.push(self.terms.number_of(asked).ok_or(Full)?);
        }
        Ok(())
    }

    /// All terms with their postings, as the files of a segment have them: dictionary, postings, positions. They are
    /// settled.
    pub(super) fn serialize(&self, norms: Option<FieldNormReader>) -> io::Result<[Vec<u8>; 3]> {
        let order = self.terms.sorted();
        let sorted = self.by_term(&order);
        let (mut postings, mut positions) = (Vec::new(), Vec::new());
        let count = self.numbers.len() as u64;
        let files = (&mut postings, &mut positions);
        let mut out = PostingsWriter::new(self.record, count, norms, files)?;
        let mut automaton = Automaton::new(order.len());
        let (mut start, mut docs, mut deltas) = (0, Vec::new(), Vec::new());
        for number in &order {
            automaton.add(self.terms.term(*number));
            let end = sorted.ends[*number as usize] as usize;
            docs.clear();
            deltas.clear();
            let (mut last, mut before) = ((DocId::MAX, 0), 0);
            for Place { doc, position } in &sorted.places[start..end] {
                if *doc != last.0 {
                    docs.extend((last.1 > 0).then_some(last));
                    (last, before) = ((*doc, 0), 0);
                }
                last.1 += 1;
                deltas.push(position.saturating_sub(before));
                before = *position;
            }
            docs.push(last);
            start = end;
            out.write(&docs, &deltas)?;
        }
        let dictionary = out.close()?;
        Ok([automaton.finish_with(&dictionary), postings, positions])
    }

    /// All occurrences by term, and as they came within each: a counting sort, whose writes go to as many places as
    /// there are terms but do not wait for each other.
    fn by_term(&self, order: &[u32]) -> ByTerm {
        let numbers = &self.numbers;
        let mut ends = vec![0_u32; self.terms.len()];
        for number in numbers {
            ends[*number as usize] += 1;
        }
        let mut sum = 0;
        for number in order {
            let count = std::mem::replace(&mut ends[*number as usize], sum);
            sum += count;
        }
        let mut places = vec![Place::default(); numbers.len()];
        let docs = self.docs.iter().skip(1).map(|(_, start)| *start as usize);
        let docs = docs.chain([numbers.len()]);
        for ((doc, start), end) in self.docs.iter().zip(docs) {
            for at in *start as usize..end {
                let place = &mut ends[numbers[at] as usize];
                let position = self.positions.as_ref().map_or(0, |all| all[at]);
                places[*place as usize] = Place {
                    doc: *doc,
                    position,
                };
                *place += 1;
            }
        }
        ByTerm { places, ends }
    }
}

/// Where a term stands.
#[derive(Clone, Copy, Default)]
struct Place {
    doc: DocId,
    position: u32,
}

/// Occurrences in the order of their terms.
struct ByTerm {
    places: Vec<Place>,
    /// Where each term's occurrences end, by its number.
    ends: Vec<u32>,
}
