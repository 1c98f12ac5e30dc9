//! Writes that come another way than over HTTP, through the same pipelines.

use clew_engine::{Engine, WriteOperation};

use super::prepare::{Ingest, Prepared};

/// What became of a write in the pipelines of its index.
#[derive(Debug)]
pub enum Passed {
    /// It goes on, perhaps changed.
    On(WriteOperation),
    /// A pipeline dropped it.
    Dropped,
    /// A pipeline failed, with a status of HTTP.
    Refused {
        /// The status.
        status: u16,
        /// Why.
        reason: String,
    },
}

/// Sends writes through the default and the final pipelines of their indexes, as a bulk request does that names none. One
/// answer for each, in their order.
pub fn through_pipelines(engine: &Engine, operations: Vec<WriteOperation>) -> Vec<Passed> {
    let mut ingest = Ingest::new(engine);
    let mut pass = |operation| match ingest.prepare(None, operation) {
        Ok(Prepared::Write(operation)) => Passed::On(operation),
        Ok(Prepared::Dropped) => Passed::Dropped,
        Err(error) => Passed::Refused {
            status: error.status().as_u16(),
            reason: error.in_words(),
        },
    };
    operations.into_iter().map(&mut pass).collect()
}
