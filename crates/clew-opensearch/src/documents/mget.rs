//! `_mget`: several documents by id, each found, missing or with its own error.

use std::sync::Arc;

use clew_engine::{Document, IndexHandle, Purpose};
use clew_platform::{Pace, stopped};
use clew_query::go_on;
use clew_schema::text_of;
use serde_json::Value;

use crate::documents::document::{GetSpec, freshness, is_version_asked, write_document};
use crate::http::error::ApiError;
use crate::http::json_writer::JsonWriter;
use crate::http::place::{Spot, token};
use crate::http::reply::Reply;
use crate::http::source_filter::SourceFilter;
use crate::state::call::Call;

/// What is read of a document that is asked for, in bytes.
const SPEC_BYTES: usize = size_of::<GetSpec>() + 128;

/// `POST /_mget`.
pub(crate) async fn mget(call: Call) -> Result<Reply, ApiError> {
    let specs = specs(&call)?;
    if call.params.has("after_glsn") || call.params.flag("refresh", false)? {
        for spec in &specs {
            let indices = call.indices_of(&spec.index, Purpose::Read).await?;
            if call.params.flag("refresh", false)? {
                call.refresh(indices).await?;
            }
        }
    }
    let (engine, access, memory) = (
        call.api.engine.clone(),
        call.access.clone(),
        call.memory.clone(),
    );
    let written = call.off_thread(move || {
        let read = |spec: &mut GetSpec| -> Result<(IndexHandle, Option<Document>), ApiError> {
            let opened = engine.open_one(
                (&spec.index, spec.routing.as_deref()),
                &access,
                Purpose::Read,
            );
            let (index, routing) = opened.map_err(|error| ApiError::from(error).of_one_index())?;
            spec.index = index.name().to_string();
            let found = engine.get(&index, &spec.id, routing.as_deref(), spec.freshness)?;
            // Once as it was found and once as it is answered.
            memory.take(found.as_ref().map_or(0, |found| found.source.len() * 2))?;
            spec.check_version(&index, found.as_ref())?;
            Ok((index, found))
        };
        let mut json = JsonWriter::with_capacity(256 * specs.len());
        json.begin_object().key("docs").begin_array();
        for mut spec in specs {
            // Once the request is over nobody sees the answer.
            if stopped() {
                break;
            }
            match read(&mut spec) {
                Ok((index, found)) => write_document(&mut json, &spec, &index, found.as_ref()),
                Err(error) => write_failure(&mut json, &spec, &error),
            }
        }
        json.end_array().end_object();
        json
    });
    Ok(Reply::written(written.await?))
}

fn write_failure(json: &mut JsonWriter, spec: &GetSpec, error: &ApiError) {
    json.begin_object();
    json.string_field("_index", &spec.index)
        .string_field("_id", &spec.id);
    error.write_error(json);
    json.end_object();
}

fn specs(call: &Call) -> Result<Vec<GetSpec>, ApiError> {
    call.require_source()?;
    let body = call.json()?.unwrap_or_default();
    let specs = read_specs(call, &body);
    specs.map_err(|error| error.placed(&body, &call.body))
}

