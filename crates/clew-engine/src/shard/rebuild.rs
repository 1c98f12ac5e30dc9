//! Making a shard anew whose memory and log differ, as after a write that failed in the middle: from the newest
//! manifest and from what the log has beyond it, like a restart, but of one shard while the others serve.

use std::sync::Arc;

use clew_log::{Durability, Glsn, Order, Range, Selection};
use clew_schema::Mapping;

use super::health::Remedy;
use super::recovery::Opening;
use super::{Shard, Writer};
use crate::base::error::EngineError;
use crate::base::operation::decode;

impl Shard {
    /// Makes a shard anew whose memory and log differ: its newest manifest, then what the log has of it beyond that,
    /// as far as it is durable or can be made so. Does nothing with a shard that needs something else.
    ///
    /// # Errors
    /// When its files or the log cannot be read; the shard then stays as it is.
    pub(crate) fn rebuild(&self, mapping: &Arc<Mapping>) -> Result<(), EngineError> {
        // The order of locks; a merge in progress finds out by itself that its parts are of another life.
        let mut flushed = self.flushing.lock();
        let _sealing = self.sealing.lock();
        let mut writer = self.writer.lock();
        // Who fills a buffer of this life is not to fail the next one.
        writer.wait_for_turns();
        if self.health.remedy() != Some(Remedy::Rebuild) || self.health.is_retired() {
            return Ok(());
        }
        let opening = Opening {
            place: &self.place,
            context: &self.context,
            directory: &self.directory,
            health: &self.health,
        };
        let mut loaded = opening.load(mapping)?;
        loaded.writer.life = writer.life + 1;
        self.replay_own(&mut loaded.writer, mapping)?;
        let (place, clock) = (&self.place, &self.context.clock);
        let published = loaded.writer.publish(place, clock, None);
        let view = published
            .map_err(|source| self.tantivy_error(source))?
            .expect("a new writer always has something to publish");
        (*writer, *flushed) = (loaded.writer, loaded.flushed);
        self.view.store(Arc::new(view));
        self.health.recover();
        self.published.send_modify(|count| *count += 1);
        tracing::info!(
            index = self.place.index.get(),
            shard = self.place.number,
            applied = writer.applied.get(),
            "shard rebuilt"
        );
        Ok(())
    }

    /// Replays what the log has of this shard alone.
    fn replay_own(&self, writer: &mut Writer, mapping: &Arc<Mapping>) -> Result<(), EngineError> {
        let log = &self.context.log;
        log.hand_over();
        // A log that has failed keeps what is durable, and gives the positions behind it out again.
        let (life, last) = (log.life(), log.last());
        let (last, has_failed) = match log.wait_in(life, last, Durability::Sync) {
            Ok(()) => (last, false),
            Err(_) => (log.durable(), true),
        };
        let from = writer.applied.next().max(log.first());
        if from <= last {
            self.replay_range(writer, mapping, (from, last))?;
        }
        // A log that has failed still counts what it has lost.
        match has_failed {
            true => Ok(()),
            false => self.check_rebuilt(writer.next_seq_no),
        }
    }

    /// Refuses what lacks operations, as a shard does whose folder was emptied after the log was trimmed: a start
    /// would find that out, too.
    fn check_rebuilt(&self, operations: u64) -> Result<(), EngineError> {
        let logged = self.context.log.stream_info(self.place.stream);
        let logged = logged.map_or(0, |info| info.last.get());
        if operations >= logged {
            return Ok(());
        }
        Err(EngineError::Corrupt {
            path: self.place.dir.clone(),
            reason: format!(
                "operations [{operations}] to [{}] are missing, and the log has them no more",
                logged - 1
            ),
        })
    }

    /// Replays what the log has of this shard from the one position to the other.
    fn replay_range(
        &self,
        writer: &mut Writer,
        mapping: &Arc<Mapping>,
        (from, last): (Glsn, Glsn),
    ) -> Result<(), EngineError> {
        let log = &self.context.log;
        let mut scan = log.scan_with(&Selection {
            range: Range::Glsn {
                from,
                to: last.next(),
            },
            streams: vec![self.place.stream],
            order: Order::Forward,
        })?;
        while let Some(entry) = scan.next() {
            let entry = entry?;
            let operation = decode(entry.payload)?;
            let document = self.prepare_logged(&operation, mapping)?;
            let now = self.context.clock.monotonic();
            writer.replay(&operation, document, entry.glsn, now)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
