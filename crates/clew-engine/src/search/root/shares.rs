//! Searches of several shards for the nearest and nothing else: each shard is asked for its share, and asked again if
//! the nearest do not lie by chance.

use std::sync::atomic::{AtomicBool, Ordering};

use clew_query::{KnnQuery, Query};
use clew_schema::{FieldKind, VectorMapping};
use clew_vector::{Column, Horizon, Space};
use tantivy::directory::OwnedBytes;

use super::asks_for_the_best_only;
use crate::base::error::EngineError;
use crate::node::engine::Inner;
use crate::search::depth::{Depth, PartDepth, SearchedPart, short_parts};
use crate::search::knn::depth_asked;
use crate::search::leaf::ShardAnswer;
use crate::search::pinned::PinnedShard;
use crate::search::request::SearchRequest;
use crate::search::together::FoundTogether;

/// What each shard is asked.
pub(super) struct Shares<'r> {
    knn: &'r KnnQuery,
    /// Hits of the whole that are looked at.
    nearest: usize,
    shards: Vec<Share>,
    /// What the shards tell each other, where the distances of all can be compared and nothing but the neighbours decides
    /// how many there are.
    horizon: Option<Horizon>,
}

struct Share {
    whole: Depth,
    part: PartDepth,
    /// Whether it was searched as far as the whole, and not to its depth.
    is_whole: AtomicBool,
}

impl<'r> Shares<'r> {
    /// `None` where each shard is asked for all: it is the only one, or more depends on its neighbours than the best hits.
    pub(super) fn of(request: &'r SearchRequest, targets: &[PinnedShard]) -> Option<Self> {
        let (Query::Knn(knn), [_, _, ..]) = (&request.query, targets) else {
            return None;
        };
        let nearest = request.from.saturating_add(request.size);
        // What is told of a hit beside its score is found out by asking its shard for all.
        let is_plain = asks_for_the_best_only(request)
            && request.search_after.is_none()
            && request.parts.values().all(|part| part.boost.is_none())
            && (1..=knn.k?).contains(&nearest);
        let is_bounded =
            knn.min_score.is_none() && knn.max_distance.is_none() && knn.target_recall.is_none();
        if !is_plain || !is_bounded {
            return None;
        }
        let rows = |target| columns_of(target, knn).map(Column::len).sum();
        let rows: Vec<usize> = targets.iter().map(rows).collect();
        let all = rows.iter().sum();
        let share = |(target, &rows): (&PinnedShard, &usize)| {
            let whole = depth_asked(target, knn)?;
            let walked = columns_of(target, knn).any(Column::has_graph);
            let depth = if walked {
                whole.of_part(rows, all)
            } else {
                whole
            };
            Some(Share {
                whole,
                part: PartDepth {
                    depth,
                    has_graph: columns_of(target, knn).all(Column::has_graph),
                    is_bounded: columns_of(target, knn).any(Column::has_lists),
                },
                is_whole: AtomicBool::new(false),
            })
        };
        let shards = targets.iter().zip(&rows).map(share);
        let shards: Vec<Share> = shards.collect::<Option<_>>()?;
        let spaces = targets.iter().map(|target| space_of(target, knn));
        let is_one_space = spaces
            .clone()
            .all(|space| space == spaces.clone().next().flatten());
        let is_whole = request.min_score.is_none()
            && request.control.terminate_after.is_none()
            && request.parts.values().all(|part| part.filter.is_none());
        let horizon = (is_one_space && is_whole).then(|| {
            let candidates = shards.iter().map(|share| share.whole.candidates);
            Horizon::new(nearest, candidates.max().unwrap_or(nearest))
        });
        Some(Shares {
            knn,
            nearest,
            shards,
            horizon,
        })
    }

    /// What a shard is asked at first.
    pub(super) fn query(&self, shard: usize) -> Query {
        let share = &self.shards[shard];
        let searched = share.part.within(share.whole, self.horizon());
        let is_whole = searched == share.whole;
        share.is_whole.store(is_whole, Ordering::Relaxed);
        self.query_of(share.part.depth)
    }

    /// What the shards that have answered tell those that are asked next.
    pub(super) fn horizon(&self) -> Option<&Horizon> {
        self.horizon.as_ref()
    }

