//! Changes of indexes that are there, and of definitions: as many as a request asks for are one entry of the log, so
//! that neither a crash nor a refusal leaves a part of them.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use clew_log::Glsn;
use clew_schema::{Mapping, MappingSpec};
use serde_json::Value;

use crate::base::access::{Access, Purpose, check_access};
use crate::base::blocks::BlockLevel;
use crate::base::error::EngineError;
use crate::base::settings::IndexSettings;
use crate::catalog::definitions::DefinitionChange;
use crate::catalog::record::{Catalog, CatalogOperation, SETTINGS_FORMAT};
use crate::index::handle::{Index, in_lock_order};
use crate::node::engine::Engine;
use crate::node::index_catalog::check_settings;

/// One change among others.
#[derive(Clone, Debug)]
pub enum CatalogChange {
    /// Fields that are merged into an index's mapping.
    Mapping {
        /// The index's own name.
        index: String,
        /// Its unique id: another one that has the name since is left alone.
        uuid: String,
        /// What is said of them, with the analyzers of that index.
        spec: Box<MappingSpec>,
    },
    /// Settings that are made of those that an index has by then.
    Settings {
        /// The index's own name.
        index: String,
        /// Its unique id: another one that has the name since is left alone.
        uuid: String,
        /// What they become.
        change: SettingsChange,
        /// Whether only blocks are set and lifted: that, no block forbids.
        blocks_alone: bool,
    },
    /// Analyzers that replace those of an index, which its fields find by their names.
    Analysis {
        /// The index's own name.
        index: String,
        /// Its unique id: another one that has the name since is left alone.
        uuid: String,
        /// The settings that name them.
        source: Value,
    },
    /// A change of one definition.
    Definition(DefinitionChange),
}

impl CatalogChange {
    fn index(&self) -> Option<&str> {
        match self {
            CatalogChange::Mapping { index, .. }
            | CatalogChange::Settings { index, .. }
            | CatalogChange::Analysis { index, .. } => Some(index),
            CatalogChange::Definition(_) => None,
        }
    }
}

type ChangeSettings = dyn Fn(&IndexSettings) -> Result<IndexSettings, EngineError> + Send + Sync;

/// How settings change. It is asked while nobody else changes the index, so that of two changes at the same time
/// neither takes back what the other has been answered for.
#[derive(Clone)]
pub struct SettingsChange(Arc<ChangeSettings>);

impl SettingsChange {
    /// `change` makes the new settings out of those that the index has.
    pub fn new(
        change: impl Fn(&IndexSettings) -> Result<IndexSettings, EngineError> + Send + Sync + 'static,
    ) -> Self {
        SettingsChange(Arc::new(change))
    }

    /// What those of an index become.
    pub(super) fn of(&self, current: &IndexSettings) -> Result<IndexSettings, EngineError> {
        (self.0)(current)
    }
}

impl fmt::Debug for SettingsChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SettingsChange")
    }
}

/// A change of an index that was checked, as it will be seen once it stands in the log.
pub(super) enum Checked {
    Mapping(Arc<Index>, Mapping),
    Settings(Arc<Index>, IndexSettings),
}

impl Checked {
    pub(super) fn operation(&self, catalog: &Catalog) -> CatalogOperation {
        match self {
            Checked::Mapping(index, mapping) => {
                catalog.mapping_operation(&index.uuid, mapping.encode())
            }
            Checked::Settings(index, settings) => CatalogOperation::PutSettings {
                uuid: index.uuid.clone(),
                settings_format: SETTINGS_FORMAT,
                settings: settings.clone(),
            },
        }
    }

    pub(super) fn store(self) {
        match self {
            Checked::Mapping(index, mapping) => index.mapping.store(Arc::new(mapping)),
            Checked::Settings(index, settings) => index.store_settings(settings),
        }
    }
}

impl Engine {
    /// Changes indexes and definitions, all or none; durable when it returns. An index's mapping (its fields or its
    /// analyzers) and its settings can each be changed once.
    ///
    /// # Errors
    /// When an index is missing, another one by now, blocked or may not be changed, a mapping makes no sense or would change a field's type, settings are out of
    /// bounds or would change the number of shards, a definition is out of bounds.
    pub fn change_catalog(
        &self,
        access: &Access,
        changes: Vec<CatalogChange>,
    ) -> Result<Glsn, EngineError> {
        for change in &changes {
            match change.index() {
                Some(index) => check_access(index, access, Purpose::Change)?,
                None => access.check_node()?,
            }
        }
        let mut indices = BTreeMap::new();
        {
            // At one moment: names change, and no index may be among them twice.
            let known = self.inner.indices.read();
            for name in changes.iter().filter_map(CatalogChange::index) {
                let index = known.get(name).cloned();
                let missing = || EngineError::IndexNotFound {
                    index: name.to_string(),
                };
                indices.insert(name.to_string(), index.ok_or_else(missing)?);
            }
        }
        let mut locked: Vec<Arc<Index>> = indices.values().cloned().collect();
        in_lock_order(&mut locked);
        let changing: Vec<_> = locked.iter().map(|index| index.changing.lock()).collect();
        let Checks {
            checked,
            definitions,
            other_columns,
        } = check_all(&indices, changes)?;
        let logged = {
            let turn = self.inner.catalog_turn();
            let mut operations: Vec<CatalogOperation> = {
                let catalog = turn.catalog();
                self.inner
                    .check_definitions(&catalog.definitions, &definitions)?;
                let each = checked.iter().map(|change| change.operation(&catalog));
                each.collect()
            };
            if !definitions.is_empty() {
                let changes = definitions;
                operations.push(CatalogOperation::Define { changes });
            }
            turn.append(CatalogOperation::together(operations))?
        };
        let settings_changed = checked
            .iter()
            .any(|change| matches!(change, Checked::Settings(..)));
        checked.into_iter().for_each(Checked::store);
        drop(changing);
        if settings_changed {
            // One at a time, so that whoever looks last sees what all have stored.
            let indices = self.inner.indices.upgradable_read();
            self.inner.look_for_slow_limits(indices.values());
            self.inner.indices.others_let_through();
        }
        self.inner.signal.wake();
        let settled = self.inner.settle(logged)?;
        for name in other_columns {
            self.show_columns(&indices[&name]);
        }
        Ok(settled)
    }

