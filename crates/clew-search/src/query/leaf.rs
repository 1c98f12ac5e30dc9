//! Leaves that score: tantivy's term and phrase queries under the shard's statistics of their
//! field, and hits that bring their own scores.
//!
//! tantivy counts every document of the index, OpenSearch only those that have the field; so each
//! leaf hands its inner query the statistics itself.

use std::sync::Arc;

use clew_platform::{Reservation, book_for_a_while};
use clew_query::QueryError;
use clew_schema::similarity::FieldStatistics;
use tantivy::index::SegmentId;
use tantivy::query::{
    Bm25StatisticsProvider, EmptyScorer, EnableScoring, Explanation, Query, Scorer, Weight,
};
use tantivy::schema::Field;
use tantivy::{DocId, DocSet, Score, SegmentReader, TERMINATED, Term};

use super::at_doc::scorer_at;
use crate::query::resolver::{SegmentHits, hits_bytes};

/// The statistics of one field and of the terms of one leaf.
#[derive(Clone, Debug)]
pub(crate) struct LeafStatistics {
    pub(crate) field: FieldStatistics,
    pub(crate) frequencies: Vec<(Term, u64)>,
}

impl Bm25StatisticsProvider for LeafStatistics {
    fn total_num_tokens(&self, _field: Field) -> tantivy::Result<u64> {
        Ok(self.field.tokens.max(1))
    }

    fn total_num_docs(&self) -> tantivy::Result<u64> {
        // A term can never be in more documents than its field; statistics from two sources might
        // still say so, and tantivy would panic.
        let most = self.frequencies.iter().map(|(_, count)| *count).max();
        Ok(self.field.docs.max(most.unwrap_or(0)).max(1))
    }

    fn doc_freq(&self, term: &Term) -> tantivy::Result<u64> {
        Ok(self
            .frequencies
            .iter()
            .find(|(known, _)| known == term)
            .map_or(0, |(_, count)| *count))
    }
}

/// A query that scores by the statistics given with it.
#[derive(Debug)]
pub(crate) struct Scored {
    pub(crate) inner: Box<dyn Query>,
    pub(crate) statistics: LeafStatistics,
}

impl Clone for Scored {
    fn clone(&self) -> Self {
        Scored {
            inner: self.inner.box_clone(),
            statistics: self.statistics.clone(),
        }
    }
}

impl Query for Scored {
    fn weight(&self, scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        match scoring {
            EnableScoring::Enabled { searcher, .. } => {
                self.inner
                    .weight(EnableScoring::enabled_from_statistics_provider(
                        &self.statistics,
                        searcher,
                    ))
            }
            disabled => self.inner.weight(disabled),
        }
    }
}

/// Documents that were found elsewhere, with their scores.
#[derive(Clone, Debug)]
pub(crate) struct ScoredDocs {
    hits: Arc<Vec<(SegmentId, SegmentHits)>>,
    _memory: Option<Arc<Reservation>>,
}

impl ScoredDocs {
    /// Documents that whoever found them keeps, and has booked.
    pub(crate) fn answered(hits: Arc<Vec<(SegmentId, SegmentHits)>>) -> Self {
        ScoredDocs {
            hits,
            _memory: None,
        }
    }

    /// Documents that one clause has found for itself, which are booked as long as it is there.
    ///
    /// # Errors
    /// When there is no memory for them.
    pub(crate) fn found(hits: Vec<(SegmentId, SegmentHits)>) -> Result<Self, QueryError> {
        let memory = book_for_a_while(hits_bytes(hits.iter().map(|(_, hits)| hits)))?;
        Ok(ScoredDocs {
            hits: Arc::new(hits),
            _memory: memory.map(Arc::new),
        })
    }
}

impl Query for ScoredDocs {
    fn weight(&self, _scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        Ok(Box::new(self.clone()))
    }
}

