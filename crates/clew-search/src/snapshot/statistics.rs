//! What BM25 is computed from: how many documents have a field or a term, counted once per segment and field; of one shard, or
//! of several that are weighed as if they were one.

use std::sync::Arc;

use clew_schema::{FieldKind, MappedField, similarity::FieldStatistics};
use tantivy::postings::{Postings, TermInfo};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocSet, InvertedIndexReader, SegmentReader, TERMINATED, Term};

use super::Snapshot;
use crate::ranked::FoundWord;
use crate::segments::docs_with_terms;

impl Snapshot {
    /// The same again, with nothing kept of what was asked before but what was counted and read of segments.
    #[must_use]
    pub fn reopened(&self) -> Self {
        let living = self.readers.iter().map(SegmentReader::segment_id).collect();
        let (mapping, readers) = (self.mapping.clone(), self.readers.clone());
        Snapshot {
            blocks: self.blocks.clone(),
            term_factor: self.term_factor,
            per_segment: self.per_segment.clone(),
            filters: self.filters.clone(),
            columns: self.columns.clone(),
            ids: self.ids.kept(&living),
            index: self.index.clone(),
            shard: self.shard,
            rows: self.rows.clone(),
            ..Snapshot::over(mapping, readers, self.stub.clone(), self.files.clone())
        }
    }

    /// The same with its terms weighed as if all these, of which it is one, were one shard.
    #[must_use]
    pub fn weighed_with(&self, peers: &Arc<[Snapshot]>) -> Self {
        Snapshot {
            peers: Some(peers.clone()),
            ..self.reopened()
        }
    }

    /// How often a term that was found is in its field in all documents together, deleted ones and those of shards that are
    /// weighed with this one included. Reads the postings of the term.
    ///
    /// # Errors
    /// When postings cannot be read.
    pub(crate) fn occurrences(&self, term: &Term, found: &FoundWord) -> tantivy::Result<u64> {
        let own = || -> tantivy::Result<u64> {
            let mut sum = 0;
            for (segment, reader) in self.readers.iter().enumerate() {
                let Some(info) = found.in_segment(segment) else {
                    continue;
                };
                let index = reader.inverted_index(term.field())?;
                sum += occurrences_in(&index, info)?;
            }
            Ok(sum)
        };
        self.of_all(term, own, |peer, term| {
            peer.occurrences(term, &peer.find(term)?)
        })
    }

    /// In how many documents a term is that was found, deleted ones and those of shards that are weighed with this one
    /// included.
    ///
    /// # Errors
    /// When a term dictionary cannot be read.
    pub(crate) fn docs_weighed(&self, term: &Term, found: u64) -> tantivy::Result<u64> {
        self.of_all(term, || Ok(found), Snapshot::doc_freq)
    }

    /// All documents, deleted ones and those of shards that are weighed with this one included.
    pub(crate) fn rows_weighed(&self) -> u64 {
        let rows = |shard: &Snapshot| shard.live_docs() + shard.dead_docs();
        match &self.peers {
            None => rows(self),
            Some(peers) => peers.iter().map(rows).sum(),
        }
    }

    /// What is counted of a term here, or in all shards that are weighed together.
    fn of_all(
        &self,
        term: &Term,
        own: impl FnOnce() -> tantivy::Result<u64>,
        count: impl Fn(&Snapshot, &Term) -> tantivy::Result<u64>,
    ) -> tantivy::Result<u64> {
        let Some(peers) = &self.peers else {
            return own();
        };
        let mut fields = self.mapping.fields().iter();
        let Some(mapped) = fields.find(|mapped| mapped.field == Some(term.field())) else {
            return own();
        };
        let mut sum = 0;
        for peer in peers.iter() {
            // Another index has another number for a field of the same path.
            let theirs = peer.mapping.field(&mapped.path);
            if let Some(field) = theirs.and_then(|theirs| peer.searchable(theirs)) {
                let bytes = term.serialized_value_bytes();
                sum += count(peer, &Term::from_field_bytes(field, bytes))?;
            }
        }
        Ok(sum)
    }

    /// In how many documents a term is, deleted ones included.
    ///
    /// # Errors
    /// When a term dictionary cannot be read.
    pub fn doc_freq(&self, term: &Term) -> tantivy::Result<u64> {
        if let Some(field) = self.searched(term.field())? {
            return Ok(field.frequency(term.serialized_value_bytes()));
        }
        let mut sum = 0;
        for reader in &self.readers {
            sum += u64::from(reader.inverted_index(term.field())?.doc_freq(term)?);
        }
        Ok(sum)
    }

    /// The field's statistics, with those of shards that are weighed with this one.
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
        let sum = match &self.peers {
            None => self.counted(mapped, field)?,
            Some(peers) => {
                let mut sum = FieldStatistics::default();
                for peer in peers.iter() {
                    if let Some(theirs) = peer.mapping.field(&mapped.path) {
                        sum += peer.statistics(theirs)?;
                    }
                }
                sum
            }
        };
        self.per_field.lock().insert(field, sum);
        Ok(sum)
    }

    /// The statistics of a field here alone.
    fn counted(&self, mapped: &MappedField, field: Field) -> tantivy::Result<FieldStatistics> {
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
            sum += counted;
        }
        Ok(sum)
    }
}

/// How often a term is in its field in a segment's documents together, deleted ones included. Reads its postings.
///
/// # Errors
/// When postings cannot be read.
pub(crate) fn occurrences_in(
    inverted: &InvertedIndexReader,
    info: &TermInfo,
) -> tantivy::Result<u64> {
    let mut postings = inverted.read_postings_from_terminfo(info, IndexRecordOption::WithFreqs)?;
    let mut sum = 0;
    while postings.doc() != TERMINATED {
        sum += u64::from(postings.term_freq());
        postings.advance();
    }
    Ok(sum)
}

fn count(
    reader: &SegmentReader,
    mapped: &MappedField,
    field: Field,
) -> tantivy::Result<FieldStatistics> {
    let inverted = reader.inverted_index(field)?;
    let counts_once = matches!(mapped.kind, FieldKind::Boolean) || !mapped.counted().frequencies;
    let tokens = if counts_once {
        // A value counts once in a document, however often it is there.
        let mut sum = 0;
        let mut terms = inverted.terms().stream()?;
        while terms.advance() {
            sum += u64::from(terms.value().doc_freq);
        }
        sum
    } else {
        inverted.total_num_tokens()
    };
    let norms = reader.fieldnorms_readers().get_field(field)?;
    let docs = match (&mapped.kind, norms) {
        (FieldKind::Text { .. }, Some(norms)) => (0..reader.max_doc())
            .filter(|doc| norms.fieldnorm_id(*doc) > 0)
            .count() as u64,
        (FieldKind::Text { .. } | FieldKind::Completion(_), _) => {
            docs_with_terms(&inverted, reader.max_doc())?
        }
        _ => docs_with_column(reader, &mapped.column())?,
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
