//! What is refused, by the numbers and words that Milvus' clients know.

use clew_access::{AccessError, Refused};
use clew_engine::{EngineError, ErrorKind};
use clew_query::QueryError;

use crate::index_name::database_and_collection;
use crate::proto::Status;

/// The number that old clients look at: success, or an error that has no old number.
const OLD_UNEXPECTED: i32 = 1;
const OLD_COLLECTION_NOT_FOUND: i32 = 4;
const OLD_INDEX_NOT_FOUND: i32 = 25;
const OLD_FORCE_DENY: i32 = 48;
const OLD_RATE_LIMIT: i32 = 49;
const OLD_SCHEMA_MISMATCH: i32 = 62;

/// What tells clients that a call itself is wrong, beside its number.
const OF_INPUT: &str = "is_input_error";

/// Why a call is refused; every kind has one number of Milvus' (`pkg/util/merr` there).
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum MilvusError {
    #[error("service unavailable: {0}")]
    Unavailable(String),
    #[error("memory limit exceeded: {0}")]
    MemoryLimit(String),
    #[error("internal error: {0}")]
    Internal(String),
    #[error("request limit exceeded: {0}")]
    RateLimit(String),
    /// What the properties of a database forbid everybody.
    #[error(
        "quota exceeded[reason=access has been disabled by the administrator: force deny {0} in database properties]"
    )]
    ForceDenied(&'static str),
    #[error("collection not found[database={database}][collection={collection}]")]
    CollectionNotFound {
        database: String,
        collection: String,
    },
    /// The same where a collection is to be described.
    #[error("can't find collection[database={database}][collection={collection}]")]
    CannotFindCollection {
        database: String,
        collection: String,
    },
    /// The same where an alias is to go to it, or its state is asked for by the RESTful API.
    #[error("collection not found[collection={0}]")]
    NoCollection(String),
    /// Rows were packed for a schema that is no longer the collection's; clients ask for it and pack them again.
    #[error("collection schema mismatch[collection={0}]")]
    SchemaMismatch(String),
    #[error("collection not loaded[collection={0}]")]
    CollectionNotLoaded(String),
    /// The same where rows are to be read of it, and how.
    #[error("failed to {0}: collection not loaded[collection={1}]")]
    NotLoadedTo(&'static str, String),
    /// What can be done only while a collection may not be searched, and what of it.
    #[error("{1}: collection already loaded[collection={0}]")]
    CollectionLoaded(String, String),
    #[error("{1}: illegal collection schema[collection={0}]")]
    IllegalSchema(String, String),
    #[error("vector clustering key not allowed[collection={0}]")]
    VectorClusteringKey(String),
    #[error("partition name {0} not found: partition not found[partition={0}]")]
    PartitionNotFound(String),
    /// The same where rows of it are to be deleted.
    #[error("Failed to get partition id: partition not found[partition={0}]")]
    NoPartitionId(String),
    #[error("partition not loaded[partition={0}]")]
    PartitionNotLoaded(String),
    #[error("exceeded the limit number of collections[dbName={database}][limit={limit}]")]
    TooManyCollections { database: String, limit: usize },
    #[error("resource group not found[rg={0}]")]
    ResourceGroupNotFound(String),
    #[error("resource group already exist, but create with different config[rg={0}]")]
    ResourceGroupExists(String),
    #[error("resource group num reach limit[rg={0}][limit={1}]")]
    TooManyResourceGroups(String, usize),
    #[error("{1}: resource group illegal config[rg={0}]")]
    ResourceGroupConfig(String, String),
    #[error(
        "resource group node not enough[rg={group}][currentNodeNum={there}][expectedNodeNum={wanted}]"
    )]
    ResourceGroupNodes {
        group: String,
        there: i32,
        wanted: i32,
    },
    /// More copies of a collection are asked for than there are nodes.
    #[error(
        "when load {0} replica count: service resource insufficient[currentStreamingNode=1][expectedStreamingNode={0}]"
    )]
    TooFewNodes(i32),
    /// Segments are to go from or to a node that there is none of, and where it was looked for.
    #[error("{1}: node not found[node={0}]")]
    NodeNotFound(i64, String),
    #[error("segment not found in source node: segment not found[segment={0}]")]
    SegmentNotFound(i64),
    #[error(
        "can't balance segments of not fully loaded collection: collection not fully loaded[collection={0}]"
    )]
    NotFullyLoaded(i64),
    #[error("metric not found[metric={0}]")]
    MetricNotFound(String),
    #[error("{0}")]
    IndexNotFound(String),
    #[error("{0}")]
    IndexDuplicate(String),
    #[error("database not found[database={0}]")]
    DatabaseNotFound(String),
    #[error("{1}: invalid database name[database={0}]")]
    InvalidDatabaseName(String, String),
    #[error("{}", of_kind(.0, INVALID_PARAMETER))]
    Invalid(String),
    #[error("{}", of_kind(.0, MISSING_PARAMETER))]
    Missing(String),
    #[error("{0}")]
    TooLarge(String),
    #[error("{0}: not authenticated")]
    NotAuthenticated(String),
    #[error("{}", of_kind(.0, NOT_PERMITTED))]
    NotPermitted(String),
    #[error("{0}: invalid privilege group name")]
    InvalidPrivilegeGroup(String),
    /// Who calls lacks the privilege.
    #[error("{0}")]
    Denied(String),
    /// Who calls is not known.
    #[error("{0}")]
    NotLetIn(Refused),
    #[error("alias not found[database={database}][alias={alias}]")]
    AliasNotFound { database: String, alias: String },
    #[error("{0}")]
    AliasCollectionConflict(String),
    #[error(
        "{alias} is alias to another collection: {collection}: alias already exist[database={database}][alias={alias}]"
    )]
    AliasExists {
        database: String,
        alias: String,
        collection: String,
    },
    #[error("field not found[field={0}]")]
    FieldNotFound(String),
    /// The field that hits are to be grouped by.
    #[error("groupBy field not found in schema: field not found[field={0}]")]
    GroupFieldNotFound(String),
    #[error("Invalid field name: {0}. {1}: field name invalid[field={0}]")]
    InvalidFieldName(String, String),
    /// A bulk import that cannot be, or cannot go on.
    #[error("{0}: importing data failed")]
    Import(String),
    #[error("{0} is not supported")]
    Unsupported(String),
    #[error("{0}")]
    Unexpected(String),
}

