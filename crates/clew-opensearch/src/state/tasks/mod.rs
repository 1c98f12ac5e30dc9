//! What the node is doing for its clients: requests that are being answered ([`requests`]), and work that goes on
//! after its request was answered (`wait_for_completion=false`), whose end is kept ([`stored`]). How clients ask for it and end it
//! is in [`endpoints`].

mod requests;
pub(crate) mod stored;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use axum::http::StatusCode;
use clew_engine::EngineError;
use clew_platform::{CancellationToken, Clock, Panicked, caught};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::{Notify, watch};

use crate::http::error::{ApiError, Cause};
pub use requests::cancelled_error;
pub(crate) use requests::expired;
pub(crate) use requests::{Action, Answers, RequestDetails, ended_by_somebody};
use requests::{Answering, Requests, STOPPING};

/// Finished tasks that are remembered.
const REMEMBERED_MAX: usize = 1000;
/// What their answers take together, in bytes of JSON; the newest is remembered whatever it takes.
const REMEMBERED_BYTES_MAX: usize = 4 << 20;
/// Tasks that may run at once.
const RUNNING_MAX: usize = 64;

/// The node's tasks.
pub(crate) struct Tasks {
    clock: Arc<dyn Clock>,
    /// The number of the last one.
    last: AtomicU64,
    requests: Requests,
    state: Mutex<State>,
    /// Told whenever a task ends.
    ended: Notify,
}

#[derive(Default)]
struct State {
    tasks: BTreeMap<u64, Task>,
}

/// A task that goes on after its request was answered.
#[derive(Clone)]
pub(crate) struct NewTask {
    pub(crate) action: &'static str,
    pub(crate) description: String,
    /// What its client calls the request.
    pub(crate) opaque_id: Option<String>,
    /// Stops it, where that is possible.
    pub(crate) token: Option<CancellationToken>,
}

#[derive(Clone)]
pub(crate) struct Task {
    what: NewTask,
    started: Instant,
    started_ms: u64,
    /// How far it is, when it tells.
    status: Option<Value>,
    /// Running time and answer, once it has ended.
    pub(crate) ended: Option<(u64, Result<Value, Value>)>,
    /// Of the answer, as JSON.
    answer_bytes: usize,
}

/// A task as it is shown.
pub(crate) struct RunningTask {
    pub(crate) number: u64,
    pub(crate) action: &'static str,
    pub(crate) description: String,
    pub(crate) started_ms: u64,
    pub(crate) running_ns: u64,
    pub(crate) opaque_id: Option<String>,
    pub(crate) cancellable: bool,
    pub(crate) cancelled: bool,
    /// How far it is, when it tells.
    pub(crate) status: Option<Value>,
}

impl RunningTask {
    /// As it is told, but for what only some ask for.
    pub(crate) fn told(&self, node: &str) -> Value {
        let mut told = json!({
            "node": node,
            "id": self.number,
            "type": "transport",
            "action": self.action,
        });
        if let Some(status) = &self.status {
            told["status"] = status.clone();
        }
        told["description"] = self.description.as_str().into();
        told["start_time_in_millis"] = self.started_ms.into();
        told["running_time_in_nanos"] = self.running_ns.into();
        told["cancellable"] = self.cancellable.into();
        told["cancelled"] = self.cancelled.into();
        told["headers"] = json!({});
        if let Some(id) = &self.opaque_id {
            told["headers"]["X-Opaque-Id"] = id.as_str().into();
        }
        told
    }
}

/// The answer of a task, or what is told of its failure.
fn told(ended: &Result<Value, ApiError>) -> Result<Value, Value> {
    ended.as_ref().cloned().map_err(ApiError::cause)
}

impl State {
    /// Forgets the oldest answers while all take more than they may.
    fn make_room_for(&mut self, newest: u64) {
        let mut bytes: usize = self.tasks.values().map(|task| task.answer_bytes).sum();
        while bytes > REMEMBERED_BYTES_MAX {
            let mut ended = self.tasks.iter().filter(|(_, task)| task.ended.is_some());
            let oldest = ended.find(|(number, _)| **number != newest);
            let Some((number, gone)) = oldest.map(|(number, task)| (*number, task.answer_bytes))
            else {
                return;
            };
            self.tasks.remove(&number);
            bytes -= gone;
        }
    }
}

impl Task {
    pub(crate) fn shown(&self, number: u64) -> RunningTask {
        let ended = self.ended.as_ref().map(|(ns, _)| *ns);
        let token = self.what.token.as_ref();
        RunningTask {
            number,
            action: self.what.action,
            description: self.what.description.clone(),
            started_ms: self.started_ms,
            running_ns: ended.unwrap_or_else(|| nanos_since(self.started)),
            opaque_id: self.what.opaque_id.clone(),
            cancellable: token.is_some(),
            cancelled: token.is_some_and(|token| token.stopped().is_some()),
            status: self.status.clone(),
        }
    }
}

impl Tasks {
    /// None yet; those that come begin at the time of this clock, and requests that come when `stopped` says so are refused.
    pub(crate) fn new(clock: Arc<dyn Clock>, stopped: Option<watch::Receiver<bool>>) -> Self {
        Tasks {
            clock,
            last: AtomicU64::default(),
            requests: Requests::new(stopped),
            state: Mutex::default(),
            ended: Notify::new(),
        }
    }

