//! OpenSearch's REST API, as Clew and OpenSearch itself speak it.

use anyhow::Context;
use axum::http::{Method, StatusCode};
use bytes::Bytes;
use clew_vector::Space;
use serde::Deserialize;
use serde_json::{Value, json};

use super::api::{Api, Collection, GraphEngine};
use super::http::{BodyKind, Call, Reply};
use super::load::Judgement;

/// The field of vectors.
const FIELD: &str = "vector";
/// So much of an answer is shown where it is a failure.
const SHOWN_BYTES: usize = 300;

#[derive(Debug)]
pub(super) struct OpenSearch;

impl Api for OpenSearch {
    fn name(&self) -> &'static str {
        "opensearch"
    }

    fn version(&self) -> Call {
        Call::json(Method::GET, "/", &Value::Null)
    }

    fn read_version(&self, reply: &Reply) -> Option<String> {
        let told: Value = serde_json::from_slice(&reply.body).ok()?;
        let version = told.get("version")?;
        let number = version.get("number")?.as_str()?;
        let name = version.get("distribution").and_then(Value::as_str);
        let name = name.unwrap_or("elasticsearch");
        // Clew tells the version of the API that it speaks, and itself here.
        let tagline = told.get("tagline").and_then(Value::as_str);
        let own = match tagline.is_some_and(|tagline| tagline.starts_with("Clew ")) {
            true => "clew as ",
            false => "",
        };
        Some(format!("{own}{name} {number}"))
    }

    fn exists(&self, name: &str) -> Call {
        Call::json(Method::HEAD, &format!("/{name}"), &Value::Null)
    }

    fn read_exists(&self, reply: &Reply) -> bool {
        reply.status.is_success()
    }

    fn delete(&self, name: &str) -> Call {
        Call::json(Method::DELETE, &format!("/{name}"), &Value::Null)
    }

    fn create(&self, collection: &Collection) -> Vec<Call> {
        let space = match collection.space {
            Space::Cosine => "cosinesimil",
            Space::InnerProduct => "innerproduct",
            _ => "l2",
        };
        let engine = match collection.engine {
            GraphEngine::Faiss => "faiss",
            GraphEngine::Lucene => "lucene",
        };
        let method = json!({
            "name": "hnsw", "engine": engine, "space_type": space,
            "parameters": {"m": collection.m, "ef_construction": collection.ef_construction},
        });
        let field = json!({"type": "knn_vector", "dimension": collection.dims, "method": method});
        let settings = json!({
            "knn": true, "number_of_shards": collection.shards, "number_of_replicas": 0,
        });
        let body = json!({
            "settings": {"index": settings}, "mappings": {"properties": {FIELD: field}},
        });
        vec![Call::json(
            Method::PUT,
            &format!("/{}", collection.name),
            &body,
        )]
    }

    fn insert(&self, name: &str, first: usize, rows: &[Vec<f32>]) -> Call {
        let mut lines = Vec::new();
        for (at, row) in rows.iter().enumerate() {
            lines.extend(format!("{{\"index\":{{\"_id\":\"{}\"}}}}\n", first + at).into_bytes());
            lines.extend(format!("{{\"{FIELD}\":").into_bytes());
            serde_json::to_writer(&mut lines, row).expect("numbers can be written");
            lines.extend(b"}\n");
        }
        bulk(name, lines)
    }

    fn refresh(&self, name: &str) -> Call {
        refresh(name)
    }

    fn merge(&self, name: &str) -> Call {
        let path = format!("/{name}/_forcemerge?max_num_segments=1");
        Call::json(Method::POST, &path, &Value::Null)
    }

    /// Answers come when it is done.
    fn pending(&self, _: &str) -> Option<Call> {
        None
    }

    fn read_pending(&self, _: &Reply) -> bool {
        false
    }

    fn search(&self, name: &str, query: &[f32], k: usize, ef_search: usize) -> Call {
        let clause = json!({
            "vector": query, "k": k, "method_parameters": {"ef_search": ef_search},
        });
        let body = json!({"size": k, "_source": false, "query": {"knn": {FIELD: clause}}});
        search(name, &body)
    }

    fn read_hits(&self, reply: &Reply) -> anyhow::Result<Vec<u64>> {
        let found: Found = serde_json::from_slice(&reply.body).context("the answer")?;
        let hits = found.hits.hits.iter();
        hits.map(|hit| hit.id.parse().context("an id that nobody wrote"))
            .collect()
    }

    fn judge(&self) -> fn(&Reply) -> Judgement {
        judge
    }
}

pub(super) fn bulk(name: &str, lines: Vec<u8>) -> Call {
    let path = format!("/{name}/_bulk");
    Call::new(Method::POST, &path, BodyKind::Lines, Bytes::from(lines))
}

pub(super) fn refresh(name: &str) -> Call {
    Call::json(Method::POST, &format!("/{name}/_refresh"), &Value::Null)
}

