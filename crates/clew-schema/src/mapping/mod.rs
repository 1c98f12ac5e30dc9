//! What the fields of an index are: names, kinds and the tantivy field behind each.

mod alias;
mod compression;
mod field;
mod join;
mod kept;
mod kinds;
mod method;
mod nested;
mod parameters;
mod read;
mod schema;
mod show;
mod source;
mod spec;
pub(crate) mod template;
#[cfg(test)]
mod tests;
mod tree;
mod typing;
mod vector;

pub use field::{
    DOC_COUNT, Dynamic, FieldId, FieldKind, FieldSettings, FloatKind, IntegerKind, KeywordStyle,
    MappedField, RangeKind, TextStyle, VectorMapping,
};
pub use join::JoinRelations;
pub use read::{PATHS_AND_VALUES, words_path};
pub use schema::{Mapping, MappingError, MappingLimits, NewField, NewFields};

pub(crate) use nested::Nested;
pub(crate) use read::{is_metadata, name_problem};
pub(crate) use tree::{Leaf, Node, ObjectNode};
