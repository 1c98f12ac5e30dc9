//! What steps make of a document, and what they say of one that they cannot change; the hashes and the words are those
//! of OpenSearch 2.19.

mod chunking;
mod fields;
mod hashes;
mod texts;
mod values;

use serde_json::{Value, json};

use crate::document::Document;
use crate::error::Failure;
use crate::pipeline::Pipeline;

fn document() -> Document {
    let source = json!({
        "tag": "Red", "n": 5, "list": ["b", "a", "C"], "nums": [3, 1, 2], "mix": [1, "a"],
        "nul": null, "obj": {"x": 1, "y": {"z": "q"}}, "objs": [{"x": 2}, {"x": 1}], "raw": "{\"j\": 1} x", "empty": "",
        "html": "<b>x</b> y &amp; &lt;z <br/>w", "pairs": "k=v l=w", "src": "128.232.110.120",
        "dst": "66.35.250.204", "sp": 34855, "dp": 80, "tr": "tcp", "icmp": "icmp", "ty": 8,
        "date": "2016-04-25T12:02:01.789Z", "url": "%zz",
    });
    Document::new("i", source, 0)
}

/// What a step leaves at a path, or what it says.
fn check(step: Value, path: &str, expected: Value) {
    let pipeline = Pipeline::parse(&json!({"processors": [step]})).unwrap();
    let mut document = document();
    let done = pipeline.steps[0].what.change(&mut document);
    let found = match done {
        Ok(()) => document.get(path).unwrap_or(json!("nothing")),
        Err(failure) => told(failure).into(),
    };
    assert_eq!(found, expected, "{step}");
}

/// The kind and the reason.
fn told(failure: Failure) -> String {
    format!("{:?}: {}", failure.kind, failure.reason)
}

fn refuse(step: Value, expected: &str) {
    let error = Pipeline::parse(&json!({"processors": [step]})).unwrap_err();
    let told = [Some(error.reason), error.step, error.property];
    let told: Vec<String> = told.into_iter().flatten().collect();
    assert_eq!(told.join("; "), expected, "{step}");
}
