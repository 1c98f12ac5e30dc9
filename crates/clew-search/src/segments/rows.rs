//! What is kept of documents beside their fields, where searches ask for it.

use tantivy::DocId;
use tantivy::index::SegmentId;

/// What is kept of a document beside its fields.
#[derive(Clone, Copy, Debug)]
pub struct DocumentRow<'a> {
    /// Its routing key.
    pub routing: Option<&'a str>,
    /// The number of its last change.
    pub seq_no: u64,
}

/// Takes a document of a segment and its row.
pub type TakeRow<'t> = dyn FnMut(DocId, DocumentRow<'_>) -> tantivy::Result<()> + 't;

/// Tells what is kept of documents beside their fields.
pub trait DocumentRows: Send + Sync {
    /// Hands over the rows of a segment in their order, those of deleted documents and of nested objects among them.
    ///
    /// # Errors
    /// When a row cannot be read, or the first that `take` has.
    fn each(&self, segment: SegmentId, take: &mut TakeRow<'_>) -> tantivy::Result<()>;

    /// The number of a document's last change; `None` where the segment is not among them.
    ///
    /// # Errors
    /// When the row cannot be read.
    fn seq_no(&self, segment: SegmentId, doc: DocId) -> tantivy::Result<Option<u64>>;
}
