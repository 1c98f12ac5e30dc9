use super::*;
use clew_log::Glsn;
use clew_query::NoScore;

fn check(error: &EngineError, status: u16, kind: &str) {
    let answer = ApiError::from(error);
    let body: Value = serde_json::from_slice(&answer.body()).unwrap();
    assert_eq!(answer.status().as_u16(), status, "{error}");
    assert_eq!(body["status"], status);
    assert_eq!(body["error"]["type"], kind, "{error}");
    assert_eq!(body["error"]["root_cause"][0]["type"], kind);
    assert!(!body["error"]["reason"].as_str().unwrap().is_empty());
}

#[test]
fn every_engine_error_has_its_name_and_status() {
    let text = || "x".to_string();
    let io = || std::io::Error::other("disk");
    check(
        &EngineError::IndexNotFound { index: text() },
        404,
        "index_not_found_exception",
    );
    check(
        &EngineError::IndexNotMade {
            index: text(),
            why: NotMade::Nothing,
        },
        404,
        "index_not_found_exception",
    );
    check(
        &EngineError::IndexExists {
            index: text(),
            uuid: text(),
        },
        400,
        "resource_already_exists_exception",
    );
    check(
        &EngineError::InvalidIndexName {
            index: text(),
            reason: "must be lowercase",
        },
        400,
        "invalid_index_name_exception",
    );
    let setting = EngineError::InvalidSetting { reason: text() };
    check(&setting, 400, "illegal_argument_exception");
    let request = EngineError::InvalidRequest { reason: text() };
    check(&request, 400, "illegal_argument_exception");
    let missing = EngineError::DocumentMissing { id: text() };
    check(&missing, 404, "document_missing_exception");
    let conflict = EngineError::VersionConflict {
        id: text(),
        reason: text(),
    };
    check(&conflict, 409, "version_conflict_engine_exception");
    let full = EngineError::Overloaded {
        what: "search queue",
        max: 1,
    };
    check(&full, 429, "rejected_execution_exception");
    let late = EngineError::Timeout { glsn: Glsn::new(1) };
    check(&late, 503, "timeout_exception");
    check(&EngineError::Closed, 503, "node_closed_exception");
    let failed = EngineError::ShardFailed {
        index: text(),
        shard: 0,
        reason: text(),
    };
    check(&failed, 503, "no_shard_available_action_exception");
    let lost = EngineError::Io {
        action: "read",
        path: "p".into(),
        source: io(),
    };
    check(&lost, 500, "i_o_exception");
    let corrupt = EngineError::Corrupt {
        path: "p".into(),
        reason: text(),
    };
    check(&corrupt, 500, "corrupt_index_exception");
}

#[test]
fn what_the_disk_refuses_of_an_index_is_told_as_that() {
    // The one error of tantivy's that can be made here is one of the disk to it.
    let unread = EngineError::Tantivy {
        place: "x".to_string(),
        source: NoScore("x".to_string()).into(),
    };
    check(&unread, 500, "i_o_exception");
}

#[test]
fn too_many_shards_are_no_valid_request() {
    let many = EngineError::TooManyShards {
        adds: 1,
        there: 2,
        max: 2,
    };
    check(&many, 400, "validation_exception");
}

#[test]
fn what_is_written_to_a_shard_that_is_not_active_is_told_so_as_by_opensearch() {
    for (purpose, kind) in [
        (Purpose::Write, "unavailable_shards_exception"),
        (Purpose::Read, "no_shard_available_action_exception"),
    ] {
        let not_active = EngineError::ShardNotActive {
            index: "x".to_string(),
            shard: 2,
            purpose,
        };
        check(&not_active, 503, kind);
    }
}

#[test]
fn closed_and_blocked_indexes_are_told_apart() {
    let text = || "x".to_string();
    let closed = EngineError::IndexClosed {
        index: text(),
        uuid: text(),
    };
    check(&closed, 400, "index_closed_exception");
    let blocked = |block| EngineError::Blocked {
        index: text(),
        blocks: vec![block],
    };
    let full = clew_engine::Block::ReadOnlyAllowDelete;
    check(&blocked(full), 429, "cluster_block_exception");
    let write = clew_engine::Block::Write;
    check(&blocked(write), 403, "cluster_block_exception");
}

#[test]
fn mapping_document_and_query_errors_keep_their_own_names() {
    let mapping = clew_schema::MappingError::TooManyFields { max: 1 };
    check(
        &EngineError::Mapping(mapping),
        400,
        "illegal_argument_exception",
    );
    let strict = clew_schema::DocumentError::Strict {
        dynamic: "strict",
        field: "a".into(),
        within: "_doc".into(),
    };
    let strict = EngineError::Document {
        id: "1".into(),
        source: strict,
    };
    check(&strict, 400, "strict_dynamic_mapping_exception");
    let field = clew_schema::DocumentError::Field {
        field: "n".into(),
        type_name: "integer",
        preview: "abc".into(),
        cause: Box::new(clew_schema::ValueProblem::NotANumber { text: "abc".into() }),
    };
    let field = EngineError::Document {
        id: "1".into(),
        source: field,
    };
    check(&field, 400, "mapper_parsing_exception");
    let body: Value = serde_json::from_slice(&ApiError::from(&field).body()).unwrap();
    assert_eq!(
        body["error"]["caused_by"]["type"],
        "number_format_exception"
    );
    let query = QueryError::Syntax {
        query: "a AND (".into(),
        reason: "unclosed".into(),
    };
    check(&EngineError::Query(query), 400, "query_shard_exception");
    for (reason, within) in [
        ("For input string: \"x\"", "number_format_exception"),
        ("no such thing", "illegal_argument_exception"),
    ] {
        let error = EngineError::Query(QueryError::create(reason));
        check(&error, 400, "query_shard_exception");
        let told = ApiError::from(&error).cause();
        assert_eq!(told["caused_by"]["type"], within);
        assert_eq!(told["caused_by"]["reason"], reason);
    }
    let format =
        AggError::invalid("Invalid format: [#,##0]: Pattern includes reserved character: '#'");
    let told = ApiError::from(&EngineError::Query(QueryError::Aggregation(format))).cause();
    let why = "Pattern includes reserved character: '#'";
    assert_eq!(told["caused_by"]["reason"], why);
}
