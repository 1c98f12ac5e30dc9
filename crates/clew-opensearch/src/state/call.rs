//! One request, decoded as far as every endpoint needs it, and how endpoints reach the engine.

use std::sync::Arc;
use std::time::Duration;

use axum::http::Method;
use bytes::Bytes;
use clew_engine::{
    Access, BlockLevel, CatalogChange, ClosedNames, DefinitionChange, Definitions, Engine,
    EngineError, Index, IndexHandle, Purpose, ResolveOptions, Wildcards, aside,
};
use clew_log::Glsn;
use clew_platform::{CancellationToken, stopped};
use serde_json::Value;

use crate::http::client::Client;
use crate::http::error::ApiError;
use crate::http::json_writer::json_while;
use crate::http::params::Params;
use crate::http::reply::Reply;
use crate::http::request_memory::RequestMemory;
use crate::http::unique_json;
use crate::state::api::Api;
use crate::state::tasks::{NewTask, RunningTask};

/// Work on longer bodies holds up nobody else.
const INLINE_BYTES_MAX: usize = 64 << 10;

/// How long a read with `after_glsn` waits for the position.
const AFTER_GLSN_WAIT: Duration = Duration::from_secs(30);

/// A request on its way to its endpoint.
pub struct Call {
    /// What every endpoint shares.
    pub api: Arc<Api>,
    /// The method.
    pub method: Method,
    /// Values of the pattern's `{names}`.
    pub(crate) path_values: Vec<(&'static str, String)>,
    /// The URI parameters.
    pub params: Arc<Params>,
    /// The body, inflated.
    pub body: Bytes,
    /// The client's own name for the request (`X-Opaque-Id`).
    pub(crate) opaque_id: Option<String>,
    /// What who asks may do with indexes.
    pub access: Access,
    /// Who is asking, for the answers that present the server.
    pub(crate) client: Client,
    /// The last event that a client of a stream has seen (`Last-Event-ID`).
    pub(crate) last_event_id: Option<String>,
    /// What the request takes beside its body.
    pub memory: RequestMemory,
}

impl Call {
    /// A request of the server's own in the course of this one: with other URI parameters (`name=value&..`) and another
    /// body, and with memory of its own, which is given back when it is over.
    ///
    /// # Errors
    /// Parameters that cannot be decoded.
    pub fn within(&self, params: &str, body: String) -> Result<Call, ApiError> {
        Ok(Call {
            api: self.api.clone(),
            method: self.method.clone(),
            path_values: Vec::new(),
            params: Arc::new(Params::parse(params)?),
            body: Bytes::from(body),
            opaque_id: self.opaque_id.clone(),
            access: self.access.clone(),
            client: self.client,
            last_event_id: None,
            memory: RequestMemory::new(self.api.engine.memory()),
        })
    }

    /// The same request, as a part of it says it: its URI parameters stand above those of the whole. What it takes is
    /// booked on the whole.
    pub(crate) fn with_params(&self, above: Vec<(String, String)>) -> Call {
        Call {
            api: self.api.clone(),
            method: self.method.clone(),
            path_values: self.path_values.clone(),
            params: Arc::new(self.params.with(above)),
            body: self.body.clone(),
            opaque_id: self.opaque_id.clone(),
            access: self.access.clone(),
            client: self.client,
            last_event_id: self.last_event_id.clone(),
            memory: self.memory.clone(),
        }
    }

    /// A value of the path, when the route has it.
    pub fn path(&self, name: &str) -> Option<&str> {
        self.path_values
            .iter()
            .find(|(have, _)| *have == name)
            .map(|(_, value)| value.as_str())
    }

    /// A value of the path that the route's pattern always has.
    ///
    /// # Errors
    /// The pattern has no such name.
    pub fn path_required(&self, name: &'static str) -> Result<&str, ApiError> {
        self.path(name)
            .ok_or_else(|| ApiError::validation(&format!("{name} is missing")))
    }

    /// This request as a task that is running.
    pub(crate) fn task(&self, action: &'static str) -> RunningTask {
        self.api.tasks.request(action, self.opaque_id.clone())
    }

