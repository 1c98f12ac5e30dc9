//! Kafka, by librdkafka: how its servers are reached, for the input (`feed/kafka`) and the output. The feature `kafka` brings it; without it
//! a configuration that names it is refused.

#[cfg(feature = "kafka")]
pub(crate) mod client;
#[cfg(feature = "kafka")]
mod fates;
#[cfg(feature = "kafka")]
mod sink;
#[cfg(all(test, feature = "kafka"))]
mod tests;

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

#[cfg(feature = "kafka")]
pub use sink::KafkaSink;

use crate::sink::{Sink, SinkError};
use crate::stop::StopToken;

/// What a configuration that names Kafka is told where it is left out.
pub(crate) const BUILT_WITHOUT: &str = "built without kafka: cargo build --features kafka";

/// What a configuration that secures connections to Kafka is told where that is left out.
pub(crate) const BUILT_WITHOUT_SSL: &str =
    "built without kafka-ssl: cargo build --features kafka-ssl";

/// Servers of Kafka, and how they are spoken to.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct KafkaServers {
    /// `HOST:PORT` of some, with commas between them; they know the others.
    pub brokers: String,
    /// Further settings by librdkafka's names (`security.protocol`, ...).
    pub properties: BTreeMap<String, String>,
}

impl fmt::Debug for KafkaServers {
    /// Without the values of properties: passwords are among them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KafkaServers")
            .field("brokers", &self.brokers)
            .field("properties", &self.properties.keys().collect::<Vec<_>>())
            .finish()
    }
}

/// Topics that are read as a member of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KafkaFeed {
    /// Where they are.
    pub servers: KafkaServers,
    /// Their names; one that begins with `^` is a regular expression of names.
    pub topics: Vec<String>,
    /// The group whose members share them, and whose offsets say how far they were read.
    pub group_id: String,
    /// Where a partition is begun that the group has not read yet.
    pub offset_reset: OffsetReset,
    /// Whether the group is told how far it was read.
    pub commits: bool,
}

impl KafkaFeed {
    /// The same for a run that leaves nothing behind: a group of its own, in which nothing is committed.
    pub fn only_looking(&mut self) {
        self.group_id = format!("{}-look-{}", self.group_id, std::process::id());
        self.commits = false;
    }
}

/// Where reading begins without an offset of the group's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OffsetReset {
    /// At the oldest message that is still there.
    #[default]
    Earliest,
    /// At the messages that come from now on.
    Latest,
    /// Nowhere: it is an error, and told.
    Error,
}

/// How messages are written.
#[derive(Clone, Debug)]
pub struct KafkaOptions {
    /// Where they go.
    pub servers: KafkaServers,
    /// The topic, or a template of it: `logs-{{service.name}}`.
    pub topic: String,
    /// The key, or a template of it; without one messages have none.
    pub key: Option<String>,
    /// How batches of messages are compressed.
    pub compression: KafkaCompression,
    /// How long librdkafka tries to deliver a message before it is told of and sent again.
    pub timeout: Duration,
    /// The first pause after a failure; it doubles from there.
    pub retry_first: Duration,
    /// The longest pause.
    pub retry_max: Duration,
}

impl KafkaOptions {
    /// Options with the default times.
    pub fn new(servers: KafkaServers, topic: &str) -> Self {
        KafkaOptions {
            servers,
            topic: topic.to_owned(),
            key: None,
            compression: KafkaCompression::None,
            timeout: Duration::from_secs(60),
            retry_first: Duration::from_millis(200),
            retry_max: Duration::from_secs(30),
        }
    }
}

/// How batches of messages are compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KafkaCompression {
    /// As they are.
    #[default]
    None,
    /// gzip.
    Gzip,
    /// Snappy.
    Snappy,
    /// LZ4.
    Lz4,
    /// Zstandard.
    Zstd,
}

impl KafkaCompression {
    #[cfg(feature = "kafka")]
    fn as_str(self) -> &'static str {
        match self {
            KafkaCompression::None => "none",
            KafkaCompression::Gzip => "gzip",
            KafkaCompression::Snappy => "snappy",
            KafkaCompression::Lz4 => "lz4",
            KafkaCompression::Zstd => "zstd",
        }
    }
}

/// The sink that writes messages.
#[cfg(feature = "kafka")]
pub(crate) fn kafka_sink(
    options: KafkaOptions,
    stop: StopToken,
) -> Result<Box<dyn Sink + Send>, SinkError> {
    Ok(Box::new(KafkaSink::new(options, stop)?))
}

/// There is none where Kafka is left out.
#[cfg(not(feature = "kafka"))]
pub(crate) fn kafka_sink(_: KafkaOptions, _: StopToken) -> Result<Box<dyn Sink + Send>, SinkError> {
    Err(SinkError::Unusable {
        reason: BUILT_WITHOUT.to_owned(),
    })
}
