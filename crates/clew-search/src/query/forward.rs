//! Documents that are found one after the other, by looking from one on for the next.

use tantivy::query::Scorer;
use tantivy::{DocId, DocSet, Score, TERMINATED};

/// What looks for documents in one segment.
pub(crate) trait Finder: Send + 'static {
    /// The first document from `target` on that matches, or [`TERMINATED`].
    fn find(&mut self, target: DocId) -> DocId;

    /// The score of the document that was found last.
    fn score(&mut self) -> Score;

    /// How many documents are found at most, by estimate.
    fn most(&self) -> u32;
}

/// The documents of a finder, as tantivy asks for them.
pub(crate) struct Forward<F> {
    finder: F,
    doc: DocId,
}

impl<F: Finder> Forward<F> {
    /// At the first document.
    pub(crate) fn open(mut finder: F) -> Self {
        let doc = finder.find(0);
        Forward { finder, doc }
    }
}

impl<F: Finder> DocSet for Forward<F> {
    fn advance(&mut self) -> DocId {
        if self.doc != TERMINATED {
            self.doc = self.finder.find(self.doc + 1);
        }
        self.doc
    }

    fn seek(&mut self, target: DocId) -> DocId {
        if self.doc < target {
            self.doc = match target {
                TERMINATED => TERMINATED,
                target => self.finder.find(target),
            };
        }
        self.doc
    }

    fn doc(&self) -> DocId {
        self.doc
    }

    fn size_hint(&self) -> u32 {
        self.finder.most()
    }
}

impl<F: Finder> Scorer for Forward<F> {
    fn score(&mut self) -> Score {
        match self.doc {
            TERMINATED => 0.0,
            _ => self.finder.score(),
        }
    }
}
