//! The first matches of a query whose matches all score the same: these are the best ones.
//!
//! Where the matches are those of posting lists, as they are for prefixes and patterns, none need be looked at but the
//! first ones as soon as the longest lists of the segments are certain to have as many documents as are counted.

use std::collections::VecDeque;

use clew_platform::{Pace, stopped};
use clew_query::QueryError;
use tantivy::{DocId, SegmentReader, TERMINATED};

use super::request::{ShardRequest, ShardResult};
use super::run::{Counting, Run, below, counting};
use crate::query::DocumentSet;
use crate::query::unscored;
use crate::ranked::Lists;
use crate::segments::SegmentBits;
use crate::segments::TopScores;

/// Documents that are merged from the beginnings of their lists, rather than marked one by one.
const MERGED_MAX: usize = 256;

/// Places of postings that are held of segments that come later.
const HELD_MAX: usize = 65_536;

pub(super) fn first_matches(
    run: &Run<'_>,
    request: &ShardRequest<'_>,
    score: f32,
) -> Result<ShardResult, QueryError> {
    let weight = unscored(run.snapshot, &run.plan)?;
    let skip_all = below(request)?.is_some_and(|below| score >= below);
    let mut found = Matches {
        run,
        counting: counting(run, request.track_total),
        top: TopScores::new(request.limit, below(request)?),
        limit: request.limit,
        score,
        seen: 0,
    };
    let mut ahead = Ahead::new(run);
    let mut timed_out = false;
    for (segment, reader) in run.snapshot.readers.iter().enumerate() {
        if found.is_enough(skip_all) {
            break;
        }
        if stopped() {
            timed_out = true;
            break;
        }
        let since = run.since();
        if let Some(lists) = ahead.take()? {
            found.take_lists((segment, reader), &lists, &mut ahead)?;
            run.read_postings(since, 1);
            timed_out |= stopped();
            continue;
        }
        let mut docs = weight.scorer(reader, 1.0)?;
        let mut doc = docs.doc();
        let mut pace = Pace::default();
        while doc != TERMINATED && !found.is_enough(skip_all) && !pace.is_over() {
            let since = run.since();
            found.offer((segment, reader), doc);
            run.collected(since, 1);
            doc = docs.advance();
        }
        timed_out |= pace.is_stopped();
    }
    let Matches {
        counting,
        top,
        seen,
        ..
    } = found;
    Ok(counting.result(request, top, (seen, timed_out)))
}

/// What was found so far.
struct Matches<'a> {
    run: &'a Run<'a>,
    counting: Counting,
    top: TopScores,
    limit: usize,
    score: f32,
    /// Matches that were counted, or are certain.
    seen: u64,
}

impl Matches<'_> {
    fn counts(&self) -> bool {
        self.counting.known.is_none() && self.seen <= self.counting.limit
    }

    fn is_enough(&self, skip_all: bool) -> bool {
        (self.top.is_full() || skip_all) && !self.counts()
    }

    fn admits(&self, (segment, reader): (usize, &SegmentReader), doc: DocId) -> bool {
        let alive = reader.alive_bitset();
        alive.is_none_or(|alive| alive.is_alive(doc)) && self.run.passes(segment, doc)
    }

    fn offer(&mut self, (segment, reader): (usize, &SegmentReader), doc: DocId) {
        if self.admits((segment, reader), doc) {
            self.seen += 1;
            if !self.top.is_full() {
                self.top.offer(segment, doc, self.score);
            }
        }
    }

    /// Takes the documents of a segment's lists.
    fn take_lists(
        &mut self,
        (segment, reader): (usize, &SegmentReader),
        lists: &Lists,
        ahead: &mut Ahead<'_>,
    ) -> Result<(), QueryError> {
        // What lists are certain to have may yet be filtered out.
        let counts_some = self.counts() && self.counting.limit < u64::MAX;
        if counts_some && self.run.post.is_none() {
            let left = self.counting.limit - self.seen;
            let certain = ahead.certain((reader, lists), left)?;
            if certain > left {
                self.seen += certain;
            }
        }
        let wanted = self.limit.saturating_sub(self.top.len());
        if !self.counts() && wanted <= MERGED_MAX {
            let first = lists.first(wanted, &|doc| self.admits((segment, reader), doc));
            for doc in first {
                self.top.offer(segment, doc, self.score);
            }
            return Ok(());
        }
        if lists.is_empty() {
            return Ok(());
        }
        let mut bits = SegmentBits::empty(reader.max_doc());
        lists.each(&mut |docs| docs.iter().for_each(|doc| bits.insert(*doc)));
        if reader.alive_bitset().is_some() || self.run.post.is_some() {
            for doc in bits.iter() {
                self.offer((segment, reader), doc);
            }
            return Ok(());
        }
        self.seen += u64::from(bits.count());
        for doc in bits.iter().take(wanted) {
            self.top.offer(segment, doc, self.score);
        }
        Ok(())
    }
}

/// The lists of the segments that come next, as far as they were read.
struct Ahead<'a> {
    run: &'a Run<'a>,
    set: Option<&'a dyn DocumentSet>,
    /// With each how many documents are certain.
    read: VecDeque<(Option<Lists>, u64)>,
    /// The first segment whose lists were not read.
    next: usize,
    held: usize,
}

impl<'a> Ahead<'a> {
    fn new(run: &'a Run<'a>) -> Self {
        Ahead {
            run,
            set: run.plan.set.as_deref(),
            read: VecDeque::new(),
            next: 0,
            held: 0,
        }
    }

    /// The lists of the next segment; `None` when the set is made otherwise.
    fn take(&mut self) -> Result<Option<Lists>, QueryError> {
        if let Some((lists, _)) = self.read.pop_front() {
            self.held -= held(lists.as_ref());
            return Ok(lists);
        }
        self.read()
    }

    /// How many documents a segment's lists and those of the next ones have at least; no more are looked at when it is
    /// more than `enough`.
    fn certain(
        &mut self,
        (reader, lists): (&SegmentReader, &Lists),
        enough: u64,
    ) -> Result<u64, QueryError> {
        let known: u64 = self.read.iter().map(|(_, certain)| certain).sum();
        let mut sum = known + certain(reader, lists);
        while let Some(reader) = self.run.snapshot.readers.get(self.next)
            && sum <= enough
            && self.held < HELD_MAX
        {
            let lists = self.read()?;
            let certain = lists.as_ref().map_or(0, |lists| certain(reader, lists));
            sum += certain;
            self.held += held(lists.as_ref());
            self.read.push_back((lists, certain));
        }
        Ok(sum)
    }

    fn read(&mut self) -> Result<Option<Lists>, QueryError> {
        let snapshot = self.run.snapshot;
        let segment = self.next;
        let (Some(set), Some(reader)) = (self.set, snapshot.readers.get(segment)) else {
            return Ok(None);
        };
        self.next += 1;
        match snapshot.files(segment) {
            Some(files) => Ok(set.lists((reader, files))?),
            None => Ok(None),
        }
    }
}

/// The documents that are not deleted of the longest list at least.
fn certain(reader: &SegmentReader, lists: &Lists) -> u64 {
    lists
        .longest()
        .saturating_sub(reader.num_deleted_docs())
        .into()
}

fn held(lists: Option<&Lists>) -> usize {
    lists.map_or(0, Lists::held)
}