fn read_specs(call: &Call, body: &Value) -> Result<Vec<GetSpec>, ApiError> {
    let Value::Object(members) = body else {
        let found = token(body);
        let reason = format!("unexpected token [{found}], expected [START_OBJECT]");
        return Err(ApiError::parsing_at(Spot::start_of(body), reason));
    };
    let base = GetSpec {
        index: call.path("index").unwrap_or_default().to_string(),
        id: String::new(),
        routing: call.params.get("routing").map(String::from),
        freshness: freshness(&call.params)?,
        ..GetSpec::shown(&call.params)?
    };
    let (mut specs, mut pace) = (Vec::new(), Pace::default());
    for (key, value) in members {
        let Value::Array(items) = value else {
            let found = token(value);
            let reason =
                format!("unexpected token [{found}], expected [FIELD_NAME] or [START_ARRAY]");
            return Err(ApiError::parsing_at(Spot::start_of(value), reason));
        };
        // With an id each, and its failure where there is no index to look into.
        call.memory
            .take(items.len().saturating_mul(SPEC_BYTES + base.index.len()))?;
        match key.as_str() {
            "ids" => {
                for id in items {
                    go_on(&mut pace)?;
                    if id.is_null() || id.is_object() || id.is_array() {
                        let reason = "ids array element should only contain ids";
                        return Err(ApiError::illegal_argument(reason));
                    }
                    specs.push(GetSpec {
                        id: text(id)?,
                        ..base.clone()
                    });
                }
            }
            "docs" => {
                for item in items {
                    go_on(&mut pace)?;
                    specs.push(spec_of(item, &base)?);
                }
            }
            other => {
                let reason =
                    format!("unknown key [{other}] for a START_ARRAY, expected [docs] or [ids]");
                return Err(ApiError::parsing_at(Spot::start_of(value), reason));
            }
        }
    }
    if specs.is_empty() {
        return Err(ApiError::validation("no documents to get"));
    }
    check_names(&specs)?;
    Ok(specs)
}

/// Looks whether each document is named by an index and an id.
fn check_names(specs: &[GetSpec]) -> Result<(), ApiError> {
    let mut failures = Vec::new();
    for (at, spec) in specs.iter().enumerate() {
        for (what, name) in [("index", &spec.index), ("id", &spec.id)] {
            if name.is_empty() {
                failures.push(format!("{what} is missing for doc {at}"));
            }
        }
    }
    if failures.is_empty() {
        return Ok(());
    }
    let failures: Vec<&str> = failures.iter().map(String::as_str).collect();
    Err(ApiError::validations(&failures))
}

fn spec_of(item: &Value, base: &GetSpec) -> Result<GetSpec, ApiError> {
    let (mut spec, mut is_asked) = (base.clone(), true);
    let Value::Object(members) = item else {
        let reason = "docs array element should include an object";
        return Err(ApiError::illegal_argument(reason));
    };
    for (key, value) in members {
        // Clients that write down all they know write what they were not told as nothing.
        if value.is_null() {
            continue;
        }
        match key.as_str() {
            "_index" => spec.index = text(value)?,
            "_id" => spec.id = text(value)?,
            "routing" => spec.routing = Some(text(value)?),
            "_source" if value.is_number() => {
                let reason = "illegal type for _source: [VALUE_NUMBER]";
                return Err(ApiError::bad_request("parse_exception", reason));
            }
            "_source" => spec.source = Arc::new(SourceFilter::from_json(value)?),
            "stored_fields" => spec.want_stored(value)?,
            "version" => spec.version = version(value)?,
            "version_type" => is_asked = is_version_asked(Some(&text(value)?))?,
            "fields" => {
                let reason = "Unsupported field [fields] used, expected [stored_fields] instead";
                return Err(ApiError::parsing_at(Spot::start_of(value), reason));
            }
            other => {
                return Err(ApiError::bad_request(
                    "parse_exception",
                    format!("failed to parse multi get request. unknown field [{other}]"),
                ));
            }
        }
    }
    spec.version = spec.version.filter(|_| is_asked);
    Ok(spec)
}

/// A version; nothing for the number by which clients that write down all they know say that any is meant.
fn version(value: &Value) -> Result<Option<u64>, ApiError> {
    const ANY: i64 = -3;
    let written = text_of(value);
    match written.parse() {
        Ok(ANY) => Ok(None),
        // No document has one below zero.
        Ok(version) => Ok(Some(u64::try_from(version).unwrap_or(u64::MAX))),
        Err(_) => {
            let reason = format!("For input string: \"{written}\"");
            Err(ApiError::illegal_argument(reason))
        }
    }
}

fn text(value: &Value) -> Result<String, ApiError> {
    match value {
        Value::String(_) | Value::Number(_) | Value::Bool(_) => Ok(text_of(value)),
        Value::Null | Value::Array(_) | Value::Object(_) => Err(ApiError::bad_request(
            "parsing_exception",
            "expected a string for [_id] or [_index]",
        )),
    }
}
