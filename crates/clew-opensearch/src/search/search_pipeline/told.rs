//! What the steps of a pipeline did, for a search that asks to be told (`verbose_pipeline`): each with what it was given
//! and what it made of that, at the end of the answer.

use std::time::Duration;

use clew_platform::whole_ms;
use serde_json::{Map, Value};

use super::step::Step;
use crate::http::error::ApiError;

/// Told of each step, in their order.
#[derive(Default)]
pub(super) struct Told(Vec<Value>);

impl Told {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A step that took so long over `input`. One that failed made nothing, and its time is not told.
    pub(super) fn step<T>(
        &mut self,
        step: &Step<T>,
        input: Value,
        (took, made): (Duration, Result<Value, ApiError>),
    ) {
        let mut told = Map::new();
        let mut tell = |name: &str, value: Value| told.insert(name.to_string(), value);
        tell("processor_name", step.name.as_str().into());
        if let Some(tag) = &step.tag {
            tell("tag", tag.as_str().into());
        }
        let took_ms = match &made {
            Ok(_) => whole_ms(took),
            Err(_) => 0,
        };
        tell("duration_millis", took_ms.into());
        let (status, error, output) = match made {
            Ok(made) => ("success", None, made),
            Err(error) => ("fail", Some(error.reason()), Value::Null),
        };
        tell("status", status.into());
        if let Some(error) = error {
            tell("error", error.into());
        }
        tell("input_data", input);
        tell("output_data", output);
        self.0.push(Value::Object(told));
    }

    /// Writes it at the end of an answer, unless there was no step.
    pub(super) fn write(self, answer: &mut Value) {
        if let (false, Value::Object(members)) = (self.0.is_empty(), answer) {
            members.insert("processor_results".to_string(), Value::Array(self.0));
        }
    }
}
