//! Documents with a term, scored by a similarity that has no bounds to prune by.

use std::sync::Arc;

use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::{Postings, SegmentPostings};
use tantivy::query::{EmptyScorer, EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, DocSet, Score, SegmentReader, TantivyError, Term};

use super::constant::knows;
use crate::similarity::Weigher;

/// Documents with a term.
#[derive(Clone, Debug)]
pub(crate) struct WeighedTerm {
    pub(crate) term: Term,
    pub(crate) weigher: Arc<Weigher>,
}

impl Query for WeighedTerm {
    fn weight(&self, _scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        Ok(Box::new(self.clone()))
    }
}

impl WeighedTerm {
    fn open(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Option<WeighedScorer>> {
        let field = self.term.field();
        if !knows(reader, field) {
            return Ok(None);
        }
        let inverted = reader.inverted_index(field)?;
        let postings = inverted.read_postings(&self.term, IndexRecordOption::WithFreqs)?;
        let lengths = Lengths::open(reader, field)?;
        Ok(postings.map(|postings| WeighedScorer {
            postings,
            lengths,
            weigher: self.weigher.clone(),
            boost,
        }))
    }
}

impl Weight for WeighedTerm {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        Ok(match self.open(reader, boost)? {
            Some(scorer) => Box::new(scorer),
            None => Box::new(EmptyScorer),
        })
    }

    fn explain(&self, reader: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        let mut scorer = self
            .open(reader, 1.0)?
            .filter(|scorer| scorer.doc() <= doc)
            .ok_or_else(|| no_match(doc))?;
        if scorer.seek(doc) != doc {
            return Err(no_match(doc));
        }
        let (frequency, length) = (scorer.frequency(), scorer.lengths.of(doc));
        let text = format!("score({}, freq={frequency:?})", self.weigher.name());
        let mut explanation = Explanation::new_with_string(text, scorer.score());
        explanation.add_const("freq, occurrences of term within document", frequency);
        explanation.add_const("dl, length of field", length);
        Ok(explanation)
    }
}

pub(super) fn no_match(doc: DocId) -> TantivyError {
    TantivyError::InvalidArgument(format!("document {doc} does not match"))
}

/// How long a field is, document by document.
pub(super) struct Lengths(Option<FieldNormReader>);

impl Lengths {
    pub(super) fn open(reader: &SegmentReader, field: Field) -> tantivy::Result<Self> {
        Ok(Lengths(reader.fieldnorms_readers().get_field(field)?))
    }

    /// One where lengths are not kept.
    #[allow(
        clippy::cast_precision_loss,
        reason = "lengths are single precision in scores wherever they are computed"
    )]
    pub(super) fn of(&self, doc: DocId) -> f32 {
        let norms = self.0.as_ref();
        norms.map_or(1.0, |norms| norms.fieldnorm(doc) as f32)
    }
}

struct WeighedScorer {
    postings: SegmentPostings,
    lengths: Lengths,
    weigher: Arc<Weigher>,
    boost: Score,
}

impl WeighedScorer {
    #[allow(
        clippy::cast_precision_loss,
        reason = "frequencies are single precision in scores wherever they are computed"
    )]
    fn frequency(&self) -> f32 {
        self.postings.term_freq() as f32
    }
}

impl DocSet for WeighedScorer {
    fn advance(&mut self) -> DocId {
        self.postings.advance()
    }
    fn seek(&mut self, target: DocId) -> DocId {
        self.postings.seek(target)
    }
    fn doc(&self) -> DocId {
        self.postings.doc()
    }
    fn size_hint(&self) -> u32 {
        self.postings.size_hint()
    }
}

impl Scorer for WeighedScorer {
    fn score(&mut self) -> Score {
        let length = self.lengths.of(self.doc());
        self.weigher.score(self.frequency(), length) * self.boost
    }
}
