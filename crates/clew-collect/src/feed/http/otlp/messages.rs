//! OpenTelemetry's messages of logs, as far as they are looked at, by the numbers and names of its protocol (v1): as protobuf
//! and, with `serde`, as JSON, where protobuf's own names (`trace_id`) are as good as those of JSON (`traceId`), and null is as good as
//! nothing.

use prost::Message;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

#[derive(Clone, PartialEq, Message, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct ExportLogsRequest {
    #[prost(message, repeated, tag = "1")]
    #[serde(alias = "resource_logs", deserialize_with = "listed")]
    pub(crate) resource_logs: Vec<ResourceLogs>,
}

#[derive(Clone, PartialEq, Message, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct ResourceLogs {
    #[prost(message, optional, tag = "1")]
    pub(crate) resource: Option<Resource>,
    #[prost(message, repeated, tag = "2")]
    #[serde(alias = "scope_logs", deserialize_with = "listed")]
    pub(crate) scope_logs: Vec<ScopeLogs>,
}

#[derive(Clone, PartialEq, Message, Deserialize)]
#[serde(default)]
pub(crate) struct Resource {
    #[prost(message, repeated, tag = "1")]
    #[serde(deserialize_with = "listed")]
    pub(crate) attributes: Vec<KeyValue>,
}

#[derive(Clone, PartialEq, Message, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct ScopeLogs {
    #[prost(message, optional, tag = "1")]
    pub(crate) scope: Option<Scope>,
    #[prost(message, repeated, tag = "2")]
    #[serde(alias = "log_records", deserialize_with = "listed")]
    pub(crate) log_records: Vec<LogRecord>,
}

#[derive(Clone, PartialEq, Message, Deserialize)]
#[serde(default)]
pub(crate) struct Scope {
    #[prost(string, tag = "1")]
    #[serde(deserialize_with = "said")]
    pub(crate) name: String,
    #[prost(string, tag = "2")]
    #[serde(deserialize_with = "said")]
    pub(crate) version: String,
    #[prost(message, repeated, tag = "3")]
    #[serde(deserialize_with = "listed")]
    pub(crate) attributes: Vec<KeyValue>,
}

#[derive(Clone, PartialEq, Message, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct LogRecord {
    #[prost(fixed64, tag = "1")]
    #[serde(alias = "time_unix_nano", deserialize_with = "whole")]
    pub(crate) time_unix_nano: u64,
    #[prost(fixed64, tag = "11")]
    #[serde(alias = "observed_time_unix_nano", deserialize_with = "whole")]
    pub(crate) observed_time_unix_nano: u64,
    #[prost(int32, tag = "2")]
    #[serde(alias = "severity_number", deserialize_with = "said")]
    pub(crate) severity_number: i32,
    #[prost(string, tag = "3")]
    #[serde(alias = "severity_text", deserialize_with = "said")]
    pub(crate) severity_text: String,
    #[prost(message, optional, tag = "5")]
    pub(crate) body: Option<AnyValue>,
    #[prost(message, repeated, tag = "6")]
    #[serde(deserialize_with = "listed")]
    pub(crate) attributes: Vec<KeyValue>,
    #[prost(bytes = "vec", tag = "9")]
    #[serde(alias = "trace_id", deserialize_with = "hexadecimal")]
    pub(crate) trace_id: Vec<u8>,
    #[prost(bytes = "vec", tag = "10")]
    #[serde(alias = "span_id", deserialize_with = "hexadecimal")]
    pub(crate) span_id: Vec<u8>,
    #[prost(string, tag = "12")]
    #[serde(alias = "event_name", deserialize_with = "said")]
    pub(crate) event_name: String,
}

