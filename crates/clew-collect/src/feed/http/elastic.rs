//! What shippers ask of an Elasticsearch before they send to it: who it is, its licence, and whether their templates, policies
//! and aliases are there; and behind it, that what they sent be found. They are told that all is well; nothing of it means
//! anything here.

use hyper::{Method, Response, StatusCode};
use serde_json::json;

use super::answer::{AnswerBody, json};

/// The version that shippers are told: one that those of the seventh and of later generations send to.
const VERSION: &str = "8.11.0";

/// The answer to what is asked before `_bulk`; nothing where that is none of it.
pub(super) fn answer(method: &Method, path: &str) -> Option<Response<AnswerBody>> {
    let is_read = method == Method::GET || method == Method::HEAD;
    let body = match path {
        "/" if is_read => json!({
            "name": "clew",
            "cluster_name": "clew-collect",
            "cluster_uuid": "clew-collect",
            "version": {
                "number": VERSION,
                "build_flavor": "default",
                "build_type": "tar",
                "build_hash": "unknown",
                "build_date": "1970-01-01T00:00:00.000Z",
                "build_snapshot": false,
                "lucene_version": "9.8.0",
                "minimum_wire_compatibility_version": "7.17.0",
                "minimum_index_compatibility_version": "7.0.0",
            },
            "tagline": "You Know, for Search",
        }),
        "/_license" if is_read => json!({
            "license": {
                "status": "active",
                "uid": "clew-collect",
                "type": "basic",
                "issue_date": "1970-01-01T00:00:00.000Z",
                "issue_date_in_millis": 0,
                "max_nodes": 1000,
                "issued_to": "clew-collect",
                "issuer": "clew-collect",
                "start_date_in_millis": -1,
            }
        }),
        "/_xpack" if is_read => {
            json!({"build": {}, "features": {}, "license": {"type": "basic", "status": "active"}})
        }
        "/_cluster/health" if is_read => json!({"status": "green", "timed_out": false}),
        _ if is_refresh(path) && (is_read || method == Method::POST) => {
            json!({"_shards": {"total": 0, "successful": 0, "failed": 0}})
        }
        _ if is_read && is_setup(path) => json!({}),
        _ if method == Method::HEAD => json!({}),
        _ if method == Method::PUT && (is_setup(path) || is_index(path)) => {
            json!({"acknowledged": true, "shards_acknowledged": true})
        }
        _ => return None,
    };
    Some(marked(json(StatusCode::OK, &body)))
}

/// An answer as an Elasticsearch marks it: its clients take none that is not, and would send again what was delivered.
pub(super) fn marked(mut response: Response<AnswerBody>) -> Response<AnswerBody> {
    let product = hyper::header::HeaderValue::from_static("Elasticsearch");
    response.headers_mut().insert("x-elastic-product", product);
    response
}

/// Whether a path asks that what was sent be found: clients ask for it behind their last `_bulk`.
pub(super) fn is_refresh(path: &str) -> bool {
    path.ends_with("/_refresh")
}

/// Templates, policies, pipelines and aliases.
fn is_setup(path: &str) -> bool {
    const ROOMS: [&str; 8] = [
        "/_template/",
        "/_index_template/",
        "/_component_template/",
        "/_ilm/policy/",
        "/_alias/",
        "/_ingest/pipeline",
        "/_data_stream/",
        "/_nodes",
    ];
    ROOMS.iter().any(|room| path.starts_with(room))
}

/// A path that names an index and nothing else.
fn is_index(path: &str) -> bool {
    let name = path.strip_prefix('/').unwrap_or(path);
    !name.is_empty() && !name.starts_with('_') && !name.contains('/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shippers_find_what_they_ask_for_and_others_nothing() {
        let check = |method: Method, path: &str, is_there: bool| {
            let found = answer(&method, path);
            assert_eq!(found.is_some(), is_there, "{method} {path}");
        };
        check(Method::GET, "/", true);
        check(Method::HEAD, "/", true);
        check(Method::GET, "/_license", true);
        check(Method::HEAD, "/_index_template/filebeat-7.17.28", true);
        check(Method::PUT, "/_ilm/policy/filebeat", true);
        check(Method::HEAD, "/filebeat-7.17.28", true);
        check(
            Method::PUT,
            "/%3Cfilebeat-7.17.28-%7Bnow%2Fd%7D-000001%3E",
            true,
        );
        check(Method::POST, "/_refresh", true);
        check(Method::POST, "/_all/_refresh", true);
        check(Method::POST, "/", false);
        check(Method::GET, "/logs/_search", false);
        check(Method::PUT, "/logs/_doc/1", false);
        check(Method::DELETE, "/logs", false);
    }
}
