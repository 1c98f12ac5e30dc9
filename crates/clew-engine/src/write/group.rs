//! A group of writes to a shard, around the writes themselves: its writer is taken, and given back when they are logged; then the
//! documents are put into the buffer that has their places.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::MutexGuard;

use crate::base::error::EngineError;
use crate::base::waiting::Seat;
use crate::index::handle::Index;
use crate::index::write_outcome::Written;
use crate::node::engine::Inner;
use crate::shard::{Fullness, Pending, PutIn, Shard, Writer};
use crate::write::room::Room;
use crate::write::watched::Watched;

/// What is known of a group of writes to a shard.
pub(super) struct Group {
    pub(super) room: Room,
    /// The shard's segments when it began, and when that was.
    segments: usize,
    since: Duration,
    pub(super) watches: Vec<(usize, Box<Watched>)>,
    pub(super) log_refused: bool,
}

/// A group whose documents have their places and are not there yet.
pub(super) struct Left<'s> {
    pending: Pending,
    seat: Seat<'s>,
    is_due: bool,
    group: Group,
}

/// A group whose documents are there.
pub(super) struct Filled {
    put_in: PutIn,
    is_due: bool,
    group: Group,
}

impl Left<'_> {
    /// Puts the documents of a group in: most of the work. It waits for nobody, as others wait for the buffer with their shards'
    /// locks: who has several groups puts all of them in before anything else.
    pub(super) fn fill(self, shard: &Shard) -> Filled {
        let Left {
            pending,
            seat,
            is_due,
            group,
        } = self;
        let put_in = shard.fill(pending, !group.watches.is_empty());
        drop(seat);
        Filled {
            put_in,
            is_due,
            group,
        }
    }
}

impl Inner {
    /// Takes a shard's writer for a group of a request that was read in a life of the log.
    ///
    /// # Errors
    /// Why the shard takes nothing.
    pub(super) fn begin<'s>(
        &self,
        shard: &'s Shard,
        (life, since): (u64, Duration),
    ) -> Result<(MutexGuard<'s, Writer>, Group), String> {
        let writer = shard.writer_with_room();
        let writer = writer.map_err(|error| error.to_string())?;
        // Under the shard's lock, so that what is taken back after this is taken back in this shard, too.
        if self.log.life() != life {
            return Err("the log has failed while the request was read; send it again".to_string());
        }
        let group = Group {
            room: Room::new(&writer),
            segments: writer.segment_count(),
            since,
            watches: Vec::new(),
            log_refused: false,
        };
        Ok((writer, group))
    }

    /// Gives a shard's writer back when a group of writes is logged and its documents have their places: others write while they
    /// are put there.
    pub(super) fn leave<'s>(
        &self,
        (index, shard): (&Index, &Shard),
        (mut writer, seat): (MutexGuard<'_, Writer>, Seat<'s>),
        group: Group,
    ) -> Left<'s> {
        self.space.spend(group.room.unseen(&writer));
        group.room.note(shard, &writer);
        let much = writer.unflushed_bytes() >= index.settings().flush_threshold_bytes;
        Left {
            pending: writer.take_turn(),
            seat,
            is_due: much || writer.segment_count() != group.segments,
            group,
        }
    }

    /// Tells what became of a group, and makes segments of buffers that are full.
    pub(super) fn end(
        &self,
        (index, number): (&Arc<Index>, u32),
        filled: Filled,
        results: &mut [Option<Result<Written, EngineError>>],
    ) {
        let shard = &index.shards[number as usize];
        let Filled {
            put_in,
            is_due,
            group,
        } = filled;
        note_left_out(&put_in.left_out, (index, number), results);
        note_slow(group.watches, &put_in, results);
        if group.log_refused {
            return self.log_refused();
        }
        let writes = &index.activity.writes;
        writes.add(self.clock.monotonic().saturating_sub(group.since));
        // What was written is in the log: should this fail, the shard is rebuilt from there.
        let fullness = put_in.fullness;
        let sealed = fullness != Fullness::HasRoom && shard.seal_full_buffer(fullness).is_ok();
        // Without refreshes nothing else tells the upkeep that there is something to merge or flush.
        if is_due || sealed {
            self.wake_upkeep();
        }
    }
}

/// Notes of which documents of a shard analysis has left something out, by the numbers of their operations.
fn note_left_out(
    left_out: &[u64],
    (index, shard): (&Arc<Index>, u32),
    results: &mut [Option<Result<Written, EngineError>>],
) {
    if left_out.is_empty() {
        return;
    }
    let left_out: HashSet<u64> = left_out.iter().copied().collect();
    for written in results.iter_mut().flatten().flatten() {
        if written.shard == shard && Arc::ptr_eq(&written.index, index) {
            written.left_out |= left_out.contains(&written.seq_no);
        }
    }
}

/// Notes which writes were slow, of those by their positions whose time was taken until their documents had their places.
fn note_slow(
    watches: Vec<(usize, Box<Watched>)>,
    put_in: &PutIn,
    results: &mut [Option<Result<Written, EngineError>>],
) {
    if watches.is_empty() {
        return;
    }
    // A document and its nested objects have one number.
    let mut took: HashMap<u64, Duration> = HashMap::with_capacity(watches.len());
    for (number, part) in &put_in.took {
        *took.entry(*number).or_default() += *part;
    }
    for (position, watch) in watches {
        if let Some(Some(Ok(written))) = results.get_mut(position) {
            let more = took.get(&written.seq_no).copied().unwrap_or_default();
            written.slow = watch.slow(&written.index, more);
        }
    }
}
