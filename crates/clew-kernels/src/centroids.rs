//! Plain loops over codes of few bits: which of sixteen centroids is nearest to a part of a vector, and what a query makes
//! of each. Sixteen numbers are one register of the widest instruction set; the loops are written once and compiled again
//! under every one, as those of [`crate::plain`] are.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{
    _mm512_loadu_ps, _mm512_loadu_si512, _mm512_reduce_max_ps, _mm512_reduce_min_epu32,
    _mm512_reduce_min_ps,
};

/// Centroids of a part: a code has four bits.
pub(crate) const CENTROIDS: usize = 16;
/// Dimensions of the parts that most codes have.
const PAIR: usize = 2;
/// Adding this number rounds to the nearest whole number, which its low bits then are.
const ROUND: f32 = 12_582_912.0;
const ROUND_BITS: u32 = ROUND.to_bits();

/// What the products of a query with all centroids span: the table of a part from its least to its greatest.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ProductSpans {
    /// The greatest span of a part.
    pub greatest: f32,
    /// All spans together.
    pub sum: f32,
    /// The least of each part, added up.
    pub least: f32,
}

/// The least or greatest of all lanes, by whatever the instruction set has for that.
trait Lanes {
    fn least(lanes: &[f32; CENTROIDS]) -> f32;
    fn greatest(lanes: &[f32; CENTROIDS]) -> f32;
    fn least_key(lanes: &[u32; CENTROIDS]) -> u32;
}

/// One half with the other, again and again.
struct Halves;

#[inline(always)]
fn reduce<T: Copy>(lanes: &[T; CENTROIDS], pick: impl Fn(T, T) -> T) -> T {
    let mut lanes = *lanes;
    for half in [8, 4, 2, 1] {
        for at in 0..half {
            lanes[at] = pick(lanes[at], lanes[at + half]);
        }
    }
    lanes[0]
}

impl Lanes for Halves {
    #[inline(always)]
    fn least(lanes: &[f32; CENTROIDS]) -> f32 {
        reduce(lanes, |a, b| if b < a { b } else { a })
    }

    #[inline(always)]
    fn greatest(lanes: &[f32; CENTROIDS]) -> f32 {
        reduce(lanes, |a, b| if b > a { b } else { a })
    }

    #[inline(always)]
    fn least_key(lanes: &[u32; CENTROIDS]) -> u32 {
        reduce(lanes, u32::min)
    }
}

#[inline(always)]
#[allow(clippy::cast_possible_truncation, reason = "a lane is less than 16")]
fn nearest_in<L: Lanes>(part: &[f32], book: &[[f32; CENTROIDS]]) -> u8 {
    let mut distances = [0.0_f32; CENTROIDS];
    for (value, entries) in part.iter().zip(book) {
        for (distance, entry) in distances.iter_mut().zip(entries) {
            let gap = value - entry;
            *distance += gap * gap;
        }
    }
    // Positive numbers are ordered as their bits are, of which the last tell the lane.
    let mut keys = [0_u32; CENTROIDS];
    for (lane, (key, distance)) in (0_u32..).zip(keys.iter_mut().zip(&distances)) {
        *key = distance.to_bits() & !15 | lane;
    }
    (L::least_key(&keys) & 15) as u8
}

#[inline(always)]
fn nearest_plain<L: Lanes>(
    vector: &[f32],
    book: &[[f32; CENTROIDS]],
    part: usize,
    codes: &mut [u8],
) {
    // Every part has its own code, and every number its own centroids.
    assert!(vector.len() == book.len() && codes.len() == vector.len().div_ceil(part));
    if part == PAIR && vector.len().is_multiple_of(PAIR) {
        let (parts, books) = (vector.as_chunks::<PAIR>().0, book.as_chunks::<PAIR>().0);
        for (code, (part, book)) in codes.iter_mut().zip(parts.iter().zip(books)) {
            *code = nearest_in::<L>(part, book);
        }
        return;
    }
    let parts = vector.chunks(part).zip(book.chunks(part));
    for (code, (part, book)) in codes.iter_mut().zip(parts) {
        *code = nearest_in::<L>(part, book);
    }
}

/// The products of one part; answers the least and the greatest.
#[inline(always)]
fn products_of<L: Lanes>(
    part: &[f32],
    book: &[[f32; CENTROIDS]],
    table: &mut [f32; CENTROIDS],
) -> (f32, f32) {
    let mut products = [0.0_f32; CENTROIDS];
    for (value, entries) in part.iter().zip(book) {
        for (product, entry) in products.iter_mut().zip(entries) {
            *product += value * entry;
        }
    }
    let (least, most) = (L::least(&products), L::greatest(&products));
    for (entry, product) in table.iter_mut().zip(products) {
        *entry = product - least;
    }
    (least, most)
}

