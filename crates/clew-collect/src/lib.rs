//! Tails log files, parses their lines and hands them in batches to a sink, at least once; with a
//! sink that knows event ids, exactly once.
//!
//! The way of a line: [`input`](crate::CollectOptions) finds the file and frames the line, a
//! parser turns it into fields, an encoder into a JSON document with an id that the same line
//! always gets, and the [`Sink`] takes it. Only then does the registry move on.
//!
//! ```
//! use std::sync::Arc;
//!
//! use clew_collect::{CollectOptions, Delivery, Event, NoProgress, Sink, SinkError, StopToken, World};
//! use clew_platform::{RealClock, RealDisk};
//!
//! /// Takes everything.
//! struct All(u64);
//!
//! impl Sink for All {
//!     fn deliver(&mut self, batch: &[Event]) -> Result<Delivery, SinkError> {
//!         self.0 += batch.len() as u64;
//!         Ok(Delivery { acked: batch.len() as u64, ..Delivery::default() })
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let file = folder.path().join("app.log");
//! std::fs::write(&file, "one line\nand another\n")?;
//! let options = CollectOptions::new(vec![file], folder.path().join("registry"));
//! let world = World {
//!     disk: Arc::new(RealDisk),
//!     clock: Arc::new(RealClock::new()),
//!     progress: &NoProgress,
//!     stop: &StopToken::default(),
//! };
//! let mut sink = All(0);
//! clew_collect::run(&options, world, &mut sink)?;
//! assert_eq!(sink.0, 2);
//! # Ok(())
//! # }
//! ```
//!
//! Where lines come from: `input` (files), `feed` (what is sent here, and topics of Kafka). Where each ends: `frame`; as what it
//! is handed on: `line`. What becomes of them: `parse`, `planned` (processors), `document`, `metadata`. Where they go: `sink`,
//! `kafka`. What is remembered: `registry`, `pattern_file`, `dead_letter`. `collector` is the loop that moves them; `config` reads
//! the file that describes all this, and other shippers' files (`config/import`).
//!
//! Deliberately absent: the engine and the servers. Clew itself is one more place to send to.

// Rooms, lowest first: each imports only from those before it, which a test reads here. The empty lines keep the order.
mod stop;

mod event;

mod fingerprint;

mod json;

mod metadata;

mod tls;

mod backoff;

mod dead_letter;

mod patient_disk;

mod sink;

mod error;

mod definition;

mod spelling;

mod parse;

mod frame;

mod kafka;

mod feed;

mod options;

mod line;

mod formats;

mod planned;

mod document;

mod counters;

mod file_system;

mod rotated_names;

mod registry;

mod input;

pub mod config;

mod figures;

mod progress;

mod explain;

mod pattern_file;

mod collector;

mod status;

pub use clew_ingest::{FailedLine, FailureCount, Times};
pub use collector::{REPORT_FILES_MAX, World, check, run};
pub use counters::Counters;
pub use dead_letter::Rejection;
pub use error::{CollectError, ErrorKind};
pub use event::{EpochMillis, Event, OutputSet};
pub use explain::{Explained, ExplainedEvent, Explainer};
pub use feed::{Credentials, FeedAddress, FeedOptions, HttpFeed, JournalFeed};
pub use figures::{FileLag, RunFigures, StageTimes};
pub use frame::{Encoding, Multiline, MultilinePreset, MultilineRule, Wrapping};
pub use input::SkipReason;
#[cfg(feature = "kafka")]
pub use kafka::KafkaSink;
pub use kafka::{KafkaCompression, KafkaFeed, KafkaOptions, KafkaServers, OffsetReset};
pub use metadata::{EventTarget, Placing, Writing};
pub use options::{CollectOptions, FileOptions, Mode, StartAt};
pub use parse::{Fit, ParserChoice, ParserName, UnknownParser};
pub use patient_disk::PatientDisk;
pub use progress::{CollectReport, Failures, FileReport, NoProgress, Progress, Skipped};
pub use registry::ensure_unused;
pub use sink::{
    AllSinks, BodyCompression, BufferCounts, BufferFigures, BufferOptions, BufferSink, BulkOptions,
    BulkSink, Delivery, FileSink, FileSinkOptions, HttpOptions, HttpSink, LineSink, Sink,
    SinkError, Waiting, WhenFull, secure_agent, shown_url, waiting,
};
pub use status::{FileStatus, status};
pub use stop::StopToken;
pub use tls::{ClientAuthentication, ClientTls, ServerTls, TlsStream, Verification};
