//! The loop of a write to all documents of a search.

use std::sync::Arc;
use std::time::Instant;

use axum::http::StatusCode;
use bytes::Bytes;
use clew_engine::{
    Action, Condition, Engine, EngineError, Hit, OpType, PRIMARY_TERM, Purpose, SearchControl,
    SearchRequest, ShardFailure, WriteOperation, WriteOutcome, WriteResult,
};
use clew_platform::{CancellationToken, stopped, whole_ms};
use clew_query::SortValue;
use clew_search::TrackTotal;
use serde_json::{Value, json};

use super::counts::{Counts, status};
use super::scripted::Original;
use super::spec::{Job, Routing, Target, Verb};
use crate::documents::write_reply;
use crate::documents::write_reply::Refresh;
use crate::http::error::ApiError;
use crate::http::json_writer::JsonWriter;
use crate::http::source_filter::SourceFilter;
use crate::ingest::{Ingest, Prepared};
use crate::search::on_first;
use crate::state::call::Call;
use crate::state::replicas::{CopiesCheck, WantedCopies};

/// What is written at a time: some ten milliseconds' worth.
const PART_DOCUMENTS: usize = 200;
const PART_BYTES: usize = 512 << 10;

/// How a job ended.
pub(super) struct Outcome {
    pub(super) body: Value,
    /// The gravest of its failures.
    pub(super) status: StatusCode,
}

/// Why the job is to end now, if it is.
fn cancelled() -> Option<String> {
    let token = CancellationToken::current();
    token.stopped()?;
    Some(token.reason().unwrap_or_default().to_string())
}

/// Does a job; the task that it is, if it is one, is told how far it is.
pub(super) async fn run(
    call: &Arc<Call>,
    job: &Job,
    task: Option<u64>,
) -> Result<Outcome, ApiError> {
    let started = Instant::now();
    let mut counts = Counts::of(job);
    let mut after: Option<Vec<SortValue>> = None;
    let mut page = job.page;
    loop {
        let left = job.docs_max.map_or(usize::MAX, |max| max - counts.done);
        if left == 0 {
            break;
        }
        counts.cancelled = cancelled();
        if counts.cancelled.is_some() {
            break;
        }
        let first = after.is_none();
        let began = Instant::now();
        let request = request(job, after.clone(), page.min(left), first)?;
        let response = match call.api.engine.search(request).await {
            Err(EngineError::Cancelled { .. }) => continue,
            // Documents are longer than pages of so many may be: fewer at once do as well.
            Err(EngineError::Memory(_)) if page > 1 => {
                page /= 2;
                continue;
            }
            // Clients look for what is wrong where searches have it.
            Err(error @ EngineError::Query(_)) => {
                return Err(on_first(call, &job.pinned.indices(), error.into()));
            }
            response => response?,
        };
        missed(call, &response.failures, &mut counts);
        if !counts.failures.is_empty() {
            // What is missing would never be written: nothing of what was found is, either.
            break;
        }
        if first {
            counts.total = response.total.map_or(0, |total| total.value);
            if let Some(max) = job.docs_max {
                counts.total = counts.total.min(u64::try_from(max).unwrap_or(u64::MAX));
            }
        }
        let Some(last) = response.hits.last() else {
            break;
        };
        after = Some(last.sort.clone());
        counts.read(&response.hits);
        write(call, job, &response.hits, &mut counts).await?;
        if let Some(task) = task {
            call.api.tasks.tell(task, status(job, &counts));
        }
        if !counts.failures.is_empty() {
            break;
        }
        // Behind the last one there is nothing to hold up.
        if u64::try_from(counts.done).unwrap_or(u64::MAX) < counts.total {
            job.speed.wait(response.hits.len(), began).await;
        }
    }
    // Whoever ended it does not wait for that.
    if job.refresh != Refresh::Later && counts.cancelled.is_none() {
        refresh(call, job).await?;
    }
    let took = whole_ms(started.elapsed());
    Ok(Outcome {
        status: counts.status,
        body: render(job, counts, took),
    })
}

/// Notes the shards that could not be searched.
fn missed(call: &Call, failures: &[ShardFailure], counts: &mut Counts) {
    for failure in failures {
        let error = ApiError::from(&failure.error);
        counts.fail(error.status(), || {
            json!({
                "index": failure.index,
                "shard": failure.shard,
                "node": call.api.node_id,
                "status": error.status().as_u16(),
                "reason": error.cause(),
            })
        });
    }
}

