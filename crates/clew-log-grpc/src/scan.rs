//! Reading a range: one batch of entries is made whenever the transport has room for a message.

use clew_log::{Glsn, Llsn, Log, LogError, Order, Range, Scan, Selection};
use futures_util::{Stream, stream};
use tonic::Status;

use crate::batch::{BatchLimit, next_batch};
use crate::proto;
use crate::proto::scan_request::{self, GlsnRange, LlsnRange};
use crate::status::{broken, invalid, status};
use crate::{streams, words};

/// A range that is being sent.
pub(crate) struct Sending {
    scan: Option<Scan>,
    limit: BatchLimit,
    left: u64,
}

/// Finds where the range begins. Blocks while pages come from the disk.
pub(crate) fn open(log: &Log, request: &proto::ScanRequest) -> Result<Sending, Status> {
    let order = words::order(request.order)?;
    let everything = scan_request::Range::Glsn(GlsnRange::default());
    let scan = match request.range.as_ref().unwrap_or(&everything) {
        scan_request::Range::Glsn(range) => by_glsn(log, range, order)?,
        scan_request::Range::Llsn(range) => Some(by_llsn(log, range, order)?),
    };
    Ok(Sending {
        scan,
        limit: BatchLimit::of_bytes(request.batch_bytes),
        left: match request.limit {
            0 => u64::MAX,
            limit => limit,
        },
    })
}

/// The messages of a range.
pub(crate) fn messages(
    sending: Sending,
) -> impl Stream<Item = Result<proto::ScanReply, Status>> + Send + 'static {
    stream::try_unfold(sending, |mut sending| async move {
        if sending.scan.is_none() {
            return Ok(None);
        }
        let read = move || sending.next().map(|entries| (entries, sending));
        let (entries, sending) = tokio::task::spawn_blocking(read)
            .await
            .map_err(|error| broken(&error))?
            .map_err(|error| status(&error))?;
        let message = (!entries.is_empty()).then_some(proto::ScanReply { entries });
        Ok(message.map(|message| (message, sending)))
    })
}

impl Sending {
    /// The entries of the next message; none at the end.
    fn next(&mut self) -> Result<Vec<proto::Entry>, LogError> {
        let Some(scan) = self.scan.as_mut().filter(|_| self.left > 0) else {
            return Ok(Vec::new());
        };
        let limit = BatchLimit {
            entries: self.left,
            ..self.limit
        };
        let batch = next_batch(scan, limit)?;
        self.left -= batch.entries.len() as u64;
        if batch.finished || self.left == 0 {
            self.scan = None;
        }
        Ok(batch.entries)
    }
}

fn by_glsn(log: &Log, range: &GlsnRange, order: Order) -> Result<Option<Scan>, Status> {
    let ids = streams::find_all(log, &range.streams)?;
    let from = match (range.from, range.from_time_ms) {
        (Some(_), Some(_)) => return Err(invalid("from and from_time_ms exclude each other")),
        (None, Some(time_ms)) => {
            let found = log.first_at_or_after(time_ms, &ids);
            let Some(from) = found.map_err(|error| status(&error))? else {
                return Ok(None);
            };
            from
        }
        (from, None) => Glsn::new(from.unwrap_or(0)),
    };
    let to = Glsn::new(range.to.unwrap_or(u64::MAX));
    let selection = Selection {
        range: Range::Glsn { from, to },
        streams: ids,
        order,
    };
    let scan = log.scan_with(&selection);
    scan.map(Some).map_err(|error| status(&error))
}

fn by_llsn(log: &Log, range: &LlsnRange, order: Order) -> Result<Scan, Status> {
    let selection = Selection {
        range: Range::Llsn {
            stream: streams::find(log, &range.stream)?.id,
            from: Llsn::new(range.from.unwrap_or(0)),
            to: Llsn::new(range.to.unwrap_or(u64::MAX)),
        },
        streams: Vec::new(),
        order,
    };
    log.scan_with(&selection).map_err(|error| status(&error))
}
