//! Mappings, analyzers, queries and aggregations on tantivy.
//!
//! A [`Mapping`] says what a document's fields are and owns the tantivy schema, which only grows.
//! `document` turns JSON into what a segment writer takes; `query` is the typed query tree that
//! every protocol builds; `search` runs it over a [`Snapshot`] of segments; `aggregation` computes
//! buckets and metrics over the matching documents.
//!
//! Deliberately absent: shards, the log, files, any protocol's JSON except the mapping itself.

mod mapping;

pub use mapping::{
    Dynamic, FieldId, FieldKind, FloatKind, IntegerKind, MappedField, Mapping, MappingError,
    NewField, VectorMapping,
};
