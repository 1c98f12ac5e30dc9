//! Changes of aliases: several are one entry of the log, so that they happen together or not at all.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use clew_log::Glsn;

use crate::base::access::{Access, Purpose, check_access};
use crate::base::blocks::BlockLevel;
use crate::base::error::EngineError;
use crate::catalog::alias::{Alias, AliasAction, Aliases, check_alias, check_holders};
use crate::catalog::record::{AliasEntry, CatalogOperation};
use crate::index::handle::Index;
use crate::node::engine::{Engine, Inner, Logged};

/// Changes in one request.
const ACTIONS_MAX: usize = 100_000;

/// The indexes of each alias, by their names.
pub(crate) type AliasTable = BTreeMap<String, Vec<Arc<Index>>>;

/// Indexes and aliases at a moment when nobody changes them.
pub struct NamesNow<'n> {
    pub(crate) indices: &'n Indices,
    pub(crate) aliases: &'n AliasTable,
}

impl NamesNow<'_> {
    /// The index that has this very name.
    pub fn index(&self, name: &str) -> Option<&Arc<Index>> {
        self.indices.get(name)
    }

    /// The indexes of an alias, in the order of their names; none where there is no such alias.
    pub fn of_alias(&self, alias: &str) -> &[Arc<Index>] {
        let holders = self.aliases.get(alias);
        holders.map(Vec::as_slice).unwrap_or_default()
    }

    /// The name of an index now.
    ///
    /// # Errors
    /// [`EngineError::IndexNotFound`] when it was deleted, whoever has its name since.
    pub fn of(&self, index: &Index) -> Result<String, EngineError> {
        let name = index.name().to_string();
        match self.indices.get(&name) {
            Some(now) if now.uuid == index.uuid => Ok(name),
            _ => Err(EngineError::IndexNotFound { index: name }),
        }
    }
}

/// What a list of changes comes to.
#[derive(Default)]
pub(crate) struct Plan {
    /// New aliases of the indexes that change, by the index's name.
    changed: BTreeMap<String, Aliases>,
    pub(crate) deleted: BTreeSet<String>,
    touched: BTreeSet<String>,
}

impl Engine {
    /// Changes aliases, all or none; durable when it returns. Indexes are removed first, so that
    /// an alias may take the name of one of them.
    ///
    /// # Errors
    /// When an index is missing, blocked, or may not be changed, a name breaks the rules or is an index's, or an alias
    /// would have more than one index to write to.
    pub fn change_aliases(
        &self,
        access: &Access,
        actions: Vec<AliasAction>,
    ) -> Result<Glsn, EngineError> {
        let changed = self.change_aliases_by(access, |_| Ok::<_, EngineError>(actions))?;
        Ok(changed.unwrap_or_else(|| self.inner.log.durable()))
    }

    /// The same by what indexes and aliases are at that moment. Nothing is written where there is nothing to change.
    /// `decide` asks the engine for nothing: whoever looks up a name waits for it, and so would it.
    ///
    /// # Errors
    /// What `decide` refuses, and as [`Engine::change_aliases`].
    pub fn change_aliases_by<E: From<EngineError>>(
        &self,
        access: &Access,
        decide: impl FnOnce(&NamesNow<'_>) -> Result<Vec<AliasAction>, E>,
    ) -> Result<Option<Glsn>, E> {
        let Some(logged) = self.inner.change_aliases(access, decide)? else {
            return Ok(None);
        };
        let settled = self.inner.settle(logged);
        // Indexes may have gone with it.
        self.inner.look_at_disk();
        Ok(Some(settled?))
    }

    /// Deletes these very indexes and their files, all or none; durable when it returns.
    ///
    /// # Errors
    /// When one of them is blocked, may not be changed, or was deleted meanwhile: one that was made anew under its name is
    /// another one.
    pub fn delete_these<'i>(
        &self,
        access: &Access,
        indices: impl IntoIterator<Item = &'i Arc<Index>>,
    ) -> Result<Glsn, EngineError> {
        let deleted = self.change_aliases_by(access, |names| -> Result<_, EngineError> {
            let each = indices.into_iter().map(|index| names.of(index));
            each.map(|name| name.map(|index| AliasAction::RemoveIndex { index }))
                .collect()
        })?;
        Ok(deleted.unwrap_or_else(|| self.inner.log.durable()))
    }

    /// Whether a name is an alias.
    pub fn is_alias(&self, name: &str) -> bool {
        self.inner.aliases.load().contains_key(name)
    }

    /// Every alias and the indexes that it names.
    pub fn aliases(&self) -> BTreeMap<String, Vec<Arc<Index>>> {
        (**self.inner.aliases.load()).clone()
    }
}

/// Refuses changes of indexes that may not be changed. The name of an alias belongs to whoever may change its indexes.
pub(crate) fn check_changes(access: &Access, actions: &[AliasAction]) -> Result<(), EngineError> {
    for action in actions {
        let (AliasAction::Add { index, .. }
        | AliasAction::Remove { index, .. }
        | AliasAction::RemoveIndex { index }) = action;
        check_access(index, access, Purpose::Change)?;
    }
    Ok(())
}

