//! Where events go. A kind of output is a struct with its keys, a variant of [`OutputConfig`] and a line in `read`.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::ConfigError;
use super::section::Section;

/// One output.
#[derive(Clone, Debug, PartialEq)]
pub enum OutputConfig {
    /// A server that speaks OpenSearch's `_bulk`: `type: clew` or `type: opensearch`.
    Bulk(BulkOutput),
    /// A file of JSON lines: `type: file`.
    File(FileOutput),
    /// JSON lines on standard output: `type: stdout`.
    Stdout,
}

/// `type: clew`, `type: opensearch`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BulkOutput {
    /// The server's root.
    pub url: String,
    /// The index or data stream to write to.
    pub index: String,
}

impl Default for BulkOutput {
    fn default() -> Self {
        BulkOutput {
            url: "http://127.0.0.1:9200".to_owned(),
            index: "logs".to_owned(),
        }
    }
}

/// `type: file`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileOutput {
    /// The file that is written to.
    pub path: PathBuf,
    /// Size at which a file is closed and renamed `PATH.N`.
    pub rotate_bytes: u64,
    /// Renamed files that are kept; the oldest beyond it is removed.
    pub files_kept: usize,
    /// How renamed files are compressed.
    pub compression: Compression,
    /// Whether a batch is on the disk before it counts as taken.
    pub sync: bool,
}

impl Default for FileOutput {
    fn default() -> Self {
        FileOutput {
            path: PathBuf::new(),
            rotate_bytes: 100 << 20,
            files_kept: 7,
            compression: Compression::None,
            sync: true,
        }
    }
}

/// How renamed files are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Compression {
    /// As they are.
    None,
    /// gzip, `PATH.N.gz`.
    Gzip,
    /// Zstandard, `PATH.N.zst`.
    Zstd,
}

/// The names of the kinds.
const KINDS: [&str; 4] = ["clew", "opensearch", "file", "stdout"];

impl OutputConfig {
    pub(super) fn read(mut section: Section<'_>) -> Result<Self, ConfigError> {
        let Some(kind) = section.take_text("type")? else {
            let reason = format!("lacks [type], one of {}", KINDS.join(", "));
            return Err(section.wrong(None, reason));
        };
        match &kind[..] {
            "clew" | "opensearch" => section.read(&["type"], &[]).map(OutputConfig::Bulk),
            "file" => section.read(&["type"], &["path"]).map(OutputConfig::File),
            "stdout" => section
                .read(&["type"], &[])
                .map(|Nothing {}| OutputConfig::Stdout),
            other => {
                let nearest = Section::nearest(&KINDS, other);
                let reason = format!("no output is called [{other}], did you mean [{nearest}]?");
                Err(section.wrong(Some("type"), reason))
            }
        }
    }
}

/// The keys of an output that has none.
#[derive(Default, Serialize, Deserialize)]
struct Nothing {}
