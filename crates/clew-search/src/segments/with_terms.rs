//! How many documents have any term of a field that keeps neither lengths nor a column.

use clew_platform::Pace;
use clew_query::unless_stopped_in_set;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, InvertedIndexReader};
use tantivy_common::BitSet;

/// Their number, deleted ones included. Reads all postings of the field.
///
/// # Errors
/// When postings cannot be read, or the request is stopped.
pub(crate) fn docs_with_terms(
    inverted: &InvertedIndexReader,
    max_doc: DocId,
) -> tantivy::Result<u64> {
    let mut docs = BitSet::with_max_value(max_doc);
    let mut pace = Pace::of_blocks();
    let mut terms = inverted.terms().stream()?;
    while terms.advance() {
        let mut block =
            inverted.read_block_postings_from_terminfo(terms.value(), IndexRecordOption::Basic)?;
        while !block.docs().is_empty() && !pace.is_over() {
            for doc in block.docs() {
                docs.insert(*doc);
            }
            block.advance();
        }
        if pace.is_over() {
            break;
        }
    }
    unless_stopped_in_set()?;
    Ok(docs.len() as u64)
}
