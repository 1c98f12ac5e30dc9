//! Making a shard anew whose memory and log differ, as after a write that failed in the middle: from the newest
//! manifest and from what the log has beyond it, like a restart, but of one shard while the others serve.

use std::sync::Arc;

use clew_log::{Durability, Order, Range, Selection};
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
        let (name, clock) = (&self.place.index, &self.context.clock);
        let published = loaded.writer.publish(name, clock, None);
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
        let last = match log.wait_in(life, last, Durability::Sync) {
            Ok(()) => last,
            Err(_) => log.durable(),
        };
        let from = writer.applied.next().max(log.first());
        if from > last {
            return Ok(());
        }
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
mod tests {
    use std::path::{Path, PathBuf};

    use clew_log::Glsn;
    use clew_platform::{Disk, SimDisk};

    use super::*;
    use crate::base::access::{Access, Purpose};
    use crate::base::settings::MergeOrder;
    use crate::base::write_request::Freshness;
    use crate::node::options::EngineOptions;
    use crate::shard::MergeGoal;
    use crate::shard::fixture::{engine, engine_with, put};

    #[test]
    fn a_log_that_goes_on_takes_nothing_back_that_is_not_durable_yet() {
        let (engine, index) = engine(&SimDisk::new());
        put(&engine, "not waited for").unwrap();
        let shard = &index.shards[0];
        // By somebody who saw the log fail, and comes here only when it has gone on.
        shard.forget_undurable();
        assert_eq!(shard.remedy(), None);
        engine.close().unwrap();
    }

    #[test]
    fn a_shard_that_has_failed_answers_nothing_until_it_was_rebuilt_from_the_log() {
        let (engine, index) = engine(&SimDisk::new());
        let (everything, read) = (Access::everything(), Purpose::Read);
        let handle = engine.open_exactly("docs", &everything, read).unwrap();
        put(&engine, "flushed").unwrap();
        engine.flush(&index).unwrap();
        put(&engine, "refreshed").unwrap();
        engine.refresh(&index).unwrap();
        put(&engine, "buffered").unwrap();
        let shard = &index.shards[0];
        // Nobody rebuilds it while this is held.
        let held = shard.flushing.lock();
        shard.fail(&"a test wants it so");
        for freshness in [Freshness::Latest, Freshness::Searchable] {
            let refused = engine.get(&handle, "flushed", None, freshness).unwrap_err();
            assert!(
                refused.to_string().contains("a test wants it so"),
                "{refused}"
            );
        }
        assert!(engine.refresh(&index).is_err());
        assert!(put(&engine, "refused").is_err());
        drop(held);
        shard.rebuild(&index.mapping()).unwrap();
        assert_eq!(shard.remedy(), None);
        for id in ["flushed", "refreshed", "buffered"] {
            let found = engine
                .get(&handle, id, None, Freshness::Searchable)
                .unwrap();
            assert_eq!(found.map(|found| found.version), Some(1), "{id}");
        }
        assert!(
            engine
                .get(&handle, "refused", None, Freshness::Latest)
                .unwrap()
                .is_none()
        );
        put(&engine, "buffered").unwrap();
        let again = engine
            .get(&handle, "buffered", None, Freshness::Latest)
            .unwrap();
        assert_eq!(
            again.map(|found| (found.version, found.seq_no)),
            Some((2, 3))
        );
    }

    #[test]
    fn what_a_failed_shard_is_rebuilt_from_is_not_trimmed() {
        let (engine, index) = engine(&SimDisk::new());
        put(&engine, "flushed").unwrap();
        engine.flush(&index).unwrap();
        // Nobody rebuilds it after this.
        engine.close().unwrap();
        let shard = &index.shards[0];
        assert_eq!(shard.checkpoint(), None);
        shard.fail(&"a test wants it so");
        assert_eq!(shard.checkpoint(), Some(shard.recovered_from()));
    }

    #[test]
    fn segments_that_died_before_anybody_saw_them_are_not_looked_through() {
        let options = EngineOptions {
            write_buffer_bytes: 1,
            ..EngineOptions::new("/data")
        };
        let (engine, index) = engine_with(&SimDisk::new(), options);
        let shard = &index.shards[0];
        // No merge helps.
        let _held = shard.merging.lock();
        for n in 0..1000 {
            put(&engine, &format!("d{}", n % 40)).unwrap();
        }
        let segments = shard.writer.lock().segment_count();
        assert!((1..=3).contains(&segments), "{segments}");
    }

    #[test]
    fn a_merge_with_nothing_to_do_waits_for_no_other() {
        let (engine, index) = engine(&SimDisk::new());
        put(&engine, "a").unwrap();
        engine.force_merge(&index, 1).unwrap();
        let shard = &index.shards[0];
        // As if another one were running, which had to give way.
        let _held = shard.merging.lock();
        engine.force_merge(&index, 1).unwrap();
        assert!(!shard.merge_state.progress.is_cancelled());
        // Nor does the upkeep, which looks whenever something was written.
        let merged = shard.merge(MergeGoal::Upkeep, MergeOrder::Stacked);
        assert!(!merged.unwrap());
    }

    #[test]
    fn damage_is_not_rebuilt() {
        let disk = SimDisk::new();
        let (engine, index) = engine(&disk);
        put(&engine, "a").unwrap();
        engine.flush(&index).unwrap();
        let shard = &index.shards[0];
        let held = shard.flushing.lock();
        let store = file_of(&disk, &shard.place.dir, ".store");
        disk.open(&store).unwrap().set_len(3).unwrap();
        shard.fail(&"a test wants it so");
        drop(held);
        crate::node::healing::heal(&engine.inner);
        assert_eq!(shard.remedy(), Some(Remedy::Repair));
        let told = shard.failure().unwrap();
        assert!(told.contains("3 bytes"), "{told}");
        assert_eq!(shard.checkpoint(), Some(Glsn::ZERO));
    }

    fn file_of(disk: &SimDisk, dir: &Path, suffix: &str) -> PathBuf {
        let mut files = disk.list(dir).unwrap().into_iter();
        let is_it = |path: &PathBuf| path.to_string_lossy().ends_with(suffix);
        files.find(is_it).unwrap()
    }

    #[test]
    fn who_waits_to_see_what_was_written_is_told_when_the_index_goes() {
        let (engine, index) = engine(&SimDisk::new());
        put(&engine, "1").unwrap();
        let shard = &index.shards[0];
        let mut published = shard.published();
        published.borrow_and_update();
        engine.delete_index(&Access::everything(), "docs").unwrap();
        assert!(published.has_changed().unwrap());
    }
}
