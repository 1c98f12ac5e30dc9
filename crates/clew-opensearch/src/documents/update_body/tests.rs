//! Bodies of updates: what is read of them, and in which words they are refused.

use clew_platform::{MemoryAccount, MemoryLimits};

use super::*;
use crate::http::request_memory::RequestMemory;
use crate::state::stored_scripts::StoredScripts;

#[test]
fn what_a_script_brings_is_booked_before_it_is_read() {
    let account = MemoryAccount::new(MemoryLimits {
        searches: 1 << 20,
        ..MemoryLimits::none()
    });
    let (memory, stored) = (RequestMemory::new(&account), StoredScripts::default());
    let around = Around {
        index: "i",
        stored: &stored,
        now_ms: 0,
        memory: &memory,
    };
    let numbers = "0,".repeat(20_000);
    for body in [
        format!(r#"{{"script":{{"source":"1","params":{{"a":[{numbers}0]}}}}}}"#),
        format!(r#"{{"doc":{{}},"_source":[{numbers}0]}}"#),
    ] {
        let error = parse(&Bytes::from(body), &around).unwrap_err();
        assert!(
            error.reason().contains("Data too large"),
            "{}",
            error.reason()
        );
    }
}

#[test]
fn an_update_is_read_or_refused_with_a_reason() {
    let stored = StoredScripts::default();
    let around = Around {
        index: "i",
        stored: &stored,
        now_ms: 0,
        memory: &RequestMemory::default(),
    };
    let check = |body: &str, reason: &str| {
        let error = parse(&Bytes::copy_from_slice(body.as_bytes()), &around).unwrap_err();
        let text = String::from_utf8(error.body()).unwrap();
        assert!(text.contains(reason), "{text}");
    };
    check("{}", "script or doc is missing");
    check(r#"{"doc_as_upsert":true}"#, "doc must be specified");
    check(r#"{"script":{}}"#, "must specify either [source]");
    check(
        r#"{"script":{}}"#,
        "[1:12] [UpdateRequest] failed to parse field [script]",
    );
    check(
        r#"{"script":"x","doc":{}}"#,
        "can't provide both script and doc",
    );
    check(
        r#"{"doc":[1]}"#,
        "doc doesn't support values of type: START_ARRAY",
    );
    check(
        r#"{"doc":{}, "x" : 1}"#,
        "[1:12] [UpdateRequest] unknown field [x]",
    );
    check(
        r#"{"script":1}"#,
        "[1:11] [UpdateRequest] script doesn't support values of type: VALUE_NUMBER",
    );
    check(r#"{"doc":{"#, "json_e_o_f_exception");
    check(
        "[]",
        "[1:1] [UpdateRequest] Expected START_OBJECT but was: START_ARRAY",
    );
    check(
        r#"{"doc":{},"detect_noop":"x"}"#,
        "[1:25] [UpdateRequest] failed to parse field [detect_noop]",
    );
    check(
        r#"{"doc":{},"if_seq_no":"x"}"#,
        "[1:23] [UpdateRequest] failed to parse field [if_seq_no]",
    );
    let flags = r#"{"doc":{},"detect_noop":"false","doc_as_upsert":"true"}"#;
    let spec = parse(&Bytes::from(flags), &around).unwrap().spec;
    assert!(!spec.detect_noop && spec.doc_as_upsert);
    let scripted = parse(&Bytes::from(r#"{"script":"x"}"#), &around);
    assert!(scripted.unwrap().spec.change.is_some());
    let body = r#"{"doc":{"a":1.50},"detect_noop":false,"_source":["a"]}"#;
    let update = parse(&Bytes::from(body), &around);
    let update = update.unwrap();
    assert_eq!(update.spec.doc.unwrap(), r#"{"a":1.50}"#);
    assert!(!update.spec.detect_noop);
    assert!(update.source.is_some());
}

#[test]
fn the_body_has_the_last_word() {
    let stored = StoredScripts::default();
    let around = Around {
        index: "i",
        stored: &stored,
        now_ms: 0,
        memory: &RequestMemory::default(),
    };
    let beside = || UpdateSpec {
        doc_as_upsert: true,
        ..usual()
    };
    for (body, expected) in [
        (r#"{"doc":{}}"#, true),
        (r#"{"doc":{},"doc_as_upsert":false}"#, false),
    ] {
        let update = parse_over(&Bytes::from(body), &around, beside()).unwrap();
        assert_eq!(update.spec.doc_as_upsert, expected, "{body}");
    }
    let script = Bytes::from(r#"{"script":"x"}"#);
    let error = parse_over(&script, &around, beside()).unwrap_err();
    assert!(error.reason().contains("doc must be specified"));
}

#[test]
fn a_script_is_a_text_with_parameters_by_name() {
    let stored = StoredScripts::default();
    let around = Around {
        index: "i",
        stored: &stored,
        now_ms: 0,
        memory: &RequestMemory::default(),
    };
    for (name, value, found) in [
        ("source", "5", "VALUE_NUMBER"),
        ("source", "true", "VALUE_BOOLEAN"),
        ("source", "null", "VALUE_NULL"),
        ("source", "[]", "START_ARRAY"),
        ("inline", "5", "VALUE_NUMBER"),
        ("params", "5", "VALUE_NUMBER"),
        ("params", "[]", "START_ARRAY"),
    ] {
        let body = Bytes::from(format!(r#"{{"script":{{"{name}":{value}}}}}"#));
        let error = parse(&body, &around).unwrap_err();
        let told = format!("[script] {name} doesn't support values of type: {found}");
        let cause = format!("{error:?}");
        assert!(cause.contains(&told), "{body:?}: {cause}");
    }
}
