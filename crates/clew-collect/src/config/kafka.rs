//! `type: kafka`, as an input and as an output.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::BufferConfig;
use crate::error::CollectError;
use crate::feed::{FeedAddress, FeedOptions};
use crate::kafka::{
    KafkaCompression, KafkaFeed, KafkaOptions, KafkaServers, OffsetReset, kafka_sink,
};
use crate::options::ParserChoice;
use crate::sink::{Sink, SinkError};
use crate::stop::StopToken;

/// `type: kafka` of an input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct KafkaInput {
    /// `HOST:PORT` of some servers, with commas between them.
    pub brokers: String,
    /// Topics; one that begins with `^` is a regular expression of their names.
    pub topics: Vec<String>,
    /// The group whose members share the topics.
    pub group_id: String,
    /// Where a partition is begun that the group has not read yet: `earliest`, `latest` or `error`.
    pub offset_reset: OffsetReset,
    /// Bytes of one message at most; what is longer is cut and marked.
    pub line_bytes_max: usize,
    /// Further settings by librdkafka's names.
    #[serde(deserialize_with = "texts")]
    pub properties: BTreeMap<String, String>,
}

impl Default for KafkaInput {
    fn default() -> Self {
        KafkaInput {
            brokers: String::new(),
            topics: Vec::new(),
            group_id: "clew".to_owned(),
            offset_reset: OffsetReset::Earliest,
            line_bytes_max: 1 << 20,
            properties: BTreeMap::new(),
        }
    }
}

impl KafkaInput {
    /// What a run is given.
    ///
    /// # Errors
    /// When no topic is named.
    pub fn options(&self, parse: ParserChoice) -> Result<FeedOptions, CollectError> {
        if self.topics.is_empty() {
            return Err(CollectError::Option {
                option: "topics",
                reason: "names nothing to read".to_owned(),
            });
        }
        Ok(FeedOptions {
            tls: None,
            address: FeedAddress::Kafka(KafkaFeed {
                servers: servers(&self.brokers, &self.properties),
                topics: self.topics.clone(),
                group_id: self.group_id.clone(),
                offset_reset: self.offset_reset,
                commits: true,
            }),
            parse,
            line_bytes_max: self.line_bytes_max,
            plan: 0,
        })
    }
}

/// `type: kafka` of an output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct KafkaOutput {
    /// `HOST:PORT` of some servers, with commas between them.
    pub brokers: String,
    /// The topic, or a template of it: `logs-{{service.name}}`.
    pub topic: String,
    /// The key, or a template of it; without one messages have none.
    pub key: Option<String>,
    /// How batches of messages are compressed: `none`, `gzip`, `snappy`, `lz4` or `zstd`.
    pub compression: KafkaCompression,
    /// How long a message is tried before it is told of and sent again.
    pub timeout_ms: u64,
    /// Further settings by librdkafka's names.
    #[serde(deserialize_with = "texts")]
    pub properties: BTreeMap<String, String>,
    /// A buffer on disk in front of it.
    pub buffer: Option<BufferConfig>,
}

impl Default for KafkaOutput {
    fn default() -> Self {
        KafkaOutput {
            brokers: String::new(),
            topic: String::new(),
            key: None,
            compression: KafkaCompression::None,
            timeout_ms: 60_000,
            properties: BTreeMap::new(),
            buffer: None,
        }
    }
}

impl KafkaOutput {
    /// The sink.
    ///
    /// # Errors
    /// [`SinkError::Unusable`] for a template, a topic or a property that is none, and where Kafka is left out.
    pub fn open(&self, stop: StopToken) -> Result<Box<dyn Sink + Send>, SinkError> {
        kafka_sink(self.options(), stop)
    }

    /// How its servers are reached, and what they are sent.
    pub fn options(&self) -> KafkaOptions {
        KafkaOptions {
            key: self.key.clone(),
            compression: self.compression,
            timeout: Duration::from_millis(self.timeout_ms),
            ..KafkaOptions::new(servers(&self.brokers, &self.properties), &self.topic)
        }
    }
}

/// Reads settings, whose numbers and truths are texts as well.
fn texts<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<String, String>, D::Error> {
    let written = BTreeMap::<String, Value>::deserialize(from)?;
    let text = |(name, value): (String, Value)| match value {
        Value::String(text) => Ok((name, text)),
        Value::Number(_) | Value::Bool(_) => Ok((name, value.to_string())),
        _ => Err(D::Error::custom(format!(
            "[{name}] must be a text, a number or a truth"
        ))),
    };
    written.into_iter().map(text).collect()
}

fn servers(brokers: &str, properties: &BTreeMap<String, String>) -> KafkaServers {
    KafkaServers {
        brokers: brokers.to_owned(),
        properties: properties.clone(),
    }
}
