//! `json`: a text that is JSON as a field, or its members as fields of the event.

use jiff::tz::TimeZone;
use serde_json::{Map, Value as Json};

use super::read::slot;
use super::step::{Step, Work};
use crate::error::DefinitionError;
use crate::event::{Event, Present, Reason, Slot, Value};
use crate::members::flag;
use crate::pipeline::Flow;
use crate::steps;
use crate::steps::dates::{EPOCH_YEAR, Readings};
use crate::text::{Moment, Times};

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

/// The step.
#[derive(Debug)]
struct JsonStep {
    field: Slot,
    /// None is the event itself.
    target: Option<Slot>,
    conflict: Conflict,
    timestamp: Slot,
    stamps: Stamps,
}

pub(super) fn json(
    event: &mut Event,
    step: &steps::json::Json,
    conflict: Conflict,
) -> Result<Box<dyn Step>, DefinitionError> {
    let target = match &step.target {
        Some(target) => Some(slot(event, target)?),
        None => None,
    };
    Ok(Box::new(JsonStep {
        field: slot(event, &step.field)?,
        target,
        conflict,
        timestamp: slot(event, "@timestamp")?,
        stamps: Stamps::new()?,
    }))
}

impl Step for JsonStep {
    fn apply(&mut self, event: &mut Event, _: &mut Work) -> Result<Flow, Reason> {
        let text = event.text(self.field).ok_or(Reason::Missing)?;
        match (self.target, self.conflict) {
            (None, Conflict::Keep) => event.add_members(None, text, Present::Stays)?,
            (None, Conflict::Overwrite | Conflict::Merge) => {
                let own = event.get(self.timestamp);
                if self.conflict == Conflict::Merge {
                    event.add_members(None, text, Present::GivesWay)?;
                } else {
                    event.put_members(None, text)?;
                }
                let time = self.stamps.checked(event, self.timestamp, own);
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

/// What tells whether a member `@timestamp` is a time: a server refuses an event for one that is none.
#[derive(Debug)]
struct Stamps {
    /// How nearly all are written.
    usual: [Moment; 2],
    times: Times,
    /// What servers take for times.
    known: Readings,
    /// What they do not take, and is a time.
    other: Readings,
}

impl Stamps {
    fn new() -> Result<Self, DefinitionError> {
        let usual = |format| {
            Moment::compile(format).ok_or_else(|| DefinitionError::malformed("a known format"))
        };
        let read = |format: &str| Readings::parse(&[format.to_owned()], None, None);
        Ok(Stamps {
            usual: [
                usual("yyyy-MM-dd'T'HH:mm:ss.SSSXXX")?,
                usual("yyyy-MM-dd'T'HH:mm:ssXXX")?,
            ],
            times: Times::new(TimeZone::UTC),
            known: read("strict_date_optional_time||epoch_millis")?,
            other: read("ISO8601")?,
        })
    }

    /// The time of an event whose own gave way to a member of JSON: that, or the own where the member is no time.
    fn checked(&mut self, event: &mut Event, timestamp: Slot, own: Value) -> Value {
        let found = event.get(timestamp);
        if found == own {
            return own;
        }
        let Some(text) = event.text(timestamp) else {
            return own;
        };
        let (text, times) = (event.at(text), &mut self.times);
        let is_usual = self.usual.iter().any(|one| one.read(text, times).is_some());
        if is_usual || self.known.read(text, EPOCH_YEAR).is_ok() {
            return found;
        }
        self.other.read(text, EPOCH_YEAR).map_or(own, Value::Time)
    }
}
