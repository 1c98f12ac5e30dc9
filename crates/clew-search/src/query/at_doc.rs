//! Scorers at one document, whose score is to be explained.

use tantivy::query::{Scorer, Weight};
use tantivy::{DocId, SegmentReader, TantivyError};

/// The scorer of a weight, at a document.
///
/// # Errors
/// When the document does not match.
pub(super) fn scorer_at(
    weight: &dyn Weight,
    reader: &SegmentReader,
    doc: DocId,
) -> tantivy::Result<Box<dyn Scorer>> {
    let mut scorer = weight.scorer(reader, 1.0)?;
    if scorer.doc() > doc || scorer.seek(doc) != doc {
        return Err(no_match(doc));
    }
    Ok(scorer)
}

pub(super) fn no_match(doc: DocId) -> TantivyError {
    TantivyError::InvalidArgument(format!("document {doc} does not match"))
}
