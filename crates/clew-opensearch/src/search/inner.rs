//! `inner_hits`: what a query wants from inside its hits, and how it is shown.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use clew_engine::{Hit, Index, InnerHits, NestedStep, Within};
use clew_query::Query;
use clew_search::{Kin, Relation, Total};
use serde_json::{Map, Value, json};

use super::collapse::CollapseSpec;
use super::guard::limit;
use super::highlight::Highlight;
use super::hits::{HitWriter, write_score, write_total};
use super::lookup::{Queries, Visit};
use super::output::Output;
use super::profile::Fetching;
use super::request::Spec;
use super::shown_source;
use crate::dsl::{self, DslError, Field};
use crate::http::error::ApiError;
use crate::http::json_writer::JsonWriter;
use crate::http::place::Spot;
use crate::http::source_filter::SourceFilter;

const SIZE_DEFAULT: usize = 3;
/// Most inner hits, those skipped included, unless the index says otherwise.
pub(super) const WINDOW_MAX: usize = 100;
pub(super) const WINDOW_SETTING: &str = "index.max_inner_result_window";

/// One `inner_hits`.
#[derive(Clone, Debug)]
pub(super) struct InnerSpec {
    name: String,
    within: Within,
    query: Query,
    ignore_unmapped: bool,
    spec: Arc<Spec>,
}

/// A query that wants hits from inside its own.
struct Wish<'a> {
    within: Within,
    /// The name of its inner hits, unless they have one.
    name: &'a str,
    query: &'a Value,
    inner: &'a Map<String, Value>,
    ignore_unmapped: bool,
}

impl Queries for InnerSpec {
    fn each(&mut self, visit: &mut Visit<'_>) -> Result<(), ApiError> {
        self.query.for_each_mut(visit)?;
        Arc::make_mut(&mut self.spec).each(visit)
    }
}

impl InnerSpec {
    /// Whether texts of what is inside are looked through for what was searched.
    pub(super) fn analyzes_texts(&self) -> bool {
        self.spec.output.highlight.is_some()
    }

    /// The engine's request.
    pub(super) fn request(&self) -> InnerHits {
        let output = &self.spec.output;
        InnerHits {
            within: self.within.clone(),
            query: self.query.clone(),
            ignore_unmapped: self.ignore_unmapped,
            from: self.spec.from,
            size: self.spec.size,
            sort: self.spec.sort.clone(),
            source: output.needs_source(),
            explain: output.explain,
            inner: self
                .spec
                .output
                .inner
                .iter()
                .map(InnerSpec::request)
                .collect(),
        }
    }
}

/// The inner hits that a query's JSON asks for; those of queries inside one that asks for some are
/// wanted from inside its own.
pub(super) fn of_query(query: &Value) -> Result<Vec<InnerSpec>, ApiError> {
    let mut found = Vec::new();
    collect(query, &mut found)?;
    for (at, spec) in found.iter().enumerate() {
        if found[..at].iter().any(|other| other.name == spec.name) {
            return Err(ApiError::illegal_argument(format!(
                "[inner_hits] already contains an entry for key [{}]",
                spec.name
            )));
        }
    }
    Ok(found)
}

fn collect(value: &Value, found: &mut Vec<InnerSpec>) -> Result<(), ApiError> {
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                // What documents are made of is no query.
                if key == "percolate" {
                    continue;
                }
                match wish(key, member) {
                    Some(wish) => found.push(read(&wish)?),
                    None => collect(member, found)?,
                }
            }
            Ok(())
        }
        Value::Array(items) => items.iter().try_for_each(|item| collect(item, found)),
        _ => Ok(()),
    }
}

/// What a query wants from inside its hits, if it is one that can.
fn wish<'a>(query: &str, body: &'a Value) -> Option<Wish<'a>> {
    let text = |key: &str| body.get(key).and_then(Value::as_str);
    let (name, within) = match query {
        "nested" => {
            let path = text("path")?;
            (path, Within::Nested(path.to_string()))
        }
        "has_child" => {
            let kind = text("type")?;
            (kind, Within::Kin(Kin::Children(kind.to_string())))
        }
        "has_parent" => {
            let kind = text("parent_type")?;
            (kind, Within::Kin(Kin::Parent(kind.to_string())))
        }
        _ => return None,
    };
    Some(Wish {
        within,
        name,
        query: body.get("query")?,
        inner: body.get("inner_hits")?.as_object()?,
        ignore_unmapped: flag(body.get("ignore_unmapped")),
    })
}

fn flag(value: Option<&Value>) -> bool {
    value.and_then(Value::as_bool).unwrap_or(false)
}

