//! What is read. A kind of input is a struct with its keys, a variant of [`InputKind`] and a line in `read`.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::authentication::{self, Credential};
use super::kafka::{KafkaInput, KafkaSecurity};
use super::section::Section;
use super::{
    ConfigError, Definition, InputTls, JournaldInput, OutputTls, built_with_kafka, meant,
    processors,
};
use crate::error::CollectError;
use crate::feed::{Credentials, FeedAddress, FeedOptions, HttpFeed};
use crate::frame::{Encoding, Multiline, MultilineRule, Wrapping};
use crate::options::{FileOptions, StartAt};
use crate::parse::ParserChoice;

/// One input: where events come from, and what is made of them.
#[derive(Clone, Debug)]
pub struct InputConfig {
    /// What is made of the lines first.
    pub parse: ParserChoice,
    /// What is made of the events of this input, before the processors of all.
    pub processors: Vec<Definition>,
    /// How connections are secured, where there are some.
    pub tls: Option<InputTls>,
    /// How the connections of one that connects itself are secured.
    pub(super) connecting: Option<OutputTls>,
    /// Who may send, where senders are asked who they are; anybody if there are none. Of one that connects itself, who it says
    /// that it is.
    pub(super) authentication: Vec<Credential>,
    /// Where they come from.
    pub kind: InputKind,
    /// Where it stands in the file, for what is wrong with it.
    place: Definition,
}

/// The kinds of inputs.
#[derive(Clone, Debug, PartialEq)]
pub enum InputKind {
    /// Files that grow and are rotated.
    File(FileInput),
    /// Standard input.
    Stdin(StdinInput),
    /// Lines that are sent over a network or a socket.
    Syslog(SyslogInput),
    /// Events in the bodies of requests.
    Http(HttpInput),
    /// The system's journal.
    Journald(JournaldInput),
    /// Messages of Kafka's topics.
    Kafka(KafkaInput),
}

/// `type: stdin`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StdinInput {
    /// Bytes of one line at most; what is longer is cut and marked.
    pub line_bytes_max: usize,
}

/// `type: syslog`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SyslogInput {
    /// `tcp://ADDRESS:PORT`, `udp://ADDRESS:PORT`, `unix://PATH` or `unixgram://PATH`.
    pub listen: String,
    /// Bytes of one message at most; what is longer is cut and marked.
    pub line_bytes_max: usize,
}

/// `type: http`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HttpInput {
    /// `ADDRESS:PORT`.
    pub listen: String,
    /// Bytes of a body at most, before and after it is uncompressed.
    pub body_bytes_max: usize,
    /// Connections at once; the next ones are closed.
    pub connections_max: usize,
    /// How long a request may take to come, and then to be delivered.
    pub timeout_ms: u64,
    /// Bytes of one line of text at most; what is longer is cut and marked.
    pub line_bytes_max: usize,
}

impl Default for HttpInput {
    fn default() -> Self {
        HttpInput {
            listen: String::new(),
            body_bytes_max: 16 << 20,
            connections_max: 1_000,
            timeout_ms: 30_000,
            line_bytes_max: 1 << 20,
        }
    }
}

impl HttpInput {
    /// What a run is given.
    ///
    /// # Errors
    /// What is wrong with `listen` or a limit.
    pub fn options(
        &self,
        parse: ParserChoice,
        credentials: Credentials,
    ) -> Result<FeedOptions, CollectError> {
        let refuse = |option, reason: String| CollectError::Option { option, reason };
        let address = self.listen.parse().map_err(|_| {
            let reason = format!("is [{}], and not ADDRESS:PORT", self.listen);
            refuse("listen", reason)
        })?;
        if !(1_024..=64 << 20).contains(&self.body_bytes_max) {
            let reason = "is not in 1 KiB..=64 MiB".to_owned();
            return Err(refuse("body_bytes_max", reason));
        }
        if !(1..=100_000).contains(&self.connections_max) {
            return Err(refuse("connections_max", "is not in 1..=100000".to_owned()));
        }
        if !(100..=3_600_000).contains(&self.timeout_ms) {
            return Err(refuse("timeout_ms", "is not in 100..=3600000".to_owned()));
        }
        Ok(FeedOptions {
            address: FeedAddress::Http(HttpFeed {
                address,
                body_bytes_max: self.body_bytes_max,
                connections_max: self.connections_max,
                timeout: Duration::from_millis(self.timeout_ms),
                credentials,
            }),
            parse,
            line_bytes_max: self.line_bytes_max,
            plan: 0,
            tls: None,
        })
    }
}

impl Default for StdinInput {
    fn default() -> Self {
        let line_bytes_max = 1 << 20;
        StdinInput { line_bytes_max }
    }
}

impl Default for SyslogInput {
    fn default() -> Self {
        SyslogInput {
            listen: String::new(),
            line_bytes_max: 64 << 10,
        }
    }
}

