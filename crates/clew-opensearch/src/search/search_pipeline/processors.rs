//! Search pipelines as they are kept: which steps there are, and the way through them.

use clew_engine::Fusion;
use clew_ingest::members;
use serde_json::Value;

use super::Context;
use super::after::After;
use super::before::Before;
use super::figures::{Counts, StepName};
use super::fusion;
use super::step::{Step, malformed, read_list};
use super::told::Told;
use crate::http::error::ApiError;

/// Names of the steps that change a search.
pub(super) const BEFORE: &[&str] = &[
    "filter_query",
    "neural_sparse_two_phase_processor",
    "oversample",
    "script",
];
/// Names of the steps that change an answer.
pub(super) const AFTER: &[&str] = &[
    "collapse",
    "hybrid_score_explanation",
    "rename_field",
    "sort",
    "split",
    "truncate_hits",
];

/// A pipeline, understood.
#[derive(Debug)]
pub(super) struct Pipeline {
    before: Vec<Step<Before>>,
    phase: Vec<Step<Fusion>>,
    after: Vec<Step<After>>,
}

impl Pipeline {
    /// Reads a pipeline's definition.
    pub(super) fn parse(id: &str, body: &Value) -> Result<Self, ApiError> {
        let mut config = body.as_object().cloned().unwrap_or_default();
        members::optional(&mut config, "description")?;
        members::whole(&mut config, "version")?;
        let pipeline = Pipeline {
            before: read_list(&mut config, "request_processors", Before::read)?,
            phase: read_list(&mut config, "phase_results_processors", |name, config| {
                Ok(fusion::read(name, config)?)
            })?,
            after: read_list(&mut config, "response_processors", After::read)?,
        };
        if !config.is_empty() {
            let unknown: Vec<&str> = config.keys().map(String::as_str).collect();
            return Err(malformed(format!(
                "pipeline [{id}] doesn't support one or more provided configuration parameters \
                 [{}]",
                unknown.join(", ")
            )));
        }
        Ok(pipeline)
    }

    /// What its steps are told of as: those that change a search, and those that change an answer.
    pub(super) fn step_names(&self) -> (Vec<StepName>, Vec<StepName>) {
        let before = self.before.iter().map(Step::told_as).collect();
        (before, self.after.iter().map(Step::told_as).collect())
    }

    /// Has each step count what it does there.
    pub(super) fn count_by(&mut self, before: Vec<Counts>, after: Vec<Counts>) {
        for (step, counts) in self.before.iter_mut().zip(before) {
            step.counts = counts;
        }
        for (step, counts) in self.after.iter_mut().zip(after) {
            step.counts = counts;
        }
    }

    /// How the rankings of a `hybrid` query become one. What comes first leaves nothing to do.
    pub(super) fn fusion(&self) -> Option<&Fusion> {
        self.phase.first().map(|step| &step.what)
    }

    pub(super) fn changes_requests(&self) -> bool {
        !self.before.is_empty()
    }

    /// How many steps change a search.
    pub(super) fn steps_before(&self) -> usize {
        self.before.len()
    }

    /// How many steps change an answer.
    pub(super) fn steps_after(&self) -> usize {
        self.after.len()
    }

    /// Changes a search's body, which is an object.
    pub(super) fn change_request(
        &self,
        body: &mut Value,
        (context, now_ms): (&mut Context, i64),
        mut told: Option<&mut Told>,
    ) -> Result<(), ApiError> {
        for step in &self.before {
            step.run(body, told.as_deref_mut(), Value::clone, |what, body| {
                what.apply(body, (&mut *context, now_ms))
            })?;
        }
        Ok(())
    }

    /// Changes a search's answer.
    pub(super) fn change_answer(
        &self,
        answer: &mut Value,
        context: &Context,
        mut told: Option<&mut Told>,
    ) -> Result<(), ApiError> {
        let Some(Value::Array(hits)) = answer.pointer_mut("/hits/hits") else {
            return Ok(());
        };
        let shown = |hits: &Vec<Value>| Value::Array(hits.clone());
        for step in &self.after {
            step.run(hits, told.as_deref_mut(), shown, |what, hits| {
                what.apply(hits, context)
            })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