fn read(wish: &Wish<'_>) -> Result<InnerSpec, ApiError> {
    // Words to highlight are this query's.
    let query = dsl::parse_query(wish.query)?;
    let mut read = Members::of(wish.inner, Some(query.clone()))?;
    if let Some(collapse) = wish.inner.get("collapse") {
        // Only groups have groups in them.
        return Err(inner_collapse(collapse).into());
    }
    read.spec.output.inner = of_query(wish.query)?;
    Ok(InnerSpec {
        name: read.name.unwrap_or_else(|| wish.name.to_string()),
        within: wish.within.clone(),
        query,
        ignore_unmapped: wish.ignore_unmapped || read.ignore_unmapped,
        spec: Arc::new(read.spec),
    })
}

/// The refusal of a `collapse` in inner hits.
fn inner_collapse(value: &Value) -> DslError {
    let reason = "Invalid token in the inner collapse";
    let error = DslError::parsing(reason).at(Spot::end_of(value));
    error.in_field("inner_hits", "collapse")
}

/// What an `inner_hits` says.
struct Members {
    name: Option<String>,
    ignore_unmapped: bool,
    collapse: Option<Value>,
    spec: Spec,
}

impl Members {
    fn of(body: &Map<String, Value>, query: Option<Query>) -> Result<Self, ApiError> {
        let mut spec = Spec::empty();
        spec.size = SIZE_DEFAULT;
        let (mut name, mut collapse) = (None, None);
        let mut ignore_unmapped = false;
        for field in Field::members("inner_hits", body) {
            match field.name {
                "name" => name = Some(field.text()?.to_string()),
                "ignore_unmapped" => ignore_unmapped = field.flag()?,
                "collapse" => collapse = Some(field.object()?.clone()),
                _ => read_field(&mut spec, field)?,
            }
        }
        spec.query = query;
        spec.finish(None)?;
        Ok(Members {
            name,
            ignore_unmapped,
            collapse,
            spec,
        })
    }
}

/// What an `inner_hits` may say.
const FIELDS: &[&str] = &[
    "name",
    "ignore_unmapped",
    "from",
    "size",
    "explain",
    "version",
    "seq_no_primary_term",
    "track_scores",
    "stored_fields",
    "docvalue_fields",
    "fields",
    "script_fields",
    "sort",
    "_source",
    "highlight",
    "collapse",
];

/// How many hits are shown, or skipped.
fn window(field: Field<'_>) -> Result<usize, DslError> {
    let reason = format!("illegal {} value, at least 0 or higher", field.name);
    let number = field.at_least(0, &reason)?;
    Ok(usize::try_from(number).unwrap_or(usize::MAX))
}

/// Reads what inner hits have in common with those of a search.
fn read_field(spec: &mut Spec, field: Field<'_>) -> Result<(), ApiError> {
    let (name, value) = (field.name, field.value);
    match name {
        "from" => {
            spec.from = window(field)?;
            return Ok(());
        }
        "size" => {
            spec.size = window(field)?;
            return Ok(());
        }
        "sort" if value.is_object() || value.is_array() || value.is_string() => {
            let sort = dsl::parse_sort(value);
            spec.sort = sort.map_err(|error| field.wrong(error))?;
            return Ok(());
        }
        "highlight" => {
            let highlight = Highlight::parse(field.object()?);
            spec.output.highlight = highlight.map_err(|error| field.wrong(error))?;
            return Ok(());
        }
        "explain" | "version" | "seq_no_primary_term" | "track_scores" => {
            field.flag()?;
        }
        "stored_fields" => {
            field.texts()?;
        }
        "script_fields" => {
            field.object()?;
        }
        "docvalue_fields" | "fields" if value.is_array() => {}
        "_source" if !(value.is_number() || value.is_null()) => {}
        known if FIELDS.contains(&known) => return Err(field.other_sort().into()),
        _ => return Err(field.unknown(FIELDS).into()),
    }
    spec.read_member(name, value, &[])
}

impl InnerSpec {
    /// What is wanted of the groups of collapsed hits, given the field and the search's query.
    pub(super) fn of_group(
        wish: &Value,
        (field, query): (&str, Option<&Query>),
    ) -> Result<Self, ApiError> {
        let body = wish.as_object().ok_or_else(|| {
            let reason = "Invalid token in inner_hits array";
            DslError::parsing(reason).at(Spot::start_of(wish))
        })?;
        let read = Members::of(body, query.cloned())?;
        let mut spec = read.spec;
        let collapse = match &read.collapse {
            None => None,
            Some(value) => {
                let second = CollapseSpec::read(value, None)?;
                if !second.inner.is_empty() {
                    return Err(ApiError::bad_request(
                        "x_content_parse_exception",
                        "[inner_hits] cannot be used in the [collapse] of [inner_hits]",
                    ));
                }
                spec.output.collapsed = Some(second.field.clone());
                Some(second.field)
            }
        };
        Ok(InnerSpec {
            name: read.name.unwrap_or_else(|| field.to_string()),
            within: Within::Group { collapse },
            query: query.cloned().unwrap_or_else(Query::match_all),
            ignore_unmapped: read.ignore_unmapped,
            spec: Arc::new(spec),
        })
    }

