//! What producers did last, so that a retry after an unknown outcome adds nothing.
//!
//! For each producer the newest calls are remembered with their positions. The memory is a view
//! of the log: frames carry the producer, and each file's header repeats the whole.

use std::collections::{BTreeMap, VecDeque};

use crate::error::LogError;
use crate::fields::Fields;
use crate::frame::{FramePlace, Head};
use crate::options::Producer;
use crate::position::{Glsn, Llsn, StreamId};

/// Calls remembered for each producer: how far a retry may lie back.
const CALLS_MAX: usize = 16;
/// Producers remembered; the one that was silent for longest is forgotten first.
const PRODUCERS_MAX: usize = 1024;

/// A producer's calls, oldest first; never empty.
type Calls = VecDeque<Call>;

/// A call that was taken: its number, and its entries as one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Call {
    sequence: u64,
    run: FramePlace,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Producers(BTreeMap<u64, Calls>);

impl Producers {
    /// Where the call was put when it was made before; `None` when it is new and may be made.
    pub(crate) fn check(
        &self,
        producer: Producer,
        stream: StreamId,
        count: usize,
    ) -> Result<Option<FramePlace>, LogError> {
        let Producer { id, sequence } = producer;
        let Some(calls) = self.0.get(&id) else {
            return Ok(None);
        };
        let (oldest, newest) = (calls[0].sequence, calls[calls.len() - 1].sequence);
        if sequence > newest {
            let expected = newest + 1;
            let due = sequence == expected;
            return if due {
                Ok(None)
            } else {
                Err(LogError::SequenceGap {
                    producer: id,
                    expected,
                })
            };
        }
        match calls.iter().find(|call| call.sequence == sequence) {
            None => Err(LogError::SequenceTooOld {
                producer: id,
                oldest,
            }),
            Some(call) if call.run.stream == stream && call.run.count as usize == count => {
                Ok(Some(call.run))
            }
            Some(_) => Err(LogError::SequenceReused {
                producer: id,
                sequence,
            }),
        }
    }

    /// Remembers a frame of a call; a call's frames come one after the other.
    pub(crate) fn note(&mut self, head: &Head) {
        let Some(Producer { id, sequence }) = head.producer else {
            return;
        };
        let call = Call {
            sequence,
            run: head.place,
        };
        if let Some(calls) = self.0.get_mut(&id) {
            match calls.back_mut() {
                Some(last) if last.sequence == sequence => last.run.count += head.place.count,
                _ => calls.push_back(call),
            }
            if calls.len() > CALLS_MAX {
                calls.pop_front();
            }
            return;
        }
        if self.0.len() >= PRODUCERS_MAX {
            let newest = |calls: &Calls| calls.back().map(|call| call.run.glsn);
            let silent = self
                .0
                .iter()
                .min_by_key(|(_, calls)| newest(calls))
                .map(|(id, _)| *id);
            silent.map(|id| self.0.remove(&id));
        }
        self.0.insert(id, VecDeque::from([call]));
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        let size = |count: usize| {
            u32::try_from(count)
                .expect("both are limited")
                .to_le_bytes()
        };
        out.extend_from_slice(&size(self.0.len()));
        for (id, calls) in &self.0 {
            out.extend_from_slice(&id.to_le_bytes());
            out.extend_from_slice(&size(calls.len()));
            for Call { sequence, run } in calls {
                out.extend_from_slice(&run.stream.get().to_le_bytes());
                out.extend_from_slice(&run.count.to_le_bytes());
                for number in [*sequence, run.glsn.get(), run.llsn.get(), run.time_ms] {
                    out.extend_from_slice(&number.to_le_bytes());
                }
            }
        }
    }

    pub(crate) fn decode(fields: &mut Fields<'_>) -> Option<Self> {
        let mut producers = Producers::default();
        for _ in 0..fields.u32()? {
            let (id, count) = (fields.u64()?, fields.u32()?);
            let mut calls = Calls::new();
            for _ in 0..count {
                let (stream, count) = (StreamId::new(fields.u32()?), fields.u32()?);
                let (sequence, glsn) = (fields.u64()?, Glsn::new(fields.u64()?));
                let (llsn, time_ms) = (Llsn::new(fields.u64()?), fields.u64()?);
                calls.push_back(Call {
                    sequence,
                    run: FramePlace {
                        stream,
                        glsn,
                        llsn,
                        count,
                        time_ms,
                    },
                });
            }
            if !calls.is_empty() {
                producers.0.insert(id, calls);
            }
        }
        Some(producers)
    }
}

#[cfg(test)]
mod tests;
