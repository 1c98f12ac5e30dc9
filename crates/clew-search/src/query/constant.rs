//! A tantivy query for sets of documents that all score the same: everything that filters.
//!
//! A [`DocumentSet`] says which documents of a segment belong to it; the machinery of weights and
//! scorers is written once, here.

use std::cell::RefCell;
use std::fmt::Debug;
use std::sync::Arc;

use clew_platform::Pace;
use clew_query::{go_on_in_set, unless_stopped_in_set};
use clew_schema::{RangeRelation, Span};
use tantivy::postings::TermInfo;
use tantivy::query::{
    AllScorer, BitSetDocSet, ConstScorer, EmptyScorer, EnableScoring, Explanation, Query, Scorer,
    Weight,
};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, InvertedIndexReader, Score, SegmentReader, TERMINATED};
use tantivy_common::BitSet;

use super::at_doc::scorer_at;
use super::held::Held;
use crate::ranked::{Lists, SearchedField, SegmentFiles};

/// Documents of one segment.
pub(crate) enum FoundDocs {
    Nothing,
    Everything,
    Bits(BitSet),
}

/// A segment, and its files as ranking reads them.
type Files<'a> = (&'a SegmentReader, &'a SegmentFiles);

/// Which documents of a segment belong to the set; deleted ones may be among them.
pub(crate) trait DocumentSet: Debug + Send + Sync + 'static {
    fn find(&self, reader: &SegmentReader) -> tantivy::Result<FoundDocs>;

    /// The posting lists of one field that make up the set; `None` when it is made otherwise.
    fn lists(&self, _segment: Files<'_>) -> tantivy::Result<Option<Lists>> {
        Ok(None)
    }
}

/// The documents of a segment that a test lets pass. `pace` says how long the test takes.
///
/// # Errors
/// Those of the test; once the request is over.
pub(crate) fn tested(
    max_doc: DocId,
    mut pace: Pace,
    mut passes: impl FnMut(DocId) -> tantivy::Result<bool>,
) -> tantivy::Result<FoundDocs> {
    let mut bits = BitSet::with_max_value(max_doc);
    for doc in 0..max_doc {
        go_on_in_set(&mut pace)?;
        if passes(doc)? {
            bits.insert(doc);
        }
    }
    Ok(FoundDocs::Bits(bits))
}

/// A set that is the posting lists of some words of a field.
pub(crate) trait OfWords: Debug + Send + Sync + 'static {
    fn field(&self) -> Field;

    /// Tells where the lists of the words lie, as long as more are wanted. Where the request is over, some are left out.
    fn each_word(
        &self,
        inverted: &InvertedIndexReader,
        told: &mut dyn FnMut(TermInfo) -> tantivy::Result<bool>,
    ) -> tantivy::Result<()>;

    /// All lists at once, where ranking reads the field.
    fn numbered(&self, _reader: &SegmentReader) -> Option<Lists> {
        None
    }
}

impl<T: OfWords> DocumentSet for T {
    fn find(&self, reader: &SegmentReader) -> tantivy::Result<FoundDocs> {
        let Some(lists) = self.numbered(reader) else {
            return union(self, reader);
        };
        if lists.is_empty() {
            return Ok(FoundDocs::Nothing);
        }
        let mut bits = BitSet::with_max_value(reader.max_doc());
        lists.each(&mut |docs| {
            for doc in docs {
                bits.insert(*doc);
            }
        });
        unless_stopped_in_set()?;
        Ok(FoundDocs::Bits(bits))
    }

    fn lists(&self, (reader, files): Files<'_>) -> tantivy::Result<Option<Lists>> {
        if let Some(lists) = self.numbered(reader) {
            return Ok(Some(lists));
        }
        let infos = places(self, reader, LISTS_MAX)?;
        let lists = infos.map(|infos| files.lists(reader, (self.field(), infos)));
        lists.transpose()
    }
}

