//! Joining nested objects to what they are part of.

use std::sync::Arc;

use clew_platform::Pace;
use clew_query::{JoinScore, go_on_in_set};
use tantivy::index::SegmentId;
use tantivy::query::{EmptyScorer, EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::{DocId, DocSet, Score, SegmentReader, TERMINATED};

use super::at_doc::no_match;
use super::held::Held;
use super::leaf::ScoredDocs;
use crate::query::resolver::SegmentHits;
use crate::segments::{Blocks, Scope};

/// The documents, or the nested objects further out, that contain objects which match.
#[derive(Debug)]
pub(crate) struct ToParent {
    pub(crate) child: Box<dyn Query>,
    /// Of the segments that have nested objects.
    pub(crate) blocks: Arc<Vec<(SegmentId, Arc<Blocks>)>>,
    pub(crate) path: String,
    /// The path of the nested objects around; `None` when whole documents are.
    pub(crate) around: Option<String>,
    pub(crate) score: JoinScore,
}

impl Clone for ToParent {
    fn clone(&self) -> Self {
        ToParent {
            child: self.child.box_clone(),
            blocks: self.blocks.clone(),
            path: self.path.clone(),
            around: self.around.clone(),
            score: self.score,
        }
    }
}

impl Query for ToParent {
    fn weight(&self, scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        let scored = matches!(scoring, EnableScoring::Enabled { .. });
        Ok(Box::new(ToParentWeight {
            child: self.child.weight(scoring)?,
            join: self.clone(),
            score: if scored { self.score } else { JoinScore::None },
        }))
    }
}

struct ToParentWeight {
    child: Box<dyn Weight>,
    join: ToParent,
    score: JoinScore,
}

impl ToParentWeight {
    /// The documents of a segment with their scores, ascending.
    fn join(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<SegmentHits> {
        let id = reader.segment_id();
        let mut blocks = self.join.blocks.iter();
        let blocks = blocks.find(|(segment, _)| *segment == id);
        let rows = blocks.and_then(|(_, blocks)| {
            let around = blocks.of(Scope::from(self.join.around.as_deref()))?;
            Some((blocks.of(Scope::Nested(&self.join.path))?, around))
        });
        let Some((own, around)) = rows else {
            return Ok(Vec::new());
        };
        let mut hits: SegmentHits = Vec::new();
        let mut scorer = self.child.scorer(reader, boost)?;
        let mut current = Joined::default();
        let mut row = scorer.doc();
        let mut pace = Pace::default();
        while row != TERMINATED {
            go_on_in_set(&mut pace)?;
            if own.contains(row)
                && let Some(parent) = around.next_from(row)
            {
                if hits.last().is_none_or(|(last, _)| *last != parent) {
                    current = Joined::default();
                    hits.push((parent, 0.0));
                }
                if self.score != JoinScore::None {
                    current.add(scorer.score());
                }
                if let Some((_, score)) = hits.last_mut() {
                    *score = current.score(self.score);
                }
            }
            row = scorer.advance();
        }
        Ok(hits)
    }
}

impl Weight for ToParentWeight {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        let hits = self.join(reader, boost)?;
        if hits.is_empty() {
            return Ok(Box::new(EmptyScorer));
        }
        let bytes = hits.capacity() * size_of::<(DocId, Score)>();
        let docs = ScoredDocs::answered(Arc::new(vec![(reader.segment_id(), hits)]));
        Ok(Box::new(Held::new(docs.scorer(reader, 1.0)?, bytes)?))
    }

    fn explain(&self, reader: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        let hits = self.join(reader, 1.0)?;
        let found = hits.iter().find(|(hit, _)| *hit == doc);
        let (_, score) = found.ok_or_else(|| no_match(doc))?;
        Ok(Explanation::new("score of matching nested objects", *score))
    }
}

/// The scores of what belongs to one document.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Joined {
    count: u32,
    sum: f64,
    max: Score,
    min: Score,
}

impl Joined {
    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    /// Takes in what was found elsewhere.
    pub(crate) fn absorb(&mut self, other: &Joined) {
        if other.count == 0 {
            return;
        }
        if self.count == 0 {
            *self = *other;
            return;
        }
        self.count += other.count;
        self.sum += other.sum;
        self.max = self.max.max(other.max);
        self.min = self.min.min(other.min);
    }

    pub(crate) fn add(&mut self, score: Score) {
        let is_first = self.count == 0;
        self.count += 1;
        self.sum += f64::from(score);
        self.max = if is_first { score } else { self.max.max(score) };
        self.min = if is_first { score } else { self.min.min(score) };
    }

    #[allow(
        clippy::cast_possible_truncation,
        reason = "scores are 32 bits wide, sums of them are not"
    )]
    pub(crate) fn score(&self, mode: JoinScore) -> Score {
        match mode {
            JoinScore::None => 0.0,
            JoinScore::Avg => (self.sum / f64::from(self.count.max(1))) as Score,
            JoinScore::Sum => self.sum as Score,
            JoinScore::Max => self.max,
            JoinScore::Min => self.min,
        }
    }
}
