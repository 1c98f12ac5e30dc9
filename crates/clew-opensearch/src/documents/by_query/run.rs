//! The loop of a write to all documents of a search.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use axum::http::StatusCode;
use bytes::Bytes;
use clew_engine::{
    Action, Condition, Engine, EngineError, Index, OpType, PRIMARY_TERM, Purpose, WriteOperation,
    WriteOutcome, WriteResult,
};
use clew_platform::{CancellationToken, stopped, whole_ms};
use serde_json::{Value, json};

use super::counts::{Counts, status};
use super::found::{FoundDocument, Reading};
use super::scripted::Original;
use super::spec::{Job, Origin, Routing, Target, Verb};
use crate::documents::write_reply;
use crate::documents::write_reply::Refresh;
use crate::http::error::ApiError;
use crate::http::json_writer::JsonWriter;
use crate::http::source_filter::SourceFilter;
use crate::ingest::{Ingest, Prepared};
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
    /// Why not all was read and written, where that failed.
    pub(super) broke_off: Option<ApiError>,
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
    if let Some(task) = task {
        call.api.tasks.tell(task, status(job, &counts));
    }
    let mut reading = Reading::begin(call, job);
    let ended = write_all(call, job, task, (&mut reading, &mut counts)).await;
    reading.end().await;
    ended?;
    // Whoever ended it does not wait for that.
    if job.refresh && counts.cancelled.is_none() {
        refresh(call, job).await;
    }
    let took = whole_ms(started.elapsed());
    Ok(Outcome {
        status: counts.status,
        broke_off: counts.broke_off.take(),
        body: render(job, counts, took),
    })
}

