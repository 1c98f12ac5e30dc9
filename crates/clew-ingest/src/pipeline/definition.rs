//! A pipeline's definition, read.

use std::sync::Arc;

use clew_analysis::in_one_definition;
use clew_platform::{CancellationToken, KeptReady};
use serde_json::{Map, Value};

use super::counts::{Counter, RunCounts, StepCounts};
use super::processor::Processor;
use crate::error::DefinitionError;
use crate::java::class;
use crate::members::{flag, not_a, optional, whole};
use crate::steps::grok::MachineRoom;
use crate::steps::script::Program;

/// What errors call a pipeline that has no name.
const UNNAMED: &str = "_simulate_pipeline";
/// Pipelines that are kept ready.
const READY_MAX: usize = 1000;
/// Steps of one pipeline, those that handle failures included.
const STEPS_MAX: usize = 1000;
/// Steps inside each other.
const DEPTH_MAX: usize = 20;

/// A pipeline: steps, and those that go on where one of them fails.
#[derive(Debug)]
pub struct Pipeline {
    pub(crate) steps: Vec<Step>,
    pub(crate) on_failure: Vec<Step>,
    pub(super) counter: Counter,
}

/// A step of a pipeline.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) name: &'static str,
    pub(crate) tag: Option<String>,
    pub(crate) description: Option<String>,
    /// The step is done only for documents that this holds of.
    pub(crate) condition: Option<Program>,
    pub(crate) ignore_failure: bool,
    pub(crate) on_failure: Vec<Step>,
    pub(crate) what: Processor,
    pub(super) counter: Counter,
}

impl Pipeline {
    /// The pipeline of a name and its definition, read once: compiling patterns would cost each request milliseconds. What
    /// is counted of it begins anew with another definition, and where there are more than a thousand.
    ///
    /// # Errors
    /// What is wrong with the definition.
    pub fn ready(name: &str, body: &Value) -> Result<Arc<Self>, DefinitionError> {
        /// Each with what it was read from.
        static READY: KeptReady<(String, Arc<Pipeline>)> = KeptReady::new(READY_MAX);
        let definition = body.to_string();
        let same =
            |(from, ready): &(String, Arc<Pipeline>)| (*from == definition).then(|| ready.clone());
        if let Some(ready) = READY.get(name, same) {
            return Ok(ready);
        }
        // Whoever writes wants it to be read to its end, also when nobody waits for the answer.
        let pipeline = {
            let _entered = CancellationToken::default().enter();
            Arc::new(Self::of_steps(name, body)?)
        };
        READY.keep(name, (definition, pipeline.clone()));
        Ok(pipeline)
    }

    /// What was counted of it.
    pub fn counts(&self) -> RunCounts {
        self.counter.read()
    }

    /// What was counted of its steps, in their order, but of those inside others and those that handle failures.
    pub fn step_counts(&self) -> impl Iterator<Item = StepCounts> {
        self.steps.iter().map(|step| StepCounts {
            kind: step.name,
            name: step.told_name(),
            counts: step.counter.read(),
        })
    }

    /// Reads a definition that has no name of its own, as one that is tried.
    ///
    /// # Errors
    /// As [`Pipeline::parse_named`].
    pub fn parse(body: &Value) -> Result<Self, DefinitionError> {
        Self::parse_named(UNNAMED, body)
    }

    /// Reads a definition; what is wrong with it is told of its name.
    ///
    /// # Errors
    /// What is wrong with it, and in which step.
    pub fn parse_named(name: &str, body: &Value) -> Result<Self, DefinitionError> {
        check_shown(body)?;
        Self::of_steps(name, body)
    }

    /// Reads what is done. The rest was checked when it was put, or kept by an older build, which took anything for it.
    fn of_steps(name: &str, body: &Value) -> Result<Self, DefinitionError> {
        let _definition = in_one_definition();
        let Some(members) = body.as_object() else {
            return Err(DefinitionError::malformed("expected an object"));
        };
        let mut reader = Reader {
            left: STEPS_MAX,
            room: MachineRoom::new(),
        };
        let mut pipeline = Pipeline {
            steps: Vec::new(),
            on_failure: Vec::new(),
            counter: Counter::new(),
        };
        let mut has_steps = false;
        for (key, value) in members {
            match key.as_str() {
                "_meta" | "description" | "version" => {}
                "processors" => {
                    has_steps = true;
                    pipeline.steps = reader.steps(key, value, 0)?;
                }
                "on_failure" => {
                    pipeline.on_failure = reader.steps(key, value, 0)?;
                    if pipeline.on_failure.is_empty() {
                        return Err(DefinitionError::malformed(format!(
                            "pipeline [{name}] cannot have an empty on_failure option defined"
                        )));
                    }
                }
                other => {
                    return Err(DefinitionError::malformed(format!(
                        "pipeline [{name}] doesn't support one or more provided configuration \
                         parameters [{other}]"
                    )));
                }
            }
        }
        if !has_steps {
            return Err(DefinitionError::missing("processors"));
        }
        Ok(pipeline)
    }
}

