//! Search pipelines: steps that change a search before it runs, and its answer afterwards.

mod fusion;
mod processors;
mod store;
mod two_phase;

use clew_engine::{Fusion, Index, Purpose};
use processors::Pipeline;
use serde_json::Value;

use crate::http::error::ApiError;
use crate::http::request_memory::{RequestMemory, json_bytes};
use crate::state::call::Call;

pub(crate) use store::{delete, get, put};

/// The setting of an index that names its pipeline.
const DEFAULT_SETTING: &str = "index.search.default_pipeline";

/// A pipeline under way: what its first half leaves for its second.
pub(crate) struct Running {
    pipeline: Pipeline,
    /// The size that was asked for, when a step made it larger.
    size_before: Option<u64>,
}

/// The pipeline of a search, after its first half has changed the search's body. A pipeline that
/// comes with the search wins over one that is named, and that over the index's own.
pub(crate) fn begin(
    call: &Call,
    expression: &str,
    body: &mut Value,
) -> Result<Option<Running>, ApiError> {
    let given = body
        .as_object_mut()
        .and_then(|members| members.remove("search_pipeline"));
    let pipeline = match given {
        Some(inline @ Value::Object(_)) => Pipeline::parse("_ad_hoc_pipeline", &inline)?,
        other => {
            let named = call.params.get("search_pipeline").map(String::from);
            let named = named.or(other.as_ref().and_then(Value::as_str).map(String::from));
            let Some(name) = named.or_else(|| default_of(call, expression)) else {
                return Ok(None);
            };
            if name == "_none" {
                return Ok(None);
            }
            let found = store::find(call, &name).ok_or_else(|| {
                ApiError::illegal_argument(format!("Pipeline {name} is not defined"))
            })?;
            Pipeline::parse(&name, &found)?
        }
    };
    let size_before = pipeline.change_request(body)?;
    Ok(Some(Running {
        pipeline,
        size_before,
    }))
}

/// The pipeline of the indexes that are searched, where all of them name the same.
fn default_of(call: &Call, expression: &str) -> Option<String> {
    if expression.is_empty() {
        return None;
    }
    let named = |index: &Index| index.settings().given.get(DEFAULT_SETTING).cloned();
    // Mostly it is the name of one, which costs least.
    let one = |name| {
        let engine = &call.api.engine;
        engine.open_exactly(name, &call.access, Purpose::Read)
    };
    if let Ok(index) = one(expression) {
        return named(&index);
    }
    let options = call.resolve_options().ok()?;
    // What cannot be resolved is refused by the search.
    let indices = call
        .api
        .engine
        .open((expression, options), &call.access, Purpose::Read)
        .ok()?;
    let mut all = indices.iter().map(|found| named(found));
    let first = all.next()??;
    all.all(|other| other.as_ref() == Some(&first))
        .then_some(first)
}

impl Running {
    /// How the rankings of so many queries become one, if the pipeline says that.
    pub(crate) fn fusion(&self, queries: usize) -> Result<Option<Fusion>, ApiError> {
        let fusion = self.pipeline.fusion();
        if let Some(fusion) = fusion {
            fusion::check(fusion, queries)?;
        }
        Ok(fusion.cloned())
    }

    /// Changes a search's answer.
    pub(crate) fn finish(
        &self,
        answer: Vec<u8>,
        memory: &RequestMemory,
    ) -> Result<Vec<u8>, ApiError> {
        if !self.pipeline.changes_answers() {
            return Ok(answer);
        }
        // As it is read, and the new one beside it.
        let _read = memory.hold(json_bytes(&answer).saturating_add(answer.len()))?;
        let mut value: Value = serde_json::from_slice(&answer)
            .map_err(|error| ApiError::internal(error.to_string()))?;
        self.pipeline.change_answer(&mut value, self.size_before)?;
        serde_json::to_vec(&value).map_err(|error| ApiError::internal(error.to_string()))
    }
}
