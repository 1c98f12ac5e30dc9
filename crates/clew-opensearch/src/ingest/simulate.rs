//! `_simulate`: what pipelines would make of documents, without writing any.

use std::sync::Arc;

use clew_ingest::template::plain;
use clew_ingest::{DefinitionError, Document, Failure, Flow, Pipeline};
use clew_platform::stopped;
use serde_json::{Value, json};

use super::prepare::{Ingest, now_ms};
use super::store;
use crate::http::error::ApiError;
use crate::http::reply::Reply;
use crate::state::call::Call;

/// Documents of one request.
const DOCS_MAX: usize = 10_000;

/// `POST /_ingest/pipeline/{id}/_simulate`.
pub(crate) async fn simulate(call: Call) -> Result<Reply, ApiError> {
    let body = call.json_object()?;
    if call.params.flag("verbose", false)? {
        return Err(ApiError::illegal_argument("[verbose] is not supported"));
    }
    let definition = match (call.path("id"), body.get("pipeline")) {
        (Some(id), _) => store::find(&call.api.engine, id)
            .ok_or_else(|| ApiError::illegal_argument(format!("pipeline [{id}] does not exist")))?,
        (None, Some(definition)) => definition.clone(),
        (None, None) => return Err(DefinitionError::missing("pipeline").into()),
    };
    let pipeline = Arc::new(Pipeline::parse(&definition)?);
    let Some(docs) = body.get("docs").and_then(Value::as_array).cloned() else {
        return Err(DefinitionError::missing("docs").into());
    };
    if docs.is_empty() || docs.len() > DOCS_MAX {
        return Err(ApiError::illegal_argument(format!(
            "must specify at least one document in [docs] and at most {DOCS_MAX}"
        )));
    }
    let shown = call
        .blocking(move |engine| {
            let mut ingest = Ingest::new(engine);
            // Once the request is over nobody sees the answer.
            let wanted = docs.iter().take_while(|_| !stopped());
            let shown = wanted.map(|doc| one(&mut ingest, &pipeline, doc));
            Ok(shown.collect::<Result<Vec<Value>, ApiError>>())
        })
        .await??;
    Ok(Reply::json(&json!({"docs": shown})))
}

fn one(ingest: &mut Ingest<'_>, pipeline: &Pipeline, doc: &Value) -> Result<Value, ApiError> {
    let text = |key: &str| doc.get(key).map(plain);
    let mut document = Document::new(
        text("_index").unwrap_or_else(|| "_index".to_string()),
        doc.get("_source").cloned().unwrap_or_else(|| json!({})),
        now_ms(),
    );
    document.id = Some(text("_id").unwrap_or_else(|| "_id".to_string()));
    document.routing = text("routing").or_else(|| text("_routing"));
    Ok(match pipeline.run(&mut document, ingest) {
        Ok(Flow::Dropped) => Value::Null,
        Ok(Flow::On) => {
            let came = document.came().cloned();
            let mut shown = json!({"_index": document.index});
            if let Some(id) = document.id {
                shown["_id"] = id.into();
            }
            shown["_source"] = document.source;
            shown["_ingest"] = json!({"timestamp": came});
            if let Some(routing) = document.routing {
                shown["_routing"] = routing.into();
            }
            json!({"doc": shown})
        }
        // OpenSearch answers so when the list itself cannot be gone through.
        Err(failure) if failure.step == "foreach" => return Err(failure.into()),
        Err(failure) => json!({"error": error(failure)}),
    })
}

fn error(failure: Failure) -> Value {
    let body: Value =
        serde_json::from_slice(&ApiError::from(failure).body()).unwrap_or(Value::Null);
    body["error"].clone()
}
