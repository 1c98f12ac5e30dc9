//! Four-bit codes of residuals, and the tables that a query looks them up in.

use clew_kernels::{FAST_CODES_MULTIPLE, FAST_TABLE_BYTES, kernels};

use crate::ivf::product::{CENTROIDS, ProductQuantizer};

/// Dimensions of a code of signs.
pub(crate) const SIGNS: usize = 4;
/// Sums of entries are kept in 16 bits.
const SUM_MAX: f32 = 65_535.0;
const ENTRY_MAX: f32 = 255.0;
/// A query without length has no steps; the inverse of this is still finite.
const STEP_MIN: f32 = 1e-30;

/// Codes of a row, each of so many dimensions; those of no dimension included.
pub(crate) fn code_count(dimension: usize, part: usize) -> usize {
    dimension
        .div_ceil(part)
        .next_multiple_of(FAST_CODES_MULTIPLE)
}

/// What codes mean.
#[derive(Debug)]
pub(crate) enum Coding {
    /// Signs of four dimensions; the estimate is that of Gao and Long, "RaBitQ", SIGMOD 2024.
    Bits,
    /// Trained centroids of a few dimensions.
    Product(ProductQuantizer),
}

/// A query's products with all that codes can mean, as bytes.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    pub(super) entries: Vec<u8>,
    /// A product is `step` times a sum of entries, less `offset`.
    pub(super) step: f32,
    pub(super) offset: f32,
    floats: Vec<[f32; CENTROIDS]>,
}

impl Coding {
    /// Dimensions of a product code; `None` for signs.
    pub(crate) fn product_part(&self) -> Option<usize> {
        match self {
            Coding::Bits => None,
            Coding::Product(quantizer) => Some(quantizer.part()),
        }
    }

    /// Dimensions of a code.
    pub(crate) fn part(&self) -> usize {
        self.product_part().unwrap_or(SIGNS)
    }

    /// Codes of a row.
    pub(crate) fn codes(&self, dimension: usize) -> usize {
        code_count(dimension, self.part())
    }

    /// Writes the codes of a direction, one to a byte, and what they stand for into `decoded`, of the same length. Answers
    /// the product of the two, which is 0 for no direction.
    pub(super) fn encode(&self, direction: &[f32], codes: &mut [u8], decoded: &mut [f32]) -> f32 {
        match self {
            Coding::Bits => {
                for (value, sign) in direction.iter().zip(&mut *decoded) {
                    *sign = if *value > 0.0 { 1.0 } else { -1.0 };
                }
                for (code, part) in codes.iter_mut().zip(direction.chunks(SIGNS)) {
                    *code = (0_u8..)
                        .zip(part)
                        .fold(0, |code, (bit, &value)| code | u8::from(value > 0.0) << bit);
                }
            }
            Coding::Product(quantizer) => {
                let codes = &mut codes[..quantizer.codes()];
                quantizer.encode(direction, codes);
                quantizer.decode(codes, decoded);
            }
        }
        kernels().f32().dot(direction, decoded)
    }

    /// Fills the tables of a query. The step is so small that neither an entry nor a sum overflows.
    pub(super) fn fill(&self, query: &[f32], tables: &mut Tables) {
        let codes = self.codes(query.len());
        tables.entries.clear();
        tables.entries.resize(codes * FAST_TABLE_BYTES, 0);
        match self {
            Coding::Bits => tables.fill_bits(query),
            Coding::Product(quantizer) => tables.fill_products(quantizer, query),
        }
    }
}

/// Brings a vector of this length to length 1.
pub(super) fn direct(vector: &mut [f32], length: f32) {
    let inverse = 1.0 / length;
    for value in vector {
        *value *= inverse;
    }
}

/// The size of a step for tables whose greatest entry and whose sum of greatest entries would be these.
fn step_of(greatest: f32, sum: f32, codes: usize) -> f32 {
    // Every entry may be rounded up by less than one.
    let by_sum = sum / (SUM_MAX - codes as f32);
    (greatest / ENTRY_MAX).max(by_sum).max(STEP_MIN)
}

impl Tables {
    /// What scans need of them.
    pub(super) fn prepared(&self) -> Tables {
        Tables {
            entries: self.entries.clone(),
            floats: Vec::new(),
            ..*self
        }
    }

    /// Entry `m` of a part is the sum of the numbers whose bit in `m` is set, raised by the sum of the
    /// negative ones: in 16 bits with 8 behind the point.
    fn fill_bits(&mut self, query: &[f32]) {
        const ONE: f32 = 256.0;
        let size = |part: &[f32]| part.iter().map(|value| value.abs()).sum::<f32>();
        let sizes = query.chunks(SIGNS).map(size);
        let (greatest, sum) = sizes.fold((0.0_f32, 0.0), |(greatest, sum), size| {
            (greatest.max(size), sum + size)
        });
        // Room for the four numbers to be rounded up, and then the entry.
        let step = 1.01 * step_of(greatest, sum, query.len().div_ceil(SIGNS));
        let scale = ONE / step;
        let (entries, _) = self.entries.as_chunks_mut::<FAST_TABLE_BYTES>();
        for (entries, part) in entries.iter_mut().zip(query.chunks(SIGNS)) {
            let mut numbers = [0_i32; SIGNS];
            for (number, value) in numbers.iter_mut().zip(part) {
                *number = whole(value * scale);
            }
            let raise: i32 = numbers.iter().map(|number| -number.min(&0)).sum();
            let [a, b, c, d] = numbers;
            let low = [0, a, b, a + b].map(|sum| sum + raise + 128);
            let high = [0, c, d, c + d];
            for (at, entry) in entries.iter_mut().enumerate() {
                *entry = low_byte((low[at % 4] + high[at / 4]) >> 8);
            }
        }
        // Bits stand for +1 and -1: the sum over set bits, doubled, less the sum over all.
        self.step = 2.0 * step;
        self.offset = sum;
    }

