//! Appending: entries a second and latencies, beside the same bytes through `write` and the
//! latency of `fdatasync`, in turns so that a busy machine harms both alike.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

use clew_log::{Durability, Log, LogOptions, NewEntry, StreamId};
use serde_json::json;

use super::{Folder, LogBench};
use crate::bench::report::{Report, Spread, quantile};

const BYTES: usize = 128;
/// Clients, entries a call, durability.
const CASES: [(usize, usize, Durability); 8] = [
    (1, 1, Durability::Memory),
    (1, 100, Durability::Memory),
    (1, 1, Durability::Os),
    (1, 100, Durability::Os),
    (1, 1, Durability::Sync),
    (16, 1, Durability::Sync),
    (64, 1, Durability::Sync),
    (4, 100, Durability::Sync),
];

/// Figures of some rounds.
#[derive(Default)]
struct Rounds {
    rates: Vec<f64>,
    latencies_us: Vec<f64>,
}

pub(super) fn run(folder: &Folder, bench: &LogBench, report: &Report) -> anyhow::Result<()> {
    let time = Duration::from_secs_f64(bench.seconds);
    let rounds = bench.rounds.clamp(2, 5);
    let mut cases: Vec<Rounds> = CASES.iter().map(|_| Rounds::default()).collect();
    let (mut write, mut sync) = (Rounds::default(), Rounds::default());
    for round in 0..rounds {
        let mut order: Vec<usize> = (0..CASES.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        fdatasync(folder, time, &mut sync)?;
        raw_write(folder, time, &mut write)?;
        for case in order {
            append(folder, CASES[case], time, &mut cases[case])?;
        }
        raw_write(folder, time, &mut write)?;
        fdatasync(folder, time, &mut sync)?;
    }
    write.add_to(report, "write", json!({"bytes": BYTES, "batch": 100}))?;
    sync.add_to(report, "fdatasync", json!({"bytes": BYTES}))?;
    for ((clients, batch, durability), rounds) in CASES.into_iter().zip(cases) {
        let params = json!({
            "durability": durability.to_string(), "bytes": BYTES, "batch": batch, "clients": clients,
        });
        rounds.add_to(report, "append", params)?;
    }
    Ok(())
}

impl Rounds {
    fn add_to(
        mut self,
        report: &Report,
        name: &'static str,
        params: serde_json::Value,
    ) -> anyhow::Result<()> {
        let Spread { median, min, max } = Spread::of(&mut self.rates);
        let metrics = json!({
            "entries_per_s": median.round(), "min": min.round(), "max": max.round(),
            "p50_us": quantile(&mut self.latencies_us, 0.5),
            "p99_us": quantile(&mut self.latencies_us, 0.99),
        });
        report.add(name, params, metrics)
    }
}

fn append(
    folder: &Folder,
    (clients, batch, durability): (usize, usize, Durability),
    time: Duration,
    rounds: &mut Rounds,
) -> anyhow::Result<()> {
    let log = folder.log("append", LogOptions::default())?;
    let start = Instant::now();
    let results: Vec<anyhow::Result<Vec<f64>>> = std::thread::scope(|scope| {
        let client = |_| scope.spawn(|| client(&log, batch, durability, start + time));
        let threads: Vec<_> = (0..clients).map(client).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("a client does not panic"))
            .collect()
    });
    // What was only ordered so far has to reach the page cache before the rate is honest.
    log.written(log.last())?;
    let seconds = start.elapsed().as_secs_f64();
    rounds.rates.push(log.last().get() as f64 / seconds);
    for latencies in results {
        rounds.latencies_us.extend(latencies?);
    }
    log.close()?;
    folder.clear("append");
    Ok(())
}

/// Appends until the time is up; gives each call's latency in microseconds.
fn client(
    log: &Log,
    batch: usize,
    durability: Durability,
    until: Instant,
) -> anyhow::Result<Vec<f64>> {
    let parts: [&[u8]; 1] = [&[b'x'; BYTES]];
    let entries = vec![NewEntry::new(StreamId::new(1), &parts); batch];
    let mut latencies = Vec::new();
    let mut start = Instant::now();
    while start < until {
        let appended = log.append(&entries, durability)?;
        // A single writer at `os` is measured as it would work: without waiting for each call.
        if durability == Durability::Sync {
            log.wait(appended.last, durability)?;
        }
        let end = Instant::now();
        latencies.push((end - start).as_secs_f64() * 1e6);
        start = end;
    }
    Ok(latencies)
}

/// The same bytes as a batch of 100 entries, through `write` alone.
fn raw_write(folder: &Folder, time: Duration, rounds: &mut Rounds) -> anyhow::Result<()> {
    Folder::rest();
    let path = folder.0.join("write");
    let file = File::create(&path)?;
    let bytes = vec![b'x'; BYTES * 100];
    let start = Instant::now();
    let mut offset = 0;
    while start.elapsed() < time {
        let call = Instant::now();
        file.write_all_at(&bytes, offset)?;
        rounds.latencies_us.push(call.elapsed().as_secs_f64() * 1e6);
        offset += bytes.len() as u64;
    }
    rounds
        .rates
        .push(offset as f64 / BYTES as f64 / start.elapsed().as_secs_f64());
    std::fs::remove_file(&path)?;
    Ok(())
}

/// One entry's bytes written and synced, one after the other.
fn fdatasync(folder: &Folder, time: Duration, rounds: &mut Rounds) -> anyhow::Result<()> {
    Folder::rest();
    let path = folder.0.join("sync");
    let file = File::create(&path)?;
    let bytes = [b'x'; BYTES];
    let start = Instant::now();
    let mut offset = 0;
    while start.elapsed() < time {
        let call = Instant::now();
        file.write_all_at(&bytes, offset)?;
        file.sync_data()?;
        rounds.latencies_us.push(call.elapsed().as_secs_f64() * 1e6);
        offset += BYTES as u64;
    }
    rounds
        .rates
        .push(offset as f64 / BYTES as f64 / start.elapsed().as_secs_f64());
    std::fs::remove_file(&path)?;
    Ok(())
}
