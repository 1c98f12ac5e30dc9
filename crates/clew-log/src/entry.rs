//! Entries as readers get them: lent out of the log's file, or owned.

use bytes::Bytes;

use crate::block::Headers;
use crate::position::{Glsn, Llsn, StreamId};

/// An entry with its own copy of the payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its place in the log.
    pub glsn: Glsn,
    /// Its place in its stream.
    pub llsn: Llsn,
    /// Its stream.
    pub stream: StreamId,
    /// When it was ordered, in milliseconds since the Unix epoch; never less than before it.
    pub time_ms: u64,
    /// Keys with values, in the order they were given.
    pub headers: Vec<(String, Bytes)>,
    /// What was appended.
    pub payload: Bytes,
}

/// An entry whose payload still lies in the log file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryRef<'a> {
    /// Its place in the log.
    pub glsn: Glsn,
    /// Its place in its stream.
    pub llsn: Llsn,
    /// Its stream.
    pub stream: StreamId,
    /// When it was ordered, in milliseconds since the Unix epoch; never less than before it.
    pub time_ms: u64,
    /// Keys with values, in the order they were given.
    pub headers: Headers<'a>,
    /// What was appended.
    pub payload: &'a [u8],
}

impl EntryRef<'_> {
    /// The entry with its own copy of the payload.
    pub fn to_entry(&self) -> Entry {
        let own = |(key, value): (&str, &[u8])| (key.to_owned(), Bytes::copy_from_slice(value));
        Entry {
            glsn: self.glsn,
            llsn: self.llsn,
            stream: self.stream,
            time_ms: self.time_ms,
            headers: self.headers.map(own).collect(),
            payload: Bytes::copy_from_slice(self.payload),
        }
    }
}
