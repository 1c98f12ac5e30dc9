//! What was counted so far, in a form that merges: over segments, then over shards. Everything is an
//! array indexed by bucket number; a nested aggregation's buckets name their parent's number.

use std::sync::Arc;

use clew_platform::Pace;
use clew_query::{AggError, go_on_reducing};
use clew_query::{SortKey, compare_rows};
use clew_search::MergedHit;

use super::key::{Key, KeyTable, number_of};
use super::matrix::MatrixMoments;
use super::moments::{ExtendedMoments, Moments, Points, Weighted};
use super::plan::{Op, Plan, Property};
use super::quantile::QuantileState;
use super::significance::Background;
use super::sketch::Sketch;
use clew_query::aggregation::Method;

/// A bucket that was not kept.
pub(crate) const DROPPED: u32 = u32::MAX;

/// The state of one aggregation over all buckets of its parent.
#[allow(
    clippy::large_enum_variant,
    reason = "there is one per aggregation, not one per bucket"
)]
#[derive(Clone, Debug)]
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
}

/// Distributions per bucket.
#[derive(Clone, Debug, Default)]
pub(crate) struct QuantileStates {
    pub(crate) states: Vec<QuantileState>,
    pub(crate) method: Method,
}

impl QuantileStates {
    /// One number of each bucket.
    pub(crate) fn numbers(&self, property: Property) -> Vec<f64> {
        let one = |state: &QuantileState| {
            let number = match property {
                Property::Point(percent) => state.percentiles(&[percent], self.method)[0],
                Property::Rank(value) => state.ranks(&[value], self.method)[0],
                _ => state.median_deviation(self.method),
            };
            number.unwrap_or(f64::NAN)
        };
        self.states.iter().map(one).collect()
    }
}

/// Distinct values per bucket.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sketches {
    pub(crate) sketches: Vec<Sketch>,
    pub(crate) threshold: usize,
}

/// The first documents of every bucket.
#[derive(Clone, Debug, Default)]
pub(crate) struct TopLists {
    pub(crate) lists: Vec<TopList>,
    pub(crate) keys: Arc<Vec<SortKey>>,
    pub(crate) limit: usize,
}

/// The first documents of one bucket, in order.
#[derive(Clone, Debug, Default)]
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

/// Buckets, what is nested in them, and what terms add.
#[derive(Clone, Debug, Default)]
pub(crate) struct Buckets {
    pub(crate) table: KeyTable<Key>,
    pub(crate) counts: Vec<u64>,
    pub(crate) subs: Vec<Partial>,
    /// All terms of the segments, where those without documents are listed too.
    pub(crate) universe: KeyTable<Key>,
    /// Per parent: what shards left out. Empty until a shard is done.
    pub(crate) left_out: Vec<LeftOut>,
    /// Per bucket: the errors of the shards that did report it. Empty until a shard is done.
    pub(crate) reported: Vec<u64>,
    /// Per parent: the buckets to show, where the data decided on them. Filled when all is merged.
    pub(crate) axes: Vec<Axis>,
    /// Per bucket: its least and greatest value, where buckets are clusters.
    pub(crate) extents: Vec<(f64, f64)>,
    /// What the scores of significant terms need.
    pub(crate) background: Background,
    /// Per bucket: the families whose documents are to be counted. Empty once they were.
    pub(crate) members: Vec<Vec<u32>>,
}

/// The starts of the buckets of one parent, and how long one is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Axis {
    pub(crate) starts: Vec<i64>,
    pub(crate) interval: String,
}

/// What shards left out of a parent's terms.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LeftOut {
    /// Shards that had the parent at all.
    pub(crate) shards: u32,
    /// Documents in buckets that were not reported.
    pub(crate) documents: u64,
    /// By how much a count may be too low; meaningless when `unbounded`.
    pub(crate) error: u64,
    /// Whether nothing can be said about the error.
    pub(crate) unbounded: bool,
}

impl LeftOut {
    fn merge(&mut self, other: LeftOut) {
        self.shards += other.shards;
        self.documents += other.documents;
        self.error += other.error;
        self.unbounded |= other.unbounded;
    }
}

impl Buckets {
    pub(crate) fn of(table: KeyTable<Key>, counts: Vec<u64>, subs: Vec<Partial>) -> Self {
        debug_assert_eq!(table.len(), counts.len());
        Buckets {
            table,
            counts,
            subs,
            ..Buckets::default()
        }
    }

