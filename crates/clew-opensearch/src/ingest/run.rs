//! Documents going through pipelines.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::http::StatusCode;
use bytes::Bytes;
use clew_engine::{Engine, WriteOperation};
use serde_json::Value;

use super::Failure;
use super::document::{Document, missing};
use super::pipeline::{Pipeline, Step};
use super::processor::{Field, Given, Processor};
use super::store;
use crate::error::{ApiError, Cause};

/// The settings of an index that name its pipelines.
const DEFAULT_SETTING: &str = "index.default_pipeline";
const FINAL_SETTING: &str = "index.final_pipeline";
/// Pipelines calling each other.
const CALLS_MAX: usize = 10;

/// What became of a write.
pub(crate) enum Prepared {
    /// It goes on, perhaps changed.
    Write(WriteOperation),
    /// A pipeline dropped it.
    Dropped,
}

/// What a step leaves of a document.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    On,
    Dropped,
}

/// The pipelines of one request; each is read once.
pub(crate) struct Ingest<'a> {
    engine: &'a Engine,
    read: BTreeMap<String, Option<Arc<Pipeline>>>,
}

impl<'a> Ingest<'a> {
    pub(crate) fn new(engine: &'a Engine) -> Self {
        Ingest {
            engine,
            read: BTreeMap::new(),
        }
    }

    /// Sends a write through the pipelines that it or its index names.
    pub(crate) fn prepare(
        &mut self,
        named: Option<&str>,
        mut operation: WriteOperation,
    ) -> Result<Prepared, ApiError> {
        let clew_engine::Action::Index { source, .. } = &operation.action else {
            return Ok(Prepared::Write(operation));
        };
        let names = self.pipelines_of(named, &operation.index);
        if names.is_empty() {
            return Ok(Prepared::Write(operation));
        }
        let value: Value =
            serde_json::from_slice(source).map_err(|error| ApiError::malformed_json(&error))?;
        let mut document = Document::new(
            operation.index.clone(),
            operation.id.clone(),
            operation.routing.clone(),
            value,
        );
        for name in names {
            match self.run_named(&name, &mut document, 0) {
                Ok(Flow::On) => {}
                Ok(Flow::Dropped) => return Ok(Prepared::Dropped),
                Err(failure) => return Err(refused(failure)),
            }
        }
        operation.index = document.index;
        operation.id = document.id;
        operation.routing = document.routing;
        if let clew_engine::Action::Index { source, .. } = &mut operation.action {
            *source = Bytes::from(document.source.to_string());
        }
        Ok(Prepared::Write(operation))
    }

    /// The pipelines of a write, in their order.
    fn pipelines_of(&self, named: Option<&str>, index: &str) -> Vec<String> {
        let settings = self.engine.index(index).ok().map(|index| index.settings());
        let setting = |name: &str| {
            let given = settings.as_ref()?.given.get(name)?;
            Some(given.clone())
        };
        let first = named
            .map(str::to_string)
            .or_else(|| setting(DEFAULT_SETTING));
        [first, setting(FINAL_SETTING)]
            .into_iter()
            .flatten()
            .filter(|name| name != "_none")
            .collect()
    }

    pub(super) fn run_named(
        &mut self,
        name: &str,
        document: &mut Document,
        depth: usize,
    ) -> Result<Flow, Failure> {
        let Some(pipeline) = self.find(name)? else {
            return Err(Failure::illegal(format!(
                "pipeline with id [{name}] does not exist"
            )));
        };
        self.run(&pipeline, document, depth)
    }

    fn find(&mut self, name: &str) -> Result<Option<Arc<Pipeline>>, Failure> {
        if let Some(known) = self.read.get(name) {
            return Ok(known.clone());
        }
        let found = match store::find(self.engine, name) {
            None => None,
            Some(body) => {
                let ready = Pipeline::ready(&body);
                Some(ready.map_err(|error| Failure::illegal(error.in_words()))?)
            }
        };
        self.read.insert(name.to_string(), found.clone());
        Ok(found)
    }

    /// Sends a document through a pipeline.
    pub(super) fn run(
        &mut self,
        pipeline: &Pipeline,
        document: &mut Document,
        depth: usize,
    ) -> Result<Flow, Failure> {
        if depth > CALLS_MAX {
            return Err(Failure::illegal(
                "Cycle detected for pipeline: pipelines call each other too deeply",
            ));
        }
        match self.steps(&pipeline.steps, document, depth) {
            Err(failure) if !pipeline.on_failure.is_empty() => {
                self.recover(&pipeline.on_failure, failure, document, depth)
            }
            other => other,
        }
    }

