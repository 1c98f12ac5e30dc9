//! The steps of search pipelines.

use clew_engine::Fusion;
use clew_ingest::template::lookup;
use regex::Regex;
use serde_json::{Map, Value, json};

use super::{fusion, two_phase};
use crate::dsl;
use crate::http::error::ApiError;

/// Steps of one pipeline.
const STEPS_MAX: usize = 100;
/// Hits that are asked for unless a search says otherwise.
const SIZE_DEFAULT: u64 = 10;

/// A pipeline, understood.
#[derive(Debug)]
pub(super) struct Pipeline {
    before: Vec<Step<Before>>,
    phase: Vec<Step<Fusion>>,
    after: Vec<Step<After>>,
}

#[derive(Debug)]
struct Step<T> {
    ignore_failure: bool,
    what: T,
}

/// A step that changes the search.
#[derive(Debug)]
enum Before {
    FilterQuery(Value),
    Oversample(f64),
    /// Weights that count little are looked at last. All are looked at here anyway.
    TwoPhase,
}

/// A step that changes the answer.
#[derive(Debug)]
enum After {
    Rename {
        field: String,
        target: String,
        /// Hits may be without the field.
        may_lack: bool,
    },
    Truncate(Option<u64>),
    Sort {
        field: String,
        target: String,
        descending: bool,
    },
    Split {
        field: String,
        target: String,
        separator: Regex,
        keep_trailing: bool,
    },
    Collapse(String),
    /// Scores of `hybrid` queries are explained, as they always are.
    ExplainHybrid,
}

impl Pipeline {
    /// Reads a pipeline's definition.
    pub(super) fn parse(id: &str, body: &Value) -> Result<Self, ApiError> {
        let mut pipeline = Pipeline {
            before: Vec::new(),
            phase: Vec::new(),
            after: Vec::new(),
        };
        let mut unknown = Vec::new();
        for (key, value) in body.as_object().into_iter().flatten() {
            match key.as_str() {
                "description" | "version" => {}
                "request_processors" => pipeline.before = steps(key, value, before)?,
                "response_processors" => pipeline.after = steps(key, value, after)?,
                "phase_results_processors" => pipeline.phase = steps(key, value, fusion::read)?,
                other => unknown.push(other),
            }
        }
        if !unknown.is_empty() {
            return Err(malformed(format!(
                "pipeline [{id}] doesn't support one or more provided configuration parameters \
                 [{}]",
                unknown.join(", ")
            )));
        }
        Ok(pipeline)
    }

    /// How the rankings of a `hybrid` query become one. What comes first leaves nothing to do.
    pub(super) fn fusion(&self) -> Option<&Fusion> {
        self.phase.first().map(|step| &step.what)
    }

    /// Changes a search's body; gives the size that was asked for when that changed.
    pub(super) fn change_request(&self, body: &mut Value) -> Result<Option<u64>, ApiError> {
        let mut size_before = None;
        for step in &self.before {
            match &step.what {
                Before::FilterQuery(filter) => {
                    let query = body.get("query").cloned();
                    body["query"] = filtered(query, filter);
                }
                Before::TwoPhase => {}
                Before::Oversample(factor) => {
                    let size = body.get("size").and_then(Value::as_u64);
                    let size = size.unwrap_or(SIZE_DEFAULT);
                    size_before = Some(size);
                    body["size"] = times(size, *factor).into();
                }
            }
        }
        Ok(size_before)
    }

    pub(super) fn changes_answers(&self) -> bool {
        !self.after.is_empty()
    }

