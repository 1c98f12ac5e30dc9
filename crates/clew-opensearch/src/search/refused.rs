//! What is wrong with a search where OpenSearch finds it only when the shards have it, and tells it as their failure.

use std::sync::Arc;

use clew_engine::{Index, Purpose, ResolveOptions};

use crate::http::error::ApiError;
use crate::state::call::Call;

/// The error of a search as the failure of the shards of its first index.
pub(crate) fn on_first(call: &Call, indices: &[Arc<Index>], error: ApiError) -> ApiError {
    match indices.first() {
        Some(index) => on_all_shards(call, index, error),
        None => error,
    }
}

/// The same of an index's shards.
pub(super) fn on_all_shards(call: &Call, index: &Index, error: ApiError) -> ApiError {
    let error = on_index(index, error);
    error.all_shards_failed(index.name(), &call.api.node_id)
}

/// What is wrong with a query with the index that it was made for.
pub(crate) fn on_index(index: &Index, error: ApiError) -> ApiError {
    if error.is_kind("query_shard_exception") {
        error.in_index(index.name(), index.uuid())
    } else {
        error
    }
}

/// What is wrong with a search that was read, over the indexes of an expression. Its scripts would be read, and its queries
/// made, by each of their shards, which fail where one is not understood, or when what these found is put together.
pub(super) async fn by_shards(
    call: &Call,
    (expression, options): (&str, ResolveOptions),
    error: ApiError,
) -> ApiError {
    const LATER: [&str; 3] = [
        "script_exception",
        "query_shard_exception",
        "search_phase_execution_exception",
    ];
    if !error.is_found_by_shards() && !LATER.iter().any(|kind| error.is_kind(kind)) {
        return error;
    }
    match call.open(expression, options, Purpose::Read).await {
        Ok(opened) => match opened.first() {
            Some(index) => on_all_shards(call, index, error),
            None => error,
        },
        Err(error) => error,
    }
}
