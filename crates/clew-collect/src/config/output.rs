//! Where events go. A kind of output is a struct with its keys, a variant of [`OutputConfig`] and a line in `read`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clew_platform::Disk;
use serde::{Deserialize, Serialize};

use super::authentication::Credential;
use super::kafka::{KafkaOutput, KafkaSecurity};
use super::section::Section;
use super::{ConfigError, Definition, OutputTls, built_with_kafka, meant};
use crate::error::CollectError;
use crate::metadata::Placing;
use crate::sink::{
    BodyCompression, BufferOptions, BufferSink, BulkOptions, Compression, HttpOptions, Sink,
    SinkError, WhenFull, shown_url,
};
use crate::stop::StopToken;

/// One output: which events it takes, and where they go.
#[derive(Clone, Debug)]
pub struct OutputConfig {
    /// The condition under which it takes an event; without one it takes all.
    pub when: Option<Definition>,
    /// How connections are secured, where an address begins with `https`.
    pub tls: Option<OutputTls>,
    /// Who it says that it is.
    pub(super) authentication: Option<Credential>,
    /// Where they go.
    pub kind: OutputKind,
}

/// The kinds of outputs.
#[derive(Clone, Debug, PartialEq)]
pub enum OutputKind {
    /// A server that speaks OpenSearch's `_bulk`: `type: clew` or `type: opensearch`.
    Bulk(BulkOutput),
    /// A server that takes JSON lines: `type: http`.
    Http(HttpOutput),
    /// A file of JSON lines: `type: file`.
    File(FileOutput),
    /// JSON lines on standard output: `type: stdout`.
    Stdout,
    /// Messages of Kafka: `type: kafka`.
    Kafka(KafkaOutput),
}

/// `type: clew`, `type: opensearch`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BulkOutput {
    /// The server's root; without one the server that the collector runs in, or the one of this machine.
    pub url: Option<String>,
    /// The index or data stream to write to; a template of an event's fields and its `@metadata`.
    pub index: String,
    /// The ingest pipeline, as a template; that of the index if there is none.
    pub pipeline: Option<String>,
    /// What chooses the shard, as a template; the id if there is none.
    pub routing: Option<String>,
    /// An API key as its server gave it, encoded.
    pub api_key: Option<String>,
    /// How requests are sent: `none` or `gzip`.
    pub compression: BodyCompression,
    /// A buffer on disk in front of it.
    pub buffer: Option<BufferConfig>,
}

/// `buffer` of an output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BufferConfig {
    /// Its folder, for nothing else.
    pub folder: PathBuf,
    /// Bytes on disk at most.
    pub bytes_max: u64,
    /// What happens when they are reached: `block` or `drop_oldest`.
    pub when_full: WhenFull,
    /// Whether it is used only while the output takes nothing: not written, but had by those beside which there are others.
    #[serde(skip)]
    pub only_while_away: bool,
    /// Where events are kept that are refused for good, if not in its folder: not written either.
    #[serde(skip)]
    pub rejected_in: Option<PathBuf>,
}

/// An output that has not taken a batch for so long is away, as far as the others are concerned.
const AWAY_AFTER: Duration = Duration::from_secs(2);

impl Default for BufferConfig {
    fn default() -> Self {
        BufferConfig {
            folder: PathBuf::new(),
            bytes_max: 1 << 30,
            when_full: WhenFull::Block,
            only_while_away: false,
            rejected_in: None,
        }
    }
}

impl OutputKind {
    /// The buffer that it is given.
    pub fn buffer(&self) -> Option<&BufferConfig> {
        match self {
            OutputKind::Bulk(output) => output.buffer.as_ref(),
            OutputKind::Http(output) => output.buffer.as_ref(),
            OutputKind::Kafka(output) => output.buffer.as_ref(),
            OutputKind::File(_) | OutputKind::Stdout => None,
        }
    }

    /// The file that it writes, or the folder of its buffer.
    pub(super) fn writes_to(&self) -> Option<&Path> {
        match self {
            OutputKind::File(output) => Some(&output.path),
            _ => self.buffer().map(|buffer| buffer.folder.as_path()),
        }
    }

    /// What tells it from other outputs that connect to something; nothing of one that does not, or has a buffer.
    pub(super) fn unbuffered_name(&self) -> Option<String> {
        let name = match self {
            OutputKind::Bulk(output) => format!("bulk {} {}", output.url(), output.index),
            OutputKind::Http(output) => format!("http {}", output.url),
            OutputKind::Kafka(output) => format!("kafka {} {}", output.brokers, output.topic),
            OutputKind::File(_) | OutputKind::Stdout => return None,
        };
        self.buffer().is_none().then_some(name)
    }