/// Tells where the lists of all words of a set lie in a segment, as long as more are wanted.
///
/// # Errors
/// Once the request is over; when the dictionary cannot be read.
fn each_word_in(
    (set, reader): (&dyn OfWords, &SegmentReader),
    told: &mut dyn FnMut(&InvertedIndexReader, TermInfo) -> tantivy::Result<bool>,
) -> tantivy::Result<()> {
    if knows(reader, set.field()) {
        let inverted = reader.inverted_index(set.field())?;
        set.each_word(&inverted, &mut |info| told(&inverted, info))?;
    }
    unless_stopped_in_set()
}

/// The documents of all lists. Of the lists none is kept: a dictionary may have hundreds of millions.
fn union(set: &dyn OfWords, reader: &SegmentReader) -> tantivy::Result<FoundDocs> {
    let mut found: Option<BitSet> = None;
    let mut pace = Pace::of_blocks();
    each_word_in((set, reader), &mut |inverted, info| {
        let bits = found.get_or_insert_with(|| BitSet::with_max_value(reader.max_doc()));
        add_postings(bits, (inverted, &info), &mut pace)?;
        Ok(true)
    })?;
    Ok(found.map_or(FoundDocs::Nothing, FoundDocs::Bits))
}

/// So many lists are kept beside each other; the documents of more are marked one list after the other.
const LISTS_MAX: usize = 1 << 18;

/// Where the lists of a set lie in a segment; `None` when they are more than `most`.
fn places(
    set: &dyn OfWords,
    reader: &SegmentReader,
    most: usize,
) -> tantivy::Result<Option<Vec<TermInfo>>> {
    let mut infos = Vec::new();
    each_word_in((set, reader), &mut |_, info| {
        infos.push(info);
        Ok(infos.len() <= most)
    })?;
    Ok((infos.len() <= most).then_some(infos))
}

/// The set as a query with score 1.
#[derive(Clone, Debug)]
pub(crate) struct ConstantQuery(pub(crate) Arc<dyn DocumentSet>);

impl Query for ConstantQuery {
    fn weight(&self, _scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        Ok(Box::new(self.clone()))
    }
}

impl Weight for ConstantQuery {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        // A query may have thousands of sets, each of which is found before any document is.
        unless_stopped_in_set()?;
        Ok(match self.0.find(reader)? {
            FoundDocs::Nothing => Box::new(EmptyScorer),
            // Wrapped, because tantivy drops bare all-scorers from conjunctions with their score.
            FoundDocs::Everything => {
                Box::new(ConstScorer::new(AllScorer::new(reader.max_doc()), boost))
            }
            FoundDocs::Bits(bits) => {
                let bytes = reader.max_doc() as usize / 8;
                let docs = Held::new(BitSetDocSet::from(bits), bytes)?;
                Box::new(ConstScorer::new(docs, boost))
            }
        })
    }

    fn explain(&self, reader: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        scorer_at(self, reader, doc)?;
        Ok(Explanation::new("constant", 1.0))
    }
}

/// Whether the segment was opened under a schema that has the field.
pub(crate) fn knows(reader: &SegmentReader, field: Field) -> bool {
    (field.field_id() as usize) < reader.schema().num_fields()
}

/// Adds the documents of a posting list; an error once the request is over, of which `pace` counts blocks.
pub(crate) fn add_postings(
    bits: &mut BitSet,
    (inverted, info): (&InvertedIndexReader, &TermInfo),
    pace: &mut Pace,
) -> tantivy::Result<()> {
    let mut block = inverted.read_block_postings_from_terminfo(info, IndexRecordOption::Basic)?;
    loop {
        let docs = block.docs();
        if docs.is_empty() {
            return Ok(());
        }
        go_on_in_set(pace)?;
        for doc in docs {
            bits.insert(*doc);
        }
        block.advance();
    }
}

/// Every document; unlike tantivy's own query it keeps its score inside conjunctions.
#[derive(Debug)]
pub(crate) struct Everything;

impl DocumentSet for Everything {
    fn find(&self, _reader: &SegmentReader) -> tantivy::Result<FoundDocs> {
        Ok(FoundDocs::Everything)
    }
}

