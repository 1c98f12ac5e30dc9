//! Where shards are and why: `_cluster/allocation/explain` and `_cluster/reroute`. With one node
//! there is one place for every shard, so nothing can be moved.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::http::StatusCode;
use clew_engine::{Index, Purpose};
use serde_json::{Map, Value, json};

use crate::cluster::cluster_state::{METRICS, created_at, read_metrics, shown_state};
use crate::cluster::machine::DiskSpace;
use crate::cluster::nodes::names_this_node;
use crate::dsl::{DslError, DslErrorKind, Field};
use crate::http::error::{ApiError, Cause};
use crate::http::place::Spot;
use crate::http::reply::Reply;
use crate::indices::copies::replicas;
use crate::state::call::Call;

/// Commands in one request.
const COMMANDS_MAX: usize = 1000;

/// A copy of a shard.
struct Copy {
    index: Arc<Index>,
    shard: u32,
    primary: bool,
}

/// `GET /_cluster/allocation/explain`: of the copy that the body names, or of any unassigned one.
pub(crate) async fn explain(call: Call) -> Result<Reply, ApiError> {
    let body = call.json()?.unwrap_or_default();
    let copy = match &body {
        Value::Object(members) if !members.is_empty() => {
            call.read(&body, |_| named_copy(&call, members))?
        }
        _ => any_unassigned(&call)?,
    };
    let failure = copy.index.shard_failure(copy.shard);
    let assigned = copy.primary && failure.is_none();
    let mut body = if assigned {
        explain_assigned(&call)
    } else {
        explain_unassigned(&call, &copy, failure.as_deref())
    };
    body["index"] = Value::from(copy.index.name());
    body["shard"] = Value::from(copy.shard);
    body["primary"] = Value::from(copy.primary);
    if call.params.flag("include_disk_info", false)? {
        body["cluster_info"] = disk_info(&call)?;
    }
    Ok(Reply::json(&body))
}

fn named_copy(call: &Call, members: &Map<String, Value>) -> Result<Copy, ApiError> {
    let (mut index, mut shard, mut primary) = (None, None, None);
    for (key, value) in members {
        match key.as_str() {
            "index" => index = value.as_str(),
            "shard" => shard = value.as_u64().and_then(|shard| u32::try_from(shard).ok()),
            "primary" => primary = value.as_bool(),
            "current_node" => {}
            other => {
                let object = "cluster/allocation/explain";
                return Err(ApiError::unknown_field(object, other, value));
            }
        }
    }
    let (Some(index), Some(shard), Some(primary)) = (index, shard, primary) else {
        let all = [
            (index.is_none(), "index must be specified"),
            (shard.is_none(), "shard must be specified"),
            (primary.is_none(), "primary must be specified"),
        ];
        let lacking = all.into_iter().filter(|(is_lacking, _)| *is_lacking);
        let lacking: Vec<&str> = lacking.map(|(_, told)| told).collect();
        return Err(ApiError::validations(&lacking));
    };
    let engine = &call.api.engine;
    let index = engine.open_exactly(index, &call.access, Purpose::Watch)?;
    if shard >= index.settings().shards {
        let cause = Cause::new("shard_not_found_exception", "no such shard")
            .with("index", index.name())
            .with("shard", shard.to_string());
        return Err(ApiError::new(StatusCode::NOT_FOUND, cause));
    }
    if !primary && replicas(&index) == 0 {
        return Err(ApiError::illegal_argument(format!(
            "unable to find any shards to explain [ClusterAllocationExplainRequest[index={},shard={shard},primary?=false,includeYesDecisions?=false] in the routing table",
            index.name()
        )));
    }
    Ok(Copy {
        index: index.index().clone(),
        shard,
        primary,
    })
}

fn any_unassigned(call: &Call) -> Result<Copy, ApiError> {
    for index in call.shown_indices() {
        for shard in 0..index.settings().shards {
            let primary = index.has_shard_failed(shard);
            if primary || replicas(&index) > 0 {
                return Ok(Copy {
                    index,
                    shard,
                    primary,
                });
            }
        }
    }
    let yes = call.params.flag("include_yes_decisions", false)?;
    // OpenSearch closes one of the two brackets.
    Err(ApiError::illegal_argument(format!(
        "unable to find any unassigned shards to explain [ClusterAllocationExplainRequest[\
         useAnyUnassignedShard=true,includeYesDecisions?={yes}]"
    )))
}