fn request(
    job: &Job,
    after: Option<Vec<SortValue>>,
    size: usize,
    first: bool,
) -> Result<SearchRequest, ApiError> {
    Ok(SearchRequest {
        parts: job.parts.clone(),
        sort: job.sort.clone(),
        size,
        track_total: if first {
            TrackTotal::Exact
        } else {
            TrackTotal::No
        },
        search_after: after,
        control: SearchControl {
            slice: job.slice,
            ..SearchControl::default()
        },
        source: job.verb != Verb::Delete,
        vectors: job.verb != Verb::Delete,
        ..SearchRequest::new(job.pinned.clone(), job.query.clone())
    })
}

async fn write(
    call: &Arc<Call>,
    job: &Job,
    hits: &[Hit],
    counts: &mut Counts,
) -> Result<(), ApiError> {
    let mut outcomes = Vec::new();
    let bytes = |hit: &Hit| hit.source.as_ref().map_or(0, Bytes::len);
    let parts: Vec<&[Hit]> = parts(hits, bytes).collect();
    for part in parts {
        if cancelled().is_some() {
            break;
        }
        outcomes.push(write_part(call, job, part, counts).await?);
    }
    // One wait for the disk is enough for all of a page.
    for (written, outcome) in outcomes {
        let outcome = write_reply::acknowledge(call, outcome, Refresh::Later).await?;
        count(call, job, (written, &outcome), counts);
    }
    Ok(())
}

/// The hits of a page in parts that are written each to its end: a job that is ended leaves off between two.
fn parts<T>(hits: &[T], bytes_of: impl Fn(&T) -> usize) -> impl Iterator<Item = &[T]> {
    let (mut documents, mut bytes) = (0, 0);
    hits.chunk_by(move |hit, _| {
        documents += 1;
        bytes += bytes_of(hit);
        let goes_on = documents < PART_DOCUMENTS && bytes < PART_BYTES;
        if !goes_on {
            (documents, bytes) = (0, 0);
        }
        goes_on
    })
}

/// Writes a part of a page; which of its hits were to be written, and what came of it.
async fn write_part<'h>(
    call: &Arc<Call>,
    job: &Job,
    hits: &'h [Hit],
    counts: &mut Counts,
) -> Result<(Vec<&'h Hit>, WriteOutcome), ApiError> {
    let each = hits.iter();
    let asked: Vec<(Original, WriteOperation)> = each
        .map(|hit| (Original::of(job, hit), operation(job, hit)))
        .collect();
    let (named, script) = (job.pipeline.clone(), job.script.clone());
    let (memory, access) = (call.memory.clone(), call.access.clone());
    let copies = WantedCopies::of(&call.params)?;
    let prepare = move |engine: &Engine| {
        let mut ingest = Ingest::new(engine);
        let mut copies = CopiesCheck::new(copies, (engine, &access));
        let mut prepared = Vec::with_capacity(asked.len());
        for (original, operation) in asked {
            // A pipeline or a script may take long for each: what is behind the end is not written.
            if stopped() {
                break;
            }
            let operation = match &script {
                // A script that fails ends the job before anything of this part is written.
                Some(script) => {
                    let around = (&**script, engine.now_ms(), &memory);
                    match original.scripted(around, operation) {
                        Ok(operation) => operation,
                        Err(error) => return Ok(Err(error)),
                    }
                }
                None => Some(operation),
            };
            prepared.push(match operation {
                None => Ok(Prepared::Dropped),
                Some(operation) => {
                    let enough = copies.check(&operation);
                    enough.and_then(|()| ingest.prepare(named.as_deref(), operation))
                }
            });
        }
        Ok::<Result<Vec<_>, ApiError>, EngineError>(Ok(prepared))
    };
    let (mut written, mut operations) = (Vec::new(), Vec::new());
    for (hit, prepared) in hits.iter().zip(call.blocking(prepare).await??) {
        match prepared {
            Ok(Prepared::Write(operation)) => {
                written.push(hit);
                operations.push(operation);
            }
            Ok(Prepared::Dropped) => counts.note(&hit.id, |slice| slice.noops += 1),
            Err(error) => failed(job, hit, &error, counts),
        }
    }
    let outcome = write_reply::unacknowledged(call, operations).await?;
    Ok((written, outcome))
}

fn count(call: &Call, job: &Job, (hits, outcome): (Vec<&Hit>, &WriteOutcome), counts: &mut Counts) {
    let copies = matches!(job.verb, Verb::Copy(_));
    for (hit, result) in hits.into_iter().zip(&outcome.results) {
        match result {
            Ok(written) => counts.note(&hit.id, |slice| match written.result {
                WriteResult::Created => slice.created += 1,
                WriteResult::Updated => slice.updated += 1,
                WriteResult::Deleted => slice.deleted += 1,
                // A copy that a script turns into a deletion counts whether or not there was one to delete.
                WriteResult::NotFound if copies => slice.deleted += 1,
                WriteResult::NotFound | WriteResult::Noop => {}
            }),
            Err(error) => refused(call, job, hit, error, counts),
        }
    }
}

