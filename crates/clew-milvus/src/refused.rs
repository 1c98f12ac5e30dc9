//! Calls of Milvus' service that there is nothing behind here: they are refused by name, as an answer. An error of the
//! transport would have clients say that they and the server are of versions that do not fit.

use crate::error::MilvusError;
use crate::proto::Status;
use crate::service::Answer;

/// Calls whose answer is a status.
const OF_STATUS: [&str; 15] = [
    "AddCollectionFunction",
    "AddFileResource",
    "AddUserTags",
    "AlterCollectionFunction",
    "BatchUpdateManifest",
    "CreateRowPolicy",
    "CreateSnapshot",
    "DeleteUserTags",
    "DropCollectionFunction",
    "DropRowPolicy",
    "DropSnapshot",
    "RemoveFileResource",
    "RestoreRBAC",
    "UnpinSnapshotData",
    "UpdateReplicateConfiguration",
];

/// Calls whose answer has a status in its first field.
const WITH_STATUS: [&str; 32] = [
    "BackupRBAC",
    "CalcDistance",
    "ComputePhraseMatchSlop",
    "CreateNamespace",
    "DescribeNamespace",
    "DescribePrewarmTask",
    "DescribeSegmentIndexData",
    "DescribeSnapshot",
    "DropNamespace",
    "DumpMessages",
    "ExportSnapshot",
    "GetExportSnapshotState",
    "GetNamespaceStats",
    "GetRefreshExternalCollectionProgress",
    "GetReplicateConfiguration",
    "GetRestoreSnapshotState",
    "GetUserTags",
    "HasNamespace",
    "ListFileResources",
    "ListIndexedSegment",
    "ListNamespaces",
    "ListRefreshExternalCollectionJobs",
    "ListRestoreSnapshotJobs",
    "ListRowPolicies",
    "ListSnapshots",
    "ListUsersWithTag",
    "PinSnapshotData",
    "Prewarm",
    "RefreshExternalCollection",
    "ReplicateMessage",
    "RestoreExternalSnapshot",
    "RestoreSnapshot",
];

/// Calls that Milvus has given up, and what it says of them.
const GIVEN_UP: [(&str, &str); 2] = [
    (
        "AddCollectionFunction",
        "AddCollectionFunction RPC is no longer supported; add BM25/MinHash via add_function_field, and define a TextEmbedding function at collection creation",
    ),
    (
        "DropCollectionFunction",
        "DropCollectionFunction RPC is no longer supported; drop a function via drop_function_field",
    ),
];

/// Why a call of Milvus' is refused.
pub(crate) fn refusal_of(call: &str) -> MilvusError {
    let mut given_up = GIVEN_UP.iter();
    match given_up.find(|row| row.0 == call) {
        Some((_, said)) => MilvusError::invalid(*said),
        None => MilvusError::Unsupported(format!("the call {call}")),
    }
}

/// The answer to a call that is refused.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Refusal {
    #[prost(message, optional, tag = "1")]
    status: Option<Status>,
}

impl Answer for Refusal {
    fn set_status(&mut self, status: Status) {
        self.status = Some(status);
    }
}

/// How the answer to a call that is refused looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RefusedAs {
    /// It is the status.
    Status,
    /// The status is its first field.
    WithStatus,
}

/// How a call of Milvus' is refused, if it is one.
pub(crate) fn refused_as(call: &str) -> Option<RefusedAs> {
    if OF_STATUS.contains(&call) {
        return Some(RefusedAs::Status);
    }
    WITH_STATUS.contains(&call).then_some(RefusedAs::WithStatus)
}
