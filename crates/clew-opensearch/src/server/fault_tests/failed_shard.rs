//! Everything that reads an index of which one of two shards is damaged: right, or the shard is named.

use clew_engine::Access;
use clew_platform::{Disk, SimDisk};
use serde_json::{Value, json};

use super::{Node, open, segment_file};

/// A node with `docs` of two shards, the second of which is damaged; `other` is well. And the requests' documents:
/// one of each shard.
fn damaged() -> (SimDisk, Node, [String; 2]) {
    let disk = SimDisk::new();
    let node = open(&disk).unwrap();
    let fields = json!({
        "t": {"type": "text"}, "n": {"type": "long"}, "k": {"type": "keyword"},
        "v": {"type": "knn_vector", "dimension": 2},
        "j": {"type": "join", "relations": {"p": "c"}},
        "q": {"type": "percolator"},
    });
    let body = json!({
        "settings": {"number_of_shards": 2, "index.knn": true, "refresh_interval": -1},
        "mappings": {"properties": fields},
    });
    node.done("PUT /docs", body);
    node.done(
        "PUT /other",
        json!({"mappings": {"properties": {"t": {"type": "text"}, "k": {"type": "keyword"}}}}),
    );
    node.done(
        "PUT /other/_doc/1?refresh=true",
        json!({"t": "common", "k": ["k1"]}),
    );
    for n in 0..20 {
        let body = json!({
            "t": format!("common word{n}"), "n": n, "k": format!("k{n}"), "v": [n, 1], "j": "p",
            "q": {"match": {"t": "common"}},
        });
        node.done(&format!("PUT /docs/_doc/{n}"), body);
    }
    node.done("POST /docs/_flush", Value::Null);
    node.done("PUT /docs/_settings", json!({"index.blocks.write": false}));
    let engine = &node.api.engine;
    let uuid = engine.indices(&Access::everything())[0].uuid().to_string();
    drop(node);
    let victim = segment_file(&disk, &uuid, (1, ".store"));
    disk.open(&victim).unwrap().set_len(3).unwrap();
    let node = open(&disk).unwrap();
    let of = |serves: bool| {
        let mut ids = (0..20).map(|n: u32| n.to_string());
        ids.find(|id| (node.ask(&format!("GET /docs/_doc/{id}"), Value::Null).0 == 200) == serves)
    };
    let ids = [of(true).unwrap(), of(false).unwrap()];
    (disk, node, ids)
}

/// Whether an answer tells that a shard of `docs` has failed.
fn is_named(status: u16, answer: &Value) -> bool {
    let text = answer.to_string();
    let names = text.contains("docs") && (text.contains("3 bytes") || text.contains("shard"));
    let failed = |at: &Value| {
        at["_shards"]["failed"]
            .as_u64()
            .is_some_and(|failed| failed > 0)
            && at["_shards"]["failures"][0]["reason"]["reason"].is_string()
    };
    let parts = answer["responses"].as_array();
    let by_parts = parts.is_some_and(|parts| parts.iter().any(failed));
    let listed = answer["failures"].as_array().map(Vec::len);
    let by_name = answer["failures"].as_object().map(serde_json::Map::len);
    let failures = listed.or(by_name).is_some_and(|count| count > 0);
    let by_documents = answer["docs"][0]["error"]["reason"].is_string();
    by_documents || status >= 500 && names || failed(answer) || by_parts || failures
}

