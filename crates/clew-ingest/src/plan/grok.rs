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
    /// Where the captures of each expression go.
    targets: Vec<Vec<Target>>,
    /// Whether a capture that is empty sets its field.
    keeps_empty: bool,
    matching: Matching,
}

/// Where a capture goes.
#[derive(Debug)]
struct Target {
    slot: Slot,
    /// The captures before it that go there, too.
    others: Vec<usize>,
}

pub(super) fn grok(
    event: &mut Event,
    step: Grok,
    keeps_empty: bool,
) -> Result<Box<dyn Step>, DefinitionError> {
    let mut targets = Vec::new();
    for expression in &step.expressions {
        let mut of_one: Vec<Target> = Vec::new();
        for capture in &expression.captures {
            let slot = slot(event, &capture.field)?;
            let before = of_one.iter().enumerate();
            let others = before.filter(|(_, target)| target.slot == slot);
            let others = others.map(|(number, _)| number).collect();
            of_one.push(Target { slot, others });
        }
        targets.push(of_one);
    }
    Ok(Box::new(GrokStep {
        field: slot(event, &step.field)?,
        step,
        targets,
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
        let targets = &self.targets[at];
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
            let Target { slot, others } = &targets[number];
            let is_there = |other: &usize| matching.places[*other].is_some_and(|one| is_kept(&one));
            match (others.iter().any(is_there), self.step.all) {
                (false, _) => event.put(*slot, value)?,
                (true, true) => event.append(*slot, value)?,
                (true, false) => {}
            }
        }
        Ok(Flow::On)
    }
}
