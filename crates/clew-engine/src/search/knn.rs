//! Nearest neighbours in a shard: each segment's column is searched, the best of all segments are
//! kept, so that `k` means the shard's k however its documents lie.

use std::cell::{Cell, RefCell};

use clew_platform::{Pace, book_for_a_while};
use clew_query::{KnnQuery, QueryError, go_on, unless_stopped};
use clew_schema::{FieldId, FieldKind, VectorMapping, check_vector_element};
use clew_search::{
    KnnResolver, Relation, SegmentBits, SegmentHits, ShardResult, Total, VectorStage,
};
use clew_vector::{
    Column, ColumnOptions, Filter, Horizon, SearchOutcome, SearchProfile, SearchRequest, Space,
    SparseEntry, SparseSearchRequest, Strategy, VectorError,
};
use serde::{Deserialize, Serialize};
use tantivy::DocId;
use tantivy::directory::OwnedBytes;

use crate::search::depth::{Depth, search_parts};
use crate::search::other_space::{in_space, in_space_bytes};
use crate::search::pinned::PinnedShard;
use crate::search::scratch::with_scratch;
use crate::search::together::FoundTogether;
use crate::shard::{SegmentView, VectorFile, View};

/// Most neighbours a query may ask for.
pub(crate) const K_MAX: usize = 10_000;

/// Resolves k-NN clauses over a view.
pub(crate) struct ViewKnn<'a> {
    pub(crate) view: &'a View,
    /// `ef_search` of clauses and fields that do not say their own.
    pub(crate) ef_search: usize,
    /// Told of every segment searched, when somebody wants to know.
    pub(crate) profiles: Option<RefCell<Vec<SegmentProfile>>>,
    /// Where all shards are searched for one clause as if they were one.
    pub(crate) shared: Option<SharedClause<'a>>,
}

/// The only clause of a search, which several shards answer together: each finds what may be among the nearest of all.
pub(crate) struct SharedClause<'a> {
    /// What the shards before have found.
    pub(crate) horizon: &'a Horizon,
    /// What was found in columns of all shards at once, and the shard that this is.
    pub(crate) together: (&'a FoundTogether, &'a PinnedShard),
    /// Neighbours wanted.
    pub(crate) k: usize,
    /// How many of those this shard would have given, were it alone.
    pub(crate) neighbours: Cell<usize>,
}

impl SharedClause<'_> {
    /// What was found already in a segment.
    fn found(&self, segment: usize) -> Option<SearchOutcome> {
        let (together, target) = self.together;
        together.of(target, segment).cloned()
    }

    /// Counts as hits of the shard those that it would have given, were it alone: how many are found depends on what others
    /// have found before.
    pub(crate) fn count(&self, result: &mut ShardResult) {
        if !result.timed_out {
            result.total = Total {
                value: self.neighbours.get() as u64,
                relation: Relation::Eq,
            };
        }
    }
}

/// How one clause was answered in one segment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SegmentProfile {
    pub(crate) segment: usize,
    pub(crate) field: String,
    pub(crate) strategy: Strategy,
    pub(crate) hits: usize,
    pub(crate) distances: u64,
    pub(crate) profile: SearchProfile,
}

/// Refuses a vector that the field cannot be searched for.
fn check_vector(vector: &[f32], options: &ColumnOptions) -> Result<(), QueryError> {
    let fits = clew_vector::validate(vector, options);
    let fits = fits.and_then(|()| clew_vector::check_direction(vector, options.space));
    fits.map_err(|error| {
        QueryError::create(match error {
            VectorError::DimensionMismatch { expected, actual } => format!(
                "Query vector has invalid dimension: {actual}. Dimension should be: {expected}"
            ),
            VectorError::ZeroVector { space } => {
                format!("zero vector is not supported when space type is [{space}]")
            }
            other => match check_vector_element(vector, options.element) {
                Err(reason) => reason,
                Ok(()) => other.to_string(),
            },
        })
    })
}

