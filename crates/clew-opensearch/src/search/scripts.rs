//! Scripts that are stored: templates of searches, which are mustache, and scripts; and what scripts there are.

use axum::http::StatusCode;
use clew_engine::DefinitionChange;
use clew_ingest::template::Template;
use clew_query::{ScriptLanguage, ScriptPurpose};
use serde_json::{Value, json};

use crate::dsl::WrittenScript;
use crate::http::error::{ApiError, Cause};
use crate::http::reply::Reply;
use crate::state::call::Call;
use crate::state::stored_scripts::{KIND, find, missing};

const LANG: &str = "mustache";
/// Longest source of a stored template.
const SOURCE_BYTES_MAX: usize = 65_535;

/// `PUT|POST /_scripts/{id}`.
pub(crate) async fn put(call: Call) -> Result<Reply, ApiError> {
    let id = call.path_required("id")?.to_string();
    let body = call.definition()?;
    let Some(script) = body.get("script").and_then(Value::as_object) else {
        return Err(ApiError::bad_request(
            "parsing_exception",
            "must specify <script> object of a stored script",
        ));
    };
    let lang = script.get("lang").and_then(Value::as_str);
    let lang = lang.ok_or_else(|| {
        ApiError::illegal_argument("must specify lang for stored script".to_string())
    })?;
    if lang != LANG && ScriptLanguage::named(lang).is_none() {
        return Err(ApiError::illegal_argument(format!(
            "unable to put stored script with unsupported lang [{lang}]"
        )));
    }
    let source = match script.get("source") {
        Some(Value::String(text)) => text.clone(),
        Some(object @ Value::Object(_)) if lang == LANG => object.to_string(),
        _ => {
            return Err(ApiError::illegal_argument(
                "must specify source for stored script",
            ));
        }
    };
    if source.len() > SOURCE_BYTES_MAX {
        return Err(ApiError::illegal_argument(format!(
            "exceeded max allowed stored script size in bytes [{SOURCE_BYTES_MAX}] with size [{}] \
             for script [{id}]",
            source.len()
        )));
    }
    if let Some(context) = context(&call)
        && !OF_PAINLESS.contains(&context)
        && !OF_OTHERS.contains(&context)
    {
        let cause = Cause::new(
            "illegal_argument_exception",
            format!("Unknown context [{context}]"),
        );
        let told = Cause::new(
            "illegal_argument_exception",
            format!("failed to parse/compile stored script [{id}]"),
        );
        return Err(ApiError::new(
            StatusCode::BAD_REQUEST,
            told.caused_by(cause),
        ));
    }
    if lang == LANG {
        Template::parse(&source).map_err(|error| not_a_template(&id, &error.to_string()))?;
    } else if let Some(purpose) = purpose_of(&call) {
        let written = json!({"lang": lang, "source": source});
        WrittenScript::of("script", &written)?.read(purpose)?;
    }
    let mut kept = json!({"lang": lang, "source": source});
    if let Some(options) = script.get("options") {
        kept["options"] = options.clone();
    }
    let glsn = call
        .changing(move |_| Ok(vec![DefinitionChange::put(KIND, &id, kept)]))
        .await?;
    Ok(Reply::acknowledged().at(glsn))
}

/// What a request says that a script is for, in its path or beside it.
fn context(call: &Call) -> Option<&str> {
    call.path("context").or_else(|| call.params.get("context"))
}

/// What a script is for where the request says so; only then is it held to be understood.
fn purpose_of(call: &Call) -> Option<ScriptPurpose> {
    Some(match context(call)? {
        "score" => ScriptPurpose::Score,
        "filter" => ScriptPurpose::Filter,
        "field" => ScriptPurpose::Field,
        "number_sort" | "string_sort" => ScriptPurpose::Order,
        "moving-function" => ScriptPurpose::Window,
        "interval" => ScriptPurpose::Interval,
        "ingest" | "processor_conditional" | "search" | "update" => ScriptPurpose::Change,
        "aggregation_selector" | "bucket_aggregation" => ScriptPurpose::Bucket,
        "aggs" | "terms_set" => ScriptPurpose::Values,
        "derived_field" => ScriptPurpose::Derived,
        "aggs_init" | "aggs_combine" => ScriptPurpose::State,
        "aggs_map" => ScriptPurpose::StateOfDocument,
        "aggs_reduce" => ScriptPurpose::States,
        "painless_test" => ScriptPurpose::Alone,
        _ => return None,
    })
}

fn not_a_template(id: &str, reason: &str) -> ApiError {
    ApiError::bad_request(
        "general_script_exception",
        format!("Failed to compile stored script [{id}] using lang [{LANG}]: {reason}"),
    )
}