    /// Changes a search's answer.
    pub(super) fn change_answer(
        &self,
        answer: &mut Value,
        size_before: Option<u64>,
    ) -> Result<(), ApiError> {
        let hits = answer.pointer_mut("/hits/hits");
        let Some(Value::Array(hits)) = hits else {
            return Ok(());
        };
        for step in &self.after {
            match step.what.apply(hits, size_before) {
                Err(error) if !step.ignore_failure => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }
}

fn steps<T>(
    key: &str,
    value: &Value,
    read: fn(&str, &mut Map<String, Value>) -> Result<T, ApiError>,
) -> Result<Vec<Step<T>>, ApiError> {
    let items = value
        .as_array()
        .ok_or_else(|| malformed(format!("[{key}] property isn't a list")))?;
    if items.len() > STEPS_MAX {
        return Err(ApiError::illegal_argument(format!(
            "more than [{STEPS_MAX}] processors in [{key}]"
        )));
    }
    let one = |item: &Value| {
        let named = item.as_object().and_then(|members| members.iter().next());
        let Some((name, Value::Object(members))) = named else {
            return Err(malformed(format!("[{key}] holds no processor")));
        };
        let mut members = members.clone();
        let ignored = members.remove("ignore_failure");
        members.remove("tag");
        members.remove("description");
        let what = read(name, &mut members)?;
        if let Some((other, _)) = members.iter().next() {
            return Err(malformed(format!(
                "processor [{name}] doesn't support one or more provided configuration parameters \
                 [{other}]"
            )));
        }
        Ok(Step {
            ignore_failure: ignored == Some(Value::Bool(true)),
            what,
        })
    };
    items.iter().map(one).collect()
}

fn before(name: &str, members: &mut Map<String, Value>) -> Result<Before, ApiError> {
    match name {
        "filter_query" => {
            let query = members
                .remove("query")
                .ok_or_else(|| malformed("Did not specify the query property".to_string()))?;
            dsl::parse_query(&query)?;
            Ok(Before::FilterQuery(query))
        }
        "oversample" => {
            members.remove("content_prefix");
            let factor = members.remove("sample_factor").and_then(|f| f.as_f64());
            match factor {
                Some(factor) if factor >= 1.0 => Ok(Before::Oversample(factor)),
                _ => Err(malformed(
                    "[sample_factor] Value must be >= 1.0".to_string(),
                )),
            }
        }
        "neural_sparse_two_phase_processor" => {
            two_phase::check(members)?;
            Ok(Before::TwoPhase)
        }
        other => Err(unknown_step(other)),
    }
}

/// A query within a filter; one of several queries takes it into each.
fn filtered(query: Option<Value>, filter: &Value) -> Value {
    let Some(mut query) = query else {
        return json!({"bool": {"filter": [filter]}});
    };
    if let Some(Value::Object(hybrid)) = query.get_mut("hybrid") {
        let both: Vec<Value> = hybrid
            .remove("filter")
            .into_iter()
            .chain([filter.clone()])
            .collect();
        hybrid.insert("filter".to_string(), json!({"bool": {"filter": both}}));
        return query;
    }
    json!({"bool": {"must": [query], "filter": [filter]}})
}

fn after(name: &str, members: &mut Map<String, Value>) -> Result<After, ApiError> {
    match name {
        "rename_field" => Ok(After::Rename {
            field: text(members, "field")?,
            target: text(members, "target_field")?,
            may_lack: members.remove("ignore_missing") == Some(Value::Bool(true)),
        }),
        "truncate_hits" => {
            members.remove("context_prefix");
            let size = members.remove("target_size");
            Ok(After::Truncate(size.and_then(|size| size.as_u64())))
        }
        "sort" => {
            let field = text(members, "field")?;
            Ok(After::Sort {
                target: optional(members, "target_field").unwrap_or_else(|| field.clone()),
                descending: match optional(members, "order").as_deref() {
                    None | Some("asc") => false,
                    Some("desc") => true,
                    Some(other) => {
                        return Err(malformed(format!(
                            "Sort direction [{other}] not recognized. Valid values are: [asc, desc]"
                        )));
                    }
                },
                field,
            })
        }
        "split" => {
            let field = text(members, "field")?;
            let separator = text(members, "separator")?;
            Ok(After::Split {
                target: optional(members, "target_field").unwrap_or_else(|| field.clone()),
                separator: Regex::new(&separator)
                    .map_err(|error| malformed(format!("[separator] {error}")))?,
                keep_trailing: members.remove("preserve_trailing") == Some(Value::Bool(true)),
                field,
            })
        }
        "collapse" => {
            members.remove("context_prefix");
            Ok(After::Collapse(text(members, "field")?))
        }
        "hybrid_score_explanation" => Ok(After::ExplainHybrid),
        other => Err(unknown_step(other)),
    }
}

pub(super) fn unknown_step(name: &str) -> ApiError {
    ApiError::illegal_argument(format!("Invalid processor type {name}"))
}

pub(super) fn malformed(reason: String) -> ApiError {
    ApiError::bad_request("parse_exception", reason)
}

fn text(members: &mut Map<String, Value>, key: &str) -> Result<String, ApiError> {
    optional(members, key).ok_or_else(|| malformed(format!("[{key}] required property is missing")))
}

fn optional(members: &mut Map<String, Value>, key: &str) -> Option<String> {
    match members.remove(key)? {
        Value::String(text) => Some(text),
        other => Some(other.to_string()),
    }
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "the conversion saturates, and sizes are checked against the window"
)]
fn times(size: u64, factor: f64) -> u64 {
    (size as f64 * factor).ceil() as u64
}

impl After {
    fn apply(&self, hits: &mut Vec<Value>, size_before: Option<u64>) -> Result<(), ApiError> {
        match self {
            After::ExplainHybrid => {}
            After::Truncate(size) => {
                let Some(size) = size.or(size_before) else {
                    return Err(ApiError::illegal_argument(
                        "Must specify target_size unless an earlier processor set original_size",
                    ));
                };
                hits.truncate(usize::try_from(size).unwrap_or(usize::MAX));
            }
            After::Collapse(field) => {
                let mut seen: Vec<Value> = Vec::new();
                hits.retain(|hit| {
                    let value = value_of(hit, field).cloned().unwrap_or(Value::Null);
                    let new = !seen.contains(&value);
                    if new {
                        seen.push(value);
                    }
                    new
                });
            }
            After::Rename {
                field,
                target,
                may_lack,
            } => {
                for hit in hits {
                    if !rename(hit, field, target) && !may_lack {
                        return Err(lacking(hit, field));
                    }
                }
            }
            After::Sort {
                field,
                target,
                descending,
            } => {
                for hit in hits {
                    let value = value_of(hit, field).cloned();
                    let shown = shown_of(hit, field).cloned();
                    let of_value = sorted(value, *descending);
                    put(hit, target, (of_value, sorted(shown, *descending)));
                }
            }
            After::Split {
                field,
                target,
                separator,
                keep_trailing,
            } => {
                for hit in hits {
                    let value = value_of(hit, field).and_then(Value::as_str);
                    let shown = shown_of(hit, field).and_then(|values| values.get(0)?.as_str());
                    let parts = |text: &str| split(text, separator, *keep_trailing);
                    let (of_value, of_shown) = (value.map(parts), shown.map(parts));
                    put(hit, target, (of_value, of_shown));
                }
            }
        }
        Ok(())
    }
}

/// A field of a hit: of its source, or of the fields that were asked for.
fn value_of<'a>(hit: &'a Value, field: &str) -> Option<&'a Value> {
    let source = hit.get("_source").and_then(|source| lookup(source, field));
    source.or_else(|| hit.get("fields")?.get(field)?.get(0))
}

