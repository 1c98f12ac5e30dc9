//! What one shard has that is nearest; it sees no other shard.

use std::sync::Arc;

use clew_platform::MemoryPurpose;
use clew_query::unless_stopped;
use clew_schema::{FieldId, FieldKind, VectorMapping};
use clew_search::{Blocks, SegmentBits};
use clew_vector::{
    Column, ColumnOptions, Hit, HitPlace, Horizon, SearchOutcome, SearchRequest, VectorError,
};

use super::objects::ObjectField;
use super::{Found, NearestRequest, ObjectHits, Probes};
use crate::base::error::EngineError;
use crate::node::engine::Inner;
use crate::search::depth::{Depth, PartQuestion, search_parts};
use crate::search::knn::{filter_of, search_error};
use crate::search::other_space::{in_space, in_space_bytes};
use crate::search::pinned::PinnedShard;
use crate::search::place::DocPlace;
use crate::search::scratch::with_scratch;
use crate::search::together::FoundTogether;
use crate::shard::SegmentView;

/// The documents, or nested objects, of each segment that may be hits; `None` for all that live.
pub(super) type Admitted = Option<Vec<SegmentBits>>;

/// What is asked of a shard, whichever vectors its field has.
#[derive(Clone, Copy)]
pub(super) struct Bounds<'a> {
    pub(super) request: &'a NearestRequest,
    /// The documents, or nested objects, of each segment that may be hits; none where all may.
    filter: Option<&'a [SegmentBits]>,
    /// So many hits for each vector.
    pub(super) wanted: usize,
}

impl<'a> Bounds<'a> {
    /// What may be a hit in a segment; none where all may.
    pub(super) fn bits(&self, segment: usize) -> Option<&'a SegmentBits> {
        self.filter?.get(segment)
    }
}

/// A field of dense vectors.
#[derive(Clone, Copy)]
struct DenseField<'a> {
    id: FieldId,
    vector: &'a VectorMapping,
    /// The nested objects that it lies in.
    around: Option<&'a str>,
}

/// What the shards of a search tell each other, for each vector that is searched for; none where each is searched alone.
pub(super) fn horizons(request: &NearestRequest, wanted: usize) -> Vec<Horizon> {
    let shards = &request.pinned.shards;
    let is_nearest = request.range.is_none()
        && !request.effort.exact
        && request.objects == ObjectHits::Each
        && matches!(request.probes, Probes::Dense(_));
    // Distances of one index can be compared.
    if shards.len() < 2 || request.pinned.each_index().nth(1).is_some() || !is_nearest {
        return Vec::new();
    }
    let kept = shards.iter().filter_map(|shard| {
        let field = shard.mapping().field(&request.field)?;
        let FieldKind::Vector(vector) = &field.kind else {
            return None;
        };
        Some(effort(shard, vector, request).0)
    });
    let whole = Depth::new(wanted, kept.max().unwrap_or(wanted));
    whole.horizons_for(request.probes.len())
}

/// Refuses probes that do not fit their field.
pub(super) fn check_all<P>(
    probes: &[P],
    check: impl Fn(&P) -> Result<(), VectorError>,
) -> Result<(), EngineError> {
    probes
        .iter()
        .try_for_each(check)
        .map_err(|error| EngineError::InvalidRequest {
            reason: error.to_string(),
        })
}

/// Vectors that are searched for on one thread before others may take some.
const PROBES_AT_ONCE: usize = 16;
/// At least and at most so many of them where each thread reads once what it compares with all of its vectors: 16 take 1.7 times
/// as long each as 128 do, 32 1.2 times (600,000 × 128, 200 of 2,048 lists).
const PROBES_TOGETHER: (usize, usize) = (32, 128);

