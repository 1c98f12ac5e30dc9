//! What the fields of an index are: names, kinds and the tantivy field behind each.

mod alias;
mod changes;
mod choice;
mod columns;
mod compression;
mod copies;
mod definition;
mod derived;
mod error;
mod field;
mod grow;
mod join;
mod kept;
mod limits;
mod merge;
mod names;
mod nested;
mod number;
mod reader;
mod schema;
mod source;
mod spec;
pub(crate) mod template;
mod tree;
mod typing;
mod words;

pub use choice::AnalyzerChoice;
pub use compression::{CompressionLevel, VectorCompression, VectorMode};
pub use derived::{DerivedField, DerivedKind, DerivedScript};
pub use error::{
    AliasProblem, CopyProblem, FieldParameter, JoinChange, MappingError, NameProblem, NestedChange,
    ParameterChange, UnreadableKind,
};
pub use field::{
    DOC_COUNT, Dynamic, FieldId, FieldKind, FieldSettings, IGNORED, KeywordStyle, MappedField,
    RangeKind, TextStyle, VectorMapping,
};
pub use grow::{NewField, NewFields};
pub use join::JoinRelations;
pub use limits::MappingLimits;
pub use names::{PATHS_AND_VALUES, check_field_name, is_metadata, words_path};
pub use nested::NestedSettings;
pub use number::{FloatKind, IntegerKind};
pub use reader::MappingReader;
pub use schema::Mapping;
pub use source::SourceShown;
pub use spec::{
    FieldSpec, KeptMapping, MappingPart, MappingSpec, NestingSpec, NumberedSpec, ObjectSettings,
    ObjectSpec,
};
pub use template::{NamePatterns, TemplateField, TemplateSpec};
pub use tree::{FieldLeaf, MappingNode, ObjectNode};
pub use typing::{BEGINNING_CHARS_MAX, BesideTyping};
