//! What a write does under the shard's lock: check its condition, number it, append it to the log, and find a place for its
//! document in a buffer. Replay enters at the last step.

use std::time::Duration;

use clew_log::{AppendOptions, Durability, Glsn, NewEntry};
use clew_schema::{DocumentError, FieldId, Mapping, NestedObject, VectorValue};
use tantivy::schema::OwnedValue;

use super::document::{Row, SegmentDocument};
use super::prepared::Prepared;
use super::writer::{Buffered, Current, DocumentPlace, Fullness, Tombstone, Writer};
use crate::base::error::EngineError;
use crate::base::operation::{Body, DocumentOperation, encode_head};
use crate::base::write_request::{Condition, OpType, PRIMARY_TERM, UpdateSpec, WriteResult};
use crate::shard::update::{Merged, merge_source};

/// Which document a write is about.
pub(crate) struct Target {
    pub(crate) id: String,
    pub(crate) routing: Option<String>,
}

/// One write to a shard.
pub(crate) struct ShardWrite {
    pub(crate) target: Target,
    /// The id was generated just now, so no other document can have it.
    pub(crate) fresh_id: bool,
    pub(crate) action: ShardAction,
    pub(crate) condition: Option<Condition>,
}

impl ShardWrite {
    /// About how many bytes it brings.
    pub(crate) fn bytes(&self) -> u64 {
        let body = match &self.action {
            ShardAction::Index { document, .. } => {
                let vectors = document.vectors.iter().chain(&document.object_vectors);
                let vectors = vectors.map(|(_, vector)| vector.bytes());
                document.source.len() + vectors.sum::<usize>()
            }
            ShardAction::Update(spec) => {
                let bodies = [&spec.doc, &spec.upsert, &spec.defaults];
                let bytes = bodies.into_iter().flatten().map(bytes::Bytes::len);
                let vectors = spec.vectors.iter().map(|(_, vector)| vector.bytes());
                bytes.chain(vectors).sum()
            }
            ShardAction::Delete => 0,
        };
        (body + self.target.id.len()) as u64
    }
}

/// What a write does to its document.
pub(crate) enum ShardAction {
    Index { document: Prepared, op_type: OpType },
    Update(UpdateSpec),
    Delete,
}

/// What a write did.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShardWritten {
    pub(crate) version: u64,
    pub(crate) seq_no: u64,
    pub(crate) glsn: Glsn,
    pub(crate) result: WriteResult,
}

/// A document's text, and the vectors that came beside it.
pub(crate) type Text<'a> = (&'a [u8], Vec<(FieldId, VectorValue)>);

/// Parses a document that came out of an update; may let the mapping grow.
pub(crate) type Prepare<'a> = dyn Fn(&str, Text<'_>) -> Result<Prepared, EngineError> + 'a;

