//! What a write to all documents of a search is asked to do.

use std::collections::BTreeMap;
use std::sync::Arc;

use clew_engine::{IndexPart, Pinned, Purpose};
use clew_query::{Query, Script};
use serde_json::{Value, json};

use super::scripted;
use super::speed::Speed;
use crate::documents::write_reply::Refresh;
use crate::dsl;
use crate::http::error::ApiError;
use crate::http::source_filter::SourceFilter;
use crate::search::{query_of_params, resolve_documents, search_parts};
use crate::state::call::Call;
use crate::state::stored_scripts;

/// Documents read and written at a time unless the request says otherwise.
const PAGE_DEFAULT: usize = 1000;
const PAGE_MAX: usize = 10_000;

/// What happens to each document.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Verb {
    /// It is removed.
    Delete,
    /// It is written again as it is, so that it follows the mapping of now.
    Update,
    /// It is copied.
    Copy(Target),
}

/// Where copies go.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Target {
    pub(super) index: String,
    /// Documents that are there already are left alone.
    pub(super) create: bool,
    /// Copies keep the version of their original.
    pub(super) external: bool,
    pub(super) routing: Routing,
    /// What is copied of each document.
    pub(super) kept: SourceFilter,
    /// What documents go through in place of the index's own first pipeline.
    pub(super) pipeline: Option<String>,
}

/// What becomes of routing keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Routing {
    Keep,
    Discard,
    Set(String),
}

/// A job.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) pinned: Pinned,
    /// What is seen of each index, by their unique ids.
    pub(super) parts: BTreeMap<String, IndexPart>,
    pub(super) query: Query,
    pub(super) verb: Verb,
    pub(super) page: usize,
    pub(super) docs_max: Option<usize>,
    /// What documents go through in place of their index's own first pipeline.
    pub(super) pipeline: Option<String>,
    /// What decides about each document.
    pub(super) script: Option<Arc<Script>>,
    /// Conflicts are counted, not a reason to stop.
    pub(super) proceed: bool,
    pub(super) refresh: Refresh,
    /// How fast it may go.
    pub(super) speed: Arc<Speed>,
    pub(super) description: String,
}

impl Job {
    /// A job on the indexes of the path.
    pub(super) async fn of_index(call: &Call, verb: Verb) -> Result<Self, ApiError> {
        check_slices(call)?;
        let engine = &call.api.engine;
        let body = call.json()?.unwrap_or_else(|| json!({}));
        let (mut query, mut script) = (None, None);
        let mut docs_max = docs_max_of(call)?;
        let mut proceed = proceeds(call.params.get("conflicts"))?;
        for (key, value) in body.as_object().into_iter().flatten() {
            match key.as_str() {
                "query" => {
                    let read = || dsl::parse_query(value);
                    query = Some(stored_scripts::reading(engine, read)?);
                }
                "max_docs" | "size" => docs_max = value.as_i64(),
                "conflicts" => proceed = proceeds(value.as_str())?,
                "slice" | "sort" => {}
                "script" if verb == Verb::Update => {
                    let read = || scripted::read(value);
                    script = Some(stored_scripts::reading(engine, read)?);
                }
                other => {
                    return Err(ApiError::bad_request(
                        "parsing_exception",
                        format!("Unknown key for a VALUE in [{other}]."),
                    ));
                }
            }
        }
        if let Some(of_params) = query_of_params(&call.params)? {
            query = Some(dsl::parse_query(&of_params)?);
        }
        let mut query = match (query, &verb) {
            (Some(query), _) => query,
            (None, Verb::Delete) => return Err(ApiError::validation("query is missing")),
            (None, _) => Query::match_all(),
        };
        resolve_documents(call, call.index_expression(), &mut query).await?;
        let options = call.resolve_options()?;
        let resolved = call
            .open(call.index_expression(), options, Purpose::Read)
            .await?;
        let parts = search_parts(call, &resolved, options).await?;
        let name = match verb {
            Verb::Delete => "delete-by-query",
            _ => "update-by-query",
        };
        Ok(Job {
            pinned: call.api.engine.pin(&resolved)?,
            parts,
            query,
            verb,
            page: page(call)?,
            docs_max: limit(docs_max)?,
            pipeline: call.params.get("pipeline").map(String::from),
            script,
            proceed,
            refresh: Refresh::from_call(call)?,
            speed: Speed::of(call)?,
            description: format!("{name} [{}]", call.index_expression()),
        })
    }
}

/// Documents read and written at a time.
pub(super) fn page(call: &Call) -> Result<usize, ApiError> {
    match call.params.integer("scroll_size")? {
        None => Ok(PAGE_DEFAULT),
        Some(size) => usize::try_from(size)
            .ok()
            .filter(|size| (1..=PAGE_MAX).contains(size))
            .ok_or_else(|| {
                ApiError::illegal_argument(format!(
                    "[scroll_size] must be between 1 and {PAGE_MAX}, found [{size}]"
                ))
            }),
    }
}

/// Most documents to write to; -1 means all.
pub(super) fn limit(docs_max: Option<i64>) -> Result<Option<usize>, ApiError> {
    match docs_max {
        None | Some(-1) => Ok(None),
        Some(max) if max > 0 => Ok(Some(usize::try_from(max).unwrap_or(usize::MAX))),
        Some(max) => Err(ApiError::validation(&format!(
            "maxDocs should be greater than 0 if the request is limited to some number of documents \
             or -1 if it isn't but it was [{max}]"
        ))),
    }
}

/// `max_docs` of the URI.
pub(super) fn docs_max_of(call: &Call) -> Result<Option<i64>, ApiError> {
    match call.params.integer("max_docs")? {
        Some(max) if max < -1 => Err(ApiError::illegal_argument(format!(
            "[max_docs] parameter cannot be negative, found [{max}]"
        ))),
        max => Ok(max),
    }
}

/// How a job is cut changes nothing here, but must be what it may be.
pub(super) fn check_slices(call: &Call) -> Result<(), ApiError> {
    match call.params.get("slices") {
        Some(slices)
            if slices != "auto" && slices.parse::<u32>().is_ok_and(|slices| slices == 0) =>
        {
            Err(ApiError::illegal_argument(format!(
                "[slices] must be a positive integer or the string \"auto\", but was [{slices}]"
            )))
        }
        _ => Ok(()),
    }
}

/// What is done about conflicts.
pub(super) fn proceeds(text: Option<&str>) -> Result<bool, ApiError> {
    match text {
        None | Some("abort") => Ok(false),
        Some("proceed") => Ok(true),
        Some(other) => Err(ApiError::illegal_argument(format!(
            "conflicts may only be \"proceed\" or \"abort\" but was [{other}]"
        ))),
    }
}

/// A string member of an object.
pub(super) fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key).and_then(Value::as_str)
}
