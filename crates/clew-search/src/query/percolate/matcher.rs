//! A small index in memory of documents that somebody asks about, and never written anywhere.

use std::sync::Arc;

use clew_query::{Query, QueryError, Script, ScriptPurpose, unless_stopped};
use clew_schema::{FieldKind, Mapping, Parsed, ParsedDocument};
use tantivy::fastfield::{AliveBitSet, write_alive_bitset};
use tantivy::query::EnableScoring;
use tantivy::schema::{Field, OwnedValue};
use tantivy::{Index, IndexReader, ReloadPolicy, Searcher, SegmentReader, TantivyDocument};
use tantivy_common::{BitSet, OwnedBytes};

use super::needs::term_key;
use crate::indexing::SegmentBuilder;
use crate::query::{CompileContext, CompiledScript, OpenScript, VectorAnswers, plan};
use crate::segments::Blocks;
use crate::snapshot::Snapshot;

/// What values of documents may become in further fields, of all documents together.
const COPIES_BYTES_MAX: usize = 32 << 20;

/// Documents against which queries are tried.
pub struct DocumentMatcher {
    snapshot: Snapshot,
    /// The rows of the documents, in the order in which they were given.
    rows: Vec<u32>,
}

/// One of the documents, which matches a query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Matched {
    /// Its place among the documents.
    pub slot: usize,
    /// Its score, among these documents.
    pub score: f32,
}

impl DocumentMatcher {
    /// Indexes documents, given as JSON, under a mapping. What the mapping does not know of them is
    /// left out; vectors are too. What their values become in further fields is bounded: 32 MiB of all of them together.
    ///
    /// # Errors
    /// When a document does not fit the mapping, or they become too much.
    pub fn build(mapping: &Mapping, documents: &[Vec<u8>]) -> Result<Self, QueryError> {
        Self::build_within(mapping, documents, COPIES_BYTES_MAX)
    }

    /// The same of one document that an index has taken, whatever it becomes.
    ///
    /// # Errors
    /// When it does not fit the mapping any more.
    pub fn of_accepted(mapping: &Mapping, document: Vec<u8>) -> Result<Self, QueryError> {
        Self::build_within(mapping, &[document], usize::MAX)
    }

    fn build_within(
        mapping: &Mapping,
        documents: &[Vec<u8>],
        copies_bytes_max: usize,
    ) -> Result<Self, QueryError> {
        let mut copied: usize = 0;
        let mapping = Arc::new(mapping.frozen());
        let mut index = Index::create_in_ram(mapping.schema().clone());
        index.set_tokenizers(mapping.tokenizers());
        index.set_fast_field_tokenizers(mapping.tokenizers());
        let segment = index.new_segment();
        let mut writer = SegmentBuilder::new(segment.clone())?;
        let mut kinds: Vec<Option<String>> = Vec::new();
        for source in documents {
            let refused = |reason: String| QueryError::create(reason);
            let mut own = 0;
            let parsed = mapping.parse_within(source, Vec::new(), &mut |bytes| {
                own = bytes;
                copied.saturating_add(bytes) <= copies_bytes_max
            });
            copied = copied.saturating_add(own);
            let parsed = parsed.map_err(|error| refused(error.to_string()))?;
            let Parsed::Document(document) = parsed else {
                return Err(refused("failed to parse the document".to_string()));
            };
            let ParsedDocument { fields, nested, .. } = document;
            for object in nested {
                add(&mut writer, object.fields)?;
                kinds.push(Some(object.path));
            }
            add(&mut writer, fields)?;
            kinds.push(None);
        }
        writer.finish()?;
        let rows = (0_u32..).zip(&kinds);
        let rows = rows.filter(|(_, kind)| kind.is_none()).map(|(row, _)| row);
        let rows: Vec<u32> = rows.collect();
        let segment = segment.with_max_doc(u32::try_from(kinds.len()).unwrap_or(u32::MAX));
        Ok(DocumentMatcher {
            snapshot: snapshot(mapping, &index, (&segment, &kinds))?,
            rows,
        })
    }

    /// Whether a query fits a mapping, whatever documents there will be.
    ///
    /// # Errors
    /// Why it does not.
    pub fn check(mapping: &Mapping, query: &Query) -> Result<(), QueryError> {
        let index = Index::create_in_ram(mapping.schema().clone());
        let mapping = Arc::new(mapping.clone());
        let snapshot = Snapshot::new(mapping, Vec::new(), stub(&index)?);
        let context = CompileContext {
            snapshot: &snapshot,
            now_ms: 0,
            vectors: &VectorAnswers::default(),
        };
        plan(query, &context).map(|_| ())
    }

