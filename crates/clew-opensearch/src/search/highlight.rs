//! `highlight`: what a request asks for, and the pieces of text in its hits.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use clew_engine::Hit;
use clew_platform::CancellationToken;
use clew_query::Query;
use clew_schema::Mapping;
use clew_search::{HighlightError, HighlightField, HighlightOptions, Highlighter};
use serde_json::{Map, Value};

use super::lookup::{Queries, Visit};
use super::percolated;
use super::response::time_is_up;
use crate::dsl;
use crate::http::error::ApiError;
use crate::state::tasks::cancelled_error;

/// Characters of a field that are looked through, unless its index says otherwise.
pub(super) const ANALYZED_MAX: usize = 1_000_000;
pub(super) const ANALYZED_MAX_SETTING: &str = "index.highlight.max_analyzed_offset";
/// Fields that one request may name.
const FIELDS_MAX: usize = 1000;
/// Pieces of one field at most.
const FRAGMENTS_MAX: usize = 1000;

/// A request's highlighting.
#[derive(Clone, Debug)]
pub(super) struct Highlight {
    pub(super) fields: Arc<Vec<HighlightField>>,
    /// The search's query.
    pub(super) query: Query,
}

impl Queries for Highlight {
    fn each(&mut self, visit: &mut Visit<'_>) -> Result<(), ApiError> {
        self.query.for_each_mut(visit)?;
        if self
            .fields
            .iter()
            .all(|field| field.options.query.is_none())
        {
            return Ok(());
        }
        let mut fields = Arc::make_mut(&mut self.fields).iter_mut();
        fields.try_for_each(|field| field.options.query.each(visit))
    }
}

impl Highlight {
    /// Reads the object; `None` when it names no fields.
    pub(super) fn parse(value: &Value) -> Result<Option<Self>, ApiError> {
        let Value::Object(members) = value else {
            return Err(unexpected("highlight"));
        };
        let mut defaults = HighlightOptions::default();
        for (key, value) in members.iter().filter(|(key, _)| *key != "fields") {
            read_option(&mut defaults, key, value)?;
        }
        check_tags(members)?;
        let mut fields = Vec::new();
        match members.get("fields") {
            None | Some(Value::Null) => {}
            Some(Value::Object(named)) => read_fields(&mut fields, &defaults, named)?,
            Some(Value::Array(items)) => {
                for item in items {
                    let named = item.as_object().ok_or_else(|| unexpected("fields"))?;
                    read_fields(&mut fields, &defaults, named)?;
                }
            }
            Some(_) => return Err(unexpected("fields")),
        }
        if fields.len() > FIELDS_MAX {
            return Err(ApiError::illegal_argument(format!(
                "more than [{FIELDS_MAX}] fields to highlight"
            )));
        }
        let fields = Arc::new(fields);
        Ok((!fields.is_empty()).then(|| Highlight {
            fields,
            query: Query::MatchNone,
        }))
    }
}

/// What stands before a word says nothing without what stands behind it.
fn check_tags(members: &Map<String, Value>) -> Result<(), ApiError> {
    if members.contains_key("pre_tags") && !members.contains_key("post_tags") {
        return Err(ApiError::bad_request(
            "parsing_exception",
            "pre_tags are set but post_tags are not set",
        ));
    }
    Ok(())
}

fn read_fields(
    fields: &mut Vec<HighlightField>,
    defaults: &HighlightOptions,
    named: &Map<String, Value>,
) -> Result<(), ApiError> {
    for (pattern, value) in named {
        let mut options = defaults.clone();
        let members = value.as_object().ok_or_else(|| unexpected(pattern))?;
        check_tags(members)?;
        for (key, value) in members {
            read_option(&mut options, key, value)?;
        }
        fields.push(HighlightField {
            pattern: pattern.clone(),
            options,
        });
    }
    Ok(())
}

