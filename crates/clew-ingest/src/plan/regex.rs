//! `regex`: named groups of an expression as fields.

use clew_analysis::{JavaPattern, Places};
use serde_json::{Map, Value as Json};

use super::cut::line_of;
use super::read::slot;
use super::step::{Step, Work};
use crate::error::DefinitionError;
use crate::event::{Event, Reason, Slot, Value};
use crate::members::{flag, pattern, text};
use crate::pipeline::Flow;
use crate::text::Span;

#[derive(Debug)]
struct Groups {
    field: Slot,
    ignore_missing: bool,
    pattern: JavaPattern,
    places: Places,
    /// Groups that have names, and their fields.
    named: Vec<(usize, Slot)>,
}

pub(super) fn read_regex(
    event: &mut Event,
    config: &mut Map<String, Json>,
) -> Result<Box<dyn Step>, DefinitionError> {
    let pattern = pattern(config, "pattern")?;
    let mut named = Vec::new();
    for (group, name) in pattern.group_names().enumerate() {
        if let Some(name) = name {
            named.push((group, slot(event, name)?));
        }
    }
    if named.is_empty() {
        let reason = "has no named group, (?<name>...)";
        return Err(DefinitionError::refused("pattern", reason));
    }
    Ok(Box::new(Groups {
        field: slot(event, &text(config, "field")?)?,
        ignore_missing: flag(config, "ignore_missing", false)?,
        places: pattern.places(),
        pattern,
        named,
    }))
}

impl Step for Groups {
    fn apply(&mut self, event: &mut Event, _: &mut Work) -> Result<Flow, Reason> {
        let Some(line) = line_of(event, self.field, self.ignore_missing)? else {
            return Ok(Flow::On);
        };
        let found = self.pattern.read(event.at(line), &mut self.places);
        if !found.map_err(|_| Reason::TooLong)? {
            return Err(Reason::NoMatch);
        }
        for (group, slot) in &self.named {
            if let Some(found) = self.places.get(*group) {
                let span = Span::new(found.start, found.end).after(line.start());
                event.put(*slot, Value::Text(span))?;
            }
        }
        Ok(Flow::On)
    }
}
