//! A source as a tantivy query.

use std::sync::Arc;

use clew_platform::Pace;
use clew_schema::similarity::Weigher;
use tantivy::query::{EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::schema::Field;
use tantivy::{DocId, Score, SegmentReader, TERMINATED};

use super::algebra::Interval;
use super::source::{SegmentSource, TermSource};
use crate::query::at_doc::scorer_at;
use crate::query::forward::{Finder, Forward};
use crate::query::weighed::Lengths;

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
        let finder = IntervalFinder {
            source: self.source.open(reader)?,
            extent_min: self.source.extent_min(),
            scoring: self.scoring.clone(),
            lengths,
            boost,
            doc: 0,
            intervals: Vec::new(),
            pace: Pace::of_blocks(),
        };
        Ok(Box::new(Forward::open(finder)))
    }

    fn explain(&self, reader: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        let mut scorer = scorer_at(self, reader, doc)?;
        Ok(Explanation::new("intervals", scorer.score()))
    }
}

struct IntervalFinder {
    source: SegmentSource,
    extent_min: i64,
    scoring: Scoring,
    lengths: Option<Lengths>,
    boost: Score,
    doc: DocId,
    intervals: Vec<Interval>,
    pace: Pace,
}

impl Finder for IntervalFinder {
    fn find(&mut self, mut target: DocId) -> DocId {
        loop {
            self.doc = self.source.candidate(target);
            if self.doc == TERMINATED || self.pace.is_over() {
                return TERMINATED;
            }
            self.intervals = self.source.intervals(self.doc);
            if !self.intervals.is_empty() {
                return self.doc;
            }
            target = self.doc + 1;
        }
    }

    fn score(&mut self) -> Score {
        self.value() * self.boost
    }

    fn most(&self) -> u32 {
        0
    }
}

impl IntervalFinder {
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
