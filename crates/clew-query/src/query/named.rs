//! Documents that queries name instead of saying what is in them. Whoever has built a tree reads
//! these documents and puts what they hold in their place; a tree with names left is not compiled.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use crate::error::QueryError;

/// A document by its name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct DocumentName {
    /// Its index; absent: one of those that are searched.
    pub index: Option<String>,
    /// Its id.
    pub id: String,
    /// Its routing key, where that is not its id.
    pub routing: Option<String>,
}

impl DocumentName {
    /// What a query is told that is compiled before the document was read.
    pub fn not_read(&self) -> QueryError {
        QueryError::illegal(format!(
            "document [{}] is named by a query here where documents are not looked up",
            self.id
        ))
    }
}

/// One of several exact values, which a document has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TermsOf {
    /// Field path.
    pub field: String,
    /// The document.
    pub document: DocumentName,
    /// Where in it the values are.
    pub path: String,
    /// Whether the value is a set of numbers in the protocol's own form.
    pub is_packed: bool,
    /// The score.
    pub boost: f32,
}

/// A document to be like.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LikeNamed {
    /// The document.
    pub document: DocumentName,
    /// The analyzers of fields, where they are not the fields' own.
    pub analyzers: BTreeMap<String, String>,
}

/// A document that a percolation is about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PercolateNamed {
    /// The document.
    pub document: DocumentName,
    /// The version that it must have.
    pub version: Option<u64>,
}
