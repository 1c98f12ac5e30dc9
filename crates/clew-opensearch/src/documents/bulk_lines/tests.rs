//! Tests of cutting bulk bodies.

use super::*;

fn usual() -> Defaults {
    Defaults {
        index: Some("default".to_string()),
        ..Defaults::default()
    }
}

fn parsed(body: &str) -> Result<Vec<BulkAction>, ApiError> {
    parse(&Bytes::copy_from_slice(body.as_bytes()), &usual())
}

fn check_refused(body: &str, reason: &str) {
    let error = parsed(body).unwrap_err();
    let text = String::from_utf8(error.body()).unwrap();
    assert!(text.contains(reason), "{text}");
}

#[test]
fn every_action_is_cut_out_without_copying_its_source() {
    let body = Bytes::from_static(
        concat!(
            "{\"index\":{\"_index\":\"a\",\"_id\":\"1\",\"_type\":\"_doc\"}}\n{\"x\":1}\r\n",
            "{\"create\":{\"_id\":2,\"routing\":\"r\"}}\n{\"x\":2}\n",
            "\n",
            "{\"update\":{\"_id\":\"3\",\"if_seq_no\":4,\"if_primary_term\":1}}\n",
            "{\"doc\":{\"x\":3}}\n",
            "{\"delete\":{\"_id\":\"4\"}}\n",
            "{\"index\":{}}\nnot read here\n",
        )
        .as_bytes(),
    );
    let actions = parse(&body, &usual()).unwrap();
    let verbs: Vec<&str> = actions.iter().map(|action| action.verb.name()).collect();
    assert_eq!(verbs, ["index", "create", "update", "delete", "index"]);
    assert_eq!(
        (actions[0].index.as_str(), actions[1].index.as_str()),
        ("a", "default")
    );
    assert_eq!(actions[1].id.as_deref(), Some("2"));
    assert_eq!(actions[1].routing.as_deref(), Some("r"));
    assert_eq!(
        actions[2].condition,
        Some(Condition::At {
            seq_no: 4,
            primary_term: 1
        })
    );
    let Action::Index { source, .. } = &actions[0].action else {
        panic!("an index")
    };
    assert_eq!(source, "{\"x\":1}");
    assert!(body.as_ptr_range().contains(&source.as_ptr()));
    let Action::Update(spec) = &actions[2].action else {
        panic!("an update")
    };
    let doc = spec.doc.as_ref().unwrap();
    assert_eq!(doc, "{\"x\":3}");
    assert!(body.as_ptr_range().contains(&doc.as_ptr()));
}

#[test]
fn a_body_that_cannot_be_cut_is_refused_in_the_words_of_opensearch() {
    check_refused("", "request body is required");
    check_refused("\n", "no requests added");
    check_refused(
        "{\"index\":{}}\n{}",
        "must be terminated by a newline [\\\\n]",
    );
    check_refused(
        concat!(
            "{\"update\":{\"_id\":\"3\",\"if_seq_no\":4,\"if_primary_term\":1}}\n",
            "{\"doc\":{\"x\":3},\"doc_as_upsert\":true}\n",
        ),
        "compare and write operations can not be used with upsert",
    );
    check_refused(
        concat!(
            "{\"update\":{\"_id\":\"3\",\"if_seq_no\":4,\"if_primary_term\":1,",
            "\"retry_on_conflict\":3}}\n",
            "{\"doc\":{\"x\":3}}\n",
        ),
        "compare and write operations can not be retried",
    );
    let line = "Malformed action/metadata line";
    check_refused(
        "[]\n",
        &format!("{line} [1], expected START_OBJECT but found [START_ARRAY]"),
    );
    check_refused(
        "{}\n",
        &format!("{line} [1], expected FIELD_NAME but found [END_OBJECT]"),
    );
    check_refused(
        "{\"index\":{}}\n{}\n{\"insert\":{}}\n{}\n",
        &format!(
            "{line} [3], expected one of [create, delete, index, update] \
             but found [insert]"
        ),
    );
    check_refused(
        &format!("{{\"index\":{{\"_id\":\"{}\"}}}}\n{{}}\n", "x".repeat(513)),
        "is too long, must be no longer than 512 bytes but was: 513",
    );
    check_refused(
        "{\"index\":1}\n",
        &format!("{line} [1], expected START_OBJECT or END_OBJECT but found [VALUE_NUMBER]"),
    );
    check_refused(
        "{\"index\":{\"_id\":[1]}}\n{}\n",
        &format!("{line} [1], expected a simple value for field [_id] but found [START_ARRAY]"),
    );
    check_refused(
        "{\"index\":{\"_x\":1}}\n{}\n",
        "line [1] contains an unknown parameter [_x]",
    );
    check_refused(
        "{\"index\":{\"_x\":[1]}}\n{}\n",
        &format!("{line} [1], expected a simple value for field [_x] but found [START_ARRAY]"),
    );
    check_refused(
        "{\"update\":{\"_id\":\"1\",\"_source\":[\"a\"]}}\n{\"doc\":{}}\n",
        &format!("{line} [1], expected a simple value for field [_source] but found [START_ARRAY]"),
    );
}

