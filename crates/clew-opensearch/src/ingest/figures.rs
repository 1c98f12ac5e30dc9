//! What pipelines did since the process began, as `_nodes/stats` and `_cluster/stats` show it, and what steps there are.

use std::collections::BTreeMap;

use clew_engine::Engine;
use clew_ingest::{PROCESSOR_NAMES, RunCounts, total_counts};
use clew_platform::whole_ms;
use serde_json::{Map, Value, json};

use super::store;

/// The section `ingest` of `_nodes/stats`: of all documents, and of each pipeline with its steps in their order.
pub(crate) fn stats(engine: &Engine) -> Value {
    let mut pipelines = Map::new();
    for (name, pipeline) in store::ready(engine) {
        let mut shown = of(pipeline.counts());
        let steps = pipeline.step_counts().map(|step| {
            let name = step.name;
            json!({name: {"type": step.kind, "stats": of(step.counts)}})
        });
        shown["processors"] = Value::Array(steps.collect());
        pipelines.insert(name, shown);
    }
    json!({"total": of(total_counts()), "pipelines": pipelines})
}

/// What steps of each kind did, for `_cluster/stats`.
pub(crate) fn by_kind(engine: &Engine) -> Value {
    let mut kinds: BTreeMap<&str, RunCounts> = BTreeMap::new();
    for (_, pipeline) in store::ready(engine) {
        for step in pipeline.step_counts() {
            *kinds.entry(step.kind).or_default() += step.counts;
        }
    }
    let kinds = kinds.into_iter();
    Value::Object(
        kinds
            .map(|(kind, counts)| (kind.to_string(), of(counts)))
            .collect(),
    )
}

/// The kinds of steps there are, which shippers look through before they put their pipelines.
pub(crate) fn processors() -> Vec<Value> {
    let names = PROCESSOR_NAMES.iter();
    names.map(|name| json!({"type": name})).collect()
}

fn of(counts: RunCounts) -> Value {
    json!({
        "count": counts.count,
        "time_in_millis": whole_ms(counts.took),
        "current": counts.current,
        "failed": counts.failed,
    })
}