    /// The documents that a query matches, in their order.
    ///
    /// # Errors
    /// When the query does not fit the mapping.
    pub fn matches(&self, query: &Query, now_ms: i64) -> Result<Vec<Matched>, QueryError> {
        let context = CompileContext {
            snapshot: &self.snapshot,
            now_ms,
            vectors: &VectorAnswers::default(),
        };
        let plan = plan(query, &context)?;
        let scoring = EnableScoring::enabled_from_searcher(self.snapshot.stub());
        let weight = plan.query.weight(scoring)?;
        let mut matched = Vec::new();
        for reader in &self.snapshot.readers {
            // Rows ascend, and with them the slots.
            weight.for_each(reader, &mut |row, score| {
                if let Ok(slot) = self.rows.binary_search(&row) {
                    matched.push(Matched { slot, score });
                }
            })?;
        }
        unless_stopped()?;
        Ok(matched)
    }

    /// The number that a script makes of the first document that a query matches, with the digits that a score has not. It
    /// measures no vectors, and is held to no bounds.
    ///
    /// # Errors
    /// When the query does not fit the mapping; what went wrong in the script.
    pub fn number(
        &self,
        script: &Script,
        query: &Query,
        now_ms: i64,
    ) -> Result<Option<f64>, QueryError> {
        let first = self.matches(query, now_ms)?.into_iter().next();
        let first = first.and_then(|first| Some((*self.rows.get(first.slot)?, first.score)));
        let (Some((row, score)), Some(reader)) = (first, self.snapshot.readers.first()) else {
            return Ok(None);
        };
        let known = (Vec::new(), now_ms);
        let mapping = &self.snapshot.mapping;
        // Of what orders, nothing is asked but that it be a number.
        let compiled = CompiledScript::new(script, ScriptPurpose::Order, mapping, known);
        let compiled = Arc::new(compiled.over(&self.snapshot)?);
        let open = OpenScript::new(compiled, reader)?;
        let number = open.checked(row, f64::from(score));
        number.map(Some).map_err(QueryError::Script)
    }

    /// The words that the documents have, as [`Needs`](super::Needs) writes them.
    ///
    /// # Errors
    /// When the index in memory cannot be read.
    pub fn words(&self) -> Result<Vec<String>, QueryError> {
        let mut words = Vec::new();
        for field in self.snapshot.mapping.fields() {
            let Some(own) = field
                .field
                .filter(|_| has_words(&field.kind, field.indexed))
            else {
                continue;
            };
            for reader in &self.snapshot.readers {
                let index = reader.inverted_index(own)?;
                let mut terms = index.terms().stream()?;
                while terms.advance() {
                    words.push(term_key(field, terms.key()));
                }
            }
        }
        Ok(words)
    }
}

/// Whether a field's values are terms.
pub(super) fn has_words(kind: &FieldKind, indexed: bool) -> bool {
    let has_postings = matches!(
        kind,
        FieldKind::Text { .. }
            | FieldKind::Keyword { .. }
            | FieldKind::Flat
            | FieldKind::Integer(_)
            | FieldKind::Unsigned
            | FieldKind::Boolean
    );
    indexed && has_postings
}

fn add(writer: &mut SegmentBuilder, fields: Vec<(Field, OwnedValue)>) -> tantivy::Result<()> {
    let mut document = TantivyDocument::default();
    for (field, value) in fields {
        document.add_field_value(field, &value);
    }
    writer.add(&document)
}

fn snapshot(
    mapping: Arc<Mapping>,
    index: &Index,
    (segment, kinds): (&tantivy::index::Segment, &[Option<String>]),
) -> Result<Snapshot, QueryError> {
    let count = segment.meta().max_doc();
    let mut blocks = Blocks::new(count);
    let mut alive = BitSet::with_max_value(count);
    for (row, kind) in (0_u32..).zip(kinds) {
        blocks.push(row, kind.as_deref());
        if kind.is_none() {
            alive.insert(row);
        }
    }
    // Nested objects are deleted to all who do not ask for them.
    let has_objects = kinds.iter().any(Option::is_some);
    let alive = if has_objects {
        Some(written(&alive)?)
    } else {
        None
    };
    let reader = SegmentReader::open_with_custom_alive_set(segment, alive)?;
    let snapshot = Snapshot::new(mapping, vec![reader], stub(index)?).with_plain_scores();
    Ok(snapshot.with_blocks(vec![has_objects.then(|| Arc::new(blocks))]))
}

fn stub(index: &Index) -> tantivy::Result<Searcher> {
    let reader: IndexReader = index
        .reader_builder()
        .reload_policy(ReloadPolicy::Manual)
        .try_into()?;
    Ok(reader.searcher())
}

fn written(alive: &BitSet) -> Result<AliveBitSet, QueryError> {
    let mut bytes = Vec::new();
    write_alive_bitset(alive, &mut bytes)?;
    Ok(AliveBitSet::open(OwnedBytes::new(bytes)))
}
