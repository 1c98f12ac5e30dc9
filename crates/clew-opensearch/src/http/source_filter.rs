//! `_source` filtering: which paths of a document's JSON are given back. What is kept is spliced
//! from the stored bytes, so numbers come back digit by digit as they were sent.

use std::cell::RefCell;

use clew_platform::Pace;
use clew_schema::glob::matches as glob;
use clew_schema::text_of;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::http::error::ApiError;
use crate::http::json_writer::JsonWriter;
use crate::http::params::Params;
use crate::http::place::{Spot, token};
use crate::http::raw_json::{Items, Members};

/// What a client wants to see of a source.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SourceFilter {
    /// All of it.
    All,
    /// Nothing, not even the empty object.
    None,
    /// The paths that match an include (none means all) and no exclude.
    Paths {
        includes: Vec<String>,
        excludes: Vec<String>,
    },
}

impl SourceFilter {
    /// Reads `_source` of a search body: a flag, a path, a list of paths, or both lists.
    pub(crate) fn from_json(value: &Value) -> Result<Self, ApiError> {
        match value {
            Value::Bool(true) => Ok(SourceFilter::All),
            Value::Bool(false) => Ok(SourceFilter::None),
            Value::String(_) => Ok(Self::paths(vec![text_of(value)], Vec::new())),
            // As in OpenSearch whatever stands in a list is taken for its text.
            Value::Array(items) => Ok(Self::paths(items.iter().map(text_of).collect(), Vec::new())),
            Value::Object(members) => {
                let (mut includes, mut excludes) = (Vec::new(), Vec::new());
                for (name, value) in members {
                    match name.as_str() {
                        "includes" | "include" => includes = member(name, value)?,
                        "excludes" | "exclude" => excludes = member(name, value)?,
                        // Elasticsearch's clients since 9 ask for vectors, which are shown here anyway.
                        "exclude_vectors" if *value == Value::Bool(false) => {}
                        _ => return Err(unknown_key(name, value)),
                    }
                }
                Ok(Self::paths(includes, excludes))
            }
            Value::Null | Value::Number(_) => {
                let reason = format!(
                    "Expected one of [VALUE_BOOLEAN, START_OBJECT] but found [{}]",
                    token(value)
                );
                Err(ApiError::parsing_at(Spot::start_of(value), reason))
            }
        }
    }

    /// Reads `_source`, `_source_includes` and `_source_excludes` of a URI.
    pub(crate) fn from_params(params: &Params) -> Result<Option<Self>, ApiError> {
        let list = |name: &str| -> Vec<String> {
            params
                .list(name)
                .unwrap_or_default()
                .into_iter()
                .map(String::from)
                .collect()
        };
        let excludes = list("_source_excludes");
        let mut includes = list("_source_includes");
        match params.get("_source") {
            Some("false") => return Ok(Some(SourceFilter::None)),
            Some("" | "true") => return Ok(Some(Self::paths(includes, excludes))),
            Some(_) => includes.extend(list("_source")),
            None if includes.is_empty() && excludes.is_empty() => return Ok(None),
            None => {}
        }
        Ok(Some(Self::paths(includes, excludes)))
    }

    fn paths(includes: Vec<String>, excludes: Vec<String>) -> Self {
        if includes.is_empty() && excludes.is_empty() {
            SourceFilter::All
        } else {
            SourceFilter::Paths { includes, excludes }
        }
    }

    /// Whether a value at this path, or a part of it, could be kept.
    pub(crate) fn may_keep(&self, path: &str) -> bool {
        match self {
            SourceFilter::All => true,
            SourceFilter::None => false,
            SourceFilter::Paths { includes, excludes } => {
                let included = includes.is_empty()
                    || covers(includes, path)
                    || includes.iter().any(|pattern| reaches_below(pattern, path));
                included && !covers(excludes, path)
            }
        }
    }