impl Inner {
    fn change_aliases<E: From<EngineError>>(
        &self,
        access: &Access,
        decide: impl FnOnce(&NamesNow<'_>) -> Result<Vec<AliasAction>, E>,
    ) -> Result<Option<Logged>, E> {
        let indices = self.indices.upgradable_read();
        let actions = decide(&NamesNow {
            indices: &indices,
            aliases: &self.aliases.load(),
        })?;
        if actions.is_empty() {
            return Ok(None);
        }
        if actions.len() > ACTIONS_MAX {
            let reason = format!("more than [{ACTIONS_MAX}] changes of aliases in one request");
            return Err(EngineError::InvalidRequest { reason }.into());
        }
        check_changes(access, &actions)?;
        let plan = Plan::of(&indices, actions)?;
        let logged = self.append_catalog(plan.operation(&indices))?;
        if !plan.deleted.is_empty() {
            // Only a durable deletion may take the files: after a crash the index might come back. Whoever looks for an index
            // goes on meanwhile.
            self.settle(logged)?;
        }
        let mut indices = self.indices.change(indices);
        plan.store(&indices);
        let gone: Vec<Arc<Index>> = plan
            .deleted
            .iter()
            .filter_map(|name| indices.remove(name))
            .collect();
        self.aliases.store(Arc::new(table(indices.values())));
        // Whoever looks for an index waits for this lock, and large folders take their time. The catalog knows of them
        // until they are gone.
        drop(indices);
        for index in gone {
            self.forget_index(&index);
        }
        Ok(Some(logged))
    }
}

/// The indexes of each alias.
pub(crate) fn table<'a>(indices: impl Iterator<Item = &'a Arc<Index>>) -> AliasTable {
    let mut table = AliasTable::new();
    for index in indices {
        for name in index.aliases.load().keys() {
            table.entry(name.clone()).or_default().push(index.clone());
        }
    }
    table
}

type Indices = BTreeMap<String, Arc<Index>>;

impl Plan {
    /// What changes come to over these indexes, where they are allowed.
    pub(crate) fn of(indices: &Indices, actions: Vec<AliasAction>) -> Result<Self, EngineError> {
        let plan = plan(indices, actions)?;
        check(indices, &plan)?;
        Ok(plan)
    }

    /// Whether there is anything to change.
    pub(crate) fn changes(&self) -> bool {
        !self.touched.is_empty() || !self.deleted.is_empty()
    }

    /// The change as the log has it.
    pub(crate) fn operation(&self, indices: &Indices) -> CatalogOperation {
        let deleted = self.deleted.iter();
        CatalogOperation::ChangeAliases {
            entries: entries(indices, self),
            deleted: deleted.map(|name| indices[name].uuid.clone()).collect(),
        }
    }

    /// Gives the indexes that stay their new aliases.
    pub(crate) fn store(&self, indices: &Indices) {
        for (name, aliases) in &self.changed {
            if let Some(index) = indices.get(name) {
                index.aliases.store(Arc::new(aliases.clone()));
            }
        }
    }
}

/// The index of a name.
pub(super) fn find<'a>(indices: &'a Indices, name: &str) -> Result<&'a Arc<Index>, EngineError> {
    indices.get(name).ok_or_else(|| EngineError::IndexNotFound {
        index: name.to_string(),
    })
}

fn plan(indices: &Indices, actions: Vec<AliasAction>) -> Result<Plan, EngineError> {
    let mut plan = Plan::default();
    for action in &actions {
        if let AliasAction::RemoveIndex { index } = action {
            let found = find(indices, index)?;
            // Blocks keep what an index has; one that is not filled to its end has nothing yet.
            if !found.is_unfinished() {
                found.check_block(BlockLevel::Delete)?;
            }
            plan.deleted.insert(index.clone());
        }
    }
    for action in actions {
        let (index, name, alias) = match action {
            AliasAction::RemoveIndex { .. } => continue,
            AliasAction::Add { index, name, alias } => (index, name, Some(alias)),
            AliasAction::Remove { index, name } => (index, name, None),
        };
        let found = find(indices, &index)?;
        if plan.deleted.contains(&index) {
            return Err(EngineError::IndexNotFound { index });
        }
        if !found.is_unfinished() {
            found.check_block(BlockLevel::MetadataWrite)?;
        }
        let aliases = plan.changed.entry(index);
        let aliases = aliases.or_insert_with(|| (**found.aliases.load()).clone());
        plan.touched.insert(name.clone());
        match alias {
            Some(alias) => {
                check_alias(&name, &alias)?;
                aliases.insert(name, alias);
            }
            None => {
                aliases.remove(&name);
            }
        }
    }
    Ok(plan)
}

/// Checks the touched aliases as they would be over all indexes.
fn check(indices: &Indices, plan: &Plan) -> Result<(), EngineError> {
    for name in &plan.touched {
        let mut holders: Vec<(&str, Alias)> = Vec::new();
        for (index, handle) in indices {
            if plan.deleted.contains(index) {
                continue;
            }
            let alias = match plan.changed.get(index) {
                Some(aliases) => aliases.get(name).cloned(),
                None => handle.aliases.load().get(name).cloned(),
            };
            holders.extend(alias.map(|alias| (index.as_str(), alias)));
        }
        if let Some(taken) = indices.get(name)
            && !plan.deleted.contains(name)
            && !holders.is_empty()
        {
            return Err(EngineError::AliasIsIndex {
                alias: name.clone(),
                uuid: taken.uuid.clone(),
            });
        }
        check_holders(name, &holders)?;
    }
    Ok(())
}

/// What the plan changes, as the log has it: an alias that goes has no value.
pub(super) fn entries(indices: &Indices, plan: &Plan) -> Vec<AliasEntry> {
    let mut entries = Vec::new();
    for (index, aliases) in &plan.changed {
        for name in &plan.touched {
            let alias = aliases.get(name).cloned();
            if alias.as_ref() != indices[index].aliases.load().get(name) {
                let (uuid, name) = (indices[index].uuid.clone(), name.clone());
                entries.push(AliasEntry { uuid, name, alias });
            }
        }
    }
    entries
}
