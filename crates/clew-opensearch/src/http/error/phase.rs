//! How errors of a search are told that are found in one of its phases: by its shards, or when what they found is put
//! together.

use serde_json::json;

use super::{ApiError, Cause, Root, Shape, TOO_MANY_BUCKETS};

/// Errors that are Java's own: where all shards failed with one, it is told once more as the cause of that.
const JAVAS_OWN: [&str; 5] = [
    "class_cast_exception",
    "illegal_argument_exception",
    "illegal_state_exception",
    "null_pointer_exception",
    "number_format_exception",
];

/// What a search is told that failed in one of its phases.
const PHASE_FAILED: &str = "search_phase_execution_exception";

/// Errors that OpenSearch tells before a shard has the request.
const BEFORE_SHARDS: [&str; 2] = [
    "action_request_validation_exception",
    "aggregation_initialization_exception",
];

/// How errors begin of paths that cannot be taken apart, which is done before a shard has the request.
const INVALID_PATH: &str = "Invalid path element [";

impl ApiError {
    /// Says that OpenSearch finds it only when the shards have the request, whoever finds it here.
    pub(crate) fn found_by_shards(mut self) -> Self {
        self.is_of_shards = true;
        self
    }

    /// Whether OpenSearch finds it only when the shards have the request.
    pub(crate) fn is_found_by_shards(&self) -> bool {
        self.is_of_shards
    }

    /// Wraps the error as the failure of every shard of a search, as OpenSearch does for errors
    /// that it finds only when the shards have the request.
    pub(crate) fn all_shards_failed(self, index: &str, node: &str) -> Self {
        let Shape::Structured { cause: inner, .. } = &*self.shape else {
            return self;
        };
        if BEFORE_SHARDS.contains(&inner.kind) || inner.reason.starts_with(INVALID_PATH) {
            return self;
        }
        if inner.kind == PHASE_FAILED {
            return self;
        }
        if inner.kind == TOO_MANY_BUCKETS {
            // OpenSearch counts buckets when it puts together what the shards have found.
            return self.of_reducing();
        }
        let failed = json!([{"shard": 0, "index": index, "node": node, "reason": inner.value()}]);
        let mut cause = Cause::new(PHASE_FAILED, "all shards failed")
            .with("phase", "query")
            .with("grouped", true)
            .with("failed_shards", failed);
        if JAVAS_OWN.contains(&inner.kind) {
            cause = cause.caused_by(inner.clone().caused_by(inner.clone()));
        }
        let root = Root::Other(inner.clone());
        Self::shaped(self.status, Shape::Structured { cause, root })
    }

    /// Wraps the error as that of putting together what the shards have found, of which none has failed.
    pub(crate) fn of_reducing(self) -> Self {
        let Shape::Structured { cause: inner, .. } = &*self.shape else {
            return self;
        };
        let cause = Cause::new(PHASE_FAILED, "")
            .with("phase", "fetch")
            .with("grouped", true)
            .with("failed_shards", json!([]))
            .caused_by(inner.clone());
        let root = Root::Nothing;
        Self::shaped(self.status, Shape::Structured { cause, root })
    }
}