/// Documents with any of the terms (their bytes in the dictionary).
#[derive(Debug)]
pub(crate) struct AnyTerm {
    pub(crate) field: Field,
    pub(crate) terms: Vec<Vec<u8>>,
}

impl OfWords for AnyTerm {
    fn field(&self) -> Field {
        self.field
    }

    fn each_word(
        &self,
        inverted: &InvertedIndexReader,
        told: &mut dyn FnMut(TermInfo) -> tantivy::Result<bool>,
    ) -> tantivy::Result<()> {
        let mut pace = Pace::default();
        for term in self.terms.iter().take_while(|_| !pace.is_over()) {
            if let Some(info) = inverted.terms().get(term)?
                && !told(info)?
            {
                break;
            }
        }
        Ok(())
    }
}

/// Documents with any term between a prefix and the next one.
#[derive(Debug)]
pub(crate) struct AnyWithPrefix {
    pub(crate) field: Field,
    pub(crate) prefix: Vec<u8>,
    /// The field where ranking can read it.
    pub(crate) searched: Option<Arc<SearchedField>>,
}

impl OfWords for AnyWithPrefix {
    fn field(&self) -> Field {
        self.field
    }

    fn each_word(
        &self,
        inverted: &InvertedIndexReader,
        told: &mut dyn FnMut(TermInfo) -> tantivy::Result<bool>,
    ) -> tantivy::Result<()> {
        let mut range = inverted.terms().range().ge(&self.prefix);
        if let Some(end) = prefix_end(&self.prefix) {
            range = range.lt(end);
        }
        let mut stream = range.into_stream()?;
        let mut pace = Pace::default();
        while !pace.is_over() && stream.advance() {
            if !told(stream.value().clone())? {
                break;
            }
        }
        Ok(())
    }

    fn numbered(&self, reader: &SegmentReader) -> Option<Lists> {
        let searched = self.searched.as_ref()?;
        searched.with_prefix(reader, &self.prefix)
    }
}

/// The smallest bytes that are greater than everything with this prefix.
pub(crate) fn prefix_end(prefix: &[u8]) -> Option<Vec<u8>> {
    let keep = prefix.iter().rposition(|byte| *byte < u8::MAX)?;
    let mut end = prefix[..=keep].to_vec();
    end[keep] += 1;
    Some(end)
}

/// Documents with any term that an automaton accepts.
#[derive(Debug)]
pub(crate) struct AnyAccepted<A> {
    pub(crate) field: Field,
    pub(crate) automaton: Arc<A>,
}

impl<A> OfWords for AnyAccepted<A>
where
    A: tantivy_fst::Automaton + Debug + Send + Sync + 'static,
    A::State: Clone,
{
    fn field(&self) -> Field {
        self.field
    }

    fn each_word(
        &self,
        inverted: &InvertedIndexReader,
        told: &mut dyn FnMut(TermInfo) -> tantivy::Result<bool>,
    ) -> tantivy::Result<()> {
        let automaton = Borrowed::new(&*self.automaton);
        let mut stream = inverted.terms().search(automaton).into_stream()?;
        while stream.advance() {
            if !told(stream.value().clone())? {
                break;
            }
        }
        Ok(())
    }
}

/// An automaton behind a reference, which accepts nothing any more once the request is stopped: whoever walked with
/// it asks then. Dictionaries are walked between two matches, too.
pub(crate) struct Borrowed<'a, A> {
    automaton: &'a A,
    pace: RefCell<Pace>,
}

impl<'a, A> Borrowed<'a, A> {
    pub(crate) fn new(automaton: &'a A) -> Self {
        Borrowed {
            automaton,
            pace: RefCell::default(),
        }
    }
}

