//! Streams: making, listing, sealing, trimming, deleting, as the service's users may.
//!
//! The calls that change something block until it is durable. Their errors are the service's, so
//! that a program with the log in its own hands gets the same rules and the same answers.

use std::collections::BTreeSet;

use clew_log::{Glsn, Llsn, Log, LogError, StreamId, StreamInfo, Trim};
use tonic::{Code, Status};

use crate::proto;
use crate::proto::trim_request::Until;
use crate::status::{invalid, status, worded};

/// Finds a stream by its name or number.
pub(crate) fn find(log: &Log, name: &str) -> Result<StreamInfo, Status> {
    match name {
        "" => Err(invalid("a stream must be named")),
        name => log.stream(name).map_err(|error| status(&error)),
    }
}

/// Finds a stream that users of the service may change.
pub(crate) fn find_owned(log: &Log, name: &str) -> Result<StreamInfo, Status> {
    let info = find(log, name)?;
    match info.id.is_named() {
        true => Ok(info),
        false => Err(worded(
            Code::PermissionDenied,
            "reserved-stream",
            format!(
                "stream {} belongs to the server: it can be read, but not written, sealed, \
                 trimmed or deleted",
                info.id
            ),
        )),
    }
}

/// Finds a stream that users of the service may change, and makes it if it is missing.
///
/// # Errors
/// When the name breaks the rules, or the stream is the server's own.
pub fn find_or_create(log: &Log, name: &str) -> Result<StreamInfo, Status> {
    match find_owned(log, name) {
        Err(missing) if missing.code() == Code::NotFound => {}
        found => return found,
    }
    match log.create_stream(name) {
        // Someone else has made it in between.
        Err(LogError::StreamExists { .. }) => find_owned(log, name),
        made => made.map_err(|error| status(&error)),
    }
}

/// The numbers of the streams that a request names.
pub(crate) fn find_all(log: &Log, names: &[String]) -> Result<Vec<StreamId>, Status> {
    each_once(names.iter().map(|name| find(log, name)))
}

fn each_once(
    found: impl Iterator<Item = Result<StreamInfo, Status>>,
) -> Result<Vec<StreamId>, Status> {
    let ids = found.map(|info| info.map(|info| info.id));
    let ids: BTreeSet<StreamId> = ids.collect::<Result<_, _>>()?;
    Ok(ids.into_iter().collect())
}

/// Makes a stream.
///
/// # Errors
/// When the name breaks the rules or is taken.
pub fn create(log: &Log, name: &str) -> Result<proto::StreamInfo, Status> {
    let info = log.create_stream(name).map_err(|error| status(&error))?;
    Ok(stream_info(&info))
}

/// All streams, ascending by number.
pub(crate) fn list(log: &Log) -> proto::ListStreamsReply {
    let streams = log.streams();
    proto::ListStreamsReply {
        streams: streams.iter().map(stream_info).collect(),
    }
}

/// One stream.
pub(crate) fn describe(log: &Log, name: &str) -> Result<proto::StreamInfo, Status> {
    Ok(stream_info(&find(log, name)?))
}

/// Removes streams, all in one step.
///
/// # Errors
/// When a stream is missing or the server's own; then none is removed.
pub fn delete(log: &Log, names: &[String]) -> Result<proto::DeleteStreamReply, Status> {
    if names.is_empty() {
        return Err(invalid("no stream is named"));
    }
    let ids = each_once(names.iter().map(|name| find_owned(log, name)))?;
    log.delete_streams(&ids).map_err(|error| status(&error))?;
    Ok(proto::DeleteStreamReply {})
}

/// Ends appends to a stream.
///
/// # Errors
/// When the stream is missing or the server's own.
pub fn seal(log: &Log, name: &str) -> Result<proto::StreamInfo, Status> {
    let id = find_owned(log, name)?.id;
    let info = log.seal(id).map_err(|error| status(&error))?;
    Ok(stream_info(&info))
}

/// Opens a sealed stream again, under its next epoch.
///
/// # Errors
/// When the stream is missing or the server's own.
pub fn unseal(log: &Log, name: &str) -> Result<proto::StreamInfo, Status> {
    let id = find_owned(log, name)?.id;
    let info = log.unseal(id).map_err(|error| status(&error))?;
    Ok(stream_info(&info))
}

/// Forgets the oldest entries of one stream, or of all that have a name.
///
/// # Errors
/// When the stream is missing or the server's own, or the position is not there yet.
pub fn trim(log: &Log, request: &proto::TrimRequest) -> Result<proto::TrimReply, Status> {
    let mut trimmed = None;
    let what = match &request.until {
        Some(Until::Glsn(glsn)) => Trim::Named(Glsn::new(*glsn)),
        Some(Until::Stream(until)) => {
            let id = find_owned(log, &until.stream)?.id;
            trimmed = Some(id);
            Trim::Stream(id, Llsn::new(until.llsn))
        }
        None => return Err(invalid("a trim needs a stream and llsn, or a glsn")),
    };
    log.trim(what).map_err(|error| status(&error))?;
    let first_llsn = match trimmed {
        Some(id) => Some(
            log.stream_info(id)
                .map_err(|error| status(&error))?
                .first
                .get(),
        ),
        None => None,
    };
    Ok(proto::TrimReply {
        first_glsn: log.first().get(),
        first_llsn,
    })
}

/// A stream as a message.
pub fn stream_info(info: &StreamInfo) -> proto::StreamInfo {
    proto::StreamInfo {
        number: info.id.get(),
        name: info.name.as_ref().map(ToString::to_string),
        first_llsn: info.first.get(),
        last_llsn: info.last.get(),
        sealed: info.sealed,
        epoch: info.epoch,
        created_ms: info.created_ms,
    }
}
