//! Divergence from randomness (Amati and van Rijsbergen, "Probabilistic models of information
//! retrieval based on measuring the divergence from randomness", 2002), in the bounded form whose
//! scores never fall when a term is there more often.

use super::Figures;

/// How terms are spread by chance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BasicModel {
    /// A geometric distribution.
    Geometric,
    /// By how often the term occurs.
    InverseOccurrences,
    /// By how many documents have the term.
    InverseDocuments,
    /// By how many documents would have the term if its occurrences were spread evenly.
    InverseExpected,
}

/// What the first occurrences of a term are worth against later ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterEffect {
    /// Laplace's law of succession.
    Laplace,
    /// The ratio of two of Bernoulli's trials.
    Bernoulli,
}

impl AfterEffect {
    pub(super) fn gain(self, term: &Figures) -> f64 {
        match self {
            AfterEffect::Laplace => 1.0,
            AfterEffect::Bernoulli => (term.term_occurrences + 2.0) / (term.term_docs + 1.0),
        }
    }
}

impl BasicModel {
    /// The score of a normalized frequency, of which the after-effect leaves `gain`.
    pub(super) fn score(self, term: &Figures, frequency: f64, gain: f64) -> f64 {
        let saturated = 1.0 - 1.0 / (1.0 + frequency);
        let docs = term.docs;
        let rarity = match self {
            BasicModel::Geometric => {
                let occurrences = term.term_occurrences + 1.0;
                let rate = occurrences / (docs + occurrences);
                let least = (rate + 1.0).log2();
                let most = ((1.0 + rate) / rate).log2();
                return (least + (most - least) * saturated) * gain;
            }
            BasicModel::InverseOccurrences => {
                (1.0 + (docs + 1.0) / (term.term_occurrences + 0.5)).log2()
            }
            BasicModel::InverseDocuments => ((docs + 1.0) / (term.term_docs + 0.5)).log2(),
            BasicModel::InverseExpected => {
                let without = ((docs - 1.0) / docs).powf(term.term_occurrences);
                ((docs + 1.0) / (docs * (1.0 - without) + 0.5)).log2()
            }
        };
        rarity * gain * saturated
    }
}