impl Writer {
    /// Does one write. It is acknowledged only when the log is durable at the position returned.
    pub(crate) fn write(
        &mut self,
        write: ShardWrite,
        prepare: &Prepare<'_>,
        now: Duration,
    ) -> Result<ShardWritten, EngineError> {
        let current = if write.fresh_id {
            None
        } else {
            self.current(&write.target.id)?
        };
        let last = self.last_version(&write.target.id, current);
        // Before anything is numbered or logged: a refused write leaves no trace.
        check_condition(&write, current.as_ref(), last)?;
        let ShardWrite {
            target,
            action,
            condition,
            ..
        } = write;
        let version = match condition {
            Some(Condition::External { version, .. }) => version,
            _ => last.unwrap_or(0) + 1,
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
                self.index(target, document, current, version)
            }
            ShardAction::Update(spec) if spec.change.is_some() => {
                self.change(target, &spec, current, (prepare, now))
            }
            ShardAction::Update(spec) => self.update(target, &spec, current, prepare),
            ShardAction::Delete => self.delete(target, current, Tombstone { version, at: now }),
        }
    }

    pub(super) fn index(
        &mut self,
        target: Target,
        document: Prepared,
        current: Option<Current>,
        version: u64,
    ) -> Result<ShardWritten, EngineError> {
        let seq_no = self.next_seq_no;
        let Target { id, routing } = target;
        if let (Some(field), None) = (&document.needs_routing, &routing) {
            let source = DocumentError::without_routing(field);
            return Err(EngineError::Document { id, source });
        }
        let row = Row {
            id,
            routing,
            seq_no,
            version,
            nested: None,
        };
        let operation = DocumentOperation {
            id: &row.id,
            routing: row.routing.as_deref(),
            seq_no,
            version,
            body: Body::Index {
                vectors: Vec::new(),
                source: &document.source,
            },
        };
        let head = encode_head(&operation, &document.logged_vectors());
        let glsn = self.append(&[&head, &document.source])?;
        let result = if current.is_some() {
            WriteResult::Updated
        } else {
            WriteResult::Created
        };
        self.apply_index(row, document, current, glsn)?;
        Ok(ShardWritten {
            version,
            seq_no,
            glsn,
            result,
        })
    }

    fn update(
        &mut self,
        target: Target,
        spec: &UpdateSpec,
        current: Option<Current>,
        prepare: &Prepare<'_>,
    ) -> Result<ShardWritten, EngineError> {
        let (target, existing) = self.there(target, current)?;
        let merged = merge_source(spec, existing.as_deref(), &self.mapping)?;
        match (merged, current) {
            (Merged::Document(source, vectors), _) => {
                let document = prepare(&target.id, (&source, vectors))?;
                let last = self.last_version(&target.id, current);
                self.index(target, document, current, last.unwrap_or(0) + 1)
            }
            (
                Merged::Noop,
                Some(Current {
                    seq_no, version, ..
                }),
            ) => {
                // Nothing is logged, but what was seen must be durable before it is told.
                let (glsn, result) = (self.applied, WriteResult::Noop);
                Ok(ShardWritten {
                    version,
                    seq_no,
                    glsn,
                    result,
                })
            }
            (Merged::Noop | Merged::Missing, _) => {
                Err(EngineError::DocumentMissing { id: target.id })
            }
        }
    }

    pub(super) fn delete(
        &mut self,
        target: Target,
        current: Option<Current>,
        tombstone: Tombstone,
    ) -> Result<ShardWritten, EngineError> {
        let Target { id, routing } = target;
        let (seq_no, version) = (self.next_seq_no, tombstone.version);
        let routing = routing.as_deref();
        let operation = DocumentOperation {
            id: &id,
            routing,
            seq_no,
            version,
            body: Body::Delete,
        };
        let glsn = self.append(&[&encode_head(&operation, &[])])?;
        let result = if current.is_some() {
            WriteResult::Deleted
        } else {
            WriteResult::NotFound
        };
        self.apply_delete(id, tombstone, current, glsn);
        Ok(ShardWritten {
            version,
            seq_no,
            glsn,
            result,
        })
    }

    /// The version that the document has, or had when it was deleted a short time ago.
    pub(super) fn last_version(&self, id: &str, current: Option<Current>) -> Option<u64> {
        let last = current.map(|current| current.version);
        last.or_else(|| self.tombstones.get(id).map(|stone| stone.version))
    }

    fn append(&mut self, parts: &[&[u8]]) -> Result<Glsn, EngineError> {
        let entry = NewEntry::new(self.stream, parts);
        // The group is written and synced once, when its last position is waited for.
        let options = AppendOptions {
            durability: Durability::Os,
            more_follows: true,
            ..AppendOptions::default()
        };
        let appended = self.log.append(&[entry], options)?;
        // Only now: a refused append has taken no number, and replay takes a gap for lost operations.
        self.unflushed_bytes += parts.iter().map(|part| part.len() as u64).sum::<u64>();
        self.unflushed_operations += 1;
        self.next_seq_no += 1;
        Ok(appended.first)
    }

    /// Applies an operation read back from the log.
    pub(super) fn replay(
        &mut self,
        operation: &DocumentOperation<'_>,
        document: Option<Prepared>,
        glsn: Glsn,
        now: Duration,
    ) -> Result<(), EngineError> {
        let DocumentOperation {
            seq_no, version, ..
        } = *operation;
        // Numbers have no gaps: what is between the two is neither in the segments nor in the log.
        if seq_no != self.next_seq_no {
            let next = self.next_seq_no;
            let reason = format!("operation [{seq_no}] of a shard follows, [{next}] is due");
            return Err(EngineError::Corrupt {
                path: "log".into(),
                reason,
            });
        }
        if self.fullness() != Fullness::HasRoom {
            let sealed = self.seal();
            sealed.map_err(|source| self.tantivy_error(source))?;
        }
        let current = self.current(operation.id)?;
        self.next_seq_no = seq_no + 1;
        let (id, routing) = (
            operation.id.to_string(),
            operation.routing.map(str::to_string),
        );
        match document {
            Some(document) => {
                let row = Row {
                    id,
                    routing,
                    seq_no,
                    version,
                    nested: None,
                };
                self.apply_index(row, document, current, glsn)?;
                let ended = self.end_turn();
                ended.map(drop).map_err(|source| self.tantivy_error(source))
            }
            None => {
                // When it was deleted is not logged; remembering it longer than before harms nobody.
                self.apply_delete(id, Tombstone { version, at: now }, current, glsn);
                Ok(())
            }
        }
    }

    fn apply_index(
        &mut self,
        row: Row,
        document: Prepared,
        current: Option<Current>,
        glsn: Glsn,
    ) -> Result<(), EngineError> {
        // The log has the operation: from here on an error means that the buffer lacks it.
        self.try_apply_index(row, document, current, glsn)
            .map_err(|source| {
                self.fail(&source);
                self.tantivy_error(source)
            })
    }

    fn try_apply_index(
        &mut self,
        row: Row,
        document: Prepared,
        current: Option<Current>,
        glsn: Glsn,
    ) -> tantivy::Result<()> {
        // Adopting a mapping seals the buffer, which moves the current version: kill it first.
        self.kill(&row.id, current);
        self.adopt(&document.mapping)?;
        self.tombstones.remove(&row.id);
        let Prepared {
            mut fields,
            vectors,
            source,
            nested,
            id_fields,
            ..
        } = document;
        let ids = std::iter::once(Mapping::ID).chain(id_fields);
        fields.extend(ids.map(|field| (field, OwnedValue::Str(row.id.clone()))));
        // Nested objects come right before their document: a block of rows that lives and dies as a whole.
        let objects = nested.into_iter().map(|object| nested_row(object, &row));
        let objects: Vec<SegmentDocument> = objects.collect();
        let (id, seq_no, version) = (row.id.clone(), row.seq_no, row.version);
        let document = SegmentDocument {
            fields,
            source,
            vectors,
            row,
        };
        let (first, doc, buffer) = self.place(objects, document)?;
        let buffered = Buffered {
            buffer,
            first,
            doc,
            glsn,
            seq_no,
            version,
        };
        self.buffered.insert(id, buffered);
        self.advance(glsn);
        Ok(())
    }

    fn apply_delete(
        &mut self,
        id: String,
        tombstone: Tombstone,
        current: Option<Current>,
        glsn: Glsn,
    ) {
        self.kill(&id, current);
        self.tombstones.insert(id, tombstone);
        self.advance(glsn);
    }

    fn advance(&mut self, glsn: Glsn) {
        assert!(
            glsn > self.applied,
            "operations are applied in the log's order"
        );
        self.applied = glsn;
        self.first_invisible.get_or_insert(glsn);
    }

    fn kill(&mut self, id: &str, current: Option<Current>) {
        match current.map(|current| current.place) {
            None => {}
            Some(DocumentPlace::Segment { position, doc }) => self.segments[position].kill(doc),
            Some(DocumentPlace::Buffer { .. }) => {
                // Of one id at most one document lives.
                if let Some(dying) = self.buffered.remove(id) {
                    let dead = &mut self.buffers[dying.buffer].dead;
                    dead.extend(dying.first..=dying.doc);
                } else if let Some(sealing) = &mut self.sealing {
                    sealing.kill(id);
                }
            }
        }
    }
}

/// A nested object of the document whose row is given, which follows.
fn nested_row(object: NestedObject, row: &Row) -> SegmentDocument {
    let NestedObject {
        path,
        fields,
        vectors,
    } = object;
    let row = Row {
        id: String::new(),
        routing: None,
        seq_no: row.seq_no,
        version: row.version,
        nested: Some(path),
    };
    SegmentDocument {
        fields,
        source: Vec::new(),
        vectors,
        row,
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
