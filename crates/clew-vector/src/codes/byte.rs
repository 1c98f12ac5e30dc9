//! Codes of one byte per dimension, with a scale per row: near enough to the vectors themselves to
//! choose neighbours by. They live only while a graph is built.

use clew_kernels::{Kernels, prefetch, prefetch_span};

use crate::codes::frame::Residual;

/// How two residuals make a distance while a graph is built: what each row has of its own, minus a
/// weight times their product. What all distances of a column have in common is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pairing {
    /// Squared Euclidean distance.
    Distance,
    /// The inner product of the vectors, negated: the right graph where lengths differ, since long
    /// vectors are everyone's neighbours (Morozov and Babenko, "Non-metric similarity graphs for
    /// maximum inner product search", 2018).
    Product,
}

impl Pairing {
    #[inline]
    pub(crate) fn weight(self) -> f32 {
        match self {
            Pairing::Distance => 2.0,
            Pairing::Product => 1.0,
        }
    }
}

/// Codes of all rows of a column.
#[derive(Debug)]
pub(crate) struct ByteCodes {
    rows: Vec<i8>,
    facts: Vec<ByteFacts>,
    dimension: usize,
    pairing: Pairing,
    kernels: &'static Kernels,
}

/// What is kept beside a row of bytes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ByteFacts {
    /// Size of one step.
    pub(crate) step: f32,
    /// The row's own part of a distance; see [`Pairing`].
    pub(crate) own: f32,
}

impl ByteCodes {
    pub(crate) fn new(
        (dimension, count): (usize, usize),
        pairing: Pairing,
        kernels: &'static Kernels,
    ) -> Self {
        ByteCodes {
            pairing,
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
        pairing: Pairing,
        row: &mut [i8],
    ) -> ByteFacts {
        let (step, _) = kernels.quantize_i8(&residual.values, row);
        // The length of the code rather than of the residual: a row is at no distance from itself.
        let own = match pairing {
            Pairing::Distance => kernels.i8().dot(row, row) * step * step,
            Pairing::Product => -residual.with_centre,
        };
        ByteFacts { step, own }
    }

    #[inline]
    pub(crate) fn row(&self, row: u32) -> &[i8] {
        &self.rows[row as usize * self.dimension..][..self.dimension]
    }

    pub(crate) fn pairing(&self) -> Pairing {
        self.pairing
    }

    #[inline]
    pub(crate) fn facts(&self, row: u32) -> ByteFacts {
        self.facts[row as usize]
    }

    /// Squared distance of two rows.
    #[inline]
    pub(crate) fn between(&self, a: u32, b: u32) -> f32 {
        let product = self.kernels.i8().dot(self.row(a), self.row(b));
        self.finish(product, self.facts(a), self.facts(b))
    }

    /// Squared distances of a row to others.
    #[inline]
    pub(crate) fn measure(&self, centre: u32, rows: &[u32], distances: &mut [f32]) {
        self.kernels
            .i8()
            .dot_picked(self.row(centre), &self.rows, rows, distances);
        let own = self.facts(centre);
        for (&row, distance) in rows.iter().zip(distances) {
            *distance = self.finish(*distance, own, self.facts(row));
        }
    }

    #[inline]
    pub(crate) fn prefetch(&self, row: u32) {
        prefetch_span(&self.rows, row as usize * self.dimension, self.dimension);
        prefetch(&self.facts, row as usize);
    }

    #[inline]
    fn finish(&self, product: f32, a: ByteFacts, b: ByteFacts) -> f32 {
        a.own + b.own - self.pairing.weight() * a.step * b.step * product
    }
}
