//! Appending: ordering on a blocking thread, then waiting for the disk without one.

use clew_log::{AppendOptions, Appended, Durability, Glsn, Llsn, Log, NewEntry, Producer};
use futures_util::{FutureExt, Stream, StreamExt, stream};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tonic::{Code, Status, Streaming};

use crate::admission::Admission;
use crate::proto;
use crate::proto::append_stream_reply::Outcome;
use crate::status::{broken, invalid, of_transport, status, to_message, worded};
use crate::stop::{Stop, stopping};
use crate::{streams, words};

/// Appends of one call that are ordered but not answered. Their records are in the log's queue,
/// whose size is limited; what is limited here is the memory of their positions.
const IN_FLIGHT_MAX: usize = 1024;
/// Requests that are taken to the log together, when so many have arrived already.
const ORDERED_TOGETHER_MAX: usize = 128;
/// And no more once their payloads reach this size.
const ORDERED_TOGETHER_BYTES: usize = 1 << 20;

/// An append that has its positions but is not yet as durable as asked.
#[derive(Debug)]
pub(crate) struct Ordered {
    reply: proto::AppendReply,
    life: u64,
    last: Glsn,
    durability: Durability,
}

/// Appends a request's records. Blocks while the log's queue is full.
pub(crate) fn order(
    (log, admission): (&Log, &Admission),
    request: &proto::AppendRequest,
) -> Result<Ordered, Status> {
    if request.records.is_empty() {
        return Err(invalid("an append needs at least one record"));
    }
    let bytes = request.records.iter().map(|record| record.payload.len());
    admission
        .check(bytes.sum::<usize>() as u64)
        .map_err(|reason| worded(Code::ResourceExhausted, "disk-full", reason))?;
    let durability = words::durability(request.durability)?;
    let options = AppendOptions {
        durability,
        producer: request.producer.map(|producer| Producer {
            id: producer.id,
            sequence: producer.sequence,
        }),
        expect_last: request.expect_last_llsn.map(Llsn::new),
        epoch: request.epoch,
        compression: words::compression(request.compression)?,
        more_follows: false,
    };
    let info = match request.create_stream {
        true => streams::find_or_create(log, &request.stream)?,
        false => streams::find_owned(log, &request.stream)?,
    };
    let records = &request.records;
    let parts: Vec<[&[u8]; 1]> = records.iter().map(|record| [&record.payload[..]]).collect();
    let headers = records.iter().flat_map(|record| &record.headers);
    let headers: Vec<(&str, &[u8])> = headers
        .map(|header| (header.key.as_str(), &header.value[..]))
        .collect();
    let mut rest = &headers[..];
    let entries = records.iter().zip(&parts).map(|(record, parts)| {
        let (headers, others) = rest.split_at(record.headers.len());
        rest = others;
        NewEntry {
            stream: info.id,
            parts,
            headers,
        }
    });
    let entries: Vec<NewEntry<'_>> = entries.collect();
    let appended = log
        .append(&entries, options)
        .map_err(|error| status(&error))?;
    Ok(Ordered {
        life: appended.life,
        last: appended.last,
        reply: reply(&appended),
        durability,
    })
}

/// The positions of an append: both ends, however many entries there are.
pub fn reply(appended: &Appended) -> proto::AppendReply {
    let llsn = |llsn: Option<&Llsn>| llsn.map_or(0, |llsn| llsn.get());
    proto::AppendReply {
        first_glsn: appended.first.get(),
        last_glsn: appended.last.get(),
        first_llsn: llsn(appended.llsns.first()),
        last_llsn: llsn(appended.llsns.last()),
        time_ms: appended.time_ms,
        replayed: appended.replayed,
    }
}

impl Ordered {
    /// Waits until the append is as durable as asked.
    pub(crate) async fn acknowledged(self, log: &Log) -> Result<proto::AppendReply, Status> {
        let acknowledged = log
            .wait_async_in(self.life, self.last, self.durability)
            .await;
        acknowledged.map_err(|error| status(&error))?;
        Ok(self.reply)
    }
}

/// What the ordering half of a stream of appends hands to the answering half.
type Step = Result<Result<Ordered, Status>, Status>;

struct Answering {
    log: Log,
    steps: mpsc::Receiver<Step>,
    /// Ends the ordering half when the client goes away.
    _orderer: JoinSet<()>,
}

/// Appends request after request; the replies come in the order of the requests. An error of one
/// append is its reply; an error of the call ends it.
pub(crate) fn replies(
    (log, admission): (Log, Admission),
    requests: Streaming<proto::AppendRequest>,
    stop: Stop,
) -> impl Stream<Item = Result<proto::AppendStreamReply, Status>> + Send + 'static {
    let (sender, steps) = mpsc::channel(IN_FLIGHT_MAX);
    let mut orderer = JoinSet::new();
    orderer.spawn(order_all((log.clone(), admission), requests, stop, sender));
    let answering = Answering {
        log,
        steps,
        _orderer: orderer,
    };
    stream::try_unfold(answering, |mut answering| async move {
        let Some(step) = answering.steps.recv().await else {
            return Ok(None);
        };
        let outcome = match step? {
            Ok(ordered) => ordered.acknowledged(&answering.log).await,
            Err(refused) => Err(refused),
        };
        let outcome = match outcome {
            Ok(appended) => Outcome::Appended(appended),
            Err(refused) => Outcome::Error(to_message(&refused)),
        };
        let reply = proto::AppendStreamReply {
            outcome: Some(outcome),
        };
        Ok(Some((reply, answering)))
    })
}

/// Orders requests until they end, the client goes away, or the server stops.
async fn order_all(
    (log, admission): (Log, Admission),
    mut requests: Streaming<proto::AppendRequest>,
    mut stop: Stop,
    steps: mpsc::Sender<Step>,
) {
    loop {
        let arrived = tokio::select! {
            arrived = next_arrived(&mut requests) => arrived,
            () = stop.requested() => vec![Err(stopping())],
        };
        if arrived.is_empty() {
            return;
        }
        let (log, admission) = (log.clone(), admission.clone());
        let ordered = tokio::task::spawn_blocking(move || {
            let each = arrived.into_iter();
            each.map(|request| {
                let request = request.map_err(of_transport)?;
                Ok(order((&log, &admission), &request))
            })
            .collect::<Vec<Step>>()
        });
        let ordered = ordered
            .await
            .unwrap_or_else(|error| vec![Err(broken(&error))]);
        for step in ordered {
            let last = step.is_err();
            // An error: the client has gone, and with it whoever answers.
            if steps.send(step).await.is_err() || last {
                return;
            }
        }
    }
}

/// Waits for a request, and takes along those that have arrived with it; none at the end.
async fn next_arrived(
    requests: &mut Streaming<proto::AppendRequest>,
) -> Vec<Result<proto::AppendRequest, Status>> {
    let mut arrived = Vec::new();
    let mut bytes = 0;
    let mut next = requests.next().await;
    while let Some(request) = next {
        let records = request.iter().flat_map(|request| &request.records);
        bytes += records.map(|record| record.payload.len()).sum::<usize>();
        let failed = request.is_err();
        arrived.push(request);
        if failed || arrived.len() >= ORDERED_TOGETHER_MAX || bytes >= ORDERED_TOGETHER_BYTES {
            break;
        }
        // The end is met again with the next call.
        next = requests.next().now_or_never().flatten();
    }
    arrived
}
