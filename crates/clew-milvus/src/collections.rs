//! Where collections are found: names become indexes here, and nowhere else.
//!
//! A collection of the usual database is the index of its name; of another database, the index whose name begins with
//! that database's and a dot, which no name of Milvus' has.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use clew_engine::{
    Access, CatalogChange, Engine, EngineError, Index, IndexHandle, IndexSettings, Purpose,
};
use clew_schema::{Mapping, MappingSpec, VectorMapping};
use clew_vector::ColumnOptions;
use parking_lot::{Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard};
use serde_json::Value;

use crate::collection::{Collection, Field, NameOf, Named, with_late_analysis};
use crate::error::{MilvusError, Result};
use crate::index_name::{DEFAULT_DATABASE, index_name};

/// The kind of databases among the engine's definitions.
pub(crate) const DATABASES: &str = "milvus_database";
/// Largest `offset + limit` of a search, and of a query that says a limit.
pub(crate) const WINDOW_MAX: usize = 16_384;

/// A collection that was opened.
#[derive(Clone)]
pub(crate) struct Opened {
    pub(crate) named: Named,
    pub(crate) handle: IndexHandle,
}

impl Opened {
    /// The name that the collection's index has now, and what it means to writes of this request: this very index. Once the
    /// collection is dropped, another of its name is not written to, nor an index made for what comes late.
    pub(crate) fn written(&self) -> (String, BTreeMap<String, Arc<Index>>) {
        let name = self.handle.name().to_string();
        let found = BTreeMap::from([(name.clone(), self.handle.index().clone())]);
        (name, found)
    }
}

/// What was read of an index, and the mapping that it was read from.
type Known = (Arc<Mapping>, Arc<Collection>);

/// The collections of a node.
pub(crate) struct Collections {
    engine: Engine,
    /// What was read of each index, by its id.
    known: Mutex<HashMap<String, Known>>,
    /// Held while a collection changes: it is read, changed and written as a whole.
    changing: Mutex<()>,
    /// Shared by those who put collections into databases; who drops a database has it alone.
    placing: RwLock<()>,
}

impl Collections {
    pub(crate) fn new(engine: Engine) -> Self {
        Collections {
            engine,
            known: Mutex::default(),
            changing: Mutex::new(()),
            placing: RwLock::new(()),
        }
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Refuses databases that are not there.
    pub(crate) fn check_database(&self, name: &str) -> Result<()> {
        let exists = || {
            self.engine
                .with_definitions(|all| all.get(DATABASES, name).is_some())
        };
        if name == DEFAULT_DATABASE || exists() {
            return Ok(());
        }
        Err(MilvusError::DatabaseNotFound(name.to_string()))
    }

    /// Lets a collection be put into a database: it is not dropped until the result is.
    ///
    /// # Errors
    /// [`MilvusError::DatabaseNotFound`].
    pub(crate) fn place_into(&self, database: &str) -> Result<RwLockReadGuard<'_, ()>> {
        let placing = self.placing.read();
        self.check_database(database)?;
        Ok(placing)
    }

