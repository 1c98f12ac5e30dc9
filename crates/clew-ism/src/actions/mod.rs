//! What a policy may do with an index, read from JSON. How each is carried out is said in `machine` and
//! `machine::rollover`.

mod shrink;

use clew_engine::Alias;
use clew_opensearch::wing::{AliasBody, ApiError, FlatSettings, read_names};
use serde_json::Value;

use super::conditions::RolloverConditions;
use super::members::{items, members, read_count, required_text, unknown_field};

pub(super) use shrink::{Shrink, ShrinkTo};

/// Changes of aliases in one action.
const ALIAS_CHANGES_MAX: usize = 100;
const SEGMENTS_MAX: u64 = 1 << 20;
const REPLICAS_MAX: u64 = 1024;
const PRIORITY_MAX: u64 = 1 << 31;

/// An action.
#[derive(Debug, PartialEq)]
pub(super) enum Action {
    Rollover {
        conditions: RolloverConditions,
        copy_alias: bool,
    },
    Delete,
    ForceMerge {
        segments_max: usize,
    },
    Open,
    Close,
    /// Settings of the index, by which several actions are told apart from others by name only.
    Settings {
        name: &'static str,
        settings: FlatSettings,
    },
    Alias {
        changes: Vec<AliasChange>,
    },
    Snapshot {
        repository: String,
        snapshot: String,
    },
    Shrink(Shrink),
}

/// A change of the index's aliases.
#[derive(Debug, PartialEq)]
pub(super) enum AliasChange {
    Add { name: String, alias: Box<Alias> },
    Remove { pattern: String },
}

impl Action {
    /// Reads the action of a name.
    pub(super) fn parse(name: &str, value: &Value) -> Result<Self, ApiError> {
        match name {
            "rollover" => read_rollover(value),
            "delete" => empty(name, value).map(|()| Action::Delete),
            "open" => empty(name, value).map(|()| Action::Open),
            "close" => empty(name, value).map(|()| Action::Close),
            "read_only" => empty(name, value).map(|()| blocking_writes("read_only", "true")),
            "read_write" => empty(name, value).map(|()| blocking_writes("read_write", "false")),
            "force_merge" => {
                let segments = only(name, value, "max_num_segments", SEGMENTS_MAX)?.max(1);
                let segments_max = usize::try_from(segments).unwrap_or(usize::MAX);
                Ok(Action::ForceMerge { segments_max })
            }
            "replica_count" => {
                let count = only(name, value, "number_of_replicas", REPLICAS_MAX)?;
                Ok(one_setting(
                    "replica_count",
                    "index.number_of_replicas",
                    count,
                ))
            }
            "index_priority" => {
                let priority = only(name, value, "priority", PRIORITY_MAX)?;
                Ok(one_setting("index_priority", "index.priority", priority))
            }
            "allocation" => read_allocation(value),
            "alias" => read_aliases(value),
            "snapshot" => read_snapshot(value),
            "shrink" => Ok(Action::Shrink(Shrink::parse(value)?)),
            "rollup" | "notification" | "convert_index_to_remote" | "custom" => Err(
                ApiError::illegal_argument(format!("action [{name}] is not supported")),
            ),
            other => Err(unknown_field(other, "Action")),
        }
    }

    /// Its name among actions.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Action::Rollover { .. } => "rollover",
            Action::Delete => "delete",
            Action::ForceMerge { .. } => "force_merge",
            Action::Open => "open",
            Action::Close => "close",
            Action::Settings { name, .. } => name,
            Action::Alias { .. } => "alias",
            Action::Snapshot { .. } => "snapshot",
            Action::Shrink(_) => "shrink",
        }
    }

    /// The name of its step.
    pub(super) fn step(&self) -> String {
        match self {
            Action::ForceMerge { .. } => "attempt_call_force_merge".to_string(),
            Action::Settings {
                name: name @ ("read_only" | "read_write"),
                ..
            } => format!("set_{name}"),
            Action::Settings {
                name: name @ ("replica_count" | "index_priority"),
                ..
            } => format!("attempt_set_{name}"),
            other => format!("attempt_{}", other.name()),
        }
    }
}

fn blocking_writes(name: &'static str, value: &str) -> Action {
    let setting = "index.blocks.write".to_string();
    let settings = FlatSettings::from([(setting, Some(value.to_string()))]);
    Action::Settings { name, settings }
}

fn one_setting(name: &'static str, setting: &str, value: u64) -> Action {
    let settings = FlatSettings::from([(setting.to_string(), Some(value.to_string()))]);
    Action::Settings { name, settings }
}

/// An action without parameters.
fn empty(name: &str, value: &Value) -> Result<(), ApiError> {
    match members(value, name)?.keys().next() {
        None => Ok(()),
        Some(other) => Err(unknown_field(other, name)),
    }
}

