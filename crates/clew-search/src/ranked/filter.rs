//! A query that only says which documents are left, and the name its answer is kept under.

use std::sync::Arc;

use clew_query::{Bool, Query};

/// Longest name of an answer that is kept: long lists of values seldom come again.
const NAME_BYTES_MAX: usize = 4096;

/// A filter whose answer depends on nothing but a segment and the mapping.
#[derive(Clone, Debug)]
pub(crate) struct Filter {
    pub(crate) query: Arc<Query>,
    pub(crate) name: Arc<str>,
}

impl Filter {
    /// `None` when the answer depends on something else: the time, other segments, other clauses.
    pub(crate) fn of(query: &Query) -> Option<Self> {
        if !is_constant(query) {
            return None;
        }
        let name = format!("{query:?}");
        (name.len() <= NAME_BYTES_MAX).then(|| Filter {
            query: Arc::new(query.clone()),
            name: name.into(),
        })
    }
}

fn is_constant(query: &Query) -> bool {
    match query {
        Query::Term(_) | Query::Terms { .. } | Query::Exists { .. } | Query::MatchAll { .. } => {
            true
        }
        Query::Range(range) => {
            let bounds = [&range.gt, &range.gte, &range.lt, &range.lte];
            // Dates may be written relative to the time of the search.
            let mut bounds = bounds.into_iter().flatten();
            bounds.all(|bound| bound.as_str().is_none_or(|text| !text.contains("now")))
        }
        Query::ConstantScore { filter, .. } => is_constant(filter),
        Query::Bool(Bool {
            must,
            should,
            filter,
            must_not,
            ..
        }) => [must, should, filter, must_not]
            .into_iter()
            .flatten()
            .all(is_constant),
        _ => false,
    }
}
