//! Flush: the segments become durable and the checkpoint moves, so that the log may be trimmed
//! behind it. Nothing here holds the write lock while it waits for the disk.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use clew_log::{Durability, Glsn};
use tantivy::index::SegmentId;

use super::directory::ALIVE_SUFFIX;
use super::file_names::is_shard_file;
use super::health::Remedy;
use super::manifest::{Manifest, ManifestSegment, SegmentFile, manifest_number, write_alive};
use super::merge_job::SAVEPOINT_SUFFIX;
use super::sums::is_sound;
use super::{AliveBits, SegmentView, Shard};
use crate::base::error::{EngineError, io_error};
use crate::base::waiting::lock_aside;

/// What the last flush left on disk.
#[derive(Debug, Default)]
pub(super) struct FlushState {
    pub(super) number: u64,
    /// The position the newest manifest covers.
    pub(super) checkpoint: Glsn,
    /// The segments of the newest manifest, by id: how many documents live, and the file that
    /// says which. The dead never rise, so an equal count means equal bits.
    pub(super) segments: HashMap<SegmentId, (u32, Option<String>)>,
    /// Files whose sync has failed. The system takes their pages for stored ones from then on, so no later sync
    /// would store them: they are written anew.
    unsynced: HashSet<String>,
}

impl FlushState {
    /// Whether the newest manifest is or names a file.
    fn names(&self, file: &str) -> bool {
        if let Some(number) = manifest_number(Path::new(file)) {
            return number == self.number;
        }
        let id = file.split('.').next().unwrap_or_default();
        let Ok(id) = SegmentId::from_uuid_string(id) else {
            return false;
        };
        let named = self.segments.get(&id);
        named.is_some_and(|(_, alive)| {
            !file.ends_with(ALIVE_SUFFIX) || alive.as_deref() == Some(file)
        })
    }
}

impl Shard {
    /// The position up to which the log is not needed any more: everything in the shard when it
    /// has been flushed since its last write. A damaged shard keeps the whole log, one that has to be rebuilt
    /// what it is rebuilt from.
    pub(crate) fn checkpoint(&self) -> Option<Glsn> {
        let flushed = lock_aside(&self.flushing).checkpoint;
        let applied = lock_aside(&self.writer).applied;
        match self.health.remedy() {
            Some(Remedy::Repair) => Some(Glsn::ZERO),
            Some(Remedy::Rebuild) => Some(flushed),
            None => (applied > flushed).then_some(flushed),
        }
    }

    /// Number of the newest manifest.
    pub(crate) fn commit(&self) -> u64 {
        lock_aside(&self.flushing).number
    }

    /// Whether the newest manifest names a segment.
    pub(crate) fn has_flushed(&self, segment: SegmentId) -> bool {
        lock_aside(&self.flushing).segments.contains_key(&segment)
    }

    /// The position from which the log must be replayed into the shard.
    pub(crate) fn recovered_from(&self) -> Glsn {
        lock_aside(&self.flushing).checkpoint
    }

    /// Bytes of operations since the last flush.
    pub(crate) fn unflushed_bytes(&self) -> u64 {
        lock_aside(&self.writer).unflushed_bytes
    }

    /// Number and bytes of the operations since the last flush.
    pub(crate) fn unflushed(&self) -> (u64, u64) {
        let writer = lock_aside(&self.writer);
        (writer.unflushed_operations, writer.unflushed_bytes)
    }

    /// Makes everything applied so far durable outside the log. Cheap when nothing has changed.
    pub(crate) fn flush(&self) -> Result<(), EngineError> {
        let mut state = self.flushing.lock();
        let started = self.context.clock.monotonic();
        let superseded = self.superseded_bytes();
        let flushed = self.flush_changes(&mut state);
        // What a merge in progress has kept another flush from removing goes although nothing has changed since.
        if let Ok(changed) = flushed
            && (changed || superseded > 0)
            && self.remove_unused(&state)
        {
            let counter = &self.counters.superseded_bytes;
            counter.fetch_sub(superseded, Ordering::Relaxed);
        }
        self.counters.flushes.add(self.since(started));
        flushed.map(|_| ())
    }

    /// Bytes of files that are kept only because the newest manifest names them.
    pub(crate) fn superseded_bytes(&self) -> u64 {
        self.counters.superseded_bytes.load(Ordering::Relaxed)
    }

