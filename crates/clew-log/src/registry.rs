//! Which streams there are and what state they are in. Changes go through the log as control
//! records, and each file's header repeats the whole, so that it outlives trimmed files.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::error::LogError;
use crate::fields::Fields;
use crate::position::{Glsn, Llsn, StreamId};

const NAME_BYTES_MAX: usize = 255;
const FLAG_SEALED: u8 = 1;
const TAG_STREAM: u8 = 1;
const TAG_FORGET: u8 = 2;
const TAG_LOW: u8 = 3;

/// A stream, as it is described to users.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamInfo {
    /// Its number.
    pub id: StreamId,
    /// Its name; a stream that the embedding program has numbered itself has none.
    pub name: Option<Arc<str>>,
    /// The lowest entry retained; one above `last` when there is none. For a stream without a
    /// name always 1: the program that embeds the log knows what it has trimmed.
    pub first: Llsn,
    /// The last entry; 0 before the first.
    pub last: Llsn,
    /// Whether appends are refused.
    pub sealed: bool,
    /// Raised by every unsealing; 0 at first.
    pub epoch: u64,
    /// When it was made, in milliseconds since the Unix epoch; 0 for a stream without a name.
    pub created_ms: u64,
}

/// A named stream's state but for its counter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) name: Arc<str>,
    /// The lowest entry retained.
    pub(crate) first: Llsn,
    pub(crate) epoch: u64,
    pub(crate) sealed: bool,
    pub(crate) created_ms: u64,
    /// Set on deletion: the stream's entries all lie below. Kept as long as they may be on disk.
    pub(crate) deleted_at: Glsn,
}

impl Record {
    pub(crate) fn is_deleted(&self) -> bool {
        self.deleted_at != Glsn::ZERO
    }
}

/// A change that is no entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// A named stream's state is this from now on.
    Stream(StreamId, Record),
    /// The counter of a stream without a name is forgotten.
    Forget(StreamId),
    /// Nothing below is retained.
    Low(Glsn),
}

/// All streams.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Registry {
    /// The next position of each stream that has had an entry.
    counters: BTreeMap<StreamId, Llsn>,
    named: BTreeMap<StreamId, Record>,
    names: BTreeMap<Arc<str>, StreamId>,
    /// Above every number given to a name.
    next_named: u32,
    low: Glsn,
}

/// From which entry on a stream is shown, for streams that do not show all.
pub(crate) type Hidden = BTreeMap<StreamId, Llsn>;

impl Registry {
    pub(crate) fn next(&self, stream: StreamId) -> Llsn {
        self.counters.get(&stream).copied().unwrap_or(Llsn::FIRST)
    }

    pub(crate) fn set_next(&mut self, stream: StreamId, next: Llsn) {
        self.counters.insert(stream, next);
    }

    pub(crate) fn counters(&self) -> &BTreeMap<StreamId, Llsn> {
        &self.counters
    }

    /// Below this nothing is retained, whatever the files still hold.
    pub(crate) fn low(&self) -> Glsn {
        self.low
    }

    /// A named stream that has not been deleted.
    pub(crate) fn record(&self, stream: StreamId) -> Option<&Record> {
        self.named
            .get(&stream)
            .filter(|record| !record.is_deleted())
    }

    pub(crate) fn named(&self) -> &BTreeMap<StreamId, Record> {
        &self.named
    }

    /// The stream of a name, or of a number in digits.
    pub(crate) fn find(&self, name: &str) -> Option<StreamId> {
        let number = || {
            name.parse()
                .ok()
                .map(StreamId::new)
                .filter(|id| self.info(*id).is_some())
        };
        self.names.get(name).copied().or_else(number)
    }

    pub(crate) fn info(&self, id: StreamId) -> Option<StreamInfo> {
        let last = self.next(id).previous();
        if !id.is_named() {
            let known = self.counters.contains_key(&id);
            let (first, created_ms) = (Llsn::FIRST, 0);
            return known.then_some(StreamInfo {
                id,
                name: None,
                first,
                last,
                sealed: false,
                epoch: 0,
                created_ms,
            });
        }
        let Record {
            name,
            first,
            epoch,
            sealed,
            created_ms,
            ..
        } = self.record(id)?.clone();
        Some(StreamInfo {
            id,
            name: Some(name),
            first,
            last,
            sealed,
            epoch,
            created_ms,
        })
    }