fn refused(call: &Call, job: &Job, hit: &Hit, error: &EngineError, counts: &mut Counts) {
    let routing = routing(job, hit);
    let whose = (index_of(job, hit), routing.as_deref(), Some(&*hit.id));
    let error = write_reply::refused(call, whose, error);
    let conflict = error.status() == StatusCode::CONFLICT;
    counts.note(&hit.id, |slice| slice.conflicts += u64::from(conflict));
    if conflict && job.proceed {
        return;
    }
    failed(job, hit, &error, counts);
}

fn failed(job: &Job, hit: &Hit, error: &ApiError, counts: &mut Counts) {
    counts.fail(error.status(), || {
        json!({
            "index": index_of(job, hit),
            "id": hit.id,
            "cause": error.cause(),
            "status": error.status().as_u16(),
        })
    });
}

/// Where a document of the search is written to.
fn index_of<'a>(job: &'a Job, hit: &'a Hit) -> &'a str {
    match &job.verb {
        Verb::Copy(target) => target.index.as_str(),
        Verb::Update | Verb::Delete => hit.index.name(),
    }
}

fn operation(job: &Job, hit: &Hit) -> WriteOperation {
    let here = Some(Condition::At {
        seq_no: hit.seq_no,
        primary_term: PRIMARY_TERM,
    });
    let source = kept_source(job, hit);
    let index_action = |create: bool| {
        Action::index(
            source.clone(),
            if create {
                OpType::Create
            } else {
                OpType::Index
            },
        )
    };
    let (index, action, condition) = match &job.verb {
        Verb::Delete => (hit.index.name().to_string(), Action::Delete, here),
        Verb::Update => (hit.index.name().to_string(), index_action(false), here),
        Verb::Copy(target) => (
            target.index.clone(),
            index_action(target.create),
            target.external.then_some(Condition::External {
                version: hit.version,
                or_equal: false,
            }),
        ),
    };
    WriteOperation {
        index,
        id: Some(hit.id.clone()),
        routing: routing(job, hit),
        action,
        condition,
        require_alias: false,
    }
}

fn kept_source(job: &Job, hit: &Hit) -> Bytes {
    let source = hit.source.clone().unwrap_or_default();
    match &job.verb {
        Verb::Copy(target) if target.kept != SourceFilter::All => {
            let mut json = JsonWriter::with_capacity(source.len());
            target.kept.write(&source, &mut json);
            json.into_bytes().into()
        }
        _ => source,
    }
}

fn routing(job: &Job, hit: &Hit) -> Option<String> {
    match &job.verb {
        Verb::Copy(Target {
            routing: Routing::Discard,
            ..
        }) => None,
        Verb::Copy(Target {
            routing: Routing::Set(key),
            ..
        }) => Some(key.clone()),
        _ => hit.routing.clone(),
    }
}

async fn refresh(call: &Arc<Call>, job: &Job) -> Result<(), ApiError> {
    let indices = match &job.verb {
        Verb::Copy(target) => {
            let engine = &call.api.engine;
            let opened = engine.open_exactly(&target.index, &call.access, Purpose::Write);
            let opened = opened.into_iter();
            opened.map(|found| found.index().clone()).collect()
        }
        _ => job.pinned.indices(),
    };
    call.refresh(indices).await
}

fn render(job: &Job, counts: Counts, took: u64) -> Value {
    let mut body = json!({"took": took, "timed_out": false});
    if let (Value::Object(body), Value::Object(status)) = (&mut body, status(job, &counts)) {
        body.extend(status);
        body.insert("failures".to_string(), counts.failures.into());
        if let Some(reason) = counts.cancelled {
            body.insert("canceled".to_string(), reason.into());
        }
    }
    body
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_written_in_parts_of_so_many_documents_or_bytes() {
        let lengths = |sizes: &[usize]| -> Vec<usize> {
            parts(sizes, |&size| size).map(<[usize]>::len).collect()
        };
        assert!(lengths(&[]).is_empty());
        assert_eq!(lengths(&[PART_BYTES * 9]), [1]);
        assert_eq!(
            lengths(&[1; 2 * PART_DOCUMENTS + 1]),
            [PART_DOCUMENTS, PART_DOCUMENTS, 1]
        );
        let third = PART_BYTES / 3 + 1;
        assert_eq!(
            lengths(&[third, third, third, 1, PART_BYTES, 1, 1]),
            [3, 2, 2]
        );
    }
}