/// Refuses a radius that no vector of the space can lie within, or that all do.
fn check_radius(query: &KnnQuery, space: Space) -> Result<(), QueryError> {
    // Of an inner product scores have no bound, and distances may be negative.
    if space == Space::InnerProduct {
        return Ok(());
    }
    let wanted = if query.max_distance.is_some_and(|distance| distance < 0.0) {
        "distance to be non-negative"
    } else if query.min_score.is_some_and(|score| score > 1.0) {
        "score to be in the range [0, 1]"
    } else {
        return Ok(());
    };
    let space = space.name().to_uppercase();
    Err(QueryError::create(format!(
        "[knn] requires {wanted} for space type: {space}"
    )))
}

impl KnnResolver for ViewKnn<'_> {
    fn resolve(
        &self,
        query: &KnnQuery,
        filter: Option<&[SegmentBits]>,
    ) -> Result<Vec<SegmentHits>, QueryError> {
        let mut hits: Vec<SegmentHits> = vec![Vec::new(); self.view.segments.len()];
        // What is to become of a field that nobody has mapped says the query's compiler.
        let Some(field) = self.view.snapshot.mapping.field(&query.field) else {
            return Ok(hits);
        };
        let FieldKind::Vector(vector) = &field.kind else {
            let path = &query.field;
            return Err(QueryError::illegal(format!(
                "Field '{path}' is not knn_vector type."
            )));
        };
        let options = &vector.column;
        check_radius(query, options.space)?;
        check_vector(&query.vector, options)?;
        let k = query.k.unwrap_or(K_MAX);
        if k == 0 || k > K_MAX {
            return Err(QueryError::illegal(format!(
                "[knn] requires k to be in the range (0, {K_MAX}]"
            )));
        }
        // A little more than asked for: the score decides, and its inverse rounds.
        let by_score = query.min_score.map(|score| options.space.distance(score));
        let radius = query.max_distance.or(by_score);
        let radius = radius.map(|radius| radius + 1e-5 * (1.0 + radius.abs()));
        let found = self.columns_searched((field.id, vector), (query, radius), filter)?;
        let mut best: Vec<(f32, usize, u32)> = Vec::new();
        for (at, found) in found {
            let wanted = found.hits.iter().filter(|hit| {
                query.min_score.is_none_or(|min| hit.score >= min)
                    && query.max_distance.is_none_or(|max| hit.distance <= max)
            });
            best.extend(wanted.map(|hit| (hit.score, at, hit.doc)));
        }
        // A scan that was left half done has not seen the nearest.
        unless_stopped()?;
        if let Some(shared) = &self.shared {
            shared
                .neighbours
                .set(self.neighbours(field.id, filter, shared.k));
        }
        best.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
        // Once it is known how far the whole goes, a shard may have found more than its share.
        best.truncate(self.shared.as_ref().map_or(k, |shared| shared.k.max(k)));
        for (score, at, doc) in best {
            hits[at].push((doc, score));
        }
        for segment in &mut hits {
            segment.sort_unstable_by_key(|(doc, _)| *doc);
        }
        Ok(hits)
    }

    fn products(
        &self,
        field: FieldId,
        query: &[SparseEntry],
    ) -> Result<Vec<SegmentHits>, QueryError> {
        let mut hits: Vec<SegmentHits> = vec![Vec::new(); self.view.segments.len()];
        for (hits, segment) in hits.iter_mut().zip(&self.view.segments) {
            let Some(column) = segment.vectors().sparse_column(field) else {
                continue;
            };
            let request = SparseSearchRequest {
                filter: filter_of(segment, None),
                ..SparseSearchRequest::new(query, column.len())
            };
            let found = column.search(&request);
            let found = found.map_err(|error| search_error(segment.vectors(), error))?;
            hits.extend(found.hits.iter().map(|hit| (hit.doc, hit.score)));
            hits.sort_unstable_by_key(|(doc, _)| *doc);
        }
        // A search that was left half done has not seen all.
        unless_stopped()?;
        Ok(hits)
    }

    fn each_vector(
        &self,
        field: FieldId,
        docs: &[SegmentBits],
        each: &mut dyn FnMut(usize, DocId, &[f32]),
    ) -> Result<(), QueryError> {
        let mut pace = Pace::of_blocks();
        for (at, segment) in self.view.segments.iter().enumerate() {
            let (Some(column), Some(docs)) = (segment.vectors().column(field), docs.get(at)) else {
                continue;
            };
            for doc in docs.iter() {
                go_on(&mut pace)?;
                let vector = column.vector(doc);
                if let Some(vector) =
                    vector.map_err(|error| search_error(segment.vectors(), error))?
                {
                    each(at, doc, &vector);
                }
            }
        }
        Ok(())
    }

    fn vector_docs(&self, field: FieldId) -> Result<Vec<SegmentBits>, QueryError> {
        let mut all = Vec::with_capacity(self.view.segments.len());
        for segment in &self.view.segments {
            let mut bits = SegmentBits::empty(segment.doc_count());
            let file = segment.vectors();
            if let Some(column) = file.column(field) {
                column.docs().for_each(|doc| bits.insert(doc));
            }
            if let Some(column) = file.sparse_column(field) {
                let docs = column.docs().map_err(|error| search_error(file, error))?;
                docs.for_each(|doc| bits.insert(doc));
            }
            all.push(bits);
        }
        Ok(all)
    }
}

