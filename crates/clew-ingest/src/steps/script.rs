//! Scripts of pipelines: the step `script`, and what decides whether a step is done at all. They see the members of the
//! document as those of `ctx`, with its index, id and routing beside them.

use clew_query::{Script, ScriptError, ScriptLanguage, ScriptPurpose};
use clew_schema::DateFormat;
use serde_json::{Map, Value, json};

use crate::document::{CONDITIONS, Document};
use crate::error::{Because, DefinitionError, Failure, FailureKind};
use crate::members::optional;

/// What stands in `ctx` beside the members of the source.
const BESIDE: [&str; 4] = ["_index", "_id", "_routing", "_ingest"];

/// A script, read.
#[derive(Debug)]
pub(crate) struct Program(Script);

impl Program {
    /// Reads `source`, `lang` and `params` of a step.
    pub(crate) fn parse(config: &mut Map<String, Value>) -> Result<Self, DefinitionError> {
        let source = optional(config, "source")?;
        let source = source.or(optional(config, "inline")?);
        let (lang, id) = (optional(config, "lang")?, optional(config, "id")?);
        config.remove("options");
        let params = config.remove("params").unwrap_or(Value::Null);
        let Some(source) = source else {
            return Err(DefinitionError::unsupported(match id {
                Some(id) => format!("unable to find script [{id}]"),
                None => "must specify either [source] for an inline script or [id] for a stored \
                         script"
                    .to_string(),
            }));
        };
        let lang = lang.as_deref().unwrap_or("painless");
        if ScriptLanguage::named(lang) != Some(ScriptLanguage::Painless) {
            return Err(DefinitionError::unsupported(format!(
                "script_lang not supported [{lang}]"
            )));
        }
        let language = ScriptLanguage::Painless;
        let script = Script::read(&source, language, &params, ScriptPurpose::Change);
        script.map(Program).map_err(|error| DefinitionError {
            script: Some(Box::new(error.clone())),
            ..DefinitionError::malformed(error.reason)
        })
    }

    /// Reads what decides whether a step is done: a text, or an object with one.
    pub(crate) fn condition(written: Value) -> Result<Self, DefinitionError> {
        let mut config = match written {
            Value::String(source) => {
                let mut config = Map::new();
                config.insert("source".to_string(), source.into());
                config
            }
            Value::Object(config) => config,
            _ => {
                return Err(DefinitionError::refused(
                    "if",
                    "is a script, or an object with one",
                ));
            }
        };
        let program = Self::parse(&mut config)?;
        match config.keys().next() {
            Some(unknown) => Err(DefinitionError::refused(
                "if",
                format_args!("[script] unknown field [{unknown}]"),
            )),
            None => Ok(program),
        }
    }

    /// Its text.
    pub(crate) fn source(&self) -> &str {
        self.0.source()
    }

    /// Changes a document, and where it goes.
    pub(crate) fn apply(&self, document: &mut Document) -> Result<(), Failure> {
        let came_ms = came_ms(document);
        let left = seen(document, |context| self.0.change(context, came_ms));
        let Value::Object(mut left) = left.map_err(failed)? else {
            return Err(Failure::unfit("[ctx] is not a map any more"));
        };
        let mut text = |name: &str| match left.shift_remove(name) {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) => Some(text),
            Some(other) => Some(other.to_string()),
        };
        document.index = text("_index").unwrap_or_default();
        document.id = text("_id");
        document.routing = text("_routing");
        for name in CONDITIONS {
            let said = left.shift_remove(name).unwrap_or_default();
            document.set_condition(name, said);
        }
        if let Some(Value::Object(about)) = left.shift_remove("_ingest") {
            document.ingest = about;
        }
        document.source = Value::Object(left);
        Ok(())
    }

    /// Whether it holds of a document, which stays as it is.
    pub(crate) fn holds(&self, document: &mut Document) -> Result<bool, Failure> {
        let came_ms = came_ms(document);
        let holds = seen(document, |context| self.0.holds_of(context, came_ms));
        holds.map_err(failed)
    }
}

fn failed(error: ScriptError) -> Failure {
    Failure {
        kind: FailureKind::Script,
        because: Some(Because::Script(Box::new(error.clone()))),
        ..Failure::unfit(error.reason)
    }
}

/// When a document came, which to its scripts is now.
fn came_ms(document: &Document) -> i64 {
    let came = document.came().and_then(Value::as_str);
    let read = came.map(|came| DateFormat::default().parse_value(came));
    read.and_then(Result::ok).unwrap_or(0)
}

/// Shows a document as scripts see it, without copying it.
fn seen<T>(document: &mut Document, show: impl FnOnce(&Value) -> T) -> T {
    if !document.source.is_object() {
        return show(&json!({}));
    }
    let mut displaced = Vec::new();
    let values = [
        json!(document.index),
        json!(document.id),
        json!(document.routing),
        Value::Object(document.ingest.clone()),
    ];
    let beside = BESIDE.into_iter().map(str::to_string).zip(values);
    let beside = beside.chain(document.conditions.clone());
    if let Value::Object(members) = &mut document.source {
        for (name, value) in beside {
            let before = members.insert(name.clone(), value);
            displaced.extend(before.map(|value| (name, value)));
        }
    }
    let shown = show(&document.source);
    if let Value::Object(members) = &mut document.source {
        let conditions = document.conditions.keys().map(String::as_str);
        for name in BESIDE.into_iter().chain(conditions) {
            members.shift_remove(name);
        }
        members.extend(displaced);
    }
    shown
}

#[cfg(test)]
mod tests;
