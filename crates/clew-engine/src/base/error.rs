//! What can go wrong in the engine, and what the caller should do about it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use clew_log::{Glsn, LogError};
use clew_platform::MemoryExceeded;
use clew_query::{AggErrorKind, QueryError, index_reason};
use clew_schema::{DocumentError, MappingError};

use crate::base::access::Purpose;
use crate::base::auto_creation::NotMade;
use crate::base::blocks::{Block, describe};

/// An engine failure.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// No index has this name.
    #[error("no such index [{index}]")]
    IndexNotFound {
        /// The name asked for.
        index: String,
    },
    /// No index has this name, and writes are not to make it.
    #[error("no such index [{index}], and writes make none of this name")]
    IndexNotMade {
        /// The name asked for.
        index: String,
        /// Why it is not made.
        why: NotMade,
    },
    /// The name is taken.
    #[error("index [{index}/{uuid}] already exists")]
    IndexExists {
        /// The name.
        index: String,
        /// Unique id of the index that has it.
        uuid: String,
    },
    /// The name breaks the naming rules.
    #[error("Invalid index name [{index}], {reason}")]
    InvalidIndexName {
        /// The name.
        index: String,
        /// Which rule it breaks.
        reason: &'static str,
    },
    /// A name with a date cannot be read.
    #[error("invalid dynamic name expression [{name}]: {reason}")]
    InvalidDateName {
        /// The expression.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// An alias's name breaks the naming rules.
    #[error("Invalid alias name [{alias}]: {reason}")]
    InvalidAliasName {
        /// The name.
        alias: String,
        /// Which rule it breaks.
        reason: &'static str,
    },
    /// An alias would have the name of an index.
    #[error("Invalid alias name [{alias}], an index exists with the same name as the alias")]
    AliasIsIndex {
        /// The name.
        alias: String,
        /// Unique id of the index.
        uuid: String,
    },
    /// The indexes of an alias would contradict each other.
    #[error("{reason}")]
    AliasConflict {
        /// What they say.
        reason: String,
    },
    /// The name is required to be an alias, but is none.
    #[error(
        "no such index [{index}] and [require_alias] request flag is [true] and [{index}] is not an alias"
    )]
    NotAnAlias {
        /// The name.
        index: String,
    },
    /// The index is closed.
    #[error("closed")]
    IndexClosed {
        /// The name.
        index: String,
        /// Unique id of the index.
        uuid: String,
    },
    /// A block of the index forbids it.
    #[error("index [{index}] blocked by: {}", describe(blocks))]
    Blocked {
        /// The index.
        index: String,
        /// The blocks.
        blocks: Vec<Block>,
    },
    /// There would be more shards than there may be.
    #[error(
        "this action would add [{adds}] total shards, but this cluster currently has [{there}]/[{max}] maximum shards open"
    )]
    TooManyShards {
        /// Shards that were to be made or opened.
        adds: u64,
        /// Those that there are.
        there: u64,
        /// How many there may be.
        max: u64,
    },
    /// Who asks may not open an index for this.
    #[error("no permission to {} index [{index}]", purpose.name())]
    AccessDenied {
        /// The index.
        index: String,
        /// What it was to be opened for.
        purpose: Purpose,
    },
    /// Who asks may not change what belongs to no index.
    #[error("no permission to change what belongs to no index")]
    NodeAccessDenied,
    /// A setting's value is out of bounds.
    #[error("{reason}")]
    InvalidSetting {
        /// Which setting, which bounds.
        reason: String,
    },
    /// A request breaks a rule that has no error of its own.
    #[error("{reason}")]
    InvalidRequest {
        /// What is wrong.
        reason: String,
    },
    /// A document cannot be parsed under the mapping.
    #[error("{source}")]
    Document {
        /// The document's id.
        id: String,
        /// What is wrong with it.
        #[source]
        source: DocumentError,
    },
    /// A document to update or delete is not there.
    #[error("[{id}]: document missing")]
    DocumentMissing {
        /// Its id.
        id: String,
    },
    /// The document is not at the version that the request requires.
    #[error("[{id}]: version conflict, {reason}")]
    VersionConflict {
        /// Its id.
        id: String,
        /// Required and current position.
        reason: String,
    },
    /// A mapping was refused.
    #[error(transparent)]
    Mapping(#[from] MappingError),
    /// Whoever wanted the result wants it no more.
    #[error("cancelled task with reason: {reason}")]
    Cancelled {
        /// Who stopped it, or what.
        reason: String,
    },
    /// A query was refused.
    #[error(transparent)]
    Query(QueryError),
    /// The index wants a routing key with every document, and there is none.
    #[error("routing is required for [{index}]/[{id}]")]
    RoutingMissing {
        /// The index.
        index: String,
        /// The document's id.
        id: String,
    },
    /// The log has given up a position that somebody wants to read on from.
    #[error("changes from position [{from}] on were trimmed, the first retained is [{first}]")]
    Trimmed {
        /// The position asked for.
        from: Glsn,
        /// The lowest that can be read.
        first: Glsn,
    },
    /// The log refused or lost its disk.
    #[error(transparent)]
    Log(#[from] LogError),
    /// tantivy failed.
    #[error("index files of {place}: {}", index_reason(source))]
    Tantivy {
        /// Which shard.
        place: String,
        /// Its error.
        #[source]
        source: tantivy::TantivyError,
    },
    /// The disk failed.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On which path.
        path: std::path::PathBuf,
        /// The system's answer.
        #[source]
        source: std::io::Error,
    },
    /// Files are gone without which nothing can be opened.
    #[error("the data folder {} is incomplete: {reason}", data.display())]
    Incomplete {
        /// The folder.
        data: std::path::PathBuf,
        /// What is missing, and what can be done about it.
        reason: String,
    },
    /// Files of a view do not hold what was written.
    #[error("{} is corrupt: {reason}", path.display())]
    Corrupt {
        /// The file.
        path: std::path::PathBuf,
        /// What does not hold.
        reason: String,
    },
    /// The shard stopped after an earlier failure; the others go on.
    #[error("shard [{index}][{shard}] has failed: {reason}")]
    ShardFailed {
        /// Index name.
        index: String,
        /// Shard number.
        shard: u32,
        /// The first failure.
        reason: String,
    },
    /// The shard serves nothing yet: its index is still being filled.
    #[error("[{index}][{shard}] primary shard is not active")]
    ShardNotActive {
        /// Index name.
        index: String,
        /// Shard number.
        shard: u32,
        /// What it was to serve: writes, or anything else.
        purpose: Purpose,
    },
    /// A bounded queue is full.
    #[error("rejected execution: {what} is full ({max})")]
    Overloaded {
        /// Which queue.
        what: &'static str,
        /// Its limit.
        max: usize,
    },
    /// There is no memory for it beside what is taken already.
    #[error(transparent)]
    Memory(#[from] MemoryExceeded),
    /// A view did not reach the position in time.
    #[error("timed out waiting for position {glsn}")]
    Timeout {
        /// The position.
        glsn: Glsn,
    },
    /// The vectors of a merge take more memory than merges may.
    #[error("a merge needs {needed} bytes of memory for vectors, {allowed} are allowed")]
    MergeMemory {
        /// Bytes that it would take.
        needed: usize,
        /// Bytes that merges may take.
        allowed: usize,
    },
    /// There is no room on the disk for something that can wait.
    #[error(
        "{what} needs [{needed}] bytes of disk, of [{free}] free bytes [{spare}] are above the flood-stage watermark \
         and what acknowledged writes may need"
    )]
    DiskFull {
        /// What cannot be done.
        what: String,
        /// Bytes that it may take.
        needed: u64,
        /// Bytes that it might have taken.
        spare: u64,
        /// Bytes that are free.
        free: u64,
    },
    /// A merge ended early, as its index was deleted or the engine closes.
    #[error("the merge was cancelled")]
    MergeCancelled,
    /// The engine is closing.
    #[error("the engine is closed")]
    Closed,
    /// Work ran into a defect; the log has where.
    #[error("the work ran into a defect of the program")]
    Panicked,
}

