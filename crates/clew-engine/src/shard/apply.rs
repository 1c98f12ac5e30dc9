//! What a write does under the shard's lock once it is planned: it is appended to the log, and a place found for its document in
//! a buffer. Replay enters at the last step.

use std::time::Duration;

use clew_log::{AppendOptions, Durability, Glsn, NewEntry};
use clew_platform::Reservation;
use clew_query::index_reason;
use clew_schema::{FieldId, Mapping, NestedObject, VectorValue};
use tantivy::schema::OwnedValue;

use super::document::{Row, SegmentDocument};
use super::plan::{Does, Plan, Planned};
use super::prepared::Prepared;
use super::writer::{Buffered, Current, DocumentPlace, Fullness, Tombstone, Writer};
use crate::base::error::EngineError;
use crate::base::operation::DocumentOperation;
use crate::base::write_request::{Condition, OpType, UpdateSpec, WriteResult};

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
            ShardAction::Index { document, .. } => document.text_bytes(),
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

    /// What is booked for values of its document in further fields.
    pub(crate) fn copies_bytes(&self) -> usize {
        match &self.action {
            ShardAction::Index { document, .. } => {
                document.copies.as_ref().map_or(0, Reservation::bytes)
            }
            ShardAction::Update(_) | ShardAction::Delete => 0,
        }
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

/// How operations are appended: the group is written and synced once, when its last position is waited for.
pub(crate) fn logged() -> AppendOptions {
    AppendOptions {
        durability: Durability::Os,
        more_follows: true,
        ..AppendOptions::default()
    }
}

impl Writer {
    /// Does one write. It is acknowledged only when the log is durable at the position returned.
    pub(crate) fn write(
        &mut self,
        write: ShardWrite,
        prepare: &Prepare<'_>,
        now: Duration,
    ) -> Result<ShardWritten, EngineError> {
        let was = self.was(&write)?;
        match self.plan(write, was, (self.next_seq_no, now), prepare)? {
            Plan::Nothing(written) => Ok(written),
            Plan::Logged(planned) => {
                let head = planned.head();
                let bytes = head.len() + planned.source().len();
                let parts: [&[u8]; 2] = [&head, planned.source()];
                let entry = NewEntry::new(self.stream, &parts);
                let appended = self.log.append(&[entry], logged())?;
                self.put(planned, (appended.first, bytes), prepare)
            }
        }
    }

    /// Applies a write that the log has taken at a position, with so many bytes. A document of which only the text was kept is
    /// parsed for it.
    pub(crate) fn put(
        &mut self,
        planned: Planned,
        (glsn, bytes): (Glsn, usize),
        prepare: &Prepare<'_>,
    ) -> Result<ShardWritten, EngineError> {
        let Planned {
            row,
            does,
            current,
            seals,
            is_again,
        } = planned;
        let (version, seq_no) = (row.version, row.seq_no);
        // Only now: a refused append has taken no number, and replay takes a gap for lost operations.
        self.unflushed_bytes += bytes as u64;
        self.unflushed_operations += 1;
        self.next_seq_no = seq_no + 1;
        let has_moved = is_again || seals != self.seals;
        let current = match has_moved {
            true => self
                .current(&row.id)
                .inspect_err(|error| self.fail(error))?,
            false => current,
        };
        let result = match (&does, current.is_some()) {
            (Does::Index(_), true) => WriteResult::Updated,
            (Does::Index(_), false) => WriteResult::Created,
            (Does::Delete { .. }, true) => WriteResult::Deleted,
            (Does::Delete { .. }, false) => WriteResult::NotFound,
        };
        match does {
            Does::Index(document) => {
                let document = match document.is_text() {
                    true => self.parsed_again(&row.id, document, prepare)?,
                    false => document,
                };
                self.apply_index(row, document, current, glsn)?;
            }
            Does::Delete { at } => {
                let tombstone = Tombstone { version, at };
                self.apply_delete(row.id, tombstone, current, glsn);
            }
        }
        Ok(ShardWritten {
            version,
            seq_no,
            glsn,
            result,
        })
    }

    fn parsed_again(
        &self,
        id: &str,
        document: Prepared,
        prepare: &Prepare<'_>,
    ) -> Result<Prepared, EngineError> {
        let (source, vectors) = document.into_text();
        // The log has it: should it not be taken now, memory lacks it.
        prepare(id, (&source, vectors)).inspect_err(|error| self.fail(error))
    }

    /// Puts the documents in that have their places, and makes segments of buffers that are too full: for groups that are more
    /// than a buffer holds.
    pub(crate) fn settle(&mut self) -> Result<(), EngineError> {
        let settled = self.end_turn().and_then(|left_out| {
            self.left_out.extend(left_out);
            match self.fullness() {
                Fullness::IsOver => self.seal(),
                Fullness::HasRoom | Fullness::IsDue => Ok(()),
            }
        });
        settled.map_err(|source| {
            self.fail(&index_reason(&source));
            self.tantivy_error(source)
        })
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
        let target = Target {
            id: operation.id.to_string(),
            routing: operation.routing.map(str::to_string),
        };
        match document {
            Some(document) => {
                let row = Row::of(target, (seq_no, version));
                self.apply_index(row, document, current, glsn)?;
                let ended = self.end_turn();
                ended.map(drop).map_err(|source| self.tantivy_error(source))
            }
            None => {
                // When it was deleted is not logged; remembering it longer than before harms nobody.
                self.apply_delete(target.id, Tombstone { version, at: now }, current, glsn);
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
                self.fail(&index_reason(&source));
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
            copies,
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
            copies,
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
        copies: None,
    }
}
