//! How a managed index comes on: one call is one step, an attempt at an action or at a transition.
//! What is done is said in `carry`; this decides what is next, counts failures and tells what happened.

mod carry;
mod rollover;
mod shrink;

use std::sync::Arc;
use std::time::Duration;

use clew_engine::Index;
use clew_opensearch::wing::{Api, ApiError};
use serde_json::{Value, json};

use super::conditions::Facts;
use super::managed::{ActionProgress, ActionStep, EnteredState, ManagedIndex, Status, TRANSITION};
use super::policy::{PlannedAction, Policy, PolicyState};
use super::store::KeptPolicy;

pub(super) use rollover::hindrance;

/// The name of the step that looks whether another state is due.
const TRANSITION_STEP: &str = "attempt_transition_step";

/// What an attempt at an action is about.
struct Subject<'a> {
    api: &'a Arc<Api>,
    index: &'a Arc<Index>,
    managed: &'a mut ManagedIndex,
}

/// What came of an attempt.
enum Outcome {
    Done {
        info: Value,
    },
    /// To be tried again at the next run.
    Waiting {
        info: Value,
    },
    Failed {
        message: String,
        cause: Option<String>,
    },
    /// The index is gone.
    Deleted,
}

impl Outcome {
    fn done(message: String) -> Self {
        Outcome::Done {
            info: json!({"message": message}),
        }
    }

    fn waiting(message: String) -> Self {
        Outcome::Waiting {
            info: json!({"message": message}),
        }
    }

    fn failed(message: String) -> Self {
        Outcome::Failed {
            message,
            cause: None,
        }
    }
}

/// Takes an index one step on; `None` when it is gone afterwards.
pub(super) fn advance(
    api: &Arc<Api>,
    index: &Arc<Index>,
    mut managed: ManagedIndex,
) -> Result<Option<ManagedIndex>, ApiError> {
    let now = api.engine.clock().epoch_ms();
    if managed.change.is_some() && managed.is_between_actions() {
        change_policy(api, &mut managed);
        return Ok(Some(managed));
    }
    if managed.policy.is_null() {
        begin(api, &mut managed);
        return Ok(Some(managed));
    }
    if managed.policy_completed || managed.has_failed() {
        return Ok(Some(managed));
    }
    let policy = Policy::parse(&managed.policy)?;
    if let Some(name) = managed.transition_to.take() {
        managed.state = Some(EnteredState {
            name,
            start_time: now,
        });
        managed.action = None;
        managed.step = None;
    }
    let name = managed.state.as_ref().map_or("", |state| &state.name);
    let Some(state) = policy.state(name) else {
        let message = format!(
            "Failed to find state=[{name}] in policy=[{}]",
            managed.policy_id
        );
        managed.tell(message);
        return Ok(Some(managed));
    };
    let at = place(&managed, state);
    let Some(planned) = state.actions.get(at) else {
        transition(api, index, &mut managed, state);
        return Ok(Some(managed));
    };
    attempt(api, index, managed, (at, planned))
}

/// The place of the action that is next.
fn place(managed: &ManagedIndex, state: &PolicyState) -> usize {
    match &managed.action {
        None => 0,
        Some(action) if action.name == TRANSITION => state.actions.len(),
        Some(action) if managed.is_step_done() => action.index + 1,
        Some(action) => action.index,
    }
}

/// Takes the policy as it is now, and its first state.
fn begin(api: &Api, managed: &mut ManagedIndex) {
    let id = managed.policy_id.clone();
    let kept = api
        .engine
        .with_definitions(|all| KeptPolicy::find(all, &id));
    let Some(kept) = kept else {
        managed.tell(format!("Fail to load policy: {id}"));
        return;
    };
    managed.transition_to = kept.policy["default_state"].as_str().map(String::from);
    managed.policy_seq_no = Some(kept.seq_no);
    managed.policy = kept.policy;
    managed.tell(format!("Successfully initialized policy: {id}"));
}

/// Goes over to another policy: to the state that was asked for, or the one of the same name, or its first.
fn change_policy(api: &Api, managed: &mut ManagedIndex) {
    let Some(change) = managed.change.take() else {
        return;
    };
    let id = &change.policy_id;
    let kept = api.engine.with_definitions(|all| KeptPolicy::find(all, id));
    let parsed = kept.as_ref().map(|kept| Policy::parse(&kept.policy));
    let (Some(kept), Some(Ok(policy))) = (kept, parsed) else {
        managed.tell(format!("Fail to load policy: {id}"));
        return;
    };
    let same = managed.state.as_ref().map(|state| state.name.clone());
    let wanted = change.state.or(same);
    let wanted = wanted.filter(|name| policy.state(name).is_some());
    *managed = ManagedIndex {
        index: std::mem::take(&mut managed.index),
        index_uuid: std::mem::take(&mut managed.index_uuid),
        policy_id: change.policy_id.clone(),
        policy_seq_no: Some(kept.seq_no),
        policy: kept.policy,
        transition_to: Some(wanted.unwrap_or(policy.default_state)),
        rolled_over_ms: managed.rolled_over_ms,
        ..ManagedIndex::default()
    };
    managed.tell(format!("Changed policy to {}", change.policy_id));
}

