//! Where batches go. A sink answers for a whole batch: when it returns `Ok`, every event has been
//! taken or refused for good, and the registry moves past them.

mod all;
mod backoff;
mod buffer;
mod bulk;
mod bulk_reply;
mod courier;
mod file;
mod http;
mod lines;
mod posting;
mod secure;
mod shown;

pub(crate) use backoff::Backoff;
#[cfg(feature = "kafka")]
pub(crate) use bulk_reply::shortened;

pub use all::AllSinks;
pub use buffer::{BufferCounts, BufferOptions, BufferSink, WhenFull};
pub use bulk::{BulkOptions, BulkSink};
pub use courier::BodyCompression;
pub use file::{FileSink, FileSinkOptions};
pub use http::{HttpOptions, HttpSink};
pub use lines::LineSink;
pub use secure::agent as secure_agent;
pub use shown::shown_url;

use crate::event::Event;

/// Takes batches of events.
pub trait Sink {
    /// Delivers all events of a batch, trying again as often as it takes. Blocks meanwhile.
    fn deliver(&mut self, batch: &[Event]) -> Result<Delivery, SinkError>;

    /// Whether it does anything with the ids of events. Where nobody does, none are made.
    fn reads_ids(&self) -> bool {
        true
    }
}

/// What became of a delivered batch; `acked + duplicates + rejected.len()` is its length.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delivery {
    /// Events taken now.
    pub acked: u64,
    /// Events that were there already.
    pub duplicates: u64,
    /// Sendings of an event beyond its first.
    pub retries: u64,
    /// Events refused for good.
    pub rejected: Vec<Rejection>,
}

/// One event that the sink will never take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// Its index in the batch.
    pub event_index: usize,
    /// The sink's status for it.
    pub status: u16,
    /// The sink's reason, shortened.
    pub reason: String,
}

/// Why a batch was not delivered. None of its events counts as delivered then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SinkError {
    /// The stop was asked for before everything was delivered.
    #[error("stopped before the batch was delivered")]
    Stopped,
    /// The server refuses such requests altogether (credentials, address).
    #[error("the server refuses requests with status {status}: {reason}")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// The start of the reply.
        reason: String,
    },
    /// The sink cannot work as it is configured.
    #[error("the sink cannot work: {reason}")]
    Unusable {
        /// What is wrong.
        reason: String,
    },
}