/// Refuses what is only shown again of a pipeline where it is of another type.
fn check_shown(body: &Value) -> Result<(), DefinitionError> {
    let said = |key: &str| {
        let value = body.get(key).cloned();
        Map::from_iter(value.map(|value| (key.to_string(), value)))
    };
    optional(&mut said("description"), "description")?;
    whole(&mut said("version"), "version").map(drop)
}

impl Step {
    /// Its kind, the pipeline that it calls, and its tag.
    fn told_name(&self) -> String {
        let called = match &self.what {
            Processor::Pipeline { name, .. } => name.text(),
            _ => None,
        };
        let parts = [Some(self.name), called, self.tag.as_deref()];
        let parts = parts.into_iter().flatten().filter(|part| !part.is_empty());
        parts.collect::<Vec<_>>().join(":")
    }
}

/// Counts the steps while it reads them.
struct Reader {
    left: usize,
    /// For what their expressions become.
    room: MachineRoom,
}

impl Reader {
    fn steps(
        &mut self,
        key: &str,
        value: &Value,
        depth: usize,
    ) -> Result<Vec<Step>, DefinitionError> {
        let Some(items) = value.as_array() else {
            return Err(not_a("list", key, value));
        };
        let mut steps = Vec::new();
        for item in items {
            let Value::Object(members) = item else {
                return Err(DefinitionError::malformed(
                    "[processors] holds no processor",
                ));
            };
            for (name, config) in members {
                steps.push(self.step(name, config, depth)?);
            }
        }
        Ok(steps)
    }

    fn step(&mut self, name: &str, config: &Value, depth: usize) -> Result<Step, DefinitionError> {
        if depth > DEPTH_MAX || self.left == 0 {
            return Err(DefinitionError::unsupported(format!(
                "a pipeline has at most [{STEPS_MAX}] processors, [{DEPTH_MAX}] inside each other"
            )));
        }
        self.left -= 1;
        let Value::Object(config) = config else {
            let reason = format!("property isn't a map, but of type [{}]", class(config));
            return Err(DefinitionError::malformed(reason).in_step(name));
        };
        let mut config = config.clone();
        let condition = match config.remove("if") {
            None | Some(Value::Null) => None,
            Some(written) => {
                let read = Program::condition(written);
                Some(read.map_err(|error| error.in_step(name))?)
            }
        };
        let description = optional(&mut config, "description")?;
        let tag = optional(&mut config, "tag")?;
        let ignore_failure = flag(&mut config, "ignore_failure", false)?;
        self.configured(name, &mut config, depth)
            .map(|(name, on_failure, what)| Step {
                name,
                tag: tag.clone(),
                description,
                condition,
                ignore_failure,
                on_failure,
                what,
                counter: Counter::new(),
            })
            .map_err(|mut error| {
                error.tag = tag.or(error.tag);
                error.in_step(name)
            })
    }

    /// What a step does, and what is done when it fails.
    fn configured(
        &mut self,
        name: &str,
        config: &mut Map<String, Value>,
        depth: usize,
    ) -> Result<(&'static str, Vec<Step>, Processor), DefinitionError> {
        let on_failure = match config.remove("on_failure") {
            None => Vec::new(),
            Some(Value::Array(none)) if none.is_empty() => {
                return Err(DefinitionError::refused(
                    "on_failure",
                    "processors list cannot be empty",
                ));
            }
            Some(value) => self.steps("on_failure", &value, depth + 1)?,
        };
        let inner = match config.remove("processor") {
            None => None,
            Some(Value::Object(one)) => match one.iter().next() {
                Some((name, config)) if one.len() == 1 => {
                    Some(Box::new(self.step(name, config, depth + 1)?))
                }
                _ => {
                    return Err(DefinitionError::refused(
                        "processor",
                        "Must specify exactly one processor type",
                    ));
                }
            },
            Some(other) => return Err(not_a("map", "processor", &other)),
        };
        let (name, what) = Processor::parse(name, config, inner, &self.room)?;
        if !config.is_empty() {
            let mut others: Vec<&str> = config.keys().map(String::as_str).collect();
            others.sort_unstable();
            return Err(DefinitionError::malformed(format!(
                "processor [{name}] doesn't support one or more provided configuration parameters \
                 [{}]",
                others.join(", ")
            )));
        }
        Ok((name, on_failure, what))
    }
}
