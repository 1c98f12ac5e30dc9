//! The configuration: one YAML file, then `CLEW_SECTION__KEY` variables (and `CLEW_DATA`), then
//! flags. A key is a field here; `reading` finds it, and says what is wrong with it; `bounds` knows what no server could work with.

mod bounds;
mod reading;

use std::net::SocketAddr;
use std::path::PathBuf;

use clew_opensearch::{DISK_LOOK_INTERVAL, DISK_THRESHOLD_ENABLED, DISK_WATERMARKS};
use serde::{Deserialize, Deserializer, Serialize};

pub(crate) use self::reading::ADDRESS;
use crate::http::{HttpConfig, listed};
use crate::remote_clusters::ReindexConfig;
use crate::spans::TracingConfig;

/// Everything a server can be told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Config {
    /// The data folder.
    pub(crate) data: PathBuf,
    /// The HTTP server.
    pub(crate) http: HttpConfig,
    /// The gRPC server.
    pub(crate) grpc: GrpcConfig,
    /// Who is let in.
    pub(crate) access: AccessConfig,
    /// Indexing and searching.
    pub(crate) engine: EngineConfig,
    /// What memory may be taken.
    pub(crate) memory: MemoryConfig,
    /// Merging vectors.
    pub(crate) vectors: VectorsConfig,
    /// How full the disk of the data folder may get.
    pub(crate) disk: DiskConfig,
    /// What the log keeps.
    pub(crate) log: LogConfig,
    /// Where snapshots may be kept.
    pub(crate) snapshots: SnapshotsConfig,
    /// Where files of bulk imports may lie.
    pub(crate) imports: ImportsConfig,
    /// Copying of documents.
    pub(crate) reindex: ReindexConfig,
    /// Profiles of the server itself.
    pub(crate) profile: ProfileConfig,
    /// Spans of requests.
    pub(crate) tracing: TracingConfig,
    /// The server's own messages.
    pub(crate) logging: LoggingConfig,
    /// How the server ends.
    pub(crate) stop: StopConfig,
}

/// How the server ends when it is asked to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct StopConfig {
    /// What is open has this time to end, and then is cut off.
    pub(crate) grace_ms: u64,
}

impl Default for StopConfig {
    fn default() -> Self {
        StopConfig { grace_ms: 10_000 }
    }
}

/// Profiles of the server itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ProfileConfig {
    /// Whether allocations are sampled, one for each 512 KiB, from the start on.
    pub(crate) heap: bool,
    /// Whether a profile of each minute is kept, by 19 looks a second.
    pub(crate) continuous: bool,
    /// For how long those are kept.
    pub(crate) retention_s: u64,
    /// How many bytes of them are kept at most, by whole files.
    pub(crate) retention_bytes: u64,
}

impl Default for ProfileConfig {
    fn default() -> Self {
        ProfileConfig {
            heap: true,
            continuous: false,
            retention_s: 7 * 24 * 60 * 60,
            retention_bytes: 256 << 20,
        }
    }
}

/// Where snapshots may be kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct SnapshotsConfig {
    /// Folders that repositories may lie in; none means `repositories` in the data folder.
    #[serde(deserialize_with = "paths")]
    pub(crate) paths: Vec<PathBuf>,
}

fn paths<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<PathBuf>, D::Error> {
    let paths = listed(deserializer, |_| false)?;
    Ok(paths.into_iter().map(PathBuf::from).collect())
}

/// Where files of bulk imports may lie.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ImportsConfig {
    /// The folder; without one there are no imports.
    pub(crate) path: Option<PathBuf>,
}

/// The gRPC server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct GrpcConfig {
    /// Where to listen.
    pub(crate) address: SocketAddr,
    /// Listen on other than loopback addresses although anyone who reaches them may do anything.
    pub(crate) allow_remote: bool,
    /// Longest request message.
    pub(crate) message_bytes_max: usize,
    /// Connections that may be open at once; 0 means 1,000, or an eighth of the files that the process
    /// may open where that is less.
    pub(crate) connections_max: usize,
}

/// Who is let in.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct AccessConfig {
    /// Whether everybody must say who they are, on both ports.
    pub(crate) authentication: bool,
    /// The first password of the user `root`; empty means the one that Milvus has.
    pub(crate) root_password: Secret,
}

/// A text that is not shown.
#[derive(Clone, Default, PartialEq, Deserialize)]
#[serde(transparent)]
pub(crate) struct Secret(pub(crate) String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(..)")
    }
}

impl Serialize for Secret {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(if self.0.is_empty() { "" } else { "***" })
    }
}

/// How full the disk of the data folder may get. The cluster's settings of the same meaning win.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct DiskConfig {
    /// Whether writes are refused before the disk is full.
    pub(crate) threshold_enabled: bool,
    /// Above this a person should look: a percentage, or free bytes like `10gb`.
    pub(crate) watermark_low: String,
    /// Below this refused writes are taken again.
    pub(crate) watermark_high: String,
    /// Above this writes are refused.
    pub(crate) watermark_flood_stage: String,
    /// The disk is looked at this often, and when much is written.
    pub(crate) update_interval_s: u64,
}

