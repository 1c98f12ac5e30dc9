//! Segments that are being filled. Under the writer's lock a group of writes is numbered and logged, and each of its documents is
//! given the place that it will have; most of the work, to make postings and columns of them, is done without it. Groups that come
//! at once fill a segment each, as Lucene's writers do.

use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use clew_platform::{Clock, MemoryPurpose, Reservation};
use clew_query::index_reason;
use clew_search::SegmentBuilder;
use parking_lot::{Condvar, Mutex};
use tantivy::index::Segment;
use tantivy::{DocId, TantivyError};

use super::document::SegmentDocument;
use super::health::{Applying, Remedy, ShardHealth};
use super::writer::{Fullness, Writer, open_index};
use crate::base::waiting::aside;

/// A buffer's size is asked for after this many documents.
const LOOK_DOCS: u32 = 32;
/// And after each document whose source is longer than this, or of whose values many are in several fields.
const LOOK_BYTES: usize = 64 << 10;
/// A group of fewer documents waits for a buffer that somebody fills rather than begin another one: that takes megabytes, and
/// makes one more segment.
const OWN_BUFFER_DOCS: usize = 32;
/// Unless they are as long as this: all others would wait for as long as it takes to put them in.
const OWN_BUFFER_BYTES: u64 = 1 << 20;
/// What a document takes in a buffer for each of its bytes, and beside them, while nobody has looked how much it is.
const UNSEEN_FACTOR: usize = 3;
const UNSEEN_OVERHEAD_BYTES: usize = 128;

/// A segment that is being filled, as the writer knows it.
pub(super) struct Buffer {
    pub(super) segment: Segment,
    /// Rows that have a place in it, whether they are there yet or not.
    pub(super) rows: DocId,
    /// The rows that are dead, in the order in which they died.
    pub(super) dead: Vec<DocId>,
    pub(super) contents: Arc<Contents>,
}

/// What is in a buffer.
pub(super) struct Contents {
    /// None while somebody fills it, or makes a segment of it.
    fill: Mutex<Option<Fill>>,
    given_back: Condvar,
    /// How full it is, as it was last looked at; 0 before.
    size_bytes: AtomicUsize,
    /// What those documents are taken to need that have a place in it, and were not there when it was last looked at.
    unseen_bytes: AtomicUsize,
    /// What it took when it was begun.
    empty_bytes: usize,
}

/// What one at a time has who fills a buffer, or makes a segment of it.
struct Fill {
    builder: SegmentBuilder,
    /// What of the node's memory it takes, as it was last looked at: from the beginning what every buffer takes, some
    /// megabytes for its columns alone, of which thousands of shards that get a document each would otherwise take any number.
    memory: Reservation,
    /// Documents since it was last looked at.
    unseen: u32,
    /// What they are taken to need.
    unseen_bytes: usize,
    /// Nobody has failed in the middle of filling it.
    is_whole: bool,
}

impl Contents {
    /// Memory that it takes, or is going to when all documents are there that have a place in it: as it was last looked at, and
    /// about so much for those that came since.
    pub(super) fn bytes(&self) -> usize {
        let unseen = self.unseen_bytes.load(Ordering::Relaxed);
        let seen = self.empty_bytes.max(self.seen_bytes());
        seen.saturating_add(unseen)
    }

    /// How full it was when it was last looked at; 0 before.
    fn seen_bytes(&self) -> usize {
        self.size_bytes.load(Ordering::Relaxed)
    }

    /// Has it to oneself, once nobody else has.
    fn take(&self) -> Fill {
        let free = self.fill.lock().take();
        free.unwrap_or_else(|| aside(|| self.wait()))
    }

    fn wait(&self) -> Fill {
        let mut fill = self.fill.lock();
        loop {
            if let Some(fill) = fill.take() {
                return fill;
            }
            self.given_back.wait(&mut fill);
        }
    }

