//! Writes that come another way than over HTTP, through the same pipelines.

use clew_engine::{Engine, WriteOperation};

use super::prepare::{Ingest, Prepared};

/// What became of a write in the pipelines of its index.
#[derive(Debug)]
pub enum Passed {
    /// It goes on, perhaps changed.
    On(Box<WriteOperation>),
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

/// Sends writes through the pipelines that they name, or the default ones of their indexes, and the final ones, as a bulk
/// request does. One answer for each, in their order.
pub fn through_pipelines(
    engine: &Engine,
    operations: Vec<(Option<String>, WriteOperation)>,
) -> Vec<Passed> {
    let mut ingest = Ingest::new(engine);
    let mut pass = |(named, operation): (Option<String>, _)| match ingest
        .prepare(named.as_deref(), operation)
    {
        Ok(Prepared::Write(operation)) => Passed::On(Box::new(operation)),
        Ok(Prepared::Dropped) => Passed::Dropped,
        Err(error) => Passed::Refused {
            status: error.status().as_u16(),
            reason: error.in_words(),
        },
    };
    operations.into_iter().map(&mut pass).collect()
}
