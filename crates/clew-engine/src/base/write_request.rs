//! Writes and documents, as every protocol crate builds and reads them.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use clew_schema::{FieldId, VectorValue};

use super::error::EngineError;

/// The primary term of every write: a shard has never had another primary than this node.
pub const PRIMARY_TERM: u64 = 1;

/// Whether an existing document may be replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpType {
    /// It is replaced.
    Index,
    /// It is a version conflict.
    Create,
}

/// Which writes a read of one document sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// All that were applied, those that searches do not see yet among them.
    Latest,
    /// Those that searches see.
    Searchable,
}

/// What an update does.
#[derive(Clone, Debug, Default)]
pub struct UpdateSpec {
    /// Fields merged into the existing source (JSON object).
    pub doc: Option<Bytes>,
    /// Vectors of `doc` that are not in its JSON, at most one of a field: each takes the place of the one that the
    /// document has.
    pub vectors: Vec<(FieldId, VectorValue)>,
    /// The document to write when none exists (JSON object).
    pub upsert: Option<Bytes>,
    /// `doc` is also the upsert.
    pub doc_as_upsert: bool,
    /// What `doc` as the upsert lacks of a document (JSON object): members that it has take the places of these.
    pub defaults: Option<Bytes>,
    /// An update that changes nothing writes nothing.
    pub detect_noop: bool,
    /// The objects of `doc` whose members are put beside those that are there, while every other member takes the place of
    /// what is there as a whole; nothing merges objects however deep they lie.
    pub only_joins: Option<Vec<String>>,
    /// Members of `doc` whose lists change those that are there, in place of taking their place as wholes; of no meaning
    /// without `only_joins`.
    pub lists: Vec<(String, ListChange)>,
    /// What the document becomes, in place of `doc`.
    pub change: Option<Arc<dyn DocumentChange>>,
}

/// How a list of a document changes by the one that an update has in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListChange {
    /// The values come behind those that are there.
    Append {
        /// Most values that there may be then.
        length_max: usize,
    },
    /// Values that are there and like one of these go.
    Remove,
}

/// A change of a document that is more than putting members in: what it does is its protocol's business.
///
/// It is asked while nobody else writes to the document's shard, so it must come to an end soon.
pub trait DocumentChange: fmt::Debug + Send + Sync {
    /// What becomes of the document with an id, as it is now or where there is none; `upsert` is what the update would
    /// write then.
    ///
    /// # Errors
    /// Why it cannot be told; nothing is written.
    fn change(
        &self,
        id: &str,
        there: Option<DocumentNow<'_>>,
        upsert: Option<&[u8]>,
    ) -> Result<Changed, EngineError>;
}

/// A document that is to be changed.
#[derive(Clone, Copy, Debug)]
pub struct DocumentNow<'a> {
    /// Its version.
    pub version: u64,
    /// The routing key that the change came with.
    pub routing: Option<&'a str>,
    /// Its JSON, vectors included.
    pub source: &'a [u8],
}

/// What becomes of a document.
#[derive(Clone, Debug)]
pub enum Changed {
    /// It is written with this JSON object.
    Document(Vec<u8>),
    /// It stays as it is, or away.
    Nothing,
    /// It is removed.
    Gone,
    /// There is none, and nothing to write in its place.
    Missing,
}

/// What a write does.
#[derive(Clone, Debug)]
pub enum Action {
    /// Writes a document (JSON object).
    Index {
        /// The document's JSON.
        source: Bytes,
        /// Vectors that are not in it, at most one of a field: they come as numbers, and are never digits.
        vectors: Vec<(FieldId, VectorValue)>,
        /// Whether it may replace another.
        op_type: OpType,
    },
    /// Merges into a document.
    Update(UpdateSpec),
    /// Removes a document.
    Delete,
}

impl Action {
    /// Writes a document whose vectors, if it has any, are in its JSON.
    pub fn index(source: impl Into<Bytes>, op_type: OpType) -> Self {
        Action::Index {
            source: source.into(),
            vectors: Vec::new(),
            op_type,
        }
    }
}

/// The state a document must be in for a write to happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Its last write is this one.
    At {
        /// `if_seq_no`.
        seq_no: u64,
        /// `if_primary_term`.
        primary_term: u64,
    },
    /// Its version is this one.
    Version {
        /// The version.
        version: u64,
    },
    /// Its version is lower than this one, which it gets: versions come from elsewhere.
    External {
        /// The new version.
        version: u64,
        /// Whether the document may have this version already.
        or_equal: bool,
    },
}

/// One write.
#[derive(Clone, Debug)]
pub struct WriteOperation {
    /// Name of an index, or an alias with one that takes writes; an index is created with
    /// defaults when there is neither (if the engine's options allow).
    pub index: String,
    /// Whether the name must be an alias, or nothing is written.
    pub require_alias: bool,
    /// Document id; generated when missing (only for [`Action::Index`]). As long as the index's settings let it be.
    pub id: Option<String>,
    /// Routing key; the id when missing.
    pub routing: Option<String>,
    /// What to do.
    pub action: Action,
    /// Only if the document is in this state.
    pub condition: Option<Condition>,
}

/// What a write did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteResult {
    /// The document is new.
    Created,
    /// It replaced another.
    Updated,
    /// It is gone.
    Deleted,
    /// Nothing to delete.
    NotFound,
    /// The update changed nothing. Where there is no document either, its version is 0.
    Noop,
}

/// A stored document.
#[derive(Clone, Debug)]
pub struct Document {
    /// Its id.
    pub id: String,
    /// Its version.
    pub version: u64,
    /// The sequence number of its last write.
    pub seq_no: u64,
    /// Its routing key, when it was given one.
    pub routing: Option<String>,
    /// Its JSON, vectors included.
    pub source: Bytes,
}
