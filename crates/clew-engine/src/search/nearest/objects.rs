//! Vectors of nested objects: each object a hit by itself, or whole documents by all of theirs at once.

use std::collections::BTreeSet;

use clew_platform::{MemoryPurpose, Reservation};
use clew_query::{JoinScore, NestedQuery, Query, QueryError};
use clew_schema::{FieldId, VectorMapping};
use clew_search::{CompileContext, Scope, SegmentBits, matching_within};
use clew_vector::{ColumnOptions, MaxSimQuery, SearchRequest, VectorError};
use tantivy::DocId;

use super::leaf::{Bounds, effort};
use super::{Found, NearestRequest};
use crate::base::error::EngineError;
use crate::node::engine::Inner;
use crate::search::knn::{filter_of, search_error};
use crate::search::pinned::PinnedShard;
use crate::search::place::DocPlace;
use crate::search::scratch::with_scratch;
use crate::search::times::unless_stopped;
use crate::shard::SegmentView;

/// Documents that each vector of a probe brings to be scored: so many times the hits wanted, and no fewer than this.
const CANDIDATES: (usize, usize) = (4, 100);

/// What counts as a hit where the vectors of a field are those of nested objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ObjectHits {
    /// Each object by itself, so that a document may be several hits.
    #[default]
    Each,
    /// Documents. A probe is several vectors, one after the other; the distance of a document is the sum over them of
    /// the nearest of its objects': of squared Euclidean distances, or of inner products or cosines, negated (Khattab
    /// and Zaharia, "ColBERT", 2020). Spaces of bits are not compared so.
    MaxSim,
}

/// A vector field of nested objects.
#[derive(Clone, Copy)]
pub(super) struct ObjectField<'a> {
    pub(super) id: FieldId,
    /// The path of the objects.
    pub(super) around: &'a str,
    pub(super) column: &'a ColumnOptions,
    /// Candidates that walks keep.
    pub(super) ef_search: usize,
    pub(super) probes: Option<usize>,
}

impl<'a> ObjectField<'a> {
    /// # Errors
    /// When the field is not in nested objects.
    pub(super) fn new(
        target: &'a PinnedShard,
        (id, vector): (FieldId, &'a VectorMapping),
        request: &'a NearestRequest,
    ) -> Result<Self, EngineError> {
        let around = target.mapping().nested_scope(&request.field);
        let around = around.ok_or_else(|| EngineError::InvalidRequest {
            reason: format!("field [{}] is not in nested objects", request.field),
        })?;
        let (ef_search, probes) = effort(target, vector, request);
        Ok(ObjectField {
            id,
            around,
            column: &vector.column,
            ef_search,
            probes,
        })
    }
}

impl Inner {
    /// The objects of a path that may be hits, one set per segment; `None` for all that live.
    pub(super) fn objects_in(
        &self,
        target: &PinnedShard,
        request: &NearestRequest,
        around: &str,
    ) -> Result<Option<Vec<SegmentBits>>, EngineError> {
        let roots = match &request.filter {
            None => None,
            Some(query) => Some(self.documents_of(target, query)?),
        };
        let own = match &request.object_filter {
            None => None,
            Some(query) => Some(self.objects_of(target, query, around)?),
        };
        if roots.is_none() && own.is_none() {
            return Ok(None);
        }
        let segments = target.view.segments.iter().enumerate();
        let admitted = segments.map(|(at, segment)| {
            let mut bits = SegmentBits::empty(segment.doc_count());
            let Some(blocks) = segment.blocks() else {
                return bits;
            };
            let rows = blocks.of(Scope::Nested(around)).into_iter();
            for row in rows.flat_map(SegmentBits::iter) {
                let lives = segment
                    .alive
                    .as_ref()
                    .is_none_or(|alive| alive.is_alive(row));
                let matches = own.as_ref().is_none_or(|own| own[at].contains(row));
                let root = blocks.root_of(row);
                let within = roots
                    .as_ref()
                    .is_none_or(|roots| root.is_some_and(|root| roots[at].contains(root)));
                if lives && matches && within {
                    bits.insert(row);
                }
            }
            bits
        });
        Ok(Some(admitted.collect()))
    }

    /// The objects that a query matches; dead ones may be among them.
    fn objects_of(
        &self,
        target: &PinnedShard,
        query: &Query,
        around: &str,
    ) -> Result<Vec<SegmentBits>, QueryError> {
        let knn = target.knn();
        let now_ms = self.now_ms();
        let nested = Query::Nested(NestedQuery {
            path: around.to_string(),
            query: Box::new(query.clone()),
            score: JoinScore::None,
            ignore_unmapped: true,
            boost: 1.0,
        });
        let context = CompileContext {
            snapshot: &target.view.snapshot,
            now_ms,
            vectors: &knn.stage(now_ms).answers(&nested)?,
        };
        matching_within(&context, query, Some(around))
    }

