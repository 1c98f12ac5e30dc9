//! Changes of definitions.

use clew_log::Glsn;

use crate::base::access::Access;
use crate::base::error::EngineError;
use crate::catalog::definitions::{DefinitionChange, Definitions};
use crate::catalog::record::CatalogOperation;
use crate::node::engine::{Engine, Inner, Logged};

/// So much is taken on any disk: what makes room again must not need room, like a setting of the cluster.
const SMALL_BYTES: usize = 1024;
/// A value goes into the log, into the saved catalog, and into the new one beside that.
const COPIES: u64 = 3;

impl Engine {
    /// Looks at the definitions as they are now. `look` must not do so again.
    pub fn with_definitions<T>(&self, look: impl FnOnce(&Definitions) -> T) -> T {
        look(&self.inner.catalog.read().definitions)
    }

    /// Changes definitions, all at once, by what they are now; durable when it returns. Nothing
    /// is written when there is nothing to change.
    ///
    /// # Errors
    /// What `decide` refuses, whoever may not change the node, values out of bounds, and a log that lost its disk.
    pub fn change_definitions<E: From<EngineError>>(
        &self,
        access: &Access,
        decide: impl FnOnce(&Definitions) -> Result<Vec<DefinitionChange>, E>,
    ) -> Result<Option<Glsn>, E> {
        access.check_node()?;
        let logged = self.inner.change_definitions(decide)?;
        let settled = logged.map(|logged| self.inner.settle(logged));
        Ok(settled.transpose()?)
    }
}

impl Inner {
    /// Refuses changes that are out of bounds, and values for which there is no room. OpenSearch takes them on a disk
    /// that is nearly full, and so it is here, but not at the cost of what was acknowledged.
    pub(crate) fn check_definitions(
        &self,
        definitions: &Definitions,
        changes: &[DefinitionChange],
    ) -> Result<(), EngineError> {
        definitions.check(changes)?;
        let bytes: usize = changes.iter().map(DefinitionChange::bytes).sum();
        if bytes <= SMALL_BYTES {
            return Ok(());
        }
        self.space
            .check_reserve("a definition", bytes as u64 * COPIES)
    }

    pub(crate) fn change_definitions<E: From<EngineError>>(
        &self,
        decide: impl FnOnce(&Definitions) -> Result<Vec<DefinitionChange>, E>,
    ) -> Result<Option<Logged>, E> {
        let turn = self.catalog_turn();
        let changes = {
            let catalog = turn.catalog();
            let changes = decide(&catalog.definitions)?;
            if changes.is_empty() {
                return Ok(None);
            }
            self.check_definitions(&catalog.definitions, &changes)?;
            changes
        };
        let logged = turn.append(CatalogOperation::Define { changes })?;
        Ok(Some(logged))
    }
}
