//! `_plugins/_ism/explain`: which policy an index follows, and how far it has come.

use std::collections::BTreeMap;

use clew_engine::{PRIMARY_TERM, Purpose, Wildcards};
use clew_opensearch::wing::{ApiError, Call, Reply};
use serde_json::{Map, Value, json};

use super::machine::hindrance;
use super::managed::ManagedIndex;
use super::new_indexes::attach_new;
use super::store::{blocking, descending, is_asked_for, page};
use crate::running::RunningActions;

/// Managed indexes that are wanted, by what is known of them.
#[derive(Default)]
struct Filter {
    policy_id: Option<String>,
    state: Option<String>,
    action: Option<String>,
    failed: Option<bool>,
}

impl Filter {
    fn read(body: Option<&Value>) -> Result<Self, ApiError> {
        let mut filter = Filter::default();
        let Some(body) = body.and_then(|body| body.get("filter")) else {
            return Ok(filter);
        };
        for (key, value) in body.as_object().into_iter().flatten() {
            let text = || value.as_str().map(String::from);
            match key.as_str() {
                "policy_id" => filter.policy_id = text(),
                "state" => filter.state = text(),
                "action_type" => filter.action = text(),
                "failed" => filter.failed = value.as_bool(),
                other => {
                    let reason = format!("Invalid field: [{other}] found in Filter.");
                    return Err(ApiError::illegal_argument(reason));
                }
            }
        }
        Ok(filter)
    }

    fn is_any(&self) -> bool {
        self.policy_id.is_none()
            && self.state.is_none()
            && self.action.is_none()
            && self.failed.is_none()
    }

    fn wants(&self, managed: &ManagedIndex) -> bool {
        let is = |wanted: &Option<String>, have: Option<&String>| {
            wanted.is_none() || wanted.as_ref() == have
        };
        is(&self.policy_id, Some(&managed.policy_id))
            && is(&self.state, managed.state.as_ref().map(|state| &state.name))
            && is(
                &self.action,
                managed.action.as_ref().map(|action| &action.name),
            )
            && self
                .failed
                .is_none_or(|failed| failed == managed.has_failed())
    }
}

/// `GET|POST /_plugins/_ism/explain/{index}`: all managed indexes, or those that are named.
pub(crate) async fn explain(call: Call) -> Result<Reply, ApiError> {
    let filter = Filter::read(call.json()?.as_ref())?;
    let with_policy = call.params.flag("show_policy", false)?;
    let with_validation = call.params.flag("validate_action", false)?;
    let sorts_by = sorted_by(call.params.get("sortField"))?;
    let api = call.api.clone();
    let all = blocking(move || {
        let work = api.part::<RunningActions>();
        let _one = work.lock();
        attach_new(&api.engine)?;
        Ok(ManagedIndex::all(&api.engine))
    })
    .await?;
    let mut rows: Vec<(String, Option<ManagedIndex>)> = match call.path("index") {
        None => {
            let named = all
                .into_iter()
                .map(|managed| (managed.index.clone(), Some(managed)));
            named.collect()
        }
        Some(_) => named(&call, all).await?,
    };
    let wanted = |managed: &Option<ManagedIndex>| match managed {
        Some(managed) => filter.wants(managed),
        None => filter.is_any(),
    };
    let query = call.params.get("queryString").unwrap_or_default();
    rows.retain(|(name, managed)| wanted(managed) && is_asked_for(query, name));
    if let Some(sorts_by) = sorts_by {
        rows.sort_by_cached_key(|(_, managed)| managed.as_ref().map(sorts_by).map(String::from));
    }
    descending(&call)?.then(|| rows.reverse());
    let total = rows.iter().filter(|(_, managed)| managed.is_some()).count();
    let mut body = Map::new();
    for (name, managed) in page(&call, rows)? {
        let mut shown = show(managed.as_ref(), with_policy);
        if let Some(managed) = managed.filter(|_| with_validation) {
            shown["validate"] = validated(&call, &managed);
        }
        body.insert(name, shown);
    }
    body.insert("total_managed_indices".to_string(), json!(total));
    Ok(Reply::json(&Value::Object(body)))
}