/// Writes page by page, until nothing is left, something fails, or somebody ends the job.
async fn write_all(
    call: &Arc<Call>,
    job: &Job,
    task: Option<u64>,
    (reading, counts): (&mut Reading<'_>, &mut Counts),
) -> Result<(), ApiError> {
    loop {
        let left = job.docs_max.map_or(usize::MAX, |max| max - counts.done);
        if left == 0 {
            return Ok(());
        }
        counts.cancelled = cancelled();
        if counts.cancelled.is_some() {
            return Ok(());
        }
        let began = Instant::now();
        let page = reading.next(left).await;
        counts.retries = reading.retries();
        let page = match page {
            Ok(Some(page)) => page,
            Ok(None) => continue,
            Err(error) => return counts.break_off(error, |error| reading.failure(error)),
        };
        counts.timed_out = page.timed_out;
        for (status, failure) in page.failures {
            counts.fail(status, || failure);
        }
        if !counts.failures.is_empty() || counts.timed_out {
            // What is missing would never be written: nothing of what was found is, either.
            return Ok(());
        }
        if let Some(total) = page.total {
            let most = job.docs_max.and_then(|max| u64::try_from(max).ok());
            counts.total = total.min(most.unwrap_or(u64::MAX));
        }
        if page.found.is_empty() {
            return Ok(());
        }
        counts.read(&page.found);
        if let Err(error) = write(call, job, &page.found, counts).await {
            return counts.break_off(error, |error| reading.failure(error));
        }
        if let Some(task) = task {
            call.api.tasks.tell(task, status(job, counts));
        }
        if !counts.failures.is_empty() {
            return Ok(());
        }
        let documents = page.found.len();
        // Whatever waits takes no memory.
        drop((page.found, page._memory));
        // Behind the last one there is nothing to hold up.
        if u64::try_from(counts.done).unwrap_or(u64::MAX) < counts.total {
            job.speed.wait(documents, began).await;
        }
    }
}

async fn write(
    call: &Arc<Call>,
    job: &Job,
    hits: &[FoundDocument],
    counts: &mut Counts,
) -> Result<(), ApiError> {
    let mut outcomes = Vec::new();
    let mut ended = Ok(());
    let parts: Vec<&[FoundDocument]> =
        parts(hits, |hit: &FoundDocument| hit.source.len()).collect();
    for part in parts {
        if cancelled().is_some() {
            break;
        }
        match write_part(call, job, part, counts).await {
            Ok(written) => outcomes.push(written),
            // What was written of the page before is acknowledged and counted.
            Err(error) => {
                ended = Err(error);
                break;
            }
        }
    }
    // One wait for the disk is enough for all of a page.
    for (written, outcome) in outcomes {
        let (outcome, _) = write_reply::acknowledge(call, outcome, Refresh::Later).await?;
        count(call, job, (written, &outcome), counts);
    }
    ended
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
    hits: &'h [FoundDocument],
    counts: &mut Counts,
) -> Result<(Vec<&'h FoundDocument>, WriteOutcome), ApiError> {
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
    let outcome = write_reply::unacknowledged_in(call, found_in(job, hits), operations).await?;
    Ok((written, outcome))
}

/// The indexes that documents are written back to. By its name alone one that was made anew meanwhile would be written to:
/// it may have documents of the same ids and sequence numbers, and one that is missing would be made.
fn found_in(job: &Job, hits: &[FoundDocument]) -> BTreeMap<String, Arc<Index>> {
    match &job.verb {
        Verb::Copy(_) => BTreeMap::new(),
        Verb::Update | Verb::Delete => {
            let each = hits.iter();
            each.filter_map(|hit| Some((hit.index.to_string(), hit.found_in.clone()?)))
                .collect()
        }
    }
}

fn count(
    call: &Call,
    job: &Job,
    (hits, outcome): (Vec<&FoundDocument>, &WriteOutcome),
    counts: &mut Counts,
) {
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

fn refused(call: &Call, job: &Job, hit: &FoundDocument, error: &EngineError, counts: &mut Counts) {
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

fn failed(job: &Job, hit: &FoundDocument, error: &ApiError, counts: &mut Counts) {
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
fn index_of<'a>(job: &'a Job, hit: &'a FoundDocument) -> &'a str {
    match &job.verb {
        Verb::Copy(target) => target.index.as_str(),
        Verb::Update | Verb::Delete => &hit.index,
    }
}

fn operation(job: &Job, hit: &FoundDocument) -> WriteOperation {
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
        Verb::Delete => (hit.index.to_string(), Action::Delete, here),
        Verb::Update => (hit.index.to_string(), index_action(false), here),
        Verb::Copy(target) => (
            target.index.clone(),
            index_action(target.create),
            target.external.map(|or_equal| Condition::External {
                version: hit.version,
                or_equal,
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

fn kept_source(job: &Job, hit: &FoundDocument) -> Bytes {
    let source = hit.source.clone();
    match &job.verb {
        Verb::Copy(target) if target.kept != SourceFilter::All => {
            let mut json = JsonWriter::with_capacity(source.len());
            target.kept.write(&source, &mut json);
            json.into_bytes().into()
        }
        _ => source,
    }
}

fn routing(job: &Job, hit: &FoundDocument) -> Option<String> {
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

/// Makes what was written visible. Where that fails, what is done stays done, and is told.
async fn refresh(call: &Arc<Call>, job: &Job) {
    let indices = match &job.verb {
        Verb::Copy(target) => {
            let engine = &call.api.engine;
            let opened = engine.open_exactly(&target.index, &call.access, Purpose::Write);
            let opened = opened.into_iter();
            opened.map(|found| found.index().clone()).collect()
        }
        Verb::Update | Verb::Delete => match &job.origin {
            Origin::Here(here) => here.pinned.indices(),
            Origin::Elsewhere(_) => Vec::new(),
        },
    };
    if let Err(error) = call.refresh(indices).await {
        let reason = error.reason();
        tracing::warn!(reason, "what was written is not visible yet");
    }
}

fn render(job: &Job, counts: Counts, took: u64) -> Value {
    let mut body = json!({"took": took, "timed_out": counts.timed_out});
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
