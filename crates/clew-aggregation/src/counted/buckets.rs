//! Buckets as they are counted: their keys and parents, what is nested in them, and what some aggregations note besides.

use clew_platform::{Pace, Reservation, book_for_a_while};
use clew_query::aggregation::Heuristic;
use clew_query::{AggError, go_on_reducing};
use serde::{Deserialize, Serialize};
use tantivy::DocId;

use crate::counted::Partial;
use crate::counted::arrays::{DROPPED, follow_each, merge_each, reach};
use crate::numbers::heuristic::score;
use crate::value::key::{Key, KeyTable};

/// Buckets, what is nested in them, and what terms add.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
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
    /// Per bucket: the documents that may be in its sample. Empty once it was taken.
    pub(crate) candidates: Vec<Vec<Candidate>>,
}

/// A document that may be in a sample.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Candidate {
    pub(crate) score: f32,
    /// The place of its segment in the shard.
    pub(crate) ord: u32,
    pub(crate) doc: DocId,
    /// Its value, where few documents with the same one are wanted.
    pub(crate) key: Key,
}

impl Candidate {
    /// Roughly what it holds in memory.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<Candidate>() + self.key.heap_bytes()
    }
}

/// The starts of the buckets of one parent, and how long one is.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Axis {
    pub(crate) starts: Vec<i64>,
    pub(crate) interval: String,
}

/// What shards left out of a parent's terms.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
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
    pub(crate) fn merge(&mut self, other: LeftOut) {
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

    pub(crate) fn merge(
        &mut self,
        other: Buckets,
        parent_map: Option<&[u32]>,
    ) -> Result<(), AggError> {
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
            candidates,
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
        for (number, candidates) in numbers.iter().zip(candidates) {
            reach(&mut self.candidates, *number);
            self.candidates[*number as usize].extend(candidates);
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
    ///
    /// # Errors
    /// Once the request is over; the buckets are of no use then.
    pub(crate) fn renumber(
        &mut self,
        numbers: &[u32],
        parent_map: Option<&[u32]>,
    ) -> Result<(), AggError> {
        let mut pace = Pace::default();
        let (parents, keys) = std::mem::take(&mut self.table).into_parts();
        let counts = std::mem::take(&mut self.counts);
        let kept = numbers.iter().filter(|number| **number != DROPPED).count();
        let mut rows: Vec<Option<(u32, Key, u64)>> = vec![None; kept];
        for (((number, parent), key), count) in numbers.iter().zip(parents).zip(keys).zip(counts) {
            go_on_reducing(&mut pace)?;
            if *number != DROPPED {
                let parent = parent_map.map_or(parent, |map| map[parent as usize]);
                rows[*number as usize] = Some((parent, key, count));
            }
        }
        let mut parents = Vec::with_capacity(kept);
        let mut keys = Vec::with_capacity(kept);
        for (parent, key, count) in rows.into_iter().flatten() {
            go_on_reducing(&mut pace)?;
            parents.push(parent);
            keys.push(key);
            self.counts.push(count);
        }
        self.table = KeyTable::of_distinct(parents, keys);
        follow_each(&mut self.background.with, numbers)?;
        if let Some(map) = parent_map {
            follow_each(&mut self.background.sizes, map)?;
        }
        self.subs.iter_mut().try_for_each(|sub| sub.follow(numbers))
    }

    /// The bucket numbers of each parent, in order of number.
    ///
    /// # Errors
    /// When there is no memory for them.
    pub(crate) fn by_parent(&self) -> Result<ByParent, AggError> {
        ByParent::of(self.table.parents())
    }
}

/// Lists of bucket numbers, one per parent, in two arrays.
#[derive(Debug, Default)]
pub(crate) struct ByParent {
    starts: Vec<u32>,
    numbers: Vec<u32>,
    _memory: Option<Reservation>,
}

impl ByParent {
    fn of(parents: &[u32]) -> Result<Self, AggError> {
        let count = parents.iter().max().map_or(0, |max| *max as usize + 1);
        let held = 2 * (count + 1) + parents.len();
        let memory = book_for_a_while(held * size_of::<u32>())?;
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
        Ok(ByParent {
            starts,
            numbers,
            _memory: memory,
        })
    }

    pub(crate) fn of_parent(&self, parent: u32) -> &[u32] {
        let at = parent as usize;
        match (self.starts.get(at), self.starts.get(at + 1)) {
            (Some(start), Some(end)) => &self.numbers[*start as usize..*end as usize],
            _ => &[],
        }
    }
}

/// Keeps the buckets that are marked.
///
/// # Errors
/// As [`Buckets::renumber`].
pub(crate) fn retain(buckets: &mut Buckets, keep: &[bool]) -> Result<(), AggError> {
    let mut next = 0_u32;
    let number = |kept: &bool| {
        if !kept {
            return DROPPED;
        }
        next += 1;
        next - 1
    };
    let numbers: Vec<u32> = keep.iter().map(number).collect();
    if numbers.contains(&DROPPED) {
        buckets.renumber(&numbers, None)?;
    }
    Ok(())
}

/// What a score needs beside the buckets' own counts.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Background {
    /// Documents per parent.
    pub(crate) sizes: Vec<u64>,
    /// Documents of the background that have the term, per bucket.
    pub(crate) with: Vec<u64>,
    /// All documents of the background.
    pub(crate) all: u64,
}

impl Buckets {
    /// The score of each bucket.
    ///
    /// # Errors
    /// Where a script fails; once nobody wants it any more.
    pub(crate) fn scores(&self, heuristic: &Heuristic) -> Result<Vec<f64>, AggError> {
        let background = &self.background;
        let mut pace = Pace::of_blocks();
        let of_bucket = |(at, parent): (usize, &u32)| {
            go_on_reducing(&mut pace)?;
            let size = background.sizes.get(*parent as usize).copied().unwrap_or(0);
            let with = background.with.get(at).copied().unwrap_or(0);
            score(heuristic, (self.counts[at], size), (with, background.all))
        };
        self.table
            .parents()
            .iter()
            .enumerate()
            .map(of_bucket)
            .collect()
    }
}
