//! What a shard hands to the root of a search. What it found is plain data, which can be written down and read
//! elsewhere; beside it stand what aggregations collected and what the hits are booked on here.

use std::time::Duration;

use clew_aggregation::Intermediate;
use clew_platform::Reservation;
use clew_profile::SpentTimes;
use clew_search::{QueriesProfile, ShardHit, ShardResult};
use serde::{Deserialize, Serialize};

use crate::search::knn::SegmentProfile;
use crate::search::request::SearchRequest;

/// What a shard found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::search) struct ShardFound {
    /// What was found for the request's query.
    pub(in crate::search) result: ShardResult,
    /// The best of each of the queries that rank together.
    pub(in crate::search) parts: Vec<Vec<ShardHit>>,
    /// How vectors were searched; empty unless somebody wants to know.
    pub(in crate::search) knn: Vec<SegmentProfile>,
    /// How long it took.
    pub(in crate::search) took: Duration,
    /// What its queries cost; none unless somebody wants to know.
    pub(in crate::search) queries: Option<QueriesProfile>,
}

/// What a shard answers.
pub(in crate::search) struct ShardAnswer {
    /// What it found.
    pub(in crate::search) found: ShardFound,
    /// What its aggregations collected.
    pub(in crate::search) aggs: Option<Intermediate>,
    /// What the hits are booked on, on the node that holds them.
    pub(in crate::search) memory: Option<Reservation>,
    /// Where the time of the shard's search went, where that was measured.
    pub(in crate::search) spent: Option<SpentTimes>,
    /// When it began, since the epoch.
    pub(in crate::search) began: Duration,
}

impl ShardAnswer {
    /// Nothing was found in time.
    pub(in crate::search) fn too_late(request: &SearchRequest, began: Duration) -> Self {
        let nothing = request.control.hybrid.as_ref();
        ShardAnswer {
            found: ShardFound {
                result: ShardResult::too_late(request.track_total),
                parts: vec![Vec::new(); nothing.map_or(0, |hybrid| hybrid.queries.len())],
                knn: Vec::new(),
                took: request.timeout.unwrap_or_default(),
                queries: None,
            },
            aggs: None,
            memory: None,
            spent: None,
            began,
        }
    }
}

#[cfg(test)]
mod tests;