    /// All streams, by number.
    pub(crate) fn infos(&self) -> Vec<StreamInfo> {
        let unnamed = self.counters.keys().filter(|id| !id.is_named());
        unnamed
            .chain(self.named.keys())
            .filter_map(|id| self.info(*id))
            .collect()
    }

    /// The number that the next stream made by name gets; `None` when there is none left.
    pub(crate) fn next_named(&self) -> Option<StreamId> {
        let next = self.next_named.max(StreamId::NAMED_FIRST.get());
        (next < u32::MAX).then_some(StreamId::new(next))
    }

    pub(crate) fn apply(&mut self, change: Change) {
        match change {
            Change::Stream(id, record) => {
                self.next_named = self.next_named.max(id.get().saturating_add(1));
                if record.is_deleted() {
                    self.names.remove(&record.name);
                } else {
                    self.names.insert(record.name.clone(), id);
                }
                self.named.insert(id, record);
            }
            Change::Forget(id) => {
                self.counters.remove(&id);
            }
            Change::Low(low) => self.low = self.low.max(low),
        }
    }

    /// Forgets deleted streams whose entries all lie below `first`, where no file begins any more.
    pub(crate) fn purge(&mut self, first: Glsn) {
        let gone = |record: &Record| record.is_deleted() && record.deleted_at <= first;
        let ids: Vec<StreamId> = self
            .named
            .iter()
            .filter(|(_, r)| gone(r))
            .map(|(id, _)| *id)
            .collect();
        for id in ids {
            self.named.remove(&id);
            self.counters.remove(&id);
        }
    }

    pub(crate) fn hidden(&self) -> Hidden {
        let of = |(id, record): (&StreamId, &Record)| match record.is_deleted() {
            true => Some((*id, Llsn::new(u64::MAX))),
            false => (record.first > Llsn::FIRST).then_some((*id, record.first)),
        };
        self.named.iter().filter_map(of).collect()
    }

    /// The part of a file header behind the counters.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.low.get().to_le_bytes());
        out.extend_from_slice(&self.next_named.to_le_bytes());
        let count = u32::try_from(self.named.len()).expect("stream numbers have 32 bits");
        out.extend_from_slice(&count.to_le_bytes());
        for (id, record) in &self.named {
            encode_record(out, *id, record);
        }
    }

    pub(crate) fn decode(
        fields: &mut Fields<'_>,
        counters: BTreeMap<StreamId, Llsn>,
    ) -> Option<Self> {
        let mut registry = Registry {
            counters,
            low: Glsn::new(fields.u64()?),
            ..Registry::default()
        };
        let next_named = fields.u32()?;
        for _ in 0..fields.u32()? {
            let (id, record) = decode_record(fields)?;
            registry.apply(Change::Stream(id, record));
        }
        registry.next_named = registry.next_named.max(next_named);
        Some(registry)
    }
}

impl Change {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        match self {
            Change::Stream(id, record) => {
                out.push(TAG_STREAM);
                encode_record(&mut out, *id, record);
            }
            Change::Forget(id) => {
                out.push(TAG_FORGET);
                out.extend_from_slice(&id.get().to_le_bytes());
            }
            Change::Low(low) => {
                out.push(TAG_LOW);
                out.extend_from_slice(&low.get().to_le_bytes());
            }
        }
        out
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut fields = Fields(bytes);
        let change = match fields.u8()? {
            TAG_STREAM => {
                let (id, record) = decode_record(&mut fields)?;
                Change::Stream(id, record)
            }
            TAG_FORGET => Change::Forget(StreamId::new(fields.u32()?)),
            TAG_LOW => Change::Low(Glsn::new(fields.u64()?)),
            _ => return None,
        };
        fields.0.is_empty().then_some(change)
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Change::Forget(id) => write!(f, "stream {id} forgotten"),
            Change::Low(low) => write!(f, "all trimmed below {low}"),
            Change::Stream(id, record) => {
                let state = match (record.is_deleted(), record.sealed) {
                    (true, _) => "deleted",
                    (false, true) => "sealed",
                    (false, false) => "open",
                };
                let Record {
                    name, first, epoch, ..
                } = record;
                write!(
                    f,
                    "stream {id} ({name}) {state} epoch {epoch} first {first}"
                )
            }
        }
    }
}

