//! Pipelines: their definitions, read once, and the way of a document through their steps.

mod change;
mod counts;
mod definition;
mod processor;
mod run;

pub use counts::{RunCounts, StepCounts};
pub use definition::Pipeline;
pub use processor::PROCESSOR_NAMES;
pub(crate) use processor::{Field, Processor};
pub use run::{Alone, Flow, StepEnd, StepWay, Surroundings, run_named, total_counts};
