//! The table of calls: each by the function that answers it, and what it takes to be let through. No call is answered but
//! by this table, and the functions below take nothing but a [`Call`](super::Call) that was let through.

use std::pin::Pin;
use std::sync::Arc;

use axum::body::Body;
use clew_engine::Purpose;

use super::Service;
use super::admit::{ANYBODY, Caller, Reach, Rule};
use super::subject::Subject;
use super::unary::{Reply, unary};
use crate::collection::Collection;
use crate::error::Result;
use crate::proto::{self, *};
use crate::watch::Watch;

/// What comes of a call, behind a pointer: it is compiled once, where it would be with everything that waits for it.
pub(crate) type Coming<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// An answer that says by itself how a call went.
pub(crate) trait Answer: Default {
    fn set_status(&mut self, status: proto::Status);
}

impl Answer for proto::Status {
    fn set_status(&mut self, status: proto::Status) {
        *self = status;
    }
}

impl Answer for AlterCollectionSchemaResponse {
    fn set_status(&mut self, status: proto::Status) {
        self.alter_status = Some(status);
    }
}

macro_rules! answers {
    ($($answer:ident)*) => {
        $(impl Answer for $answer {
            fn set_status(&mut self, status: proto::Status) {
                self.status = Some(status);
            }
        })*
    };
}

answers! {
    ConnectResponse GetVersionResponse CheckHealthResponse ComponentStates AllocTimestampResponse GetMetricsResponse
    ListDatabasesResponse DescribeDatabaseResponse
    BoolResponse DescribeCollectionResponse BatchDescribeCollectionResponse ShowCollectionsResponse
    TruncateCollectionResponse StatisticsResponse GetLoadingProgressResponse GetLoadStateResponse ShowPartitionsResponse
    DescribeAliasResponse ListAliasesResponse
    DescribeIndexResponse GetIndexStateResponse GetIndexBuildProgressResponse
    MutationResult SearchResults QueryResults
    FlushResponse FlushAllResponse GetFlushStateResponse GetPersistentSegmentInfoResponse GetQuerySegmentInfoResponse
    ManualCompactionResponse GetCompactionStateResponse GetCompactionPlansResponse GetReplicasResponse RunAnalyzerResponse
    ListCredUsersResponse SelectUserResponse SelectRoleResponse SelectGrantResponse ListPrivilegeGroupsResponse
    ListResourceGroupsResponse DescribeResourceGroupResponse
    ImportResponse GetImportStateResponse ListImportTasksResponse
}

/// What a client gets: errors of calls are answers, too, since clients try those of the transport again.
pub(crate) fn answered<A: Answer>(outcome: Result<A>) -> A {
    let (mut answer, status) = match outcome {
        Ok(answer) => (answer, proto::Status::default()),
        Err(error) => {
            tracing::debug!(%error, code = error.code(), "a call was refused");
            (A::default(), error.into())
        }
    };
    answer.set_status(status);
    answer
}

/// The calls for those who are not let through yet.
#[derive(Clone)]
pub(crate) struct Door {
    service: Service,
    watch: Arc<Watch>,
}

impl Door {
    pub(crate) fn new(service: Service, watch: Arc<Watch>) -> Self {
        Door { service, watch }
    }

    /// What is told of calls.
    pub(crate) fn watch(&self) -> &Watch {
        &self.watch
    }

    pub(crate) fn service(&self) -> &Service {
        &self.service
    }

    /// What a collection is, for those who may have it described.
    pub(crate) fn collection(&self, caller: Caller, name: &str) -> Result<Arc<Collection>> {
        const RULE: Rule = Rule {
            privilege: "DescribeCollection",
            reach: Reach::Show,
        };
        let request = DescribeCollectionRequest {
            collection_name: name.to_string(),
            ..DescribeCollectionRequest::default()
        };
        let call = self.service.admit(caller, RULE, &request)?;
        let opened = self.service.open(&call, ("", name), Purpose::Show)?;
        Ok(opened.named.collection)
    }
}

