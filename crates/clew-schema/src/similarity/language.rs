//! Language models: how likely the term is in a text like the document's, against how likely it is
//! in the shard (Zhai and Lafferty, "A study of smoothing methods for language models applied to
//! information retrieval", 2004).

use super::{Figures, Occurrence};

/// How likely any token of the shard is this term; one more of each, so that it is never zero.
fn probability(term: &Figures) -> f64 {
    (term.term_occurrences + 1.0) / (term.tokens + 1.0)
}

pub(super) fn dirichlet(mu: f32, term: &Figures, one: Occurrence) -> f64 {
    let mu = f64::from(mu);
    let found = (1.0 + one.frequency / (mu * probability(term))).ln();
    let score = found + (mu / (one.length + mu)).ln();
    // Less likely here than anywhere, or no number at all where `mu` is zero.
    if score > 0.0 { score } else { 0.0 }
}

pub(super) fn jelinek_mercer(lambda: f32, term: &Figures, one: Occurrence) -> f64 {
    let here = f64::from(1.0 - lambda) * one.frequency / one.length;
    (1.0 + here / (f64::from(lambda) * probability(term))).ln()
}
