use super::*;

fn check(error: &ApiError, expected: &str) {
    assert_eq!(String::from_utf8(error.body()).unwrap(), expected);
}

#[test]
fn errors_have_the_shape_that_clients_read() {
    check(
        &ApiError::new(
            StatusCode::BAD_REQUEST,
            Cause::new("mapper_parsing_exception", "failed to parse")
                .caused_by(Cause::new("illegal_argument_exception", "not a number")),
        ),
        concat!(
            r#"{"error":{"root_cause":[{"type":"mapper_parsing_exception","#,
            r#""reason":"failed to parse"}],"type":"mapper_parsing_exception","#,
            r#""reason":"failed to parse","caused_by":{"type":"illegal_argument_exception","#,
            r#""reason":"not a number"}},"status":400}"#
        ),
    );
    check(
        &ApiError::no_handler("/x/y", "GET"),
        r#"{"error":"no handler found for uri [/x/y] and method [GET]"}"#,
    );
    check(
        &ApiError::wrong_method("/_bulk", "GET", &["POST", "PUT"]),
        concat!(
            r#"{"error":"Incorrect HTTP method for uri [/_bulk] and method [GET], "#,
            r#"allowed: [POST, PUT]","status":405}"#
        ),
    );
}

#[test]
fn a_search_failure_names_its_root_cause_and_the_failed_shard() {
    let reduced = ApiError::illegal_argument("x").of_reducing();
    let reduced = reduced.all_shards_failed("i", "n");
    let body: Value = serde_json::from_slice(&reduced.body()).unwrap();
    assert_eq!(body["error"]["phase"], "fetch");
    assert_eq!(body["error"]["caused_by"]["reason"], "x");
    assert_eq!(body["error"]["root_cause"], serde_json::json!([]));
    let invalid = ApiError::illegal_argument("Invalid path element [m[] in path [m[]");
    let invalid = invalid.all_shards_failed("i", "n");
    assert!(invalid.is_kind("illegal_argument_exception"));
    let known = ApiError::illegal_argument("x").found_by_shards();
    let known = known.placed(&Value::Null, b"null");
    assert!(known.is_found_by_shards() && !invalid.is_found_by_shards());
    let error = ApiError::illegal_argument("too large").all_shards_failed("i", "n");
    let body: Value = serde_json::from_slice(&error.body()).unwrap();
    assert_eq!(body["error"]["type"], "search_phase_execution_exception");
    assert_eq!(body["error"]["root_cause"][0]["reason"], "too large");
    assert_eq!(
        body["error"]["failed_shards"][0]["reason"]["reason"],
        "too large"
    );
    assert_eq!(
        body["error"]["caused_by"]["caused_by"]["reason"],
        "too large"
    );
}
