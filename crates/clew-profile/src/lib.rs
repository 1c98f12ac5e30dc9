//! Where the time and the memory of this very process go, by stack: on the processors ([`on_cpu`]), off them, blocked or
//! in a run queue ([`off_cpu`]), and what its allocator has handed out ([`heap`]). A capture becomes a [`Profile`], which is
//! written as pprof's protobuf, as collapsed stacks or as a flame graph, and two of which can be compared.
//!
//! Stacks are found by following frame pointers, which the whole program is built with: no unwinder runs in a signal handler
//! or anywhere else while the program is watched. Addresses become names afterwards, from the symbols of the program or of
//! the file beside it that `objcopy --add-gnu-debuglink` names.
//!
//! ```
//! use std::time::Duration;
//!
//! # fn main() -> Result<(), clew_profile::ProfileError> {
//! let rate = clew_profile::Rate::per_second(99)?;
//! let profile = clew_profile::on_cpu(rate, Duration::from_millis(50), &|| false)?;
//! let mut collapsed = Vec::new();
//! profile.write(clew_profile::Format::Collapsed, &mut collapsed)?;
//! # Ok(())
//! # }
//! ```
//!
//! Rooms, lowest first: `error`, `profile` (what was captured, and what is made of it), `process` (this process as the system
//! shows it: threads, maps, memory), `trace` (the trace that a request is a part of, and its spans), `spent` (where one request's
//! time goes), `requests` (how the requests of a protocol went, as metrics, with examples), `stack` (from registers to addresses), `symbols`, `output`, then `on_cpu`, `off_cpu`, `heap` and `training` (what a
//! build that counts has counted).
//!
//! Deliberately absent: other processes, and anything that knows what the program is.

// Rooms, lowest first: each imports only from those before it, which a test reads here. The empty lines keep the order.
mod error;

mod profile;

mod process;

mod trace;

mod spent;

mod requests;

mod stack;

mod symbols;

mod output;

mod on_cpu;

mod off_cpu;

mod heap;

mod training;

pub use error::ProfileError;
pub use heap::{SamplingAllocator, heap};
pub use off_cpu::{OffCpuCapture, OffCpuMode, off_cpu};
pub use on_cpu::{Capture, on_cpu};
pub use output::{Format, difference, html_page, svg_text};
pub use process::{ThreadUse, thread_uses};
pub use profile::{Function, Line, Location, Profile, ProfileKind, Rate, Sample, ValueType};
pub use requests::{Exemplar, ExemplarBook, Exemplars, RequestKind, RequestMetrics, RequestNames};
pub use spent::{AtWork, HandedOn, Spent, SpentBy, SpentTimes, SpentTold, Waiting};
pub use symbols::SymbolUse;
pub use trace::{
    Attribute, AttributeValue, Span, SpanFigures, SpanId, SpanQueue, Trace, TraceId, TraceParent,
    Tracer, encode_spans,
};
pub use training::{is_training, training};
