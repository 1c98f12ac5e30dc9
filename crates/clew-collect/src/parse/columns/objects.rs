//! Formats of JSON objects, one a line, whose members are what columns are elsewhere. What a format does not name is in `message`
//! alone.

use std::borrow::Cow;

use serde_json::Value;

use super::super::fields::{DESTINATION, Fields, SOURCE};
use super::super::postgresql;
use super::super::{Record, Times};
use super::Column::{Address, Level, Milliseconds, Moment, Number, Status, Target, Text, Time};
use super::{Clock, Column, Found};

/// A format of objects.
pub(crate) struct Object {
    /// Where the members are that all objects of the format have, and together no others.
    signs: &'static [&'static str],
    /// Where a member is, and what it holds.
    members: &'static [(&'static str, Column)],
    /// Takes what the members say together, and finds the level where none of them is one.
    conclude: for<'a> fn(&'a Value, &mut Fields<'a>) -> Option<&'static str>,
}

/// Takes a line of a format of objects.
pub(crate) fn parse_object(
    format: &Object,
    line: &str,
    times: &mut Times,
    record: &mut Record,
) -> Option<()> {
    let line = line.trim_ascii();
    let may_be_one = |sign: &&str| {
        let name = sign.rsplit('/').next().unwrap_or(sign);
        memchr::memmem::find(line.as_bytes(), name.as_bytes()).is_some()
    };
    (line.starts_with('{') && format.signs.iter().all(may_be_one)).then_some(())?;
    let object: Value = serde_json::from_str(line).ok()?;
    let has = |sign: &&str| object.pointer(sign).is_some();
    format.signs.iter().all(has).then_some(())?;
    let texts: Vec<(Cow<'_, str>, &Column)> = format
        .members
        .iter()
        .filter_map(|(place, column)| Some((scalar(object.pointer(place)?)?, column)))
        .collect();
    let mut found = Found::default();
    for (text, column) in &texts {
        // What is not as it should be is passed over, but for the time.
        if !text.is_empty() && column.take(text, &mut found, times).is_none() {
            (!column.is_needed()).then_some(())?;
        }
    }
    found.ms?;
    let level = (format.conclude)(&object, &mut found.fields);
    found.level = level.or(found.level);
    found.write(record);
    Some(())
}

/// A text, or a number as a text.
fn scalar(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::String(text) => Some(Cow::Borrowed(text)),
        Value::Number(number) => Some(Cow::Owned(number.to_string())),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// `PostgreSQL`'s log, as `jsonlog` has it.
pub(crate) static POSTGRESQL: Object = Object {
    signs: &["/timestamp", "/error_severity", "/backend_type"],
    members: &[
        ("/timestamp", Time(Clock::Iso)),
        ("/user", Text("user.name")),
        ("/dbname", Text("postgresql.log.database")),
        ("/pid", Number("process.pid")),
        ("/session_id", Text("postgresql.log.session_id")),
        ("/line_num", Number("postgresql.log.session_line_number")),
        ("/ps", Text("postgresql.log.command_tag")),
        (
            "/session_start",
            Moment("postgresql.log.session_start_time"),
        ),
        ("/vxid", Text("postgresql.log.virtual_transaction_id")),
        ("/txid", Number("postgresql.log.transaction_id")),
        ("/error_severity", Text("postgresql.log.severity")),
        ("/state_code", Text("postgresql.log.sql_state_code")),
        ("/detail", Text("postgresql.log.detail")),
        ("/hint", Text("postgresql.log.hint")),
        ("/internal_query", Text("postgresql.log.internal_query")),
        ("/context", Text("postgresql.log.context")),
        ("/statement", Text("postgresql.log.query")),
        ("/application_name", Text("postgresql.log.application_name")),
        ("/backend_type", Text("postgresql.log.backend_type")),
        ("/query_id", Text("postgresql.log.query_id")),
    ],
    conclude: |object, fields| {
        fields.text("process.name", "postgres");
        let port = object.get("remote_port").and_then(Value::as_u64);
        let port = port.and_then(|port| u16::try_from(port).ok());
        let text = |name: &str| object.get(name)?.as_str();
        if let Some(host) = text("remote_host").and_then(postgresql::known) {
            postgresql::client((host, port), fields);
        }
        postgresql::statement(text("message").unwrap_or(""), fields);
        text("error_severity").and_then(postgresql::level_of)
    },
};

/// MongoDB's log, from 4.4 on.
pub(crate) static MONGODB: Object = Object {
    signs: &["/t/$date", "/s", "/c", "/ctx"],
    members: &[
        ("/t/$date", Time(Clock::Iso)),
        ("/c", Text("mongodb.log.component")),
        ("/ctx", Text("mongodb.log.context")),
        ("/id", Number("mongodb.log.id")),
        ("/attr/ns", Text("mongodb.log.namespace")),
        ("/attr/namespace", Text("mongodb.log.namespace")),
        ("/attr/principalName", Text("user.name")),
        ("/attr/user", Text("user.name")),
        ("/attr/remote", Address(&SOURCE)),
        ("/attr/client", Address(&SOURCE)),
        ("/attr/durationMillis", Milliseconds),
    ],
    conclude: |object, fields| {
        let text = |name: &str| object.get(name).and_then(Value::as_str).unwrap_or("");
        let outcome = match text("msg") {
            "Authentication succeeded" | "Successfully authenticated" => "success",
            "Authentication failed" | "Checking authorization failed" => "failure",
            _ => "",
        };
        fields.text("event.outcome", outcome);
        Some(match text("s") {
            "F" => "fatal",
            "E" => "error",
            "W" => "warning",
            "I" => "info",
            _ => "debug",
        })
    },
};

/// Requests to Traefik, in its format of JSON.
pub(crate) static TRAEFIK_JSON: Object = Object {
    signs: &["/RequestMethod", "/RequestPath", "/DownstreamStatus"],
    members: &[
        ("/time", Time(Clock::Iso)),
        ("/StartUTC", Time(Clock::Iso)),
        ("/ClientAddr", Address(&SOURCE)),
        ("/ClientHost", Address(&SOURCE)),
        ("/ClientUsername", Text("user.name")),
        ("/RequestMethod", Text("http.request.method")),
        ("/RequestPath", Target),
        ("/RequestHost", Text("url.domain")),
        ("/RequestScheme", Text("url.scheme")),
        ("/RequestContentSize", Number("http.request.body.bytes")),
        ("/request_Referer", Text("http.request.referrer")),
        ("/request_User-Agent", Text("user_agent.original")),
        ("/DownstreamStatus", Status),
        ("/DownstreamContentSize", Number("http.response.body.bytes")),
        ("/Duration", Number("event.duration")),
        ("/RequestCount", Number("traefik.access.request_count")),
        ("/RouterName", Text("traefik.access.frontend_name")),
        ("/FrontendName", Text("traefik.access.frontend_name")),
        ("/ServiceURL", Text("traefik.access.backend_url")),
        ("/ServiceAddr", Address(&DESTINATION)),
        ("/level", Level),
    ],
    conclude: |object, fields| {
        let protocol = object.get("RequestProtocol").and_then(Value::as_str);
        let version = protocol.and_then(|protocol| protocol.strip_prefix("HTTP/"));
        fields.text("http.version", version.unwrap_or(""));
        None
    },
};
