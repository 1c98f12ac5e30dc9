//! Entries for one message of a reply, read ahead of the client by no more than that.
//!
//! The payloads of a batch share one buffer, so that an entry costs no allocation of its own
//! unless it has headers.

use bytes::{Bytes, BytesMut};
use clew_log::{EntryRef, Glsn, LogError, Scan};

use crate::proto;

/// Size of a batch unless the client asks for another.
const BATCH_BYTES_DEFAULT: usize = 256 << 10;
/// With the largest batch and its frames a message stays below the 4 MiB that clients take by
/// default.
const BATCH_BYTES_MAX: usize = 2 << 20;
/// What an entry counts beside its payload: its positions and tags take about so much on the wire,
/// and many empty entries must not make an endless batch.
const ENTRY_BYTES: usize = 32;

/// Where a batch ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BatchLimit {
    /// A batch is complete once its entries reach this size.
    pub(crate) bytes: usize,
    pub(crate) entries: u64,
}

impl BatchLimit {
    /// The limit for a size that a request gives; 0 means the default.
    pub(crate) fn of_bytes(asked: u32) -> Self {
        let bytes = match usize::try_from(asked).unwrap_or(usize::MAX) {
            0 => BATCH_BYTES_DEFAULT,
            asked => asked.min(BATCH_BYTES_MAX),
        };
        BatchLimit {
            bytes,
            entries: u64::MAX,
        }
    }
}

/// Some entries of a scan.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    pub(crate) entries: Vec<proto::Entry>,
    /// The last entry's position.
    pub(crate) last: Option<Glsn>,
    /// The scan has nothing more.
    pub(crate) finished: bool,
}

/// Takes entries off a scan until the limit. Blocks while pages come from the disk.
pub(crate) fn next_batch(scan: &mut Scan, limit: BatchLimit) -> Result<Batch, LogError> {
    let mut batch = Batch::default();
    let mut payloads = BytesMut::new();
    let mut lengths = Vec::new();
    let mut bytes = 0;
    while bytes < limit.bytes && (batch.entries.len() as u64) < limit.entries {
        let Some(entry) = scan.next() else {
            batch.finished = true;
            break;
        };
        let entry = entry?;
        if batch.entries.is_empty() {
            payloads.reserve(
                entry
                    .payload
                    .len()
                    .max(limit.bytes.min(BATCH_BYTES_DEFAULT)),
            );
        }
        payloads.extend_from_slice(entry.payload);
        lengths.push(entry.payload.len());
        bytes += entry.payload.len() + ENTRY_BYTES;
        batch.last = Some(entry.glsn);
        let message = without_payload(&entry);
        bytes += header_bytes(&message.headers);
        batch.entries.push(message);
    }
    let mut payloads = payloads.freeze();
    for (entry, length) in batch.entries.iter_mut().zip(lengths) {
        entry.payload = payloads.split_to(length);
    }
    Ok(batch)
}

fn without_payload(entry: &EntryRef<'_>) -> proto::Entry {
    let headers = entry.headers.map(|(key, value)| proto::Header {
        key: key.to_string(),
        value: Bytes::copy_from_slice(value),
    });
    proto::Entry {
        glsn: entry.glsn.get(),
        llsn: entry.llsn.get(),
        stream: entry.stream.get(),
        time_ms: entry.time_ms,
        headers: headers.collect(),
        payload: Bytes::new(),
    }
}

fn header_bytes(headers: &[proto::Header]) -> usize {
    let sizes = headers
        .iter()
        .map(|header| header.key.len() + header.value.len() + 8);
    sizes.sum()
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use clew_log::{Durability, Log, LogOptions, NewEntry, StreamId};
    use clew_platform::{RealClock, SimDisk};

    use super::*;

    fn limit(bytes: usize, entries: u64) -> BatchLimit {
        BatchLimit { bytes, entries }
    }

    #[test]
    fn batches_end_at_their_limits_and_give_everything_once() {
        let (disk, clock) = (Arc::new(SimDisk::new()), Arc::new(RealClock::new()));
        let log = Log::open(disk, clock, Path::new("log"), LogOptions::default()).unwrap();
        let payloads: Vec<Vec<u8>> = (0..100u8).map(|n| vec![n; usize::from(n)]).collect();
        for payload in &payloads {
            let header: (&str, &[u8]) = ("key", b"value");
            let parts: [&[u8]; 1] = [payload];
            let entry = NewEntry {
                headers: if payload.len() % 2 == 0 {
                    &[header]
                } else {
                    &[]
                },
                ..NewEntry::new(StreamId::new(7), &parts)
            };
            let last = log.append(&[entry], Durability::Sync).unwrap().last;
            log.wait(last, Durability::Sync).unwrap();
        }
        for limit in [limit(1, 10), limit(500, 7), limit(1_000_000, 1000)] {
            let mut scan = log.scan(Glsn::FIRST).unwrap();
            let mut found = Vec::new();
            loop {
                let batch = next_batch(&mut scan, limit).unwrap();
                assert!(batch.entries.len() as u64 <= limit.entries);
                let before_last = batch.entries.iter().rev().skip(1);
                let bytes: usize = before_last.map(|e| e.payload.len() + ENTRY_BYTES).sum();
                assert!(bytes < limit.bytes);
                assert_eq!(
                    batch.last.map(Glsn::get),
                    batch.entries.last().map(|e| e.glsn)
                );
                found.extend(batch.entries);
                if batch.finished {
                    break;
                }
            }
            assert_eq!(found.len(), payloads.len());
            for (entry, payload) in found.iter().zip(&payloads) {
                assert_eq!(entry.payload, payload);
                assert_eq!(entry.headers.len(), (payload.len() + 1) % 2);
            }
        }
    }

    #[test]
    fn sizes_have_a_default_and_a_bound() {
        let bytes = |asked| BatchLimit::of_bytes(asked).bytes;
        assert_eq!(bytes(0), BATCH_BYTES_DEFAULT);
        assert_eq!(bytes(1), 1);
        assert_eq!(bytes(u32::MAX), BATCH_BYTES_MAX);
    }
}
