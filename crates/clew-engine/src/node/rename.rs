//! Another name for an index. Folders, streams of the log, snapshots and definitions know an index by its unique id, so
//! that its name stands in the catalog alone and one entry of the log changes it.

use std::sync::Arc;

use clew_log::Glsn;

use crate::base::access::{Access, Purpose, check_access};
use crate::base::blocks::BlockLevel;
use crate::base::error::EngineError;
use crate::base::index_name::NAMES_MAX;
use crate::base::names::check_form;
use crate::catalog::record::CatalogOperation;
use crate::index::handle::Index;
use crate::node::alias_change;
use crate::node::engine::{Engine, Inner, Logged};

impl Engine {
    /// Gives an index another name; durable when it returns. Its documents, settings, mapping and aliases stay, and whoever
    /// has it open goes on with it. The new name may have capital letters and begin with `_`.
    ///
    /// What was told of the index before, as in a snapshot that was taken of it, keeps the old name.
    ///
    /// # Errors
    /// When there is no such index, it is blocked, is a part of a data stream (whose parts are found by their names), or
    /// may not be changed under either name; when the new name breaks the rules, or an index or an alias has it; and when
    /// the index has had a thousand names since the node was started, which are all kept in memory.
    pub fn rename_index(
        &self,
        access: &Access,
        name: &str,
        new: &str,
    ) -> Result<Glsn, EngineError> {
        self.rename_index_if(access, (name, new), |_| Ok(()))
    }

    /// The same where the index that has the name may be given another: that is asked while nobody else changes names or
    /// aliases. `allow` asks the engine for nothing, as for [`Engine::change_aliases_by`].
    ///
    /// # Errors
    /// What `allow` refuses, and as [`Engine::rename_index`].
    pub fn rename_index_if(
        &self,
        access: &Access,
        (name, new): (&str, &str),
        allow: impl FnOnce(&Index) -> Result<(), EngineError>,
    ) -> Result<Glsn, EngineError> {
        check_access(name, access, Purpose::Change)?;
        check_access(new, access, Purpose::Change)?;
        check_form(new)?;
        let logged = self.inner.rename_index((name, new), allow)?;
        self.inner.settle(logged)
    }
}

impl Inner {
    fn rename_index(
        &self,
        (name, new): (&str, &str),
        allow: impl FnOnce(&Index) -> Result<(), EngineError>,
    ) -> Result<Logged, EngineError> {
        let refuse = |reason: String| Err(EngineError::InvalidRequest { reason });
        let indices = self.indices.upgradable_read();
        let Some(index) = indices.get(name).cloned() else {
            return Err(EngineError::IndexNotFound {
                index: name.to_string(),
            });
        };
        allow(&index)?;
        index.check_block(BlockLevel::MetadataWrite)?;
        if let Some(stream) = index.data_stream() {
            return refuse(format!(
                "index [{name}] is a part of the data stream [{stream}] and keeps its name"
            ));
        }
        // What fills it is known by its name.
        if index.is_unfinished() {
            return refuse(format!(
                "index [{name}] is still being filled and keeps its name until it is whole"
            ));
        }
        if index.name.count() >= NAMES_MAX {
            return refuse(format!(
                "index [{name}] has had [{NAMES_MAX}] names since the node was started"
            ));
        }
        if let Some(existing) = indices.get(new) {
            return Err(EngineError::IndexExists {
                index: new.to_string(),
                uuid: existing.uuid.clone(),
            });
        }
        if self.aliases.load().contains_key(new) {
            return Err(EngineError::InvalidIndexName {
                index: new.to_string(),
                reason: "already exists as alias",
            });
        }
        let logged = self.append_catalog(CatalogOperation::RenameIndex {
            uuid: index.uuid.clone(),
            name: new.to_string(),
        })?;
        let mut indices = self.indices.change(indices);
        index.name.change(new);
        // Filters on `_index` have left something by the old name.
        index.clear_caches();
        indices.remove(name);
        indices.insert(new.to_string(), index);
        // The indexes of an alias stand there by their names.
        let table = alias_change::table(indices.values());
        self.aliases.store(Arc::new(table));
        Ok(logged)
    }
}
