//! Reading one document by its id.

use std::sync::Arc;

use axum::http::{Method, StatusCode};
use clew_engine::{Document, Freshness, Index, PRIMARY_TERM, Purpose};
use serde_json::{Map, Value, json};

use crate::http::error::{ApiError, Cause};
use crate::http::json_writer::JsonWriter;
use crate::http::params::Params;
use crate::http::reply::Reply;
use crate::http::source_filter::SourceFilter;
use crate::search::{FieldList, preference_of, shown_source};
use crate::state::call::Call;

/// What a read by id asks for.
#[derive(Clone, Debug)]
pub(crate) struct GetSpec {
    pub(crate) index: String,
    pub(crate) id: String,
    pub(crate) routing: Option<String>,
    pub(crate) freshness: Freshness,
    /// Shared by all documents of a request that ask for the same.
    pub(crate) source: Arc<SourceFilter>,
    /// Fields whose values are wanted by themselves.
    pub(crate) stored: Arc<FieldList>,
    /// The one version that is wanted.
    pub(crate) version: Option<u64>,
}

impl GetSpec {
    fn from_call(call: &Call) -> Result<Self, ApiError> {
        // One node has no copies to choose between.
        preference_of(call)?;
        let (name, routing) = (call.path_required("index")?, call.params.get("routing"));
        let (index, routing) = call.open_one(name, routing)?;
        Ok(GetSpec {
            index: index.name().to_string(),
            id: call.path_required("id")?.to_string(),
            routing,
            freshness: freshness(&call.params)?,
            version: match is_version_asked(call.params.get("version_type"))? {
                true => call.params.unsigned("version")?,
                false => None,
            },
            ..Self::shown(&call.params)?
        })
    }

    /// What is to be shown of a document, nothing else being known.
    pub(crate) fn shown(params: &Params) -> Result<Self, ApiError> {
        let mut spec = GetSpec {
            index: String::new(),
            id: String::new(),
            routing: None,
            freshness: Freshness::Latest,
            source: Arc::new(SourceFilter::All),
            stored: Arc::default(),
            version: None,
        };
        if let Some(names) = params.list("stored_fields") {
            spec.want_stored(&json!(names))?;
        }
        if let Some(source) = SourceFilter::from_params(params)? {
            spec.source = Arc::new(source);
        }
        Ok(spec)
    }

    /// Refuses a document that has another version than the one that is wanted.
    pub(crate) fn check_version(
        &self,
        index: &Index,
        found: Option<&Document>,
    ) -> Result<(), ApiError> {
        let (Some(wanted), Some(document)) = (self.version, found) else {
            return Ok(());
        };
        if wanted == document.version {
            return Ok(());
        }
        let reason = format!(
            "[{}]: version conflict, current version [{}] is different than the one provided \
             [{wanted}]",
            document.id, document.version
        );
        let cause = Cause::new("version_conflict_engine_exception", reason);
        let key = document.routing.as_deref().unwrap_or(&document.id);
        let shard = index.shard_number(key);
        let error = ApiError::new(StatusCode::CONFLICT, cause);
        Err(error.in_shard(index.name(), index.uuid(), shard))
    }

    /// Asks for fields instead of the source, which may be one of their names.
    pub(crate) fn want_stored(&mut self, names: &Value) -> Result<(), ApiError> {
        let mut stored = FieldList::default();
        stored.extend("stored_fields", names)?;
        self.source = Arc::new(match stored.wants("_source") {
            true => SourceFilter::All,
            false => SourceFilter::None,
        });
        self.stored = Arc::new(stored);
        Ok(())
    }
}

/// Whether a read looks at the version that it is told, by how versions are counted: old clients force it to look at none.
///
/// # Errors
/// When versions are counted in no such way.
pub(crate) fn is_version_asked(kind: Option<&str>) -> Result<bool, ApiError> {
    match kind {
        None | Some("internal" | "external" | "external_gt" | "external_gte") => Ok(true),
        Some("force") => Ok(false),
        Some(other) => {
            let reason = format!("No version type match [{other}]");
            Err(ApiError::illegal_argument(reason))
        }
    }
}

/// Which writes a read sees, as `realtime` says.
pub(crate) fn freshness(params: &Params) -> Result<Freshness, ApiError> {
    Ok(match params.flag("realtime", true)? {
        true => Freshness::Latest,
        false => Freshness::Searchable,
    })
}

