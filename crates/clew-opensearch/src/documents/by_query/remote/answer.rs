//! What another cluster answers: its version, pages of documents, refusals. All of it comes from outside, so that what is read has
//! bounds beyond that of the whole.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use axum::http::StatusCode;
use bytes::Bytes;
use serde::Deserialize;
use serde::de::{Deserializer, Error as _, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::documents::by_query::found::{FoundDocument, Page};
use crate::documents::by_query::spec::PAGE_MAX;
use crate::http::error::{ApiError, Cause};

/// Reasons that are longer are not looked into.
const REASON_BYTES_MAX: usize = 64 << 10;
/// Before this version of Elasticsearch searches had other parameters.
const OLDEST_MAJOR: u32 = 2;
/// From this one on a search can be told that it has to find all or fail.
const ALL_OR_NOTHING: (u32, u32) = (6, 3);

/// What tells how another cluster is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Version {
    /// Whether it can be told that all shards have to answer.
    pub(super) knows_all_or_nothing: bool,
}

/// A page, and the scroll by which the next one is asked for.
pub(super) struct Scrolled {
    pub(super) id: Option<String>,
    pub(super) page: Page,
}

/// A list of no more items than a page may have: what each takes is not booked.
struct AtMost<T>(Vec<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for AtMost<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Collect<T> {
            type Value = AtMost<T>;
            fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
                formatter.write_str("an array")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<AtMost<T>, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = seq.next_element()? {
                    if items.len() == PAGE_MAX {
                        let reason =
                            format!("more than [{PAGE_MAX}] items, which nobody asked for");
                        return Err(A::Error::custom(reason));
                    }
                    items.push(item);
                }
                Ok(AtMost(items))
            }
        }
        deserializer.deserialize_seq(Collect(PhantomData))
    }
}

#[derive(Deserialize)]
struct Main {
    version: MainVersion,
}

#[derive(Deserialize)]
struct MainVersion {
    number: String,
    /// Elasticsearch has none.
    distribution: Option<String>,
}

#[derive(Deserialize)]
struct SearchAnswer<'a> {
    #[serde(rename = "_scroll_id")]
    scroll_id: Option<String>,
    #[serde(default)]
    timed_out: bool,
    #[serde(rename = "_shards", borrow)]
    shards: Option<Shards<'a>>,
    #[serde(borrow)]
    hits: Hits<'a>,
}

#[derive(Deserialize)]
struct Shards<'a> {
    #[serde(borrow)]
    failures: Option<AtMost<Failure<'a>>>,
}

#[derive(Deserialize)]
struct Failure<'a> {
    index: Option<String>,
    shard: Option<i64>,
    node: Option<String>,
    #[serde(borrow)]
    reason: &'a RawValue,
}

#[derive(Deserialize)]
struct Reason {
    #[serde(rename = "type")]
    kind: String,
    reason: Option<String>,
}

#[derive(Deserialize)]
struct Hits<'a> {
    total: Total,
    #[serde(borrow)]
    hits: AtMost<Hit<'a>>,
}

/// A number before version 7.
#[derive(Deserialize)]
#[serde(untagged)]
enum Total {
    Number(u64),
    Object { value: u64 },
}

#[derive(Deserialize)]
struct Hit<'a> {
    #[serde(rename = "_index", borrow)]
    index: Cow<'a, str>,
    #[serde(rename = "_id")]
    id: String,
    #[serde(rename = "_version")]
    version: Option<i64>,
    #[serde(rename = "_routing")]
    routing: Option<String>,
    #[serde(rename = "_source", borrow)]
    source: Option<&'a RawValue>,
}

