//! What an update would write, for whoever changes that before it is written: it becomes the write of a document then,
//! which is done as long as nobody was faster.

use crate::base::access::Access;
use crate::base::date_names::resolve_date;
use crate::base::error::EngineError;
use crate::base::write_request::{Action, Changed, DocumentNow, Freshness, WriteOperation};
use crate::node::engine::Engine;
use crate::shard::update::{Merged, merge_source, where_absent};

/// What an update would do to its document.
#[derive(Clone, Debug)]
pub struct Foreseen {
    /// What would become of it.
    pub changed: Changed,
    /// The sequence number of its last write; none where there is no document.
    pub seq_no: Option<u64>,
    /// What it stays routed by; that of the update where there is no document.
    pub routing: Option<String>,
}

impl Engine {
    /// What an update would do as its document is just now; nothing is written, and no index made. Vectors that the update
    /// has beside its JSON are not in what it tells, and what is no update does nothing here. Costs a read of the document.
    ///
    /// # Errors
    /// As the write itself: the access, the index, the routing key, or the update's own reasons.
    pub fn foresee_update(
        &self,
        access: &Access,
        operation: &WriteOperation,
    ) -> Result<Foreseen, EngineError> {
        let (Action::Update(spec), Some(id)) = (&operation.action, &operation.id) else {
            return Ok(Foreseen {
                changed: Changed::Nothing,
                seq_no: None,
                routing: operation.routing.clone(),
            });
        };
        let name = resolve_date(&operation.index, || self.inner.now_ms())?;
        let target = (&*name, operation.routing.clone());
        let (index, routing) = match self.inner.write_index(target, access) {
            Ok((index, routing)) => (Some(index), routing),
            Err(EngineError::IndexNotFound { .. }) => (None, operation.routing.clone()),
            Err(error) => return Err(error),
        };
        let there = match &index {
            Some(index) => self.find(index, id, routing.as_deref(), Freshness::Latest)?,
            None => None,
        };
        let seq_no = there.as_ref().map(|there| there.seq_no);
        let kept = match &there {
            Some(there) => there.routing.clone(),
            None => operation.routing.clone(),
        };
        if let Some(change) = &spec.change {
            let now = there.as_ref().map(|there| DocumentNow {
                version: there.version,
                routing: there.routing.as_deref(),
                source: &there.source,
            });
            let changed = change.change(id, now, spec.upsert.as_deref())?;
            return Ok(Foreseen {
                changed,
                seq_no,
                routing: kept,
            });
        }
        let merged = match (&index, &there) {
            (Some(index), Some(there)) => {
                merge_source(spec, Some(&there.source), &index.mapping())?
            }
            _ => where_absent(spec)?,
        };
        let changed = match merged {
            Merged::Document(source, _) => Changed::Document(source),
            Merged::Noop => Changed::Nothing,
            Merged::Missing => Changed::Missing,
        };
        Ok(Foreseen {
            changed,
            seq_no,
            routing: kept,
        })
    }
}
