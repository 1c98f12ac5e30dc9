//! Copies of shards: which serve, and which are asked for though one node cannot have them.

use std::sync::Arc;

use clew_engine::Index;

use crate::http::error::ApiError;
use crate::state::call::Call;

pub(crate) use crate::state::replicas::{replicas, replicas_of};

/// Shards that serve, shards that have failed, those of indexes that are still being filled, and copies that are asked for
/// but that one node cannot have.
#[derive(Clone, Copy, Default)]
pub(crate) struct ShardHealth {
    pub(crate) active: u64,
    pub(crate) failed: u64,
    pub(crate) initializing: u64,
    pub(crate) unassigned: u64,
}

impl ShardHealth {
    pub(crate) fn of(indices: &[Arc<Index>]) -> Self {
        let mut health = ShardHealth::default();
        for index in indices {
            let stats = index.stats();
            let sound = u64::from(stats.shards - stats.failed_shards);
            match index.is_initializing() {
                true => health.initializing += sound,
                false => health.active += sound,
            }
            health.failed += u64::from(stats.failed_shards);
            health.unassigned += u64::from(stats.shards) * u64::from(replicas(index));
        }
        health
    }

    pub(crate) fn status(self) -> &'static str {
        if self.failed > 0 {
            "red"
        } else if self.unassigned + self.initializing > 0 {
            "yellow"
        } else {
            "green"
        }
    }

    /// Copies that are nowhere.
    pub(crate) fn lacking(self) -> u64 {
        self.failed + self.unassigned
    }

    /// Those and the ones that do not serve yet.
    pub(crate) fn not_serving(self) -> u64 {
        self.lacking() + self.initializing
    }

    /// How many of a hundred shards serve.
    pub(crate) fn active_percent(self) -> f64 {
        let all = self.active + self.not_serving();
        if all == 0 {
            return 100.0;
        }
        #[allow(
            clippy::cast_precision_loss,
            reason = "counts of shards are far below 2^52"
        )]
        let share = self.active as f64 / all as f64;
        share * 100.0
    }
}

/// Whether a new or opened index has as many copies as `wait_for_active_shards` wants. Nothing is
/// waited for: copies that are missing stay missing.
pub(crate) fn enough_copies(call: &Call, replicas: u32) -> Result<bool, ApiError> {
    let Some(text) = call.params.get("wait_for_active_shards") else {
        return Ok(true);
    };
    if text == "all" {
        return Ok(replicas == 0);
    }
    let copies = replicas.saturating_add(1);
    match text.parse::<u32>() {
        Ok(wanted) if wanted > copies => Err(ApiError::illegal_argument(format!(
            "invalid wait_for_active_shards[{wanted}]: cannot be greater than number of shard \
             copies [{copies}]"
        ))),
        Ok(wanted) => Ok(wanted <= 1),
        Err(_) => Err(ApiError::no_copies(text)),
    }
}
