//! Where an aggregation's values come from, and values as a request writes them.

use serde::{Deserialize, Serialize};

use super::parts::SpecParts;
use crate::query::Script;

/// A value written in a request, before the field's type is known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Scalar {
    /// A whole number.
    Integer(i64),
    /// A whole number too large for the one above.
    Unsigned(u64),
    /// Another number.
    Float(f64),
    /// A string; dates and addresses come as strings too.
    Text(String),
    /// A boolean.
    Boolean(bool),
}

/// Where an aggregation's values come from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Source {
    /// The field's path; empty where a script alone makes the values.
    pub field: String,
    /// What makes the values: of each value of the field, which it is given, or of the document where there is no field.
    #[serde(default)]
    pub script: Option<Box<Script>>,
    /// The value of documents that have none; without it they are left out.
    pub missing: Option<Scalar>,
    /// How values are printed, instead of the field's own format.
    pub format: Option<String>,
    /// What kind of values an unmapped field would have.
    pub value_type: Option<String>,
}

impl Source {
    /// The values of a field, nothing else said.
    pub fn field(field: impl Into<String>) -> Self {
        Source {
            field: field.into(),
            script: None,
            missing: None,
            format: None,
            value_type: None,
        }
    }
}

impl SpecParts for Source {}