impl Inner {
    /// What may be a hit in one shard.
    pub(super) fn admitted_in(
        &self,
        target: &PinnedShard,
        request: &NearestRequest,
    ) -> Result<Admitted, EngineError> {
        let around = target.mapping().nested_scope(&request.field);
        match (&request.filter, around) {
            (_, Some(around)) => self.objects_in(target, request, around),
            (None, None) => Ok(None),
            (Some(query), None) => Ok(Some(self.documents_of(target, query)?)),
        }
    }

    /// What columns of several shards find at once for the only vector, among what is known to be admitted in each.
    pub(super) fn found_together(
        &self,
        (request, admitted): (&NearestRequest, Option<&[Admitted]>),
        (wanted, horizons): (usize, &[Horizon]),
    ) -> FoundTogether {
        let shards = &request.pinned.shards[..];
        let ([horizon], [first, ..], Probes::Dense(probes)) = (horizons, shards, &request.probes)
        else {
            return FoundTogether::default();
        };
        let field = first.mapping().field(&request.field);
        let Some(FieldKind::Vector(vector)) = field.map(|field| &field.kind) else {
            return FoundTogether::default();
        };
        let (ef_search, lists) = effort(first, vector, request);
        let whole = Depth::new(wanted, ef_search);
        let asked = SearchRequest {
            ef_search: whole.candidates,
            probes: lists,
            horizon: Some(horizon),
            ..SearchRequest::new(&probes[0], whole.hits)
        };
        let bits = |shard: usize, segment: usize| admitted?.get(shard)?.as_ref()?.get(segment);
        FoundTogether::search(shards, (&request.field, &asked), bits, &*self.clock)
    }

    /// The nearest of one shard, for each vector and in no order between segments, among what is known already to be
    /// admitted there. The answer counts only if the shard's files are sound, as far as they were read.
    pub(super) fn nearest_in(
        &self,
        target: &PinnedShard,
        (request, admitted): (&NearestRequest, Option<&Admitted>),
        known: (usize, &[Horizon], &FoundTogether),
    ) -> Result<Vec<Vec<Found>>, EngineError> {
        target.check_readable()?;
        let started = self.clock.monotonic();
        let found = self.nearest_sound(target, (request, admitted), known);
        target.check_readable()?;
        self.report_damage(target);
        let took = self.clock.monotonic().saturating_sub(started);
        let (_, _, together) = known;
        let whole = took + together.took(target);
        target.index.activity.queried(&[], whole);
        if request.is_plain() {
            let candidates = candidates(target, request);
            target.shard.candidate_price.paid(candidates, took);
        }
        found
    }

    fn nearest_sound(
        &self,
        target: &PinnedShard,
        (request, admitted): (&NearestRequest, Option<&Admitted>),
        (wanted, horizons, together): (usize, &[Horizon], &FoundTogether),
    ) -> Result<Vec<Vec<Found>>, EngineError> {
        let path = &request.field;
        // A field that is not mapped yet has no vectors.
        let Some(field) = target.mapping().field(path) else {
            return Ok(vec![Vec::new(); request.probes.len()]);
        };
        let around = target.mapping().nested_scope(path);
        let own = match admitted {
            Some(_) => None,
            None => self.admitted_in(target, request)?,
        };
        let bounds = Bounds {
            request,
            filter: admitted.unwrap_or(&own).as_deref(),
            wanted,
        };
        match (&field.kind, &request.probes) {
            (FieldKind::Vector(vector), Probes::Dense(probes))
                if request.objects == ObjectHits::MaxSim =>
            {
                let field = ObjectField::new(target, (field.id, vector), request)?;
                self.max_sim_in(target, probes, field, bounds)
            }
            (FieldKind::Vector(vector), Probes::Dense(probes)) => {
                check_all(probes, |probe| clew_vector::validate(probe, &vector.column))?;
                let field = DenseField {
                    id: field.id,
                    vector,
                    around,
                };
                self.dense(target, field, (probes, horizons, together), bounds)
            }
            (FieldKind::SparseVector, Probes::Sparse(probes)) if around.is_none() => {
                check_all(probes, |probe| clew_vector::validate_sparse(probe))?;
                self.sparse(target, field.id, probes, bounds)
            }
            (other, _) => Err(EngineError::InvalidRequest {
                reason: format!(
                    "field [{path}] is of type [{}], which has no such vectors",
                    other.type_name()
                ),
            }),
        }
    }

