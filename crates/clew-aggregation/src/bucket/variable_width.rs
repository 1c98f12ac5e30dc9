//! `variable_width_histogram`: buckets where the values are. Each distinct value is a cluster at first, and the two nearest
//! neighbours become one until they are few enough.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use clew_platform::Pace;
use clew_query::aggregation::VariableWidthSpec;
use clew_query::{AggError, go_on_reducing, sorted_in_time};

use crate::bucket::terms::{Terms, TermsPlan, TermsShape, every_term};
use crate::bucket::{AskedBuckets, Asking, BucketAgg, BucketPlan, InParent, Opening};
use crate::collect::{Collect, Planned};
use crate::counted::Partial;
use crate::counted::buckets::Buckets;
use crate::field::values::plan_values;
use crate::field::{TermSets, ValuePlan};
use crate::reduce::{Budget, results_of};
use crate::result::{AggResult, Bucket, BucketExtra, HistogramResult};
use crate::value::key::{Key, KeyTable};

/// Distinct values, joined to so many buckets at the end.
#[derive(Clone, Debug)]
pub(crate) struct ClustersPlan {
    pub(crate) terms: TermsPlan,
    pub(crate) target: usize,
}

/// Values that lie together.
#[derive(Clone, Debug)]
struct Cluster {
    sum: f64,
    count: f64,
    min: f64,
    max: f64,
    members: Vec<u32>,
}

impl Cluster {
    fn mean(&self) -> f64 {
        self.sum / self.count
    }
}

/// Distances in an order that has no exceptions.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Distance(f64);

impl Eq for Distance {}

impl Ord for Distance {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Distance {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// Joins each parent's values to so many buckets at most. A bucket's key becomes the mean of its
/// values.
///
/// # Errors
/// Once the request is over.
fn joined_clusters(
    target: usize,
    plan: &dyn Planned,
    buckets: Buckets,
) -> Result<Buckets, AggError> {
    let by_parent = buckets.by_parent()?;
    let parents = buckets.table.parent_count();
    let mut table: KeyTable<Key> = KeyTable::default();
    let mut counts: Vec<u64> = Vec::new();
    let mut extents = Vec::new();
    let mut map = vec![0_u32; buckets.table.len()];
    let mut pace = Pace::default();
    for parent in 0..parents {
        let single = |number: &u32| one(&buckets, *number);
        let mut values: Vec<Cluster> = by_parent.of_parent(parent).iter().map(single).collect();
        values.sort_by(|a, b| a.min.total_cmp(&b.min));
        for cluster in clusters(values, target, &mut pace)? {
            let (number, _) = table.number(parent, Key::F64(cluster.mean()));
            counts.resize(counts.len().max(number as usize + 1), 0);
            extents.resize(counts.len(), (cluster.min, cluster.max));
            for member in cluster.members {
                counts[number as usize] += buckets.counts[member as usize];
                map[member as usize] = number;
            }
        }
    }
    let mut subs: Vec<Partial> = plan.empty_subs();
    for (mine, theirs) in subs.iter_mut().zip(buckets.subs) {
        mine.merge(theirs, Some(&map))?;
    }
    Ok(Buckets {
        extents,
        ..Buckets::of(table, counts, subs)
    })
}

#[allow(
    clippy::cast_precision_loss,
    reason = "means are computed in floating point"
)]
fn one(buckets: &Buckets, number: u32) -> Cluster {
    let value = match buckets.table.keys()[number as usize] {
        Key::F64(value) => value,
        Key::I64(value) | Key::Date(value) => value as f64,
        Key::U64(value) => value as f64,
        _ => 0.0,
    };
    let count = buckets.counts[number as usize] as f64;
    Cluster {
        sum: value * count,
        count,
        min: value,
        max: value,
        members: vec![number],
    }
}

