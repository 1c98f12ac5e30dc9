//! The steps of a list in a pipeline: how they are read, and what becomes of one that fails.

use std::time::Instant;

use clew_ingest::{DefinitionError, members};
use serde_json::{Map, Value};

use super::figures::{Counts, StepName};
use super::told::Told;
use crate::dsl::DslError;
use crate::http::error::ApiError;

/// Steps of one list.
const STEPS_MAX: usize = 100;

/// A step, with what every kind has.
#[derive(Debug)]
pub(super) struct Step<T> {
    pub(super) name: String,
    pub(super) tag: Option<String>,
    ignore_failure: bool,
    pub(super) what: T,
    /// What it did.
    pub(super) counts: Counts,
}

/// Why a step cannot be read.
pub(super) enum Refused {
    /// Its definition is wrong; the step is told with it.
    Definition(DefinitionError),
    /// Something in it is, which has words of its own.
    Other(ApiError),
}

impl From<DefinitionError> for Refused {
    fn from(error: DefinitionError) -> Self {
        Refused::Definition(error)
    }
}

impl From<ApiError> for Refused {
    fn from(error: ApiError) -> Self {
        Refused::Other(error)
    }
}

impl From<DslError> for Refused {
    fn from(error: DslError) -> Self {
        Refused::Other(error.into())
    }
}

/// What reads one kind of steps: those members that it knows are taken.
pub(super) type Reader<T> = fn(&str, &mut Map<String, Value>) -> Result<T, Refused>;

/// Reads a list of steps, which may be missing.
pub(super) fn read_list<T>(
    config: &mut Map<String, Value>,
    key: &str,
    read: Reader<T>,
) -> Result<Vec<Step<T>>, ApiError> {
    let items = members::list(config, key)?.unwrap_or_default();
    if items.len() > STEPS_MAX {
        return Err(ApiError::illegal_argument(format!(
            "more than [{STEPS_MAX}] processors in [{key}]"
        )));
    }
    let mut steps = Vec::with_capacity(items.len());
    for item in items {
        let Value::Object(named) = item else {
            return Err(malformed(format!("[{key}] holds no processor")));
        };
        for (name, config) in named {
            let Value::Object(config) = config else {
                return Err(malformed(format!("[{key}] holds no processor [{name}]")));
            };
            steps.push(one(name, config, read)?);
        }
    }
    Ok(steps)
}

fn one<T>(
    name: String,
    mut config: Map<String, Value>,
    read: Reader<T>,
) -> Result<Step<T>, ApiError> {
    let tag = members::optional(&mut config, "tag")?;
    members::optional(&mut config, "description")?;
    let ignore_failure = members::flag(&mut config, "ignore_failure", false)?;
    let what = read(&name, &mut config).map_err(|refused| match refused {
        Refused::Other(error) => error,
        Refused::Definition(mut error) => {
            error.tag = error.tag.or_else(|| tag.clone());
            error.in_step(&name).into()
        }
    })?;
    if !config.is_empty() {
        let unknown: Vec<&str> = config.keys().map(String::as_str).collect();
        return Err(malformed(format!(
            "processor [{name}] doesn't support one or more provided configuration parameters: \
             [{}]",
            unknown.join(", ")
        )));
    }
    Ok(Step {
        name,
        tag,
        ignore_failure,
        what,
        counts: Counts::default(),
    })
}

pub(super) fn unknown_step(name: &str) -> ApiError {
    ApiError::illegal_argument(format!("Invalid processor type {name}"))
}

pub(super) fn malformed(reason: String) -> ApiError {
    ApiError::bad_request("parse_exception", reason)
}

impl<T> Step<T> {
    /// What it is told of as.
    pub(super) fn told_as(&self) -> StepName {
        let kind = self.name.clone();
        let key = match &self.tag {
            Some(tag) => format!("{kind}:{tag}"),
            None => kind.clone(),
        };
        StepName { key, kind }
    }

    /// Does the step to a subject. Where it fails the search does, unless the step says otherwise, or is told of.
    pub(super) fn run<S>(
        &self,
        subject: &mut S,
        told: Option<&mut Told>,
        shown: fn(&S) -> Value,
        apply: impl FnOnce(&T, &mut S) -> Result<(), ApiError>,
    ) -> Result<(), ApiError> {
        let Some(told) = told else {
            return match self.counts.during(|| apply(&self.what, subject)) {
                Err(error) if !self.ignore_failure => Err(error),
                _ => Ok(()),
            };
        };
        let input = shown(subject);
        let began = Instant::now();
        let done = self.counts.during(|| apply(&self.what, subject));
        let took = began.elapsed();
        told.step(self, input, (took, done.map(|()| shown(subject))));
        Ok(())
    }
}
