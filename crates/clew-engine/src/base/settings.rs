//! Settings of an index: what the engine acts on, and what the user wrote.

use std::collections::BTreeMap;
use std::time::Duration;

use clew_schema::MappingLimits;
use serde::{Deserialize, Serialize};

use crate::base::blocks::Block;
use crate::base::routing::routing_slots;

/// Fields that a mapping may be allowed: each costs memory in every segment.
const FIELDS_MAX: usize = 100_000;
/// Objects inside objects that may be allowed.
const DEPTH_MAX: usize = 100;
/// Most nested fields that an index may allow itself.
const NESTED_FIELDS_MAX: usize = 10_000;
/// Most nested objects of a document that an index may allow itself.
const NESTED_OBJECTS_MAX: usize = 1_000_000;
/// The most `index.mapping.field_name_length.limit` allows, whatever it says.
const NAME_CHARS_MAX: usize = 1_000_000;

/// The setting that makes an index a part of a data stream: the stream's name.
pub const DATA_STREAM: &str = "index.clew.data_stream";

/// The setting that says how many slots routing keys are spread over.
const ROUTING_SLOTS: &str = "index.number_of_routing_shards";

/// The setting that has merges put similar documents beside each other.
pub const MERGE_REORDER: &str = "index.merge.reorder";

/// When a write to an index is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TranslogDurability {
    /// After `fdatasync` of the log.
    Request,
    /// After the write to the log file; the log is synced at the index's `sync_interval`.
    Async,
}

/// In which order a merge puts documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MergeOrder {
    /// That of the segments, one behind the other.
    Stacked,
    /// Similar ones beside each other, where that is worth the time.
    Similar,
}

/// Settings of an index.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IndexSettings {
    /// Number of shards, fixed at creation; 1 to 1024.
    pub shards: u32,
    /// How often new writes become visible to searches; `None` means only when asked.
    pub refresh_interval: Option<Duration>,
    /// When a write is acknowledged.
    pub durability: TranslogDurability,
    /// How often the log is synced for an index with [`TranslogDurability::Async`].
    pub sync_interval: Duration,
    /// Log bytes since a shard's last flush after which it is flushed.
    pub flush_threshold_bytes: u64,
    /// `ef_search` of k-NN queries that do not say their own.
    pub ef_search: usize,
    /// Largest `from + size` of a search.
    pub max_result_window: usize,
    /// What is forbidden to be done with the index.
    #[serde(default)]
    pub blocks: Vec<Block>,
    /// Every setting as the user gave it, flat (`index.number_of_shards`), to be shown again.
    pub given: BTreeMap<String, String>,
}

impl IndexSettings {
    /// How large the mapping may grow.
    pub fn mapping_limits(&self) -> MappingLimits {
        let defaults = MappingLimits::default();
        let given = |name: &str, default: usize, max: usize| {
            let text = self.given.get(name);
            let number = text.and_then(|text| text.parse::<usize>().ok());
            number.map_or(default, |number| number.min(max))
        };
        MappingLimits {
            fields_max: given(
                "index.mapping.total_fields.limit",
                defaults.fields_max,
                FIELDS_MAX,
            ),
            depth_max: given("index.mapping.depth.limit", defaults.depth_max, DEPTH_MAX),
            nested_fields_max: given(
                "index.mapping.nested_fields.limit",
                defaults.nested_fields_max,
                NESTED_FIELDS_MAX,
            ),
            nested_objects_max: given(
                "index.mapping.nested_objects.limit",
                defaults.nested_objects_max,
                NESTED_OBJECTS_MAX,
            ),
            name_chars_max: given(
                "index.mapping.field_name_length.limit",
                defaults.name_chars_max,
                NAME_CHARS_MAX,
            ),
        }
    }

    /// In which order merges put documents.
    pub(crate) fn merge_order(&self) -> MergeOrder {
        match self.given.get(MERGE_REORDER).map(String::as_str) {
            Some("true") => MergeOrder::Similar,
            _ => MergeOrder::Stacked,
        }
    }

    /// How many slots routing keys are spread over: as given, when shards can share them equally.
    pub(crate) fn routing_slots(&self) -> u32 {
        let given = self
            .given
            .get(ROUTING_SLOTS)
            .and_then(|text| text.parse().ok());
        given
            .filter(|slots: &u32| *slots >= self.shards && slots.is_multiple_of(self.shards))
            .unwrap_or_else(|| routing_slots(self.shards))
    }
}

impl Default for IndexSettings {
    fn default() -> Self {
        IndexSettings {
            shards: 1,
            refresh_interval: Some(Duration::from_secs(1)),
            durability: TranslogDurability::Request,
            sync_interval: Duration::from_secs(5),
            flush_threshold_bytes: 512 << 20,
            ef_search: 100,
            max_result_window: 10_000,
            blocks: Vec::new(),
            given: BTreeMap::new(),
        }
    }
}
