//! Documents that take memory for as long as somebody walks through them.

use clew_platform::Reservation;
use clew_query::hold_in_set;
use tantivy::query::Scorer;
use tantivy::{COLLECT_BLOCK_BUFFER_LEN, DocId, DocSet, Score, SeekDangerResult};

/// Documents, and the memory that they are booked on.
pub(crate) struct Held<D> {
    docs: D,
    _memory: Option<Reservation>,
}

impl<D> Held<D> {
    /// Documents that take so many bytes.
    ///
    /// # Errors
    /// When there is no memory for them.
    pub(crate) fn new(docs: D, bytes: usize) -> tantivy::Result<Self> {
        let memory = hold_in_set(bytes)?;
        Ok(Held {
            docs,
            _memory: memory,
        })
    }
}

impl<D: DocSet> DocSet for Held<D> {
    #[inline]
    fn advance(&mut self) -> DocId {
        self.docs.advance()
    }

    fn seek(&mut self, target: DocId) -> DocId {
        self.docs.seek(target)
    }

    fn seek_danger(&mut self, target: DocId) -> SeekDangerResult {
        self.docs.seek_danger(target)
    }

    fn fill_buffer(&mut self, buffer: &mut [DocId; COLLECT_BLOCK_BUFFER_LEN]) -> usize {
        self.docs.fill_buffer(buffer)
    }

    #[inline]
    fn doc(&self) -> DocId {
        self.docs.doc()
    }

    fn size_hint(&self) -> u32 {
        self.docs.size_hint()
    }

    fn cost(&self) -> u64 {
        self.docs.cost()
    }
}

impl<D: Scorer> Scorer for Held<D> {
    #[inline]
    fn score(&mut self) -> Score {
        self.docs.score()
    }
}
