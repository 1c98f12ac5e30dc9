//! Documents going through pipelines.

use std::path::Path;
use std::sync::Arc;

use clew_analysis::in_one_turn;
use serde_json::Value;

use super::counts::{Counter, RunCounts};
use super::definition::{Pipeline, Step};
use super::processor::Processor;
use crate::document::Document;
use crate::error::{Failure, FailureKind, wrong_type};
use crate::java;
use crate::steps::script::Program;

/// Pipelines calling each other.
const CALLS_MAX: usize = 10;
/// Steps that a document may take, those for the items of lists and of lists in them together.
const STEPS_MAX: u32 = 1_000_000;
/// Documents that went through pipelines by name, once for each that they were sent to.
static TOTAL: Counter = Counter::new();

/// What a pipeline leaves of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// It goes on, perhaps changed.
    On,
    /// A step dropped it.
    Dropped,
}

/// What is around a run: what steps may ask for that is neither in their pipeline nor in the document.
pub trait Surroundings {
    /// The pipeline of a name, for steps that call others.
    ///
    /// # Errors
    /// Why one that is there cannot be run.
    fn pipeline(&mut self, name: &str) -> Result<Option<Arc<Pipeline>>, Failure>;

    /// The folder whose folder `geoip` has the databases of places.
    fn data_dir(&self) -> Option<&Path>;
}

/// What a step came to, as somebody sees it who watches a run.
#[derive(Debug)]
pub struct StepEnd<'a> {
    /// The name of its kind.
    pub name: &'static str,
    /// Its tag.
    pub tag: Option<&'a str>,
    /// What its definition says of it.
    pub description: Option<&'a str>,
    /// What it is done for only, if it does not always hold.
    pub condition: Option<&'a str>,
    /// The name of the pipeline that it is a part of, unless that is the one that is watched.
    pub pipeline: Option<&'a str>,
    /// How it went.
    pub way: StepWay<'a>,
}