    /// Writes what is kept of a source as one JSON value. `None` writes nothing at all, so the
    /// caller asks first whether a source is wanted.
    pub(crate) fn write(&self, source: &[u8], json: &mut JsonWriter) {
        let SourceFilter::Paths { includes, excludes } = self else {
            json.raw(source);
            return;
        };
        let paths = Paths {
            includes,
            excludes,
            pace: Pace::of_lists(includes.len() + excludes.len()).into(),
        };
        let kept = serde_json::from_slice::<&RawValue>(source)
            .ok()
            .and_then(|raw| paths.filter(raw, "", includes.is_empty()));
        match kept {
            Some(kept) => json.raw(&kept),
            None => json.raw(b"{}"),
        };
    }
}

/// Whether a pattern matches the path or one of its parents.
fn covers(patterns: &[String], path: &str) -> bool {
    patterns.iter().any(|pattern| {
        glob(pattern, path)
            || path
                .bytes()
                .enumerate()
                .any(|(at, byte)| byte == b'.' && glob(pattern, &path[..at]))
    })
}

/// Whether a pattern could match something below the path.
fn reaches_below(pattern: &str, path: &str) -> bool {
    let fixed = pattern.split('*').next().unwrap_or_default();
    let has_star = fixed.len() < pattern.len();
    let below = format!("{path}.");
    fixed.starts_with(&below) || (has_star && below.starts_with(fixed))
}

struct Paths<'a> {
    includes: &'a [String],
    excludes: &'a [String],
    /// Counts members, each of which is held against all patterns. Once the request is over, those that are left are dropped.
    pace: RefCell<Pace>,
}

impl Paths<'_> {
    /// What is kept of a value at a path; `None` when nothing is. `included` says that the path
    /// or a parent matched an include.
    fn filter(&self, value: &RawValue, path: &str, included: bool) -> Option<Vec<u8>> {
        let text = value.get();
        let excludes_below = self
            .excludes
            .iter()
            .any(|p| path.is_empty() || reaches_below(p, path));
        if included && !excludes_below {
            return Some(text.as_bytes().to_vec());
        }
        let mut json = JsonWriter::with_capacity(text.len().min(4096));
        let mut kept_any = false;
        match text.as_bytes().first() {
            Some(b'{') => {
                let members: Members = serde_json::from_str(text).ok()?;
                json.begin_object();
                for (key, member) in members.0 {
                    let below = if path.is_empty() {
                        key.to_string()
                    } else {
                        format!("{path}.{key}")
                    };
                    if let Some(kept) = self.member(member, &below, included) {
                        json.key(&key).raw(&kept);
                        kept_any = true;
                    }
                }
                json.end_object();
            }
            Some(b'[') => {
                let items: Items = serde_json::from_str(text).ok()?;
                json.begin_array();
                for kept in items
                    .0
                    .iter()
                    .filter_map(|item| self.filter(item, path, included))
                {
                    json.raw(&kept);
                    kept_any = true;
                }
                json.end_array();
            }
            _ => return included.then(|| text.as_bytes().to_vec()),
        }
        (kept_any || included).then(|| json.into_bytes())
    }

    fn member(&self, value: &RawValue, path: &str, parent_included: bool) -> Option<Vec<u8>> {
        let is_over = self.pace.borrow_mut().is_over();
        if is_over || self.excludes.iter().any(|pattern| glob(pattern, path)) {
            return None;
        }
        let included = parent_included || self.includes.iter().any(|pattern| glob(pattern, path));
        if !included
            && !self
                .includes
                .iter()
                .any(|pattern| reaches_below(pattern, path))
        {
            return None;
        }
        self.filter(value, path, included)
    }
}

