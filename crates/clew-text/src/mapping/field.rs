//! One field of a mapping.

use std::sync::Arc;

use clew_vector::ColumnOptions;
use serde_json::{Map, Value};
use tantivy::schema::Field;

use super::schema::{MappingError, NewField};
use crate::document::DateFormat;

/// A field's number inside its index: dense from 0 in order of creation, never reused, so that
/// files can name a field by it for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FieldId(pub(crate) u32);

impl FieldId {
    /// The field with this number.
    pub fn new(number: u32) -> Self {
        FieldId(number)
    }
    /// The number.
    pub fn get(self) -> u32 {
        self.0
    }
}

/// What happens to fields a document has and the mapping lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Dynamic {
    /// They are added to the mapping.
    #[default]
    True,
    /// They stay in `_source` only.
    False,
    /// The document is refused.
    Strict,
}

/// Width of an integer field; the column is i64 for all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntegerKind {
    /// 64 bits.
    Long,
    /// 32 bits.
    Integer,
    /// 16 bits.
    Short,
    /// 8 bits.
    Byte,
}

/// Width of a floating-point field; the column is f64 for both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FloatKind {
    /// 64 bits.
    Double,
    /// 32 bits.
    Float,
}

/// A `knn_vector` field.
#[derive(Clone, Debug, PartialEq)]
pub struct VectorMapping {
    /// Dimension, space, and what the column is searched through.
    pub column: ColumnOptions,
    /// The `method` object as the user wrote it, to be shown again.
    pub method: Option<serde_json::Value>,
    /// Candidates that a walk keeps unless a query says otherwise; absent: what the index says.
    pub ef_search: Option<usize>,
    /// Inverted lists that a search reads unless a query says otherwise; absent: what its effort takes.
    pub probes: Option<usize>,
}

/// What a field holds, and how it lies in tantivy.
#[derive(Clone, Debug, PartialEq)]
pub enum FieldKind {
    /// Analyzed text: postings with positions and norms, no column.
    Text {
        /// The analyzer's name, `standard` unless said otherwise.
        analyzer: String,
    },
    /// One exact term: postings without positions or norms, and a string column.
    Keyword {
        /// Longer values (in characters) stay out of the index.
        ignore_above: Option<u32>,
    },
    /// Postings and an i64 column.
    Integer(IntegerKind),
    /// An f64 column.
    Float(FloatKind),
    /// An i64 column of 0 and 1, and postings.
    Boolean,
    /// An i64 column of milliseconds since the epoch, UTC.
    Date {
        /// Formats as in `format`, `strict_date_optional_time||epoch_millis` unless said otherwise.
        format: String,
    },
    /// An IPv6 (or mapped IPv4) address column and postings.
    Ip,
    /// A vector column; not in tantivy's schema.
    Vector(VectorMapping),
}

impl FieldKind {
    /// The type's name in a mapping.
    pub fn type_name(&self) -> &'static str {
        match self {
            FieldKind::Text { .. } => "text",
            FieldKind::Keyword { .. } => "keyword",
            FieldKind::Integer(IntegerKind::Long) => "long",
            FieldKind::Integer(IntegerKind::Integer) => "integer",
            FieldKind::Integer(IntegerKind::Short) => "short",
            FieldKind::Integer(IntegerKind::Byte) => "byte",
            FieldKind::Float(FloatKind::Double) => "double",
            FieldKind::Float(FloatKind::Float) => "float",
            FieldKind::Boolean => "boolean",
            FieldKind::Date { .. } => "date",
            FieldKind::Ip => "ip",
            FieldKind::Vector(_) => "knn_vector",
        }
    }
}

/// What a field does with values, apart from how they lie in tantivy. May change later.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldSettings {
    /// Whether text is read as numbers and fractions are cut off where whole numbers are wanted.
    pub coerce: bool,
    /// Whether a value that does not fit is left out instead of refusing the document.
    pub ignore_malformed: bool,
    /// What an explicit null stands for.
    pub null_value: Option<Value>,
    /// Paths of fields that take this field's values too.
    pub copy_to: Vec<String>,
    /// The analyzer of queries, where it is not the field's own.
    pub search_analyzer: Option<String>,
    /// Positions between two values of a text field.
    pub position_gap: usize,
    /// Parameters that change nothing here, kept to be shown again.
    pub(crate) shown: Map<String, Value>,
}

impl Default for FieldSettings {
    fn default() -> Self {
        FieldSettings {
            coerce: true,
            ignore_malformed: false,
            null_value: None,
            copy_to: Vec::new(),
            search_analyzer: None,
            position_gap: crate::analysis::POSITION_GAP,
            shown: Map::new(),
        }
    }
}

/// A field of the mapping.
#[derive(Clone, Debug)]
pub struct MappedField {
    /// Full dotted path, `title.keyword` for a multi-field.
    pub path: String,
    /// Its number.
    pub id: FieldId,
    /// What it holds.
    pub kind: FieldKind,
    /// Whether it can be searched (`index: false` keeps only the column).
    pub indexed: bool,
    /// Whether it is a multi-field (filled from its parent's value; not a JSON path of its own).
    pub multi_field: bool,
    /// The tantivy field, named `f<number>`; `None` for vectors.
    pub field: Option<Field>,
    /// What it does with values.
    pub settings: FieldSettings,
    /// The format of a date field, understood.
    pub(crate) date_format: Option<Arc<DateFormat>>,
}

impl MappedField {
    /// The format of a date field.
    pub fn date_format(&self) -> Option<&DateFormat> {
        self.date_format.as_deref()
    }
    /// Whether the mapping asks for term vectors, which are made from the source when asked for.
    pub fn has_term_vectors(&self) -> bool {
        let wanted = self.settings.shown.get("term_vector");
        wanted
            .and_then(Value::as_str)
            .is_some_and(|wanted| wanted != "no")
    }
    /// The name of the field's column in tantivy's fast fields.
    pub fn column(&self) -> String {
        format!("f{}", self.id.0)
    }
}

impl MappedField {
    /// Refuses a field of the same path and another type.
    pub(super) fn check_type(&self, new: &NewField) -> Result<(), MappingError> {
        if self.kind.type_name() == new.kind.type_name() && self.multi_field == new.multi_field {
            return Ok(());
        }
        Err(MappingError::Conflict {
            path: self.path.clone(),
            from: self.kind.type_name(),
            to: new.kind.type_name().to_string(),
        })
    }
}
