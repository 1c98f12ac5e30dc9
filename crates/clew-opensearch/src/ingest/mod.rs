//! Ingest pipelines as the API has them: where they are kept, which of them a write goes through, `_simulate`, and what
//! clients are told of what goes wrong. What pipelines do is `clew-ingest`'s.

mod answers;
mod beside;
mod figures;
mod given;
mod prepare;
mod simulate;
mod store;

pub use beside::{Passed, through_pipelines};
pub(crate) use figures::{by_kind, processors, stats};
pub(crate) use prepare::{Ingest, Prepared};
pub(crate) use simulate::simulate;
pub(crate) use store::{count, delete, get, patterns, put};
