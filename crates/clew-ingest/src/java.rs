//! How Java names and writes values. Pipelines are written by people who know them as steps of a Java program: texts made
//! of values, and the reasons that a document can be told, are as they were there.

pub(crate) use clew_schema::{java_class as class, java_text};

/// What Java calls the types that steps ask for.
pub(crate) const TEXT: &str = "java.lang.String";
pub(crate) const NUMBER: &str = "java.lang.Integer";
pub(crate) const LIST: &str = "java.util.List";
