//! Pipelines for lines: the same steps as those of documents, compiled once into a plan that works on an [`Event`] in memory
//! that is used again, so that a line costs what its parsing costs.
//!
//! ```
//! use clew_ingest::{Flow, Plan, Value};
//! use serde_json::json;
//!
//! let mut plan = Plan::default();
//! let message = plan.slot("message")?;
//! plan.add(&json!({"dissect": {"field": "message", "pattern": "%{level} %{text}"}}))?;
//! plan.add(&json!({"lowercase": {"field": "level"}}))?;
//! plan.add(&json!({"remove": {"field": "message"}}))?;
//!
//! let line = plan.event.begin("WARN disk is nearly full")?;
//! plan.event.put(message, Value::Text(line))?;
//! assert_eq!(plan.run(0), Ok(Flow::On));
//! let mut out = Vec::new();
//! plan.event.write(&mut out);
//! assert_eq!(out, br#"{"level":"warn","text":"disk is nearly full"}"#);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A step that fails ends the run for this line, unless it is told to be ignored or handled; whoever runs the plan keeps
//! the line. Failures are counted by step and reason, and some lines kept to look at.
//!
//! Steps that have no plan of their own work on a document made of the event, as pipelines do: they take some microseconds
//! and allocate.

mod condition;
mod cut;
mod date;
mod document;
mod failures;
mod fields;
mod formats;
mod grok;
mod items;
mod json;
mod limits;
mod lookup;
mod network;
mod pairs;
mod pattern;
mod read;
mod redact;
mod regex;
mod reshaped;
mod spelling;
mod stamps;
mod step;
#[cfg_attr(not(feature = "vrl"), path = "without_vrl.rs")]
mod vrl;
mod xml;

pub use failures::{FailedLine, FailureCount};
pub use formats::{FormatReader, Formats, FoundInText};
pub use read::step_names;

use serde_json::Value as Json;

use crate::error::DefinitionError;
use crate::event::{Event, Reason, Slot, Value};
use crate::patterns::{KeptPattern, Patterns};
use crate::pipeline::Flow;

use condition::Condition;
use failures::Failures;
use stamps::{Stamps, Written, only_item};
use step::{Guarded, Work};

/// A compiled pipeline and the event that it works on.
#[derive(Debug, Default)]
pub struct Plan {
    /// The event; between [`Event::begin`] and [`Event::write`] it is the present line's.
    pub event: Event,
    steps: Vec<Guarded>,
    conditions: Vec<Condition>,
    work: Work,
    failures: Failures,
    /// What the last step that failed said of it.
    said: String,
    /// The formats that steps may name.
    formats: Option<&'static dyn Formats>,
    /// Made by the first event whose time is not the collector's own.
    stamps: Option<Stamps>,
}

impl Plan {
    /// An empty plan whose steps `parse` know these formats.
    pub fn with_formats(formats: &'static dyn Formats) -> Self {
        Plan {
            formats: Some(formats),
            ..Plan::default()
        }
    }

    /// The slot of a field that whoever runs the plan sets or reads.
    ///
    /// # Errors
    /// When there are too many names.
    pub fn slot(&mut self, path: &str) -> Result<Slot, DefinitionError> {
        read::slot(&mut self.event, path)
    }

    /// Adds a step: `{name: {parameters}}`.
    ///
    /// # Errors
    /// What is wrong with the definition.
    pub fn add(&mut self, definition: &Json) -> Result<(), DefinitionError> {
        let step = read::Reader::new(&mut self.event, self.formats).one(definition)?;
        self.steps.push(step);
        Ok(())
    }

