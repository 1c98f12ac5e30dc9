//! Writes that are one change: all of them are in the log, by one call of it, or none is.
//!
//! The shards that they go to are held together while they are planned, logged and applied, in the order of their names. Nothing
//! is logged before all of them are known to be possible; what the log has taken, a shard that cannot apply it has after it was
//! rebuilt.

use std::collections::BTreeMap;
use std::mem;
use std::sync::Arc;
use std::time::Duration;

use clew_log::{Glsn, NewEntry};
use clew_platform::{MemoryAccount, MemoryPurpose, Reservation};
use parking_lot::MutexGuard;

use crate::base::access::Access;
use crate::base::error::EngineError;
use crate::base::phase::Phase;
use crate::base::waiting::Seat;
use crate::base::write_request::{Action, WriteOperation};
use crate::index::handle::{Index, count_write};
use crate::index::write_outcome::{TouchedShard, WriteOutcome, Written};
use crate::node::destination::Destination;
use crate::node::engine::{Engine, Inner};
use crate::shard::{
    CopyMemory, Plan, Planned, Prepared, Shard, ShardAction, ShardWrite, Text, Writer, logged,
};
use crate::write::batches::{ShardBatches, put_by_shard};
use crate::write::group::{Group, Left};
use crate::write::operations::{numbered, outcome, refused, tell_left_out};
use crate::write::watched::Watch;
use crate::write::write_memory::CHUNK_BYTES;

/// Documents are kept as they were parsed up to this, and as their texts beyond: those are parsed again when they are applied.
const VALUES_BYTES_MAX: usize = 32 << 20;

impl Engine {
    /// Does all of a list of writes, to indexes that were found before as for [`Engine::write_found`], or none of them: after a
    /// crash, too. The outcome may be told to a client only after [`Engine::durable`]. Blocks as [`Engine::write`]. What it
    /// takes beside the operations, texts for the log and what updates read, is booked.
    ///
    /// # Errors
    /// Why one of them cannot be done. When a shard fails while it applies what the log has taken, it may be done all the same.
    pub fn write_as_one(
        &self,
        access: &Access,
        found: &BTreeMap<String, Arc<Index>>,
        operations: Vec<WriteOperation>,
    ) -> Result<WriteOutcome, EngineError> {
        let destination = Destination::Found(access, found);
        self.inner.write_as_one(destination, operations)
    }
}

/// What an entry of the log takes beside its document's text and vectors.
const HEAD_BYTES: usize = 64;

/// Memory of a request until it is written.
struct Kept {
    account: Arc<MemoryAccount>,
    memory: Reservation,
    values_bytes: usize,
}

impl Kept {
    /// Books what the log takes of the operations beside the texts that they are: ids, and vectors as it stores them.
    fn new(
        account: &Arc<MemoryAccount>,
        operations: &[WriteOperation],
    ) -> Result<Self, EngineError> {
        let mut memory = account.open(MemoryPurpose::Operations);
        memory.grow(operations.iter().map(head_bytes).sum())?;
        Ok(Kept {
            account: account.clone(),
            memory,
            values_bytes: 0,
        })
    }

    /// Keeps a document's values where there is room for them, and its text alone where there is none. They have at most half of
    /// what there is, so that those who must have some find it.
    fn keep(&mut self, document: &mut Prepared) {
        let bytes = document.values_bytes();
        let figures = self.account.figures(MemoryPurpose::Operations);
        let fits = self.values_bytes.saturating_add(bytes) <= VALUES_BYTES_MAX
            && figures.used.saturating_add(bytes) <= figures.limit / 2;
        if fits && self.memory.grow(bytes).is_ok() {
            self.values_bytes += bytes;
        } else {
            document.keep_text();
        }
    }

    /// The same for a document that an update has made, of which nobody has booked what it is and what the log takes.
    fn keep_made(&mut self, document: &mut Prepared) -> Result<(), EngineError> {
        self.memory.grow(document.text_bytes().saturating_mul(2))?;
        self.keep(document);
        Ok(())
    }
}

fn head_bytes(operation: &WriteOperation) -> usize {
    let vectors: usize = match &operation.action {
        Action::Index { vectors, .. } => vectors.iter().map(|(_, vector)| vector.bytes()).sum(),
        // Of an update it is known when it is made.
        Action::Update(_) | Action::Delete => 0,
    };
    let id = operation.id.as_ref().map_or(0, String::len);
    HEAD_BYTES.saturating_add(id).saturating_add(vectors)
}

/// A shard that a part of the request goes to.
struct Part<'e> {
    index: &'e Arc<Index>,
    number: u32,
    shard: &'e Shard,
    writer: MutexGuard<'e, Writer>,
    seat: Seat<'e>,
    group: Group,
    steps: Vec<Step>,
}

