//! `_simulate`: what pipelines would make of documents, without writing any.

use std::sync::Arc;

use clew_ingest::template::plain;
use clew_ingest::{DefinitionError, Document, Failure, Flow, Pipeline, StepEnd, StepWay};
use clew_platform::stopped;
use serde_json::{Map, Value, json};

use super::given::document_of;
use super::prepare::Ingest;
use super::store;
use crate::http::error::ApiError;
use crate::http::reply::Reply;
use crate::http::request_memory::{RequestMemory, json_bytes};
use crate::state::call::Call;
use crate::state::stored_scripts;

/// Documents of one request.
const DOCS_MAX: usize = 10_000;
/// How much more memory JSON takes than its text, about.
const JSON_FACTOR: usize = 4;

/// `POST /_ingest/pipeline/{id}/_simulate`.
pub(crate) async fn simulate(call: Call) -> Result<Reply, ApiError> {
    call.require_source()?;
    let mut body = call.json_object()?;
    // The answer has each document again, and one more is on its way.
    call.memory.take(json_bytes(&call.body).saturating_mul(2))?;
    let is_verbose = call.params.flag("verbose", false)?;
    let name = call.path("id").unwrap_or("_simulate_pipeline").to_string();
    let memory = call.memory.clone();
    let mut definition = match (call.path("id"), body.get("pipeline")) {
        (Some(id), _) => store::find(&call.api.engine, id)
            .ok_or_else(|| ApiError::illegal_argument(format!("pipeline [{id}] does not exist")))?,
        (None, Some(definition)) => definition.clone(),
        (None, None) => return Err(DefinitionError::missing("pipeline").into()),
    };
    stored_scripts::fill(&call.api.engine, &mut definition)?;
    let pipeline = call
        .off_thread(move || Pipeline::parse(&definition).map(Arc::new))
        .await??;
    let Some(Value::Array(docs)) = body.get_mut("docs").map(Value::take) else {
        return Err(DefinitionError::missing("docs").into());
    };
    if docs.is_empty() {
        let reason = "must specify at least one document in [docs]";
        return Err(ApiError::illegal_argument(reason));
    }
    if docs.len() > DOCS_MAX {
        let reason = format!("must specify at most [{DOCS_MAX}] documents in [docs]");
        return Err(ApiError::illegal_argument(reason));
    }
    let now_ms = call.api.engine.now_ms();
    // All of them are looked at before the first one is worked on, one at a time.
    for doc in &docs {
        document_of(doc, now_ms)?;
    }
    let shown = call
        .blocking(move |engine| {
            let mut ingest = Ingest::new(engine);
            // Once the request is over nobody sees the answer.
            let wanted = docs.iter().take_while(|_| !stopped());
            let shown = wanted.map(|doc| {
                let document = document_of(doc, engine.now_ms())?;
                if is_verbose {
                    let watched = (document, name.as_str());
                    return step_by_step(&mut ingest, &pipeline, watched, &memory);
                }
                one(&mut ingest, &pipeline, document, &memory)
            });
            Ok(shown.collect::<Result<Vec<Value>, ApiError>>())
        })
        .await??;
    Ok(Reply::json(&json!({"docs": shown})))
}

fn one(
    ingest: &mut Ingest<'_>,
    pipeline: &Pipeline,
    mut document: Document,
    memory: &RequestMemory,
) -> Result<Value, ApiError> {
    let flow = pipeline.run(&mut document, ingest);
    // The answer keeps it, and what is written of it.
    memory.take(document.set_bytes().saturating_mul(2))?;
    Ok(match flow {
        Ok(Flow::Dropped) => Value::Null,
        Ok(Flow::On) => {
            let about = document.about().clone();
            json!({"doc": shown(&document, about)})
        }
        // OpenSearch answers so when the list itself cannot be gone through.
        Err(failure) if failure.step == "foreach" => return Err(failure.into()),
        Err(failure) => json!({"error": error(failure)}),
    })
}

fn shown(document: &Document, about: Map<String, Value>) -> Value {
    let mut shown = json!({"_index": document.index});
    if let Some(id) = &document.id {
        shown["_id"] = id.as_str().into();
    }
    for (name, said) in &document.conditions {
        shown[name.as_str()] = plain(said).into();
    }
    shown["_source"] = document.source.clone();
    shown["_ingest"] = about.into();
    if let Some(routing) = &document.routing {
        shown["_routing"] = routing.as_str().into();
    }
    shown
}

/// What each step made of a document, up to one that failed or dropped it.
fn step_by_step(
    ingest: &mut Ingest<'_>,
    pipeline: &Pipeline,
    (mut document, name): (Document, &str),
    memory: &RequestMemory,
) -> Result<Value, ApiError> {
    let mut results = Vec::new();
    let mut refused = None;
    let mut watcher = |end: &StepEnd<'_>| {
        if refused.is_some() {
            return;
        }
        let result = result_of(end, name);
        match memory.take(JSON_FACTOR * result.to_string().len()) {
            Ok(()) => results.push(result),
            Err(error) => refused = Some(error),
        }
    };
    // How it ends is what the last step came to.
    drop(pipeline.run_watched(&mut document, ingest, &mut watcher));
    match refused {
        Some(error) => Err(error),
        None => Ok(json!({"processor_results": results})),
    }
}

fn result_of(end: &StepEnd<'_>, name: &str) -> Value {
    let (status, document) = match end.way {
        StepWay::Done(document) => ("success", Some(document)),
        StepWay::Calls => ("success", None),
        StepWay::Dropped => ("dropped", None),
        StepWay::Skipped => ("skipped", None),
        StepWay::Failed(_) => ("error", None),
        StepWay::Ignored(_, document) => ("error_ignored", Some(document)),
    };
    let mut result = json!({"processor_type": end.name, "status": status});
    if let Some(description) = end.description {
        result["description"] = description.into();
    }
    if let Some(tag) = end.tag {
        result["tag"] = tag.into();
    }
    match end.way {
        StepWay::Failed(failure) => result["error"] = error(failure.clone()),
        StepWay::Ignored(failure, _) => {
            result["ignored_error"] = json!({"error": error(failure.clone())});
        }
        StepWay::Done(_) | StepWay::Dropped | StepWay::Skipped | StepWay::Calls => {}
    }
    if let Some(condition) = end.condition {
        let holds = !matches!(end.way, StepWay::Skipped);
        result["if"] = json!({"condition": condition, "result": holds});
    }
    if let Some(document) = document {
        let pipeline = end.pipeline.unwrap_or(name);
        let mut about = Map::from_iter([("pipeline".to_string(), Value::from(pipeline))]);
        about.extend(document.about().clone());
        result["doc"] = shown(document, about);
    }
    result
}

fn error(failure: Failure) -> Value {
    let body: Value =
        serde_json::from_slice(&ApiError::from(failure).body()).unwrap_or(Value::Null);
    body["error"].clone()
}
