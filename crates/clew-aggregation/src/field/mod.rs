//! Where values come from: a field of the mapping under an aggregation, and the column of a segment.

pub(crate) mod column;
pub(crate) mod context;
mod ids;
mod made;
pub(crate) mod mask;
mod missing;
mod reading;
pub(crate) mod rows;
pub(crate) mod segments;
mod shapes;
mod support;
mod texts;
pub(crate) mod values;

use std::sync::Arc;

use clew_schema::RangeKind;
use clew_search::Regexp;

use crate::field::made::MadePlan;
use crate::value::format::ValueFormat;
use crate::value::key::Key;

/// Where values come from and what they mean.
#[derive(Clone, Debug)]
pub(crate) struct ValuePlan {
    pub(crate) field: String,
    /// The column, unless the field is not mapped.
    pub(crate) column: Option<String>,
    pub(crate) kind: ValueKind,
    pub(crate) missing: Option<Key>,
    pub(crate) format: ValueFormat,
    /// The script that makes the values, where they lie in no column.
    pub(crate) made: Option<Arc<MadePlan>>,
}

impl ValuePlan {
    /// Of an aggregation that reads no values itself.
    pub(crate) fn none() -> Self {
        ValuePlan {
            field: String::new(),
            column: None,
            kind: ValueKind::Unmapped,
            missing: None,
            format: ValueFormat::Raw,
            made: None,
        }
    }

    /// What reading it takes for each document of a segment: ids have no column, and one is made for each search.
    pub(crate) fn bytes_per_doc(&self) -> usize {
        let is_made =
            self.kind == ValueKind::Keyword && self.column.as_deref() == Some(ids::ID_FIELD);
        if is_made { ids::BYTES_PER_DOC } else { 0 }
    }

    /// Whether a script makes its values that looks at the scores of documents.
    pub(crate) fn wants_scores(&self) -> bool {
        self.made.as_ref().is_some_and(|made| made.wants_scores())
    }

    /// A field may be unmapped in some of the indexes; what the others say about it counts. Whether that was so.
    pub(crate) fn adopt(&mut self, theirs: &ValuePlan) -> bool {
        let unmapped = self.kind == ValueKind::Unmapped;
        if unmapped {
            *self = theirs.clone();
        }
        unmapped
    }
}

/// What a column's values mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueKind {
    Unmapped,
    Keyword,
    Long,
    Double,
    Boolean,
    Date,
    /// Nanoseconds in the column, milliseconds everywhere else.
    DateNanos,
    Ip,
    Unsigned,
    Geo,
    /// Ranges, which lie in a column of bytes.
    Range(RangeKind),
    /// Shapes, which can be counted.
    Shape,
    /// The corners of the bounds of shapes, which are points.
    Corners,
    /// All of shapes, which have cells.
    Outlines,
    /// Bytes, which can be counted but not told apart: a column has the beginnings of long ones alone.
    Bytes,
}

/// Which terms count.
#[derive(Clone, Debug, Default)]
pub(crate) struct TermSets {
    pub(crate) include: Option<TermSet>,
    pub(crate) exclude: Option<TermSet>,
}

#[derive(Clone, Debug)]
pub(crate) enum TermSet {
    Keys(Vec<Key>),
    Pattern(Regexp),
    /// Terms whose hash leaves this remainder.
    Partition {
        part: u32,
        count: u32,
    },
}