/// The values of a field among those that were asked for.
fn shown_of<'a>(hit: &'a Value, field: &str) -> Option<&'a Value> {
    hit.get("fields")?.get(field)
}

/// Puts what was made of a field into the source, and among the fields that were asked for.
fn put(hit: &mut Value, field: &str, (of_value, shown): (Option<Value>, Option<Value>)) {
    if let Some(value) = of_value {
        set(hit, field, value);
    }
    if let (Some(Value::Object(fields)), Some(values)) = (hit.get_mut("fields"), shown) {
        fields.insert(field.to_string(), values);
    }
}

/// The parts of a text between separators.
fn split(text: &str, separator: &Regex, keep_trailing: bool) -> Value {
    let mut parts: Vec<&str> = separator.split(text).collect();
    while !keep_trailing && parts.last().is_some_and(|last| last.is_empty()) {
        parts.pop();
    }
    json!(parts)
}

fn set(hit: &mut Value, field: &str, value: Value) {
    if let Some(Value::Object(source)) = hit.get_mut("_source") {
        source.insert(field.to_string(), value);
    }
}

/// Whether there was a field to rename.
fn rename(hit: &mut Value, field: &str, target: &str) -> bool {
    let mut found = false;
    for place in ["_source", "fields"] {
        if let Some(Value::Object(members)) = hit.get_mut(place)
            && let Some(value) = members.remove(field)
        {
            members.insert(target.to_string(), value);
            found = true;
        }
    }
    found
}

fn lacking(hit: &Value, field: &str) -> ApiError {
    let id = hit.get("_id").and_then(Value::as_str).unwrap_or_default();
    ApiError::illegal_argument(format!("Document with id {id} is missing field {field}"))
}

