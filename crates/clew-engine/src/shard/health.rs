//! Whether a shard can be trusted, and what it needs when it cannot. A shard that has failed neither takes writes nor
//! answers reads: what it would answer lacks something, or has what was refused.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arc_swap::ArcSwapOption;

use crate::base::signal::Signal;

/// What brings a failed shard back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Remedy {
    /// Memory and log differ; the shard is made anew from its files and the log, without anybody's help.
    Rebuild,
    /// Its files are damaged, which takes an operator.
    Repair,
}

/// Why a shard has failed.
#[derive(Debug)]
pub(crate) struct ShardFailure {
    pub(crate) reason: String,
    pub(crate) remedy: Remedy,
}

/// The state of a shard that its readers and its writer look at. Reading it takes no lock.
#[derive(Debug, Default)]
pub(crate) struct ShardHealth {
    failure: ArcSwapOption<ShardFailure>,
    retired: AtomicBool,
    unfinished: AtomicBool,
    /// Woken by failures.
    healer: Arc<Signal>,
}

impl ShardHealth {
    pub(crate) fn new(healer: Arc<Signal>) -> Self {
        ShardHealth {
            healer,
            ..ShardHealth::default()
        }
    }

    /// The failure that stands.
    pub(crate) fn failure(&self) -> Option<Arc<ShardFailure>> {
        self.failure.load_full()
    }

    /// Whether the shard has failed, and what would help.
    pub(crate) fn remedy(&self) -> Option<Remedy> {
        self.failure.load().as_ref().map(|failure| failure.remedy)
    }

    /// Whether the index of the shard was deleted.
    pub(crate) fn is_retired(&self) -> bool {
        self.retired.load(Ordering::SeqCst)
    }

    /// Whether the index of the shard is still being filled.
    pub(crate) fn is_unfinished(&self) -> bool {
        self.unfinished.load(Ordering::SeqCst)
    }

    /// The index is being filled, or that has ended.
    pub(crate) fn set_unfinished(&self, unfinished: bool) {
        self.unfinished.store(unfinished, Ordering::SeqCst);
    }

    /// The first failure stands, but for damage: no rebuilding helps against that.
    pub(crate) fn fail(&self, remedy: Remedy, reason: &str) {
        let next = Arc::new(ShardFailure {
            reason: reason.to_string(),
            remedy,
        });
        self.failure.rcu(|before| match before {
            Some(before) if before.remedy == Remedy::Repair || remedy == Remedy::Rebuild => {
                Some(before.clone())
            }
            _ => Some(next.clone()),
        });
        self.healer.wake();
    }

    /// The shard has been rebuilt.
    pub(crate) fn recover(&self) {
        self.failure.store(None);
    }

    /// The index was deleted: nothing more is written, what was read before goes on.
    pub(crate) fn retire(&self) {
        self.retired.store(true, Ordering::SeqCst);
    }
}

/// Fails the shard when it is dropped by a panic.
pub(super) struct Applying(Arc<ShardHealth>);

impl Applying {
    pub(super) fn new(health: Arc<ShardHealth>) -> Self {
        Applying(health)
    }
}

impl Drop for Applying {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let reason = "a write ran into a defect of the program";
            self.0.fail(Remedy::Rebuild, reason);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_failure_stands_until_damage_is_found() {
        let health = ShardHealth::default();
        let shown = || health.failure().map(|failure| failure.reason.clone());
        assert_eq!((shown(), health.remedy()), (None, None));
        health.fail(Remedy::Rebuild, "first");
        health.fail(Remedy::Rebuild, "second");
        assert_eq!(shown().as_deref(), Some("first"));
        health.fail(Remedy::Repair, "damage");
        health.fail(Remedy::Rebuild, "third");
        health.fail(Remedy::Repair, "more damage");
        assert_eq!(shown().as_deref(), Some("damage"));
        assert_eq!(health.remedy(), Some(Remedy::Repair));
        health.recover();
        assert_eq!(health.remedy(), None);
    }
}