    /// The tasks that are running, in the order in which they began.
    pub(crate) fn running(&self) -> Vec<RunningTask> {
        let mut running = self.requests.shown();
        let state = self.state.lock();
        let others = state.tasks.iter().filter(|(_, task)| task.ended.is_none());
        running.extend(others.map(|(number, task)| task.shown(*number)));
        running.sort_unstable_by_key(|task| task.number);
        running
    }

    /// Notes a request that may take long.
    pub(crate) fn answering(&self, action: Action, asked: &RequestDetails<'_>) -> Answering<'_> {
        self.requests
            .enter(self.next(), action, asked, self.clock.epoch_ms())
    }

    /// Cancels a task that is running; what it is, if there is one of this number.
    pub(crate) fn cancel(&self, number: u64, reason: &str) -> Option<RunningTask> {
        if let Some(cancelled) = self.requests.cancel(number, reason) {
            return Some(cancelled);
        }
        let task = self.find(number).filter(|task| task.ended.is_none())?;
        if let Some(token) = &task.what.token {
            token.cancel(reason);
        }
        Some(task.shown(number))
    }

    /// Ends what can be ended, as the server stops.
    pub(crate) fn stop(&self) {
        self.requests.stop();
        for token in self
            .state
            .lock()
            .tasks
            .values()
            .filter_map(|task| task.what.token.as_ref())
        {
            token.cancel(STOPPING);
        }
    }

    fn next(&self) -> u64 {
        self.last.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// A request that has just come as a task of its own.
    pub(crate) fn request(&self, action: &'static str, opaque_id: Option<String>) -> RunningTask {
        RunningTask {
            number: self.next(),
            action,
            description: String::new(),
            started_ms: self.clock.epoch_ms(),
            running_ns: 0,
            opaque_id,
            cancellable: false,
            cancelled: false,
            status: None,
        }
    }

    /// Notes a task that begins; its number.
    ///
    /// # Errors
    /// 429 while as many run as may, 503 once the server stops.
    pub(crate) fn begin(&self, what: NewTask) -> Result<u64, ApiError> {
        let mut state = self.state.lock();
        // Under the lock: whoever ends all tasks takes it after the server was told to stop.
        if self.requests.is_stopping() {
            return Err(EngineError::Closed.into());
        }
        if state
            .tasks
            .values()
            .filter(|task| task.ended.is_none())
            .count()
            >= RUNNING_MAX
        {
            return Err(ApiError::new(
                StatusCode::TOO_MANY_REQUESTS,
                Cause::new(
                    "rejected_execution_exception",
                    format!("[{RUNNING_MAX}] background tasks are running"),
                ),
            ));
        }
        while state.tasks.len() >= REMEMBERED_MAX {
            let oldest = state.tasks.iter().find(|(_, task)| task.ended.is_some());
            let Some(number) = oldest.map(|(number, _)| *number) else {
                break;
            };
            state.tasks.remove(&number);
        }
        let number = self.next();
        let task = Task {
            what,
            started: Instant::now(),
            started_ms: self.clock.epoch_ms(),
            status: None,
            ended: None,
            answer_bytes: 0,
        };
        state.tasks.insert(number, task);
        Ok(number)
    }

    /// Notes how far a task is.
    pub(crate) fn tell(&self, number: u64, status: Value) {
        if let Some(task) = self.state.lock().tasks.get_mut(&number) {
            task.status = Some(status);
        }
    }

    /// Notes how a task ended.
    pub(crate) fn end(&self, number: u64, answer: &Result<Value, ApiError>) {
        let answer = told(answer);
        let (Ok(shown) | Err(shown)) = &answer;
        let bytes = shown.to_string().len();
        let mut state = self.state.lock();
        if let Some(task) = state.tasks.get_mut(&number) {
            task.ended = Some((nanos_since(task.started), answer));
            task.answer_bytes = bytes;
            state.make_room_for(number);
        }
        drop(state);
        self.ended.notify_waiters();
    }

    /// Does the work of a task and notes how that has ended. What runs into a defect of the program has failed: it would seem
    /// to run until the next start, and be one of as many as may.
    pub(crate) fn carry_out(
        &self,
        number: u64,
        work: impl FnOnce() -> Result<Value, ApiError>,
    ) -> Result<Value, ApiError> {
        let ended = catch_unwind(AssertUnwindSafe(work));
        let ended = ended.unwrap_or_else(|_| Err(EngineError::Panicked.into()));
        self.end(number, &ended);
        ended
    }

    /// The same for work that waits for other work.
    pub(crate) async fn see_through(
        &self,
        number: u64,
        work: impl Future<Output = Result<Value, ApiError>>,
    ) {
        let ended = or_defect(work).await;
        self.end(number, &ended);
    }

    pub(crate) fn find(&self, number: u64) -> Option<Task> {
        self.state.lock().tasks.get(&number).cloned()
    }

    /// Waits until a task has ended, or is forgotten.
    pub(crate) async fn wait(&self, number: u64) {
        loop {
            // Listens before it looks, so that an end between the two is not missed.
            let ended = self.ended.notified();
            if self.find(number).is_none_or(|task| task.ended.is_some()) {
                return;
            }
            ended.await;
        }
    }
}

/// What work comes to; where it runs into a defect of the program, that is its error.
///
/// # Errors
/// Its own, and the defect.
pub(crate) async fn or_defect<T>(
    work: impl Future<Output = Result<T, ApiError>>,
) -> Result<T, ApiError> {
    let ended = caught(work).await;
    ended.unwrap_or_else(|Panicked| Err(EngineError::Panicked.into()))
}

fn nanos_since(started: Instant) -> u64 {
    u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
