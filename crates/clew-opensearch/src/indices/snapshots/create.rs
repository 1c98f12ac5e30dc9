//! Taking a snapshot: the documents of each shard as they are now, then the manifest.

use std::sync::Arc;

use clew_engine::{
    DefinitionChange, Definitions, Engine, EngineError, IndexHandle, Purpose, ResolveOptions,
    documents_file_name,
};
use serde_json::{Map, Value, json};

use super::content::{Content, IndexContent, Stored, stored};
use super::names::{check_snapshot, invalid_snapshot_name};
use super::repository::Repository;
use super::running::{Ends, RunningSnapshot, RunningSnapshots};
use crate::http::error::ApiError;
use crate::http::reply::Reply;
use crate::indices::filling::is_unfinished;
use crate::indices::templates::{COMPONENT, COMPOSABLE, LEGACY};
use crate::state::api::Api;
use crate::state::call::Call;

/// Longest metadata that a snapshot may carry.
const METADATA_BYTES_MAX: usize = 1024;

/// What a request says of the snapshot.
struct Asked {
    indices: String,
    ignore_unavailable: bool,
    include_global_state: bool,
    metadata: Option<Value>,
}

/// `PUT /_snapshot/{repository}/{snapshot}`.
pub(crate) async fn create(call: Call) -> Result<Reply, ApiError> {
    let repository = Repository::find(&call.api, call.path_required("repository")?)?;
    let name = call.path_required("snapshot")?.to_string();
    let wait = call.params.flag("wait_for_completion", false)?;
    check_snapshot(&repository.name, &name)?;
    repository.check_writable("create snapshot")?;
    let asked = read(call.json()?.as_ref())?;
    let options = ResolveOptions {
        ignore_unavailable: asked.ignore_unavailable,
        ..ResolveOptions::default()
    };
    let indices = call.open(&asked.indices, options, Purpose::Copy).await?;
    let indices = without_copies(&asked.indices, indices);
    let (place, wanted) = (repository.name.clone(), name.clone());
    let work = prepare(&call.api, repository, name, (asked, indices))?;
    // From here on, while it is on the list, nobody completes another one of the name. So it goes on, whoever asked for it: else
    // who asks again would be refused for one that then is not taken.
    let api = call.api.clone();
    let begun = tokio::spawn(async move {
        refuse_taken(&api, &place, &wanted).await?;
        Ok::<_, ApiError>(tokio::task::spawn_blocking(work))
    });
    let work = begun.await??;
    if !wait {
        return Ok(Reply::json(&json!({"accepted": true})));
    }
    let taken = work.await??;
    Ok(Reply::json(&json!({"snapshot": taken.show()})))
}

/// Leaves out indexes that are still being filled and that nobody named, by their own name or an alias: what they are made
/// of is in an index or a snapshot already, and nothing is taken of a half.
fn without_copies(expression: &str, mut indices: Vec<IndexHandle>) -> Vec<IndexHandle> {
    let is_named = |index: &IndexHandle| {
        let aliases = index.aliases();
        let mut names = expression.split(',').map(str::trim);
        names.any(|name| name == index.name() || aliases.contains_key(name))
    };
    indices.retain(|index| !is_unfinished(index) || is_named(index));
    indices
}

/// Refuses the name of a snapshot that is there, before anybody is told that another one will be.
async fn refuse_taken(api: &Arc<Api>, repository: &str, name: &str) -> Result<(), ApiError> {
    let (looking, place, wanted) = (api.clone(), repository.to_string(), name.to_string());
    let looked = tokio::task::spawn_blocking(move || is_taken(&looking, &place, &wanted));
    if !looked.await?? {
        return Ok(());
    }
    let reason = "snapshot with the same name already exists";
    Err(invalid_snapshot_name(repository, name, reason))
}