/// Searches a column of a file in the space that its field has, which it may have been given since.
fn search_in_space(
    (file, column): (&VectorFile, &Column<OwnedBytes>),
    options: &ColumnOptions,
    request: &SearchRequest<'_>,
) -> Result<SearchOutcome, QueryError> {
    let told = |error| search_error(file, error);
    if column.options().space == options.space {
        return with_scratch(|scratch| column.search(request, scratch)).map_err(told);
    }
    let _memory = book_for_a_while(in_space_bytes(column, options))?;
    let again = in_space(column, *options).map_err(told)?;
    with_scratch(|scratch| again.search(request, scratch)).map_err(told)
}

/// What a segment's search is restricted to.
pub(crate) fn filter_of<'a>(
    segment: &'a SegmentView,
    bits: Option<&'a SegmentBits>,
) -> Option<Filter<'a>> {
    match (bits, &segment.alive) {
        (Some(bits), _) => Some(Filter {
            bits: bits.words(),
            count: bits.count() as usize,
        }),
        (None, Some(alive)) => Some(Filter {
            bits: alive.words(),
            count: alive.alive_count() as usize,
        }),
        (None, None) => None,
    }
}

impl ViewKnn<'_> {
    /// The stage of a search that these vectors answer.
    pub(crate) fn stage(&self, now_ms: i64) -> VectorStage<'_> {
        VectorStage {
            snapshot: &self.view.snapshot,
            now_ms,
            knn: self,
        }
    }

    /// What the segments that have the field's vectors find, by their places.
    fn columns_searched(
        &self,
        (field, vector): (FieldId, &VectorMapping),
        (query, radius): (&KnnQuery, Option<f32>),
        filter: Option<&[SegmentBits]>,
    ) -> Result<Vec<(usize, SearchOutcome)>, QueryError> {
        let segments = self.view.segments.iter().enumerate();
        let columns = segments.filter_map(|(at, segment)| {
            let column = segment.vectors().column(field)?;
            let bits = filter.and_then(|bits| bits.get(at));
            let rows = bits.map_or(column.len(), |bits| bits.count() as usize);
            Some((at, (column, rows)))
        });
        let (places, columns): (Vec<usize>, Vec<_>) = columns.unzip();
        let whole = depth_of(query, vector, self.ef_search);
        let is_shared = query.k.is_some() && radius.is_none() && query.target_recall.is_none();
        let parts = whole.of_columns(&columns, is_shared);
        let own = match self.shared {
            Some(_) => Vec::new(),
            None => whole.horizons(&parts, 1),
        };
        let horizons = match &self.shared {
            Some(shared) => std::slice::from_ref(shared.horizon),
            None => &own[..],
        };
        let found = search_parts((whole, &parts), (1, horizons), |part, questions| {
            unless_stopped()?;
            let (at, (column, _)) = (places[part], columns[part]);
            let segment = &self.view.segments[at];
            let only = questions[0];
            let shared = self.shared.as_ref().filter(|_| only.horizon.is_some());
            if let Some(found) = shared.and_then(|shared| shared.found(at)) {
                self.note(&query.field, at, &found);
                return Ok(vec![found]);
            }
            let request = SearchRequest {
                ef_search: only.depth.candidates,
                probes: query.probes.or(vector.probes),
                target_recall: query.target_recall,
                filter: filter_of(segment, filter.and_then(|bits| bits.get(at))),
                max_distance: radius,
                horizon: only.horizon,
                ..SearchRequest::new(&query.vector, only.depth.hits)
            };
            let file = segment.vectors();
            let found = search_in_space((file, column), &vector.column, &request)?;
            self.note(&query.field, at, &found);
            Ok::<_, QueryError>(vec![found])
        })?;
        Ok(places
            .into_iter()
            .zip(found.into_iter().flatten())
            .collect())
    }

    /// How many documents that pass have a vector in a field, of which no more than `most` are counted.
    fn neighbours(&self, field: FieldId, filter: Option<&[SegmentBits]>, most: usize) -> usize {
        let mut count = 0;
        for (at, segment) in self.view.segments.iter().enumerate() {
            let Some(column) = segment.vectors().column(field) else {
                continue;
            };
            let bits = filter.and_then(|bits| bits.get(at));
            let passes = |doc: &DocId| match (bits, &segment.alive) {
                (Some(bits), _) => bits.contains(*doc),
                (None, Some(alive)) => alive.is_alive(*doc),
                (None, None) => true,
            };
            count += column.docs().filter(passes).take(most - count).count();
        }
        count
    }

    fn note(&self, field: &str, segment: usize, found: &SearchOutcome) {
        if let Some(profiles) = &self.profiles {
            profiles.borrow_mut().push(SegmentProfile {
                segment,
                field: field.to_string(),
                strategy: found.strategy,
                hits: found.hits.len(),
                distances: found.distances,
                profile: found.profile,
            });
        }
    }
}