    /// Whether it is about the groups of collapsed hits.
    pub(super) fn is_group(&self) -> bool {
        matches!(self.within, Within::Group { .. })
    }
}

/// Refuses more inner hits than indexes allow.
pub(super) fn check_windows(specs: &[InnerSpec], indices: &[Arc<Index>]) -> Result<(), ApiError> {
    for spec in specs {
        let asked = spec.spec.from.saturating_add(spec.spec.size);
        for index in indices {
            let max = limit(index, WINDOW_SETTING, WINDOW_MAX);
            if asked > max {
                return Err(ApiError::illegal_argument(format!(
                    "Inner result window is too large, the inner hit definition's [{}]'s from + \
                     size must be less than or equal to: [{max}] but was [{asked}]. This limit \
                     can be set by changing the [{WINDOW_SETTING}] index level setting.",
                    spec.name
                )));
            }
        }
        check_windows(&spec.spec.output.inner, indices)?;
    }
    Ok(())
}

/// Writes the inner hits of a hit, and notes what they cost where somebody asks.
pub(super) fn write(
    json: &mut JsonWriter,
    specs: &[InnerSpec],
    around: &Hit,
    ((outer, node), now_ms, fetching): ((&Output, &str), i64, Option<Fetching<'_>>),
) -> Result<(), ApiError> {
    if specs.is_empty() || around.inner.is_empty() {
        return Ok(());
    }
    json.key("inner_hits").begin_object();
    for (spec, result) in specs.iter().zip(&around.inner) {
        let purpose = fetching.map(|_| format!("fetch_inner_hits[{}]", spec.name));
        let inside = fetching.zip(purpose.as_deref());
        let inside = inside.map(|(fetching, purpose)| fetching.inside(purpose));
        if let (Some(inside), Some(took)) = (inside, result.looked_for) {
            inside.looked_for(around, took);
        }
        json.key(&spec.name).begin_object();
        json.key("hits").begin_object();
        let asked = &spec.spec;
        // Behind the last one, in the order of scores, OpenSearch does not know how many there are.
        let by_score = asked.sort.is_empty() && asked.size > 0;
        let is_behind = by_score && asked.from > 0 && result.hits.is_empty();
        let total = Total {
            value: if is_behind && !spec.is_group() {
                0
            } else {
                result.total
            },
            relation: Relation::Eq,
        };
        write_total(json, Some(total), outer.total_as_int);
        json.key("max_score");
        write_score(json, result.max_score);
        json.key("hits").begin_array();
        let writer = HitWriter::new(&spec.spec.output, outer, node, now_ms).noting(inside);
        for hit in &result.hits {
            writer.write(json, hit)?;
        }
        json.end_array().end_object().end_object();
    }
    json.end_object();
    Ok(())
}

/// Where a nested object is in its document.
pub(super) fn place(steps: &[NestedStep]) -> Option<Value> {
    let (first, rest) = steps.split_first()?;
    let mut shown = json!({"field": first.field, "offset": first.offset});
    if let Some(inner) = place(rest) {
        shown["_nested"] = inner;
    }
    Some(shown)
}

/// A hit whose source is that of a whole document which has nothing but the hit's object: filters
/// and field names are written with whole paths.
pub(super) fn with_whole_source(hit: &Hit) -> Cow<'_, Hit> {
    let Some(source) = whole_source(hit) else {
        return Cow::Borrowed(hit);
    };
    Cow::Owned(Hit {
        source: Some(source),
        ..hit.clone()
    })
}

fn whole_source(hit: &Hit) -> Option<Bytes> {
    if hit.nested.is_empty() {
        return None;
    }
    let part: Value = serde_json::from_slice(hit.source.as_ref()?).ok()?;
    let names = hit.nested.iter().rev();
    let names = names.flat_map(|step| step.field.rsplit('.'));
    let whole = names.fold(part, |inside, name| json!({ name: inside }));
    serde_json::to_vec(&whole).ok().map(Bytes::from)
}

/// What a filter, written with whole paths, leaves of a nested object.
pub(super) fn filtered(hit: &Hit, filter: &SourceFilter) -> Option<Value> {
    let mut json = JsonWriter::with_capacity(256);
    shown_source::write_value(&hit.index.mapping(), filter, &whole_source(hit)?, &mut json);
    let whole: Value = serde_json::from_slice(&json.into_bytes()).ok()?;
    let mut names = hit.nested.iter().flat_map(|step| step.field.split('.'));
    let part = names.try_fold(&whole, |at, name| at.get(name));
    Some(part.cloned().unwrap_or_else(|| json!({})))
}
