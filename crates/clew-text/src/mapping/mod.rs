//! What the fields of an index are: names, kinds and the tantivy field behind each.

mod field;
mod schema;

pub use field::{Dynamic, FieldId, FieldKind, FloatKind, IntegerKind, MappedField, VectorMapping};
pub use schema::{Mapping, MappingError, NewField};
