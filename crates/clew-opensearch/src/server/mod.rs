//! Puts all rooms together: from a request to its endpoint and back.

pub(crate) mod dispatch;
#[cfg(test)]
pub(crate) mod fault_tests;
#[cfg(any(test, feature = "fixture"))]
pub mod fixture;
mod shape;
pub(crate) mod start;