    /// Notes a task of this request that begins, and goes on to its end.
    ///
    /// # Errors
    /// 429 while as many run as may, 503 once the server stops.
    pub(crate) fn begin_task(
        &self,
        action: &'static str,
        description: String,
    ) -> Result<u64, ApiError> {
        self.api.tasks.begin(NewTask {
            action,
            description,
            opaque_id: self.opaque_id.clone(),
            token: None,
        })
    }

    /// The same for one that asks the token whether to go on.
    ///
    /// # Errors
    /// As [`Self::begin_task`].
    pub(crate) fn begin_cancellable_task(
        &self,
        action: &'static str,
        description: String,
        token: CancellationToken,
    ) -> Result<u64, ApiError> {
        self.api.tasks.begin(NewTask {
            action,
            description,
            opaque_id: self.opaque_id.clone(),
            token: Some(token),
        })
    }

    /// The index expression; empty means all.
    pub(crate) fn index_expression(&self) -> &str {
        self.path("index").unwrap_or("")
    }

    /// The body as JSON; `None` when there is none.
    ///
    /// # Errors
    /// What is no JSON, or takes more memory than there is beside others; once the request is over.
    pub fn json(&self) -> Result<Option<Value>, ApiError> {
        self.while_others_go_on(|| {
            if self.body.iter().all(u8::is_ascii_whitespace) {
                return Ok(None);
            }
            self.memory.take_json(&self.body)?;
            unique_json::read(&self.body).map(Some)
        })
    }

    /// Does what takes as long as the body is long. Where that is long, the other requests of this thread go on meanwhile,
    /// which costs some ten microseconds.
    pub(crate) fn while_others_go_on<T>(&self, work: impl FnOnce() -> T) -> T {
        match self.body.len() > INLINE_BYTES_MAX {
            true => aside(work),
            false => work(),
        }
    }

    /// The body as a JSON object.
    ///
    /// # Errors
    /// As [`Call::json`]; no body, or one that is no object.
    pub fn json_object(&self) -> Result<Value, ApiError> {
        match self.json()? {
            Some(value) if value.is_object() => Ok(value),
            Some(_) => Err(ApiError::bad_request(
                "parse_exception",
                "expected a JSON object",
            )),
            None => Err(ApiError::bad_request(
                "parse_exception",
                "request body is required",
            )),
        }
    }

    /// Reads this request's body, of which it was made, and tells the places of what is wrong in it.
    ///
    /// # Errors
    /// Those of the reader.
    pub(crate) fn read<T>(
        &self,
        body: &Value,
        read: impl FnOnce(&Value) -> Result<T, ApiError>,
    ) -> Result<T, ApiError> {
        read(body).map_err(|error| error.placed(body, &self.body))
    }

    /// Refuses a request without a body, where that may stand in the address, too (`source`).
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn require_source(&self) -> Result<(), ApiError> {
        if self.body.is_empty() {
            return Err(ApiError::bad_request(
                "parse_exception",
                "request body or source parameter is required",
            ));
        }
        Ok(())
    }

    /// The body of a definition that is kept, as a JSON object: it is copied while it is read, joined with others and written
    /// down.
    ///
    /// # Errors
    /// As [`Call::json_object`].
    pub fn definition(&self) -> Result<Value, ApiError> {
        self.memory.take_copied_json(&self.body)?;
        self.json_object()
    }

    /// How the request wants its index expression read, where documents are read or written.
    ///
    /// # Errors
    /// Parameters with values that they cannot have.
    pub fn resolve_options(&self) -> Result<ResolveOptions, ApiError> {
        self.resolve_options_from(ResolveOptions::default())
    }

    /// The same over an endpoint's own defaults.
    ///
    /// # Errors
    /// As [`Call::resolve_options`].
    pub(crate) fn resolve_options_from(
        &self,
        base: ResolveOptions,
    ) -> Result<ResolveOptions, ApiError> {
        let wildcards = match self.params.list("expand_wildcards") {
            None => base.wildcards,
            Some(names) => read_wildcards(&names)?,
        };
        let unavailable = base.ignore_unavailable;
        Ok(ResolveOptions {
            ignore_unavailable: self.params.index_flag("ignore_unavailable", unavailable)?,
            allow_no_indices: self
                .params
                .index_flag("allow_no_indices", base.allow_no_indices)?,
            wildcards,
            ..base
        })
    }

