//! Stored vectors seen through a space: the one place where a kernel's answer becomes a distance.
//!
//! [`Probe`] is the seam to the graph: a walk knows only rows and distances, so that a probe over
//! quantized codes can stand in for the one over full vectors.

use clew_kernels::{Distances, Kernels, prefetch, prefetch_span};

use crate::element::{Element, Values, whole};
use crate::space::Space;

/// A hint asks for the first cache lines of a row; of longer ones, the CPU itself sees the rest coming.
const PREFETCH_BYTES_MAX: usize = 4_096;

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
    pub(crate) values: Values<'a>,
    pub(crate) bytes: &'a [u8],
    /// Bytes of a row.
    pub(crate) pitch: usize,
    /// Numbers of a row.
    pub(crate) numbers: usize,
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
    /// Bits that differ.
    Hamming,
    /// Share of the set bits that are not common to both.
    Jaccard,
    /// Share of slots of 8 bits that differ.
    Slots8,
    /// Share of slots of 32 bits that differ.
    Slots32,
    /// Share of slots of 64 bits that differ.
    Slots64,
}

impl<'a> Geometry<'a> {
    /// The geometry of a space; `inverse_norms` are only looked at for [`Space::Cosine`].
    pub(crate) fn new(space: Space, inverse_norms: &'a [f32]) -> Self {
        match space {
            Space::L2 => Geometry::Euclidean,
            Space::Cosine => Geometry::Angle { inverse_norms },
            Space::InnerProduct => Geometry::Product,
            Space::Hamming => Geometry::Hamming,
            Space::Jaccard => Geometry::Jaccard,
            Space::MinHash8 => Geometry::Slots8,
            Space::MinHash32 => Geometry::Slots32,
            Space::MinHash64 => Geometry::Slots64,
        }
    }
}

/// A query in the form that stored numbers are compared with.
#[derive(Debug, Clone)]
pub(crate) enum StoredQuery<'a> {
    Floats(&'a [f32]),
    Bytes(Vec<i8>),
    Bits(Vec<u8>),
}

impl<'a> StoredQuery<'a> {
    /// Takes a vector that [`Element::check`] has let through.
    pub(crate) fn new(element: Element, vector: &'a [f32]) -> Self {
        let numbers = vector.iter().map(|&value| whole(value));
        match element {
            Element::F32 | Element::F16 | Element::Bf16 => StoredQuery::Floats(vector),
            Element::I8 => StoredQuery::Bytes(numbers.collect()),
            Element::Bit => StoredQuery::Bits(numbers.map(i8::cast_unsigned).collect()),
        }
    }

    pub(crate) fn numbers(&self) -> Numbers<'_> {
        match self {
            StoredQuery::Floats(numbers) => Numbers::Floats(numbers),
            StoredQuery::Bytes(numbers) => Numbers::Bytes(numbers),
            StoredQuery::Bits(numbers) => Numbers::Bits(numbers),
        }
    }
}

/// A borrowed [`StoredQuery`], or a row.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Numbers<'a> {
    Floats(&'a [f32]),
    Bytes(&'a [i8]),
    Bits(&'a [u8]),
}

impl<'a> Rows<'a> {
    pub(crate) fn count(&self) -> usize {
        self.bytes.len() / self.pitch
    }

    /// A row as it is stored.
    pub(crate) fn row_bytes(&self, row: u32) -> &'a [u8] {
        &self.bytes[row as usize * self.pitch..][..self.pitch]
    }

    /// A row as `f32`, through `buffer` if need be, which is as long as the row.
    #[inline]
    pub(crate) fn floats<'b>(&self, row: u32, buffer: &'b mut [f32]) -> &'b [f32]
    where
        'a: 'b,
    {
        self.values.floats(row as usize * self.numbers, buffer)
    }

    /// The probe of a stored row, whose numbers as `f32` are `floats`.
    pub(crate) fn probe_row<'b>(&self, row: u32, floats: &'b [f32]) -> RowProbe<'b>
    where
        'a: 'b,
    {
        let span = row as usize * self.numbers..(row as usize + 1) * self.numbers;
        let query = match self.values {
            Values::F32(_) | Values::F16(_) | Values::Bf16(_) => Numbers::Floats(floats),
            Values::I8(values) => Numbers::Bytes(&values[span]),
            Values::Bit(values) => Numbers::Bits(&values[span]),
        };
        RowProbe {
            rows: *self,
            query,
            own: self.scale(row),
        }
    }

    /// What a row is multiplied with before it is compared.
    pub(crate) fn scale(&self, row: u32) -> f32 {
        match self.geometry {
            Geometry::Angle { inverse_norms } => inverse_norms[row as usize],
            _ => 1.0,
        }
    }

    /// What estimates of a row's distances lack that take it for one of length 1; see [`lacking`].
    pub(crate) fn lacking(&self, row: u32) -> f32 {
        match self.geometry {
            Geometry::Angle { .. } => lacking(Space::Cosine, self.scale(row)),
            _ => 0.0,
        }
    }

    /// Asks for the memory of one row.
    #[inline]
    pub(crate) fn prefetch(&self, row: u32) {
        let start = row as usize * self.pitch;
        prefetch_span(self.bytes, start, self.pitch.min(PREFETCH_BYTES_MAX));
        if let Geometry::Angle { inverse_norms } = self.geometry {
            prefetch(inverse_norms, row as usize);
        }
    }
}