    fn fill_products(&mut self, quantizer: &ProductQuantizer, query: &[f32]) {
        let spans = quantizer.products(query, &mut self.floats);
        let step = step_of(spans.greatest, spans.sum, self.floats.len());
        kernels().table_steps(&self.floats, 1.0 / step, &mut self.entries);
        (self.step, self.offset) = (step, -spans.least);
    }

    /// The estimated product of the query with a row's codes, as a scan has it.
    pub(super) fn product(&self, codes: &[u8]) -> f32 {
        let (entries, _) = self.entries.as_chunks::<FAST_TABLE_BYTES>();
        let pairs = entries.iter().zip(codes);
        let sum: u32 = pairs
            .map(|(table, &code)| u32::from(table[usize::from(code)]))
            .sum();
        self.step * sum as f32 - self.offset
    }
}

/// Rounds to the nearest whole number. A damaged image may make values that no query has.
#[inline]
fn whole(value: f32) -> i32 {
    const ROUND: f32 = 12_582_912.0;
    const MOST: f32 = 1_048_576.0;
    let bits = (value.clamp(-MOST, MOST) + ROUND).to_bits().cast_signed();
    bits.wrapping_sub(ROUND.to_bits().cast_signed())
}

/// A number from 0 to 255; the step was chosen so that entries are.
#[inline]
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the value was brought within bounds"
)]
fn low_byte(value: i32) -> u8 {
    value.clamp(0, 255) as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix;

    fn vector(dimension: usize, seed: u64) -> Vec<f32> {
        let mut random = SplitMix::new(seed);
        let unit = || (random.draw() >> 40) as f32 / (1_u64 << 24) as f32 - 0.5;
        std::iter::repeat_with(unit).take(dimension).collect()
    }

    #[test]
    fn tables_hold_the_product_with_the_signs_at_any_scale() {
        for dimension in [1, 3, 4, 65, 384, 1_024, 5_000] {
            for scale in [1e-12, 1.0, 1e12] {
                let query: Vec<f32> = vector(dimension, 1).iter().map(|x| x * scale).collect();
                let row = vector(dimension, 2);
                let mut codes = vec![0; code_count(dimension, SIGNS)];
                let mut tables = Tables::default();
                Coding::Bits.encode(&row, &mut codes, &mut vec![0.0; dimension]);
                Coding::Bits.fill(&query, &mut tables);
                let pairs = query.iter().zip(&row);
                let exact: f32 = pairs.map(|(q, x)| if *x > 0.0 { *q } else { -q }).sum();
                let estimate = tables.product(&codes);
                // Each entry is rounded by half a step.
                let bound = tables.step * code_count(dimension, SIGNS) as f32;
                assert!(
                    (estimate - exact).abs() <= bound,
                    "{estimate} {exact} {dimension}"
                );
                let sum: u32 = tables
                    .entries
                    .chunks(16)
                    .map(|t| u32::from(*t.iter().max().unwrap()))
                    .sum();
                assert!(sum <= 65_535);
            }
        }
    }

    #[test]
    fn tables_hold_the_product_with_the_centroids() {
        let dimension = 20;
        let rows: Vec<f32> = (0..300).flat_map(|at| vector(dimension, at)).collect();
        let quantizer = ProductQuantizer::train(&rows, (dimension, SIGNS), 1).unwrap();
        let mut decoded = vec![0.0; dimension];
        let mut codes = vec![0; code_count(dimension, SIGNS)];
        let coding = Coding::Product(quantizer.clone());
        let product = coding.encode(&rows[..dimension], &mut codes, &mut decoded);
        quantizer.decode(&codes[..quantizer.codes()], &mut decoded);
        let mut tables = Tables::default();
        for query in rows.chunks(dimension).take(20) {
            coding.fill(query, &mut tables);
            let exact: f32 = query.iter().zip(&decoded).map(|(q, x)| q * x).sum();
            let estimate = tables.product(&codes);
            assert!(
                (estimate - exact).abs() <= 3.0 * tables.step,
                "{estimate} {exact}"
            );
        }
        let own: f32 = rows[..dimension]
            .iter()
            .zip(&decoded)
            .map(|(q, x)| q * x)
            .sum();
        assert!((product - own).abs() < 1e-3);
    }

    #[test]
    fn nothing_is_coded_without_harm() {
        let mut codes = vec![0; code_count(9, SIGNS)];
        assert_eq!(
            Coding::Bits.encode(&[0.0; 9], &mut codes, &mut [0.0; 9]),
            0.0
        );
        let mut tables = Tables::default();
        Coding::Bits.fill(&[0.0; 9], &mut tables);
        assert!(tables.product(&codes).abs() < 1e-30);
    }
}