    fn merge(&mut self, other: Buckets, parent_map: Option<&[u32]>) -> Result<(), AggError> {
        let map = |parent: u32| parent_map.map_or(parent, |map| map[parent as usize]);
        let Buckets {
            table,
            counts,
            subs,
            universe,
            left_out,
            reported,
            axes: _,
            extents: _,
            background,
            members,
        } = other;
        let (parents, keys) = table.into_parts();
        let mut numbers = Vec::with_capacity(keys.len());
        let mut pace = Pace::default();
        for ((parent, key), count) in parents.into_iter().zip(keys).zip(counts) {
            go_on_reducing(&mut pace)?;
            let (number, _) = self.table.number(map(parent), key);
            reach(&mut self.counts, number);
            self.counts[number as usize] += count;
            numbers.push(number);
        }
        for (mine, theirs) in self.subs.iter_mut().zip(subs) {
            mine.merge(theirs, Some(&numbers))?;
        }
        for (number, members) in numbers.iter().zip(members) {
            reach(&mut self.members, *number);
            self.members[*number as usize].extend(members);
        }
        merge_each(
            &mut self.background.sizes,
            background.sizes,
            parent_map,
            |a, b| *a += b,
        )?;
        for (number, count) in numbers.iter().zip(background.with) {
            reach(&mut self.background.with, *number);
            self.background.with[*number as usize] += count;
        }
        self.background.all += background.all;
        for key in universe.into_parts().1 {
            go_on_reducing(&mut pace)?;
            self.universe.number(0, key);
        }
        for (parent, left_out) in (0_u32..).zip(left_out) {
            // A shard that never saw the parent has nothing to say about it.
            if left_out.shards > 0 {
                let parent = map(parent);
                reach(&mut self.left_out, parent);
                self.left_out[parent as usize].merge(left_out);
            }
        }
        for (number, error) in numbers.iter().zip(reported) {
            reach(&mut self.reported, *number);
            self.reported[*number as usize] += error;
        }
        Ok(())
    }

    /// Keeps the buckets that have a new number, under parents that have one.
    pub(crate) fn renumber(&mut self, numbers: &[u32], parent_map: Option<&[u32]>) {
        let (parents, keys) = std::mem::take(&mut self.table).into_parts();
        let counts = std::mem::take(&mut self.counts);
        let kept = numbers.iter().filter(|number| **number != DROPPED).count();
        let mut rows: Vec<Option<(u32, Key, u64)>> = vec![None; kept];
        for (((number, parent), key), count) in numbers.iter().zip(parents).zip(keys).zip(counts) {
            if *number != DROPPED {
                let parent = parent_map.map_or(parent, |map| map[parent as usize]);
                rows[*number as usize] = Some((parent, key, count));
            }
        }
        let mut parents = Vec::with_capacity(kept);
        let mut keys = Vec::with_capacity(kept);
        for (parent, key, count) in rows.into_iter().flatten() {
            parents.push(parent);
            keys.push(key);
            self.counts.push(count);
        }
        self.table = KeyTable::of_distinct(parents, keys);
        follow_each(&mut self.background.with, numbers);
        if let Some(map) = parent_map {
            follow_each(&mut self.background.sizes, map);
        }
        for sub in &mut self.subs {
            sub.follow(numbers);
        }
    }

    /// The bucket numbers of each parent, in order of number.
    pub(crate) fn by_parent(&self) -> ByParent {
        ByParent::of(self.table.parents())
    }
}

/// Lists of bucket numbers, one per parent, in two arrays.
#[derive(Debug, Default)]
pub(crate) struct ByParent {
    starts: Vec<u32>,
    numbers: Vec<u32>,
}

