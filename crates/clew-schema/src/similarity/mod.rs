//! How much a term says about a document: BM25, and the other schemes that an index may ask for.
//!
//! A scheme is a formula over a few numbers: what is known of the field and of the term in the
//! shard, how often the term is in the document, and how long the document's field is. It reads no
//! postings; `query` and `ranked` do, and only BM25 as it usually is has bounds that `ranked` can
//! prune by.

mod independence;
mod information;
mod language;
mod normalization;
mod randomness;
mod settings;
#[cfg(test)]
mod tests;

use std::ops::AddAssign;

pub use independence::Measure;
pub use information::{Distribution, Rarity};
pub use normalization::Normalization;
pub use randomness::{AfterEffect, BasicModel};

pub use settings::{CLASSIC_REFUSED, Similarities, SimilarityError};

/// Statistics of a field over a shard, deleted documents included (as OpenSearch counts).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FieldStatistics {
    /// Documents that have the field.
    pub docs: u64,
    /// Tokens in all of them.
    pub tokens: u64,
}

impl AddAssign for FieldStatistics {
    fn add_assign(&mut self, other: Self) {
        self.docs += other.docs;
        self.tokens += other.tokens;
    }
}

/// BM25's measure of how soon more of a term tells nothing more, unless settings say otherwise.
pub const K1: f32 = 1.2;
/// How much BM25 counts the length of a document, unless settings say otherwise.
pub const B: f32 = 0.75;

/// A scheme with its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Similarity {
    /// Saturates with the term's frequency, and counts less in longer documents.
    Bm25 {
        /// How soon more of a term tells nothing more.
        k1: f32,
        /// How much the length of a document counts, from 0 to 1.
        b: f32,
    },
    /// Every match scores the same.
    Boolean,
    /// A language model that is smoothed by as much as a document of length `mu` would bring.
    Dirichlet {
        /// That length, in tokens.
        mu: f32,
    },
    /// A language model, `lambda` of which is the model of the whole shard.
    JelinekMercer {
        /// That share, from 0 to 1.
        lambda: f32,
    },
    /// How far the term's frequency is from chance.
    Randomness {
        /// How terms are spread by chance.
        model: BasicModel,
        /// What the first occurrences are worth against later ones.
        effect: AfterEffect,
        /// How documents of different lengths are made comparable.
        normalization: Normalization,
    },
    /// How far the term's frequency is from being independent of the document.
    Independence(Measure),
    /// How much is learned from the term being so frequent.
    Information {
        /// How frequencies are spread over documents.
        distribution: Distribution,
        /// What rarity is measured by.
        rarity: Rarity,
        /// How documents of different lengths are made comparable.
        normalization: Normalization,
    },
}

impl Similarity {
    /// The scheme of fields of which nothing is said.
    pub const USUAL: Similarity = Similarity::Bm25 { k1: K1, b: B };

    /// Whether it wants to know how often a term occurs in the whole shard.
    pub fn counts_occurrences(self) -> bool {
        !matches!(self, Similarity::Bm25 { .. } | Similarity::Boolean)
    }

    /// What OpenSearch calls it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Similarity::Bm25 { .. } => "BM25",
            Similarity::Boolean => "boolean",
            Similarity::Dirichlet { .. } => "LMDirichlet",
            Similarity::JelinekMercer { .. } => "LMJelinekMercer",
            Similarity::Randomness { .. } => "DFR",
            Similarity::Independence(_) => "DFI",
            Similarity::Information { .. } => "IB",
        }
    }
}

/// What is known of a term in a shard, deleted documents included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TermStatistics {
    /// Documents with the term.
    pub docs: u64,
    /// How often it is in all of them together.
    pub occurrences: u64,
}

/// The same numbers as the formulas take them.
#[derive(Clone, Copy, Debug)]
struct Figures {
    /// Documents with the field.
    docs: f64,
    /// Tokens of the field.
    tokens: f64,
    /// Tokens in a document, on average.
    mean: f64,
    term_docs: f64,
    term_occurrences: f64,
}

/// How often a term is in a document, and how long the document's field is.
#[derive(Clone, Copy, Debug)]
struct Occurrence {
    frequency: f64,
    length: f64,
}

/// What of a field scores go by. The rest is taken for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// How long the field is in a document.
    pub lengths: bool,
    /// How often a term is in a document.
    pub frequencies: bool,
}

impl Counted {
    /// As fields are of which nothing is said.
    pub const ALL: Counted = Counted {
        lengths: true,
        frequencies: true,
    };
}

