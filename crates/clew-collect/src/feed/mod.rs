//! Inputs that are sent to: standard input, syslog over TCP, UDP and unix sockets, and events over HTTP. What comes is handed over
//! in parcels; the queue of parcels is bounded, so that whoever sends faster than the output takes is made to wait, where the
//! protocol can wait, and is told to come again where it can be told.
//!
//! Nothing here has a position to go back to: what was taken from a sender without an answer, and not yet delivered when the
//! process dies, is lost. Who waits for an answer gets it when its parcel is delivered. At a stop what was taken is still
//! delivered.

mod frames;
mod http;
mod journal;
mod kafka;
mod listen;
mod secure;
mod stdin;

use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use clew_platform::Clock;
use rustix::event::{EventfdFlags, eventfd};
use tokio::sync::{oneshot, watch};

use crate::error::CollectError;
use crate::kafka::KafkaFeed;
use crate::parse::{ParserChoice, ParserName};
use crate::tls::ServerTls;
use frames::LineFrames;
use secure::Failures;

pub(crate) use http::Scheme;
pub use http::{Credentials, HttpFeed};
pub use journal::JournalFeed;

/// Parcels that wait for the collector; together they have a few megabytes.
const PARCELS_MAX: usize = 64;
/// Threads that are ending are looked at this often.
const END_LOOK: Duration = Duration::from_millis(5);
/// Bytes after which a parcel is handed over, though more could be had at once.
pub(crate) const PARCEL_BYTES: usize = 64 << 10;

/// Where lines are sent to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FeedAddress {
    /// Standard input.
    Stdin,
    /// `tcp://ADDRESS:PORT`: lines, or messages with their length in front (RFC 6587).
    Tcp(SocketAddr),
    /// `udp://ADDRESS:PORT`: a message a datagram.
    Udp(SocketAddr),
    /// `unix://PATH`: as TCP, over a socket of this path.
    Unix(PathBuf),
    /// `unixgram://PATH`: as UDP, over a socket of this path.
    UnixDatagram(PathBuf),
    /// Events in the bodies of requests.
    Http(HttpFeed),
    /// The system's journal.
    Journal(JournalFeed),
    /// Messages of topics.
    Kafka(KafkaFeed),
}

impl FromStr for FeedAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (scheme, rest) = text.split_once("://").unwrap_or((text, ""));
        let address = || {
            let read = rest.parse::<SocketAddr>();
            read.map_err(|_| format!("has [{rest}] where an ADDRESS:PORT belongs"))
        };
        match scheme {
            "stdin" => Ok(FeedAddress::Stdin),
            "tcp" => address().map(FeedAddress::Tcp),
            "udp" => address().map(FeedAddress::Udp),
            "unix" => Ok(FeedAddress::Unix(rest.into())),
            "unixgram" => Ok(FeedAddress::UnixDatagram(rest.into())),
            _ => Err(format!(
                "is [{text}], and not tcp://, udp://, unix:// or unixgram://"
            )),
        }
    }
}

impl fmt::Display for FeedAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FeedAddress::Stdin => f.write_str("stdin"),
            FeedAddress::Tcp(address) => write!(f, "tcp://{address}"),
            FeedAddress::Udp(address) => write!(f, "udp://{address}"),
            FeedAddress::Unix(path) => write!(f, "unix://{}", path.display()),
            FeedAddress::UnixDatagram(path) => write!(f, "unixgram://{}", path.display()),
            FeedAddress::Http(feed) => write!(f, "http://{}", feed.address),
            FeedAddress::Journal(feed) => f.write_str(&feed.program.display().to_string()),
            FeedAddress::Kafka(feed) => write!(f, "kafka://{}", feed.servers.brokers),
        }
    }
}

/// One input of lines that are sent.
#[derive(Clone, Debug)]
pub struct FeedOptions {
    /// Where they are sent to.
    pub address: FeedAddress,
    /// How they become fields.
    pub parse: ParserChoice,
    /// Bytes of one line at most; what is longer is cut and marked.
    pub line_bytes_max: usize,
    /// Which of the run's lists of processors is for them.
    pub plan: usize,
    /// How connections are secured; only those over TCP can be.
    pub tls: Option<ServerTls>,
}

