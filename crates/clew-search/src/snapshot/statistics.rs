//! What BM25 is computed from: how many documents have a field or a term, counted once per segment and field.

use clew_schema::{FieldKind, MappedField, similarity::FieldStatistics};
use tantivy::postings::{Postings, TermInfo};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocSet, InvertedIndexReader, SegmentReader, TERMINATED, Term};

use super::Snapshot;
use crate::ranked::FoundWord;
use crate::segments::docs_with_terms;

impl Snapshot {
    /// How often a term is in its field in all documents together, deleted ones included. Reads the
    /// postings of the term.
    ///
    /// # Errors
    /// When postings cannot be read.
    pub(crate) fn occurrences(&self, field: Field, found: &FoundWord) -> tantivy::Result<u64> {
        let mut sum = 0;
        for (segment, reader) in self.readers.iter().enumerate() {
            let Some(info) = found.in_segment(segment) else {
                continue;
            };
            let index = reader.inverted_index(field)?;
            sum += occurrences_in(&index, info)?;
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
