//! The choice of instruction set: one table of function pointers per set, detected once.

use std::sync::OnceLock;

use crate::codes::{self, CodeTable};
use crate::scalar;

/// The distance functions of one instruction set.
///
/// Every function asserts that its slices fit together. Sums are kept in `f32`, in an order that
/// differs between instruction sets; results agree within rounding, not to the bit.
#[derive(Debug, Clone, Copy)]
pub struct Kernels {
    isa: &'static str,
    dot: Pair,
    l2: Pair,
    dot_rows: Rows,
    l2_rows: Rows,
    dot_picked: Picked,
    l2_picked: Picked,
    pub(crate) codes: CodeTable,
}

type Pair = fn(&[f32], &[f32]) -> f32;
type Rows = fn(&[f32], &[f32], &mut [f32]);
type Picked = fn(&[f32], &[f32], &[u32], &mut [f32]);

impl Kernels {
    /// Name of the instruction set: `scalar`, `avx2`, `avx512` (which includes VNNI) or `neon`.
    pub fn isa(&self) -> &'static str {
        self.isa
    }

    /// Dot product of two vectors of the same length.
    #[inline]
    pub fn dot(&self, a: &[f32], b: &[f32]) -> f32 {
        (self.dot)(a, b)
    }

    /// Squared Euclidean distance of two vectors of the same length.
    #[inline]
    pub fn l2(&self, a: &[f32], b: &[f32]) -> f32 {
        (self.l2)(a, b)
    }

    /// Dot product of `query` with each row of a block: `rows` holds `out.len()` vectors of
    /// `query.len()` numbers, one after the other.
    #[inline]
    pub fn dot_rows(&self, query: &[f32], rows: &[f32], out: &mut [f32]) {
        (self.dot_rows)(query, rows, out);
    }

    /// Squared Euclidean distance of `query` to each row of a block, as in [`Kernels::dot_rows`].
    #[inline]
    pub fn l2_rows(&self, query: &[f32], rows: &[f32], out: &mut [f32]) {
        (self.l2_rows)(query, rows, out);
    }

    /// Dot product of `query` with the rows numbered `picks`; `out` is as long as `picks`.
    ///
    /// Panics when a pick lies outside `rows`.
    #[inline]
    pub fn dot_picked(&self, query: &[f32], rows: &[f32], picks: &[u32], out: &mut [f32]) {
        (self.dot_picked)(query, rows, picks, out);
    }

    /// Squared Euclidean distance of `query` to the rows numbered `picks`, as in
    /// [`Kernels::dot_picked`].
    #[inline]
    pub fn l2_picked(&self, query: &[f32], rows: &[f32], picks: &[u32], out: &mut [f32]) {
        (self.l2_picked)(query, rows, picks, out);
    }
}

/// The best table of this CPU, detected at the first call. The environment variable `CLEW_ISA` may
/// ask for a narrower one by name, to measure or to rule out an instruction set.
#[inline]
pub fn kernels() -> &'static Kernels {
    static CHOSEN: OnceLock<Kernels> = OnceLock::new();
    CHOSEN.get_or_init(|| {
        let mut tables = available();
        if let Ok(wanted) = std::env::var("CLEW_ISA")
            && let Some(at) = tables.iter().position(|table| table.isa == wanted)
        {
            tables.truncate(at + 1);
        }
        tables.pop().unwrap_or(SCALAR)
    })
}

/// Every table that this CPU can run, slowest first; for tests and benchmarks.
pub fn available() -> Vec<Kernels> {
    let mut tables = vec![SCALAR];
    #[cfg(target_arch = "x86_64")]
    {
        tables.extend(detect_avx2());
        tables.extend(detect_avx512());
    }
    #[cfg(target_arch = "aarch64")]
    tables.extend(detect_neon());
    tables
}

const SCALAR: Kernels = Kernels {
    isa: "scalar",
    dot: scalar::dot,
    l2: scalar::l2,
    dot_rows: scalar::dot_rows,
    l2_rows: scalar::l2_rows,
    dot_picked: scalar::dot_picked,
    l2_picked: scalar::l2_picked,
    codes: codes::SCALAR,
};

/// Wraps functions that need CPU features into a table of plain function pointers.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! detected {
    ($isa:literal, $module:ident, $insert:expr) => {
        Kernels {
            isa: $isa,
            // SAFETY: the caller of this macro has just detected the features of this table.
            dot: |a, b| unsafe { crate::$module::dot(a, b) },
            // SAFETY: as above.
            l2: |a, b| unsafe { crate::$module::l2(a, b) },
            // SAFETY: as above.
            dot_rows: |query, rows, out| unsafe { crate::$module::dot_rows(query, rows, out) },
            // SAFETY: as above.
            l2_rows: |query, rows, out| unsafe { crate::$module::l2_rows(query, rows, out) },
            dot_picked: |query, rows, picks, out| {
                // SAFETY: as above.
                unsafe { crate::$module::dot_picked(query, rows, picks, out) }
            },
            l2_picked: |query, rows, picks, out| {
                // SAFETY: as above.
                unsafe { crate::$module::l2_picked(query, rows, picks, out) }
            },
            codes: detected_codes!($module, $insert),
        }
    };
}

#[cfg(target_arch = "x86_64")]
fn detect_avx2() -> Option<Kernels> {
    let supported = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
    supported.then_some(detected!("avx2", avx2, codes::scalar::insert_sorted))
}

#[cfg(target_arch = "x86_64")]
fn detect_avx512() -> Option<Kernels> {
    let supported = is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vnni");
    supported.then_some(detected!("avx512", avx512, |keys, len, key| {
        // SAFETY: the features were detected above.
        unsafe { codes::avx512::insert_sorted(keys, len, key) }
    }))
}

#[cfg(target_arch = "aarch64")]
fn detect_neon() -> Option<Kernels> {
    std::arch::is_aarch64_feature_detected!("neon").then_some(detected!(
        "neon",
        neon,
        codes::scalar::insert_sorted
    ))
}
