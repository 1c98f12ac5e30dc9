//! A document's scores in several queries made one.

/// How a document's scores become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combination {
    /// Their weighted mean; a query that did not find the document counts as 0.
    Arithmetic,
    /// Their weighted geometric mean, over the queries that found it.
    Geometric,
    /// Their weighted harmonic mean, over the queries that found it.
    Harmonic,
    /// Their weighted sum.
    Sum,
}

impl Combination {
    /// The score of a document with these scores.
    pub(super) fn apply(self, parts: &[Option<f32>], weights: &[f32]) -> f32 {
        let weighted = || {
            let weights = weights.iter().copied().chain(std::iter::repeat(1.0));
            parts.iter().map(|part| part.unwrap_or(0.0)).zip(weights)
        };
        let found = || weighted().filter(|(score, _)| *score > 0.0);
        let total: f32 = match self {
            Combination::Arithmetic | Combination::Sum => {
                weighted().map(|(_, weight)| weight).sum()
            }
            Combination::Geometric | Combination::Harmonic => {
                found().map(|(_, weight)| weight).sum()
            }
        };
        if total <= 0.0 {
            return 0.0;
        }
        let sum = || {
            weighted()
                .map(|(score, weight)| score * weight)
                .sum::<f32>()
        };
        match self {
            Combination::Sum => sum(),
            Combination::Arithmetic => sum() / total,
            Combination::Geometric => {
                let logarithms = found().map(|(score, weight)| score.ln() * weight);
                (logarithms.sum::<f32>() / total).exp()
            }
            Combination::Harmonic => {
                total / found().map(|(score, weight)| weight / score).sum::<f32>()
            }
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Combination::Arithmetic => "arithmetic_mean",
            Combination::Geometric => "geometric_mean",
            Combination::Harmonic => "harmonic_mean",
            Combination::Sum => "rrf",
        }
    }
}
