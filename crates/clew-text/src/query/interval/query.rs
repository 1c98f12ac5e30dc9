//! A source as a tantivy query.

use tantivy::fieldnorm::FieldNormReader;
use tantivy::query::{EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::schema::Field;
use tantivy::{DocId, DocSet, Score, SegmentReader, TERMINATED, TantivyError};

use super::algebra::Interval;
use super::source::{SegmentSource, TermSource};

/// What turns the intervals of a document into its score.
#[derive(Clone, Debug)]
pub(crate) enum Scoring {
    /// Saturates with the number of tight intervals.
    Proximity,
    /// BM25 with the sum of the words' weights, over the length of a field.
    Words {
        field: Field,
        idf: f32,
        length_mean: f32,
    },
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
        let norms = match &self.scoring {
            Scoring::Words { field, .. } => reader.fieldnorms_readers().get_field(*field)?,
            Scoring::Proximity => None,
        };
        let mut scorer = IntervalScorer {
            source: self.source.open(reader)?,
            extent_min: self.source.extent_min(),
            scoring: self.scoring.clone(),
            norms,
            boost,
            doc: 0,
            intervals: Vec::new(),
        };
        scorer.find(0);
        Ok(Box::new(scorer))
    }

    fn explain(&self, reader: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        let mut scorer = self.scorer(reader, 1.0)?;
        if scorer.doc() > doc || scorer.seek(doc) != doc {
            return Err(TantivyError::InvalidArgument(format!(
                "document {doc} does not match"
            )));
        }
        Ok(Explanation::new("intervals", scorer.score()))
    }
}

struct IntervalScorer {
    source: SegmentSource,
    extent_min: i64,
    scoring: Scoring,
    norms: Option<FieldNormReader>,
    boost: Score,
    doc: DocId,
    intervals: Vec<Interval>,
}

const K1: f32 = 1.2;
const B: f32 = 0.75;

impl IntervalScorer {
    /// Goes to the first document from `target` on that has an interval.
    fn find(&mut self, mut target: DocId) {
        loop {
            self.doc = self.source.candidate(target);
            if self.doc == TERMINATED {
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
            Scoring::Words {
                idf, length_mean, ..
            } => {
                let tightness = |one: &Interval| 1.0 / (1 + one.gaps.max(0)) as f32;
                let frequency: f32 = self.intervals.iter().map(tightness).sum();
                let length = self
                    .norms
                    .as_ref()
                    .map_or(1.0, |norms| norms.fieldnorm(self.doc) as f32);
                let norm = K1 * (1.0 - B + B * length / length_mean);
                idf * frequency * (K1 + 1.0) / (frequency + norm)
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
