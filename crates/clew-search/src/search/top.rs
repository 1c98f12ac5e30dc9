//! The best documents by score, as hits.

use super::hit::ShardHit;
use crate::segments::TopScores;
use clew_query::SortValue;

/// The hits in order. `with_values`: they carry their score as a sort value too.
pub(crate) fn hits_of(best: TopScores, with_values: bool) -> Vec<ShardHit> {
    best.into_candidates()
        .map(|(segment, doc, score)| ShardHit {
            segment,
            doc,
            score: Some(score),
            sort: if with_values {
                vec![SortValue::Score(score)]
            } else {
                Vec::new()
            },
            group: None,
        })
        .collect()
}
