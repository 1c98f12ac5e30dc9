//! Ingest pipelines: steps that change documents before they are written.

mod dates;
mod document;
mod geoip;
mod grok;
mod pipeline;
mod processor;
mod run;
mod simulate;
mod store;
mod structured;
mod user_agent;
mod values;

pub(crate) use grok::patterns;
pub(crate) use run::{Ingest, Prepared};
pub(crate) use simulate::simulate;
pub(crate) use store::{delete, get, put};

/// Why a step failed: the type and the reason that clients are told.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Failure {
    pub(crate) kind: &'static str,
    pub(crate) reason: String,
    /// The step that failed, for the steps that handle failures.
    pub(crate) step: &'static str,
    pub(crate) tag: Option<String>,
}

impl Failure {
    fn illegal(reason: impl Into<String>) -> Self {
        Failure {
            kind: "illegal_argument_exception",
            reason: reason.into(),
            step: "",
            tag: None,
        }
    }
}
