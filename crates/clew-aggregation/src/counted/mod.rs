//! What was counted so far, in a form that merges: over segments, then over shards. Everything is an
//! array indexed by bucket number; a nested aggregation's buckets name their parent's number. It is plain data, which can be
//! written down and read again; what reads it has the plans that it was counted by.

pub(crate) mod arrays;
pub(crate) mod buckets;

use std::sync::Arc;

use clew_query::aggregation::Method;
use clew_query::{AggError, SortKey, compare_rows, json_bytes};
use clew_search::MergedHit;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tantivy::DocId;

use crate::counted::arrays::{DROPPED, follow_each, merge_each};
use crate::counted::buckets::{Buckets, Candidate};
use crate::numbers::matrix::MatrixMoments;
use crate::numbers::moments::{ExtendedMoments, Moments, Points, Weighted};
use crate::numbers::quantile::QuantileState;
use crate::numbers::sketch::Sketch;
use crate::value::key::{Key, KeyTable};

/// The state of one aggregation over all buckets of its parent.
#[allow(
    clippy::large_enum_variant,
    reason = "there is one per aggregation, not one per bucket"
)]
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Partial {
    Buckets(Buckets),
    Moments(Vec<Moments>),
    Extended(Vec<ExtendedMoments>),
    Counts(Vec<u64>),
    Distinct(Sketches),
    TopHits(TopLists),
    Quantiles(QuantileStates),
    Weighted(Vec<Weighted>),
    Points(Vec<Points>),
    Matrix(Vec<MatrixMoments>),
    Scripted(Vec<Gathered>),
}

/// What scripts gather of one bucket.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Gathered {
    /// Documents that they have not seen yet: the places of their segments in the shard, theirs in these, and their scores.
    pub(crate) docs: Vec<(u32, DocId, f32)>,
    /// What each shard answered; in the end the one value that is made of all.
    pub(crate) answers: Vec<Value>,
}

impl Gathered {
    fn merge(&mut self, other: Gathered) {
        self.docs.extend(other.docs);
        self.answers.extend(other.answers);
    }

    fn bytes(&self) -> usize {
        let answers: usize = self.answers.iter().map(json_bytes).sum();
        size_of::<Gathered>() + size_of_val(&self.docs[..]) + answers
    }
}

/// Distributions per bucket.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct QuantileStates {
    pub(crate) states: Vec<QuantileState>,
    pub(crate) method: Method,
}

/// Distinct values per bucket.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Sketches {
    pub(crate) sketches: Vec<Sketch>,
    pub(crate) threshold: usize,
}

/// The first documents of every bucket.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct TopLists {
    pub(crate) lists: Vec<TopList>,
    #[serde(with = "shared")]
    pub(crate) keys: Arc<Vec<SortKey>>,
    pub(crate) limit: usize,
}

/// What is shared, as if it was not.
mod shared {
    use std::sync::Arc;

    use clew_query::SortKey;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(
        keys: &Arc<Vec<SortKey>>,
        out: S,
    ) -> Result<S::Ok, S::Error> {
        keys.as_ref().serialize(out)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        input: D,
    ) -> Result<Arc<Vec<SortKey>>, D::Error> {
        Vec::deserialize(input).map(Arc::new)
    }
}

/// The first documents of one bucket, in order.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct TopList {
    pub(crate) total: u64,
    pub(crate) max_score: Option<f32>,
    pub(crate) hits: Vec<MergedHit>,
}

impl TopList {
    fn merge(&mut self, other: TopList, keys: &[SortKey], limit: usize) {
        self.total += other.total;
        self.max_score = self
            .max_score
            .into_iter()
            .chain(other.max_score)
            .max_by(f32::total_cmp);
        self.hits.extend(other.hits);
        let place = |hit: &MergedHit| (hit.shard, hit.hit.segment, hit.hit.doc);
        self.hits.sort_by(|a, b| {
            compare_rows(keys, &a.hit.sort, &b.hit.sort).then(place(a).cmp(&place(b)))
        });
        self.hits.truncate(limit);
    }
}

