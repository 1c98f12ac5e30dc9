//! The one table from what goes wrong with pipelines to OpenSearch's names and statuses.

use axum::http::StatusCode;
use clew_ingest::{Because, DefinitionError, DefinitionErrorKind, Failure, FailureKind};

use crate::http::error::{ApiError, Cause};
use crate::http::script_errors::script_cause;

impl From<DefinitionError> for ApiError {
    fn from(error: DefinitionError) -> Self {
        let kind = match error.kind {
            DefinitionErrorKind::Malformed => "parse_exception",
            DefinitionErrorKind::Unsupported => "illegal_argument_exception",
        };
        let of_script = error.script.as_deref().map(script_cause);
        let about = [
            ("processor_type", error.step),
            ("processor_tag", error.tag),
            ("property_name", error.property),
        ];
        let mut cause = of_script.unwrap_or_else(|| Cause::new(kind, error.reason));
        for (key, value) in about {
            if let Some(value) = value {
                cause = cause.with(key, value);
            }
        }
        ApiError::new(StatusCode::BAD_REQUEST, cause)
    }
}

/// A failure that nothing handled, as the answer to the write.
impl From<Failure> for ApiError {
    fn from(failure: Failure) -> Self {
        let (status, kind) = answer(failure.kind);
        let cause = Cause::new(kind, failure.reason);
        let cause = match failure.because {
            None => cause,
            Some(Because::Script(error)) => script_cause(&error),
            Some(Because::NotANumber(text)) => {
                let reason = format!("For input string: \"{text}\"");
                cause.caused_by(Cause::new("number_format_exception", reason))
            }
            Some(Because::NotJson(reason)) => {
                cause.caused_by(Cause::new("json_parse_exception", reason))
            }
        };
        ApiError::new(status, cause)
    }
}

fn answer(kind: FailureKind) -> (StatusCode, &'static str) {
    let (bad, internal) = (StatusCode::BAD_REQUEST, StatusCode::INTERNAL_SERVER_ERROR);
    match kind {
        FailureKind::Unfit | FailureKind::OutOfBounds => (bad, "illegal_argument_exception"),
        FailureKind::Unreadable => (bad, "parse_exception"),
        FailureKind::Script => (bad, "script_exception"),
        FailureKind::NotANumber => (bad, "number_format_exception"),
        FailureKind::MixedTypes => (internal, "class_cast_exception"),
        FailureKind::NoMatch => (internal, "find_match"),
        FailureKind::NoPipeline => (internal, "illegal_state_exception"),
        FailureKind::Meant => (internal, "fail_processor_exception"),
    }
}

#[cfg(test)]
mod tests {
    use clew_ingest::{Alone, Document, Pipeline};
    use serde_json::{Value, json};

    use super::*;

    fn error(error: impl Into<ApiError>) -> Value {
        let body: Value = serde_json::from_slice(&error.into().body()).unwrap();
        body["error"].clone()
    }

    #[test]
    fn definitions_are_refused_by_the_names_of_their_parts() {
        for (step, expected) in [
            (
                json!({"foreach": {"field": "a", "processor": {"trim": {"tag": "t"}}}}),
                json!({
                    "type": "parse_exception", "reason": "[field] required property is missing",
                    "processor_type": "foreach", "processor_tag": "t", "property_name": "field",
                }),
            ),
            (
                json!({"script": {}}),
                json!({
                    "type": "illegal_argument_exception", "processor_type": "script",
                    "reason": "must specify either [source] for an inline script or [id] for a stored script",
                }),
            ),
        ] {
            let refused = Pipeline::parse(&json!({"processors": [step]})).unwrap_err();
            let mut told = error(refused);
            told.as_object_mut().unwrap().remove("root_cause");
            assert_eq!(told, expected);
        }
    }

    #[test]
    fn scripts_that_are_not_understood_and_that_fail_are_told_as_such() {
        let step = json!({"drop": {"if": "ctx.n +"}});
        let refused = Pipeline::parse(&json!({"processors": [step]})).unwrap_err();
        let told = error(refused);
        assert_eq!(told["type"], "script_exception");
        assert_eq!(told["processor_type"], "drop");
        let step = json!({"script": {"source": "ctx.a.b = 1"}});
        let pipeline = Pipeline::parse(&json!({"processors": [step]})).unwrap();
        let mut document = Document::new("i", json!({}), 0);
        let failure = pipeline.run(&mut document, &mut Alone).unwrap_err();
        let told = error(failure);
        assert_eq!(told["caused_by"]["type"], "null_pointer_exception");
    }

    #[test]
    fn failures_have_the_names_and_statuses_of_opensearch() {
        let source = json!({"n": "x", "list": [1], "mix": [1, "a"], "size": "5 apples"});
        for (step, status, kind) in [
            (
                json!({"trim": {"field": "a"}}),
                400,
                "illegal_argument_exception",
            ),
            (
                json!({"trim": {"field": "list.4"}}),
                400,
                "illegal_argument_exception",
            ),
            (json!({"bytes": {"field": "size"}}), 400, "parse_exception"),
            (
                json!({"grok": {"field": "n", "patterns": ["%{WORD:n:int}"]}}),
                400,
                "number_format_exception",
            ),
            (
                json!({"sort": {"field": "mix"}}),
                500,
                "class_cast_exception",
            ),
            (
                json!({"dissect": {"field": "n", "pattern": "%{a} %{b}"}}),
                500,
                "find_match",
            ),
            (
                json!({"pipeline": {"name": "none"}}),
                500,
                "illegal_state_exception",
            ),
            (
                json!({"fail": {"message": "m"}}),
                500,
                "fail_processor_exception",
            ),
        ] {
            let pipeline = Pipeline::parse(&json!({"processors": [step]})).unwrap();
            let mut document = Document::new("i", source.clone(), 0);
            let failure = pipeline.run(&mut document, &mut Alone).unwrap_err();
            assert_eq!(error(failure.clone())["type"], kind, "{step}");
            assert_eq!(ApiError::from(failure).status().as_u16(), status, "{step}");
        }
    }

    #[test]
    fn what_made_a_step_fail_is_told_behind_it() {
        for (step, kind) in [
            (
                json!({"convert": {"field": "a", "type": "long"}}),
                "number_format_exception",
            ),
            (json!({"json": {"field": "a"}}), "json_parse_exception"),
        ] {
            let pipeline = Pipeline::parse(&json!({"processors": [step]})).unwrap();
            let mut document = Document::new("i", json!({"a": "x"}), 0);
            let failure = pipeline.run(&mut document, &mut Alone).unwrap_err();
            assert_eq!(error(failure)["caused_by"]["type"], kind, "{step}");
        }
    }
}
