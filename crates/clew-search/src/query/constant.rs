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
use tantivy::{DocId, Score, SegmentReader, TERMINATED};
use tantivy_common::BitSet;

use super::at_doc::scorer_at;
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

/// Where posting lists of a field lie in one segment.
#[derive(Debug)]
struct Places {
    field: Field,
    infos: Vec<TermInfo>,
}

impl Places {
    fn lists(self, (reader, files): Files<'_>) -> tantivy::Result<Option<Lists>> {
        files.lists(reader, (self.field, self.infos)).map(Some)
    }

    /// The documents of all lists.
    fn union(&self, reader: &SegmentReader) -> tantivy::Result<FoundDocs> {
        if self.infos.is_empty() {
            return Ok(FoundDocs::Nothing);
        }
        let inverted = reader.inverted_index(self.field)?;
        let mut bits = BitSet::with_max_value(reader.max_doc());
        let mut pace = Pace::of_blocks();
        for info in &self.infos {
            add_postings(&mut bits, (&inverted, info), &mut pace)?;
        }
        Ok(FoundDocs::Bits(bits))
    }
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
        Ok(match self.0.find(reader)? {
            FoundDocs::Nothing => Box::new(EmptyScorer),
            // Wrapped, because tantivy drops bare all-scorers from conjunctions with their score.
            FoundDocs::Everything => {
                Box::new(ConstScorer::new(AllScorer::new(reader.max_doc()), boost))
            }
            FoundDocs::Bits(bits) => Box::new(ConstScorer::new(BitSetDocSet::from(bits), boost)),
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
    (inverted, info): (&tantivy::InvertedIndexReader, &TermInfo),
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

impl AnyTerm {
    fn read(&self, reader: &SegmentReader) -> tantivy::Result<Places> {
        let mut infos = Vec::new();
        if knows(reader, self.field) {
            let inverted = reader.inverted_index(self.field)?;
            let mut pace = Pace::default();
            for term in &self.terms {
                if pace.is_over() {
                    break;
                }
                infos.extend(inverted.terms().get(term)?);
            }
        }
        unless_stopped_in_set()?;
        Ok(Places {
            field: self.field,
            infos,
        })
    }
}

impl DocumentSet for AnyTerm {
    fn find(&self, reader: &SegmentReader) -> tantivy::Result<FoundDocs> {
        self.read(reader)?.union(reader)
    }

    fn lists(&self, segment: Files<'_>) -> tantivy::Result<Option<Lists>> {
        self.read(segment.0)?.lists(segment)
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

impl AnyWithPrefix {
    fn read(&self, reader: &SegmentReader) -> tantivy::Result<Places> {
        let mut infos = Vec::new();
        if knows(reader, self.field) {
            let inverted = reader.inverted_index(self.field)?;
            let mut range = inverted.terms().range().ge(&self.prefix);
            if let Some(end) = prefix_end(&self.prefix) {
                range = range.lt(end);
            }
            let mut stream = range.into_stream()?;
            let mut pace = Pace::default();
            while stream.advance() && !pace.is_over() {
                infos.push(stream.value().clone());
            }
        }
        unless_stopped_in_set()?;
        Ok(Places {
            field: self.field,
            infos,
        })
    }
}

impl DocumentSet for AnyWithPrefix {
    fn find(&self, reader: &SegmentReader) -> tantivy::Result<FoundDocs> {
        let searched = self.searched.as_ref();
        let Some(lists) = searched.and_then(|field| field.with_prefix(reader, &self.prefix)) else {
            return self.read(reader)?.union(reader);
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

    fn lists(&self, segment: Files<'_>) -> tantivy::Result<Option<Lists>> {
        let searched = self.searched.as_ref();
        match searched.and_then(|field| field.with_prefix(segment.0, &self.prefix)) {
            Some(lists) => Ok(Some(lists)),
            None => self.read(segment.0)?.lists(segment),
        }
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

impl<A> DocumentSet for AnyAccepted<A>
where
    A: tantivy_fst::Automaton + Debug + Send + Sync + 'static,
    A::State: Clone,
{
    fn find(&self, reader: &SegmentReader) -> tantivy::Result<FoundDocs> {
        self.read(reader)?.union(reader)
    }

    fn lists(&self, segment: Files<'_>) -> tantivy::Result<Option<Lists>> {
        self.read(segment.0)?.lists(segment)
    }
}

impl<A> AnyAccepted<A>
where
    A: tantivy_fst::Automaton + Debug + Send + Sync + 'static,
    A::State: Clone,
{
    fn read(&self, reader: &SegmentReader) -> tantivy::Result<Places> {
        let mut infos = Vec::new();
        if knows(reader, self.field) {
            let inverted = reader.inverted_index(self.field)?;
            let automaton = Borrowed::new(&*self.automaton);
            let mut stream = inverted.terms().search(automaton).into_stream()?;
            while stream.advance() {
                infos.push(stream.value().clone());
            }
            unless_stopped_in_set()?;
        }
        Ok(Places {
            field: self.field,
            infos,
        })
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
        let mut bits = BitSet::with_max_value(reader.max_doc());
        for doc in (0..reader.max_doc()).filter(|doc| norms.fieldnorm_id(*doc) > 0) {
            bits.insert(doc);
        }
        Ok(FoundDocs::Bits(bits))
    }
}

/// Documents that have a value in a column.
#[derive(Debug)]
pub(crate) struct HasColumn(pub(crate) String);

impl DocumentSet for HasColumn {
    fn find(&self, reader: &SegmentReader) -> tantivy::Result<FoundDocs> {
        use tantivy::columnar::Cardinality;
        let mut bits: Option<BitSet> = None;
        for handle in reader.fast_fields().dynamic_column_handles(&self.0)? {
            let column = handle.open()?;
            let index = column.column_index();
            if index.get_cardinality() == Cardinality::Full {
                return Ok(FoundDocs::Everything);
            }
            let bits = bits.get_or_insert_with(|| BitSet::with_max_value(reader.max_doc()));
            for doc in (0..reader.max_doc()).filter(|doc| index.has_value(*doc)) {
                bits.insert(doc);
            }
        }
        Ok(bits.map_or(FoundDocs::Nothing, FoundDocs::Bits))
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
        while terms.advance() {
            let span = Span::from_bytes(terms.key());
            fits.push(span.is_some_and(|span| span.relates(self.relation, self.span)));
        }
        let fits = |ord: u64| usize::try_from(ord).is_ok_and(|ord| fits.get(ord) == Some(&true));
        let mut bits = BitSet::with_max_value(reader.max_doc());
        for doc in 0..reader.max_doc() {
            if column.ords().values_for_doc(doc).any(fits) {
                bits.insert(doc);
            }
        }
        Ok(FoundDocs::Bits(bits))
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
