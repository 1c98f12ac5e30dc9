//! Which pipelines a write goes through: those that it or its index names, found among the engine's definitions.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use clew_engine::{
    Access, Action, Changed, Condition, Engine, OpType, PRIMARY_TERM, WriteOperation,
};
use clew_ingest::template::plain;
use clew_ingest::{Document, Failure, Flow, Pipeline, Surroundings, run_named};
use clew_platform::MemoryPurpose;
use serde_json::Value;

use super::store;
use crate::http::error::ApiError;
use crate::http::request_memory::json_bytes;
use crate::state::stored_scripts;

/// The settings of an index that name its pipelines.
const DEFAULT_SETTING: &str = "index.default_pipeline";
const FINAL_SETTING: &str = "index.final_pipeline";
/// The version of whoever does not care.
const ANY_VERSION: i64 = -3;
/// The name that stands for no pipeline.
const NONE: &str = "_none";

/// What became of a write.
#[allow(
    clippy::large_enum_variant,
    reason = "nearly all writes go on, and none is kept"
)]
pub(crate) enum Prepared {
    /// It goes on, perhaps changed.
    Write(WriteOperation),
    /// A pipeline dropped it.
    Dropped,
}

/// The pipelines of one request; each is read once.
pub(crate) struct Ingest<'a> {
    engine: &'a Engine,
    read: BTreeMap<String, Option<Arc<Pipeline>>>,
    /// By the name that is written to.
    own: BTreeMap<String, Arc<IndexPipelines>>,
    /// What pipelines have taken so far, once one has run.
    took: Option<Duration>,
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
fn written_source(action: &mut Action) -> Option<&mut Bytes> {
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
            took: None,
        }
    }

    /// What the pipelines of all writes have taken; `None` where no write went through one.
    pub(crate) fn took(&self) -> Option<Duration> {
        self.took
    }

    /// Sends a write through the pipelines that it or its index names. Of an update it is what is written where there
    /// is no document yet.
    pub(crate) fn prepare(
        &mut self,
        named: Option<&str>,
        mut operation: WriteOperation,
    ) -> Result<Prepared, ApiError> {
        if written_source(&mut operation.action).is_none() {
            return Ok(Prepared::Write(operation));
        }
        let own = self.pipelines_of(&operation.index);
        let first = named.or(own.first.as_deref());
        let first = first.filter(|name| *name != NONE);
        if first.is_none() && own.last.is_none() {
            return Ok(Prepared::Write(operation));
        }
        let began = Instant::now();
        let prepared = self.through(first, own.clone(), operation);
        self.took = Some(self.took.unwrap_or_default() + began.elapsed());
        prepared
    }

    /// Sends what an update alone in its request would write through the pipelines of its index: it becomes the write of
    /// that document, which is refused where somebody was faster. It stays an update where there is nothing to write, or
    /// no pipeline.
    pub(crate) fn prepare_update(
        &mut self,
        access: &Access,
        mut operation: WriteOperation,
    ) -> Result<Prepared, ApiError> {
        let own = self.pipelines_of(&operation.index);
        if own.first.is_none() && own.last.is_none() {
            return Ok(Prepared::Write(operation));
        }
        let foreseen = self.engine.foresee_update(access, &operation)?;
        let Changed::Document(source) = foreseen.changed else {
            return Ok(Prepared::Write(operation));
        };
        let (op_type, as_it_is) = match foreseen.seq_no {
            Some(seq_no) => {
                let primary_term = PRIMARY_TERM;
                let here = Condition::At {
                    seq_no,
                    primary_term,
                };
                (OpType::Index, Some(here))
            }
            None => (OpType::Create, None),
        };
        operation.condition = operation.condition.or(as_it_is);
        operation.routing = foreseen.routing;
        operation.action = Action::index(source, op_type);
        self.prepare(None, operation)
    }

    /// Sends a write through its first pipeline, and the last one of the index that takes it.
    fn through(
        &mut self,
        first: Option<&str>,
        own: Arc<IndexPipelines>,
        mut operation: WriteOperation,
    ) -> Result<Prepared, ApiError> {
        let Some(source) = written_source(&mut operation.action) else {
            return Ok(Prepared::Write(operation));
        };
        // What it becomes, and what is copied of it on its way.
        let account = self.engine.memory();
        let tree_bytes = json_bytes(source).saturating_mul(2);
        let _tree = account.reserve(MemoryPurpose::Operations, tree_bytes)?;
        let value: Value =
            serde_json::from_slice(source).map_err(|error| ApiError::malformed_json(&error))?;
        let mut document = Document::new(operation.index.clone(), value, self.engine.now_ms());
        document.id = operation.id.clone();
        document.routing = operation.routing.clone();
        document.take_metadata();
        tell_version(&mut document, operation.condition);
        if let Some(name) = first
            && run_named(name, &mut document, self)? == Flow::Dropped
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
        if let Action::Index { .. } = operation.action {
            operation.condition = condition_of(&document)?.or(operation.condition);
        }
        operation.index = document.index;
        operation.id = document.id;
        operation.routing = document.routing;
        Ok(Prepared::Write(operation))
    }

    /// Runs a final pipeline, which may not send the document elsewhere.
    fn run_last(&mut self, name: &str, document: &mut Document) -> Result<Flow, Failure> {
        let index = document.index.clone();
        let flow = run_named(name, document, self)?;
        if document.index != index {
            return Err(Failure::unfit(format!(
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
}

impl Surroundings for Ingest<'_> {
    fn pipeline(&mut self, name: &str) -> Result<Option<Arc<Pipeline>>, Failure> {
        if let Some(known) = self.read.get(name) {
            return Ok(known.clone());
        }
        let found = match store::find(self.engine, name) {
            None => None,
            Some(mut body) => {
                let filled = stored_scripts::fill(self.engine, &mut body);
                filled.map_err(|error| broken(name, &error))?;
                let ready = Pipeline::ready(name, &body);
                Some(ready.map_err(|error| broken(name, &ApiError::from(error)))?)
            }
        };
        self.read.insert(name.to_string(), found.clone());
        Ok(found)
    }

    fn data_dir(&self) -> Option<&Path> {
        Some(self.engine.data_dir())
    }
}

/// Lets a document say which version it is to have, or that this is open: -3.
fn tell_version(document: &mut Document, condition: Option<Condition>) {
    let (version, kind) = match condition {
        Some(Condition::External { version, or_equal }) => {
            let kind = ["external", "external_gte"][usize::from(or_equal)];
            (version.into(), kind)
        }
        _ => (ANY_VERSION.into(), "internal"),
    };
    document.set_condition("_version", version);
    document.set_condition("_version_type", kind.into());
}

/// The state that a document says the one in its place must be in.
fn condition_of(document: &Document) -> Result<Option<Condition>, ApiError> {
    let whole = |name: &str| {
        let Some(said) = document.conditions.get(name) else {
            return Ok(None);
        };
        let number = said.as_i64().ok_or_else(|| {
            ApiError::illegal_argument(format!("[{name}] is a whole number, not [{said}]"))
        })?;
        Ok::<_, ApiError>((number != ANY_VERSION).then_some(number))
    };
    let (seq_no, primary_term) = (whole("_if_seq_no")?, whole("_if_primary_term")?);
    if let (Some(seq_no), Some(primary_term)) = (seq_no, primary_term)
        && let (Ok(seq_no), Ok(primary_term)) = (u64::try_from(seq_no), u64::try_from(primary_term))
    {
        return Ok(Some(Condition::At {
            seq_no,
            primary_term,
        }));
    }
    let version = whole("_version")?;
    let kind = document.conditions.get("_version_type");
    let kind = kind.map_or_else(|| "internal".to_string(), plain);
    let or_equal = match kind.as_str() {
        "internal" if version.is_none() => return Ok(None),
        "internal" | "external" | "external_gt" => false,
        "external_gte" => true,
        _ => {
            let reason = format!("No version type match [{kind}]");
            return Err(ApiError::illegal_argument(reason));
        }
    };
    let version = version.unwrap_or(ANY_VERSION);
    let Ok(version) = u64::try_from(version) else {
        let kind = kind.to_uppercase();
        let reason = format!("illegal version value [{version}] for version type [{kind}]");
        return Err(ApiError::validation(&reason));
    };
    Ok(Some(match kind.as_str() {
        "internal" => Condition::Version { version },
        _ => Condition::External { version, or_equal },
    }))
}

/// A pipeline that is kept and cannot be read, such as one whose stored script is gone.
fn broken(name: &str, error: &ApiError) -> Failure {
    let reason = error.in_words();
    Failure::unfit(format!(
        "pipeline with id [{name}] could not be loaded, caused by [{reason}]"
    ))
}
