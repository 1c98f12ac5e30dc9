//! When an index is rolled over or goes to another state: conditions over what is known of it.

use std::time::Duration;

use clew_engine::Index;
use clew_opensearch::wing::{ApiError, parse_bytes};
use serde_json::{Map, Value, json};

use super::members::{members, read_count, read_time, unknown_field};

/// What conditions look at.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    pub(super) age: Duration,
    pub(super) docs: u64,
    pub(super) bytes: u64,
    /// Of the largest shard.
    pub(super) shard_bytes: u64,
    /// Since it was rolled over, when it was.
    pub(super) rollover_age: Option<Duration>,
}

impl Facts {
    pub(super) fn of(index: &Index, now: Duration, rolled_over_ms: Option<u64>) -> Self {
        let since = |ms: u64| now.saturating_sub(Duration::from_millis(ms));
        let shards = index.shard_stats();
        Facts {
            age: since(index.created_ms()),
            docs: shards.iter().map(|shard| shard.docs).sum(),
            bytes: shards.iter().map(|shard| shard.bytes).sum(),
            shard_bytes: shards.iter().map(|shard| shard.bytes).max().unwrap_or(0),
            rollover_age: rolled_over_ms.map(since),
        }
    }
}

/// When a transition is taken.
#[derive(Debug, PartialEq)]
pub(super) enum Condition {
    Always,
    Age(Duration),
    Docs(u64),
    Bytes(u64),
    RolloverAge(Duration),
}

impl Condition {
    pub(super) fn parse(value: &Value) -> Result<Self, ApiError> {
        let members = members(value, "Conditions")?;
        let mut given = members.iter().filter(|(_, value)| !value.is_null());
        let Some((name, value)) = given.next() else {
            return Ok(Condition::Always);
        };
        if given.next().is_some() {
            return Err(ApiError::illegal_argument(
                "Cannot provide more than one Transition condition",
            ));
        }
        match name.as_str() {
            "min_index_age" => Ok(Condition::Age(age(name, value)?)),
            "min_rollover_age" => Ok(Condition::RolloverAge(age(name, value)?)),
            "min_doc_count" => Ok(Condition::Docs(positive(name, read_count(name, value)?)?)),
            "min_size" => Ok(Condition::Bytes(size(name, value)?)),
            "cron" => Err(ApiError::illegal_argument(
                "condition [cron] is not supported: transitions go by age, documents and size",
            )),
            other => Err(unknown_field(other, "Conditions")),
        }
    }

    pub(super) fn is_met(&self, facts: &Facts) -> bool {
        match self {
            Condition::Always => true,
            Condition::Age(age) => facts.age >= *age,
            Condition::Docs(docs) => facts.docs >= *docs,
            Condition::Bytes(bytes) => facts.bytes >= *bytes,
            Condition::RolloverAge(age) => facts.rollover_age.is_some_and(|since| since >= *age),
        }
    }
}

/// When an index has had enough: any of these, or at once where there are none.
#[derive(Debug, Default, PartialEq)]
pub(super) struct RolloverConditions {
    age: Option<Duration>,
    docs: Option<u64>,
    bytes: Option<u64>,
    shard_bytes: Option<u64>,
}

impl RolloverConditions {
    /// Reads a member of a rollover; whether it is one of these.
    pub(super) fn read(&mut self, name: &str, value: &Value) -> Result<bool, ApiError> {
        match name {
            "min_index_age" => self.age = Some(age(name, value)?),
            "min_doc_count" => self.docs = Some(positive(name, read_count(name, value)?)?),
            "min_size" => self.bytes = Some(size(name, value)?),
            "min_primary_shard_size" => self.shard_bytes = Some(size(name, value)?),
            _ => return Ok(false),
        }
        Ok(true)
    }

    pub(super) fn is_met(&self, facts: &Facts) -> bool {
        let all = [
            self.age.map(|age| facts.age >= age),
            self.docs.map(|docs| facts.docs >= docs),
            self.bytes.map(|bytes| facts.bytes >= bytes),
            self.shard_bytes.map(|bytes| facts.shard_bytes >= bytes),
        ];
        let mut given = all.into_iter().flatten().peekable();
        given.peek().is_none() || given.any(|met| met)
    }

    /// Each condition and how far the index is.
    pub(super) fn shown(&self, facts: &Facts) -> Value {
        let mut shown = Map::new();
        let mut show = |name: &str, condition: Option<Value>, current: Value| {
            if let Some(condition) = condition {
                let both = json!({"condition": condition, "current": current});
                shown.insert(name.to_string(), both);
            }
        };
        let time = |time: Duration| json!(format!("{}s", time.as_secs()));
        let bytes = |bytes: u64| json!(format!("{bytes}b"));
        show("min_index_age", self.age.map(time), time(facts.age));
        show(
            "min_doc_count",
            self.docs.map(Value::from),
            json!(facts.docs),
        );
        show("min_size", self.bytes.map(bytes), bytes(facts.bytes));
        show(
            "min_primary_shard_size",
            self.shard_bytes.map(bytes),
            bytes(facts.shard_bytes),
        );
        Value::Object(shown)
    }
}

fn age(name: &str, value: &Value) -> Result<Duration, ApiError> {
    read_time(name, value)?
        .ok_or_else(|| ApiError::illegal_argument(format!("{name} must be a time, not {value}")))
}

fn size(name: &str, value: &Value) -> Result<u64, ApiError> {
    let text = value.as_str().ok_or_else(|| {
        ApiError::illegal_argument(format!(
            "[{name}] must be a size such as [1gb], not {value}"
        ))
    })?;
    positive(name, parse_bytes(name, text)?)
}

fn positive(name: &str, number: u64) -> Result<u64, ApiError> {
    if number == 0 {
        return Err(ApiError::illegal_argument(format!(
            "{name} needs to be greater than zero"
        )));
    }
    Ok(number)
}
