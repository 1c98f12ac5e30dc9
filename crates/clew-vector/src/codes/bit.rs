//! Codes of one bit per dimension, which walks measure by while a graph is built: a row fits into one
//! cache line in 384 dimensions. What a walk finds is ordered again by [`super::ByteCodes`].

use clew_kernels::{Kernels, prefetch_span};

use crate::codes::byte::Pairing;
use crate::codes::frame::Residual;
use crate::rows::Probe;

/// The row's own part of a distance, and the scale of the estimate.
const FACTOR_BYTES: usize = 8;
const LINE_BYTES: usize = 64;

/// Codes of all rows of a column; a row holds its bits, then its factors.
#[derive(Debug)]
pub(crate) struct BitCodes {
    rows: Vec<u8>,
    code_bytes: usize,
    pitch: usize,
}

/// Bytes of a row: never across more cache lines than it has to be.
pub(crate) fn pitch_bytes(dimension: usize) -> usize {
    let needed = dimension.div_ceil(8) + FACTOR_BYTES;
    if needed < LINE_BYTES {
        needed.next_power_of_two()
    } else {
        needed.next_multiple_of(LINE_BYTES)
    }
}

impl BitCodes {
    pub(crate) fn new(dimension: usize, count: usize) -> Self {
        let pitch = pitch_bytes(dimension);
        BitCodes {
            rows: vec![0; pitch * count],
            code_bytes: dimension.div_ceil(8),
            pitch,
        }
    }

    pub(crate) fn pitch(&self) -> usize {
        self.pitch
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.rows
    }

    /// Writes one row: the signs of the residual, and `<signs, r>` to make the estimate unbiased.
    pub(crate) fn encode(residual: &Residual, pairing: Pairing, row: &mut [u8]) {
        row.fill(0);
        let values = &residual.values;
        for (byte, eight) in row.iter_mut().zip(values.chunks(8)) {
            for (bit, &value) in eight.iter().enumerate() {
                *byte |= u8::from(value > 0.0) << bit;
            }
        }
        let sum: f32 = values.iter().map(|value| value.abs()).sum();
        let scale = if sum > 0.0 {
            residual.squared / sum
        } else {
            0.0
        };
        let own = match pairing {
            Pairing::Distance => residual.squared,
            Pairing::Product => -residual.with_centre,
        };
        let factors = [own, pairing.weight() * scale].map(f32::to_le_bytes);
        let start = values.len().div_ceil(8);
        row[start..start + FACTOR_BYTES].copy_from_slice(factors.as_flattened());
    }

    /// The factors of a row.
    #[inline]
    fn factors(&self, row: u32) -> [f32; 2] {
        let start = row as usize * self.pitch + self.code_bytes;
        let bytes = &self.rows[start..start + FACTOR_BYTES];
        let (words, _) = bytes.as_chunks();
        [0, 1].map(|at| f32::from_le_bytes(words[at]))
    }
}

/// A stored row bound to the codes of all rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BitProbe<'a> {
    pub(crate) codes: &'a BitCodes,
    /// The row's residual in bytes, filled up with zeros to whole bytes of bits.
    pub(crate) query: &'a [i8],
    /// Size of one step of `query`.
    pub(crate) step: f32,
    pub(crate) sum: f32,
    /// The row's own part of every distance.
    pub(crate) own: f32,
    pub(crate) kernels: &'static Kernels,
}

impl Probe for BitProbe<'_> {
    #[inline]
    fn measure(&self, rows: &[u32], distances: &mut [f32]) {
        let codes = self.codes;
        let picks = (codes.pitch, rows);
        self.kernels
            .dot_u1_picked(self.query, &codes.rows, picks, distances);
        for (&row, distance) in rows.iter().zip(distances) {
            let [own, scale] = codes.factors(row);
            let product = scale * self.step * (2.0 * *distance - self.sum);
            *distance = self.own + own - product;
        }
    }

    #[inline]
    fn prefetch(&self, row: u32) {
        let start = row as usize * self.codes.pitch;
        prefetch_span(&self.codes.rows, start, self.codes.pitch);
    }
}
