//! Milvus' RESTful API v2, which Clew and Milvus answer on the port of their gRPC service.

use anyhow::Context;
use axum::http::{Method, StatusCode};
use clew_vector::Space;
use serde::Deserialize;
use serde_json::{Value, json};

use super::api::{Api, Collection};
use super::http::{Call, Reply};
use super::load::Judgement;
use super::opensearch::shown;

/// A request that was refused because it is too much (`RateLimit`).
const TOO_MUCH: i64 = 8;

#[derive(Debug)]
pub(super) struct Milvus;

fn call(path: &str, body: &Value) -> Call {
    Call::json(Method::POST, &format!("/v2/vectordb/{path}"), body)
}

fn on(path: &str, name: &str) -> Call {
    call(path, &json!({"collectionName": name}))
}

impl Api for Milvus {
    fn name(&self) -> &'static str {
        "milvus"
    }

    /// There is none in this API; whether there are collections, every server can tell.
    fn version(&self) -> Call {
        call("collections/list", &json!({}))
    }

    fn read_version(&self, _: &Reply) -> Option<String> {
        Some("milvus RESTful v2".to_owned())
    }

    fn exists(&self, name: &str) -> Call {
        on("collections/has", name)
    }

    fn read_exists(&self, reply: &Reply) -> bool {
        let told: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
        told.pointer("/data/has").and_then(Value::as_bool) == Some(true)
    }

    fn delete(&self, name: &str) -> Call {
        on("collections/drop", name)
    }

    fn create(&self, collection: &Collection) -> Vec<Call> {
        let metric = match collection.space {
            Space::Cosine => "COSINE",
            Space::InnerProduct => "IP",
            _ => "L2",
        };
        let fields = json!([
            {"fieldName": "id", "dataType": "Int64", "isPrimary": true},
            {"fieldName": "vector", "dataType": "FloatVector", "elementTypeParams": {"dim": collection.dims}},
        ]);
        let index = json!({
            "fieldName": "vector", "indexName": "vector", "metricType": metric, "indexType": "HNSW",
            "params": {"M": collection.m, "efConstruction": collection.ef_construction},
        });
        let body = json!({
            "collectionName": collection.name, "schema": {"autoId": false, "fields": fields},
            "indexParams": [index], "params": {"shardsNum": collection.shards, "consistencyLevel": "Bounded"},
        });
        vec![call("collections/create", &body)]
    }

    fn insert(&self, name: &str, first: usize, rows: &[Vec<f32>]) -> Call {
        let rows: Vec<Value> = rows
            .iter()
            .enumerate()
            .map(|(at, row)| json!({"id": first + at, "vector": row}))
            .collect();
        call(
            "entities/insert",
            &json!({"collectionName": name, "data": rows}),
        )
    }

    fn refresh(&self, name: &str) -> Call {
        on("collections/flush", name)
    }

    fn merge(&self, name: &str) -> Call {
        on("collections/compact", name)
    }

    /// Milvus builds indexes when it likes.
    fn pending(&self, name: &str) -> Option<Call> {
        let body = json!({"collectionName": name, "indexName": "vector"});
        Some(call("indexes/describe", &body))
    }

    fn read_pending(&self, reply: &Reply) -> bool {
        let told: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
        let indexes = told.get("data").and_then(Value::as_array);
        let is_built = |index: &Value| {
            let rows = index
                .get("pendingRows")
                .or_else(|| index.get("pendingIndexRows"));
            index.get("indexState").and_then(Value::as_str) == Some("Finished")
                && rows.and_then(Value::as_u64).unwrap_or(0) == 0
        };
        !indexes.is_some_and(|indexes| indexes.iter().all(is_built))
    }

    fn search(&self, name: &str, query: &[f32], k: usize, ef_search: usize) -> Call {
        let body = json!({
            "collectionName": name, "data": [query], "annsField": "vector", "limit": k,
            "searchParams": {"params": {"ef": ef_search}},
        });
        call("entities/search", &body)
    }

    fn read_hits(&self, reply: &Reply) -> anyhow::Result<Vec<u64>> {
        #[derive(Deserialize)]
        struct Found {
            data: Vec<Hit>,
        }
        #[derive(Deserialize)]
        struct Hit {
            /// A number, or one in quotes, as the caller's `Accept` asks.
            id: Value,
        }
        let found: Found = serde_json::from_slice(&reply.body).context("the answer")?;
        let id = |hit: Hit| match hit.id {
            Value::String(text) => text.parse().ok(),
            id => id.as_u64(),
        };
        let ids = found.data.into_iter().map(id);
        ids.map(|id| id.context("an id that nobody wrote"))
            .collect()
    }

    fn judge(&self) -> fn(&Reply) -> Judgement {
        judge
    }
}

/// Errors come under a 200, with a code.
fn judge(reply: &Reply) -> Judgement {
    #[derive(Deserialize)]
    struct Answer {
        code: i64,
        #[serde(default)]
        message: String,
    }
    if reply.status == StatusCode::TOO_MANY_REQUESTS {
        return Judgement::Refused;
    }
    match serde_json::from_slice::<Answer>(&reply.body) {
        Ok(answer) if answer.code == TOO_MUCH => Judgement::Refused,
        // Milvus of old said 200 for what is well.
        Ok(answer) if matches!(answer.code, 0 | 200) && reply.status.is_success() => {
            Judgement::Answered
        }
        Ok(answer) => Judgement::Failed(format!("{}: {}", answer.code, answer.message)),
        Err(_) => Judgement::Failed(format!("{}: {}", reply.status.as_u16(), shown(&reply.body))),
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    #[test]
    fn an_answer_is_judged_by_its_code() {
        let check = |status: u16, body: &str| {
            judge(&Reply {
                status: StatusCode::from_u16(status).unwrap(),
                body: Bytes::from(body.to_owned()),
            })
        };
        assert_eq!(
            check(200, r#"{"code": 0, "data": []}"#),
            Judgement::Answered
        );
        assert_eq!(
            check(200, r#"{"code": 8, "message": "slow"}"#),
            Judgement::Refused
        );
        assert_eq!(check(429, ""), Judgement::Refused);
        let pending = |index: &str| {
            let body = format!(r#"{{"code": 0, "data": [{index}]}}"#);
            Milvus.read_pending(&Reply {
                status: StatusCode::OK,
                body: Bytes::from(body),
            })
        };
        assert!(!pending(r#"{"indexState": "Finished", "pendingRows": 0}"#));
        assert!(pending(r#"{"indexState": "Finished", "pendingRows": 7}"#));
        assert!(pending(r#"{"indexState": "InProgress", "pendingRows": 7}"#));
        let wrong = check(200, r#"{"code": 100, "message": "no such"}"#);
        assert_eq!(wrong, Judgement::Failed("100: no such".to_owned()));
        assert_eq!(
            check(404, "none"),
            Judgement::Failed("404: none".to_owned())
        );
    }
}
