//! Requests that are being answered and may take long: whoever waits for one can end it, and so do the client's going
//! and the server's stop.
//!
//! Each request has a token, which everything that is done for it asks ([`CancellationToken`]). Most are answered as
//! soon as they are cancelled, whatever still has to notice; those that write answer themselves, with what they did.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use bytes::Bytes;
use clew_engine::{EngineError, Took};
use clew_platform::CancellationToken;
use foldhash::fast::FixedState;
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::{Notify, watch};

use super::{RunningTask, nanos_since};
use crate::http::error::{ApiError, Cause};

/// Requests begin and end all the time, from all threads: one lock for all would be waited for.
const PARTS: usize = 16;
/// How much of a body a description shows, in bytes.
const BODY_SHOWN_MAX: usize = 4096;
/// What those are told whose search is ended by the stop of the server.
pub(super) const STOPPING: &str = "node is closing";
/// Why the work for a client ends that has gone.
const CLIENT_GONE: &str = "channel closed";

/// What a request that takes long is called, and who answers it when it is cancelled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Action {
    pub(crate) name: &'static str,
    answers: Answers,
}

/// Who answers a request that is cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answers {
    /// At once, with an error.
    Refusal,
    /// The endpoint, with what it did until then.
    Endpoint,
}

impl Action {
    /// An action of this name.
    pub(crate) const fn new(name: &'static str, answers: Answers) -> Self {
        Action { name, answers }
    }
}

/// A request on its way.
pub(crate) struct RequestTask {
    number: u64,
    action: Action,
    /// The index expression of its path.
    expression: String,
    body: Bytes,
    started: Instant,
    started_ms: u64,
    opaque_id: Option<String>,
    token: CancellationToken,
    cancelled: Notify,
}

impl RequestTask {
    fn cancel(&self, reason: &str) {
        self.token.cancel(reason);
        self.cancelled.notify_one();
    }

    fn shown(&self) -> RunningTask {
        let body = &self.body[..self.body.len().min(BODY_SHOWN_MAX)];
        let body = String::from_utf8_lossy(body);
        let searches = self.action.name == "indices:data/read/search";
        let kind = if searches {
            ", search_type[QUERY_THEN_FETCH]"
        } else {
            ""
        };
        RunningTask {
            number: self.number,
            action: self.action.name,
            description: format!(
                "indices[{}]{kind}, source[{}]",
                self.expression,
                body.trim()
            ),
            started_ms: self.started_ms,
            running_ns: nanos_since(self.started),
            opaque_id: self.opaque_id.clone(),
            cancellable: true,
            cancelled: self.token.stopped().is_some(),
            status: None,
        }
    }
}

/// By their numbers, which this process gives.
type Part = HashMap<u64, Arc<RequestTask>, FixedState>;

/// All requests that are on their way.
#[derive(Default)]
pub(crate) struct Requests {
    parts: [Mutex<Part>; PARTS],
    /// Turns to true when the server stops; none where nobody says so.
    stopped: Option<watch::Receiver<bool>>,
}

/// What a request is, beside its action.
pub(crate) struct RequestDetails<'a> {
    pub(crate) expression: &'a str,
    pub(crate) body: &'a Bytes,
    pub(crate) opaque_id: Option<&'a str>,
}

impl Requests {
    /// None yet. Those that come when `stopped` says so, or nobody is left who could say it, are cancelled.
    pub(super) fn new(stopped: Option<watch::Receiver<bool>>) -> Self {
        Requests {
            stopped,
            ..Requests::default()
        }
    }

