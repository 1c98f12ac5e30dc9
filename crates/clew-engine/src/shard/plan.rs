//! What a write comes to before anything of it is logged: whether its condition holds, which number and version it gets, and
//! the document that an update makes. Nothing changes here, so that several writes can be planned and then logged as one.

use std::time::Duration;

use clew_log::Glsn;
use clew_schema::DocumentError;

use super::apply::{Prepare, ShardAction, ShardWrite, ShardWritten, Target};
use super::document::Row;
use super::prepared::Prepared;
use super::writer::{ById, Current, DocumentPlace, Writer};
use crate::base::error::EngineError;
use crate::base::operation::{Body, DocumentOperation, encode_head};
use crate::base::write_request::{Condition, OpType, PRIMARY_TERM, UpdateSpec, WriteResult};
use crate::shard::update::{Merged, merge_source};

/// What a write comes to.
#[allow(
    clippy::large_enum_variant,
    reason = "few writes do nothing, and a box for each of a bulk's costs more than it saves"
)]
pub(crate) enum Plan {
    /// Something to log, and to apply then.
    Logged(Planned),
    /// Nothing is logged, but what was seen must be durable before it is told.
    Nothing(ShardWritten),
}

/// A write that nothing speaks against.
pub(crate) struct Planned {
    pub(super) row: Row,
    pub(super) does: Does,
    /// The version that is there, and how often buffers had been sealed when that was looked up: a seal moves it.
    pub(super) current: Option<Current>,
    pub(super) seals: u64,
    /// Another write of the same request comes before it, so that what is there is that one's doing.
    pub(super) is_again: bool,
}

/// What is done to the document.
#[allow(clippy::large_enum_variant, reason = "few writes are deletions")]
pub(super) enum Does {
    Index(Prepared),
    Delete { at: Duration },
}

/// What a write finds.
#[derive(Clone, Copy)]
pub(super) struct Was {
    pub(super) current: Option<Current>,
    /// The version that the document has, or had when it was deleted a short time ago.
    pub(super) last: Option<u64>,
}

impl Was {
    /// The version that the document has after a write.
    pub(super) fn next_version(self) -> u64 {
        self.last.unwrap_or(0) + 1
    }
}

/// Writes that are planned and not logged yet.
pub(crate) struct Ahead {
    next_seq_no: u64,
    by_id: ById<Was>,
}

impl Planned {
    /// The beginning of its entry in the log; [`Self::source`] follows.
    pub(crate) fn head(&self) -> Vec<u8> {
        let Row {
            id,
            routing,
            seq_no,
            version,
            ..
        } = &self.row;
        let (body, vectors) = match &self.does {
            Does::Index(document) => {
                let (vectors, source) = (Vec::new(), &*document.source);
                (Body::Index { vectors, source }, document.logged_vectors())
            }
            Does::Delete { .. } => (Body::Delete, Vec::new()),
        };
        let operation = DocumentOperation {
            id,
            routing: routing.as_deref(),
            seq_no: *seq_no,
            version: *version,
            body,
        };
        encode_head(&operation, &vectors)
    }

    /// The end of its entry in the log.
    pub(crate) fn source(&self) -> &[u8] {
        match &self.does {
            Does::Index(document) => &document.source,
            Does::Delete { .. } => &[],
        }
    }

    /// How much of it has to be parsed again when it is applied.
    pub(crate) fn bytes_to_parse(&self) -> usize {
        match &self.does {
            Does::Index(document) if document.is_text() => document.text_bytes(),
            Does::Index(_) | Does::Delete { .. } => 0,
        }
    }

    /// The document that is written, if one is.
    pub(crate) fn document_mut(&mut self) -> Option<&mut Prepared> {
        match &mut self.does {
            Does::Index(document) => Some(document),
            Does::Delete { .. } => None,
        }
    }

    /// What a write of the same document finds behind this one.
    fn leaves(&self) -> Was {
        let Row {
            seq_no, version, ..
        } = self.row;
        // Where it is will be looked up.
        let place = DocumentPlace::Buffer { glsn: Glsn::ZERO };
        let there = matches!(self.does, Does::Index(_));
        Was {
            current: there.then_some(Current {
                seq_no,
                version,
                place,
            }),
            last: Some(version),
        }
    }
}

impl Writer {
    /// Nothing is planned yet.
    pub(crate) fn ahead(&self) -> Ahead {
        Ahead {
            next_seq_no: self.next_seq_no,
            by_id: ById::default(),
        }
    }

