//! Where batches go. A sink answers for a whole batch: when it returns `Ok`, every event has been
//! taken or refused for good, and the registry moves past them.

mod all;
mod buffer;
mod bulk;
mod bulk_reply;
mod compression;
mod courier;
mod file;
mod http;
mod lines;
mod posting;
mod secure;
mod shown;

#[cfg(feature = "kafka")]
pub(crate) use bulk_reply::shortened;

pub use all::AllSinks;
pub use buffer::{BufferOptions, BufferSink, Waiting, WhenFull, waiting};
pub use bulk::{BulkOptions, BulkSink};
pub use compression::Compression;
pub use courier::BodyCompression;
pub use file::{FileSink, FileSinkOptions};
pub use http::{HttpOptions, HttpSink};
pub use lines::LineSink;
pub use secure::agent as secure_agent;
pub use shown::shown_url;

use std::path::PathBuf;

use crate::dead_letter::Rejection;
use crate::event::Event;

/// Takes batches of events.
pub trait Sink {
    /// Delivers all events of a batch, trying again as often as it takes. Blocks meanwhile.
    fn deliver(&mut self, batch: &[Event]) -> Result<Delivery, SinkError>;

    /// Whether it does anything with the ids of events. Where nobody does, none are made.
    fn reads_ids(&self) -> bool {
        true
    }

    /// Waits until what counts as taken, as it is safe in a buffer, is where it is for.
    ///
    /// # Errors
    /// [`SinkError::Left`] when some of it will not be taken, [`SinkError::Stopped`] when the stop was asked for before.
    fn finish(&mut self) -> Result<(), SinkError> {
        Ok(())
    }

    /// The buffers that are in it.
    fn buffers(&self) -> Vec<BufferFigures> {
        Vec::new()
    }
}

/// How full a buffer is, and what became of events since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BufferCounts {
    /// Bytes on disk.
    pub bytes: u64,
    /// Events that made room for others and were not sent.
    pub dropped: u64,
    /// Bytes that were left out, as they were damaged, or broken off when a process died.
    pub damaged_bytes: u64,
    /// Events that the sink took or had already.
    pub delivered: u64,
    /// Events that the sink refused for good when they had been in the buffer; they are kept in a file.
    pub rejected: u64,
    /// Sendings of events beyond their first, once something has become of them.
    pub retries: u64,
}

/// The buffer of an output, and what became of what it has taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferFigures {
    /// The output, as people know it.
    pub output: String,
    /// How full it is, and what became of events.
    pub counts: BufferCounts,
    /// Where events are kept that were refused for good.
    pub rejected_in: PathBuf,
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
    /// Nobody reads any more what is written, as where standard output is a pipe to `head`.
    #[error("nobody reads the lines any more")]
    Unread,
    /// Events that counted as taken, as they are safe on disk, are not taken by whom they are for.
    #[error("{bytes} bytes of events for {output} stay in {}, and are sent by a later run: {reason}", folder.display())]
    Left {
        /// The output, as people know it.
        output: String,
        /// Where they are.
        folder: PathBuf,
        /// Their bytes on disk.
        bytes: u64,
        /// Why they are not taken.
        reason: String,
    },
}
