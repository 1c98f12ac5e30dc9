//! What `_aliases` is asked for: actions, each under the name of what it does. All are read before the first is looked at.

use serde_json::Value;

use super::body::AliasBody;
use crate::dsl::{DslError, Field};
use crate::http::error::ApiError;
use crate::http::place::Spot;

/// What an action is about.
#[derive(Default)]
pub(super) struct Target {
    pub(super) indices: Vec<String>,
    pub(super) aliases: Vec<String>,
}

/// What an action does.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    Add,
    Remove,
    RemoveIndex,
}

/// An action as it was asked for.
pub(super) struct Action {
    pub(super) verb: Verb,
    pub(super) target: Target,
    pub(super) alias: AliasBody,
    pub(super) must_exist: Option<bool>,
}

/// Members of all actions.
const TARGET: &[&str] = &["index", "indices", "alias", "aliases"];

/// Reads the actions of a body.
///
/// # Errors
/// What is no action, in OpenSearch's words; it names values of this body.
pub(super) fn read(body: &Value) -> Result<Vec<Action>, ApiError> {
    let mut actions = Vec::new();
    for field in Field::all("aliases", body)? {
        if field.name != "actions" {
            return Err(field.unknown(&["actions"]).into());
        }
        let within = |error: ApiError| error.in_field("aliases", "actions");
        let items = field.value.as_array().ok_or_else(|| field.other_sort())?;
        for item in items {
            actions.push(Action::read(item).map_err(within)?);
        }
        // What an action lacks is told when all are read.
        for action in &actions {
            let checked = action.check();
            checked.map_err(|error| within(error.at(Spot::end_of(field.value)).into()))?;
        }
    }
    Ok(actions)
}

impl Action {
    fn read(value: &Value) -> Result<Self, ApiError> {
        let mut found = None;
        for field in Field::all("alias_action", value)? {
            let (verb, told) = match field.name {
                "add" => (Verb::Add, "add"),
                "remove" => (Verb::Remove, "remove"),
                "remove_index" => (Verb::RemoveIndex, "remove_index"),
                _ => return Err(field.unknown(&["add", "remove", "remove_index"]).into()),
            };
            if found.is_some() {
                let reason = "Too many operations declared on operation entry";
                return Err(DslError::illegal(reason).not_built("alias_action").into());
            }
            let mut action = Action {
                verb,
                target: Target::default(),
                alias: AliasBody::default(),
                must_exist: None,
            };
            for member in Field::all(told, field.object()?)? {
                let read = action.read_member(member);
                read.map_err(|error| error.in_field("alias_action", told))?;
            }
            found = Some(action);
        }
        found.ok_or_else(|| {
            let reason = "Too few operations declared on operation entry";
            DslError::illegal(reason).not_built("alias_action").into()
        })
    }

    fn read_member(&mut self, field: Field<'_>) -> Result<(), ApiError> {
        match (self.verb, field.name) {
            (Verb::RemoveIndex, "alias" | "aliases") => Err(field.unknown(TARGET).into()),
            (Verb::Remove, "must_exist") if field.value.is_null() => Ok(()),
            (Verb::Remove, "must_exist") => {
                self.must_exist = Some(field.flag()?);
                Ok(())
            }
            _ if self.target.read(field)? => Ok(()),
            (Verb::Add, "filter") if field.value.is_string() => Err(field.other_sort().into()),
            (Verb::Add, name) if self.alias.read(name, field.value)? => Ok(()),
            _ => Err(field.unknown(TARGET).into()),
        }
    }

    /// Looks whether it says what it is about.
    fn check(&self) -> Result<(), DslError> {
        if self.target.indices.is_empty() {
            return Err(DslError::illegal("One of [index] or [indices] is required"));
        }
        if self.target.aliases.is_empty() && self.verb != Verb::RemoveIndex {
            return Err(DslError::illegal("One of [alias] or [aliases] is required"));
        }
        Ok(())
    }
}

impl Target {
    /// Reads a member; whether it is one of these.
    fn read(&mut self, field: Field<'_>) -> Result<bool, DslError> {
        let (names, both) = match field.name {
            "index" | "indices" => (&mut self.indices, "[index] and [indices]"),
            "alias" | "aliases" => (&mut self.aliases, "[alias] and [aliases]"),
            _ => return Ok(false),
        };
        let read = match field.name {
            "index" | "alias" => only(field)?,
            _ => list(field)?,
        };
        if !names.is_empty() {
            let spot = match field.value.is_array() {
                true => Spot::end_of(field.value),
                false => Spot::start_of(field.value),
            };
            let error = DslError::illegal(format!("Only one of {both} is supported"));
            return Err(field.wrong(error.at(spot)));
        }
        *names = read;
        Ok(true)
    }
}

/// The one name that a member says; null says none.
fn only(field: Field<'_>) -> Result<Vec<String>, DslError> {
    if field.value.is_null() {
        return Ok(Vec::new());
    }
    match field.text()? {
        "" => Err(empty_name(field)),
        name => Ok(vec![name.to_string()]),
    }
}

/// The names of a list, or the only one, which may stand by itself.
fn list(field: Field<'_>) -> Result<Vec<String>, DslError> {
    if field.value.is_string() {
        return only(field);
    }
    if !field.value.is_array() {
        return Err(field.other_sort());
    }
    let names = field.texts()?;
    if names.is_empty() {
        let reason = format!("[{}] can't be empty", field.name);
        return Err(field.wrong(DslError::illegal(reason)));
    }
    match names.iter().any(String::is_empty) {
        true => Err(empty_name(field)),
        false => Ok(names),
    }
}

/// An empty name is none, and above all does not mean every index.
fn empty_name(field: Field<'_>) -> DslError {
    let reason = format!("[{}] can't be empty string", field.name);
    field.wrong(DslError::illegal(reason))
}
