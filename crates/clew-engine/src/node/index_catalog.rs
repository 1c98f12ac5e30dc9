//! Making, changing and deleting indexes: each change stands in the log, in the stream of the catalog, before it takes
//! effect.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use arc_swap::ArcSwap;
use clew_log::{Glsn, StreamId};
use clew_schema::Mapping;
use parking_lot::Mutex;
use serde_json::Value;

use crate::base::access::Access;
use crate::base::activity::Activity;
use crate::base::blocks::Block;
use crate::base::error::{EngineError, io_error};
use crate::base::index_name::IndexName;
use crate::base::names::{check_form, check_name};
use crate::base::operation::ID_BYTES_MAX;
use crate::base::settings::IndexSettings;
use crate::catalog::alias::{self, AliasAction, Aliases, check_alias};
use crate::catalog::planner::IndexPlan;
use crate::catalog::record::{CatalogOperation, IndexRecord, SETTINGS_FORMAT};
use crate::index::handle::Index;
use crate::node::alias_change::NamesNow;
use crate::node::engine::{Engine, Inner, Logged};
use crate::node::resolver::is_stream;
use crate::node::{alias_change, data_folder};
use crate::shard::{IndexCentres, Shard, ShardContext, ShardPlace};

const SHARDS_MAX: u32 = 1024;

impl Engine {
    /// Creates an index; durable when it returns. Its name may have capital letters and begin with `_`.
    ///
    /// # Errors
    /// When the name breaks the rules, is taken, or may not be made, or the settings are out of bounds.
    pub fn create_index(
        &self,
        access: &Access,
        name: &str,
        settings: IndexSettings,
        mapping: Mapping,
    ) -> Result<(Arc<Index>, Glsn), EngineError> {
        let plan = IndexPlan {
            name: None,
            any_case: true,
            settings,
            mapping,
            aliases: Aliases::new(),
        };
        self.create_planned(access, name, plan)
    }

    /// Checks that an index of this name could be made now.
    ///
    /// # Errors
    /// When the name breaks the rules or is taken.
    pub fn check_new_name(&self, name: &str) -> Result<(), EngineError> {
        check_name(name)?;
        check_no_index(&self.inner.indices.read(), name)
    }

    /// Deletes the index that has a name, and its files; durable when it returns. Who has looked at an index before deletes
    /// that one: [`Engine::delete_these`].
    ///
    /// # Errors
    /// When there is no such index, it is blocked, or it may not be changed.
    pub fn delete_index(&self, access: &Access, name: &str) -> Result<Glsn, EngineError> {
        let index = name.to_string();
        self.change_aliases(access, vec![AliasAction::RemoveIndex { index }])
    }
}

