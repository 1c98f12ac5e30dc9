//! The fields of a record of OpenTelemetry: those of the Elastic Common Schema, where it has a place for what the record says,
//! and `labels` for attributes that no convention knows.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::super::documents::Documents;
use super::messages::{AnyKind, AnyValue, ExportLogsRequest, KeyValue, LogRecord};
use crate::parse::Civil;

/// Attributes inside each other that stay what they are; what is deeper is text.
const DEPTH_MAX: usize = 20;

/// Attributes whose name in the schema is another one.
const RENAMED: [(&str, &str); 24] = [
    ("deployment.environment", "service.environment"),
    ("deployment.environment.name", "service.environment"),
    ("service.instance.id", "service.node.name"),
    ("exception.type", "error.type"),
    ("exception.message", "error.message"),
    ("exception.stacktrace", "error.stack_trace"),
    ("code.filepath", "log.origin.file.name"),
    ("code.file.path", "log.origin.file.name"),
    ("code.lineno", "log.origin.file.line"),
    ("code.line.number", "log.origin.file.line"),
    ("code.function", "log.origin.function"),
    ("code.function.name", "log.origin.function"),
    ("thread.id", "process.thread.id"),
    ("thread.name", "process.thread.name"),
    ("os.type", "host.os.type"),
    ("os.name", "host.os.name"),
    ("os.version", "host.os.version"),
    ("host.arch", "host.architecture"),
    ("k8s.namespace.name", "kubernetes.namespace"),
    ("k8s.node.name", "kubernetes.node.name"),
    ("k8s.pod.name", "kubernetes.pod.name"),
    ("k8s.pod.uid", "kubernetes.pod.uid"),
    ("k8s.container.name", "kubernetes.container.name"),
    ("k8s.deployment.name", "kubernetes.deployment.name"),
];

/// First parts of names that are the same in the schema, or that OpenTelemetry's conventions keep to themselves.
const KNOWN: [&str; 25] = [
    "client",
    "cloud",
    "container",
    "db",
    "destination",
    "device",
    "dns",
    "error",
    "event",
    "faas",
    "file",
    "host",
    "http",
    "k8s",
    "messaging",
    "network",
    "process",
    "rpc",
    "server",
    "service",
    "source",
    "telemetry",
    "url",
    "user",
    "user_agent",
];

/// Levels by the number of their first four.
const LEVELS: [&str; 6] = ["trace", "debug", "info", "warn", "error", "fatal"];

/// Makes all records of a request documents.
pub(super) fn add_all(request: ExportLogsRequest, documents: &mut Documents) {
    for of_resource in request.resource_logs {
        let mut shared = Map::new();
        for attribute in of_resource.resource.unwrap_or_default().attributes {
            set_attribute(&mut shared, attribute);
        }
        for of_scope in of_resource.scope_logs {
            let scope = of_scope.scope.unwrap_or_default();
            let logger = Some(scope.name).filter(|name| !name.is_empty());
            let mut shared = shared.clone();
            for attribute in scope.attributes {
                set_attribute(&mut shared, attribute);
            }
            for record in of_scope.log_records {
                let time_ms = time_ms(&record).unwrap_or(documents.now_ms());
                let document = document(record, time_ms, shared.clone(), logger.as_deref());
                documents.add_made(&Value::Object(document), time_ms);
            }
        }
    }
}

fn document(
    record: LogRecord,
    time_ms: i64,
    shared: Map<String, Value>,
    logger: Option<&str>,
) -> Map<String, Value> {
    let mut time = Vec::new();
    Civil::from_utc_ms(time_ms).push_iso(&mut time);
    let mut document = Map::new();
    document.insert(
        "@timestamp".to_owned(),
        String::from_utf8_lossy(&time).into(),
    );
    let mut structured = None;
    match record.body.map(value).unwrap_or_default() {
        Value::Null => {}
        Value::String(text) => {
            document.insert("message".to_owned(), text.into());
        }
        // A record of parts is a text, too, for those who search in texts.
        other => {
            document.insert("message".to_owned(), other.to_string().into());
            structured = other.is_object().then_some(other);
        }
    }
    document.extend(shared);
    for attribute in record.attributes {
        set_attribute(&mut document, attribute);
    }
    set(&mut document, "event.dataset", "otlp".into());
    if record.severity_number > 0 {
        set(
            &mut document,
            "event.severity",
            record.severity_number.into(),
        );
    }
    if let Some(level) = level(&record.severity_text, record.severity_number) {
        set(&mut document, "log.level", level.into());
    }
    if let Some(logger) = logger {
        set(&mut document, "log.logger", logger.into());
    }
    if !record.event_name.is_empty() {
        set(&mut document, "event.action", record.event_name.into());
    }
    for (name, id) in [("trace.id", &record.trace_id), ("span.id", &record.span_id)] {
        // An id of zeros is none.
        if id.iter().any(|byte| *byte != 0) {
            let digits: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
            set(&mut document, name, digits.into());
        }
    }
    if let Some(structured) = structured {
        set(&mut document, "body", structured);
    }
    document
}