    /// The indexes of the path where closed ones are as good as open ones; wildcards mean these
    /// unless the request says otherwise.
    ///
    /// # Errors
    /// As [`Call::indices_with`].
    pub async fn indices_from(
        &self,
        wildcards: Wildcards,
        purpose: Purpose,
    ) -> Result<Vec<Arc<Index>>, ApiError> {
        shown(&self.opened_from(wildcards, purpose).await?, purpose)
    }

    /// The indexes of the path, after they have reached the position that the request asks for.
    pub(crate) async fn indices(&self, purpose: Purpose) -> Result<Vec<Arc<Index>>, ApiError> {
        self.indices_of(self.index_expression(), purpose).await
    }

    /// The indexes of an expression, likewise.
    pub(crate) async fn indices_of(
        &self,
        expression: &str,
        purpose: Purpose,
    ) -> Result<Vec<Arc<Index>>, ApiError> {
        self.indices_with(expression, self.resolve_options()?, purpose)
            .await
    }

    /// The indexes of an expression that has its own options.
    ///
    /// # Errors
    /// Names that mean no index where the options want one, a block, or a position that is not reached in time.
    pub async fn indices_with(
        &self,
        expression: &str,
        options: ResolveOptions,
        purpose: Purpose,
    ) -> Result<Vec<Arc<Index>>, ApiError> {
        shown(&self.open(expression, options, purpose).await?, purpose)
    }

    /// The one index that a name means to a read by id, and the routing key that holds there.
    pub(crate) fn open_one(
        &self,
        name: &str,
        routing: Option<&str>,
    ) -> Result<(IndexHandle, Option<String>), ApiError> {
        let engine = &self.api.engine;
        let opened = engine.open_one((name, routing), &self.access, Purpose::Read);
        opened.map_err(|error| ApiError::from(error).of_one_index())
    }

    /// The indexes that the path names, opened; all without one. Wildcards mean these.
    pub(crate) async fn opened_from(
        &self,
        wildcards: Wildcards,
        purpose: Purpose,
    ) -> Result<Vec<IndexHandle>, ApiError> {
        let options = self.resolve_options_from(ResolveOptions {
            wildcards,
            closed: ClosedNames::Allow,
            ..ResolveOptions::default()
        })?;
        self.open(self.index_expression(), options, purpose).await
    }

    /// The indexes of an expression, opened.
    pub(crate) async fn opened(
        &self,
        expression: &str,
        purpose: Purpose,
    ) -> Result<Vec<IndexHandle>, ApiError> {
        self.open(expression, self.resolve_options()?, purpose)
            .await
    }

    /// The same, by options of their own.
    pub(crate) async fn open(
        &self,
        expression: &str,
        options: ResolveOptions,
        purpose: Purpose,
    ) -> Result<Vec<IndexHandle>, ApiError> {
        let engine = &self.api.engine;
        let resolved = engine.open((expression, options), &self.access, purpose)?;
        if let Some(glsn) = self.params.unsigned("after_glsn")? {
            let indices: Vec<_> = resolved.iter().map(|found| found.index().clone()).collect();
            self.wait_visible(&indices, Glsn::new(glsn)).await?;
        }
        Ok(resolved)
    }

    /// Waits until searches see a position. An index that never refreshes by itself is refreshed:
    /// nothing else would end the wait.
    pub(crate) async fn wait_visible(
        &self,
        indices: &[Arc<Index>],
        glsn: Glsn,
    ) -> Result<(), ApiError> {
        let manual = indices
            .iter()
            .filter(|index| index.settings().refresh_interval.is_none());
        self.refresh(manual.cloned().collect()).await?;
        Ok(self
            .api
            .engine
            .wait_visible(indices, glsn, AFTER_GLSN_WAIT)
            .await?)
    }

    /// Makes everything written visible now.
    pub(crate) async fn refresh(&self, indices: Vec<Arc<Index>>) -> Result<(), ApiError> {
        if indices.is_empty() {
            return Ok(());
        }
        self.to_its_end(move |engine| indices.iter().try_for_each(|index| engine.refresh(index)))
            .await
    }

