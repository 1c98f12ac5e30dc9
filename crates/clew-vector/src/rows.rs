//! Stored vectors seen through a space: the one place where a kernel's answer becomes a distance.
//!
//! [`Probe`] is the seam to the graph: a walk knows only rows and distances, so that a probe over
//! quantized codes can stand in for the one over full vectors.

use clew_kernels::{Kernels, prefetch, prefetch_span};

/// A hint asks for the first cache lines of a row; of longer ones, the CPU itself sees the rest coming.
const PREFETCH_NUMBERS_MAX: usize = 1_024;

/// A query bound to stored points.
pub(crate) trait Probe {
    /// Distance of the query to each of `rows`, all of which must exist.
    fn measure(&self, rows: &[u32], distances: &mut [f32]);
    /// Asks for the memory that measuring `row` will read.
    fn prefetch(&self, row: u32);
}

/// Full vectors, one after the other.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rows<'a> {
    pub(crate) values: &'a [f32],
    pub(crate) dimension: usize,
    pub(crate) geometry: Geometry<'a>,
    pub(crate) kernels: &'static Kernels,
}

/// What a distance is made of.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Geometry<'a> {
    /// Squared Euclidean distance.
    Euclidean,
    /// One minus the cosine; one over each row's length is kept beside the vectors.
    Angle { inverse_norms: &'a [f32] },
    /// The inner product, negated.
    Product,
}

impl<'a> Rows<'a> {
    pub(crate) fn count(&self) -> usize {
        self.values.len() / self.dimension
    }

    pub(crate) fn row(&self, row: u32) -> &'a [f32] {
        &self.values[row as usize * self.dimension..][..self.dimension]
    }

    /// The probe of a stored row.
    pub(crate) fn probe_row(self, row: u32) -> RowProbe<'a> {
        let own = match self.geometry {
            Geometry::Euclidean | Geometry::Product => 0.0,
            Geometry::Angle { inverse_norms } => inverse_norms[row as usize],
        };
        RowProbe {
            rows: self,
            query: self.row(row),
            own,
        }
    }

    /// Distance of two stored rows.
    #[inline]
    pub(crate) fn between(&self, a: u32, b: u32) -> f32 {
        let (x, y, kernels) = (self.row(a), self.row(b), self.kernels);
        let (a, b) = (a as usize, b as usize);
        match self.geometry {
            Geometry::Euclidean => kernels.f32().l2(x, y),
            Geometry::Angle { inverse_norms } => {
                angle(kernels.f32().dot(x, y), inverse_norms[a] * inverse_norms[b])
            }
            Geometry::Product => -kernels.f32().dot(x, y),
        }
    }

    /// Asks for the memory of one row.
    #[inline]
    pub(crate) fn prefetch(&self, row: u32) {
        let start = row as usize * self.dimension;
        prefetch_span(self.values, start, self.dimension.min(PREFETCH_NUMBERS_MAX));
        match self.geometry {
            Geometry::Euclidean | Geometry::Product => {}
            Geometry::Angle { inverse_norms } => prefetch(inverse_norms, row as usize),
        }
    }
}

/// `1 - cos`, kept from rounding below zero, where equal directions would be ordered by noise.
#[inline]
fn angle(dot: f32, scale: f32) -> f32 {
    (1.0 - dot * scale).max(0.0)
}

/// A query bound to full vectors.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowProbe<'a> {
    pub(crate) rows: Rows<'a>,
    pub(crate) query: &'a [f32],
    /// One over the query's own length, where the geometry needs it.
    pub(crate) own: f32,
}

impl RowProbe<'_> {
    /// Distances to the consecutive rows from `first`, as many as `distances` is long.
    pub(crate) fn measure_block(&self, first: usize, distances: &mut [f32]) {
        let (rows, count) = (&self.rows, distances.len());
        let block = &rows.values[first * rows.dimension..(first + count) * rows.dimension];
        match rows.geometry {
            Geometry::Euclidean => rows.kernels.f32().l2_rows(self.query, block, distances),
            Geometry::Angle { .. } | Geometry::Product => {
                rows.kernels.f32().dot_rows(self.query, block, distances);
            }
        }
        for (offset, distance) in distances.iter_mut().enumerate() {
            *distance = self.finish(*distance, first + offset);
        }
    }

    /// Turns the kernel's answer for `row` into a distance.
    #[inline]
    fn finish(&self, raw: f32, row: usize) -> f32 {
        match self.rows.geometry {
            Geometry::Euclidean => raw,
            Geometry::Angle { inverse_norms } => angle(raw, self.own * inverse_norms[row]),
            Geometry::Product => -raw,
        }
    }
}

impl Probe for RowProbe<'_> {
    #[inline]
    fn measure(&self, picks: &[u32], distances: &mut [f32]) {
        let rows = &self.rows;
        match rows.geometry {
            Geometry::Euclidean => {
                return rows
                    .kernels
                    .f32()
                    .l2_picked(self.query, rows.values, picks, distances);
            }
            Geometry::Angle { .. } | Geometry::Product => {
                rows.kernels
                    .f32()
                    .dot_picked(self.query, rows.values, picks, distances);
            }
        }
        for (&pick, distance) in picks.iter().zip(distances) {
            *distance = self.finish(*distance, pick as usize);
        }
    }

    #[inline]
    fn prefetch(&self, row: u32) {
        self.rows.prefetch(row);
    }
}
