//! What a document is: fields and their types, how JSON becomes typed values, and how documents are kept.
//!
//! A [`Mapping`] says what fields there are and owns the tantivy schema, which only grows; `document` turns JSON into
//! what is indexed under it, `sources` keeps what documents were, [`similarity`] says how words are weighed.
//!
//! ```
//! use clew_schema::{Mapping, Parsed};
//!
//! let mut mapping = Mapping::new();
//! let document = br#"{"title": "A tale of two cities", "year": 1859}"#;
//! if let Parsed::NeedsMapping(fields) = mapping.parse_document(document)? {
//!     mapping.grow(fields)?;
//! }
//! assert!(matches!(mapping.parse_document(document)?, Parsed::Document(_)));
//! assert_eq!(mapping.field("year").unwrap().kind.type_name(), "long");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Rooms, lowest first: `glob`, `percent` (texts as addresses of the web write them), `parsed_json` (what JSON takes once it is read),
//! `json_fault` (what is wrong with a text that is none), `plain` (values as texts), `addresses` (of the internet), `checked` (bytes held against their sums), `pieces` (bytes longer than a
//! column's values), `sources`, `geo`, `date`, `similarity`, `completion`, `mapping`, `document`.
//!
//! Deliberately absent: segments, queries, shards.

// Rooms, lowest first: each imports only from those before it, which a test reads here. The empty lines keep the order.
pub mod glob;

pub mod percent;

mod parsed_json;

mod json_fault;

mod plain;

mod addresses;

mod checked;

mod pieces;

mod sources;

pub mod geo;

mod date;

pub mod similarity;

mod completion;

mod mapping;

mod document;

pub use addresses::{parse_address, parse_network};
pub use checked::CheckedBytes;
pub use completion::{
    CompletionContext, CompletionEntry, CompletionMapping, ContextKind, ContextWish,
    ENTRY_SEPARATOR, WantedContext,
};
pub use date::{
    CivilDate, DATE_FORMAT_DEFAULT, DAY_NAMES, DateError, DateFormat, DateStop, MONTH_NAMES,
    Rounding, UnknownZone, civil_date, civil_from_days, days_from_civil, days_in_month, is_leap,
    parse_zone,
};
pub use document::{
    CopyRoom, DocumentError, EndReader, GivenEnds, NestedObject, Parsed, ParsedDocument,
    RangeRelation, Span, StoredNumbers, StoredObjectVectors, StoredVector, UnfitKind, ValueProblem,
    VectorValue, Whole, check_vector_element, feature_code, feature_weight, lacks_object_vectors,
    restore_vectors, restored, values_at, wanted_span,
};
pub use json_fault::{JsonFault, TextPlace};
pub use mapping::{
    AliasProblem, AnalyzerChoice, BEGINNING_CHARS_MAX, BesideTyping, CompressionLevel, CopyProblem,
    DOC_COUNT, DerivedField, DerivedKind, DerivedScript, Dynamic, FieldId, FieldKind, FieldLeaf,
    FieldParameter, FieldSettings, FieldSpec, FloatKind, IGNORED, IntegerKind, JoinChange,
    JoinRelations, KeptMapping, KeywordStyle, MappedField, Mapping, MappingError, MappingLimits,
    MappingNode, MappingPart, MappingReader, MappingSpec, NamePatterns, NameProblem, NestedChange,
    NestedSettings, NestingSpec, NewField, NewFields, NumberedSpec, ObjectNode, ObjectSettings,
    ObjectSpec, PATHS_AND_VALUES, ParameterChange, RangeKind, SourceShown, TemplateField,
    TemplateSpec, TextStyle, UnreadableKind, VectorCompression, VectorMapping, VectorMode,
    check_field_name, is_metadata, words_path,
};
pub use parsed_json::{json_value_bytes, parsed_json_bytes};
pub use pieces::{is_piece, joined_pieces, text_values};
pub use plain::{
    fraction_text, in_radix, java_class, java_text, json_token, short_double, text_of,
};
pub use sources::{
    Packed, SourceCursor, SourceWriter, Sources, each_member, merge_sources, reorder_sources,
    source_component,
};