/// What a score by BM25 is made of, for explanations.
#[derive(Clone, Debug, PartialEq)]
pub struct Bm25Parts {
    /// How fast occurrences saturate.
    pub k1: f32,
    /// How much lengths count.
    pub b: f32,
    /// How often the terms are in the document, as the field counts it.
    pub frequency: f32,
    /// How long the field is in the document, likewise.
    pub length: f32,
    /// How long it is on average.
    pub length_mean: f32,
    /// How rare the terms are together.
    pub idf: f32,
    /// Of each term the documents that have it, and those that have the field.
    pub terms: Vec<(f64, f64)>,
}

/// Gives scores to a term, or to several that are found together, as those of a phrase.
#[derive(Clone, Debug)]
pub struct Weigher {
    similarity: Similarity,
    counted: Counted,
    /// How rare the terms are, for BM25.
    idf: f32,
    /// Tokens in a document, on average, for BM25.
    length_mean: f32,
    figures: Vec<Figures>,
}

impl Weigher {
    /// For terms of one field, by what is known of them in a shard.
    #[allow(
        clippy::cast_precision_loss,
        reason = "statistics are as wide as this in the formulas wherever they are used"
    )]
    pub fn new(similarity: Similarity, field: FieldStatistics, terms: &[TermStatistics]) -> Self {
        let docs = |term: &TermStatistics| field.docs.max(term.docs).max(1);
        let idf = |term: &TermStatistics| {
            let others = docs(term) - term.docs;
            (1.0 + (others as f32 + 0.5) / (term.docs as f32 + 0.5)).ln()
        };
        let tokens = field.tokens.max(1);
        let figures = terms.iter().map(|term| Figures {
            docs: docs(term) as f64,
            tokens: tokens as f64,
            mean: tokens as f64 / docs(term) as f64,
            term_docs: term.docs as f64,
            term_occurrences: term.occurrences as f64,
        });
        Weigher {
            similarity,
            counted: Counted::ALL,
            idf: terms.iter().map(idf).sum(),
            length_mean: tokens as f32 / field.docs.max(1) as f32,
            figures: figures.collect(),
        }
    }

    /// The same, for a field that does not count everything.
    #[must_use]
    pub fn counting(self, counted: Counted) -> Self {
        Weigher { counted, ..self }
    }

    /// The score where the terms are `frequency` times in a field of `length` tokens.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "scores are 32 bits wide; what is computed in 64 is rounded once"
    )]
    #[inline]
    pub fn score(&self, frequency: f32, length: f32) -> f32 {
        let (frequency, length) = self.as_counted(frequency, length);
        match self.similarity {
            Similarity::Bm25 { k1, b } => {
                let norm = k1 * (1.0 - b + b * length / self.length_mean);
                self.idf * frequency * (k1 + 1.0) / (frequency + norm)
            }
            Similarity::Boolean => 1.0,
            _ => {
                let occurrence = Occurrence {
                    frequency: f64::from(frequency),
                    length: f64::from(length),
                };
                let each = self.figures.iter();
                let sum: f32 = each.map(|term| self.of_term(term, occurrence) as f32).sum();
                sum.max(0.0)
            }
        }
    }

    /// What the field counts of this.
    #[inline]
    fn as_counted(&self, frequency: f32, length: f32) -> (f32, f32) {
        let length = if self.counted.lengths { length } else { 1.0 };
        match self.counted.frequencies {
            true => (frequency, length),
            false => (frequency.min(1.0), length),
        }
    }

    /// What the score is made of; `None` where it is none of BM25.
    pub fn bm25(&self, frequency: f32, length: f32) -> Option<Bm25Parts> {
        let Similarity::Bm25 { k1, b } = self.similarity else {
            return None;
        };
        let (frequency, length) = self.as_counted(frequency, length);
        let terms = self.figures.iter().map(|term| (term.term_docs, term.docs));
        Some(Bm25Parts {
            k1,
            b,
            frequency,
            length,
            length_mean: self.length_mean,
            idf: self.idf,
            terms: terms.collect(),
        })
    }

    /// What it is called, for explanations.
    pub fn name(&self) -> &'static str {
        self.similarity.name()
    }

    fn of_term(&self, term: &Figures, occurrence: Occurrence) -> f64 {
        match self.similarity {
            // These two do not look at terms one by one.
            Similarity::Bm25 { .. } | Similarity::Boolean => 0.0,
            Similarity::Dirichlet { mu } => language::dirichlet(mu, term, occurrence),
            Similarity::JelinekMercer { lambda } => {
                language::jelinek_mercer(lambda, term, occurrence)
            }
            Similarity::Randomness {
                model,
                effect,
                normalization,
            } => model.score(
                term,
                normalization.frequency(term, occurrence),
                effect.gain(term),
            ),
            Similarity::Independence(measure) => measure.score(term, occurrence),
            Similarity::Information {
                distribution,
                rarity,
                normalization,
            } => distribution.score(
                normalization.frequency(term, occurrence),
                rarity.share(term),
            ),
        }
    }
}
