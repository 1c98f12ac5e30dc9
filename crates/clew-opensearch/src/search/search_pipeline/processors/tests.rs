use serde_json::json;

use super::*;

fn parsed(body: &Value) -> Pipeline {
    Pipeline::parse("p", body).unwrap()
}

/// A step without parameters.
fn one(name: &str) -> serde_json::Map<String, Value> {
    serde_json::Map::from_iter([(name.to_string(), json!({}))])
}

/// What is left by a step that kept this size.
fn sized(size: u64) -> Context {
    Context::from_iter([("original_size".to_string(), size.into())])
}

#[test]
fn searches_are_changed_before_they_run() {
    let pipeline = parsed(&json!({"request_processors": [
        {"filter_query": {"query": {"term": {"a": 1}}}},
        {"oversample": {"sample_factor": 1.5}},
    ]}));
    let mut body = json!({"query": {"match_all": {}}, "size": 3});
    let mut context = Context::new();
    let seen = (&mut context, 0);
    pipeline.change_request(&mut body, seen, None).unwrap();
    assert_eq!(context["original_size"], 3);
    assert_eq!(body["size"], 5);
    assert_eq!(
        body["query"]["bool"]["filter"][0],
        json!({"term": {"a": 1}})
    );
}

#[test]
fn answers_are_changed_afterwards() {
    let pipeline = parsed(&json!({"response_processors": [
        {"rename_field": {"field": "a", "target_field": "b"}},
        {"sort": {"field": "n", "order": "desc"}},
        {"split": {"field": "t", "separator": ","}},
        {"collapse": {"field": "g"}},
        {"truncate_hits": {}},
    ]}));
    let hit = |g: u32| json!({"_source": {"a": 1, "n": [1, 3, 2], "t": "x,y,,", "g": g}});
    let mut answer = json!({"hits": {"hits": [hit(1), hit(1), hit(2), hit(3)]}});
    let context = sized(2);
    pipeline.change_answer(&mut answer, &context, None).unwrap();
    let hits = answer["hits"]["hits"].as_array().unwrap();
    assert_eq!(hits.len(), 2);
    let expected = json!({"b": 1, "n": [3, 2, 1], "t": ["x", "y"], "g": 1});
    assert_eq!(hits[0]["_source"], expected);
    let mut lacking = json!({"hits": {"hits": [{"_source": {}}]}});
    let lacked = pipeline.change_answer(&mut lacking, &context, None);
    assert!(lacked.is_err());
}

#[test]
fn what_a_step_is_not_made_for_stays_as_it_is() {
    let pipeline = parsed(&json!({"response_processors": [
        {"rename_field": {"field": "none", "target_field": "b", "ignore_missing": true}},
        {"sort": {"field": "t"}},
        {"sort": {"field": "none"}},
        {"split": {"field": "n", "separator": ","}},
    ]}));
    let hit = json!({"_id": "1", "_source": {"t": "x", "n": 3}});
    let mut answer = json!({"hits": {"hits": [hit]}});
    pipeline
        .change_answer(&mut answer, &Context::new(), None)
        .unwrap();
    assert_eq!(answer["hits"]["hits"][0], hit);
}

#[test]
fn fields_that_are_shown_are_changed_beside_the_source() {
    let pipeline = parsed(&json!({"response_processors": [
        {"sort": {"field": "l", "target_field": "sorted"}},
        {"split": {"field": "t", "separator": ",", "target_field": "parts"}},
    ]}));
    let hit = json!({"_id": "1", "_source": {}, "fields": {"l": [3, 1], "t": ["a,b"]}});
    let mut answer = json!({"hits": {"hits": [hit]}});
    pipeline
        .change_answer(&mut answer, &Context::new(), None)
        .unwrap();
    let fields = &answer["hits"]["hits"][0]["fields"];
    assert_eq!(fields["sorted"], json!([1, 3]));
    assert_eq!(fields["parts"], json!(["a", "b"]));
}

#[test]
fn what_is_no_pipeline_is_refused() {
    for body in [
        json!({"invalid_field": {}}),
        json!({"request_processors": {}}),
        json!({"request_processors": [{"script": {}}]}),
        json!({"request_processors": [{"script": {"source": "ctx._source."}}]}),
        json!({"request_processors": [{"oversample": {"sample_factor": 2, "content_prefix": "a"}}]}),
        json!({"response_processors": [{"truncate_hits": {"target_size": -1}}]}),
        json!({"response_processors": [{"rename_field": {"field": 1, "target_field": "b"}}]}),
        json!({"version": "x"}),
        json!({"request_processors": [{"oversample": {"sample_factor": 0.5}}]}),
        json!({"response_processors": [{"rename_field": {"field": "a"}}]}),
        json!({"response_processors": [{"collapse": {"field": "a", "x": 1}}]}),
    ] {
        assert!(Pipeline::parse("p", &body).is_err(), "{body}");
    }
}

#[test]
fn every_step_that_is_listed_can_be_read() {
    for (list, names) in [
        ("request_processors", BEFORE),
        ("response_processors", AFTER),
    ] {
        for name in names {
            let read = Pipeline::parse("p", &json!({ list: [Value::Object(one(name))] }));
            let reason = read.map_or_else(|error| error.reason(), |_| String::new());
            assert!(
                !reason.contains("Invalid processor type"),
                "{name}: {reason}"
            );
        }
    }
}

#[test]
fn a_wrong_definition_is_told_with_its_step_and_member() {
    for (list, step, reason) in [
        (
            "request_processors",
            json!({"oversample": {"tag": "t", "sample_factor": "x"}}),
            "[sample_factor] property cannot be converted to a double [x]",
        ),
        (
            "response_processors",
            json!({"sort": {"tag": "t", "field": "a", "order": "up"}}),
            "[order] Sort direction [up] not recognized. Valid values are: [asc, desc]",
        ),
    ] {
        let error = Pipeline::parse("p", &json!({list: [step]})).unwrap_err();
        let told = error.cause();
        assert_eq!(told["reason"], reason);
        assert_eq!(told["processor_tag"], "t");
        assert!(told["property_name"].is_string() && told["processor_type"].is_string());
    }
}

#[test]
fn steps_that_are_told_of_end_no_search() {
    let pipeline = parsed(&json!({"response_processors": [
        {"truncate_hits": {"target_size": 1, "tag": "t"}},
        {"rename_field": {"field": "none", "target_field": "b"}},
    ]}));
    let hit = |id: &str| json!({"_id": id, "_source": {"a": 1}});
    let mut answer = json!({"hits": {"hits": [hit("1"), hit("2")]}});
    let mut told = Told::default();
    let context = Context::new();
    let done = pipeline.change_answer(&mut answer, &context, Some(&mut told));
    done.unwrap();
    told.write(&mut answer);
    assert_eq!(answer["hits"]["hits"], json!([hit("1")]));
    let [first, second] = &answer["processor_results"].as_array().unwrap()[..] else {
        panic!("{answer}");
    };
    assert_eq!(first["tag"], "t");
    assert_eq!(first["status"], "success");
    assert_eq!(first["input_data"], json!([hit("1"), hit("2")]));
    assert_eq!(first["output_data"], json!([hit("1")]));
    assert_eq!(second["status"], "fail");
    assert_eq!(second["error"], "Document with id 1 is missing field none");
    assert_eq!(second["output_data"], Value::Null);
}
