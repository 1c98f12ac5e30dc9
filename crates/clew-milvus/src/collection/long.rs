//! Texts that are too long to be terms of an index. Their documents have them, and are tested by them one by one.

use clew_query::{Bool, Query};
use clew_schema::{FieldKind, FieldSpec};

use super::{Collection, DataType, Field};

/// Longest term of an index, in bytes, and so the longest key of a row.
pub(crate) const TERM_BYTES_MAX: usize = 32_766;
/// Texts of so many UTF-16 units are terms: a unit has at most three bytes.
const TERM_UNITS: u32 = 10_922;
const _: () = assert!(TERM_UNITS as usize * 3 <= TERM_BYTES_MAX);
/// Whether a row has a text that may be no term: a field of its document beside those of the collection.
pub(crate) const LONG: &str = "$long";

impl Field {
    /// Whether rows may have texts in it that are no terms. Keys always are, and texts in structs.
    pub(crate) fn may_be_long(&self) -> bool {
        self.data_type == DataType::VarChar
            && !self.is_primary
            && !self.is_part()
            && self.max_length().is_ok_and(|max| max > TERM_BYTES_MAX)
    }

    /// Whether this text may be none.
    pub(crate) fn is_long(&self, text: &str) -> bool {
        text.len() > TERM_UNITS as usize && self.may_be_long()
    }

    /// The field of its texts in a mapping.
    pub(super) fn term_kind(&self) -> FieldKind {
        FieldKind::keyword(self.may_be_long().then_some(TERM_UNITS))
    }
}

/// The field that marks rows with long texts.
pub(crate) fn long_part() -> FieldSpec {
    FieldSpec {
        coerce: false,
        ..FieldSpec::new(LONG, FieldKind::Boolean)
    }
}

/// The rows with long texts.
pub(crate) fn long_rows() -> Query {
    Query::Exists {
        field: LONG.to_string(),
        boost: 1.0,
    }
}

impl Collection {
    pub(crate) fn may_have_long(&self) -> bool {
        self.fields.iter().any(Field::may_be_long)
    }
}

/// What matches a query, of the rows without long texts, and a test of documents, of those with some.
pub(crate) fn by_length(indexed: Query, tested: Query) -> Query {
    let short = Query::Bool(Bool {
        filter: vec![indexed],
        must_not: vec![long_rows()],
        ..Bool::default()
    });
    let long = Query::Bool(Bool {
        filter: vec![long_rows(), tested],
        ..Bool::default()
    });
    Query::Bool(Bool {
        should: vec![short, long],
        ..Bool::default()
    })
}