impl FeedOptions {
    /// The parser of its lines, unless it is chosen by the first that come: what senders of syslog are known by is syslog, whatever
    /// they send by it.
    pub(crate) fn named_parser(&self) -> Option<ParserName> {
        match (self.parse, &self.address) {
            (ParserChoice::Named(parser), _) => Some(parser),
            (
                ParserChoice::Auto,
                FeedAddress::Stdin | FeedAddress::Http(_) | FeedAddress::Kafka(_),
            ) => None,
            (ParserChoice::Auto, _) => Some(ParserName::Syslog),
        }
    }

    /// Tells of a listener that anybody can reach and nothing protects.
    fn warn_of_openness(&self, bound: Option<SocketAddr>) {
        let asks = match &self.address {
            FeedAddress::Http(feed) => !feed.credentials.are_none(),
            // What comes in datagrams cannot be protected here.
            FeedAddress::Tcp(_) => false,
            _ => return,
        };
        if let Some(address) = bound.filter(|bound| !bound.ip().is_loopback())
            && !asks
            && self.tls.is_none()
        {
            tracing::warn!(
                %address,
                "an input listens beyond this machine with neither TLS nor authentication"
            );
        }
    }
}

/// Lines or documents from one sender.
#[derive(Debug)]
pub(crate) struct Parcel {
    /// Which of the inputs they came to.
    pub(crate) feed: usize,
    /// The sender's address; empty where there is none.
    pub(crate) sender: Arc<str>,
    pub(crate) text: Vec<u8>,
    /// Where each line ends in the text, and whether it was cut.
    pub(crate) ends: Vec<(usize, bool)>,
    pub(crate) kind: ParcelKind,
    /// Told when all of it is delivered; dropped when that will not be.
    pub(crate) receipt: Option<oneshot::Sender<()>>,
    /// Behind what its input begins the next time, once all of it is delivered.
    pub(crate) cursor: Option<String>,
}

/// What is in a parcel.
#[derive(Debug)]
pub(crate) enum ParcelKind {
    /// Lines, which a parser takes apart.
    Lines,
    /// Objects of JSON that are events already, with what is known of each.
    Documents(Vec<DocumentHead>),
    /// Lines that can be had again from where they are, with what is known of each.
    #[cfg_attr(
        not(feature = "kafka"),
        allow(dead_code, reason = "only Kafka has such lines")
    )]
    Messages(Messages),
}

/// What is known of messages.
#[derive(Debug, Default)]
pub(crate) struct Messages {
    pub(crate) heads: Vec<MessageHead>,
    /// Members that their events have beside those of the parser, behind each other.
    pub(crate) fields: Vec<u8>,
}

/// What is known of a message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MessageHead {
    /// The part of its event's id that names where it is.
    pub(crate) key: u64,
    /// Its place there.
    pub(crate) offset: u64,
    /// When it was sent, if that is known.
    pub(crate) time_ms: Option<i64>,
    /// Where its fields end.
    pub(crate) fields_end: usize,
}

/// What is known of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DocumentHead {
    /// Its sender's name for it, by which it is known when it comes again.
    pub(crate) id: Option<Box<str>>,
    /// What goes with it, as an object of JSON.
    pub(crate) metadata: Option<Box<str>>,
    /// What it says, or when it came.
    pub(crate) time_ms: i64,
    /// Whether it was made of a text that should have been a document.
    pub(crate) is_broken: bool,
}

impl DocumentHead {
    /// What goes with the document, as an object of JSON; empty if that is nothing.
    pub(crate) fn metadata(&self) -> &str {
        self.metadata.as_deref().unwrap_or_default()
    }
}

impl Parcel {
    /// The lines, and whether each was cut.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (&[u8], bool)> {
        let mut start = 0;
        self.ends.iter().map(move |&(end, cut)| {
            let line = &self.text[start..end];
            start = end;
            (line, cut)
        })
    }
}

