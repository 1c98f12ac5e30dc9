//! A policy: states, what is done in each, and where each leads. Read from JSON and checked once; what
//! is kept is the JSON with the defaults put in, as clients are shown it.

use std::collections::BTreeSet;
use std::time::Duration;

use clew_opensearch::wing::{ApiError, read_names};
use clew_schema::glob::matches as glob;
use serde_json::{Value, json};

use super::actions::Action;
use super::conditions::Condition;
use super::members::{items, members, read_time, required_text, unknown_field};
use super::retry::Retry;

/// Every managed index keeps the policy that it follows.
const POLICY_BYTES_MAX: usize = 256 << 10;
/// The version of its policies' shape that OpenSearch 2.19 tells.
const SCHEMA_VERSION: u32 = 21;

/// A policy that can be followed.
#[derive(Debug)]
pub(super) struct Policy {
    pub(super) default_state: String,
    pub(super) states: Vec<PolicyState>,
    pub(super) templates: Vec<IsmTemplate>,
}

/// A state of a policy.
#[derive(Debug)]
pub(super) struct PolicyState {
    pub(super) name: String,
    pub(super) actions: Vec<PlannedAction>,
    pub(super) transitions: Vec<Transition>,
}

/// An action, and how it is tried.
#[derive(Debug)]
pub(super) struct PlannedAction {
    pub(super) action: Action,
    pub(super) timeout: Option<Duration>,
    pub(super) retry: Retry,
}

/// Where a state leads, and when.
#[derive(Debug)]
pub(super) struct Transition {
    pub(super) to: String,
    pub(super) when: Condition,
}

/// Which new indexes a policy is for.
#[derive(Debug)]
pub(super) struct IsmTemplate {
    pub(super) patterns: Vec<String>,
    pub(super) priority: i64,
    /// Indexes made before are not meant.
    pub(super) updated_ms: u64,
}

impl Policy {
    /// Reads what is inside `policy`.
    pub(super) fn parse(body: &Value) -> Result<Self, ApiError> {
        if body.to_string().len() > POLICY_BYTES_MAX {
            return Err(ApiError::illegal_argument(format!(
                "the policy has more than [{POLICY_BYTES_MAX}] bytes"
            )));
        }
        let members = members(body, "Policy")?;
        for (key, value) in members {
            match key.as_str() {
                "policy_id" | "description" | "last_updated_time" | "schema_version"
                | "default_state" | "states" | "ism_template" | "user" => {}
                "error_notification" if value.is_null() => {}
                "error_notification" => {
                    return Err(ApiError::illegal_argument(
                        "error_notification is not supported: no notifications can be sent",
                    ));
                }
                other => return Err(unknown_field(other, "Policy")),
            }
        }
        required_text(members, "description")?;
        let default_state = required_text(members, "default_state")?;
        let states = items(members, "states")?.iter().map(PolicyState::parse);
        let policy = Policy {
            default_state,
            states: states.collect::<Result<_, _>>()?,
            templates: read_templates(members.get("ism_template"))?,
        };
        policy.check()?;
        Ok(policy)
    }

    fn check(&self) -> Result<(), ApiError> {
        let names: BTreeSet<&str> = self.states.iter().map(|state| &*state.name).collect();
        if self.states.is_empty() {
            return Err(ApiError::illegal_argument(
                "Policy must contain at least one State",
            ));
        }
        if names.len() < self.states.len() {
            return Err(ApiError::illegal_argument(
                "Policy cannot have duplicate state names",
            ));
        }
        for state in &self.states {
            for Transition { to, .. } in &state.transitions {
                if !names.contains(&**to) {
                    return Err(ApiError::illegal_argument(format!(
                        "Policy contains a transition in state={} pointing to a nonexistent \
                         state={to}",
                        state.name
                    )));
                }
            }
        }
        if !names.contains(&*self.default_state) {
            return Err(ApiError::illegal_argument(format!(
                "Policy must have a default state that is one of its states, not [{}]",
                self.default_state
            )));
        }
        Ok(())
    }

    /// A state by its name.
    pub(super) fn state(&self, name: &str) -> Option<&PolicyState> {
        self.states.iter().find(|state| state.name == name)
    }

    /// The priority with which the policy wants an index of this name and age.
    pub(super) fn wants(&self, name: &str, created_ms: u64) -> Option<i64> {
        let fits = |template: &&IsmTemplate| {
            // Whoever makes an index in the very millisecond in which the policy was acknowledged expects it to follow.
            template.updated_ms <= created_ms
                && template.patterns.iter().any(|pattern| glob(pattern, name))
        };
        let fitting = self.templates.iter().filter(fits);
        fitting.map(|template| template.priority).max()
    }
}

