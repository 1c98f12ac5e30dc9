//! Subscribers that follow a writer: whether they keep up, and whether a slow one slows it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clew_log::{Durability, Glsn, Log, LogOptions, NewEntry, StreamId, SubscribeOptions};
use serde_json::json;

use super::{Folder, LogBench};
use crate::bench::report::{Report, Spread};

const BYTES: usize = 128;
const BATCH: usize = 100;

pub(super) fn run(folder: &Folder, bench: &LogBench, report: &Report) -> anyhow::Result<()> {
    let time = Duration::from_secs_f64(bench.seconds);
    // Subscribers, and whether one more reads nothing but its first entry.
    let cases = [(0, false), (1, false), (8, false), (0, true)];
    let mut rates = cases.map(|_| (Vec::new(), Vec::new()));
    for round in 0..bench.rounds.clamp(2, 5) {
        for at in 0..cases.len() {
            let case = if round % 2 == 0 {
                at
            } else {
                cases.len() - 1 - at
            };
            let (subscribers, slow) = cases[case];
            let (append, read) = follow(folder, subscribers, slow, time)?;
            rates[case].0.push(append);
            rates[case].1.push(read);
        }
    }
    for ((subscribers, slow), (mut append, mut read)) in cases.into_iter().zip(rates) {
        let params = json!({"subscribers": subscribers, "slow": u8::from(slow), "bytes": BYTES, "batch": BATCH});
        let Spread { median, min, max } = Spread::of(&mut append);
        let metrics = json!({
            "entries_per_s": median.round(), "min": min.round(), "max": max.round(),
            "read_per_s": Spread::of(&mut read).median.round(),
        });
        report.add("subscribe", params, metrics)?;
    }
    Ok(())
}

/// Entries a second that the writer got in, and that all subscribers together have read.
fn follow(
    folder: &Folder,
    subscribers: usize,
    slow: bool,
    time: Duration,
) -> anyhow::Result<(f64, f64)> {
    let log = folder.log("subscribe", LogOptions::default())?;
    let subscribe = |name: &str| {
        let (name, streams) = (name.to_owned(), Vec::new());
        log.subscribe(SubscribeOptions {
            name,
            from: Glsn::FIRST,
            streams,
            visible: Durability::Os,
        })
    };
    let done = AtomicBool::new(false);
    let mut slow_one = if slow { Some(subscribe("slow")?) } else { None };
    let (append, read) = std::thread::scope(|scope| -> anyhow::Result<(f64, u64)> {
        let mut readers = Vec::new();
        for n in 0..subscribers {
            let subscription = subscribe(&n.to_string())?;
            readers.push(scope.spawn(|| read_all(&log, subscription, &done)));
        }
        let append = write(&log, time)?;
        if let Some(subscription) = &mut slow_one {
            subscription.wait()?;
        }
        done.store(true, Ordering::Release);
        // One more entry wakes whoever waits for it.
        write(&log, Duration::ZERO)?;
        let mut read = 0;
        for reader in readers {
            read += reader.join().expect("a reader does not panic")?;
        }
        Ok((append, read))
    })?;
    folder.clear("subscribe");
    Ok((append, read as f64 / time.as_secs_f64()))
}

/// Writes for a time, and one batch at least; gives entries a second.
fn write(log: &Log, time: Duration) -> anyhow::Result<f64> {
    let parts: [&[u8]; 1] = [&[b'x'; BYTES]];
    let entries = vec![NewEntry::new(StreamId::new(1), &parts); BATCH];
    let (start, mut count) = (Instant::now(), 0);
    loop {
        log.append(&entries, Durability::Os)?;
        count += BATCH;
        if start.elapsed() >= time {
            break;
        }
    }
    log.written(log.last())?;
    Ok(count as f64 / start.elapsed().as_secs_f64())
}

/// Reads until the writer is done; gives the number of entries read by then.
fn read_all(
    log: &Log,
    mut subscription: clew_log::Subscription,
    done: &AtomicBool,
) -> anyhow::Result<u64> {
    let mut read = 0;
    let mut due = Glsn::FIRST;
    while !done.load(Ordering::Acquire) || subscription.position() <= log.last() {
        let mut scan = subscription.wait()?;
        while let Some(entry) = scan.next() {
            let entry = entry?;
            anyhow::ensure!(
                entry.glsn == due,
                "a subscriber was given {} for {due}",
                entry.glsn
            );
            due = due.next();
            read += 1;
        }
        if done.load(Ordering::Acquire) {
            break;
        }
    }
    Ok(read)
}
