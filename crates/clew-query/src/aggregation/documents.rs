//! What aggregations ask for whose buckets are of documents, whatever values these have: those that queries match, those
//! inside or around the ones that come, their relatives, all of them, a sample.

use serde::{Deserialize, Serialize};

use crate::Query;

use super::parts::{QueryVisitor, SpecParts};
use super::source::Source;

/// Buckets of the documents that queries match.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FiltersSpec {
    /// The queries by name.
    pub filters: Vec<(String, Query)>,
    /// What the buckets are.
    pub shape: FilterShape,
}

impl SpecParts for FiltersSpec {
    fn for_each_query_mut<E>(&mut self, visit: &mut QueryVisitor<'_, E>) -> Result<(), E> {
        self.filters
            .iter_mut()
            .try_for_each(|(_, query)| query.for_each_mut(visit))
    }
}

/// What a bucket of queries is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FilterShape {
    /// There is one query and one bucket.
    Single,
    /// A bucket per query.
    Named {
        /// Whether buckets are shown by name.
        keyed: bool,
        /// The name of the bucket for documents that no query matches.
        other: Option<String>,
    },
    /// A bucket per query and one per pair of them.
    Adjacency {
        /// Stands between the names of a pair.
        separator: String,
    },
}

/// One bucket: the nested objects of a path inside the documents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NestedSpec {
    /// The path.
    pub path: String,
}

impl SpecParts for NestedSpec {
    fn scope_inside<'a>(&'a self, _: Option<&'a str>) -> Option<&'a str> {
        Some(&self.path)
    }
}

/// One bucket: the documents around nested objects, or the objects of a path around them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReverseNestedSpec {
    /// The path; the whole documents without it.
    pub path: Option<String>,
}

impl SpecParts for ReverseNestedSpec {
    fn scope_inside<'a>(&'a self, _: Option<&'a str>) -> Option<&'a str> {
        self.path.as_deref()
    }
}

/// One bucket: the children of the documents, or their parents, by a `join` field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RelativesSpec {
    /// Which of them.
    pub way: Generation,
    /// The kind of the children.
    pub kind: String,
}

impl SpecParts for RelativesSpec {}

/// Which relatives of documents are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Generation {
    /// Their children of a kind.
    Children,
    /// Their parents.
    Parents,
}

/// One bucket of all documents, whatever the search matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GlobalSpec;

impl SpecParts for GlobalSpec {
    fn tells_of_others(&self) -> bool {
        true
    }
}

/// The best documents of each shard.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SampleSpec {
    /// How many of each shard.
    pub size: u32,
    /// Few documents with the same value of a field: where the values come from, and how many.
    pub diverse: Option<(Source, u32)>,
}

impl SpecParts for SampleSpec {}
