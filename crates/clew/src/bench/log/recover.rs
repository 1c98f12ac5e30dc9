//! Opening a large log after a crash, and reading one from the disk.

use std::time::Instant;

use clew_log::{Glsn, LogOptions};
use serde_json::json;

use super::{Folder, fill};
use crate::bench::report::{Report, Spread};

const GIB: usize = 1 << 30;
const BYTES: usize = 1024;

/// A log of 1 GiB whose process ended without closing it.
pub(super) fn run(folder: &Folder, rounds: usize, report: &Report) -> anyhow::Result<()> {
    let log = folder.log("recover", LogOptions::default())?;
    fill(&log, GIB / BYTES, BYTES, 100)?;
    let (last, bytes) = (log.last(), log.bytes());
    let mut times = Vec::new();
    for _ in 0..rounds.min(5) {
        // A copy by links is what the folder of a killed process looks like: nothing was closed.
        folder.clear("crashed");
        let (from, to) = (folder.0.join("recover"), folder.0.join("crashed"));
        std::fs::create_dir_all(&to)?;
        let mut names: Vec<_> = std::fs::read_dir(&from)?.collect::<Result<_, _>>()?;
        names.sort_by_key(std::fs::DirEntry::file_name);
        names.retain(|entry| {
            entry
                .path()
                .extension()
                .is_some_and(|extension| extension == "log")
        });
        let active = names.pop().expect("a log has a file");
        for entry in names {
            std::fs::hard_link(entry.path(), to.join(entry.file_name()))?;
        }
        std::fs::copy(active.path(), to.join(active.file_name()))?;
        let start = Instant::now();
        let recovered = folder.reopen("crashed", LogOptions::default())?;
        times.push(start.elapsed().as_secs_f64() * 1e3);
        anyhow::ensure!(recovered.last() == last, "recovery has lost entries");
    }
    let Spread { median, min, max } = Spread::of(&mut times);
    report.add(
        "recover",
        json!({"bytes": bytes}),
        json!({"ms": median, "min": min, "max": max}),
    )?;
    log.close()?;
    folder.clear("crashed");
    folder.clear("recover");
    Ok(())
}

/// Writes a log and reads it from beginning to end; larger than memory, it comes from the disk.
pub(super) fn cold(folder: &Folder, gib: u64, report: &Report) -> anyhow::Result<()> {
    let log = folder.log("cold", LogOptions::default())?;
    let start = Instant::now();
    for _ in 0..gib {
        fill(&log, GIB / BYTES, BYTES, 100)?;
    }
    let (written, bytes) = (start.elapsed().as_secs_f64(), log.bytes() as f64);
    let start = Instant::now();
    let mut scan = log.scan(Glsn::FIRST)?;
    let mut read = 0u64;
    while let Some(entry) = scan.next() {
        entry?;
        read += 1;
    }
    let seconds = start.elapsed().as_secs_f64();
    let metrics = json!({
        "write_mb_per_s": bytes / written / 1e6, "read_mb_per_s": bytes / seconds / 1e6,
        "ns_per_entry": seconds * 1e9 / read as f64,
    });
    report.add("scan_cold", json!({"gib": gib, "bytes": BYTES}), metrics)?;
    folder.clear("cold");
    Ok(())
}