impl Inner {
    /// Creates an index, and changes aliases with it, by what they are then: as one change.
    pub(crate) fn create_index(
        &self,
        name: &str,
        plan: IndexPlan,
        decide: impl FnOnce(&NamesNow<'_>) -> Result<Vec<AliasAction>, EngineError>,
    ) -> Result<(Arc<Index>, Logged), EngineError> {
        let own = plan.name.clone();
        let name = own.as_deref().unwrap_or(name);
        match plan.any_case {
            true => check_form(name)?,
            false => check_name(name)?,
        }
        check_settings(&plan.settings)?;
        self.check_room_for_index(name)?;
        check_no_index(&self.indices.read(), name)?;
        self.check_new_shards(u64::from(plan.settings.shards))?;
        let uuid = self.new_uuid();
        // Before the lock that whoever changes names waits for: a disk takes its time to keep folders.
        let made = self.make_folders(&uuid, plan.settings.shards);
        let created = made.and_then(|()| self.create_in(&uuid, (name, plan), decide));
        // What is refused stands nowhere.
        created.inspect_err(|_| self.remove_folder(&uuid))
    }

    /// Creates an index whose folders are there.
    fn create_in(
        &self,
        uuid: &str,
        (name, plan): (&str, IndexPlan),
        decide: impl FnOnce(&NamesNow<'_>) -> Result<Vec<AliasAction>, EngineError>,
    ) -> Result<(Arc<Index>, Logged), EngineError> {
        let IndexPlan {
            settings,
            mapping,
            aliases,
            ..
        } = plan;
        let indices = self.indices.upgradable_read();
        check_no_index(&indices, name)?;
        self.check_new_aliases((name, &settings), &indices, &aliases)?;
        let actions = decide(&NamesNow {
            indices: &indices,
            aliases: &self.aliases.load(),
        })?;
        let record = IndexRecord {
            name: name.to_string(),
            uuid: uuid.to_string(),
            created_ms: self.clock.epoch_ms(),
            settings_format: SETTINGS_FORMAT,
            settings,
            mapping: mapping.encode(),
            first_stream: self.catalog.read().next_stream(),
            aliases,
            closed: false,
        };
        // The shards are made first: an index in the log must never lack its folders.
        let index = Arc::new(self.open_index(&record)?);
        let mut next = indices.clone();
        next.insert(name.to_string(), index.clone());
        let mut operations = vec![CatalogOperation::CreateIndex(record)];
        let moved = alias_change::Plan::of(&next, actions)?;
        assert!(
            moved.deleted.is_empty(),
            "a deletion must be durable before it takes effect"
        );
        if moved.changes() {
            operations.push(moved.operation(&next));
        }
        let logged = self.append_catalog(CatalogOperation::together(operations))?;
        let mut indices = self.indices.change(indices);
        moved.store(&next);
        if moved.changes() || !index.aliases().is_empty() {
            self.aliases
                .store(Arc::new(alias_change::table(next.values())));
        }
        *indices = next;
        Ok((index, logged))
    }

    /// Refuses a new index, or what fills it, while the disk is nearly full, as if it had the block that all others have then.
    pub(crate) fn check_room_for_index(&self, name: &str) -> Result<(), EngineError> {
        if !self.space.is_blocked() || !self.look_at_disk().is_blocked() {
            return Ok(());
        }
        Err(EngineError::Blocked {
            index: name.to_string(),
            blocks: vec![Block::ReadOnlyAllowDelete],
        })
    }

    /// Makes the folders of an index and its shards, durably.
    fn make_folders(&self, uuid: &str, shards: u32) -> Result<(), EngineError> {
        let dir = self.index_dir(uuid);
        let made = self.disk.create_dir_all_durable(&dir);
        made.map_err(io_error("create", &dir))?;
        for number in 0..shards {
            let shard = dir.join(number.to_string());
            let made = self.disk.create_dir_all(&shard);
            made.map_err(io_error("create", &shard))?;
        }
        self.disk.sync_dir(&dir).map_err(io_error("sync", &dir))
    }

    /// A unique id whose folder nobody has.
    fn new_uuid(&self) -> String {
        let mut uuids = std::iter::repeat_with(|| self.ids.next_uuid());
        let is_free = |uuid: &String| !self.disk.exists(&self.index_dir(uuid));
        let free = uuids.find(|uuid| !self.catalog.read().knows(uuid) && is_free(uuid));
        free.expect("there is no end of ids")
    }

    /// Checks the names that a new index would add.
    fn check_new_aliases(
        &self,
        (name, settings): (&str, &IndexSettings),
        indices: &BTreeMap<String, Arc<Index>>,
        aliases: &Aliases,
    ) -> Result<(), EngineError> {
        let table = self.aliases.load();
        if table.contains_key(name) {
            return Err(EngineError::InvalidIndexName {
                index: name.to_string(),
                reason: "already exists as alias",
            });
        }
        for (alias, says) in aliases {
            check_alias(alias, says)?;
            let is_of_stream = settings.data_stream.as_ref() != Some(alias)
                && table.get(alias).is_some_and(|held| is_stream(alias, held));
            if alias == name || indices.contains_key(alias) || is_of_stream {
                let uuid = indices.get(alias).map_or("_na_", |index| index.uuid());
                return Err(EngineError::AliasIsIndex {
                    alias: alias.clone(),
                    uuid: uuid.to_string(),
                });
            }
            let mut holders = vec![(name, says.clone())];
            for index in table.get(alias).into_iter().flatten() {
                holders.extend(
                    index
                        .aliases
                        .load()
                        .get(alias)
                        .map(|says| (index.name(), says.clone())),
                );
            }
            alias::check_holders(alias, &holders)?;
        }
        Ok(())
    }

    /// Opens the index of a catalog record.
    pub(crate) fn open_index(&self, record: &IndexRecord) -> Result<Index, EngineError> {
        let settings = record.typed_settings(self.options.settings_reader)?;
        if settings.slow.is_on() {
            self.slow_told.store(true, Ordering::Relaxed);
        }
        let mapping = Arc::new(record.decode_mapping(&settings, self.options.mapping_reader)?);
        let name = Arc::new(IndexName::new(&record.name));
        let centres = Arc::new(IndexCentres::new(settings.shards as usize));
        let shard = |number: u32| {
            let dir = self.index_dir(&record.uuid).join(number.to_string());
            let stream = record.stream(number);
            let place = ShardPlace {
                index: name.clone(),
                number,
                stream,
                dir,
            };
            let context = ShardContext {
                disk: self.disk.clone(),
                clock: self.clock.clone(),
                log: self.log.clone(),
                buffer_bytes_max: self.options.write_buffer_bytes,
                writers: self.options.shard_writers.max(1),
                query_reader: self.options.query_reader,
                merges: self.merges.clone(),
                centres: centres.clone(),
                healer: self.healer.clone(),
                space: self.space.clone(),
            };
            let shard = Shard::open(place, context, mapping.clone())?;
            shard.set_unfinished(settings.unfinished);
            Ok::<_, EngineError>(Arc::new(shard))
        };
        Ok(Index {
            name: name.clone(),
            uuid: record.uuid.clone(),
            created_ms: record.created_ms,
            mapping: ArcSwap::new(mapping.clone()),
            aliases: ArcSwap::from_pointee(record.aliases.clone()),
            closed: AtomicBool::new(record.closed),
            changing: Mutex::new(()),
            routing_slots: settings.routing_slots(),
            shards: (0..settings.shards).map(shard).collect::<Result<_, _>>()?,
            settings: ArcSwap::from_pointee(settings),
            activity: Activity::default(),
            successors: AtomicUsize::new(0),
            space: self.space.clone(),
        })
    }

    /// Notes whether any of all indexes has limits for what is slow; nobody else looks at the same time.
    pub(super) fn look_for_slow_limits<'a>(&self, mut all: impl Iterator<Item = &'a Arc<Index>>) {
        let any = all.any(|index| index.settings.load().slow.is_on());
        self.slow_told.store(any, Ordering::Relaxed);
    }

    pub(crate) fn index_dir(&self, uuid: &str) -> PathBuf {
        data_folder::indices_dir(&self.options.data).join(uuid)
    }

    /// Removes what a deleted index has on disk and in the log.
    pub(crate) fn forget_index(&self, index: &Index) {
        for shard in &index.shards {
            shard.retire();
        }
        let streams: Vec<StreamId> = index.shards.iter().map(|s| s.place.stream).collect();
        if let Err(error) = self.log.delete_streams(&streams) {
            tracing::warn!(%error, "cannot forget the streams of a deleted index");
        }
        self.remove_folder(&index.uuid);
    }

    fn remove_folder(&self, uuid: &str) {
        let dir = self.index_dir(uuid);
        if let Err(error) = self.disk.remove_dir_all(&dir) {
            tracing::warn!(dir = %dir.display(), %error, "cannot remove a deleted index");
        }
    }

    /// Puts an index's mapping, encoded, into the log, where it stands before any document that needs it, and into the catalog;
    /// nobody else changes it meanwhile.
    pub(crate) fn log_mapping(&self, index: &Index, encoded: Value) -> Result<Logged, EngineError> {
        let turn = self.catalog_turn();
        let operation = turn.catalog().mapping_operation(&index.uuid, encoded);
        turn.append(operation)
    }
}

/// Refuses the name of an index that is there.
fn check_no_index(indices: &BTreeMap<String, Arc<Index>>, name: &str) -> Result<(), EngineError> {
    match indices.get(name) {
        None => Ok(()),
        Some(existing) => Err(EngineError::IndexExists {
            index: name.to_string(),
            uuid: existing.uuid.clone(),
        }),
    }
}

pub(crate) fn check_settings(settings: &IndexSettings) -> Result<(), EngineError> {
    let reason = if !(1..=SHARDS_MAX).contains(&settings.shards) {
        format!(
            "Failed to parse value [{}] for setting [index.number_of_shards] must be >= 1 and <= {SHARDS_MAX}",
            settings.shards
        )
    } else if settings.max_result_window == 0 {
        "Failed to parse value [0] for setting [index.max_result_window] must be >= 1".to_string()
    } else if settings.ef_search < 2 {
        let ef = settings.ef_search;
        format!(
            "Failed to parse value [{ef}] for setting [index.knn.algo_param.ef_search] must be >= 2"
        )
    } else if !(1..=ID_BYTES_MAX).contains(&settings.id_bytes_max) {
        let bytes = settings.id_bytes_max;
        format!("ids have at most 1 to {ID_BYTES_MAX} bytes, not {bytes}")
    } else {
        return Ok(());
    };
    Err(EngineError::InvalidSetting { reason })
}
