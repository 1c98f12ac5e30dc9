//! Repositories: named folders that snapshots are kept in.

use std::path::{Component, Path, PathBuf};

use clew_engine::{DefinitionChange, Definitions, SnapshotRepository};
use serde_json::{Map, Value, json};

use super::REPOSITORY;
use super::names::{
    check_repository, is_pattern, not_accessible, repository_failed, repository_missing,
    repository_not_made, selects,
};
use crate::http::error::ApiError;
use crate::http::reply::Reply;
use crate::http::setting_values::flatten_plain;
use crate::indices::snapshots::running::RunningSnapshots;
use crate::state::api::Api;
use crate::state::call::Call;

/// The folder of a data folder that repositories lie in where no other one is configured.
pub const REPOSITORIES_FOLDER: &str = "repositories";

/// A repository of the catalog, with its folder.
pub(super) struct Repository {
    pub(super) name: String,
    pub(super) readonly: bool,
    pub(super) folder: SnapshotRepository,
}

impl Repository {
    /// Finds a repository by its name.
    pub(super) fn find(api: &Api, name: &str) -> Result<Self, ApiError> {
        let stored = api
            .engine
            .with_definitions(|definitions| definitions.get(REPOSITORY, name).cloned());
        let stored = stored.ok_or_else(|| repository_missing(name))?;
        Self::open(api, name, &stored)
    }

    fn open(api: &Api, name: &str, stored: &Value) -> Result<Self, ApiError> {
        let settings = &stored["settings"];
        let location = settings["location"].as_str().unwrap_or_default();
        if location.contains('\0') {
            return Err(repository_failed(name, "failed to create repository"));
        }
        let dir = resolve(api, location).ok_or_else(|| {
            repository_not_made(
                name,
                &format!(
                    "location [{location}] doesn't match any of the locations specified by \
                     path.repo"
                ),
            )
        })?;
        Ok(Repository {
            name: name.to_string(),
            readonly: settings["readonly"] == "true" || settings["readonly"] == true,
            folder: api.engine.snapshot_repository(dir),
        })
    }

    /// Refuses changes of a repository that is only read.
    pub(super) fn check_writable(&self, what: &str) -> Result<(), ApiError> {
        if self.readonly {
            let reason = format!("cannot {what} in a readonly repository");
            return Err(repository_failed(&self.name, &reason));
        }
        Ok(())
    }
}

/// The folder of a location: inside one of the folders that repositories may lie in.
fn resolve(api: &Api, location: &str) -> Option<PathBuf> {
    let roots = &api.options.repository_roots;
    let default = [api.engine.data_dir().join(REPOSITORIES_FOLDER)];
    let roots: &[PathBuf] = if roots.is_empty() { &default } else { roots };
    let location = Path::new(location);
    let plain = location
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::RootDir));
    if location.as_os_str().is_empty() || !plain {
        return None;
    }
    if location.is_relative() {
        return roots.first().map(|root| root.join(location));
    }
    roots
        .iter()
        .any(|root| location.starts_with(root))
        .then(|| location.to_path_buf())
}

/// `PUT` and `POST` of `/_snapshot/{repository}`.
pub(crate) async fn put(call: Call) -> Result<Reply, ApiError> {
    let name = call.path_required("repository")?.to_string();
    check_repository(&name)?;
    let verify = call.params.flag("verify", true)?;
    let stored = read(&name, &call.json_object()?)?;
    let repository = Repository::open(&call.api, &name, &stored)?;
    let running = call.api.parts.get::<RunningSnapshots>();
    if verify && !repository.readonly {
        let proving = running.clone();
        let verified = call.blocking(move |_| proving.prove(&repository.folder));
        verified
            .await
            .map_err(|error| not_accessible(&name, error))?;
    }
    let changed = call
        .changing(move |definitions| {
            if definitions.get(REPOSITORY, &name) != Some(&stored) {
                running.refuse_in(&name)?;
            }
            Ok(vec![DefinitionChange::put(REPOSITORY, &name, stored)])
        })
        .await?;
    Ok(Reply::acknowledged().at(changed))
}