/// All inputs of this kind, running. Dropping it ends them.
#[derive(Debug)]
pub(crate) struct Feeds {
    parcels: Receiver<Parcel>,
    counts: Arc<FeedCounts>,
    stop: Arc<OwnedFd>,
    /// True once the inputs have to end, for those that wait for other things than files.
    ending: watch::Sender<bool>,
    listeners: Vec<JoinHandle<()>>,
    /// Where sockets are bound, in the order of the inputs: a port may have been chosen by the system.
    addresses: Vec<Option<SocketAddr>>,
}

/// What the threads count.
#[derive(Debug, Default)]
pub(crate) struct FeedCounts {
    /// Datagrams that came while the queue was full.
    pub(crate) dropped: AtomicU64,
    /// Connections that are open.
    pub(crate) connections: AtomicU64,
    /// Requests that were not taken, or not in time.
    pub(crate) refused: AtomicU64,
    pub(crate) handshakes: Failures,
}

/// What a thread needs to hand over lines.
#[derive(Clone, Debug)]
pub(crate) struct Sender {
    pub(crate) feed: usize,
    pub(crate) line_bytes_max: usize,
    pub(crate) parcels: SyncSender<Parcel>,
    counts: Arc<FeedCounts>,
    clock: Arc<dyn Clock>,
    /// Readable once the inputs have to end.
    stop: Arc<OwnedFd>,
    pub(crate) ending: watch::Receiver<bool>,
    /// Wakes the collector.
    wake: Arc<OwnedFd>,
}

impl Feeds {
    /// Binds and starts all inputs, those that can be read again behind their `cursors`. `wake` is written to when there is
    /// something to take.
    pub(crate) fn start(
        options: &[FeedOptions],
        cursors: &BTreeMap<String, String>,
        clock: &Arc<dyn Clock>,
        wake: &Arc<OwnedFd>,
    ) -> Result<Self, CollectError> {
        let (out, parcels) = sync_channel(PARCELS_MAX);
        let stop = eventfd(0, EventfdFlags::CLOEXEC).map_err(|error| CollectError::Io {
            action: "make an event for",
            path: "inputs".into(),
            source: error.into(),
        })?;
        let mut feeds = Feeds {
            parcels,
            counts: Arc::default(),
            stop: Arc::new(stop),
            ending: watch::Sender::new(false),
            listeners: Vec::new(),
            addresses: Vec::new(),
        };
        for (feed, options) in options.iter().enumerate() {
            let sender = Sender {
                feed,
                line_bytes_max: options.line_bytes_max,
                parcels: out.clone(),
                counts: Arc::clone(&feeds.counts),
                clock: Arc::clone(clock),
                stop: Arc::clone(&feeds.stop),
                ending: feeds.ending.subscribe(),
                wake: Arc::clone(wake),
            };
            let tls = options.tls.as_ref();
            let started = match &options.address {
                // Nobody can wake a thread that reads standard input: it ends with the process.
                FeedAddress::Stdin => stdin::start(sender).map(|()| None),
                FeedAddress::Http(feed) => http::start(feed, tls, sender).map(Some),
                FeedAddress::Kafka(feed) => {
                    kafka::start(feed, sender).map(|reading| Some((reading, None)))
                }
                FeedAddress::Journal(feed) => {
                    let cursor = cursors.get(&feed.id).cloned();
                    let started = journal::start(feed, cursor, sender);
                    started.map(|thread| Some((thread, None)))
                }
                address => listen::start(address, tls, sender).map(Some),
            };
            let started = started.map(|started| {
                let (listener, bound) = started?;
                feeds.listeners.push(listener);
                bound
            });
            options.warn_of_openness(started.as_ref().ok().copied().flatten());
            feeds
                .addresses
                .push(started.map_err(|source| CollectError::Io {
                    action: "open the input",
                    path: options.address.to_string().into(),
                    source,
                })?);
        }
        tracing::info!(addresses = ?feeds.addresses, "inputs are open");
        Ok(feeds)
    }

    /// What has come, if anything has.
    pub(crate) fn take(&self) -> Result<Option<Parcel>, Ended> {
        match self.parcels.try_recv() {
            Ok(parcel) => Ok(Some(parcel)),
            Err(TryRecvError::Empty) => Ok(None),
            Err(TryRecvError::Disconnected) => Err(Ended),
        }
    }