    fn dense(
        &self,
        target: &PinnedShard,
        field: DenseField<'_>,
        (probes, horizons, together): (&[Vec<f32>], &[Horizon], &FoundTogether),
        bounds: Bounds<'_>,
    ) -> Result<Vec<Vec<Found>>, EngineError> {
        let request = bounds.request;
        let (ef_search, lists) = effort(target, field.vector, request);
        let segments = target.view.segments.iter().enumerate();
        let parts = segments.filter_map(|(at, segment)| {
            let column = segment.vectors().column(field.id)?;
            let bits = bounds.bits(at);
            let rows = bits.map_or(column.len(), |bits| bits.count() as usize);
            Some(((at, segment, bits), (column, rows)))
        });
        let (parts, columns): (Vec<_>, Vec<_>) = parts.unzip();
        let whole = Depth::new(bounds.wanted, ef_search);
        let is_shared = request.range.is_none() && !request.effort.exact;
        let depths = whole.of_columns(&columns, is_shared);
        let own = match horizons {
            [] => whole.horizons(&depths, probes.len()),
            _ => Vec::new(),
        };
        let horizons = if own.is_empty() { horizons } else { &own };
        let to_search = (probes.len(), horizons);
        let found = search_parts((whole, &depths), to_search, |part, questions| {
            let ((at, segment, bits), (column, _)) = (parts[part], columns[part]);
            unless_stopped()?;
            let shared = questions.iter().all(|one| one.horizon.is_some());
            if let Some(found) = together.of(target, at).filter(|_| shared) {
                return Ok(vec![found.clone()]);
            }
            let asked = AskedSegment {
                request,
                probes,
                segment,
                bits,
                lists,
            };
            self.search_in_space(column, &field.vector.column, (&asked, questions))
        })?;
        let mut all: Vec<Vec<Found>> = vec![Vec::new(); probes.len()];
        for ((at, segment, ..), found) in parts.iter().zip(found) {
            let blocks = field.around.and_then(|_| segment.blocks());
            let place = DocPlace::new(target.at, *at, 0);
            for (list, outcome) in all.iter_mut().zip(found) {
                let told = |hit: &Hit| placed(hit, place, blocks.map(Arc::as_ref));
                list.extend(outcome.hits.iter().filter_map(told));
            }
        }
        unless_stopped()?;
        Ok(all)
    }

    /// What a column finds in the space that its field has by now, in which it may not be written yet.
    fn search_in_space<B>(
        &self,
        column: &Column<B>,
        options: &ColumnOptions,
        (asked, questions): (&AskedSegment<'_>, &[PartQuestion<'_>]),
    ) -> Result<Vec<SearchOutcome>, EngineError>
    where
        B: std::ops::Deref<Target = [u8]> + Clone + Send + Sync,
    {
        if column.options().space == options.space {
            return self.search_column(column, (asked, questions));
        }
        let bytes = in_space_bytes(column, options);
        let _memory = self.memory.reserve(MemoryPurpose::Searches, bytes)?;
        let again = in_space(column, *options)
            .map_err(|error| search_error(asked.segment.vectors(), error))?;
        self.search_column(&again, (asked, questions))
    }

    /// What a column finds for each vector: one after the other if they are few, else shared out among threads.
    fn search_column<B>(
        &self,
        column: &Column<B>,
        (asked, questions): (&AskedSegment<'_>, &[PartQuestion<'_>]),
    ) -> Result<Vec<SearchOutcome>, EngineError>
    where
        B: std::ops::Deref<Target = [u8]> + Clone + Send + Sync,
    {
        let file = asked.segment.vectors();
        let told = |error| EngineError::from(search_error(file, error));
        let requests: Vec<SearchRequest<'_>> = questions.iter().map(|one| asked.of(one)).collect();
        if let [only] = &requests[..] {
            let found = with_scratch(|scratch| column.search(only, scratch));
            return Ok(vec![found.map_err(told)?]);
        }
        // Walks share nothing. Everything else is shared by those on one thread, so that each gets all that it can.
        let at_once = match column.has_graph() {
            true => PROBES_AT_ONCE,
            false => requests
                .len()
                .div_ceil(self.pool.threads())
                .clamp(PROBES_TOGETHER.0, PROBES_TOGETHER.1),
        };
        let parts: Vec<&[SearchRequest<'_>]> = requests.chunks(at_once).collect();
        let search = |part: usize| {
            with_scratch(|scratch| column.search_batch(parts[part], std::slice::from_mut(scratch)))
        };
        let found = match parts.len() {
            1 => vec![search(0)],
            many => self.pool.each(many, search),
        };
        found
            .into_iter()
            .flatten()
            .map(|one| one.map_err(told))
            .collect()
    }
}

