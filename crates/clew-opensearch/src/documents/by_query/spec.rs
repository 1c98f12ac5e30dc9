//! What a write to all documents of a search is asked to do.

use std::collections::BTreeMap;
use std::sync::Arc;

use clew_engine::{IndexPart, Pinned, Purpose, Slice};
use clew_query::{Order, Query, Script, SortKey};
use serde::Serializer as _;
use serde_json::{Value, json};

use super::remote::Remote;
use super::scripted;
use super::speed::Speed;
use crate::dsl;
use crate::http::error::ApiError;
use crate::http::place::token;
use crate::http::source_filter::SourceFilter;
use crate::search::{
    check_sort, counted_at_most, query_of_params, read_slice, resolve_documents, search_parts,
};
use crate::state::call::Call;
use crate::state::stored_scripts;

/// Documents read and written at a time unless the request says otherwise.
pub(super) const PAGE_DEFAULT: usize = 1000;
/// The most that it may say.
pub(super) const PAGE_MAX: usize = 10_000;
/// Parts that a request may ask for, and those that it gets unasked.
const SLICES_MAX: u32 = 1024;
const SLICES_AUTO_MAX: u32 = 20;

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
    /// Set where copies keep the version of their original: whether they take the place of one of the same version.
    pub(super) external: Option<bool>,
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

/// Where the documents of a job are.
#[derive(Debug)]
pub(super) enum Origin {
    /// In indexes of this node.
    Here(Box<Here>),
    /// In another cluster.
    Elsewhere(Box<Remote>),
}

/// Documents of this node.
#[derive(Debug)]
pub(super) struct Here {
    pub(super) pinned: Pinned,
    /// What is seen of each index, by their unique ids.
    pub(super) parts: BTreeMap<String, IndexPart>,
    pub(super) query: Query,
    /// The order of the documents, in which no two share a place.
    pub(super) sort: Vec<SortKey>,
}

/// A job.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) origin: Origin,
    pub(super) verb: Verb,
    pub(super) page: usize,
    /// Only this part of the documents.
    pub(super) slice: Option<Slice>,
    /// Into how many parts its documents are told apart.
    pub(super) slices: u32,
    pub(super) docs_max: Option<usize>,
    /// What documents go through in place of their index's own first pipeline.
    pub(super) pipeline: Option<String>,
    /// What decides about each document.
    pub(super) script: Option<Arc<Script>>,
    /// Conflicts are counted, not a reason to stop.
    pub(super) proceed: bool,
    /// Whether what was written is made visible at the end.
    pub(super) refresh: bool,
    /// How fast it may go.
    pub(super) speed: Arc<Speed>,
    pub(super) description: String,
}