/// The policy's JSON as it is kept and shown: with its id, the time, and the defaults of its parts.
/// It has been parsed before.
pub(super) fn completed(mut body: Value, id: &str, now_ms: u64) -> Value {
    body["policy_id"] = json!(id);
    body["last_updated_time"] = json!(now_ms);
    body["schema_version"] = json!(SCHEMA_VERSION);
    body["error_notification"] = Value::Null;
    for state in array_of(&mut body["states"]) {
        for action in array_of(&mut state["actions"]) {
            if action["retry"].is_null() {
                action["retry"] = json!({});
            }
            for (name, default) in [
                ("count", json!(3)),
                ("backoff", json!("exponential")),
                ("delay", json!("1m")),
            ] {
                if action["retry"][name].is_null() {
                    action["retry"][name] = default;
                }
            }
        }
        for name in ["actions", "transitions"] {
            if state[name].is_null() {
                state[name] = json!([]);
            }
        }
    }
    if body["ism_template"].is_object() {
        body["ism_template"] = json!([body["ism_template"]]);
    }
    for template in array_of(&mut body["ism_template"]) {
        template["last_updated_time"] = json!(now_ms);
        if template["priority"].is_null() {
            template["priority"] = json!(0);
        }
    }
    body
}

fn array_of(value: &mut Value) -> impl Iterator<Item = &mut Value> {
    value.as_array_mut().into_iter().flatten()
}

impl PolicyState {
    fn parse(value: &Value) -> Result<Self, ApiError> {
        let members = members(value, "State")?;
        let known = ["name", "actions", "transitions"];
        if let Some(other) = members.keys().find(|key| !known.contains(&key.as_str())) {
            return Err(unknown_field(other, "State"));
        }
        let actions = items(members, "actions")?.iter().map(PlannedAction::parse);
        let transitions = items(members, "transitions")?.iter().map(Transition::parse);
        Ok(PolicyState {
            name: required_text(members, "name")?,
            actions: actions.collect::<Result<_, _>>()?,
            transitions: transitions.collect::<Result<_, _>>()?,
        })
    }
}

impl PlannedAction {
    fn parse(value: &Value) -> Result<Self, ApiError> {
        let (mut action, mut timeout, mut retry) = (None, None, Retry::default());
        for (key, value) in members(value, "Action")? {
            match key.as_str() {
                "timeout" => timeout = read_time(key, value)?,
                "retry" => retry = Retry::parse(value)?,
                _ if action.is_some() => {
                    return Err(ApiError::illegal_argument(format!(
                        "Only one action may be given at once, and there is [{key}] too"
                    )));
                }
                name => action = Some(Action::parse(name, value)?),
            }
        }
        let action = action.ok_or_else(|| ApiError::illegal_argument("Action is null"))?;
        Ok(PlannedAction {
            action,
            timeout,
            retry,
        })
    }
}

impl Transition {
    fn parse(value: &Value) -> Result<Self, ApiError> {
        let members = members(value, "Transition")?;
        let known = ["state_name", "conditions"];
        if let Some(other) = members.keys().find(|key| !known.contains(&key.as_str())) {
            return Err(unknown_field(other, "Transition"));
        }
        Ok(Transition {
            to: required_text(members, "state_name")?,
            when: match members.get("conditions") {
                None | Some(Value::Null) => Condition::Always,
                Some(conditions) => Condition::parse(conditions)?,
            },
        })
    }
}

/// One template, or a list of them.
fn read_templates(value: Option<&Value>) -> Result<Vec<IsmTemplate>, ApiError> {
    let single;
    let given = match value {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(items)) => items.as_slice(),
        Some(other) => {
            single = [other.clone()];
            &single
        }
    };
    given.iter().map(IsmTemplate::parse).collect()
}

impl IsmTemplate {
    fn parse(value: &Value) -> Result<Self, ApiError> {
        let members = members(value, "ISMTemplate")?;
        let known = ["index_patterns", "priority", "last_updated_time"];
        if let Some(other) = members.keys().find(|key| !known.contains(&key.as_str())) {
            return Err(unknown_field(other, "ISMTemplate"));
        }
        let patterns = members.get("index_patterns").and_then(read_names);
        let patterns = patterns.filter(|patterns| !patterns.is_empty());
        let priority = members.get("priority").filter(|value| !value.is_null());
        let priority = priority.map_or(Some(0), Value::as_i64);
        let priority = priority.filter(|priority| *priority >= 0);
        Ok(IsmTemplate {
            patterns: patterns
                .ok_or_else(|| ApiError::illegal_argument("index_patterns is null"))?,
            priority: priority.ok_or_else(|| {
                ApiError::illegal_argument("Requires priority to be >= 0 in ISMTemplate")
            })?,
            updated_ms: members
                .get("last_updated_time")
                .and_then(Value::as_u64)
                .unwrap_or(0),
        })
    }
}