impl Weight for ScoredDocs {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        let id = reader.segment_id();
        let Some(segment) = self.hits.iter().position(|(segment, _)| *segment == id) else {
            return Ok(Box::new(EmptyScorer));
        };
        if self.hits[segment].1.is_empty() {
            return Ok(Box::new(EmptyScorer));
        }
        Ok(Box::new(ScoredDocsScorer {
            hits: self.hits.clone(),
            segment,
            at: 0,
            boost,
        }))
    }

    fn explain(&self, reader: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        let mut scorer = scorer_at(self, reader, doc)?;
        Ok(Explanation::new("nearest neighbour", scorer.score()))
    }
}

struct ScoredDocsScorer {
    hits: Arc<Vec<(SegmentId, SegmentHits)>>,
    segment: usize,
    at: usize,
    boost: Score,
}

impl ScoredDocsScorer {
    fn list(&self) -> &[(DocId, f32)] {
        &self.hits[self.segment].1
    }
}

impl DocSet for ScoredDocsScorer {
    fn advance(&mut self) -> DocId {
        if self.at < self.list().len() {
            self.at += 1;
        }
        self.doc()
    }

    fn seek(&mut self, target: DocId) -> DocId {
        self.at += self.list()[self.at..].partition_point(|(doc, _)| *doc < target);
        self.doc()
    }

    fn doc(&self) -> DocId {
        self.list().get(self.at).map_or(TERMINATED, |(doc, _)| *doc)
    }

    fn size_hint(&self) -> u32 {
        u32::try_from(self.list().len()).unwrap_or(u32::MAX)
    }
}

impl Scorer for ScoredDocsScorer {
    fn score(&mut self) -> Score {
        self.list().get(self.at).map_or(0.0, |(_, score)| *score) * self.boost
    }
}

/// A query whose score is multiplied where another one matches too.
#[derive(Debug)]
pub(crate) struct Demoted {
    pub(crate) positive: Box<dyn Query>,
    pub(crate) negative: Box<dyn Query>,
    pub(crate) factor: Score,
}

impl Clone for Demoted {
    fn clone(&self) -> Self {
        Demoted {
            positive: self.positive.box_clone(),
            negative: self.negative.box_clone(),
            factor: self.factor,
        }
    }
}

impl Query for Demoted {
    fn weight(&self, scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        let positive = self.positive.weight(scoring)?;
        let EnableScoring::Enabled { searcher, .. } = scoring else {
            return Ok(positive);
        };
        Ok(Box::new(DemotedWeight {
            positive,
            negative: self
                .negative
                .weight(EnableScoring::disabled_from_searcher(searcher))?,
            factor: self.factor,
        }))
    }
}

struct DemotedWeight {
    positive: Box<dyn Weight>,
    negative: Box<dyn Weight>,
    factor: Score,
}

impl Weight for DemotedWeight {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        Ok(Box::new(DemotedScorer {
            positive: self.positive.scorer(reader, boost)?,
            negative: self.negative.scorer(reader, 1.0)?,
            factor: self.factor,
        }))
    }

    fn explain(&self, reader: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        self.positive.explain(reader, doc)
    }
}

struct DemotedScorer {
    positive: Box<dyn Scorer>,
    negative: Box<dyn Scorer>,
    factor: Score,
}

impl DocSet for DemotedScorer {
    fn advance(&mut self) -> DocId {
        self.positive.advance()
    }
    fn seek(&mut self, target: DocId) -> DocId {
        self.positive.seek(target)
    }
    fn doc(&self) -> DocId {
        self.positive.doc()
    }
    fn size_hint(&self) -> u32 {
        self.positive.size_hint()
    }
}

impl Scorer for DemotedScorer {
    fn score(&mut self) -> Score {
        let doc = self.positive.doc();
        let score = self.positive.score();
        if self.negative.doc() < doc {
            self.negative.seek(doc);
        }
        if self.negative.doc() == doc {
            score * self.factor
        } else {
            score
        }
    }
}
