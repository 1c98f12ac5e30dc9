//! Search pipelines as they are kept: which steps there are, and the way through them.

use clew_engine::Fusion;
use clew_ingest::members;
use serde_json::Value;

use super::Context;
use super::after::After;
use super::before::Before;
use super::fusion;
use super::step::{Step, malformed, read_list};
use super::told::Told;
use crate::http::error::ApiError;

/// Names of the steps that change a search.
pub(super) const BEFORE: &[&str] = &[
    "filter_query",
    "neural_sparse_two_phase_processor",
    "oversample",
    "script",
];
/// Names of the steps that change an answer.
pub(super) const AFTER: &[&str] = &[
    "collapse",
    "hybrid_score_explanation",
    "rename_field",
    "sort",
    "split",
    "truncate_hits",
];

/// A pipeline, understood.
#[derive(Debug)]
pub(super) struct Pipeline {
    before: Vec<Step<Before>>,
    phase: Vec<Step<Fusion>>,
    after: Vec<Step<After>>,
}

impl Pipeline {
    /// Reads a pipeline's definition.
    pub(super) fn parse(id: &str, body: &Value) -> Result<Self, ApiError> {
        let mut config = body.as_object().cloned().unwrap_or_default();
        members::optional(&mut config, "description")?;
        members::whole(&mut config, "version")?;
        let pipeline = Pipeline {
            before: read_list(&mut config, "request_processors", Before::read)?,
            phase: read_list(&mut config, "phase_results_processors", |name, config| {
                Ok(fusion::read(name, config)?)
            })?,
            after: read_list(&mut config, "response_processors", After::read)?,
        };
        if !config.is_empty() {
            let unknown: Vec<&str> = config.keys().map(String::as_str).collect();
            return Err(malformed(format!(
                "pipeline [{id}] doesn't support one or more provided configuration parameters \
                 [{}]",
                unknown.join(", ")
            )));
        }
        Ok(pipeline)
    }

    /// How the rankings of a `hybrid` query become one. What comes first leaves nothing to do.
    pub(super) fn fusion(&self) -> Option<&Fusion> {
        self.phase.first().map(|step| &step.what)
    }

    pub(super) fn changes_requests(&self) -> bool {
        !self.before.is_empty()
    }

    /// How many steps change a search.
    pub(super) fn steps_before(&self) -> usize {
        self.before.len()
    }

    /// How many steps change an answer.
    pub(super) fn steps_after(&self) -> usize {
        self.after.len()
    }

    /// Changes a search's body, which is an object.
    pub(super) fn change_request(
        &self,
        body: &mut Value,
        (context, now_ms): (&mut Context, i64),
        mut told: Option<&mut Told>,
    ) -> Result<(), ApiError> {
        for step in &self.before {
            step.run(body, told.as_deref_mut(), Value::clone, |what, body| {
                what.apply(body, (&mut *context, now_ms))
            })?;
        }
        Ok(())
    }

    /// Changes a search's answer.
    pub(super) fn change_answer(
        &self,
        answer: &mut Value,
        context: &Context,
        mut told: Option<&mut Told>,
    ) -> Result<(), ApiError> {
        let Some(Value::Array(hits)) = answer.pointer_mut("/hits/hits") else {
            return Ok(());
        };
        let shown = |hits: &Vec<Value>| Value::Array(hits.clone());
        for step in &self.after {
            step.run(hits, told.as_deref_mut(), shown, |what, hits| {
                what.apply(hits, context)
            })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
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
}
