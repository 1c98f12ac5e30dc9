//! Tests of the log through its public interface, on simulated disks unless said otherwise.

#![allow(
    clippy::unwrap_used,
    reason = "a test may panic anywhere, not only in its own function"
)]

mod basics;
mod crash;
mod damage;
mod everything;
mod faults;
mod follow;
mod inspect;
mod kill;
mod model;
mod payloads;
mod producers;
mod reader;
mod resume;
mod streams;
mod trim;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use clew_log::{
    Appended, Durability, Entry, Glsn, Llsn, Log, LogError, LogOptions, NewEntry, StreamId,
    StreamInfo,
};
use clew_platform::{Disk, FixedClock, SimDisk};

const DIR: &str = "data/log";
const TIME_MS: u64 = 1_700_000_000_000;

/// Files so small that tests cross from one to the next often.
fn small_files() -> LogOptions {
    LogOptions {
        file_bytes_max: 1024,
        ..LogOptions::default()
    }
}

fn try_open(disk: &SimDisk, options: LogOptions) -> Result<Log, LogError> {
    Log::open(Arc::new(disk.clone()), clock(), Path::new(DIR), options)
}

/// A clock that stands still.
fn clock() -> Arc<FixedClock> {
    Arc::new(FixedClock::at(Duration::from_millis(TIME_MS)))
}

/// An entry as the log gives it when its clock stands still.
fn expected_entry(glsn: Glsn, llsn: Llsn, stream: StreamId, payload: Bytes) -> Entry {
    Entry {
        glsn,
        llsn,
        stream,
        time_ms: TIME_MS,
        headers: Vec::new(),
        payload,
    }
}

/// The streams with their last positions.
fn counters(streams: &[StreamInfo]) -> Vec<(StreamId, Llsn)> {
    streams
        .iter()
        .map(|stream| (stream.id, stream.last))
        .collect()
}

fn open(disk: &SimDisk, options: LogOptions) -> Log {
    try_open(disk, options).unwrap()
}

fn append(log: &Log, stream: u32, payload: &[u8], durability: Durability) -> Appended {
    let parts = [payload];
    let entry = NewEntry::new(StreamId::new(stream), &parts);
    log.append(&[entry], durability).unwrap()
}

/// Appends one entry and waits until it is durable.
fn append_synced(log: &Log, stream: u32, payload: &[u8]) -> Glsn {
    let appended = append(log, stream, payload, Durability::Sync);
    log.wait(appended.last, Durability::Sync).unwrap();
    appended.last
}

/// All retained entries, by a scan; each checked against a read of its own now and then.
fn contents(log: &Log) -> Vec<Entry> {
    let entries = try_contents(log).unwrap();
    for entry in entries.iter().step_by(7) {
        assert_eq!(&log.read(entry.glsn).unwrap(), entry);
    }
    entries
}

fn try_contents(log: &Log) -> Result<Vec<Entry>, LogError> {
    let mut scan = log.scan(log.first())?;
    let mut entries = Vec::new();
    while let Some(entry) = scan.next() {
        entries.push(entry?.to_entry());
    }
    Ok(entries)
}

fn payloads(entries: &[Entry]) -> Vec<&[u8]> {
    entries.iter().map(|entry| &entry.payload[..]).collect()
}

/// The log files, oldest first.
fn files(disk: &SimDisk) -> Vec<PathBuf> {
    let mut files = disk.list(Path::new(DIR)).unwrap();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "log"));
    files
}

fn len(disk: &SimDisk, path: &Path) -> u64 {
    disk.len(path).unwrap()
}

/// Changes one byte of a file, durably.
fn damage(disk: &SimDisk, path: &Path, offset: u64) {
    let mut file = disk.open(path).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, offset).unwrap();
    file.write_all_at(&[byte[0] ^ 0x10], offset).unwrap();
    file.sync_data().unwrap();
}

/// The disk as a process leaves it that is killed: all that was written, locks given up.
fn killed(disk: &SimDisk) -> SimDisk {
    let copy = SimDisk::new();
    copy.create_dir_all_durable(Path::new(DIR)).unwrap();
    for path in files(disk) {
        let mut file = copy.create_new(&path).unwrap();
        file.write_all_at(&disk.read(&path).unwrap(), 0).unwrap();
        file.sync_data().unwrap();
    }
    copy.sync_dir(Path::new(DIR)).unwrap();
    copy
}

/// A small seeded generator (xorshift64*).
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % bound
    }
    fn stream(&mut self) -> u32 {
        u32::try_from(self.below(3)).unwrap()
    }
    fn bytes(&mut self, bytes_max: u64) -> Vec<u8> {
        (0..self.below(bytes_max + 1))
            .map(|_| self.below(256).to_le_bytes()[0])
            .collect()
    }
}
