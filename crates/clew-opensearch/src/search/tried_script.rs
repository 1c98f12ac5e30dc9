//! `_scripts/painless/_execute`: a script is tried, without being kept, over parameters alone or over one document.

use clew_engine::{Purpose, telling};
use clew_query::{Query, QueryError, ScriptPurpose};
use clew_search::DocumentMatcher;
use serde_json::{Value, json};

use crate::dsl::{self, WrittenScript};
use crate::http::error::ApiError;
use crate::http::reply::Reply;
use crate::state::call::Call;
use crate::state::stored_scripts;

/// `GET|POST /_scripts/painless/_execute`.
pub(crate) async fn execute(call: Call) -> Result<Reply, ApiError> {
    call.require_source()?;
    let body = call.json_object()?;
    let known = ["script", "context", "context_setup"];
    let mut members = body.as_object().into_iter().flatten();
    if let Some((other, value)) = members.find(|(name, _)| !known.contains(&name.as_str())) {
        let error = ApiError::unknown_field("painless_execute_request", other, value);
        return Err(error.placed(&body, &call.body));
    }
    let script = body
        .get("script")
        .ok_or_else(|| ApiError::illegal_argument("script must be provided".to_string()))?;
    let context = body.get("context").and_then(Value::as_str);
    let result = match context.unwrap_or("painless_test") {
        "painless_test" => {
            let read = || WrittenScript::of("script", script)?.read(ScriptPurpose::Alone);
            let script = stored_scripts::reading(&call.api.engine, read)?;
            let now_ms = call.api.engine.now_ms();
            let run = move || script.alone(now_ms).map_err(QueryError::Script);
            Value::from(call.blocking(move |_| Ok(run()?)).await?)
        }
        "filter" => {
            let query = json!({"script": {"script": script}});
            let matched = of_document(&call, &body, &query, |matcher, query, now_ms| {
                Ok(!matcher.matches(query, now_ms)?.is_empty())
            });
            Value::from(matched.await?)
        }
        "score" => {
            let read = || WrittenScript::of("script", script)?.read(ScriptPurpose::Score);
            let script = stored_scripts::reading(&call.api.engine, read)?;
            let all = json!({"match_all": {}});
            let within = body.pointer("/context_setup/query").unwrap_or(&all);
            let number = of_document(&call, &body, within, move |matcher, query, now_ms| {
                matcher.number(&script, query, now_ms)
            });
            json!(number.await?.unwrap_or(0.0))
        }
        other => {
            return Err(ApiError::illegal_argument(format!(
                "unsupported script context name [{other}]"
            )));
        }
    };
    Ok(Reply::json(&json!({"result": result})))
}

/// What is made of the document that a request is about and of a query, at a moment in milliseconds since the epoch.
async fn of_document<T: Send + 'static>(
    call: &Call,
    body: &Value,
    query: &Value,
    make: impl FnOnce(&DocumentMatcher, &Query, i64) -> Result<T, QueryError> + Send + 'static,
) -> Result<T, ApiError> {
    let index = body.pointer("/context_setup/index").and_then(Value::as_str);
    let document = body.pointer("/context_setup/document");
    let (Some(index), Some(document)) = (index, document) else {
        return Err(ApiError::illegal_argument(
            "[context_setup] needs an [index] and a [document] for this context".to_string(),
        ));
    };
    let query = stored_scripts::reading(&call.api.engine, || dsl::parse_query(query))?;
    let opened = call.opened(index, Purpose::Read).await?;
    let [found] = &opened[..] else {
        return Err(ApiError::illegal_argument(format!(
            "[context_setup] needs one index, [{index}] names [{}]",
            opened.len()
        )));
    };
    let found = found.index().clone();
    let document = document.to_string().into_bytes();
    call.blocking(move |engine| {
        let matcher = DocumentMatcher::build(&found.mapping(), &[document])?;
        Ok(telling(|| make(&matcher, &query, engine.now_ms()))?)
    })
    .await
}