/// What Milvus says of every parameter that is wrong, which clients look for.
const INVALID_PARAMETER: &str = "invalid parameter";
/// The same of one that is not there.
const MISSING_PARAMETER: &str = "missing parameter";
/// The same of what nobody may do.
const NOT_PERMITTED: &str = "privilege not permitted";

/// What is said, with the words for errors of its kind.
fn of_kind(said: &str, kind: &str) -> String {
    match said.contains(kind) {
        true => said.to_string(),
        false => format!("{said}: {kind}"),
    }
}

impl MilvusError {
    /// A parameter that is out of its bounds, as Milvus words it.
    pub(crate) fn expected(
        expected: impl std::fmt::Display,
        actual: impl std::fmt::Display,
    ) -> Self {
        MilvusError::Invalid(format!(
            "invalid parameter[expected={expected}][actual={actual}]"
        ))
    }

    /// The same, after what is said of it.
    pub(crate) fn mismatch(
        said: impl std::fmt::Display,
        expected: impl std::fmt::Display,
        actual: impl std::fmt::Display,
    ) -> Self {
        MilvusError::Invalid(format!(
            "{said}: invalid parameter[expected={expected}][actual={actual}]"
        ))
    }

    /// What is missing of a field, told with the collection that the field is of.
    pub(crate) fn of_collection(self, name: &str) -> Self {
        match self {
            MilvusError::Missing(said) => {
                MilvusError::Missing(format!("{said} of collection {name}"))
            }
            other => other,
        }
    }

    pub(crate) fn invalid(reason: impl Into<String>) -> Self {
        MilvusError::Invalid(reason.into())
    }

    pub(crate) fn missing(reason: impl Into<String>) -> Self {
        MilvusError::Missing(reason.into())
    }

    /// What is wrong, told of a collection that is described: so it is before its rows are read by the RESTful API.
    pub(crate) fn of_description(self) -> Self {
        match self {
            MilvusError::CollectionNotFound {
                database,
                collection,
            } => MilvusError::CannotFindCollection {
                database,
                collection,
            },
            other => other,
        }
    }

    /// What is wrong, told of what is to be deleted: by an expression, or in a partition.
    pub(crate) fn of_deletion(self) -> Self {
        match self {
            MilvusError::Invalid(said) => {
                MilvusError::Invalid(said.replacen("create query plan", "create delete plan", 1))
            }
            MilvusError::PartitionNotFound(name) => MilvusError::NoPartitionId(name),
            other => other,
        }
    }