/// The items of a list in their order; what is none stays as it is.
fn sorted(value: Option<Value>, descending: bool) -> Option<Value> {
    let Some(Value::Array(mut items)) = value else {
        return None;
    };
    items.sort_by(|a, b| match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) => a.total_cmp(&b),
        _ => clew_ingest::template::plain(a).cmp(&clew_ingest::template::plain(b)),
    });
    if descending {
        items.reverse();
    }
    Some(Value::Array(items))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(body: &Value) -> Pipeline {
        Pipeline::parse("p", body).unwrap()
    }

    #[test]
    fn searches_are_changed_before_they_run() {
        let pipeline = parsed(&json!({"request_processors": [
            {"filter_query": {"query": {"term": {"a": 1}}}},
            {"oversample": {"sample_factor": 1.5}},
        ]}));
        let mut body = json!({"query": {"match_all": {}}, "size": 3});
        assert_eq!(pipeline.change_request(&mut body).unwrap(), Some(3));
        assert_eq!(body["size"], 5);
        assert_eq!(
            body["query"]["bool"]["filter"][0],
            json!({"term": {"a": 1}})
        );
    }

    #[test]
    fn answers_are_changed_afterwards() {
        let pipeline = parsed(&json!({"response_processors": [
            {"rename_field": {"field": "a", "target_field": "b"}},
            {"sort": {"field": "n", "order": "desc"}},
            {"split": {"field": "t", "separator": ","}},
            {"collapse": {"field": "g"}},
            {"truncate_hits": {}},
        ]}));
        let hit = |g: u32| json!({"_source": {"a": 1, "n": [1, 3, 2], "t": "x,y,,", "g": g}});
        let mut answer = json!({"hits": {"hits": [hit(1), hit(1), hit(2), hit(3)]}});
        pipeline.change_answer(&mut answer, Some(2)).unwrap();
        let hits = answer["hits"]["hits"].as_array().unwrap();
        assert_eq!(hits.len(), 2);
        let expected = json!({"b": 1, "n": [3, 2, 1], "t": ["x", "y"], "g": 1});
        assert_eq!(hits[0]["_source"], expected);
        let mut lacking = json!({"hits": {"hits": [{"_source": {}}]}});
        assert!(pipeline.change_answer(&mut lacking, Some(2)).is_err());
    }

    #[test]
    fn what_a_step_is_not_made_for_stays_as_it_is() {
        let pipeline = parsed(&json!({"response_processors": [
            {"rename_field": {"field": "none", "target_field": "b", "ignore_missing": true}},
            {"sort": {"field": "t"}},
            {"sort": {"field": "none"}},
            {"split": {"field": "n", "separator": ","}},
        ]}));
        let hit = json!({"_id": "1", "_source": {"t": "x", "n": 3}});
        let mut answer = json!({"hits": {"hits": [hit]}});
        pipeline.change_answer(&mut answer, None).unwrap();
        assert_eq!(answer["hits"]["hits"][0], hit);
    }

    #[test]
    fn fields_that_are_shown_are_changed_beside_the_source() {
        let pipeline = parsed(&json!({"response_processors": [
            {"sort": {"field": "l", "target_field": "sorted"}},
            {"split": {"field": "t", "separator": ",", "target_field": "parts"}},
        ]}));
        let hit = json!({"_id": "1", "_source": {}, "fields": {"l": [3, 1], "t": ["a,b"]}});
        let mut answer = json!({"hits": {"hits": [hit]}});
        pipeline.change_answer(&mut answer, None).unwrap();
        let fields = &answer["hits"]["hits"][0]["fields"];
        assert_eq!(fields["sorted"], json!([1, 3]));
        assert_eq!(fields["parts"], json!(["a", "b"]));
    }

    #[test]
    fn what_is_no_pipeline_is_refused() {
        for body in [
            json!({"invalid_field": {}}),
            json!({"request_processors": {}}),
            json!({"request_processors": [{"script": {}}]}),
            json!({"request_processors": [{"oversample": {"sample_factor": 0.5}}]}),
            json!({"response_processors": [{"rename_field": {"field": "a"}}]}),
            json!({"response_processors": [{"collapse": {"field": "a", "x": 1}}]}),
        ] {
            assert!(Pipeline::parse("p", &body).is_err(), "{body}");
        }
    }
}
