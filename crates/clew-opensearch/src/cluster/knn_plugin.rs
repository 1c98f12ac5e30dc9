//! The paths of OpenSearch's k-NN plugin that benchmark tools call.

use axum::http::StatusCode;
use clew_engine::Purpose;
use serde_json::{Map, Value, json};

use crate::http::error::{ApiError, Cause};
use crate::http::reply::Reply;
use crate::http::shard_outcomes::ShardOutcomes;
use crate::state::call::Call;

/// `GET /_plugins/_knn/warmup/{index}`: graphs are memory-mapped and serve at once, so there is
/// nothing to load; what is written becomes visible, as after the plugin's warm-up.
pub(crate) async fn warmup(call: Call) -> Result<Reply, ApiError> {
    let indices = call.indices(Purpose::Change).await?;
    let shards = ShardOutcomes::of_serving(&indices).shown();
    Ok(Reply::json(&json!({"_shards": shards})))
}

/// `POST /_plugins/_knn/clear_cache/{index}`: there is no cache of ours; what the operating system
/// keeps of mapped files it gives up by itself.
pub(crate) async fn clear_cache(call: Call) -> Result<Reply, ApiError> {
    warmup(call).await
}

/// `GET /_plugins/_knn/models/{model}`, and its deletion: there are no models.
pub(crate) async fn no_model(call: Call) -> Result<Reply, ApiError> {
    let model = call.path("model").unwrap_or_default();
    Err(ApiError::new(
        StatusCode::NOT_FOUND,
        Cause::new(
            "resource_not_found_exception",
            format!("Model \"{model}\" does not exist"),
        ),
    ))
}

/// `_train`: nothing has to be trained beforehand.
pub(crate) async fn train(_call: Call) -> Result<Reply, ApiError> {
    Err(ApiError::illegal_argument(
        "models are not needed: merges train the inverted lists and the codes of a field that is \
         mapped with its own [method]",
    ))
}

/// `_plugins/_knn/models/_search`: finds none.
pub(crate) async fn search_models(_call: Call) -> Result<Reply, ApiError> {
    Ok(Reply::json(&json!({
        "took": 0,
        "timed_out": false,
        "_shards": {"total": 0, "successful": 0, "skipped": 0, "failed": 0},
        "hits": {"total": {"value": 0, "relation": "eq"}, "max_score": null, "hits": []},
    })))
}

/// `GET /_plugins/_knn/stats`.
pub(crate) async fn stats(call: Call) -> Result<Reply, ApiError> {
    let (mut vectors, mut structured_vectors) = (0u64, 0u64);
    for index in call.shown_indices() {
        let stats = index.stats();
        vectors += stats.vectors;
        structured_vectors += stats.structured_vectors;
    }
    let whole = [
        ("circuit_breaker_triggered", json!(false)),
        ("model_index_status", Value::Null),
    ];
    let node = [
        ("vectors", json!(vectors)),
        ("structured_vectors", json!(structured_vectors)),
        ("graph_memory_usage", json!(0)),
        ("graph_memory_usage_percentage", json!(0.0)),
        ("cache_capacity_reached", json!(false)),
        ("indices_in_cache", json!({})),
        ("eviction_count", json!(0)),
        ("hit_count", json!(0)),
        ("miss_count", json!(0)),
        ("load_success_count", json!(0)),
        ("load_exception_count", json!(0)),
        ("total_load_time", json!(0)),
        ("graph_query_errors", json!(0)),
        ("graph_index_errors", json!(0)),
        ("indexing_from_model_degraded", json!(false)),
        ("training_memory_usage", json!(0)),
        ("training_memory_usage_percentage", json!(0.0)),
        ("training_errors", json!(0)),
        ("training_requests", json!(0)),
        ("faiss_initialized", json!(true)),
        ("nmslib_initialized", json!(false)),
        ("lucene_initialized", json!(true)),
    ];
    let wanted = call.path("stat").filter(|names| *names != "_all");
    let wanted: Option<Vec<&str>> = wanted.map(|names| names.split(',').collect());
    let is_known = |name: &str| whole.iter().chain(&node).any(|(known, _)| *known == name);
    if let Some(name) = wanted.iter().flatten().find(|name| !is_known(name)) {
        let path = call.path("stat").unwrap_or_default();
        return Err(ApiError::illegal_argument(format!(
            "request [/_plugins/_knn/stats/{path}] contains unrecognized stat: [{name}]"
        )));
    }
    let chosen = |stats: &[(&str, Value)]| -> Map<String, Value> {
        let is_wanted = |name: &str| wanted.as_ref().is_none_or(|wanted| wanted.contains(&name));
        let stats = stats.iter().filter(|(name, _)| is_wanted(name));
        stats
            .map(|(name, value)| ((*name).to_string(), value.clone()))
            .collect()
    };
    let mut body = Map::new();
    body.insert(
        "_nodes".to_string(),
        json!({"total": 1, "successful": 1, "failed": 0}),
    );
    body.insert(
        "cluster_name".to_string(),
        json!(call.api.options.cluster_name),
    );
    body.extend(chosen(&whole));
    body.insert(
        "nodes".to_string(),
        json!({&call.api.node_id: chosen(&node)}),
    );
    Ok(Reply::json(&Value::Object(body)))
}