    /// As [`Feeds::take`], after a while.
    pub(crate) fn wait(&self, at_most: Duration) -> Result<Option<Parcel>, Ended> {
        match self.parcels.recv_timeout(at_most) {
            Ok(parcel) => Ok(Some(parcel)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(Ended),
        }
    }

    /// After the close: what threads that are ending still hand over, if they do within a moment; the end once they have ended.
    /// The thread that reads standard input does not end, and is not waited for.
    pub(crate) fn last(&self) -> Result<Option<Parcel>, Ended> {
        // Asked first: what a thread hands over before it ends is then in the queue.
        let ended = self.listeners.iter().all(JoinHandle::is_finished);
        let at_most = if ended { Duration::ZERO } else { END_LOOK };
        match self.wait(at_most) {
            Ok(None) if ended => Err(Ended),
            other => other,
        }
    }

    pub(crate) fn counts(&self) -> &FeedCounts {
        &self.counts
    }

    /// Nothing more is accepted; what was taken can still be had. Threads that wait for room in the queue hand over what they have
    /// while the queue is emptied.
    pub(crate) fn close(&self) {
        self.ending.send_replace(true);
        // A write of eight bytes to a fresh event cannot fail; if it did, threads would only end with the queue.
        let _ = rustix::io::write(&*self.stop, &1_u64.to_ne_bytes());
    }
}

impl Drop for Feeds {
    fn drop(&mut self) {
        // Threads that wait for room in the queue have to be let go first.
        let (_, closed) = sync_channel(1);
        self.parcels = closed;
        self.close();
        for listener in self.listeners.drain(..) {
            // A thread that panicked has said so.
            let _ = listener.join();
        }
    }
}

/// All inputs have ended, and everything was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ended;

/// What became of a parcel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Handed {
    Over,
    /// There was no room, and the sender cannot wait.
    Dropped,
    /// The collector has ended.
    Nowhere,
}

impl Sender {
    fn parcel(&self, sender: &Arc<str>, frames: &mut LineFrames) -> Option<Parcel> {
        let (text, ends) = frames.take()?;
        Some(Parcel {
            feed: self.feed,
            sender: Arc::clone(sender),
            text,
            ends,
            kind: ParcelKind::Lines,
            receipt: None,
            cursor: None,
        })
    }

    /// Hands lines over, waiting for room.
    fn hand_over(&self, sender: &Arc<str>, frames: &mut LineFrames) -> Handed {
        let Some(parcel) = self.parcel(sender, frames) else {
            return Handed::Over;
        };
        match self.parcels.send(parcel) {
            Ok(()) => self.wake(),
            Err(_) => Handed::Nowhere,
        }
    }

    /// Hands lines over if there is room.
    fn offer(&self, sender: &Arc<str>, frames: &mut LineFrames) -> Handed {
        let Some(parcel) = self.parcel(sender, frames) else {
            return Handed::Over;
        };
        let lines = parcel.ends.len() as u64;
        let handed = self.try_give(parcel);
        if handed == Handed::Dropped {
            self.counts.dropped.fetch_add(lines, Ordering::Relaxed);
        }
        handed
    }

    /// Hands a parcel over if there is room.
    fn try_give(&self, parcel: Parcel) -> Handed {
        match self.parcels.try_send(parcel) {
            Ok(()) => self.wake(),
            Err(std::sync::mpsc::TrySendError::Full(_)) => Handed::Dropped,
            Err(std::sync::mpsc::TrySendError::Disconnected(_)) => Handed::Nowhere,
        }
    }

    fn refuse_request(&self) {
        self.counts.refused.fetch_add(1, Ordering::Relaxed);
    }

    fn handshake_failed(&self, from: &str, reason: &str) {
        let now = self.clock.monotonic();
        self.counts.handshakes.add(now, from, reason);
    }

    pub(crate) fn wake(&self) -> Handed {
        // An event that is already set need not be set again.
        let _ = rustix::io::write(&*self.wake, &1_u64.to_ne_bytes());
        Handed::Over
    }
}

#[cfg(test)]
mod tests;