#[test]
fn actions_that_cannot_be_are_refused_in_the_words_of_opensearch() {
    check_refused("{\"index\n", "json_e_o_f_exception");
    check_refused("{\"delete\":{}}\n", "id is missing");
    check_refused("{\"delete\":{\"_id\":\"\"}}\n", "id is missing");
    check_refused(
        "{\"index\":{\"version\":5,\"version_type\":\"external\"}}\n{}\n",
        "an id must be provided if version type or value are set",
    );
    check_refused(
        "{\"update\":{\"_id\":\"1\",\"version\":5,\"version_type\":\"external\"}}\n{\"doc\":{}}\n",
        "Update requests do not support versioning",
    );
    for (line, reason) in [
        (
            r#"{"update":{"_id":"1","version":1}}"#,
            "Update requests do not support versioning",
        ),
        (
            r#"{"create":{"_id":"1","version":3}}"#,
            "create operations do not support explicit versions. use index instead",
        ),
        (
            r#"{"index":{"_id":"1","version":-1,"version_type":"external"}}"#,
            "illegal version value [-1] for version type [EXTERNAL]",
        ),
    ] {
        check_refused(&format!("{line}\n{{}}\n"), reason);
    }
    check_refused(
        "{\"index\":{\"_id\":\"1\",\"if_seq_no\":5,\"if_primary_term\":0}}\n{}\n",
        "ifSeqNo is set, but primary term is [0]",
    );
    check_refused("{\"index\":{}}\n", "no requests added");
    check_refused("{\"index\":{\"if_seq_no\":1}}\n{}\n", "ifSeqNo is set");
    for (member, reason) in [
        (r#""if_seq_no":"x""#, r#"For input string: \"x\""#),
        (
            r#""if_seq_no":-5"#,
            "sequence numbers must be non negative. got [-5].",
        ),
        (r#""version":"x""#, r#"For input string: \"x\""#),
        (
            r#""require_alias":"x""#,
            "Failed to parse value [x] as only [true] or [false]",
        ),
    ] {
        check_refused(&format!("{{\"index\":{{{member}}}}}\n{{}}\n"), reason);
    }
}

#[test]
fn what_a_line_asks_for_in_vain_is_passed_over() {
    let body = concat!(
        r#"{"update":{"_id":"1","op_type":"create"}}"#,
        "\n{\"doc\":{}}\n",
        r#"{"delete":{"_id":"1","require_alias":true}}"#,
        "\n",
    );
    let actions = parsed(body).unwrap();
    let verbs: Vec<_> = actions.iter().map(|action| action.verb).collect();
    assert_eq!(verbs, [Verb::Update, Verb::Delete]);
    assert_eq!(actions[1].require_alias, Some(false));
}

#[test]
fn what_a_line_has_too_much_and_a_last_one_too_little_is_passed_over() {
    let defaults = Defaults {
        index: Some("i".to_string()),
        ..Defaults::default()
    };
    let body = "{\"index\":{\"_id\":\"1\"},\"x\":1}\n{}\n{\"index\":{\"_id\":\"2\"}}\n";
    let actions = parse(&Bytes::from(body), &defaults).unwrap();
    let ids: Vec<_> = actions.iter().map(|action| action.id.as_deref()).collect();
    assert_eq!(ids, [Some("1")]);
}

#[test]
fn an_index_must_come_from_somewhere() {
    let error = parse(&Bytes::from("{\"index\":{}}\n{}\n"), &Defaults::default()).unwrap_err();
    assert!(
        String::from_utf8(error.body())
            .unwrap()
            .contains("index is missing")
    );
}