    /// Notes a request that begins; it is forgotten when the result is dropped, and cancelled when that happens before it is
    /// answered.
    pub(crate) fn enter(
        &self,
        number: u64,
        action: Action,
        asked: &RequestDetails<'_>,
        started_ms: u64,
    ) -> Answering<'_> {
        let task = Arc::new(RequestTask {
            number,
            action,
            expression: asked.expression.to_string(),
            body: asked.body.clone(),
            started: Instant::now(),
            started_ms,
            opaque_id: asked.opaque_id.map(String::from),
            token: CancellationToken::new(),
            cancelled: Notify::new(),
        });
        self.part(number).insert(number, task.clone());
        // Looked at after it was noted: whoever ends all requests comes after the server was told to stop.
        if self.is_stopping() {
            task.cancel(STOPPING);
        }
        Answering {
            requests: self,
            task,
            answered: false,
        }
    }

    pub(super) fn shown(&self) -> Vec<RunningTask> {
        let parts = self.parts.iter().map(Mutex::lock);
        parts
            .flat_map(|part| part.values().map(|task| task.shown()).collect::<Vec<_>>())
            .collect()
    }

    /// Cancels a request; what it is, if there is one of this number.
    pub(super) fn cancel(&self, number: u64, reason: &str) -> Option<RunningTask> {
        let task = self.part(number).get(&number).cloned()?;
        task.cancel(reason);
        Some(task.shown())
    }

    /// Whether the server was told to stop, or nobody is left who could say that it goes on.
    pub(super) fn is_stopping(&self) -> bool {
        let stopped = self.stopped.as_ref();
        stopped.is_some_and(|stopped| *stopped.borrow() || stopped.has_changed().is_err())
    }

    /// Cancels those that are on their way, once the server stops.
    pub(super) fn stop(&self) {
        for part in &self.parts {
            part.lock().values().for_each(|task| task.cancel(STOPPING));
        }
    }

    fn part(&self, number: u64) -> MutexGuard<'_, Part> {
        let place = usize::try_from(number % PARTS as u64).unwrap_or(0);
        self.parts[place].lock()
    }
}

/// A request while it is being answered.
pub(crate) struct Answering<'a> {
    requests: &'a Requests,
    task: Arc<RequestTask>,
    answered: bool,
}

impl Answering<'_> {
    /// The endpoint's answer, or the error that the request was cancelled; it is cancelled by itself after a time, if
    /// one is given.
    pub(crate) async fn answer<T>(
        mut self,
        endpoint: impl Future<Output = Result<T, ApiError>> + Unpin,
        cancel_after: Option<Duration>,
    ) -> Result<T, ApiError> {
        let task = self.task.clone();
        let mut endpoint = task.token.clone().scope(endpoint);
        let answer = tokio::select! {
            biased;
            answer = &mut endpoint => answer,
            () = cancelled(&task, cancel_after) => match task.action.answers {
                Answers::Refusal => Err(self.refusal()),
                Answers::Endpoint => endpoint.await,
            },
        };
        self.answered = true;
        match answer {
            // Whichever of its parts noticed first.
            Err(_) if task.token.stopped().is_some() => Err(self.refusal()),
            answer => answer,
        }
    }

    fn refusal(&self) -> ApiError {
        let reason = self.task.token.reason().unwrap_or_default();
        if reason == STOPPING {
            return ApiError::from(EngineError::Closed);
        }
        cancelled_error(reason)
    }
}

/// What somebody is told whose request was cancelled.
pub fn cancelled_error(reason: &str) -> ApiError {
    let reason = format!("cancelled task with reason: {reason}");
    ApiError::new(
        StatusCode::BAD_REQUEST,
        Cause::new("task_cancelled_exception", reason),
    )
}

/// What ends a write of many documents in the middle: somebody has cancelled it, or the server stops. That the client has gone
/// does not: it may have sent its documents and wait for nothing.
pub(crate) fn ended_by_somebody(token: &CancellationToken) -> Option<EngineError> {
    token.stopped()?;
    match token.reason().unwrap_or_default() {
        CLIENT_GONE => None,
        STOPPING => Some(EngineError::Closed),
        reason => Some(EngineError::Cancelled {
            reason: reason.to_string(),
        }),
    }
}

async fn cancelled(task: &RequestTask, after: Option<Duration>) {
    let Some(after) = after else {
        return task.cancelled.notified().await;
    };
    let in_time = tokio::time::timeout(after, task.cancelled.notified()).await;
    if in_time.is_err() {
        task.cancel(&expired(after));
    }
}

/// Why something is cancelled that has had all the time it was given.
pub(crate) fn expired(after: Duration) -> String {
    format!("Cancellation timeout of {} is expired", Took(after))
}

impl Drop for Answering<'_> {
    fn drop(&mut self) {
        if !self.answered {
            // The future was dropped: the client has gone.
            self.task.token.cancel(CLIENT_GONE);
        }
        self.requests
            .part(self.task.number)
            .remove(&self.task.number);
    }
}

#[cfg(test)]
mod tests;
