//! Codes of one, two, four or eight bits per dimension, which walks of a stored graph measure by.
//!
//! The residual `r` of a row is rounded to levels `v`. The product of `r` with the query's residual
//! `q` is estimated as `|r|² / <v, r>` times `<v, q>`, which has no bias over rotations (Gao and
//! Long, "RaBitQ", SIGMOD 2024; for several bits, Gao and others, "Practical and asymptotically
//! optimal quantization", SIGMOD 2025). With the two factors kept beside each row, an estimated
//! distance of any space is `base + add + scale * <v, q>`.
//!
//! What of an estimate is wrong is `|q|` times `|r|` times the part of `v` that is not along `r`,
//! seen from a direction that the rotation made random; it has no bound but a scale, which falls to
//! about half with every bit. [`RotatedCodes::error`] is that scale as measured on the column.

use clew_kernels::{CodeBits, CodeQuery, CodeRows, Kernels, kernels, prefetch, prefetch_span};

use crate::Space;
use crate::codes::frame::{Frame, Residual};
use crate::rows::{Probe, lacking};

/// Factors per row: `add` and `scale`.
pub(crate) const FACTORS: usize = 2;
/// Rows of codes are filled up to this, so that loads are whole.
const PITCH_MULTIPLE: usize = 32;

/// Bytes of a row of codes.
pub(crate) fn pitch_bytes(dimension: usize, bits: CodeBits) -> usize {
    dimension
        .div_ceil(bits.dimensions_per_byte())
        .next_multiple_of(PITCH_MULTIPLE)
}

/// Step sizes tried per row, times the standard deviation: around the best ones for normal numbers
/// (Max, "Quantizing for minimum distortion", 1960). Signs are the same whatever the step.
fn steps(bits: CodeBits) -> &'static [f32] {
    match bits {
        CodeBits::One => &[1.596],
        CodeBits::Two => &[0.83, 0.92, 1.01, 1.10, 1.19, 1.28],
        CodeBits::Four => &[0.28, 0.31, 0.34, 0.37, 0.40, 0.43],
        CodeBits::Eight => &[0.020, 0.023, 0.026, 0.029, 0.032, 0.035],
    }
}

/// Writes codes of rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Encoder {
    pub(crate) space: Space,
    pub(crate) bits: CodeBits,
    pub(crate) kernels: &'static Kernels,
}

impl Encoder {
    /// Writes one row of codes, and answers its factors.
    pub(crate) fn encode(&self, residual: &Residual, code: &mut [u8]) -> [f32; FACTORS] {
        let (values, kernels) = (&residual.values, self.kernels.codes(self.bits));
        let deviation = (residual.squared / values.len() as f32).sqrt();
        let (mut best_step, mut best_fit, mut best_product) = (1.0, 0.0, 0.0);
        for step in steps(self.bits).iter().map(|step| step * deviation) {
            if step <= f32::MIN_POSITIVE {
                break;
            }
            let [product, squared] = kernels.fit(values, 1.0 / step);
            let fit = product / squared.sqrt();
            if fit > best_fit {
                (best_step, best_fit, best_product) = (step, fit, product);
            }
        }
        kernels.pack(values, 1.0 / best_step, code);
        let scale = if best_product > 0.0 {
            residual.squared / best_product
        } else {
            0.0
        };
        match self.space {
            Space::L2 => [residual.squared, -2.0 * scale],
            Space::Cosine => [0.5 * residual.squared, -scale],
            Space::InnerProduct => [-residual.with_centre, -scale],
            Space::Hamming
            | Space::Jaccard
            | Space::MinHash8
            | Space::MinHash32
            | Space::MinHash64 => {
                unreachable!("bits are their own codes")
            }
        }
    }
}

/// The codes of a column.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RotatedCodes<'a> {
    pub(crate) frame: &'a Frame,
    pub(crate) codes: &'a [u8],
    /// [`FACTORS`] numbers per row.
    pub(crate) factors: &'a [[f32; FACTORS]],
    pub(crate) pitch: usize,
    pub(crate) bits: CodeBits,
    /// Root of the mean squared error of an estimated distance, per length of the query's residual,
    /// as measured on a sample of the column's own rows when it was built. It is one number for all
    /// rows and no bound: errors are about normal, so that one in three is greater, one in twenty
    /// greater than twice as much, and rows far from the centre err more than others. A search
    /// measures exactly every find that lies within a number of these errors of the `k`-th hit.
    pub(crate) error: f32,
}

/// A query in the form that codes are multiplied with; kept to be used again.
#[derive(Debug, Default)]
pub(crate) struct RotatedQuery {
    residual: Residual,
    /// The residual in bytes, one for each code of a row.
    numbers: Vec<i8>,
    step: f32,
    /// What the levels' offset adds to every product.
    offset: f32,
    base: f32,
}

impl RotatedQuery {
    /// Prepares `vector` times `scale`.
    pub(crate) fn prepare(
        &mut self,
        codes: &RotatedCodes<'_>,
        space: Space,
        (vector, scale): (&[f32], f32),
    ) {
        codes.frame.residual(vector, scale, &mut self.residual);
        let values = &self.residual.values;
        // Of one bit, codes behind the last dimension are not read.
        let count = match codes.bits {
            CodeBits::One => values.len().next_multiple_of(8),
            bits => bits.dimensions_per_byte() * codes.pitch,
        };
        self.numbers.clear();
        self.numbers.resize(count, 0);
        let (step, sum) = kernels().quantize_i8(values, &mut self.numbers[..values.len()]);
        self.step = step;
        self.offset = codes.bits.zero_level() * step * sum as f32;
        let centre_squared = || {
            kernels()
                .f32()
                .dot(&codes.frame.centre, &codes.frame.centre)
        };
        self.base = match space {
            Space::L2 => self.residual.squared,
            Space::Cosine => 0.5 * self.residual.squared + lacking(space, scale),
            // <query, centre>, of which the residual's part was measured before it was turned.
            Space::InnerProduct => -(self.residual.with_centre + centre_squared()),
            Space::Hamming
            | Space::Jaccard
            | Space::MinHash8
            | Space::MinHash32
            | Space::MinHash64 => {
                unreachable!("bits are their own codes")
            }
        };
    }

    /// Length of the query's residual.
    pub(crate) fn length(&self) -> f32 {
        self.residual.squared.sqrt()
    }
}

/// A query bound to the codes of a column.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RotatedProbe<'a> {
    pub(crate) codes: RotatedCodes<'a>,
    pub(crate) query: &'a RotatedQuery,
    pub(crate) kernels: &'static Kernels,
}

impl Probe for RotatedProbe<'_> {
    #[inline]
    fn measure(&self, rows: &[u32], distances: &mut [f32]) {
        let query = CodeQuery {
            numbers: &self.query.numbers,
            step: self.query.step,
            offset: self.query.offset,
            base: self.query.base,
        };
        let codes = CodeRows {
            codes: self.codes.codes,
            pitch: self.codes.pitch,
            factors: self.codes.factors,
        };
        self.kernels
            .codes(self.codes.bits)
            .score_picked(&query, &codes, rows, distances);
    }

    #[inline]
    fn prefetch(&self, row: u32) {
        let codes = &self.codes;
        prefetch_span(codes.codes, row as usize * codes.pitch, codes.pitch);
        prefetch(codes.factors, row as usize);
    }
}
