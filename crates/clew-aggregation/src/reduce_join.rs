//! Top hits of one bucket, as a result.

use super::partial::TopLists;
use super::plan::{Op, Plan};
use super::reduce::Budget;
use super::result::{AggResult, TopHitsResult};

/// The first documents of a bucket, which go beside the results.
pub(crate) fn top_hits_result(
    plan: &Plan,
    lists: &TopLists,
    parent: Option<u32>,
    budget: &mut Budget<'_>,
) -> AggResult {
    let Op::TopHits(plan) = &plan.op else {
        unreachable!("a partial result has the shape of its plan");
    };
    let list = parent.and_then(|parent| lists.lists.get(parent as usize));
    let found = list.map_or(&[][..], |list| &list.hits);
    let first = budget.hits.len();
    for hit in found.get(plan.from..).unwrap_or_default() {
        let mut hit = hit.clone();
        if !plan.is_sorted {
            hit.hit.sort.clear();
        }
        budget.hits.push(hit);
    }
    AggResult::TopHits(TopHitsResult {
        total: list.map_or(0, |list| list.total),
        max_score: list
            .and_then(|list| list.max_score)
            .filter(|_| !plan.is_sorted),
        hits: first..budget.hits.len(),
    })
}
