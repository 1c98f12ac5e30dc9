//! Steps that take a text apart.

use super::read::slot;
use super::step::{Step, Work};
use crate::error::DefinitionError;
use crate::event::{Event, Reason, Slot, Value};
use crate::pipeline::Flow;
use crate::steps;
use crate::text::{self, KeyKind, Span};

/// The text of a field; none means that there is nothing to do.
pub(super) fn line_of(
    event: &mut Event,
    field: Slot,
    ignore_missing: bool,
) -> Result<Option<Span>, Reason> {
    match event.text(field) {
        None if !ignore_missing => Err(Reason::Missing),
        text => Ok(text),
    }
}

/// `dissect`.
#[derive(Debug)]
struct Dissect {
    field: Slot,
    ignore_missing: bool,
    pattern: text::Dissect,
    /// Where values go that are parts of the line.
    plain: Vec<(usize, Slot)>,
    /// Where values go that are put behind each other, and the values' places.
    appended: Vec<(Slot, Vec<usize>)>,
    appended_with: String,
    /// The places of names, and of the values that they name.
    named: Vec<(usize, usize)>,
}

pub(super) fn dissect(
    event: &mut Event,
    step: steps::dissect::Dissect,
) -> Result<Box<dyn Step>, DefinitionError> {
    let (mut plain, mut named) = (Vec::new(), Vec::new());
    let keys = step.pattern.keys();
    for (at, key) in keys.iter().enumerate() {
        match key.kind {
            KeyKind::Value if !step.pattern.appends(&key.name) => {
                plain.push((at, slot(event, &key.name)?));
            }
            KeyKind::Name => {
                let is_of_it =
                    |other: &text::Key| other.kind == KeyKind::Reference && other.name == key.name;
                named.extend(keys.iter().position(is_of_it).map(|of_it| (at, of_it)));
            }
            _ => {}
        }
    }
    let mut appended: Vec<(Slot, Vec<usize>)> = Vec::new();
    for at in step.pattern.appended() {
        let slot = slot(event, &keys[at].name)?;
        match appended.iter_mut().find(|(known, _)| *known == slot) {
            Some((_, places)) => places.push(at),
            None => appended.push((slot, vec![at])),
        }
    }
    Ok(Box::new(Dissect {
        field: slot(event, &step.field)?,
        ignore_missing: step.ignore_missing,
        plain,
        appended,
        appended_with: step.appended_with,
        named,
        pattern: step.pattern,
    }))
}

impl Step for Dissect {
    fn apply(&mut self, event: &mut Event, work: &mut Work) -> Result<Flow, Reason> {
        let Some(line) = line_of(event, self.field, self.ignore_missing)? else {
            return Ok(Flow::On);
        };
        let found = &mut work.found;
        if !self.pattern.cut(event.at(line), found) {
            return Err(Reason::NoMatch);
        }
        let place = |at: usize| found[at].after(line.start());
        for (at, slot) in &self.plain {
            event.put(*slot, Value::Text(place(*at)))?;
        }
        for (slot, places) in &self.appended {
            let joined = event.own(|out| {
                for (number, at) in places.iter().enumerate() {
                    if number > 0 {
                        out.push_str(&self.appended_with);
                    }
                    out.extend_from_within(place(*at).range());
                }
            });
            event.put(*slot, Value::Text(joined))?;
        }
        for (name, value) in &self.named {
            let slot = event.slot_at(place(*name))?;
            event.put(slot, Value::Text(place(*value)))?;
        }
        Ok(Flow::On)
    }
}
