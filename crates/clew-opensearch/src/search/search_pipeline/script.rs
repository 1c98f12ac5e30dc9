//! The step `script`: it sees of a search what its body says beside queries, as `ctx._source`, and may change that; in
//! `ctx.request_context` it leaves something for later steps.

use axum::http::StatusCode;
use clew_ingest::DefinitionError;
use clew_query::{Script, ScriptPurpose};
use serde_json::{Map, Value, json};

use super::Context;
use super::step::Refused;
use crate::dsl::WrittenScript;
use crate::http::error::{ApiError, Cause};
use crate::http::script_errors::script_cause;

/// Members of the step that are the script's.
const WRITTEN: [&str; 6] = ["id", "source", "inline", "lang", "params", "options"];

/// What is seen of a search, each with what it is where the search says nothing.
const SEEN: [(&str, Kind, Absent); 10] = [
    ("from", Kind::Whole, Absent::MinusOne),
    ("size", Kind::Whole, Absent::MinusOne),
    ("explain", Kind::Flag, Absent::Null),
    ("version", Kind::Flag, Absent::Null),
    ("seq_no_primary_term", Kind::Flag, Absent::Null),
    ("track_scores", Kind::Flag, Absent::False),
    ("track_total_hits", Kind::Total, Absent::Null),
    ("min_score", Kind::Number, Absent::Null),
    ("terminate_after", Kind::Whole, Absent::Zero),
    ("profile", Kind::Flag, Absent::False),
];

/// What a member of a search is.
#[derive(Clone, Copy)]
enum Kind {
    Whole,
    Number,
    Flag,
    /// A whole number, of which the greatest is all and −1 none.
    Total,
}

/// What a member is that a search does not have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Absent {
    MinusOne,
    Zero,
    False,
    Null,
}

/// A script, read.
#[derive(Debug)]
pub(super) struct SearchScript(Script);

impl SearchScript {
    /// Reads a step.
    pub(super) fn read(config: &mut Map<String, Value>) -> Result<Self, Refused> {
        let mut written = Map::new();
        for name in WRITTEN {
            if let Some(value) = config.remove(name).filter(|value| !value.is_null()) {
                written.insert(name.to_string(), value);
            }
        }
        let written = WrittenScript::of("script", &Value::Object(written))?;
        let read = written.understood(ScriptPurpose::Change);
        let script = read.map_err(|error| DefinitionError {
            script: Some(Box::new(error.clone())),
            ..DefinitionError::malformed(error.reason)
        })?;
        Ok(SearchScript(script))
    }

    /// Changes a search's body, which is an object, all at once or not at all.
    pub(super) fn apply(
        &self,
        body: &mut Value,
        context: &mut Context,
        now_ms: i64,
    ) -> Result<(), ApiError> {
        let seen = seen(body);
        let object = json!({"_source": &seen, "request_context": &*context});
        let left = self.0.change(&object, now_ms);
        let mut left =
            left.map_err(|error| ApiError::new(StatusCode::BAD_REQUEST, script_cause(&error)))?;
        let mut changed = body.clone();
        if let Some(Value::Object(source)) = left.get("_source") {
            for (name, value) in source {
                if seen.get(name) != Some(value) {
                    self.set(&mut changed, name, value)?;
                }
            }
        }
        if let Some(Value::Object(left)) = left.get_mut("request_context") {
            *context = std::mem::take(left);
        }
        *body = changed;
        Ok(())
    }

    fn set(&self, body: &mut Value, name: &str, value: &Value) -> Result<(), ApiError> {
        let Some((_, kind, absent)) = SEEN.into_iter().find(|(seen, ..)| *seen == name) else {
            return Err(self.failed(format!("Unsupported key: {name}")));
        };
        if value.is_null() && absent == Absent::Null {
            if let Some(members) = body.as_object_mut() {
                members.remove(name);
            }
            return Ok(());
        }
        let whole = || value.as_i64().and_then(|whole| i32::try_from(whole).ok());
        let set = match kind {
            Kind::Whole => whole().map(Value::from),
            Kind::Number => value.as_f64().map(|number| json!(number)),
            Kind::Flag => value.as_bool().map(Value::from),
            Kind::Total => whole().map(|total| match total {
                i32::MAX => json!(true),
                -1 => json!(false),
                total => json!(total),
            }),
        };
        let refused =
            || format!("Error while setting value for SearchRequest source property: {name}");
        body[name] = set.ok_or_else(|| self.failed(refused()))?;
        Ok(())
    }

    /// What a script did that searches do not know, as a failure of the script.
    fn failed(&self, reason: String) -> ApiError {
        let cause = Cause::new("script_exception", "runtime error")
            .with("script_stack", Vec::<Value>::new())
            .with("script", self.0.source())
            .with("lang", "painless")
            .caused_by(Cause::new(
                "search_request_map_processing_exception",
                reason,
            ));
        ApiError::new(StatusCode::BAD_REQUEST, cause)
    }
}

/// What a script sees of a search.
fn seen(body: &Value) -> Value {
    let of = |(name, kind, absent): (&str, Kind, Absent)| {
        let value = match (body.get(name), kind) {
            (Some(Value::Bool(all)), Kind::Total) => json!(if *all { i32::MAX } else { -1 }),
            (Some(value), _) => value.clone(),
            (None, _) => match absent {
                Absent::MinusOne => json!(-1),
                Absent::Zero => json!(0),
                Absent::False => json!(false),
                Absent::Null => Value::Null,
            },
        };
        (name.to_string(), value)
    };
    Value::Object(SEEN.into_iter().map(of).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(source: &str, body: &Value) -> Result<(Value, Context), ApiError> {
        let mut config = Map::new();
        config.insert("source".to_string(), source.into());
        config.insert("params".to_string(), json!({"n": 2}));
        let Ok(script) = SearchScript::read(&mut config) else {
            panic!("{source} is not understood");
        };
        let (mut body, mut context) = (body.clone(), Context::new());
        script.apply(&mut body, &mut context, 0)?;
        Ok((body, context))
    }

    #[test]
    fn scripts_change_what_they_see_of_a_search() {
        let body =
            json!({"query": {"match_all": {}}, "size": 7, "explain": true, "min_score": 1.0});
        for (source, expected) in [
            (
                "ctx._source['size'] += params.n; ctx._source.explain = !ctx._source.explain",
                json!({"query": {"match_all": {}}, "size": 9, "explain": false, "min_score": 1.0}),
            ),
            (
                "if (ctx._source.from < 0) { ctx._source.from = 1 } ctx._source.min_score = null",
                json!({"query": {"match_all": {}}, "size": 7, "explain": true, "from": 1}),
            ),
        ] {
            assert_eq!(run(source, &body).unwrap().0, expected, "{source}");
        }
        let total = "ctx._source.track_total_hits = 1";
        assert_eq!(
            run(total, &json!({})).unwrap().0,
            json!({"track_total_hits": 1})
        );
        let kept = "ctx.request_context['a.b'] = ctx._source.size";
        assert_eq!(run(kept, &body).unwrap().1.get("a.b"), Some(&json!(7)));
    }

    #[test]
    fn what_a_search_does_not_show_cannot_be_set() {
        for (source, reason) in [
            ("ctx._source.sort = 1", "Unsupported key: sort"),
            ("ctx._source.size = 'x'", "source property: size"),
            ("ctx._source.explain.a.b = 1", "null"),
        ] {
            let error = run(source, &json!({})).unwrap_err();
            assert_eq!(error.status(), StatusCode::BAD_REQUEST);
            let body = String::from_utf8(error.body()).unwrap();
            assert!(body.contains(reason), "{body}");
        }
    }
}
