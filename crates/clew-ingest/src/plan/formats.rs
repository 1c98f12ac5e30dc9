//! `parse`: a text of a known format, whose parts become the fields that the format's parser gives them. Which formats there
//! are is for whoever runs the plan to say; here is the step that asks for one.

use std::fmt::Debug;

use clew_schema::parse_zone;
use jiff::tz::TimeZone;
use serde_json::{Map, Value as Json};

use super::cut::line_of;
use super::read::slot;
use super::step::{Step, Work};
use crate::error::DefinitionError;
use crate::event::{Event, Reason, Slot, Value};
use crate::members::{flag, optional, text};
use crate::pipeline::Flow;
use crate::text::Times;

/// The formats that the step `parse` may name.
pub trait Formats: Debug + Sync {
    /// What reads texts of a format.
    ///
    /// # Errors
    /// That there is none of this name, in words that name those there are.
    fn reader(&self, name: &str) -> Result<Box<dyn FormatReader>, String>;
}

/// Takes texts of one format apart.
pub trait FormatReader: Debug + Send {
    /// What is in a text; nothing where it is not of the format. `times` know the zone of times that say none, and the newest
    /// that a time without a year can be.
    fn read(&mut self, text: &str, times: &mut Times) -> Option<FoundInText<'_>>;
}

/// What was found in a text. Members are the inside of an object of JSON, or empty.
#[derive(Clone, Copy, Debug, Default)]
pub struct FoundInText<'r> {
    /// When it happened, in milliseconds since the epoch, if the text says that.
    pub time_ms: Option<i64>,
    /// What takes the text's place, if the format wraps another one.
    pub text: Option<&'r str>,
    /// Members of `event`.
    pub event: &'r str,
    /// Members of `log`.
    pub log: &'r str,
    /// Members of the event itself.
    pub root: &'r str,
}

/// The step.
#[derive(Debug)]
struct Parse {
    field: Slot,
    ignore_missing: bool,
    reader: Box<dyn FormatReader>,
    times: Times,
    timestamp: Slot,
    event: Slot,
    log: Slot,
}

pub(super) fn read_parse(
    event: &mut Event,
    formats: Option<&dyn Formats>,
    config: &mut Map<String, Json>,
) -> Result<Box<dyn Step>, DefinitionError> {
    let formats = formats.ok_or_else(|| {
        DefinitionError::unsupported("processor [parse] is for those who know formats of lines")
    })?;
    let reader = formats.reader(&text(config, "format")?);
    let zone = match optional(config, "timezone")? {
        None => TimeZone::system(),
        zone => parse_zone(zone.as_deref())
            .map_err(|error| DefinitionError::refused("timezone", error))?,
    };
    let field = optional(config, "field")?;
    Ok(Box::new(Parse {
        field: slot(event, field.as_deref().unwrap_or("message"))?,
        ignore_missing: flag(config, "ignore_missing", false)?,
        reader: reader.map_err(|reason| DefinitionError::refused("format", reason))?,
        times: Times::new(zone),
        timestamp: slot(event, "@timestamp")?,
        event: slot(event, "event")?,
        log: slot(event, "log")?,
    }))
}

impl Step for Parse {
    fn apply(&mut self, event: &mut Event, work: &mut Work) -> Result<Flow, Reason> {
        let Some(text) = line_of(event, self.field, self.ignore_missing)? else {
            return Ok(Flow::On);
        };
        (self.times.now_ms, self.times.newest_ms) = (work.now_ms, work.now_ms);
        let found = self.reader.read(event.at(text), &mut self.times);
        let found = found.ok_or(Reason::NoMatch)?;
        for (object, members) in [
            (Some(self.event), found.event),
            (Some(self.log), found.log),
            (None, found.root),
        ] {
            if !members.is_empty() {
                event.put_object(object, members)?;
            }
        }
        if let Some(ms) = found.time_ms {
            event.put(self.timestamp, Value::Time(ms))?;
        }
        if let Some(text) = found.text {
            event.put_text(self.field, text)?;
        }
        Ok(Flow::On)
    }
}
