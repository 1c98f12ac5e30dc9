//! What a hit's document holds, and where its score comes from.

use std::time::Duration;

use bytes::Bytes;
use clew_platform::Reservation;
use clew_query::SortValue;
use clew_search::{Combine, Explained, ShardHit, Stopwatch, explain, explain_search};
use parking_lot::Mutex;

use crate::base::error::EngineError;
use crate::search::pinned::PinnedShard;
use crate::search::place::DocPlace;
use crate::search::request::{FetchSteps, Hit, SearchRequest};
use crate::search::{document_of, part_of};

/// What hits are looked up for.
#[derive(Clone, Copy)]
pub(crate) struct Lookup<'a> {
    /// Whether hits carry their source.
    pub(crate) source: bool,
    /// Whether that has its vectors.
    pub(crate) vectors: bool,
    /// The search whose scores are to be explained.
    pub(crate) explained: Option<&'a SearchRequest>,
    pub(crate) now_ms: i64,
    /// What the hits are booked on.
    pub(crate) memory: &'a Mutex<Reservation>,
    /// What the steps are measured by, where somebody asks.
    pub(crate) watch: Option<&'a Stopwatch>,
}

/// Does something, and tells how long it took where there is a watch.
pub(crate) fn timed<T>(
    watch: Option<&Stopwatch>,
    work: impl FnOnce() -> T,
) -> (T, Option<Duration>) {
    let Some(watch) = watch else {
        return (work(), None);
    };
    let began = watch.now();
    let done = work();
    (done, Some(watch.now().saturating_sub(began)))
}

/// What a hit takes beside its source.
const HIT_BYTES: usize = size_of::<Hit>() + 64;
/// What a value that hits are sorted by takes, with a text of some length.
const SORT_BYTES: usize = size_of::<SortValue>() + 48;

/// What a hit takes in the answer of a shard and in the merged one, before it is fetched.
pub(crate) fn collected_bytes(sort_keys: usize) -> usize {
    2 * (size_of::<ShardHit>() + sort_keys * SORT_BYTES)
}

/// Reads what a hit's document holds; of a nested object, what the document holds there.
pub(crate) fn fetch(
    target: &PinnedShard,
    hit: &ShardHit,
    lookup: Lookup<'_>,
) -> Result<Hit, EngineError> {
    let segment = &target.view.segments[hit.segment];
    let mapping = &target.view.snapshot.mapping;
    let (doc, nested) = document_of(segment, mapping, hit.doc);
    let (row, row_took) = timed(lookup.watch, || segment.row(doc));
    let row = row.map_err(|source| target.shard.tantivy_error(source))?;
    let (source, source_took) = if lookup.source {
        let read = || match lookup.vectors {
            true => segment.source(doc, mapping),
            false => segment.stored_source(doc),
        };
        let (source, took) = timed(lookup.watch, read);
        let source = source.map_err(|source| target.shard.tantivy_error(source))?;
        (Some(source), took)
    } else {
        (None, None)
    };
    let (ignored, ignored_took) = timed(lookup.watch, || match nested.is_empty() {
        true => target.view.snapshot.ignored((hit.segment, hit.doc)),
        false => Ok(Vec::new()),
    });
    let ignored = ignored.map_err(|source| target.shard.tantivy_error(source))?;
    let source_bytes = source.as_ref().map_or(0, Vec::len);
    let bytes = HIT_BYTES + hit.sort.len() * SORT_BYTES + source_bytes;
    lookup.memory.lock().grow(bytes)?;
    let source = source.and_then(|source| part_of(Bytes::from(source), &nested));
    let (explanation, explanation_took) = explained(target, hit, lookup)?;
    let steps = row_took.map(|row| FetchSteps {
        row: row + ignored_took.unwrap_or_default(),
        source: source_took,
        explanation: explanation_took,
        ..FetchSteps::default()
    });
    Ok(Hit {
        index: target.index.clone(),
        id: row.id.to_string(),
        score: hit.score,
        sort: hit.sort.clone(),
        group: hit.group.clone(),
        version: row.version,
        seq_no: row.seq_no,
        routing: row.routing.map(str::to_string),
        ignored,
        source,
        shard: target.number(),
        place: DocPlace::new(target.at, hit.segment, hit.doc),
        explanation,
        nested,
        inner: Vec::new(),
        matched_queries: Vec::new(),
        percolated: Vec::new(),
        steps: steps.map(Box::new),
    })
}

/// Where a hit's score comes from, if that is asked for, and how long it took to find out.
fn explained(
    target: &PinnedShard,
    hit: &ShardHit,
    lookup: Lookup<'_>,
) -> Result<(Option<Explained>, Option<Duration>), EngineError> {
    let Some(request) = lookup.explained else {
        return Ok((None, None));
    };
    let told = || target.telling(|| explanation(target, hit, request, lookup.now_ms));
    let (explained, took) = timed(lookup.watch, told);
    let explained = explained?;
    let bytes = explained.as_ref().map_or(0, explained_bytes);
    lookup.memory.lock().grow(bytes)?;
    Ok((explained, took))
}

pub(super) fn explained_bytes(explained: &Explained) -> usize {
    let own = size_of::<Explained>() + explained.description.len();
    own + explained.details.iter().map(explained_bytes).sum::<usize>()
}

fn explanation(
    target: &PinnedShard,
    hit: &ShardHit,
    request: &SearchRequest,
    now_ms: i64,
) -> Result<Option<Explained>, EngineError> {
    let knn = target.knn();
    let stage = knn.stage(now_ms);
    let place = (hit.segment, hit.doc);
    let snapshot = &target.view.snapshot;
    let query = &request.query;
    let mut vectors = stage.answers(query)?;
    let Some(mut explained) = explain_search(snapshot, query, &vectors, now_ms, place)? else {
        return Ok(None);
    };
    for round in &request.control.rescore {
        let weighted = |explained: Explained, weight: f32, name: &str| {
            let value = explained.value * weight;
            let factor = Explained::new(weight, name, Vec::new());
            Explained::new(value, "product of:", vec![explained, factor])
        };
        let first = weighted(explained, round.query_weight, "primaryWeight");
        // Hits behind the window keep their first score: their second one was never asked for.
        let in_window = hit
            .score
            .is_none_or(|score| (score - first.value).abs() > f32::EPSILON);
        let second = if in_window {
            stage.add(&mut vectors, &round.query, None)?;
            explain(snapshot, &round.query, &vectors, now_ms, place)?
        } else {
            None
        };
        explained = match second {
            None => first,
            Some(second) => {
                let second = weighted(second, round.rescore_weight, "secondaryWeight");
                let value = round.combine.apply(first.value, second.value);
                Explained::new(value, described(round.combine), vec![first, second])
            }
        };
    }
    Ok(Some(explained))
}

fn described(combine: Combine) -> &'static str {
    match combine {
        Combine::Total => "sum of:",
        Combine::Multiply => "product of:",
        Combine::Avg => "avg of:",
        Combine::Max => "max of:",
        Combine::Min => "min of:",
    }
}
