//! Rows that are only there for a time: each says when it was written, and the collection how long that is good.

use std::collections::BTreeMap;
use std::time::Duration;

use clew_query::{Bool, Query, Range};

use super::{Collection, check_warmup};
use crate::error::{MilvusError, Result};

/// When a row was written, in milliseconds since the epoch: a field of its document beside those of the collection.
pub(crate) const WRITTEN: &str = "$written";
/// How long rows are there.
const TTL: &str = "collection.ttl.seconds";
/// A field of rows that would say when each goes.
const TTL_FIELD: &str = "ttl_field";
/// Longest time, in seconds: a hundred years.
const TTL_SECONDS_MAX: i64 = 3_155_760_000;

/// Refuses values of properties that make no sense.
///
/// # Errors
/// For a time that is no number of seconds, and for properties that would change what is found and are not followed.
pub(crate) fn check_properties(properties: &BTreeMap<String, String>) -> Result<()> {
    if properties.contains_key(TTL_FIELD) {
        return Err(MilvusError::Unsupported(format!(
            "the property {TTL_FIELD}"
        )));
    }
    check_warmup(properties)?;
    let Some(given) = properties.get(TTL) else {
        return Ok(());
    };
    let seconds: i64 = given
        .parse()
        .map_err(|_| MilvusError::invalid("collection TTL is not a valid positive integer"))?;
    if (-1..=TTL_SECONDS_MAX).contains(&seconds) {
        return Ok(());
    }
    Err(MilvusError::invalid(format!(
        "collection TTL is out of range, expect [-1, {TTL_SECONDS_MAX}], got {seconds}"
    )))
}

impl Collection {
    /// How long rows are there; for ever where nothing is said, or no time.
    pub(crate) fn ttl(&self) -> Option<Duration> {
        let seconds: u64 = self.properties.get(TTL)?.parse().ok()?;
        (seconds > 0).then(|| Duration::from_secs(seconds))
    }

    /// What rows match whose time is over, if any can be; `now` is since the epoch.
    ///
    /// Rows go by whole seconds, so that what a filter leaves is good for more than one search.
    pub(crate) fn expired(&self, now: Duration) -> Option<Query> {
        let oldest = now.as_secs().checked_sub(self.ttl()?.as_secs())?;
        Some(Query::Range(Range {
            lt: Some((oldest * 1_000).into()),
            ..Range::new(WRITTEN)
        }))
    }

    /// What rows match whose time is not over; nothing where none has an end. Rows without a time stay.
    pub(crate) fn unexpired(&self, now: Duration) -> Option<Query> {
        let expired = self.expired(now)?;
        Some(Query::Bool(Bool {
            must_not: vec![expired],
            ..Bool::default()
        }))
    }
}
