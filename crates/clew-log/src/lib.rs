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
//! use clew_platform::{RealClock, SimDisk};
//!
//! let (disk, clock) = (Arc::new(SimDisk::new()), Arc::new(RealClock::new()));
//! let log = Log::open(disk, clock, Path::new("log"), LogOptions::default())?;
//! let entry = NewEntry::new(StreamId::new(7), &[b"hello, ", b"world"]);
//! let appended = log.append(&[entry], Durability::Sync)?;
//! log.wait(appended.last, Durability::Sync)?;
//! assert_eq!(&log.read(appended.first)?.payload[..], b"hello, world");
//! # Ok::<(), clew_log::LogError>(())
//! ```
//!
//! **Invariant**: nothing is acknowledged before it is on disk as promised, and after a failed
//! write or sync nothing is acknowledged any more.
//!
//! Deliberately absent: what a payload means, and where consumers keep their positions.

// Rooms, lowest first: each imports only from those before it, which a test reads here. The empty lines keep the order.
mod position;

mod error;

mod options;

mod stats;

mod progress;

mod compression;

mod fields;

mod registry;

mod frame;

mod producers;

mod block;

mod entry;

mod file;

mod header;

mod view;

mod scan;

mod queue;

mod tail;

mod inspect;

mod recover;

mod reader;

mod subscribers;

mod log;

mod subscribe;

mod appender;

pub use appender::{Appender, AppenderOptions};
pub use block::Headers;
pub use entry::{Entry, EntryRef};
pub use error::{LogError, LogErrorKind};
pub use inspect::{FrameInfo, FrameKind, VerifyReport, dump, verify};
pub use log::{Appended, Log};
pub use options::{AppendOptions, Compression, Durability, LogOptions, NewEntry, Producer, Trim};
pub use position::{Glsn, Llsn, StreamId};
pub use reader::LogReader;
pub use registry::StreamInfo;
pub use scan::{Order, Range, Scan, Selection};
pub use stats::{Histogram, LogStats};
pub use subscribe::{SubscribeOptions, Subscription};
pub use subscribers::SubscriberStats;
