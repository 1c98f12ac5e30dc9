//! Indexes that are filled to their end become whole: all that were filled together as one entry of the log, so that there
//! are all of them or none. One of them may take the place of a closed index, which is there, untouched, until then.

use std::collections::BTreeMap;
use std::sync::Arc;

use clew_log::Glsn;

use crate::base::access::{Access, Purpose, check_access};
use crate::base::blocks::BlockLevel;
use crate::base::error::EngineError;
use crate::catalog::alias::{AliasAction, Aliases};
use crate::catalog::definitions::DefinitionChange;
use crate::catalog::record::{Catalog, CatalogOperation};
use crate::index::handle::{Index, in_lock_order};
use crate::node::alias_change::{self, Plan};
use crate::node::catalog_change::{Checked, SettingsChange, check_change};
use crate::node::engine::{Engine, Inner};

/// An index that is filled to its end, and what it becomes.
#[derive(Clone, Debug)]
pub struct FilledIndex {
    /// The index.
    pub index: Arc<Index>,
    /// What its settings become, which it is no longer unfinished by.
    pub settings: SettingsChange,
    /// Aliases that it gets beside those that it has.
    pub aliases: Aliases,
    /// The closed index that is deleted, with its files, and whose name it takes.
    pub in_place_of: Option<Arc<Index>>,
}

impl FilledIndex {
    /// The name that it will have.
    fn name(&self) -> &str {
        let named = self.in_place_of.as_ref().unwrap_or(&self.index);
        named.name()
    }
}

impl Engine {
    /// Makes indexes whole that were filled, and changes definitions with them, all or none; durable when it returns.
    ///
    /// # Errors
    /// When one of the indexes was deleted or may not be changed, settings or definitions are out of bounds, an alias is
    /// refused; when an index whose place is taken was deleted, is open again, or a block keeps it.
    pub fn finish_filled(
        &self,
        access: &Access,
        filled: Vec<FilledIndex>,
        definitions: Vec<DefinitionChange>,
    ) -> Result<Glsn, EngineError> {
        for one in &filled {
            check_access(one.name(), access, Purpose::Change)?;
        }
        if !definitions.is_empty() {
            access.check_node()?;
        }
        if filled.is_empty() && definitions.is_empty() {
            return Ok(self.inner.log.durable());
        }
        let finished = self.inner.finish_filled(filled, definitions)?;
        self.inner.signal.wake();
        // Indexes may have gone with it.
        self.inner.look_at_disk();
        Ok(finished)
    }
}

/// What was checked of all that become whole, as it will be seen once it stands in the log.
struct Finish {
    /// All indexes by the names that they will have.
    next: BTreeMap<String, Arc<Index>>,
    settings: Vec<Checked>,
    aliases: Plan,
    renamed: Vec<(Arc<Index>, String)>,
    gone: Vec<Arc<Index>>,
}

impl Finish {
    fn of(
        indices: &BTreeMap<String, Arc<Index>>,
        filled: Vec<FilledIndex>,
    ) -> Result<Self, EngineError> {
        let mut next = indices.clone();
        let (mut settings, mut renamed, mut gone) = (Vec::new(), Vec::new(), Vec::new());
        let mut given = Vec::new();
        for one in filled {
            let name = one.name().to_string();
            let index = known(indices, &one.index)?;
            settings.push(check_change(
                index,
                one.settings.of(&index.settings())?,
                false,
            )?);
            if let Some(old) = &one.in_place_of {
                let old = known(indices, old)?;
                check_gives_way(old)?;
                next.remove(index.name());
                next.insert(name.clone(), index.clone());
                renamed.push((index.clone(), name.clone()));
                gone.push(old.clone());
            }
            let aliases = one.aliases.into_iter();
            given.extend(aliases.map(|(alias, says)| AliasAction::Add {
                index: name.clone(),
                name: alias,
                alias: says,
            }));
        }
        let aliases = Plan::of(&next, given)?;
        Ok(Finish {
            next,
            settings,
            aliases,
            renamed,
            gone,
        })
    }

    /// All of it as the log has it, in an order in which it can be followed.
    fn operations(
        &self,
        catalog: &Catalog,
        definitions: Vec<DefinitionChange>,
    ) -> Vec<CatalogOperation> {
        let mut operations = Vec::new();
        if self.aliases.changes() || !self.gone.is_empty() {
            let gone = self.gone.iter();
            operations.push(CatalogOperation::ChangeAliases {
                entries: alias_change::entries(&self.next, &self.aliases),
                deleted: gone.map(|old| old.uuid.clone()).collect(),
            });
        }
        let renamed = self.renamed.iter();
        operations.extend(renamed.map(|(index, name)| CatalogOperation::RenameIndex {
            uuid: index.uuid.clone(),
            name: name.clone(),
        }));
        let settings = self.settings.iter();
        operations.extend(settings.map(|change| change.operation(catalog)));
        if !definitions.is_empty() {
            let changes = definitions;
            operations.push(CatalogOperation::Define { changes });
        }
        operations
    }
}

/// The index, where it is there still.
fn known<'i>(
    indices: &'i BTreeMap<String, Arc<Index>>,
    index: &Index,
) -> Result<&'i Arc<Index>, EngineError> {
    let found = alias_change::find(indices, index.name())?;
    found.check_is(&index.uuid)?;
    Ok(found)
}

/// Refuses to take away an index that serves, or that a block keeps.
fn check_gives_way(old: &Index) -> Result<(), EngineError> {
    if old.is_open() {
        return Err(EngineError::IndexExists {
            index: old.name().to_string(),
            uuid: old.uuid.clone(),
        });
    }
    old.check_block(BlockLevel::Delete)
}

impl Inner {
    fn finish_filled(
        &self,
        filled: Vec<FilledIndex>,
        definitions: Vec<DefinitionChange>,
    ) -> Result<Glsn, EngineError> {
        let indices = self.indices.upgradable_read();
        let mut locked: Vec<Arc<Index>> = filled.iter().map(|one| one.index.clone()).collect();
        in_lock_order(&mut locked);
        let changing: Vec<_> = locked.iter().map(|index| index.changing.lock()).collect();
        let finish = Finish::of(&indices, filled)?;
        let logged = {
            let turn = self.catalog_turn();
            let operations = {
                let catalog = turn.catalog();
                self.check_definitions(&catalog.definitions, &definitions)?;
                finish.operations(&catalog, definitions)
            };
            turn.append(CatalogOperation::together(operations))?
        };
        // Before anybody sees it: only a durable change may take files away, and what is seen whole stays whole.
        let settled = self.settle(logged)?;
        let mut indices = self.indices.change(indices);
        finish.aliases.store(&finish.next);
        finish.settings.into_iter().for_each(Checked::store);
        for (index, name) in &finish.renamed {
            index.name.change(name);
            // Filters on `_index` have left something by the old name.
            index.clear_caches();
        }
        *indices = finish.next;
        self.aliases
            .store(Arc::new(alias_change::table(indices.values())));
        self.look_for_slow_limits(indices.values());
        drop((indices, changing));
        for old in &finish.gone {
            self.forget_index(old);
        }
        Ok(settled)
    }
}