    fn give_back(&self, fill: Fill) {
        *self.fill.lock() = Some(fill);
        self.given_back.notify_all();
    }

    /// Makes a segment of it, when whoever fills it is done. Once.
    ///
    /// # Errors
    /// When it cannot be written, or lacks one of so many rows that have a place in it: a checkpoint would cover what is in no
    /// segment.
    pub(super) fn finish(&self, rows: DocId) -> tantivy::Result<()> {
        let Fill {
            builder,
            is_whole,
            // Until the segment is written.
            memory: _memory,
            ..
        } = self.take();
        match is_whole && builder.doc_count() == rows {
            true => builder.finish(),
            false => Err(failed_in_the_middle()),
        }
    }
}

/// What a document is taken to need in a buffer.
fn bytes_of(document: &SegmentDocument) -> usize {
    let vectors = document.vectors.iter().map(|(_, vector)| vector.bytes());
    let bytes = document.source.len() + vectors.sum::<usize>();
    let copies = document.copies.as_ref().map_or(0, Reservation::bytes);
    bytes * UNSEEN_FACTOR + UNSEEN_OVERHEAD_BYTES + copies
}

fn failed_in_the_middle() -> TantivyError {
    TantivyError::InternalError("a write has failed in the middle".to_string())
}

/// A group of writes whose documents fill a buffer, which nobody else does meanwhile.
pub(crate) struct Turn {
    /// The buffer's place among the writer's.
    at: usize,
    contents: Arc<Contents>,
    /// Until it is given back.
    fill: Option<Fill>,
    documents: Vec<SegmentDocument>,
    /// The numbers of the operations of whose documents analysis has left something out.
    left_out: Vec<u64>,
}

impl Drop for Turn {
    fn drop(&mut self) {
        if let Some(mut fill) = self.fill.take() {
            // What was not put in has a place all the same.
            fill.is_whole &= self.documents.is_empty();
            self.contents.give_back(fill);
        }
    }
}

impl Turn {
    /// Puts the documents in. Gives how long each operation took, by its number, if there is a clock.
    ///
    /// # Errors
    /// When one cannot be put in: the buffer is of no use any more, and the shard has failed.
    fn fill(
        &mut self,
        health: &ShardHealth,
        clock: Option<&dyn Clock>,
    ) -> tantivy::Result<Vec<(u64, Duration)>> {
        let documents = mem::take(&mut self.documents);
        let filled = self.add(documents, clock);
        // Before anybody else has the buffer.
        filled.inspect_err(|cause| {
            let cause = index_reason(cause);
            tracing::error!(%cause, "a document cannot be put into its segment");
            health.fail(Remedy::Rebuild, &cause);
        })
    }

    fn add(
        &mut self,
        documents: Vec<SegmentDocument>,
        clock: Option<&dyn Clock>,
    ) -> tantivy::Result<Vec<(u64, Duration)>> {
        let mut took = Vec::new();
        let Some(fill) = &mut self.fill else {
            return Ok(took);
        };
        // Until all of them are there: a panic leaves it so, too, and whoever comes next mends nothing.
        if !mem::replace(&mut fill.is_whole, false) {
            return Err(failed_in_the_middle());
        }
        let builder = &mut fill.builder;
        for document in documents {
            let began = clock.map(Clock::monotonic);
            builder.add(&document)?;
            if let (Some(clock), Some(began)) = (clock, began) {
                let since = clock.monotonic().saturating_sub(began);
                took.push((document.row.seq_no, since));
            }
            if builder.take_left_out() {
                self.left_out.push(document.row.seq_no);
            }
            fill.unseen += 1;
            fill.unseen_bytes += bytes_of(&document);
            let is_large = document.source.len() > LOOK_BYTES || document.copies.is_some();
            if fill.unseen >= LOOK_DOCS || is_large {
                let bytes = builder.mem_usage();
                fill.memory.set(bytes);
                self.contents.size_bytes.store(bytes, Ordering::Relaxed);
                let seen = mem::take(&mut fill.unseen_bytes);
                self.contents
                    .unseen_bytes
                    .fetch_sub(seen, Ordering::Relaxed);
                fill.unseen = 0;
            }
        }
        fill.is_whole = true;
        Ok(took)
    }
}

