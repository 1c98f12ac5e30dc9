//! `_rank_eval`: how good rankings are, judged by documents that people have rated.

mod metric;

use std::collections::BTreeMap;

use clew_platform::Reservation;
use metric::Metric;
use serde_json::{Map, Value, json};

use super::run;
use super::template::rendered;
use crate::http::error::ApiError;
use crate::http::json_writer::JsonWriter;
use crate::http::reply::Reply;
use crate::http::request_memory::words_bytes;
use crate::state::call::Call;

/// Searches in one request.
const REQUESTS_MAX: usize = 1000;

/// A document, by its index and its id.
type Place = (String, String);

/// One search and how its documents were rated.
struct Rated {
    id: String,
    search: Value,
    /// What a search takes that was made by a template.
    _memory: Option<Reservation>,
    ratings: BTreeMap<Place, u32>,
}

/// `GET|POST /{index}/_rank_eval`.
pub(crate) async fn rank_eval(call: Call) -> Result<Reply, ApiError> {
    call.require_source()?;
    let body = call.json_object()?;
    let (metric, requests) = read(&call, &body).await?;
    let (mut details, mut failures) = (Map::new(), Map::new());
    let (mut sum, mut count) = (0.0, 0_u32);
    for request in requests {
        let options = call.resolve_options()?;
        let answer = run(
            &call,
            call.index_expression(),
            options,
            request.search.clone(),
        )
        .await;
        match answer {
            Err(error) => {
                let mut json = JsonWriter::with_capacity(256);
                json.begin_object();
                error.write_error(&mut json);
                json.end_object();
                let told: Value = serde_json::from_slice(&json.into_bytes())
                    .map_err(|error| ApiError::internal(error.to_string()))?;
                failures.insert(request.id, told);
            }
            Ok(bytes) => {
                let answer: Value = serde_json::from_slice(&bytes)
                    .map_err(|error| ApiError::internal(error.to_string()))?;
                // How good it is cannot be told of an answer that lacks a shard.
                if let Some(reason) = answer.pointer("/_shards/failures/0/reason") {
                    failures.insert(request.id, json!({"error": reason, "status": 503}));
                    continue;
                }
                let (score, told) = evaluated(&metric, &request, &answer);
                sum += score;
                count += 1;
                details.insert(request.id, told);
            }
        }
    }
    let score = if count > 0 {
        sum / f64::from(count)
    } else {
        0.0
    };
    Ok(Reply::json(&json!({
        "metric_score": score,
        "details": details,
        "failures": failures,
    })))
}

/// How good one answer is, and what is told of it.
fn evaluated(metric: &Metric, request: &Rated, answer: &Value) -> (f64, Value) {
    let hits = answer.pointer("/hits/hits").and_then(Value::as_array);
    let hits = hits.map(Vec::as_slice).unwrap_or_default();
    let (mut ratings, mut shown, mut unrated) = (Vec::new(), Vec::new(), Vec::new());
    for hit in hits {
        let text = |key: &str| hit.get(key).and_then(Value::as_str).unwrap_or_default();
        let place = (text("_index").to_string(), text("_id").to_string());
        let rating = request.ratings.get(&place).copied();
        if rating.is_none() {
            unrated.push(json!({"_index": place.0, "_id": place.1}));
        }
        shown.push(json!({"hit": hit, "rating": rating}));
        ratings.push(rating);
    }
    let rated: Vec<u32> = request.ratings.values().copied().collect();
    let (score, figures) = metric.judge(&ratings, &rated);
    let told = json!({
        "metric_score": score,
        "unrated_docs": unrated,
        "hits": shown,
        "metric_details": {metric.name(): figures},
    });
    (score, told)
}

fn malformed(reason: impl Into<String>) -> ApiError {
    ApiError::bad_request("x_content_parse_exception", reason.into())
}