/// Reads what `GET /` is answered with.
///
/// # Errors
/// What is no answer to that, and a version that is too old.
pub(super) fn version(answer: &Bytes) -> Result<Version, ApiError> {
    let Main { version } =
        serde_json::from_slice(answer).map_err(|error| not_understood(&error))?;
    let MainVersion {
        number,
        distribution,
    } = version;
    let mut parts = number.split(['.', '-']).map(str::parse::<u32>);
    let (Some(Ok(major)), Some(Ok(minor))) = (parts.next(), parts.next()) else {
        return Err(not_understood(&format!("[{number}] is no version")));
    };
    let is_elasticsearch = distribution.is_none();
    if is_elasticsearch && major < OLDEST_MAJOR {
        return Err(ApiError::illegal_argument(format!(
            "[remote] is of version [{number}], must be at least [{OLDEST_MAJOR}.0.0]"
        )));
    }
    Ok(Version {
        knows_all_or_nothing: !is_elasticsearch || (major, minor) >= ALL_OR_NOTHING,
    })
}

/// Reads a page, whose documents stay where they are in the answer.
///
/// # Errors
/// What is no page, and documents without a source.
pub(super) fn scrolled(answer: &Bytes) -> Result<Scrolled, ApiError> {
    let read: SearchAnswer<'_> =
        serde_json::from_slice(answer).map_err(|error| not_understood(&error))?;
    let failures = read.shards.and_then(|shards| shards.failures);
    let failures = failures.map_or_else(Vec::new, |failures| failures.0);
    let mut index: Arc<str> = Arc::from("");
    let mut found = Vec::with_capacity(read.hits.hits.0.len());
    for hit in read.hits.hits.0 {
        if *index != *hit.index {
            index = Arc::from(&*hit.index);
        }
        let Some(source) = hit.source else {
            let reason = format!("[{index}][{}] didn't store _source", hit.id);
            return Err(ApiError::illegal_argument(reason));
        };
        found.push(FoundDocument {
            index: index.clone(),
            found_in: None,
            id: hit.id,
            routing: hit.routing,
            version: u64::try_from(hit.version.unwrap_or_default()).unwrap_or_default(),
            seq_no: 0,
            source: answer.slice_ref(source.get().as_bytes()),
        });
    }
    Ok(Scrolled {
        id: read.scroll_id.filter(|id| !id.is_empty()),
        page: Page {
            found,
            total: Some(match read.hits.total {
                Total::Number(value) | Total::Object { value } => value,
            }),
            failures: failures.iter().map(shown).collect(),
            timed_out: read.timed_out,
            _memory: None,
        },
    })
}

/// A shard there that could not be searched, as it is told here: of errors only a few are known by their types.
fn shown(failure: &Failure<'_>) -> (StatusCode, Value) {
    let text = failure.reason.get();
    let short = text
        .get(..REASON_BYTES_MAX.min(text.len()))
        .unwrap_or_default();
    let (status, kind, reason) = match serde_json::from_str::<Reason>(short) {
        Ok(Reason { kind, reason }) => {
            let reason = reason.unwrap_or_default();
            match kind.as_str() {
                "parsing_exception" => (StatusCode::BAD_REQUEST, "parsing_exception", reason),
                "rejected_execution_exception" | "es_rejected_execution_exception" => {
                    let status = StatusCode::TOO_MANY_REQUESTS;
                    (status, "rejected_execution_exception", reason)
                }
                _ => {
                    let reason = format!("{kind}: {reason}");
                    let status = StatusCode::INTERNAL_SERVER_ERROR;
                    (status, "runtime_exception", reason)
                }
            }
        }
        Err(_) => {
            let reason = format!("Unknown remote exception with reason=[{short}]");
            let status = StatusCode::INTERNAL_SERVER_ERROR;
            (status, "runtime_exception", reason)
        }
    };
    let shown = json!({
        "index": failure.index,
        "shard": failure.shard,
        "node": failure.node,
        "status": status.as_u16(),
        "reason": {"type": kind, "reason": reason},
    });
    (status, shown)
}

/// What is answered where something else was expected.
pub(super) fn not_understood(why: &impl fmt::Display) -> ApiError {
    let cause = Cause::new("x_content_parse_exception", why.to_string());
    let reason = "Error parsing the response, remote is likely not an OpenSearch instance";
    ApiError::new(
        StatusCode::INTERNAL_SERVER_ERROR,
        Cause::new("exception", reason).caused_by(cause),
    )
}

#[cfg(test)]
mod tests;
