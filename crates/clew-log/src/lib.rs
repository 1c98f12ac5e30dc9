//! A durable append-only log with one total order: the truth of which every index is a view.
//!
//! Entries get dense global positions ([`Glsn`]) in the order of the calls to [`Log::append`],
//! and dense positions inside their stream ([`Llsn`]). One writer thread gathers what all callers
//! have pending, writes it with one call and makes it durable with one `fdatasync`.
//! Every byte on disk is laid down in `docs/formats/log.md`.
//!
//! ```
//! use std::{path::Path, sync::Arc};
//! use clew_log::{Durability, Log, LogOptions, NewEntry, StreamId};
//! use clew_platform::SimDisk;
//!
//! let log = Log::open(Arc::new(SimDisk::new()), Path::new("log"), LogOptions::default())?;
//! let entry = NewEntry { stream: StreamId::new(7), parts: &[b"hello, ", b"world"] };
//! let appended = log.append(&[entry], Durability::Sync)?;
//! log.wait(appended.last, Durability::Sync)?;
//! assert_eq!(&log.read(appended.first)?.payload[..], b"hello, world");
//! # Ok::<(), clew_log::LogError>(())
//! ```
//!
//! **Invariant**: nothing is acknowledged before it is on disk as promised, and after a failed
//! write or sync nothing is acknowledged any more.
//!
//! Deliberately absent: what a payload means, consumers and their offsets, retention policy.

mod error;
mod options;
mod position;

mod log;
mod reader;
mod scan;
mod stats;

mod progress;
mod queue;
mod writer;

mod file;
mod frame;
mod header;
mod recover;
mod tail;

pub use error::{LogError, LogErrorKind};
pub use log::{Appended, Log};
pub use options::{Durability, LogOptions, NewEntry};
pub use position::{Glsn, Llsn, StreamId};
pub use reader::LogReader;
pub use scan::{Entry, EntryRef, Scan};
pub use stats::LogStats;
