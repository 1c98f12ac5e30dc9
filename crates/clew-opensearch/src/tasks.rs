//! Work that goes on after its request was answered (`wait_for_completion=false`), and how clients
//! ask whether it is done.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use axum::http::StatusCode;
use serde_json::{Map, Value, json};
use tokio::sync::Notify;

use crate::call::Call;
use crate::error::{ApiError, Cause};
use crate::reply::Reply;

/// Finished tasks that are remembered.
const REMEMBERED_MAX: usize = 1000;
/// Tasks that may run at once.
const RUNNING_MAX: usize = 64;

/// How long a request waits for a task unless it says otherwise.
const WAIT: Duration = Duration::from_secs(30);

/// The node's tasks.
#[derive(Default)]
pub(crate) struct Tasks {
    state: Mutex<State>,
    /// Told whenever a task ends.
    ended: Notify,
}

#[derive(Default)]
struct State {
    next: u64,
    tasks: BTreeMap<u64, Task>,
}

#[derive(Clone)]
struct Task {
    action: &'static str,
    description: String,
    started: Instant,
    started_ms: u64,
    /// How far it is, when it tells.
    status: Option<Value>,
    /// Running time and answer, once it has ended.
    ended: Option<(u64, Result<Value, Value>)>,
}

/// A task that is running, as tables show it.
pub(crate) struct RunningTask {
    pub(crate) number: u64,
    pub(crate) action: &'static str,
    pub(crate) description: String,
    pub(crate) started_ms: u64,
    pub(crate) running_ns: u64,
    pub(crate) opaque_id: Option<String>,
}

impl Tasks {
    /// The tasks that are running.
    pub(crate) fn running(&self) -> Vec<RunningTask> {
        let state = self.lock();
        let running = state.tasks.iter().filter(|(_, task)| task.ended.is_none());
        let row = |(number, task): (&u64, &Task)| RunningTask {
            number: *number,
            action: task.action,
            description: task.description.clone(),
            started_ms: task.started_ms,
            running_ns: nanos_since(task.started),
            opaque_id: None,
        };
        running.map(row).collect()
    }

    /// A request that has just come as a task of its own.
    pub(crate) fn request(&self, action: &'static str, opaque_id: Option<String>) -> RunningTask {
        let mut state = self.lock();
        state.next += 1;
        RunningTask {
            number: state.next,
            action,
            description: String::new(),
            started_ms: now_ms(),
            running_ns: 0,
            opaque_id,
        }
    }

    /// Notes a task that begins.
    pub(crate) fn begin(&self, action: &'static str, description: String) -> Result<u64, ApiError> {
        let mut state = self.lock();
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
        state.next += 1;
        let number = state.next;
        let task = Task {
            action,
            description,
            started: Instant::now(),
            started_ms: now_ms(),
            status: None,
            ended: None,
        };
        state.tasks.insert(number, task);
        Ok(number)
    }

    /// Notes how far a task is.
    pub(crate) fn tell(&self, number: u64, status: Value) {
        if let Some(task) = self.lock().tasks.get_mut(&number) {
            task.status = Some(status);
        }
    }

    /// Notes how a task ended.
    pub(crate) fn end(&self, number: u64, answer: Result<Value, ApiError>) {
        let answer = answer.map_err(|error| {
            let whole: Value = serde_json::from_slice(&error.body()).unwrap_or(Value::Null);
            whole.get("error").cloned().unwrap_or(whole)
        });
        if let Some(task) = self.lock().tasks.get_mut(&number) {
            task.ended = Some((nanos_since(task.started), answer));
        }
        self.ended.notify_waiters();
    }

    fn find(&self, number: u64) -> Option<Task> {
        self.lock().tasks.get(&number).cloned()
    }

