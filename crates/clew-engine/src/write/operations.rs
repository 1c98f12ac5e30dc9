//! The way of a write: index and shard, mapping check, number, log, buffer; and the wait for
//! durability before anything is acknowledged.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use clew_log::Glsn;
use clew_profile::Spent;

use crate::base::access::Access;
use crate::base::error::EngineError;
use crate::base::operation::ROUTING_BYTES_MAX;
use crate::base::phase::{Phase, in_span};
use crate::base::settings::TranslogDurability;
use crate::base::write_request::{Action, OpType, WriteOperation};
use crate::index::handle::{Index, count_write};
use crate::index::write_outcome::{TouchedShard, WriteOutcome, Written};
use crate::node::destination::Destination;
use crate::node::engine::{Engine, Inner};
use crate::shard::{
    CopyMemory, Prepared, Shard, ShardAction, ShardWrite, ShardWritten, Target, Text,
};
use crate::write::batches::{Chunk, ShardBatches, next_free, put_by_shard};
use crate::write::watched::Watch;

impl Engine {
    /// Does a list of writes, in order for each document. The results may be told to a client
    /// only after [`Engine::durable`]. Blocks for CPU and for the log's back-pressure, not for
    /// the disk.
    pub fn write(&self, access: &Access, operations: Vec<WriteOperation>) -> WriteOutcome {
        self.inner
            .write(Destination::Named(access), operations, &|| None)
    }

    /// The same to indexes that were found before, by the names that they had then: one that was deleted meanwhile is
    /// missing, whoever has its name now. Other names mean what they mean to everybody.
    pub fn write_found(
        &self,
        access: &Access,
        found: &BTreeMap<String, Arc<Index>>,
        operations: Vec<WriteOperation>,
    ) -> WriteOutcome {
        self.inner
            .write(Destination::Found(access, found), operations, &|| None)
    }

    /// The same as [`Engine::write`] until somebody ends it: operations that are not begun by then get the error that `ended` has for them,
    /// which is asked before each some hundred of them.
    pub fn write_until(
        &self,
        access: &Access,
        operations: Vec<WriteOperation>,
        ended: &dyn Fn() -> Option<EngineError>,
    ) -> WriteOutcome {
        self.inner
            .write(Destination::Named(access), operations, ended)
    }

    /// Waits until writes are as durable as their indexes ask for. A request whose spans somebody wants is told which
    /// shards were written to when, and how long the log was waited for.
    ///
    /// # Errors
    /// When the log lost its disk: nothing of the outcome may be acknowledged.
    pub async fn durable(&self, outcome: &WriteOutcome) -> Result<(), EngineError> {
        if let Some(trace) = Spent::recorded() {
            for touched in &outcome.touched {
                let place = (touched.index.name(), touched.shard);
                touched.phase.tell(&trace, "write", place, None);
            }
        }
        let Some(last) = outcome.last else {
            return Ok(());
        };
        let durability = Inner::log_durability(outcome.durability);
        let log = &self.inner.log;
        let durable = log.wait_async_in(outcome.life, last, durability);
        let durable = in_span(&*self.inner.clock, "durable", Vec::new, durable).await;
        durable.inspect_err(|_| self.inner.log_refused())?;
        Ok(())
    }
}

impl Inner {
    pub(crate) fn write(
        &self,
        destination: Destination<'_>,
        operations: Vec<WriteOperation>,
        ended: &dyn Fn() -> Option<EngineError>,
    ) -> WriteOutcome {
        if self.space.is_blocked() {
            // Whoever comes back after a while should not wait for the next look by the clock.
            self.look_at_disk();
        }
        let mut results: Vec<Option<Result<Written, EngineError>>> = Vec::new();
        results.resize_with(operations.len(), || None);
        let mut touched: BTreeMap<(String, u32), TouchedShard> = BTreeMap::new();
        // Before anything is prepared: it may lean on what a failure of the log takes back.
        let life = self.log.life();
        self.make_beforehand(destination, &operations);
        let mut position = 0;
        let mut operations = operations.into_iter().peekable();
        while operations.peek().is_some() {
            if ended().is_some() {
                for result in results.iter_mut().skip(position) {
                    *result = Some(Err(ended().unwrap_or(EngineError::Closed)));
                }
                break;
            }
            let mut shards = ShardBatches::new();
            let mut chunk = Chunk::default();
            while let Some(operation) = operations.next_if(|next| chunk.takes(next)) {
                match self.prepare(destination, operation) {
                    Err(error) => results[position] = Some(Err(error)),
                    Ok(prepared) => {
                        chunk.brings(prepared.1.copies_bytes());
                        put_by_shard(&mut shards, position, prepared);
                    }
                }
                position += 1;
            }
            let mut batches: Vec<_> = shards.into_iter().collect();
            while let Some((key, (index, writes))) = next_free(&mut batches) {
                let (began, since) = (self.clock.since_epoch(), self.clock.monotonic());
                let to = (&index, destination);
                self.write_shard(to, key.1, (life, writes), &mut results);
                let took = self.clock.monotonic().saturating_sub(since);
                let shard = key.1;
                let touched = touched.entry(key).or_insert_with(|| TouchedShard {
                    index,
                    shard,
                    phase: Phase {
                        began,
                        took: Duration::ZERO,
                    },
                });
                touched.phase.took += took;
                // Not once for all of them: each may have begun a buffer.
                self.relieve_buffers(|| self.indices.read().values().cloned().collect());
            }
        }
        let results: Vec<_> = results
            .into_iter()
            .map(|result| result.expect("every operation went to a shard or failed"))
            .collect();
        tell_left_out(&results);
        self.log.hand_over();
        self.signal.wake();
        outcome(results, touched.into_values().collect(), life)
    }

