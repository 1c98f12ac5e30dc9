//! Room on the disk: writes are refused while there is still enough of it for everything that was acknowledged, and
//! taken again when there is more. What a user says about that are [`DiskLimits`]; the [`DiskGuard`] knows how full the
//! disk is.

mod guard;
mod limits;

pub use guard::{DiskStage, DiskState};
pub use limits::{DiskLimits, Watermark};

pub(crate) use guard::{BYTES_PER_BYTE, DiskClaim, DiskGuard, Unwritten, WRITE_OVERHEAD_BYTES};
