//! A source as a tantivy query.

use std::sync::Arc;

use clew_platform::Pace;
use clew_schema::similarity::Weigher;
use tantivy::query::{EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::schema::Field;
use tantivy::{DocId, DocSet, Score, SegmentReader, TERMINATED};

use super::algebra::Interval;
use super::source::{SegmentSource, TermSource};
use crate::query::weighed::{Lengths, no_match};

/// What turns the intervals of a document into its score.
#[derive(Clone, Debug)]
pub(crate) enum Scoring {
    /// Saturates with the number of tight intervals.
    Proximity,
    /// As the field's similarity says of all the words together.
    Words { field: Field, weigher: Arc<Weigher> },
}

/// Documents with an interval of the source.
#[derive(Clone, Debug)]
pub(crate) struct IntervalQuery {
    pub(crate) source: TermSource,
    pub(crate) scoring: Scoring,
}

impl Query for IntervalQuery {
    fn weight(&self, _scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        Ok(Box::new(self.clone()))
    }
}

impl Weight for IntervalQuery {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        let lengths = match &self.scoring {
            Scoring::Words { field, .. } => Some(Lengths::open(reader, *field)?),
            Scoring::Proximity => None,
        };
        let mut scorer = IntervalScorer {
            source: self.source.open(reader)?,
            extent_min: self.source.extent_min(),
            scoring: self.scoring.clone(),
            lengths,
            boost,
            doc: 0,
            intervals: Vec::new(),
            pace: Pace::of_blocks(),
        };
        scorer.find(0);
        Ok(Box::new(scorer))
    }

    fn explain(&self, reader: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        let mut scorer = self.scorer(reader, 1.0)?;
        if scorer.doc() > doc || scorer.seek(doc) != doc {
            return Err(no_match(doc));
        }
        Ok(Explanation::new("intervals", scorer.score()))
    }
}

struct IntervalScorer {
    source: SegmentSource,
    extent_min: i64,
    scoring: Scoring,
    lengths: Option<Lengths>,
    boost: Score,
    doc: DocId,
    intervals: Vec<Interval>,
    pace: Pace,
}

impl IntervalScorer {
    /// Goes to the first document from `target` on that has an interval.
    fn find(&mut self, mut target: DocId) {
        loop {
            self.doc = self.source.candidate(target);
            if self.doc == TERMINATED || self.pace.is_over() {
                self.doc = TERMINATED;
                return;
            }
            self.intervals = self.source.intervals(self.doc);
            if !self.intervals.is_empty() {
                return;
            }
            target = self.doc + 1;
        }
    }

    #[allow(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        reason = "positions and lengths are far below a double's precision; scores are 32 bits wide"
    )]
    fn value(&self) -> f32 {
        match &self.scoring {
            Scoring::Proximity => {
                let tightness =
                    |one: &Interval| 1.0 / (one.width() - self.extent_min + 1).max(1) as f64;
                let sum: f64 = self.intervals.iter().map(tightness).sum();
                (sum / (sum + 1.0)) as f32
            }
            Scoring::Words { weigher, .. } => {
                let tightness = |one: &Interval| 1.0 / (1 + one.gaps.max(0)) as f32;
                let frequency: f32 = self.intervals.iter().map(tightness).sum();
                let lengths = self.lengths.as_ref();
                weigher.score(
                    frequency,
                    lengths.map_or(1.0, |lengths| lengths.of(self.doc)),
                )
            }
        }
    }
}

impl DocSet for IntervalScorer {
    fn advance(&mut self) -> DocId {
        if self.doc != TERMINATED {
            self.find(self.doc + 1);
        }
        self.doc
    }

    fn seek(&mut self, target: DocId) -> DocId {
        if self.doc < target {
            if target == TERMINATED {
                self.doc = TERMINATED;
            } else {
                self.find(target);
            }
        }
        self.doc
    }

    fn doc(&self) -> DocId {
        self.doc
    }

    fn size_hint(&self) -> u32 {
        0
    }
}

impl Scorer for IntervalScorer {
    fn score(&mut self) -> Score {
        if self.doc == TERMINATED {
            return 0.0;
        }
        self.value() * self.boost
    }
}
