use serde_json::json;

use super::*;
use crate::config::Definition;
use crate::feed::FeedOptions;
use crate::frame::Wrapping;

fn explain(options: &CollectOptions, bytes: &str) -> Vec<ExplainedEvent> {
    let times = Times::new(jiff::tz::TimeZone::UTC);
    let bytes = bytes.as_bytes();
    let mut explainer = Explainer::new(options, 0, ("/l", bytes), times).unwrap();
    explainer.explain(bytes, 10)
}

fn options(processors: &[serde_json::Value]) -> CollectOptions {
    let mut options = CollectOptions::new(vec!["/l".into()], "r".into());
    options.files[0].parse = ParserChoice::Named(ParserName::Plain);
    let processors = processors.iter().cloned().map(Definition::unnamed);
    options.processors = vec![processors.collect()];
    options
}

#[test]
fn every_step_is_shown_until_one_ends_the_event() {
    let mut options = options(&[
        json!({"dissect": {"field": "message", "pattern": "%{a} %{b}", "tag": "cut"}}),
        json!({"drop": {"if": {"equals": {"a": "x"}}}}),
        json!({"keep": {"field": "b"}}),
    ]);
    let steps = |options: &CollectOptions, text: &str| {
        let mut events = explain(options, text).into_iter();
        let all = events.next().unwrap().steps.into_iter();
        let all = all.map(|one| (one.step, one.ended.unwrap_or_default()));
        all.collect::<Vec<_>>()
    };
    let step = |name: &str, ended: &str| (name.to_owned(), ended.to_owned());
    let (first, cut) = (step("plain", ""), step("dissect [cut]", ""));
    let (drop, keep) = (step("drop", ""), step("keep", ""));
    let whole = [first.clone(), cut.clone(), drop, keep];
    assert_eq!(steps(&options, "1 2"), whole);
    let dropped = step("drop", "dropped");
    assert_eq!(
        steps(&options, "x 2"),
        [first.clone(), cut, dropped.clone()]
    );
    let failed = step("dissect [cut]", "no_match");
    assert_eq!(steps(&options, "x"), [first, failed]);
    let last = explain(&options, "1 2").remove(0).steps.pop().unwrap();
    assert_eq!(last.document, r#"{"b":"2"}"#);
    // And where it goes.
    let when = Definition::unnamed(json!({"equals": {"b": 2}}));
    options.outputs = vec![Some(when.clone()), None];
    let last = |options: &CollectOptions, text: &str| explain(options, text).remove(0).steps.pop();
    assert_eq!(
        last(&options, "1 2").unwrap().document,
        "outputs[0] outputs[1]"
    );
    assert_eq!(last(&options, "1 3").unwrap().document, "outputs[1]");
    assert_eq!(steps(&options, "x 2").last(), Some(&dropped));
    options.outputs = vec![Some(when)];
    let nowhere = last(&options, "1 3").unwrap();
    assert_eq!(nowhere.ended.as_deref(), Some("no output takes it"));
}

#[test]
fn events_are_those_of_the_input_with_the_time_of_their_container() {
    let mut options = options(&[json!({"keep": {"field": ["@timestamp", "stream"]}})]);
    options.files[0].wrapping = Wrapping::Cri;
    let text = "2016-10-06T00:07:09.794Z stderr P a \n\
                    2016-10-06T00:07:09.795Z stderr F b\n";
    let [event] = explain(&options, text).try_into().unwrap();
    assert_eq!(event.text, "a b");
    let last = event.steps.last().unwrap();
    let expected = r#"{"@timestamp":"2016-10-06T00:07:09.794Z","stream":"stderr"}"#;
    assert_eq!(last.document, expected);
}

#[test]
fn lines_that_are_sent_are_not_joined() {
    let mut options = options(&[]);
    let text = "[2026-01-02 03:04:05,678] ERROR it broke (a.B)\n\tat c\n";
    let texts = |options: &CollectOptions| {
        let events = explain(options, text).into_iter();
        events.map(|event| event.text).collect::<Vec<_>>()
    };
    options.files[0].parse = ParserChoice::Named(ParserName::Kafka);
    assert_eq!(texts(&options), [text.trim_end()]);
    options.files.clear();
    options.feeds.push(FeedOptions {
        address: FeedAddress::Stdin,
        parse: ParserChoice::Named(ParserName::Kafka),
        line_bytes_max: 1 << 20,
        plan: 0,
        tls: None,
    });
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(texts(&options), lines);
}

#[test]
fn the_host_is_the_one_that_a_run_tells() {
    let mut options = options(&[json!({"keep": {"field": "host.name"}})]);
    "web1".clone_into(&mut options.host);
    let last = explain(&options, "1 2").remove(0).steps.pop().unwrap();
    assert_eq!(last.document, r#"{"host":{"name":"web1"}}"#);
}
