//! Rows that are only there for a time: each says when it was written, and the collection how long that is good; or each
//! says when it goes.

use std::collections::BTreeMap;
use std::time::Duration;

use clew_query::{Bool, Query, Range};

use super::{Collection, DataType, Field, check_warmup};
use crate::error::{MilvusError, Result};

/// When a row was written, in milliseconds since the epoch: a field of its document beside those of the collection.
pub(crate) const WRITTEN: &str = "$written";
/// How long rows are there.
const TTL: &str = "collection.ttl.seconds";
/// The field of rows that says when each goes; those without a value stay.
pub(crate) const TTL_FIELD: &str = "ttl_field";
/// Longest time, in seconds: a hundred years.
const TTL_SECONDS_MAX: i64 = 3_155_760_000;

/// Refuses values of properties that make no sense.
///
/// # Errors
/// For a time that is no number of seconds.
pub(crate) fn check_properties(properties: &BTreeMap<String, String>) -> Result<()> {
    if properties.contains_key("warmup") {
        return Err(MilvusError::invalid(
            "warmup key 'warmup' is only allowed at field level, use warmup.scalarField/warmup.scalarIndex/warmup.vectorField/warmup.vectorIndex at collection level",
        ));
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
    /// Refuses a field of ends that is none, and ends of rows beside one that all have in common.
    ///
    /// # Errors
    /// Where the properties say so.
    pub(crate) fn check_ends(&self) -> Result<()> {
        let Some(name) = self.properties.get(TTL_FIELD) else {
            return Ok(());
        };
        if self.properties.contains_key(TTL) {
            return Err(MilvusError::invalid(
                "collection TTL and ttl field cannot be set at the same time",
            ));
        }
        let mut fields = self.fields.iter();
        let field = fields.find(|field| field.name == *name).ok_or_else(|| {
            MilvusError::invalid(format!("ttl field name {name} not found in schema"))
        })?;
        match field.data_type {
            DataType::Timestamptz => Ok(()),
            _ => Err(MilvusError::invalid(format!(
                "ttl field must be timestamptz, field name = {name}"
            ))),
        }
    }

    /// Refuses properties that bring one kind of ends to rows which have the other one.
    ///
    /// # Errors
    /// In Milvus' words.
    pub(crate) fn check_other_ends(&self, given: &BTreeMap<String, String>) -> Result<()> {
        let brings = |new: &str, old: &str| {
            given.contains_key(new) && !given.contains_key(old) && self.properties.contains_key(old)
        };
        let said = if brings(TTL, TTL_FIELD) {
            "ttl field is already exists, cannot be set collection TTL"
        } else if brings(TTL_FIELD, TTL) {
            "collection TTL is already set, cannot be set ttl field"
        } else {
            return Ok(());
        };
        Err(MilvusError::invalid(said))
    }

    /// The field that says when a row goes.
    pub(super) fn field_of_ends(&self) -> Option<&Field> {
        let name = self.properties.get(TTL_FIELD)?;
        self.fields.iter().find(|field| field.name == *name)
    }

    /// How long rows are there; for ever where nothing is said, or no time.
    pub(crate) fn ttl(&self) -> Option<Duration> {
        let seconds: u64 = self.properties.get(TTL)?.parse().ok()?;
        (seconds > 0).then(|| Duration::from_secs(seconds))
    }

    /// What rows match whose time is over, if any can be; `now` is since the epoch.
    ///
    /// Rows go by whole seconds, so that what a filter leaves is good for more than one search.
    pub(crate) fn expired(&self, now: Duration) -> Option<Query> {
        if let Some(field) = self.field_of_ends() {
            let micros = now.as_secs().checked_mul(1_000_000)?;
            return Some(Query::Range(Range {
                // Before the epoch there is no end, as in Milvus.
                gt: Some(0.into()),
                lte: Some(micros.into()),
                ..Range::new(field.path())
            }));
        }
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
