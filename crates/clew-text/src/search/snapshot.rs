//! What a search sees of one shard: the mapping, the segments' readers, and BM25's statistics,
//! which are counted once per segment and field and kept for as long as the segment lives.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;
use tantivy::index::SegmentId;
use tantivy::schema::Field;
use tantivy::{Searcher, SegmentReader, Term};

use super::blocks::Blocks;
use crate::mapping::{FieldKind, MappedField, Mapping};

/// Statistics of a field over a shard, deleted documents included (as OpenSearch counts).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FieldStatistics {
    /// Documents that have the field.
    pub docs: u64,
    /// Tokens in all of them.
    pub tokens: u64,
}

type PerSegment = BTreeMap<(SegmentId, Field), FieldStatistics>;

/// BM25's measure of how soon more of a term tells nothing more.
const K1: f32 = 1.2;

/// One shard's searchable segments.
pub struct Snapshot {
    /// The mapping.
    pub mapping: Arc<Mapping>,
    /// The segments, in the order that ties are broken by.
    pub readers: Vec<SegmentReader>,
    /// For each segment with nested objects, which of its rows they are. May be shorter.
    blocks: Vec<Option<Arc<Blocks>>>,
    stub: Searcher,
    /// Factor on the scores of terms.
    term_factor: f32,
    per_segment: Arc<Mutex<PerSegment>>,
    per_field: Mutex<BTreeMap<Field, FieldStatistics>>,
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Snapshot")
            .field("segments", &self.readers.len())
            .finish_non_exhaustive()
    }
}

impl Snapshot {
    /// A snapshot of these segments. `stub` is a searcher over no segments of the same index; the
    /// readers must have been opened under its schema, which may lack the mapping's newest fields.
    pub fn new(mapping: Arc<Mapping>, readers: Vec<SegmentReader>, stub: Searcher) -> Self {
        Snapshot {
            mapping,
            readers,
            blocks: Vec::new(),
            stub,
            term_factor: 1.0,
            per_segment: Arc::default(),
            per_field: Mutex::default(),
        }
    }

    /// The same with nested objects in its segments, in their order.
    #[must_use]
    pub fn with_blocks(self, blocks: Vec<Option<Arc<Blocks>>>) -> Self {
        Snapshot { blocks, ..self }
    }

    /// The same with BM25 as newer versions write it, without the factor of `k1 + 1`: so OpenSearch
    /// scores documents that are in no index.
    #[must_use]
    pub(crate) fn with_plain_scores(self) -> Self {
        Snapshot {
            term_factor: 1.0 / (1.0 + K1),
            ..self
        }
    }

    /// Factor on the scores of terms.
    pub(crate) fn term_factor(&self) -> f32 {
        self.term_factor
    }

    /// Which rows of a segment are nested objects; `None` when there are none.
    pub fn blocks(&self, segment: usize) -> Option<&Arc<Blocks>> {
        self.blocks.get(segment)?.as_ref()
    }

    /// The same without segments: what sort keys are checked against.
    pub(crate) fn without_segments(&self) -> Self {
        Snapshot::new(self.mapping.clone(), Vec::new(), self.stub.clone())
    }

    /// The snapshot that follows this one; what was counted of segments in both is kept.
    pub fn successor(
        &self,
        mapping: Arc<Mapping>,
        readers: Vec<SegmentReader>,
        stub: Searcher,
    ) -> Self {
        let living: BTreeSet<SegmentId> = readers.iter().map(SegmentReader::segment_id).collect();
        let kept = self
            .per_segment
            .lock()
            .iter()
            .filter(|((segment, _), _)| living.contains(segment))
            .map(|(key, statistics)| (*key, *statistics))
            .collect();
        Snapshot {
            per_segment: Arc::new(Mutex::new(kept)),
            ..Snapshot::new(mapping, readers, stub)
        }
    }

    /// The searcher over no segments, which tantivy wants for its schema.
    pub(crate) fn stub(&self) -> &Searcher {
        &self.stub
    }

    /// Documents that are not deleted.
    pub fn live_docs(&self) -> u64 {
        self.readers.iter().map(|r| u64::from(r.num_docs())).sum()
    }

    /// Documents that are deleted but still in the segments.
    pub(crate) fn dead_docs(&self) -> u64 {
        let dead = |r: &SegmentReader| u64::from(r.num_deleted_docs());
        self.readers.iter().map(dead).sum()
    }

    /// The field's tantivy field, when the segments were opened under a schema that has it.
    pub(crate) fn searchable(&self, field: &MappedField) -> Option<Field> {
        field
            .field
            .filter(|field| (field.field_id() as usize) < self.stub.schema().num_fields())
    }

    /// In how many documents a term is, deleted ones included.
    ///
    /// # Errors
    /// When a term dictionary cannot be read.
    pub fn doc_freq(&self, term: &Term) -> tantivy::Result<u64> {
        let mut sum = 0;
        for reader in &self.readers {
            sum += u64::from(reader.inverted_index(term.field())?.doc_freq(term)?);
        }
        Ok(sum)
    }

    /// The field's statistics.
    ///
    /// # Errors
    /// When a segment cannot be read.
    pub fn statistics(&self, mapped: &MappedField) -> tantivy::Result<FieldStatistics> {
        let Some(field) = self.searchable(mapped) else {
            return Ok(FieldStatistics::default());
        };
        if let Some(known) = self.per_field.lock().get(&field) {
            return Ok(*known);
        }
        let mut sum = FieldStatistics::default();
        for reader in &self.readers {
            let key = (reader.segment_id(), field);
            let known = self.per_segment.lock().get(&key).copied();
            let counted = match known {
                Some(known) => known,
                None => {
                    let counted = count(reader, mapped, field)?;
                    self.per_segment.lock().insert(key, counted);
                    counted
                }
            };
            sum.docs += counted.docs;
            sum.tokens += counted.tokens;
        }
        self.per_field.lock().insert(field, sum);
        Ok(sum)
    }
}

fn count(
    reader: &SegmentReader,
    mapped: &MappedField,
    field: Field,
) -> tantivy::Result<FieldStatistics> {
    let tokens = reader.inverted_index(field)?.total_num_tokens();
    let docs = if matches!(mapped.kind, FieldKind::Text { .. }) {
        match reader.fieldnorms_readers().get_field(field)? {
            Some(norms) => (0..reader.max_doc())
                .filter(|doc| norms.fieldnorm_id(*doc) > 0)
                .count() as u64,
            None => 0,
        }
    } else {
        docs_with_column(reader, &mapped.column())?
    };
    Ok(FieldStatistics { docs, tokens })
}

fn docs_with_column(reader: &SegmentReader, column: &str) -> tantivy::Result<u64> {
    use tantivy::columnar::ColumnIndex;
    let mut docs = 0;
    for handle in reader.fast_fields().dynamic_column_handles(column)? {
        let open = handle.open()?;
        let with_value = match open.column_index() {
            ColumnIndex::Empty { .. } => 0,
            ColumnIndex::Full => u64::from(reader.max_doc()),
            ColumnIndex::Optional(index) => u64::from(index.num_non_nulls()),
            many @ ColumnIndex::Multivalued(_) => (0..reader.max_doc())
                .filter(|doc| many.has_value(*doc))
                .count() as u64,
        };
        docs = docs.max(with_value);
    }
    Ok(docs)
}