/// The one number that an action must have.
fn only(action: &str, value: &Value, name: &str, max: u64) -> Result<u64, ApiError> {
    let mut number = None;
    for (key, value) in members(value, action)? {
        if key != name {
            return Err(unknown_field(key, action));
        }
        number = Some(read_count(key, value)?);
    }
    let number = number.ok_or_else(|| ApiError::illegal_argument(format!("{name} is null")))?;
    if number > max {
        let reason = format!("[{name}] of [{action}] must be at most [{max}]");
        return Err(ApiError::illegal_argument(reason));
    }
    Ok(number)
}

fn flag(name: &str, value: &Value) -> Result<bool, ApiError> {
    value
        .as_bool()
        .ok_or_else(|| ApiError::illegal_argument(format!("[{name}] must be a boolean")))
}

fn read_rollover(value: &Value) -> Result<Action, ApiError> {
    let (mut conditions, mut copy_alias) = (RolloverConditions::default(), false);
    for (key, value) in members(value, "rollover")? {
        match key.as_str() {
            "copy_alias" => copy_alias = flag(key, value)?,
            _ if conditions.read(key, value)? => {}
            other => return Err(unknown_field(other, "RolloverAction")),
        }
    }
    Ok(Action::Rollover {
        conditions,
        copy_alias,
    })
}

/// Where shards may lie. There is one node, so that the settings are all there is to it.
fn read_allocation(value: &Value) -> Result<Action, ApiError> {
    let mut settings = FlatSettings::new();
    for (key, value) in members(value, "allocation")? {
        match key.as_str() {
            "require" | "include" | "exclude" => {
                for (attribute, value) in members(value, key)? {
                    let text = value.as_str().ok_or_else(|| {
                        ApiError::illegal_argument(format!("[{key}.{attribute}] must be a text"))
                    })?;
                    let name = format!("index.routing.allocation.{key}.{attribute}");
                    settings.insert(name, Some(text.to_string()));
                }
            }
            "wait_for" => drop(flag(key, value)?),
            other => return Err(unknown_field(other, "AllocationAction")),
        }
    }
    if settings.is_empty() {
        return Err(ApiError::illegal_argument(
            "At least one allocation parameter need to be specified.",
        ));
    }
    Ok(Action::Settings {
        name: "allocation",
        settings,
    })
}

fn read_aliases(value: &Value) -> Result<Action, ApiError> {
    let members = members(value, "alias")?;
    if let Some(other) = members.keys().find(|key| *key != "actions") {
        return Err(unknown_field(other, "AliasAction"));
    }
    let mut changes = Vec::new();
    for action in items(members, "actions")? {
        read_alias_change(action, &mut changes)?;
    }
    if changes.is_empty() || changes.len() > ALIAS_CHANGES_MAX {
        return Err(ApiError::illegal_argument(format!(
            "At least one alias action needs to be specified, and at most {ALIAS_CHANGES_MAX}"
        )));
    }
    Ok(Action::Alias { changes })
}

fn read_alias_change(action: &Value, changes: &mut Vec<AliasChange>) -> Result<(), ApiError> {
    for (verb, body) in members(action, "alias action")? {
        if verb != "add" && verb != "remove" {
            return Err(ApiError::illegal_argument(
                "Only ADD and REMOVE actions are allowed.",
            ));
        }
        let (mut names, mut alias) = (Vec::new(), AliasBody::default());
        for (key, value) in members(body, verb)? {
            match key.as_str() {
                "index" | "indices" => {
                    return Err(ApiError::illegal_argument(
                        "Alias action can only work on its applied index so don't accept \
                         index/indices parameter.",
                    ));
                }
                "alias" | "aliases" => {
                    let given = read_names(value).ok_or_else(|| {
                        ApiError::illegal_argument(format!("[{key}] must be a name or names"))
                    })?;
                    names.extend(given);
                }
                "must_exist" if verb == "remove" => drop(flag(key, value)?),
                _ if verb == "add" && alias.read(key, value)? => {}
                other => return Err(unknown_field(other, verb)),
            }
        }
        if names.is_empty() {
            return Err(ApiError::illegal_argument(
                "One of [alias] or [aliases] is required",
            ));
        }
        for name in names {
            changes.push(match verb.as_str() {
                "add" => AliasChange::Add {
                    alias: Box::new(alias.clone().finish(&name)?),
                    name,
                },
                _ => AliasChange::Remove { pattern: name },
            });
        }
    }
    Ok(())
}

fn read_snapshot(value: &Value) -> Result<Action, ApiError> {
    let members = members(value, "snapshot")?;
    let known = ["repository", "snapshot"];
    if let Some(other) = members.keys().find(|key| !known.contains(&key.as_str())) {
        return Err(unknown_field(other, "SnapshotAction"));
    }
    Ok(Action::Snapshot {
        repository: required_text(members, "repository")?,
        snapshot: required_text(members, "snapshot")?,
    })
}
