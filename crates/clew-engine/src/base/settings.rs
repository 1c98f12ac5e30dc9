//! Settings of an index: what the engine acts on, and what a protocol keeps with it.

use std::collections::BTreeMap;
use std::time::Duration;

use clew_schema::MappingLimits;
use serde::{Deserialize, Serialize};

use crate::base::blocks::Block;
use crate::base::routing;
use crate::base::slow::SlowLog;

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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MergeOrder {
    /// That of the segments, one behind the other.
    #[default]
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
    /// Slots that routing keys are spread over, fixed at creation, of which each shard owns an equal share. `None`, or
    /// what the shards cannot share equally, means as many as OpenSearch takes for the number of shards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub routing_slots: Option<u32>,
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
    /// Longest id of a document, in bytes; up to 32,766, as ids are terms.
    #[serde(default = "usual_id_bytes", skip_serializing_if = "is_usual_id_bytes")]
    pub id_bytes_max: usize,
    /// What is forbidden to be done with the index.
    #[serde(default)]
    pub blocks: Vec<Block>,
    /// How large the mapping may grow.
    #[serde(default)]
    pub mapping_limits: MappingLimits,
    /// In which order merges put documents.
    #[serde(default)]
    pub merge_order: MergeOrder,
    /// Whether wildcards pass it over.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hidden: bool,
    /// The data stream that it is a part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_stream: Option<String>,
    /// The field of which every document has exactly one value: the time of a data stream's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_field: Option<String>,
    /// Whether documents from elsewhere are still being put into it: until all are in, its shards serve neither reads nor
    /// writes, as the index may yet be removed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unfinished: bool,
    /// What is told as slow.
    #[serde(default, skip_serializing_if = "SlowLog::is_default")]
    pub slow: SlowLog,
    /// What a protocol keeps with the index in its own words, to show or to read it again. The engine never looks at it.
    pub given: BTreeMap<String, String>,
}

fn usual_id_bytes() -> usize {
    512
}

#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands out references"
)]
fn is_usual_id_bytes(bytes: &usize) -> bool {
    *bytes == usual_id_bytes()
}

/// Reads what a catalog of an older format keeps in a protocol's words alone, [`IndexSettings::given`], into the typed
/// members.
pub type SettingsReader = fn(&mut IndexSettings);

impl IndexSettings {
    /// How many slots routing keys are spread over: as given, when shards can share them equally.
    pub fn routing_slots(&self) -> u32 {
        let shared = |slots: &u32| *slots >= self.shards && slots.is_multiple_of(self.shards);
        let given = self.routing_slots.filter(shared);
        given.unwrap_or_else(|| routing::routing_slots(self.shards))
    }

    /// Whether both are the same but for blocks and for what protocols keep.
    pub(crate) fn differs_in_blocks_alone(&self, other: &IndexSettings) -> bool {
        let with_blocks_of_other = IndexSettings {
            blocks: other.blocks.clone(),
            given: other.given.clone(),
            ..self.clone()
        };
        with_blocks_of_other == *other
    }
}

impl Default for IndexSettings {
    fn default() -> Self {
        IndexSettings {
            shards: 1,
            routing_slots: None,
            refresh_interval: Some(Duration::from_secs(1)),
            durability: TranslogDurability::Request,
            sync_interval: Duration::from_secs(5),
            flush_threshold_bytes: 512 << 20,
            ef_search: 100,
            max_result_window: 10_000,
            id_bytes_max: usual_id_bytes(),
            blocks: Vec::new(),
            mapping_limits: MappingLimits::default(),
            merge_order: MergeOrder::Stacked,
            hidden: false,
            data_stream: None,
            time_field: None,
            unfinished: false,
            slow: SlowLog::default(),
            given: BTreeMap::new(),
        }
    }
}