/// Puts a snapshot on the list of those that are being taken; what takes it is handed back.
fn prepare(
    api: &Api,
    repository: Repository,
    name: String,
    (asked, indices): (Asked, Vec<IndexHandle>),
) -> Result<impl FnOnce() -> Result<Stored, ApiError> + Send + use<>, ApiError> {
    let id = api.engine.new_snapshot_id();
    let started_ms = api.engine.clock().epoch_ms();
    let ends = api.parts.get::<RunningSnapshots>().begin(RunningSnapshot {
        repository: repository.name.clone(),
        folder: repository.folder.dir().to_path_buf(),
        name: name.clone(),
        id: id.clone(),
        indices: indices
            .iter()
            .map(|index| index.name().to_string())
            .collect(),
        shards: indices
            .iter()
            .map(|index| usize::try_from(index.settings().shards).unwrap_or(usize::MAX))
            .sum(),
        started_ms,
    })?;
    let content = Content {
        name,
        include_global_state: asked.include_global_state,
        metadata: asked.metadata,
        started_ms,
        ended_ms: 0,
        version: api.options.version_number.clone(),
        indices: Vec::new(),
        definitions: Vec::new(),
    };
    let engine = api.engine.clone();
    Ok(move || {
        let snapshot = Stored { id, content };
        let taken = take((&engine, &ends), &repository, &indices, snapshot);
        drop(ends);
        if let Err(error) = &taken {
            tracing::warn!(reason = error.reason(), "a snapshot failed");
        }
        taken
    })
}

/// What takes a snapshot of one index. It takes as long as the snapshot.
///
/// # Errors
/// No such repository, one that is only read, or a name that is taken or cannot be one.
pub fn prepare_of(
    api: &Api,
    repository: &str,
    name: &str,
    index: IndexHandle,
) -> Result<impl FnOnce() -> Result<(), ApiError> + Send + use<>, ApiError> {
    let repository = Repository::find(api, repository)?;
    check_snapshot(&repository.name, name)?;
    repository.check_writable("create snapshot")?;
    let asked = Asked {
        include_global_state: false,
        ..Asked::default()
    };
    let work = prepare(api, repository, name.to_string(), (asked, vec![index]))?;
    Ok(move || work().map(drop))
}

/// Whether a repository has a snapshot of this name.
///
/// # Errors
/// No such repository, or one that cannot be read.
pub fn is_taken(api: &Api, repository: &str, name: &str) -> Result<bool, ApiError> {
    let repository = Repository::find(api, repository)?;
    Ok(stored(&repository)?.has(name))
}

impl Default for Asked {
    fn default() -> Self {
        Asked {
            indices: String::new(),
            ignore_unavailable: false,
            include_global_state: true,
            metadata: None,
        }
    }
}

fn read(body: Option<&Value>) -> Result<Asked, ApiError> {
    let mut asked = Asked::default();
    for (key, value) in body.and_then(Value::as_object).into_iter().flatten() {
        match (key.as_str(), value) {
            ("indices", value) => asked.indices = read_names(value)?,
            ("ignore_unavailable", value) => asked.ignore_unavailable = read_flag(key, value)?,
            ("include_global_state", value) => asked.include_global_state = read_flag(key, value)?,
            ("partial" | "allow_no_indices", value) => {
                read_flag(key, value)?;
            }
            ("expand_wildcards" | "settings", _) | ("metadata", Value::Null) => {}
            ("metadata", Value::Object(_)) => {
                let bytes = value.to_string().len();
                if bytes > METADATA_BYTES_MAX {
                    return Err(ApiError::validation(&format!(
                        "metadata must be smaller than 1024 bytes, but was [{bytes}]"
                    )));
                }
                asked.metadata = Some(value.clone());
            }
            ("metadata", _) => {
                return Err(ApiError::illegal_argument(
                    "malformed metadata, should be an object",
                ));
            }
            (other, _) => return Err(unknown_parameter(other)),
        }
    }
    Ok(asked)
}

