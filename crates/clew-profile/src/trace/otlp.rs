//! Spans as OpenTelemetry's protocol (OTLP) writes them: the messages of `opentelemetry/proto/trace/v1/trace.proto` and
//! what is around them, as far as they are filled.

use prost::Message;

use super::{Attribute, AttributeValue, Span};

/// `ExportTraceServiceRequest`.
#[derive(Clone, PartialEq, Message)]
struct Request {
    #[prost(message, repeated, tag = "1")]
    resource_spans: Vec<ResourceSpans>,
}

#[derive(Clone, PartialEq, Message)]
struct ResourceSpans {
    #[prost(message, optional, tag = "1")]
    resource: Option<Resource>,
    #[prost(message, repeated, tag = "2")]
    scope_spans: Vec<ScopeSpans>,
}

#[derive(Clone, PartialEq, Message)]
struct Resource {
    #[prost(message, repeated, tag = "1")]
    attributes: Vec<KeyValue>,
}

#[derive(Clone, PartialEq, Message)]
struct ScopeSpans {
    #[prost(message, optional, tag = "1")]
    scope: Option<Scope>,
    #[prost(message, repeated, tag = "2")]
    spans: Vec<WrittenSpan>,
}

/// `InstrumentationScope`.
#[derive(Clone, PartialEq, Message)]
struct Scope {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    version: String,
}

/// `Span`.
#[derive(Clone, PartialEq, Message)]
struct WrittenSpan {
    #[prost(bytes = "vec", tag = "1")]
    trace_id: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    span_id: Vec<u8>,
    #[prost(string, tag = "3")]
    trace_state: String,
    #[prost(bytes = "vec", tag = "4")]
    parent_span_id: Vec<u8>,
    #[prost(string, tag = "5")]
    name: String,
    #[prost(int32, tag = "6")]
    kind: i32,
    #[prost(fixed64, tag = "7")]
    start_time_unix_nano: u64,
    #[prost(fixed64, tag = "8")]
    end_time_unix_nano: u64,
    #[prost(message, repeated, tag = "9")]
    attributes: Vec<KeyValue>,
    #[prost(message, optional, tag = "15")]
    status: Option<Status>,
}

#[derive(Clone, PartialEq, Message)]
struct Status {
    #[prost(int32, tag = "3")]
    code: i32,
}

#[derive(Clone, PartialEq, Message)]
struct KeyValue {
    #[prost(string, tag = "1")]
    key: String,
    #[prost(message, optional, tag = "2")]
    value: Option<AnyValue>,
}

#[derive(Clone, PartialEq, Message)]
struct AnyValue {
    #[prost(oneof = "Value", tags = "1, 3")]
    value: Option<Value>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
enum Value {
    #[prost(string, tag = "1")]
    Text(String),
    #[prost(int64, tag = "3")]
    Number(i64),
}

/// Of `SpanKind`.
const INTERNAL: i32 = 1;
const SERVER: i32 = 2;
/// Of `StatusCode`.
const ERROR: i32 = 2;

/// The message by which spans are sent, from a service of these attributes.
pub fn encode_spans(spans: &[Span], service: &[Attribute], version: &str) -> Vec<u8> {
    let scope = Scope {
        name: "clew".to_string(),
        version: version.to_string(),
    };
    let scope_spans = ScopeSpans {
        scope: Some(scope),
        spans: spans.iter().map(written).collect(),
    };
    let resource = Resource {
        attributes: service.iter().map(key_value).collect(),
    };
    let resource_spans = ResourceSpans {
        resource: Some(resource),
        scope_spans: vec![scope_spans],
    };
    let request = Request {
        resource_spans: vec![resource_spans],
    };
    request.encode_to_vec()
}

fn written(span: &Span) -> WrittenSpan {
    let nanos = |time: std::time::Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    let parent = span.parent.map(|parent| parent.0.to_be_bytes().to_vec());
    WrittenSpan {
        trace_id: span.trace.0.to_be_bytes().to_vec(),
        span_id: span.id.0.to_be_bytes().to_vec(),
        trace_state: span.state.to_string(),
        parent_span_id: parent.unwrap_or_default(),
        name: span.name.to_string(),
        kind: if span.is_request { SERVER } else { INTERNAL },
        start_time_unix_nano: nanos(span.began),
        end_time_unix_nano: nanos(span.began + span.took),
        attributes: span.attributes.iter().map(key_value).collect(),
        status: span.failed.then_some(Status { code: ERROR }),
    }
}

fn key_value((key, value): &Attribute) -> KeyValue {
    let value = match value {
        AttributeValue::Text(text) => Value::Text(text.to_string()),
        AttributeValue::Number(number) => Value::Number(*number),
    };
    KeyValue {
        key: (*key).to_string(),
        value: Some(AnyValue { value: Some(value) }),
    }
}
