//! Turns merged counts into results: best terms first, gaps filled, every bucket counted against
//! the request's limit as it is made.

use clew_platform::MemoryExceeded;
use clew_query::AggError;

use crate::bucket::InParent;
use crate::counted::Partial;
use crate::counted::buckets::ByParent;
use crate::limits::AggLimits;
use crate::metric::InBucket;
use crate::order::Comparison;
use crate::reduce::{Budget, Node, results_of};
use crate::result::{AggResult, AggResults};
use crate::tree::{Op, Plan};

/// All results of a request.
///
/// # Errors
/// [`AggError::TooManyBuckets`]; an error of its own once the request is over.
pub(crate) fn reduce(
    plans: &[Plan],
    partials: &[Partial],
    limits: AggLimits,
    book: &dyn Fn(usize) -> Result<(), MemoryExceeded>,
) -> Result<AggResults, AggError> {
    let nodes: Vec<Node<'_>> = plans
        .iter()
        .zip(partials)
        .map(|(plan, partial)| node_of(plan, partial))
        .collect::<Result<_, AggError>>()?;
    let mut budget = Budget::new(limits.buckets_max, book);
    let results = results_of(&nodes, Some(0), &mut budget)?;
    Ok(AggResults {
        results,
        hits: budget.hits,
    })
}

/// What was counted in one bucket of its parent; a bucket made to fill a gap has no number.
///
/// # Errors
/// As [`reduce`].
pub(crate) fn result_of(
    plan: &Plan,
    node: &Node<'_>,
    parent: Option<u32>,
    budget: &mut Budget,
) -> Result<AggResult, AggError> {
    match (&plan.op, node.partial) {
        (Op::Bucket(bucket), Partial::Buckets(buckets)) => {
            let of = InParent {
                node,
                buckets,
                parent,
            };
            bucket.as_bucket().result(of, budget)
        }
        (Op::Metric(metric), partial) => {
            let metric = metric.as_metric();
            budget.compute()?;
            budget.charge(metric.result_bytes())?;
            let of = InBucket {
                values: &plan.values,
                partial,
                bucket: parent,
            };
            Ok(metric.result(of, budget))
        }
        _ => unreachable!("a partial result has the shape of its plan"),
    }
}

/// Counts with their buckets sorted by parent, and all that is inside.
fn node_of<'a>(plan: &'a Plan, partial: &'a Partial) -> Result<Node<'a>, AggError> {
    let mut node = Node {
        plan,
        partial,
        by_parent: ByParent::default(),
        comparison: None,
        subs: Vec::new(),
    };
    if let (Op::Bucket(bucket), Partial::Buckets(buckets)) = (&plan.op, partial) {
        let order = bucket.as_bucket().order();
        node.by_parent = buckets.by_parent()?;
        let comparison = order.map(|order| Comparison::new(buckets, order));
        node.comparison = comparison.transpose()?;
        let subs = plan.subs.iter().zip(&buckets.subs);
        let subs = subs.map(|(plan, sub)| node_of(plan, sub));
        node.subs = subs.collect::<Result<_, AggError>>()?;
    }
    Ok(node)
}
