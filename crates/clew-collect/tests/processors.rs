//! A run with processors: every input has its own, and those of all; what they cannot take is kept and counted.

use std::sync::Arc;

use clew_collect::config::CollectConfig;
use clew_collect::{LineSink, Mode, NoProgress, StopToken, World, run};
use clew_platform::{RealClock, RealDisk};
use serde_json::{Value, json};

#[test]
fn every_input_has_its_own_processors_and_those_of_all() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    std::fs::write(place("a.log"), "1 one\nbroken\n2 two\n").unwrap();
    std::fs::write(place("b.log"), "{\"n\":3,\"drop\":true}\n{\"n\":4}\n").unwrap();
    let text = format!(
        "registry: {0}/registry.json
host: h
inputs:
  - paths: [{0}/a.log]
    parse: plain
    processors: [{{dissect: {{field: message, pattern: '%{{n}} %{{word}}'}}}}, {{convert: {{field: n, type: long}}}}]
  - paths: [{0}/b.log]
    parse: plain
    processors: [{{json: {{field: message, add_to_root: true}}}}, {{drop: {{if: {{has_fields: [drop]}}}}}}]
processors:
  - keep: {{field: [n, word, host.name]}}
outputs: [{{type: stdout}}]
",
        folder.path().display()
    );
    let config = CollectConfig::parse("c.yaml", &text, &|_| None).unwrap();
    let stop = StopToken::new();
    let world = World {
        disk: Arc::new(RealDisk),
        clock: Arc::new(RealClock::new()),
        progress: &NoProgress,
        stop: &stop,
    };
    let mut out = Vec::new();
    let options = config.options(Mode::Once).unwrap();
    let report = run(&options, world, &mut LineSink::new(&mut out)).unwrap();
    let documents = std::str::from_utf8(&out).unwrap().lines();
    let documents: Vec<Value> = documents
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let of = |n: i64| documents.iter().find(|one| one["n"] == n);
    let host = json!({"name": "h"});
    assert_eq!(of(1), Some(&json!({"host": host, "n": 1, "word": "one"})));
    assert_eq!(of(4), Some(&json!({"host": host, "n": 4})));
    assert_eq!(documents.len(), 4);
    let broken = documents
        .iter()
        .find(|one| one["message"] == "broken")
        .unwrap();
    assert_eq!(broken["event"]["parse_error"], true);
    let counters = report.counters;
    assert_eq!(
        (
            counters.lines_read,
            counters.events_acked,
            counters.events_dropped
        ),
        (5, 4, 1)
    );
    let [failed] = report.failures.counts.as_slice() else {
        panic!("{:?}", report.failures);
    };
    assert_eq!((failed.step, failed.count), ("dissect", 1));
}
