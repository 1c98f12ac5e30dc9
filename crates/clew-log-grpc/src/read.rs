//! Reading one entry, and where the log begins and ends.

use clew_log::{Entry, Glsn, Llsn, Log};
use tonic::Status;

use crate::proto;
use crate::proto::read_request::Position;
use crate::status::{invalid, status};
use crate::streams;

pub(crate) fn read(log: &Log, request: &proto::ReadRequest) -> Result<proto::Entry, Status> {
    let entry = match &request.position {
        Some(Position::Glsn(glsn)) => log.read(Glsn::new(*glsn)),
        Some(Position::Stream(at)) => {
            let id = streams::find(log, &at.stream)?.id;
            log.read_at(id, Llsn::new(at.llsn))
        }
        None => return Err(invalid("a read needs a glsn, or a stream and llsn")),
    };
    Ok(to_message(entry.map_err(|error| status(&error))?))
}

/// An entry as a message.
pub fn to_message(entry: Entry) -> proto::Entry {
    let headers = entry.headers.into_iter();
    proto::Entry {
        glsn: entry.glsn.get(),
        llsn: entry.llsn.get(),
        stream: entry.stream.get(),
        time_ms: entry.time_ms,
        headers: headers
            .map(|(key, value)| proto::Header { key, value })
            .collect(),
        payload: entry.payload,
    }
}

pub(crate) fn position(log: &Log) -> proto::PositionReply {
    // In this order, so that durable <= last holds for the client as it does for the log.
    let durable = log.durable();
    proto::PositionReply {
        first_glsn: log.first().get(),
        last_glsn: log.last().get(),
        durable_glsn: durable.get(),
        entry_bytes_max: log.options().entry_bytes_max as u64,
    }
}