fn read(name: &str, body: &Value) -> Result<Value, ApiError> {
    let mut settings = Map::new();
    let mut kind = None;
    for (key, value) in body.as_object().into_iter().flatten() {
        match (key.as_str(), value) {
            ("type", Value::String(given)) => kind = Some(given.as_str()),
            ("settings", Value::Object(members)) => {
                for (setting, text) in flatten_plain(members)? {
                    settings.extend(text.map(|text| (setting, Value::String(text))));
                }
            }
            ("settings", _) => {
                return Err(ApiError::illegal_argument(
                    "Malformed settings section, should include an inner object",
                ));
            }
            // Others are passed over: a client for Java repeats the name.
            _ => {}
        }
    }
    match kind {
        Some("fs") => {}
        Some(other) => {
            let reason = format!("repository type [{other}] does not exist");
            return Err(repository_failed(name, &reason));
        }
        None => return Err(ApiError::validation("type is missing")),
    }
    if !settings.contains_key("location") {
        return Err(repository_not_made(name, "missing location"));
    }
    Ok(json!({"type": "fs", "settings": settings}))
}

/// Names and definitions that an expression selects.
pub(super) fn selected(
    definitions: &Definitions,
    expression: &str,
) -> Result<Vec<(String, Value)>, ApiError> {
    let mut found: Vec<(String, Value)> = Vec::new();
    for part in expression.split(',').filter(|part| !part.is_empty()) {
        let before = found.len();
        for (name, stored) in definitions.of(REPOSITORY) {
            if selects(part, name) && !found.iter().any(|(have, _)| have == name) {
                found.push((name.to_string(), stored.clone()));
            }
        }
        let known = found.len() > before || definitions.get(REPOSITORY, part).is_some();
        if !known && !is_pattern(part) {
            return Err(repository_missing(part));
        }
    }
    Ok(found)
}

/// `GET /_snapshot/{repository}`.
pub(crate) async fn get(call: Call) -> Result<Reply, ApiError> {
    let expression = call.path("repository").unwrap_or("_all").to_string();
    let engine = &call.api.engine;
    let found = engine.with_definitions(|definitions| selected(definitions, &expression))?;
    Ok(Reply::json(&Value::Object(found.into_iter().collect())))
}

/// Names and types of all repositories.
pub(crate) fn list(definitions: &Definitions) -> Vec<(String, String)> {
    let all = definitions.of(REPOSITORY);
    all.map(|(name, stored)| {
        let kind = stored["type"].as_str().unwrap_or_default();
        (name.to_string(), kind.to_string())
    })
    .collect()
}

/// `DELETE /_snapshot/{repository}`: the folder stays as it is.
pub(crate) async fn delete(call: Call) -> Result<Reply, ApiError> {
    let expression = call.path_required("repository")?.to_string();
    let running = call.api.parts.get::<RunningSnapshots>();
    let changed = call
        .changing(move |definitions| {
            let found = selected(definitions, &expression)?;
            if found.is_empty() && expression != "*" && expression != "_all" {
                return Err(repository_missing(&expression));
            }
            for (name, _) in &found {
                running.refuse_in(name)?;
            }
            let gone = found
                .into_iter()
                .map(|(name, _)| DefinitionChange::remove(REPOSITORY, &name));
            Ok(gone.collect())
        })
        .await?;
    Ok(Reply::acknowledged().at(changed))
}

/// `POST /_snapshot/{repository}/_verify`.
pub(crate) async fn verify(call: Call) -> Result<Reply, ApiError> {
    let repository = Repository::find(&call.api, call.path_required("repository")?)?;
    if !repository.readonly {
        let running = call.api.parts.get::<RunningSnapshots>();
        call.blocking(move |_| running.prove(&repository.folder))
            .await?;
    }
    let api = &call.api;
    let node = &api.node_id;
    Ok(Reply::json(
        &json!({"nodes": {node: {"name": api.options.node_name}}}),
    ))
}

/// `POST /_snapshot/{repository}/_cleanup`.
pub(crate) async fn cleanup(call: Call) -> Result<Reply, ApiError> {
    let repository = Repository::find(&call.api, call.path_required("repository")?)?;
    repository.check_writable("cleanup")?;
    let running = call.api.parts.get::<RunningSnapshots>();
    let cleaning = running.begin_cleanup(&repository.name, repository.folder.dir())?;
    let cleaned = call
        .to_its_end(move |_| {
            let _cleaning = cleaning;
            running.clean(&repository.folder)
        })
        .await?;
    Ok(Reply::json(&json!({
        "results": {"deleted_bytes": cleaned.bytes, "deleted_blobs": cleaned.files},
    })))
}
