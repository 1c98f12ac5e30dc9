//! `script_fields`: values that scripts make of a hit. They see the values that its fields' columns have, taken from its
//! source, and the source itself.

use axum::http::StatusCode;
use clew_engine::Hit;
use clew_platform::{CancellationToken, Stop};
use clew_query::{
    QueryError, Script, ScriptDocument, ScriptError, ScriptErrorKind, ScriptPurpose, ScriptValue,
};
use clew_schema::geo::GeoPoint;
use clew_schema::{FieldKind, MappedField, Mapping};
use serde_json::{Map, Value, json};

use super::fields::{FieldList, place_of};
use crate::dsl::WrittenScript;
use crate::http::error::ApiError;
use crate::http::place::{Spot, token};
use crate::http::script_errors::script_cause;

/// Scripts that one search may have for values of hits, unless its index says otherwise.
pub(super) const SCRIPTS_MAX: usize = 32;
pub(super) const SCRIPTS_SETTING: &str = "index.max_script_fields";

/// Values that a search wants of each hit, by name.
#[derive(Clone, Debug, Default)]
pub(super) struct ScriptFields(Vec<ScriptField>);

#[derive(Clone, Debug)]
struct ScriptField {
    name: String,
    script: Script,
    /// Whether a value that cannot be made is left out instead of failing the search.
    ignore_failure: bool,
}

/// Looks whether what is said of a value is an object, and has no members but those that there are.
fn check_members(name: &str, body: &Value) -> Result<(), ApiError> {
    let Value::Object(members) = body else {
        let found = token(body);
        let reason = format!("Expected [START_OBJECT] in [{name}] but found [{found}]");
        return Err(ApiError::parsing_at(Spot::start_of(body), reason));
    };
    let unknown = members
        .iter()
        .find(|(key, _)| !matches!(key.as_str(), "script" | "ignore_failure"));
    match unknown {
        None => Ok(()),
        Some((key, value)) => {
            let reason = format!("Unknown key for a {} in [{key}].", token(value));
            Err(ApiError::parsing_at(Spot::start_of(value), reason))
        }
    }
}

impl ScriptFields {
    /// Reads `{"name": {"script": .., "ignore_failure": ..}, ..}`.
    pub(super) fn read(value: &Value) -> Result<Self, ApiError> {
        let Value::Object(members) = value else {
            return Err(ApiError::bad_request(
                "parsing_exception",
                "Expected [START_OBJECT] in [script_fields]",
            ));
        };
        let mut fields = Vec::with_capacity(members.len());
        for (name, body) in members {
            check_members(name, body)?;
            let Some(written) = body.get("script") else {
                return Err(ApiError::illegal_argument(
                    "Required [script] in [script_fields]",
                ));
            };
            let script = WrittenScript::of("script_fields", written)?.read(ScriptPurpose::Field)?;
            if !script.measures().is_empty() {
                return Err(ApiError::illegal_argument(
                    "[script_fields] cannot measure vectors: use [script_score]",
                ));
            }
            fields.push(ScriptField {
                name: name.clone(),
                script,
                ignore_failure: body.get("ignore_failure") == Some(&Value::Bool(true)),
            });
        }
        Ok(ScriptFields(fields))
    }

    /// Refuses more scripts than are allowed.
    pub(super) fn check(&self, max: usize) -> Result<(), ApiError> {
        let count = self.0.len();
        if count <= max {
            return Ok(());
        }
        Err(ApiError::illegal_argument(format!(
            "Trying to retrieve too many script_fields. Must be less than or equal to: [{max}] but \
             was [{count}]. This limit can be set by changing the [{SCRIPTS_SETTING}] index level \
             setting."
        )))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds the values of a hit, whose source is that of a whole document, at a time in milliseconds since the epoch.
    pub(super) fn add(
        &self,
        hit: &Hit,
        now_ms: i64,
        values: &mut Map<String, Value>,
    ) -> Result<(), ApiError> {
        // There may be many hits, in buckets and in hits, and a script takes a while. What the time is up for is left out.
        match CancellationToken::current().stopped() {
            None => {}
            Some(Stop::TimedOut) => return Ok(()),
            Some(Stop::Cancelled) => return Err(QueryError::Stopped.into()),
        }
        let source = hit.source.as_deref();
        let source = source.and_then(|source| serde_json::from_slice::<Value>(source).ok());
        let source = source.unwrap_or(Value::Null);
        let mapping = hit.index.mapping();
        for field in &self.0 {
            let mut document = SourceDocument {
                mapping: &mapping,
                source: &source,
                hit: Some(hit),
                paths: field.script.fields(),
                now_ms,
            };
            let made = field.script.run(&mut document).map(|made| made.to_json());
            match made {
                Ok(Value::Array(made)) => {
                    values.insert(field.name.clone(), Value::Array(made));
                }
                Ok(made) => {
                    values.insert(field.name.clone(), json!([made]));
                }
                Err(_) if field.ignore_failure => {}
                Err(error) => {
                    return Err(ApiError::new(StatusCode::BAD_REQUEST, script_cause(&error)));
                }
            }
        }
        Ok(())
    }
}

/// A hit as a script sees it.
pub(super) struct SourceDocument<'a> {
    pub(super) mapping: &'a Mapping,
    pub(super) source: &'a Value,
    /// What is told of it beside its fields, where that can be asked for.
    pub(super) hit: Option<&'a Hit>,
    /// The fields that the script reads.
    pub(super) paths: &'a [String],
    pub(super) now_ms: i64,
}