    /// Until the result is dropped no collection is put into any database. Waits for those that are being put there.
    pub(crate) fn keep_places(&self) -> RwLockWriteGuard<'_, ()> {
        self.placing.write()
    }

    /// Opens a collection by its name or an alias.
    ///
    /// # Errors
    /// [`MilvusError::DatabaseNotFound`], [`MilvusError::CollectionNotFound`], and what the engine says against it.
    pub(crate) fn open(
        &self,
        (database, name): (&str, &str),
        access: &Access,
        purpose: Purpose,
    ) -> Result<Opened> {
        self.check_database(database)?;
        let missing = || MilvusError::CollectionNotFound {
            database: database.to_string(),
            collection: name.to_string(),
        };
        if let Err(refused) = NameOf::Collection.check(name) {
            // Whoever reads learns that there is no such collection, not that there can be none.
            return Err(match purpose {
                Purpose::Read => missing(),
                _ => refused,
            });
        }
        let index = index_name(database, name);
        let opened = self.engine.open_one((&index, None), access, purpose);
        let (handle, _) = opened.map_err(|error| match error {
            EngineError::IndexNotFound { .. } => missing(),
            other => other.into(),
        })?;
        Ok(Opened {
            named: self.named(database, handle.index()),
            handle,
        })
    }

    /// A collection's own name, given an alias of it; what means no collection is left as it is.
    pub(crate) fn real_name(&self, database: &str, name: &str) -> String {
        let index = index_name(database, name);
        let is_name = NameOf::Collection.is_allowed(name);
        let opened = is_name.then(|| {
            let everything = Access::everything();
            self.engine
                .open_one((&index, None), &everything, Purpose::Watch)
        });
        let Some(Ok((handle, _))) = opened else {
            return name.to_string();
        };
        let prefix = index_name(database, "");
        let own = handle.name().strip_prefix(&prefix);
        own.unwrap_or(name).to_string()
    }

    fn named(&self, database: &str, index: &Arc<Index>) -> Named {
        let name = match database {
            DEFAULT_DATABASE => index.name(),
            other => index.name().get(other.len() + 1..).unwrap_or_default(),
        };
        Named {
            database: database.to_string(),
            name: name.to_string(),
            index: index.clone(),
            collection: self.collection_of(index),
        }
    }

    /// The collection that an index is; read once for each of its mappings.
    fn collection_of(&self, index: &Arc<Index>) -> Arc<Collection> {
        let mapping = index.mapping();
        let mut known = self.known.lock();
        if let Some((read, collection)) = known.get(index.uuid())
            && Arc::ptr_eq(read, &mapping)
        {
            return collection.clone();
        }
        let collection = Arc::new(Collection::of(index));
        known.insert(index.uuid().to_string(), (mapping, collection.clone()));
        collection
    }

    /// The collections of a database that somebody may see, by name.
    pub(crate) fn list(&self, database: &str, access: &Access) -> Result<Vec<Named>> {
        self.check_database(database)?;
        let indices = self.engine.indices(access);
        // Those that were deleted are remembered no longer than until somebody looks: no index has their mapping.
        let mut known = self.known.lock();
        known.retain(|_, (mapping, _)| Arc::strong_count(mapping) > 1);
        drop(known);
        let prefix = index_name(database, "");
        let own = |index: &&Arc<Index>| {
            let name = index.name().strip_prefix(&prefix);
            name.is_some_and(|name| NameOf::Collection.is_allowed(name))
        };
        let found = indices.iter().filter(own);
        Ok(found.map(|index| self.named(database, index)).collect())
    }

    /// The collections of all databases that somebody may see.
    pub(crate) fn all(&self, access: &Access) -> Vec<Named> {
        let mut databases = vec![DEFAULT_DATABASE.to_string()];
        self.engine.with_definitions(|all| {
            databases.extend(all.of(DATABASES).map(|(name, _)| name.to_string()));
        });
        // One that is dropped meanwhile has none.
        let of_each = databases.iter().map(|name| self.list(name, access));
        of_each.filter_map(Result::ok).flatten().collect()
    }

    /// Makes a collection.
    ///
    /// # Errors
    /// When its name is taken, and what the engine says against it.
    pub(crate) fn create(
        &self,
        (database, name): (&str, &str),
        access: &Access,
        (settings, mapping): (IndexSettings, Mapping),
    ) -> Result<()> {
        let index = index_name(database, name);
        self.engine
            .create_index(access, &index, settings, mapping)?;
        Ok(())
    }

    /// Changes what is kept of a collection, and adds fields to its index; durable when it returns.
    ///
    /// # Errors
    /// What `change` says, and what the engine says against it; nothing was changed then.
    pub(crate) fn change<T>(
        &self,
        (database, name): (&str, &str),
        access: &Access,
        change: impl FnOnce(&mut Collection, &Index) -> Result<(T, Changes)>,
    ) -> Result<T> {
        let _changing = self.changing.lock();
        let opened = self.open((database, name), access, Purpose::Change)?;
        let index = opened.handle.index();
        let mut collection = (*opened.named.collection).clone();
        let before = collection.clone();
        let (outcome, changes) = change(&mut collection, index)?;
        if collection == before && changes.spec.parts.is_empty() && changes.column.is_none() {
            return Ok(outcome);
        }
        if !collection.has_schema_of(&before) {
            let now = self.engine.clock().epoch_ms();
            collection.updated_ms = now.max(before.updated_ms + 1);
            collection.version = before.version.saturating_add(1);
        }
        if let Some(field) = &changes.analyzed {
            self.bring_analyzers(access, index, (&collection, field))?;
        }
        let mapping = index.mapping();
        let meta: Option<&Value> = mapping.shown().get("_meta");
        let column = changes.column.map(|(path, column)| {
            let vector = VectorMapping {
                directionless: true,
                ..VectorMapping::new(column)
            };
            (path, vector)
        });
        let spec = MappingSpec {
            shown: collection.shown(meta),
            columns: column.into_iter().collect(),
            ..changes.spec
        };
        self.engine.put_mapping(access, index, spec)?;
        Ok(outcome)
    }

    /// Gives an index the analyzers of a field that is about to come. Should it not come after all, they do no harm.
    fn bring_analyzers(
        &self,
        access: &Access,
        index: &Index,
        (collection, field): (&Collection, &Field),
    ) -> Result<()> {
        let mapping = index.mapping();
        let known = mapping.analysis().source();
        let Some(source) = with_late_analysis(known, collection, field)? else {
            return Ok(());
        };
        let change = CatalogChange::Analysis {
            index: index.name().to_string(),
            uuid: index.uuid().to_string(),
            source,
        };
        self.engine.change_catalog(access, vec![change])?;
        Ok(())
    }
}

/// What changes of an index together with what is kept of the collection.
#[derive(Default)]
pub(crate) struct Changes {
    /// Fields that are added.
    pub(crate) spec: MappingSpec,
    /// A vector field that gets another column.
    pub(crate) column: Option<(String, ColumnOptions)>,
    /// A field that brings analyzers.
    pub(crate) analyzed: Option<Field>,
}

impl From<MappingSpec> for Changes {
    fn from(spec: MappingSpec) -> Self {
        Changes {
            spec,
            ..Changes::default()
        }
    }
}
