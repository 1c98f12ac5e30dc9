//! Streams made by name: creating, sealing, deleting. Each change is a control record in the log,
//! and the call returns once that is durable.

use super::append::Changed;
use super::{Log, Shown};
use crate::error::LogError;
use crate::position::{Glsn, Llsn, StreamId};
use crate::registry::{self, Change, Record, StreamInfo};

impl Log {
    /// Makes a stream. Returns once it is durable, as all changes of streams do.
    ///
    /// # Errors
    /// [`LogError::StreamName`], [`LogError::StreamExists`], or when the log takes nothing more.
    pub fn create_stream(&self, name: &str) -> Result<StreamInfo, LogError> {
        registry::check_name(name)?;
        let shared = self.shared();
        let mut sequencer = shared.sequencer.lock();
        let registry = &sequencer.state.registry;
        if let Some(stream) = registry.find(name) {
            return Err(LogError::StreamExists {
                name: name.to_owned(),
                stream,
            });
        }
        let reason = "cannot be made: all numbers are used up";
        let id = registry.next_named().ok_or(LogError::Options {
            field: "stream",
            reason,
        })?;
        let created_ms = shared.clock.epoch_ms();
        let record = Record {
            name: name.into(),
            first: Llsn::FIRST,
            epoch: 0,
            sealed: false,
            created_ms,
            deleted_at: Glsn::ZERO,
        };
        let changed = self.change(&mut sequencer, Change::Stream(id, record))?;
        drop(sequencer);
        changed.wait(self)?;
        self.stream_info(id)
    }

    /// The stream of a name, or of a number in digits.
    ///
    /// # Errors
    /// [`LogError::UnknownStream`].
    pub fn stream(&self, name: &str) -> Result<StreamInfo, LogError> {
        let sequencer = self.shared().sequencer.lock();
        let registry = &sequencer.state.registry;
        let info = registry.find(name).and_then(|id| registry.info(id));
        info.ok_or_else(|| LogError::UnknownStream {
            name: name.to_owned(),
        })
    }

    /// The stream of a number.
    ///
    /// # Errors
    /// [`LogError::UnknownStream`].
    pub fn stream_info(&self, id: StreamId) -> Result<StreamInfo, LogError> {
        let sequencer = self.shared().sequencer.lock();
        let info = sequencer.state.registry.info(id);
        info.ok_or_else(|| LogError::UnknownStream {
            name: id.to_string(),
        })
    }

    /// All streams, by number: those without names that have had an entry, then the named ones.
    pub fn streams(&self) -> Vec<StreamInfo> {
        self.shared().sequencer.lock().state.registry.infos()
    }

    /// Refuses appends to a stream from now on: whatever is ordered later fails with
    /// [`LogError::Sealed`]. Sealing a sealed stream changes nothing.
    ///
    /// # Errors
    /// As [`unseal`](Self::unseal).
    pub fn seal(&self, stream: StreamId) -> Result<StreamInfo, LogError> {
        self.update(stream, |record| {
            let changes = !record.sealed;
            record.sealed = true;
            changes
        })
    }

    /// Lets a sealed stream be appended to, at the next epoch: writers that name the one before
    /// stay out. Unsealing a stream that is not sealed changes nothing.
    ///
    /// # Errors
    /// [`LogError::UnknownStream`], [`LogError::ReservedStream`] for one without a name, or when the log takes nothing more.
    pub fn unseal(&self, stream: StreamId) -> Result<StreamInfo, LogError> {
        self.update(stream, |record| {
            let changes = record.sealed;
            record.epoch += u64::from(changes);
            record.sealed = false;
            changes
        })
    }

    /// Deletes streams: their entries are gone at once, their space once whole files are. Of a
    /// stream without a name only the counter is forgotten: its next entry gets LLSN 1.
    ///
    /// # Errors
    /// [`LogError::UnknownStream`] for one with a name that is not there, before any is deleted; or when the log takes
    /// nothing more.
    pub fn delete_streams(&self, streams: &[StreamId]) -> Result<(), LogError> {
        let shared = self.shared();
        let mut sequencer = shared.sequencer.lock();
        let mut last = None;
        for stream in streams.iter().filter(|stream| stream.is_named()) {
            self.record(&sequencer.state.registry, *stream)?;
        }
        for stream in streams {
            let registry = &sequencer.state.registry;
            let change = match registry.record(*stream).cloned() {
                Some(record) => Change::Stream(
                    *stream,
                    Record {
                        deleted_at: sequencer.next,
                        ..record
                    },
                ),
                None if registry.info(*stream).is_some() => Change::Forget(*stream),
                None => continue,
            };
            last = Some(self.change(&mut sequencer, change)?);
        }
        drop(sequencer);
        last.map_or(Ok(()), |changed| self.settle(changed))?;
        self.reclaim()
    }

    fn update(
        &self,
        stream: StreamId,
        change: impl FnOnce(&mut Record) -> bool,
    ) -> Result<StreamInfo, LogError> {
        let mut sequencer = self.shared().sequencer.lock();
        let mut record = self.record(&sequencer.state.registry, stream)?;
        if change(&mut record) {
            let changed = self.change(&mut sequencer, Change::Stream(stream, record))?;
            drop(sequencer);
            self.settle(changed)?;
        } else {
            drop(sequencer);
        }
        self.stream_info(stream)
    }

    /// The record of a named stream.
    pub(super) fn record(
        &self,
        registry: &registry::Registry,
        stream: StreamId,
    ) -> Result<Record, LogError> {
        if !stream.is_named() {
            return Err(LogError::ReservedStream { stream });
        }
        let unknown = || LogError::UnknownStream {
            name: stream.to_string(),
        };
        registry.record(stream).cloned().ok_or_else(unknown)
    }

    /// Waits until changes are durable, and only then shows them to readers.
    pub(super) fn settle(&self, changed: Changed) -> Result<(), LogError> {
        let shared = self.shared();
        changed.wait(self)?;
        let sequencer = shared.sequencer.lock();
        let shown = Shown::of(&sequencer.state);
        *shared.shown.write() = shown;
        Ok(())
    }
}