    /// Whether there was something to flush.
    fn flush_changes(&self, state: &mut FlushState) -> Result<bool, EngineError> {
        // Taken first: what is applied after the log was lost and began again must not pass for this one's.
        let life = self.context.log.life();
        // Without the writer's lock, as far as that goes.
        self.refresh()?;
        let (segments, applied, next_seq_no, unflushed) = {
            let mut writer = self.settled()?;
            self.publish(&mut writer)?;
            let unflushed = (writer.unflushed_operations, writer.unflushed_bytes);
            let segments = self.view().segments.clone();
            (segments, writer.applied, writer.next_seq_no, unflushed)
        };
        let unchanged = applied == state.checkpoint
            && segments.len() == state.segments.len()
            && segments.iter().all(|segment| {
                state
                    .segments
                    .get(&segment.files.id)
                    .is_some_and(|f| f.0 == segment.alive_count())
            });
        if unchanged {
            return Ok(false);
        }
        // The manifest must never say more than a crash leaves of the log.
        if applied > Glsn::ZERO {
            let log = &self.context.log;
            log.wait_in(life, applied, Durability::Sync)?;
        }
        let mut manifest = Manifest::new(state.number + 1, applied, next_seq_no);
        let mut rewritten = Vec::new();
        for segment in &segments {
            let (named, is_new) = self.make_durable(segment, state, manifest.number)?;
            manifest.segments.push(named);
            rewritten.extend(is_new.then_some(segment.files.id));
        }
        let dir = &self.place.dir;
        self.context
            .disk
            .sync_dir(dir)
            .map_err(io_error("sync", dir))?;
        // Last of all: until it is there, the one before it names everything that recovery needs.
        manifest.write(&*self.context.disk, dir)?;
        state.number = manifest.number;
        state.checkpoint = applied;
        state.segments = segments
            .iter()
            .zip(&manifest.segments)
            .map(|(view, named)| (view.files.id, (view.alive_count(), named.alive.clone())))
            .collect();
        self.flushed_up_to(unflushed, &rewritten)?;
        Ok(true)
    }

    /// Takes what was flushed off the writer's account, and reads the segments that were written anew from where
    /// they are now.
    fn flushed_up_to(
        &self,
        (operations, bytes): (u64, u64),
        rewritten: &[SegmentId],
    ) -> Result<(), EngineError> {
        let mut writer = self.settled()?;
        writer.unflushed_operations -= operations;
        writer.unflushed_bytes -= bytes;
        if rewritten.is_empty() {
            return Ok(());
        }
        let reread = writer.read_anew(rewritten);
        reread.map_err(|source| self.tantivy_error(source))?;
        self.publish(&mut writer)
    }

    /// Makes a segment's files durable; and whether some of them had to be written anew, so that its views read
    /// others.
    fn make_durable(
        &self,
        segment: &SegmentView,
        state: &mut FlushState,
        number: u64,
    ) -> Result<(ManifestSegment, bool), EngineError> {
        let dir = &self.place.dir;
        let id = segment.files.id;
        let files = self
            .directory
            .segment_files(&id)
            .map_err(io_error("list", dir))?;
        let mut is_new = false;
        if !state.segments.contains_key(&id) {
            for (name, _) in &files {
                let stored = self.store(name, &mut state.unsynced);
                is_new |= stored.map_err(io_error("sync", &dir.join(name)))?;
            }
        }
        let alive = match (&segment.alive, state.segments.get(&id)) {
            (None, _) => None,
            (Some(alive), Some((count, file))) if *count == alive.alive_count() => file.clone(),
            (Some(alive), _) => Some(self.write_alive(alive, id, number)?),
        };
        let summed = |(name, bytes): (String, u64)| {
            let sum = self.directory.sum(&name);
            let sum = sum.map_err(io_error("open", &dir.join(&name)))?;
            Ok(SegmentFile { name, bytes, sum })
        };
        let files = files.into_iter().map(summed);
        let named = ManifestSegment {
            id: id.uuid_string(),
            doc_count: segment.doc_count(),
            alive,
            files: files.collect::<Result<_, EngineError>>()?,
        };
        Ok((named, is_new))
    }

