//! Divergence from independence: how much more often the term is there than if it did not depend
//! on the document (Kocabas, Dincer and Karaoglan, "A nonparametric term weighting method for
//! information retrieval based on measuring the divergence from independence", 2014).

use super::{Figures, Occurrence};

/// How the distance from what is expected is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// In standard deviations.
    Standardized,
    /// As a share of what is expected.
    Saturated,
    /// Squared, as a share of what is expected.
    ChiSquared,
}

impl Measure {
    pub(super) fn score(self, term: &Figures, one: Occurrence) -> f64 {
        let expected = (term.term_occurrences + 1.0) * one.length / (term.tokens + 1.0);
        let beyond = one.frequency - expected;
        if beyond <= 0.0 {
            return 0.0;
        }
        let distance = match self {
            Measure::Standardized => beyond / expected.sqrt(),
            Measure::Saturated => beyond / expected,
            Measure::ChiSquared => beyond * beyond / expected,
        };
        (1.0 + distance).log2()
    }
}