impl Job {
    /// A job on the indexes of the path. What the request says is checked before any index is looked for.
    pub(super) async fn of_index(call: &Call, verb: Verb) -> Result<Self, ApiError> {
        let slices = slices_of(call)?;
        let speed = Speed::of(call)?;
        check_search_params(call)?;
        let mut asked = Body::read(call, &verb)?;
        slices.check(asked.slice)?;
        if let Some(size) = call.params.integer("size")? {
            asked.docs_max.set(size)?;
        }
        let docs_max = asked.docs_max.with_param(call)?.limit(slices.asked())?;
        let page = match call.params.integer("scroll_size")?.or(asked.page) {
            Some(size) => page(size)?,
            None => PAGE_DEFAULT,
        };
        let proceed = proceeds(call.params.get("conflicts"))?;
        if let Some(of_params) = query_of_params(&call.params)? {
            asked.query = Some(dsl::parse_query(&of_params)?);
        }
        let keys = call.params.list("sort");
        if let Some(keys) = keys.and_then(|names| dsl::parse_uri_sort(&names)) {
            asked.sort = Some(keys);
        }
        let mut query = match (asked.query, &verb) {
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
        let pinned = call.api.engine.pin(&resolved)?;
        let terminated = counted_at_most(call)?.map(|most| of_all_shards(most, &pinned));
        Ok(Job {
            slices: slices.of(&pinned),
            origin: Origin::Here(Box::new(Here {
                sort: order(asked.sort, &pinned)?,
                pinned,
                parts,
                query,
            })),
            verb,
            page,
            slice: asked.slice,
            docs_max: docs_max.into_iter().chain(terminated).min(),
            pipeline: call.params.get("pipeline").map(String::from),
            script: asked.script,
            proceed: asked.proceed.unwrap_or(proceed),
            refresh: call.params.flag("refresh", false)?,
            speed,
            description: format!("{name} [{}]", call.index_expression()),
        })
    }
}

/// Documents of all shards, of each so many at most.
fn of_all_shards(most: u64, pinned: &Pinned) -> usize {
    let indices = pinned.indices();
    let shards = indices
        .iter()
        .map(|index| u64::from(index.settings().shards));
    usize::try_from(most.saturating_mul(shards.sum())).unwrap_or(usize::MAX)
}

/// What the body of a job on the indexes of the path says.
#[derive(Default)]
struct Body {
    query: Option<Query>,
    sort: Option<Vec<SortKey>>,
    script: Option<Arc<Script>>,
    slice: Option<Slice>,
    /// Documents read and written at a time: the `size` of the search that a body is.
    page: Option<i64>,
    docs_max: DocsMax,
    proceed: Option<bool>,
}

impl Body {
    fn read(call: &Call, verb: &Verb) -> Result<Self, ApiError> {
        let engine = &call.api.engine;
        let body = call.json()?.unwrap_or_else(|| json!({}));
        let mut asked = Body::default();
        for (key, value) in body.as_object().into_iter().flatten() {
            match key.as_str() {
                "query" => {
                    let read = || dsl::parse_query(value);
                    let query = stored_scripts::reading(engine, read);
                    asked.query =
                        Some(query.map_err(|error| error.placed(&body, &rewritten(&body)))?);
                }
                "max_docs" => asked.docs_max.set(whole(value)?)?,
                "size" => asked.page = Some(whole(value)?),
                "conflicts" => asked.proceed = Some(proceeds(value.as_str())?),
                "slice" => asked.slice = Some(read_slice(value)?),
                "sort" => {
                    let read = || dsl::parse_sort(value);
                    let sort = stored_scripts::reading(engine, read);
                    asked.sort =
                        Some(sort.map_err(|error| error.placed(&body, &rewritten(&body)))?);
                }
                // Sources are written whole.
                "_source" => {}
                shown if SHOWN_ALONE.contains(&shown) => {}
                "script" if *verb == Verb::Update => {
                    let read = || scripted::read(value);
                    asked.script = Some(stored_scripts::reading(engine, read)?);
                }
                other => return Err(not_taken(other, value)),
            }
        }
        Ok(asked)
    }
}

/// What places in the search of a body are told of: OpenSearch takes out what is no search and writes the rest anew.
fn rewritten(body: &Value) -> Vec<u8> {
    let mut text = Vec::new();
    let members = body.as_object().into_iter().flatten();
    let search =
        members.filter(|(key, _)| !matches!(key.as_str(), "script" | "conflicts" | "max_docs"));
    // Writing into memory does not fail, and without a text no place is told.
    let _ = serde_json::Serializer::new(&mut text).collect_map(search);
    text
}

/// The order of a job: the one that is asked for, behind it the places of the documents, which no two share.
///
/// # Errors
/// An order that means different things in different indexes.
pub(super) fn order(
    asked: Option<Vec<SortKey>>,
    pinned: &Pinned,
) -> Result<Vec<SortKey>, ApiError> {
    let mut sort = match asked {
        None => Vec::new(),
        // By falling score is what an empty order means.
        Some(keys) if keys.is_empty() => vec![SortKey::Score { order: Order::Desc }],
        Some(keys) => keys,
    };
    check_sort(&sort, &pinned.indices())?;
    sort.push(SortKey::Doc { order: Order::Asc });
    Ok(sort)
}

/// Members of a search that change what is shown of it and nothing about which documents it finds.
pub(super) const SHOWN_ALONE: [&str; 15] = [
    "aggregations",
    "aggs",
    "docvalue_fields",
    "explain",
    "ext",
    "fields",
    "highlight",
    "profile",
    "script_fields",
    "seq_no_primary_term",
    "stats",
    "suggest",
    "track_scores",
    "track_total_hits",
    "version",
];

/// Why a member of a search is not taken where documents are written by it.
pub(super) fn not_taken(key: &str, value: &Value) -> ApiError {
    match key {
        "from" | "stored_fields" => {
            ApiError::validation(&format!("{key} is not supported in this context"))
        }
        _ => ApiError::bad_request(
            "parsing_exception",
            format!("Unknown key for a {} in [{key}].", token(value)),
        ),
    }
}

/// A whole number, which may be written as a text.
pub(super) fn whole(value: &Value) -> Result<i64, ApiError> {
    let written = value.as_str().and_then(|text| text.parse().ok());
    value.as_i64().or(written).ok_or_else(|| {
        let text = value
            .as_str()
            .map_or_else(|| value.to_string(), String::from);
        ApiError::bad_request(
            "number_format_exception",
            format!("For input string: \"{text}\""),
        )
    })
}

/// Documents read and written at a time.
pub(super) fn page(size: i64) -> Result<usize, ApiError> {
    match usize::try_from(size) {
        Ok(0) => Err(ApiError::validation(
            "[size] cannot be [0] in a scroll context",
        )),
        Ok(page) if page <= PAGE_MAX => Ok(page),
        Ok(page) => Err(ApiError::illegal_argument(format!(
            "Batch size is too large, size must be less than or equal to: [{PAGE_MAX}] but was [{page}]."
        ))),
        Err(_) => Err(ApiError::illegal_argument(format!(
            "[size] parameter cannot be negative, found [{size}]"
        ))),
    }
}

/// Most documents to write to. Several places of a request may say it, and then say the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct DocsMax(Option<usize>);

impl DocsMax {
    /// Takes a number of the request.
    ///
    /// # Errors
    /// It is negative, or another one was taken before.
    pub(super) fn set(&mut self, max: i64) -> Result<(), ApiError> {
        let Ok(most) = usize::try_from(max) else {
            return Err(ApiError::illegal_argument(format!(
                "[max_docs] parameter cannot be negative, found [{max}]"
            )));
        };
        match self.0 {
            Some(before) if before != most => Err(ApiError::illegal_argument(format!(
                "[max_docs] set to two different values [{before}] and [{most}]"
            ))),
            _ => {
                self.0 = Some(most);
                Ok(())
            }
        }
    }

