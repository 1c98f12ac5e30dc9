//! Taking texts apart: functions from a line to where its parts stand in it. They know neither documents nor events, and
//! allocate nothing for a line, so that steps of pipelines and the collector's plans share them.

mod civil;
mod dissect;
mod separator;
mod span;

pub use civil::{Civil, Times};
pub(crate) use dissect::{Dissect, Found, Key, KeyKind};
pub(crate) use span::LINE_BYTES_MAX;
pub use span::Span;
