//! Queries on documents that belong to others through a `join` field.

use super::tree::{JoinScore, Query};
use serde::{Deserialize, Serialize};

/// Documents that belong to others through a `join` field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RelatedQuery {
    /// The kind of documents that is asked about.
    pub kind: String,
    /// What they are to those that are found.
    pub way: Related,
    /// Whether a kind that is not mapped matches nothing instead of being an error.
    pub ignore_unmapped: bool,
    /// Factor on the score.
    pub boost: f32,
}

/// What documents that are asked about are to those that are found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Related {
    /// Their children.
    Child {
        /// What they must match.
        query: Box<Query>,
        /// How scores are joined.
        score: JoinScore,
        /// How many must match at least.
        min: u32,
        /// How many may match at most.
        max: u32,
    },
    /// Their parents.
    Parent {
        /// What they must match.
        query: Box<Query>,
        /// `None`, or the parent's own score.
        score: JoinScore,
    },
    /// Themselves, children of the document with this id.
    ParentId(String),
}

impl RelatedQuery {
    /// The query's name in OpenSearch.
    pub fn name(&self) -> &'static str {
        match self.way {
            Related::Child { .. } => "has_child",
            Related::Parent { .. } => "has_parent",
            Related::ParentId(_) => "parent_id",
        }
    }

    /// What relatives must match.
    pub fn inner(&self) -> Option<&Query> {
        match &self.way {
            Related::Child { query, .. } | Related::Parent { query, .. } => Some(query),
            Related::ParentId(_) => None,
        }
    }
}