    /// Adds a condition that whoever runs the plan asks for afterwards; the first one has the number 0.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn add_condition(&mut self, written: &Json) -> Result<(), DefinitionError> {
        let condition = Condition::parse(&mut self.event, written)?;
        self.conditions.push(condition);
        Ok(())
    }

    /// Whether a condition holds for the event as it is now. None has an unknown number.
    pub fn holds(&mut self, number: usize) -> bool {
        let condition = self.conditions.get(number);
        condition.is_some_and(|condition| condition.holds(&mut self.event))
    }

    /// Whether it has no steps.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The number of steps.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Runs all steps over the event, at a time in milliseconds since the epoch.
    ///
    /// # Errors
    /// Why a step failed; what the steps before it did is done, and the line still there.
    pub fn run(&mut self, now_ms: i64) -> Result<Flow, Reason> {
        self.run_some(0..self.steps.len(), now_ms)
    }

    /// Runs some of the steps, for whoever looks at what each makes of a line.
    ///
    /// # Errors
    /// As [`Plan::run`].
    pub fn run_some(&mut self, steps: std::ops::Range<usize>, now_ms: i64) -> Result<Flow, Reason> {
        self.work.now_ms = now_ms;
        let steps = self.steps.get_mut(steps).unwrap_or_default();
        let done = step::run(steps, &mut self.event, &mut self.work);
        if let Some(failed) = self.work.failed.take() {
            self.failures.sample(&failed, self.event.line_alone());
            self.said = failed.said;
        }
        done
    }

    /// Sees to it that a field is a time as servers read it, since they refuse an event otherwise: one that is written in
    /// another way is written anew, and what is no time gives way to `own_ms`. Returns the time, in milliseconds since the
    /// epoch, if the field is there, and whether it was one.
    pub fn settle_time(&mut self, field: Slot, own_ms: i64) -> (Option<i64>, bool) {
        match self.event.get(field) {
            Value::Time(ms) => return (Some(ms), true),
            Value::Missing if !self.event.has(field) => return (None, true),
            _ => {}
        }
        if self.stamps.is_none() {
            self.stamps = Stamps::new().ok();
        }
        let is_json = matches!(self.event.get(field), Value::Json(_));
        let text = self.event.text(field);
        let read = self.stamps.as_mut().zip(text);
        let read = read.and_then(|(stamps, text)| {
            let text = self.event.at(text);
            let whole = stamps.read(text);
            whole.or_else(|| stamps.read(&only_item(text).filter(|_| is_json)?))
        });
        let (ms, is_time) = match read {
            Some(Written::AsServersRead(ms)) => return (Some(ms), true),
            Some(Written::Otherwise(ms)) => (ms, true),
            None => (own_ms, false),
        };
        // Nothing is around a field of the root.
        let _ = self.event.put(field, Value::Time(ms));
        (Some(ms), is_time)
    }

    /// The name of a step, and its tag.
    pub fn step_name(&self, number: usize) -> Option<(&'static str, Option<&str>)> {
        let step = self.steps.get(number)?;
        Some((step.name, step.tag.as_deref()))
    }

    /// What the last step that failed said of it; nothing where the reason says all.
    pub fn said(&self) -> &str {
        &self.said
    }

    /// Patterns of lines that its steps have found.
    pub fn patterns(&mut self) -> usize {
        self.pattern_steps().map(|patterns| patterns.len()).sum()
    }

    /// How often a pattern came or changed: as long as it stays the same, [`Plan::kept_patterns`] does, too.
    pub fn pattern_changes(&mut self) -> u64 {
        self.pattern_steps()
            .map(|patterns| patterns.changes())
            .sum()
    }

    /// The patterns of each step that finds some, for [`Plan::restore_patterns`] of a later run.
    pub fn kept_patterns(&mut self) -> Vec<Vec<KeptPattern>> {
        self.pattern_steps()
            .map(|patterns| patterns.kept())
            .collect()
    }

    /// Puts back what steps have found in an earlier run, in their order, before any line has come.
    pub fn restore_patterns(&mut self, kept: Vec<Vec<KeptPattern>>) {
        for (patterns, kept) in self.pattern_steps().zip(kept) {
            patterns.restore(kept);
        }
    }

    fn pattern_steps(&mut self) -> impl Iterator<Item = &mut Patterns> {
        self.steps
            .iter_mut()
            .filter_map(|step| step.what.patterns())
    }

    /// How often steps have failed, by step and reason, those inside others included.
    pub fn failures(&self) -> Vec<FailureCount> {
        let mut counts = Vec::new();
        step::counted(&self.steps, &mut counts);
        counts
    }

    /// Some of the lines that failed.
    pub fn failed_lines(&self) -> &[FailedLine] {
        self.failures.lines()
    }
}

#[cfg(test)]
mod tests;
