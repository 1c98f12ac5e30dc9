//! A run with processors: every input has its own, and those of all; what they cannot take is kept and counted.

use std::sync::Arc;

use clew_collect::config::CollectConfig;
use clew_collect::{
    CollectReport, Delivery, Event, LineSink, Mode, NoProgress, Sink, SinkError, StopToken, World,
    run,
};
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
    let (report, documents) = ran(&text);
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

/// A run of a configuration over everything that there is, and its documents.
fn ran(text: &str) -> (CollectReport, Vec<Value>) {
    let mut out = Vec::new();
    let report = ran_into(text, &mut LineSink::new(&mut out), &StopToken::new());
    let lines = std::str::from_utf8(&out).expect("JSON is UTF-8").lines();
    let documents = lines.map(|line| serde_json::from_str(line).expect("a line is JSON"));
    (report, documents.collect())
}

/// A run of a configuration until everything is read or it is stopped.
fn ran_into(text: &str, sink: &mut dyn Sink, stop: &StopToken) -> CollectReport {
    let config =
        CollectConfig::parse("c.yaml", text, &|_| None).expect("the text is a configuration");
    let world = World {
        disk: Arc::new(RealDisk),
        clock: Arc::new(RealClock::new()),
        progress: &NoProgress,
        stop,
    };
    let mut options = config.options(Mode::Once).expect("it can be run");
    options.batch_lines_max = 1;
    run(&options, world, sink).expect("it runs to its end")
}

/// Asks for a stop when the first event comes.
struct Stopping<'a>(&'a StopToken);

impl Sink for Stopping<'_> {
    fn deliver(&mut self, batch: &[Event]) -> Result<Delivery, SinkError> {
        self.0.stop();
        Ok(Delivery {
            acked: batch.len() as u64,
            ..Delivery::default()
        })
    }
}

#[test]
fn a_file_of_which_nothing_is_kept_holds_up_neither_others_nor_a_stop() {
    let folder = tempfile::tempdir().unwrap();
    let line = format!("unwanted {}\n", "x".repeat(500_000));
    std::fs::write(folder.path().join("a.log"), line.repeat(50)).unwrap();
    std::fs::write(folder.path().join("b.log"), "kept\n").unwrap();
    let text = format!(
        "registry: {0}/registry.json
inputs: [{{paths: ['{0}/*.log'], parse: plain}}]
processors: [{{drop: {{if: {{contains: {{message: unwanted}}}}}}}}]
outputs: [{{type: stdout}}]
",
        folder.path().display()
    );
    let stop = StopToken::new();
    let report = ran_into(&text, &mut Stopping(&stop), &stop);
    assert_eq!(report.counters.events_acked, 1);
    let dropped = report.counters.events_dropped;
    assert!((1..50).contains(&dropped), "{dropped}");
}

#[test]
fn patterns_of_lines_survive_a_restart_and_damage_begins_them_anew() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("a.log");
    let text = format!(
        "registry: {0}/registry.json
inputs: [{{paths: [{0}/a.log], parse: plain, processors: [{{pattern: {{}}}}]}}]
outputs: [{{type: stdout}}]
",
        folder.path().display()
    );
    let mut lines = String::new();
    let mut run = |line: &str| {
        lines.push_str(line);
        lines.push('\n');
        std::fs::write(&log, &lines).unwrap();
        let (_, mut found) = ran(&text);
        assert_eq!(found.len(), 1, "{found:?}");
        let one = found.remove(0);
        let is_new = one["pattern_new"] == true;
        (one["pattern_id"].as_str().unwrap().to_owned(), is_new)
    };
    let (alice, is_new) = run("user alice logged in from 10.0.0.7");
    assert!(is_new);
    assert_eq!(
        run("user bob logged in from 10.0.0.8"),
        (alice.clone(), false)
    );
    assert!(run("disk sda is nearly full").1);
    assert_eq!(
        run("user carol logged in from 10.0.0.9"),
        (alice.clone(), false)
    );
    let file = folder.path().join("registry.json.patterns");
    let mut kept = std::fs::read(&file).unwrap();
    let last = kept.len() - 2;
    kept[last] ^= 1;
    std::fs::write(&file, kept).unwrap();
    // Its id is of its line, and only that.
    let (dave, is_new) = run("user dave logged in from 10.0.0.7");
    assert!(is_new);
    assert_ne!(dave, alice);
}

#[test]
fn what_is_no_time_gives_way_to_the_events_own() {
    let folder = tempfile::tempdir().unwrap();
    let lines = "soon|a\n2026-02-03T04:05:06+01:00|b\n2026-02-03 04:05:06,789|c\n{}|d\n";
    std::fs::write(folder.path().join("a.log"), lines).unwrap();
    let text = format!(
        "registry: {0}/registry.json
inputs: [{{paths: [{0}/a.log], parse: plain, processors: [{{dissect: {{field: message, pattern: '%{{@timestamp}}|%{{x}}'}}}}]}}]
outputs: [{{type: stdout}}]
",
        folder.path().display()
    );
    let (report, documents) = ran(&text);
    assert_eq!(report.counters.parse_errors, 2);
    let found = |number: usize| {
        let one = &documents[number];
        (
            one["@timestamp"].as_str().unwrap(),
            one["event"]["parse_error"] == true,
        )
    };
    assert_eq!(found(1), ("2026-02-03T04:05:06+01:00", false));
    assert_eq!(found(2), ("2026-02-03T04:05:06.789Z", false));
    for number in [0, 3] {
        let (time, is_marked) = found(number);
        assert!(time.starts_with("20") && time.ends_with('Z'), "{time}");
        assert!(is_marked);
    }
}

#[test]
fn a_list_of_one_time_is_a_time() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.log"), "x\n").unwrap();
    let text = format!(
        "registry: {0}/registry.json
inputs: [{{paths: [{0}/a.log], parse: plain, processors: [{{set: {{field: '@timestamp', value: ['2026-02-03T04:05:06Z']}}}}]}}]
outputs: [{{type: stdout}}]
",
        folder.path().display()
    );
    let (report, documents) = ran(&text);
    assert_eq!(report.counters.parse_errors, 0);
    let time = &documents[0]["@timestamp"];
    assert_eq!(time.to_string(), r#"["2026-02-03T04:05:06Z"]"#);
}
