//! `json`: a text that is JSON as a field, or its members as fields of the event.

use serde_json::{Map, Value as Json};

use super::read::slot;
use super::stamps::{Stamps, Written};
use super::step::{Step, Work};
use crate::error::DefinitionError;
use crate::event::{Event, Present, Reason, Slot, Value};
use crate::members::flag;
use crate::pipeline::Flow;
use crate::steps;

/// What becomes of a field that is there when JSON has a member of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Conflict {
    /// The member takes its place.
    Overwrite,
    /// The same, but an object that meets an object gets its members.
    Merge,
    /// It stays; an object gets the members that it lacks.
    Keep,
}

impl Conflict {
    /// Reads `overwrite`, which only lines have: a truth, or `merge`.
    pub(super) fn take(config: &mut Map<String, Json>) -> Result<Self, DefinitionError> {
        if config.get("overwrite").and_then(Json::as_str) == Some("merge") {
            config.remove("overwrite");
            return Ok(Conflict::Merge);
        }
        Ok(match flag(config, "overwrite", true)? {
            true => Conflict::Overwrite,
            false => Conflict::Keep,
        })
    }
}

/// What of JSON a step takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// Any value.
    Values,
    /// Objects alone: others are as what is no JSON.
    Objects,
}

impl Taken {
    /// Reads `objects_only`, which only lines have.
    pub(super) fn take(config: &mut Map<String, Json>) -> Result<Self, DefinitionError> {
        Ok(match flag(config, "objects_only", false)? {
            true => Taken::Objects,
            false => Taken::Values,
        })
    }
}

/// The step.
#[derive(Debug)]
struct JsonStep {
    field: Slot,
    /// None is the event itself.
    target: Option<Slot>,
    conflict: Conflict,
    taken: Taken,
    timestamp: Slot,
    stamps: Stamps,
}

pub(super) fn json(
    event: &mut Event,
    step: &steps::json::Json,
    conflict: Conflict,
    taken: Taken,
) -> Result<Box<dyn Step>, DefinitionError> {
    let target = match &step.target {
        Some(target) => Some(slot(event, target)?),
        None => None,
    };
    Ok(Box::new(JsonStep {
        field: slot(event, &step.field)?,
        target,
        conflict,
        taken,
        timestamp: slot(event, "@timestamp")?,
        stamps: Stamps::new()?,
    }))
}

impl Step for JsonStep {
    fn apply(&mut self, event: &mut Event, _: &mut Work) -> Result<Flow, Reason> {
        let text = event.text(self.field).ok_or(Reason::Missing)?;
        if self.taken == Taken::Objects && !event.at(text).trim_start().starts_with('{') {
            return Err(Reason::NotJson);
        }
        match (self.target, self.conflict) {
            (None, Conflict::Keep) => event.add_members(None, text, Present::Stays)?,
            (None, Conflict::Overwrite | Conflict::Merge) => {
                let own = event.get(self.timestamp);
                if self.conflict == Conflict::Merge {
                    event.add_members(None, text, Present::GivesWay)?;
                } else {
                    event.put_members(None, text)?;
                }
                let time = self.checked(event, own);
                event.put(self.timestamp, time)?;
            }
            (Some(target), Conflict::Keep) if event.has(target) => {
                event.add_members(Some(target), text, Present::Stays)?;
            }
            (Some(target), Conflict::Merge) if event.has(target) => {
                event.add_members(Some(target), text, Present::GivesWay)?;
            }
            (Some(target), _) => {
                let json = event.checked_json(text)?;
                event.put(target, json)?;
            }
        }
        Ok(Flow::On)
    }
}

impl JsonStep {
    /// The time of an event whose own gave way to a member of JSON: that, or the own where the member is no time.
    fn checked(&mut self, event: &mut Event, own: Value) -> Value {
        let found = event.get(self.timestamp);
        if found == own {
            return own;
        }
        let Some(text) = event.text(self.timestamp) else {
            return own;
        };
        match self.stamps.read(event.at(text)) {
            Some(Written::AsServersRead(_)) => found,
            Some(Written::Otherwise(ms)) => Value::Time(ms),
            None => own,
        }
    }
}
