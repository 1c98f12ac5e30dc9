//! Vectors of small types: the same from the log, after a restart, and from a segment.

use clew_platform::SimDisk;
use serde_json::{Value, json};

use crate::harness::{Node, update};

/// Fields of each type that mappings can ask for.
fn node(disk: &SimDisk) -> Node {
    let half = json!({"name": "hnsw", "engine": "faiss", "parameters": {"encoder":
        {"name": "sq", "parameters": {"type": "fp16"}}}});
    let mapping = clew_opensearch_mapping::mapping(json!({"properties": {
        "half": {"type": "knn_vector", "dimension": 2, "space_type": "l2", "method": half},
        "byte": {"type": "knn_vector", "dimension": 3, "data_type": "byte", "space_type": "l2"},
        "bits": {"type": "knn_vector", "dimension": 16, "data_type": "binary", "space_type": "hamming"},
        "whole": {"type": "knn_vector", "dimension": 2, "space_type": "l2"},
    }}));
    Node::with_mapping(disk, 1, mapping)
}

fn kept(node: &Node, id: &str) -> Value {
    serde_json::from_slice(&node.get(id).unwrap().source).unwrap()
}

/// What the documents below hold, numbers being those of their fields' types.
fn expected() -> [(&'static str, Value); 3] {
    let rounded = json!({"half": [0.099_975_586, -3.0], "byte": [1.0, -128.0, 127.0],
        "bits": [-1.0, 5.0], "whole": [0.1, 1e-9]});
    [
        ("all", rounded),
        ("none", json!({"n": 1})),
        ("updated", json!({"byte": [3.0, 2.0, 1.0], "n": 2})),
    ]
}

fn check(node: &Node) {
    for (id, expected) in expected() {
        let kept = kept(node, id);
        let (kept, expected) = (kept.as_object().unwrap(), expected);
        assert_eq!(kept.len(), expected.as_object().unwrap().len(), "{id}");
        for (field, value) in expected.as_object().unwrap() {
            let numbers = |value: &Value| -> Vec<f32> {
                let one = |value: &Value| value.as_f64().unwrap() as f32;
                value
                    .as_array()
                    .map_or_else(|| vec![one(value)], |all| all.iter().map(one).collect())
            };
            assert_eq!(numbers(&kept[field]), numbers(value), "{id} {field}");
        }
    }
}

#[test]
fn vectors_of_small_types_come_back_alike_from_the_log_and_from_segments() {
    let disk = SimDisk::new();
    let written = node(&disk);
    written.put(
        "all",
        &json!({"half": [0.1, -3], "byte": [1, -128, 127], "bits": [-1, 5], "whole": [0.1, 1e-9]}),
    );
    written.put("none", &json!({"n": 1}));
    written.put("updated", &json!({"byte": [3, 2, 1]}));
    written
        .write_one(update("updated", &json!({"n": 2})))
        .unwrap();
    // From the log alone, as no segment has them.
    check(&written);
    drop(written);
    let restored = Node::open(&disk).unwrap();
    check(&restored);
    restored.refresh();
    check(&restored);
}

#[test]
fn a_vector_that_rounding_makes_zero_is_written_and_restored() {
    let disk = SimDisk::new();
    let written = node(&disk);
    written.put("tiny", &json!({"half": [1e-9, 0]}));
    written.refresh();
    drop(written);
    let restored = Node::open(&disk).unwrap();
    let half = kept(&restored, "tiny")["half"].clone();
    assert_eq!(half, json!([0.0, 0.0]));
}