    /// The indexes about which figures may be shown.
    pub(crate) fn shown_indices(&self) -> Vec<Arc<Index>> {
        self.api.engine.indices(&self.access)
    }

    /// Deletes these very indexes, all or none; the log position of that.
    pub(crate) async fn delete_indices(&self, indices: Vec<Arc<Index>>) -> Result<Glsn, ApiError> {
        let access = self.access.clone();
        self.to_its_end(move |engine| engine.delete_these(&access, &indices))
            .await
    }

    /// Changes the node's definitions by what they are now; the log position of the change.
    pub(crate) async fn changing(
        &self,
        decide: impl FnOnce(&Definitions) -> Result<Vec<DefinitionChange>, ApiError> + Send + 'static,
    ) -> Result<Option<Glsn>, ApiError> {
        let access = self.access.clone();
        self.to_its_end(move |engine| Ok(engine.change_definitions(&access, decide)))
            .await?
    }

    /// Changes indexes and definitions, all or none; nothing to change is no error.
    pub(crate) async fn change_catalog(
        &self,
        changes: Vec<CatalogChange>,
    ) -> Result<Reply, ApiError> {
        if changes.is_empty() {
            return Ok(Reply::acknowledged());
        }
        let access = self.access.clone();
        let glsn = self
            .to_its_end(move |engine| engine.change_catalog(&access, changes))
            .await?;
        Ok(Reply::acknowledged().at(Some(glsn)))
    }

    /// Runs something that blocks where blocking is allowed, and leaves off once the request is over. Nothing that
    /// changes what is stored: see [`Call::to_its_end`].
    pub(crate) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Engine) -> Result<T, EngineError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let engine = self.api.engine.clone();
        Ok(self.off_thread(move || work(&engine)).await??)
    }

    /// The same for what must not be left half done, whoever still waits for it.
    pub(crate) async fn to_its_end<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Engine) -> Result<T, EngineError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let work = move |engine: &Engine| {
            let _entered = CancellationToken::default().enter();
            work(engine)
        };
        self.blocking(work).await
    }

    /// The answer whose JSON is made of what indexes say of themselves, which takes long where they have many fields: made
    /// and written where it holds up nobody, and only as long as somebody waits for it.
    ///
    /// # Errors
    /// Those of the work, and those of [`Call::off_thread`].
    pub(crate) async fn showing(
        &self,
        work: impl FnOnce() -> Result<Value, ApiError> + Send + 'static,
    ) -> Result<Reply, ApiError> {
        let write = move || {
            // What was broken off nobody sees.
            work().map(|shown| json_while(&shown, &|| !stopped()).unwrap_or_default())
        };
        Ok(Reply::raw_json(self.off_thread(write).await??))
    }

    /// Does what takes long where it does not hold up others, and only as long as the request wants it.
    ///
    /// # Errors
    /// The work panicked, or the system has no thread to give.
    pub async fn off_thread<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        Ok(self.api.engine.run_beside(work).await?)
    }
}

/// Reads `open,closed,hidden`, `all` or `none`.
pub(crate) fn read_wildcards(names: &[&str]) -> Result<Wildcards, ApiError> {
    let mut wildcards = Wildcards::NONE;
    for name in names {
        match *name {
            "open" => wildcards.open = true,
            "closed" => wildcards.closed = true,
            "hidden" => wildcards.hidden = true,
            "none" => wildcards = Wildcards::NONE,
            "all" => wildcards = Wildcards::ALL,
            other => {
                return Err(ApiError::illegal_argument(format!(
                    "No valid expand wildcard value [{other}]"
                )));
            }
        }
    }
    Ok(wildcards)
}

/// Opened indexes, as far as no block forbids to show what they are, their figures too.
fn shown(opened: &[IndexHandle], purpose: Purpose) -> Result<Vec<Arc<Index>>, ApiError> {
    let indices = opened.iter().map(|found| found.index().clone());
    let may_be_shown = |index: Arc<Index>| {
        if purpose == Purpose::Watch {
            index.check_own_blocks(BlockLevel::MetadataRead)?;
        }
        Ok::<_, ApiError>(index)
    };
    indices.map(may_be_shown).collect()
}