    /// Finds the operation's index and parses its document, taking the time where that is wanted.
    pub(super) fn prepare(
        &self,
        destination: Destination<'_>,
        operation: WriteOperation,
    ) -> Result<(Arc<Index>, ShardWrite, Watch), EngineError> {
        let (index, routing) = self.destined(destination, &operation)?;
        let WriteOperation {
            index: name,
            id,
            action,
            condition,
            ..
        } = operation;
        check_append_only(&index, &name, &action)?;
        let fresh_id = id.is_none();
        let id = match (id, &action) {
            (Some(id), _) => id,
            (None, Action::Index { .. }) => self.ids.next(),
            (None, _) => {
                return Err(EngineError::InvalidRequest {
                    reason: "an id must be provided".into(),
                });
            }
        };
        check_id(&id, index.settings().id_bytes_max, routing.as_deref())?;
        index.check_routing(&id, routing.as_deref())?;
        destination.check_active(&index, routing.as_deref().unwrap_or(&id))?;
        let mut watch = self.watch(&index, &action, routing.as_deref());
        let action = match action {
            Action::Delete => ShardAction::Delete,
            Action::Update(spec) => ShardAction::Update(spec),
            Action::Index {
                source,
                vectors,
                op_type,
            } => {
                let copies = CopyMemory::of_new(&self.memory);
                let document = self.parse(&index, &id, (&source, vectors), copies)?;
                ShardAction::Index { document, op_type }
            }
        };
        if let Some(watch) = &mut watch {
            watch.pause(self.clock.monotonic());
        }
        let write = ShardWrite {
            target: Target { id, routing },
            fresh_id,
            action,
            condition,
        };
        Ok((index, write, watch))
    }

    pub(super) fn parse(
        &self,
        index: &Index,
        id: &str,
        written: Text<'_>,
        copies: CopyMemory<'_>,
    ) -> Result<Prepared, EngineError> {
        let keep = |encoded| self.log_mapping(index, encoded).map(|_| ());
        let mut document = index.prepare(id, written, &keep, copies)?;
        let stored = document.store_queries(self.options.query_reader);
        let settings = index.settings();
        let timed = |()| match &settings.time_field {
            Some(field) => document.check_time(field),
            None => Ok(()),
        };
        stored
            .and_then(timed)
            .map_err(|source| EngineError::Document {
                id: id.to_string(),
                source,
            })?;
        Ok(document)
    }