/// Codes estimate `1 - cos` as half the squared distance of vectors of length 1. That of one without a
/// direction, which is scaled by 0, comes out half too small.
pub(crate) fn lacking(space: Space, scale: f32) -> f32 {
    match space {
        Space::Cosine if scale <= 0.0 => 0.5,
        _ => 0.0,
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
    /// In the form of the rows.
    pub(crate) query: Numbers<'a>,
    /// One over the query's own length, where the geometry needs it; else one.
    pub(crate) own: f32,
}

/// The share of slots of so many bytes in which each of some rows differs from a query.
fn differing_slots<const BYTES: usize>(
    (query, values): (&[u8], &[u8]),
    which: Which<'_>,
    out: &mut [f32],
) {
    let slots = query.as_chunks::<BYTES>().0;
    for (place, distance) in out.iter_mut().enumerate() {
        let row = match which {
            Which::Picked(picks) => picks[place] as usize,
            Which::From(first) => first + place,
        };
        let row = values[row * query.len()..][..query.len()]
            .as_chunks::<BYTES>()
            .0;
        let common = slots.iter().zip(row).filter(|(own, other)| own == other);
        *distance = 1.0 - common.count() as f32 / slots.len() as f32;
    }
}

/// Which rows to measure.
#[derive(Debug, Clone, Copy)]
enum Which<'p> {
    Picked(&'p [u32]),
    /// Consecutive rows from this one.
    From(usize),
}

impl RowProbe<'_> {
    /// Distances to the consecutive rows from `first`, as many as `distances` is long.
    pub(crate) fn measure_block(&self, first: usize, distances: &mut [f32]) {
        self.run(Which::From(first), distances);
        for (offset, distance) in distances.iter_mut().enumerate() {
            *distance = self.finish(*distance, first + offset);
        }
    }

    /// The kernels' answers.
    #[inline]
    fn run(&self, which: Which<'_>, out: &mut [f32]) {
        let kernels = self.rows.kernels;
        match (self.rows.values, self.query) {
            (Values::F32(values), Numbers::Floats(query)) => {
                self.run_on(kernels.f32(), (query, values), which, out);
            }
            (Values::F16(values), Numbers::Floats(query)) => {
                self.run_on(kernels.f16(), (query, values), which, out);
            }
            (Values::Bf16(values), Numbers::Floats(query)) => {
                self.run_on(kernels.bf16(), (query, values), which, out);
            }
            (Values::I8(values), Numbers::Bytes(query)) => {
                self.run_on(kernels.i8(), (query, values), which, out);
            }
            (Values::Bit(values), Numbers::Bits(query)) => {
                self.run_on_bits((query, values), which, out);
            }
            _ => unreachable!("a query is made in the form of the rows"),
        }
    }

    #[inline]
    fn run_on<Q, T>(
        &self,
        distances: &Distances<Q, T>,
        (query, values): (&[Q], &[T]),
        which: Which<'_>,
        out: &mut [f32],
    ) {
        let euclidean = matches!(self.rows.geometry, Geometry::Euclidean);
        match which {
            Which::Picked(picks) if euclidean => distances.l2_picked(query, values, picks, out),
            Which::Picked(picks) => distances.dot_picked(query, values, picks, out),
            Which::From(first) => {
                let block = &values[first * query.len()..(first + out.len()) * query.len()];
                if euclidean {
                    distances.l2_rows(query, block, out);
                } else {
                    distances.dot_rows(query, block, out);
                }
            }
        }
    }

    fn run_on_bits(&self, (query, values): (&[u8], &[u8]), which: Which<'_>, out: &mut [f32]) {
        match self.rows.geometry {
            Geometry::Slots8 => return differing_slots::<1>((query, values), which, out),
            Geometry::Slots32 => return differing_slots::<4>((query, values), which, out),
            Geometry::Slots64 => return differing_slots::<8>((query, values), which, out),
            _ => {}
        }
        let bits = self.rows.kernels.bits();
        let hamming = matches!(self.rows.geometry, Geometry::Hamming);
        match which {
            Which::Picked(picks) if hamming => bits.hamming_picked(query, values, picks, out),
            Which::Picked(picks) => bits.jaccard_picked(query, values, picks, out),
            Which::From(first) => {
                let block = &values[first * query.len()..(first + out.len()) * query.len()];
                if hamming {
                    bits.hamming_rows(query, block, out);
                } else {
                    bits.jaccard_rows(query, block, out);
                }
            }
        }
    }

    /// Turns the kernel's answer for `row` into a distance.
    #[inline]
    fn finish(&self, raw: f32, row: usize) -> f32 {
        match self.rows.geometry {
            Geometry::Euclidean
            | Geometry::Hamming
            | Geometry::Jaccard
            | Geometry::Slots8
            | Geometry::Slots32
            | Geometry::Slots64 => raw,
            Geometry::Angle { inverse_norms } => angle(raw, self.own * inverse_norms[row]),
            Geometry::Product => -raw,
        }
    }
}

impl Probe for RowProbe<'_> {
    #[inline]
    fn measure(&self, picks: &[u32], distances: &mut [f32]) {
        self.run(Which::Picked(picks), distances);
        for (&pick, distance) in picks.iter().zip(distances) {
            *distance = self.finish(*distance, pick as usize);
        }
    }

    #[inline]
    fn prefetch(&self, row: u32) {
        self.rows.prefetch(row);
    }
}