impl DiskConfig {
    /// The value of a setting of the cluster.
    pub(crate) fn given(&self, name: &str) -> Option<String> {
        let marks = [
            &self.watermark_low,
            &self.watermark_high,
            &self.watermark_flood_stage,
        ];
        let mut marks = DISK_WATERMARKS.iter().zip(marks);
        match name {
            DISK_THRESHOLD_ENABLED => Some(self.threshold_enabled.to_string()),
            DISK_LOOK_INTERVAL => Some(format!("{}s", self.update_interval_s)),
            name => marks
                .find(|(known, _)| **known == name)
                .map(|(_, mark)| mark.clone()),
        }
    }
}

/// What the log keeps of streams that were made by name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct LogConfig {
    /// Size of the log above which their oldest entries are given up; 0 keeps them.
    pub(crate) retention_bytes: u64,
    /// Age above which their entries are given up; 0 keeps them.
    pub(crate) retention_age_s: u64,
}

/// Indexing and searching.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct EngineConfig {
    /// Threads for searches; 0 means one for each core.
    pub(crate) search_threads: usize,
    /// Searches that may wait for a thread.
    pub(crate) search_queue_max: usize,
    /// Size of a shard's buffer at which it becomes a segment.
    pub(crate) write_buffer_bytes: usize,
    /// Requests that write to one shard at once; 0 means half of the cores, at most 8.
    pub(crate) shard_writers: usize,
    /// Whether writing to a missing index creates it.
    pub(crate) auto_create_index: bool,
    /// Size of the log at which shards are flushed so that it can be trimmed.
    pub(crate) log_bytes_max: u64,
    /// So much of the log's newest files is kept for readers of `_changes` and `_tail`.
    pub(crate) changes_retention_bytes: u64,
}

/// What memory may be taken.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct MemoryConfig {
    /// Memory whose shares are the limits of requests, buffers, merges and caches; 0 means what the machine, or
    /// the container, has.
    pub(crate) limit_bytes: u64,
}

/// Merging vectors: what builds of graphs may take. 0 everywhere means the default.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct VectorsConfig {
    /// Memory that all merges together may take for vectors, graphs and orders; 0 means a quarter of what
    /// the machine, or the container, has.
    pub(crate) build_memory_bytes: usize,
    /// Threads that build one graph; 0 means half of the cores, and all of them for a merge that somebody waits for.
    pub(crate) build_threads: usize,
    /// A graph in the making is saved this often; 0 means every 60 seconds.
    pub(crate) save_interval_s: u64,
}

/// The server's own messages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct LoggingConfig {
    /// `text` or `json`.
    pub(crate) format: LogFormat,
    /// Least level shown, or a filter such as `info,clew_engine=debug`.
    pub(crate) level: String,
}

/// How messages look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogFormat {
    Text,
    Json,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            data: PathBuf::from("clew-data"),
            http: HttpConfig::default(),
            grpc: GrpcConfig::default(),
            access: AccessConfig::default(),
            engine: EngineConfig::default(),
            memory: MemoryConfig::default(),
            vectors: VectorsConfig::default(),
            disk: DiskConfig::default(),
            log: LogConfig::default(),
            snapshots: SnapshotsConfig::default(),
            imports: ImportsConfig::default(),
            reindex: ReindexConfig::default(),
            profile: ProfileConfig::default(),
            tracing: TracingConfig::default(),
            logging: LoggingConfig::default(),
            stop: StopConfig::default(),
        }
    }
}

impl Default for GrpcConfig {
    fn default() -> Self {
        GrpcConfig {
            address: SocketAddr::from(([127, 0, 0, 1], 19530)),
            allow_remote: false,
            message_bytes_max: 64 << 20,
            connections_max: 0,
        }
    }
}

impl Default for EngineConfig {
    fn default() -> Self {
        let engine = clew_engine::EngineOptions::new("");
        EngineConfig {
            search_threads: 0,
            search_queue_max: engine.search_queue_max,
            write_buffer_bytes: engine.write_buffer_bytes,
            shard_writers: 0,
            auto_create_index: engine.auto_create_index,
            log_bytes_max: engine.log_bytes_max,
            changes_retention_bytes: engine.changes_retention_bytes,
        }
    }
}

impl Default for DiskConfig {
    fn default() -> Self {
        let limits = clew_engine::DiskLimits::default();
        DiskConfig {
            threshold_enabled: limits.enabled,
            watermark_low: limits.low.to_string(),
            watermark_high: limits.high.to_string(),
            watermark_flood_stage: limits.flood_stage.to_string(),
            update_interval_s: limits.look_every.as_secs(),
        }
    }
}

impl Default for LoggingConfig {
    fn default() -> Self {
        LoggingConfig {
            format: LogFormat::Text,
            level: "info".to_string(),
        }
    }
}
