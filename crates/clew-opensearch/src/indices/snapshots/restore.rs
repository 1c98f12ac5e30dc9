//! Making indexes again out of a snapshot. Every file is checked before anything is changed, and a closed index gives way
//! only to one that is whole.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use clew_engine::{Access, Engine, EngineError, IndexHandle, Purpose, SnapshotFile};
use clew_schema::Mapping;
use regex::Regex;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::content::{IndexContent, Stored, stored};
use super::names::{is_pattern, selects};
use super::repository::Repository;
use super::restore_request::{self, RestoreRequest};
use super::uses::{SnapshotUses, Use};
use crate::http::error::{ApiError, Cause};
use crate::http::reply::Reply;
use crate::http::setting_values::Flat;
use crate::indices::filling::{self, Filled, Filling};
use crate::indices::index_recovery::RestoredFrom;
use crate::indices::index_settings::PROVIDED_NAME;
use crate::indices::settings::PRIVATE;
use crate::state::api::Api;
use crate::state::call::Call;
use crate::state::patience::{MANAGER_TIMEOUTS, Patience};

/// What an index that comes back has as it had.
const SHARDS: &str = "index.number_of_shards";

/// `POST /_snapshot/{repository}/{snapshot}/_restore`.
pub(crate) async fn restore(call: Call) -> Result<Reply, ApiError> {
    let repository = Repository::find(&call.api, call.path_required("repository")?)?;
    let name = call.path_required("snapshot")?.to_string();
    let wait = call.params.flag("wait_for_completion", false)?;
    let patience = Patience::of(&call.params, MANAGER_TIMEOUTS)?;
    let asked = restore_request::read(call.json()?.as_ref())?;
    let description = format!("restore of [{}:{name}]", repository.name);
    let number = call.begin_task("cluster:admin/snapshot/restore", description)?;
    let (api, access) = (call.api.clone(), call.access.clone());
    let (begin, begun) = oneshot::channel();
    let work = tokio::task::spawn_blocking(move || {
        let work = || {
            let found = find(&api, &repository, &name)?;
            let uses = api.parts.get::<SnapshotUses>();
            let _used = uses.begin(Use::Restore, (&repository.name, &found))?;
            // It may have been deleted between the two.
            if !repository.folder.has(&found.id) {
                return Err(missing(&repository, &name));
            }
            let plan = plan(&api.engine, &repository, found, &asked)?;
            // Whoever waits for no more than that may be gone.
            let _ = begin.send(());
            let answer = plan.answer();
            let done = carry_out((&api, &access), &repository, plan);
            if let Err(error) = &done {
                tracing::warn!(reason = error.reason(), "a restore failed");
            }
            done.map(|()| answer)
        };
        api.tasks.carry_out(number, work)
    });
    if !wait {
        // To check all files may take longer than a client waits. What is refused never begins.
        let begun = patience.wait(begun).await;
        if !matches!(begun, Some(Err(_))) {
            return Ok(Reply::json(&json!({"accepted": true})));
        }
    }
    Ok(Reply::json(&work.await??))
}

/// The snapshot of a name.
fn find(api: &Api, repository: &Repository, name: &str) -> Result<Stored, ApiError> {
    filling::remove_unfinished(&api.engine, &api.parts.get::<Filling>());
    let mut known = stored(repository)?;
    if !known.has(name) {
        known.check_all_read()?;
    }
    let mut found = known.all.into_iter();
    let found = found.find(|found| found.content.name == name);
    found.ok_or_else(|| missing(repository, name))
}

fn missing(repository: &Repository, name: &str) -> ApiError {
    let from = format!("{}:{name}", repository.name);
    restore_refused(&from, "snapshot does not exist")
}

/// An index that will be made.
struct Restored {
    filled: Filled,
    files: Vec<SnapshotFile>,
}

/// What a restore comes to.
struct Plan {
    id: String,
    name: String,
    indices: Vec<Restored>,
    definitions: Vec<clew_engine::DefinitionChange>,
}

impl Plan {
    /// What whoever waits for the end is told then.
    fn answer(&self) -> Value {
        let names: Vec<&str> = self
            .indices
            .iter()
            .map(|one| one.filled.name.as_str())
            .collect();
        let shards: usize = self.indices.iter().map(|one| one.files.len()).sum();
        json!({
            "snapshot": {
                "snapshot": self.name,
                "indices": names,
                "shards": {"total": shards, "failed": 0, "successful": shards},
            },
        })
    }
}

