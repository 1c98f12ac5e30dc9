//! Making a segment of the buffer. Most of the work is done while others write: the buffer is taken out of the writer, which fills
//! another one, and comes back as a segment. What is shown then is what had been written when it was taken out.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::time::Duration;

use clew_log::Glsn;
use clew_platform::Reservation;
use clew_search::SegmentBuilder;
use parking_lot::MutexGuard;
use tantivy::DocId;
use tantivy::index::{Segment, SegmentId};

use super::writer::{Buffer, Buffered, ById, Fullness, Writer, WriterSegment};
use super::{AliveBits, SegmentView, Shard, View};
use crate::base::error::EngineError;
use crate::base::waiting::lock_aside;

/// A buffer that is being written as a segment by somebody who does not have the writer.
pub(super) struct Sealing {
    pub(super) id: SegmentId,
    pub(super) ids: ById<Buffered>,
    /// The rows that are dead, in the order in which they died.
    pub(super) dead: Vec<DocId>,
    pub(super) first_invisible: Option<Glsn>,
    /// Until the segment is written.
    pub(super) memory: Reservation,
}

/// What a buffer was when it was taken out, which the writer is told again when it is written.
pub(super) struct TakenOut {
    segment: Segment,
    doc_count: u32,
    /// So many of the rows that have died were dead then.
    dead: usize,
    /// Of the writer, then.
    seals: u64,
}

/// What somebody writes as a segment who does not have the writer.
pub(super) struct Filled {
    taken_out: TakenOut,
    builder: SegmentBuilder,
    pub(super) first_invisible: Option<Glsn>,
}

/// A segment that was written.
pub(super) struct Written(TakenOut);

impl Filled {
    /// Writes the segment: most of the work of a refresh.
    pub(super) fn write(self) -> tantivy::Result<Written> {
        self.builder.finish()?;
        Ok(Written(self.taken_out))
    }
}

/// The writer while no buffer is being written by anybody else: what it has applied is in its segments and its buffer.
pub(crate) struct Settled<'s> {
    writer: MutexGuard<'s, Writer>,
    _sealing: MutexGuard<'s, ()>,
}

impl Deref for Settled<'_> {
    type Target = Writer;

    fn deref(&self) -> &Writer {
        &self.writer
    }
}

impl DerefMut for Settled<'_> {
    fn deref_mut(&mut self) -> &mut Writer {
        &mut self.writer
    }
}

impl Writer {
    /// Turns the buffer into a segment that the next published view shows.
    pub(super) fn seal(&mut self) -> tantivy::Result<()> {
        let Some(Buffer {
            segment,
            builder,
            dead,
            // Until the segment is written.
            memory: _memory,
            ..
        }) = self.buffer.take()
        else {
            return Ok(());
        };
        let doc_count = builder.doc_count();
        builder.finish()?;
        self.seals += 1;
        self.push(&segment, doc_count, (&dead, dead.len()))?;
        // While the log is replayed nothing is published, and every id is looked for in all segments.
        self.segments.retain(|segment| segment.alive_count() > 0);
        Ok(())
    }

    /// Takes a written segment in. The view that is published next shows it with the first `shown` of the rows dead that
    /// have died.
    fn push(
        &mut self,
        segment: &Segment,
        doc_count: u32,
        (dead, shown): (&[DocId], usize),
    ) -> tantivy::Result<()> {
        let (shown, later) = dead.split_at(shown);
        let alive = (!shown.is_empty()).then(|| {
            let mut alive = AliveBits::full(doc_count);
            for &doc in shown {
                alive.kill(doc);
            }
            Arc::new(alive)
        });
        let bytes = self.directory.written_bytes(&segment.id());
        let view = SegmentView::open(&self.index, segment.id(), doc_count, alive, bytes)?;
        let mut segment = WriterSegment::new(view);
        for &doc in later {
            segment.kill_row(doc);
        }
        self.segments.push(segment);
        self.changed = true;
        Ok(())
    }

