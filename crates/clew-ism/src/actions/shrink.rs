//! The action that writes an index again with fewer shards.

use clew_opensearch::wing::{ApiError, parse_bytes, read_aliases};
use serde_json::{Map, Value};

use super::flag;
use crate::members::{items, members, read_count, required_text, unknown_field};

/// What is asked of a shrink.
#[derive(Debug, PartialEq)]
pub(crate) struct Shrink {
    pub(crate) to: ShrinkTo,
    /// A template of the new index's name.
    pub(crate) target: Option<String>,
    /// By name, as in the body of a new index.
    pub(crate) aliases: Map<String, Value>,
    /// Whether the new index takes the aliases of the old one.
    pub(crate) switch_aliases: bool,
}

/// How many shards there are to be.
#[derive(Debug, PartialEq)]
pub(crate) enum ShrinkTo {
    Shards(u64),
    /// A part of those that there are, below one.
    Part(f64),
    ShardBytes(u64),
}

impl ShrinkTo {
    fn read(key: &str, value: &Value) -> Result<Option<Self>, ApiError> {
        let refused = |why: &str| Err(ApiError::illegal_argument(format!("{key} {why}")));
        match key {
            "num_new_shards" => match read_count(key, value)? {
                0 => refused("must be greater than 0"),
                shards => Ok(Some(ShrinkTo::Shards(shards))),
            },
            "percentage_of_source_shards" => match value.as_f64() {
                Some(part) if part > 0.0 && part < 1.0 => Ok(Some(ShrinkTo::Part(part))),
                _ => refused("must be between 0.0 and 1.0 exclusively"),
            },
            "max_shard_size" => match parse_bytes(key, value.as_str().unwrap_or_default())? {
                0 => refused("must be greater than 0"),
                bytes => Ok(Some(ShrinkTo::ShardBytes(bytes))),
            },
            _ => Ok(None),
        }
    }

    /// How many shards to ask for: as many as divide those that there are, and are not more than
    /// wanted. None where the size decides.
    pub(crate) fn shards(&self, have: u32) -> Option<u32> {
        let is_wanted = |count: u32| match self {
            ShrinkTo::Shards(shards) => u64::from(count) <= *shards,
            ShrinkTo::Part(part) => f64::from(count) <= part * f64::from(have),
            ShrinkTo::ShardBytes(_) => false,
        };
        let mut factors = (1..have).rev().filter(|count| have.is_multiple_of(*count));
        match self {
            ShrinkTo::ShardBytes(_) => None,
            _ => Some(factors.find(|count| is_wanted(*count)).unwrap_or(1)),
        }
    }
}

impl Shrink {
    pub(super) fn parse(value: &Value) -> Result<Self, ApiError> {
        let (mut to, mut target, mut aliases) = (None, None, Map::new());
        let mut switch_aliases = false;
        let members = members(value, "shrink")?;
        for (key, value) in members.iter().filter(|(_, value)| !value.is_null()) {
            match key.as_str() {
                "target_index_name_template" => target = Some(read_template(value)?),
                "aliases" => {
                    for alias in items(members, key)? {
                        read_aliases(alias)?;
                        aliases.extend(alias.as_object().cloned().unwrap_or_default());
                    }
                }
                "switch_aliases" => switch_aliases = flag(key, value)?,
                "force_unsafe" => drop(flag(key, value)?),
                _ => match ShrinkTo::read(key, value)? {
                    None => return Err(unknown_field(key, "ShrinkAction")),
                    Some(_) if to.is_some() => return Err(one_option()),
                    given => to = given,
                },
            }
        }
        Ok(Shrink {
            to: to.ok_or_else(one_option)?,
            target,
            aliases,
            switch_aliases,
        })
    }
}

fn one_option() -> ApiError {
    ApiError::illegal_argument(
        "Exactly one option specifying the number of shards for the shrunken index must be used.",
    )
}

/// A template's text: `{"source": "{{ctx.index}}_small", "lang": "mustache"}`.
fn read_template(value: &Value) -> Result<String, ApiError> {
    let members: &Map<String, Value> = members(value, "target_index_name_template")?;
    let lang = members.get("lang").and_then(Value::as_str);
    if lang.is_some_and(|lang| lang != "mustache") {
        return Err(ApiError::illegal_argument(
            "Target index name template language must be mustache.",
        ));
    }
    required_text(members, "source")
}
