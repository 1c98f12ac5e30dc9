//! Ingest pipelines: steps that change documents before they are written.

mod answers;
mod change;
mod community_id;
mod convert;
mod dates;
mod dissect;
mod document;
mod error;
mod fields;
mod fingerprint;
mod geoip;
mod given;
mod grok;
mod index_name;
mod json;
mod pipeline;
mod processor;
mod run;
mod simulate;
mod store;
mod structured;
mod user_agent;
mod values;

#[cfg(test)]
mod tests;

pub(crate) use grok::patterns;
pub(crate) use run::{Ingest, Prepared, written_source};
pub(crate) use simulate::simulate;
pub(crate) use store::{delete, get, put};

use error::{Failure, FailureKind};