    fn steps(
        &mut self,
        steps: &[Step],
        document: &mut Document,
        depth: usize,
    ) -> Result<Flow, Failure> {
        for step in steps {
            if self.step(step, document, depth)? == Flow::Dropped {
                return Ok(Flow::Dropped);
            }
        }
        Ok(Flow::On)
    }

    /// Does a step, and what is to be done when it fails.
    pub(super) fn step(
        &mut self,
        step: &Step,
        document: &mut Document,
        depth: usize,
    ) -> Result<Flow, Failure> {
        match self.apply(&step.what, document, depth) {
            Ok(flow) => Ok(flow),
            Err(_) if step.ignore_failure => Ok(Flow::On),
            Err(mut failure) => {
                if failure.step.is_empty() {
                    failure.step = step.name;
                    failure.tag = step.tag.clone();
                }
                if step.on_failure.is_empty() {
                    return Err(failure);
                }
                self.recover(&step.on_failure, failure, document, depth)
            }
        }
    }

    fn recover(
        &mut self,
        steps: &[Step],
        failure: Failure,
        document: &mut Document,
        depth: usize,
    ) -> Result<Flow, Failure> {
        let before = document.ingest.clone();
        let about = &mut document.ingest;
        about.insert("on_failure_message".to_string(), failure.reason.into());
        about.insert("on_failure_processor_type".to_string(), failure.step.into());
        about.insert("on_failure_processor_tag".to_string(), failure.tag.into());
        let done = self.steps(steps, document, depth);
        document.ingest = before;
        done
    }

    fn apply(
        &mut self,
        what: &Processor,
        document: &mut Document,
        depth: usize,
    ) -> Result<Flow, Failure> {
        match what {
            Processor::Drop => return Ok(Flow::Dropped),
            Processor::Fail(message) => {
                return Err(Failure {
                    kind: "fail_processor_exception",
                    ..Failure::illegal(document.fill(message)?)
                });
            }
            Processor::Pipeline {
                name,
                ignore_missing,
            } => {
                let name = document.fill(name)?;
                if *ignore_missing && self.find(&name)?.is_none() {
                    return Ok(Flow::On);
                }
                return self.run_named(&name, document, depth + 1);
            }
            Processor::Foreach {
                field,
                ignore_missing,
                step,
            } => return self.foreach((field, *ignore_missing), step, document, depth),
            Processor::Date(date) => date.apply(document)?,
            Processor::KeyValues(pairs) => pairs.apply(document)?,
            Processor::Csv(csv) => csv.apply(document)?,
            Processor::Dissect(dissect) => dissect.apply(document)?,
            Processor::Grok(grok) => grok.apply(document)?,
            Processor::GeoIp(place) => place.apply(document, self.engine.data_dir())?,
            Processor::UserAgent(agent) => agent.apply(document)?,
            other => change(other, document)?,
        }
        Ok(Flow::On)
    }

    fn foreach(
        &mut self,
        (field, ignore_missing): (&str, bool),
        step: &Step,
        document: &mut Document,
        depth: usize,
    ) -> Result<Flow, Failure> {
        let items = match document.get(field) {
            None | Some(Value::Null) if ignore_missing => return Ok(Flow::On),
            None => return Err(missing(field)),
            Some(Value::Array(items)) => items,
            Some(other) => {
                return Err(Failure::illegal(format!(
                    "field [{field}] of type [{}] cannot be cast to [java.util.List]",
                    super::values::class(&other)
                )));
            }
        };
        let mut changed = Vec::with_capacity(items.len());
        for item in items {
            // The step sees the item as `_ingest._value`.
            document.ingest.insert("_value".to_string(), item);
            let done = self.step(step, document, depth);
            let value = document.ingest.remove("_value");
            if done? == Flow::Dropped {
                return Ok(Flow::Dropped);
            }
            changed.extend(value);
        }
        document.set(field, Value::Array(changed))?;
        Ok(Flow::On)
    }
}