    /// Makes a file durable; whether it had to be written anew.
    fn store(&self, name: &str, unsynced: &mut HashSet<String>) -> io::Result<bool> {
        let disk = &self.context.disk;
        let path = self.place.dir.join(name);
        if !self.directory.has_spilled(name) && !unsynced.contains(name) {
            let mut file = disk.open(&path)?;
            match file.sync_data() {
                Ok(()) => return Ok(false),
                Err(error) => {
                    tracing::warn!(path = %path.display(), %error, "a sync has failed; the file is written anew");
                }
            }
            unsynced.insert(name.to_string());
        }
        let bytes = self.directory.read(name)?;
        if !is_sound(&bytes) {
            // The log still has what is in it.
            let lost = io::Error::other("the disk has lost what it was given");
            let reason = format!("{}: {lost}", path.display());
            self.health.fail(Remedy::Rebuild, &reason);
            return Err(lost);
        }
        disk.write_atomic(&path, &bytes)?;
        unsynced.remove(name);
        self.directory.forget_spilled(name);
        self.directory.read_anew(name);
        Ok(true)
    }

    fn write_alive(
        &self,
        alive: &Arc<AliveBits>,
        id: SegmentId,
        number: u64,
    ) -> Result<String, EngineError> {
        let name = format!("{}.{number}{ALIVE_SUFFIX}", id.uuid_string());
        write_alive(&*self.context.disk, &self.place.dir.join(&name), alive)?;
        Ok(name)
    }

    /// Removes the files that neither the newest manifest nor the writer needs. Views that still
    /// show a removed segment keep their maps of it. Failing to remove is not an error: the next
    /// flush tries again. Whether it could look: a merge in progress writes files that nothing names yet.
    fn remove_unused(&self, state: &FlushState) -> bool {
        let Some(_not_merging) = self.merging.try_lock() else {
            return false;
        };
        let writer = lock_aside(&self.writer);
        let unfinished = writer.unfinished_segments();
        let segments = writer.segments.iter();
        let living: HashSet<String> = segments
            .map(|segment| segment.view.files.id.uuid_string())
            .chain(unfinished.iter().cloned())
            .collect();
        self.directory.retain_spilled(&living);
        self.directory.forget_written(&unfinished);
        let disk = &self.context.disk;
        for path in disk.list(&self.place.dir).unwrap_or_default() {
            let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
                continue;
            };
            let segment = name.split('.').next().unwrap_or_default();
            let in_use = living.contains(segment) && !name.ends_with(ALIVE_SUFFIX)
                // An interrupted merge goes on with it; the next that ends removes it.
                || name.ends_with(SAVEPOINT_SUFFIX);
            if in_use || !is_shard_file(name) || state.names(name) {
                continue;
            }
            self.directory.forget(name);
            if let Err(error) = disk.remove_file(&path) {
                tracing::warn!(path = %path.display(), %error, "cannot remove an unused file");
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use clew_platform::{Disk, SimDisk};

    use crate::base::settings::MergeOrder;
    use crate::shard::MergeGoal;
    use crate::shard::fixture::{engine, put};

    #[test]
    fn what_a_merge_at_work_keeps_is_given_back_by_a_flush_after_it() {
        let disk = SimDisk::new();
        let (engine, index) = engine(&disk);
        for id in ["a", "b", "c"] {
            put(&engine, id).unwrap();
            engine.refresh(&index).unwrap();
        }
        engine.flush(&index).unwrap();
        let shard = &index.shards[0];
        let merged = shard.merge(MergeGoal::AtMost(1), MergeOrder::Stacked);
        assert!(merged.unwrap());
        let files = || disk.list(&shard.place.dir).unwrap().len();
        let superseded = shard.superseded_bytes();
        assert!(superseded > 0);
        let another = shard.merging.lock();
        shard.flush().unwrap();
        drop(another);
        assert_eq!(shard.superseded_bytes(), superseded);
        let kept = files();
        // Nothing was written since.
        shard.flush().unwrap();
        assert!(files() < kept);
        assert_eq!(shard.superseded_bytes(), 0);
        assert!(
            shard
                .view()
                .segments
                .iter()
                .all(|segment| shard.has_flushed(segment.files.id))
        );
        engine.close().unwrap();
    }
}