/// How deep a shard is searched for a clause's neighbours; `None` when the field has no vectors, or the clause no number
/// of hits that it may have.
pub(crate) fn depth_asked(target: &PinnedShard, query: &KnnQuery) -> Option<Depth> {
    let field = target.mapping().field(&query.field)?;
    let FieldKind::Vector(vector) = &field.kind else {
        return None;
    };
    query.k.filter(|k| (1..=K_MAX).contains(k))?;
    let usual = target.index.settings().ef_search;
    Some(depth_of(query, vector, usual))
}

/// The same, with the effort that is usual where neither the clause nor the field says another.
fn depth_of(query: &KnnQuery, vector: &VectorMapping, usual: usize) -> Depth {
    let k = query.k.unwrap_or(K_MAX);
    let ef_search = query.ef_search.or(vector.ef_search).unwrap_or(usual);
    let oversampled = query.oversample.map_or(0, |factor| times(k, factor));
    Depth::new(k, ef_search.max(oversampled))
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "both are small and positive, and the product is rounded up"
)]
fn times(k: usize, factor: f32) -> usize {
    (k as f64 * f64::from(factor)).ceil() as usize
}

/// What a failed search of a column of a file is to the query.
pub(crate) fn search_error(file: &VectorFile, error: VectorError) -> QueryError {
    match error {
        // Not the client's fault, and nothing it could put right.
        damaged @ VectorError::Corrupt { .. } => QueryError::Io(file.told(damaged)),
        VectorError::Cancelled => QueryError::Stopped,
        other => QueryError::illegal(other.to_string()),
    }
}