impl ByParent {
    fn of(parents: &[u32]) -> Self {
        let count = parents.iter().max().map_or(0, |max| *max as usize + 1);
        let mut starts = vec![0_u32; count + 1];
        for parent in parents {
            starts[*parent as usize + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut next = starts.clone();
        let mut numbers = vec![0_u32; parents.len()];
        for (number, parent) in (0_u32..).zip(parents) {
            let at = &mut next[*parent as usize];
            numbers[*at as usize] = number;
            *at += 1;
        }
        ByParent { starts, numbers }
    }

    pub(crate) fn of_parent(&self, parent: u32) -> &[u32] {
        let at = parent as usize;
        match (self.starts.get(at), self.starts.get(at + 1)) {
            (Some(start), Some(end)) => &self.numbers[*start as usize..*end as usize],
            _ => &[],
        }
    }
}

impl Partial {
    /// Nothing counted.
    pub(crate) fn empty(plan: &Plan) -> Self {
        match &plan.op {
            Op::Terms(_)
            | Op::DateHistogram(_)
            | Op::Histogram(_)
            | Op::Range(_)
            | Op::Missing
            | Op::Join(_)
            | Op::Relatives(_)
            | Op::Filters(_)
            | Op::Global
            | Op::Sample(_)
            | Op::Composite(_)
            | Op::MultiTerms { .. }
            | Op::AutoDate(_)
            | Op::Grid { .. }
            | Op::Clusters { .. } => Partial::Buckets(Buckets {
                subs: plan.subs.iter().map(Partial::empty).collect(),
                ..Buckets::default()
            }),
            Op::TopHits(top) => Partial::TopHits(TopLists {
                lists: Vec::new(),
                keys: top.keys.clone(),
                limit: top.limit,
            }),
            Op::Moments(_) => Partial::Moments(Vec::new()),
            Op::Extended { .. } => Partial::Extended(Vec::new()),
            Op::ValueCount => Partial::Counts(Vec::new()),
            Op::Cardinality { threshold } => Partial::Distinct(Sketches {
                sketches: Vec::new(),
                threshold: *threshold,
            }),
            Op::Quantiles(quantiles) => Partial::Quantiles(QuantileStates {
                states: Vec::new(),
                method: quantiles.method,
            }),
            Op::WeightedAvg { .. } => Partial::Weighted(Vec::new()),
            Op::Matrix { .. } => Partial::Matrix(Vec::new()),
            Op::GeoBounds { .. } | Op::GeoCentroid => Partial::Points(Vec::new()),
        }
    }

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
            _ => unreachable!("partial results of one request have the same shape"),
        }
    }

    /// Follows a renumbering of the parents; what belongs to dropped ones goes.
    pub(crate) fn follow(&mut self, parents: &[u32]) {
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
                buckets.renumber(&numbers, Some(parents));
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

fn reach<T: Clone + Default>(values: &mut Vec<T>, at: u32) {
    if at as usize >= values.len() {
        values.resize(at as usize + 1, T::default());
    }
}

fn merge_each<T: Clone + Default>(
    mine: &mut Vec<T>,
    theirs: Vec<T>,
    parent_map: Option<&[u32]>,
    merge: impl Fn(&mut T, T),
) -> Result<(), AggError> {
    // Sketches and digests take microseconds each.
    let mut pace = Pace::of_blocks();
    for (parent, value) in theirs.into_iter().enumerate() {
        let parent = match parent_map {
            None => number_of(parent),
            // Arrays grow in steps; what lies beyond the parents was never written.
            Some(map) => match map.get(parent) {
                Some(parent) => *parent,
                None => break,
            },
        };
        go_on_reducing(&mut pace)?;
        reach(mine, parent);
        merge(&mut mine[parent as usize], value);
    }
    Ok(())
}

fn follow_each<T: Clone + Default>(values: &mut Vec<T>, parents: &[u32]) {
    let old = std::mem::take(values);
    for (value, parent) in old.into_iter().zip(parents) {
        if *parent != DROPPED {
            reach(values, *parent);
            values[*parent as usize] = value;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use clew_platform::{CancellationToken, FixedClock};

    use super::*;

    fn merged(count: u32) -> Result<(), AggError> {
        let buckets = || {
            let mut table = KeyTable::default();
            for number in 0..count {
                table.number(0, Key::I64(i64::from(number)));
            }
            let ones = vec![1; count as usize];
            Partial::Buckets(Buckets::of(
                table,
                ones.clone(),
                vec![Partial::Counts(ones)],
            ))
        };
        let mut all = buckets();
        all.merge(buckets(), None)?;
        let Partial::Buckets(all) = all else {
            panic!("buckets stay buckets");
        };
        assert!(all.counts.iter().all(|count| *count == 2));
        Ok(())
    }

    #[test]
    fn what_nobody_waits_for_is_not_put_together() {
        merged(5_000).unwrap();
        let token = CancellationToken::new();
        // What was counted in time is still put together.
        let clock = Arc::new(FixedClock::default());
        let timed_out = token.until(clock.clone(), Duration::ZERO);
        let entered = timed_out.enter();
        assert!(clew_platform::stopped());
        merged(5_000).unwrap();
        clock.advance(Duration::from_secs(1));
        assert!(merged(5_000).is_err());
        drop(entered);
        token.cancel("by user request");
        let _entered = token.enter();
        assert!(merged(5_000).is_err());
    }
}
