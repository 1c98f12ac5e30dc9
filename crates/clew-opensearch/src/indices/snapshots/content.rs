//! What a snapshot's manifest says.

use clew_engine::{Aliases, DefinitionChange, SnapshotFile, SnapshotManifest};
use clew_schema::{DATE_FORMAT_DEFAULT, DateFormat};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::names::snapshot_unread;
use super::repository::Repository;
use crate::http::error::ApiError;
use crate::indices::index_settings::VERSION_CREATED;

/// A whole snapshot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Content {
    pub(super) name: String,
    pub(super) include_global_state: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) metadata: Option<Value>,
    pub(super) started_ms: u64,
    pub(super) ended_ms: u64,
    /// The version that clients were told when it was taken.
    pub(super) version: String,
    pub(super) indices: Vec<IndexContent>,
    /// Templates, when the global state was asked for.
    #[serde(default)]
    pub(super) definitions: Vec<DefinitionChange>,
}

/// An index in a snapshot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct IndexContent {
    pub(super) name: String,
    pub(super) uuid: String,
    /// Settings as they were given, flat.
    pub(super) settings: std::collections::BTreeMap<String, String>,
    /// The mapping as the catalog has it.
    pub(super) mapping: Value,
    pub(super) aliases: Aliases,
    /// One file for each shard, in their order.
    pub(super) files: Vec<SnapshotFile>,
}

/// A snapshot in its repository.
#[derive(Clone, Debug)]
pub(super) struct Stored {
    pub(super) id: String,
    pub(super) content: Content,
}

impl Content {
    pub(super) fn files(&self) -> impl Iterator<Item = &SnapshotFile> {
        self.indices.iter().flat_map(|index| &index.files)
    }

    pub(super) fn index_names(&self) -> Vec<&str> {
        self.indices
            .iter()
            .map(|index| index.name.as_str())
            .collect()
    }
}

impl Stored {
    /// The snapshot as clients are told of it.
    pub(super) fn show(&self) -> Value {
        let content = &self.content;
        let shards = content.files().count();
        let mut shown = json!({
            "snapshot": content.name,
            "uuid": self.id,
            "version_id": VERSION_CREATED.parse::<u64>().unwrap_or(0),
            "version": content.version,
            "remote_store_index_shallow_copy": false,
            "indices": content.index_names(),
            "data_streams": [],
            "include_global_state": content.include_global_state,
            "state": "SUCCESS",
            "start_time": iso(content.started_ms),
            "start_time_in_millis": content.started_ms,
            "end_time": iso(content.ended_ms),
            "end_time_in_millis": content.ended_ms,
            "duration_in_millis": content.ended_ms.saturating_sub(content.started_ms),
            "failures": [],
            "shards": {"total": shards, "failed": 0, "successful": shards},
        });
        if let Some(metadata) = &content.metadata {
            shown["metadata"] = metadata.clone();
        }
        shown
    }

    /// The short form.
    pub(super) fn show_short(&self) -> Value {
        json!({
            "snapshot": self.content.name,
            "uuid": self.id,
            "indices": self.content.index_names(),
            "data_streams": [],
            "state": "SUCCESS",
        })
    }
}

/// What snapshots a repository has.
pub(super) struct StoredSnapshots {
    /// The complete ones, the oldest first.
    pub(super) all: Vec<Stored>,
    unread: Option<ApiError>,
}

impl StoredSnapshots {
    /// Refuses when one cannot be read: nobody is told then that one is not there, or that these are all.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn check_all_read(&mut self) -> Result<(), ApiError> {
        self.unread.take().map_or(Ok(()), Err)
    }

    /// Whether one of this name is known.
    pub(super) fn has(&self, name: &str) -> bool {
        self.all.iter().any(|stored| stored.content.name == name)
    }
}

/// Reads what snapshots a repository has.
///
/// # Errors
/// When its folder cannot be read.
pub(super) fn stored(repository: &Repository) -> Result<StoredSnapshots, ApiError> {
    let found = repository.folder.snapshots()?;
    let refusal = |id: &str, error: ApiError| snapshot_unread(&repository.name, id, error);
    let mut unread = found
        .unread
        .map(|unread| refusal(&unread.id, ApiError::from(unread.error)));
    let read = |manifest: SnapshotManifest| {
        let SnapshotManifest { id, content } = manifest;
        match serde_json::from_value(content) {
            Ok(content) => Some(Stored { id, content }),
            Err(error) => {
                let reason =
                    format!("the manifest of snapshot [{id}] says something unknown: {error}");
                tracing::warn!(reason);
                unread.get_or_insert_with(|| refusal(&id, ApiError::internal(reason)));
                None
            }
        }
    };
    let all = found.complete.into_iter().filter_map(read).collect();
    Ok(StoredSnapshots { all, unread })
}

/// A time as clients are shown it.
pub(crate) fn iso(ms: u64) -> String {
    let millis = i64::try_from(ms).unwrap_or(i64::MAX);
    DateFormat::parse(DATE_FORMAT_DEFAULT)
        .map(|format| format.format_millis(millis))
        .unwrap_or_default()
}
