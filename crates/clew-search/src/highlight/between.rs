//! Words that a range stands for.

use std::ops::{Bound, RangeBounds};

use clew_query::Range;
use clew_schema::text_of;
use serde_json::Value;

/// Words in the order of their bytes, from one and to one.
#[derive(Clone, Debug)]
pub(super) struct Between {
    least: Bound<String>,
    most: Bound<String>,
}

impl Between {
    /// Those of a range of words.
    pub(super) fn of(range: &Range) -> Self {
        Between {
            least: end(range.gte.as_ref(), range.gt.as_ref()),
            most: end(range.lte.as_ref(), range.lt.as_ref()),
        }
    }

    /// Whether a word is one of them.
    pub(super) fn has(&self, word: &str) -> bool {
        let ends = (
            self.least.as_ref().map(String::as_str),
            self.most.as_ref().map(String::as_str),
        );
        RangeBounds::<str>::contains(&ends, word)
    }
}

/// One end of a range, which may be in it or not.
fn end(included: Option<&Value>, excluded: Option<&Value>) -> Bound<String> {
    match (included, excluded) {
        (Some(end), _) => Bound::Included(text_of(end)),
        (None, Some(end)) => Bound::Excluded(text_of(end)),
        (None, None) => Bound::Unbounded,
    }
}
