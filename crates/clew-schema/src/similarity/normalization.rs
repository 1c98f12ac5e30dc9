//! What a frequency is worth in a document of its length.

use super::{Figures, Occurrence};

/// How a term's frequency is made comparable between documents of different lengths.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Normalization {
    /// It stays as it is.
    Nothing,
    /// Occurrences lie evenly over the document.
    Even {
        /// A factor.
        c: f32,
    },
    /// Occurrences lie the thinner the longer the document is.
    Thinning {
        /// A factor of the mean length.
        c: f32,
    },
    /// Smoothed as Dirichlet's language model is.
    Smoothed {
        /// The length that smooths, in tokens.
        mu: f32,
    },
    /// Zipf's law.
    Zipf {
        /// The exponent of the ratio of lengths.
        z: f32,
    },
}

impl Normalization {
    pub(super) fn frequency(self, term: &Figures, one: Occurrence) -> f64 {
        let shorter = term.mean / one.length;
        match self {
            Normalization::Nothing => one.frequency,
            Normalization::Even { c } => one.frequency * f64::from(c) * shorter,
            Normalization::Thinning { c } => one.frequency * (1.0 + f64::from(c) * shorter).log2(),
            Normalization::Smoothed { mu } => {
                let mu = f64::from(mu);
                let usual = (term.term_occurrences + 1.0) / (term.tokens + 1.0);
                (one.frequency + mu * usual) / (one.length + mu) * mu
            }
            Normalization::Zipf { z } => one.frequency * shorter.powf(f64::from(z)),
        }
    }
}