#[test]
#[allow(clippy::too_many_lines, reason = "a table of requests")]
fn no_answer_passes_over_a_damaged_shard_in_silence() {
    let (_disk, node, [here, _]) = damaged();
    node.done(
        "PUT /_snapshot/r",
        json!({"type": "fs", "settings": {"location": "/repo/r"}}),
    );
    let all = json!({"query": {"match_all": {}}});
    let lookup = json!({"query": {"terms": {"k": {"index": "docs", "id": here, "path": "k"}}}});
    let like = json!({"query": {"more_like_this": {
        "fields": ["t"], "like": [{"_index": "docs", "_id": here}], "min_term_freq": 1, "min_doc_freq": 1,
    }}});
    let document = json!({"doc": {"t": "common"}, "term_statistics": true});
    let percolate = json!({"query": {"percolate": {"field": "q", "document": {"t": "common"}}}});
    let knn = json!({"query": {"knn": {"v": {"vector": [1, 1], "k": 3}}}});
    let child = json!({"query": {"has_parent": {"parent_type": "p", "query": {"match_all": {}}}}});
    let reindex = json!({"source": {"index": "docs"}, "dest": {"index": "copy"}});
    let update = json!({"query": {"match_all": {}}});
    let msearch = format!("{}\n{all}\n", json!({"index": "docs"}));
    let statistics = format!("POST /docs/_termvectors/{here}?fields=t&term_statistics=true");
    let field_statistics = format!("POST /docs/_termvectors/{here}?fields=t&field_statistics=true");
    let many = json!({"docs": [{"_index": "docs", "_id": here, "fields": ["t"], "term_statistics": true}]});
    let ranked = json!({
        "requests": [{"id": "a", "request": all, "ratings": []}],
        "metric": {"precision": {}},
    });
    let suggest = json!({"suggest": {"s": {"text": "comon", "term": {"field": "t"}}}});
    let cases: Vec<(&str, Value)> = vec![
        ("POST /docs/_search", all.clone()),
        ("POST /docs/_search", percolate),
        ("POST /docs/_search", knn),
        ("POST /docs/_search", child),
        ("POST /docs/_search", suggest),
        ("POST /docs/_search?scroll=1m", all.clone()),
        (
            "POST /docs/_search/point_in_time?keep_alive=1m",
            Value::Null,
        ),
        ("POST /docs/_search", like),
        ("POST /docs/_search", lookup),
        ("POST /docs,other/_msearch", Value::String(msearch)),
        ("GET /docs/_count", Value::Null),
        ("GET /_cat/count/docs", Value::Null),
        ("GET /_cat/count", Value::Null),
        (&statistics, Value::Null),
        (&field_statistics, Value::Null),
        ("POST /docs/_termvectors", document),
        ("POST /_mtermvectors", many),
        ("GET /_plugins/_knn/warmup/docs", Value::Null),
        ("POST /_reindex", reindex),
        ("POST /docs/_delete_by_query", all.clone()),
        ("POST /docs/_update_by_query", update),
        ("POST /docs/_rank_eval", ranked),
        ("PUT /_snapshot/r/s?wait_for_completion=true", Value::Null),
        ("GET /docs/_recall?field=v", Value::Null),
        ("GET /docs/_stats", Value::Null),
        ("POST /docs/_refresh", Value::Null),
        ("POST /docs/_flush", Value::Null),
        ("POST /docs/_forcemerge", Value::Null),
    ];
    let mut silent = Vec::new();
    let mut ask = |(request, body): (&str, Value)| {
        let (status, answer) = node.ask(request, body.clone());
        if !is_named(status, &answer) {
            let shown: String = answer.to_string().chars().take(400).collect();
            silent.push(format!("{request} {body}: {status} {shown}"));
        }
    };
    cases.into_iter().for_each(&mut ask);
    node.done("PUT /docs/_block/write", Value::Null);
    [
        ("PUT /docs/_clone/copy2", Value::Null),
        ("PUT /docs/_shrink/copy3", Value::Null),
        (
            "PUT /docs/_split/copy4",
            json!({"settings": {"index.number_of_shards": 4}}),
        ),
    ]
    .into_iter()
    .for_each(ask);
    assert!(silent.is_empty(), "\n{}", silent.join("\n"));
}

/// Whoever restores it from a snapshot has to.
#[test]
fn an_index_with_a_damaged_shard_can_be_closed_and_opened() {
    let (_disk, node, [here, _]) = damaged();
    let closed = node.done("POST /docs/_close", Value::Null);
    assert_eq!(closed["indices"]["docs"]["closed"], true, "{closed}");
    let (status, answer) = node.ask(&format!("GET /docs/_doc/{here}"), Value::Null);
    assert_eq!(status, 400, "{answer}");
    node.done("POST /docs/_open", Value::Null);
    node.done(&format!("GET /docs/_doc/{here}"), Value::Null);
}

#[test]
fn what_needs_no_documents_of_a_damaged_shard_is_right() {
    let (_disk, node, [here, _]) = damaged();
    let all = json!({"query": {"match_all": {}}});
    let explained = node.done(&format!("GET /docs/_explain/{here}"), all.clone());
    assert_eq!(explained["matched"], true, "{explained}");
    let valid = node.done("POST /docs/_validate/query", all);
    assert_eq!(valid["valid"], true, "{valid}");
    let fields = node.done("GET /docs/_field_caps?fields=*", Value::Null);
    assert!(fields["fields"]["k"]["keyword"].is_object(), "{fields}");
    let analyzed = json!({"field": "t", "text": "a b"});
    let tokens = node.done("POST /docs/_analyze", analyzed);
    assert_eq!(
        tokens["tokens"].as_array().map(Vec::len),
        Some(2),
        "{tokens}"
    );
    let table = node.done("GET /_cat/indices/docs", Value::Null);
    assert!(table.to_string().contains("red"), "{table}");
}
