//! `_cluster/health`: which shards serve, and waiting until enough of them do.

use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use clew_engine::{ClosedNames, Index, Purpose, ResolveOptions, Wildcards};
use serde_json::{Map, Value, json};

use crate::http::error::ApiError;
use crate::http::reply::Reply;
use crate::indices::copies::{ShardHealth, replicas};
use crate::state::call::Call;

const TIMEOUT_DEFAULT: Duration = Duration::from_secs(30);
/// How often a waiting request looks again.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// `GET /_cluster/health/{index}`.
pub(crate) async fn health(call: Call) -> Result<Reply, ApiError> {
    let level = Level::read(&call)?;
    let wanted = Wanted::read(&call)?;
    let timeout = call.params.time("timeout")?.unwrap_or(TIMEOUT_DEFAULT);
    let met = wait_until(timeout, || {
        let look = Look::take(&call)?;
        Ok(look.known && wanted.is_met(look.health))
    });
    let met = met.await?;
    let look = Look::take(&call)?;
    let body = shown_health(&call, &look, level, !met);
    let status = if met {
        StatusCode::OK
    } else {
        StatusCode::REQUEST_TIMEOUT
    };
    Ok(Reply::json(&body).with_status(status))
}

/// How much is told beside the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level<'c> {
    /// Nothing, also by words that are no level.
    Cluster,
    Indices,
    Shards,
    /// What nodes are told apart by: one of that, or all.
    Awareness(Option<&'c str>),
}

impl<'c> Level<'c> {
    fn read(call: &'c Call) -> Result<Self, ApiError> {
        let attribute = call.params.get("awareness_attribute");
        let level = match call.params.get("level") {
            Some("indices") => Level::Indices,
            Some("shards") => Level::Shards,
            Some("awareness_attributes") => Level::Awareness(attribute),
            _ => Level::Cluster,
        };
        match level {
            Level::Awareness(_) if call.path("index").is_some() => Err(ApiError::validation(
                "awareness_attribute is not a supported parameter with index health",
            )),
            Level::Cluster | Level::Indices | Level::Shards if attribute.is_some() => {
                Err(ApiError::validation(
                    "level=awareness_attributes is required with awareness_attribute parameter",
                ))
            }
            level => Ok(level),
        }
    }
}

/// Looks until something is so; whether it was in time.
pub(crate) async fn wait_until(
    timeout: Duration,
    mut is_so: impl FnMut() -> Result<bool, ApiError>,
) -> Result<bool, ApiError> {
    if is_so()? {
        return Ok(true);
    }
    let waiting = async {
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            if is_so()? {
                return Ok(true);
            }
        }
    };
    tokio::time::timeout(timeout, waiting)
        .await
        .unwrap_or(Ok(false))
}

/// How urgent what is waited for may be; nothing is left to be done here when a request is answered.
const PRIORITIES: [&str; 6] = ["immediate", "urgent", "high", "normal", "low", "languid"];

/// The refusal of a name that an enumeration of OpenSearch does not have.
fn no_constant(class: &str, name: &str) -> ApiError {
    let name = name.to_ascii_uppercase();
    ApiError::illegal_argument(format!("No enum constant org.opensearch.{class}.{name}"))
}

/// The health at one moment.
struct Look {
    indices: Vec<Arc<Index>>,
    health: ShardHealth,
    /// Whether every index that the request names is there.
    known: bool,
}

impl Look {
    fn take(call: &Call) -> Result<Look, ApiError> {
        let base = ResolveOptions {
            wildcards: Wildcards::ALL,
            closed: ClosedNames::Allow,
            ..ResolveOptions::default()
        };
        let strict = call.resolve_options_from(base)?;
        let lenient = ResolveOptions {
            ignore_unavailable: true,
            ..strict
        };
        let open = |options| {
            let names = (call.index_expression(), options);
            call.api.engine.open(names, &call.access, Purpose::Watch)
        };
        let opened = open(lenient)?;
        let indices: Vec<_> = opened.iter().map(|found| found.index().clone()).collect();
        Ok(Look {
            health: ShardHealth::of(&indices),
            indices,
            known: open(strict).is_ok(),
        })
    }

    fn status(&self) -> &'static str {
        if self.known {
            self.health.status()
        } else {
            "red"
        }
    }
}

/// What the request waits for. Nothing ever moves between nodes here, so the other `wait_for_*` are met at once.
struct Wanted {
    status: Option<String>,
    active: ActiveShards,
    /// Whether one node is as many as are wanted.
    nodes: bool,
    /// Whether no index may still be being filled.
    all_filled: bool,
}

enum ActiveShards {
    AtLeast(u64),
    All,
}

impl Wanted {
    fn read(call: &Call) -> Result<Wanted, ApiError> {
        let status = call
            .params
            .get("wait_for_status")
            .map(str::to_ascii_lowercase);
        if let Some(status) = &status
            && !["green", "yellow", "red"].contains(&status.as_str())
        {
            return Err(no_constant("cluster.health.ClusterHealthStatus", status));
        }
        if let Some(events) = call.params.get("wait_for_events")
            && !PRIORITIES.contains(&events.to_ascii_lowercase().as_str())
        {
            return Err(no_constant("common.Priority", events));
        }
        let active = match call.params.get("wait_for_active_shards") {
            None => ActiveShards::AtLeast(0),
            Some("all") => ActiveShards::All,
            Some(text) => {
                ActiveShards::AtLeast(text.parse().map_err(|_| ApiError::no_copies(text))?)
            }
        };
        call.params.flag("wait_for_no_relocating_shards", false)?;
        if call.params.flag("ensure_node_weighed_in", false)?
            && !call.params.flag("local", false)?
        {
            return Err(ApiError::validation(
                "not a local request to ensure local node commissioned or weighed in",
            ));
        }
        let nodes = call
            .params
            .get("wait_for_nodes")
            .map_or(Ok(true), one_node)?;
        Ok(Wanted {
            status,
            active,
            nodes,
            all_filled: call.params.flag("wait_for_no_initializing_shards", false)?,
        })
    }

