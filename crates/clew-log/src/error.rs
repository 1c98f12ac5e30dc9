//! What can go wrong with a log.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::position::Glsn;

/// An error of the log.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// The disk refused an operation; the log goes on.
    #[error("cannot {action} {}", .path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file or folder concerned.
        path: PathBuf,
        /// The disk's answer.
        source: io::Error,
    },
    /// Bytes that were durable are not what was written.
    #[error("log file {} is corrupt at byte {offset}: {reason}", .path.display())]
    Corrupt {
        /// The damaged file.
        path: PathBuf,
        /// Where the damaged part begins.
        offset: u64,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A file of a format this program does not know.
    #[error("log file {} has format version {version}, this program reads version {known}", .path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: u32,
        /// The version this program knows.
        known: u32,
    },
    /// The entry was trimmed.
    #[error("entries below {first} were trimmed")]
    Trimmed {
        /// The lowest entry that may still be there.
        first: Glsn,
    },
    /// The entry does not exist yet.
    #[error("entry {glsn} does not exist, the last is {last}")]
    NotFound {
        /// The entry asked for.
        glsn: Glsn,
        /// The last entry.
        last: Glsn,
    },
    /// A write or sync failed earlier, so the log refuses to acknowledge anything more.
    #[error("log refuses writes since it could not {action} {}", .path.display())]
    Poisoned {
        /// What failed.
        action: &'static str,
        /// The file it failed on.
        path: PathBuf,
        /// The disk's answer.
        source: Arc<io::Error>,
    },
    /// The entry's payload is above `entry_bytes_max`.
    #[error("entry of {bytes} bytes exceeds the limit of {max}")]
    EntryTooLarge {
        /// The payload's length.
        bytes: usize,
        /// The limit.
        max: usize,
    },
    /// The log was closed.
    #[error("log is closed")]
    Closed,
    /// Another process, or another part of this one, has the log open.
    #[error("log is in use, its lock {} is held", .path.display())]
    Locked {
        /// The lock file.
        path: PathBuf,
    },
    /// An option is out of its range.
    #[error("option {field} {reason}")]
    Options {
        /// The option's name.
        field: &'static str,
        /// What is wrong with it.
        reason: &'static str,
    },
}

/// What a caller should do about a [`LogError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LogErrorKind {
    /// The request is wrong; repeating it does not help.
    Invalid,
    /// The entry is not there.
    NotFound,
    /// The log cannot do it now: its disk is full, failing, read-only or in use.
    Unavailable,
    /// Stored bytes are damaged; a person must act.
    Corrupt,
}

impl LogError {
    /// What a caller should do about it.
    pub fn kind(&self) -> LogErrorKind {
        match self {
            LogError::EntryTooLarge { .. } | LogError::Options { .. } => LogErrorKind::Invalid,
            LogError::Trimmed { .. } | LogError::NotFound { .. } => LogErrorKind::NotFound,
            LogError::Corrupt { .. } | LogError::Version { .. } => LogErrorKind::Corrupt,
            LogError::Io { .. }
            | LogError::Poisoned { .. }
            | LogError::Closed
            | LogError::Locked { .. } => LogErrorKind::Unavailable,
        }
    }

    pub(crate) fn corrupt(path: &Path, offset: usize, reason: &'static str) -> Self {
        LogError::Corrupt {
            path: path.to_owned(),
            offset: offset as u64,
            reason,
        }
    }

    /// Turns an error of the disk into one that says what was tried on which path.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> LogError {
        move |source| LogError::Io {
            action,
            path: path.to_owned(),
            source,
        }
    }
}