    /// Plans a write behind others of a request that are planned already.
    ///
    /// # Errors
    /// Why it cannot be done; so is an update of what the request writes itself, which is nowhere yet.
    pub(crate) fn plan_behind(
        &self,
        ahead: &mut Ahead,
        write: ShardWrite,
        (prepare, now): (&Prepare<'_>, Duration),
    ) -> Result<Plan, EngineError> {
        let earlier = ahead.by_id.get(&write.target.id).copied();
        if earlier.is_some() && matches!(write.action, ShardAction::Update(_)) {
            let id = &write.target.id;
            let reason = format!("[{id}] is updated and written by the same request");
            return Err(EngineError::InvalidRequest { reason });
        }
        let was = match earlier {
            Some(was) => was,
            None => self.was(&write)?,
        };
        let mut plan = self.plan(write, was, (ahead.next_seq_no, now), prepare)?;
        if let Plan::Logged(planned) = &mut plan {
            planned.is_again = earlier.is_some();
            ahead.next_seq_no += 1;
            ahead.by_id.insert(planned.row.id.clone(), planned.leaves());
        }
        Ok(plan)
    }

    /// What there is of a write's document.
    pub(super) fn was(&self, write: &ShardWrite) -> Result<Was, EngineError> {
        let id = &write.target.id;
        let current = if write.fresh_id {
            None
        } else {
            self.current(id)?
        };
        let last = self.last_version(id, current);
        Ok(Was { current, last })
    }

    /// What a write comes to, if it is the next to be logged.
    pub(super) fn plan(
        &self,
        write: ShardWrite,
        was: Was,
        (seq_no, now): (u64, Duration),
        prepare: &Prepare<'_>,
    ) -> Result<Plan, EngineError> {
        let current = was.current;
        // Before anything is numbered or logged: a refused write leaves no trace.
        check_condition(&write, current.as_ref(), was.last)?;
        let ShardWrite {
            target,
            action,
            condition,
            ..
        } = write;
        let version = match condition {
            Some(Condition::External { version, .. }) => version,
            _ => was.next_version(),
        };
        match action {
            ShardAction::Index { document, op_type } => {
                if let (OpType::Create, Some(Current { version, .. })) = (op_type, current) {
                    let reason = format!("document already exists (current version [{version}])");
                    return Err(EngineError::VersionConflict {
                        id: target.id,
                        reason,
                    });
                }
                self.plan_index(target, document, current, (seq_no, version))
            }
            ShardAction::Update(spec) if spec.change.is_some() => {
                self.plan_change(target, &spec, was, (seq_no, now, prepare))
            }
            ShardAction::Update(spec) => self.plan_update(target, &spec, was, (seq_no, prepare)),
            ShardAction::Delete => Ok(self.plan_delete(target, current, (seq_no, version), now)),
        }
    }

    /// A document that is written.
    pub(super) fn plan_index(
        &self,
        target: Target,
        document: Prepared,
        current: Option<Current>,
        numbers: (u64, u64),
    ) -> Result<Plan, EngineError> {
        if let (Some(field), None) = (&document.needs_routing, &target.routing) {
            let source = DocumentError::without_routing(field);
            let id = target.id;
            return Err(EngineError::Document { id, source });
        }
        Ok(self.planned(target, Does::Index(document), current, numbers))
    }

    /// A document that is removed.
    pub(super) fn plan_delete(
        &self,
        target: Target,
        current: Option<Current>,
        numbers: (u64, u64),
        at: Duration,
    ) -> Plan {
        self.planned(target, Does::Delete { at }, current, numbers)
    }

    fn planned(
        &self,
        target: Target,
        does: Does,
        current: Option<Current>,
        numbers: (u64, u64),
    ) -> Plan {
        Plan::Logged(Planned {
            row: Row::of(target, numbers),
            does,
            current,
            seals: self.seals,
            is_again: false,
        })
    }

    fn plan_update(
        &self,
        target: Target,
        spec: &UpdateSpec,
        was: Was,
        (seq_no, prepare): (u64, &Prepare<'_>),
    ) -> Result<Plan, EngineError> {
        let current = was.current;
        let (target, existing) = self.there(target, current)?;
        let merged = merge_source(spec, existing.as_deref(), &self.mapping)?;
        match (merged, current) {
            (Merged::Document(source, vectors), _) => {
                let document = prepare(&target.id, (&source, vectors))?;
                self.plan_index(target, document, current, (seq_no, was.next_version()))
            }
            (Merged::Noop, Some(current)) => Ok(self.plan_nothing(Some(current))),
            (Merged::Noop | Merged::Missing, _) => {
                Err(EngineError::DocumentMissing { id: target.id })
            }
        }
    }

    /// The document stays as it is, or away.
    pub(super) fn plan_nothing(&self, current: Option<Current>) -> Plan {
        Plan::Nothing(ShardWritten {
            version: current.map_or(0, |current| current.version),
            seq_no: current.map_or(0, |current| current.seq_no),
            glsn: self.applied,
            result: WriteResult::Noop,
        })
    }

    /// The version that the document has, or had when it was deleted a short time ago.
    fn last_version(&self, id: &str, current: Option<Current>) -> Option<u64> {
        let last = current.map(|current| current.version);
        last.or_else(|| self.tombstones.get(id).map(|stone| stone.version))
    }
}

fn check_condition(
    write: &ShardWrite,
    current: Option<&Current>,
    last: Option<u64>,
) -> Result<(), EngineError> {
    let reason = match (write.condition, current) {
        (None, _) => return Ok(()),
        // An update needs a document before it needs it in a state.
        (Some(Condition::At { .. }), None) if matches!(write.action, ShardAction::Update(_)) => {
            return Ok(());
        }
        (
            Some(Condition::At {
                seq_no,
                primary_term,
            }),
            current,
        ) => {
            let required = format!("required seqNo [{seq_no}], primary term [{primary_term}].");
            match current {
                Some(current) if current.seq_no == seq_no && primary_term == PRIMARY_TERM => {
                    return Ok(());
                }
                Some(Current { seq_no, .. }) => format!(
                    "{required} current document has seqNo [{seq_no}] and primary term \
                     [{PRIMARY_TERM}]"
                ),
                None => format!("{required} but no document was found"),
            }
        }
        (Some(Condition::Version { version }), current) => match current {
            Some(current) if current.version == version => return Ok(()),
            Some(current) => format!(
                "current version [{}] is different than the one provided [{version}]",
                current.version
            ),
            None => format!("document does not exist (expected version [{version}])"),
        },
        (Some(Condition::External { version, or_equal }), _) => match last {
            Some(last) if or_equal && last > version => {
                format!("current version [{last}] is higher than the one provided [{version}]")
            }
            Some(last) if !or_equal && last >= version => format!(
                "current version [{last}] is higher or equal to the one provided [{version}]"
            ),
            _ => return Ok(()),
        },
    };
    Err(EngineError::VersionConflict {
        id: write.target.id.clone(),
        reason,
    })
}
