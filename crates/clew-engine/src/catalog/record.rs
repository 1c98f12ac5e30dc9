//! Which indexes exist, with their mappings and settings. Like everything else a view of the log:
//! changes are entries of the catalog's stream, and `catalog.json` only saves replaying them all.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use clew_log::{Glsn, StreamId};
use clew_platform::Disk;
use clew_schema::{Mapping, MappingReader, parsed_json_bytes};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::error::{EngineError, io_error};
use crate::base::settings::{IndexSettings, SettingsReader};
use crate::catalog::alias::{Alias, Aliases};
use crate::catalog::definitions::{DefinitionChange, Definitions};
use crate::catalog::mapping_change::MappingChange;

/// The format that is written. Mappings and settings tell their own, since those that did not change stay as they were.
const FORMAT: u32 = 3;
/// The oldest format that is read.
const FORMAT_OLDEST: u32 = 1;
/// Streams of shards begin here.
const FIRST_SHARD_STREAM: u32 = 16;

/// The format of settings that are typed. Those of format 1 keep a part of what they say in a protocol's words alone.
pub(crate) const SETTINGS_FORMAT: u32 = 2;

fn untyped_settings() -> u32 {
    1
}

/// What is known of an index.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct IndexRecord {
    pub(crate) name: String,
    pub(crate) uuid: String,
    pub(crate) created_ms: u64,
    #[serde(default = "untyped_settings")]
    pub(crate) settings_format: u32,
    pub(crate) settings: IndexSettings,
    /// The mapping as [`Mapping::encode`] of some build gave it: changes in the log fit it as it was written.
    pub(crate) mapping: serde_json::Value,
    /// Stream of shard 0; the others follow.
    pub(crate) first_stream: u32,
    #[serde(default)]
    pub(crate) aliases: Aliases,
    #[serde(default)]
    pub(crate) closed: bool,
}

impl IndexRecord {
    pub(crate) fn stream(&self, shard: u32) -> StreamId {
        StreamId::new(self.first_stream + shard)
    }
    /// The settings, typed.
    ///
    /// # Errors
    /// [`EngineError::Corrupt`] when they are of an older format and nobody reads that.
    pub(crate) fn typed_settings(
        &self,
        older: Option<SettingsReader>,
    ) -> Result<IndexSettings, EngineError> {
        let mut settings = self.settings.clone();
        if self.settings_format < SETTINGS_FORMAT {
            let read = older.ok_or_else(|| EngineError::Corrupt {
                path: "catalog".into(),
                reason: format!(
                    "the settings of [{}] are of format {}, which nothing here reads",
                    self.name, self.settings_format
                ),
            })?;
            read(&mut settings);
        }
        Ok(settings)
    }

    /// The mapping, within the limits of these settings.
    pub(crate) fn decode_mapping(
        &self,
        settings: &IndexSettings,
        reader: Option<MappingReader>,
    ) -> Result<Mapping, EngineError> {
        let mut mapping = Mapping::decode(&self.mapping, reader)?;
        mapping.set_limits(settings.mapping_limits);
        Ok(mapping)
    }
}

/// An alias of an index as it is after a change; without a value it is gone.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AliasEntry {
    pub(crate) uuid: String,
    pub(crate) name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) alias: Option<Alias>,
}

/// A change of the catalog, as it stands in the log.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum CatalogOperation {
    CreateIndex(IndexRecord),
    DeleteIndex {
        uuid: String,
    },
    PutMapping {
        uuid: String,
        mapping: serde_json::Value,
    },
    /// What the mapping has more than before.
    GrowMapping {
        uuid: String,
        change: MappingChange,
    },
    PutSettings {
        uuid: String,
        #[serde(default = "untyped_settings")]
        settings_format: u32,
        settings: IndexSettings,
    },
    /// Aliases and the deletion of indexes, as one change.
    ChangeAliases {
        entries: Vec<AliasEntry>,
        deleted: Vec<String>,
    },
    SetClosed {
        uuids: Vec<String>,
        closed: bool,
    },
    /// Everything else of the index stays as it is.
    RenameIndex {
        uuid: String,
        name: String,
    },
    Define {
        changes: Vec<DefinitionChange>,
    },
    /// Several of the others, as one change.
    Together(Vec<CatalogOperation>),
}

impl CatalogOperation {
    /// Changes that happen together or not at all.
    pub(crate) fn together(mut operations: Vec<CatalogOperation>) -> Self {
        match operations.len() {
            1 => operations.remove(0),
            _ => CatalogOperation::Together(operations),
        }
    }

