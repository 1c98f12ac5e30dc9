use clew_ingest::{Alone, Document, Pipeline};
use serde_json::{Value, json};

use super::*;

fn error(error: impl Into<ApiError>) -> Value {
    let body: Value = serde_json::from_slice(&error.into().body()).unwrap();
    body["error"].clone()
}

#[test]
fn definitions_are_refused_by_the_names_of_their_parts() {
    for (step, expected) in [
        (
            json!({"foreach": {"field": "a", "processor": {"trim": {"tag": "t"}}}}),
            json!({
                "type": "parse_exception", "reason": "[field] required property is missing",
                "processor_type": "foreach", "processor_tag": "t", "property_name": "field",
            }),
        ),
        (
            json!({"script": {}}),
            json!({
                "type": "illegal_argument_exception", "processor_type": "script",
                "reason": "must specify either [source] for an inline script or [id] for a stored script",
            }),
        ),
    ] {
        let refused = Pipeline::parse(&json!({"processors": [step]})).unwrap_err();
        let mut told = error(refused);
        told.as_object_mut().unwrap().remove("root_cause");
        assert_eq!(told, expected);
    }
}

#[test]
fn scripts_that_are_not_understood_and_that_fail_are_told_as_such() {
    let step = json!({"drop": {"if": "ctx.n +"}});
    let refused = Pipeline::parse(&json!({"processors": [step]})).unwrap_err();
    let told = error(refused);
    assert_eq!(told["type"], "script_exception");
    assert_eq!(told["processor_type"], "drop");
    let step = json!({"script": {"source": "ctx.a.b = 1"}});
    let pipeline = Pipeline::parse(&json!({"processors": [step]})).unwrap();
    let mut document = Document::new("i", json!({}), 0);
    let failure = pipeline.run(&mut document, &mut Alone).unwrap_err();
    let told = error(failure);
    assert_eq!(told["caused_by"]["type"], "null_pointer_exception");
}

#[test]
fn failures_have_the_names_and_statuses_of_opensearch() {
    let source = json!({"n": "x", "list": [1], "mix": [1, "a"], "size": "5 apples"});
    for (step, status, kind) in [
        (
            json!({"trim": {"field": "a"}}),
            400,
            "illegal_argument_exception",
        ),
        (
            json!({"trim": {"field": "list.4"}}),
            400,
            "illegal_argument_exception",
        ),
        (json!({"bytes": {"field": "size"}}), 400, "parse_exception"),
        (
            json!({"grok": {"field": "n", "patterns": ["%{WORD:n:int}"]}}),
            400,
            "number_format_exception",
        ),
        (
            json!({"sort": {"field": "mix"}}),
            500,
            "class_cast_exception",
        ),
        (
            json!({"dissect": {"field": "n", "pattern": "%{a} %{b}"}}),
            500,
            "find_match",
        ),
        (
            json!({"pipeline": {"name": "none"}}),
            500,
            "illegal_state_exception",
        ),
        (
            json!({"fail": {"message": "m"}}),
            500,
            "fail_processor_exception",
        ),
    ] {
        let pipeline = Pipeline::parse(&json!({"processors": [step]})).unwrap();
        let mut document = Document::new("i", source.clone(), 0);
        let failure = pipeline.run(&mut document, &mut Alone).unwrap_err();
        assert_eq!(error(failure.clone())["type"], kind, "{step}");
        assert_eq!(ApiError::from(failure).status().as_u16(), status, "{step}");
    }
}

#[test]
fn what_made_a_step_fail_is_told_behind_it() {
    for (step, kind) in [
        (
            json!({"convert": {"field": "a", "type": "long"}}),
            "number_format_exception",
        ),
        (json!({"json": {"field": "a"}}), "json_parse_exception"),
    ] {
        let pipeline = Pipeline::parse(&json!({"processors": [step]})).unwrap();
        let mut document = Document::new("i", json!({"a": "x"}), 0);
        let failure = pipeline.run(&mut document, &mut Alone).unwrap_err();
        assert_eq!(error(failure)["caused_by"]["type"], kind, "{step}");
    }
}