    /// Takes the buffer out, to be written by whoever does not have the writer: from now on another one is filled. What the
    /// writer has seen until now is what [`Self::take_in`] shows. One at a time.
    pub(super) fn take_out(&mut self) -> Option<Filled> {
        let Buffer {
            segment,
            builder,
            ids,
            dead,
            memory,
            size_bytes: _,
        } = self.buffer.take()?;
        let taken_out = TakenOut {
            segment,
            doc_count: builder.doc_count(),
            dead: dead.len(),
            seals: self.seals,
        };
        let filled = Filled {
            taken_out,
            builder,
            first_invisible: self.first_invisible.take(),
        };
        self.sealing = Some(Sealing {
            id: filled.taken_out.segment.id(),
            ids,
            dead,
            first_invisible: filled.first_invisible,
            memory,
        });
        Some(filled)
    }

    /// Takes in what was taken out. Whether what was seen by then can be shown without what came later.
    pub(super) fn take_in(&mut self, Written(taken_out): &Written) -> tantivy::Result<bool> {
        let Some(sealing) = self.sealing.take() else {
            return Ok(false);
        };
        let is_alone = self.seals == taken_out.seals;
        let dead = (&sealing.dead[..], taken_out.dead);
        self.push(&taken_out.segment, taken_out.doc_count, dead)?;
        Ok(is_alone)
    }

    /// What was taken in from this position on is not shown yet.
    pub(super) fn leave_unseen(&mut self, first: Option<Glsn>) {
        self.first_invisible = first.or(self.first_invisible);
    }
}