impl StdinInput {
    /// What a run is given.
    pub fn options(&self, parse: ParserChoice) -> FeedOptions {
        FeedOptions {
            address: FeedAddress::Stdin,
            parse,
            line_bytes_max: self.line_bytes_max,
            plan: 0,
            tls: None,
        }
    }
}

impl SyslogInput {
    /// What a run is given.
    ///
    /// # Errors
    /// What is wrong with `listen`.
    pub fn options(&self, parse: ParserChoice) -> Result<FeedOptions, CollectError> {
        let option = "listen";
        let address = self.listen.parse();
        Ok(FeedOptions {
            address: address.map_err(|reason| CollectError::Option { option, reason })?,
            parse,
            line_bytes_max: self.line_bytes_max,
            plan: 0,
            tls: None,
        })
    }
}

/// `type: file`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileInput {
    /// Files, folders or patterns.
    pub paths: Vec<PathBuf>,
    /// Patterns of files that are left out: of whole paths, or without `/` of names.
    pub exclude: Vec<String>,
    /// Bytes of one event at most; a line that is longer is cut and marked.
    pub line_bytes_max: usize,
    /// Files that have not been written to for so many seconds are left alone until they are.
    pub ignore_older_s: Option<u64>,
    /// Where reading begins of files that are there at the first start.
    pub start_at: StartAt,
    /// How bytes are read as text.
    pub encoding: Encoding,
    /// What the lines are wrapped in by a container runtime.
    pub wrapping: Wrapping,
    /// How lines are joined to events.
    pub multiline: Option<MultilineConfig>,
}

/// `multiline`: one rule, perhaps with what ends an event, and its limits.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MultilineConfig {
    /// A rule by its name, one of [`MultilineRule::PRESETS`].
    pub preset: Option<String>,
    /// A regular expression of lines that begin an event.
    pub start: Option<String>,
    /// A regular expression of lines that continue one.
    #[serde(rename = "continue")]
    pub continues: Option<String>,
    /// A regular expression of lines that are continued by the next one.
    pub goes_on: Option<String>,
    /// A regular expression of lines that belong together.
    #[serde(rename = "while")]
    pub together: Option<String>,
    /// So many lines are an event.
    pub count: Option<usize>,
    /// A regular expression of lines that end an event; alone, or beside another rule.
    pub end: Option<String>,
    /// Lines of one event at most; those beyond begin another.
    pub lines_max: Option<usize>,
    /// How long a file has to be quiet until its last event is taken as it is.
    pub timeout_ms: Option<u64>,
}

impl Default for FileInput {
    fn default() -> Self {
        FileInput {
            paths: Vec::new(),
            exclude: Vec::new(),
            line_bytes_max: 1 << 20,
            ignore_older_s: None,
            start_at: StartAt::Beginning,
            encoding: Encoding::Utf8,
            wrapping: Wrapping::None,
            multiline: None,
        }
    }
}

impl FileInput {
    /// What a run is given.
    ///
    /// # Errors
    /// What is wrong with `multiline`.
    pub fn options(&self, parse: ParserChoice) -> Result<FileOptions, CollectError> {
        let multiline = self.multiline.as_ref().map(MultilineConfig::options);
        Ok(FileOptions {
            exclude: self.exclude.clone(),
            parse,
            line_bytes_max: self.line_bytes_max,
            multiline: multiline.transpose()?,
            wrapping: self.wrapping,
            encoding: self.encoding,
            ignore_older: self.ignore_older_s.map(Duration::from_secs),
            start_at: self.start_at,
            ..FileOptions::new(self.paths.clone())
        })
    }
}

impl MultilineConfig {
    fn options(&self) -> Result<Multiline, CollectError> {
        let mut multiline = Multiline::new(self.rule()?);
        multiline.end.clone_from(&self.end);
        let lines_max = self.count.or(self.lines_max);
        multiline.lines_max = lines_max.unwrap_or(multiline.lines_max);
        let timeout = self.timeout_ms.map(Duration::from_millis);
        multiline.timeout = timeout.unwrap_or(multiline.timeout);
        Ok(multiline)
    }

    /// The one rule that it names.
    fn rule(&self) -> Result<MultilineRule, CollectError> {
        let refuse = |reason: String| CollectError::Option {
            option: "multiline",
            reason,
        };
        type RuleOf = fn(String) -> MultilineRule;
        let patterns: [(_, RuleOf); 4] = [
            (&self.start, MultilineRule::Start),
            (&self.continues, MultilineRule::Continue),
            (&self.goes_on, MultilineRule::GoesOn),
            (&self.together, MultilineRule::While),
        ];
        let patterns = patterns.into_iter();
        let mut rules: Vec<MultilineRule> = patterns
            .filter_map(|(pattern, rule)| pattern.clone().map(rule))
            .collect();
        if let Some(name) = &self.preset {
            rules.push(MultilineRule::preset(name).ok_or_else(|| {
                let known = MultilineRule::PRESETS.join(", ");
                refuse(format!("has no preset [{name}], only {known}"))
            })?);
        }
        rules.extend(self.count.map(|_| MultilineRule::Every));
        match rules.pop() {
            Some(rule) if rules.is_empty() => Ok(rule),
            None if self.end.is_some() => Ok(MultilineRule::Every),
            _ => {
                let reason = "takes exactly one of [preset], [start], [continue], [goes_on], [while] and [count], \
                              and perhaps [end]";
                Err(refuse(reason.to_owned()))
            }
        }
    }
}