    /// Milvus' number of it.
    pub(crate) fn code(&self) -> i32 {
        match self {
            MilvusError::Unavailable(_) => 2,
            MilvusError::MemoryLimit(_) => 3,
            MilvusError::Internal(_) => 5,
            MilvusError::RateLimit(_) => 8,
            MilvusError::ForceDenied(_) => 9,
            MilvusError::TooFewNodes(_) => 12,
            MilvusError::CollectionNotFound { .. }
            | MilvusError::CannotFindCollection { .. }
            | MilvusError::NoCollection(_) => 100,
            MilvusError::CollectionNotLoaded(_) | MilvusError::NotLoadedTo(..) => 101,
            MilvusError::TooManyCollections { .. } => 102,
            MilvusError::NotFullyLoaded(_) => 103,
            MilvusError::CollectionLoaded(..) => 104,
            MilvusError::IllegalSchema(..) => 105,
            MilvusError::VectorClusteringKey(_) => 107,
            MilvusError::SchemaMismatch(_) => 109,
            MilvusError::PartitionNotFound(_) | MilvusError::NoPartitionId(_) => 200,
            MilvusError::PartitionNotLoaded(_) => 201,
            MilvusError::ResourceGroupNotFound(_) => 300,
            MilvusError::ResourceGroupExists(_) => 301,
            MilvusError::TooManyResourceGroups(..) => 302,
            MilvusError::ResourceGroupConfig(..) => 303,
            MilvusError::ResourceGroupNodes { .. } => 304,
            MilvusError::SegmentNotFound(_) => 600,
            MilvusError::IndexNotFound(_) => 700,
            MilvusError::IndexDuplicate(_) => 702,
            MilvusError::DatabaseNotFound(_) => 800,
            MilvusError::InvalidDatabaseName(..) => 802,
            MilvusError::NodeNotFound(..) => 901,
            MilvusError::Invalid(_) => 1100,
            MilvusError::Missing(_) => 1101,
            MilvusError::TooLarge(_) => 1102,
            MilvusError::MetricNotFound(_) => 1200,
            MilvusError::NotAuthenticated(_) => 1400,
            MilvusError::NotPermitted(_) => 1401,
            MilvusError::InvalidPrivilegeGroup(_) => 1402,
            MilvusError::AliasNotFound { .. } => 1600,
            MilvusError::AliasCollectionConflict(_) => 1601,
            MilvusError::AliasExists { .. } => 1602,
            MilvusError::FieldNotFound(_) | MilvusError::GroupFieldNotFound(_) => 1700,
            MilvusError::InvalidFieldName(..) => 1701,
            MilvusError::Import(_) => 2100,
            MilvusError::Unsupported(_) => 3000,
            MilvusError::NotLetIn(_) => 1800,
            MilvusError::Denied(_) | MilvusError::Unexpected(_) => 65535,
        }
    }

    /// Whether the same call may succeed later.
    fn is_retriable(&self) -> bool {
        matches!(
            self,
            MilvusError::Unavailable(_)
                | MilvusError::RateLimit(_)
                | MilvusError::TooFewNodes(_)
                | MilvusError::NotFullyLoaded(_)
        )
    }

    /// Whether it is the call that is wrong, as Milvus has it: by the number.
    fn is_of_input(&self) -> bool {
        matches!(
            self.code(),
            100 | 102
                | 104
                | 105
                | 107
                | 109
                | 300..=303
                | 702
                | 800
                | 802
                | 1100..=1102
                | 1400..=1402
                | 1800
                | 2100
        )
    }
}

impl From<MilvusError> for Status {
    fn from(error: MilvusError) -> Status {
        let reason = error.to_string();
        let of_input = || (OF_INPUT.to_string(), "true".to_string());
        Status {
            error_code: match &error {
                MilvusError::CollectionNotFound { .. }
                | MilvusError::CannotFindCollection { .. }
                | MilvusError::NoCollection(_) => OLD_COLLECTION_NOT_FOUND,
                MilvusError::IndexNotFound(_) => OLD_INDEX_NOT_FOUND,
                MilvusError::RateLimit(_) => OLD_RATE_LIMIT,
                MilvusError::ForceDenied(_) => OLD_FORCE_DENY,
                MilvusError::SchemaMismatch(_) => OLD_SCHEMA_MISMATCH,
                _ => OLD_UNEXPECTED,
            },
            code: error.code(),
            retriable: error.is_retriable(),
            detail: reason.clone(),
            reason,
            extra_info: error.is_of_input().then(of_input).into_iter().collect(),
        }
    }
}

