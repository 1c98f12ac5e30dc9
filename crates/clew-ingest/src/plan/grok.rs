//! `grok`: the first of some expressions that a text matches, its captures as fields.

use super::cut::line_of;
use super::read::slot;
use super::step::{Step, Work};
use crate::error::DefinitionError;
use crate::event::{Event, Reason, Slot, Value};
use crate::pipeline::Flow;
use crate::steps::convert::Typed;
use crate::steps::grok::{Grok, Matching};
use crate::text::Span;

#[derive(Debug)]
struct GrokStep {
    field: Slot,
    step: Grok,
    /// The fields of the captures of each expression.
    slots: Vec<Vec<Slot>>,
    /// Whether a capture that is empty sets its field.
    keeps_empty: bool,
    matching: Matching,
}

pub(super) fn grok(
    event: &mut Event,
    step: Grok,
    keeps_empty: bool,
) -> Result<Box<dyn Step>, DefinitionError> {
    let mut slots = Vec::new();
    for expression in &step.expressions {
        let captures = expression.captures.iter();
        let of_one = captures.map(|capture| slot(event, &capture.field));
        slots.push(of_one.collect::<Result<_, _>>()?);
    }
    Ok(Box::new(GrokStep {
        field: slot(event, &step.field)?,
        step,
        slots,
        keeps_empty,
        matching: Matching::default(),
    }))
}

impl Step for GrokStep {
    fn apply(&mut self, event: &mut Event, _: &mut Work) -> Result<Flow, Reason> {
        let Some(line) = line_of(event, self.field, self.step.ignore_missing)? else {
            return Ok(Flow::On);
        };
        let (text, matching) = (event.at(line), &mut self.matching);
        let found = self.step.first(text, matching);
        let found = found.map_err(|_| Reason::TooLong)?;
        let (at, expression) = found.ok_or(Reason::NoMatch)?;
        let slots = &self.slots[at];
        let keeps_empty = self.keeps_empty;
        let is_kept = |place: &Span| keeps_empty || !place.is_empty();
        for (number, capture) in expression.captures.iter().enumerate() {
            let Some(place) = matching.places[number].filter(is_kept) else {
                continue;
            };
            let place = place.after(line.start());
            let value = match capture.kind.read(event.at(place)) {
                Some(Typed::Text) => Value::Text(place),
                Some(Typed::Whole(number)) => Value::Int(number),
                Some(Typed::Float(number)) => Value::Float(number),
                Some(Typed::Bool(truth)) => Value::Bool(truth),
                None => return Err(Reason::NotConvertible),
            };
            // The first that was captured for a field, or all of them as a list.
            let slot = slots[number];
            let is_there = |before: usize| matching.places[before].is_some_and(|one| is_kept(&one));
            let was_captured = (0..number).any(|before| slots[before] == slot && is_there(before));
            match (was_captured, self.step.all) {
                (false, _) => event.put(slot, value)?,
                (true, true) => event.append(slot, value)?,
                (true, false) => {}
            }
        }
        Ok(Flow::On)
    }
}