pub(super) fn search(name: &str, body: &Value) -> Call {
    Call::json(Method::POST, &format!("/{name}/_search"), body)
}

pub(super) fn count(name: &str) -> Call {
    Call::json(Method::GET, &format!("/{name}/_count"), &Value::Null)
}

/// How many hits a search counted, or documents a count.
pub(super) fn read_count(reply: &Reply) -> anyhow::Result<u64> {
    let told: Value = serde_json::from_slice(&reply.body).context("the answer")?;
    let count = told
        .get("count")
        .or_else(|| told.pointer("/hits/total/value"));
    count
        .and_then(Value::as_u64)
        .context("the answer has no count")
}

/// The parts of an answer that tell whether it is whole.
#[derive(Deserialize)]
struct Whole {
    #[serde(default)]
    timed_out: bool,
    #[serde(default)]
    errors: bool,
    #[serde(rename = "_shards", default)]
    shards: Shards,
}

#[derive(Default, Deserialize)]
struct Shards {
    #[serde(default)]
    failed: u64,
}

#[derive(Deserialize)]
struct Found {
    hits: Hits,
}

#[derive(Deserialize)]
struct Hits {
    hits: Vec<Hit>,
}

#[derive(Deserialize)]
struct Hit {
    #[serde(rename = "_id")]
    id: String,
}

/// A status is not enough: parts of a search or of a bulk fail under a 200.
pub(super) fn judge(reply: &Reply) -> Judgement {
    if reply.status == StatusCode::TOO_MANY_REQUESTS {
        return Judgement::Refused;
    }
    if !reply.status.is_success() {
        return Judgement::Failed(format!("{}: {}", reply.status.as_u16(), shown(&reply.body)));
    }
    if reply.body.is_empty() {
        return Judgement::Answered;
    }
    match serde_json::from_slice::<Whole>(&reply.body) {
        Err(error) => Judgement::Failed(format!("the answer is no JSON: {error}")),
        Ok(whole) if whole.timed_out => Judgement::Failed("the search timed out".to_owned()),
        Ok(whole) if whole.shards.failed > 0 => {
            Judgement::Failed(format!("{} shards failed", whole.shards.failed))
        }
        Ok(whole) if whole.errors => bulk_errors(&reply.body),
        Ok(_) => Judgement::Answered,
    }
}

/// A bulk whose items were refused as too much can be sent again; any other error of an item is one.
fn bulk_errors(body: &[u8]) -> Judgement {
    let told: Value = serde_json::from_slice(body).unwrap_or_default();
    let items = told.get("items").and_then(Value::as_array);
    let failed = items
        .into_iter()
        .flatten()
        .filter_map(|item| item.as_object()?.values().next())
        .filter(|item| item.get("error").is_some());
    let mut is_refused = false;
    for item in failed {
        if item.get("status").and_then(Value::as_u64) != Some(429) {
            return Judgement::Failed(shown(item.to_string().as_bytes()));
        }
        is_refused = true;
    }
    match is_refused {
        true => Judgement::Refused,
        false => Judgement::Failed("errors without a reason".to_owned()),
    }
}

pub(super) fn shown(body: &[u8]) -> String {
    String::from_utf8_lossy(&body[..body.len().min(SHOWN_BYTES)]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_judged_by_its_parts() {
        let check = |status: u16, body: &str| {
            judge(&Reply {
                status: StatusCode::from_u16(status).unwrap(),
                body: Bytes::from(body.to_owned()),
            })
        };
        let failed = |judgement, part: &str| match judgement {
            Judgement::Failed(why) => assert!(why.contains(part), "{why}"),
            other => panic!("{other:?} is no failure"),
        };
        let whole = r#"{"timed_out": false, "_shards": {"total": 2, "failed": 0}, "hits": {}}"#;
        assert_eq!(check(200, whole), Judgement::Answered);
        assert_eq!(check(200, ""), Judgement::Answered);
        assert_eq!(check(429, "whatever"), Judgement::Refused);
        failed(check(500, "why not"), "500: why not");
        failed(check(200, "<html>"), "no JSON");
        failed(check(200, r#"{"timed_out": true}"#), "timed out");
        failed(check(200, r#"{"_shards": {"failed": 2}}"#), "2 shards");
        let item = |status: u16| format!(r#"{{"index": {{"status": {status}, "error": "so"}}}}"#);
        let bulk = |items: &[String]| {
            let items = items.join(",");
            check(200, &format!(r#"{{"errors": true, "items": [{items}]}}"#))
        };
        let good = r#"{"index": {"status": 201}}"#.to_owned();
        assert_eq!(bulk(&[good.clone(), item(429)]), Judgement::Refused);
        failed(bulk(&[item(429), item(400)]), "400");
        failed(bulk(&[good]), "without a reason");
    }
}