macro_rules! calls {
    ($($name:ident($request:ident) -> $answer:ty, $privilege:expr, $reach:ident;)*) => {
        impl Door {
            $(pub(crate) fn $name(&self, caller: Caller, request: $request) -> Coming<'_, Result<$answer>> {
                const RULE: Rule = Rule { privilege: $privilege, reach: Reach::$reach };
                Box::pin(async move {
                    let call = self.service.admit(caller, RULE, &request)?;
                    self.service.check_denied(&call, request.database(), stringify!($name))?;
                    self.service.$name(call, request).await
                })
            })*
        }

        /// Whether there is a call of a name, as functions are named.
        pub(crate) fn is_call(name: &str) -> bool {
            matches!(name, $(stringify!($name))|*)
        }

        /// The answer to the call of a name, as functions are named; nothing where there is no such call.
        pub(crate) fn answer<'a>(
            door: &'a Door,
            name: &str,
            (caller, body): (Caller, Body),
        ) -> Option<Coming<'a, Reply>> {
            match name {
                $(stringify!($name) => {
                    let run = |request: $request| Door::$name(door, caller, request);
                    Some(unary(door.service(), (stringify!($request), body), run))
                })*
                _ => None,
            }
        }

        /// Every call, with the messages that it takes and gives.
        #[cfg(test)]
        const CALLS: &[[&str; 3]] = &[
            $([stringify!($name), stringify!($request), stringify!($answer)],)*
        ];

        /// The rules, by the calls' names.
        #[cfg(test)]
        pub(super) const RULES: &[(&str, Rule)] =
            &[$((stringify!($name), Rule { privilege: $privilege, reach: Reach::$reach }),)*];
    };
}

