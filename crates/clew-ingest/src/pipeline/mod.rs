//! Pipelines: their definitions, read once, and the way of a document through their steps.

mod change;
mod definition;
mod processor;
mod run;

pub use definition::Pipeline;
pub use run::{Alone, Flow, Surroundings, run_named};
