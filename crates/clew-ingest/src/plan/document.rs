//! Steps that have no plan of their own: the event becomes a document, and the document an event again.

use serde_json::Value as Json;

use super::step::{Step, Work};
use crate::document::Document;
use crate::event::{Event, Reason};
use crate::pipeline::{Flow, Processor};

/// A step of pipelines of documents.
#[derive(Debug)]
pub(super) struct OnDocument {
    processor: Processor,
    written: Vec<u8>,
}

impl OnDocument {
    pub(super) fn new(processor: Processor) -> Self {
        OnDocument {
            processor,
            written: Vec::new(),
        }
    }
}

impl Step for OnDocument {
    fn apply(&mut self, event: &mut Event, work: &mut Work) -> Result<Flow, Reason> {
        self.written.clear();
        event.write_all(&mut self.written);
        let source: Json = serde_json::from_slice(&self.written).map_err(|_| Reason::NotJson)?;
        let mut document = Document::new("", source.clone(), work.now_ms);
        self.processor
            .change(&mut document)
            .map_err(|_| Reason::Unfit)?;
        // What the step has left alone stays as it was written: numbers may be larger than those of a document.
        match (&source, &document.source) {
            (Json::Object(before), Json::Object(now)) => event.update(None, before, now)?,
            (_, other) => event.replace(&other.to_string())?,
        }
        Ok(Flow::On)
    }
}
