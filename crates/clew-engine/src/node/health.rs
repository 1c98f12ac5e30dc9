//! What is wrong with the node, told at one place: everything that clients and operators are shown is made from it.

use crate::base::disk::{DiskLimits, DiskState, Unwritten};
use crate::node::engine::{Engine, Inner};

/// A shard that serves nothing until it is mended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedShard {
    /// Its index.
    pub index: String,
    /// Its number.
    pub shard: u32,
    /// Why.
    pub reason: String,
}

/// What is wrong with a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeHealth {
    /// Why the log refuses writes, when it does.
    pub log: Option<String>,
    /// The shards that have failed.
    pub shards: Vec<FailedShard>,
    /// How full the disk is, and whether writes are refused for that.
    pub disk: DiskState,
}

impl NodeHealth {
    /// Whether every request that fits is done.
    pub fn is_whole(&self) -> bool {
        self.log.is_none() && self.shards.is_empty() && !self.disk.is_blocked()
    }
}

impl Engine {
    /// What is wrong now. Looks at the disk.
    pub fn health(&self) -> NodeHealth {
        let inner = &self.inner;
        let poisoned = inner.log.stats().poisoned;
        let mut shards = Vec::new();
        for index in self.inner.indices.read().values() {
            for shard in &index.shards {
                if let Some(reason) = shard.failure() {
                    let (index, shard) = (index.name().to_string(), shard.place.number);
                    shards.push(FailedShard {
                        index,
                        shard,
                        reason,
                    });
                }
            }
        }
        NodeHealth {
            log: poisoned.then(|| "the log refuses writes after a disk failure".to_string()),
            shards,
            disk: inner.look_at_disk(),
        }
    }

    /// The marks of the disk that hold now.
    pub fn disk_limits(&self) -> DiskLimits {
        self.inner.space.limits()
    }

    /// Sets other marks; what they refuse or allow, they do at once.
    pub fn set_disk_limits(&self, limits: DiskLimits) {
        self.inner.space.set_limits(limits);
        self.inner.look_at_disk();
        self.inner.upkeep.wake();
    }

    /// Whether something of so many bytes may be written to the log beside the engine.
    ///
    /// # Errors
    /// Why not, with the figures.
    pub fn check_disk(&self, bytes: u64) -> Result<(), String> {
        let space = &self.inner.space;
        if !space.is_blocked() && space.admits(bytes) {
            space.spend(bytes);
            return Ok(());
        }
        let state = self.inner.look_at_disk();
        if space.has_room(bytes) {
            space.spend(bytes);
            return Ok(());
        }
        Err(format!("the disk is nearly full: {state}"))
    }
}

impl Inner {
    /// Looks at the disk, and sets to work what gives room back. Waits for no lock that is held for long.
    pub(crate) fn look_at_disk(&self) -> DiskState {
        let state = self.space.look(self.unwritten());
        if self.space.is_relief_wanted() {
            self.upkeep.wake();
        }
        state
    }

    /// What acknowledged writes may still need of the disk; none when the indexes are just being changed.
    fn unwritten(&self) -> Option<Unwritten> {
        // Whoever writes holds the lock of a shard, which the deletion of an index waits for.
        let indices = self.indices.try_read()?;
        let shards = indices.values().flat_map(|index| &index.shards);
        Some(Unwritten {
            segments: shards.map(|shard| shard.unwritten_bytes()).sum(),
            log: self.log.stats().pending_bytes as u64,
        })
    }
}