/// A hit of a segment at a place, of which the document is filled in: where `blocks` are, the one that the hit lies in, if any.
pub(super) fn placed(hit: &Hit, place: DocPlace, blocks: Option<&Blocks>) -> Option<Found> {
    let doc = match blocks {
        Some(blocks) => blocks.root_of(hit.doc)?,
        None => hit.doc,
    };
    Some(Found {
        distance: hit.distance,
        place: DocPlace { doc, ..place },
        object: blocks.map(|_| hit.doc),
    })
}

/// Candidates that a walk keeps, and inverted lists that are read: as the request says, or the mapping, or the index.
pub(super) fn effort(
    target: &PinnedShard,
    vector: &VectorMapping,
    request: &NearestRequest,
) -> (usize, Option<usize>) {
    let asked = request.effort;
    let usual = || target.index.settings().ef_search;
    let ef_search = asked.ef_search.or(vector.ef_search);
    (
        ef_search.unwrap_or_else(usual),
        asked.probes.or(vector.probes),
    )
}

/// Candidates that a search of a shard keeps in all its segments, for each list that is read where there are lists.
pub(super) fn candidates(target: &PinnedShard, request: &NearestRequest) -> usize {
    let field = target.mapping().field(&request.field);
    let Some(FieldKind::Vector(vector)) = field.map(|field| &field.kind) else {
        return 0;
    };
    let (ef_search, lists) = effort(target, vector, request);
    let kept = ef_search.max(request.limit + request.offset);
    kept.saturating_mul(lists.unwrap_or(1))
        .saturating_mul(target.view.segments.len())
}

/// What is asked of one segment.
pub(super) struct AskedSegment<'a> {
    pub(super) request: &'a NearestRequest,
    pub(super) probes: &'a [Vec<f32>],
    pub(super) segment: &'a SegmentView,
    pub(super) bits: Option<&'a SegmentBits>,
    /// Inverted lists to read.
    pub(super) lists: Option<usize>,
}

impl<'a> AskedSegment<'a> {
    pub(super) fn of(&self, question: &PartQuestion<'a>) -> SearchRequest<'a> {
        let range = self.request.range;
        // Behind every place that is nearer than the first allowed.
        let after = range.and_then(|range| range.from).map(|from| HitPlace {
            distance: from.next_down(),
            doc: u32::MAX,
        });
        SearchRequest {
            ef_search: question.depth.candidates,
            probes: self.lists,
            filter: filter_of(self.segment, self.bits),
            exact: self.request.effort.exact,
            max_distance: range.map(|range| range.below.next_down()),
            after,
            horizon: question.horizon,
            ..SearchRequest::new(&self.probes[question.probe], question.depth.hits)
        }
    }
}