pub(super) fn unknown_parameter(name: &str) -> ApiError {
    ApiError::illegal_argument(format!("Unknown parameter {name}"))
}

/// A list of names, or one string of them.
pub(super) fn read_names(value: &Value) -> Result<String, ApiError> {
    let malformed =
        || ApiError::illegal_argument("malformed indices section, should be an array of strings");
    match value {
        Value::String(names) => Ok(names.clone()),
        Value::Array(items) => {
            let names: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
            Ok(names.ok_or_else(malformed)?.join(","))
        }
        _ => Err(malformed()),
    }
}

/// A flag of a body, which clients write as boolean or as text.
pub(super) fn read_flag(name: &str, value: &Value) -> Result<bool, ApiError> {
    match value {
        Value::Bool(flag) => Ok(*flag),
        Value::String(text) if text == "true" => Ok(true),
        Value::String(text) if text == "false" => Ok(false),
        other => Err(ApiError::illegal_argument(format!(
            "Could not convert [{name}] to boolean: {other}"
        ))),
    }
}

/// Writes the files of a snapshot and makes it complete; a failed one leaves nothing.
fn take(
    (engine, ends): (&Engine, &Ends),
    repository: &Repository,
    indices: &[IndexHandle],
    mut snapshot: Stored,
) -> Result<Stored, ApiError> {
    let name = &snapshot.content.name;
    if stored(repository)?.has(name) {
        let reason = "snapshot with the same name already exists";
        return Err(invalid_snapshot_name(&repository.name, name, reason));
    }
    let written = write((engine, ends), repository, indices, &mut snapshot);
    if let Err(error) = written {
        if let Err(left) = repository.folder.delete(&snapshot.id) {
            tracing::warn!(%left, "cannot remove what a failed snapshot left");
        }
        let place = (&*repository.name, &*snapshot.content.name);
        return Err(ends.failure(place, error));
    }
    Ok(snapshot)
}

fn write(
    (engine, ends): (&Engine, &Ends),
    repository: &Repository,
    indices: &[IndexHandle],
    snapshot: &mut Stored,
) -> Result<(), EngineError> {
    // Before the first is written, so that the others may be deleted or closed while that lasts.
    let documents = indices.iter().map(|index| engine.index_documents(index));
    let documents = documents.collect::<Result<Vec<_>, _>>()?;
    for (at, (index, shards)) in indices.iter().zip(documents).enumerate() {
        let settings = index.settings();
        let mut files = Vec::new();
        for (shard, documents) in (0..).zip(shards) {
            ends.check_wanted()?;
            let documents = ends.while_wanted(documents);
            let name = documents_file_name(at, shard);
            let file = repository
                .folder
                .write_documents(&snapshot.id, &name, documents)?;
            files.push(file);
        }
        snapshot.content.indices.push(IndexContent {
            name: index.name().to_string(),
            uuid: index.uuid().to_string(),
            settings: settings.given.clone(),
            // Taken after the documents: it has every field that they have.
            mapping: index.mapping().encode(),
            aliases: (*index.aliases()).clone(),
            files,
        });
    }
    if snapshot.content.include_global_state {
        snapshot.content.definitions = engine.with_definitions(templates);
    }
    snapshot.content.ended_ms = engine.clock().epoch_ms();
    let content = serde_json::to_value(&snapshot.content).unwrap_or(Value::Object(Map::new()));
    ends.check_wanted()?;
    repository.folder.complete(&snapshot.id, content)
}

fn templates(definitions: &Definitions) -> Vec<DefinitionChange> {
    let kinds = [LEGACY, COMPONENT, COMPOSABLE].into_iter();
    let all = kinds.flat_map(|kind| {
        definitions
            .of(kind)
            .map(move |(name, value)| (kind, name, value))
    });
    all.map(|(kind, name, value)| DefinitionChange::put(kind, name, value.clone()))
        .collect()
}