    /// Whether it says who it is by an API key.
    fn has_key(&self) -> bool {
        match self {
            OutputKind::Bulk(output) => output.api_key.is_some(),
            OutputKind::Http(output) => output.api_key.is_some(),
            OutputKind::File(_) | OutputKind::Kafka(_) | OutputKind::Stdout => false,
        }
    }
}

impl BufferConfig {
    /// Puts the buffer in front of the sink of an output that people know by this name.
    ///
    /// # Errors
    /// As [`BufferSink::open`].
    pub fn open(
        &self,
        disk: Arc<dyn Disk>,
        (output, inner): (&str, Box<dyn Sink + Send>),
        stop: StopToken,
    ) -> Result<BufferSink, SinkError> {
        let options = BufferOptions {
            folder: self.folder.clone(),
            bytes_max: self.bytes_max,
            when_full: self.when_full,
            only_after: self.only_while_away.then_some(AWAY_AFTER),
            output: output.to_owned(),
            rejected_in: self.rejected_in.clone(),
        };
        BufferSink::open(disk, options, inner, stop)
    }
}

impl BulkOutput {
    /// How its server is reached; `login` is the value of the header `Authorization` where there is no API key.
    pub fn options(&self, login: Option<String>) -> BulkOptions {
        let key = self.api_key.as_ref().map(|key| format!("ApiKey {key}"));
        BulkOptions {
            pipeline: self.pipeline.clone(),
            routing: self.routing.clone(),
            authorization: key.or(login),
            compression: self.compression,
            ..BulkOptions::new(self.url(), &self.index)
        }
    }

    /// Where events go at its server.
    ///
    /// # Errors
    /// What is wrong with a template, or with an index that is the same for all.
    pub fn placing(&self) -> Result<Placing, String> {
        Placing::new(
            &self.index,
            self.pipeline.as_deref(),
            self.routing.as_deref(),
        )
    }

    /// The server's root.
    pub fn url(&self) -> &str {
        self.url.as_deref().unwrap_or("http://127.0.0.1:9200")
    }
}

impl Default for BulkOutput {
    fn default() -> Self {
        BulkOutput {
            url: None,
            index: "logs".to_owned(),
            pipeline: None,
            routing: None,
            api_key: None,
            compression: BodyCompression::None,
            buffer: None,
        }
    }
}

/// `type: http`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HttpOutput {
    /// Where JSON lines are posted to.
    pub url: String,
    /// Further headers of every request.
    pub headers: BTreeMap<String, String>,
    /// An API key, sent as `Authorization: ApiKey KEY`.
    pub api_key: Option<String>,
    /// How requests are sent: `none`, `gzip` or `zstd`.
    pub compression: Compression,
    /// How long one request may take.
    pub timeout_ms: u64,
    /// A buffer on disk in front of it.
    pub buffer: Option<BufferConfig>,
}

impl Default for HttpOutput {
    fn default() -> Self {
        HttpOutput {
            url: String::new(),
            headers: BTreeMap::new(),
            api_key: None,
            compression: Compression::None,
            timeout_ms: 60_000,
            buffer: None,
        }
    }
}

