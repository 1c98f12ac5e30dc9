//! The configuration: one YAML file, then `CLEW_SECTION__KEY` variables (and `CLEW_DATA`), then
//! flags. Unknown keys are errors that name the nearest key. Other `CLEW_` variables belong to
//! scripts around the server and are left alone.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clew_opensearch::{DISK_LOOK_INTERVAL, DISK_THRESHOLD_ENABLED, DISK_WATERMARKS};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::http::HttpConfig;
use crate::spans::TracingConfig;

/// Variables of this form set keys; `__` separates sections.
const PREFIX: &str = "CLEW_";

/// What a buffer takes before a document is in it is up to 4 MB; a smaller limit would make a segment of every few.
const WRITE_BUFFER_BYTES_MIN: usize = 8 << 20;

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
    /// Profiles of the server itself.
    pub(crate) profile: ProfileConfig,
    /// Spans of requests.
    pub(crate) tracing: TracingConfig,
    /// The server's own messages.
    pub(crate) logging: LoggingConfig,
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
    pub(crate) paths: Vec<PathBuf>,
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
    /// Threads that build one graph; 0 means half of the cores.
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
            profile: ProfileConfig::default(),
            tracing: TracingConfig::default(),
            logging: LoggingConfig::default(),
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

impl EngineConfig {
    /// Refuses what no server could work with.
    fn check(&self) -> anyhow::Result<()> {
        let bytes = self.write_buffer_bytes;
        if bytes < WRITE_BUFFER_BYTES_MIN {
            bail!(
                "[engine.write_buffer_bytes] is [{bytes}], must be at least \
                 [{WRITE_BUFFER_BYTES_MIN}]: an empty buffer takes half of that, and each that \
                 is full becomes a segment"
            );
        }
        Ok(())
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

impl Config {
    /// Reads the file, if one is given, and the variables.
    pub(crate) fn load(
        file: Option<&Path>,
        variables: impl Iterator<Item = (String, String)>,
    ) -> anyhow::Result<Config> {
        let mut tree = Value::Object(Map::new());
        if let Some(path) = file {
            let text = std::fs::read_to_string(path)
                .with_context(|| format!("cannot read {}", path.display()))?;
            let read: Option<Value> = serde_yaml_ng::from_str(&text)
                .with_context(|| format!("{} is not valid YAML", path.display()))?;
            tree = read.unwrap_or(tree);
        }
        let mut others = HashMap::new();
        for (name, value) in variables {
            let path = name.strip_prefix(PREFIX);
            if let Some(path) = path.filter(|path| path.contains("__") || *path == "DATA") {
                set(&mut tree, &path.to_lowercase(), &value)
                    .with_context(|| format!("in the variable {name}"))?;
            } else if name.starts_with("OTEL_") {
                others.insert(name, value);
            }
        }
        check_keys(&tree)?;
        let mut config: Config = serde_json::from_value(tree).context("in the configuration")?;
        config.tracing = config
            .tracing
            .with_variables(|name| others.get(name).cloned())?;
        config.engine.check()?;
        Ok(config)
    }
}

/// The one variable whose value is a text whatever it looks like.
const TEXT: &str = "access__root_password";

/// Sets a key given as `section__key` to a YAML scalar.
fn set(tree: &mut Value, path: &str, value: &str) -> anyhow::Result<()> {
    let mut at = tree;
    for part in path.split("__") {
        let Value::Object(map) = at else {
            bail!("[{part}] is inside something that has no keys")
        };
        at = map.entry(part).or_insert_with(|| Value::Object(Map::new()));
    }
    let text = || Value::String(value.to_string());
    *at = match path {
        TEXT => text(),
        _ => serde_yaml_ng::from_str(value).unwrap_or_else(|_| text()),
    };
    Ok(())
}

/// Every key of a tree, as `section.key`, sections included.
fn keys_of(tree: &Map<String, Value>) -> Vec<String> {
    let mut keys = Vec::new();
    for (key, value) in tree {
        keys.push(key.clone());
        let inner = value.as_object().map(keys_of).unwrap_or_default();
        keys.extend(inner.iter().map(|inner| format!("{key}.{inner}")));
    }
    keys
}

fn check_keys(tree: &Value) -> anyhow::Result<()> {
    let Value::Object(top) = tree else {
        bail!("the configuration must be a mapping of keys")
    };
    let defaults = serde_json::to_value(Config::default()).expect("plain fields");
    let known = keys_of(defaults.as_object().expect("a struct is an object"));
    for path in keys_of(top) {
        if !known.contains(&path) {
            let nearest = known
                .iter()
                .min_by_key(|candidate| strsim::damerau_levenshtein(candidate, &path))
                .expect("there are keys");
            bail!("unknown configuration key [{path}], did you mean [{nearest}]?");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(yaml: &str, variables: &[(&str, &str)]) -> anyhow::Result<Config> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("clew.yaml");
        std::fs::write(&path, yaml).unwrap();
        let variables = variables
            .iter()
            .map(|(k, v)| ((*k).to_string(), (*v).to_string()));
        Config::load(Some(&path), variables)
    }

    #[test]
    fn variables_win_over_the_file_and_the_file_over_defaults() {
        let yaml = "data: /x\nhttp:\n  body_bytes_max: 5\n  address: 127.0.0.1:1\n";
        let config = load(
            yaml,
            &[("CLEW_HTTP__BODY_BYTES_MAX", "7"), ("CLEW_BIN", "1")],
        )
        .unwrap();
        assert_eq!(config.data, PathBuf::from("/x"));
        assert_eq!(config.http.body_bytes_max, 7);
        assert_eq!(config.http.address.port(), 1);
        assert_eq!(config.engine, EngineConfig::default());
    }

    #[test]
    fn names_are_a_list_or_a_text_with_commas() {
        let yaml = "http:\n  hosts_allowed: [a, '*.b']\n";
        let variables = [("CLEW_HTTP__CORS__ALLOW_ORIGIN", "http://a, http://b")];
        let http = load(yaml, &variables).unwrap().http;
        assert_eq!(http.hosts_allowed, ["a", "*.b"]);
        assert_eq!(http.cors.allow_origin, ["http://a", "http://b"]);
        let pattern = [("CLEW_HTTP__CORS__ALLOW_ORIGIN", "/http:..a{1,2}/")];
        let http = load("", &pattern).unwrap().http;
        assert_eq!(http.cors.allow_origin, ["/http:..a{1,2}/"]);
    }

    #[test]
    fn a_password_is_a_text_and_is_not_shown() {
        let yaml = "access:\n  authentication: true\n";
        let config = load(yaml, &[("CLEW_ACCESS__ROOT_PASSWORD", "012345")]).unwrap();
        assert!(config.access.authentication);
        assert_eq!(config.access.root_password.0, "012345");
        let shown = serde_json::to_string(&config).unwrap() + &format!("{config:?}");
        assert!(!shown.contains("012345") && shown.contains("***"));
    }

    #[test]
    fn an_empty_file_means_the_defaults() {
        assert_eq!(load("", &[]).unwrap(), Config::default());
    }

    #[test]
    fn a_buffer_that_would_hold_a_few_documents_is_refused() {
        let set = |value: &str| load("", &[("CLEW_ENGINE__WRITE_BUFFER_BYTES", value)]);
        for small in ["0", "1", "8388607"] {
            let error = set(small).unwrap_err().to_string();
            let words = format!("is [{small}], must be at least [8388608]");
            assert!(error.contains(&words), "{error}");
        }
        assert_eq!(set("8388608").unwrap().engine.write_buffer_bytes, 8 << 20);
    }

    #[test]
    fn an_unknown_key_names_the_nearest() {
        for (yaml, nearest) in [
            ("http:\n  adress: 127.0.0.1:1\n", "[http.address]"),
            ("datta: x\n", "[data]"),
            ("log:\n  retention_byte: 1\n", "[log.retention_bytes]"),
            (
                "http:\n  cors:\n    allow-origin: x\n",
                "[http.cors.allow_origin]",
            ),
        ] {
            let error = load(yaml, &[]).unwrap_err().to_string();
            assert!(error.contains(nearest), "{error}");
        }
        let error = load("", &[("CLEW_ENGINE__SEARCH_TREADS", "1")])
            .unwrap_err()
            .to_string();
        assert!(error.contains("[engine.search_threads]"), "{error}");
    }
}
