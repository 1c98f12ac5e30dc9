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
mod tests {
    use super::*;

    fn run(source: &str) -> Document {
        let mut config = Map::new();
        config.insert("source".to_string(), source.into());
        config.insert("params".to_string(), json!({"by": 2}));
        let program = Program::parse(&mut config).unwrap();
        let mut document = Document::new("i", json!({"n": 1, "tags": ["a"]}), 86_400_000);
        document.id = Some("7".to_string());
        program.apply(&mut document).unwrap();
        document
    }

    #[test]
    fn scripts_do_what_processors_do() {
        let apply = |source: &str| {
            let mut config = Map::new();
            config.insert("source".to_string(), source.into());
            let program = Program::parse(&mut config).unwrap();
            let given =
                json!({"s": "1kb", "d": "a%20b+c", "j": "{\"x\": [1, {\"y\": null}]}", "n": 5});
            let mut document = Document::new("i", given, 0);
            program.apply(&mut document).map(|()| document.source)
        };
        for (source, name, want) in [
            ("ctx.made = Processors.bytes(ctx.s)", "made", json!(1024)),
            (
                "ctx.made = Processors.urlDecode(ctx.d)",
                "made",
                json!("a b c"),
            ),
            (
                "ctx.made = Processors.uppercase(ctx.s)",
                "made",
                json!("1KB"),
            ),
            (
                "ctx.made = Processors.json(ctx.j).x[1]",
                "made",
                json!({"y": null}),
            ),
            (
                "Processors.json(ctx, 'j'); ctx.x.add(2)",
                "x",
                json!([1, {"y": null}, 2]),
            ),
        ] {
            let source = apply(source).unwrap();
            assert_eq!(source[name], want, "{name}");
        }
        for (source, reason) in [
            (
                "Processors.bytes(ctx.d)",
                "as a size in bytes: unit is missing or unrecognized",
            ),
            ("Processors.bytes(ctx.n)", "java.lang.String"),
            ("Processors.urlDecode('%zz')", "Illegal hex characters"),
            ("Processors.json(ctx.d)", "expected value"),
            (
                "Processors.json(ctx, 'n')",
                "cannot add non-map fields to root of document",
            ),
        ] {
            let told = apply(source).unwrap_err().to_string();
            assert!(told.contains(reason), "{source}: {told}");
        }
    }

    #[test]
    fn scripts_see_and_say_the_version() {
        let mut config = Map::new();
        let source = "ctx.seen = ctx._version; ctx._version = 5; ctx.remove('_version_type')";
        config.insert("source".to_string(), source.into());
        let program = Program::parse(&mut config).unwrap();
        let mut document = Document::new("i", json!({}), 0);
        document.set_condition("_version", (-3).into());
        document.set_condition("_version_type", "internal".into());
        program.apply(&mut document).unwrap();
        assert_eq!(document.source, json!({"seen": -3}));
        assert_eq!(Value::Object(document.conditions), json!({"_version": 5}));
    }

    #[test]
    fn scripts_change_documents_and_where_they_go() {
        let document = run("ctx.n += params.by; ctx.tags.add(ctx._id); ctx._index = 'j-' + ctx.n");
        assert_eq!(document.source, json!({"n": 3, "tags": ["a", "7"]}));
        assert_eq!(document.index, "j-3");
        assert_eq!(document.id.as_deref(), Some("7"));
        let document = run("ctx.remove('tags'); ctx.at = ctx._ingest.timestamp");
        let at = "1970-01-02T00:00:00.000Z";
        assert_eq!(document.source, json!({"n": 1, "at": at}));
    }

    #[test]
    fn conditions_leave_documents_as_they_are() {
        let mut document = Document::new("i", json!({"n": 1, "_id": "own"}), 0);
        for (source, holds) in [
            ("ctx.n == 1", true),
            ("ctx?.a?.b == 'x'", false),
            ("ctx.containsKey('n') && ctx._index == 'i'", true),
            ("ctx.n = 5; return true", true),
        ] {
            let program = Program::condition(source.into()).unwrap();
            assert_eq!(program.holds(&mut document), Ok(holds), "{source}");
            assert_eq!(document.source, json!({"n": 1, "_id": "own"}));
        }
        let failing = Program::condition("ctx.a.b == 1".into()).unwrap();
        let failure = failing.holds(&mut document).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Script);
        let refused = Program::condition("ctx.".into()).unwrap_err();
        assert!(refused.script.is_some());
    }
}
