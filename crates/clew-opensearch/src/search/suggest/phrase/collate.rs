//! `collate`: each text that is proposed is held against the index by a query that a template makes of it.
//!
//! Queries that have to fetch something first, as `terms` of another document, are not looked at here.

use clew_engine::PinnedShard;
use clew_ingest::template::{Escape, Template};
use serde_json::{Map, Value};

use crate::dsl::{self, DslError};
use crate::http::error::ApiError;
use crate::http::place::Spot;

/// What a query calls the text.
const SUGGESTION: &str = "suggestion";

/// What texts are held against.
pub(super) struct Collate {
    template: Template,
    params: Map<String, Value>,
    /// Whether texts that are not found are told apart, and not left out.
    pub(super) tells: bool,
}

impl Collate {
    /// Reads `collate`.
    pub(super) fn read(members: &Map<String, Value>) -> Result<Self, DslError> {
        let (mut source, mut params, mut tells) = (None, Map::new(), false);
        for (key, value) in members {
            match (key.as_str(), value) {
                ("query", _) => source = Some(source_of(value)?),
                ("params", Value::Object(given)) => params = given.clone(),
                ("prune", Value::Bool(flag)) => tells = *flag,
                _ => {
                    let reason =
                        format!("suggester[phrase][collate] doesn't support field [{key}]");
                    return Err(DslError::parsing(reason).at(Spot::start_of(value)));
                }
            }
        }
        let source = source.ok_or_else(|| {
            DslError::illegal("suggester[phrase][collate] query field is missing")
        })?;
        let template = Template::parse(&source);
        Ok(Collate {
            template: template.map_err(|error| DslError::illegal(error.to_string()))?,
            params,
            tells,
        })
    }

    /// Whether a shard has a document that the query of a text finds.
    pub(super) fn finds(
        &self,
        shard: &PinnedShard,
        text: &str,
        now_ms: i64,
    ) -> Result<bool, ApiError> {
        let mut values = self.params.clone();
        values.insert(SUGGESTION.to_string(), text.into());
        let rendered = self.template.render(&Value::Object(values), Escape::Json);
        let rendered = rendered.map_err(ApiError::illegal_argument)?;
        let query = serde_json::from_str::<Value>(&rendered)
            .map_err(|error| ApiError::malformed_text(rendered.as_bytes(), &error))?;
        Ok(shard.finds(&dsl::parse_query(&query)?, now_ms)?)
    }
}

/// The template, which may stand in an object as scripts do.
fn source_of(value: &Value) -> Result<String, DslError> {
    let within = value.get("source").or_else(|| value.get("inline"));
    match (value, within) {
        (Value::String(text), _) | (Value::Object(_), Some(Value::String(text))) => {
            Ok(text.clone())
        }
        (Value::Object(_), Some(source @ Value::Object(_))) => Ok(source.to_string()),
        _ => Err(DslError::illegal(
            "must specify either [source] for an inline script or [id] for a stored script",
        )),
    }
}