    /// With `max_docs` of the URI.
    pub(super) fn with_param(mut self, call: &Call) -> Result<Self, ApiError> {
        if let Some(max) = call.params.integer("max_docs")? {
            self.set(max)?;
        }
        Ok(self)
    }

    /// The number, if there is one; each of so many slices has at least one document of it.
    pub(super) fn limit(self, slices: usize) -> Result<Option<usize>, ApiError> {
        match self.0 {
            Some(max) if max < slices => Err(ApiError::illegal_argument(
                "[max_docs] should be >= [slices]",
            )),
            max => Ok(max),
        }
    }
}

/// Into how many parts a job is cut. It is done at once, so that the answer alone tells them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slices {
    /// As many as the index with the fewest shards has.
    Auto,
    Number(u32),
}

impl Slices {
    /// The number that is asked for, 1 where it is left to the server.
    pub(super) fn asked(self) -> usize {
        match self {
            Slices::Auto => 1,
            Slices::Number(number) => usize::try_from(number).unwrap_or(usize::MAX),
        }
    }

    /// How many there are of what is read.
    pub(super) fn of(self, pinned: &Pinned) -> u32 {
        match self {
            Slices::Number(number) => number,
            Slices::Auto => {
                let indices = pinned.indices();
                let fewest = indices.iter().map(|index| index.settings().shards).min();
                fewest.unwrap_or(1).clamp(1, SLICES_AUTO_MAX)
            }
        }
    }

    /// A request that names its part of the documents may not ask for parts to be made.
    pub(super) fn check(self, named: Option<Slice>) -> Result<(), ApiError> {
        if named.is_none() || self == Slices::Number(1) {
            return Ok(());
        }
        Err(ApiError::validation(
            "can't specify both manual and automatic slicing at the same time",
        ))
    }
}

/// `slices`, one where nothing is said.
pub(super) fn slices_of(call: &Call) -> Result<Slices, ApiError> {
    let Some(text) = call.params.get("slices") else {
        return Ok(Slices::Number(1));
    };
    if text == "auto" {
        return Ok(Slices::Auto);
    }
    match text.parse::<u32>() {
        Ok(number) if number > SLICES_MAX => Err(ApiError::illegal_argument(format!(
            "The number of slices [{number}] is too large. It must be less than [{SLICES_MAX}]."
        ))),
        Ok(number) if number > 0 => Ok(Slices::Number(number)),
        _ => {
            let reason = format!(
                "[slices] must be a positive integer or the string \"auto\", but was [{text}]"
            );
            Err(match text.parse::<i64>() {
                Ok(_) => ApiError::illegal_argument(reason),
                Err(_) => ApiError::no_number(reason, text),
            })
        }
    }
}

/// Parameters of the search that change nothing here must be what they may be.
fn check_search_params(call: &Call) -> Result<(), ApiError> {
    for name in ["scroll", "search_timeout"] {
        call.params.time(name)?;
    }
    counted_at_most(call)?;
    if call.params.flag("request_cache", false)? {
        return Err(ApiError::validation(
            "[request_cache] cannot be used in a scroll context",
        ));
    }
    match call.params.integer("from")? {
        None => Ok(()),
        Some(_) => Err(ApiError::validation(
            "from is not supported in this context",
        )),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_documents_are_one_number_however_often_it_is_said() {
        let of = |numbers: &[i64], slices: usize| {
            let mut max = DocsMax::default();
            let taken = numbers.iter().try_for_each(|&number| max.set(number));
            taken.and_then(|()| max.limit(slices))
        };
        assert_eq!(of(&[], 9).ok().unwrap(), None);
        assert_eq!(of(&[4, 4], 4).ok().unwrap(), Some(4));
        for (numbers, slices, reason) in [
            (vec![-4], 1, "cannot be negative, found [-4]"),
            (vec![4, 5], 1, "two different values [4] and [5]"),
            (vec![0], 1, "should be >= [slices]"),
            (vec![1], 2, "should be >= [slices]"),
        ] {
            let error = of(&numbers, slices).err().unwrap();
            let text = String::from_utf8(error.body()).unwrap();
            assert!(text.contains(reason), "{text}");
        }
    }

    #[test]
    fn numbers_of_a_body_are_whole_or_refused() {
        assert_eq!(whole(&json!(3)).ok().unwrap(), 3);
        assert_eq!(whole(&json!("3")).ok().unwrap(), 3);
        assert!(whole(&json!("cat")).is_err() && whole(&json!(null)).is_err());
        assert_eq!(page(10_000).ok().unwrap(), 10_000);
        assert!(page(0).is_err() && page(-1).is_err() && page(10_001).is_err());
    }
}
