//! What the shards found, taken apart for what is made of it.

use clew_aggregation::Intermediate;
use clew_platform::Reservation;
use clew_query::QueryError;
use clew_search::{ShardHit, ShardResult};

use super::profile::{knn_profile, shard_profile};
use crate::base::error::EngineError;
use crate::search::leaf::ShardAnswer;
use crate::search::pinned::PinnedShard;
use crate::search::request::{
    KnnProfile, ProfileDetail, SearchRequest, ShardFailure, ShardProfile,
};

/// What the shards that answered found.
#[derive(Default)]
pub(super) struct Gathered<'t> {
    pub(super) results: Vec<ShardResult>,
    pub(super) parts: Vec<Vec<Vec<ShardHit>>>,
    pub(super) aggs: Option<Intermediate>,
    pub(super) answered: Vec<&'t PinnedShard>,
    pub(super) knn: Vec<KnnProfile>,
    pub(super) shard_profiles: Vec<ShardProfile>,
    pub(super) failures: Vec<ShardFailure>,
    /// What the hits of the shards are booked on, until they are fetched.
    pub(super) memory: Vec<Reservation>,
}

impl<'t> Gathered<'t> {
    /// # Errors
    /// The first failure where no shard answered.
    pub(super) fn of(
        request: &SearchRequest,
        targets: &'t [PinnedShard],
        answers: Vec<Result<ShardAnswer, EngineError>>,
    ) -> Result<Self, EngineError> {
        let shards = targets.len();
        let mut all = Gathered {
            results: Vec::with_capacity(shards),
            parts: Vec::with_capacity(shards),
            answered: Vec::with_capacity(shards),
            ..Gathered::default()
        };
        for (target, answer) in targets.iter().zip(answers) {
            match answer {
                Err(error) => {
                    let place = &target.shard.place;
                    all.failures.push(ShardFailure {
                        index: place.index.to_string(),
                        shard: place.number,
                        error,
                    });
                }
                Ok(answer) => {
                    if request.profile != ProfileDetail::Nothing {
                        all.shard_profiles.push(shard_profile(target, &answer));
                    }
                    all.memory.extend(answer.memory);
                    let found = answer.found;
                    all.results.push(found.result);
                    all.parts.push(found.parts);
                    all.answered.push(target);
                    let knn = found.knn.into_iter();
                    all.knn.extend(knn.map(|one| knn_profile(target, one)));
                    all.aggs = match (all.aggs.take(), answer.aggs) {
                        (Some(mut sum), Some(more)) => {
                            sum.merge(more).map_err(QueryError::from)?;
                            Some(sum)
                        }
                        (sum, more) => sum.or(more),
                    };
                }
            }
        }
        if !all.answered.is_empty() {
            return Ok(all);
        }
        match all.failures.into_iter().next() {
            Some(failure) => Err(failure.error),
            None => Ok(Gathered::default()),
        }
    }
}
