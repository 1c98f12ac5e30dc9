//! A collector as what reads the matches of a search.

use clew_query::QueryError;
use clew_search::DocVisitor;
use tantivy::{DocId, SegmentReader};

use crate::run::collector::AggCollector;

impl DocVisitor for AggCollector {
    fn segment(&mut self, ord: usize, reader: &SegmentReader) -> Result<(), QueryError> {
        Ok(self.segment(ord, reader)?)
    }

    fn wants_scores(&self) -> bool {
        self.wants_scores()
    }

    fn scores(&mut self, docs: &[DocId], scores: &[f32]) {
        self.scores(docs, scores);
    }

    fn collect(&mut self, docs: &[DocId]) -> Result<(), QueryError> {
        Ok(self.collect(docs)?)
    }

    fn fork(&mut self) -> Option<Box<dyn DocVisitor + Send>> {
        Some(Box::new(self.fork()?))
    }

    fn end(&mut self) -> Result<(), QueryError> {
        Ok(self.end()?)
    }

    fn join(&mut self, segments: &[usize]) -> Result<(), QueryError> {
        Ok(self.join(segments)?)
    }
}
