//! Ingest pipelines: steps that change documents before they are written.

mod change;
mod community_id;
mod convert;
mod dates;
mod dissect;
mod document;
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

use crate::http::error::Cause;

/// Why a step failed: the type and the reason that clients are told.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Failure {
    pub(crate) kind: &'static str,
    pub(crate) reason: String,
    /// What made it fail.
    pub(crate) because: Option<Box<Cause>>,
    /// The step that failed, for the steps that handle failures.
    pub(crate) step: &'static str,
    pub(crate) tag: Option<String>,
}

impl Failure {
    /// A text that is no number, with the reason that is told of it.
    fn no_number(reason: String, text: &str) -> Self {
        let because = Cause::new(
            "number_format_exception",
            format!("For input string: \"{text}\""),
        );
        Failure {
            because: Some(Box::new(because)),
            ..Failure::illegal(reason)
        }
    }

    /// The failure as clients are told of it.
    fn cause(self) -> Cause {
        let cause = Cause::new(self.kind, self.reason);
        match self.because {
            None => cause,
            Some(because) => cause.caused_by(*because),
        }
    }

    fn illegal(reason: impl Into<String>) -> Self {
        Failure {
            kind: "illegal_argument_exception",
            reason: reason.into(),
            because: None,
            step: "",
            tag: None,
        }
    }
}