    /// The documents of one shard that are nearest to each probe by all of its vectors, in no order.
    pub(super) fn max_sim_in(
        &self,
        target: &PinnedShard,
        probes: &[Vec<f32>],
        field: ObjectField<'_>,
        bounds: Bounds<'_>,
    ) -> Result<Vec<Vec<Found>>, EngineError> {
        let queries = probes.iter().map(|probe| query_of(probe, field.column));
        let queries: Vec<MaxSimQuery> = queries.collect::<Result<_, _>>()?;
        let search = |at: usize| {
            let mut all = Vec::new();
            for (number, segment) in target.view.segments.iter().enumerate() {
                unless_stopped()?;
                let part = Part {
                    field,
                    request: bounds.request,
                    segment,
                    bits: bounds.bits(number),
                    wanted: bounds.wanted,
                    place: DocPlace::new(target.at, number, 0),
                };
                let mut memory = self.memory.open(MemoryPurpose::Searches);
                all.extend(part.search((&queries[at], &probes[at]), &mut memory)?);
            }
            Ok(all)
        };
        let found = match queries.len() {
            1 => vec![search(0)],
            many => self.pool.each(many, search),
        };
        found.into_iter().collect()
    }
}

/// A probe of several vectors, each of which the field's column could hold.
fn query_of(probe: &[f32], column: &ColumnOptions) -> Result<MaxSimQuery, EngineError> {
    let refused = |error: VectorError| EngineError::InvalidRequest {
        reason: error.to_string(),
    };
    for vector in probe.chunks(column.element.numbers(column.dimension).max(1)) {
        clew_vector::validate(vector, column).map_err(refused)?;
    }
    MaxSimQuery::new(column.space, column.dimension, probe).map_err(refused)
}

/// One segment that is searched by several vectors at once.
struct Part<'a> {
    field: ObjectField<'a>,
    request: &'a NearestRequest,
    segment: &'a SegmentView,
    bits: Option<&'a SegmentBits>,
    wanted: usize,
    /// The segment's place, of which the document is filled in.
    place: DocPlace,
}

impl Part<'_> {
    fn search(
        &self,
        (query, probe): (&MaxSimQuery, &[f32]),
        memory: &mut Reservation,
    ) -> Result<Vec<Found>, EngineError> {
        let file = self.segment.vectors();
        let Some(column) = file.column(self.field.id) else {
            return Ok(Vec::new());
        };
        // Columns of another space than their field has by now find nobody for it: all are scored.
        let is_exact =
            self.request.effort.exact || column.options().space != self.field.column.space;
        let told = |error| EngineError::from(search_error(file, error));
        let candidates = match is_exact {
            true => None,
            false => self.candidates(probe)?,
        };
        let docs = candidates.unwrap_or_else(|| self.all());
        let mut best = Vec::new();
        let mut vectors = Vec::new();
        let mut booked = 0;
        for doc in docs {
            unless_stopped()?;
            vectors.clear();
            for row in self.segment.objects_of(doc, self.field.around) {
                if self.bits.is_none_or(|bits| bits.contains(row)) {
                    let vector = column.vector(row).map_err(told)?;
                    vectors.extend_from_slice(vector.as_deref().unwrap_or_default());
                }
            }
            let bytes = 4 * vectors.capacity();
            memory.grow(bytes.saturating_sub(booked))?;
            booked = booked.max(bytes);
            let Some(score) = query.score(&vectors).map_err(told)? else {
                continue;
            };
            let found = Found {
                // Not -0, which would be shown.
                distance: 0.0 - score,
                place: DocPlace { doc, ..self.place },
                object: None,
            };
            if self.is_in_range(found.distance) {
                best.push(found);
            }
            if best.len() >= self.wanted.saturating_mul(2).saturating_add(16) {
                best.select_nth_unstable_by(self.wanted, Found::order);
                best.truncate(self.wanted);
            }
        }
        Ok(best)
    }

    fn is_in_range(&self, distance: f32) -> bool {
        self.request.range.is_none_or(|range| {
            distance < range.below && range.from.is_none_or(|from| distance >= from)
        })
    }

    /// The documents with an object that is near one of the probe's vectors; `None` when those are fewer than wanted, so
    /// that all have to be scored.
    fn candidates(&self, probe: &[f32]) -> Result<Option<BTreeSet<DocId>>, EngineError> {
        let file = self.segment.vectors();
        let (Some(column), Some(blocks)) = (file.column(self.field.id), self.segment.blocks())
        else {
            return Ok(None);
        };
        let options = self.field.column;
        let each = column
            .len()
            .div_ceil(blocks.roots().count().max(1) as usize)
            .max(1);
        let wanted = self.wanted.saturating_mul(CANDIDATES.0).max(CANDIDATES.1);
        let mut docs = BTreeSet::new();
        for vector in probe.chunks(options.element.numbers(options.dimension).max(1)) {
            let search = SearchRequest {
                ef_search: self.field.ef_search,
                probes: self.field.probes,
                filter: filter_of(self.segment, self.bits),
                ..SearchRequest::new(vector, wanted.saturating_mul(each))
            };
            let found = with_scratch(|scratch| column.search(&search, scratch));
            let found = found.map_err(|error| search_error(file, error))?;
            docs.extend(found.hits.iter().filter_map(|hit| blocks.root_of(hit.doc)));
        }
        Ok((docs.len() >= self.wanted).then_some(docs))
    }

    /// The documents with an object that may count.
    fn all(&self) -> BTreeSet<DocId> {
        let Some(blocks) = self.segment.blocks() else {
            return BTreeSet::new();
        };
        let rows = blocks.of(Scope::Nested(self.field.around)).into_iter();
        let counts = |row: &DocId| match (self.bits, &self.segment.alive) {
            (Some(bits), _) => bits.contains(*row),
            (None, Some(alive)) => alive.is_alive(*row),
            (None, None) => true,
        };
        let rows = rows.flat_map(SegmentBits::iter).filter(counts);
        rows.filter_map(|row| blocks.root_of(row)).collect()
    }
}
