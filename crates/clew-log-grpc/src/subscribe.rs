//! Following the log: entries as they become visible, and a sign of life when there are none.

use std::time::Duration;

use clew_log::{Glsn, Log, Scan, StreamId, SubscribeOptions, Subscription};
use futures_util::{Stream, stream};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;
use tonic::Status;

use crate::batch::{Batch, BatchLimit, next_batch};
use crate::proto;
use crate::proto::subscribe_request::Start;
use crate::status::{broken, invalid, status};
use crate::stop::{Stop, stopping};
use crate::{streams, words};

const HEARTBEAT_MS_DEFAULT: u32 = 1000;
const HEARTBEAT_MS_MIN: u32 = 10;
const HEARTBEAT_MS_MAX: u32 = 60_000;
const NAME_BYTES_MAX: usize = 128;

/// A subscription that is being served.
pub(crate) struct Following {
    subscription: Subscription,
    /// What became visible and is not sent yet.
    scan: Option<Scan>,
    /// Everything below was sent or is in no stream of the subscription.
    next: Glsn,
    limit: BatchLimit,
    heartbeat: Duration,
    /// When the next heartbeat is due; at first at once, to tell where the subscription begins.
    due: Instant,
    stop: Stop,
    _place: OwnedSemaphorePermit,
}

/// Begins a subscription. Blocks while the position of a time is looked up.
pub(crate) fn open(
    log: &Log,
    request: &proto::SubscribeRequest,
    place: OwnedSemaphorePermit,
    stop: Stop,
) -> Result<Following, Status> {
    let streams = streams::find_all(log, &request.streams)?;
    let heartbeat = heartbeat(request.heartbeat_ms)?;
    if request.name.len() > NAME_BYTES_MAX {
        let said = format!("a subscription's name has at most {NAME_BYTES_MAX} bytes");
        return Err(invalid(said));
    }
    let name = match request.name.as_str() {
        "" => "unnamed",
        name => name,
    };
    let options = SubscribeOptions {
        name: name.to_string(),
        from: first_of(log, request.start.as_ref(), &streams)?,
        streams,
        visible: words::visible(request.visible)?,
    };
    let subscription = log.subscribe(options).map_err(|error| status(&error))?;
    Ok(Following {
        next: subscription.position(),
        subscription,
        scan: None,
        limit: BatchLimit::of_bytes(request.batch_bytes),
        heartbeat,
        due: Instant::now(),
        stop,
        _place: place,
    })
}

fn heartbeat(asked_ms: u32) -> Result<Duration, Status> {
    let ms = match asked_ms {
        0 => HEARTBEAT_MS_DEFAULT,
        HEARTBEAT_MS_MIN..=HEARTBEAT_MS_MAX => asked_ms,
        _ => {
            return Err(invalid(format!(
                "heartbeat_ms must be between {HEARTBEAT_MS_MIN} and {HEARTBEAT_MS_MAX}"
            )));
        }
    };
    Ok(Duration::from_millis(ms.into()))
}

fn first_of(log: &Log, start: Option<&Start>, streams: &[StreamId]) -> Result<Glsn, Status> {
    match start {
        Some(Start::Glsn(glsn)) => Ok(Glsn::new(*glsn)),
        Some(Start::TimeMs(time_ms)) => {
            // Before the search: an entry that comes in between is late enough.
            let end = log.last().next();
            let found = log.first_at_or_after(*time_ms, streams);
            Ok(found.map_err(|error| status(&error))?.unwrap_or(end))
        }
        None => Ok(log.last().next()),
    }
}

/// The messages of a subscription; they end only with an error.
pub(crate) fn messages(
    following: Following,
) -> impl Stream<Item = Result<proto::SubscribeReply, Status>> + Send + 'static {
    stream::try_unfold(following, |mut following| async move {
        let message = following.next_message().await?;
        Ok(Some((message, following)))
    })
}

impl Following {
    async fn next_message(&mut self) -> Result<proto::SubscribeReply, Status> {
        loop {
            if let Some(scan) = self.scan.take() {
                let batch = self.read(scan).await?;
                // Other streams' traffic alone is told no more often than silence is.
                if !batch.entries.is_empty() || Instant::now() >= self.due {
                    return Ok(self.message(batch.entries));
                }
            }
            tokio::select! {
                biased;
                () = self.stop.requested() => return Err(stopping()),
                scan = self.subscription.ready() => {
                    self.scan = Some(scan.map_err(|error| status(&error))?);
                }
                () = tokio::time::sleep_until(self.due) => return Ok(self.message(Vec::new())),
            }
        }
    }

    /// Reads one batch, and moves the position behind it.
    async fn read(&mut self, mut scan: Scan) -> Result<Batch, Status> {
        let limit = self.limit;
        let read = move || next_batch(&mut scan, limit).map(|batch| (batch, scan));
        let (batch, scan) = tokio::task::spawn_blocking(read)
            .await
            .map_err(|error| broken(&error))?
            .map_err(|error| status(&error))?;
        if batch.finished || batch.last == Some(scan.end()) {
            self.next = self.next.max(scan.end().next());
        } else {
            if let Some(last) = batch.last {
                self.next = last.next();
            }
            self.scan = Some(scan);
        }
        Ok(batch)
    }

    fn message(&mut self, entries: Vec<proto::Entry>) -> proto::SubscribeReply {
        self.due = Instant::now() + self.heartbeat;
        proto::SubscribeReply {
            entries,
            next_glsn: self.next.get(),
            caught_up: self.scan.is_none(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heartbeats_have_a_default_and_bounds() {
        for (asked, expected) in [
            (0, Some(1000)),
            (10, Some(10)),
            (60_000, Some(60_000)),
            (9, None),
            (60_001, None),
        ] {
            let given = heartbeat(asked).ok();
            assert_eq!(given, expected.map(Duration::from_millis), "{asked}");
        }
    }
}
