//! Information-based models: the less likely so high a frequency is, the more it tells (Clinchant
//! and Gaussier, "Information-based models for ad hoc IR", 2010).

use super::Figures;

/// How frequencies of a term are spread over documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distribution {
    /// Log-logistic.
    LogLogistic,
    /// A smoothed power law.
    PowerLaw,
}

/// What a term's rarity is measured by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rarity {
    /// Documents with the term.
    Documents,
    /// Its occurrences.
    Occurrences,
}

impl Rarity {
    /// Never one, where the logarithms below have no value.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "the share is 32 bits wide wherever it is used"
    )]
    pub(super) fn share(self, term: &Figures) -> f64 {
        let share = |count: f64| ((count + 1.0) / (term.docs + 1.0)) as f32;
        let (share, beside) = match self {
            Rarity::Documents => (share(term.term_docs), 1.0_f32.next_down()),
            Rarity::Occurrences => (share(term.term_occurrences), 1.0_f32.next_up()),
        };
        f64::from(if share.to_bits() == 1.0_f32.to_bits() {
            beside
        } else {
            share
        })
    }
}

impl Distribution {
    /// The score of a normalized frequency of a term with this share.
    pub(super) fn score(self, frequency: f64, share: f64) -> f64 {
        match self {
            Distribution::LogLogistic => -(share / (frequency + share)).ln(),
            Distribution::PowerLaw => {
                let saturated = (1.0 - 1.0 / (frequency + 1.0)).min(1.0_f64.next_down());
                let power = share.powf(saturated);
                // So near to its limit that rounding has reached it.
                let power = if power.to_bits() == share.to_bits() {
                    if share < 1.0 {
                        share.next_up()
                    } else {
                        share.next_down()
                    }
                } else {
                    power
                };
                -((power - share) / (1.0 - share)).ln()
            }
        }
    }
}
