//! What a copy is asked to be, and whether it can be made of its source.

use std::collections::BTreeMap;

use clew_engine::{Aliases, Index};
use serde_json::Value;

use super::illegal_state;
use crate::http::error::ApiError;
use crate::http::setting_values::{Flat, parse_bytes};
use crate::indices::aliases::read_aliases;
use crate::indices::filling::Filled;
use crate::indices::index_settings::PROVIDED_NAME;
use crate::indices::known_settings;
use crate::indices::settings;
use crate::indices::settings::{PRIVATE, ROUTING_SLOTS};

const SHARDS: &str = "index.number_of_shards";
const PARTITION_SIZE: &str = "index.routing_partition_size";
/// Shards that an index can be split into unless it says otherwise.
const ROUTING_SHARDS_MAX: u32 = 1024;
/// Blocks that would forbid the last steps of making the copy.
const FORBIDDEN_BLOCKS: [&str; 2] = ["index.blocks.read_only", "index.blocks.metadata"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResizeKind {
    Clone,
    Shrink,
    Split,
}

impl ResizeKind {
    pub(super) fn name(self) -> &'static str {
        match self {
            ResizeKind::Clone => "clone",
            ResizeKind::Shrink => "shrink",
            ResizeKind::Split => "split",
        }
    }
}

/// A request for a copy.
pub(super) struct Resize {
    kind: ResizeKind,
    target: String,
    settings: Flat,
    aliases: Aliases,
    max_shard_bytes: Option<u64>,
}

impl Resize {
    pub(super) fn read(kind: ResizeKind, target: &str, body: &Value) -> Result<Self, ApiError> {
        let mut asked = Resize {
            kind,
            target: target.to_string(),
            settings: Flat::new(),
            aliases: Aliases::new(),
            max_shard_bytes: None,
        };
        for (key, value) in body.as_object().into_iter().flatten() {
            match (key.as_str(), value) {
                ("settings", Value::Object(members)) => {
                    asked.settings = settings::flatten(members)?;
                    known_settings::check(&asked.settings)?;
                }
                ("aliases", value) => asked.aliases = read_aliases(value)?,
                ("max_shard_size", Value::String(text)) if kind == ResizeKind::Shrink => {
                    asked.max_shard_bytes = Some(parse_bytes("max_shard_size", text)?);
                }
                ("max_shard_size", _) if kind != ResizeKind::Shrink => {
                    return Err(ApiError::validation(
                        "Unsupported parameter [max_shard_size]",
                    ));
                }
                (other, value) => {
                    return Err(ApiError::unknown_field("resize_request", other, value));
                }
            }
        }
        asked.validate()?;
        Ok(asked)
    }

    fn validate(&self) -> Result<(), ApiError> {
        if self
            .settings
            .keys()
            .any(|name| name.starts_with("index.sort."))
        {
            return Err(ApiError::validation(
                "can't override index sort when resizing an index",
            ));
        }
        if self.kind == ResizeKind::Split && self.asked(SHARDS).is_none() {
            return Err(ApiError::validation(
                "index.number_of_shards is required for split operations",
            ));
        }
        if self.settings.contains_key(PARTITION_SIZE) {
            return Err(ApiError::validation(
                "cannot provide a routing partition size value when resizing an index",
            ));
        }
        if self.max_shard_bytes.is_some() && self.asked(SHARDS).is_some() {
            return Err(ApiError::validation(
                "Cannot set max_shard_size and index.number_of_shards at the same time!",
            ));
        }
        if self.max_shard_bytes == Some(0) {
            return Err(ApiError::validation(
                "max_shard_size must be greater than 0",
            ));
        }
        for block in FORBIDDEN_BLOCKS {
            if self.asked(block) == Some("true") {
                return Err(ApiError::validation(&format!(
                    "target index [{}] will be blocked by [{block}=true], this will disable \
                     metadata writes and cause the shards to be unassigned",
                    self.target
                )));
            }
        }
        Ok(())
    }

    fn asked(&self, name: &str) -> Option<&str> {
        self.settings.get(name)?.as_deref()
    }

    /// What the copy of this source will be.
    pub(super) fn plan(self, source: &Index) -> Result<Filled, ApiError> {
        let shards = self.shards(source)?;
        let current = source.settings();
        for block in FORBIDDEN_BLOCKS {
            let copied = current.given.get(block).is_some_and(|text| text == "true");
            if copied && !self.settings.contains_key(block) {
                return Err(ApiError::illegal_argument(format!(
                    "target index [{}] will be blocked by [{block}=true] which is copied from \
                     the source index [{}], this will disable metadata writes and cause the \
                     shards to be unassigned",
                    self.target,
                    source.name()
                )));
            }
        }
        let mut settings: Flat = current
            .given
            .iter()
            .filter(|(name, _)| !name.starts_with(PRIVATE) && *name != PROVIDED_NAME)
            .map(|(name, text)| (name.clone(), Some(text.clone())))
            .collect();
        settings.extend(self.settings);
        settings.insert(SHARDS.to_string(), Some(shards.to_string()));
        for (name, text) in [("name", source.name()), ("uuid", source.uuid())] {
            let name = format!("index.resize.source.{name}");
            settings.insert(name, Some(text.to_string()));
        }
        Ok(Filled {
            name: self.target,
            settings,
            mapping: (*source.mapping()).clone(),
            aliases: self.aliases,
            private: BTreeMap::new(),
            in_place_of: None,
        })
    }

