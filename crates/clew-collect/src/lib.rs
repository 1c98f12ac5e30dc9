//! Tails log files, parses their lines and hands them in batches to a sink, at least once; with a
//! sink that knows event ids, exactly once.
//!
//! The way of a line: [`input`](crate::CollectOptions) finds the file and frames the line, a
//! parser turns it into fields, an encoder into a JSON document with an id that the same line
//! always gets, and the [`Sink`] takes it. Only then does the registry move on.
//!
//! Deliberately absent: the engine and the servers. Clew itself is one more place to send to.

mod error;
mod options;
mod progress;
mod stop;

mod collector;
mod dead_letter;
mod document;
mod event;
mod fingerprint;
mod input;
mod json;
mod parse;
mod registry;
mod sink;

pub use collector::{REPORT_FILES_MAX, World, run};
pub use error::{CollectError, ErrorKind};
pub use event::{EpochMillis, Event};
pub use input::SkipReason;
pub use options::{CollectOptions, Mode, ParserChoice};
pub use parse::{ParserName, UnknownParser};
pub use progress::{CollectReport, Counters, FileReport, NoProgress, Progress, Skipped};
pub use sink::{BulkOptions, BulkSink, Delivery, Rejection, Sink, SinkError};
pub use stop::StopToken;
