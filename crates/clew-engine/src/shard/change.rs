//! Updates that say themselves what becomes of a document.

use std::time::Duration;

use super::apply::{Prepare, Target};
use super::plan::{Plan, Was};
use super::writer::Writer;
use crate::base::error::EngineError;
use crate::base::write_request::{Changed, DocumentNow, UpdateSpec};

impl Writer {
    /// Asks an update what becomes of a document.
    pub(super) fn plan_change(
        &self,
        target: Target,
        spec: &UpdateSpec,
        was: Was,
        (seq_no, now, prepare): (u64, Duration, &Prepare<'_>),
    ) -> Result<Plan, EngineError> {
        let current = was.current;
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
        let numbers = (seq_no, was.next_version());
        match changed {
            Changed::Document(source) => {
                let document = prepare(&target.id, (&source, Vec::new()))?;
                self.plan_index(target, document, current, numbers)
            }
            Changed::Gone if current.is_some() => {
                Ok(self.plan_delete(target, current, numbers, now))
            }
            Changed::Nothing => Ok(self.plan_nothing(current)),
            Changed::Gone | Changed::Missing => Err(EngineError::DocumentMissing { id: target.id }),
        }
    }
}
