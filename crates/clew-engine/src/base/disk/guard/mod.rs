//! What is known of the disk, and who may still write to it.
//!
//! To look at a disk takes a microsecond, too long for every small write: each look says how many bytes of writes may
//! pass until somebody has to look again, and those who write count them down.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

use arc_swap::ArcSwap;
use clew_platform::Disk;
use parking_lot::Mutex;

use super::limits::DiskLimits;
use crate::base::error::EngineError;

/// Bytes of disk that a byte of a write is taken to need until the next look: in the log, and up to three in the
/// buffer that becomes a segment.
pub(crate) const BYTES_PER_BYTE: u64 = 4;
/// What a write is taken to have beside its bytes: places in maps and lists.
pub(crate) const WRITE_OVERHEAD_BYTES: u64 = 128;
/// After so many bytes of writes somebody looks, however much is free: others use the disk as well.
const LOOK_BYTES_MAX: u64 = 64 << 20;
/// Kept free beside what is counted, for manifests and the catalog: this, or this part of a small disk.
const RESERVE_BYTES_MAX: u64 = 64 << 20;
const RESERVE_SHARE: u64 = 20;

/// How full the disk is, in terms of the limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DiskStage {
    /// There is room, or nobody watches.
    #[default]
    Normal,
    /// Above the low watermark.
    Low,
    /// Above the high watermark.
    High,
    /// Writes are refused: the disk was above the flood stage, and has not come below the high watermark since.
    FloodStage,
    /// Writes are refused: the rest may be needed for those that were acknowledged.
    Reserved,
}

/// The disk of the data folder as it was when it was last looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiskState {
    /// Bytes of the disk; 0 where the system does not tell.
    pub total: u64,
    /// Bytes that may still be written.
    pub free: u64,
    /// Bytes that acknowledged writes may still need, at most.
    pub reserve: u64,
    /// How full that is.
    pub stage: DiskStage,
}

impl DiskState {
    /// Whether writes are refused.
    pub fn is_blocked(&self) -> bool {
        matches!(self.stage, DiskStage::FloodStage | DiskStage::Reserved)
    }

    /// Whether the node should give up what it can.
    pub(crate) fn is_tight(&self) -> bool {
        self.is_blocked() || self.stage == DiskStage::High
    }
}

/// The figures, for people.
impl fmt::Display for DiskState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DiskState {
            total,
            free,
            reserve,
            ..
        } = self;
        write!(
            f,
            "[{free}] of [{total}] bytes are free, acknowledged writes may need [{reserve}]"
        )
    }
}

/// Bytes that acknowledged writes may still need.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Unwritten {
    /// To become segments: buffers, and what the disk has refused.
    pub(crate) segments: u64,
    /// To get into the log's files.
    pub(crate) log: u64,
}

/// Watches the disk of the data folder. What it refuses is a state of the node, which nobody has to write down.
pub(crate) struct DiskGuard {
    disk: Arc<dyn Disk>,
    data: PathBuf,
    limits: ArcSwap<DiskLimits>,
    blocked: AtomicBool,
    /// Bytes of writes that may pass before the next look.
    left: AtomicI64,
    /// The last look. Held while one looks: looks follow each other.
    known: Mutex<Known>,
    /// Bytes that running merges may still take.
    claimed: AtomicU64,
    /// The node should give up what it can, and has not begun to.
    relief: AtomicBool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Known {
    state: DiskState,
    unwritten: Unwritten,
}

impl fmt::Debug for DiskGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DiskGuard({})", self.data.display())
    }
}

impl DiskGuard {
    /// Watches the disk that a folder lies on, from the first look on.
    pub(crate) fn new(disk: Arc<dyn Disk>, data: PathBuf, limits: DiskLimits) -> Self {
        DiskGuard {
            disk,
            data,
            limits: ArcSwap::from_pointee(limits),
            blocked: AtomicBool::new(false),
            left: AtomicI64::new(0),
            known: Mutex::default(),
            claimed: AtomicU64::new(0),
            relief: AtomicBool::new(false),
        }
    }

    pub(crate) fn limits(&self) -> DiskLimits {
        **self.limits.load()
    }