    fn is_met(&self, health: ShardHealth) -> bool {
        let rank = |status: &str| match status {
            "green" => 0,
            "yellow" => 1,
            _ => 2,
        };
        let status = self.status.as_deref();
        let active = match self.active {
            ActiveShards::AtLeast(count) => health.active >= count,
            ActiveShards::All => health.not_serving() == 0,
        };
        let filled = !self.all_filled || health.initializing == 0;
        self.nodes
            && active
            && filled
            && status.is_none_or(|status| rank(health.status()) <= rank(status))
    }
}

/// Whether one node fulfils `3`, `>=3`, `ge(3)`, and so on.
fn one_node(text: &str) -> Result<bool, ApiError> {
    let (sign, count) = match text.split_once('(') {
        Some((word, rest)) => (word, rest.strip_suffix(')').unwrap_or_default()),
        None => {
            let digits = text.trim_start_matches(['<', '>', '=']);
            text.split_at(text.len() - digits.len())
        }
    };
    let wrong = || {
        let reason = format!("For input string: \"{}\"", count.trim());
        ApiError::bad_request("number_format_exception", reason)
    };
    let count: u64 = count.trim().parse().map_err(|_| wrong())?;
    match sign {
        "" => Ok(count == 1),
        ">=" | "ge" => Ok(1 >= count),
        "<=" | "le" => Ok(1 <= count),
        ">" | "gt" => Ok(1 > count),
        "<" | "lt" => Ok(1 < count),
        _ => Err(wrong()),
    }
}

fn shown_health(call: &Call, look: &Look, level: Level<'_>, timed_out: bool) -> Value {
    let health = look.health;
    let mut body = json!({
        "cluster_name": call.api.options.cluster_name,
        "status": look.status(),
        "timed_out": timed_out,
        "number_of_nodes": 1,
        "number_of_data_nodes": 1,
        "discovered_master": true,
        "discovered_cluster_manager": true,
        "active_primary_shards": health.active,
        "active_shards": health.active,
        "relocating_shards": 0,
        "initializing_shards": health.initializing,
        "unassigned_shards": health.lacking(),
        "delayed_unassigned_shards": 0,
        "number_of_pending_tasks": 0,
        "number_of_in_flight_fetch": 0,
        "task_max_waiting_in_queue_millis": 0,
        "active_shards_percent_as_number": health.active_percent(),
    });
    match level {
        Level::Cluster => {}
        Level::Indices | Level::Shards => {
            let each = look.indices.iter().map(|index| {
                let shown = index_health(index, level == Level::Shards);
                (index.name().to_string(), shown)
            });
            body["indices"] = Value::Object(each.collect());
        }
        // A single node is told apart from none.
        Level::Awareness(attribute) => {
            let each = attribute.map(|name| (name.to_string(), json!({})));
            body["awareness_attributes"] = Value::Object(each.into_iter().collect());
        }
    }
    body
}

fn index_health(index: &Arc<Index>, with_shards: bool) -> Value {
    let health = ShardHealth::of(std::slice::from_ref(index));
    let copies = replicas(index);
    let mut shown = json!({
        "status": health.status(),
        "number_of_shards": health.active + health.failed + health.initializing,
        "number_of_replicas": copies,
        "active_primary_shards": health.active,
        "active_shards": health.active,
        "relocating_shards": 0,
        "initializing_shards": health.initializing,
        "unassigned_shards": health.lacking(),
    });
    if with_shards {
        let mut shards = Map::new();
        for shard in 0..index.settings().shards {
            let failed = index.has_shard_failed(shard);
            let initializing = !failed && index.is_initializing();
            let one = ShardHealth {
                active: u64::from(!failed && !initializing),
                failed: u64::from(failed),
                initializing: u64::from(initializing),
                unassigned: u64::from(copies),
            };
            let shown = json!({
                "status": one.status(),
                "primary_active": one.active == 1,
                "active_shards": one.active,
                "relocating_shards": 0,
                "initializing_shards": one.initializing,
                "unassigned_shards": one.lacking(),
            });
            shards.insert(shard.to_string(), shown);
        }
        shown["shards"] = Value::Object(shards);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_node_is_enough_or_not() {
        for (text, want) in [
            ("1", true),
            ("2", false),
            (">=1", true),
            (">=2", false),
            ("<=3", true),
            ("<1", false),
            (">0", true),
            ("ge(2)", false),
            ("lt(2)", true),
        ] {
            assert_eq!(one_node(text).unwrap(), want, "{text}");
        }
        for text in ["", "x", ">=", "ge(x)"] {
            assert!(one_node(text).is_err(), "{text}");
        }
    }

    #[test]
    fn missing_copies_and_shards_that_are_filled_make_it_yellow_and_failed_shards_red() {
        let health = |active, failed, unassigned| ShardHealth {
            active,
            failed,
            unassigned,
            ..ShardHealth::default()
        };
        let filled = ShardHealth {
            initializing: 1,
            ..health(1, 0, 0)
        };
        assert_eq!(filled.status(), "yellow");
        assert_eq!((filled.lacking(), filled.not_serving()), (0, 1));
        assert!((filled.active_percent() - 50.0).abs() < 1e-9);
        assert_eq!(health(1, 0, 0).status(), "green");
        assert_eq!(health(1, 0, 1).status(), "yellow");
        assert_eq!(health(1, 1, 1).status(), "red");
        assert!((health(1, 0, 1).active_percent() - 50.0).abs() < 1e-9);
    }
}
