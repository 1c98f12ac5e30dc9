//! `more_like_this` and `terms_set`.

use std::collections::BTreeMap;

use clew_query::{
    Bool, LikeDocument, LikeItem, LikeNamed, MoreLikeThis, Query, ScriptPurpose, TermsMinimum,
    TermsSet, WordChoice,
};
use serde_json::{Map, Value};

use super::object::{Parameters, one_field, plain};
use super::script::Written;
use super::{DslError, DslErrorKind, named};
use crate::http::place::Spot;

/// What an item is told that is not one thing.
const EITHER: &str = "failed to parse More Like This item. either [id] or [doc] can be specified, \
                      but not both!";
/// What an item may say.
const ITEM: [&str; 8] = [
    "_index",
    "_id",
    "doc",
    "fields",
    "per_field_analyzer",
    "routing",
    "version",
    "version_type",
];
/// Texts and documents of one query.
const ITEMS_MAX: usize = 100;
/// Words per field.
const WORDS_MAX: usize = 1024;

pub(super) fn more_like_this(body: &Value) -> Result<Query, DslError> {
    let mut parameters = Parameters::new("mlt", body)?;
    let boost = parameters.boost()?;
    let fields = match parameters.take("fields") {
        None => Vec::new(),
        Some(value) if !value.is_array() => {
            let reason = "[mlt] query does not support [fields]";
            return Err(DslError::parsing(reason).at(Spot::start_of(value)));
        }
        Some(Value::Array(fields)) if !fields.is_empty() => fields.iter().map(plain).collect(),
        Some(_) => {
            return Err(DslError::parsing(
                "more_like_this requires 'fields' to be non-empty",
            ));
        }
    };
    let mut ids = Vec::new();
    let like = items(parameters.take("like"), &mut ids)?;
    if like.is_empty() && ids.is_empty() {
        return Err(DslError::parsing(
            "more_like_this requires 'like' to be specified",
        ));
    }
    let unlike = items(parameters.take("unlike"), &mut Vec::new())?;
    let include = parameters.flag("include")?.unwrap_or(false);
    let minimum = parameters.minimum_should_match()?;
    let minimum_should_match = match minimum {
        Some(minimum) => minimum,
        None => "30%".parse().map_err(DslError::illegal)?,
    };
    let similar = MoreLikeThis {
        fields,
        like,
        unlike,
        choice: choice(&mut parameters)?,
        minimum_should_match,
        boost_terms: parameters.float("boost_terms")?.unwrap_or(0.0),
        analyzer: parameters.text("analyzer")?,
        passes_over_others: parameters.flag("fail_on_unsupported_field")? == Some(false),
        boost,
    };
    parameters.finish()?;
    let query = Query::MoreLikeThis(Box::new(similar));
    if include || ids.is_empty() {
        return Ok(query);
    }
    Ok(Query::Bool(Bool {
        must: vec![query],
        must_not: vec![Query::Ids {
            values: ids,
            boost: 1.0,
        }],
        ..Bool::default()
    }))
}

fn choice(parameters: &mut Parameters<'_>) -> Result<WordChoice, DslError> {
    let usual = WordChoice::default();
    let mut frequency = |name: &str, usual: u64| -> Result<u64, DslError> {
        let number = parameters.whole(name)?;
        Ok(number.map_or(usual, |number| u64::try_from(number).unwrap_or(u64::MAX)))
    };
    let term_freq_min = frequency("min_term_freq", usual.term_freq_min)?;
    let doc_freq_min = frequency("min_doc_freq", usual.doc_freq_min)?;
    let doc_freq_max = frequency("max_doc_freq", usual.doc_freq_max)?;
    let query_terms_max = parameters
        .whole("max_query_terms")?
        .unwrap_or(usual.query_terms_max);
    if query_terms_max == 0 || query_terms_max > WORDS_MAX {
        return Err(DslError::illegal(
            "requires 'maxQueryTerms' to be greater than 0",
        ));
    }
    Ok(WordChoice {
        query_terms_max,
        term_freq_min,
        doc_freq_min,
        doc_freq_max,
        word_length_min: parameters.whole("min_word_length")?.unwrap_or(0),
        word_length_max: parameters.whole("max_word_length")?.unwrap_or(0),
        stop_words: match parameters.take("stop_words") {
            Some(Value::Array(words)) => words.iter().map(plain).collect(),
            Some(Value::String(word)) => vec![word.clone()],
            _ => Vec::new(),
        },
    })
}

