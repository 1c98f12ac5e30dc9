//! How a search went in each shard, for those who ask.

use clew_aggregation::Intermediate;

use crate::base::phase::Phase;
use crate::search::knn::SegmentProfile;
use crate::search::leaf::ShardAnswer;
use crate::search::pinned::PinnedShard;
use crate::search::request::{KnnProfile, ShardProfile};

pub(super) fn shard_profile(target: &PinnedShard, answer: &ShardAnswer) -> ShardProfile {
    let place = &target.shard.place;
    ShardProfile {
        index: place.index.to_string(),
        shard: place.number,
        query: Phase {
            began: answer.began,
            took: answer.found.took,
        },
        fetch: None,
        total: answer.found.result.total,
        queries: answer.found.queries.clone().unwrap_or_default(),
        spent: answer.spent,
        aggs: answer
            .aggs
            .as_ref()
            .map(Intermediate::profiles)
            .unwrap_or_default(),
    }
}

pub(super) fn knn_profile(target: &PinnedShard, one: SegmentProfile) -> KnnProfile {
    let place = &target.shard.place;
    KnnProfile {
        index: place.index.to_string(),
        shard: place.number,
        segment: one.segment,
        field: one.field,
        strategy: one.strategy,
        hits: one.hits,
        distances: one.distances,
        profile: one.profile,
    }
}
