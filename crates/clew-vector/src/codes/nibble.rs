//! Codes of four bits per dimension, which walks of a stored graph measure by.
//!
//! The residual `r` of a row is rounded to sixteen levels `v`. The product of `r` with the query's
//! residual `q` is estimated as `|r|² / <v, r>` times `<v, q>`, which has no bias over rotations
//! (Gao and Long, "RaBitQ", SIGMOD 2024). With the two factors kept beside each row, an estimated
//! distance of any space is `base + add + scale * <v, q>`.

use clew_kernels::{Kernels, U4Query, U4Rows, kernels, prefetch, prefetch_span};

use crate::Space;
use crate::codes::frame::{Frame, Residual};
use crate::rows::Probe;

/// Factors per row: `add` and `scale`.
pub(crate) const FACTORS: usize = 2;
/// Rows of codes are filled up to this, so that loads are whole.
const PITCH_MULTIPLE: usize = 32;
/// The level of code 0 is -7.5.
const ZERO_LEVEL: f32 = 7.5;

/// Bytes of a row of codes.
pub(crate) fn pitch_bytes(dimension: usize) -> usize {
    dimension.div_ceil(2).next_multiple_of(PITCH_MULTIPLE)
}

/// Step sizes tried per row, times the standard deviation: around the best one for normal numbers.
const STEPS: [f32; 6] = [0.28, 0.31, 0.34, 0.37, 0.40, 0.43];

/// Writes codes of rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Encoder {
    pub(crate) space: Space,
    pub(crate) kernels: &'static Kernels,
}

impl Encoder {
    /// Writes one row of codes, and answers its factors.
    pub(crate) fn encode(&self, residual: &Residual, code: &mut [u8]) -> [f32; FACTORS] {
        let values = &residual.values;
        let deviation = (residual.squared / values.len() as f32).sqrt();
        let (mut best_step, mut best_fit, mut best_product) = (1.0, 0.0, 0.0);
        for step in STEPS.map(|step| step * deviation) {
            if step <= f32::MIN_POSITIVE {
                break;
            }
            let [product, squared] = self.kernels.fit_u4(values, 1.0 / step);
            let fit = product / squared.sqrt();
            if fit > best_fit {
                (best_step, best_fit, best_product) = (step, fit, product);
            }
        }
        self.kernels.pack_u4(values, 1.0 / best_step, code);
        let scale = if best_product > 0.0 {
            residual.squared / best_product
        } else {
            0.0
        };
        match self.space {
            Space::L2 => [residual.squared, -2.0 * scale],
            Space::Cosine => [0.5 * residual.squared, -scale],
            Space::InnerProduct => [-residual.with_centre, -scale],
            Space::Hamming | Space::Jaccard => unreachable!("bits are their own codes"),
        }
    }
}

/// The codes of a column.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NibbleCodes<'a> {
    pub(crate) frame: &'a Frame,
    pub(crate) codes: &'a [u8],
    /// [`FACTORS`] numbers per row.
    pub(crate) factors: &'a [[f32; FACTORS]],
    pub(crate) pitch: usize,
    /// Typical error of an estimated distance, per length of the query's residual.
    pub(crate) error: f32,
}

/// A query in the form that codes are multiplied with; kept to be used again.
#[derive(Debug, Default)]
pub(crate) struct NibbleQuery {
    residual: Residual,
    /// The residual in bytes, laid out as a row of codes is.
    numbers: Vec<i8>,
    step: f32,
    /// What the levels' offset adds to every product.
    offset: f32,
    base: f32,
}

impl NibbleQuery {
    /// Prepares `vector` times `scale`.
    pub(crate) fn prepare(
        &mut self,
        codes: &NibbleCodes<'_>,
        space: Space,
        (vector, scale): (&[f32], f32),
    ) {
        codes.frame.residual(vector, scale, &mut self.residual);
        let values = &self.residual.values;
        self.numbers.clear();
        self.numbers.resize(2 * codes.pitch, 0);
        let (step, sum) = kernels().quantize_i8(values, &mut self.numbers[..values.len()]);
        self.step = step;
        self.offset = ZERO_LEVEL * step * sum as f32;
        let centre_squared = || {
            kernels()
                .f32()
                .dot(&codes.frame.centre, &codes.frame.centre)
        };
        self.base = match space {
            Space::L2 => self.residual.squared,
            Space::Cosine => 0.5 * self.residual.squared,
            // <query, centre>, of which the residual's part was measured before it was turned.
            Space::InnerProduct => -(self.residual.with_centre + centre_squared()),
            Space::Hamming | Space::Jaccard => unreachable!("bits are their own codes"),
        };
    }

    /// Length of the query's residual.
    pub(crate) fn length(&self) -> f32 {
        self.residual.squared.sqrt()
    }
}

/// A query bound to the codes of a column.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NibbleProbe<'a> {
    pub(crate) codes: NibbleCodes<'a>,
    pub(crate) query: &'a NibbleQuery,
    pub(crate) kernels: &'static Kernels,
}

impl Probe for NibbleProbe<'_> {
    #[inline]
    fn measure(&self, rows: &[u32], distances: &mut [f32]) {
        let query = U4Query {
            numbers: &self.query.numbers,
            step: self.query.step,
            offset: self.query.offset,
            base: self.query.base,
        };
        let codes = U4Rows {
            codes: self.codes.codes,
            pitch: self.codes.pitch,
            factors: self.codes.factors,
        };
        self.kernels
            .score_u4_picked(&query, &codes, rows, distances);
    }

    #[inline]
    fn prefetch(&self, row: u32) {
        let codes = &self.codes;
        prefetch_span(codes.codes, row as usize * codes.pitch, codes.pitch);
        prefetch(codes.factors, row as usize);
    }
}
