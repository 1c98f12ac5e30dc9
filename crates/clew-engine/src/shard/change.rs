//! Updates that say themselves what becomes of a document.

use std::time::Duration;

use super::apply::{Prepare, ShardWritten, Target};
use super::writer::{Current, Tombstone, Writer};
use crate::base::error::EngineError;
use crate::base::write_request::{Changed, DocumentNow, UpdateSpec, WriteResult};

impl Writer {
    /// Asks an update what becomes of a document, and does it.
    pub(super) fn change(
        &mut self,
        target: Target,
        spec: &UpdateSpec,
        current: Option<Current>,
        (prepare, now): (&Prepare<'_>, Duration),
    ) -> Result<ShardWritten, EngineError> {
        let (target, source) = self.there(target, current)?;
        let there = current.zip(source.as_deref());
        let there = there.map(|(current, source)| DocumentNow {
            version: current.version,
            routing: target.routing.as_deref(),
            source,
        });
        let changed = match &spec.change {
            Some(change) => change.change(&target.id, there, spec.upsert.as_deref())?,
            None => Changed::Nothing,
        };
        let version = self.last_version(&target.id, current).unwrap_or(0) + 1;
        match changed {
            Changed::Document(source) => {
                let document = prepare(&target.id, (&source, Vec::new()))?;
                self.index(target, document, current, version)
            }
            Changed::Gone if current.is_some() => {
                self.delete(target, current, Tombstone { version, at: now })
            }
            // Nothing is logged, but what was seen must be durable before it is told.
            Changed::Nothing => Ok(ShardWritten {
                version: current.map_or(0, |current| current.version),
                seq_no: current.map_or(0, |current| current.seq_no),
                glsn: self.applied,
                result: WriteResult::Noop,
            }),
            Changed::Gone | Changed::Missing => Err(EngineError::DocumentMissing { id: target.id }),
        }
    }
}
