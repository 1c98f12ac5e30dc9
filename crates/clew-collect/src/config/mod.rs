//! The configuration file of the collector: what is read, what is made of it, where it goes.
//!
//! ```yaml
//! registry: /var/lib/clew/registry.json
//! inputs:
//!   - type: file
//!     paths: [/var/log/app/*.log]
//!     parse: plain
//!     processors:
//!       - dissect: {field: message, pattern: "%{level} %{text}"}
//! processors:
//!   - add: {field: service, value: "${SERVICE:shop}"}
//! outputs:
//!   - {type: clew, url: "http://127.0.0.1:9200", index: logs}
//! ```
//!
//! What is wrong with a file is told with its line and the full name of the key; an unknown key with the nearest that is
//! known. Nothing here opens a file: the text and the variables are handed in.

mod authentication;
mod files;
mod import;
mod input;
mod journald;
mod kafka;
mod output;
mod section;
mod source;
mod tls;

pub use import::{
    Imported, LeftOut, ReadFolder, import_filebeat, import_fluent_bit, import_logstash,
    import_promtail, import_vector, is_of_fluent_bit, is_of_promtail, is_of_vector,
};
pub use input::{
    FileInput, HttpInput, InputConfig, InputKind, MultilineConfig, StdinInput, SyslogInput,
};
pub use journald::JournaldInput;
pub use kafka::{KafkaInput, KafkaMechanism, KafkaOutput};
pub use output::{BufferConfig, BulkOutput, FileOutput, HttpOutput, OutputConfig, OutputKind};
pub use tls::{InputTls, OutputTls};

pub use crate::definition::Definition;
pub use crate::error::ConfigError;
pub use crate::sink::Compression;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::error::CollectError;
use crate::event::OutputSet;
use crate::feed::FeedOptions;
use crate::fingerprint::hash_bytes;
use crate::input::FileRules;
use crate::options::{CollectOptions, FileOptions, Mode};
use crate::spelling::nearest;
use section::{Section, take_list};
use source::{Part, Source};

/// Inputs, or processors, of one file.
const ITEMS_MAX: usize = 1000;

/// A configuration file, read and checked.
#[derive(Clone, Debug)]
pub struct CollectConfig {
    /// What concerns the whole run.
    pub general: General,
    /// What is read.
    pub inputs: Vec<InputConfig>,
    /// What is made of every event, after the processors of its input.
    pub processors: Vec<Definition>,
    /// Where events go: to each output those for which its condition holds, or all.
    pub outputs: Vec<OutputConfig>,
    text: Text,
}

/// The text that a configuration was read from, for the lines of what is wrong with it later. It is not shown: there may be
/// secrets in it.
#[derive(Clone)]
struct Text {
    /// The name of its file.
    file: String,
    written: String,
}

impl std::fmt::Debug for Text {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Text({} bytes)", self.written.len())
    }
}

/// What concerns the whole run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct General {
    /// The file that remembers how far each file was read.
    pub registry: PathBuf,
    /// How long an acknowledged position may stay unwritten.
    pub registry_interval_ms: u64,
    /// The value of `host.name`; the machine's name when not given.
    pub host: Option<String>,
    /// Events in a batch at most.
    pub batch_lines_max: usize,
    /// Document bytes in a batch at most.
    pub batch_bytes_max: usize,
    /// Where figures are shown to Prometheus, if they are.
    pub metrics: Option<MetricsConfig>,
}

/// `metrics`: a page of figures, `GET /metrics`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MetricsConfig {
    /// `ADDRESS:PORT`.
    pub listen: SocketAddr,
}

impl Default for General {
    fn default() -> Self {
        General {
            registry: PathBuf::from("clew-registry.json"),
            registry_interval_ms: 250,
            host: None,
            batch_lines_max: 2_000,
            batch_bytes_max: 2 << 20,
            metrics: None,
        }
    }
}