    /// Lets the shards of an index go over to columns or derived fields that it has got, and has older columns written anew.
    fn show_columns(&self, index: &Index) {
        let mapping = index.mapping();
        for shard in &index.shards {
            if let Err(error) = shard.catch_up(&mapping) {
                // It goes over when it is opened again.
                tracing::warn!(index = index.name(), shard = shard.place.number, %error, "a shard cannot take other columns");
            }
        }
        self.inner.wake_upkeep();
    }

    /// Merges fields into the mapping of this very index; durable when it returns.
    ///
    /// # Errors
    /// When the index was deleted, the mapping makes no sense or would change a field's type.
    pub fn put_mapping(
        &self,
        access: &Access,
        index: &Index,
        spec: MappingSpec,
    ) -> Result<Glsn, EngineError> {
        let change = CatalogChange::Mapping {
            index: index.name().to_string(),
            uuid: index.uuid.clone(),
            spec: Box::new(spec),
        };
        self.change_catalog(access, vec![change])
    }
}

/// What was checked of the changes of one request.
#[derive(Default)]
struct Checks {
    checked: Vec<Checked>,
    definitions: Vec<DefinitionChange>,
    /// Of these, shards show what they have under the new mapping.
    other_columns: Vec<String>,
}

fn check_all(
    indices: &BTreeMap<String, Arc<Index>>,
    changes: Vec<CatalogChange>,
) -> Result<Checks, EngineError> {
    let mut checks = Checks::default();
    for change in changes {
        let checked = match change {
            CatalogChange::Mapping { index, uuid, spec } => {
                let found = index_of(indices, &index, &uuid)?;
                if !spec.columns.is_empty() || !spec.derived.is_empty() {
                    checks.other_columns.push(index);
                }
                check_mapping(found, *spec)?
            }
            CatalogChange::Analysis {
                index,
                uuid,
                source,
            } => {
                let found = index_of(indices, &index, &uuid)?;
                checks.other_columns.push(index);
                check_analysis(found, source)?
            }
            CatalogChange::Settings {
                index,
                uuid,
                change,
                blocks_alone,
            } => {
                let found = index_of(indices, &index, &uuid)?;
                let settings = change.of(&found.settings())?;
                check_change(found, settings, blocks_alone)?
            }
            CatalogChange::Definition(change) => {
                checks.definitions.push(change);
                continue;
            }
        };
        checks.checked.push(checked);
    }
    Ok(checks)
}

/// The index of a name, where it is the one of this unique id.
fn index_of<'i>(
    indices: &'i BTreeMap<String, Arc<Index>>,
    name: &str,
    uuid: &str,
) -> Result<&'i Arc<Index>, EngineError> {
    let index = &indices[name];
    index.check_is(uuid)?;
    Ok(index)
}

fn check_mapping(index: &Arc<Index>, spec: MappingSpec) -> Result<Checked, EngineError> {
    index.check_block(BlockLevel::MetadataWrite)?;
    let mut mapping = (*index.mapping()).clone();
    mapping.set_limits(index.settings().mapping_limits);
    mapping.merge(spec)?;
    Ok(Checked::Mapping(index.clone(), mapping))
}

fn check_analysis(index: &Arc<Index>, source: Value) -> Result<Checked, EngineError> {
    index.check_block(BlockLevel::MetadataWrite)?;
    let mut mapping = index.mapping().with_analysis(source)?;
    mapping.set_limits(index.settings().mapping_limits);
    Ok(Checked::Mapping(index.clone(), mapping))
}

/// Checks what the settings of an index are to become.
pub(super) fn check_change(
    index: &Arc<Index>,
    settings: IndexSettings,
    blocks_alone: bool,
) -> Result<Checked, EngineError> {
    check_settings(&settings)?;
    let current = index.settings();
    let routing_stays = settings.routing_slots() == current.routing_slots();
    if settings.shards != current.shards || !routing_stays {
        let reason = "the number of shards and how keys are spread over them never change";
        return Err(EngineError::InvalidSetting {
            reason: reason.to_string(),
        });
    }
    // Blocks that an index got while it was being filled are not for what fills it.
    let is_finished = current.unfinished && !settings.unfinished;
    let lifts_blocks = blocks_alone && settings.differs_in_blocks_alone(&current);
    if !(is_finished || lifts_blocks) {
        index.check_block(BlockLevel::MetadataWrite)?;
    }
    Ok(Checked::Settings(index.clone(), settings))
}
