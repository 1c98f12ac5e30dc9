//! Which index follows which policy: `add`, `remove`, `change_policy`, `retry`.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::http::StatusCode;
use clew_engine::{Access, DefinitionChange, Definitions, Engine, Index, Purpose, Wildcards};
use clew_opensearch::wing::{Api, ApiError, Call, FlatSettings, Reply, change_settings};
use serde_json::{Value, json};

use super::managed::{ChangePolicy, MANAGED, ManagedIndex};
use super::new_indexes::{MANAGED_MAX, attach_new};
use super::policy::Policy;
use super::settings::{index_setting, of_index};
use super::store::{KeptPolicy, blocking, status_error};
use crate::running::RunningActions;

/// What came of a request about several indexes.
#[derive(Default)]
struct Outcome {
    updated: usize,
    failed: Vec<Value>,
}

impl Outcome {
    fn fail(&mut self, index: &Index, reason: &str) {
        self.failed.push(json!({
            "index_name": index.name(), "index_uuid": index.uuid(), "reason": reason,
        }));
    }

    fn reply(self) -> Reply {
        Reply::json(&json!({
            "updated_indices": self.updated,
            "failures": !self.failed.is_empty(),
            "failed_indices": self.failed,
        }))
    }
}

/// `POST /_plugins/_ism/add/{index}`.
pub(crate) async fn add(call: Call) -> Result<Reply, ApiError> {
    let (id, _) = read_policy(&call)?;
    for_each(call, move |api, index, managed| {
        check_policy(&api.engine, &id, None)?;
        if !index.is_open() {
            return Ok(Err("This index is closed"));
        }
        if managed.is_some() {
            return Ok(Err(
                "This index already has a policy, use the update policy API to update index policies",
            ));
        }
        let count = api.engine.with_definitions(|all| all.of(MANAGED).count());
        if count >= MANAGED_MAX {
            return Ok(Err("too many indexes are managed already"));
        }
        if of_index(index, "auto_manage").as_deref() == Some("false") {
            set_auto_manage(&api.engine, index, "true")?;
        }
        ManagedIndex::new(index, &id).save(&api.engine)?;
        Ok(Ok(()))
    })
    .await
}

/// `POST /_plugins/_ism/remove/{index}`. The index is not managed again by itself.
pub(crate) async fn remove(call: Call) -> Result<Reply, ApiError> {
    for_each(call, |api, index, managed| {
        if managed.is_none() {
            return Ok(Err("This index does not have a policy to remove"));
        }
        set_auto_manage(&api.engine, index, "false")?;
        let change = DefinitionChange::remove(MANAGED, index.uuid());
        api.engine
            .change_definitions(&Access::everything(), |_| Ok::<_, ApiError>(vec![change]))?;
        Ok(Ok(()))
    })
    .await
}

/// `POST /_plugins/_ism/change_policy/{index}`: `include` chooses among the indexes by their state.
pub(crate) async fn change_policy(call: Call) -> Result<Reply, ApiError> {
    let (id, body) = read_policy(&call)?;
    let state = body["state"].as_str().map(String::from);
    let included = read_states(&body["include"])?;
    for_each(call, move |api, _, managed| {
        check_policy(&api.engine, &id, state.as_deref())?;
        let Some(mut managed) = managed else {
            return Ok(Err("This index is not being managed"));
        };
        let in_state = managed.state.as_ref().map(|state| &state.name);
        let is_included = in_state.is_some_and(|state| included.contains(state));
        if !included.is_empty() && !is_included {
            return Ok(Err(
                "This index is not in one of the states that are included",
            ));
        }
        if managed.transition_to.is_some() {
            return Ok(Err("Cannot change policy while transitioning to new state"));
        }
        managed.change = Some(ChangePolicy {
            policy_id: id.clone(),
            state: state.clone(),
        });
        managed.save(&api.engine)?;
        Ok(Ok(()))
    })
    .await
}

