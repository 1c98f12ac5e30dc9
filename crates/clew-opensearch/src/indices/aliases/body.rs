//! An alias as clients write it and as they are shown it.

use clew_engine::{Alias, Aliases, EngineError};
use clew_schema::Mapping;
use clew_search::DocumentMatcher;
use serde_json::{Map, Value, json};

use crate::dsl;
use crate::http::error::{ApiError, Cause};
use crate::search::names_documents;

/// Reads `{"name": {...}, ..}`, as it stands in the body of a new index.
///
/// # Errors
/// Members with wrong values, and filters that are no queries.
pub fn read_aliases(body: &Value) -> Result<Aliases, ApiError> {
    let mut aliases = Aliases::new();
    let empty = Map::new();
    for (name, members) in body.as_object().unwrap_or(&empty) {
        let mut alias = AliasBody::default();
        for (key, value) in members.as_object().unwrap_or(&empty) {
            // What no alias has is passed over here, as OpenSearch does.
            alias.read(key, value)?;
        }
        aliases.insert(name.clone(), alias.finish(name)?);
    }
    Ok(aliases)
}

/// What an alias says, while its members are read.
#[derive(Clone, Debug, Default)]
pub struct AliasBody {
    alias: Alias,
    routing: Option<String>,
}

impl AliasBody {
    /// Reads a member; whether an alias has such a member.
    ///
    /// # Errors
    /// A member with a wrong value.
    pub fn read(&mut self, key: &str, value: &Value) -> Result<bool, ApiError> {
        let alias = &mut self.alias;
        match key {
            "filter" => alias.filter = read_filter(value)?,
            "routing" => self.routing = text(key, value)?,
            "index_routing" | "indexRouting" | "index-routing" => {
                alias.index_routing = text(key, value)?;
            }
            "search_routing" | "searchRouting" | "search-routing" => {
                alias.search_routing = text(key, value)?;
            }
            "is_write_index" => alias.is_write_index = flag(key, value)?,
            "is_hidden" => alias.is_hidden = flag(key, value)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The alias; its filter must be a query.
    ///
    /// # Errors
    /// A filter that is none.
    pub fn finish(self, name: &str) -> Result<Alias, ApiError> {
        let mut alias = self.alias;
        if let Some(filter) = &alias.filter
            && let Err(error) = dsl::parse_query(filter)
        {
            let reason = format!("failed to parse filter for alias [{name}]");
            let cause = Cause::new("illegal_argument_exception", reason)
                .caused_by(Cause::new(error.kind.type_name(), error.reason));
            return Err(ApiError::new(axum::http::StatusCode::BAD_REQUEST, cause));
        }
        alias.index_routing = alias.index_routing.or_else(|| self.routing.clone());
        alias.search_routing = alias.search_routing.or(self.routing);
        Ok(alias)
    }
}

/// Refuses filters that mean nothing to the mapping of a new index. What names documents is known when these are read.
///
/// # Errors
/// Of the first alias.
pub(crate) fn check_filters(aliases: &Aliases, mapping: &Mapping) -> Result<(), ApiError> {
    for (name, alias) in aliases {
        let Some(Ok(mut query)) = alias.filter.as_ref().map(dsl::parse_query) else {
            continue;
        };
        if names_documents(&mut query) {
            continue;
        }
        let fits = DocumentMatcher::check(mapping, &query);
        fits.map_err(|error| filter_refused(name, error.into()))?;
    }
    Ok(())
}

/// The refusal of an alias for its filter.
pub(super) fn filter_refused(alias: &str, error: EngineError) -> ApiError {
    let reason = format!("failed to parse filter for alias [{alias}]");
    let outer = Cause::new("illegal_argument_exception", reason);
    ApiError::from(error).map_cause(|cause| outer.caused_by(cause))
}

/// A filter is an object, or its text; an empty one restricts nothing.
fn read_filter(value: &Value) -> Result<Option<Value>, ApiError> {
    match value {
        Value::Null => Ok(None),
        Value::Object(members) if members.is_empty() => Ok(None),
        Value::Object(_) => Ok(Some(value.clone())),
        Value::String(text) => {
            let parsed: Value = serde_json::from_str(text)
                .map_err(|error| ApiError::malformed_text(text.as_bytes(), &error))?;
            if !parsed.is_object() {
                return Err(wrong("filter", value));
            }
            read_filter(&parsed)
        }
        Value::Bool(_) | Value::Number(_) | Value::Array(_) => Err(wrong("filter", value)),
    }
}

pub(super) fn text(key: &str, value: &Value) -> Result<Option<String>, ApiError> {
    match value {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(text.clone())),
        Value::Number(number) => Ok(Some(number.to_string())),
        Value::Bool(_) | Value::Array(_) | Value::Object(_) => Err(wrong(key, value)),
    }
}

fn flag(key: &str, value: &Value) -> Result<Option<bool>, ApiError> {
    match value {
        Value::Null => Ok(None),
        Value::Bool(flag) => Ok(Some(*flag)),
        Value::String(text) if text == "true" => Ok(Some(true)),
        Value::String(text) if text == "false" => Ok(Some(false)),
        _ => Err(wrong(key, value)),
    }
}

fn wrong(key: &str, value: &Value) -> ApiError {
    ApiError::bad_request(
        "x_content_parse_exception",
        format!("[{key}] has a value of the wrong type: [{value}]"),
    )
}

/// An alias as `GET _alias` shows it.
pub(crate) fn shown_alias(alias: &Alias) -> Value {
    let mut shown = Map::new();
    let mut put = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            shown.insert(key.to_string(), value);
        }
    };
    put("filter", alias.filter.clone());
    put(
        "index_routing",
        alias.index_routing.as_deref().map(Value::from),
    );
    put(
        "search_routing",
        alias.search_routing.as_deref().map(Value::from),
    );
    put("is_write_index", alias.is_write_index.map(Value::from));
    put("is_hidden", alias.is_hidden.map(Value::from));
    Value::Object(shown)
}

/// All aliases of an index.
pub(crate) fn shown_aliases(aliases: &Aliases) -> Value {
    let each = aliases
        .iter()
        .map(|(name, alias)| (name.clone(), shown_alias(alias)));
    let shown: Map<String, Value> = each.collect();
    json!(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_is_what_was_given() {
        let body = json!({
            "a": {"x": 1},
            "b": {"routing": 5},
            "c": {"routing": "r", "index_routing": "i", "is_write_index": true},
            "d": {"filter": {"term": {"f": "v"}}, "is_hidden": false},
            "e": {"filter": "{\"term\":{\"f\":1}}"},
        });
        let shown = shown_aliases(&read_aliases(&body).unwrap());
        let want = json!({
            "a": {},
            "b": {"index_routing": "5", "search_routing": "5"},
            "c": {"index_routing": "i", "search_routing": "r", "is_write_index": true},
            "d": {"filter": {"term": {"f": "v"}}, "is_hidden": false},
            "e": {"filter": {"term": {"f": 1}}},
        });
        assert_eq!(shown, want);
    }

    #[test]
    fn wrong_members_are_named() {
        for (body, named) in [
            (json!({"a": {"is_hidden": 1}}), "[is_hidden]"),
            (json!({"a": {"routing": []}}), "[routing]"),
            (json!({"a": {"filter": {"nonsense": {}}}}), "alias [a]"),
        ] {
            let error = read_aliases(&body).unwrap_err();
            assert!(
                String::from_utf8(error.body()).unwrap().contains(named),
                "{body}"
            );
        }
    }
}