fn read_option(options: &mut HighlightOptions, key: &str, value: &Value) -> Result<(), ApiError> {
    match key {
        "pre_tags" => options.before = tag(key, value)?,
        "post_tags" => options.after = tag(key, value)?,
        "fragment_size" => options.fragment_size = number(key, value)?,
        "number_of_fragments" => {
            options.fragments_max = number(key, value)?.min(FRAGMENTS_MAX);
        }
        "no_match_size" => options.no_match_size = number(key, value)?,
        "require_field_match" => options.same_field = truth(key, value)?,
        "order" => options.best_first = value.as_str() == Some("score"),
        "encoder" => options.escape = value.as_str() == Some("html"),
        "highlight_query" => options.query = Some(dsl::parse_query(value)?),
        "tags_schema" => match value.as_str() {
            Some("styled") => {
                options.before = "<em class=\"hlt1\">".to_string();
                options.after = "</em>".to_string();
            }
            Some("default") => {}
            _ => {
                return Err(ApiError::illegal_argument(format!(
                    "Unknown tag schema [{}]",
                    value.as_str().unwrap_or_default()
                )));
            }
        },
        "type" => match value.as_str() {
            Some(kind @ ("unified" | "plain" | "fvh" | "semantic")) => {
                options.plain = kind == "plain";
            }
            other => {
                return Err(ApiError::illegal_argument(format!(
                    "unknown highlighter type [{}] for the field",
                    other.unwrap_or_default()
                )));
            }
        },
        "max_analyzer_offset" | "max_analyzed_offset" => {
            options.analyzed_max = Some(number(key, value)?);
        }
        "boundary_scanner" => options.by_word = is_by_word(key, value)?,
        "fragmenter" => options.ends_short = ends_short(value)?,
        // Pieces end where they do whatever these say, and the source is what is read.
        "boundary_scanner_locale"
        | "boundary_chars"
        | "boundary_max_scan"
        | "force_source"
        | "phrase_limit"
        | "matched_fields"
        | "options"
        | "highlight_filter" => {}
        other => {
            return Err(ApiError::unknown_field("highlight", other));
        }
    }
    Ok(())
}

/// Whether a scanner of boundaries cuts single words.
fn is_by_word(key: &str, value: &Value) -> Result<bool, ApiError> {
    let name = value.as_str().unwrap_or_default().to_ascii_lowercase();
    match name.as_str() {
        "word" => Ok(true),
        "sentence" | "chars" => Ok(false),
        _ => Err(unexpected(key)),
    }
}

/// Whether a fragmenter of `plain` leaves a short piece at the end.
fn ends_short(value: &Value) -> Result<bool, ApiError> {
    match value.as_str() {
        Some("simple") => Ok(true),
        Some("span") => Ok(false),
        other => Err(ApiError::illegal_argument(format!(
            "unknown fragmenter option [{}] for the field",
            other.unwrap_or_default()
        ))),
    }
}

/// The first of several tags, which all words get.
fn tag(key: &str, value: &Value) -> Result<String, ApiError> {
    let first = match value {
        Value::Array(items) => items.first().and_then(Value::as_str),
        other => other.as_str(),
    };
    first.map(str::to_string).ok_or_else(|| unexpected(key))
}

fn number(key: &str, value: &Value) -> Result<usize, ApiError> {
    let number = match value {
        Value::String(text) => text.parse().ok(),
        other => other.as_u64(),
    };
    number
        .and_then(|number| usize::try_from(number).ok())
        .ok_or_else(|| unexpected(key))
}

fn truth(key: &str, value: &Value) -> Result<bool, ApiError> {
    match value {
        Value::Bool(flag) => Ok(*flag),
        Value::String(text) if text == "true" => Ok(true),
        Value::String(text) if text == "false" => Ok(false),
        _ => Err(unexpected(key)),
    }
}

fn unexpected(key: &str) -> ApiError {
    ApiError::bad_request(
        "x_content_parse_exception",
        format!("[highlight] failed to parse field [{key}]"),
    )
}

/// The pieces of one answer's hits.
pub(super) struct Highlights<'a> {
    highlight: Option<&'a Highlight>,
    /// What is looked for in the documents of each index, by its unique id.
    prepared: RefCell<BTreeMap<String, Highlighter<'a>>>,
}

impl<'a> Highlights<'a> {
    pub(super) fn new(highlight: Option<&'a Highlight>) -> Self {
        Highlights {
            highlight,
            prepared: RefCell::default(),
        }
    }

    /// A hit's pieces by field, when it has any, and there is time to find them.
    pub(super) fn of(&self, hit: &Hit) -> Result<Option<Value>, ApiError> {
        match self.pieces(hit) {
            Err(_) if time_is_up() => Ok(None),
            pieces => pieces,
        }
    }

