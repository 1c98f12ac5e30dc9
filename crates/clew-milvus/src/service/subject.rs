//! What requests are about: the database, the collections, the user and the role that they name.

use crate::proto::*;

/// What a request names. What is empty names nothing.
pub(crate) trait Subject {
    /// The database; the connection's where there is none.
    fn database(&self) -> &str {
        ""
    }

    /// Collections, by names or aliases.
    fn collections(&self) -> Vec<&str> {
        Vec::new()
    }

    /// What a collection is to be called, and in which database; in the same where that is empty.
    fn new_name(&self) -> Option<(&str, &str)> {
        None
    }

    /// Collections, by numbers.
    fn numbers(&self) -> Vec<i64> {
        Vec::new()
    }

    /// The user.
    fn user(&self) -> &str {
        ""
    }

    /// The role.
    fn role(&self) -> &str {
        ""
    }
}

macro_rules! named {
    ($($message:ident)*) => {
        $(impl Subject for $message {
            fn database(&self) -> &str {
                &self.db_name
            }

            fn collections(&self) -> Vec<&str> {
                vec![&self.collection_name]
            }
        })*
    };
}

named! {
    CollectionRequest CreateCollectionRequest AlterCollectionRequest AlterCollectionFieldRequest AddCollectionFieldRequest
    AddCollectionStructFieldRequest AlterCollectionSchemaRequest
    LoadCollectionRequest GetLoadingProgressRequest GetLoadStateRequest
    PartitionRequest ShowPartitionsRequest LoadPartitionsRequest ReleasePartitionsRequest
    CreateAliasRequest ListAliasesRequest
    CreateIndexRequest AlterIndexRequest IndexRequest DescribeIndexRequest GetIndexStatisticsRequest
    InsertRequest UpsertRequest DeleteRequest SearchRequest HybridSearchRequest QueryRequest
    GetFlushStateRequest SegmentInfoRequest LoadBalanceRequest RunAnalyzerRequest TransferReplicaRequest
    ImportRequest ListImportTasksRequest
}

macro_rules! of_database {
    ($($message:ident)*) => {
        $(impl Subject for $message {
            fn database(&self) -> &str {
                &self.db_name
            }
        })*
    };
}

of_database! {
    CreateDatabaseRequest DropDatabaseRequest DescribeDatabaseRequest AlterDatabaseRequest
    ShowCollectionsRequest FlushAllRequest GetFlushAllStateRequest
}

macro_rules! of_nothing {
    ($($message:ident)*) => {
        $(impl Subject for $message {})*
    };
}

of_nothing! {
    ConnectRequest GetVersionRequest CheckHealthRequest GetComponentStatesRequest AllocTimestampRequest GetMetricsRequest
    ListDatabasesRequest GetCompactionStateRequest GetCompactionPlansRequest
    CreateCredentialRequest DeleteCredentialRequest ListCredUsersRequest
    CreateRoleRequest AlterRoleRequest DropRoleRequest OperateUserRoleRequest SelectRoleRequest
    OperatePrivilegeRequest OperatePrivilegeV2Request
    CreatePrivilegeGroupRequest DropPrivilegeGroupRequest ListPrivilegeGroupsRequest OperatePrivilegeGroupRequest
    CreateResourceGroupRequest DropResourceGroupRequest UpdateResourceGroupsRequest TransferNodeRequest
    ListResourceGroupsRequest DescribeResourceGroupRequest GetImportStateRequest
}

macro_rules! or_numbered {
    ($($message:ident)*) => {
        $(impl Subject for $message {
            fn database(&self) -> &str {
                &self.db_name
            }

            fn collections(&self) -> Vec<&str> {
                vec![&self.collection_name]
            }

            fn numbers(&self) -> Vec<i64> {
                // The name comes first.
                let numbered = self.collection_name.is_empty() && self.collection_id != 0;
                numbered.then_some(self.collection_id).into_iter().collect()
            }
        })*
    };
}

or_numbered! { DescribeCollectionRequest ManualCompactionRequest GetReplicasRequest }

impl Subject for BatchDescribeCollectionRequest {
    fn database(&self) -> &str {
        &self.db_name
    }

    fn collections(&self) -> Vec<&str> {
        self.collection_name.iter().map(String::as_str).collect()
    }

    fn numbers(&self) -> Vec<i64> {
        self.collection_id.clone()
    }
}

impl Subject for RenameCollectionRequest {
    fn database(&self) -> &str {
        &self.db_name
    }

    fn collections(&self) -> Vec<&str> {
        vec![&self.old_name]
    }

    fn new_name(&self) -> Option<(&str, &str)> {
        Some((&self.new_db_name, &self.new_name))
    }
}

impl Subject for FlushRequest {
    fn database(&self) -> &str {
        &self.db_name
    }

    fn collections(&self) -> Vec<&str> {
        self.collection_names.iter().map(String::as_str).collect()
    }
}

macro_rules! of_alias {
    ($($message:ident)*) => {
        $(impl Subject for $message {
            fn database(&self) -> &str {
                &self.db_name
            }

            // The collection that the alias means.
            fn collections(&self) -> Vec<&str> {
                vec![&self.alias]
            }
        })*
    };
}

of_alias! { DropAliasRequest DescribeAliasRequest }

impl Subject for UpdateCredentialRequest {
    fn user(&self) -> &str {
        &self.username
    }
}

impl Subject for SelectUserRequest {
    fn user(&self) -> &str {
        self.user.as_ref().map_or("", |user| &user.name)
    }
}

impl Subject for SelectGrantRequest {
    fn role(&self) -> &str {
        let role = self.entity.as_ref().and_then(|entity| entity.role.as_ref());
        role.map_or("", |role| &role.name)
    }
}