    /// Waits until a task has ended, or is forgotten.
    async fn wait(&self, number: u64) {
        loop {
            // Listens before it looks, so that an end between the two is not missed.
            let ended = self.ended.notified();
            if self.find(number).is_none_or(|task| task.ended.is_some()) {
                return;
            }
            ended.await;
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        // Every change is one insert or one field, so a panic leaves nothing half done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn now_ms() -> u64 {
    let since_epoch = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX)
}

fn nanos_since(started: Instant) -> u64 {
    u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// `GET /_tasks/{node:number}`.
pub(crate) async fn get(call: Call) -> Result<Reply, ApiError> {
    let id = call.path_required("task")?;
    let number = number_of(&call, id)?;
    let tasks = &call.api.tasks;
    if call.params.flag("wait_for_completion", false)? {
        let limit = call.params.time("timeout")?.unwrap_or(WAIT);
        if tokio::time::timeout(limit, tasks.wait(number))
            .await
            .is_err()
        {
            let cause = Cause::new(
                "timeout_exception",
                format!("timed out waiting for completion of [{id}]"),
            );
            return Err(ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, cause));
        }
    }
    let task = tasks.find(number);
    let task = task.ok_or_else(|| {
        not_found(format!(
            "task [{id}] isn't running and hasn't stored its results"
        ))
    })?;
    let mut body = json!({
        "completed": task.ended.is_some(),
        "task": describe(&call.api.node_id, number, &task),
    });
    if let (Some((_, answer)), Value::Object(body)) = (task.ended, &mut body) {
        match answer {
            Ok(answer) => body.insert("response".to_string(), answer),
            Err(error) => body.insert("error".to_string(), error),
        };
    }
    Ok(Reply::json(&body))
}

/// The number of a task of this node.
fn number_of(call: &Call, id: &str) -> Result<u64, ApiError> {
    let malformed = || ApiError::illegal_argument(format!("malformed task id {id}"));
    let (node, number) = id.rsplit_once(':').ok_or_else(malformed)?;
    let number = number.parse().map_err(|_| malformed())?;
    if node != call.api.node_id {
        return Err(not_found(format!(
            "task [{id}] belongs to the node [{node}] which isn't part of the cluster and there \
             is no record of the task"
        )));
    }
    Ok(number)
}

fn not_found(reason: String) -> ApiError {
    ApiError::new(
        StatusCode::NOT_FOUND,
        Cause::new("resource_not_found_exception", reason),
    )
}

/// `POST /_tasks/_cancel`: no task can be cancelled yet, so a search for some finds none.
pub(crate) async fn cancel(call: Call) -> Result<Reply, ApiError> {
    if let Some(id) = call.path("task") {
        let running = call.api.tasks.find(number_of(&call, id)?);
        return Err(match running {
            Some(task) if task.ended.is_none() => {
                ApiError::illegal_argument(format!("task [{id}] doesn't support cancellation"))
            }
            _ => not_found(format!("task [{id}] is not found")),
        });
    }
    Ok(Reply::json(&json!({"nodes": {}})))
}

/// `GET /_tasks`: those that are running.
pub(crate) async fn list(call: Call) -> Result<Reply, ApiError> {
    let node = &call.api.node_id;
    let running: Map<String, Value> = call
        .api
        .tasks
        .lock()
        .tasks
        .iter()
        .filter(|(_, task)| task.ended.is_none())
        .map(|(number, task)| (format!("{node}:{number}"), describe(node, *number, task)))
        .collect();
    let name = &call.api.options.node_name;
    Ok(Reply::json(
        &json!({"nodes": {node: {"name": name, "tasks": running}}}),
    ))
}

fn describe(node: &str, number: u64, task: &Task) -> Value {
    let running_ns = task
        .ended
        .as_ref()
        .map_or_else(|| nanos_since(task.started), |(ns, _)| *ns);
    let mut described = json!({
        "node": node,
        "id": number,
        "type": "transport",
        "action": task.action,
        "description": task.description,
        "start_time_in_millis": task.started_ms,
        "running_time_in_nanos": running_ns,
        "cancellable": false,
        "headers": {},
    });
    if let Some(status) = &task.status {
        described["status"] = status.clone();
    }
    described
}
