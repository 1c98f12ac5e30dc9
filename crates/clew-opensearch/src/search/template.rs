//! Searches from templates: `_search/template`, `_render/template`.

use axum::http::StatusCode;
use clew_ingest::template::{Escape, Template, TemplateError};
use clew_platform::Reservation;
use serde_json::{Value, json};

use super::msearch::add_status;
use super::run;
use crate::http::error::{ApiError, Cause};
use crate::http::reply::Reply;
use crate::http::request_memory::{json_bytes, words_bytes};
use crate::search::scripts;
use crate::state::call::Call;

/// What a template that stands in a request is called: its name of today, and those that it had before.
const SOURCES: [&str; 3] = ["source", "inline", "template"];

/// What else a request may say.
const MEMBERS: [&str; 5] = ["id", "params", "explain", "profile", "simulate"];

/// What a request is told that names no template.
const MISSING: &str = "template is missing";

/// `GET|POST /{index}/_search/template`.
pub(crate) async fn search_template(call: Call) -> Result<Reply, ApiError> {
    call.require_source()?;
    let body = call.json_object()?;
    check(&body)?;
    let options = call.resolve_options()?;
    if body.get("simulate") == Some(&Value::Bool(true)) {
        let (search, _memory) = rendered(&call, &body, |_| 0).await?;
        return Ok(Reply::json(&json!({"template_output": search})));
    }
    let (search, _memory) = render(&call, &body).await?;
    let mut bytes = run(&call, call.index_expression(), options, search).await?;
    add_status(&mut bytes);
    Ok(Reply::raw_json(bytes))
}

/// `GET|POST /_render/template/{id}`.
pub(crate) async fn render_template(call: Call) -> Result<Reply, ApiError> {
    call.require_source()?;
    let body = call.json_object()?;
    if call.path("id").is_none() {
        check(&body)?;
    }
    let (search, _memory) = rendered(&call, &body, |_| 0).await?;
    Ok(Reply::json(&json!({"template_output": search})))
}

/// Refuses a request that says of no template what it is.
fn check(body: &Value) -> Result<(), ApiError> {
    if let Some(unknown) = unknown_member(body) {
        let reason = format!("[search_template] unknown field [{unknown}]");
        return Err(ApiError::bad_request("x_content_parse_exception", reason));
    }
    match said(body).any(|text| text != "") {
        true => Ok(()),
        false => Err(ApiError::validation(MISSING)),
    }
}

/// The same of one of several requests.
pub(super) fn check_one_of_several(body: &Value) -> Result<(), ApiError> {
    if unknown_member(body).is_none() && said(body).next().is_none() {
        return Err(ApiError::illegal_argument("Malformed search template"));
    }
    check(body)
}

/// What a request says of the template that is meant.
fn said(body: &Value) -> impl Iterator<Item = &Value> {
    let names = SOURCES.into_iter().chain(["id"]);
    names
        .filter_map(move |name| body.get(name))
        .filter(|said| !said.is_null())
}

/// The first member of a request that is none of a template's.
fn unknown_member(body: &Value) -> Option<&str> {
    let mut names = body.as_object()?.keys().map(String::as_str);
    names.find(|name| !SOURCES.contains(name) && !MEMBERS.contains(name))
}

/// The search that a template becomes that is searched with, and the memory that it takes until that is over: a few bytes of a
/// request can become megabytes. Whether it is explained and profiled is said beside the template, never in it.
pub(super) async fn render(call: &Call, body: &Value) -> Result<(Value, Reservation), ApiError> {
    let (mut search, memory) = rendered(call, body, words_bytes).await?;
    if let Value::Object(search) = &mut search {
        for key in ["explain", "profile"] {
            match body.get(key) {
                Some(flag) => search.insert(key.to_string(), flag.clone()),
                None => search.shift_remove(key),
            };
        }
    }
    Ok((search, memory))
}

/// The search that a template becomes, and its memory, with what else is taken by what is done with a text of so many bytes:
/// `besides` tells it.
pub(super) async fn rendered(
    call: &Call,
    body: &Value,
    besides: impl FnOnce(usize) -> usize + Send + 'static,
) -> Result<(Value, Reservation), ApiError> {
    let mut source = None;
    let mut id = None;
    let mut params = json!({});
    for (key, value) in body.as_object().into_iter().flatten() {
        match (key.as_str(), value) {
            (name, Value::String(text)) if SOURCES.contains(&name) => source = Some(text.clone()),
            (name, Value::Object(_)) if SOURCES.contains(&name) => source = Some(value.to_string()),
            ("id", Value::String(text)) => id = Some(text.clone()),
            ("params", Value::Object(_)) => params = value.clone(),
            ("explain" | "profile" | "simulate", Value::Bool(_)) | ("params", Value::Null) => {}
            _ => {
                return Err(ApiError::bad_request(
                    "x_content_parse_exception",
                    format!("[search_template] unknown or malformed field [{key}]"),
                ));
            }
        }
    }
    let source = match (call.path("id"), source, id) {
        // What a path names is meant, whatever the body says.
        (Some(id), _, _) => scripts::source_of(call, id)?,
        (None, Some(source), _) => source,
        (None, None, Some(id)) => scripts::source_of(call, &id)?,
        (None, None, None) => return Err(ApiError::validation(MISSING)),
    };
    let broken = |reason: String| ApiError::bad_request("general_script_exception", reason);
    let memory = call.memory.clone();
    // Lists inside lists become long.
    let rendering = call.off_thread(move || {
        let template = Template::parse(&source).map_err(|error| not_read(&error, &source))?;
        let text = template.render(&params, Escape::Json).map_err(broken)?;
        let held = memory.hold(json_bytes(text.as_bytes()) + besides(text.len()))?;
        let search = serde_json::from_str::<Value>(&text);
        let search = search.map_err(|error| ApiError::malformed_text(text.as_bytes(), &error))?;
        Ok::<_, ApiError>((search, held))
    });
    rendering.await?
}

/// The error of a template that cannot be read, in the words of mustache.java, whose only template is called so.
fn not_read(error: &TemplateError, source: &str) -> ApiError {
    let at = |line: &usize| format!("@[query-template:{line}]");
    let mut kind = "mustache_exception";
    let reason = match error {
        TemplateError::EmptyTag { line } => format!("Empty mustache {}", at(line)),
        TemplateError::OpenTag { line } => format!("Improperly closed variable {}", at(line)),
        TemplateError::HalfClosedTag { name, line, read } => {
            let tag = format!("{name} in query-template:{line}@{read}");
            format!("Improperly closed variable: {tag} {}", at(line))
        }
        TemplateError::OpenSection { name, line } => {
            format!("Failed to close '{name}' tag {}", at(line))
        }
        TemplateError::Mismatched {
            opened,
            closed,
            line,
        } => {
            let opened = opened.as_deref().unwrap_or("null");
            let tags = format!("{opened} != {closed} in query-template:{line}");
            format!("Mismatched start/end tags: {tags} {}", at(line))
        }
        TemplateError::Marks { marks, line } => {
            format!("Invalid delimiter string: {marks} {}", at(line))
        }
        TemplateError::Missing { name } => {
            kind = "mustache_not_found_exception";
            format!("Template {name} not found")
        }
        TemplateError::TooDeep => error.to_string(),
    };
    let cause = Cause::new("script_exception", reason.clone())
        .with("script_stack", Vec::<Value>::new())
        .with("script", source)
        .with("lang", "mustache")
        .caused_by(Cause::new(kind, reason));
    ApiError::new(StatusCode::BAD_REQUEST, cause)
}
