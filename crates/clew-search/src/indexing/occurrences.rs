//! Which term stands where in one field, first in the order in which it came and then in the order of the terms.

use std::io;

use tantivy::DocId;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::FieldSerializer;
use tantivy::schema::IndexRecordOption;
use tantivy_common::CountingWriter;

use super::automaton::Automaton;
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
        let mut parts = [const { Vec::new() }; 3].map(CountingWriter::wrap);
        let [dictionary, postings, positions] = &mut parts;
        let count = self.numbers.len() as u64;
        let mut out =
            FieldSerializer::create(self.record, count, dictionary, postings, positions, norms)?;
        let mut automaton = Automaton::new(order.len());
        let mut start = 0;
        let mut deltas = Vec::new();
        for (at, number) in (0_u32..).zip(&order) {
            automaton.add(self.terms.term(*number));
            let end = sorted.ends[*number as usize] as usize;
            let mut rest = &sorted.places[start..end];
            start = end;
            let others = rest
                .windows(2)
                .map(|pair| u32::from(pair[0].doc != pair[1].doc));
            let doc_count = 1 + others.sum::<u32>();
            // The serializer's own automaton is thrown away, so it gets what is cheapest in it.
            out.new_term(&at.to_be_bytes(), doc_count, self.record.has_freq())?;
            while let Some(Place { doc, .. }) = rest.first().copied() {
                let frequency = rest.iter().take_while(|place| place.doc == doc).count();
                let run = rest.split_off(..frequency).unwrap_or_default();
                deltas.clear();
                if self.positions.is_some() {
                    let mut before = 0;
                    deltas.extend(run.iter().map(|place| {
                        let position = place.position;
                        position.saturating_sub(std::mem::replace(&mut before, position))
                    }));
                }
                let frequency = if self.record.has_freq() {
                    u32::try_from(frequency).unwrap_or(u32::MAX)
                } else {
                    0
                };
                out.write_doc(doc, frequency, &deltas);
            }
            out.close_term()?;
        }
        out.close()?;
        let [dictionary, postings, positions] = parts.map(CountingWriter::finish);
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
