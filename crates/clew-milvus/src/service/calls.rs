//! The table of calls: what the generated trait asks for, by the functions that answer.

use prost::Message;
use tonic::{Request, Response, Status, async_trait};

use super::{Call, Service};
use crate::error::Result;
use crate::proto::milvus_service_server::MilvusService;
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
    ($($name:ident($request:ty) -> $answer:ty;)*) => {
        #[async_trait]
        impl MilvusService for Service {
            $(async fn $name(
                &self,
                request: Request<$request>,
            ) -> std::result::Result<Response<$answer>, Status> {
                let call = Call::of(request.metadata());
                let request = request.into_inner();
                let outcome = match self.book(request.encoded_len()) {
                    Ok(_room) => Service::$name(self, call, request).await,
                    Err(refused) => Err(refused),
                };
                Ok(Response::new(answered(outcome)))
            })*
        }
    };
}

calls! {
    connect(ConnectRequest) -> ConnectResponse;
    get_version(GetVersionRequest) -> GetVersionResponse;
    check_health(CheckHealthRequest) -> CheckHealthResponse;
    get_component_states(GetComponentStatesRequest) -> ComponentStates;
    alloc_timestamp(AllocTimestampRequest) -> AllocTimestampResponse;

    create_database(CreateDatabaseRequest) -> proto::Status;
    drop_database(DropDatabaseRequest) -> proto::Status;
    list_databases(ListDatabasesRequest) -> ListDatabasesResponse;
    describe_database(DescribeDatabaseRequest) -> DescribeDatabaseResponse;
    alter_database(AlterDatabaseRequest) -> proto::Status;

    create_collection(CreateCollectionRequest) -> proto::Status;
    drop_collection(CollectionRequest) -> proto::Status;
    has_collection(CollectionRequest) -> BoolResponse;
    describe_collection(DescribeCollectionRequest) -> DescribeCollectionResponse;
    batch_describe_collection(BatchDescribeCollectionRequest) -> BatchDescribeCollectionResponse;
    show_collections(ShowCollectionsRequest) -> ShowCollectionsResponse;
    rename_collection(RenameCollectionRequest) -> proto::Status;
    alter_collection(AlterCollectionRequest) -> proto::Status;
    alter_collection_field(AlterCollectionFieldRequest) -> proto::Status;
    add_collection_field(AddCollectionFieldRequest) -> proto::Status;
    truncate_collection(CollectionRequest) -> TruncateCollectionResponse;
    get_collection_statistics(CollectionRequest) -> StatisticsResponse;
    load_collection(LoadCollectionRequest) -> proto::Status;
    release_collection(CollectionRequest) -> proto::Status;
    get_loading_progress(GetLoadingProgressRequest) -> GetLoadingProgressResponse;
    get_load_state(GetLoadStateRequest) -> GetLoadStateResponse;

    create_partition(PartitionRequest) -> proto::Status;
    drop_partition(PartitionRequest) -> proto::Status;
    has_partition(PartitionRequest) -> BoolResponse;
    show_partitions(ShowPartitionsRequest) -> ShowPartitionsResponse;
    load_partitions(LoadPartitionsRequest) -> proto::Status;
    release_partitions(ReleasePartitionsRequest) -> proto::Status;
    get_partition_statistics(PartitionRequest) -> StatisticsResponse;

    create_alias(CreateAliasRequest) -> proto::Status;
    alter_alias(CreateAliasRequest) -> proto::Status;
    drop_alias(DropAliasRequest) -> proto::Status;
    describe_alias(DescribeAliasRequest) -> DescribeAliasResponse;
    list_aliases(ListAliasesRequest) -> ListAliasesResponse;

    create_index(CreateIndexRequest) -> proto::Status;
    alter_index(AlterIndexRequest) -> proto::Status;
    describe_index(DescribeIndexRequest) -> DescribeIndexResponse;
    get_index_statistics(GetIndexStatisticsRequest) -> DescribeIndexResponse;
    get_index_state(IndexRequest) -> GetIndexStateResponse;
    get_index_build_progress(IndexRequest) -> GetIndexBuildProgressResponse;
    drop_index(IndexRequest) -> proto::Status;

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

    create_credential(CreateCredentialRequest) -> proto::Status;
    update_credential(UpdateCredentialRequest) -> proto::Status;
    delete_credential(DeleteCredentialRequest) -> proto::Status;
    list_cred_users(ListCredUsersRequest) -> ListCredUsersResponse;
    select_user(SelectUserRequest) -> SelectUserResponse;
}