    /// What is found at once in columns of all shards, among the documents that pass the clause's filter in each.
    pub(super) fn found_together(&self, targets: &[PinnedShard], inner: &Inner) -> FoundTogether {
        let Some(horizon) = &self.horizon else {
            return FoundTogether::default();
        };
        let probes =
            |target: &PinnedShard| Some(self.knn.probes.or(vector_of(target, self.knn)?.probes));
        let mut efforts = targets.iter().map(probes).zip(&self.shards);
        let Some((probes, whole)) = efforts.next().map(|(probes, share)| (probes, share.whole))
        else {
            return FoundTogether::default();
        };
        if !efforts.all(|(other, share)| other == probes && share.whole == whole) {
            return FoundTogether::default();
        }
        let request = clew_vector::SearchRequest {
            ef_search: whole.candidates,
            probes: probes.flatten(),
            horizon: Some(horizon),
            ..clew_vector::SearchRequest::new(&self.knn.vector, whole.hits)
        };
        let asked = (&*self.knn.field, &request);
        let Some(filter) = &self.knn.filter else {
            return FoundTogether::search(targets, asked, |_, _| None, &*inner.clock);
        };
        // Graphs are searched by a thread for each shard, which finds out there what passes.
        let mut columns = targets.iter().flat_map(|one| columns_of(one, self.knn));
        if columns.any(Column::has_graph) {
            return FoundTogether::default();
        }
        let started = inner.clock.monotonic();
        let passing = targets.iter().map(|one| inner.documents_of(one, filter));
        // What is wrong with the filter, or has stopped it, each shard tells.
        let Ok(passing) = passing.collect::<Result<Vec<_>, _>>() else {
            return FoundTogether::default();
        };
        let took = inner.clock.monotonic().saturating_sub(started);
        let bits = |shard: usize, segment: usize| passing.get(shard)?.get(segment);
        let found = FoundTogether::search(targets, asked, bits, &*inner.clock);
        found.among(targets, passing, took)
    }

    /// Whether shards are left that have anything to search for: of the others each costs less than the way to another thread.
    pub(super) fn has_more(&self, targets: &[PinnedShard], together: &FoundTogether) -> bool {
        let is_whole = |target| together.is_whole_of(target, &self.knn.field);
        !targets.iter().all(is_whole)
    }

    fn query_of(&self, depth: Depth) -> Query {
        Query::Knn(KnnQuery {
            k: Some(depth.hits),
            ef_search: Some(depth.candidates),
            oversample: None,
            ..self.knn.clone()
        })
    }

    /// The shards that are to be asked again, and what.
    pub(super) fn again(
        &self,
        answers: &[Result<ShardAnswer, EngineError>],
    ) -> Vec<(usize, Query)> {
        let scores = |answer: &Result<ShardAnswer, EngineError>| -> Vec<f32> {
            let hits = answer.iter().flat_map(|answer| &answer.found.result.hits);
            hits.filter_map(|hit| hit.score).collect()
        };
        let scores: Vec<Vec<f32>> = answers.iter().map(scores).collect();
        let parts = self
            .shards
            .iter()
            .zip(&scores)
            .map(|(share, scores)| SearchedPart {
                whole: share.whole,
                depth: match share.is_whole.load(Ordering::Relaxed) {
                    true => share.whole,
                    false => share.part.depth,
                },
                scores,
            });
        let short = short_parts(&parts.collect::<Vec<_>>(), self.nearest);
        let asked = |(at, depth)| (at, self.query_of(depth));
        short.into_iter().map(asked).collect()
    }
}

/// How a shard's field compares vectors.
fn space_of(target: &PinnedShard, knn: &KnnQuery) -> Option<Space> {
    Some(vector_of(target, knn)?.column.space)
}

fn vector_of<'a>(target: &'a PinnedShard, knn: &KnnQuery) -> Option<&'a VectorMapping> {
    match &target.mapping().field(&knn.field)?.kind {
        FieldKind::Vector(vector) => Some(vector),
        _ => None,
    }
}

/// The columns of a shard that have the field's vectors.
fn columns_of<'a>(
    target: &'a PinnedShard,
    knn: &KnnQuery,
) -> impl Iterator<Item = &'a Column<OwnedBytes>> {
    let field = target.mapping().field(&knn.field).map(|field| field.id);
    let segments = target.view.segments.iter();
    segments.filter_map(move |segment| segment.vectors().column(field?))
}