impl<'a> ScriptDocument<'a> for SourceDocument<'a> {
    fn is_mapped(&self, field: usize) -> bool {
        let path = self.paths.get(field);
        path.is_some_and(|path| self.mapping.field(path).is_some() || self.beside(path).is_some())
    }

    fn values(&mut self, field: usize) -> Result<Vec<ScriptValue<'a>>, ScriptError> {
        let path = self.paths.get(field).map_or("", String::as_str);
        let refused = |reason: String| ScriptError::new(ScriptErrorKind::Argument, reason);
        let Some(mapped) = self.mapping.field(path) else {
            if let Some(value) = self.beside(path) {
                return Ok(vec![value]);
            }
            return Err(refused(format!("No field found for [{path}] in mapping")));
        };
        if !mapped.is_aggregatable()
            || matches!(mapped.kind, FieldKind::Range { .. } | FieldKind::GeoShape)
        {
            return Err(refused(format!(
                "Fielddata is not supported on field [{path}] of type [{}]",
                mapped.kind.type_name()
            )));
        }
        let is_date = mapped.date_format().is_some();
        let wanted = match is_date {
            true => json!([{"field": path, "format": "epoch_millis"}]),
            false => json!([path]),
        };
        let mut list = FieldList::default();
        list.extend("docvalue_fields", &wanted)
            .map_err(|_| refused(format!("the values of [{path}] cannot be read")))?;
        let mut found = Map::new();
        let place = self.hit.and_then(place_of);
        list.collect(self.mapping, (self.source, place.as_deref()), &mut found);
        let Some(Value::Array(found)) = found.remove(path) else {
            return Ok(Vec::new());
        };
        Ok(found
            .iter()
            .filter_map(|value| typed(mapped, value))
            .collect())
    }

    fn source(&self) -> Option<ScriptValue<'a>> {
        Some(ScriptValue::of_json(self.source))
    }

    fn now_ms(&self) -> i64 {
        self.now_ms
    }
}

impl<'a> SourceDocument<'a> {
    /// What a hit has beside its fields.
    fn beside(&self, path: &str) -> Option<ScriptValue<'a>> {
        let hit = self.hit?;
        Some(match path {
            "_index" => ScriptValue::Text(hit.index.name().to_string().into()),
            "_id" => ScriptValue::Text(hit.id.as_str().into()),
            "_seq_no" => ScriptValue::Whole(i64::try_from(hit.seq_no).unwrap_or(i64::MAX)),
            _ => return None,
        })
    }
}

/// A value of a column as scripts have it.
fn typed<'a>(field: &MappedField, value: &Value) -> Option<ScriptValue<'a>> {
    Some(match (&field.kind, value) {
        (FieldKind::Date { .. } | FieldKind::DateNanos { .. }, value) => {
            let text = value.as_str()?;
            let whole = text.split_once('.').map_or(text, |(whole, _)| whole);
            ScriptValue::Date(whole.parse().ok()?)
        }
        (FieldKind::GeoPoint, Value::String(text)) => {
            let (lat, lon) = text.split_once(',')?;
            ScriptValue::Point(GeoPoint {
                lat: lat.trim().parse().ok()?,
                lon: lon.trim().parse().ok()?,
            })
        }
        (FieldKind::Float(_), value) => ScriptValue::Float(value.as_f64()?),
        (_, Value::Bool(truth)) => ScriptValue::Bool(*truth),
        (_, Value::Number(number)) => match number.as_i64() {
            Some(whole) => ScriptValue::Whole(whole),
            None => ScriptValue::Float(number.as_f64()?),
        },
        (_, Value::String(text)) => ScriptValue::Text(text.clone().into()),
        _ => return None,
    })
}