fn encode_record(out: &mut Vec<u8>, id: StreamId, record: &Record) {
    out.extend_from_slice(&id.get().to_le_bytes());
    for number in [
        record.first.get(),
        record.epoch,
        record.created_ms,
        record.deleted_at.get(),
    ] {
        out.extend_from_slice(&number.to_le_bytes());
    }
    out.push(if record.sealed { FLAG_SEALED } else { 0 });
    out.push(u8::try_from(record.name.len()).expect("names are limited"));
    out.extend_from_slice(record.name.as_bytes());
}

fn decode_record(fields: &mut Fields<'_>) -> Option<(StreamId, Record)> {
    let id = StreamId::new(fields.u32()?);
    let (first, epoch) = (Llsn::new(fields.u64()?), fields.u64()?);
    let (created_ms, deleted_at) = (fields.u64()?, Glsn::new(fields.u64()?));
    let sealed = fields.u8()? & FLAG_SEALED != 0;
    let name_bytes = usize::from(fields.u8()?);
    let name = std::str::from_utf8(fields.bytes(name_bytes)?).ok()?.into();
    Some((
        id,
        Record {
            name,
            first,
            epoch,
            sealed,
            created_ms,
            deleted_at,
        },
    ))
}

/// Checks that a stream may have a name: letters, digits, `_`, `-` and `.`, not digits alone.
pub(crate) fn check_name(name: &str) -> Result<(), LogError> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    let reason = if name.is_empty() {
        "is empty"
    } else if name.len() > NAME_BYTES_MAX {
        "is longer than 255 bytes"
    } else if !name.bytes().all(allowed) {
        "has other characters than letters, digits, '_', '-' and '.'"
    } else if name.bytes().all(|byte| byte.is_ascii_digit()) {
        "consists of digits alone"
    } else {
        return Ok(());
    };
    Err(LogError::StreamName {
        name: name.to_owned(),
        reason,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(name: &str) -> Record {
        let (first, epoch, created_ms) = (Llsn::new(4), 2, 99);
        Record {
            name: name.into(),
            first,
            epoch,
            sealed: true,
            created_ms,
            deleted_at: Glsn::ZERO,
        }
    }

    #[test]
    fn changes_read_back_and_cut_ones_do_not() {
        let id = StreamId::new(StreamId::NAMED_FIRST.get() + 3);
        for change in [
            Change::Stream(id, record("orders")),
            Change::Forget(id),
            Change::Low(Glsn::new(7)),
        ] {
            let bytes = change.encode();
            assert_eq!(Change::decode(&bytes), Some(change));
            for end in 0..bytes.len() {
                assert_eq!(Change::decode(&bytes[..end]), None);
            }
        }
    }

    #[test]
    fn a_name_is_free_again_after_deletion_and_its_number_is_not() {
        let mut registry = Registry::default();
        let id = registry.next_named().unwrap();
        registry.apply(Change::Stream(id, record("a")));
        assert_eq!(registry.find("a"), Some(id));
        assert_eq!(registry.find(&id.to_string()), Some(id));
        registry.apply(Change::Stream(
            id,
            Record {
                deleted_at: Glsn::new(9),
                ..record("a")
            },
        ));
        assert_eq!((registry.find("a"), registry.info(id)), (None, None));
        assert_eq!(registry.hidden().get(&id), Some(&Llsn::new(u64::MAX)));
        registry.purge(Glsn::new(8));
        assert!(
            !registry.hidden().is_empty(),
            "its entries may still be on disk"
        );
        registry.purge(Glsn::new(9));
        assert!(registry.hidden().is_empty());
        assert!(registry.next_named().unwrap() > id);
    }

    #[test]
    fn names_are_checked() {
        for good in ["a", "a.b-c_D9", "9a", &"x".repeat(255)] {
            check_name(good).unwrap();
        }
        for bad in ["", "12", "a b", "ä", "a/b", &"x".repeat(256)] {
            check_name(bad).unwrap_err();
        }
    }
}
