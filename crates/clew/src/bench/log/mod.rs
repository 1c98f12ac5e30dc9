//! `clew bench log`: what the log does, beside what the disk and the memory under it do in the
//! same run.

mod append;
mod recover;
mod scan;
mod subscribe;

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::ensure;
use clap::{Args, ValueEnum};
use clew_log::{Durability, Log, LogOptions, NewEntry, StreamId};
use clew_platform::{RealClock, RealDisk};

use super::begun::Begun;
use super::folder::Folder;
use super::given::one_or_more;
use super::report::Report;
use super::results;

const EXAMPLES: &str = "\
Examples:
  clew bench log
  clew bench log --only scan --rounds 20 --json scan.json
  clew bench log --dir /mnt/disk --only append,subscribe
  clew bench log --only cold --cold-gib 40      (more than memory: reads come from the disk)";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct LogBench {
    /// Folder on the disk to measure; a temporary folder below it is used and removed.
    #[arg(long, value_name = "DIR", default_value = ".")]
    dir: PathBuf,
    /// What to measure; everything but `cold` unless given.
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<What>,
    /// Rounds of each measurement; the median is reported.
    #[arg(long, value_name = "N", default_value_t = 9, value_parser = one_or_more)]
    rounds: usize,
    /// Seconds that one round of appends takes.
    #[arg(long, value_name = "S", default_value_t = 0.5, value_parser = seconds)]
    seconds: f64,
    /// Size of the log that `cold` writes and reads.
    #[arg(long, value_name = "GIB", default_value_t = 1)]
    cold_gib: u64,
    /// Also write the rows to this file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum What {
    /// Reading what is in memory.
    Scan,
    /// Appending at each durability, beside `write` and `fdatasync`.
    Append,
    /// Eight subscribers that follow a writer at full speed, and a slow one.
    Subscribe,
    /// Opening a log of 1 GiB after a crash.
    Recover,
    /// Reading a log of `--cold-gib` from the disk.
    Cold,
}

impl Folder {
    /// Waits until the disk has stored what earlier measurements have left to it, which would
    /// otherwise be paid for by whoever is measured next and syncs.
    fn rest() {
        rustix::fs::sync();
    }

    /// Opens an empty log in here, with the disk at rest.
    fn log(&self, name: &str, options: LogOptions) -> anyhow::Result<Log> {
        self.check()?;
        self.clear(name);
        Folder::rest();
        self.reopen(name, options)
    }

    fn reopen(&self, name: &str, options: LogOptions) -> anyhow::Result<Log> {
        let clock = Arc::new(RealClock::new());
        Ok(Log::open(
            Arc::new(RealDisk),
            clock,
            &self.0.join(name),
            options,
        )?)
    }

    fn clear(&self, name: &str) {
        let _ = std::fs::remove_dir_all(self.0.join(name));
    }
}

/// A number of seconds in which something can be measured, up to an hour.
fn seconds(text: &str) -> anyhow::Result<f64> {
    let given: f64 = text.parse()?;
    ensure!(
        (0.001..=3600.0).contains(&given),
        "seconds lie between 0.001 and 3600"
    );
    Ok(given)
}

pub(crate) fn run(bench: &LogBench, begun: &Begun) -> anyhow::Result<()> {
    results::check_writable(bench.json.as_deref())?;
    let folder = Folder::new(&bench.dir, "log", begun)?;
    let report = Report::new(begun, bench.json.as_deref());
    let wants = |what| match bench.only.is_empty() {
        true => what != What::Cold,
        false => bench.only.contains(&what),
    };
    if wants(What::Scan) {
        scan::run(&folder, bench.rounds, &report)?;
    }
    if wants(What::Append) {
        append::run(&folder, bench, &report)?;
    }
    if wants(What::Subscribe) {
        subscribe::run(&folder, bench, &report)?;
    }
    if wants(What::Recover) {
        recover::run(&folder, bench.rounds, &report)?;
    }
    if wants(What::Cold) {
        recover::cold(&folder, bench.cold_gib, &report)?;
    }
    report.write()
}

/// Appends `count` entries of one stream, `batch` at a call, without syncing.
fn fill(log: &Log, count: usize, bytes: usize, batch: usize) -> anyhow::Result<()> {
    let payload = vec![b'x'; bytes];
    let parts: [&[u8]; 1] = [&payload];
    let entries = vec![NewEntry::new(StreamId::new(1), &parts); batch];
    for _ in 0..count.div_ceil(batch) {
        log.append(&entries, Durability::Os)?;
    }
    log.written(log.last())?;
    Ok(())
}