calls! {
    connect(ConnectRequest) -> ConnectResponse, ANYBODY, Nothing;
    get_version(GetVersionRequest) -> GetVersionResponse, ANYBODY, Nothing;
    check_health(CheckHealthRequest) -> CheckHealthResponse, ANYBODY, Nothing;
    get_component_states(GetComponentStatesRequest) -> ComponentStates, ANYBODY, Nothing;
    alloc_timestamp(AllocTimestampRequest) -> AllocTimestampResponse, ANYBODY, Nothing;
    get_metrics(GetMetricsRequest) -> GetMetricsResponse, ANYBODY, Nothing;

    create_database(CreateDatabaseRequest) -> Status, "CreateDatabase", Node;
    drop_database(DropDatabaseRequest) -> Status, "DropDatabase", Node;
    list_databases(ListDatabasesRequest) -> ListDatabasesResponse, ANYBODY, Nothing;
    describe_database(DescribeDatabaseRequest) -> DescribeDatabaseResponse, "DescribeDatabase", Nothing;
    alter_database(AlterDatabaseRequest) -> Status, "AlterDatabase", Node;

    create_collection(CreateCollectionRequest) -> Status, "CreateCollection", Change;
    drop_collection(CollectionRequest) -> Status, "DropCollection", Change;
    has_collection(CollectionRequest) -> BoolResponse, ANYBODY, Show;
    describe_collection(DescribeCollectionRequest) -> DescribeCollectionResponse, "DescribeCollection", Show;
    batch_describe_collection(BatchDescribeCollectionRequest) -> BatchDescribeCollectionResponse, "DescribeCollection", Show;
    show_collections(ShowCollectionsRequest) -> ShowCollectionsResponse, ANYBODY, Show;
    rename_collection(RenameCollectionRequest) -> Status, "RenameCollection", Change;
    alter_collection(AlterCollectionRequest) -> Status, "CreateCollection", Change;
    alter_collection_field(AlterCollectionFieldRequest) -> Status, "CreateCollection", Change;
    add_collection_field(AddCollectionFieldRequest) -> Status, "AddCollectionField", Change;
    add_collection_struct_field(AddCollectionStructFieldRequest) -> Status, "AddCollectionField", Change;
    alter_collection_schema(AlterCollectionSchemaRequest) -> AlterCollectionSchemaResponse, "AlterCollectionSchema", Change;
    truncate_collection(CollectionRequest) -> TruncateCollectionResponse, "DropCollection", Change;
    get_collection_statistics(CollectionRequest) -> StatisticsResponse, "GetStatistics", Read;
    load_collection(LoadCollectionRequest) -> Status, "Load", Change;
    release_collection(CollectionRequest) -> Status, "Release", Change;
    get_loading_progress(GetLoadingProgressRequest) -> GetLoadingProgressResponse, "GetLoadState", Show;
    get_load_state(GetLoadStateRequest) -> GetLoadStateResponse, "GetLoadState", Show;

    create_partition(PartitionRequest) -> Status, "CreatePartition", Change;
    drop_partition(PartitionRequest) -> Status, "DropPartition", Change;
    has_partition(PartitionRequest) -> BoolResponse, "HasPartition", Show;
    show_partitions(ShowPartitionsRequest) -> ShowPartitionsResponse, "ShowPartitions", Show;
    load_partitions(LoadPartitionsRequest) -> Status, "Load", Change;
    release_partitions(ReleasePartitionsRequest) -> Status, "Release", Change;
    get_partition_statistics(PartitionRequest) -> StatisticsResponse, "GetStatistics", Read;

    create_alias(CreateAliasRequest) -> Status, "CreateAlias", Change;
    alter_alias(CreateAliasRequest) -> Status, "CreateAlias", Change;
    drop_alias(DropAliasRequest) -> Status, "DropAlias", Change;
    describe_alias(DescribeAliasRequest) -> DescribeAliasResponse, "DescribeAlias", Show;
    list_aliases(ListAliasesRequest) -> ListAliasesResponse, "ListAliases", Show;

    create_index(CreateIndexRequest) -> Status, "CreateIndex", Change;
    alter_index(AlterIndexRequest) -> Status, "CreateIndex", Change;
    describe_index(DescribeIndexRequest) -> DescribeIndexResponse, "IndexDetail", Show;
    get_index_statistics(GetIndexStatisticsRequest) -> DescribeIndexResponse, "IndexDetail", Show;
    get_index_state(IndexRequest) -> GetIndexStateResponse, "IndexDetail", Show;
    get_index_build_progress(IndexRequest) -> GetIndexBuildProgressResponse, "IndexDetail", Show;
    drop_index(IndexRequest) -> Status, "DropIndex", Change;

    insert(InsertRequest) -> MutationResult, "Insert", Write;
    upsert(UpsertRequest) -> MutationResult, "Upsert", Write;
    delete(DeleteRequest) -> MutationResult, "Delete", Write;
    search(SearchRequest) -> SearchResults, "Search", Read;
    hybrid_search(HybridSearchRequest) -> SearchResults, "Search", Read;
    query(QueryRequest) -> QueryResults, "Query", Read;

    flush(FlushRequest) -> FlushResponse, "Flush", Write;
    flush_all(FlushAllRequest) -> FlushAllResponse, "FlushAll", Whole;
    get_flush_state(GetFlushStateRequest) -> GetFlushStateResponse, "GetFlushState", Nothing;
    get_flush_all_state(GetFlushAllStateRequest) -> GetFlushStateResponse, ANYBODY, Nothing;
    get_persistent_segment_info(SegmentInfoRequest) -> GetPersistentSegmentInfoResponse, ANYBODY, Show;
    get_query_segment_info(SegmentInfoRequest) -> GetQuerySegmentInfoResponse, ANYBODY, Show;
    manual_compaction(ManualCompactionRequest) -> ManualCompactionResponse, "Compaction", Write;
    get_compaction_state(GetCompactionStateRequest) -> GetCompactionStateResponse, ANYBODY, Nothing;
    get_compaction_state_with_plans(GetCompactionPlansRequest) -> GetCompactionPlansResponse, ANYBODY, Show;
    get_replicas(GetReplicasRequest) -> GetReplicasResponse, ANYBODY, Show;
    load_balance(LoadBalanceRequest) -> Status, "LoadBalance", Show;
    run_analyzer(RunAnalyzerRequest) -> RunAnalyzerResponse, ANYBODY, Show;

    import(ImportRequest) -> ImportResponse, "Import", Write;
    get_import_state(GetImportStateRequest) -> GetImportStateResponse, ANYBODY, Nothing;
    list_import_tasks(ListImportTasksRequest) -> ListImportTasksResponse, ANYBODY, Show;

    create_credential(CreateCredentialRequest) -> Status, "CreateOwnership", Nothing;
    update_credential(UpdateCredentialRequest) -> Status, "UpdateUser", Nothing;
    delete_credential(DeleteCredentialRequest) -> Status, "DropOwnership", Nothing;
    list_cred_users(ListCredUsersRequest) -> ListCredUsersResponse, "SelectOwnership", Nothing;
    select_user(SelectUserRequest) -> SelectUserResponse, "SelectUser", Nothing;

    create_role(CreateRoleRequest) -> Status, "CreateOwnership", Nothing;
    alter_role(AlterRoleRequest) -> Status, "CreateOwnership", Nothing;
    drop_role(DropRoleRequest) -> Status, "DropOwnership", Nothing;
    operate_user_role(OperateUserRoleRequest) -> Status, "ManageOwnership", Nothing;
    select_role(SelectRoleRequest) -> SelectRoleResponse, "SelectOwnership", Nothing;

    operate_privilege(OperatePrivilegeRequest) -> Status, "ManageOwnership", Nothing;
    operate_privilege_v2(OperatePrivilegeV2Request) -> Status, "ManageOwnership", Nothing;
    select_grant(SelectGrantRequest) -> SelectGrantResponse, "SelectOwnership", Nothing;
    create_privilege_group(CreatePrivilegeGroupRequest) -> Status, "CreatePrivilegeGroup", Nothing;
    drop_privilege_group(DropPrivilegeGroupRequest) -> Status, "DropPrivilegeGroup", Nothing;
    list_privilege_groups(ListPrivilegeGroupsRequest) -> ListPrivilegeGroupsResponse, "ListPrivilegeGroups", Nothing;
    operate_privilege_group(OperatePrivilegeGroupRequest) -> Status, "OperatePrivilegeGroup", Nothing;

    create_resource_group(CreateResourceGroupRequest) -> Status, "CreateResourceGroup", Node;
    drop_resource_group(DropResourceGroupRequest) -> Status, "DropResourceGroup", Node;
    update_resource_groups(UpdateResourceGroupsRequest) -> Status, "UpdateResourceGroups", Node;
    transfer_node(TransferNodeRequest) -> Status, "TransferNode", Node;
    transfer_replica(TransferReplicaRequest) -> Status, "TransferReplica", Node;
    list_resource_groups(ListResourceGroupsRequest) -> ListResourceGroupsResponse, "ListResourceGroups", Nothing;
    describe_resource_group(DescribeResourceGroupRequest) -> DescribeResourceGroupResponse, "DescribeResourceGroup", Nothing;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grpc::function_name;

    #[test]
    fn the_calls_are_those_of_the_description() {
        let described = include_str!("../../proto/milvus.proto").lines();
        let described: Vec<Vec<String>> = described
            .filter_map(|line| line.trim().strip_prefix("rpc "))
            .map(|line| {
                let mut words = line
                    .split(['(', ')', ' ', ';'])
                    .filter(|word| !word.is_empty());
                let name = function_name(words.next().unwrap_or_default());
                let messages = words.filter(|word| !matches!(*word, "returns" | "{}"));
                std::iter::once(name)
                    .chain(messages.map(String::from))
                    .collect()
            })
            .collect();
        let mut told: Vec<Vec<&str>> = described
            .iter()
            .map(|words| words.iter().map(String::as_str).collect())
            .collect();
        let mut own: Vec<Vec<&str>> = CALLS.iter().map(|call| call.to_vec()).collect();
        told.sort();
        own.sort();
        assert_eq!(own, told);
    }
}
