//! Reading: scans of some entries at random places, warm, with every checksum checked.

use std::time::Instant;

use clew_log::{
    Compression, Durability, Glsn, Log, LogOptions, NewEntry, Order, Range, Selection, StreamId,
};
use clew_platform::thread_allocations;
use serde_json::json;

use super::{Folder, fill};
use crate::bench::report::{Report, Spread};

/// Entries in the log, all of them in memory and mapped.
const LOG_ENTRIES: usize = 20_000;
/// Entries read in one round at least.
const ROUND_ENTRIES: usize = 200_000;
const LENGTHS: [usize; 4] = [1, 10, 100, 1000];

/// How the entries of the log to be scanned came into it.
#[derive(Clone, Copy)]
enum Filled {
    /// One by one, as fast as one thread can.
    Single,
    /// One by one, each on the disk before the next: each has a frame of its own.
    Apart,
    /// A hundred at a call.
    Batch,
}

pub(super) fn run(folder: &Folder, rounds: usize, report: &Report) -> anyhow::Result<()> {
    for bytes in [13, 128] {
        for (name, filled) in [
            ("scan", Filled::Single),
            ("scan_apart", Filled::Apart),
            ("scan_batch", Filled::Batch),
        ] {
            let log = folder.log("scan", LogOptions::default())?;
            match filled {
                Filled::Single => fill(&log, LOG_ENTRIES, bytes, 1)?,
                Filled::Batch => fill(&log, LOG_ENTRIES, bytes, 100)?,
                Filled::Apart => {
                    for _ in 0..LOG_ENTRIES {
                        fill(&log, 1, bytes, 1)?;
                    }
                }
            }
            for entries in LENGTHS {
                let params = json!({"entries": entries, "bytes": bytes});
                report.add(name, params, measure(&log, entries, rounds)?)?;
            }
        }
    }
    by_stream(folder, rounds, report)?;
    compressed(folder, rounds, report)
}

/// Metrics of scans of so many entries.
fn measure(log: &Log, entries: usize, rounds: usize) -> anyhow::Result<serde_json::Value> {
    let scans = ROUND_ENTRIES.div_ceil(entries).min(100_000);
    let mut times = Vec::with_capacity(rounds);
    let mut allocations = 0.0;
    for round in 0..=rounds {
        let before = thread_allocations();
        let start = Instant::now();
        let read = scan_many(log, scans, entries)?;
        let nanos = start.elapsed().as_nanos() as f64;
        allocations = (thread_allocations() - before) as f64 / read as f64;
        // The first round warms up.
        if round > 0 {
            times.push(nanos / read as f64);
        }
    }
    let Spread { median, min, max } = Spread::of(&mut times);
    Ok(json!({
        "ns_per_entry": median, "ns_min": min, "ns_max": max,
        "us_per_scan": median * entries as f64 / 1000.0, "allocs_per_entry": allocations,
    }))
}

/// Scans at places spread over the log; gives the number of entries read.
fn scan_many(log: &Log, scans: usize, entries: usize) -> anyhow::Result<usize> {
    let places = LOG_ENTRIES - entries;
    let (mut read, mut bytes, mut place) = (0, 0, 0);
    for _ in 0..scans {
        place = (place + 7919) % places;
        let from = Glsn::new(place as u64 + 1);
        let range = Range::Glsn {
            from,
            to: from.plus(entries as u64),
        };
        let selection = Selection {
            range,
            streams: Vec::new(),
            order: Order::Forward,
        };
        let mut scan = log.scan_with(&selection)?;
        while let Some(entry) = scan.next() {
            bytes += entry?.payload.len();
            read += 1;
        }
    }
    anyhow::ensure!(
        read == scans * entries && bytes > 0,
        "a scan has not read what it should"
    );
    Ok(read)
}

/// One stream of a thousand, by its own positions.
fn by_stream(folder: &Folder, rounds: usize, report: &Report) -> anyhow::Result<()> {
    const STREAMS: u32 = 1000;
    const EACH: u64 = 200;
    let log = folder.log("scan", LogOptions::default())?;
    let parts: [&[u8]; 1] = [&[b'x'; 128]];
    for n in 0..STREAMS * 200 {
        log.append(
            &[NewEntry::new(StreamId::new(n % STREAMS + 1), &parts)],
            Durability::Os,
        )?;
    }
    log.written(log.last())?;
    let mut times = Vec::new();
    for round in 0..=rounds {
        let start = Instant::now();
        let mut read = 0;
        for stream in 1..=STREAMS {
            let stream = StreamId::new(stream);
            let range = Range::Llsn {
                stream,
                from: clew_log::Llsn::ZERO,
                to: clew_log::Llsn::MAX,
            };
            let selection = Selection {
                range,
                streams: Vec::new(),
                order: Order::Forward,
            };
            let mut scan = log.scan_with(&selection)?;
            while let Some(entry) = scan.next() {
                entry?;
                read += 1;
            }
        }
        anyhow::ensure!(
            read == u64::from(STREAMS) * EACH,
            "a stream has not all its entries"
        );
        if round > 0 {
            times.push(start.elapsed().as_nanos() as f64 / read as f64);
        }
    }
    let Spread { median, min, max } = Spread::of(&mut times);
    let params = json!({"entries": EACH, "bytes": 128, "streams": STREAMS});
    report.add(
        "scan_stream",
        params,
        json!({"ns_per_entry": median, "ns_min": min, "ns_max": max}),
    )?;
    Ok(())
}

/// Log lines, compressed in batches.
fn compressed(folder: &Folder, rounds: usize, report: &Report) -> anyhow::Result<()> {
    let lines: Vec<String> = (0..1000u32)
        .map(|n| format!("2026-11-21T06:00:{:02}Z INFO request id={n} path=/api/v1/items/{} status=200 took={}ms", n % 60, n * 7919 % 1000, n % 37))
        .collect();
    let parts: Vec<[&[u8]; 1]> = lines.iter().map(|line| [line.as_bytes()]).collect();
    let entries: Vec<NewEntry<'_>> = parts
        .iter()
        .map(|parts| NewEntry::new(StreamId::new(1), parts))
        .collect();
    for compression in [Compression::None, Compression::Lz4, Compression::Zstd] {
        let log = folder.log("scan", LogOptions::default())?;
        let options = clew_log::AppendOptions {
            durability: Durability::Os,
            compression,
            ..Default::default()
        };
        let start = Instant::now();
        for _ in 0..LOG_ENTRIES / 1000 * 10 {
            log.append(&entries, options)?;
        }
        log.written(log.last())?;
        let append = start.elapsed().as_nanos() as f64 / (LOG_ENTRIES * 10) as f64;
        let mut times = Vec::new();
        for _ in 0..rounds {
            let start = Instant::now();
            let mut scan = log.scan(Glsn::FIRST)?;
            let mut read = 0;
            while let Some(entry) = scan.next() {
                entry?;
                read += 1;
            }
            times.push(start.elapsed().as_nanos() as f64 / f64::from(read));
        }
        let bytes = log.bytes() as f64 / (LOG_ENTRIES * 10) as f64;
        let metrics = json!({
            "ns_per_entry": Spread::of(&mut times).median, "append_ns_per_entry": append, "bytes_per_entry": bytes,
        });
        report.add(
            "compression",
            json!({"codec": compression.to_string(), "batch": 1000}),
            metrics,
        )?;
    }
    Ok(())
}