/// A write that is planned.
struct Step {
    /// In the request.
    position: usize,
    id: String,
    plan: Plan,
    watch: Watch,
}

impl Part<'_> {
    /// What is to be logged.
    fn planned(&self) -> impl Iterator<Item = &Planned> {
        self.steps.iter().filter_map(|step| match &step.plan {
            Plan::Logged(planned) => Some(planned),
            Plan::Nothing(_) => None,
        })
    }
}

impl Inner {
    fn write_as_one(
        &self,
        destination: Destination<'_>,
        operations: Vec<WriteOperation>,
    ) -> Result<WriteOutcome, EngineError> {
        if self.space.is_blocked() {
            // Whoever comes back after a while should not wait for the next look by the clock.
            self.look_at_disk();
        }
        // Before anything is prepared: it may lean on what a failure of the log takes back.
        let life = self.log.life();
        let mut results = Vec::new();
        results.resize_with(operations.len(), || None);
        let mut kept = Kept::new(&self.memory, &operations)?;
        let mut shards = ShardBatches::new();
        for (position, operation) in operations.into_iter().enumerate() {
            let (index, mut write, watch) = self.prepare(destination, operation)?;
            if let ShardAction::Index { document, .. } = &mut write.action {
                kept.keep(document);
            }
            put_by_shard(&mut shards, position, (index, write, watch));
        }
        let (places, writes): (Vec<_>, Vec<_>) = shards
            .into_iter()
            .map(|((_, number), (index, writes))| ((index, number), writes))
            .unzip();
        let (began, since) = (self.clock.since_epoch(), self.clock.monotonic());
        let mut parts = self.hold(&places, (life, since))?;
        for (part, writes) in parts.iter_mut().zip(writes) {
            self.plan_part(part, destination, writes, &mut kept)?;
        }
        let applied = self.apply_as_one(parts, &mut results)?;
        drop(kept);
        let took = self.clock.monotonic().saturating_sub(since);
        let touched = places.into_iter().map(|(index, shard)| TouchedShard {
            index,
            shard,
            phase: Phase { began, took },
        });
        let touched = touched.collect();
        self.log.hand_over();
        self.signal.wake();
        applied?;
        let results: Vec<_> = results.into_iter().flatten().collect();
        tell_left_out(&results);
        Ok(outcome(results, touched, life))
    }