#[derive(Clone, PartialEq, Message, Deserialize)]
#[serde(default)]
pub(crate) struct KeyValue {
    #[prost(string, tag = "1")]
    #[serde(deserialize_with = "said")]
    pub(crate) key: String,
    #[prost(message, optional, tag = "2")]
    pub(crate) value: Option<AnyValue>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct AnyValue {
    #[prost(oneof = "AnyKind", tags = "1, 2, 3, 4, 5, 6, 7")]
    pub(crate) kind: Option<AnyKind>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
pub(crate) enum AnyKind {
    #[prost(string, tag = "1")]
    Text(String),
    #[prost(bool, tag = "2")]
    Bool(bool),
    #[prost(int64, tag = "3")]
    Int(i64),
    #[prost(double, tag = "4")]
    Double(f64),
    #[prost(message, tag = "5")]
    Array(ArrayValue),
    #[prost(message, tag = "6")]
    Members(KeyValues),
    #[prost(bytes, tag = "7")]
    Bytes(Vec<u8>),
}

#[derive(Clone, PartialEq, Message, Deserialize)]
#[serde(default)]
pub(crate) struct ArrayValue {
    #[prost(message, repeated, tag = "1")]
    #[serde(deserialize_with = "listed")]
    pub(crate) values: Vec<AnyValue>,
}

#[derive(Clone, PartialEq, Message, Deserialize)]
#[serde(default)]
pub(crate) struct KeyValues {
    #[prost(message, repeated, tag = "1")]
    #[serde(deserialize_with = "listed")]
    pub(crate) values: Vec<KeyValue>,
}

impl<'de> Deserialize<'de> for AnyValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error;
        let read = serde_json::Map::<String, Value>::deserialize(deserializer)?;
        let mut kind = None;
        for (name, value) in read {
            if value.is_null() {
                continue;
            }
            let wrong = || D::Error::custom(format!("[{name}] is not a value of its kind"));
            kind = Some(match (name.replace("_value", "Value").as_str(), value) {
                ("stringValue", Value::String(text)) => AnyKind::Text(text),
                ("boolValue", Value::Bool(truth)) => AnyKind::Bool(truth),
                ("intValue", Value::String(digits)) => {
                    AnyKind::Int(digits.parse().map_err(|_| wrong())?)
                }
                ("intValue", Value::Number(number)) => {
                    AnyKind::Int(number.as_i64().ok_or_else(wrong)?)
                }
                ("doubleValue", Value::Number(number)) => {
                    AnyKind::Double(number.as_f64().ok_or_else(wrong)?)
                }
                // Infinities and what is no number are texts in protobuf's JSON.
                ("doubleValue", Value::String(text)) => {
                    AnyKind::Double(text.parse().map_err(|_| wrong())?)
                }
                // Base64, as it is shown in the end.
                ("bytesValue", Value::String(text)) => AnyKind::Text(text),
                ("arrayValue", value) => {
                    AnyKind::Array(serde_json::from_value(value).map_err(D::Error::custom)?)
                }
                ("kvlistValue", value) => {
                    AnyKind::Members(serde_json::from_value(value).map_err(D::Error::custom)?)
                }
                ("stringValue" | "boolValue" | "intValue" | "doubleValue" | "bytesValue", _) => {
                    return Err(wrong());
                }
                _ => continue,
            });
        }
        Ok(AnyValue { kind })
    }
}

fn said<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Option::<T>::deserialize(deserializer).map(Option::unwrap_or_default)
}

fn listed<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    let items: Vec<Option<T>> = said(deserializer)?;
    Ok(items.into_iter().flatten().collect())
}

/// Whole numbers of 64 bits are texts in protobuf's JSON, and mostly numbers in what people send.
fn whole<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    use serde::de::Error;
    let read = match Value::deserialize(deserializer)? {
        Value::String(digits) => digits.parse().ok(),
        Value::Number(number) => number.as_u64(),
        Value::Null => Some(0),
        _ => None,
    };
    read.ok_or_else(|| D::Error::custom("a time is nanoseconds since the epoch"))
}

/// Ids are hexadecimal in this protocol's JSON.
fn hexadecimal<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    use serde::de::Error;
    let text: String = said(deserializer)?;
    let wrong = || D::Error::custom("an id is hexadecimal digits");
    if !text.is_ascii() || !text.len().is_multiple_of(2) {
        return Err(wrong());
    }
    let byte = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).map_err(|_| wrong());
    (0..text.len()).step_by(2).map(byte).collect()
}

/// Why a request was not taken, as both of OpenTelemetry's transports say it (`google.rpc.Status`).
#[derive(Clone, PartialEq, Message)]
pub(crate) struct RpcStatus {
    #[prost(int32, tag = "1")]
    pub(crate) code: i32,
    #[prost(string, tag = "2")]
    pub(crate) message: String,
    #[prost(message, repeated, tag = "3")]
    pub(crate) details: Vec<AnyMessage>,
}

/// A message of a type that its name says (`google.protobuf.Any`).
#[derive(Clone, PartialEq, Message)]
pub(crate) struct AnyMessage {
    #[prost(string, tag = "1")]
    pub(crate) type_url: String,
    #[prost(bytes = "vec", tag = "2")]
    pub(crate) value: Vec<u8>,
}

/// When to come again (`google.rpc.RetryInfo`).
#[derive(Clone, PartialEq, Message)]
pub(crate) struct RetryInfo {
    #[prost(message, optional, tag = "1")]
    pub(crate) retry_delay: Option<Seconds>,
}

/// A span of time (`google.protobuf.Duration`).
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Seconds {
    #[prost(int64, tag = "1")]
    pub(crate) seconds: i64,
}
