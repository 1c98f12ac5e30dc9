//! Giving up old entries. What is trimmed is hidden once that is durable; space comes back by
//! whole files, from the oldest on, when nothing in them is retained.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::Log;
use crate::error::LogError;
use crate::file::{self, LogFile};
use crate::frame::Frame;
use crate::header;
use crate::options::{LogOptions, Trim};
use crate::position::{Glsn, Llsn, StreamId};
use crate::registry::{Change, Registry};

impl LogOptions {
    /// Whether named streams lose entries by themselves.
    pub(super) fn retains_less(&self) -> bool {
        self.retention_bytes > 0 || self.retention_age_ms > 0
    }
}

impl Log {
    /// Gives up entries, and removes the files that hold nothing else. The active file stays.
    ///
    /// Streams made by name remember what they gave up: reading it is [`LogError::Trimmed`] or
    /// [`LogError::TrimmedStream`], now and after any crash from the moment this returns.
    pub fn trim(&self, what: Trim) -> Result<(), LogError> {
        match what {
            Trim::Unnamed(until) => {
                // Positions that are not given yet are none to give up.
                let until = until.min(self.last());
                self.shared()
                    .unnamed_floor
                    .fetch_max(until.get(), Ordering::AcqRel);
            }
            Trim::Stream(stream, until) => {
                let mut sequencer = self.shared().sequencer.lock();
                let registry = &sequencer.state.registry;
                let mut record = self.record(registry, stream)?;
                let first = until.min(registry.next(stream).previous()).next();
                if first > record.first {
                    record.first = first;
                    let changed = self.change(&mut sequencer, Change::Stream(stream, record))?;
                    drop(sequencer);
                    self.settle(changed)?;
                }
            }
            Trim::Named(until) => self.trim_named(until.min(self.last()))?,
        }
        self.reclaim()
    }

    /// Gives up what the options do not retain. Called by `append` when a file is full; a quiet
    /// log that limits the age must be told to look from time to time.
    pub fn apply_retention(&self) -> Result<(), LogError> {
        let LogOptions {
            retention_bytes,
            retention_age_ms,
            ..
        } = self.shared().options;
        let now_ms = self.shared().clock.epoch_ms();
        let files = self.shared().files.read().clone();
        let mut bytes = self.bytes();
        let mut until = Glsn::ZERO;
        for pair in files.windows(2) {
            let [file, after] = pair else { break };
            // The entries of a file are no younger than the file after it.
            let age_ms = now_ms.saturating_sub(header::time_ms(&after.map(&self.shared().disk)?));
            let too_many = retention_bytes > 0 && bytes > retention_bytes;
            let too_old = retention_age_ms > 0 && age_ms > retention_age_ms;
            if !too_many && !too_old {
                break;
            }
            bytes -= file.end() as u64;
            until = after.first.previous();
        }
        if until > Glsn::ZERO {
            self.trim(Trim::Named(until))
        } else {
            Ok(())
        }
    }

    fn trim_named(&self, until: Glsn) -> Result<(), LogError> {
        let life = self.life();
        // What is on its way to the disk cannot be walked yet.
        self.written(until)?;
        let firsts = self.counters_after(until)?;
        let mut sequencer = self.shared().sequencer.lock();
        if self.life() != life {
            return Err(LogError::Lost { glsn: until });
        }
        let registry = &sequencer.state.registry;
        let next = |stream: &StreamId| firsts.get(stream).copied().unwrap_or(Llsn::FIRST);
        let records = registry
            .named()
            .iter()
            .filter(|(_, record)| !record.is_deleted());
        let behind = records.filter(|(stream, record)| record.first < next(stream));
        let mut changes: Vec<Change> = behind
            .map(|(stream, record)| {
                let mut record = record.clone();
                record.first = next(stream);
                Change::Stream(*stream, record)
            })
            .collect();
        let all_named = registry.counters().keys().all(|stream| stream.is_named());
        if all_named && registry.low() <= until {
            changes.push(Change::Low(until.next()));
        }
        let mut last = None;
        for change in changes {
            last = Some(self.change(&mut sequencer, change)?);
        }
        drop(sequencer);
        last.map_or(Ok(()), |changed| self.settle(changed))
    }

    /// The next position of each stream after an entry: from the header of its file and the
    /// frames up to it.
    fn counters_after(&self, until: Glsn) -> Result<BTreeMap<StreamId, Llsn>, LogError> {
        let view = self.view();
        let target = until.next();
        let index = file::holding(&view.files, target).unwrap_or(0);
        let file = &view.files[index];
        let map = file.map(&view.disk)?;
        let mut counters: BTreeMap<_, _> = header::counters(&map).collect();
        let (mut next, mut offset) = (file.first, file.header_bytes);
        while next < target && offset < map.len() {
            let (frame, bytes) = file.frame(&map, offset, next)?;
            if let Frame::Entries(head, _) = &frame {
                let wanted = target.get().min(frame.next().get()) - next.get();
                counters.insert(head.place.stream, head.place.llsn.plus(wanted));
            }
            next = frame.next();
            offset += bytes;
        }
        Ok(counters)
    }

    /// Removes the oldest files while nothing in them is retained.
    pub(super) fn reclaim(&self) -> Result<(), LogError> {
        let shared = self.shared();
        let _one_at_a_time = shared.trimming.lock();
        loop {
            let files = shared.files.read().clone();
            let [oldest, after, ..] = &files[..] else {
                return Ok(());
            };
            if !self.is_given_up(oldest, after)? {
                return Ok(());
            }
            Arc::make_mut(&mut *shared.files.write()).remove(0);
            if let Err(source) = shared.disk.remove_file(&oldest.path) {
                Arc::make_mut(&mut *shared.files.write()).insert(0, oldest.clone());
                return Err(LogError::io("remove", &oldest.path)(source));
            }
            // One by one: a crash must not bring back a file and leave a gap behind it.
            shared
                .disk
                .sync_dir(&shared.dir)
                .map_err(LogError::io("sync", &shared.dir))?;
        }
    }

    /// Whether nothing in a file is retained, by the counters of it and of the file after it.
    fn is_given_up(&self, file: &LogFile, after: &LogFile) -> Result<bool, LogError> {
        let shared = self.shared();
        let before = file.map(&shared.disk)?;
        let behind = after.map(&shared.disk)?;
        let floor = Glsn::new(shared.unnamed_floor.load(Ordering::Acquire));
        let last = after.first.previous();
        let sequencer = shared.sequencer.lock();
        let registry = &sequencer.state.registry;
        if last < registry.low() {
            return Ok(true);
        }
        let given_up = |(stream, next): (StreamId, Llsn)| {
            header::counter(&before, stream) == next
                || if stream.is_named() {
                    is_trimmed(registry, stream, next)
                } else {
                    last <= floor
                }
        };
        Ok(header::counters(&behind).all(given_up))
    }
}

/// Whether a named stream retains nothing before an entry.
fn is_trimmed(registry: &Registry, stream: StreamId, next: Llsn) -> bool {
    registry
        .record(stream)
        .is_none_or(|record| record.first >= next)
}
