//! What a script says of each document of a write by query: written as it leaves it, left alone, or removed.

use std::sync::Arc;

use axum::http::StatusCode;
use clew_engine::{Action, Condition, WriteOperation};
use clew_query::{Script, ScriptError, ScriptPurpose};
use serde_json::{Map, Value, json};

use super::found::FoundDocument;
use super::spec::{Job, Verb};
use crate::dsl::WrittenScript;
use crate::http::error::ApiError;
use crate::http::request_memory::RequestMemory;
use crate::http::script_errors::script_cause;

/// Reads `script` of a body.
pub(super) fn read(script: &Value) -> Result<Arc<Script>, ApiError> {
    let written = WrittenScript::of("script", script)?;
    let script = written.understood(ScriptPurpose::Change).map_err(failed)?;
    Ok(Arc::new(script))
}

fn failed(error: ScriptError) -> ApiError {
    ApiError::new(StatusCode::BAD_REQUEST, script_cause(&error))
}

/// A document of the search, as its script sees it beside its source.
pub(super) struct Original {
    index: Arc<str>,
    id: String,
    version: u64,
    routing: Option<String>,
    /// Whether it is written elsewhere, by another id if the script wants that.
    is_copied: bool,
}

impl Original {
    pub(super) fn of(job: &Job, found: &FoundDocument) -> Self {
        Original {
            index: found.index.clone(),
            id: found.id.clone(),
            version: found.version,
            routing: found.routing.clone(),
            is_copied: matches!(job.verb, Verb::Copy(_)),
        }
    }

    /// The write as the script wants it; `None` where nothing is to be done.
    ///
    /// # Errors
    /// Where the script fails, or asks for what cannot be done.
    pub(super) fn scripted(
        &self,
        (script, now_ms, memory): (&Script, i64, &RequestMemory),
        mut operation: WriteOperation,
    ) -> Result<Option<WriteOperation>, ApiError> {
        let Action::Index { source, .. } = &mut operation.action else {
            return Ok(Some(operation));
        };
        let _trees = memory.hold_for_script(source)?;
        let mut context = json!({
            "op": "index", "_index": &*self.index, "_id": self.id, "_version": self.version,
            "_routing": self.routing,
        });
        let read = serde_json::from_slice::<Map<String, Value>>(source);
        let read = read.map_err(|error| ApiError::malformed_json(&error))?;
        context["_source"] = Value::Object(read);
        let left = script.change(&context, now_ms).map_err(failed)?;
        let Value::Object(mut left) = left else {
            return Err(ApiError::illegal_argument(
                "the context is not a map any more",
            ));
        };
        let Some(Value::String(op)) = left.shift_remove("op") else {
            return Err(ApiError::illegal_argument("Script cleared operation type"));
        };
        match left.shift_remove("_source") {
            Some(changed @ Value::Object(_)) => *source = changed.to_string().into(),
            _ => {
                return Err(ApiError::illegal_argument(
                    "ctx._source is not a map any more",
                ));
            }
        }
        self.moved(&mut left, &context, &mut operation)?;
        if !left.is_empty() {
            let names: Vec<&str> = left.keys().map(String::as_str).collect();
            return Err(ApiError::illegal_argument(format!(
                "Invalid fields added to context [{}]",
                names.join(",")
            )));
        }
        match op.as_str() {
            "index" => Ok(Some(operation)),
            "noop" => Ok(None),
            "delete" => {
                operation.action = Action::Delete;
                Ok(Some(operation))
            }
            other => Err(ApiError::illegal_argument(format!(
                "Operation type [{other}] not allowed, only [noop, index, delete] are allowed"
            ))),
        }
    }

    /// Follows what the script has made of the document's place, as far as that may change.
    fn moved(
        &self,
        left: &mut Map<String, Value>,
        before: &Value,
        operation: &mut WriteOperation,
    ) -> Result<(), ApiError> {
        for name in ["_index", "_id", "_version", "_routing"] {
            let now = left.shift_remove(name).unwrap_or(Value::Null);
            if before.get(name) == Some(&now) {
                continue;
            }
            if !self.is_copied {
                return Err(ApiError::illegal_argument(format!(
                    "Modifying [{name}] not allowed"
                )));
            }
            let text = match &now {
                Value::Null => None,
                Value::String(text) => Some(text.clone()),
                other => Some(other.to_string()),
            };
            match (name, text) {
                ("_index", Some(index)) => operation.index = index,
                ("_index", None) => {
                    return Err(ApiError::illegal_argument(
                        "Can't reindex without a destination index!",
                    ));
                }
                ("_id", id) => operation.id = id,
                ("_routing", routing) => operation.routing = routing,
                // Without a version of its own whatever is there is written over.
                (_, None) => operation.condition = None,
                (_, Some(text)) => match (&mut operation.condition, text.parse()) {
                    (Some(Condition::External { version, .. }), Ok(now)) => *version = now,
                    _ => {
                        return Err(ApiError::illegal_argument(
                            "[_version] can be set to [null] only, unless versions are external",
                        ));
                    }
                },
            }
        }
        Ok(())
    }
}