    /// The unique ids of the indexes that it makes.
    pub(crate) fn made(&self) -> impl Iterator<Item = &str> {
        let operations = match self {
            CatalogOperation::Together(operations) => operations,
            _ => std::slice::from_ref(self),
        };
        operations.iter().filter_map(|operation| match operation {
            CatalogOperation::CreateIndex(record) => Some(record.uuid.as_str()),
            _ => None,
        })
    }

    /// Whether nothing is added by it.
    pub(crate) fn only_takes_away(&self) -> bool {
        match self {
            CatalogOperation::DeleteIndex { .. } | CatalogOperation::SetClosed { .. } => true,
            CatalogOperation::ChangeAliases { entries, .. } => {
                entries.iter().all(|entry| entry.alias.is_none())
            }
            CatalogOperation::Define { changes } => {
                changes.iter().all(|change| change.value.is_none())
            }
            CatalogOperation::Together(operations) => operations.iter().all(Self::only_takes_away),
            CatalogOperation::CreateIndex(_)
            | CatalogOperation::PutMapping { .. }
            | CatalogOperation::GrowMapping { .. }
            | CatalogOperation::PutSettings { .. }
            | CatalogOperation::RenameIndex { .. } => false,
        }
    }

    /// Reads an entry of the catalog's stream.
    pub(crate) fn decode(payload: &[u8]) -> Result<Self, EngineError> {
        serde_json::from_slice(payload).map_err(|error| EngineError::Corrupt {
            path: "log".into(),
            reason: format!("catalog entry: {error}"),
        })
    }
}

/// Follows one entry of a change of aliases.
pub(crate) fn set_alias(aliases: &mut Aliases, name: String, alias: Option<Alias>) {
    match alias {
        Some(alias) => aliases.insert(name, alias),
        None => aliases.remove(&name),
    };
}

/// All indexes, by unique id.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Catalog {
    format: u32,
    /// The log position up to which changes are in here.
    applied: u64,
    /// Nothing up to this position is needed by any view; as of the last save.
    #[serde(default)]
    covered: u64,
    next_stream: u32,
    pub(crate) indices: BTreeMap<String, IndexRecord>,
    /// Unique ids of deleted indexes whose folders may still be there.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    removing: BTreeSet<String>,
    #[serde(default)]
    pub(crate) definitions: Definitions,
    /// What all of it takes, at most, in memory; more than that where something was replaced or taken away since it was counted.
    #[serde(skip)]
    bytes: usize,
}

impl Default for Catalog {
    fn default() -> Self {
        Catalog {
            format: FORMAT,
            applied: 0,
            covered: 0,
            next_stream: FIRST_SHARD_STREAM,
            indices: BTreeMap::new(),
            removing: BTreeSet::new(),
            definitions: Definitions::default(),
            bytes: 0,
        }
    }
}