/// What is left to do for a group of writes when the writer's lock is given back.
pub(crate) struct Pending {
    turn: Option<Turn>,
    /// Of documents of the group that were put in at once.
    left_out: Vec<u64>,
    /// The buffers, and how full they are together but for the one that the group fills.
    buffers: usize,
    others_bytes: usize,
    buffer_bytes_max: usize,
}

/// What became of a group's documents.
pub(crate) struct PutIn {
    /// The numbers of the operations of whose documents analysis has left something out.
    pub(crate) left_out: Vec<u64>,
    /// How long operations took, by their numbers, a document's nested objects each beside it; none where nobody takes the time.
    pub(crate) took: Vec<(u64, Duration)>,
    /// Of the buffers, with these documents.
    pub(crate) fullness: Fullness,
}

impl Pending {
    /// Puts the documents in, without the writer's lock. Should it fail, the shard has.
    pub(crate) fn end(self, health: &Arc<ShardHealth>, clock: Option<&dyn Clock>) -> PutIn {
        let Pending {
            turn,
            mut left_out,
            buffers,
            others_bytes,
            buffer_bytes_max,
        } = self;
        let (mut took, mut own_bytes) = (Vec::new(), 0);
        if let Some(mut turn) = turn {
            // A panic is told before anybody else has the buffer.
            let _applying = Applying::new(health.clone());
            // Of an error the shard has been told.
            took = turn.fill(health, clock).unwrap_or_default();
            left_out.append(&mut turn.left_out);
            own_bytes = turn.contents.seen_bytes();
        }
        PutIn {
            left_out,
            took,
            fullness: fullness(buffers, others_bytes + own_bytes, buffer_bytes_max),
        }
    }
}

/// How full buffers are, as far as they were looked at. Several together may have half as much each as one alone.
fn fullness(count: usize, bytes: usize, buffer_bytes_max: usize) -> Fullness {
    match buffer_bytes_max.saturating_mul(count.max(1) + 1) / 2 {
        max if bytes < max => Fullness::HasRoom,
        max if bytes - max < max / 2 => Fullness::IsDue,
        _ => Fullness::IsOver,
    }
}

impl Writer {
    /// Tells how many writes the group has that comes now, and about how many bytes they bring.
    pub(crate) fn expect(&mut self, writes: usize, bytes: u64) {
        self.has_large_group = writes >= OWN_BUFFER_DOCS || bytes >= OWN_BUFFER_BYTES;
        self.left_out.clear();
    }

    /// What whoever has the writer does for the present group when the lock is given back.
    pub(crate) fn take_turn(&mut self) -> Pending {
        let turn = self.turn.take();
        let others = self.buffers.iter().enumerate();
        let others = others.filter(|(at, _)| turn.as_ref().is_none_or(|turn| turn.at != *at));
        let others_bytes = others.map(|(_, buffer)| buffer.contents.seen_bytes()).sum();
        Pending {
            turn,
            left_out: mem::take(&mut self.left_out),
            buffers: self.buffers.len(),
            others_bytes,
            buffer_bytes_max: self.limits.buffer_bytes_max,
        }
    }

    /// Puts the documents of the present group in at once; gives the numbers of the operations of whose documents analysis has
    /// left something out.
    pub(super) fn end_turn(&mut self) -> tantivy::Result<Vec<u64>> {
        let Some(mut turn) = self.turn.take() else {
            return Ok(Vec::new());
        };
        turn.fill(&self.health, None)?;
        Ok(mem::take(&mut turn.left_out))
    }

