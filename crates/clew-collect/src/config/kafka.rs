//! `type: kafka`, as an input and as an output, and how both are secured: `tls`, `authentication` and `mechanism` as settings of
//! librdkafka, which opens the connections.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::authentication::Credential;
use super::{BufferConfig, ConfigError, Definition, OutputTls};
use crate::error::CollectError;
use crate::feed::{FeedAddress, FeedOptions};
use crate::kafka::{
    BUILT_WITHOUT_SSL, KafkaCompression, KafkaFeed, KafkaOptions, KafkaServers, OffsetReset,
    kafka_sink,
};
use crate::parse::ParserChoice;
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
    /// How `authentication` is told to the servers.
    pub mechanism: Option<KafkaMechanism>,
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
            mechanism: None,
            properties: BTreeMap::new(),
        }
    }
}

impl KafkaInput {
    /// What a run is given; `secured` are settings by librdkafka's names that go before its own.
    ///
    /// # Errors
    /// When no topic is named.
    pub fn options(
        &self,
        parse: ParserChoice,
        secured: BTreeMap<String, String>,
    ) -> Result<FeedOptions, CollectError> {
        if self.topics.is_empty() {
            return Err(CollectError::Option {
                option: "topics",
                reason: "names nothing to read".to_owned(),
            });
        }
        Ok(FeedOptions {
            tls: None,
            address: FeedAddress::Kafka(KafkaFeed {
                servers: servers(&self.brokers, &self.properties, secured),
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
    /// How `authentication` is told to the servers.
    pub mechanism: Option<KafkaMechanism>,
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
            mechanism: None,
            properties: BTreeMap::new(),
            buffer: None,
        }
    }
}

impl KafkaOutput {
    /// The sink; `secured` is what [`OutputConfig::secured`](super::OutputConfig::secured) says.
    ///
    /// # Errors
    /// [`SinkError::Unusable`] for a template, a topic or a property that is none, and where Kafka is left out.
    pub fn open(
        &self,
        secured: BTreeMap<String, String>,
        stop: StopToken,
    ) -> Result<Box<dyn Sink + Send>, SinkError> {
        kafka_sink(self.options(secured), stop)
    }

    /// How its servers are reached, and what they are sent.
    pub fn options(&self, secured: BTreeMap<String, String>) -> KafkaOptions {
        let servers = servers(&self.brokers, &self.properties, secured);
        KafkaOptions {
            key: self.key.clone(),
            compression: self.compression,
            timeout: Duration::from_millis(self.timeout_ms),
            ..KafkaOptions::new(servers, &self.topic)
        }
    }
}

/// How a name and its password are told to servers of Kafka.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum KafkaMechanism {
    /// As they are: who sees the connection has them, unless it is secured.
    #[serde(rename = "PLAIN")]
    Plain,
    /// By a proof, with SHA-256.
    #[serde(rename = "SCRAM-SHA-256")]
    ScramSha256,
    /// By a proof, with SHA-512.
    #[serde(rename = "SCRAM-SHA-512")]
    ScramSha512,
}

impl KafkaMechanism {
    fn as_str(self) -> &'static str {
        match self {
            KafkaMechanism::Plain => "PLAIN",
            KafkaMechanism::ScramSha256 => "SCRAM-SHA-256",
            KafkaMechanism::ScramSha512 => "SCRAM-SHA-512",
        }
    }
}

/// What secures the connections to Kafka's servers, and says who connects.
#[derive(Clone, Copy, Debug)]
pub(super) struct KafkaSecurity<'c> {
    pub(super) tls: Option<&'c OutputTls>,
    pub(super) login: Option<&'c Credential>,
    pub(super) mechanism: Option<KafkaMechanism>,
    /// What is set by librdkafka's names beside them.
    pub(super) properties: &'c BTreeMap<String, String>,
}