/// When it happened, or else when it was seen.
fn time_ms(record: &LogRecord) -> Option<i64> {
    let times = [record.time_unix_nano, record.observed_time_unix_nano];
    let time = times.into_iter().find(|time| *time > 0)?;
    i64::try_from(time / 1_000_000).ok()
}

/// The level by its name, or else by its number: 1 to 4 is `trace`, 5 to 8 `debug`, and so on.
fn level(text: &str, number: i32) -> Option<String> {
    if !text.is_empty() {
        return Some(text.to_lowercase());
    }
    let at = usize::try_from(number - 1).ok()? / 4;
    LEVELS.get(at).map(|level| (*level).to_owned())
}

/// Sets an attribute under the name that it has in the schema, or among the labels.
fn set_attribute(document: &mut Map<String, Value>, attribute: KeyValue) {
    let KeyValue { key, value: given } = attribute;
    let written = given.map(value).unwrap_or_default();
    if written.is_null() || key.is_empty() {
        return;
    }
    let renamed = RENAMED.iter().find(|(name, _)| *name == key);
    let name = match renamed {
        Some((_, name)) => Some(*name),
        None => {
            let first = key.split_once('.').map(|(first, _)| first);
            first
                .filter(|first| KNOWN.contains(first))
                .map(|_| key.as_str())
        }
    };
    if name.is_some_and(|name| set(document, name, written.clone())) {
        return;
    }
    let labels = document.entry("labels").or_insert_with(|| json!({}));
    if let Value::Object(labels) = labels {
        labels.insert(key.replace('.', "_"), written);
    }
}

/// Sets a field, whose name has the names of objects around it; false where one of them is no object, or where it is an object
/// and the value is none.
fn set(document: &mut Map<String, Value>, path: &str, value: Value) -> bool {
    let (mut object, mut rest) = (document, path);
    while let Some((first, behind)) = rest.split_once('.') {
        let inner = object.entry(first).or_insert_with(|| json!({}));
        let Value::Object(inner) = inner else {
            return false;
        };
        (object, rest) = (inner, behind);
    }
    if object.get(rest).is_some_and(Value::is_object) && !value.is_object() {
        return false;
    }
    object.insert(rest.to_owned(), value);
    true
}

/// A value as JSON; what it cannot say (bytes, infinities) as text.
fn value(any: AnyValue) -> Value {
    value_at(any, 0)
}

fn value_at(any: AnyValue, depth: usize) -> Value {
    let Some(kind) = any.kind else {
        return Value::Null;
    };
    match kind {
        AnyKind::Text(text) => text.into(),
        AnyKind::Bool(truth) => truth.into(),
        AnyKind::Int(number) => number.into(),
        AnyKind::Double(number) => match serde_json::Number::from_f64(number) {
            Some(number) => Value::Number(number),
            None => number.to_string().into(),
        },
        AnyKind::Bytes(bytes) => STANDARD.encode(bytes).into(),
        _ if depth >= DEPTH_MAX => "...".into(),
        AnyKind::Array(array) => {
            let items = array.values.into_iter();
            items.map(|item| value_at(item, depth + 1)).collect()
        }
        AnyKind::Members(members) => {
            let members = members.values.into_iter().map(|member| {
                let inner = member.value.map(|inner| value_at(inner, depth + 1));
                (member.key, inner.unwrap_or_default())
            });
            Value::Object(members.collect())
        }
    }
}

#[cfg(test)]
mod tests;
