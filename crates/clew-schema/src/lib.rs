//! What a document is: fields and their types, how JSON becomes typed values, and how documents are kept.
//!
//! A [`Mapping`] says what fields there are and owns the tantivy schema, which only grows; `document` turns JSON into
//! what is indexed under it, `sources` keeps what documents were, [`similarity`] says how words are weighed.
//!
//! Deliberately absent: segments, queries, shards.

mod checked;
mod completion;
mod document;
pub mod geo;
pub mod glob;
mod mapping;
pub mod similarity;
mod sources;

pub use checked::CheckedBytes;
pub use completion::{
    CompletionContext, CompletionEntry, CompletionMapping, ContextKind, ContextWish,
    ENTRY_SEPARATOR,
};
pub use document::{
    DATE_FORMAT_DEFAULT, DateError, DateFormat, DocumentError, EndReader, GivenEnds, NestedObject,
    NewFields, Parsed, ParsedDocument, RangeRelation, Rounding, Span, StoredVector, Whole,
    feature_code, feature_weight, restore_vectors, wanted_span,
};
pub use mapping::{
    DOC_COUNT, Dynamic, FieldId, FieldKind, FieldSettings, FloatKind, IntegerKind, JoinRelations,
    KeywordStyle, MappedField, Mapping, MappingError, MappingLimits, NewField, PATHS_AND_VALUES,
    RangeKind, TextStyle, VectorMapping, words_path,
};
pub use similarity::{FieldStatistics, Similarities, SimilarityError};
pub use sources::{
    Packed, SourceCursor, SourceWriter, Sources, merge_sources, reorder_sources, source_component,
};
