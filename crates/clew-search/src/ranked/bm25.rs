//! BM25 as tantivy computes it, in pieces: a word's weight, the part that depends on a document's length, and
//! bounds on both.

use clew_schema::similarity::{B, FieldStatistics, K1};
use tantivy::fieldnorm::FieldNormReader;

/// What a length of zero contributes.
const SHORTEST: f32 = K1 * (1.0 - B);
/// Covers the rounding of bounds that are not computed as the score itself is.
pub(super) const ROUNDING: f32 = 1.0 + 1e-5;

/// For each stored length what it contributes to the denominator, under one average length.
#[derive(Debug)]
pub(crate) struct NormTable {
    average: f32,
    values: [f32; 256],
}

/// Lengths that do not matter.
pub(super) static NO_NORMS: NormTable = NormTable {
    average: 1.0,
    values: [0.0; 256],
};

impl NormTable {
    pub(crate) fn new(statistics: FieldStatistics) -> Self {
        let average = average(statistics.tokens.max(1), statistics.docs.max(1));
        let mut values = [0.0; 256];
        for (id, value) in (0u8..=255).zip(&mut values) {
            *value = contribution(FieldNormReader::id_to_fieldnorm(id), average);
        }
        NormTable { average, values }
    }

    /// The average length.
    pub(super) fn average(&self) -> f32 {
        self.average
    }

    /// How many times as great, and as small, a factor may be under this average length as it is under another.
    pub(super) fn change_from(&self, average: f32) -> (f32, f32) {
        // The part of the norm that depends on the length is `ratio` times as large, the other part is the same.
        let ratio = average / self.average;
        if ratio < 1.0 {
            (ROUNDING / ratio, ROUNDING)
        } else {
            (ROUNDING, ratio * ROUNDING)
        }
    }

    pub(super) fn of(&self, id: u8) -> f32 {
        self.values[usize::from(id)]
    }
}

#[allow(
    clippy::cast_precision_loss,
    reason = "lengths are single precision in BM25 as it is computed everywhere"
)]
fn contribution(length: u32, average: f32) -> f32 {
    K1 * (1.0 - B + B * length as f32 / average)
}

#[allow(
    clippy::cast_precision_loss,
    reason = "averages are single precision in BM25 as it is computed everywhere"
)]
fn average(tokens: u64, docs: u64) -> f32 {
    tokens as f32 / docs as f32
}

/// How rare a word is.
#[allow(
    clippy::cast_precision_loss,
    reason = "frequencies are single precision in BM25 as it is computed everywhere"
)]
pub(crate) fn idf(frequency: u64, docs: u64) -> f32 {
    let docs = docs.max(frequency).max(1);
    let x = ((docs - frequency) as f32 + 0.5) / (frequency as f32 + 0.5);
    (1.0 + x).ln()
}

/// A product of this and the least share that a word can have is not rounded to zero.
const WEIGHT_MIN: f32 = 1e-20;

/// What a word's, or a phrase's, scores are multiplied with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weight(f32);

impl Weight {
    /// Scores are the words' shares.
    pub(super) const ONE: Weight = Weight(1.0);

    pub(crate) fn new(idf: f32, boost: f32) -> Self {
        let weight = idf * (1.0 + K1);
        Weight(if boost == 1.0 { weight } else { weight * boost })
    }

    /// Whether every document of a word has a score above zero: a bound of zero says that a document does not have the word.
    pub(crate) fn ranks(self) -> bool {
        self.0 > WEIGHT_MIN
    }

    /// The score where the word's share is `factor`.
    pub(super) fn times(self, factor: f32) -> f32 {
        self.0 * factor
    }
}

/// A word's share of a document: grows with its frequency, falls with the document's length.
#[allow(
    clippy::cast_precision_loss,
    reason = "frequencies are single precision in BM25 as it is computed everywhere"
)]
pub(super) fn factor(frequency: u32, norm: f32) -> f32 {
    let frequency = frequency as f32;
    frequency / (frequency + norm)
}

/// What is certain of the best document of a block. tantivy chose it under the segment's average length; under
/// another one the best may be a different document.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockBounds {
    /// The segment's average over the query's; `None` when they are the same.
    ratio: Option<f32>,
}