fn explain_assigned(call: &Call) -> Value {
    json!({
        "current_state": "started",
        "current_node": {
            "id": call.api.node_id,
            "name": call.api.options.node_name,
            "transport_address": call.api.options.publish_address,
            "attributes": {},
            "weight_ranking": 1,
        },
        "can_remain_on_current_node": "yes",
        "can_rebalance_cluster": "yes",
        "can_rebalance_to_other_node": "no",
        "rebalance_explanation": "cannot rebalance as no target node exists that can both \
                                  allocate this shard and improve the cluster balance",
    })
}

fn explain_unassigned(call: &Call, copy: &Copy, failure: Option<&str>) -> Value {
    let (decider, why) = match failure.filter(|_| copy.primary) {
        Some(failure) => ("max_retry", format!("the shard has failed: {failure}")),
        None => (
            "same_shard",
            "a copy of this shard is already allocated to this node".to_string(),
        ),
    };
    let mut shown = json!({
        "current_state": "unassigned",
        "unassigned_info": {
            "reason": if copy.primary { "ALLOCATION_FAILED" } else { "INDEX_CREATED" },
            "at": created_at(&copy.index),
            "last_allocation_status": "no_attempt",
        },
        "can_allocate": "no",
        "allocate_explanation": "cannot allocate because allocation is not permitted to any of \
                                 the nodes",
        "node_allocation_decisions": [{
            "node_id": call.api.node_id,
            "node_name": call.api.options.node_name,
            "transport_address": call.api.options.publish_address,
            "node_decision": "no",
            "deciders": [{"decider": decider, "decision": "NO", "explanation": why}],
        }],
    });
    if let Some(failure) = failure.filter(|_| copy.primary) {
        shown["unassigned_info"]["details"] = Value::from(failure);
    }
    shown
}

/// The disk, and sizes of shards where they are known for each: for indexes of one shard.
fn disk_info(call: &Call) -> Result<Value, ApiError> {
    let mut sizes = Map::new();
    for index in call.shown_indices() {
        let stats = index.stats();
        if stats.shards == 1 {
            let name = format!("[{}][0][p]_bytes", index.name());
            sizes.insert(name, Value::from(stats.bytes));
        }
    }
    let disk = DiskSpace::of(&call.api.options.data);
    let usage = json!({
        "path": call.api.options.data,
        "total_bytes": disk.total,
        "used_bytes": disk.used(),
        "free_bytes": disk.available,
        "free_disk_percent": disk.free_percent(),
        "used_disk_percent": 100.0 - disk.free_percent(),
    });
    Ok(json!({
        "nodes": {&call.api.node_id: {
            "node_name": call.api.options.node_name,
            "least_available": usage,
            "most_available": usage,
        }},
        "shard_sizes": sizes,
    }))
}

/// `POST /_cluster/reroute`: no command can be done, and with `explain` it is said why.
pub(crate) async fn reroute(call: Call) -> Result<Reply, ApiError> {
    let explain = call.params.flag("explain", false)?;
    let metrics = match call.params.get("metric") {
        Some("none") => BTreeSet::new(),
        Some(names) => read_metrics(names),
        None => {
            let all = METRICS.iter().copied();
            all.filter(|metric| *metric != "metadata").collect()
        }
    };
    let body = call.json()?.unwrap_or_else(|| json!({}));
    let none = Vec::new();
    let commands = call.read(&body, |_| {
        let mut commands = &none;
        for member in Field::all("cluster_reroute", &body)? {
            match (member.name, member.value) {
                ("commands", Value::Array(given)) => commands = given,
                ("commands", _) => return Err(member.other_sort().into()),
                ("dry_run", _) => {
                    member.flag()?;
                }
                _ => return Err(member.unknown(&["commands", "dry_run"]).into()),
            }
        }
        Ok(commands)
    })?;
    if commands.len() > COMMANDS_MAX {
        let reason = format!("more than [{COMMANDS_MAX}] commands in one request");
        return Err(ApiError::illegal_argument(reason));
    }
    let refused: Vec<Refused> = call.read(&body, |_| {
        let read = commands.iter().map(|command| Refused::read(&call, command));
        read.collect()
    })?;
    if let (false, Some(first)) = (explain, refused.first()) {
        let reason = format!("[{}] {}", first.decider, first.reason);
        return Err(ApiError::illegal_argument(reason));
    }
    let mut body = json!({"acknowledged": true});
    body["state"] = shown_state(&call.api, &metrics, &call.shown_indices(), false);
    if explain {
        body["explanations"] = refused.iter().map(Refused::shown).collect();
    }
    Ok(Reply::json(&body))
}