#[inline(always)]
fn products_plain<L: Lanes>(
    vector: &[f32],
    book: &[[f32; CENTROIDS]],
    part: usize,
    tables: &mut [[f32; CENTROIDS]],
) -> ProductSpans {
    assert!(vector.len() == book.len() && tables.len() == vector.len().div_ceil(part));
    let mut spans = ProductSpans::default();
    let mut add = |(least, most): (f32, f32)| {
        let span = most - least;
        spans.greatest = if span > spans.greatest {
            span
        } else {
            spans.greatest
        };
        spans.sum += span;
        spans.least += least;
    };
    if part == PAIR && vector.len().is_multiple_of(PAIR) {
        let (parts, books) = (vector.as_chunks::<PAIR>().0, book.as_chunks::<PAIR>().0);
        for (table, (part, book)) in tables.iter_mut().zip(parts.iter().zip(books)) {
            add(products_of::<L>(part, book, table));
        }
        return spans;
    }
    let parts = vector.chunks(part).zip(book.chunks(part));
    for (table, (part, book)) in tables.iter_mut().zip(parts) {
        add(products_of::<L>(part, book, table));
    }
    spans
}

#[inline(always)]
#[allow(
    clippy::cast_possible_truncation,
    reason = "the value was brought within a byte"
)]
fn steps_plain(tables: &[[f32; CENTROIDS]], inverse_step: f32, entries: &mut [u8]) {
    let (entries, _) = entries.as_chunks_mut::<CENTROIDS>();
    // Every table has its own entries.
    assert!(entries.len() >= tables.len());
    for (entries, table) in entries.iter_mut().zip(tables) {
        for (entry, value) in entries.iter_mut().zip(table) {
            let rounded = (value * inverse_step).clamp(0.0, 255.0) + ROUND;
            *entry = rounded.to_bits().wrapping_sub(ROUND_BITS) as u8;
        }
    }
}

type Nearest = fn(&[f32], &[[f32; CENTROIDS]], usize, &mut [u8]);
type Products = fn(&[f32], &[[f32; CENTROIDS]], usize, &mut [[f32; CENTROIDS]]) -> ProductSpans;

/// See the methods of [`Kernels`](crate::Kernels), which are the documentation of each entry.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CentroidTable {
    pub(crate) nearest: Nearest,
    pub(crate) products: Products,
    pub(crate) steps: fn(&[[f32; CENTROIDS]], f32, &mut [u8]),
}

pub(crate) const SCALAR: CentroidTable = CentroidTable {
    nearest: |vector, book, part, codes| nearest_plain::<Halves>(vector, book, part, codes),
    products: |vector, book, part, tables| products_plain::<Halves>(vector, book, part, tables),
    steps: |tables, inverse_step, entries| steps_plain(tables, inverse_step, entries),
};

/// All lanes are one register.
#[cfg(target_arch = "x86_64")]
struct Registers;

#[cfg(target_arch = "x86_64")]
impl Lanes for Registers {
    #[inline(always)]
    fn least(lanes: &[f32; CENTROIDS]) -> f32 {
        // SAFETY: only the table of AVX-512 is compiled with this, and an array is as long as a register.
        let lanes = unsafe { _mm512_loadu_ps(lanes.as_ptr()) };
        // SAFETY: as above.
        unsafe { _mm512_reduce_min_ps(lanes) }
    }

    #[inline(always)]
    fn greatest(lanes: &[f32; CENTROIDS]) -> f32 {
        // SAFETY: as above.
        let lanes = unsafe { _mm512_loadu_ps(lanes.as_ptr()) };
        // SAFETY: as above.
        unsafe { _mm512_reduce_max_ps(lanes) }
    }

    #[inline(always)]
    fn least_key(lanes: &[u32; CENTROIDS]) -> u32 {
        // SAFETY: as above.
        let lanes = unsafe { _mm512_loadu_si512(lanes.as_ptr().cast()) };
        // SAFETY: as above.
        unsafe { _mm512_reduce_min_epu32(lanes) }
    }
}

