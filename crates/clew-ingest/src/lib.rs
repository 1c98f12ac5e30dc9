//! Pipelines of processors: steps that change a document before anybody keeps it. They are functions from document to
//! document, so that whoever has documents can run them, before or without a server.
//!
//! A [`Pipeline`] is read from its definition once and checked whole; a [`Document`] is JSON with what goes beside it, its
//! index, id and routing. What steps may ask for besides (other pipelines by name, databases of places) their caller hands
//! in as [`Surroundings`], and the time at which a document came with the document.
//!
//! ```
//! use clew_ingest::{Alone, Document, Flow, Pipeline};
//! use serde_json::json;
//!
//! let pipeline = Pipeline::parse(&json!({"processors": [
//!     {"dissect": {"field": "line", "pattern": "%{level} %{text}"}},
//!     {"lowercase": {"field": "level"}},
//!     {"remove": {"field": "line"}},
//! ]}))?;
//! let mut document = Document::new("logs", json!({"line": "WARN disk is nearly full"}), 0);
//! assert_eq!(pipeline.run(&mut document, &mut Alone)?, Flow::On);
//! assert_eq!(document.source, json!({"level": "warn", "text": "disk is nearly full"}));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Rooms, lowest first: `json_text` (JSON written without a tree), `text` (functions from a line to where its parts stand), `patterns`
//! (lines grouped by what wrote them), `java` (how Java names and writes values), `template` (texts with tags; stored searches too),
//! `error`, `document`, `members` (of definitions), `steps` (a file for each kind of processor), `pipeline` (definitions, and the way
//! through them), `event` (fields as slices of a line), `plan` (the same steps compiled for lines).
//!
//! Deliberately absent: where pipelines are kept, which of them an index wants, and what a protocol calls what goes wrong:
//! a [`DefinitionError`] or a [`Failure`] has a kind, a reason in words, and what it is about.

// Rooms, lowest first: each imports only from those before it, which a test reads here. The empty lines keep the order.
pub mod json_text;

mod text;

mod patterns;

mod java;

pub mod template;

mod error;

mod document;

pub mod members;

mod steps;

mod pipeline;

mod event;

mod plan;

#[cfg(test)]
mod tests;

pub use document::{CONDITIONS, Document};
pub use error::{Because, DefinitionError, DefinitionErrorKind, Failure, FailureKind};
pub use event::{Event, NAMES_MAX, Reason, Slot, Value};
pub use patterns::KeptPattern;
pub use pipeline::{
    Alone, Flow, PROCESSOR_NAMES, Pipeline, RunCounts, StepCounts, StepEnd, StepWay, Surroundings,
    run_named, total_counts,
};
pub use plan::{FailedLine, FailureCount, FormatReader, Formats, FoundInText, Plan, step_names};
pub use steps::grok::grok_patterns;
pub use steps::values::split as split_text;
pub use text::{
    Civil, IsoTimes, SECOND_BYTES, Span, Times, named_zone_ms, reads_dates_of, short_month,
};