/// Reads a document.
pub(crate) async fn read(call: &Call, spec: &GetSpec) -> Result<Option<Document>, ApiError> {
    let (index, routing) = call.open_one(&spec.index, spec.routing.as_deref())?;
    let spec = spec.clone();
    call.blocking(move |engine| engine.get(&index, &spec.id, routing.as_deref(), spec.freshness))
        .await
}

/// Writes the object that tells of a document that was found or not.
pub(crate) fn write_document(
    json: &mut JsonWriter,
    spec: &GetSpec,
    index: &Index,
    found: Option<&Document>,
) {
    json.begin_object();
    json.string_field("_index", &spec.index)
        .string_field("_id", &spec.id);
    let Some(document) = found else {
        json.boolean_field("found", false).end_object();
        return;
    };
    json.unsigned_field("_version", document.version);
    json.unsigned_field("_seq_no", document.seq_no)
        .unsigned_field("_primary_term", PRIMARY_TERM);
    if let Some(routing) = &document.routing {
        json.string_field("_routing", routing);
    }
    let mapping = index.mapping();
    let ignored = mapping.ignored_of(&document.source);
    if !ignored.is_empty() {
        json.key("_ignored").begin_array();
        for name in &ignored {
            json.string(name);
        }
        json.end_array();
    }
    json.boolean_field("found", true);
    shown_source::write(&mapping, &spec.source, &document.source, json);
    let mut values = Map::new();
    if !spec.stored.is_empty()
        && let Ok(source) = serde_json::from_slice(&document.source)
    {
        spec.stored.collect(&mapping, (&source, None), &mut values);
    }
    if !values.is_empty() {
        json.key("fields").value(&Value::Object(values));
    }
    json.end_object();
}

/// `GET|HEAD /{index}/_doc/{id}`.
pub(crate) async fn get(call: Call) -> Result<Reply, ApiError> {
    let spec = GetSpec::from_call(&call)?;
    before_read(&call, &spec).await?;
    let found = read(&call, &spec).await?;
    let (index, _) = call.open_one(&spec.index, None)?;
    spec.check_version(&index, found.as_ref())?;
    let status = if found.is_some() {
        StatusCode::OK
    } else {
        StatusCode::NOT_FOUND
    };
    if call.method == Method::HEAD {
        return Ok(Reply::empty(status));
    }
    let length = found.as_ref().map_or(0, |document| document.source.len());
    let mut json = JsonWriter::with_capacity(length + 256);
    write_document(&mut json, &spec, &index, found.as_ref());
    Ok(Reply::written(json).with_status(status))
}

/// `GET|HEAD /{index}/_source/{id}`.
pub(crate) async fn source(call: Call) -> Result<Reply, ApiError> {
    let spec = GetSpec::from_call(&call)?;
    before_read(&call, &spec).await?;
    if *spec.source == SourceFilter::None {
        return Err(ApiError::validation("fetching source can not be disabled"));
    }
    let found = read(&call, &spec).await?;
    let (index, _) = call.open_one(&spec.index, None)?;
    spec.check_version(&index, found.as_ref())?;
    let Some(document) = found else {
        let reason = format!("Document not found [{}]/[{}]", spec.index, spec.id);
        let cause = Cause::new("resource_not_found_exception", reason);
        return Err(ApiError::new(StatusCode::NOT_FOUND, cause));
    };
    let mapping = index.mapping();
    if !mapping.is_source_enabled() {
        let reason = format!("Source not found [{}]/[{}]", spec.index, spec.id);
        let cause = Cause::new("resource_not_found_exception", reason);
        return Err(ApiError::new(StatusCode::NOT_FOUND, cause));
    }
    let mut json = JsonWriter::with_capacity(document.source.len());
    shown_source::write_value(&mapping, &spec.source, &document.source, &mut json);
    Ok(Reply::written(json))
}

/// What the request wants to have happened before the read: a refresh, or a position reached.
async fn before_read(call: &Call, spec: &GetSpec) -> Result<(), ApiError> {
    let wait = call.params.has("after_glsn");
    let refresh = call.params.flag("refresh", false)?;
    if wait || refresh {
        let indices = call.indices_of(&spec.index, Purpose::Read).await?;
        if refresh {
            call.refresh(indices).await?;
        }
    }
    Ok(())
}