/// The paths that one of the lists of an object has.
fn member(name: &str, value: &Value) -> Result<Vec<String>, ApiError> {
    match value {
        Value::String(text) => Ok(vec![text.clone()]),
        Value::Array(items) => {
            let path = |item: &Value| {
                let text = item.as_str().map(String::from);
                text.ok_or_else(|| unknown_key(name, item))
            };
            items.iter().map(path).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {
            Err(unknown_key(name, value))
        }
    }
}

/// The refusal of a member that there is not, or not of values like this.
fn unknown_key(name: &str, value: &Value) -> ApiError {
    let reason = format!("Unknown key for a {} in [{name}].", token(value));
    ApiError::parsing_at(Spot::start_of(value), reason)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clew_platform::CancellationToken;
    use serde_json::json;

    const SOURCE: &str =
        r#"{"a": 1.10, "obj": {"x": 1, "y": {"z": 2}}, "list": [{"x": 3, "w": 4}, 5], "v": [1,2]}"#;

    fn check(filter: Value, expected: &str) {
        let filter = SourceFilter::from_json(&filter).unwrap();
        let mut json = JsonWriter::with_capacity(64);
        filter.write(SOURCE.as_bytes(), &mut json);
        assert_eq!(
            String::from_utf8(json.into_bytes()).unwrap(),
            expected,
            "{filter:?}"
        );
    }

    #[test]
    fn paths_are_kept_and_dropped_as_asked() {
        check(json!(true), SOURCE);
        check(json!("a"), r#"{"a":1.10}"#);
        check(json!(["obj.y"]), r#"{"obj":{"y":{"z": 2}}}"#);
        check(json!(["obj.*"]), r#"{"obj":{"x":1,"y":{"z": 2}}}"#);
        check(json!("*.z"), r#"{"obj":{"y":{"z":2}}}"#);
        check(json!(["list.x"]), r#"{"list":[{"x":3}]}"#);
        check(
            json!({"excludes": ["obj", "list"]}),
            r#"{"a":1.10,"v":[1,2]}"#,
        );
        check(
            json!({"includes": "obj", "excludes": "obj.y.z"}),
            r#"{"obj":{"x":1,"y":{}}}"#,
        );
        let without_x = r#"{"a":1.10,"obj":{"y":{"z":2}},"list":[{"w":4},5],"v":[1,2]}"#;
        check(json!({"excludes": ["*.x"]}), without_x);
        check(json!({"exclude_vectors": false}), SOURCE);
        check(
            json!({"exclude_vectors": false, "includes": ["v"]}),
            r#"{"v":[1,2]}"#,
        );
        let without = json!({"exclude_vectors": true});
        assert!(SourceFilter::from_json(&without).is_err());
        check(json!("missing"), "{}");
        check(json!({"excludes": "*"}), "{}");
    }

    #[test]
    fn a_vector_that_no_filter_keeps_need_not_be_read() {
        let keeps = |filter: Value| SourceFilter::from_json(&filter).unwrap().may_keep("obj.v");
        assert!(keeps(json!(true)) && keeps(json!("obj")) && keeps(json!("*v")));
        assert!(!keeps(json!(false)) && !keeps(json!("a")) && !keeps(json!("obj.x")));
        assert!(!keeps(json!({"excludes": "obj"})) && !keeps(json!({"excludes": ["*.v"]})));
    }

    #[test]
    fn members_are_held_against_patterns_for_somebody_alone() {
        let patterns: Vec<String> = (0..100).map(|number| format!("*{number}x")).collect();
        let filter = json!([patterns, vec!["a".to_string()]].concat());
        check(filter.clone(), r#"{"a":1.10}"#);
        let token = CancellationToken::new();
        token.cancel("by user request");
        let _entered = token.enter();
        check(filter, "{}");
    }

    #[test]
    fn a_filter_of_the_uri_is_read() {
        let read = |query: &str| SourceFilter::from_params(&Params::parse(query).unwrap()).unwrap();
        assert_eq!(read("q=1"), None);
        assert_eq!(read("_source=false"), Some(SourceFilter::None));
        assert_eq!(read("_source=true"), Some(SourceFilter::All));
        let both = SourceFilter::Paths {
            includes: vec!["a".into()],
            excludes: vec!["b".into()],
        };
        assert_eq!(read("_source=a&_source_excludes=b"), Some(both));
    }
}
