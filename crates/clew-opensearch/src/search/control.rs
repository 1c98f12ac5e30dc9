//! How a search goes about it: the state it sees, the part of it, how far it looks, and second
//! thoughts about the best hits.

use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use clew_engine::{Index, SearchControl, Slice};
use clew_search::{Combine, Rescore};
use serde_json::Value;

use super::guard::limit;
use super::members::{flag, integer};
use crate::dsl::{self, DslError, DslErrorKind, Field, integer_in};
use crate::http::error::{ApiError, Cause};
use crate::http::params::Params;
use crate::http::place::{Spot, token};
use crate::http::setting_values::parse_time;

/// Parts that one search may be cut into, unless its index says otherwise.
pub(super) const SLICES_MAX: usize = 1024;
/// Hits that a round of scoring again looks at unless it says otherwise.
const WINDOW_DEFAULT: usize = 10;
/// Most hits that a round may look at, unless its index says otherwise.
pub(super) const WINDOW_MAX: usize = 10_000;
pub(super) const WINDOW_SETTING: &str = "index.max_rescore_window";
pub(super) const PIT_SLICES_SETTING: &str = "index.max_slices_per_pit";
pub(super) const SCROLL_SLICES_SETTING: &str = "index.max_slices_per_scroll";
/// Rounds of scoring again in one search.
const ROUNDS_MAX: usize = 10;
/// Shards that are searched without asking first what they hold, unless the request says otherwise.
const PRE_FILTER_DEFAULT: u64 = 128;
/// Shard answers that are put together at once, unless the request says otherwise.
const BATCH_DEFAULT: u64 = 512;

/// A point in time that a search names.
#[derive(Clone, Debug)]
pub(super) struct PitRef {
    pub(super) id: String,
    pub(super) keep_alive: Option<Duration>,
}

/// What a request says of this.
#[derive(Clone, Debug, Default)]
pub(super) struct Control {
    pub(super) pit: Option<PitRef>,
    pub(super) scroll: Option<Duration>,
    pub(super) explain: bool,
    named_scores: bool,
    pub(super) rescore: Vec<Rescore>,
    pub(super) batch: Option<u64>,
    slice: Option<Slice>,
    terminate_after: Option<u64>,
    pre_filter: Option<u64>,
    weighed_together: bool,
}

