//! Which index a write goes to: the one that it names, which is made where there is none, or the one that is being filled.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::base::access::{Access, Purpose, check_access};
use crate::base::blocks::BlockLevel;
use crate::base::date_names::resolve_date;
use crate::base::error::EngineError;
use crate::base::write_request::{Action, Condition, WriteOperation};
use crate::index::handle::Index;
use crate::node::engine::{Engine, Inner};
use crate::node::index_handle::IndexHandle;
use crate::node::resolve::alias_routing;

/// Where writes go.
#[derive(Clone, Copy)]
pub(crate) enum Destination<'a> {
    /// To the index that each of them names, as far as who asks may write there.
    Named(&'a Access),
    /// The same, but that these names mean these very indexes, whoever has them now.
    Found(&'a Access, &'a BTreeMap<String, Arc<Index>>),
    /// To this one, which they fill, whatever they name. Its blocks are for others.
    Filled(&'a Arc<Index>),
}

impl Destination<'_> {
    /// Refuses whoever does not fill an index that is still being filled: should that fail, the index goes, and with it
    /// what was written to it. The routing key leads to the shard.
    pub(crate) fn check_active(self, index: &Index, key: &str) -> Result<(), EngineError> {
        match self {
            Destination::Named(_) | Destination::Found(..) if index.is_unfinished() => {
                Err(index.shard_of(key).not_active(Purpose::Write))
            }
            Destination::Named(_) | Destination::Found(..) | Destination::Filled(_) => Ok(()),
        }
    }

    /// Refuses a write whose index was closed or blocked after it was found: what is copied, or kept, of an index from then on
    /// would lack it. Costs two atomic reads. The block of a full disk is no business of this: what is begun has its room.
    pub(crate) fn check_taken(self, index: &Index) -> Result<(), EngineError> {
        index.check_open()?;
        match self {
            Destination::Named(_) | Destination::Found(..) => {
                index.check_own_blocks(BlockLevel::Write)
            }
            Destination::Filled(_) => Ok(()),
        }
    }
}

impl Engine {
    /// Opens the index that writes to a name go to, whether it takes them now or not; and the routing key that holds there.
    ///
    /// # Errors
    /// When there is no such index, no index of the alias takes writes, or it is not allowed to who asks.
    pub fn open_written(
        &self,
        (name, routing): (&str, Option<&str>),
        access: &Access,
        purpose: Purpose,
    ) -> Result<(IndexHandle, Option<String>), EngineError> {
        let name: &str = &resolve_date(name, || self.inner.now_ms())?;
        let index = self.inner.written_index(name)?;
        check_access(index.name(), access, purpose)?;
        let alias = (index.name() != name).then_some(name);
        let routing = alias_routing(&index, alias, routing.map(String::from))?;
        Ok((IndexHandle::new(&index, purpose), routing))
    }
}

impl Inner {
    /// The index that a write goes to, and its routing key there.
    pub(crate) fn destined(
        &self,
        destination: Destination<'_>,
        operation: &WriteOperation,
    ) -> Result<(Arc<Index>, Option<String>), EngineError> {
        match destination {
            Destination::Named(access) => self.index_or_create(operation, access),
            Destination::Found(access, found) => match found.get(&operation.index) {
                Some(index) => {
                    let index = self.still_there(index)?;
                    check_access(index.name(), access, Purpose::Write)?;
                    index.check_open()?;
                    index.check_block(BlockLevel::Write)?;
                    Ok((index, operation.routing.clone()))
                }
                None => self.index_or_create(operation, access),
            },
            Destination::Filled(index) => {
                index.check_open()?;
                self.check_room_for_index(index.name())?;
                Ok((index.clone(), operation.routing.clone()))
            }
        }
    }

    /// An index that was found before, under the name that it has now.
    fn still_there(&self, before: &Index) -> Result<Arc<Index>, EngineError> {
        // Before its name is asked for, so that this is the name that it has there.
        let indices = self.indices.read();
        let now = indices.get(before.name());
        let found = now.filter(|now| now.uuid == before.uuid).cloned();
        found.ok_or_else(|| EngineError::IndexNotFound {
            index: before.name().to_string(),
        })
    }

    fn index_or_create(
        &self,
        operation: &WriteOperation,
        access: &Access,
    ) -> Result<(Arc<Index>, Option<String>), EngineError> {
        let name = resolve_date(&operation.index, || self.now_ms())?;
        let routing = || operation.routing.clone();
        if operation.require_alias && !self.aliases.load().contains_key(name.as_ref()) {
            let index = name.into_owned();
            return Err(EngineError::NotAnAlias { index });
        }
        match self.write_index((&name, routing()), access) {
            Err(EngineError::IndexNotFound { .. })
                if self.options.auto_create_index
                    && access.makes_indexes()
                    && is_making(operation) =>
            {
                self.check_made(&name)?;
            }
            found => return found,
        }
        check_access(&name, access, Purpose::Write)?;
        match self.create_index(&name, self.plan_index(&name)?, |_| Ok(Vec::new())) {
            Ok((index, _)) => Ok((index, routing())),
            // Another request was faster.
            Err(EngineError::IndexExists { .. }) => self.write_index((&name, routing()), access),
            Err(error) => Err(error),
        }
    }

    /// Makes the indexes that writes of a request make and that others of it, which make none, name too: these are not to miss
    /// them because they come first. What is refused is told where it is written.
    pub(crate) fn make_beforehand(
        &self,
        destination: Destination<'_>,
        operations: &[WriteOperation],
    ) {
        let others = operations.iter().filter(|operation| !is_making(operation));
        let mut names: BTreeSet<&str> = others.map(|operation| &*operation.index).collect();
        for operation in operations {
            if names.is_empty() {
                return;
            }
            if is_making(operation) && names.remove(&*operation.index) {
                let _ = self.destined(destination, operation);
            }
        }
    }
}

/// Whether a write makes the index that it misses: a delete does not, unless the version it brings has to be remembered.
fn is_making(operation: &WriteOperation) -> bool {
    !matches!(operation.action, Action::Delete)
        || matches!(operation.condition, Some(Condition::External { .. }))
}
