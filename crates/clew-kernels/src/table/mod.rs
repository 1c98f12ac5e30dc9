//! The choice of instruction set: one table of function pointers per set, detected once.

mod calls;
#[macro_use]
mod codes;

use std::sync::OnceLock;

use half::{bf16, f16};

use crate::centroids::{self, CentroidTable};
use crate::distances::{self, BitDistances, DistanceTable, Distances};
use crate::impacts::{self, ImpactTable};
use crate::sorted::{self, SortedTable};
use crate::words::{self, WordTable};
pub use codes::CodeKernels;
use codes::CodeTable;

/// The functions of one instruction set.
#[derive(Debug, Clone, Copy)]
pub struct Kernels {
    isa: &'static str,
    distances: DistanceTable,
    pub(crate) codes: CodeTable,
    pub(crate) centroids: CentroidTable,
    pub(crate) impacts: ImpactTable,
    pub(crate) sorted: SortedTable,
    pub(crate) words: WordTable,
}

impl Kernels {
    /// Name of the instruction set: `scalar`, `avx2` (with FMA, F16C and POPCNT), `avx512` (which
    /// includes VNNI) or `neon`.
    pub fn isa(&self) -> &'static str {
        self.isa
    }

    /// Distances to stored `f32`.
    #[inline]
    pub fn f32(&self) -> &Distances<f32, f32> {
        &self.distances.f32
    }

    /// Distances of an `f32` query to stored half-precision floats.
    #[inline]
    pub fn f16(&self) -> &Distances<f32, f16> {
        &self.distances.f16
    }

    /// Distances of an `f32` query to stored floats of eight bits of precision.
    #[inline]
    pub fn bf16(&self) -> &Distances<f32, bf16> {
        &self.distances.bf16
    }

    /// Distances of a query of signed bytes to stored signed bytes.
    #[inline]
    pub fn i8(&self) -> &Distances<i8, i8> {
        &self.distances.i8
    }

    /// Distances of bits.
    #[inline]
    pub fn bits(&self) -> &BitDistances {
        &self.distances.bits
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
    distances: distances::scalar::TABLE,
    codes: codes::SCALAR,
    centroids: centroids::SCALAR,
    impacts: impacts::SCALAR,
    sorted: sorted::SCALAR,
    words: words::SCALAR,
};

#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("f16c")
        && is_x86_feature_detected!("popcnt")
}

#[cfg(target_arch = "x86_64")]
fn detect_avx2() -> Option<Kernels> {
    has_avx2().then_some(Kernels {
        isa: "avx2",
        distances: detected_types!(avx2, detected_bits!(crate::distances::avx2::bits)),
        codes: detected_codes!(avx2),
        centroids: centroids::AVX2,
        impacts: impacts::AVX2,
        sorted: sorted::AVX2,
        words: words::AVX2,
    })
}

#[cfg(target_arch = "x86_64")]
fn detect_avx512() -> Option<Kernels> {
    let supported = has_avx2()
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vnni");
    let bits = if is_x86_feature_detected!("avx512vpopcntdq") {
        detected_bits!(crate::distances::avx512::bits)
    } else {
        detected_bits!(crate::distances::avx2::bits)
    };
    let sorted = if sorted::has_vp2intersect() {
        sorted::VP2INTERSECT
    } else {
        sorted::AVX2
    };
    supported.then_some(Kernels {
        isa: "avx512",
        distances: detected_types!(avx512, bits),
        codes: detected_codes!(avx512),
        centroids: centroids::AVX512,
        impacts: impacts::AVX2,
        sorted,
        words: words::AVX2,
    })
}

#[cfg(target_arch = "aarch64")]
fn detect_neon() -> Option<Kernels> {
    std::arch::is_aarch64_feature_detected!("neon").then_some(Kernels {
        isa: "neon",
        distances: detected_types!(neon, detected_bits!(crate::distances::neon::bits)),
        codes: detected_codes!(neon),
        centroids: centroids::NEON,
        impacts: impacts::SCALAR,
        sorted: sorted::SCALAR,
        words: words::SCALAR,
    })
}