    fn pieces(&self, hit: &Hit) -> Result<Option<Value>, ApiError> {
        let (Some(highlight), Some(source)) = (self.highlight, hit.source.as_ref()) else {
            return Ok(None);
        };
        let Ok(source) = serde_json::from_slice::<Value>(source) else {
            return Ok(None);
        };
        let mut prepared = self.prepared.borrow_mut();
        let highlighter = prepared
            .entry(hit.index.uuid().to_string())
            .or_insert_with(|| highlight.prepare(hit, &highlight.query));
        let own = highlighter.highlight(&source);
        let own = own.map_err(|error| refusal(&error, hit))?.into_iter();
        let mapping = hit.index.mapping();
        // Of a source that the mapping leaves out only what is stored by itself is shown.
        let is_stored = |path: &str| mapping.field(path).is_some_and(|f| f.settings.store);
        let own = own.filter(|(path, _)| mapping.is_source_enabled() || is_stored(path));
        let own = own.map(|(path, pieces)| (path, pieces.into()));
        let mut shown: Map<String, Value> = own.collect();
        percolated::add_highlights(hit, highlight, &mut shown)?;
        Ok((!shown.is_empty()).then_some(Value::Object(shown)))
    }
}

impl Highlight {
    /// Makes a query ready for documents of a hit's index.
    pub(super) fn prepare(&self, hit: &Hit, query: &Query) -> Highlighter<'_> {
        let analyzed_max = analyzed_max(hit);
        Highlighter::new(hit.index.mapping(), query, &self.fields, analyzed_max)
    }

    /// The pieces of a field of a hit that stands in a mapping and a document of its own.
    pub(super) fn pieces_within(
        &self,
        hit: &Hit,
        (mapping, document): (Mapping, &Value),
        field: &HighlightField,
    ) -> Result<Vec<(String, Vec<String>)>, ApiError> {
        let fields = std::slice::from_ref(field);
        let mapping = Arc::new(mapping);
        let highlighter = Highlighter::new(mapping, &self.query, fields, analyzed_max(hit));
        let pieces = highlighter.highlight(document);
        pieces.map_err(|error| refusal(&error, hit))
    }
}

/// Characters of a field that are looked through in documents of a hit's index.
fn analyzed_max(hit: &Hit) -> usize {
    let settings = hit.index.settings();
    let given = settings.given.get(ANALYZED_MAX_SETTING);
    let given = given.and_then(|text| text.parse().ok());
    given.unwrap_or(ANALYZED_MAX)
}

/// Why a hit cannot be highlighted, in OpenSearch's words.
pub(super) fn refusal(error: &HighlightError, hit: &Hit) -> ApiError {
    let advice = format!(
        "maximum allowed to be analyzed for highlighting. This maximum can be set by changing the \
         [{ANALYZED_MAX_SETTING}] index level setting. For large texts, indexing with offsets or \
         term vectors is recommended!"
    );
    match error {
        HighlightError::TooLong { field, max } => ApiError::illegal_argument(format!(
            "The length of [{field}] field of [{}] doc of [{}] index has exceeded [{max}] - {advice}",
            hit.id,
            hit.index.name()
        )),
        HighlightError::TooMuch { max } => ApiError::illegal_argument(format!(
            "max_analyzer_offset has exceeded [{max}] - {advice}"
        )),
        _ => {
            let token = CancellationToken::current();
            cancelled_error(token.reason().unwrap_or_default())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_field_overrides_what_holds_for_all() {
        let highlight = Highlight::parse(&json!({
            "pre_tags": ["<b>"], "post_tags": ["</b>"], "fragment_size": 10,
            "fields": {"a": {}, "b": {"fragment_size": 20, "require_field_match": false}},
        }));
        let fields = highlight.unwrap().unwrap().fields;
        assert_eq!(fields[0].options.before, "<b>");
        assert_eq!(fields[0].options.fragment_size, 10);
        assert_eq!(fields[1].options.fragment_size, 20);
        assert!(!fields[1].options.same_field);
        assert!(Highlight::parse(&json!({})).unwrap().is_none());
        assert!(Highlight::parse(&json!({"fields": {"a": {"x": 1}}})).is_err());
        for refused in [
            json!({"type": "x"}),
            json!({"boundary_scanner": "x"}),
            json!({"fragmenter": "x"}),
            json!({"fragment_offset": 1}),
        ] {
            assert!(Highlight::parse(&json!({"fields": {"a": refused}})).is_err());
        }
    }
}
