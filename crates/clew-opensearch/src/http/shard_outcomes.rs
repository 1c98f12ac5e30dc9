//! What became of something that every shard of some indexes was to do: the section `_shards` of an answer.

use std::sync::Arc;

use axum::http::StatusCode;
use clew_engine::{Engine, EngineError, Index};
use serde_json::{Value, json};

use crate::http::error::ApiError;

/// What an action did that goes through the shards of indexes.
#[derive(Default)]
pub(crate) struct ShardOutcomes {
    total: usize,
    failures: Vec<Value>,
    first: Option<ApiError>,
}

impl ShardOutcomes {
    /// Of an action that every shard has done that serves.
    pub(crate) fn of_serving(indices: &[Arc<Index>]) -> Self {
        let mut outcomes = ShardOutcomes::default();
        for index in indices {
            let shards = 0..index.settings().shards;
            let results = shards.map(|shard| match index.shard_failure(shard) {
                None => Ok(()),
                Some(reason) => Err(EngineError::ShardFailed {
                    index: index.name().to_string(),
                    shard,
                    reason,
                }),
            });
            outcomes.add(index, results.collect());
        }
        outcomes
    }

    /// Does something with each shard of some indexes. One that is deleted meanwhile has nothing left to be done.
    pub(crate) fn of_each(
        engine: &Engine,
        indices: &[Arc<Index>],
        action: impl Fn(&Index) -> Vec<Result<(), EngineError>>,
    ) -> Self {
        let mut outcomes = ShardOutcomes::default();
        for index in indices {
            let results = action(index);
            let failed = results.iter().any(Result::is_err);
            let still_there = || engine.has_index(index);
            if !failed || still_there() {
                outcomes.add(index, results);
            }
        }
        outcomes
    }

    fn add(&mut self, index: &Index, results: Vec<Result<(), EngineError>>) {
        for (shard, result) in results.into_iter().enumerate() {
            self.total += 1;
            let Err(error) = result else {
                continue;
            };
            let error = ApiError::from(error);
            self.failures.push(json!({
                "shard": shard, "index": index.name(), "status": status_name(error.status()),
                "reason": error.cause(),
            }));
            self.first.get_or_insert(error);
        }
    }

    /// Refuses what would lack the shards that have failed, for answers that have no place to say so.
    ///
    /// # Errors
    /// The first failure.
    pub(crate) fn whole(&self) -> Result<(), ApiError> {
        self.first.clone().map_or(Ok(()), Err)
    }

    /// The members of `_shards`.
    pub(crate) fn shown(&self) -> Value {
        let failed = self.failures.len();
        let mut shown = json!({
            "total": self.total, "successful": self.total - failed, "failed": failed,
        });
        if failed > 0 {
            shown["failures"] = json!(self.failures);
        }
        shown
    }

    /// The answer; an error when no shard has done it.
    pub(crate) fn body(self) -> Result<Value, ApiError> {
        match &self.first {
            Some(error) if self.failures.len() == self.total => Err(error.clone()),
            _ => Ok(json!({"_shards": self.shown()})),
        }
    }
}

/// `SERVICE_UNAVAILABLE`.
fn status_name(status: StatusCode) -> String {
    let words = status.canonical_reason().unwrap_or_default();
    words.to_ascii_uppercase().replace([' ', '-'], "_")
}
