//! How what goes out is made smaller.

use serde::{Deserialize, Serialize};

/// How renamed files, or bodies of requests, are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Compression {
    /// As they are.
    None,
    /// gzip; files are `PATH.N.gz`.
    Gzip,
    /// Zstandard; files are `PATH.N.zst`.
    Zstd,
}