/// A command that cannot be done.
struct Refused {
    command: &'static str,
    decider: &'static str,
    parameters: Map<String, Value>,
    reason: String,
}

impl Refused {
    fn read(call: &Call, command: &Value) -> Result<Refused, ApiError> {
        let members = command.as_object().filter(|members| members.len() == 1);
        let (name, parameters) = members
            .and_then(|members| members.iter().next())
            .ok_or_else(|| wrong(command))?;
        let (command, decider) = match name.as_str() {
            "cancel" => ("cancel", "cancel_allocation_command"),
            "move" => ("move", "move_allocation_command"),
            "allocate_replica" => ("allocate_replica", "allocate_replica_allocation_command"),
            "allocate_stale_primary" => (
                "allocate_stale_primary",
                "allocate_stale_primary_allocation_command",
            ),
            "allocate_empty_primary" => (
                "allocate_empty_primary",
                "allocate_empty_primary_allocation_command",
            ),
            other => {
                let reason = format!("unknown field [{other}]");
                let error = DslError::of(DslErrorKind::NamedObject, reason);
                let error = error.at(Spot::start_of(parameters));
                return Err(error.in_field("cluster_reroute", "commands").into());
            }
        };
        let mut parameters = parameters
            .as_object()
            .cloned()
            .ok_or_else(|| wrong(parameters))?;
        let index = parameters.get("index").and_then(Value::as_str);
        let shard = parameters.get("shard").and_then(Value::as_u64);
        let (Some(index), Some(shard)) = (index, shard) else {
            return Err(wrong(&Value::Object(parameters)));
        };
        if matches!(command, "cancel" | "move") {
            check_nodes(call, &parameters)?;
        }
        let engine = &call.api.engine;
        let index = engine.open_exactly(index, &call.access, Purpose::Watch)?;
        let (node, name) = (&call.api.node_id, index.name());
        let reason = if shard >= u64::from(index.settings().shards) {
            format!("can't {command} [{name}][{shard}], failed to find it on node [{node}]")
        } else {
            format!("can't {command} [{name}][{shard}], as [{node}] is the only node")
        };
        if command == "cancel" {
            let default = Value::from(false);
            parameters.entry("allow_primary").or_insert(default);
        }
        Ok(Refused {
            command,
            decider,
            parameters,
            reason,
        })
    }

    fn shown(&self) -> Value {
        json!({
            "command": self.command,
            "parameters": self.parameters,
            "decisions": [{
                "decider": self.decider, "decision": "NO", "explanation": self.reason,
            }],
        })
    }
}

/// Refuses names of nodes that no node has.
fn check_nodes(call: &Call, parameters: &Map<String, Value>) -> Result<(), ApiError> {
    let names = ["node", "from_node", "to_node"].into_iter();
    let mut names = names.filter_map(|key| parameters.get(key)?.as_str());
    match names.find(|name| !names_this_node(&call.api, name)) {
        None => Ok(()),
        Some(name) => Err(ApiError::illegal_argument(format!(
            "failed to resolve [{name}], no matching nodes"
        ))),
    }
}

fn wrong(value: &Value) -> ApiError {
    ApiError::bad_request(
        "parsing_exception",
        format!("expected an allocation command with [index] and [shard] but found [{value}]"),
    )
}
