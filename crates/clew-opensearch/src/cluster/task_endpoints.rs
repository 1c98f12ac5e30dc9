//! `_tasks`: what is running, and its end.

use std::time::Duration;

use axum::http::StatusCode;
use clew_schema::glob::matches as glob;
use serde_json::{Map, Value, json};

use crate::cluster::nodes::ROLES;
use crate::documents::by_query::Speeds;
use crate::http::error::{ApiError, Cause};
use crate::http::reply::Reply;
use crate::state::call::Call;
use crate::state::tasks::{RunningTask, stored};

/// How long a request waits for a task unless it says otherwise.
const WAIT: Duration = Duration::from_secs(30);
/// Why a task is cancelled by `_cancel`.
const BY_USER: &str = "by user request";

/// `GET /_tasks/{node:number}`.
pub(crate) async fn get(call: Call) -> Result<Reply, ApiError> {
    let id = call.path_required("task")?;
    let tasks = &call.api.tasks;
    let number = match number_of(&call, id) {
        // It may be one of before the node had its name.
        Err(error) if error.is_kind(NOT_FOUND) => {
            let kept = stored::find(&call, id).await?;
            return kept.map(|kept| Reply::json(&kept)).ok_or(error);
        }
        number => number?,
    };
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
    if let Some(running) = tasks.running().iter().find(|task| task.number == number) {
        let task = describe(&call.api.node_id, running, Details::Shown);
        return Ok(Reply::json(&json!({"completed": false, "task": task})));
    }
    let Some(task) = tasks.find(number) else {
        let kept = stored::find(&call, id).await?;
        let kept = kept.ok_or_else(|| ApiError::new(StatusCode::NOT_FOUND, not_kept(id)));
        return Ok(Reply::json(&kept?));
    };
    let mut body = json!({
        "completed": task.ended.is_some(),
        "task": describe(&call.api.node_id, &task.shown(number), Details::Shown),
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
    let malformed = || format!("malformed task id {id}");
    let (node, number) = id
        .rsplit_once(':')
        .ok_or_else(|| ApiError::illegal_argument(malformed()))?;
    let number = number
        .parse()
        .map_err(|_| ApiError::no_number(malformed(), number))?;
    if node != call.api.node_id {
        let reason = format!(
            "task [{id}] belongs to the node [{node}] which isn't part of the cluster and there \
             is no record of the task"
        );
        let cause = Cause::new(NOT_FOUND, reason).caused_by(not_kept(id));
        return Err(ApiError::new(StatusCode::NOT_FOUND, cause).with_root(not_kept(id)));
    }
    Ok(number)
}

/// The type of errors about tasks that there are not.
const NOT_FOUND: &str = "resource_not_found_exception";

/// Why nothing is told of a task.
fn not_kept(id: &str) -> Cause {
    let reason = format!("task [{id}] isn't running and hasn't stored its results");
    Cause::new(NOT_FOUND, reason)
}

fn not_found(reason: String) -> ApiError {
    ApiError::new(StatusCode::NOT_FOUND, Cause::new(NOT_FOUND, reason))
}

/// What a request for a task of a node answers that is not there.
fn without_node(id: &str) -> Value {
    let node = id.rsplit_once(':').map_or(id, |(node, _)| node);
    let cause = json!({
        "type": "no_such_node_exception", "reason": format!("No such node [{node}]"),
        "node_id": node,
    });
    json!({
        "node_failures": [{
            "type": "failed_node_exception", "reason": format!("Failed node [{node}]"),
            "node_id": node, "caused_by": cause,
        }],
        "nodes": {},
    })
}

/// `POST /_tasks/_cancel`: one task, or those of some actions that can be cancelled.
pub(crate) async fn cancel(call: Call) -> Result<Reply, ApiError> {
    let tasks = &call.api.tasks;
    let Some(id) = call.path("task") else {
        let wanted = WantedTasks::of(&call)?;
        let mut cancelled = Vec::new();
        for task in tasks.running().iter().filter(|task| task.cancellable) {
            if wanted.has(&call, task) {
                cancelled.extend(tasks.cancel(task.number, BY_USER));
            }
        }
        return grouped(&call, &cancelled, Details::Shown);
    };
    let number = match number_of(&call, id) {
        // What cannot be asked of another node is told beside what was done on those that there are.
        Err(error) if error.is_kind(NOT_FOUND) => return Ok(Reply::json(&without_node(id))),
        number => number?,
    };
    match tasks.cancel(number, BY_USER) {
        Some(task) if task.cancellable => grouped(&call, &[task], Details::Shown),
        Some(_) => Err(ApiError::illegal_argument(format!(
            "task [{id}] doesn't support cancellation"
        ))),
        None => Err(not_found(format!("task [{id}] is not found"))),
    }
}

/// `POST /_reindex/{task}/_rethrottle` and its like: another speed for a write by query that goes on as a task.
pub(crate) async fn rethrottle(call: Call) -> Result<Reply, ApiError> {
    if !call.params.has("requests_per_second") {
        return Err(ApiError::illegal_argument(
            "requests_per_second is a required parameter",
        ));
    }
    let id = call.path_required("task")?;
    let number = number_of(&call, id)?;
    if !call.api.parts.get::<Speeds>().change(number, &call)? {
        return Err(not_found(format!("task [{id}] is missing")));
    }
    let mut running = call.api.tasks.running();
    running.retain(|task| task.number == number);
    grouped(&call, &running, Details::Shown)
}

/// `GET /_tasks`: those that are running, this request among them.
pub(crate) async fn list(call: Call) -> Result<Reply, ApiError> {
    let wanted = WantedTasks::of(&call)?;
    let mut running = call.api.tasks.running();
    running.push(call.task("cluster:monitor/tasks/lists"));
    running.retain(|task| wanted.has(&call, task));
    let details = if call.params.flag("detailed", false)? {
        Details::Measured
    } else {
        Details::Hidden
    };
    grouped(&call, &running, details)
}

/// Which tasks a request is about.
pub(crate) struct WantedTasks {
    /// Patterns of the names of actions; all where there are none.
    actions: Vec<String>,
    nodes: Vec<String>,
    /// Tasks here have no parents, so that nothing is a part of one.
    of_parent: bool,
}

impl WantedTasks {
    /// Reads `actions`, `nodes` and `parent_task_id`.
    ///
    /// # Errors
    /// A parent that is no task's id.
    pub(crate) fn of(call: &Call) -> Result<Self, ApiError> {
        let list = |name: &str| {
            let given = call.params.list(name).unwrap_or_default();
            given.into_iter().map(String::from).collect()
        };
        let parent = call.params.get("parent_task_id");
        if let Some(id) = parent {
            number_of(call, id)?;
        }
        Ok(WantedTasks {
            actions: list("actions"),
            nodes: list("nodes"),
            of_parent: parent.is_some(),
        })
    }

    /// Whether a task is one of them.
    pub(crate) fn has(&self, call: &Call, task: &RunningTask) -> bool {
        let api = &call.api;
        let is_action = |name: &String| glob(name, task.action);
        let is_here = |node: &String| {
            let names = [&api.node_id, &api.options.node_name];
            let special = ["_local", "_all", "_master", "_cluster_manager"];
            special.contains(&node.as_str()) || names.iter().any(|name| glob(node, name))
        };
        !self.of_parent
            && (self.actions.is_empty() || self.actions.iter().any(is_action))
            && (self.nodes.is_empty() || self.nodes.iter().any(is_here))
    }
}

/// Whether descriptions are shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Details {
    /// With what they take.
    Measured,
    Shown,
    Hidden,
}

/// Tasks, as the request wants them grouped.
fn grouped(call: &Call, tasks: &[RunningTask], details: Details) -> Result<Reply, ApiError> {
    let node = &call.api.node_id;
    let shown = tasks.iter().map(|task| describe(node, task, details));
    let named = || -> Map<String, Value> {
        let names = tasks.iter().map(|task| format!("{node}:{}", task.number));
        names.zip(shown.clone()).collect()
    };
    let body = match call.params.get("group_by") {
        Some("none") => json!({"tasks": shown.collect::<Vec<_>>()}),
        Some("parents") => json!({"tasks": named()}),
        None | Some("nodes") if tasks.is_empty() => json!({"nodes": {}}),
        None | Some("nodes") => json!({"nodes": {node: of_node(call, named())}}),
        Some(other) => {
            return Err(ApiError::illegal_argument(format!(
                "[group_by] must be one of [nodes], [parents] or [none] but was [{other}]"
            )));
        }
    };
    Ok(Reply::json(&body))
}

fn of_node(call: &Call, tasks: Map<String, Value>) -> Value {
    let options = &call.api.options;
    let address = &options.publish_address;
    let host = address
        .rsplit_once(':')
        .map_or(address.as_str(), |(host, _)| host);
    json!({
        "name": options.node_name,
        "transport_address": address,
        "host": host,
        "ip": address,
        "roles": ROLES,
        "tasks": tasks,
    })
}

fn describe(node: &str, task: &RunningTask, details: Details) -> Value {
    let mut shown = task.told(node);
    if let (Details::Hidden, Value::Object(members)) = (details, &mut shown) {
        members.shift_remove("description");
    }
    if details == Details::Measured {
        // What single tasks take is not counted.
        let nothing = json!({"cpu_time_in_nanos": 0, "memory_in_bytes": 0});
        shown["resource_stats"] = json!({
            "average": nothing, "total": nothing, "min": nothing, "max": nothing,
            "thread_info": {"thread_executions": 0, "active_threads": 0},
        });
    }
    shown
}
