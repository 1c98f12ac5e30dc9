//! The table of errors, row by row.

use std::path::PathBuf;

use clew_log::{Glsn, Llsn, StreamId};

use super::*;

type Row = (
    LogError,
    Code,
    &'static str,
    Option<(&'static str, &'static str)>,
);

#[rustfmt::skip]
fn rows() -> Vec<Row> {
    use Code::*;
    use LogError as E;
    let stream = StreamId::new(1 << 31);
    let name = || "s".to_string();
    let (first, last, llsn) = (Llsn::new(7), Llsn::new(8), Llsn::new(9));
    vec![
        (E::Trimmed { first: Glsn::new(7) }, OutOfRange, "trimmed", Some((FIRST_GLSN, "7"))),
        (E::TrimmedStream { stream, first }, OutOfRange, "trimmed", Some((FIRST_LLSN, "7"))),
        (E::NotFound { glsn: Glsn::new(9), last: Glsn::new(8) }, OutOfRange, "beyond-end", Some((LAST_GLSN, "8"))),
        (E::EntryNotFound { stream, llsn, last }, OutOfRange, "beyond-end", Some((LAST_LLSN, "8"))),
        (E::UnknownStream { name: name() }, NotFound, "unknown-stream", None),
        (E::StreamExists { name: name(), stream }, AlreadyExists, "stream-exists", None),
        (E::StreamName { name: name(), reason: "is bad" }, InvalidArgument, "stream-name", None),
        (E::ReservedStream { stream }, PermissionDenied, "reserved-stream", None),
        (E::Sealed { stream, epoch: 3 }, FailedPrecondition, "sealed", Some((EPOCH, "3"))),
        (E::Fenced { stream, epoch: 3 }, FailedPrecondition, "fenced", Some((EPOCH, "3"))),
        (E::Conflict { stream, last }, Aborted, "conflict", Some((LAST_LLSN, "8"))),
        (E::SequenceGap { producer: 1, expected: 2 }, FailedPrecondition, "sequence-gap", Some((EXPECTED_SEQUENCE, "2"))),
        (E::SequenceTooOld { producer: 1, oldest: 2 }, FailedPrecondition, "sequence-too-old", Some((OLDEST_SEQUENCE, "2"))),
        (E::SequenceReused { producer: 1, sequence: 2 }, FailedPrecondition, "sequence-reused", None),
        (E::MixedStreams, InvalidArgument, "mixed-streams", None),
        (E::EntryTooLarge { bytes: 9, max: 8 }, ResourceExhausted, "entry-too-large", None),
        (E::HeadersTooLarge { bytes: 9, max: 8 }, ResourceExhausted, "headers-too-large", None),
        (E::Closed, Unavailable, "closed", None),
        (E::Locked { path: PathBuf::new() }, Unavailable, "unavailable", None),
        (E::Corrupt { path: PathBuf::new(), offset: 1, reason: "checksum" }, DataLoss, "corrupt", None),
        (E::Options { field: "x", reason: "is bad" }, InvalidArgument, "invalid", None),
    ]
}

#[test]
fn every_error_has_its_code_its_word_and_its_details() {
    for (error, code, word, detail) in rows() {
        let status = status(&error);
        assert_eq!(status.code(), code, "{error}");
        assert_eq!(detail_of(&status, ERROR_KEY), Some(word), "{error}");
        assert_eq!(status.message(), error.to_string());
        let message = to_message(&status);
        assert_eq!(message.code, i32::from(code));
        assert_eq!(message.details[ERROR_KEY], word);
        assert_eq!(message.details.len(), 1 + usize::from(detail.is_some()));
        if let Some((key, value)) = detail {
            assert_eq!(detail_of(&status, key), Some(value), "{error}");
            assert_eq!(message.details[key], value);
        }
    }
}

#[test]
fn a_message_tells_the_causes_too() {
    let source = std::io::Error::other("no space left");
    let error = LogError::Io {
        action: "write",
        path: PathBuf::from("x"),
        source,
    };
    let status = status(&error);
    assert_eq!(status.code(), Code::Unavailable);
    assert_eq!(status.message(), "cannot write x: no space left");
}

#[test]
fn the_transports_refusal_of_a_long_message_is_told_apart() {
    let status = of_transport(Status::out_of_range("found 9 bytes, the limit is 8"));
    assert_eq!(status.code(), Code::ResourceExhausted);
    assert_eq!(detail_of(&status, ERROR_KEY), Some("message-too-large"));
    assert_eq!(of_transport(Status::cancelled("x")).code(), Code::Cancelled);
}
