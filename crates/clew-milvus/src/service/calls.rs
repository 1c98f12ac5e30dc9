//! The table of calls: each by the function that answers it.

use super::{Call, Service};
use crate::error::Result;
use crate::grpc::{Reply, unary};
use crate::proto::{self, *};

/// An answer that says by itself how a call went.
pub(crate) trait Answer: Default {
    fn set_status(&mut self, status: proto::Status);
}

impl Answer for proto::Status {
    fn set_status(&mut self, status: proto::Status) {
        *self = status;
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
    ConnectResponse GetVersionResponse CheckHealthResponse ComponentStates AllocTimestampResponse
    ListDatabasesResponse DescribeDatabaseResponse
    BoolResponse DescribeCollectionResponse BatchDescribeCollectionResponse ShowCollectionsResponse
    TruncateCollectionResponse StatisticsResponse GetLoadingProgressResponse GetLoadStateResponse ShowPartitionsResponse
    DescribeAliasResponse ListAliasesResponse
    DescribeIndexResponse GetIndexStateResponse GetIndexBuildProgressResponse
    MutationResult SearchResults QueryResults
    FlushResponse FlushAllResponse GetFlushStateResponse GetPersistentSegmentInfoResponse GetQuerySegmentInfoResponse
    ManualCompactionResponse GetCompactionStateResponse GetCompactionPlansResponse GetReplicasResponse RunAnalyzerResponse
    ListCredUsersResponse SelectUserResponse
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

macro_rules! calls {
    ($($name:ident($request:ident) -> $answer:ty;)*) => {
        /// Answers the call of a name, as functions are named; nothing where there is no such call.
        pub(crate) async fn answer(
            service: &Service,
            name: &str,
            (call, body): (Call, axum::body::Body),
        ) -> Option<Reply> {
            match name {
                $(stringify!($name) => {
                    let run = |request: $request| Service::$name(service, call, request);
                    Some(Box::pin(unary(service, (stringify!($request), body), run)).await)
                })*
                _ => None,
            }
        }

        /// Every call, with the messages that it takes and gives.
        #[cfg(test)]
        const CALLS: &[[&str; 3]] = &[
            $([stringify!($name), stringify!($request), stringify!($answer)],)*
        ];
    };
}

calls! {
    connect(ConnectRequest) -> ConnectResponse;
    get_version(GetVersionRequest) -> GetVersionResponse;
    check_health(CheckHealthRequest) -> CheckHealthResponse;
    get_component_states(GetComponentStatesRequest) -> ComponentStates;
    alloc_timestamp(AllocTimestampRequest) -> AllocTimestampResponse;

    create_database(CreateDatabaseRequest) -> Status;
    drop_database(DropDatabaseRequest) -> Status;
    list_databases(ListDatabasesRequest) -> ListDatabasesResponse;
    describe_database(DescribeDatabaseRequest) -> DescribeDatabaseResponse;
    alter_database(AlterDatabaseRequest) -> Status;

    create_collection(CreateCollectionRequest) -> Status;
    drop_collection(CollectionRequest) -> Status;
    has_collection(CollectionRequest) -> BoolResponse;
    describe_collection(DescribeCollectionRequest) -> DescribeCollectionResponse;
    batch_describe_collection(BatchDescribeCollectionRequest) -> BatchDescribeCollectionResponse;
    show_collections(ShowCollectionsRequest) -> ShowCollectionsResponse;
    rename_collection(RenameCollectionRequest) -> Status;
    alter_collection(AlterCollectionRequest) -> Status;
    alter_collection_field(AlterCollectionFieldRequest) -> Status;
    add_collection_field(AddCollectionFieldRequest) -> Status;
    truncate_collection(CollectionRequest) -> TruncateCollectionResponse;
    get_collection_statistics(CollectionRequest) -> StatisticsResponse;
    load_collection(LoadCollectionRequest) -> Status;
    release_collection(CollectionRequest) -> Status;
    get_loading_progress(GetLoadingProgressRequest) -> GetLoadingProgressResponse;
    get_load_state(GetLoadStateRequest) -> GetLoadStateResponse;

    create_partition(PartitionRequest) -> Status;
    drop_partition(PartitionRequest) -> Status;
    has_partition(PartitionRequest) -> BoolResponse;
    show_partitions(ShowPartitionsRequest) -> ShowPartitionsResponse;
    load_partitions(LoadPartitionsRequest) -> Status;
    release_partitions(ReleasePartitionsRequest) -> Status;
    get_partition_statistics(PartitionRequest) -> StatisticsResponse;

    create_alias(CreateAliasRequest) -> Status;
    alter_alias(CreateAliasRequest) -> Status;
    drop_alias(DropAliasRequest) -> Status;
    describe_alias(DescribeAliasRequest) -> DescribeAliasResponse;
    list_aliases(ListAliasesRequest) -> ListAliasesResponse;

    create_index(CreateIndexRequest) -> Status;
    alter_index(AlterIndexRequest) -> Status;
    describe_index(DescribeIndexRequest) -> DescribeIndexResponse;
    get_index_statistics(GetIndexStatisticsRequest) -> DescribeIndexResponse;
    get_index_state(IndexRequest) -> GetIndexStateResponse;
    get_index_build_progress(IndexRequest) -> GetIndexBuildProgressResponse;
    drop_index(IndexRequest) -> Status;

    insert(InsertRequest) -> MutationResult;
    upsert(UpsertRequest) -> MutationResult;
    delete(DeleteRequest) -> MutationResult;
    search(SearchRequest) -> SearchResults;
    hybrid_search(HybridSearchRequest) -> SearchResults;
    query(QueryRequest) -> QueryResults;

    flush(FlushRequest) -> FlushResponse;
    flush_all(FlushAllRequest) -> FlushAllResponse;
    get_flush_state(GetFlushStateRequest) -> GetFlushStateResponse;
    get_flush_all_state(GetFlushAllStateRequest) -> GetFlushStateResponse;
    get_persistent_segment_info(SegmentInfoRequest) -> GetPersistentSegmentInfoResponse;
    get_query_segment_info(SegmentInfoRequest) -> GetQuerySegmentInfoResponse;
    manual_compaction(ManualCompactionRequest) -> ManualCompactionResponse;
    get_compaction_state(GetCompactionStateRequest) -> GetCompactionStateResponse;
    get_compaction_state_with_plans(GetCompactionPlansRequest) -> GetCompactionPlansResponse;
    get_replicas(GetReplicasRequest) -> GetReplicasResponse;
    run_analyzer(RunAnalyzerRequest) -> RunAnalyzerResponse;

    create_credential(CreateCredentialRequest) -> Status;
    update_credential(UpdateCredentialRequest) -> Status;
    delete_credential(DeleteCredentialRequest) -> Status;
    list_cred_users(ListCredUsersRequest) -> ListCredUsersResponse;
    select_user(SelectUserRequest) -> SelectUserResponse;
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
