//! What a builder measures by: codes, or the vectors themselves where those are hardly larger.

use crate::codes::{BitCodes, BitProbe, ByteCodes, Pairing};
use crate::element::Values;
use crate::rank::Ranked;
use crate::rows::{Probe, Rows};

/// Vectors of more numbers than this are walked by codes; shorter ones hardly take more memory than
/// their codes, and estimates of few dimensions are poor.
pub(crate) const UNCODED_DIMENSION_MAX: usize = 64;

/// Distances between the rows of a column, all of one geometry.
pub(crate) trait Metric: Sync {
    /// A row in the form that a walk measures by; kept to be used again.
    type Query: Default;

    fn row_count(&self) -> usize;
    fn load(&self, row: u32, query: &mut Self::Query);
    fn probe<'a>(&'a self, query: &'a Self::Query) -> impl Probe + 'a;
    /// Distances between rows as neighbours are chosen by; at least as exact as the probe's.
    fn measure(&self, centre: u32, rows: &[u32], distances: &mut [f32]);
    fn between(&self, a: u32, b: u32) -> f32;
    fn prefetch(&self, row: u32);
    /// Measures the finds of a walk again, if the probe's distances are too coarse to choose by.
    fn refine(&self, row: u32, found: &mut Vec<Ranked>, buffers: &mut Refine);
    /// How much nearer a neighbour has to be to put a candidate in its shadow; see `select`.
    fn relaxation(&self) -> f32;
}

/// Memory for [`Metric::refine`].
#[derive(Debug, Default)]
pub(crate) struct Refine {
    rows: Vec<u32>,
    distances: Vec<f32>,
}

/// Walks by one bit per dimension, chooses by one byte.
#[derive(Debug)]
pub(crate) struct Coded {
    pub(crate) bits: BitCodes,
    pub(crate) bytes: ByteCodes,
    pub(crate) row_count: usize,
    pub(crate) kernels: &'static clew_kernels::Kernels,
}

/// A row's bytes, filled up to whole bytes of bits, and what its estimates need.
#[derive(Debug, Default)]
pub(crate) struct CodedQuery {
    numbers: Vec<i8>,
    sum: f32,
    row: u32,
}

impl Metric for Coded {
    type Query = CodedQuery;

    fn row_count(&self) -> usize {
        self.row_count
    }

    fn load(&self, row: u32, query: &mut CodedQuery) {
        query.row = row;
        query.numbers.clear();
        query.numbers.extend_from_slice(self.bytes.row(row));
        let sum: i32 = query.numbers.iter().map(|&number| i32::from(number)).sum();
        query.sum = sum as f32;
        let whole = query.numbers.len().next_multiple_of(8);
        query.numbers.resize(whole, 0);
    }

    fn probe<'a>(&'a self, query: &'a CodedQuery) -> impl Probe + 'a {
        let facts = self.bytes.facts(query.row);
        BitProbe {
            codes: &self.bits,
            query: &query.numbers,
            step: facts.step,
            sum: query.sum,
            own: facts.own,
            kernels: self.kernels,
        }
    }

    fn measure(&self, centre: u32, rows: &[u32], distances: &mut [f32]) {
        self.bytes.measure(centre, rows, distances);
    }

    #[inline]
    fn between(&self, a: u32, b: u32) -> f32 {
        self.bytes.between(a, b)
    }

    #[inline]
    fn prefetch(&self, row: u32) {
        self.bytes.prefetch(row);
    }

    fn refine(&self, row: u32, found: &mut Vec<Ranked>, buffers: &mut Refine) {
        let Refine { rows, distances } = buffers;
        rows.clear();
        rows.extend(found.iter().map(|one| one.row()));
        rows.iter().for_each(|&row| self.prefetch(row));
        distances.resize(rows.len(), 0.0);
        self.measure(row, rows, distances);
        found.clear();
        let pairs = rows.iter().zip(&*distances);
        found.extend(pairs.map(|(&row, &distance)| Ranked::new(distance, row)));
        found.sort_unstable();
    }

    /// Inner products may be negative, which no factor relaxes.
    fn relaxation(&self) -> f32 {
        match self.bytes.pairing() {
            Pairing::Distance => 1.1,
            Pairing::Product => 1.0,
        }
    }
}

/// Walks and chooses by the vectors themselves: bits, or vectors of no more than
/// [`UNCODED_DIMENSION_MAX`] dimensions.
#[derive(Debug)]
pub(crate) struct Exact<'a> {
    pub(crate) rows: Rows<'a>,
}

/// A row, and its numbers as `f32`.
#[derive(Debug, Default)]
pub(crate) struct ExactQuery {
    row: u32,
    floats: Vec<f32>,
}

/// Room for a row as `f32`, where the kernels need it so.
type ShortRow = [f32; UNCODED_DIMENSION_MAX];

impl Exact<'_> {
    fn floats<'b>(&'b self, row: u32, buffer: &'b mut ShortRow) -> &'b [f32] {
        match self.rows.values {
            Values::I8(_) | Values::Bit(_) => &[],
            _ => self.rows.floats(row, &mut buffer[..self.rows.numbers]),
        }
    }
}

impl Metric for Exact<'_> {
    type Query = ExactQuery;

    fn row_count(&self) -> usize {
        self.rows.count()
    }

    fn load(&self, row: u32, query: &mut ExactQuery) {
        query.row = row;
        query.floats.clear();
        query
            .floats
            .extend_from_slice(self.floats(row, &mut [0.0; UNCODED_DIMENSION_MAX]));
    }

    fn probe<'a>(&'a self, query: &'a ExactQuery) -> impl Probe + 'a {
        self.rows.probe_row(query.row, &query.floats)
    }

    fn measure(&self, centre: u32, rows: &[u32], distances: &mut [f32]) {
        let mut buffer = [0.0; UNCODED_DIMENSION_MAX];
        let floats = self.floats(centre, &mut buffer);
        self.rows.probe_row(centre, floats).measure(rows, distances);
    }

    #[inline]
    fn between(&self, a: u32, b: u32) -> f32 {
        let mut distance = [0.0];
        self.measure(a, &[b], &mut distance);
        distance[0]
    }

    #[inline]
    fn prefetch(&self, row: u32) {
        self.rows.prefetch(row);
    }

    fn refine(&self, _row: u32, _found: &mut Vec<Ranked>, _buffers: &mut Refine) {}

    /// Inner products may be negative, which no factor relaxes.
    fn relaxation(&self) -> f32 {
        1.0
    }
}