async fn read(call: &Call, body: &Value) -> Result<(Metric, Vec<Rated>), ApiError> {
    let mut templates = BTreeMap::new();
    for (key, value) in body.as_object().into_iter().flatten() {
        match key.as_str() {
            "requests" | "metric" | "max_concurrent_searches" => {}
            "templates" => {
                for template in value.as_array().into_iter().flatten() {
                    let id = text(template, "id", "templates")?;
                    let source = template.get("template").cloned().unwrap_or_default();
                    templates.insert(id, source);
                }
            }
            other => return Err(malformed(format!("[rank_eval] unknown field [{other}]"))),
        }
    }
    let metric = body
        .get("metric")
        .ok_or_else(|| malformed("Required [metric]"))?;
    let metric = Metric::read(metric)?;
    let requests = body.get("requests").and_then(Value::as_array);
    let requests = requests.map(Vec::as_slice).unwrap_or_default();
    if requests.is_empty() {
        return Err(ApiError::illegal_argument(
            "Cannot evaluate ranking if no search requests with rated results are provided. \
             Seen: null",
        ));
    }
    if requests.len() > REQUESTS_MAX {
        return Err(ApiError::illegal_argument(format!(
            "more than [{REQUESTS_MAX}] requests in one evaluation"
        )));
    }
    let mut rated = Vec::with_capacity(requests.len());
    for request in requests {
        let one = rated_request(call, request, (&templates, &metric)).await?;
        if rated.iter().any(|other: &Rated| other.id == one.id) {
            return Err(ApiError::illegal_argument(format!(
                "Found duplicate rated request id [{}]",
                one.id
            )));
        }
        rated.push(one);
    }
    Ok((metric, rated))
}

fn text(value: &Value, key: &str, of: &str) -> Result<String, ApiError> {
    let found = value.get(key).and_then(Value::as_str);
    let found = found.ok_or_else(|| malformed(format!("[{of}] Required [{key}]")))?;
    Ok(found.to_string())
}

async fn rated_request(
    call: &Call,
    request: &Value,
    (templates, metric): (&BTreeMap<String, Value>, &Metric),
) -> Result<Rated, ApiError> {
    let known = [
        "id",
        "request",
        "ratings",
        "template_id",
        "params",
        "summary_fields",
    ];
    let members = request.as_object();
    if let Some((other, _)) = members
        .into_iter()
        .flatten()
        .find(|(key, _)| !known.contains(&key.as_str()))
    {
        return Err(malformed(format!("[request] unknown field [{other}]")));
    }
    let id = text(request, "id", "request")?;
    let (mut search, memory) = match (request.get("request"), request.get("template_id")) {
        (Some(search), None) => (search.clone(), None),
        (None, Some(template)) => {
            let name = template.as_str().unwrap_or_default();
            let source = templates.get(name).ok_or_else(|| {
                ApiError::illegal_argument(format!("template id [{name}] is not there"))
            })?;
            let mut body = source.clone();
            if let (Value::Object(body), Some(params)) = (&mut body, request.get("params")) {
                body.insert("params".to_string(), params.clone());
            }
            let (search, memory) = rendered(call, &body, words_bytes).await?;
            (search, Some(memory))
        }
        _ => {
            return Err(ApiError::illegal_argument(
                "Either request or template_id and params must be set",
            ));
        }
    };
    for (part, refused) in [
        ("aggs", "contain aggregations"),
        ("aggregations", "contain aggregations"),
        ("suggest", "contain a suggest section"),
        ("highlight", "contain a highlighter section"),
        ("explain", "use explain"),
        ("profile", "use profile"),
    ] {
        if search.get(part).is_some() {
            return Err(ApiError::illegal_argument(format!(
                "Query in rated requests should not {refused}."
            )));
        }
    }
    let Value::Object(members) = &mut search else {
        return Err(malformed("[request] must be a search"));
    };
    members.insert("size".to_string(), json!(metric.size()));
    let shown = request.get("summary_fields").cloned();
    members.insert("_source".to_string(), shown.unwrap_or(Value::Bool(false)));
    Ok(Rated {
        id,
        search,
        _memory: memory,
        ratings: ratings(request)?,
    })
}

fn ratings(request: &Value) -> Result<BTreeMap<Place, u32>, ApiError> {
    let list = request.get("ratings").and_then(Value::as_array);
    let list = list.ok_or_else(|| malformed("[request] Required [ratings]"))?;
    let mut ratings = BTreeMap::new();
    for one in list {
        let place = (
            text(one, "_index", "rated_document")?,
            text(one, "_id", "rated_document")?,
        );
        let rating = one.get("rating").and_then(Value::as_u64);
        let rating = rating.and_then(|rating| u32::try_from(rating).ok());
        let Some(rating) = rating else {
            return Err(malformed(
                "[rated_document] [rating] must be a whole number from 0 on",
            ));
        };
        if ratings.insert(place.clone(), rating).is_some() {
            return Err(ApiError::illegal_argument(format!(
                "Found duplicate rated document key [{{\"_index\":\"{}\",\"_id\":\"{}\"}}] in \
                 evaluation request",
                place.0, place.1
            )));
        }
    }
    Ok(ratings)
}