impl From<QueryError> for MilvusError {
    fn from(error: QueryError) -> Self {
        EngineError::from(error).into()
    }
}

impl From<EngineError> for MilvusError {
    fn from(error: EngineError) -> Self {
        let reason = match &error {
            EngineError::Io { source, .. } => format!("{error}: {source}"),
            _ => error.to_string(),
        };
        if let EngineError::IndexNotFound { index } | EngineError::IndexNotMade { index, .. } =
            &error
        {
            let (database, collection) = database_and_collection(index);
            return MilvusError::CollectionNotFound {
                database: database.to_string(),
                collection: collection.to_string(),
            };
        }
        // The server stops; another one, or this one later, may do it.
        if matches!(
            error,
            EngineError::Cancelled { .. } | EngineError::Query(QueryError::Stopped)
        ) {
            return MilvusError::Unavailable(reason);
        }
        match error.kind() {
            ErrorKind::Invalid | ErrorKind::Conflict => MilvusError::Invalid(reason),
            ErrorKind::NotFound => MilvusError::Unexpected(reason),
            ErrorKind::Forbidden => MilvusError::NotPermitted(reason),
            ErrorKind::TooLarge => MilvusError::TooLarge(reason),
            // What fits later is worth trying again, and clients do so; what can never fit is not.
            ErrorKind::Overloaded => match error {
                EngineError::Memory(exceeded) if exceeded.can_never_fit() => {
                    MilvusError::MemoryLimit(reason)
                }
                _ => MilvusError::RateLimit(reason),
            },
            ErrorKind::Unavailable => MilvusError::Unavailable(reason),
            ErrorKind::Corrupt | ErrorKind::Internal => MilvusError::Internal(reason),
        }
    }
}

/// Milvus' words for what is wrong with users, roles and groups.
impl From<AccessError> for MilvusError {
    fn from(error: AccessError) -> Self {
        match &error {
            AccessError::Invalid { what, .. } => match *what {
                "a password" => MilvusError::Invalid(format!("invalid password length: {error}")),
                _ => MilvusError::Invalid(format!("invalid parameter: {error}")),
            },
            AccessError::Exists { what, name } => MilvusError::Invalid(match *what {
                "user" => format!("user already exists: {name}"),
                "role" => format!("role [name:\"{name}\"] already exists"),
                other => format!("{other} [{name}] already exists"),
            }),
            AccessError::NotFound {
                what: "privilege group",
                name,
            } => MilvusError::Invalid(format!(
                "there is no privilege group name [{name}] defined in system to operate"
            )),
            AccessError::NotFound { what, .. } => MilvusError::Invalid(format!(
                "not found the {what}, maybe the {what} isn't existed or internal system error"
            )),
            AccessError::BuiltIn { what: "user", name } => {
                MilvusError::NotPermitted(format!("{name} user cannot be deleted"))
            }
            AccessError::BuiltIn { name, .. } => MilvusError::NotPermitted(format!(
                "the role[{name}] is a default role, which can't be dropped"
            )),
            AccessError::RoleHasGrants { .. } => MilvusError::Invalid(
                "fail to drop the role that it has privileges. Use REVOKE API to revoke privileges"
                    .to_string(),
            ),
            AccessError::GroupGranted { group, role } => MilvusError::Invalid(format!(
                "privilege group [{group}] is used by role [{role}], Use REVOKE API to revoke it first"
            )),
            AccessError::TooMany { what, max } => MilvusError::Unexpected(format!(
                "the number of {what} has reached the limit, which is {max}"
            )),
            AccessError::Refused(refused) => MilvusError::RateLimit(refused.to_string()),
            AccessError::Io { source, .. } | AccessError::Undecided { source, .. } => {
                MilvusError::Internal(format!("{error}: {source}"))
            }
            AccessError::Corrupt { .. } | AccessError::NoRandomness(_) => {
                MilvusError::Internal(error.to_string())
            }
        }
    }
}

pub(crate) type Result<T> = std::result::Result<T, MilvusError>;

#[cfg(test)]
mod tests;