/// What a caller should do about an error. Protocol crates map these, never variants, to codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The request is wrong; do not repeat it.
    Invalid,
    /// The thing named is not there.
    NotFound,
    /// The thing named is there already, or at another version.
    Conflict,
    /// A user forbids it for now, or never allowed it.
    Forbidden,
    /// Larger than anything of its kind may be; do not repeat it.
    TooLarge,
    /// Too much at once; repeat later.
    Overloaded,
    /// Not now: the disk is full or the engine closes.
    Unavailable,
    /// Data on disk is damaged.
    Corrupt,
    /// A defect or a failing disk.
    Internal,
}

impl From<QueryError> for EngineError {
    /// Memory that there is none of is told alike, whoever wanted it.
    fn from(error: QueryError) -> Self {
        match error {
            QueryError::Memory(exceeded) => EngineError::Memory(exceeded),
            error => EngineError::Query(error),
        }
    }
}

impl EngineError {
    /// What some work comes to, where a defect of the program is an error like others: what the work held is given back then.
    /// What it shares with others it may have left half done.
    pub(crate) fn caught<T>(
        work: impl FnOnce() -> Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        catch_unwind(AssertUnwindSafe(work)).unwrap_or(Err(EngineError::Panicked))
    }

    /// What the caller should do.
    pub fn kind(&self) -> ErrorKind {
        match self {
            EngineError::IndexNotFound { .. }
            | EngineError::IndexNotMade { .. }
            | EngineError::NotAnAlias { .. }
            | EngineError::Trimmed { .. }
            | EngineError::DocumentMissing { .. } => ErrorKind::NotFound,
            EngineError::Blocked { blocks, .. } => blocked_kind(blocks),
            EngineError::AccessDenied { .. } | EngineError::NodeAccessDenied => {
                ErrorKind::Forbidden
            }
            EngineError::VersionConflict { .. } => ErrorKind::Conflict,
            EngineError::IndexExists { .. }
            | EngineError::InvalidIndexName { .. }
            | EngineError::InvalidDateName { .. }
            | EngineError::InvalidAliasName { .. }
            | EngineError::AliasIsIndex { .. }
            | EngineError::IndexClosed { .. }
            | EngineError::TooManyShards { .. }
            | EngineError::InvalidSetting { .. }
            | EngineError::InvalidRequest { .. }
            | EngineError::Cancelled { .. }
            | EngineError::RoutingMissing { .. }
            | EngineError::Document { .. }
            | EngineError::Mapping(_) => ErrorKind::Invalid,
            EngineError::Query(error) => query_kind(error),
            EngineError::Overloaded { .. }
            | EngineError::Memory(_)
            | EngineError::MergeMemory { .. }
            | EngineError::DiskFull { .. } => ErrorKind::Overloaded,
            EngineError::Log(LogError::EntryTooLarge { .. }) => ErrorKind::TooLarge,
            EngineError::Log(_)
            | EngineError::Closed
            | EngineError::MergeCancelled
            | EngineError::Timeout { .. }
            | EngineError::ShardFailed { .. }
            | EngineError::ShardNotActive { .. } => ErrorKind::Unavailable,
            EngineError::Corrupt { .. } | EngineError::Incomplete { .. } => ErrorKind::Corrupt,
            EngineError::Panicked
            | EngineError::Tantivy { .. }
            | EngineError::Io { .. }
            | EngineError::AliasConflict { .. } => ErrorKind::Internal,
        }
    }
}

