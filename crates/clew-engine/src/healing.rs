//! What the node does by itself after its disk has failed it: a shard whose memory and log differ is made anew, what the
//! log has lost is taken back everywhere, and what the disk refused is tried again. Nothing acknowledged is touched:
//! that is in the log, and is what everything is made from.

use std::sync::Arc;
use std::time::Duration;

use crate::engine::Inner;
use crate::error::ErrorKind;
use crate::index::Index;
use crate::shard::{Remedy, Shard};

/// What could not be mended is tried again after this long.
const RETRY: Duration = Duration::from_secs(1);

/// Mends what can be mended; how long until the next try when something is left.
pub(crate) fn heal(inner: &Inner) -> Option<Duration> {
    let mut left = false;
    let indices: Vec<Arc<Index>> = inner.indices.read().values().cloned().collect();
    for index in &indices {
        for shard in &index.shards {
            left |= !heal_shard(index, shard);
        }
    }
    left.then_some(RETRY)
}

/// Whether a shard needs nothing more of what can be done here.
fn heal_shard(index: &Index, shard: &Shard) -> bool {
    if shard.remedy() == Some(Remedy::Rebuild)
        && let Err(error) = shard.rebuild(&index.mapping())
    {
        tracing::error!(index = index.name(), shard = shard.place.number, %error, "a shard cannot be rebuilt yet");
        if error.kind() == ErrorKind::Corrupt {
            shard.damaged(&error.to_string());
        }
    }
    if shard.has_spilled()
        && let Err(error) = shard.flush()
    {
        tracing::warn!(index = index.name(), shard = shard.place.number, %error, "the disk still refuses segments");
    }
    shard.remedy() != Some(Remedy::Rebuild) && !shard.has_spilled()
}

impl Inner {
    /// The log has refused something. When its disk has failed, nothing that it may have lost is answered from now
    /// on, and the healer gets to work.
    pub(crate) fn log_refused(&self) {
        if !self.log.stats().poisoned {
            return;
        }
        let durable = self.log.durable();
        for index in self.indices.read().values() {
            index
                .shards
                .iter()
                .for_each(|shard| shard.forget_beyond(durable));
        }
        self.healer.wake();
    }
}