impl BlockBounds {
    pub(super) fn new(table: &NormTable, tokens: u64, docs: u32) -> Self {
        let own = average(tokens, u64::from(docs));
        let same = own.to_bits() == table.average.to_bits();
        let ratio = own / table.average;
        // Without an average nothing is certain: an endless ratio allows everything.
        let ratio = if ratio.is_finite() { ratio } else { 0.0 };
        BlockBounds {
            ratio: (!same).then_some(ratio),
        }
    }

    /// The greatest factor in a block whose best document has this frequency and stored length.
    pub(super) fn factor(self, table: &NormTable, frequency: u32, norm: u8) -> f32 {
        if frequency == 0 {
            // Nothing was stored: the field keeps no lengths.
            return 1.0;
        }
        let best = factor(frequency, table.of(norm));
        let Some(ratio) = self.ratio else {
            return best;
        };
        // Under the segment's average every document of the block has a norm of at least `least` for each
        // occurrence, as the best one has the least. Under the query's average the part of the norm that
        // depends on the length is `ratio` times as large.
        let own = (table.of(norm) - SHORTEST * (1.0 - ratio)) / ratio;
        let least = own / frequency_of(frequency);
        let norm = ratio * least + (SHORTEST * (1.0 - ratio)).min(0.0);
        if norm.is_finite() && norm > 0.0 {
            (ROUNDING / (1.0 + norm)).min(1.0)
        } else {
            1.0
        }
    }
}

#[allow(
    clippy::cast_precision_loss,
    reason = "frequencies are single precision in BM25 as it is computed everywhere"
)]
fn frequency_of(frequency: u32) -> f32 {
    frequency as f32
}

/// The single-precision score of a sum.
#[allow(
    clippy::cast_possible_truncation,
    reason = "scores are 32 bits wide; rounding keeps the order"
)]
pub(super) fn rounded(sum: f64) -> f32 {
    sum as f32
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tantivy::query::Bm25Weight;

    use super::*;

    fn table(average: f32) -> NormTable {
        let mut table = NormTable::new(FieldStatistics { docs: 1, tokens: 1 });
        table.average = average;
        for (id, value) in (0u8..=255).zip(&mut table.values) {
            *value = contribution(FieldNormReader::id_to_fieldnorm(id), average);
        }
        table
    }

    proptest! {
        #[test]
        fn scores_are_those_of_tantivy(
            frequency in 1u64..1000, more in 0u64..100_000, tokens in 1u64..1_000_000, tf in 1u32..300, norm: u8, boost in 0.1f32..9.0,
        ) {
            let docs = frequency + more;
            let theirs = Bm25Weight::for_one_term(frequency, docs, average(tokens, docs)).boost_by(boost);
            let table = NormTable::new(FieldStatistics { docs, tokens });
            let ours = Weight::new(idf(frequency, docs), boost).times(factor(tf, table.of(norm)));
            prop_assert_eq!(ours.to_bits(), theirs.score(norm, tf).to_bits());
        }

        #[test]
        fn factors_change_no_more_than_their_bounds_say(
            frequency in 1u32..300, norm in 0u8..200, own in 1.0f32..60.0, query in 1.0f32..60.0,
        ) {
            let table_now = table(query);
            let (more, less) = table_now.change_from(own);
            let before = factor(frequency, table(own).of(norm));
            let now = factor(frequency, table_now.of(norm));
            prop_assert!(before / less <= now && now <= before * more, "{before} {now} {more} {less}");
        }

        #[test]
        fn no_document_exceeds_the_bound_of_its_block(
            docs in proptest::collection::vec((1u32..20, 0u8..120), 1..40), own in 1.0f32..60.0, query in 1.0f32..60.0,
        ) {
            let (own_table, table) = (table(own), table(query));
            let best = docs.iter().copied().max_by(|a, b| {
                factor(a.0, own_table.of(a.1)).total_cmp(&factor(b.0, own_table.of(b.1)))
            });
            let (frequency, norm) = best.unwrap();
            let ratio = (own.to_bits() != query.to_bits()).then_some(own / query);
            let bound = BlockBounds { ratio }.factor(&table, frequency, norm);
            for (frequency, norm) in docs {
                prop_assert!(factor(frequency, table.of(norm)) <= bound);
            }
        }
    }
}
