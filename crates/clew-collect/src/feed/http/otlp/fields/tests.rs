use prost::Message;

use super::super::{Form, read};
use super::*;
use crate::feed::ParcelKind;

fn documents(body: &[u8], form: Form) -> Vec<Value> {
    let mut documents = Documents::new(5_000);
    read(body, form, &mut documents).unwrap();
    let Some(parcel) = documents.parcel(0) else {
        return Vec::new();
    };
    assert!(matches!(parcel.kind, ParcelKind::Documents(_)));
    let lines = parcel.lines();
    lines
        .map(|(line, _)| serde_json::from_slice(line).unwrap())
        .collect()
}

const WHOLE: &str = r#"{"resourceLogs": [{
        "resource": {"attributes": [
            {"key": "service.name", "value": {"stringValue": "shop"}},
            {"key": "k8s.pod.name", "value": {"stringValue": "shop-1"}},
            {"key": "team", "value": {"stringValue": "blue"}}
        ]},
        "scopeLogs": [{
            "scope": {"name": "shop.cart", "version": "1", "attributes": [{"key": "part", "value": {"stringValue": "cart"}}]},
            "logRecords": [
                {
                    "timeUnixNano": "1767323045678901234", "severityNumber": 17, "severityText": "ERROR",
                    "body": {"stringValue": "it broke"},
                    "traceId": "5b8efff798038103d269b633813fc60c", "spanId": "eee19b7ec3c1b174",
                    "attributes": [
                        {"key": "exception.type", "value": {"stringValue": "KeyError"}},
                        {"key": "code.lineno", "value": {"intValue": "17"}},
                        {"key": "http.request.method", "value": {"stringValue": "GET"}},
                        {"key": "http", "value": {"boolValue": true}},
                        {"key": "cart.items", "value": {"arrayValue": {"values": [{"intValue": 1}, {"doubleValue": 2.5}]}}},
                        {"key": "unset", "value": {}}
                    ]
                },
                {
                    "observedTimeUnixNano": 1767323045000000000, "severityNumber": 10, "eventName": "cart.emptied",
                    "body": {"kvlistValue": {"values": [{"key": "n", "value": {"intValue": 3}}]}},
                    "traceId": "", "someThingNew": {"a": 1}
                },
                {}
            ]
        }]
    }]}"#;

#[test]
fn records_have_the_fields_of_the_common_schema() {
    let found = documents(WHOLE.as_bytes(), Form::Json);
    let shared = json!({"service": {"name": "shop"}, "kubernetes": {"pod": {"name": "shop-1"}}});
    let with = |mut more: Value| {
        let members = more.as_object_mut().unwrap();
        members.extend(shared.as_object().unwrap().clone());
        more
    };
    assert_eq!(
        found[0],
        with(json!({
            "@timestamp": "2026-01-02T03:04:05.678Z",
            "message": "it broke",
            "event": {"dataset": "otlp", "severity": 17},
            "log": {"level": "error", "logger": "shop.cart", "origin": {"file": {"line": 17}}},
            "trace": {"id": "5b8efff798038103d269b633813fc60c"},
            "span": {"id": "eee19b7ec3c1b174"},
            "error": {"type": "KeyError"},
            "http": {"request": {"method": "GET"}},
            "labels": {"team": "blue", "part": "cart", "http": true, "cart_items": [1, 2.5]},
        }))
    );
    assert_eq!(
        found[1],
        with(json!({
            "@timestamp": "2026-01-02T03:04:05.000Z",
            "message": r#"{"n":3}"#,
            "body": {"n": 3},
            "event": {"dataset": "otlp", "severity": 10, "action": "cart.emptied"},
            "log": {"level": "info", "logger": "shop.cart"},
            "labels": {"team": "blue", "part": "cart"},
        }))
    );
    assert_eq!(found[2]["@timestamp"], "1970-01-01T00:00:05.000Z");
    assert_eq!(found.len(), 3);
}

#[test]
fn both_forms_of_a_request_are_the_same_documents() {
    let request: ExportLogsRequest = serde_json::from_str(WHOLE).unwrap();
    let protobuf = documents(&request.encode_to_vec(), Form::Protobuf);
    assert_eq!(protobuf, documents(WHOLE.as_bytes(), Form::Json));
}

#[test]
fn names_of_protobuf_and_nulls_are_taken_in_json() {
    let body = br#"{"resource_logs": [null, {"resource": null, "scope_logs": [{"scope": {"name": null}, "log_records": [
        {"time_unix_nano": "1700000000123456789", "severity_number": 9, "severity_text": null, "trace_id": "0a", "span_id": null,
         "body": {"string_value": "said"}, "attributes": [{"key": "n", "value": {"kvlist_value": {"values": [{"key": "a", "value": {"int_value": "7"}}]}}}]}
    ]}]}]}"#;
    let found = documents(body, Form::Json);
    assert_eq!(
        found,
        [json!({
            "@timestamp": "2023-11-14T22:13:20.123Z", "message": "said", "labels": {"n": {"a": 7}},
            "event": {"dataset": "otlp", "severity": 9}, "log": {"level": "info"}, "trace": {"id": "0a"},
        })]
    );
}

#[test]
fn what_is_no_request_is_refused() {
    for (body, form) in [
        (&b"\x0a\xff"[..], Form::Protobuf),
        (b"7", Form::Json),
        (
            b"{\"resourceLogs\": [{\"scopeLogs\": [{\"logRecords\": [{\"timeUnixNano\": -1}]}]}]}",
            Form::Json,
        ),
        (
            b"{\"resourceLogs\": [{\"scopeLogs\": [{\"logRecords\": [{\"traceId\": \"xy\"}]}]}]}",
            Form::Json,
        ),
    ] {
        assert!(read(body, form, &mut Documents::new(0)).is_err());
    }
    assert!(documents(b"", Form::Protobuf).is_empty());
}

#[test]
fn an_attribute_that_does_not_fit_what_is_there_is_a_label() {
    let attribute = |key: &str, text: &str| KeyValue {
        key: key.to_owned(),
        value: Some(AnyValue {
            kind: Some(AnyKind::Text(text.to_owned())),
        }),
    };
    let mut document = Map::new();
    for (key, text) in [
        ("host.name", "h"),
        ("host.name.long", "l"),
        ("error.a.b", "1"),
        ("error.a", "2"),
    ] {
        set_attribute(&mut document, attribute(key, text));
    }
    assert_eq!(
        Value::Object(document),
        json!({"host": {"name": "h"}, "error": {"a": {"b": "1"}}, "labels": {"host_name_long": "l", "error_a": "2"}})
    );
}
