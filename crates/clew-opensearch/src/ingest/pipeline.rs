//! A pipeline's definition, read.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use parking_lot::Mutex;
use serde_json::{Map, Value};

use super::processor::Processor;
use crate::error::{ApiError, Cause};

/// Pipelines that are kept ready.
const READY_MAX: usize = 1000;
/// Steps of one pipeline, those that handle failures included.
const STEPS_MAX: usize = 1000;
/// Steps inside each other.
const DEPTH_MAX: usize = 20;

/// A pipeline.
#[derive(Debug)]
pub(super) struct Pipeline {
    pub(super) steps: Vec<Step>,
    pub(super) on_failure: Vec<Step>,
}

/// A step of a pipeline.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) name: &'static str,
    pub(super) tag: Option<String>,
    pub(super) ignore_failure: bool,
    pub(super) on_failure: Vec<Step>,
    pub(super) what: Processor,
}

impl Pipeline {
    /// The pipeline of a definition, read once: compiling patterns would cost each request milliseconds.
    pub(super) fn ready(body: &Value) -> Result<Arc<Self>, ApiError> {
        static READY: LazyLock<Mutex<BTreeMap<String, Arc<Pipeline>>>> =
            LazyLock::new(Mutex::default);
        let definition = body.to_string();
        if let Some(ready) = READY.lock().get(&definition) {
            return Ok(ready.clone());
        }
        let pipeline = Arc::new(Self::parse(body)?);
        let mut ready = READY.lock();
        if ready.len() >= READY_MAX {
            ready.clear();
        }
        ready.insert(definition, pipeline.clone());
        Ok(pipeline)
    }

    /// Reads a definition.
    pub(super) fn parse(body: &Value) -> Result<Self, ApiError> {
        let Some(members) = body.as_object() else {
            return Err(malformed("expected an object".to_string()));
        };
        let mut reader = Reader { left: STEPS_MAX };
        let mut pipeline = Pipeline {
            steps: Vec::new(),
            on_failure: Vec::new(),
        };
        let mut has_steps = false;
        for (key, value) in members {
            match key.as_str() {
                "description" | "version" | "_meta" => {}
                "processors" => {
                    has_steps = true;
                    pipeline.steps = reader.steps(key, value, 0)?;
                }
                "on_failure" => {
                    pipeline.on_failure = reader.steps(key, value, 0)?;
                    if pipeline.on_failure.is_empty() {
                        return Err(malformed(
                            "pipeline cannot have an empty on_failure option defined".to_string(),
                        ));
                    }
                }
                other => {
                    return Err(malformed(format!(
                        "pipeline doesn't support one or more provided configuration parameters \
                         [{other}]"
                    )));
                }
            }
        }
        if !has_steps {
            return Err(missing("processors"));
        }
        Ok(pipeline)
    }
}

/// Counts the steps while it reads them.
struct Reader {
    left: usize,
}

impl Reader {
    fn steps(&mut self, key: &str, value: &Value, depth: usize) -> Result<Vec<Step>, ApiError> {
        let Some(items) = value.as_array() else {
            return Err(malformed(format!("[{key}] property isn't a list")));
        };
        items.iter().map(|item| self.step(item, depth)).collect()
    }

    fn step(&mut self, item: &Value, depth: usize) -> Result<Step, ApiError> {
        if depth > DEPTH_MAX || self.left == 0 {
            return Err(ApiError::illegal_argument(format!(
                "a pipeline has at most [{STEPS_MAX}] processors, [{DEPTH_MAX}] inside each other"
            )));
        }
        self.left -= 1;
        let members = item.as_object();
        let Some((name, Value::Object(config))) = members.and_then(|m| m.iter().next()) else {
            return Err(malformed("[processors] holds no processor".to_string()));
        };
        let mut config = config.clone();
        if config.remove("if").is_some() {
            return Err(ApiError::illegal_argument(format!(
                "[if] of processor [{name}] is not supported: there is no scripting language"
            )));
        }
        config.remove("description");
        let tag = match config.remove("tag") {
            Some(Value::String(tag)) => Some(tag),
            _ => None,
        };
        let ignore_failure = config.remove("ignore_failure") == Some(Value::Bool(true));
        let on_failure = match config.remove("on_failure") {
            None => Vec::new(),
            Some(value) => self.steps("on_failure", &value, depth + 1)?,
        };
        let inner = match config.remove("processor") {
            None => None,
            Some(inner) => Some(Box::new(self.step(&inner, depth + 1)?)),
        };
        let (name, what) = Processor::parse(name, &mut config, inner)?;
        if let Some((other, _)) = config.iter().next() {
            return Err(malformed(format!(
                "processor [{name}] doesn't support one or more provided configuration parameters \
                 [{other}]"
            )));
        }
        Ok(Step {
            name,
            tag,
            ignore_failure,
            on_failure,
            what,
        })
    }
}

pub(super) fn malformed(reason: String) -> ApiError {
    ApiError::bad_request("parse_exception", reason)
}

/// A member that must be there.
pub(super) fn missing(key: &str) -> ApiError {
    let reason = format!("[{key}] required property is missing");
    let cause = Cause::new("parse_exception", reason).with("property_name", key);
    ApiError::new(axum::http::StatusCode::BAD_REQUEST, cause)
}

/// A text member.
pub(super) fn text(config: &mut Map<String, Value>, key: &str) -> Result<String, ApiError> {
    optional(config, key).ok_or_else(|| missing(key))
}

/// A text member that may be missing.
pub(super) fn optional(config: &mut Map<String, Value>, key: &str) -> Option<String> {
    match config.remove(key)? {
        Value::String(text) => Some(text),
        Value::Null => None,
        other => Some(other.to_string()),
    }
}

/// A flag.
pub(super) fn flag(
    config: &mut Map<String, Value>,
    key: &str,
    default: bool,
) -> Result<bool, ApiError> {
    match config.remove(key) {
        None | Some(Value::Null) => Ok(default),
        Some(Value::Bool(flag)) => Ok(flag),
        Some(Value::String(text)) if text == "true" => Ok(true),
        Some(Value::String(text)) if text == "false" => Ok(false),
        Some(other) => Err(malformed(format!(
            "[{key}] property isn't a boolean, but of type [{}]",
            super::values::class(&other)
        ))),
    }
}