/// Chooses the indexes, and checks that they can be made and that their files are whole.
fn plan(
    engine: &Engine,
    repository: &Repository,
    snapshot: Stored,
    asked: &RestoreRequest,
) -> Result<Plan, ApiError> {
    let from = format!(
        "{}:{}/{}",
        repository.name, snapshot.content.name, snapshot.id
    );
    let refused = |reason: String| restore_refused(&from, &reason);
    check_settings(asked).map_err(refused)?;
    let mut indices: Vec<Restored> = Vec::new();
    for index in choose(&snapshot.content.indices, asked)? {
        let mut restored = restored(index, asked)?;
        let source = RestoredFrom {
            repository: repository.name.clone(),
            snapshot: snapshot.content.name.clone(),
            bytes: restored.files.iter().map(|file| file.bytes).collect(),
            started_ms: engine.clock().epoch_ms(),
        };
        let source = json!(source).to_string();
        restored
            .filled
            .private
            .insert(RestoredFrom::setting(), source);
        let name = &restored.filled.name;
        if indices.iter().any(|other| other.filled.name == *name) {
            return Err(refused(format!(
                "indices [{}] and another one are renamed into the same index [{name}]",
                index.name
            )));
        }
        let existing = exists(engine, name);
        if existing.as_ref().is_some_and(|index| index.is_open()) {
            return Err(refused(format!(
                "cannot restore index [{name}] because an open index with same name already \
                 exists in the cluster. Either close or delete the existing index or restore the \
                 index under a different name by providing a rename pattern and replacement name"
            )));
        }
        restored.filled.in_place_of = existing.map(|index| index.index().clone());
        for file in &restored.files {
            // Opening a file checks it as a whole.
            drop(repository.folder.read_documents(&snapshot.id, file)?);
        }
        indices.push(restored);
    }
    let definitions = if asked.include_global_state {
        snapshot.content.definitions
    } else {
        Vec::new()
    };
    Ok(Plan {
        id: snapshot.id,
        name: snapshot.content.name,
        indices,
        definitions,
    })
}

/// A restore that cannot be done; `from` is the snapshot with its repository.
fn restore_refused(from: &str, reason: &str) -> ApiError {
    let cause = Cause::new("snapshot_restore_exception", format!("[{from}] {reason}"));
    ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, cause)
}

/// Refuses to give an index that comes back what it cannot have; why, where that is asked for.
fn check_settings(asked: &RestoreRequest) -> Result<(), String> {
    let refused = |verb: &str| {
        Err(format!(
            "cannot {verb} UnmodifiableOnRestore setting [{SHARDS}] on restore"
        ))
    };
    if asked.settings.contains_key(SHARDS) {
        return refused("modify");
    }
    if asked.ignored_settings.iter().any(|name| name == SHARDS) {
        return refused("remove");
    }
    Ok(())
}

/// The indexes of a snapshot that the request names.
fn choose<'s>(
    all: &'s [IndexContent],
    asked: &RestoreRequest,
) -> Result<Vec<&'s IndexContent>, ApiError> {
    let expression = if asked.indices.is_empty() {
        "_all"
    } else {
        &asked.indices
    };
    let mut chosen: Vec<&IndexContent> = Vec::new();
    for part in expression.split(',').map(str::trim) {
        if let (Some(less), false) = (part.strip_prefix('-'), chosen.is_empty()) {
            chosen.retain(|index| !selects(less, &index.name));
            continue;
        }
        let found: Vec<&IndexContent> = all
            .iter()
            .filter(|index| selects(part, &index.name))
            .collect();
        if found.is_empty() && !is_pattern(part) && !asked.ignore_unavailable {
            let index = part.to_string();
            return Err(EngineError::IndexNotFound { index }.into());
        }
        for index in found {
            if !chosen.iter().any(|have| have.name == index.name) {
                chosen.push(index);
            }
        }
    }
    Ok(chosen)
}

fn restored(index: &IndexContent, asked: &RestoreRequest) -> Result<Restored, ApiError> {
    let rename = |rename: &Option<(Regex, String)>, name: &str| match rename {
        Some((pattern, replacement)) => {
            pattern.replace_all(name, replacement.as_str()).into_owned()
        }
        None => name.to_string(),
    };
    let mut settings: Flat = index
        .settings
        .iter()
        .filter(|(name, _)| !name.starts_with(PRIVATE) && *name != PROVIDED_NAME)
        .filter(|(name, _)| {
            let ignored = &asked.ignored_settings;
            *name == SHARDS || !ignored.iter().any(|ignored| selects(ignored, name))
        })
        .map(|(name, text)| (name.clone(), Some(text.clone())))
        .collect();
    settings.extend(asked.settings.clone());
    let aliases = index.aliases.iter().filter(|_| asked.include_aliases);
    let aliases = aliases.map(|(name, says)| (rename(&asked.rename_alias, name), says.clone()));
    let reader = Some(clew_opensearch_mapping::reader());
    let mapping = Mapping::decode(&index.mapping, reader).map_err(EngineError::from)?;
    Ok(Restored {
        filled: Filled {
            name: rename(&asked.rename, &index.name),
            settings,
            mapping,
            aliases: aliases.collect(),
            private: BTreeMap::new(),
            in_place_of: None,
        },
        files: index.files.clone(),
    })
}

/// The index of a name, whoever asks: whether a name is free is no secret.
fn exists(engine: &Engine, name: &str) -> Option<IndexHandle> {
    let everything = Access::everything();
    engine.open_exactly(name, &everything, Purpose::Watch).ok()
}

fn carry_out(
    (api, access): (&Api, &Access),
    repository: &Repository,
    plan: Plan,
) -> Result<(), ApiError> {
    let (filled, files): (Vec<Filled>, Vec<Vec<SnapshotFile>>) = plan
        .indices
        .into_iter()
        .map(|one| (one.filled, one.files))
        .unzip();
    filling::make(
        (api, access),
        filled,
        plan.definitions,
        |(engine, access), place, index| {
            for file in &files[place] {
                let documents = repository.folder.read_documents(&plan.id, file)?;
                engine.fill_index(access, index, documents)?;
            }
            Ok(())
        },
    )
}
