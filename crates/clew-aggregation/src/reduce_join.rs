//! Top hits of one bucket, as a result.

use super::partial::TopLists;
use super::plan::{Op, Plan};
use super::reduce::Budget;
use super::result::{AggResult, TopHit, TopHitsResult};

/// The first documents of a bucket, each with what goes with it.
pub(crate) fn top_hits_result(
    plan: &Plan,
    lists: &TopLists,
    parent: Option<u32>,
    budget: &Budget<'_>,
) -> AggResult {
    let Op::TopHits(plan) = &plan.op else {
        unreachable!("a partial result has the shape of its plan");
    };
    let list = parent.and_then(|parent| lists.lists.get(parent as usize));
    let found = list.map_or(&[][..], |list| &list.hits);
    let shown = found.get(plan.from..).unwrap_or_default();
    let hits = shown.iter().map(|hit| {
        let mut hit = hit.clone();
        if !plan.is_sorted {
            hit.hit.sort.clear();
        }
        TopHit {
            document: (budget.attach)(&hit),
            hit,
        }
    });
    AggResult::TopHits(TopHitsResult {
        total: list.map_or(0, |list| list.total),
        max_score: list
            .and_then(|list| list.max_score)
            .filter(|_| !plan.is_sorted),
        hits: hits.collect(),
        is_sorted: plan.is_sorted,
        attached: plan.attached.clone(),
    })
}
