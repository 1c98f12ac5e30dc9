//! The keys of the section `http`.

use std::net::SocketAddr;

use serde::{Deserialize, Deserializer, Serialize};

/// The HTTP server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct HttpConfig {
    /// Where to listen.
    pub(crate) address: SocketAddr,
    /// Listen on other than loopback addresses although anyone who reaches them may do anything.
    pub(crate) allow_remote: bool,
    /// Longest request body, also after decompression.
    pub(crate) body_bytes_max: usize,
    /// Connections that may be open at once; 0 means 10,000, or half of the files that the process may
    /// open where that is less.
    pub(crate) connections_max: usize,
    /// A request's head must be there in this time; 0 means for ever, here and below.
    pub(crate) header_timeout_ms: u64,
    /// A request's body must bring the next 16 KiB, or its end, in this time.
    pub(crate) body_timeout_ms: u64,
    /// A client must take more of an answer in this time.
    pub(crate) answer_timeout_ms: u64,
    /// A connection without a request is closed after this time.
    pub(crate) idle_timeout_ms: u64,
    /// Names, beside its own, by which clients may call the server: `name`, `*.suffix`, or `*` for any.
    #[serde(deserialize_with = "names")]
    pub(crate) hosts_allowed: Vec<String>,
    /// Which web pages may use the server.
    pub(crate) cors: CorsConfig,
}

/// Which web pages of other origins may use the server, and how.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct CorsConfig {
    /// Whether any may.
    pub(crate) enabled: bool,
    /// Their origins: `https://name:port`, `/a regular expression/`, or `*` for all.
    #[serde(deserialize_with = "names")]
    pub(crate) allow_origin: Vec<String>,
    /// Methods that they may use.
    #[serde(deserialize_with = "names")]
    pub(crate) allow_methods: Vec<String>,
    /// Headers that they may send.
    #[serde(deserialize_with = "names")]
    pub(crate) allow_headers: Vec<String>,
    /// Headers of answers that they may read.
    #[serde(deserialize_with = "names")]
    pub(crate) expose_headers: Vec<String>,
    /// Whether they may send the user's credentials.
    pub(crate) allow_credentials: bool,
    /// How long browsers may remember the answers to their questions.
    pub(crate) max_age_s: u64,
}

impl Default for HttpConfig {
    fn default() -> Self {
        HttpConfig {
            address: SocketAddr::from(([127, 0, 0, 1], 9200)),
            allow_remote: false,
            body_bytes_max: 100 << 20,
            connections_max: 0,
            header_timeout_ms: 10_000,
            body_timeout_ms: 30_000,
            answer_timeout_ms: 300_000,
            idle_timeout_ms: 600_000,
            hosts_allowed: Vec::new(),
            cors: CorsConfig::default(),
        }
    }
}

impl Default for CorsConfig {
    fn default() -> Self {
        let owned = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        CorsConfig {
            enabled: false,
            allow_origin: Vec::new(),
            allow_methods: owned(&["OPTIONS", "HEAD", "GET", "POST", "PUT", "DELETE"]),
            allow_headers: owned(&["X-Requested-With", "Content-Type", "Content-Length"]),
            expose_headers: Vec::new(),
            allow_credentials: false,
            max_age_s: 1_728_000,
        }
    }
}

fn names<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    // A comma may be part of a regular expression.
    listed(deserializer, |text| {
        text.len() > 1 && text.starts_with('/') && text.ends_with('/')
    })
}

/// A list, or one text with commas, as variables and OpenSearch's own files have it; a text may be one item as a whole.
pub(crate) fn listed<'de, D: Deserializer<'de>>(
    deserializer: D,
    is_one: impl Fn(&str) -> bool,
) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Listed {
        List(Vec<String>),
        Text(String),
    }
    Ok(match Listed::deserialize(deserializer)? {
        Listed::List(list) => list,
        Listed::Text(text) if is_one(&text) => vec![text],
        Listed::Text(text) => {
            let items = text.split(',').map(str::trim);
            let items = items.filter(|item| !item.is_empty());
            items.map(str::to_string).collect()
        }
    })
}
