//! Making segments of the buffers. Most of the work is done while others write: the buffers are taken out of the writer, which fills
//! others, and come back as segments. What is shown then is what had been written when it was taken out.

use std::mem;
use std::ops::{Deref, DerefMut};
use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use clew_log::Glsn;
use clew_query::index_reason;
use parking_lot::MutexGuard;
use tantivy::DocId;
use tantivy::index::{Segment, SegmentId};

use super::filling::{Buffer, Contents};
use super::health::Applying;
use super::writer::{Buffered, ById, Fullness, Writer, WriterSegment};
use super::{AliveBits, SegmentView, Shard, View};
use crate::base::error::EngineError;
use crate::base::waiting::lock_aside;

/// Buffers that are being written as segments by somebody who does not have the writer.
pub(super) struct Sealing {
    segments: Vec<SealedSegment>,
    pub(super) buffered: ById<Buffered>,
    pub(super) first_invisible: Option<Glsn>,
    /// Memory that they take until they are written.
    pub(super) bytes: usize,
}

/// One of them.
struct SealedSegment {
    id: SegmentId,
    /// The rows that are dead, in the order in which they died.
    dead: Vec<DocId>,
}

impl Sealing {
    pub(super) fn segments(&self) -> impl Iterator<Item = SegmentId> {
        self.segments.iter().map(|segment| segment.id)
    }

    /// Kills a document, if it is in one of them.
    pub(super) fn kill(&mut self, id: &str) {
        if let Some(dying) = self.buffered.remove(id) {
            let dead = &mut self.segments[dying.buffer].dead;
            dead.extend(dying.first..=dying.doc);
        }
    }
}

/// What a buffer was when it was taken out, which the writer is told again when it is written.
struct TakenOut {
    segment: Segment,
    rows: DocId,
    /// So many of the rows that have died were dead then.
    dead: usize,
}

/// What somebody writes as segments who does not have the writer.
pub(super) struct Filled {
    buffers: Vec<(TakenOut, Arc<Contents>)>,
    pub(super) first_invisible: Option<Glsn>,
    /// Of the writer, when they were taken out.
    seals: u64,
}

/// Segments that were written.
pub(super) struct Written {
    segments: Vec<TakenOut>,
    seals: u64,
}

impl Filled {
    /// Writes the segments, each on a thread of its own: most of the work of a refresh. Waits for those who fill them.
    pub(super) fn write(self) -> tantivy::Result<Written> {
        let all = self.buffers.iter();
        let all = all.map(|(taken_out, contents)| (contents, taken_out.rows));
        finish_all(&all.collect::<Vec<_>>())?;
        let segments = self.buffers.into_iter().map(|(taken_out, _)| taken_out);
        Ok(Written {
            segments: segments.collect(),
            seals: self.seals,
        })
    }
}

/// Makes segments of buffers that have so many rows each, of the first one on this thread.
fn finish_all(all: &[(&Arc<Contents>, DocId)]) -> tantivy::Result<()> {
    let Some((&(first, rows), others)) = all.split_first() else {
        return Ok(());
    };
    thread::scope(|scope| {
        let mut begun = Vec::new();
        for &(contents, rows) in others {
            let named = thread::Builder::new().name("clew-seal".to_string());
            let thread = named.spawn_scoped(scope, move || contents.finish(rows));
            begun.push((contents, rows, thread));
        }
        let mut finished = first.finish(rows);
        for (contents, rows, thread) in begun {
            let other = match thread {
                Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
                // The system has none to spare.
                Err(_) => contents.finish(rows),
            };
            finished = finished.and(other);
        }
        finished
    })
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
    /// Turns the buffers into segments that the next published view shows.
    pub(super) fn seal(&mut self) -> tantivy::Result<()> {
        // Should it panic: memory lacks what the log has.
        let _applying = Applying::new(self.health.clone());
        let left_out = self.end_turn()?;
        self.left_out.extend(left_out);
        let buffers = mem::take(&mut self.buffers);
        if buffers.is_empty() {
            return Ok(());
        }
        self.buffered.clear();
        let all = buffers.iter().map(|buffer| (&buffer.contents, buffer.rows));
        finish_all(&all.collect::<Vec<_>>())?;
        self.seals += 1;
        for Buffer {
            segment,
            rows,
            dead,
            ..
        } in &buffers
        {
            self.push(segment, *rows, (dead, dead.len()))?;
        }
        self.drop_dead();
        Ok(())
    }

    /// Segments of which nothing lives are not looked through for ids, where nobody shows what was so before it died.
    fn drop_dead(&mut self) {
        self.segments.retain(|segment| segment.alive_count() > 0);
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

    /// Takes the buffers out, to be written by whoever does not have the writer: from now on others are filled. What the
    /// writer has seen until now is what [`Self::take_in`] shows. One at a time.
    pub(super) fn take_out(&mut self) -> Option<Filled> {
        if self.buffers.is_empty() {
            return None;
        }
        let bytes = self.buffers.iter().map(|buffer| buffer.contents.bytes());
        let bytes = bytes.sum();
        let (mut segments, mut buffers) = (Vec::new(), Vec::new());
        for buffer in mem::take(&mut self.buffers) {
            let (id, dead) = (buffer.segment.id(), buffer.dead);
            let taken_out = TakenOut {
                segment: buffer.segment,
                rows: buffer.rows,
                dead: dead.len(),
            };
            buffers.push((taken_out, buffer.contents));
            segments.push(SealedSegment { id, dead });
        }
        let first_invisible = self.first_invisible.take();
        self.sealing = Some(Sealing {
            segments,
            buffered: mem::take(&mut self.buffered),
            first_invisible,
            bytes,
        });
        Some(Filled {
            buffers,
            first_invisible,
            seals: self.seals,
        })
    }

    /// Takes in what was taken out. Whether what was seen by then can be shown without what came later.
    pub(super) fn take_in(&mut self, written: &Written) -> tantivy::Result<bool> {
        let Some(sealing) = self.sealing.take() else {
            return Ok(false);
        };
        for (own, sealed) in written.segments.iter().zip(&sealing.segments) {
            self.push(&own.segment, own.rows, (&sealed.dead, own.dead))?;
        }
        Ok(self.seals == written.seals)
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
        let view = writer.show(&self.place, Some(&self.view()));
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
    pub(super) fn applied_all<T>(
        &self,
        writer: &Writer,
        result: tantivy::Result<T>,
    ) -> Result<T, EngineError> {
        result.map_err(|source| {
            writer.fail(&index_reason(&source));
            self.tantivy_error(source)
        })
    }

    /// Seals the buffer and shows searches the writer's segments, when anything has changed.
    pub(super) fn publish(&self, writer: &mut Settled<'_>) -> Result<(), EngineError> {
        let started = self.context.clock.monotonic();
        let before = self.view();
        let view = writer.publish(&self.place, &self.context.clock, Some(&before));
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
            writer.drop_dead();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
