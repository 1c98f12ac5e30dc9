//! What can go wrong with a log.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::position::{Glsn, Llsn, StreamId};

/// An error of the log.
#[derive(Debug, thiserror::Error)]
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
    /// The stream's entry was trimmed.
    #[error("entries of stream {stream} below {first} were trimmed")]
    TrimmedStream {
        /// The stream.
        stream: StreamId,
        /// The stream's lowest entry that is retained.
        first: Llsn,
    },
    /// The stream's entry does not exist yet.
    #[error("stream {stream} has no entry {llsn}, the last is {last}")]
    EntryNotFound {
        /// The stream.
        stream: StreamId,
        /// The entry asked for.
        llsn: Llsn,
        /// The stream's last entry.
        last: Llsn,
    },
    /// There is no such stream.
    #[error("there is no stream {name}")]
    UnknownStream {
        /// Its name, or its number.
        name: String,
    },
    /// A stream of that name exists.
    #[error("stream {name} exists already, as number {stream}")]
    StreamExists {
        /// Its name.
        name: String,
        /// Its number.
        stream: StreamId,
    },
    /// A stream cannot have that name.
    #[error("{name:?} cannot be the name of a stream: it {reason}")]
    StreamName {
        /// The name.
        name: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The stream has no name, so it belongs to the program that embeds the log.
    #[error("stream {stream} was not made by name and is not managed by its number")]
    ReservedStream {
        /// The stream.
        stream: StreamId,
    },
    /// The stream is sealed.
    #[error("stream {stream} is sealed at epoch {epoch}")]
    Sealed {
        /// The stream.
        stream: StreamId,
        /// Its epoch.
        epoch: u64,
    },
    /// The writer's epoch is not the stream's: another writer has taken over.
    #[error("stream {stream} is at epoch {epoch}, the writer is not")]
    Fenced {
        /// The stream.
        stream: StreamId,
        /// Its epoch.
        epoch: u64,
    },
    /// The stream does not end where the writer expected.
    #[error("stream {stream} ends at {last}, not where the writer expected")]
    Conflict {
        /// The stream.
        stream: StreamId,
        /// Its last entry.
        last: Llsn,
    },
    /// A producer has left out a sequence number.
    #[error("producer {producer} must go on with sequence {expected}")]
    SequenceGap {
        /// The producer.
        producer: u64,
        /// The sequence number that is due.
        expected: u64,
    },
    /// A producer repeats a call that is too long ago to be known.
    #[error("producer {producer} repeats a sequence below {oldest}, the oldest that is remembered")]
    SequenceTooOld {
        /// The producer.
        producer: u64,
        /// The oldest sequence number whose positions are known.
        oldest: u64,
    },
    /// A producer repeats a sequence number with another call.
    #[error("producer {producer} used sequence {sequence} for another call before")]
    SequenceReused {
        /// The producer.
        producer: u64,
        /// The sequence number.
        sequence: u64,
    },
    /// A call with a producer, an epoch or an expected position names several streams.
    #[error("a call with a producer, an epoch or an expected position must keep to one stream")]
    MixedStreams,
    /// The entry's headers are too large, or one of their keys is.
    #[error("headers of {bytes} bytes exceed the limit of {max}")]
    HeadersTooLarge {
        /// Their length.
        bytes: usize,
        /// The limit.
        max: usize,
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
    /// The disk failed before the entry was as safe as asked. The log goes on without it, and has given its position
    /// to another one, or will.
    #[error("the log's disk failed before entry {glsn} was durable, it goes on without it")]
    Lost {
        /// The entry.
        glsn: Glsn,
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
pub enum LogErrorKind {
    /// The request is wrong; repeating it does not help.
    Invalid,
    /// The stream is not there.
    NotFound,
    /// The position lies outside of what is retained.
    OutOfRange,
    /// The state of the stream or of the producer does not allow it; look and decide anew.
    Conflict,
    /// The log cannot do it now: its disk is full, failing, read-only or in use.
    Unavailable,
    /// Stored bytes are damaged; a person must act.
    Corrupt,
}

impl LogError {
    /// What a caller should do about it.
    pub fn kind(&self) -> LogErrorKind {
        match self {
            LogError::EntryTooLarge { .. }
            | LogError::HeadersTooLarge { .. }
            | LogError::StreamName { .. }
            | LogError::ReservedStream { .. }
            | LogError::MixedStreams
            | LogError::Options { .. } => LogErrorKind::Invalid,
            LogError::UnknownStream { .. } => LogErrorKind::NotFound,
            LogError::Trimmed { .. }
            | LogError::TrimmedStream { .. }
            | LogError::NotFound { .. }
            | LogError::EntryNotFound { .. } => LogErrorKind::OutOfRange,
            LogError::StreamExists { .. }
            | LogError::Sealed { .. }
            | LogError::Fenced { .. }
            | LogError::Conflict { .. }
            | LogError::SequenceGap { .. }
            | LogError::SequenceTooOld { .. }
            | LogError::SequenceReused { .. } => LogErrorKind::Conflict,
            LogError::Corrupt { .. } | LogError::Version { .. } => LogErrorKind::Corrupt,
            LogError::Io { .. }
            | LogError::Poisoned { .. }
            | LogError::Lost { .. }
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
