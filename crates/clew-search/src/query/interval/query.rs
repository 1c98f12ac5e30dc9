//! A source as a tantivy query.

use std::sync::Arc;

use clew_platform::Pace;
use clew_schema::similarity::Weigher;
use tantivy::query::{EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::schema::Field;
use tantivy::{DocId, Score, SegmentReader, TERMINATED};

use super::algebra::Interval;
use super::source::{SegmentSource, TermSource};
use crate::query::at_doc::no_match;
use crate::query::forward::{Finder, Forward};
use crate::query::weighed::{Lengths, told};

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

impl IntervalQuery {
    fn finder(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<IntervalFinder> {
        let lengths = match &self.scoring {
            Scoring::Words { field, .. } => Some(Lengths::open(reader, *field)?),
            Scoring::Proximity => None,
        };
        Ok(IntervalFinder {
            source: self.source.open(reader)?,
            extent_min: self.source.extent_min(),
            scoring: self.scoring.clone(),
            lengths,
            boost,
            doc: 0,
            intervals: Vec::new(),
            pace: Pace::of_blocks(),
        })
    }
}

impl Weight for IntervalQuery {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        Ok(Box::new(Forward::open(self.finder(reader, boost)?)))
    }

    fn explain(&self, reader: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        let mut finder = self.finder(reader, 1.0)?;
        if finder.find(doc) != doc {
            return Err(no_match(doc));
        }
        match &self.scoring {
            Scoring::Proximity => {
                let mut explanation = Explanation::new("intervals", finder.value());
                explanation.add_const("frequency", finder.tightness());
                Ok(explanation)
            }
            Scoring::Words { weigher, .. } => {
                let length = finder.length();
                let score = told(weigher, finder.frequency(), length);
                let mut explanation = Explanation::new("Phrase Scorer", score.value());
                explanation.add_detail(score);
                Ok(explanation)
            }
        }
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
    #[allow(clippy::cast_possible_truncation, reason = "scores are 32 bits wide")]
    fn value(&self) -> f32 {
        match &self.scoring {
            Scoring::Proximity => {
                let sum = self.tightness_sum();
                (sum / (sum + 1.0)) as f32
            }
            Scoring::Words { weigher, .. } => weigher.score(self.frequency(), self.length()),
        }
    }

    /// How many intervals there are, each by how tight it is.
    #[allow(
        clippy::cast_precision_loss,
        reason = "positions and lengths are far below a double's precision"
    )]
    fn tightness_sum(&self) -> f64 {
        let tightness = |one: &Interval| 1.0 / (one.width() - self.extent_min + 1).max(1) as f64;
        self.intervals.iter().map(tightness).sum()
    }

    /// The same as explanations have it.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "an explanation has 32 bits, as scores have"
    )]
    fn tightness(&self) -> f32 {
        self.tightness_sum() as f32
    }

    /// How often the words are there, intervals with gaps counting less.
    #[allow(
        clippy::cast_precision_loss,
        reason = "positions are far below a double's precision"
    )]
    fn frequency(&self) -> f32 {
        let tightness = |one: &Interval| 1.0 / (1 + one.gaps.max(0)) as f32;
        self.intervals.iter().map(tightness).sum()
    }

    fn length(&self) -> f32 {
        let lengths = self.lengths.as_ref();
        lengths.map_or(1.0, |lengths| lengths.of(self.doc))
    }
}
