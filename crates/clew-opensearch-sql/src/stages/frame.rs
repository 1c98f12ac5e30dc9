//! What window functions make of the values in their frames.

use serde_json::Value;

use crate::fields::SqlType;
use crate::stages::fold::Aggregate;

/// What is made of the values of a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum OfFrame {
    Aggregate(Aggregate, SqlType),
    First,
    Last,
    /// The one at a place, from 1 on.
    Nth(usize),
}

impl OfFrame {
    /// Null where the frame has no such value.
    pub(crate) fn value(self, values: &[Value]) -> Value {
        let found = match self {
            OfFrame::Aggregate(aggregate, kind) => return aggregate.result(kind, values),
            OfFrame::First => values.first(),
            OfFrame::Last => values.last(),
            OfFrame::Nth(place) => place.checked_sub(1).and_then(|place| values.get(place)),
        };
        found.cloned().unwrap_or_default()
    }
}