    pub(crate) fn set_limits(&self, limits: DiskLimits) {
        self.limits.store(Arc::new(limits));
    }

    /// Whether everything that makes data is refused.
    pub(crate) fn is_blocked(&self) -> bool {
        self.blocked.load(Ordering::Relaxed)
    }

    /// The last look.
    pub(crate) fn state(&self) -> DiskState {
        self.known.lock().state
    }

    /// Whether so many bytes of writes may pass without another look.
    pub(crate) fn admits(&self, bytes: u64) -> bool {
        i64::try_from(bytes).is_ok_and(|bytes| bytes <= self.left.load(Ordering::Relaxed))
    }

    /// Bytes of writes have passed.
    pub(crate) fn spend(&self, bytes: u64) {
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
        self.left.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Whether a write of so many bytes may pass by what the last look has shown, however few may pass unseen: it
    /// needs its place in the log, and in a segment.
    pub(crate) fn has_room(&self, bytes: u64) -> bool {
        let state = self.state();
        let spare = state.free.saturating_sub(self.kept_free(&state));
        !state.is_blocked() && (self.is_idle(&state) || bytes.saturating_mul(2) <= spare)
    }

    /// Looks at the disk. `unwritten` is what acknowledged writes may need, as far as it could be found out.
    pub(crate) fn look(&self, unwritten: Option<Unwritten>) -> DiskState {
        let mut known = self.known.lock();
        let unwritten = unwritten.unwrap_or(known.unwritten);
        let space = match self.disk.space(&self.data) {
            Ok(space) => space,
            Err(error) => {
                // What was known stands: a disk that does not answer gets no fuller by that.
                tracing::warn!(path = %self.data.display(), %error, "cannot find out how full the disk is");
                self.left
                    .store(to_signed(LOOK_BYTES_MAX), Ordering::Relaxed);
                return known.state;
            }
        };
        let mut state = DiskState {
            total: space.total,
            free: space.free,
            reserve: reserve(space.total, unwritten),
            stage: DiskStage::Normal,
        };
        state.stage = self.stage(&state, known.state.stage);
        let spare = state.free.saturating_sub(self.kept_free(&state));
        let left = match self.is_idle(&state) {
            true => LOOK_BYTES_MAX,
            false => (spare / BYTES_PER_BYTE).min(LOOK_BYTES_MAX),
        };
        self.left.store(to_signed(left), Ordering::Relaxed);
        self.blocked.store(state.is_blocked(), Ordering::Relaxed);
        if self.wants_relief(&known.state, &state, unwritten) {
            self.relief.store(true, Ordering::Relaxed);
        }
        self.tell(&known.state, &state);
        *known = Known { state, unwritten };
        state
    }

    /// Whether the node should give up what it can, said once.
    pub(crate) fn take_relief(&self) -> bool {
        self.relief.swap(false, Ordering::Relaxed)
    }

    pub(crate) fn is_relief_wanted(&self) -> bool {
        self.relief.load(Ordering::Relaxed)
    }

    /// Takes room for something that can wait, like a merge, until the claim is dropped.
    ///
    /// # Errors
    /// [`EngineError::DiskFull`] when that would bring the disk to where writes are refused.
    pub(crate) fn claim(
        self: &Arc<Self>,
        what: &str,
        needed: u64,
    ) -> Result<DiskClaim, EngineError> {
        let claimed = self.claimed.fetch_add(needed, Ordering::Relaxed);
        let claim = DiskClaim {
            guard: self.clone(),
            bytes: needed,
        };
        self.check_spare(what, needed, claimed)?;
        Ok(claim)
    }

    /// Whether a file elsewhere may get so many bytes more; on another disk than the data's it may.
    ///
    /// # Errors
    /// [`EngineError::DiskFull`] when that would bring the data's disk to where writes are refused.
    pub(crate) fn check_file(&self, what: &str, dir: &Path, bytes: u64) -> Result<(), EngineError> {
        let (there, here) = (self.disk.space(dir), self.disk.space(&self.data));
        match (there, here) {
            (Ok(there), Ok(here)) if there.file_system == here.file_system => {
                self.check_spare(what, bytes, 0)
            }
            _ => Ok(()),
        }
    }

    /// Whether what has no block of its own may be written: not what acknowledged writes may still need.
    ///
    /// # Errors
    /// [`EngineError::DiskFull`] when it would take some of that.
    pub(crate) fn check_reserve(&self, what: &str, needed: u64) -> Result<(), EngineError> {
        self.check_beside(what, needed, |state| state.reserve)
    }

    fn check_spare(&self, what: &str, needed: u64, claimed: u64) -> Result<(), EngineError> {
        self.check_beside(what, needed, |state| {
            self.kept_free(state).saturating_add(claimed)
        })
    }

    /// Whether so many bytes fit beside what is to be kept free.
    fn check_beside(
        &self,
        what: &str,
        needed: u64,
        kept: impl FnOnce(&DiskState) -> u64,
    ) -> Result<(), EngineError> {
        let state = self.look(None);
        if self.is_idle(&state) {
            return Ok(());
        }
        let spare = state.free.saturating_sub(kept(&state));
        if needed <= spare {
            return Ok(());
        }
        Err(EngineError::DiskFull {
            what: what.to_string(),
            needed,
            spare,
            free: state.free,
        })
    }

    /// Whether nobody watches: it was turned off, or the system does not tell.
    fn is_idle(&self, state: &DiskState) -> bool {
        state.total == 0 || !self.limits.load().enabled
    }

    /// Below this writes are refused.
    fn kept_free(&self, state: &DiskState) -> u64 {
        let flood_stage = self.limits.load().flood_stage;
        flood_stage.free_bytes(state.total).max(state.reserve)
    }

    fn stage(&self, state: &DiskState, before: DiskStage) -> DiskStage {
        if self.is_idle(state) {
            return DiskStage::Normal;
        }
        let limits = self.limits.load();
        let free = state.free;
        let high = limits.high.free_bytes(state.total);
        let was = |stage| before == stage;
        // More than what refused it must be free again, or single writes would turn it on and off.
        let more = state.reserve + fixed_reserve(state.total) / 2;
        if free < limits.flood_stage.free_bytes(state.total)
            || was(DiskStage::FloodStage) && free < high
        {
            DiskStage::FloodStage
        } else if free < state.reserve || was(DiskStage::Reserved) && free < more {
            DiskStage::Reserved
        } else if free < high {
            DiskStage::High
        } else if free < limits.low.free_bytes(state.total) {
            DiskStage::Low
        } else {
            DiskStage::Normal
        }
    }

    /// When the disk has become tight, and when buffers that become segments would give room back.
    fn wants_relief(&self, before: &DiskState, now: &DiskState, unwritten: Unwritten) -> bool {
        let fixed = fixed_reserve(now.total);
        let buffers_help = unwritten.segments > fixed / 4
            && now.free < now.reserve.saturating_add(fixed)
            && !self.is_idle(now);
        buffers_help
            || now.is_tight() && !before.is_tight()
            || now.is_blocked() && !before.is_blocked()
    }

    fn tell(&self, before: &DiskState, now: &DiskState) {
        let path = self.data.display();
        match (before.is_blocked(), now.is_blocked()) {
            (false, true) => {
                tracing::error!(%path, state = %now, stage = ?now.stage, "the disk is nearly full: writes are refused until there is room");
            }
            (true, false) => {
                tracing::info!(%path, state = %now, "there is room on the disk: writes are taken again");
            }
            _ if before.stage != now.stage => {
                tracing::warn!(%path, state = %now, stage = ?now.stage, "the disk has passed a watermark");
            }
            _ => {}
        }
    }
}

/// Room that was taken for something; dropping it gives it back.
pub(crate) struct DiskClaim {
    guard: Arc<DiskGuard>,
    bytes: u64,
}

impl Drop for DiskClaim {
    fn drop(&mut self) {
        self.guard.claimed.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

fn fixed_reserve(total: u64) -> u64 {
    (total / RESERVE_SHARE).min(RESERVE_BYTES_MAX)
}

fn reserve(total: u64, unwritten: Unwritten) -> u64 {
    let counted = unwritten.segments.saturating_add(unwritten.log);
    counted.saturating_add(fixed_reserve(total))
}

fn to_signed(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