impl HttpOutput {
    /// How its server is reached. The login that the environment has is for servers that speak `_bulk`, not for these.
    pub fn options(&self) -> HttpOptions {
        let headers = self.headers.clone();
        HttpOptions {
            headers: headers.into_iter().collect(),
            authorization: self.api_key.as_ref().map(|key| format!("ApiKey {key}")),
            compression: self.compression,
            timeout: Duration::from_millis(self.timeout_ms),
            ..HttpOptions::new(&self.url)
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

/// The names of the kinds.
const KINDS: [&str; 6] = ["clew", "opensearch", "http", "file", "stdout", "kafka"];
/// What others call them.
const ELSEWHERE: [(&str, &str); 4] = [
    ("elasticsearch", "opensearch"),
    ("elastic", "opensearch"),
    ("es", "opensearch"),
    ("console", "stdout"),
];
/// The keys of every kind.
const COMMON: [&str; 2] = ["type", "when"];
/// The keys of those that connect.
const SENDING: [&str; 4] = ["type", "when", "tls", "authentication"];

impl OutputConfig {
    pub(super) fn read(mut section: Section<'_>) -> Result<Self, ConfigError> {
        let Some(kind) = section.take_text("type")? else {
            let reason = format!("lacks [type], one of {}", KINDS.join(", "));
            return Err(section.wrong(None, reason));
        };
        let when = section.take_definition("when");
        let tls = match &kind[..] {
            "clew" | "opensearch" | "http" | "kafka" => OutputTls::take(&mut section)?,
            _ => None,
        };
        let authentication = match &kind[..] {
            "clew" | "opensearch" | "http" | "kafka" => section.take_section("authentication")?,
            _ => None,
        };
        let authentication = authentication.map(Credential::read).transpose()?;
        let place = section.place();
        let at_url = section.wrong(Some("url"), "");
        let kind = match &kind[..] {
            "clew" => OutputKind::Bulk(section.read(&SENDING, &[])?),
            "opensearch" => {
                let output: BulkOutput = section.read(&SENDING, &[])?;
                // One that is not ours is never the one that the collector runs in.
                let url = Some(output.url().to_owned());
                OutputKind::Bulk(BulkOutput { url, ..output })
            }
            "http" => OutputKind::Http(section.read(&SENDING, &["url"])?),
            "file" => OutputKind::File(section.read(&COMMON, &["path"])?),
            "kafka" => {
                built_with_kafka(&section)?;
                OutputKind::Kafka(section.read(&SENDING, &["brokers", "topic"])?)
            }
            "stdout" => {
                let Nothing {} = section.read(&COMMON, &[])?;
                OutputKind::Stdout
            }
            other => {
                let nearest = meant(&KINDS, &ELSEWHERE, other);
                let reason = format!("no output is called [{other}], did you mean [{nearest}]?");
                return Err(section.wrong(Some("type"), reason));
            }
        };
        if let OutputKind::Bulk(output) = &kind {
            let placing = output.placing();
            placing.map_err(|reason| place.wrong(&reason))?;
        }
        let lacks_folder = |buffer: &BufferConfig| buffer.folder.as_os_str().is_empty();
        if kind.buffer().is_some_and(lacks_folder) {
            return Err(place.wrong("[buffer] lacks [folder]"));
        }
        if kind.has_key() && authentication.is_some() {
            return Err(place.wrong("takes one of [api_key] and [authentication]"));
        }
        let output = OutputConfig {
            when,
            tls,
            authentication,
            kind,
        };
        if let Some(security) = output.security() {
            security.check(&place)?;
            return Ok(output);
        }
        check_address(output.url(), at_url)?;
        match &output.tls {
            Some(tls) if !output.url().starts_with("https://") => {
                Err(tls.wrong("secures connections to [url] only if it begins with https://"))
            }
            _ => Ok(output),
        }
    }

    /// The header `Authorization` by which it says who it is, unless that is an API key.
    ///
    /// # Errors
    /// That the file of its secret was not read.
    pub fn authorization(&self) -> Result<Option<String>, CollectError> {
        self.authentication
            .as_ref()
            .map(Credential::header)
            .transpose()
    }

    /// How the connections of an output to Kafka are secured, as settings of librdkafka; none of others.
    ///
    /// # Errors
    /// That [`CollectConfig::read_files`](super::CollectConfig::read_files) was not asked for.
    pub fn secured(&self) -> Result<BTreeMap<String, String>, CollectError> {
        let security = self.security();
        security.map_or_else(|| Ok(BTreeMap::new()), |security| security.settings())
    }

    fn security(&self) -> Option<KafkaSecurity<'_>> {
        let OutputKind::Kafka(kafka) = &self.kind else {
            return None;
        };
        Some(KafkaSecurity {
            tls: self.tls.as_ref(),
            login: self.authentication.as_ref(),
            mechanism: kafka.mechanism,
            properties: &kafka.properties,
        })
    }

    /// Where it connects to; empty where it does not.
    fn url(&self) -> &str {
        match &self.kind {
            OutputKind::Bulk(output) => output.url(),
            OutputKind::Http(output) => &output.url,
            OutputKind::File(_) | OutputKind::Kafka(_) | OutputKind::Stdout => "",
        }
    }
}

/// Refuses an address to which no request can be sent; `at_url` says where it stands.
fn check_address(url: &str, at_url: ConfigError) -> Result<(), ConfigError> {
    // Nothing is known of one with variables or fields that are not put in, as where another shipper's configuration is carried
    // over; outputs that do not connect have none.
    if url.is_empty() || ["${", "{{"].iter().any(|sign| url.contains(sign)) || is_address(url) {
        return Ok(());
    }
    let shown = shown_url(url);
    let reason = format!("is [{shown}], and not http://HOST:PORT or https://HOST:PORT");
    Err(ConfigError { reason, ..at_url })
}

fn is_address(url: &str) -> bool {
    // A login may have other letters than an address.
    let Ok(uri) = shown_url(url).parse::<hyper::Uri>() else {
        return false;
    };
    let is_http = url.starts_with("http://") || url.starts_with("https://");
    let has_port = |authority: &str| {
        let host_end = authority.rfind(']').unwrap_or(0);
        authority[host_end..].contains(':')
    };
    is_http
        && uri.authority().is_some_and(|authority| {
            !authority.host().is_empty()
                && has_port(authority.as_str()) == authority.port_u16().is_some()
        })
}

/// The keys of an output that has none.
#[derive(Default, Serialize, Deserialize)]
struct Nothing {}
