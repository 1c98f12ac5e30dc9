//! Searches from templates: `_search/template`, `_render/template`.

use clew_ingest::template::{Escape, Template};
use serde_json::{Value, json};

use super::msearch::add_status;
use super::run;
use crate::http::error::ApiError;
use crate::http::reply::Reply;
use crate::search::scripts;
use crate::state::call::Call;

/// `GET|POST /{index}/_search/template`.
pub(crate) async fn search_template(call: Call) -> Result<Reply, ApiError> {
    let body = call.json_object()?;
    let search = render(&call, &body).await?;
    let options = call.resolve_options()?;
    if body.get("simulate") == Some(&Value::Bool(true)) {
        return Ok(Reply::json(&json!({"template_output": search})));
    }
    let mut bytes = run(&call, call.index_expression(), options, search).await?;
    add_status(&mut bytes);
    Ok(Reply::raw_json(bytes))
}

/// `GET|POST /_render/template/{id}`.
pub(crate) async fn render_template(call: Call) -> Result<Reply, ApiError> {
    let body = call.json()?.unwrap_or_else(|| json!({}));
    Ok(Reply::json(
        &json!({"template_output": rendered(&call, &body).await?}),
    ))
}

/// The search that a template of one of several searches becomes.
pub(super) async fn render(call: &Call, body: &Value) -> Result<Value, ApiError> {
    let mut search = rendered(call, body).await?;
    for key in ["explain", "profile"] {
        if let (Some(flag), Value::Object(search)) = (body.get(key), &mut search) {
            search.insert(key.to_string(), flag.clone());
        }
    }
    Ok(search)
}

/// The search that a template becomes.
async fn rendered(call: &Call, body: &Value) -> Result<Value, ApiError> {
    let mut source = None;
    let mut id = call.path("id").map(String::from);
    let mut params = json!({});
    for (key, value) in body.as_object().into_iter().flatten() {
        match (key.as_str(), value) {
            ("source", Value::String(text)) => source = Some(text.clone()),
            ("source", Value::Object(_)) => source = Some(value.to_string()),
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
    let source = match (source, id) {
        (Some(source), _) => source,
        (None, Some(id)) => scripts::source_of(call, &id)?,
        (None, None) => return Err(ApiError::validation("template is missing")),
    };
    let broken = |reason: String| ApiError::bad_request("general_script_exception", reason);
    // Lists inside lists become long.
    let rendering = call.off_thread(move || {
        let template = Template::parse(&source).map_err(broken)?;
        let text = template.render(&params, Escape::Json).map_err(broken)?;
        serde_json::from_str(&text).map_err(|error| ApiError::malformed_json(&error))
    });
    rendering.await?
}