/// `POST /_plugins/_ism/retry/{index}`: what has failed is tried again, from a state when one is named.
pub(crate) async fn retry(call: Call) -> Result<Reply, ApiError> {
    let body = call.json()?.unwrap_or_else(|| json!({}));
    let state = body["state"].as_str().map(String::from);
    for_each(call, move |api, _, managed| {
        let Some(mut managed) = managed else {
            return Ok(Err("This index is not being managed"));
        };
        if !managed.has_failed() {
            return Ok(Err("This index is not in failed state."));
        }
        let policy = Policy::parse(&managed.policy)?;
        match &state {
            Some(state) if policy.state(state).is_none() => {
                return Ok(Err("The policy of this index has no such state"));
            }
            Some(state) => {
                managed.transition_to = Some(state.clone());
                managed.action = None;
            }
            None => {
                if let Some(action) = &mut managed.action {
                    action.failed = false;
                    action.consumed_retries = 0;
                    action.start_time = api.engine.clock().epoch_ms();
                }
            }
        }
        managed.step = None;
        managed.tell("Pending retry of failed managed index");
        managed.save(&api.engine)?;
        Ok(Ok(()))
    })
    .await
}

/// Does something with each index of the path, one request at a time.
async fn for_each(
    call: Call,
    work: impl Fn(&Api, &Arc<Index>, Option<ManagedIndex>) -> Result<Result<(), &'static str>, ApiError>
    + Send
    + 'static,
) -> Result<Reply, ApiError> {
    if call.path("index").is_none_or(str::is_empty) {
        return Err(ApiError::illegal_argument("Missing indices"));
    }
    let indices = call.indices_from(Wildcards::ALL, Purpose::Change).await?;
    let api = call.api.clone();
    let outcome = blocking(move || {
        let going_on = api.part::<RunningActions>();
        let _one = going_on.lock();
        attach_new(&api.engine)?;
        let mut outcome = Outcome::default();
        for index in &indices {
            let uuid = index.uuid();
            let managed = api
                .engine
                .with_definitions(|all| ManagedIndex::of(all, uuid));
            match work(&api, index, managed)? {
                Ok(()) => outcome.updated += 1,
                Err(reason) => outcome.fail(index, reason),
            }
        }
        Ok(outcome)
    })
    .await?;
    Ok(outcome.reply())
}

/// The policy that a body names, and the body.
fn read_policy(call: &Call) -> Result<(String, Value), ApiError> {
    let body = call.json()?.unwrap_or_else(|| json!({}));
    let id = body["policy_id"].as_str().filter(|id| !id.is_empty());
    let id = id.ok_or_else(|| ApiError::illegal_argument("Missing policy_id"))?;
    Ok((id.to_string(), body))
}

/// `[{"state": "hot"}, ..]`.
fn read_states(include: &Value) -> Result<BTreeSet<String>, ApiError> {
    let named = |item: &Value| item["state"].as_str().map(String::from);
    let states = match include {
        Value::Null => Some(BTreeSet::new()),
        Value::Array(items) => items.iter().map(named).collect(),
        _ => None,
    };
    states.ok_or_else(|| {
        ApiError::illegal_argument("[include] must be a list of objects with a [state]")
    })
}

fn check_policy(engine: &Engine, id: &str, state: Option<&str>) -> Result<(), ApiError> {
    let find = |all: &Definitions| KeptPolicy::find(all, id);
    let Some(kept) = engine.with_definitions(find) else {
        let reason = format!("Could not find policy={id}");
        return Err(status_error(StatusCode::NOT_FOUND, reason));
    };
    if let Some(state) = state
        && Policy::parse(&kept.policy)?.state(state).is_none()
    {
        let reason = format!("Cannot find state={state} in policy={id}");
        return Err(ApiError::illegal_argument(reason));
    }
    Ok(())
}

fn set_auto_manage(engine: &Engine, index: &Index, value: &str) -> Result<(), ApiError> {
    let flat = FlatSettings::from([(index_setting("auto_manage"), Some(value.to_string()))]);
    change_settings((engine, &Access::everything()), index, &flat)?;
    Ok(())
}