/// Texts, and documents whose content is given; the ids of those that are stored are noted, since
/// a document is not found by being like itself.
fn items(value: Option<&Value>, ids: &mut Vec<String>) -> Result<Vec<LikeItem>, DslError> {
    let one;
    let values: &[Value] = match value {
        None => &[],
        Some(Value::Array(values)) => values,
        Some(value) => {
            one = [value.clone()];
            &one
        }
    };
    if values.len() > ITEMS_MAX {
        return Err(DslError::illegal(format!(
            "more_like_this takes at most [{ITEMS_MAX}] items, got [{}]",
            values.len()
        )));
    }
    let mut items = Vec::new();
    for value in values {
        match value {
            Value::String(_) | Value::Number(_) | Value::Bool(_) => {
                items.push(LikeItem::Text(plain(value)));
            }
            Value::Object(object) => {
                if let Some(name) = object.keys().find(|name| !ITEM.contains(&name.as_str())) {
                    let unknown = "failed to parse More Like This item. unknown field";
                    return Err(malformed(&format!("{unknown} [{name}]")));
                }
                if let Some(id) = object.get("_id") {
                    ids.push(plain(id));
                    items.extend(named(object)?);
                    continue;
                }
                if let Some(document) = object.get("doc") {
                    items.push(LikeItem::Document(LikeDocument {
                        document: document.clone(),
                        is_stored: false,
                        analyzers: analyzers(object.get("per_field_analyzer")),
                    }));
                } else {
                    return Err(DslError::parsing(EITHER));
                }
            }
            _ => {
                return Err(DslError::illegal(
                    "Content of 'like' parameter should either be a string or an object",
                ));
            }
        }
    }
    Ok(items)
}

fn malformed(reason: &str) -> DslError {
    DslError::of(DslErrorKind::Malformed, reason)
}

/// The document that an item names, if its name is one.
fn named(object: &Map<String, Value>) -> Result<Option<LikeItem>, DslError> {
    if object.contains_key("doc") {
        return Err(malformed(EITHER));
    }
    let document = named::document(object, &named::UNDERSCORED);
    Ok(document.map(|document| {
        LikeItem::Named(LikeNamed {
            document,
            analyzers: analyzers(object.get("per_field_analyzer")),
        })
    }))
}

/// The analyzers of fields, where they are not the fields' own.
fn analyzers(value: Option<&Value>) -> BTreeMap<String, String> {
    let fields = value.and_then(Value::as_object).into_iter().flatten();
    let text = |(field, name): (&String, &Value)| (field.clone(), plain(name));
    fields.map(text).collect()
}

pub(super) fn terms_set(body: &Value) -> Result<Query, DslError> {
    let (field, value) = one_field("terms_set", body)?;
    let mut parameters = Parameters::new("terms_set", value)?;
    let boost = parameters.boost()?;
    let terms = match parameters.take("terms") {
        Some(Value::Array(terms)) => terms,
        Some(value) => {
            let reason = "[terms_set] query does not support [terms]";
            return Err(DslError::parsing(reason).at(Spot::start_of(value)));
        }
        None => return Err(DslError::parsing("[terms_set] requires [terms]")),
    };
    let script = parameters.take("minimum_should_match_script");
    let path = parameters.text("minimum_should_match_field")?;
    parameters.finish()?;
    let minimum = match (script, path) {
        (Some(_), Some(_)) => {
            return Err(DslError::illegal(
                "A single minimum_should_match_field or minimum_should_match_script should be \
                 specified, not both",
            ));
        }
        (Some(script), None) => {
            let written = Written::of("terms_set", script)?;
            let written = written.with_param("num_terms", Value::from(terms.len()));
            TermsMinimum::Script(Box::new(written.read(ScriptPurpose::Values)?))
        }
        (None, Some(path)) => TermsMinimum::Field(path),
        (None, None) => {
            return Err(DslError::illegal(
                "No minimum should match has been specified: [minimum_should_match_field] is missing",
            ));
        }
    };
    Ok(Query::TermsSet(TermsSet {
        field: field.to_string(),
        terms: terms.clone(),
        minimum,
        boost,
    }))
}
