//! The log of a node as a gRPC service, `clew.log.v1.Log`, and a client of it.
//!
//! Translates and nothing more: every rule about streams, order and durability is the log's own.
//! What it adds is what a network needs: limits on messages and on what is in flight,
//! back-pressure by the HTTP/2 window (at most one batch of entries is made ahead of a reader),
//! codes and machine-readable details for errors, and an orderly end of open calls.
//!
//! ```
//! use std::path::Path;
//! use std::sync::Arc;
//!
//! use clew_log::{Log, LogOptions};
//! use clew_log_grpc::streams;
//! use clew_platform::{RealClock, SimDisk};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (disk, clock) = (Arc::new(SimDisk::new()), Arc::new(RealClock::new()));
//! let log = Log::open(disk, clock, Path::new("log"), LogOptions::default())?;
//! streams::create(&log, "audit")?;
//! // Errors are those that a client of the service gets.
//! let refused = streams::create(&log, "audit").unwrap_err();
//! assert_eq!(refused.code(), clew_log_grpc::tonic::Code::AlreadyExists);
//! # Ok(())
//! # }
//! ```
//!
//! Calls of the log that may block run on tokio's blocking threads. A server without traffic has
//! no task that wakes up.
//!
//! Deliberately absent: authentication (a [`Guard`] may stand before all), and any stream's meaning. Streams of the embedding
//! program's own can be read, but not written, sealed, trimmed or deleted from here.
//!
//! `docs/log.md` is the guide for users of the service; `proto/clew/log/v1/log.proto` its contract.

// Rooms, lowest first: each imports only from those before it, which a test reads here. The empty lines keep the order.
mod admission;

mod calls;

mod present;

mod batch;

mod status;

mod booked;

pub mod streams;

mod read;

mod oversize;

mod stop;

mod incoming;

mod words;

mod append;

mod scan;

mod subscribe;

mod service;

mod server;

/// The messages, the client and the service's trait, generated from `log.proto`.
#[allow(
    missing_docs,
    clippy::all,
    clippy::pedantic,
    clippy::allow_attributes_without_reason,
    unreachable_pub,
    reason = "generated code; the .proto file documents it"
)]
pub mod proto {
    tonic::include_proto!("clew.log.v1");

    /// The compiled description of the service, for reflection.
    pub const DESCRIPTOR: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/log_descriptor.bin"));
}

pub use admission::Admission;
pub use append::reply as append_reply;
pub use calls::{CallAtWork, CallsAtWork, ConnectionCalls};
pub use proto::log_client::LogClient;
pub use read::to_message as entry;
pub use server::{Guard, ServeError, ServerOptions, serve};
pub use status::{ERROR_KEY, detail_of};
pub use streams::stream_info;
/// The client's transport and errors, so that its users need no dependency of their own.
pub use tonic;
