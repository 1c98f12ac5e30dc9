//! Documents with a term, or with any of several that count as one, scored without bounds to prune by.

use std::sync::Arc;

use clew_schema::similarity::Weigher;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::{Postings, SegmentPostings};
use tantivy::query::{EmptyScorer, EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, DocSet, Score, SegmentReader, TERMINATED, Term};

use super::at_doc::no_match;
use super::constant::knows;

/// Documents with any of some terms of a field; how often they are there is counted together.
#[derive(Clone, Debug)]
pub(crate) struct WeighedTerm {
    pub(crate) field: Field,
    pub(crate) terms: Vec<Term>,
    pub(crate) weigher: Arc<Weigher>,
}

impl Query for WeighedTerm {
    fn weight(&self, _scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        Ok(Box::new(self.clone()))
    }
}

impl WeighedTerm {
    fn open(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Option<WeighedScorer>> {
        if !knows(reader, self.field) {
            return Ok(None);
        }
        let inverted = reader.inverted_index(self.field)?;
        let mut postings = Vec::with_capacity(self.terms.len());
        for term in &self.terms {
            postings.extend(inverted.read_postings(term, IndexRecordOption::WithFreqs)?);
        }
        if postings.is_empty() {
            return Ok(None);
        }
        let mut scorer = WeighedScorer {
            postings,
            doc: 0,
            lengths: Lengths::open(reader, self.field)?,
            weigher: self.weigher.clone(),
            boost,
        };
        scorer.settle();
        Ok(Some(scorer))
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
    postings: Vec<SegmentPostings>,
    /// The first document that any of them is at.
    doc: DocId,
    lengths: Lengths,
    weigher: Arc<Weigher>,
    boost: Score,
}

impl WeighedScorer {
    fn settle(&mut self) {
        let docs = self.postings.iter().map(DocSet::doc);
        self.doc = docs.min().unwrap_or(TERMINATED);
    }

    #[allow(
        clippy::cast_precision_loss,
        reason = "frequencies are single precision in scores wherever they are computed"
    )]
    fn frequency(&self) -> f32 {
        let here = self.postings.iter().filter(|one| one.doc() == self.doc);
        here.map(|one| one.term_freq() as f32).sum()
    }
}

impl DocSet for WeighedScorer {
    fn advance(&mut self) -> DocId {
        if self.doc != TERMINATED {
            for one in &mut self.postings {
                if one.doc() == self.doc {
                    one.advance();
                }
            }
            self.settle();
        }
        self.doc
    }

    fn seek(&mut self, target: DocId) -> DocId {
        for one in &mut self.postings {
            if one.doc() < target {
                one.seek(target);
            }
        }
        self.settle();
        self.doc
    }

    fn doc(&self) -> DocId {
        self.doc
    }

    fn size_hint(&self) -> u32 {
        let hints = self.postings.iter().map(DocSet::size_hint);
        hints.fold(0, u32::saturating_add)
    }
}

impl Scorer for WeighedScorer {
    fn score(&mut self) -> Score {
        if self.doc == TERMINATED {
            return 0.0;
        }
        let length = self.lengths.of(self.doc);
        self.weigher.score(self.frequency(), length) * self.boost
    }
}