impl KafkaSecurity<'_> {
    /// Looks whether everything goes together, and whether the binary can do it.
    ///
    /// # Errors
    /// What does not, with the place of the input or the output, or of its `tls`.
    pub(super) fn check(&self, place: &Definition) -> Result<(), ConfigError> {
        match (self.login, self.mechanism) {
            (None, Some(_)) => {
                return Err(place.wrong("has a [mechanism] without [authentication]"));
            }
            (Some(login), _) if !login.is_user() => {
                let reason = "takes a [user] with a [password] in [authentication]: other ways to log in are set by [properties]";
                return Err(place.wrong(reason));
            }
            _ => {}
        }
        if let Some(name) = self.properties.keys().find(|name| self.says(name)) {
            let reason =
                format!("has [{name}] in [properties], though [tls] or [authentication] says it");
            return Err(place.wrong(&reason));
        }
        let in_properties = self.properties.keys().find(|name| name.starts_with("ssl."));
        if let (Some(_), None, Some(name)) = (self.login, self.tls, in_properties) {
            let reason = format!(
                "has [{name}] in [properties]: beside [authentication] connections are secured only with [tls], which may be empty"
            );
            return Err(place.wrong(&reason));
        }
        let is_plain = matches!(self.mechanism, None | Some(KafkaMechanism::Plain));
        if cfg!(feature = "kafka-ssl") {
            return self.tls.map_or(Ok(()), OutputTls::check_for_kafka);
        }
        match self.tls {
            Some(tls) => Err(tls.wrong(BUILT_WITHOUT_SSL)),
            None if is_plain => Ok(()),
            None => Err(place.wrong(&format!("[mechanism] {BUILT_WITHOUT_SSL}"))),
        }
    }

    /// Whether a setting is one that `tls` or `authentication` says.
    fn says(&self, name: &str) -> bool {
        let of_login = [
            "sasl.mechanism",
            "sasl.mechanisms",
            "sasl.username",
            "sasl.password",
        ];
        let of_tls = self.tls.map(OutputTls::of_kafka).unwrap_or_default();
        let has_login = self.login.is_some();
        let is_secured = self.tls.is_some() || has_login;
        of_tls.iter().any(|(said, _)| *said == name)
            || has_login && of_login.contains(&name)
            || is_secured && name == "security.protocol"
    }

    /// The settings; none where nothing is said.
    ///
    /// # Errors
    /// That the file of a password was not read.
    pub(super) fn settings(&self) -> Result<BTreeMap<String, String>, CollectError> {
        let mut settings = BTreeMap::new();
        let logs_in_otherwise = ["sasl.mechanism", "sasl.mechanisms"];
        let logs_in = self.login.is_some()
            || logs_in_otherwise
                .iter()
                .any(|name| self.properties.contains_key(*name));
        let protocol = match (self.tls, self.login) {
            (None, None) => return Ok(settings),
            (Some(_), _) if logs_in => "sasl_ssl",
            (Some(_), _) => "ssl",
            (None, Some(_)) => "sasl_plaintext",
        };
        settings.insert("security.protocol".to_owned(), protocol.to_owned());
        if let Some(tls) = self.tls {
            let of_tls = tls.of_kafka().into_iter();
            settings.extend(of_tls.map(|(name, value)| (name.to_owned(), value)));
        }
        if let Some(login) = self.login {
            let (user, password) = login.user_and_secret()?;
            let mechanism = self.mechanism.unwrap_or(KafkaMechanism::Plain).as_str();
            for (name, value) in [
                ("sasl.mechanism", mechanism),
                ("sasl.username", user),
                ("sasl.password", password),
            ] {
                settings.insert(name.to_owned(), value.to_owned());
            }
        }
        Ok(settings)
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

fn servers(
    brokers: &str,
    properties: &BTreeMap<String, String>,
    mut settings: BTreeMap<String, String>,
) -> KafkaServers {
    for (name, value) in properties {
        settings.entry(name.clone()).or_insert(value.clone());
    }
    KafkaServers {
        brokers: brokers.to_owned(),
        properties: settings,
    }
}

#[cfg(test)]
mod tests;