impl Catalog {
    pub(crate) fn applied(&self) -> Glsn {
        Glsn::new(self.applied)
    }
    /// Up to here no view needs the log any more.
    pub(crate) fn covered(&self) -> Glsn {
        Glsn::new(self.covered)
    }
    /// Records that no view needs the log up to a position.
    pub(crate) fn cover(&mut self, needed: Glsn) {
        self.covered = self.covered.max(needed.get());
    }
    /// Records that the log is needed from its first entry on.
    pub(crate) fn uncover(&mut self) {
        self.covered = 0;
    }
    /// What all of it takes in memory, at most.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
    /// Notes what all of it takes from now on.
    pub(crate) fn set_bytes(&mut self, bytes: usize) {
        self.bytes = bytes;
    }
    /// Counts what all of it takes. Costs as much as to save it, but for the disk.
    pub(crate) fn counted_bytes(&self) -> usize {
        parsed_json_bytes(&self.to_json())
    }
    fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("a catalog has only plain fields")
    }

    /// The first of the streams the next index will get.
    pub(crate) fn next_stream(&self) -> u32 {
        self.next_stream
    }

    /// What gives an index another mapping, in few bytes where few fields are new.
    pub(crate) fn mapping_operation(&self, uuid: &str, mapping: Value) -> CatalogOperation {
        let uuid = uuid.to_string();
        let record = self.indices.get(&uuid);
        let change = record.and_then(|record| MappingChange::between(&record.mapping, &mapping));
        match change {
            Some(change) => CatalogOperation::GrowMapping { uuid, change },
            None => CatalogOperation::PutMapping { uuid, mapping },
        }
    }

    /// Whether an index has this unique id, or had it a short time ago.
    pub(crate) fn knows(&self, uuid: &str) -> bool {
        self.indices.contains_key(uuid) || self.removing.contains(uuid)
    }
    /// Unique ids of deleted indexes whose folders may still be there.
    pub(crate) fn removing(&self) -> &BTreeSet<String> {
        &self.removing
    }
    /// Folders of deleted indexes are gone, and stay so after a crash.
    pub(crate) fn removed(&mut self, uuids: &[String]) {
        uuids.iter().for_each(|uuid| {
            self.removing.remove(uuid);
        });
    }
    fn delete(&mut self, uuid: String) {
        if self.indices.remove(&uuid).is_some() {
            self.removing.insert(uuid);
        }
    }

    /// Follows a change that stands at a position.
    ///
    /// # Errors
    /// [`EngineError::Corrupt`] when it is not one of this catalog.
    pub(crate) fn apply(
        &mut self,
        operation: CatalogOperation,
        at: Glsn,
    ) -> Result<(), EngineError> {
        match operation {
            CatalogOperation::CreateIndex(record) => {
                self.next_stream = self
                    .next_stream
                    .max(record.first_stream + record.settings.shards);
                self.indices.insert(record.uuid.clone(), record);
            }
            CatalogOperation::DeleteIndex { uuid } => self.delete(uuid),
            CatalogOperation::PutMapping { uuid, mapping } => {
                if let Some(record) = self.indices.get_mut(&uuid) {
                    record.mapping = mapping;
                }
            }
            CatalogOperation::GrowMapping { uuid, change } => {
                if let Some(record) = self.indices.get_mut(&uuid) {
                    let grown = change.apply(&mut record.mapping);
                    grown.map_err(|reason| EngineError::Corrupt {
                        path: "log".into(),
                        reason: format!("catalog entry [{at}]: {reason}"),
                    })?;
                }
            }
            CatalogOperation::PutSettings {
                uuid,
                settings_format,
                settings,
            } => {
                if let Some(record) = self.indices.get_mut(&uuid) {
                    record.settings_format = settings_format;
                    record.settings = settings;
                }
            }
            CatalogOperation::ChangeAliases { entries, deleted } => {
                for AliasEntry { uuid, name, alias } in entries {
                    if let Some(record) = self.indices.get_mut(&uuid) {
                        set_alias(&mut record.aliases, name, alias);
                    }
                }
                deleted.into_iter().for_each(|uuid| self.delete(uuid));
            }
            CatalogOperation::SetClosed { uuids, closed } => {
                for uuid in uuids {
                    if let Some(record) = self.indices.get_mut(&uuid) {
                        record.closed = closed;
                    }
                }
            }
            CatalogOperation::RenameIndex { uuid, name } => {
                if let Some(record) = self.indices.get_mut(&uuid) {
                    record.name = name;
                }
            }
            CatalogOperation::Define { changes } => self.definitions.apply(changes),
            CatalogOperation::Together(operations) => {
                for operation in operations {
                    self.apply(operation, at)?;
                }
            }
        }
        self.applied = at.get();
        Ok(())
    }

    /// Reads the saved catalog; `None` when there is none.
    pub(crate) fn load(disk: &dyn Disk, path: &Path) -> Result<Option<Self>, EngineError> {
        if !disk.exists(path) {
            return Ok(None);
        }
        let bytes = disk.read(path).map_err(io_error("read", path))?;
        let corrupt = |reason: String| EngineError::Corrupt {
            path: path.to_path_buf(),
            reason,
        };
        let (crc, json) = bytes
            .split_first_chunk::<9>()
            .ok_or_else(|| corrupt("too short".into()))?;
        if format!("{:08x}\n", crc32c::crc32c(json)).as_bytes() != crc {
            return Err(corrupt("its checksum does not match".into()));
        }
        let mut catalog: Catalog =
            serde_json::from_slice(json).map_err(|error| corrupt(error.to_string()))?;
        if !(FORMAT_OLDEST..=FORMAT).contains(&catalog.format) {
            return Err(corrupt(format!("format {} is not known", catalog.format)));
        }
        catalog.format = FORMAT;
        Ok(Some(catalog))
    }

    /// Saves the catalog: the checksum of the JSON on a line of its own, then the JSON.
    pub(crate) fn save(&self, disk: &dyn Disk, path: &Path) -> Result<(), EngineError> {
        let json = self.to_json();
        let mut bytes = format!("{:08x}\n", crc32c::crc32c(&json)).into_bytes();
        bytes.extend_from_slice(&json);
        disk.write_atomic(path, &bytes)
            .map_err(io_error("write", path))
    }
}

#[cfg(test)]
mod tests;