impl Control {
    /// Takes a member of the body when it is one of these.
    pub(super) fn read_member(&mut self, key: &str, value: &Value) -> Result<bool, ApiError> {
        match key {
            "explain" => self.explain = flag(value)?,
            "terminate_after" => self.terminate_after = Some(natural(key, value)?),
            "pit" => self.pit = Some(pit(value)?),
            "slice" => self.slice = Some(slice(value)?),
            "rescore" => self.rescore = rounds(value)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Takes the URI's parameters.
    pub(super) fn read_params(&mut self, params: &Params) -> Result<(), ApiError> {
        self.explain = params.flag("explain", self.explain)?;
        self.named_scores = params.flag("include_named_queries_score", false)?;
        if let Some(after) = params.unsigned("terminate_after")? {
            self.terminate_after = Some(after);
        }
        if let Some(batch) = params.integer("batched_reduce_size")? {
            self.batch = Some(at_least(batch, 2, "batchedReduceSize")?);
        }
        if let Some(size) = params.integer("pre_filter_shard_size")? {
            self.pre_filter = Some(at_least(size, 1, "preFilterShardSize")?);
        }
        if let Some(most) = params.integer("max_concurrent_shard_requests")? {
            at_least(most, 1, "maxConcurrentShardRequests")?;
        }
        // They change nothing here, and are flags.
        for name in ["request_cache", "ccs_minimize_roundtrips", "phase_took"] {
            params.flag(name, false)?;
        }
        let search_type = params.get("search_type");
        self.weighed_together = search_type == Some("dfs_query_then_fetch");
        match search_type {
            None | Some("query_then_fetch" | "dfs_query_then_fetch") => Ok(()),
            Some(other @ ("query_and_fetch" | "dfs_query_and_fetch")) => Err(
                ApiError::illegal_argument(format!("Unsupported search type [{other}]")),
            ),
            Some(other) => Err(ApiError::illegal_argument(format!(
                "No search type for [{other}]"
            ))),
        }
    }

    /// What the engine is told.
    pub(super) fn engine(&self) -> SearchControl {
        SearchControl {
            slice: self.slice,
            terminate_after: self.terminate_after.filter(|after| *after > 0),
            collapse: None,
            rescore: self.rescore.clone(),
            weighed_together: self.weighed_together,
            explain: self.explain,
            explain_top_hits: false,
            named_scores: self.named_scores,
            hybrid: None,
            skip_above: Some(self.pre_filter.unwrap_or(PRE_FILTER_DEFAULT)),
        }
    }

    /// Refuses what does not go together.
    pub(super) fn check(&self, by_score: bool) -> Result<(), ApiError> {
        if self.slice.is_some() && self.scroll.is_none() && self.pit.is_none() {
            let cause = Cause::new(
                "search_exception",
                "`slice` cannot be used outside of a scroll context or PIT context",
            );
            let refused = ApiError::new(StatusCode::BAD_REQUEST, cause);
            return Err(refused.found_by_shards());
        }
        if !self.rescore.is_empty() && !by_score {
            let reason = "Cannot use [sort] option in conjunction with [rescore].";
            return Err(ApiError::illegal_argument(reason).found_by_shards());
        }
        Ok(())
    }

    /// Refuses to cut a search into more parts than an index allows.
    pub(super) fn check_slices(&self, index: &Index) -> Result<(), ApiError> {
        let Some(Slice { max: parts, .. }) = self.slice else {
            return Ok(());
        };
        let setting = if self.pit.is_some() {
            PIT_SLICES_SETTING
        } else {
            SCROLL_SLICES_SETTING
        };
        let max = limit(index, setting, SLICES_MAX);
        if usize::try_from(parts).is_ok_and(|parts| parts <= max) {
            return Ok(());
        }
        Err(ApiError::illegal_argument(format!(
            "The number of slices [{parts}] is too large. It must be less than [{max}]. This limit \
             can be set by changing the [{setting}] index level setting."
        )))
    }

    /// Whether answers say that fewer matches were looked at.
    pub(super) fn terminates(&self) -> bool {
        self.terminate_after.is_some_and(|after| after > 0)
    }

    /// Steps in which so many shards' answers are put together.
    pub(super) fn reduce_phases(&self, shards: u64) -> u64 {
        let batch = self.batch.unwrap_or(BATCH_DEFAULT);
        if shards <= batch {
            return 1;
        }
        1 + (shards - batch).div_ceil(batch - 1)
    }
}

fn at_least(number: i64, min: u64, name: &str) -> Result<u64, ApiError> {
    let fits = u64::try_from(number).ok().filter(|number| *number >= min);
    fits.ok_or_else(|| ApiError::illegal_argument(format!("{name} must be >= {min}")))
}

fn pit(value: &Value) -> Result<PitRef, DslError> {
    let mut found = PitRef {
        id: String::new(),
        keep_alive: None,
    };
    for field in Field::all("pit", value)? {
        match field.name {
            "id" => found.id = field.text()?.to_string(),
            "keep_alive" => {
                let time = parse_time("keep_alive", field.text()?);
                let wrong = |error: ApiError| field.wrong(DslError::illegal(error.reason()));
                found.keep_alive = time.map_err(wrong)?;
            }
            _ => return Err(field.unknown(&["id", "keep_alive"])),
        }
    }
    if found.id.is_empty() {
        return Err(DslError::illegal("point int time id is not provided"));
    }
    Ok(found)
}

/// Reads `slice`.
pub(crate) fn slice(value: &Value) -> Result<Slice, DslError> {
    let (mut id, mut max) = (None, None);
    for field in Field::all("slice", value)? {
        match field.name {
            "id" => {
                let reason = "id must be greater than or equal to 0";
                id = Some(field.at_least(0, reason)?);
            }
            "max" => max = Some(field.at_least(2, "max must be greater than 1")?),
            // Parts are cut by document id whatever is named here.
            "field" => {
                field.text()?;
            }
            _ => return Err(field.unknown(&["field", "id", "max"])),
        }
        if id.zip(max).is_some_and(|(id, max)| id >= max) {
            return Err(field.wrong(DslError::illegal("max must be greater than id")));
        }
    }
    let id = id.ok_or_else(|| DslError::illegal("[slice] needs an [id]"))?;
    let max = max.ok_or_else(|| DslError::illegal("[slice] needs a [max]"))?;
    match (u32::try_from(id), u32::try_from(max)) {
        (Ok(id), Ok(max)) => Ok(Slice { id, max }),
        _ => Err(DslError::illegal(format!(
            "The number of slices [{max}] is too large."
        ))),
    }
}

fn rounds(value: &Value) -> Result<Vec<Rescore>, DslError> {
    let items = match value {
        Value::Array(items) => items.as_slice(),
        Value::Null => &[],
        one => std::slice::from_ref(one),
    };
    if items.len() > ROUNDS_MAX {
        return Err(DslError::illegal(format!(
            "more than [{ROUNDS_MAX}] rounds of [rescore]"
        )));
    }
    items.iter().map(round).collect()
}

/// Refuses rounds over more hits than indexes allow.
pub(super) fn check_rescore_windows(
    rounds: &[Rescore],
    indices: &[Arc<Index>],
) -> Result<(), ApiError> {
    let Some(window) = rounds.iter().map(|round| round.window).max() else {
        return Ok(());
    };
    let max_of = |index: &Arc<Index>| limit(index, WINDOW_SETTING, WINDOW_MAX);
    match indices.iter().map(max_of).min() {
        Some(max) if window > max => Err(ApiError::illegal_argument(format!(
            "Rescore window [{window}] is too large. It must be less than [{max}]. This prevents \
             allocating massive heaps for storing the results to be rescored. This limit can be \
             set by changing the [{WINDOW_SETTING}] index level setting."
        ))),
        _ => Ok(()),
    }
}

fn round(value: &Value) -> Result<Rescore, DslError> {
    let Value::Object(members) = value else {
        return Err(unexpected("null", value));
    };
    let mut window = WINDOW_DEFAULT;
    let mut found = None;
    for (key, value) in members {
        let start = Spot::start_of(value);
        match (key.as_str(), value) {
            ("query", Value::Object(_)) => found = Some(rescore_query(value)?),
            (other, Value::Object(_)) => {
                let reason = format!("unknown field [{other}]");
                return Err(DslError::of(DslErrorKind::NamedObject, reason).at(start));
            }
            (other, Value::Array(_) | Value::Null) => return Err(unexpected(other, value)),
            ("window_size", value) => {
                let size = integer_in(value)?.and_then(|size| usize::try_from(size).ok());
                window = size.ok_or_else(|| DslError::illegal("[window_size] must be >= 0"))?;
            }
            (other, _) => {
                let reason = format!("rescore doesn't support [{other}]");
                return Err(DslError::parsing(reason).at(start));
            }
        }
    }
    let missing = || DslError::parsing("missing rescore type").at(Spot::end_of(value));
    Ok(Rescore {
        window,
        ..found.ok_or_else(missing)?
    })
}

fn unexpected(key: &str, value: &Value) -> DslError {
    let reason = format!("unexpected token [{}] after [{key}]", token(value));
    DslError::parsing(reason).at(Spot::start_of(value))
}

/// A round of as many hits as are usual.
fn rescore_query(value: &Value) -> Result<Rescore, DslError> {
    let mut found = Rescore {
        window: WINDOW_DEFAULT,
        query: clew_query::Query::match_all(),
        query_weight: 1.0,
        rescore_weight: 1.0,
        combine: Combine::default(),
    };
    let mut has_query = false;
    for field in Field::all("query", value)? {
        match field.name {
            "rescore_query" => {
                let query = dsl::parse_query(field.object()?);
                found.query = query.map_err(|error| field.wrong(error))?;
                has_query = true;
            }
            "query_weight" => found.query_weight = weight(field)?,
            "rescore_query_weight" => found.rescore_weight = weight(field)?,
            "score_mode" => found.combine = combine(field)?,
            _ => {
                return Err(field.unknown(&[
                    "rescore_query",
                    "query_weight",
                    "rescore_query_weight",
                    "score_mode",
                ]));
            }
        }
    }
    if !has_query {
        return Err(DslError::illegal("rescore_query cannot be null"));
    }
    Ok(found)
}

fn combine(field: Field<'_>) -> Result<Combine, DslError> {
    let name = field.text()?;
    match name.to_ascii_lowercase().as_str() {
        "total" => Ok(Combine::Total),
        "multiply" => Ok(Combine::Multiply),
        "avg" => Ok(Combine::Avg),
        "max" => Ok(Combine::Max),
        "min" => Ok(Combine::Min),
        _ => {
            let reason = format!("illegal score_mode [{name}]");
            Err(field.wrong(DslError::illegal(reason)))
        }
    }
}

fn weight(field: Field<'_>) -> Result<f32, DslError> {
    #[allow(clippy::cast_possible_truncation, reason = "scores have 32 bits")]
    let number = field.number()? as f32;
    if !number.is_finite() {
        let reason = format!("[{}] must be a number", field.name);
        return Err(DslError::illegal(reason));
    }
    Ok(number)
}

fn natural(key: &str, value: &Value) -> Result<u64, ApiError> {
    let number = integer(value)?;
    u64::try_from(number).map_err(|_| ApiError::illegal_argument(format!("[{key}] must be >= 0")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn refused(key: &str, value: &Value, reason: &str) {
        let error = Control::default().read_member(key, value).unwrap_err();
        let body = String::from_utf8(error.body()).unwrap();
        assert!(body.contains(reason), "{body}");
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        refused(
            "slice",
            &json!({"id": 0, "max": 1}),
            "max must be greater than 1",
        );
        refused(
            "slice",
            &json!({"id": 2, "max": 2}),
            "max must be greater than id",
        );
        refused(
            "slice",
            &json!({"max": 2, "id": -1}),
            "id must be greater than or equal to 0",
        );
        refused(
            "slice",
            &json!({"max": 2, "id": 3}),
            "[slice] failed to parse field [id]",
        );
        refused(
            "slice",
            &json!({"id": 2, "max": 5_000_000_000_u64}),
            "number of slices [5000000000]",
        );
        refused(
            "pit",
            &json!({"keep_alive": "1m"}),
            "point int time id is not provided",
        );
        refused(
            "rescore",
            &json!({"window_size": 3}),
            "missing rescore type",
        );
        refused(
            "rescore",
            &json!({"window_size": true, "query": {"rescore_query": {"match_all": {}}}}),
            "[window_size] must be >= 0",
        );
        refused(
            "rescore",
            &json!({"query": {"rescore_query": {"match_all": {}}, "score_mode": "x"}}),
            "illegal score_mode [x]",
        );
        refused(
            "terminate_after",
            &json!(-1),
            "[terminate_after] must be >= 0",
        );
    }

    #[test]
    fn answers_of_many_shards_are_put_together_in_steps() {
        let two = Control {
            batch: Some(2),
            ..Control::default()
        };
        assert_eq!(two.reduce_phases(2), 1);
        assert_eq!(two.reduce_phases(3), 2);
        assert_eq!(two.reduce_phases(5), 4);
        assert_eq!(Control::default().reduce_phases(512), 1);
    }
}