    /// How many shards the copy gets.
    fn shards(&self, source: &Index) -> Result<u32, ApiError> {
        let have = source.settings().shards;
        let given = self.asked(SHARDS);
        let asked = given.map(|text| {
            let only = Flat::from([(SHARDS.to_string(), Some(text.to_string()))]);
            settings::create(&only).map(|settings| settings.shards)
        });
        let asked = asked.transpose()?;
        let single_split = self.kind == ResizeKind::Split && have == 1;
        if self.settings.contains_key(ROUTING_SLOTS) && !single_split {
            return Err(ApiError::illegal_argument(
                "cannot provide index.number_of_routing_shards on resize",
            ));
        }
        match self.kind {
            ResizeKind::Clone => check_clone(have, asked.unwrap_or(have)),
            ResizeKind::Shrink => match (self.max_shard_bytes, asked) {
                (Some(bytes_max), _) => Ok(fitting(have, source.stats().bytes, bytes_max)),
                (None, asked) => check_shrink(have, asked.unwrap_or(1)),
            },
            ResizeKind::Split => {
                let asked_slots = self.asked(ROUTING_SLOTS).and_then(|text| text.parse().ok());
                let routing = asked_slots.or(source.settings().routing_slots);
                check_split(have, asked.unwrap_or(have), routing)
            }
        }
    }
}

fn check_clone(have: u32, want: u32) -> Result<u32, ApiError> {
    if want == have {
        return Ok(want);
    }
    Err(ApiError::illegal_argument(format!(
        "the number of target shards ({want}) must be the same as the number of source shards \
         ({have})"
    )))
}

fn check_shrink(have: u32, want: u32) -> Result<u32, ApiError> {
    if want > have {
        return Err(ApiError::illegal_argument(format!(
            "the number of target shards [{want}] must be less that the number of source shards \
             [{have}]"
        )));
    }
    if !have.is_multiple_of(want) {
        return Err(ApiError::illegal_argument(format!(
            "the number of source shards [{have}] must be a multiple of [{want}]"
        )));
    }
    Ok(want)
}

/// The least divisor of the source's shards that keeps each of the new ones small enough.
fn fitting(have: u32, bytes: u64, bytes_max: u64) -> u32 {
    let least = bytes.div_ceil(bytes_max).max(1);
    let divisors = (1..=have).filter(|count| have.is_multiple_of(*count));
    divisors
        .into_iter()
        .find(|count| u64::from(*count) >= least)
        .unwrap_or(have)
}

fn check_split(have: u32, want: u32, routing: Option<u32>) -> Result<u32, ApiError> {
    if want < have {
        return Err(ApiError::illegal_argument(format!(
            "the number of source shards [{have}] must be less that the number of target shards \
             [{want}]"
        )));
    }
    if !want.is_multiple_of(have) {
        return Err(ApiError::illegal_argument(format!(
            "the number of source shards [{have}] must be a factor of [{want}]"
        )));
    }
    // A single shard can be split into any number.
    let routing = match routing {
        Some(routing) => routing,
        None if have == 1 => want,
        None => {
            let doubled = std::iter::successors(Some(have), |count| Some(count * 2));
            let fitting = doubled.take_while(|count| *count <= ROUTING_SHARDS_MAX);
            fitting.last().unwrap_or(have)
        }
    };
    if !routing.is_multiple_of(want) {
        return Err(illegal_state(format!(
            "the number of routing shards [{routing}] must be a multiple of the target shards \
             [{want}]"
        )));
    }
    Ok(want)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn shards_follow_the_rules_of_each_kind() {
        assert_eq!(check_clone(2, 2).unwrap(), 2);
        assert!(check_clone(2, 6).is_err());
        assert_eq!(check_shrink(6, 3).unwrap(), 3);
        assert!(check_shrink(6, 4).is_err());
        assert!(check_shrink(2, 4).is_err());
        assert_eq!(check_split(2, 2, None).unwrap(), 2);
        assert_eq!(check_split(1, 5, None).unwrap(), 5);
        assert_eq!(check_split(2, 4, Some(4)).unwrap(), 4);
        assert!(check_split(2, 6, Some(4)).is_err());
        assert!(check_split(2, 6, None).is_err());
        assert!(check_split(4, 2, None).is_err());
        assert_eq!(check_split(3, 12, None).unwrap(), 12);
    }

    #[test]
    fn a_shard_size_chooses_the_fewest_shards_that_fit() {
        assert_eq!(fitting(6, 0, 10), 1);
        assert_eq!(fitting(6, 11, 10), 2);
        assert_eq!(fitting(6, 35, 10), 6);
        assert_eq!(fitting(6, 1000, 10), 6);
    }

    #[test]
    fn requests_that_cannot_be_met_are_refused() {
        let refused = |kind: ResizeKind, body: Value| Resize::read(kind, "t", &body).is_err();
        assert!(refused(ResizeKind::Split, json!({})));
        assert!(refused(ResizeKind::Clone, json!({"max_shard_size": "1gb"})));
        assert!(refused(ResizeKind::Clone, json!({"mappings": {}})));
        let blocked = json!({"settings": {"index.blocks.read_only": true}});
        assert!(refused(ResizeKind::Clone, blocked));
        let sorted = json!({"settings": {"index.sort.field": "a"}});
        assert!(refused(ResizeKind::Shrink, sorted));
        assert!(!refused(
            ResizeKind::Shrink,
            json!({"max_shard_size": "1gb"})
        ));
    }
}
