//! Everything that ends a run early. Trouble with one file is not here: it is in the report.

use std::io;
use std::path::PathBuf;

use crate::sink::SinkError;

/// Why a run could not start or had to end.
#[derive(Debug, thiserror::Error)]
pub enum CollectError {
    /// An option has a value that cannot work.
    #[error("option {option} {reason}")]
    Option {
        /// The field of [`crate::CollectOptions`].
        option: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// A processor is not defined as it must be.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A named path does not exist or cannot be listed.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On which path.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// The registry exists but cannot be understood. Starting without it would send every file
    /// again, so that is left to a person: repair the file or move it away.
    #[error(
        "registry {} is broken: {reason}; it is repaired, or moved away, after which all files are read again",
        path.display()
    )]
    RegistryBroken {
        /// The registry file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Another collector uses the registry; two would overwrite each other's positions.
    #[error("registry {} is in use by process {process}", path.display())]
    RegistryInUse {
        /// The registry file.
        path: PathBuf,
        /// The other process' id, as it wrote it down.
        process: String,
    },
    /// The sink gave up for a reason that trying again cannot cure.
    #[error("the sink gave up")]
    Sink(#[source] SinkError),
}

/// What is wrong with a configuration, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{}{reason}", position(file, *line), bracketed(place))]
pub struct ConfigError {
    /// The file.
    pub file: String,
    /// Its line, counted from 1, if it is known.
    pub line: Option<usize>,
    /// The key, with those it is inside of.
    pub place: String,
    /// What is wrong.
    pub reason: String,
}

/// What stands before the place, with what parts it from that.
fn position(file: &str, line: Option<usize>) -> String {
    match line {
        // Of what was made a moment ago, and lies in no file.
        Some(line) if file.is_empty() => format!("line {line}: "),
        Some(line) => format!("{file}, line {line}: "),
        None if file.is_empty() => String::new(),
        None => format!("{file}: "),
    }
}

/// A place, with what parts it from what is wrong with it; nothing where that is wrong with the whole.
fn bracketed(place: &str) -> String {
    match place.is_empty() {
        true => String::new(),
        false => format!("[{place}] "),
    }
}

/// What a caller should do about a [`CollectError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The options or the request are wrong.
    Invalid,
    /// The world (disk, network) refused; trying again later may help.
    Unavailable,
    /// Stored state is damaged.
    Corrupt,
}

impl CollectError {
    /// What the caller should do about it.
    pub fn kind(&self) -> ErrorKind {
        match self {
            CollectError::Option { .. }
            | CollectError::Config(_)
            | CollectError::Sink(SinkError::Refused { .. }) => ErrorKind::Invalid,
            CollectError::Io { .. }
            | CollectError::RegistryInUse { .. }
            | CollectError::Sink(_) => ErrorKind::Unavailable,
            CollectError::RegistryBroken { .. } => ErrorKind::Corrupt,
        }
    }
}
