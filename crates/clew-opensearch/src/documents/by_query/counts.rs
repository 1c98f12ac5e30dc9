//! What a write by query has done so far, of all documents and of each part that it was asked to tell apart.

use axum::http::StatusCode;
use clew_engine::Slice;
use serde_json::{Value, json};

use super::found::FoundDocument;
use super::spec::{Job, Verb};
use crate::http::error::ApiError;

/// Failures that an answer tells of.
const FAILURES_MAX: usize = 100;

/// What has become of the documents of a part.
#[derive(Clone, Copy, Default)]
pub(super) struct Tally {
    pub(super) total: u64,
    pub(super) created: u64,
    pub(super) updated: u64,
    pub(super) deleted: u64,
    pub(super) conflicts: u64,
    /// Documents that a pipeline dropped, or that a script leaves alone.
    pub(super) noops: u64,
    pub(super) batches: u64,
}

impl Tally {
    fn join(&mut self, other: &Tally) {
        self.total += other.total;
        self.created += other.created;
        self.updated += other.updated;
        self.deleted += other.deleted;
        self.conflicts += other.conflicts;
        self.noops += other.noops;
        self.batches += other.batches;
    }
}

pub(super) struct Counts {
    /// How many documents the job is about.
    pub(super) total: u64,
    /// Of each part; its `total` are the documents that were read of it so far.
    pub(super) slices: Vec<Tally>,
    pub(super) done: usize,
    pub(super) failures: Vec<Value>,
    /// How often a page was asked for again.
    pub(super) retries: u64,
    /// Whether the time of a search was over before it was through.
    pub(super) timed_out: bool,
    /// Why the job was ended before it was through.
    pub(super) cancelled: Option<String>,
    /// Why what is left could not be read or written; one of the failures says so.
    pub(super) broke_off: Option<ApiError>,
    /// The gravest of the failures.
    pub(super) status: StatusCode,
}

impl Counts {
    pub(super) fn of(job: &Job) -> Self {
        Counts {
            total: 0,
            slices: (0..job.slices.max(1)).map(|_| Tally::default()).collect(),
            done: 0,
            failures: Vec::new(),
            retries: 0,
            timed_out: false,
            cancelled: None,
            broke_off: None,
            status: StatusCode::OK,
        }
    }

    pub(super) fn fail(&mut self, status: StatusCode, failure: impl FnOnce() -> Value) {
        self.status = self.status.max(status);
        if self.failures.len() < FAILURES_MAX {
            self.failures.push(failure());
        }
    }

    /// Ends the job with an error: alone where nothing has become of any document yet, otherwise among the failures, beside
    /// what was done.
    pub(super) fn break_off(
        &mut self,
        error: ApiError,
        shown: impl FnOnce(&ApiError) -> Value,
    ) -> Result<(), ApiError> {
        let Tally {
            created,
            updated,
            deleted,
            conflicts,
            noops,
            ..
        } = self.all();
        if created + updated + deleted + conflicts + noops == 0 {
            return Err(error);
        }
        self.fail(error.status(), || shown(&error));
        self.broke_off = Some(error);
        Ok(())
    }

    /// Counts a document of a part by its id.
    pub(super) fn note(&mut self, id: &str, counted: impl FnOnce(&mut Tally)) {
        let parts = u32::try_from(self.slices.len()).unwrap_or(u32::MAX);
        let part = usize::try_from(Slice::of(id, parts)).unwrap_or(usize::MAX);
        if let Some(tally) = self.slices.get_mut(part) {
            counted(tally);
        }
    }

    /// Counts the documents that a page has of each part.
    pub(super) fn read(&mut self, page: &[FoundDocument]) {
        self.done += page.len();
        let before: Vec<u64> = self.slices.iter().map(|slice| slice.total).collect();
        for found in page {
            self.note(&found.id, |slice| slice.total += 1);
        }
        for (slice, before) in self.slices.iter_mut().zip(before) {
            slice.batches += u64::from(slice.total > before);
        }
    }

    /// What has become of all.
    fn all(&self) -> Tally {
        let mut all = Tally::default();
        self.slices.iter().for_each(|slice| all.join(slice));
        all.total = self.total;
        all
    }
}

/// How far a job is.
pub(super) fn status(job: &Job, counts: &Counts) -> Value {
    let mut status = shown(job, &counts.all(), job.speed.throttled_ms());
    status["retries"]["search"] = counts.retries.into();
    if let Value::Object(members) = &mut status {
        if let Some(slice) = job.slice {
            members.insert("slice_id".to_string(), slice.id.into());
        }
        if counts.slices.len() > 1 {
            let slices = counts.slices.iter().enumerate().map(|(number, slice)| {
                // All are held up together.
                let mut slice = shown(job, slice, 0);
                slice["slice_id"] = number.into();
                slice
            });
            members.insert("slices".to_string(), slices.collect());
        }
    }
    status
}

/// What has become of the documents of a job, or of a part of them.
fn shown(job: &Job, tally: &Tally, throttled_ms: u64) -> Value {
    let mut shown = json!({
        "total": tally.total,
        "updated": tally.updated,
        "created": tally.created,
        "deleted": tally.deleted,
        "batches": tally.batches,
        "version_conflicts": tally.conflicts,
        "noops": tally.noops,
        "retries": {"bulk": 0, "search": 0},
        "throttled_millis": throttled_ms,
        "requests_per_second": job.speed.shown(),
        "throttled_until_millis": 0,
    });
    if let Value::Object(members) = &mut shown {
        match job.verb {
            Verb::Delete => {
                members.remove("updated");
                members.remove("created");
            }
            Verb::Update => {
                members.remove("created");
            }
            Verb::Copy(_) => {}
        }
    }
    shown
}
