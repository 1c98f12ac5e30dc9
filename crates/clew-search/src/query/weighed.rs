//! Documents with a term, or with any of several that count as one, scored without bounds to prune by.

use std::sync::Arc;

use clew_schema::similarity::{Bm25Parts, Weigher};
use tantivy::columnar::StrColumn;
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
    /// Whether the field is as long as a document has values of it.
    pub(crate) counts_values: bool,
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
        let lengths = match self.counts_values {
            true => Lengths::of_values(reader, self.field)?,
            false => Lengths::open(reader, self.field)?,
        };
        let mut scorer = WeighedScorer {
            postings,
            doc: 0,
            lengths,
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
        Ok(told(&self.weigher, frequency, length))
    }
}

/// What the similarity is called under which all matches score the same.
const BOOLEAN: &str = "boolean";

/// Where a score comes from, as tantivy tells it of its own terms.
pub(super) fn told(weigher: &Weigher, frequency: f32, length: f32) -> Explanation {
    let score = weigher.score(frequency, length);
    let Some(parts) = weigher.bm25(frequency, length) else {
        if weigher.name() == BOOLEAN {
            let mut explanation = Explanation::new("score(BooleanWeight), computed from:", score);
            explanation.add_const("boost, query boost", score);
            return explanation;
        }
        let text = format!("score({}, freq={frequency:?})", weigher.name());
        let mut explanation = Explanation::new_with_string(text, score);
        explanation.add_const("freq, occurrences of term within document", frequency);
        explanation.add_const("dl, length of field", length);
        return explanation;
    };
    let norm = parts.k1 * (1.0 - parts.b + parts.b * parts.length / parts.length_mean);
    let mut saturation = Explanation::new(
        "freq / (freq + k1 * (1 - b + b * dl / avgdl))",
        parts.frequency / (parts.frequency + norm),
    );
    saturation.add_const("freq, occurrences of term within document", parts.frequency);
    saturation.add_const("k1, term saturation parameter", parts.k1);
    saturation.add_const("b, length normalization parameter", parts.b);
    saturation.add_const("dl, length of field", parts.length);
    saturation.add_const("avgdl, average length of field", parts.length_mean);
    let mut explanation = Explanation::new("TermQuery, product of...", score);
    explanation.add_const("(K1+1)", parts.k1 + 1.0);
    explanation.add_detail(rarity(&parts));
    explanation.add_detail(saturation);
    explanation
}

/// How rare the terms are, each by itself where they are several.
#[allow(
    clippy::cast_possible_truncation,
    reason = "an explanation has 32 bits, as scores have"
)]
fn rarity(parts: &Bm25Parts) -> Explanation {
    const OF_ONE: &str = "idf, computed as log(1 + (N - n + 0.5) / (n + 0.5))";
    let of_term = |idf: f32, (term_docs, docs): (f64, f64)| {
        let mut one = Explanation::new(OF_ONE, idf);
        one.add_const("n, number of docs containing this term", term_docs as f32);
        one.add_const("N, total number of docs", docs as f32);
        one
    };
    if let [only] = parts.terms.as_slice() {
        return of_term(parts.idf, *only);
    }
    let mut all = Explanation::new("idf", parts.idf);
    for (term_docs, docs) in &parts.terms {
        let idf = (1.0 + (docs - term_docs + 0.5) / (term_docs + 0.5)).ln();
        all.add_detail(of_term(idf as f32, (*term_docs, *docs)));
    }
    all
}

/// How long a field is, document by document.
pub(super) enum Lengths {
    /// One, as they are not kept.
    One,
    Kept(FieldNormReader),
    /// As many as there are values.
    Values(StrColumn),
}

impl Lengths {
    pub(super) fn open(reader: &SegmentReader, field: Field) -> tantivy::Result<Self> {
        let norms = reader.fieldnorms_readers().get_field(field)?;
        Ok(norms.map_or(Lengths::One, Lengths::Kept))
    }

    fn of_values(reader: &SegmentReader, field: Field) -> tantivy::Result<Self> {
        let column = reader.schema().get_field_name(field);
        let column = reader.fast_fields().str(column)?;
        Ok(column.map_or(Lengths::One, Lengths::Values))
    }

    #[allow(
        clippy::cast_precision_loss,
        reason = "lengths are single precision in scores wherever they are computed"
    )]
    pub(super) fn of(&self, doc: DocId) -> f32 {
        match self {
            Lengths::One => 1.0,
            Lengths::Kept(norms) => norms.fieldnorm(doc) as f32,
            Lengths::Values(column) => {
                let count = column.ords().values_for_doc(doc).count();
                let count = u32::try_from(count).unwrap_or(u32::MAX);
                // As exact as a length that is kept.
                let kept = FieldNormReader::fieldnorm_to_id(count);
                FieldNormReader::id_to_fieldnorm(kept) as f32
            }
        }
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
