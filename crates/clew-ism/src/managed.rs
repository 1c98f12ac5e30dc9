//! What is kept of an index that follows a policy: which one, and how far it has come.

use clew_engine::{Access, DefinitionChange, Definitions, Engine};
use clew_opensearch::wing::ApiError;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Policies, among the definitions.
pub(super) const POLICY: &str = "ism_policy";
/// Managed indexes, by their unique ids.
pub(super) const MANAGED: &str = "ism_managed";

/// The name that a transition has among actions.
pub(super) const TRANSITION: &str = "transition";

/// An index that follows a policy.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct ManagedIndex {
    pub(super) index: String,
    pub(super) index_uuid: String,
    pub(super) policy_id: String,
    /// The policy as it was when the index began to follow it; null before that.
    pub(super) policy: Value,
    pub(super) policy_seq_no: Option<u64>,
    /// Another policy that the index is to follow, when it is between two actions.
    pub(super) change: Option<ChangePolicy>,
    pub(super) state: Option<EnteredState>,
    pub(super) action: Option<ActionProgress>,
    pub(super) step: Option<ActionStep>,
    pub(super) transition_to: Option<String>,
    /// What the action is about to make (an index, a snapshot), told before it is made, so that it is
    /// made once.
    pub(super) intent: Option<String>,
    pub(super) rolled_over_ms: Option<u64>,
    pub(super) policy_completed: bool,
    pub(super) info: Value,
}

/// A policy to change to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ChangePolicy {
    pub(super) policy_id: String,
    pub(super) state: Option<String>,
}

/// A state since when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EnteredState {
    pub(super) name: String,
    pub(super) start_time: u64,
}

/// An action that was begun.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ActionProgress {
    pub(super) name: String,
    pub(super) start_time: u64,
    /// Its place in the state.
    pub(super) index: usize,
    /// It is not tried again unless somebody asks for it.
    pub(super) failed: bool,
    pub(super) consumed_retries: u64,
    pub(super) last_retry_time: u64,
}

/// How the last attempt at an action went.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ActionStep {
    pub(super) name: String,
    pub(super) start_time: u64,
    pub(super) step_status: Status,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Status {
    Starting,
    ConditionNotMet,
    Failed,
    Completed,
}

impl ManagedIndex {
    /// An index that is to follow a policy and has not begun.
    pub(super) fn new(index: &clew_engine::Index, policy_id: &str) -> Self {
        ManagedIndex {
            index: index.name().to_string(),
            index_uuid: index.uuid().to_string(),
            policy_id: policy_id.to_string(),
            info: json!({}),
            ..ManagedIndex::default()
        }
    }

    /// The index with this unique id, when it is managed.
    pub(super) fn of(definitions: &Definitions, uuid: &str) -> Option<Self> {
        Self::read(definitions.get(MANAGED, uuid)?)
    }

    pub(super) fn read(kept: &Value) -> Option<Self> {
        match serde_json::from_value(kept.clone()) {
            Ok(managed) => Some(managed),
            Err(error) => {
                tracing::warn!(%error, "the state of a managed index says something unknown");
                None
            }
        }
    }

    /// Every managed index, by name.
    pub(super) fn all(engine: &Engine) -> Vec<Self> {
        let read = |(_, kept): (&str, &Value)| Self::read(kept);
        let mut all: Vec<Self> =
            engine.with_definitions(|all| all.of(MANAGED).filter_map(read).collect());
        all.sort_by(|a, b| a.index.cmp(&b.index));
        all
    }

    /// The change that keeps this.
    pub(super) fn kept(&self) -> DefinitionChange {
        let value = serde_json::to_value(self).expect("keys are text and numbers are whole");
        DefinitionChange::put(MANAGED, &self.index_uuid, value)
    }

    /// Keeps this, durably.
    pub(super) fn save(&self, engine: &Engine) -> Result<(), ApiError> {
        engine.change_definitions(&Access::everything(), |_| {
            Ok::<_, ApiError>(vec![self.kept()])
        })?;
        Ok(())
    }

    /// Whether the action has failed as often as it may.
    pub(super) fn has_failed(&self) -> bool {
        self.action.as_ref().is_some_and(|action| action.failed)
    }

    /// Whether the last action of the state is done, or none has begun.
    pub(super) fn is_between_actions(&self) -> bool {
        self.action
            .as_ref()
            .is_none_or(|action| action.name == TRANSITION || action.failed)
            || self.is_step_done()
    }

    /// Whether the action's last step is done.
    pub(super) fn is_step_done(&self) -> bool {
        self.step
            .as_ref()
            .is_some_and(|step| step.step_status == Status::Completed)
    }

    /// Says what is going on.
    pub(super) fn tell(&mut self, message: impl Into<String>) {
        self.info = json!({"message": message.into()});
    }
}
