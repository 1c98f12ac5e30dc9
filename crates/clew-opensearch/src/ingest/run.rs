//! Documents going through pipelines.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use clew_engine::{Action, Engine, WriteOperation};
use serde_json::Value;

use super::document::Document;
use super::pipeline::{Pipeline, Step};
use super::processor::Processor;
use super::values::wrong_type;
use super::{Failure, FailureKind, store};
use crate::http::error::ApiError;

/// The settings of an index that name its pipelines.
const DEFAULT_SETTING: &str = "index.default_pipeline";
const FINAL_SETTING: &str = "index.final_pipeline";
/// The name that stands for no pipeline.
const NONE: &str = "_none";
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
    /// By the name that is written to.
    own: BTreeMap<String, Arc<IndexPipelines>>,
}

/// The pipelines that an index names for its documents.
#[derive(Debug)]
struct IndexPipelines {
    /// Runs unless a write names another one.
    first: Option<String>,
    /// Runs in any case, and last.
    last: Option<String>,
}

/// The source that a write brings, which pipelines may change; `None` where it brings no whole one.
pub(crate) fn written_source(action: &mut Action) -> Option<&mut Bytes> {
    match action {
        Action::Index { source, .. } => Some(source),
        Action::Update(spec) => match spec.doc_as_upsert {
            true => spec.doc.as_mut(),
            false => spec.upsert.as_mut(),
        },
        Action::Delete => None,
    }
}

impl<'a> Ingest<'a> {
    pub(crate) fn new(engine: &'a Engine) -> Self {
        Ingest {
            engine,
            read: BTreeMap::new(),
            own: BTreeMap::new(),
        }
    }

    /// Sends a write through the pipelines that it or its index names. Of an update it is what is written where there
    /// is no document yet.
    pub(crate) fn prepare(
        &mut self,
        named: Option<&str>,
        mut operation: WriteOperation,
    ) -> Result<Prepared, ApiError> {
        let Some(source) = written_source(&mut operation.action) else {
            return Ok(Prepared::Write(operation));
        };
        let own = self.pipelines_of(&operation.index);
        let first = named.or(own.first.as_deref());
        let first = first.filter(|name| *name != NONE);
        if first.is_none() && own.last.is_none() {
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
        if let Some(name) = first
            && self.run_named(name, &mut document, 0)? == Flow::Dropped
        {
            return Ok(Prepared::Dropped);
        }
        // Whoever takes the document in the end has the last word.
        let own = match document.index == operation.index {
            true => own,
            false => self.pipelines_of(&document.index),
        };
        if let Some(name) = own.last.as_deref()
            && self.run_last(name, &mut document)? == Flow::Dropped
        {
            return Ok(Prepared::Dropped);
        }
        *source = Bytes::from(document.source.to_string());
        operation.index = document.index;
        operation.id = document.id;
        operation.routing = document.routing;
        Ok(Prepared::Write(operation))
    }

    /// Runs a final pipeline, which may not send the document elsewhere.
    fn run_last(&mut self, name: &str, document: &mut Document) -> Result<Flow, Failure> {
        let index = document.index.clone();
        let flow = self.run_named(name, document, 0)?;
        if document.index != index {
            return Err(Failure::illegal(format!(
                "final pipeline [{name}] can't change the target index"
            )));
        }
        Ok(flow)
    }

    /// The pipelines of whatever takes writes to this name, be it yet to be made; looked for once in a request.
    fn pipelines_of(&mut self, name: &str) -> Arc<IndexPipelines> {
        if let Some(known) = self.own.get(name) {
            return known.clone();
        }
        let settings = self.engine.settings_of_writes(name);
        let given = |setting: &str| {
            let named = settings.as_ref()?.given.get(setting)?;
            (named != NONE).then(|| named.clone())
        };
        let found = Arc::new(IndexPipelines {
            first: given(DEFAULT_SETTING),
            last: given(FINAL_SETTING),
        });
        self.own.insert(name.to_string(), found.clone());
        found
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
                Some(ready.map_err(|error| Failure::illegal(ApiError::from(error).in_words()))?)
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
                    kind: FailureKind::Meant,
                    ..Failure::illegal(document.fill(message)?)
                });
            }
            Processor::Pipeline {
                name,
                ignore_missing,
            } => {
                let name = document.fill(name)?;
                if self.find(&name)?.is_none() {
                    if *ignore_missing {
                        return Ok(Flow::On);
                    }
                    return Err(Failure {
                        kind: FailureKind::NoPipeline,
                        ..Failure::illegal(format!(
                            "Pipeline processor configured for non-existent pipeline [{name}]"
                        ))
                    });
                }
                return self.run_named(&name, document, depth + 1);
            }
            Processor::Foreach {
                field,
                ignore_missing,
                step,
            } => return self.foreach((field, *ignore_missing), step, document, depth),
            Processor::GeoIp(place) => place.apply(document, self.engine.data_dir())?,
            other => other.change(document)?,
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
            None => return Err(document.absent(field)),
            Some(Value::Array(items)) => items,
            Some(Value::Null) => {
                return Err(Failure::illegal(format!(
                    "field [{field}] is null, cannot loop over its elements."
                )));
            }
            Some(other) => return Err(wrong_type(field, &other, "java.util.List")),
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
