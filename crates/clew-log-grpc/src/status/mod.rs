//! What an error of the log looks like to a gRPC client: a code, the message, and metadata that
//! programs can read.
//!
//! The code follows from the error's kind by one table. A few errors have a more exact code of
//! their own; the word under `clew-error` tells all of them apart.

use clew_log::{LogError, LogErrorKind};
use tonic::metadata::{MetadataMap, MetadataValue};
use tonic::{Code, Status};

use crate::proto;

/// The metadata key of the word that tells errors apart.
pub const ERROR_KEY: &str = "clew-error";
const FIRST_GLSN: &str = "clew-first-glsn";
const FIRST_LLSN: &str = "clew-first-llsn";
const LAST_GLSN: &str = "clew-last-glsn";
const LAST_LLSN: &str = "clew-last-llsn";
const EPOCH: &str = "clew-epoch";
const EXPECTED_SEQUENCE: &str = "clew-expected-sequence";
const OLDEST_SEQUENCE: &str = "clew-oldest-sequence";
/// Every key that an error may carry.
const KEYS: [&str; 8] = [
    ERROR_KEY,
    FIRST_GLSN,
    FIRST_LLSN,
    LAST_GLSN,
    LAST_LLSN,
    EPOCH,
    EXPECTED_SEQUENCE,
    OLDEST_SEQUENCE,
];

/// The code of each kind of error.
fn code_of_kind(kind: LogErrorKind) -> Code {
    match kind {
        LogErrorKind::Invalid => Code::InvalidArgument,
        LogErrorKind::NotFound => Code::NotFound,
        LogErrorKind::Conflict => Code::FailedPrecondition,
        LogErrorKind::OutOfRange => Code::OutOfRange,
        LogErrorKind::Unavailable => Code::Unavailable,
        LogErrorKind::Corrupt => Code::DataLoss,
    }
}

/// What a client is told about an error beyond its kind.
struct Facts {
    word: &'static str,
    /// Where gRPC has a more exact code than the kind's.
    code: Option<Code>,
    details: Vec<(&'static str, u64)>,
}

fn facts(error: &LogError) -> Facts {
    use LogError as E;
    let (word, code, details) = match error {
        E::Trimmed { first } => ("trimmed", None, vec![(FIRST_GLSN, first.get())]),
        E::TrimmedStream { first, .. } => ("trimmed", None, vec![(FIRST_LLSN, first.get())]),
        E::NotFound { last, .. } => ("beyond-end", None, vec![(LAST_GLSN, last.get())]),
        E::EntryNotFound { last, .. } => ("beyond-end", None, vec![(LAST_LLSN, last.get())]),
        E::UnknownStream { .. } => ("unknown-stream", None, vec![]),
        E::StreamExists { .. } => ("stream-exists", Some(Code::AlreadyExists), vec![]),
        E::StreamName { .. } => ("stream-name", None, vec![]),
        E::ReservedStream { .. } => ("reserved-stream", Some(Code::PermissionDenied), vec![]),
        E::Sealed { epoch, .. } => ("sealed", None, vec![(EPOCH, *epoch)]),
        E::Fenced { epoch, .. } => ("fenced", None, vec![(EPOCH, *epoch)]),
        E::Conflict { last, .. } => (
            "conflict",
            Some(Code::Aborted),
            vec![(LAST_LLSN, last.get())],
        ),
        E::SequenceGap { expected, .. } => {
            ("sequence-gap", None, vec![(EXPECTED_SEQUENCE, *expected)])
        }
        E::SequenceTooOld { oldest, .. } => {
            ("sequence-too-old", None, vec![(OLDEST_SEQUENCE, *oldest)])
        }
        E::SequenceReused { .. } => ("sequence-reused", None, vec![]),
        E::MixedStreams => ("mixed-streams", None, vec![]),
        E::EntryTooLarge { .. } => ("entry-too-large", Some(Code::ResourceExhausted), vec![]),
        E::HeadersTooLarge { .. } => ("headers-too-large", Some(Code::ResourceExhausted), vec![]),
        E::Poisoned { .. } => ("poisoned", None, vec![]),
        E::Lost { .. } => ("lost", None, vec![]),
        E::Closed => ("closed", None, vec![]),
        other => (word_of_kind(other.kind()), None, vec![]),
    };
    Facts {
        word,
        code,
        details,
    }
}

fn word_of_kind(kind: LogErrorKind) -> &'static str {
    match kind {
        LogErrorKind::Invalid => "invalid",
        LogErrorKind::NotFound => "not-found",
        LogErrorKind::Conflict => "conflict",
        LogErrorKind::OutOfRange => "out-of-range",
        LogErrorKind::Unavailable => "unavailable",
        LogErrorKind::Corrupt => "corrupt",
    }
}

/// The status of an error of the log; its message names the causes too.
pub(crate) fn status(error: &LogError) -> Status {
    let Facts {
        word,
        code,
        details,
    } = facts(error);
    let code = code.unwrap_or_else(|| code_of_kind(error.kind()));
    let mut message = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        message.push_str(": ");
        message.push_str(&inner.to_string());
        cause = inner.source();
    }
    let mut status = worded(code, word, message);
    for (key, value) in details {
        status.metadata_mut().insert(key, value.into());
    }
    status
}

/// A status of the service's own.
pub(crate) fn worded(code: Code, word: &'static str, message: impl Into<String>) -> Status {
    let mut metadata = MetadataMap::new();
    metadata.insert(ERROR_KEY, MetadataValue::from_static(word));
    Status::with_metadata(code, message, metadata)
}

/// A request that breaks the service's rules.
pub(crate) fn invalid(message: impl Into<String>) -> Status {
    worded(Code::InvalidArgument, "invalid", message)
}

/// A task of ours ended without an answer.
pub(crate) fn broken(error: &tokio::task::JoinError) -> Status {
    worded(
        Code::Internal,
        "internal",
        format!("request failed: {error}"),
    )
}

/// An error that came with a stream of requests. The transport has no code of its own for a
/// message above the limit; it is the only one it reports as out of range.
pub(crate) fn of_transport(status: Status) -> Status {
    match status.code() {
        Code::OutOfRange => worded(
            Code::ResourceExhausted,
            "message-too-large",
            status.message(),
        ),
        _ => status,
    }
}

/// The error as a part of a reply.
pub(crate) fn to_message(status: &Status) -> proto::Error {
    let details = KEYS
        .iter()
        .filter_map(|key| Some(((*key).to_string(), detail_of(status, key)?.to_string())));
    proto::Error {
        code: status.code().into(),
        message: status.message().to_string(),
        details: details.collect(),
    }
}

/// A detail of an error, by its metadata key.
pub fn detail_of<'a>(status: &'a Status, key: &str) -> Option<&'a str> {
    status.metadata().get(key)?.to_str().ok()
}

#[cfg(test)]
mod tests;