/// The block that is set when the disk is full goes away by itself.
fn blocked_kind(blocks: &[Block]) -> ErrorKind {
    if blocks
        .iter()
        .all(|block| *block == Block::ReadOnlyAllowDelete)
    {
        ErrorKind::Overloaded
    } else {
        ErrorKind::Forbidden
    }
}

fn query_kind(error: &QueryError) -> ErrorKind {
    match error {
        QueryError::Index(_) | QueryError::Io(_) | QueryError::State { .. } => ErrorKind::Internal,
        QueryError::Memory(_) => ErrorKind::Overloaded,
        QueryError::Aggregation(error) => match error.kind() {
            AggErrorKind::Invalid | AggErrorKind::TooManyBuckets => ErrorKind::Invalid,
            AggErrorKind::TooLarge => ErrorKind::Overloaded,
            AggErrorKind::Corrupt => ErrorKind::Corrupt,
        },
        QueryError::Reducing(within) => query_kind(within),
        _ => ErrorKind::Invalid,
    }
}
/// What makes an error of the disk one of the engine: what was to be done with which file.
pub(crate) fn io_error<'a>(
    action: &'static str,
    path: &'a Path,
) -> impl FnOnce(std::io::Error) -> EngineError + 'a {
    move |source| EngineError::Io {
        action,
        path: path.to_path_buf(),
        source,
    }
}