    /// Waits for those who fill buffers: from then on nothing is written to their files. Who has the writer is of no group, so
    /// that what is left of one has failed in its middle.
    pub(super) fn wait_for_turns(&mut self) {
        self.turn = None;
        for buffer in &self.buffers {
            let fill = buffer.contents.take();
            buffer.contents.give_back(fill);
        }
    }

    /// A place for a document and the nested objects before it: the number of the first of them, that of the document, and the
    /// place of the buffer.
    pub(super) fn place(
        &mut self,
        objects: Vec<SegmentDocument>,
        document: SegmentDocument,
    ) -> tantivy::Result<(DocId, DocId, usize)> {
        let mut turn = match self.turn.take() {
            Some(turn) => turn,
            None => self.begin_turn()?,
        };
        let buffer = &mut self.buffers[turn.at];
        let first = buffer.rows;
        let doc = DocId::try_from(objects.len()).ok();
        let doc = doc.and_then(|objects| first.checked_add(objects));
        let rows = doc.and_then(|doc| Some((doc, doc.checked_add(1)?)));
        let too_many = || TantivyError::InvalidArgument("too much for one segment".into());
        let (doc, rows) = rows.ok_or_else(too_many)?;
        buffer.rows = rows;
        let place = (first, doc, turn.at);
        let bytes: usize = objects.iter().map(bytes_of).sum();
        let unseen_bytes = &turn.contents.unseen_bytes;
        unseen_bytes.fetch_add(bytes + bytes_of(&document), Ordering::Relaxed);
        turn.documents.extend(objects);
        turn.documents.push(document);
        self.turn = Some(turn);
        Ok(place)
    }

    /// A buffer that nobody fills, or a new one; where neither may be had, the first one once it is free.
    pub(super) fn begin_turn(&mut self) -> tantivy::Result<Turn> {
        let free = |(at, buffer): (usize, &Buffer)| Some((at, buffer.contents.fill.lock().take()?));
        let found = self.buffers.iter().enumerate().find_map(free);
        let (at, fill) = match (found, self.buffers.len()) {
            (Some(found), _) => found,
            (None, count) => {
                let begins = count == 0 || (count < self.limits.writers && self.has_large_group);
                let at = if begins { self.begin_buffer()? } else { 0 };
                (at, self.buffers[at].contents.take())
            }
        };
        Ok(Turn {
            at,
            contents: self.buffers[at].contents.clone(),
            fill: Some(fill),
            documents: Vec::new(),
            left_out: Vec::new(),
        })
    }

    fn begin_buffer(&mut self) -> tantivy::Result<usize> {
        let index = open_index(self.directory.spilling(), &self.mapping)?;
        let segment = index.new_segment();
        let builder = SegmentBuilder::new(segment.clone())?;
        let mut memory = self.limits.memory.open(MemoryPurpose::Buffers);
        let empty_bytes = builder.mem_usage();
        memory.set(empty_bytes);
        let fill = Fill {
            builder,
            memory,
            unseen: 0,
            unseen_bytes: 0,
            is_whole: true,
        };
        self.buffers.push(Buffer {
            segment,
            rows: 0,
            dead: Vec::new(),
            contents: Arc::new(Contents {
                fill: Mutex::new(Some(fill)),
                given_back: Condvar::new(),
                size_bytes: AtomicUsize::new(0),
                unseen_bytes: AtomicUsize::new(0),
                empty_bytes,
            }),
        });
        Ok(self.buffers.len() - 1)
    }

    /// How full the buffers are, as far as they were looked at.
    pub(crate) fn fullness(&self) -> Fullness {
        fullness(
            self.buffers.len(),
            self.seen_bytes(),
            self.limits.buffer_bytes_max,
        )
    }

    fn seen_bytes(&self) -> usize {
        let buffers = self.buffers.iter();
        buffers.map(|buffer| buffer.contents.seen_bytes()).sum()
    }
}

#[cfg(test)]
mod tests;