impl Partial {
    /// Adds what another counted; `parent_map` turns its parents' numbers into ours. Both come from
    /// the same request, so they have the same shape.
    ///
    /// # Errors
    /// Once the request is over; both are of no use then.
    pub(crate) fn merge(
        &mut self,
        other: Partial,
        parent_map: Option<&[u32]>,
    ) -> Result<(), AggError> {
        match (self, other) {
            (Partial::Buckets(mine), Partial::Buckets(theirs)) => mine.merge(theirs, parent_map),
            (Partial::Moments(mine), Partial::Moments(theirs)) => {
                merge_each(mine, theirs, parent_map, |a, b| a.merge(&b))
            }
            (Partial::Extended(mine), Partial::Extended(theirs)) => {
                merge_each(mine, theirs, parent_map, |a, b| a.merge(&b))
            }
            (Partial::Counts(mine), Partial::Counts(theirs)) => {
                merge_each(mine, theirs, parent_map, |a, b| *a += b)
            }
            (Partial::Distinct(mine), Partial::Distinct(theirs)) => {
                let threshold = mine.threshold;
                merge_each(&mut mine.sketches, theirs.sketches, parent_map, |a, b| {
                    a.merge(b, threshold);
                })
            }
            (Partial::TopHits(mine), Partial::TopHits(theirs)) => {
                let (keys, limit) = (mine.keys.clone(), mine.limit);
                merge_each(&mut mine.lists, theirs.lists, parent_map, |a, b| {
                    a.merge(b, &keys, limit);
                })
            }
            (Partial::Quantiles(mine), Partial::Quantiles(theirs)) => {
                let method = mine.method;
                merge_each(&mut mine.states, theirs.states, parent_map, |a, b| {
                    a.merge(b, method);
                })
            }
            (Partial::Matrix(mine), Partial::Matrix(theirs)) => {
                merge_each(mine, theirs, parent_map, MatrixMoments::merge)
            }
            (Partial::Points(mine), Partial::Points(theirs)) => {
                merge_each(mine, theirs, parent_map, |a, b| a.merge(&b))
            }
            (Partial::Weighted(mine), Partial::Weighted(theirs)) => {
                merge_each(mine, theirs, parent_map, |a, b| a.merge(&b))
            }
            (Partial::Scripted(mine), Partial::Scripted(theirs)) => {
                merge_each(mine, theirs, parent_map, Gathered::merge)
            }
            _ => unreachable!("partial results of one request have the same shape"),
        }
    }

    /// Follows a renumbering of the parents; what belongs to dropped ones goes.
    ///
    /// # Errors
    /// Once the request is over; this is of no use then.
    pub(crate) fn follow(&mut self, parents: &[u32]) -> Result<(), AggError> {
        match self {
            Partial::Buckets(buckets) => {
                let mut next = 0;
                let numbers: Vec<u32> = buckets
                    .table
                    .parents()
                    .iter()
                    .map(|parent| {
                        if parents[*parent as usize] == DROPPED {
                            return DROPPED;
                        }
                        next += 1;
                        next - 1
                    })
                    .collect();
                buckets.renumber(&numbers, Some(parents))
            }
            Partial::Moments(values) => follow_each(values, parents),
            Partial::Extended(values) => follow_each(values, parents),
            Partial::Counts(values) => follow_each(values, parents),
            Partial::Distinct(sketches) => follow_each(&mut sketches.sketches, parents),
            Partial::TopHits(tops) => follow_each(&mut tops.lists, parents),
            Partial::Quantiles(quantiles) => follow_each(&mut quantiles.states, parents),
            Partial::Weighted(values) => follow_each(values, parents),
            Partial::Points(values) => follow_each(values, parents),
            Partial::Matrix(values) => follow_each(values, parents),
            Partial::Scripted(values) => follow_each(values, parents),
        }
    }

