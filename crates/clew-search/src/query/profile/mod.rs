//! What the queries of a search cost, step by step, for those who ask: how the figures are taken while a search runs
//! ([`QueryRecorder`]), and what is shown of them ([`QueriesProfile`]).
//!
//! A query that is recorded is asked one document at a time through a wrapper around each of its parts, which reads the clock
//! before and after; one that is not recorded has no wrapper, and costs nothing more.

mod kind;
mod recorder;
mod steps;
mod stopwatch;

pub use recorder::{Collecting, QueriesProfile, QueryRecorder, RescoreProfile};
pub use steps::{QueryProfile, Timing};
pub use stopwatch::Stopwatch;

pub(crate) use recorder::CollectorKind;
pub(crate) use steps::{Recording, Steps, Timed};
