//! The engine of the `grok` crate, which knows every expression, and whose machines take up to six hundred bytes for each byte of
//! one. They are made to see whether that can be done, and again when they are wanted; kept are as many as there is room for.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use grok::{Error, Grok as Patterns, Pattern};

/// Bytes of the expressions of a pipeline whose machines are kept.
pub(super) const KEPT_BYTES_MAX: usize = 512 << 10;
/// What it counts as to make a machine for one text, in steps.
const MADE_STEPS: u64 = 1_000_000;

/// How many more bytes of expressions of a pipeline may have machines that are kept. Clones are the same.
#[derive(Clone, Debug)]
pub(crate) struct MachineRoom(Arc<AtomicUsize>);

impl MachineRoom {
    /// That of a pipeline.
    pub(crate) fn new() -> Self {
        MachineRoom(Arc::new(AtomicUsize::new(KEPT_BYTES_MAX)))
    }

    pub(super) fn take(&self, bytes: usize) -> bool {
        let taken = |left: usize| left.checked_sub(bytes);
        self.0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, taken)
            .is_ok()
    }
}

/// An expression, and the machine of it when it is kept.
#[derive(Debug)]
pub(super) struct Machines {
    expression: String,
    /// Its length with the patterns that it is made of.
    bytes: usize,
    patterns: Arc<Patterns>,
    room: MachineRoom,
    kept: OnceLock<Pattern>,
}

impl Machines {
    pub(super) fn new(
        (expression, bytes): (String, usize),
        patterns: &Arc<Patterns>,
        room: &MachineRoom,
    ) -> Self {
        Machines {
            expression,
            bytes,
            patterns: patterns.clone(),
            room: room.clone(),
            kept: OnceLock::new(),
        }
    }

    /// Makes a machine. Takes milliseconds for a long expression.
    ///
    /// # Errors
    /// When the expression is none.
    pub(super) fn make(&self) -> Result<Pattern, Error> {
        self.patterns.compile(&self.expression, true)
    }

    /// Keeps a machine; false where there is no room for it.
    pub(super) fn keep(&self, made: Pattern) -> bool {
        self.room.take(self.bytes) && self.kept.set(made).is_ok()
    }

    /// Whether a machine is kept.
    #[cfg(test)]
    pub(super) fn is_kept(&self) -> bool {
        self.kept.get().is_some()
    }

    /// Asks the machine, which is made where it is not kept: that counts as `spent`, unless there is room to keep it from then
    /// on.
    pub(super) fn ask<R>(&self, spent: &mut u64, ask: impl FnOnce(&Pattern) -> R) -> Option<R> {
        if let Some(kept) = self.kept.get() {
            return Some(ask(kept));
        }
        // It could be made when the step was read.
        let made = self.make().ok()?;
        if self.room.take(self.bytes) {
            return Some(ask(self.kept.get_or_init(|| made)));
        }
        *spent = spent.saturating_add(MADE_STEPS);
        Some(ask(&made))
    }
}