/// Steps that change one document by itself.
fn change(what: &Processor, document: &mut Document) -> Result<(), Failure> {
    match what {
        Processor::Set {
            field,
            value,
            replace,
            ignore_empty,
        } => {
            let path = document.fill(field)?;
            let there = document.get(&path).is_some_and(|value| !value.is_null());
            let value = given(value, document)?;
            let empty = value.is_null() || value.as_str() == Some("");
            if (there && !replace) || (empty && *ignore_empty) {
                return Ok(());
            }
            document.set(&path, value)
        }
        Processor::Append {
            field,
            values,
            duplicates,
        } => {
            let path = document.fill(field)?;
            let mut items = match document.get(&path) {
                None | Some(Value::Null) => Vec::new(),
                Some(Value::Array(items)) => items,
                Some(one) => vec![one],
            };
            for value in values {
                let value = given(value, document)?;
                if *duplicates || !items.contains(&value) {
                    items.push(value);
                }
            }
            document.set(&path, Value::Array(items))
        }
        Processor::Remove {
            fields,
            ignore_missing,
        } => {
            for field in fields {
                let path = document.fill(field)?;
                if document.remove(&path).is_none() && !ignore_missing {
                    return Err(missing(&path));
                }
            }
            Ok(())
        }
        Processor::Rename { field, replace } => rename(field, *replace, document),
        Processor::Change { field, change } => {
            with_field(field, document, |path, value| change.apply(path, value))
        }
        Processor::Convert { field, kind } => {
            with_field(field, document, |path, value| kind.convert(path, value))
        }
        Processor::Json { field, to_root } => json(field, *to_root, document),
        Processor::DotExpander { field, path } => expand(field, path.as_deref(), document),
        _ => Ok(()),
    }
}

fn given(value: &Given, document: &Document) -> Result<Value, Failure> {
    match value {
        Given::Value(value) => Ok(value.clone()),
        Given::Text(template) => Ok(document.fill(template)?.into()),
        Given::CopyOf(path) => document.require(path),
    }
}

fn with_field(
    field: &Field,
    document: &mut Document,
    change: impl Fn(&str, Value) -> Result<Value, Failure>,
) -> Result<(), Failure> {
    let value = match document.get(&field.from) {
        None | Some(Value::Null) if field.ignore_missing => return Ok(()),
        None => return Err(missing(&field.from)),
        Some(value) => value,
    };
    let changed = change(&field.from, value)?;
    document.set(&field.to, changed)
}

fn rename(field: &Field, replace: bool, document: &mut Document) -> Result<(), Failure> {
    if document.get(&field.from).is_none() {
        if field.ignore_missing {
            return Ok(());
        }
        return Err(Failure::illegal(format!(
            "field [{}] doesn't exist",
            field.from
        )));
    }
    if document.get(&field.to).is_some() && !replace {
        return Err(Failure::illegal(format!(
            "field [{}] already exists",
            field.to
        )));
    }
    let value = document.remove(&field.from).unwrap_or(Value::Null);
    document.set(&field.to, value)
}

fn json(field: &Field, to_root: bool, document: &mut Document) -> Result<(), Failure> {
    let text = match document.get(&field.from) {
        None if field.ignore_missing => return Ok(()),
        None => return Err(missing(&field.from)),
        Some(Value::String(text)) => text,
        Some(other) => other.to_string(),
    };
    let value: Value =
        serde_json::from_str(&text).map_err(|error| Failure::illegal(error.to_string()))?;
    if !to_root {
        return document.set(&field.to, value);
    }
    match (value, &mut document.source) {
        (Value::Object(more), Value::Object(members)) => {
            members.extend(more);
            Ok(())
        }
        _ => Err(Failure::illegal(
            "cannot add non-map fields to root of document",
        )),
    }
}

/// Turns a member with dots in its name into members of members.
fn expand(field: &str, path: Option<&str>, document: &mut Document) -> Result<(), Failure> {
    let whole = match path {
        Some(path) => format!("{path}.{field}"),
        None => field.to_string(),
    };
    let at = match path {
        None => Some(&mut document.source),
        Some(path) => document
            .source
            .pointer_mut(&format!("/{}", path.replace('.', "/"))),
    };
    let taken = at
        .and_then(Value::as_object_mut)
        .and_then(|members| members.remove(field));
    match taken {
        None => Ok(()),
        Some(value) => match document.get(&whole) {
            None => document.set(&whole, value),
            Some(before) => {
                let mut items = match before {
                    Value::Array(items) => items,
                    one => vec![one],
                };
                items.push(value);
                document.set(&whole, Value::Array(items))
            }
        },
    }
}

/// A failure that nothing handled, as the answer to the write.
pub(super) fn refused(failure: Failure) -> ApiError {
    let status = if failure.kind == "illegal_argument_exception" {
        StatusCode::BAD_REQUEST
    } else {
        StatusCode::INTERNAL_SERVER_ERROR
    };
    ApiError::new(status, Cause::new(failure.kind, failure.reason))
}
