//! Searches with a `hybrid` query: what goes with it, and how its rankings become one. Without a
//! pipeline that says how, a document has the best score that one of the queries gives it.

use std::sync::Arc;

use clew_engine::{Hybrid, Index};
use clew_query::SortKey;

use super::request::Spec;
use crate::http::error::ApiError;
use crate::search::search_pipeline::Running;

/// How the rankings of a search's queries become one; `None` when it has one query, or when another
/// order than that of scores is asked for.
pub(super) fn ranking(
    spec: &Spec,
    pipeline: Option<&Running>,
    indices: &[Arc<Index>],
) -> Result<Option<Hybrid>, ApiError> {
    let Some(hybrid) = &spec.hybrid else {
        return Ok(None);
    };
    let depth = depth(spec, indices)?;
    check_sort(&spec.sort)?;
    let fusion = match pipeline {
        Some(pipeline) => pipeline.fusion(hybrid.queries.len())?,
        None => None,
    };
    let by_score = matches!(&spec.sort[..], [] | [SortKey::Score { .. }]);
    Ok(fusion.filter(|_| by_score).map(|fusion| Hybrid {
        queries: hybrid.queries.clone(),
        depth,
        fusion,
    }))
}

/// How many documents of each query every shard gives.
fn depth(spec: &Spec, indices: &[Arc<Index>]) -> Result<usize, ApiError> {
    if spec.control.scroll.is_some() {
        return Err(ApiError::illegal_argument(
            "Scroll operation is not supported in hybrid query",
        ));
    }
    let given = spec
        .hybrid
        .as_ref()
        .and_then(|hybrid| hybrid.pagination_depth);
    let Some(given) = given else {
        if spec.from > 0 {
            return Err(ApiError::illegal_argument(
                "pagination_depth param is missing in the search request",
            ));
        }
        return Ok(spec.size);
    };
    let depth = usize::try_from(given).unwrap_or(0);
    if depth == 0 {
        return Err(ApiError::illegal_argument(
            "pagination_depth should be greater than 0",
        ));
    }
    if indices
        .iter()
        .any(|index| depth > index.settings().max_result_window)
    {
        return Err(ApiError::illegal_argument(
            "pagination_depth should be less than or equal to index.max_result_window setting",
        ));
    }
    Ok(depth)
}

fn check_sort(sort: &[SortKey]) -> Result<(), ApiError> {
    let has_score = sort.iter().any(|key| matches!(key, SortKey::Score { .. }));
    if has_score && sort.len() > 1 {
        return Err(ApiError::illegal_argument(
            "_score sort criteria cannot be applied with any other criteria. Please select one \
             sort criteria out of them.",
        ));
    }
    Ok(())
}