impl Shard {
    /// The writer for whoever publishes, which waits for a buffer that is being written.
    pub(crate) fn settled(&self) -> Result<Settled<'_>, EngineError> {
        self.settle(lock_aside(&self.sealing))
    }

    fn settle<'s>(&'s self, sealing: MutexGuard<'s, ()>) -> Result<Settled<'s>, EngineError> {
        Ok(Settled {
            writer: self.writer()?,
            _sealing: sealing,
        })
    }

    /// Makes all writes visible to searches that have been done by now. Writes go on while the buffer becomes a segment.
    pub(crate) fn refresh(&self) -> Result<(), EngineError> {
        let started = self.context.clock.monotonic();
        let sealing = lock_aside(&self.sealing);
        let mut writer = self.writer()?;
        let settled = writer.settle_deletes(&self.context.clock);
        self.applied_all(&writer, settled)?;
        let Some(filled) = writer.take_out() else {
            let mut writer = Settled {
                writer,
                _sealing: sealing,
            };
            return self.publish(&mut writer);
        };
        drop(writer);
        let (mut writer, is_alone) = self.write_out(filled, sealing)?;
        if !is_alone {
            return self.publish(&mut writer);
        }
        let view = writer.show(&self.place.index, Some(&self.view()));
        let view = self.applied_all(&writer, view)?;
        self.shows(view, started);
        Ok(())
    }

    /// Writes a buffer that was taken out of the writer, and gives it back; whether what was seen when it was taken out
    /// can be shown alone.
    fn write_out<'s>(
        &'s self,
        filled: Filled,
        sealing: MutexGuard<'s, ()>,
    ) -> Result<(Settled<'s>, bool), EngineError> {
        // Should it panic: memory lacks what the log has.
        let _applying = self.applying();
        let written = filled.write();
        let mut writer = self.settle(sealing)?;
        let taken_in = written.and_then(|written| writer.take_in(&written));
        let is_alone = self.applied_all(&writer, taken_in)?;
        Ok((writer, is_alone))
    }

    /// What came of applying something that the log has: an error leaves a shard that has to be rebuilt.
    fn applied_all<T>(
        &self,
        writer: &Writer,
        result: tantivy::Result<T>,
    ) -> Result<T, EngineError> {
        result.map_err(|source| {
            writer.fail(&source);
            self.tantivy_error(source)
        })
    }

    /// Seals the buffer and shows searches the writer's segments, when anything has changed.
    pub(super) fn publish(&self, writer: &mut Settled<'_>) -> Result<(), EngineError> {
        let started = self.context.clock.monotonic();
        let before = self.view();
        let view = writer.publish(&self.place.index, &self.context.clock, Some(&before));
        let view = self.applied_all(writer, view)?;
        self.shows(view, started);
        Ok(())
    }

    /// Lets searches see a view, if it is another one. The caller has the writer.
    fn shows(&self, view: Option<View>, started: Duration) {
        if let Some(view) = view {
            self.view.store(Arc::new(view));
            self.counters.refreshes.add(self.since(started));
        }
        // Also where a write has changed nothing, as the deletion of what is not there: somebody may wait for it.
        self.published.send_modify(|count| *count += 1);
    }

    /// Makes a segment of the buffer, which gives up its memory; searches see it from the next refresh on. Writes go on
    /// meanwhile.
    pub(crate) fn seal_buffer(&self) -> Result<(), EngineError> {
        self.seal_where(lock_aside(&self.sealing), |_| true)
    }

    /// The same where the buffer is as full as that: who fills it goes on while another one is written, but for so long as it is
    /// not beyond its measure.
    pub(crate) fn seal_full_buffer(&self, fullness: Fullness) -> Result<(), EngineError> {
        let sealing = match fullness {
            Fullness::HasRoom => None,
            Fullness::IsDue => self.sealing.try_lock(),
            Fullness::IsOver => Some(lock_aside(&self.sealing)),
        };
        sealing.map_or(Ok(()), |sealing| {
            self.seal_where(sealing, |writer| writer.fullness() != Fullness::HasRoom)
        })
    }

    fn seal_where(
        &self,
        sealing: MutexGuard<'_, ()>,
        is_due: impl Fn(&Writer) -> bool,
    ) -> Result<(), EngineError> {
        let mut writer = self.writer()?;
        let filled = if is_due(&writer) {
            writer.take_out()
        } else {
            None
        };
        drop(writer);
        if let Some(filled) = filled {
            let first = filled.first_invisible;
            let (mut writer, _) = self.write_out(filled, sealing)?;
            writer.leave_unseen(first);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    use clew_platform::SimDisk;
    use serde_json::json;

    use super::*;
    use crate::base::access::{Access, Purpose};
    use crate::base::write_request::Freshness;
    use crate::node::engine::Engine;
    use crate::shard::fixture::{delete, engine, put, put_source};

    /// The versions of documents `a` to `e`, 0 where there is none.
    fn versions(engine: &Engine, freshness: Freshness) -> [u64; 5] {
        let everything = Access::everything();
        let handle = engine.open_exactly("docs", &everything, Purpose::Read);
        let handle = handle.unwrap();
        ["a", "b", "c", "d", "e"].map(|id| {
            let found = engine.get(&handle, id, None, freshness).unwrap();
            found.map_or(0, |found| found.version)
        })
    }

    /// Takes the buffer out as a refresh does.
    fn begin(shard: &Shard) -> (Filled, MutexGuard<'_, ()>) {
        let sealing = shard.sealing.lock();
        let mut writer = shard.writer().unwrap();
        writer.settle_deletes(&shard.context.clock).unwrap();
        (writer.take_out().unwrap(), sealing)
    }

    #[test]
    fn a_refresh_shows_what_was_written_before_it_and_nothing_of_what_came_while_it_wrote() {
        let (engine, index) = engine(&SimDisk::new());
        let shard = &index.shards[0];
        for id in ["a", "b", "c"] {
            put(&engine, id).unwrap();
        }
        shard.refresh().unwrap();
        put(&engine, "d").unwrap();
        put(&engine, "c").unwrap();
        let (filled, sealing) = begin(shard);
        // Of a segment, of the buffer that is written, new, and gone.
        put(&engine, "a").unwrap();
        put(&engine, "d").unwrap();
        put(&engine, "e").unwrap();
        delete(&engine, "b").unwrap();
        let latest = [2, 0, 2, 2, 1];
        assert_eq!(versions(&engine, Freshness::Latest), latest);
        assert_eq!(versions(&engine, Freshness::Searchable), [1, 1, 1, 0, 0]);
        assert!(shard.first_invisible().is_some());
        let (mut writer, is_alone) = shard.write_out(filled, sealing).unwrap();
        assert!(is_alone);
        let view = writer.show(&shard.place.index, None).unwrap();
        shard.shows(view, Duration::ZERO);
        drop(writer);
        assert_eq!(versions(&engine, Freshness::Searchable), [1, 1, 2, 1, 0]);
        assert_eq!(versions(&engine, Freshness::Latest), latest);
        assert!(shard.is_dirty());
        shard.refresh().unwrap();
        assert_eq!(versions(&engine, Freshness::Searchable), latest);
        assert!(!shard.is_dirty());
        engine.flush(&index).unwrap();
        assert_eq!(versions(&engine, Freshness::Searchable), latest);
    }

    #[test]
    fn when_the_mapping_grows_while_a_segment_is_written_all_is_shown() {
        let (engine, index) = engine(&SimDisk::new());
        let shard = &index.shards[0];
        put(&engine, "a").unwrap();
        let (filled, sealing) = begin(shard);
        put(&engine, "a").unwrap();
        put_source(&engine, "b", &json!({"another": 1})).unwrap();
        let (mut writer, is_alone) = shard.write_out(filled, sealing).unwrap();
        assert!(!is_alone);
        shard.publish(&mut writer).unwrap();
        drop(writer);
        assert_eq!(versions(&engine, Freshness::Searchable), [2, 1, 0, 0, 0]);
        assert!(!shard.is_dirty());
    }

    #[test]
    fn a_buffer_that_becomes_a_segment_alone_is_not_shown() {
        let (engine, index) = engine(&SimDisk::new());
        let shard = &index.shards[0];
        put(&engine, "a").unwrap();
        shard.refresh().unwrap();
        put(&engine, "a").unwrap();
        put(&engine, "b").unwrap();
        shard.seal_buffer().unwrap();
        assert_eq!(shard.buffer_bytes(), 0);
        assert_eq!(versions(&engine, Freshness::Searchable), [1, 0, 0, 0, 0]);
        assert_eq!(versions(&engine, Freshness::Latest), [2, 1, 0, 0, 0]);
        assert!(shard.is_dirty());
        shard.refresh().unwrap();
        assert_eq!(versions(&engine, Freshness::Searchable), [2, 1, 0, 0, 0]);
    }

    #[test]
    fn every_view_has_each_document_once_whatever_goes_on() {
        const DOCUMENTS: u32 = 40;
        let (engine, index) = engine(&SimDisk::new());
        let shard = &index.shards[0];
        for n in 0..DOCUMENTS {
            put(&engine, &n.to_string()).unwrap();
        }
        shard.refresh().unwrap();
        let is_done = AtomicBool::new(false);
        let until_done = |work: &dyn Fn()| {
            while !is_done.load(Ordering::Relaxed) {
                work();
            }
        };
        thread::scope(|scope| {
            scope.spawn(|| until_done(&|| shard.refresh().unwrap()));
            scope.spawn(|| until_done(&|| shard.seal_buffer().unwrap()));
            scope.spawn(|| until_done(&|| engine.flush(&index).unwrap()));
            scope.spawn(|| until_done(&|| engine.force_merge(&index, 2).unwrap()));
            scope.spawn(|| {
                until_done(&|| {
                    let view = shard.view();
                    let alive = view.segments.iter().map(SegmentView::alive_count);
                    assert_eq!(alive.sum::<u32>(), DOCUMENTS);
                });
            });
            let writers = [0, 1].map(|writer| {
                let engine = &engine;
                scope.spawn(move || {
                    for n in 0..400_u32 {
                        let id = (n * 7 + writer * 3) % DOCUMENTS;
                        put(engine, &id.to_string()).unwrap();
                    }
                })
            });
            for writer in writers {
                writer.join().unwrap();
            }
            is_done.store(true, Ordering::Relaxed);
        });
        shard.refresh().unwrap();
        assert_eq!(shard.operations(), u64::from(DOCUMENTS) + 800);
    }
}