/// The nearest neighbours are found by a heap; what it says of clusters that have changed since is
/// passed over.
///
/// # Errors
/// Once the request is over.
fn clusters(
    values: Vec<Cluster>,
    target: usize,
    pace: &mut Pace,
) -> Result<Vec<Cluster>, AggError> {
    let mut left = values.len();
    let mut all: Vec<Option<Cluster>> = values.into_iter().map(Some).collect();
    let last = all.len();
    let mut next: Vec<usize> = (1..=last).collect();
    let mut previous: Vec<Option<usize>> = (0..last).map(|at| at.checked_sub(1)).collect();
    let mut versions = vec![0_u32; last];
    let mut heap = BinaryHeap::new();
    let offer = |heap: &mut BinaryHeap<_>,
                 all: &[Option<Cluster>],
                 pair: (usize, usize),
                 versions: &[u32]| {
        if let (Some(Some(a)), Some(Some(b))) = (all.get(pair.0), all.get(pair.1)) {
            let distance = Distance(b.mean() - a.mean());
            heap.push(Reverse((
                distance,
                pair,
                (versions[pair.0], versions[pair.1]),
            )));
        }
    };
    for at in 1..last {
        offer(&mut heap, &all, (at - 1, at), &versions);
    }
    while left > target.max(1) {
        go_on_reducing(pace)?;
        let Some(Reverse((_, (a, b), seen))) = heap.pop() else {
            break;
        };
        if seen != (versions[a], versions[b]) {
            continue;
        }
        let Some(mut gone) = all[b].take() else {
            continue;
        };
        if let Some(kept) = &mut all[a] {
            // The shorter list is the one that is copied: a long one that grows to its left would be, each time.
            if gone.members.len() > kept.members.len() {
                std::mem::swap(&mut gone.members, &mut kept.members);
            }
            kept.sum += gone.sum;
            kept.count += gone.count;
            kept.max = gone.max;
            kept.members.extend(gone.members);
        }
        left -= 1;
        versions[a] += 1;
        versions[b] += 1;
        next[a] = next[b];
        if let Some(of_next) = previous.get_mut(next[a]) {
            *of_next = Some(a);
        }
        offer(&mut heap, &all, (a, next[a]), &versions);
        if let Some(before) = previous[a] {
            offer(&mut heap, &all, (before, a), &versions);
        }
    }
    Ok(all.into_iter().flatten().collect())
}

impl AskedBuckets for VariableWidthSpec {
    fn plan(&self, asking: &Asking<'_>) -> Result<(ValuePlan, BucketPlan), AggError> {
        let values = plan_values(&self.source, "variable_width_histogram", asking.context)?;
        let plan = ClustersPlan {
            terms: every_term(TermSets::default(), TermsShape::Plain),
            target: self.buckets as usize,
        };
        Ok((values, plan.into()))
    }
}

impl BucketAgg for ClustersPlan {
    fn open(&self, opening: Opening<'_>) -> Result<Box<dyn Collect>, AggError> {
        let Opening {
            segment,
            plan,
            level,
        } = opening;
        Ok(Box::new(Terms::open(segment, plan, &self.terms, level)?))
    }

    fn result(&self, of: InParent<'_>, budget: &mut Budget<'_>) -> Result<AggResult, AggError> {
        let InParent {
            node,
            buckets,
            parent,
        } = of;
        let key = |number: &u32| &buckets.table.keys()[*number as usize];
        let numbers = node.numbers(parent).to_vec();
        let numbers = sorted_in_time(numbers, |a, b| key(a).cmp(key(b)))?;
        let mut made = Vec::with_capacity(numbers.len());
        for number in numbers {
            budget.take()?;
            let at = number as usize;
            let (min, max) = buckets.extents.get(at).copied().unwrap_or_default();
            made.push(Bucket {
                key: key(&number).clone(),
                doc_count: buckets.counts[at],
                doc_count_error: None,
                extra: BucketExtra::Extent { min, max },
                subs: results_of(&node.subs, Some(number), budget)?,
            });
        }
        Ok(AggResult::VariableWidth(HistogramResult {
            buckets: made,
            keyed: false,
            format: node.plan.values().format.clone(),
        }))
    }

    fn profiled_as(&self, _: &ValuePlan) -> &'static str {
        "VariableWidthHistogramAggregator"
    }

    fn settle(&self, plan: &dyn Planned, buckets: Buckets) -> Result<Buckets, AggError> {
        joined_clusters(self.target, plan, buckets)
    }
}

#[cfg(test)]
mod tests {
    use clew_platform::CancellationToken;

    use super::*;

    #[test]
    fn near_values_become_one() {
        let values = [-3.0, -2.0, 1.0, 4.0, 5.0];
        let cluster = |(number, value): (u32, &f64)| Cluster {
            sum: *value,
            count: 1.0,
            min: *value,
            max: *value,
            members: vec![number],
        };
        let joined = |values, target| clusters(values, target, &mut Pace::default()).unwrap();
        let made = joined((0..).zip(&values).map(cluster).collect(), 3);
        let means: Vec<f64> = made.iter().map(Cluster::mean).collect();
        assert_eq!(means, [-2.5, 1.0, 4.5]);
        assert_eq!((made[2].min, made[2].max), (4.0, 5.0));
        let all = joined(made, 1);
        assert_eq!(all.len(), 1);
        let mut members = all[0].members.clone();
        members.sort_unstable();
        assert_eq!(members, [0, 1, 2, 3, 4]);
    }

    #[test]
    fn values_are_not_joined_for_nobody() {
        let value = |number: u32| Cluster {
            sum: f64::from(number),
            count: 1.0,
            min: f64::from(number),
            max: f64::from(number),
            members: vec![number],
        };
        let token = CancellationToken::new();
        token.cancel("by user request");
        let _entered = token.enter();
        let values = (0..3_000).map(value).collect();
        assert!(clusters(values, 1, &mut Pace::default()).is_err());
    }
}
