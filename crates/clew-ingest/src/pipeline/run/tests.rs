use std::collections::BTreeMap;

use serde_json::json;

use super::*;

/// Pipelines by their names.
struct Known(BTreeMap<&'static str, Value>);

impl Surroundings for Known {
    fn pipeline(&mut self, name: &str) -> Result<Option<Arc<Pipeline>>, Failure> {
        let steps = self.0.get(name);
        let read = steps.map(|steps| Pipeline::parse(&json!({ "processors": steps })));
        Ok(read.transpose().unwrap().map(Arc::new))
    }

    fn data_dir(&self) -> Option<&Path> {
        None
    }
}

fn run(pipeline: Value, source: Value) -> (Result<Flow, Failure>, Value) {
    let tail = json!([{"set": {"field": "tail", "value": "{{n}}"}}]);
    let circle = json!([{"pipeline": {"name": "circle"}}]);
    let mut around = Known(BTreeMap::from([("tail", tail), ("circle", circle)]));
    let mut document = Document::new("i", source, 0);
    let pipeline = Pipeline::parse(&pipeline).unwrap();
    let done = pipeline.run(&mut document, &mut around);
    (done, document.source)
}

#[test]
fn lists_in_lists_are_gone_through_only_so_often() {
    let each = |step: Value| json!({"foreach": {"field": "list", "processor": step, "ignore_failure": true}});
    let rename = json!({"rename": {"field": "a", "target_field": "b", "ignore_missing": true}});
    let list: Vec<u32> = (0..1_500).collect();
    let steps =
        json!({"processors": [each(each(rename))], "on_failure": [{"remove": {"field": "list"}}]});
    let (done, _) = run(steps, json!({ "list": list }));
    let reason = done.unwrap_err().reason;
    assert!(reason.contains("[1000000] steps"), "{reason}");
}

#[test]
fn pipelines_call_others_but_not_for_ever() {
    let call = |name: &str| json!({"processors": [{"pipeline": {"name": name}}]});
    let (done, source) = run(call("tail"), json!({"n": 1}));
    assert_eq!((done, source), (Ok(Flow::On), json!({"n": 1, "tail": "1"})));
    let (done, _) = run(call("circle"), json!({}));
    let failure = done.unwrap_err();
    assert_eq!(failure.kind, FailureKind::NoPipeline);
    assert_eq!(failure.reason, "Cycle detected for pipeline: circle");
    let (done, _) = run(call("none"), json!({}));
    assert_eq!(done.unwrap_err().kind, FailureKind::NoPipeline);
    let failure = run_named("none", &mut Document::new("i", json!({}), 0), &mut Alone).unwrap_err();
    assert_eq!(failure.reason, "pipeline with id [none] does not exist");
}

#[test]
fn steps_that_handle_a_failure_read_what_failed() {
    let about = "{{_ingest.on_failure_processor_type}} {{_ingest.on_failure_processor_tag}}: \
                     {{_ingest.on_failure_message}}";
    let (done, source) = run(
        json!({
            "processors": [{"trim": {"field": "a", "tag": "t"}}],
            "on_failure": [{"set": {"field": "e", "value": about}}],
        }),
        json!({}),
    );
    assert_eq!(done, Ok(Flow::On));
    assert_eq!(
        source["e"],
        "trim t: field [a] not present as part of path [a]"
    );
}

#[test]
fn what_handles_a_failure_inside_a_loop_changes_the_item() {
    let trim = json!({"trim": {"field": "_ingest._value", "on_failure": [
        {"set": {"field": "_ingest._value", "value": "{{_ingest.on_failure_processor_type}}"}},
    ]}});
    let each = json!({"foreach": {"field": "a", "processor": trim}});
    let after = json!({"set": {"field": "left", "value": "{{_ingest.on_failure_message}}"}});
    let (done, source) = run(
        json!({"processors": [each, after]}),
        json!({"a": [" x ", 1]}),
    );
    assert_eq!(done, Ok(Flow::On));
    assert_eq!(source, json!({"a": ["x", "trim"], "left": ""}));
}

#[test]
fn items_of_lists_in_lists_keep_what_lies_beside_them() {
    let upper = json!({"uppercase": {"field": "_ingest._value"}});
    let inner = json!({"foreach": {"field": "_ingest._value.in", "processor": upper}});
    let (done, source) = run(
        json!({"processors": [{"foreach": {"field": "a", "processor": inner}}]}),
        json!({"a": [{"k": 1, "in": ["x", "y"]}, {"k": 2, "in": []}]}),
    );
    assert_eq!(done, Ok(Flow::On));
    let kept = json!({"a": [{"k": 1, "in": ["X", "Y"]}, {"k": 2, "in": []}]});
    assert_eq!(source, kept);
    let away = json!({"remove": {"field": "_ingest._value"}});
    let (done, source) = run(
        json!({"processors": [{"foreach": {"field": "a", "processor": away}}]}),
        json!({"a": [1, 2]}),
    );
    assert_eq!(done, Ok(Flow::On));
    assert_eq!(source, json!({"a": [null, null]}));
}

#[test]
fn what_cannot_be_moved_stays_where_it_was() {
    for (step, source, reason) in [
        (
            json!({"rename": {"field": "a", "target_field": "n.x"}}),
            json!({"a": {"b": 1}, "n": 5}),
            "cannot set [x] with parent object of type [java.lang.Integer] as part of path [n.x]",
        ),
        (
            json!({"rename": {"field": "a", "target_field": "l.7"}}),
            json!({"a": 1, "l": [1]}),
            "[7] is out of bounds for array with length [1] as part of path [l.7]",
        ),
        (
            json!({"dot_expander": {"field": "a.b"}}),
            json!({"a": 5, "a.b": 1}),
            "cannot expend [a.b], because [a] is not an object field, but a value field",
        ),
        (
            json!({"dot_expander": {"field": "a.b", "path": "o"}}),
            json!({"o": {"a": null, "a.b": 1}}),
            "cannot expend [o.a.b], because [o.a] is not an object field, but a value field",
        ),
        (
            json!({"dot_expander": {"field": "a.b", "path": "o"}}),
            json!({"a.b": 1}),
            "field [o] not present as part of path [o]",
        ),
        (
            json!({"set": {"field": "", "value": 1}}),
            json!({"a": 1}),
            "path cannot be null nor empty",
        ),
    ] {
        let (done, left) = run(json!({"processors": [step.clone()]}), source.clone());
        assert_eq!(done.unwrap_err().reason, reason, "{step}");
        assert_eq!(left, source, "{step}");
    }
    let expand = json!({"dot_expander": {"field": "a.b.c"}});
    let (done, left) = run(
        json!({"processors": [expand]}),
        json!({"a.b.c": 1, "a": {"d": 2}}),
    );
    assert_eq!(done, Ok(Flow::On));
    assert_eq!(left, json!({"a": {"d": 2, "b": {"c": 1}}}));
}

#[test]
fn pipelines_and_their_steps_are_counted() {
    let definition = json!({"processors": [
        {"set": {"field": "a", "value": 1, "tag": "t"}},
        {"trim": {"field": "b", "ignore_failure": true}},
        {"pipeline": {"name": "tail", "if": "ctx.n == 2"}},
        {"fail": {"message": "m", "if": "ctx.n == 3"}},
    ]});
    let tail = json!([{"set": {"field": "tail", "value": "x"}}]);
    let mut around = Known(BTreeMap::from([("tail", tail)]));
    let pipeline = Pipeline::ready("counted", &definition).unwrap();
    for n in 1..=3 {
        let mut document = Document::new("i", json!({"n": n, "b": 7}), 0);
        drop(pipeline.run(&mut document, &mut around));
    }
    let pair = |counts: RunCounts| (counts.count, counts.failed, counts.current);
    assert_eq!(pair(pipeline.counts()), (3, 1, 0));
    let steps: Vec<_> = pipeline.step_counts().collect();
    let shown = |step: &super::super::StepCounts| (step.name.clone(), pair(step.counts));
    let steps: Vec<_> = steps.iter().map(shown).collect();
    let expected = [
        ("set:t", (3, 0, 0)),
        ("trim", (3, 3, 0)),
        ("pipeline:tail", (1, 0, 0)),
        ("fail", (1, 1, 0)),
    ];
    let expected = expected.map(|(name, counts)| (name.to_string(), counts));
    assert_eq!(steps, expected);
    let again = Pipeline::ready("counted", &definition).unwrap();
    assert_eq!(again.counts().count, 3);
    let other = Pipeline::ready("other", &definition).unwrap();
    assert_eq!(other.counts(), RunCounts::default());
}

#[test]
fn what_is_only_shown_of_a_pipeline_that_is_kept_does_not_end_its_work() {
    let definition = json!({"version": 1_700_000_000_000_i64, "processors": []});
    assert!(Pipeline::parse(&definition).is_err());
    assert!(Pipeline::ready("of old", &definition).is_ok());
}

#[test]
fn every_kind_of_step_that_is_told_of_is_one() {
    for name in crate::pipeline::PROCESSOR_NAMES {
        let read = Pipeline::parse(&json!({"processors": [{name: {}}]}));
        let reason = read.map_or_else(|error| error.reason, |_| String::new());
        assert!(!reason.contains("No processor type exists"), "{name}");
    }
}

#[test]
fn what_is_dropped_goes_no_further() {
    let steps = json!([{"drop": {}}, {"fail": {"message": "m"}}]);
    let (done, _) = run(json!({ "processors": steps }), json!({}));
    assert_eq!(done, Ok(Flow::Dropped));
}
