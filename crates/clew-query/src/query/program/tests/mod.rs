//! Scripts over a document that is written out.

mod calendar;
mod changes;
mod collections;
mod failures;
mod functions;
mod language;
mod numbers;
mod purposes;
mod texts;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::*;

struct Document<'a> {
    script: &'a Script,
    fields: BTreeMap<&'static str, Vec<ScriptValue<'a>>>,
}

impl<'a> ScriptDocument<'a> for Document<'a> {
    fn is_mapped(&self, field: usize) -> bool {
        let path = self.script.fields().get(field);
        path.is_some_and(|path| self.fields.contains_key(path.as_str()))
    }

    fn values(&mut self, field: usize) -> Result<Vec<ScriptValue<'a>>, ScriptError> {
        let path = self.script.fields()[field].as_str();
        let found = self.fields.get(path).cloned();
        found.ok_or_else(|| ScriptError::new(ScriptErrorKind::Argument, "No field found"))
    }

    fn score(&mut self) -> f64 {
        2.0
    }

    fn measure(&mut self, _measure: usize) -> Option<f64> {
        Some(0.5)
    }

    fn term_count(&mut self, count: TermCount<'_>) -> Result<i64, ScriptError> {
        Ok(match count {
            TermCount::InDocument {
                field: "text",
                term,
            } => i64::try_from(term.len()).unwrap(),
            TermCount::InShard { field: "text", .. } => 40,
            TermCount::OfField { field: "text" } => 500,
            _ => 0,
        })
    }

    fn chance(&mut self, _seed: i64, _decides: Option<&str>) -> f64 {
        0.25
    }

    fn now_ms(&self) -> i64 {
        86_400_000
    }
}

fn params() -> Value {
    json!({
        "factor": 3, "half": 0.5, "name": "red", "v": [1.0, 2.0], "field": "price",
        "boosts": {"red": 4, "blue": 5}, "list": [1, 2, 3], "origin": "1970-01-01",
    })
}

fn made(source: &str, language: ScriptLanguage) -> Result<Value, ScriptError> {
    let params = params();
    let script = Script::read(source, language, &params, ScriptPurpose::Score)?;
    let text = |text: &'static str| ScriptValue::Text(text.into());
    let mut document = Document {
        script: &script,
        fields: BTreeMap::from([
            ("price", vec![ScriptValue::Whole(7), ScriptValue::Whole(9)]),
            ("weight", vec![ScriptValue::Float(2.5)]),
            ("color", vec![text("blue"), text("red")]),
            ("flag", vec![ScriptValue::Bool(true)]),
            ("at", vec![ScriptValue::Date(90_061_000)]),
            ("none", Vec::new()),
        ]),
    };
    script.run(&mut document).map(|made| made.to_json())
}

/// Scripts in Painless, each with what it makes.
#[track_caller]
fn check<'a>(cases: impl IntoIterator<Item = (&'a str, Value)>) {
    for (source, wanted) in cases {
        let have = made(source, ScriptLanguage::Painless);
        assert_eq!(have, Ok(wanted), "{source}");
    }
}

/// Scripts in Painless, each with how it fails.
#[track_caller]
fn check_fails<'a>(cases: impl IntoIterator<Item = (&'a str, ScriptErrorKind)>) {
    for (source, kind) in cases {
        let error = made(source, ScriptLanguage::Painless).unwrap_err();
        assert_eq!(error.kind, kind, "{source}: {}", error.reason);
    }
}