/// `GET /_scripts/{id}`.
pub(crate) async fn get(call: Call) -> Result<Reply, ApiError> {
    let id = call.path_required("id")?;
    match stored(&call, id) {
        Some(script) => Ok(Reply::json(
            &json!({"_id": id, "found": true, "script": script}),
        )),
        None => {
            Ok(Reply::json(&json!({"_id": id, "found": false})).with_status(StatusCode::NOT_FOUND))
        }
    }
}

/// `DELETE /_scripts/{id}`.
pub(crate) async fn delete(call: Call) -> Result<Reply, ApiError> {
    let id = call.path_required("id")?.to_string();
    if stored(&call, &id).is_none() {
        let reason = format!("stored script [{id}] does not exist and cannot be deleted");
        let cause = Cause::new("resource_not_found_exception", reason);
        return Err(ApiError::new(StatusCode::NOT_FOUND, cause));
    }
    let glsn = call
        .changing(move |_| Ok(vec![DefinitionChange::remove(KIND, &id)]))
        .await?;
    Ok(Reply::acknowledged().at(glsn))
}

fn stored(call: &Call, id: &str) -> Option<Value> {
    find(&call.api.engine, id)
}

/// The source of a stored template.
pub(crate) fn source_of(call: &Call, id: &str) -> Result<String, ApiError> {
    let found = stored(call, id).ok_or_else(|| missing(id))?;
    Ok(found["source"].as_str().unwrap_or_default().to_string())
}

/// `GET /_script_context`: what scripts can be used for here.
pub(crate) async fn contexts(_call: Call) -> Result<Reply, ApiError> {
    let param = |kind: &str, name: &str| json!({"type": kind, "name": name});
    let no_params: [Value; 0] = [];
    Ok(Reply::json(&json!({"contexts": [{
        "name": "template",
        "methods": [
            {"name": "execute", "return_type": "java.lang.String", "params": no_params},
            {
                "name": "newInstance",
                "return_type": "org.opensearch.script.TemplateScript",
                "params": [param("java.util.Map", "params")],
            },
        ],
    }, {
        "name": "update",
        "methods": [
            {"name": "execute", "return_type": "void", "params": no_params},
            {"name": "getCtx", "return_type": "java.util.Map", "params": no_params},
            {"name": "getParams", "return_type": "java.util.Map", "params": no_params},
        ],
    }]})))
}

/// What scripts of searches are for.
const OF_SEARCHES: [&str; 6] = [
    "aggs",
    "field",
    "filter",
    "number_sort",
    "score",
    "terms_set",
];

/// What scripts may be for that are Painless.
const OF_PAINLESS: [&str; 18] = [
    "aggregation_selector",
    "aggs",
    "aggs_combine",
    "aggs_init",
    "aggs_map",
    "aggs_reduce",
    "bucket_aggregation",
    "derived_field",
    "field",
    "filter",
    "ingest",
    "number_sort",
    "painless_test",
    "processor_conditional",
    "score",
    "search",
    "terms_set",
    "update",
];

/// What else OpenSearch knows that scripts are for; here they are not held to it when they are kept.
const OF_OTHERS: [&str; 8] = [
    "analysis",
    "interval",
    "moving-function",
    "script_heuristic",
    "similarity",
    "similarity_weight",
    "string_sort",
    "template",
];

/// What Painless is told to be for by OpenSearch, and scripts are not here.
const OF_NO_PAINLESS: [&str; 5] = [
    "script_heuristic",
    "search",
    "similarity",
    "similarity_weight",
    "template",
];

/// `GET /_scripts/painless/_context`: the names of what scripts may be for.
pub(crate) async fn painless_contexts(call: Call) -> Result<Reply, ApiError> {
    let all = OF_PAINLESS.iter().chain(&OF_OTHERS);
    let mut names: Vec<&str> = all
        .filter(|name| !OF_NO_PAINLESS.contains(name))
        .copied()
        .collect();
    names.sort_unstable();
    match call.params.get("context") {
        None => Ok(Reply::json(&json!({"contexts": names}))),
        Some(name) if names.contains(&name) => Err(ApiError::illegal_argument(format!(
            "the classes of script context [{name}] are not listed here"
        ))),
        Some(name) => Err(ApiError::illegal_argument(format!(
            "script context [{name}] not found"
        ))),
    }
}

/// `GET /_script_language`: what scripts may be written in.
pub(crate) async fn languages(_call: Call) -> Result<Reply, ApiError> {
    Ok(Reply::json(&json!({
        "types_allowed": ["inline", "stored"],
        "language_contexts": [
            {"language": "expression", "contexts": OF_SEARCHES},
            {"language": LANG, "contexts": ["template"]},
            {"language": "painless", "contexts": OF_PAINLESS},
        ],
    })))
}
