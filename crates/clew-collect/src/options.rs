//! What a run is asked to do. Everything with a limit has it here, in units its name says.

use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::config::Definition;
use crate::error::CollectError;
use crate::event::OutputSet;
use crate::feed::{FeedAddress, FeedOptions};
use crate::frame::{Encoding, Multiline, Wrapping};
use crate::parse::ParserChoice;

/// What the longest line may be given.
const LINE_BYTES: RangeInclusive<usize> = 64..=16 << 20;

/// When a run ends by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Never: wait for more lines and more files until stopped.
    Follow,
    /// When every file has been read to its end.
    Once,
}

/// Where reading of a file begins that was there before its input was first asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StartAt {
    /// At its first byte.
    #[default]
    Beginning,
    /// At its end. Files that come later are read from their first byte.
    End,
}

/// Files that are read alike.
#[derive(Clone, Debug)]
pub struct FileOptions {
    /// Files, folders (every regular file below) or patterns with `*`, `?`, `[..]`, `**`.
    pub paths: Vec<PathBuf>,
    /// Patterns of files that are left out: of whole paths, or without `/` of names.
    pub exclude: Vec<String>,
    /// How lines become fields.
    pub parse: ParserChoice,
    /// Bytes of one event at most; a line that is longer is cut and marked.
    pub line_bytes_max: usize,
    /// How lines are joined to events.
    pub multiline: Option<Multiline>,
    /// What container runtimes wrap the lines in.
    pub wrapping: Wrapping,
    /// How bytes are read as text.
    pub encoding: Encoding,
    /// Files that have not been written to for so long are left alone until they are.
    pub ignore_older: Option<Duration>,
    /// Where reading begins.
    pub start_at: StartAt,
    /// Which of the run's lists of processors is for them.
    pub plan: usize,
}

impl FileOptions {
    /// Options with the default limits.
    pub fn new(paths: Vec<PathBuf>) -> Self {
        FileOptions {
            paths,
            exclude: Vec::new(),
            parse: ParserChoice::Auto,
            line_bytes_max: 1 << 20,
            multiline: None,
            wrapping: Wrapping::None,
            encoding: Encoding::Utf8,
            ignore_older: None,
            start_at: StartAt::Beginning,
            plan: 0,
        }
    }

    pub(crate) fn validate(&self) -> Result<(), CollectError> {
        if self.paths.is_empty() {
            return refuse("paths", "names nothing to read");
        }
        if self.paths.iter().any(|path| path.as_os_str().is_empty()) {
            return refuse("paths", "has a path without a name");
        }
        if !LINE_BYTES.contains(&self.line_bytes_max) {
            return refuse("line_bytes_max", "is not in 64 B..=16 MiB");
        }
        Ok(())
    }
}

impl FeedOptions {
    pub(crate) fn validate(&self) -> Result<(), CollectError> {
        if LINE_BYTES.contains(&self.line_bytes_max) {
            return Ok(());
        }
        let option = match &self.address {
            FeedAddress::Journal(_) => "entry_bytes_max",
            _ => "line_bytes_max",
        };
        refuse(option, "is not in 64 B..=16 MiB")
    }
}

fn refuse(option: &'static str, reason: &str) -> Result<(), CollectError> {
    Err(CollectError::Option {
        option,
        reason: reason.to_owned(),
    })
}

/// One run of the collector.
#[derive(Clone, Debug)]
pub struct CollectOptions {
    /// What is read; a file that two of them name is read as the first says.
    pub files: Vec<FileOptions>,
    /// What is sent to the collector.
    pub feeds: Vec<FeedOptions>,
    /// What is made of events after their parser: lists, which inputs name by number.
    pub processors: Vec<Vec<Definition>>,
    /// Which events each output takes, in the order of the outputs: those for which its condition holds, or all. Empty
    /// where every output takes every event.
    pub outputs: Vec<Option<Definition>>,
    /// Files that outputs write, and folders of their buffers: they are not read, whatever names them.
    pub own: Vec<PathBuf>,
    /// The file that remembers how far each file was read.
    pub registry: PathBuf,
    /// Whether to wait for more.
    pub mode: Mode,
    /// The value of `host.name`; also a part of every event's id.
    pub host: String,
    /// The index to write to; a sink may read it, the collector itself does not.
    pub index: String,
    /// Events in a batch at most.
    pub batch_lines_max: usize,
    /// Document bytes in a batch at most (a single larger document still goes alone).
    pub batch_bytes_max: usize,
    /// How long an acknowledged position may stay unwritten; zero writes after every batch. A
    /// crash repeats at most this much, with the same ids, so a sink that knows ids drops it.
    pub registry_interval: Duration,
}

impl CollectOptions {
    /// Options with the default limits, to read these files alike.
    pub fn new(paths: Vec<PathBuf>, registry: PathBuf) -> Self {
        CollectOptions {
            files: vec![FileOptions::new(paths)],
            feeds: Vec::new(),
            processors: Vec::new(),
            outputs: Vec::new(),
            own: Vec::new(),
            registry,
            mode: Mode::Once,
            host: machine_name(),
            index: "logs".to_owned(),
            batch_lines_max: 2_000,
            batch_bytes_max: 2 << 20,
            registry_interval: Duration::from_millis(250),
        }
    }

    /// Refuses values that cannot work, naming the field.
    pub fn validate(&self) -> Result<(), CollectError> {
        if self.files.is_empty() && self.feeds.is_empty() {
            return refuse("files", "names nothing to read");
        }
        self.files.iter().try_for_each(FileOptions::validate)?;
        let mut journals = HashSet::new();
        let mut is_new = |feed: &FeedOptions| match &feed.address {
            FeedAddress::Journal(journal) => journals.insert(journal.id.clone()),
            _ => true,
        };
        if !self.feeds.iter().all(&mut is_new) {
            return refuse("id", "is the same for two inputs of journals");
        }
        self.feeds.iter().try_for_each(FeedOptions::validate)?;
        if self.outputs.len() > OutputSet::OUTPUTS_MAX {
            return refuse("outputs", "has more than 64 members");
        }
        if self.registry.file_name().is_none() {
            return refuse("registry", "does not name a file");
        }
        if self.index.is_empty() || self.index.bytes().any(|b| b <= b' ' || b == b'"') {
            return refuse(
                "index",
                "is empty or has a character an index name cannot have",
            );
        }
        if self.host.is_empty() {
            return refuse("host", "is empty");
        }
        if !(1..=100_000).contains(&self.batch_lines_max) {
            return refuse("batch_lines_max", "is not in 1..=100000");
        }
        if !(1_024..=64 << 20).contains(&self.batch_bytes_max) {
            return refuse("batch_bytes_max", "is not in 1 KiB..=64 MiB");
        }
        Ok(())
    }

    /// Where refused events are kept: beside the registry.
    pub fn dead_letter_path(&self) -> PathBuf {
        self.beside_registry(".rejected.ndjson")
    }

    /// Where patterns of lines are kept: beside the registry.
    pub fn patterns_path(&self) -> PathBuf {
        self.beside_registry(".patterns")
    }

    /// Where that is which waits for outputs that are away: a folder beside the registry.
    pub fn waiting_path(&self) -> PathBuf {
        self.beside_registry(".waiting")
    }

    fn beside_registry(&self, ending: &str) -> PathBuf {
        let mut name = self.registry.file_name().unwrap_or_default().to_os_string();
        name.push(ending);
        self.registry.with_file_name(name)
    }
}

/// The machine's name as the kernel knows it.
fn machine_name() -> String {
    let name = rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned();
    if name.is_empty() {
        "localhost".to_owned()
    } else {
        name
    }
}
