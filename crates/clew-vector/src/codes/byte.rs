//! Codes of one byte per dimension, with a scale per row: near enough to the vectors themselves to
//! choose neighbours by. They live only while a graph is built.

use clew_kernels::{Kernels, prefetch, prefetch_span};

use crate::codes::frame::Residual;

/// Codes of all rows of a column.
#[derive(Debug)]
pub(crate) struct ByteCodes {
    rows: Vec<i8>,
    facts: Vec<ByteFacts>,
    dimension: usize,
    kernels: &'static Kernels,
}

/// What is kept beside a row of bytes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ByteFacts {
    /// Size of one step.
    pub(crate) step: f32,
    /// Squared length of the row as its code has it, lift included.
    pub(crate) squared: f32,
    /// An extra coordinate that is compared exactly.
    pub(crate) lift: f32,
}

impl ByteCodes {
    pub(crate) fn new((dimension, count): (usize, usize), kernels: &'static Kernels) -> Self {
        ByteCodes {
            rows: vec![0; dimension * count],
            facts: vec![ByteFacts::default(); count],
            dimension,
            kernels,
        }
    }

    pub(crate) fn parts_mut(&mut self) -> (&mut [i8], &mut [ByteFacts]) {
        (&mut self.rows, &mut self.facts)
    }

    /// Writes one row.
    pub(crate) fn encode(
        kernels: &Kernels,
        residual: &Residual,
        lift: f32,
        row: &mut [i8],
    ) -> ByteFacts {
        let sizes = residual.values.iter().map(|value| value.abs());
        let step = (sizes.fold(0.0, f32::max) / 127.0).max(f32::MIN_POSITIVE);
        kernels.quantize_i8(&residual.values, 1.0 / step, row);
        let squared = kernels.dot_i8(row, row) as f32 * step * step + lift * lift;
        ByteFacts {
            step,
            squared,
            lift,
        }
    }

    #[inline]
    pub(crate) fn row(&self, row: u32) -> &[i8] {
        &self.rows[row as usize * self.dimension..][..self.dimension]
    }

    #[inline]
    pub(crate) fn facts(&self, row: u32) -> ByteFacts {
        self.facts[row as usize]
    }

    /// Squared distance of two rows.
    #[inline]
    pub(crate) fn between(&self, a: u32, b: u32) -> f32 {
        let product = self.kernels.dot_i8(self.row(a), self.row(b)) as f32;
        finish(product, self.facts(a), self.facts(b))
    }

    /// Squared distances of a row to others.
    #[inline]
    pub(crate) fn measure(&self, centre: u32, rows: &[u32], distances: &mut [f32]) {
        self.kernels
            .dot_i8_picked(self.row(centre), &self.rows, rows, distances);
        let own = self.facts(centre);
        for (&row, distance) in rows.iter().zip(distances) {
            *distance = finish(*distance, own, self.facts(row));
        }
    }

    #[inline]
    pub(crate) fn prefetch(&self, row: u32) {
        prefetch_span(&self.rows, row as usize * self.dimension, self.dimension);
        prefetch(&self.facts, row as usize);
    }
}

#[inline]
fn finish(product: f32, a: ByteFacts, b: ByteFacts) -> f32 {
    let whole = a.step * b.step * product + a.lift * b.lift;
    (a.squared + b.squared - 2.0 * whole).max(0.0)
}