    /// Takes the writers of all shards, each once there is a seat for it.
    fn hold<'e>(
        &self,
        places: &'e [(Arc<Index>, u32)],
        begun_at: (u64, Duration),
    ) -> Result<Vec<Part<'e>>, EngineError> {
        let shards = places
            .iter()
            .map(|(index, number)| (index, *number, &*index.shards[*number as usize]));
        let seats: Vec<Seat<'e>> = shards.clone().map(|(_, _, shard)| shard.seat()).collect();
        let mut parts = Vec::with_capacity(places.len());
        for ((index, number, shard), seat) in shards.zip(seats) {
            let begun = self.begin(shard, begun_at);
            let (writer, group) = begun.map_err(|reason| refused(index, shard, &reason))?;
            parts.push(Part {
                index,
                number,
                shard,
                writer,
                seat,
                group,
                steps: Vec::new(),
            });
        }
        Ok(parts)
    }

    /// Finds out what the writes to a shard come to.
    fn plan_part(
        &self,
        part: &mut Part<'_>,
        destination: Destination<'_>,
        writes: Vec<(usize, ShardWrite, Watch)>,
        kept: &mut Kept,
    ) -> Result<(), EngineError> {
        let (index, shard) = (part.index, part.shard);
        // Under the lock: whoever has blocked or closed the index sees all that it will ever hold, in a copy of it too.
        destination.check_taken(index)?;
        let count = writes.len();
        let bytes: u64 = writes.iter().map(|(_, write, _)| write.bytes()).sum();
        let room = &mut part.group.room;
        self.check_room(index, shard, (&part.writer, room), (count as u64, bytes))?;
        part.writer.expect(count, bytes);
        let now = self.clock.monotonic();
        let prepare = |id: &str, written: Text<'_>| {
            self.parse(index, id, written, CopyMemory::of_new(&self.memory))
        };
        let mut ahead = part.writer.ahead();
        part.steps.reserve(count);
        for (position, write, mut watch) in writes {
            if let Some(watch) = &mut watch {
                watch.resume(self.clock.monotonic());
            }
            let id = write.target.id.clone();
            let is_update = matches!(write.action, ShardAction::Update(_));
            let plan = part.writer.plan_behind(&mut ahead, write, (&prepare, now));
            let mut plan = plan.map_err(|error| shard.told(error))?;
            if let Plan::Logged(planned) = &mut plan
                && is_update
                && let Some(document) = planned.document_mut()
            {
                kept.keep_made(document)?;
            }
            if let Some(watch) = &mut watch {
                watch.pause(self.clock.monotonic());
            }
            part.steps.push(Step {
                position,
                id,
                plan,
                watch,
            });
        }
        Ok(())
    }

    /// Logs what is planned, and applies it in all shards. The inner error is of one that the log has taken.
    fn apply_as_one<'e>(
        &self,
        mut parts: Vec<Part<'e>>,
        results: &mut [Option<Result<Written, EngineError>>],
    ) -> Result<Result<(), EngineError>, EngineError> {
        let _applying: Vec<_> = parts.iter().map(|part| part.shard.applying()).collect();
        let (first, sizes) = match self.log_parts(&parts) {
            Ok(logged) => logged,
            Err(error) => {
                drop(parts);
                if matches!(error, EngineError::Log(_)) {
                    self.log_refused();
                }
                return Err(error);
            }
        };
        let mut applied = Ok(());
        let mut at = 0;
        for part in &mut parts {
            let count = part.planned().count();
            let own = sizes.get(at..at + count).unwrap_or_default();
            let from = first.plus(at as u64);
            let part_applied = self.apply_part(part, (from, own), results);
            applied = applied.and(part_applied);
            at += count;
        }
        let leave = |part: Part<'e>| {
            let Part { index, shard, .. } = part;
            let left = self.leave((index, shard), (part.writer, part.seat), part.group);
            ((index, part.number), shard, left)
        };
        let left: Vec<_> = parts.into_iter().map(leave).collect();
        let fill = |(place, shard, left): (_, &Shard, Left<'_>)| (place, left.fill(shard));
        let filled: Vec<_> = left.into_iter().map(fill).collect();
        for (place, filled) in filled {
            self.end(place, filled, results);
        }
        self.relieve_buffers(|| self.indices.read().values().cloned().collect());
        Ok(applied)
    }

    /// Appends what is planned to the log by one call: the first position, and how many bytes each entry has.
    fn log_parts(&self, parts: &[Part<'_>]) -> Result<(Glsn, Vec<usize>), EngineError> {
        let planned = || {
            parts.iter().flat_map(|part| {
                let stream = part.shard.place.stream;
                part.planned().map(move |planned| (stream, planned))
            })
        };
        let heads: Vec<Vec<u8>> = planned().map(|(_, planned)| planned.head()).collect();
        let payloads = heads.iter().zip(planned());
        let payloads = payloads.map(|(head, (_, planned))| [head.as_slice(), planned.source()]);
        let payloads: Vec<[&[u8]; 2]> = payloads.collect();
        let entries = planned().zip(&payloads);
        let entries = entries.map(|((stream, _), payload)| NewEntry::new(stream, payload));
        let entries: Vec<NewEntry<'_>> = entries.collect();
        let sizes = payloads
            .iter()
            .map(|[head, source]| head.len() + source.len());
        let sizes = sizes.collect();
        if entries.is_empty() {
            return Ok((Glsn::ZERO, sizes));
        }
        let appended = self.log.append(&entries, logged())?;
        Ok((appended.first, sizes))
    }

    /// Applies what the log has taken of a shard's part, from a position on.
    fn apply_part(
        &self,
        part: &mut Part<'_>,
        (from, sizes): (Glsn, &[usize]),
        results: &mut [Option<Result<Written, EngineError>>],
    ) -> Result<(), EngineError> {
        let (index, shard, number) = (part.index, part.shard, part.number);
        let prepare = |id: &str, written: Text<'_>| {
            self.parse(index, id, written, CopyMemory::of_logged(&self.memory))
        };
        let mut entries = (0..).map(|at| from.plus(at)).zip(sizes);
        // Bytes of documents that were parsed again and are not in the buffer yet.
        let mut waiting = 0;
        for step in mem::take(&mut part.steps) {
            let Step {
                position,
                id,
                plan,
                mut watch,
            } = step;
            if let Some(watch) = &mut watch {
                watch.resume(self.clock.monotonic());
            }
            let written = match plan {
                Plan::Nothing(written) => written,
                Plan::Logged(planned) => {
                    let Some((glsn, &bytes)) = entries.next() else {
                        continue;
                    };
                    waiting += planned.bytes_to_parse();
                    if waiting > CHUNK_BYTES {
                        let settled = part.writer.settle();
                        settled.map_err(|error| shard.told(error))?;
                        waiting = planned.bytes_to_parse();
                    }
                    let written = part.writer.put(planned, (glsn, bytes), &prepare);
                    written.map_err(|error| shard.told(error))?
                }
            };
            count_write(shard, written.result);
            if let Some(mut watch) = watch {
                watch.pause(self.clock.monotonic());
                part.group.watches.push((position, watch));
            }
            results[position] = Some(Ok(numbered(index, (number, id), written)));
        }
        Ok(())
    }
}
