//! Pipelines: their definitions, read once, and the way of a document through their steps.

mod change;
mod definition;
mod processor;
mod run;

pub use definition::Pipeline;
pub(crate) use processor::{Field, Processor};
pub use run::{Alone, Flow, StepEnd, StepWay, Surroundings, run_named};
