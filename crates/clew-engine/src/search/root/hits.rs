//! What the hits of a search hold, read for as long as there is time.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::time::Duration;

use clew_query::{Query, QueryError};
use clew_search::{MergedHit, Percolations, SegmentBits};
use tantivy::DocId;

use crate::base::error::EngineError;
use crate::base::phase::Phase;
use crate::node::engine::Inner;
use crate::search::fetch::{Lookup, fetch, timed};
use crate::search::inner;
use crate::search::named::NamedQueries;
use crate::search::pinned::PinnedShard;
use crate::search::request::{Hit, MatchedQuery, ProfileDetail, SearchRequest};
use crate::search::times::{Times, unless_late, unless_stopped};

/// Hits that were read.
pub(super) struct Fetched {
    pub(super) hits: Vec<Hit>,
    /// Whether there was time for all that was asked of them.
    pub(super) is_whole: bool,
    /// When each of the shards was read, if that is asked for.
    pub(super) phases: Vec<Option<Phase>>,
}

impl Inner {
    /// Reads what the hits hold; `answered` are the shards that they name. When the time is up those are left out that
    /// were not read by then, and what is inside of hits.
    pub(super) fn fetch_all(
        &self,
        merged: &[MergedHit],
        answered: &[&PinnedShard],
        (request, lookup): (&SearchRequest, Lookup<'_>),
        times: &Times,
    ) -> Result<Fetched, EngineError> {
        let started = self.clock.monotonic();
        let mut hits = Vec::with_capacity(merged.len());
        let is_timed = request.profile != ProfileDetail::Nothing;
        let mut phases = vec![None; if is_timed { answered.len() } else { 0 }];
        let read = unless_late(&times.to_fetch, || {
            let mut named = NamedQueries::of(request, answered.len())?;
            let mut percolations: BTreeMap<usize, Percolations<'_>> = BTreeMap::new();
            for hit in merged {
                unless_stopped()?;
                let target = answered[hit.shard];
                let began = is_timed.then(|| self.clock.monotonic());
                let snapshot = &target.view.snapshot;
                let percolations = match percolations.entry(hit.shard) {
                    Entry::Occupied(known) => known.into_mut(),
                    Entry::Vacant(place) => {
                        place.insert(Percolations::of(&request.query, snapshot)?)
                    }
                };
                let place = (hit.hit.segment, hit.hit.doc);
                let now_ms = lookup.now_ms;
                let matched = || self.matched(&mut named, hit, target, (request, now_ms));
                let (matched_queries, matched_took) = timed(lookup.watch, matched);
                let through = || percolations.through(snapshot, place, now_ms);
                let (percolated, percolated_took) = timed(lookup.watch, through);
                let mut read = Hit {
                    matched_queries: matched_queries?,
                    percolated: percolated?,
                    ..fetch(target, &hit.hit, lookup)?
                };
                if let Some(steps) = &mut read.steps {
                    steps.matched_queries = matched_took.filter(|_| !named.is_empty());
                    steps.percolated = percolated_took.filter(|_| !percolations.is_empty());
                }
                hits.push(read);
                if let Some(began) = began {
                    self.add_to(&mut phases[hit.shard], began);
                }
            }
            Ok(())
        })?;
        let filled = unless_late(&times.to_fetch, || {
            self.fill(
                request,
                (&merged[..hits.len()], answered),
                &mut hits,
                lookup,
            )
        })?;
        if let Some(hit) = hits.first() {
            let took = self.clock.monotonic().saturating_sub(started);
            hit.index.activity.fetched(&request.groups, took);
        }
        let is_whole = read.is_some() && filled == Some(true);
        Ok(Fetched {
            hits,
            is_whole,
            phases,
        })
    }

    /// The named queries that a hit matches, with what it scores by each where that is asked for.
    pub(super) fn matched(
        &self,
        named: &mut NamedQueries<'_>,
        hit: &MergedHit,
        target: &PinnedShard,
        (request, now_ms): (&SearchRequest, i64),
    ) -> Result<Vec<MatchedQuery>, QueryError> {
        let place = (hit.hit.segment, hit.hit.doc);
        let matched = named.matched(hit, |query| self.documents_of(target, query))?;
        let matched = matched.into_iter().map(|(name, query)| {
            let scored = request.control.named_scores.then_some(query);
            let score = scored.map(|query| score_of(target, query, place, now_ms));
            Ok(MatchedQuery {
                name: name.to_string(),
                score: score.transpose()?.flatten(),
            })
        });
        matched.collect()
    }

    /// Adds to a phase what has gone on since a moment.
    fn add_to(&self, phase: &mut Option<Phase>, since: Duration) {
        let took = self.clock.monotonic().saturating_sub(since);
        let phase = phase.get_or_insert_with(|| Phase {
            began: self.clock.since_epoch().saturating_sub(took),
            took: Duration::ZERO,
        });
        phase.took += took;
    }

    /// Reads what is asked for from inside the hits; whether there was time for it.
    fn fill(
        &self,
        request: &SearchRequest,
        (merged, answered): (&[MergedHit], &[&PinnedShard]),
        hits: &mut [Hit],
        lookup: Lookup<'_>,
    ) -> Result<bool, EngineError> {
        if !request.inner_hits.is_empty() {
            let places: Vec<(usize, usize, DocId)> = merged
                .iter()
                .map(|hit| (hit.shard, hit.hit.segment, hit.hit.doc))
                .collect();
            inner::fill(answered, &request.inner_hits, &places, hits, lookup)?;
        }
        match &request.control.collapse {
            Some(collapse) => self.fill_groups(request, collapse, hits, lookup.memory),
            None => Ok(true),
        }
    }

    /// The documents of a shard that match a query.
    pub(in crate::search) fn documents_of(
        &self,
        target: &PinnedShard,
        query: &Query,
    ) -> Result<Vec<SegmentBits>, QueryError> {
        let knn = target.knn();
        let now_ms = self.now_ms();
        target.telling(|| {
            let vectors = knn.stage(now_ms).answers(query)?;
            clew_search::matching(&target.view.snapshot, query, &vectors, now_ms)
        })
    }
}

/// What a document scores by a query alone.
fn score_of(
    target: &PinnedShard,
    query: &Query,
    place: (usize, DocId),
    now_ms: i64,
) -> Result<Option<f32>, QueryError> {
    let knn = target.knn();
    let snapshot = &target.view.snapshot;
    let explained = target.telling(|| {
        let vectors = knn.stage(now_ms).answers(query)?;
        clew_search::explain(snapshot, query, &vectors, now_ms, place)
    })?;
    Ok(explained.map(|explained| explained.value))
}