/// The names of the kinds.
const KINDS: [&str; 6] = ["file", "stdin", "syslog", "http", "journald", "kafka"];
/// What others call them.
const ELSEWHERE: [(&str, &str); 14] = [
    ("log", "file"),
    ("filestream", "file"),
    ("tail", "file"),
    ("container", "file"),
    ("docker", "file"),
    ("tcp", "syslog"),
    ("udp", "syslog"),
    ("unix", "syslog"),
    ("socket", "syslog"),
    ("systemd", "journald"),
    ("beats", "http"),
    ("otlp", "http"),
    ("opentelemetry", "http"),
    ("elasticsearch", "http"),
];
/// The keys of every kind.
const COMMON: [&str; 3] = ["type", "parse", "processors"];
/// The keys of those that are connected to.
const LISTENING: [&str; 4] = ["type", "parse", "processors", "tls"];
/// The keys of those that ask who connects.
const ASKING: [&str; 5] = ["type", "parse", "processors", "tls", "authentication"];

impl InputConfig {
    /// Leaves out what rests on files of the machine that it is for.
    pub(super) fn forget_files(&mut self) {
        self.tls = None;
        self.connecting = None;
        self.authentication.clear();
    }

    /// What is wrong with one of its options, with its place, and the line that is found for it.
    pub(super) fn placed(
        &self,
        error: CollectError,
        line_of: impl Fn(&str) -> Option<usize>,
    ) -> CollectError {
        match error {
            CollectError::Option { option, reason } => CollectError::Config(ConfigError {
                place: format!("{}.{option}", self.place.place),
                line: line_of(option).or(self.place.line),
                ..self.place.wrong(&reason)
            }),
            other => other,
        }
    }

    pub(super) fn read(mut section: Section<'_>) -> Result<Self, ConfigError> {
        let place = section.place();
        let kind = section.take_text("type")?.unwrap_or_else(|| "file".into());
        let given = section.take_text("parse")?;
        if kind == "journald" && given.is_some() {
            return Err(section.wrong(
                Some("parse"),
                "is for lines, and entries of the journal are fields already",
            ));
        }
        let parse = match given {
            None => ParserChoice::Auto,
            Some(name) => name.parse().map_err(|error: crate::UnknownParser| {
                section.wrong(Some("parse"), error.to_string())
            })?,
        };
        let processors = processors(&mut section)?;
        let tls = match &kind[..] {
            "syslog" | "http" => InputTls::take(&mut section)?,
            _ => None,
        };
        let authentication = match &kind[..] {
            "http" => authentication::take(&mut section)?,
            "kafka" => {
                let login = section.take_section("authentication")?;
                let login = login.map(Credential::read).transpose()?;
                login.into_iter().collect()
            }
            _ => Vec::new(),
        };
        let connecting = match &kind[..] {
            "kafka" => OutputTls::take(&mut section)?,
            _ => None,
        };
        let kind = match &kind[..] {
            "file" => InputKind::File(section.read(&COMMON, &["paths"])?),
            "stdin" => InputKind::Stdin(section.read(&COMMON, &[])?),
            "syslog" => InputKind::Syslog(section.read(&LISTENING, &["listen"])?),
            "http" => InputKind::Http(section.read(&ASKING, &["listen"])?),
            "journald" => InputKind::Journald(section.read(&COMMON, &[])?),
            "kafka" => {
                built_with_kafka(&section)?;
                let needed = ["brokers", "topics"];
                InputKind::Kafka(section.read(&ASKING, &needed)?)
            }
            other => {
                let nearest = meant(&KINDS, &ELSEWHERE, other);
                let reason = format!("no input is called [{other}], did you mean [{nearest}]?");
                return Err(section.wrong(Some("type"), reason));
            }
        };
        if let (InputKind::Syslog(syslog), Some(tls)) = (&kind, &tls)
            && !syslog.listen.starts_with("tcp://")
        {
            return Err(tls.wrong("secures connections only where [listen] begins with tcp://"));
        }
        let input = InputConfig {
            parse,
            processors,
            tls,
            connecting,
            authentication,
            kind,
            place,
        };
        if let Some(security) = input.security() {
            security.check(&input.place)?;
        }
        Ok(input)
    }

    /// How the connections of an input of Kafka are secured; nothing of others.
    pub(super) fn security(&self) -> Option<KafkaSecurity<'_>> {
        let InputKind::Kafka(kafka) = &self.kind else {
            return None;
        };
        Some(KafkaSecurity {
            tls: self.connecting.as_ref(),
            login: self.authentication.first(),
            mechanism: kafka.mechanism,
            properties: &kafka.properties,
        })
    }
}