    fn write_shard(
        &self,
        (index, destination): (&Arc<Index>, Destination<'_>),
        number: u32,
        (life, writes): (u64, Vec<(usize, ShardWrite, Watch)>),
        results: &mut [Option<Result<Written, EngineError>>],
    ) {
        let shard = &index.shards[number as usize];
        let now = self.clock.monotonic();
        let prepare = |id: &str, written: Text<'_>| {
            self.parse(index, id, written, CopyMemory::of_new(&self.memory))
        };
        let seat = shard.seat();
        let (mut writer, mut group) = match self.begin(shard, (life, now)) {
            Ok(begun) => begun,
            Err(reason) => return refuse(writes, results, || refused(index, shard, &reason)),
        };
        let _applying = shard.applying();
        let bytes: u64 = writes.iter().map(|(_, write, _)| write.bytes()).sum();
        writer.expect(writes.len(), bytes);
        for (position, write, mut watch) in writes {
            let bytes = write.bytes();
            // Under the lock: whoever has blocked or closed the index sees all that it will ever hold, in a copy of it too.
            let room = (&*writer, &mut group.room);
            let taken = destination
                .check_taken(index)
                .and_then(|()| self.check_room(index, shard, room, (1, bytes)));
            if let Err(refused) = taken {
                results[position] = Some(Err(refused));
                continue;
            }
            let id = write.target.id.clone();
            if let Some(watch) = &mut watch {
                watch.resume(self.clock.monotonic());
            }
            // One that fails in the middle leaves the shard behind the log: nothing follows it.
            let written = shard
                .check_sound()
                .and_then(|()| writer.write(write, &prepare, now))
                .map_err(|error| shard.told(error));
            let written = written.map(|written| {
                count_write(shard, written.result);
                if let Some(mut watch) = watch {
                    watch.pause(self.clock.monotonic());
                    group.watches.push((position, watch));
                }
                numbered(index, (number, id), written)
            });
            group.log_refused |= matches!(written, Err(EngineError::Log(_)));
            results[position] = Some(written);
        }
        let left = self.leave((index, shard), (writer, seat), group);
        self.end((index, number), left.fill(shard), results);
    }
}

/// What a client is told of a write, as far as it is known when the write is logged.
pub(super) fn numbered(
    index: &Arc<Index>,
    (shard, id): (u32, String),
    written: ShardWritten,
) -> Written {
    let ShardWritten {
        version,
        seq_no,
        glsn,
        result,
    } = written;
    Written {
        index: index.clone(),
        id,
        version,
        seq_no,
        shard,
        glsn,
        result,
        left_out: false,
        slow: None,
    }
}

/// Says in the log that documents are not found by all of their words.
pub(super) fn tell_left_out(results: &[Result<Written, EngineError>]) {
    let mut left_out = results.iter().flatten().filter(|written| written.left_out);
    if let Some(first) = left_out.next() {
        let (index, id, documents) = (first.index.name(), &first.id, 1 + left_out.count());
        tracing::warn!(%index, %id, documents, "an analyzer has left words out of documents");
    }
}

/// What is written through the name of a data stream is only ever added.
fn check_append_only(index: &Index, name: &str, action: &Action) -> Result<(), EngineError> {
    let create = matches!(
        action,
        Action::Index {
            op_type: OpType::Create,
            ..
        }
    );
    if create || index.data_stream().as_deref() != Some(name) {
        return Ok(());
    }
    Err(EngineError::InvalidRequest {
        reason: "only write ops with an op_type of create are allowed in data streams".into(),
    })
}

fn check_id(id: &str, id_bytes_max: usize, routing: Option<&str>) -> Result<(), EngineError> {
    let routing_bytes = routing.map_or(0, str::len);
    let reason = if id.is_empty() {
        "if _id is specified it must not be empty".to_string()
    } else if id.len() > id_bytes_max {
        let len = id.len();
        format!("id [{id}] is too long, must be no longer than {id_bytes_max} bytes but was: {len}")
    } else if routing_bytes > ROUTING_BYTES_MAX {
        format!(
            "routing is too long, must be no longer than {ROUTING_BYTES_MAX} bytes but was: {routing_bytes}"
        )
    } else {
        return Ok(());
    };
    Err(EngineError::InvalidRequest { reason })
}

pub(super) fn outcome(
    results: Vec<Result<Written, EngineError>>,
    touched: Vec<TouchedShard>,
    life: u64,
) -> WriteOutcome {
    let written = || results.iter().flatten();
    let last: Option<Glsn> = written().map(|written| written.glsn).max();
    let strict =
        written().any(|written| written.index.settings().durability == TranslogDurability::Request);
    let durability = if strict {
        TranslogDurability::Request
    } else {
        TranslogDurability::Async
    };
    WriteOutcome {
        results,
        last,
        life,
        touched,
        durability,
    }
}

/// Tells the same of all writes to a shard.
fn refuse(
    writes: Vec<(usize, ShardWrite, Watch)>,
    results: &mut [Option<Result<Written, EngineError>>],
    error: impl Fn() -> EngineError,
) {
    for (position, ..) in writes {
        results[position] = Some(Err(error()));
    }
}

/// Why a shard that takes nothing refuses a write.
pub(super) fn refused(index: &Index, shard: &Shard, reason: &str) -> EngineError {
    match shard.is_retired() {
        true => EngineError::IndexNotFound {
            index: index.name().to_string(),
        },
        false => shard.failed(reason),
    }
}