/// Whether the action of a managed index could be carried out now: a rollover wants an alias whose write index it is.
fn validated(call: &Call, managed: &ManagedIndex) -> Value {
    let action = managed.action.as_ref().map(|action| action.name.as_str());
    let opened = || {
        let engine = &call.api.engine;
        engine.open_exactly(&managed.index, &call.access, Purpose::Watch)
    };
    let hindered = match action {
        Some("rollover") => opened().ok().and_then(|index| hindrance(&call.api, &index)),
        _ => None,
    };
    let status = match hindered {
        Some(_) => "re_validating",
        None => "passed",
    };
    json!({"validation_message": hindered.unwrap_or_default(), "validation_status": status})
}

/// What managed indexes are put in order by.
type SortKey = fn(&ManagedIndex) -> &str;

/// What `sortField` names of a managed index; none where that is the index's name, by which they come anyway.
fn sorted_by(field: Option<&str>) -> Result<Option<SortKey>, ApiError> {
    Ok(match field {
        None | Some("managed_index.index" | "managed_index.name.keyword" | "index") => None,
        Some("managed_index.policy_id") => Some(|managed| managed.policy_id.as_str()),
        Some("managed_index.index_uuid") => Some(|managed| managed.index_uuid.as_str()),
        Some(other) => {
            let reason = format!("cannot sort managed indexes by [{other}]");
            return Err(ApiError::illegal_argument(reason));
        }
    })
}

/// The indexes of the path, managed or not.
async fn named(
    call: &Call,
    all: Vec<ManagedIndex>,
) -> Result<Vec<(String, Option<ManagedIndex>)>, ApiError> {
    let indices = call.indices_from(Wildcards::ALL, Purpose::Watch).await?;
    let by_uuid = all
        .into_iter()
        .map(|managed| (managed.index_uuid.clone(), managed));
    let mut by_uuid: BTreeMap<String, ManagedIndex> = by_uuid.collect();
    let row = |index: std::sync::Arc<clew_engine::Index>| {
        (index.name().to_string(), by_uuid.remove(index.uuid()))
    };
    let mut rows: Vec<_> = indices.into_iter().map(row).collect();
    rows.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(rows)
}

fn show(managed: Option<&ManagedIndex>, with_policy: bool) -> Value {
    let id = managed.map(|managed| &managed.policy_id);
    let mut shown = json!({
        "index.plugins.index_state_management.policy_id": id,
        "index.opendistro.index_state_management.policy_id": id,
    });
    let Some(managed) = managed else {
        shown["enabled"] = Value::Null;
        return shown;
    };
    shown["index"] = json!(managed.index);
    shown["index_uuid"] = json!(managed.index_uuid);
    shown["policy_id"] = json!(managed.policy_id);
    shown["enabled"] = json!(!managed.policy_completed);
    if with_policy {
        shown["policy"] = managed.policy.clone();
    }
    let Some(seq_no) = managed.policy_seq_no else {
        return shown;
    };
    shown["policy_seq_no"] = json!(seq_no);
    shown["policy_primary_term"] = json!(PRIMARY_TERM);
    if managed.rolled_over_ms.is_some() {
        shown["rolled_over"] = json!(true);
    }
    if managed.policy_completed {
        shown["policy_completed"] = json!(true);
    }
    if let Some(to) = &managed.transition_to {
        shown["transition_to"] = json!(to);
    }
    if let Some(state) = &managed.state {
        shown["state"] = json!({"name": state.name, "start_time": state.start_time});
    }
    if let Some(action) = &managed.action {
        shown["action"] = json!(action);
        shown["retry_info"] = json!({
            "failed": action.failed, "consumed_retries": action.consumed_retries,
        });
    }
    if let Some(step) = &managed.step {
        shown["step"] = json!(step);
    }
    shown["info"] = managed.info.clone();
    shown
}
