//! What a shard answers where all that is asked is a clause for the nearest, which all shards answer together: the best of what
//! was found. No query is compiled for it, and no document looked at, in any of them.

use std::time::Duration;

use clew_query::{KnnQuery, Query, QueryError};
use clew_schema::FieldKind;
use clew_search::{KnnResolver, Relation, SegmentBits, ShardHit, ShardResult, Total, in_time};

use super::{Moment, ShardAnswer, ShardFound, ShardQuestion, limit_of};
use crate::base::error::EngineError;
use crate::node::engine::Inner;
use crate::search::knn::ViewKnn;
use crate::search::pinned::PinnedShard;
use crate::search::request::{ProfileDetail, SearchRequest};

impl<'a> ShardQuestion<'a> {
    /// The clause, where nothing else decides on the shard's answer. What is wrong with its field is told by whoever compiles it,
    /// and so is what each step of that has cost.
    pub(super) fn only_clause(
        &self,
        target: &PinnedShard,
        request: &SearchRequest,
    ) -> Option<&'a KnnQuery> {
        let (Some((_, together)), Query::Knn(clause)) = (self.shared, self.query) else {
            return None;
        };
        let mapping = target.mapping();
        let field = mapping.field(&clause.field)?;
        let is_answered = matches!(field.kind, FieldKind::Vector(_))
            && mapping.nested_scope(&field.path).is_none()
            && (clause.filter.is_none() || together.passing(target).is_some())
            && request.profile != ProfileDetail::Everything;
        is_answered.then_some(clause)
    }
}

impl Inner {
    /// The shard's answer to such a clause, not yet with how long it took.
    pub(super) fn neighbours(
        &self,
        target: &PinnedShard,
        (request, question, clause): (&SearchRequest, ShardQuestion<'_>, &KnnQuery),
        moment: Moment,
    ) -> Result<ShardAnswer, EngineError> {
        let knn = ViewKnn {
            shared: question.shared(target, request),
            ..target.knn()
        };
        let memory = self.hits_memory(target, request)?;
        let passing = question.shared.and_then(|(_, found)| found.passing(target));
        let mut result = best_of((&knn, passing), clause, request)?;
        knn.shared
            .iter()
            .for_each(|shared| shared.count(&mut result));
        self.report_damage(target);
        Ok(ShardAnswer {
            found: ShardFound {
                result,
                parts: Vec::new(),
                knn: Vec::new(),
                took: Duration::ZERO,
                queries: None,
            },
            aggs: None,
            memory,
            spent: None,
            began: moment.now,
        })
    }
}

/// The best of the neighbours among the documents that pass, or all, those of equal scores in the order of the shard.
fn best_of(
    (knn, passing): (&ViewKnn<'_>, Option<&[SegmentBits]>),
    clause: &KnnQuery,
    request: &SearchRequest,
) -> Result<ShardResult, QueryError> {
    let Some(found) = in_time(|| knn.resolve(clause, passing))? else {
        return Ok(ShardResult::too_late(request.track_total));
    };
    let mut hits = Vec::new();
    for (segment, found) in found.into_iter().enumerate() {
        hits.extend(found.into_iter().map(|(doc, score)| ShardHit {
            segment,
            doc,
            score: Some(score * clause.boost),
            sort: Vec::new(),
            group: None,
        }));
    }
    let total = Total {
        value: hits.len() as u64,
        relation: Relation::Eq,
    };
    let score = |hit: &ShardHit| hit.score.unwrap_or_default();
    hits.sort_by(|a, b| score(b).total_cmp(&score(a)));
    hits.truncate(limit_of(request));
    Ok(ShardResult {
        total,
        max_score: hits.first().and_then(|best| best.score),
        hits,
        timed_out: false,
        terminated_early: false,
    })
}
