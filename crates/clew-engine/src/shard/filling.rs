//! Segments that are being filled. Under the writer's lock a group of writes is numbered and logged, and each of its documents is
//! given the place that it will have; most of the work, to make postings and columns of them, is done without it. Groups that come
//! at once fill a segment each, as Lucene's writers do.

use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use clew_platform::{MemoryPurpose, Reservation};
use clew_search::SegmentBuilder;
use parking_lot::{Condvar, Mutex};
use tantivy::index::Segment;
use tantivy::{DocId, TantivyError};

use super::document::SegmentDocument;
use super::health::{Remedy, ShardHealth};
use super::writer::{Fullness, Writer, open_index};

/// A buffer's size is asked for after this many documents.
const LOOK_DOCS: u32 = 32;
/// And after each document whose source is longer than this.
const LOOK_BYTES: usize = 64 << 10;
/// A group of fewer documents waits for a buffer that somebody fills rather than begin another one: that takes megabytes, and
/// makes one more segment.
const OWN_BUFFER_DOCS: usize = 32;

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
    /// Nobody has failed in the middle of filling it.
    is_whole: bool,
}

impl Contents {
    /// Memory that it takes, as it was last looked at.
    pub(super) fn bytes(&self) -> usize {
        self.empty_bytes
            .max(self.size_bytes.load(Ordering::Relaxed))
    }

    /// Has it to oneself, once nobody else has.
    fn take(&self) -> Fill {
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
    pub(super) fn finish(&self) -> tantivy::Result<()> {
        let Fill {
            builder,
            is_whole,
            // Until the segment is written.
            memory: _memory,
            ..
        } = self.take();
        match is_whole {
            true => builder.finish(),
            false => {
                let told = "a write has failed in the middle".to_string();
                Err(TantivyError::InternalError(told))
            }
        }
    }
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
        if let Some(fill) = self.fill.take() {
            self.contents.give_back(fill);
        }
    }
}

impl Turn {
    /// Puts the documents in.
    ///
    /// # Errors
    /// When one cannot be put in: the buffer is of no use any more, and the shard has failed.
    fn fill(&mut self, health: &ShardHealth) -> tantivy::Result<()> {
        let documents = mem::take(&mut self.documents);
        let filled = self.add(&documents);
        // Before anybody else has the buffer.
        filled.inspect_err(|cause| {
            tracing::error!(%cause, "a document cannot be put into its segment");
            health.fail(Remedy::Rebuild, &cause.to_string());
        })
    }

    fn add(&mut self, documents: &[SegmentDocument]) -> tantivy::Result<()> {
        let Some(fill) = &mut self.fill else {
            return Ok(());
        };
        let builder = &mut fill.builder;
        // Until all of them are there: a panic leaves it so, too.
        fill.is_whole = false;
        for document in documents {
            builder.add(document)?;
            if builder.take_left_out() {
                self.left_out.push(document.row.seq_no);
            }
            fill.unseen += 1;
            if fill.unseen >= LOOK_DOCS || document.source.len() > LOOK_BYTES {
                let bytes = builder.mem_usage();
                fill.memory.set(bytes);
                self.contents.size_bytes.store(bytes, Ordering::Relaxed);
                fill.unseen = 0;
            }
        }
        fill.is_whole = true;
        Ok(())
    }

    /// Puts the documents in, without the writer's lock; gives the numbers of the operations of whose documents analysis has left
    /// something out. Should it fail, the shard has.
    pub(crate) fn end(mut self, health: &ShardHealth) -> Vec<u64> {
        // The shard has been told.
        let _ = self.fill(health);
        mem::take(&mut self.left_out)
    }
}

impl Writer {
    /// Tells how many writes the group has that comes now.
    pub(crate) fn expect(&mut self, writes: usize) {
        self.group_size = writes;
    }

    /// The documents of the present group, which whoever has the writer puts in when the lock is given back.
    pub(crate) fn take_turn(&mut self) -> Option<Turn> {
        self.turn.take()
    }

    /// Puts the documents of the present group in at once.
    pub(super) fn end_turn(&mut self) -> tantivy::Result<()> {
        match self.turn.take() {
            Some(mut turn) => turn.fill(&self.health),
            None => Ok(()),
        }
    }

    /// Waits for those who fill buffers.
    pub(super) fn wait_for_turns(&self) {
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
                let begins = count == 0
                    || (count < self.limits.writers && self.group_size >= OWN_BUFFER_DOCS);
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
                empty_bytes,
            }),
        });
        Ok(self.buffers.len() - 1)
    }

    /// How full the buffers are, as far as they were looked at. Several together may have half as much each as one alone.
    pub(crate) fn fullness(&self) -> Fullness {
        let sizes = self.buffers.iter();
        let sizes = sizes.map(|buffer| buffer.contents.size_bytes.load(Ordering::Relaxed));
        let bytes: usize = sizes.sum();
        let max = self.limits.buffer_bytes_max;
        match max.saturating_mul(self.buffers.len().max(1) + 1) / 2 {
            max if bytes < max => Fullness::HasRoom,
            max if bytes - max < max / 2 => Fullness::IsDue,
            _ => Fullness::IsOver,
        }
    }
}