impl CollectConfig {
    /// Reads a configuration. `name` is the file's, for what is wrong with it; `variable` finds what `${NAME}` stands for.
    ///
    /// # Errors
    /// The first key, value or variable that is wrong, with its line.
    pub fn parse(
        name: &str,
        text: &str,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, ConfigError> {
        let source = Source::new(name, text);
        let tree = source.tree(variable)?;
        let foreign = tree.as_object().and_then(|keys| {
            let mut keys = keys.keys();
            keys.find(|key| is_of_another_shipper(key)).cloned()
        });
        let mut root = Section::root(&source, tree)?;
        if let Some(key) = foreign {
            let reason = "is a key of another shipper: `clew collect import FILE` prints what its configuration is here";
            return Err(root.wrong(Some(&key), reason));
        }
        let inputs = take_list(&mut root, "inputs", ITEMS_MAX)?;
        let outputs = take_list(&mut root, "outputs", OutputSet::OUTPUTS_MAX)?;
        let processors = processors(&mut root)?;
        let general = root.read(&["inputs", "outputs", "processors"], &[])?;
        let config = CollectConfig {
            general,
            inputs: inputs
                .into_iter()
                .map(InputConfig::read)
                .collect::<Result<_, _>>()?,
            processors,
            outputs: outputs
                .into_iter()
                .map(OutputConfig::read)
                .collect::<Result<_, _>>()?,
            text: Text {
                file: name.to_owned(),
                written: text.to_owned(),
            },
        };
        for (list, is_empty) in [
            ("inputs", config.inputs.is_empty()),
            ("outputs", config.outputs.is_empty()),
        ] {
            if is_empty {
                return Err(source.error(list, None, "must name at least one".to_owned()));
            }
        }
        Ok(config)
    }

    /// The folder beside the registry for what waits for outputs that are away.
    pub fn waiting_folder(&self) -> PathBuf {
        CollectOptions::new(Vec::new(), self.general.registry.clone()).waiting_path()
    }

    /// The file beside the registry for events that outputs refuse for good.
    pub fn dead_letter_path(&self) -> PathBuf {
        CollectOptions::new(Vec::new(), self.general.registry.clone()).dead_letter_path()
    }

    /// The buffer of an output that has none of its own, and must not keep others waiting when it is away; none where there
    /// is no other, nor something left from when there was.
    pub fn buffer_while_away(&self, output: usize) -> Option<BufferConfig> {
        let names = self.outputs.iter().map(|one| one.kind.unbuffered_name());
        let names: Vec<Option<String>> = names.collect();
        let name = names.get(output)?.as_ref()?;
        // Those that are alike are told apart by their order.
        let before = names.iter().take(output).flatten();
        let alike = before.filter(|other| *other == name).count() as u64;
        let key = hash_bytes(alike, name.as_bytes());
        let folder = self.waiting_folder().join(format!("{key:016x}"));
        let is_needed = self.outputs.len() > 1 || folder.exists();
        is_needed.then(|| BufferConfig {
            folder,
            only_while_away: true,
            rejected_in: Some(self.dead_letter_path()),
            ..BufferConfig::default()
        })
    }

    /// The line of an input's key.
    fn line_of(&self, input: usize, key: &str) -> Option<usize> {
        let [inputs, key] = ["inputs", key].map(|key| Part::Key(key.to_owned()));
        Source::new("", &self.text.written).line_of(&[inputs, Part::Item(input), key])
    }

    /// What is wrong with an option of the whole run, with its line.
    fn placed(&self, error: CollectError) -> CollectError {
        match error {
            CollectError::Option { option, reason } => {
                let source = Source::new(&self.text.file, &self.text.written);
                let line = source.line_of(&[Part::Key(option.to_owned())]);
                CollectError::Config(source.error(option, line, reason))
            }
            other => other,
        }
    }

    /// The run that the file asks for.
    ///
    /// # Errors
    /// What the run cannot do of it.
    pub fn options(&self, mode: Mode) -> Result<CollectOptions, CollectError> {
        let general = &self.general;
        let mut options = CollectOptions::new(Vec::new(), general.registry.clone());
        options.files.clear();
        for (plan, input) in self.inputs.iter().enumerate() {
            let list = [&input.processors[..], &self.processors[..]].concat();
            options.processors.push(list);
            let credentials = authentication::credentials(&input.authentication)?;
            let secured = input.security().map(|security| security.settings());
            let secured = secured.transpose()?.unwrap_or_default();
            let tls = input.tls.as_ref().map(InputTls::ready).transpose()?;
            let wrong = |error| input.placed(error, |option| self.line_of(plan, option));
            let feed = match &input.kind {
                InputKind::File(file) => {
                    let read = file.options(input.parse);
                    let read = read.and_then(|read| {
                        read.validate()?;
                        FileRules::new(&read)?;
                        Ok(read)
                    });
                    options.files.push(FileOptions {
                        plan,
                        ..read.map_err(wrong)?
                    });
                    continue;
                }
                InputKind::Stdin(stdin) => Ok(stdin.options(input.parse)),
                InputKind::Kafka(kafka) => kafka.options(input.parse, secured),
                InputKind::Http(http) => {
                    let read = http.options(input.parse, credentials);
                    read.map(|read| FeedOptions { tls, ..read })
                }
                InputKind::Journald(journald) => journald.options(mode),
                InputKind::Syslog(syslog) => {
                    let read = syslog.options(input.parse);
                    read.map(|read| FeedOptions { tls, ..read })
                }
            };
            let feed = feed.and_then(|feed| feed.validate().map(|()| feed));
            options.feeds.push(FeedOptions {
                plan,
                ..feed.map_err(wrong)?
            });
        }
        if self.outputs.iter().any(|output| output.when.is_some()) {
            let conditions = self.outputs.iter().map(|output| output.when.clone());
            options.outputs = conditions.collect();
        }
        let own = self.outputs.iter().filter_map(|one| one.kind.writes_to());
        options.own = own.map(Path::to_owned).collect();
        options.mode = mode;
        if let Some(host) = &general.host {
            options.host.clone_from(host);
        }
        options.batch_lines_max = general.batch_lines_max;
        options.batch_bytes_max = general.batch_bytes_max;
        options.registry_interval = Duration::from_millis(general.registry_interval_ms);
        options.validate().map_err(|error| self.placed(error))?;
        Ok(options)
    }
}

/// The line of a key in a text of YAML, counted from 1; the key's name has those that it is inside of before it, `section.key`,
/// and may be written in both ways. None where there is no such key. The text is read again up to there.
pub fn line_of(text: &str, key: &str) -> Option<usize> {
    Source::new("", text).line_of_dotted(&[Part::Key(key.to_owned())])
}

/// Whether a configuration that has this key is one of Filebeat, Vector, Promtail or Fluent Bit.
fn is_of_another_shipper(key: &str) -> bool {
    const KEYS: [&str; 5] = [
        "sources",
        "sinks",
        "transforms",
        "scrape_configs",
        "pipeline",
    ];
    key.starts_with("filebeat") || key.starts_with("output.") || KEYS.contains(&key)
}

/// The kind that is meant by a name that none has: that of what others call so, or else the nearest one.
fn meant<'n>(kinds: &[&'n str], elsewhere: &[(&str, &'n str)], name: &str) -> &'n str {
    let known = elsewhere.iter().find(|(theirs, _)| *theirs == name);
    known.map_or_else(|| nearest(kinds, name), |(_, ours)| *ours)
}

/// Refuses what names Kafka where that is left out.
fn built_with_kafka(section: &Section<'_>) -> Result<(), ConfigError> {
    match cfg!(feature = "kafka") {
        true => Ok(()),
        false => Err(section.wrong(Some("type"), crate::kafka::BUILT_WITHOUT)),
    }
}

/// The processors of a section, each with its place.
fn processors(section: &mut Section<'_>) -> Result<Vec<Definition>, ConfigError> {
    let items = take_list(section, "processors", ITEMS_MAX)?;
    let one = |item: Section<'_>| match item.len() {
        1 => Ok(item.into_definition()),
        _ => Err(item.wrong(None, "must be one processor: its name and its parameters")),
    };
    items.into_iter().map(one).collect()
}

#[cfg(test)]
mod tests;