impl<A: tantivy_fst::Automaton> tantivy_fst::Automaton for Borrowed<'_, A> {
    type State = A::State;
    fn start(&self) -> A::State {
        self.automaton.start()
    }
    fn is_match(&self, state: &A::State) -> bool {
        self.automaton.is_match(state)
    }
    fn can_match(&self, state: &A::State) -> bool {
        !self.pace.borrow_mut().is_over() && self.automaton.can_match(state)
    }
    fn will_always_match(&self, state: &A::State) -> bool {
        self.automaton.will_always_match(state)
    }
    fn accept(&self, state: &A::State, byte: u8) -> A::State {
        self.automaton.accept(state, byte)
    }
}

/// Documents whose field has at least one token: the norm is the length.
#[derive(Debug)]
pub(crate) struct HasTokens(pub(crate) Field);

impl DocumentSet for HasTokens {
    fn find(&self, reader: &SegmentReader) -> tantivy::Result<FoundDocs> {
        if !knows(reader, self.0) {
            return Ok(FoundDocs::Nothing);
        }
        let Some(norms) = reader.fieldnorms_readers().get_field(self.0)? else {
            return Ok(FoundDocs::Nothing);
        };
        tested(reader.max_doc(), Pace::default(), |doc| {
            Ok(norms.fieldnorm_id(doc) > 0)
        })
    }
}

/// Documents that have a value in a column.
#[derive(Debug)]
pub(crate) struct HasColumn(pub(crate) String);

impl DocumentSet for HasColumn {
    fn find(&self, reader: &SegmentReader) -> tantivy::Result<FoundDocs> {
        use tantivy::columnar::Cardinality;
        let mut indexes = Vec::new();
        for handle in reader.fast_fields().dynamic_column_handles(&self.0)? {
            let index = handle.open()?.into_column_index();
            if index.get_cardinality() == Cardinality::Full {
                return Ok(FoundDocs::Everything);
            }
            indexes.push(index);
        }
        if indexes.is_empty() {
            return Ok(FoundDocs::Nothing);
        }
        tested(reader.max_doc(), Pace::default(), |doc| {
            Ok(indexes.iter().any(|index| index.has_value(doc)))
        })
    }
}

/// Documents with a range that lies to a given one as wanted.
#[derive(Debug)]
pub(crate) struct AnySpan {
    pub(crate) field: Field,
    pub(crate) column: String,
    pub(crate) relation: RangeRelation,
    pub(crate) span: Span,
}

impl DocumentSet for AnySpan {
    fn find(&self, reader: &SegmentReader) -> tantivy::Result<FoundDocs> {
        if !knows(reader, self.field) {
            return Ok(FoundDocs::Nothing);
        }
        let Some(column) = reader.fast_fields().bytes(&self.column)? else {
            return Ok(FoundDocs::Nothing);
        };
        // Equal ranges are looked at once: the column numbers them.
        let mut fits = Vec::with_capacity(column.num_terms());
        let mut terms = column.dictionary().stream()?;
        let mut pace = Pace::default();
        while terms.advance() {
            go_on_in_set(&mut pace)?;
            let span = Span::from_bytes(terms.key());
            fits.push(span.is_some_and(|span| span.relates(self.relation, self.span)));
        }
        let fits = |ord: u64| usize::try_from(ord).is_ok_and(|ord| fits.get(ord) == Some(&true));
        tested(reader.max_doc(), Pace::default(), |doc| {
            Ok(column.ords().values_for_doc(doc).any(fits))
        })
    }
}

/// Documents given per segment.
#[derive(Debug)]
pub(crate) struct GivenDocs(
    pub(crate) Vec<(tantivy::index::SegmentId, crate::segments::SegmentBits)>,
);

impl DocumentSet for GivenDocs {
    fn find(&self, reader: &SegmentReader) -> tantivy::Result<FoundDocs> {
        let id = reader.segment_id();
        let Some((_, given)) = self.0.iter().find(|(segment, _)| *segment == id) else {
            return Ok(FoundDocs::Nothing);
        };
        let mut bits = BitSet::with_max_value(reader.max_doc());
        for doc in given.iter().take_while(|doc| *doc < TERMINATED) {
            bits.insert(doc);
        }
        Ok(FoundDocs::Bits(bits))
    }
}

#[cfg(test)]
mod tests;