/// Goes to the first state whose condition is met.
fn transition(api: &Api, index: &Arc<Index>, managed: &mut ManagedIndex, state: &PolicyState) {
    let now = api.engine.now();
    let now_ms = api.engine.clock().epoch_ms();
    if managed
        .action
        .as_ref()
        .is_none_or(|action| action.name != TRANSITION)
    {
        managed.action = Some(ActionProgress {
            name: TRANSITION.to_string(),
            start_time: now_ms,
            index: state.actions.len(),
            ..ActionProgress::default()
        });
        managed.step = None;
    }
    let rolled_over = managed.rolled_over_ms;
    let rolled_over = rolled_over.or_else(|| rollover::when_rolled_over(api, index));
    let facts = Facts::of(index, now, rolled_over);
    let name = index.name();
    let status = if state.transitions.is_empty() {
        managed.policy_completed = true;
        managed.tell(format!("There are no more transitions [index={name}]"));
        Status::Completed
    } else if let Some(due) = state.transitions.iter().find(|one| one.when.is_met(&facts)) {
        managed.transition_to = Some(due.to.clone());
        managed.tell(format!("Transitioning to {} [index={name}]", due.to));
        Status::Completed
    } else {
        managed.tell(format!("Evaluating transition conditions [index={name}]"));
        Status::ConditionNotMet
    };
    stepped(managed, TRANSITION_STEP.to_string(), status, now_ms);
}

/// Records how a step went; its time is that of its first attempt.
fn stepped(managed: &mut ManagedIndex, name: String, status: Status, now_ms: u64) {
    let begun = managed.step.take().filter(|step| step.name == name);
    managed.step = Some(ActionStep {
        name,
        start_time: begun.map_or(now_ms, |step| step.start_time),
        step_status: status,
    });
}

/// Tries an action.
fn attempt(
    api: &Arc<Api>,
    index: &Arc<Index>,
    mut managed: ManagedIndex,
    (at, planned): (usize, &PlannedAction),
) -> Result<Option<ManagedIndex>, ApiError> {
    let now = api.engine.clock().epoch_ms();
    let mut progress = progress_of(&mut managed, (at, planned), now);
    let elapsed = |since: u64| Duration::from_millis(now.saturating_sub(since));
    let failures = progress.consumed_retries;
    let pause = planned.retry.pause(failures);
    if failures > 0 && elapsed(progress.last_retry_time) < pause {
        managed.action = Some(progress);
        return Ok(Some(managed));
    }
    let timeout = planned.timeout;
    if timeout.is_some_and(|timeout| elapsed(progress.start_time) > timeout) {
        progress.failed = true;
        managed.action = Some(progress);
        managed.tell("Action timed out");
        stepped(&mut managed, planned.action.step(), Status::Failed, now);
        return Ok(Some(managed));
    }
    managed.action = Some(progress);
    let subject = Subject {
        api,
        index,
        managed: &mut managed,
    };
    let outcome = carry::out(subject, &planned.action).unwrap_or_else(|error| Outcome::Failed {
        message: format!(
            "Failed to {} [index={}]",
            planned.action.name(),
            index.name()
        ),
        cause: Some(error.reason()),
    });
    let Some(status) = settle(&mut managed, outcome, planned, now) else {
        return Ok(None);
    };
    stepped(&mut managed, planned.action.step(), status, now);
    Ok(Some(managed))
}

/// How far the action has come that is at this place of its state; a new one begins now.
fn progress_of(
    managed: &mut ManagedIndex,
    (at, planned): (usize, &PlannedAction),
    now_ms: u64,
) -> ActionProgress {
    let is_new = managed.is_step_done();
    match managed.action.take() {
        Some(progress) if !is_new && progress.index == at => progress,
        _ => {
            managed.step = None;
            managed.intent = None;
            ActionProgress {
                name: planned.action.name().to_string(),
                start_time: now_ms,
                index: at,
                ..ActionProgress::default()
            }
        }
    }
}

/// Records what came of an attempt; `None` when the index is gone.
fn settle(
    managed: &mut ManagedIndex,
    outcome: Outcome,
    planned: &PlannedAction,
    now_ms: u64,
) -> Option<Status> {
    match outcome {
        Outcome::Deleted => None,
        Outcome::Done { info } => {
            managed.info = info;
            managed.intent = None;
            Some(Status::Completed)
        }
        Outcome::Waiting { info } => {
            managed.info = info;
            Some(Status::ConditionNotMet)
        }
        Outcome::Failed { message, cause } => {
            managed.tell(message);
            if let Some(cause) = cause {
                managed.info["cause"] = json!(cause);
            }
            if let Some(progress) = &mut managed.action {
                progress.failed = progress.consumed_retries >= planned.retry.count;
                if !progress.failed {
                    progress.consumed_retries += 1;
                    progress.last_retry_time = now_ms;
                }
            }
            Some(Status::Failed)
        }
    }
}