    /// Roughly what this holds in memory.
    pub(crate) fn size_bytes(&self) -> usize {
        match self {
            Partial::Buckets(buckets) => {
                let of_keys = |table: &KeyTable<Key>| {
                    let text: usize = table.keys().iter().map(Key::heap_bytes).sum();
                    text + table.len() * (size_of::<Key>() + 4 * size_of::<u32>())
                };
                of_keys(&buckets.table)
                    + of_keys(&buckets.universe)
                    + buckets.counts.len() * size_of::<u64>()
                    + buckets.members.iter().map(Vec::len).sum::<usize>() * size_of::<u32>()
                    + buckets
                        .candidates
                        .iter()
                        .flatten()
                        .map(Candidate::bytes)
                        .sum::<usize>()
                    + buckets.subs.iter().map(Partial::size_bytes).sum::<usize>()
            }
            Partial::Moments(values) => size_of_val(&values[..]),
            Partial::Extended(values) => size_of_val(&values[..]),
            Partial::Counts(values) => size_of_val(&values[..]),
            Partial::TopHits(tops) => {
                let hits = tops.lists.iter().map(|list| list.hits.len()).sum::<usize>();
                size_of_val(&tops.lists[..]) + hits * size_of::<MergedHit>()
            }
            Partial::Weighted(values) => size_of_val(&values[..]),
            Partial::Points(values) => size_of_val(&values[..]),
            Partial::Matrix(values) => {
                let inside: usize = values.iter().map(MatrixMoments::heap_bytes).sum();
                size_of_val(&values[..]) + inside
            }
            Partial::Scripted(values) => values.iter().map(Gathered::bytes).sum(),
            Partial::Quantiles(quantiles) => quantiles
                .states
                .iter()
                .map(|state| state.heap_bytes() + size_of::<QuantileState>())
                .sum(),
            Partial::Distinct(sketches) => sketches
                .sketches
                .iter()
                .map(|sketch| sketch.heap_bytes() + size_of::<Sketch>())
                .sum(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use clew_platform::{CancellationToken, FixedClock};

    use super::*;

    fn numbered(count: u32) -> Buckets {
        let mut table = KeyTable::default();
        for number in 0..count {
            table.number(0, Key::I64(i64::from(number)));
        }
        let ones = vec![1; count as usize];
        Buckets::of(table, ones.clone(), vec![Partial::Counts(ones)])
    }

    fn merged(count: u32) -> Result<(), AggError> {
        let buckets = || Partial::Buckets(numbered(count));
        let mut all = buckets();
        all.merge(buckets(), None)?;
        let Partial::Buckets(all) = all else {
            panic!("buckets stay buckets");
        };
        assert!(all.counts.iter().all(|count| *count == 2));
        Ok(())
    }

    /// Every second bucket goes: how many are left.
    fn cut(count: u32) -> Result<usize, AggError> {
        let mut buckets = numbered(count);
        let kept: Vec<u32> = (0..count)
            .map(|number| match number % 2 {
                0 => number / 2,
                _ => DROPPED,
            })
            .collect();
        buckets.renumber(&kept, None)?;
        Ok(buckets.table.len())
    }

    #[test]
    fn what_nobody_waits_for_is_not_put_together() {
        merged(5_000).unwrap();
        assert_eq!(cut(5_000).unwrap(), 2_500);
        let token = CancellationToken::new();
        // What was counted in time is still put together.
        let clock = Arc::new(FixedClock::default());
        let timed_out = token.until(clock.clone(), Duration::ZERO);
        let entered = timed_out.enter();
        assert!(clew_platform::stopped());
        merged(5_000).unwrap();
        clock.advance(Duration::from_secs(1));
        assert!(merged(5_000).is_err() && cut(5_000).is_err());
        drop(entered);
        token.cancel("by user request");
        let _entered = token.enter();
        assert!(merged(5_000).is_err() && cut(5_000).is_err());
    }
}