/// Compiles the loops under the features of one instruction set.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! detected_centroids {
    ($table:ident, $module:ident, $lanes:path, $features:literal) => {
        mod $module {
            use super::{CENTROIDS, ProductSpans};

            #[target_feature(enable = $features)]
            pub(super) fn nearest(
                vector: &[f32],
                book: &[[f32; CENTROIDS]],
                part: usize,
                codes: &mut [u8],
            ) {
                super::nearest_plain::<$lanes>(vector, book, part, codes);
            }

            #[target_feature(enable = $features)]
            pub(super) fn products(
                vector: &[f32],
                book: &[[f32; CENTROIDS]],
                part: usize,
                tables: &mut [[f32; CENTROIDS]],
            ) -> ProductSpans {
                super::products_plain::<$lanes>(vector, book, part, tables)
            }

            #[target_feature(enable = $features)]
            pub(super) fn steps(
                tables: &[[f32; CENTROIDS]],
                inverse_step: f32,
                entries: &mut [u8],
            ) {
                super::steps_plain(tables, inverse_step, entries);
            }
        }

        pub(crate) const $table: CentroidTable = CentroidTable {
            // SAFETY: whoever takes this table has just detected its features.
            nearest: |vector, book, part, codes| unsafe {
                $module::nearest(vector, book, part, codes);
            },
            // SAFETY: as above.
            products: |vector, book, part, tables| unsafe {
                $module::products(vector, book, part, tables)
            },
            // SAFETY: as above.
            steps: |tables, inverse_step, entries| unsafe {
                $module::steps(tables, inverse_step, entries);
            },
        };
    };
}

#[cfg(target_arch = "x86_64")]
detected_centroids!(AVX2, avx2, super::Halves, "avx2,fma");
#[cfg(target_arch = "x86_64")]
detected_centroids!(
    AVX512,
    avx512,
    super::Registers,
    "avx512f,avx512bw,avx512vl,avx512dq"
);
#[cfg(target_arch = "aarch64")]
detected_centroids!(NEON, neon, super::Halves, "neon");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::available;

    fn numbers(count: usize, seed: u32) -> Vec<f32> {
        let mut state = seed;
        std::iter::repeat_with(|| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f32::from(u16::try_from(state >> 16).unwrap()) / 65_536.0 - 0.5
        })
        .take(count)
        .collect()
    }

    #[test]
    fn every_instruction_set_finds_the_nearest_and_the_products() {
        for (dimension, part) in [(1, 1), (7, 2), (64, 2), (100, 4), (33, 4)] {
            let vector = numbers(dimension, 1);
            let book: Vec<[f32; CENTROIDS]> = numbers(dimension * CENTROIDS, 2)
                .as_chunks::<CENTROIDS>()
                .0
                .to_vec();
            let parts = dimension.div_ceil(part);
            for kernels in available() {
                let mut codes = vec![0; parts];
                kernels.nearest_centroids(&vector, (&book, part), &mut codes);
                let mut tables = vec![[0.0; CENTROIDS]; parts];
                let spans = kernels.centroid_products(&vector, (&book, part), &mut tables);
                let mut sums = (0.0, 0.0);
                let each = vector.chunks(part).zip(book.chunks(part));
                for ((part, book), (&code, table)) in each.zip(codes.iter().zip(&tables)) {
                    let of = |lane: usize, f: &dyn Fn(f32, f32) -> f32| -> f32 {
                        part.iter()
                            .zip(book)
                            .map(|(x, entries)| f(*x, entries[lane]))
                            .sum()
                    };
                    let gap = |lane| of(lane, &|x, c| (x - c) * (x - c));
                    let least = (0..CENTROIDS).map(gap).fold(f32::INFINITY, f32::min);
                    let found = gap(usize::from(code));
                    assert!(
                        found <= least * 1.000_01 + 1e-12,
                        "{} {dimension}",
                        kernels.isa()
                    );
                    let products: Vec<f32> =
                        (0..CENTROIDS).map(|lane| of(lane, &|x, c| x * c)).collect();
                    let low = products.iter().copied().fold(f32::INFINITY, f32::min);
                    let high = products.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                    for (entry, product) in table.iter().zip(&products) {
                        assert!((entry - (product - low)).abs() < 1e-5, "{}", kernels.isa());
                    }
                    sums = (sums.0 + (high - low), sums.1 + low);
                }
                assert!((spans.sum - sums.0).abs() < 1e-4 && (spans.least - sums.1).abs() < 1e-4);
                assert!(spans.greatest <= spans.sum && spans.greatest > 0.0);
                let mut entries = vec![7_u8; parts * CENTROIDS + 3];
                kernels.table_steps(&tables, 255.0 / spans.greatest, &mut entries);
                for (entry, value) in entries.iter().zip(tables.as_flattened()) {
                    let wanted = value * 255.0 / spans.greatest;
                    assert!(
                        (f32::from(*entry) - wanted).abs() <= 0.501,
                        "{}",
                        kernels.isa()
                    );
                }
                assert_eq!(
                    entries[parts * CENTROIDS..],
                    [7; 3],
                    "what is behind is left alone"
                );
            }
        }
    }
}