/// How a step went.
#[derive(Clone, Copy, Debug)]
pub enum StepWay<'a> {
    /// It has left the document like this.
    Done(&'a Document),
    /// It dropped the document.
    Dropped,
    /// It is not for this document.
    Skipped,
    /// It failed.
    Failed(&'a Failure),
    /// It failed, and the document goes on as it was left.
    Ignored(&'a Failure, &'a Document),
    /// It calls a pipeline, whose steps come next.
    Calls,
}

/// Who watches a run.
type Watcher<'w> = &'w mut dyn FnMut(&StepEnd<'_>);

/// No surroundings: neither other pipelines nor databases.
#[derive(Clone, Copy, Debug, Default)]
pub struct Alone;

impl Surroundings for Alone {
    fn pipeline(&mut self, _name: &str) -> Result<Option<Arc<Pipeline>>, Failure> {
        Ok(None)
    }

    fn data_dir(&self) -> Option<&Path> {
        None
    }
}

impl Pipeline {
    /// Sends a document through the pipeline.
    ///
    /// # Errors
    /// Why a step failed whose failure nothing handles; the document is as the steps before it left it.
    pub fn run(
        &self,
        document: &mut Document,
        around: &mut dyn Surroundings,
    ) -> Result<Flow, Failure> {
        let _turn = in_one_turn();
        let watcher = None;
        Run {
            around,
            watcher,
            called: Vec::new(),
            steps_left: STEPS_MAX,
        }
        .run(self, document, 0)
    }

    /// The same, telling of every step that is done, in their order, but of those inside others.
    ///
    /// # Errors
    /// As [`Pipeline::run`].
    pub fn run_watched(
        &self,
        document: &mut Document,
        around: &mut dyn Surroundings,
        watcher: &mut dyn FnMut(&StepEnd<'_>),
    ) -> Result<Flow, Failure> {
        let _turn = in_one_turn();
        let watcher = Some(watcher);
        Run {
            around,
            watcher,
            called: Vec::new(),
            steps_left: STEPS_MAX,
        }
        .run(self, document, 0)
    }
}

/// Sends a document through the pipeline of a name.
///
/// # Errors
/// As [`Pipeline::run`], and where there is no such pipeline.
pub fn run_named(
    name: &str,
    document: &mut Document,
    around: &mut dyn Surroundings,
) -> Result<Flow, Failure> {
    let _turn = in_one_turn();
    let watcher = None;
    let mut run = Run {
        around,
        watcher,
        called: Vec::new(),
        steps_left: STEPS_MAX,
    };
    TOTAL.around(|| run.run_named(name, document, 0))
}

/// What was counted of all documents that went through [`run_named`], in this process.
pub fn total_counts() -> RunCounts {
    TOTAL.read()
}

/// One document's way.
struct Run<'a, 'w> {
    around: &'a mut dyn Surroundings,
    watcher: Option<Watcher<'w>>,
    /// The names of the pipelines that are under way, the innermost last.
    called: Vec<String>,
    /// Steps that the document may still take.
    steps_left: u32,
}

impl Run<'_, '_> {
    /// Tells of a step.
    fn tell(&mut self, step: &Step, way: StepWay<'_>) {
        if let Some(watcher) = &mut self.watcher {
            watcher(&StepEnd {
                name: step.name,
                tag: step.tag.as_deref(),
                description: step.description.as_deref(),
                condition: step.condition.as_ref().map(Program::source),
                pipeline: self.called.last().map(String::as_str),
                way,
            });
        }
    }

    fn run_named(
        &mut self,
        name: &str,
        document: &mut Document,
        depth: usize,
    ) -> Result<Flow, Failure> {
        let Some(pipeline) = self.around.pipeline(name)? else {
            return Err(Failure::unfit(format!(
                "pipeline with id [{name}] does not exist"
            )));
        };
        if self.called.iter().any(|called| called == name) {
            return Err(Failure {
                kind: FailureKind::NoPipeline,
                ..Failure::unfit(format!("Cycle detected for pipeline: {name}"))
            });
        }
        self.called.push(name.to_owned());
        let done = self.run(&pipeline, document, depth);
        self.called.pop();
        done
    }

    /// Sends a document through a pipeline.
    fn run(
        &mut self,
        pipeline: &Pipeline,
        document: &mut Document,
        depth: usize,
    ) -> Result<Flow, Failure> {
        if depth > CALLS_MAX {
            return Err(Failure::unfit("pipelines call each other too deeply"));
        }
        let work = || match self.steps(&pipeline.steps, document, depth) {
            Err(failure) if !pipeline.on_failure.is_empty() => {
                self.recover(&pipeline.on_failure, failure, document, depth)
            }
            other => other,
        };
        pipeline.counter.around(work)
    }

    fn steps(
        &mut self,
        steps: &[Step],
        document: &mut Document,
        depth: usize,
    ) -> Result<Flow, Failure> {
        for step in steps {
            if self.step(step, document, depth)? == Flow::Dropped {
                return Ok(Flow::Dropped);
            }
            // Also where steps are told to ignore that they failed for it.
            if self.steps_left == 0 {
                return Err(too_many_steps());
            }
        }
        Ok(Flow::On)
    }

    /// Does a step, and what is to be done when it fails.
    fn step(
        &mut self,
        step: &Step,
        document: &mut Document,
        depth: usize,
    ) -> Result<Flow, Failure> {
        self.steps_left = self.steps_left.checked_sub(1).ok_or_else(too_many_steps)?;
        // A call is told of before its steps are.
        let is_call = matches!(step.what, Processor::Pipeline { .. });
        let wanted = match &step.condition {
            Some(condition) => condition.holds(document),
            None => Ok(true),
        };
        let done = match wanted {
            Ok(true) => step.counter.around(|| self.apply(step, document, depth)),
            Ok(false) => {
                self.tell(step, StepWay::Skipped);
                return Ok(Flow::On);
            }
            Err(failure) => Err(failure),
        };
        match done {
            Ok(flow) => {
                if !is_call {
                    let way = match flow {
                        Flow::On => StepWay::Done(document),
                        Flow::Dropped => StepWay::Dropped,
                    };
                    self.tell(step, way);
                }
                Ok(flow)
            }
            Err(failure) if step.ignore_failure => {
                if !is_call {
                    self.tell(step, StepWay::Ignored(&failure, document));
                }
                Ok(Flow::On)
            }
            Err(mut failure) => {
                let is_own = failure.step.is_empty();
                if is_own {
                    failure.step = step.name;
                    failure.tag = step.tag.clone();
                }
                if is_own || !is_call {
                    self.tell(step, StepWay::Failed(&failure));
                }
                if step.on_failure.is_empty() {
                    return Err(failure);
                }
                self.recover(&step.on_failure, failure, document, depth)
            }
        }
    }

    fn recover(
        &mut self,
        steps: &[Step],
        failure: Failure,
        document: &mut Document,
        depth: usize,
    ) -> Result<Flow, Failure> {
        let told = [
            ("on_failure_message", Value::from(failure.reason)),
            ("on_failure_processor_type", Value::from(failure.step)),
            ("on_failure_processor_tag", Value::from(failure.tag)),
        ];
        let about = &mut document.ingest;
        let before = told.map(|(name, value)| (name, about.insert(name.to_string(), value)));
        let done = self.steps(steps, document, depth);
        // What the steps set beside it stays: the item of a `foreach` is there too.
        for (name, value) in before {
            match value {
                Some(value) => drop(document.ingest.insert(name.to_string(), value)),
                None => drop(document.ingest.shift_remove(name)),
            }
        }
        done
    }

    fn apply(
        &mut self,
        step: &Step,
        document: &mut Document,
        depth: usize,
    ) -> Result<Flow, Failure> {
        match &step.what {
            Processor::Drop => return Ok(Flow::Dropped),
            Processor::Fail(message) => {
                return Err(Failure {
                    kind: FailureKind::Meant,
                    ..Failure::unfit(document.fill(message)?)
                });
            }
            Processor::Pipeline {
                name,
                ignore_missing,
            } => {
                let name = document.fill(name)?;
                if self.around.pipeline(&name)?.is_none() {
                    if *ignore_missing {
                        return Ok(Flow::On);
                    }
                    return Err(Failure {
                        kind: FailureKind::NoPipeline,
                        ..Failure::unfit(format!(
                            "Pipeline processor configured for non-existent pipeline [{name}]"
                        ))
                    });
                }
                self.tell(step, StepWay::Calls);
                return self.run_named(&name, document, depth + 1);
            }
            Processor::Foreach {
                field,
                ignore_missing,
                step: inner,
            } => return self.foreach((field, *ignore_missing), inner, document, depth),
            Processor::GeoIp(place) => place.apply(document, self.around.data_dir())?,
            other => other.change(document)?,
        }
        Ok(Flow::On)
    }

    fn foreach(
        &mut self,
        (field, ignore_missing): (&str, bool),
        step: &Step,
        document: &mut Document,
        depth: usize,
    ) -> Result<Flow, Failure> {
        let items = match document.get(field) {
            None | Some(Value::Null) if ignore_missing => return Ok(Flow::On),
            None => return Err(document.absent(field)),
            Some(Value::Array(items)) => items,
            Some(Value::Null) => {
                return Err(Failure::unfit(format!(
                    "field [{field}] is null, cannot loop over its elements."
                )));
            }
            Some(other) => return Err(wrong_type(field, &other, java::LIST)),
        };
        let watcher = self.watcher.take();
        let changed = self.each(items, step, document, depth);
        self.watcher = watcher;
        let Some(changed) = changed? else {
            return Ok(Flow::Dropped);
        };
        document.set(field, Value::Array(changed))?;
        Ok(Flow::On)
    }

    /// What a step makes of each item; `None` where it dropped the document.
    fn each(
        &mut self,
        items: Vec<Value>,
        step: &Step,
        document: &mut Document,
        depth: usize,
    ) -> Result<Option<Vec<Value>>, Failure> {
        let mut changed = Vec::with_capacity(items.len());
        for item in items {
            // The step sees the item as `_ingest._value`, where the item of a list around this one comes back afterwards.
            let around = document.ingest.insert("_value".to_string(), item);
            let done = self.step(step, document, depth);
            let around = around.unwrap_or_default();
            let value = document.ingest.insert("_value".to_string(), around);
            if done? == Flow::Dropped {
                return Ok(None);
            }
            // The others would fail alike.
            if self.steps_left == 0 {
                return Err(too_many_steps());
            }
            // An item that was taken away leaves its place.
            changed.push(value.unwrap_or_default());
        }
        Ok(Some(changed))
    }
}

fn too_many_steps() -> Failure {
    Failure::unfit(format!(
        "the processors of a document may take [{STEPS_MAX}] steps, those for items of lists included"
    ))
}

#[cfg(test)]
mod tests;
