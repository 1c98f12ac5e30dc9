//! `clew bench collect`: how many lines a second of processor time reads, takes apart and writes; file to file, the registry on.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use clap::Args;
use clew_collect::config::{Compression, Definition};
use clew_collect::{
    CollectOptions, FileSink, FileSinkOptions, Multiline, MultilineRule, NoProgress, ParserChoice,
    StopToken, World,
};
use clew_platform::{RealClock, RealDisk, process_cpu_time, thread_allocations};
use serde_json::{Value, json};

use super::begun::Begun;
use super::folder::Folder;
use super::given::one_or_more;
use super::report::{Report, Spread};
use super::results;

#[derive(Debug, Args)]
pub(crate) struct CollectBench {
    /// File of lines; on a file system in memory, so that the disk is not measured.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// What the lines are: a parser's name, or `auto`.
    #[arg(long, value_name = "NAME", default_value = "plain")]
    parse: String,
    /// How lines are joined to events: a preset's name.
    #[arg(long, value_name = "PRESET", value_parser = MultilineRule::PRESETS)]
    multiline: Option<String>,
    /// Processors after the parser, as a YAML list.
    #[arg(long, value_name = "YAML", default_value = "[]")]
    processors: String,
    /// Folder for the documents and the registry; a folder below it is used and removed.
    #[arg(long, value_name = "DIR", default_value = "/dev/shm")]
    dir: PathBuf,
    /// Rounds; the median is reported.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = one_or_more)]
    rounds: usize,
    /// Also write the rows to this file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// What one round found.
struct Round {
    failed: u64,
    cpu: Duration,
    allocations: u64,
    document_bytes: u64,
}

pub(crate) fn run(bench: &CollectBench, begun: &Begun) -> anyhow::Result<()> {
    results::check_writable(bench.json.as_deref())?;
    ensure!(bench.dir.is_dir(), "{} is no folder", bench.dir.display());
    let parse: ParserChoice = bench.parse.parse()?;
    let processors: Vec<Value> = serde_yaml_ng::from_str(&bench.processors)
        .context("the processors are not a list of YAML")?;
    let processors: Vec<Definition> = processors.into_iter().map(Definition::unnamed).collect();
    let lines = lines_of(&bench.file)?;
    ensure!(lines > 0, "{} has no whole line", bench.file.display());
    let mut taken = Vec::new();
    for _ in 0..bench.rounds {
        taken.push(round(bench, begun, parse, &processors)?);
    }
    let Some(first) = taken.first() else {
        bail!("there was no round")
    };
    let mut rates: Vec<f64> = taken.iter().map(|round| rate(lines, round)).collect();
    let Spread { median, min, max } = Spread::of(&mut rates);
    let report = Report::new(begun, bench.json.as_deref());
    report.add(
        "collect",
        json!({
            "file": bench.file, "parse": bench.parse, "multiline": bench.multiline, "processors": bench.processors,
        }),
        json!({
            "lines": lines, "failed": first.failed, "document_bytes": first.document_bytes,
            "lines_per_cpu_s": median, "min": min, "max": max, "allocations": first.allocations,
        }),
    )?;
    report.write()
}

/// Lines of a file, of which several may be one event.
fn lines_of(path: &Path) -> anyhow::Result<u64> {
    let unread = || format!("cannot read {}", path.display());
    let mut file = BufReader::with_capacity(1 << 20, File::open(path).with_context(unread)?);
    let mut lines = 0;
    loop {
        let bytes = file.fill_buf().with_context(unread)?;
        if bytes.is_empty() {
            return Ok(lines);
        }
        lines += memchr::memchr_iter(b'\n', bytes).count() as u64;
        let read = bytes.len();
        file.consume(read);
    }
}

fn rate(lines: u64, round: &Round) -> f64 {
    #[allow(clippy::cast_precision_loss, reason = "a figure for people")]
    let lines = lines as f64;
    lines / round.cpu.as_secs_f64()
}

fn round(
    bench: &CollectBench,
    begun: &Begun,
    parse: ParserChoice,
    processors: &[Definition],
) -> anyhow::Result<Round> {
    let folder = Folder::new(&bench.dir, "collect", begun)?;
    let registry = folder.0.join("registry.json");
    let mut options = CollectOptions::new(vec![bench.file.clone()], registry);
    options.files[0].parse = parse;
    let preset = bench.multiline.as_deref();
    let rule = preset.and_then(MultilineRule::preset);
    options.files[0].multiline = rule.map(Multiline::new);
    options.processors = vec![processors.to_vec()];
    let out = folder.0.join("documents.json");
    let file = FileSinkOptions {
        path: out.clone(),
        rotate_bytes: u64::MAX,
        files_kept: 0,
        compression: Compression::None,
        sync: true,
    };
    let mut sink = FileSink::new(Arc::new(RealDisk), file);
    let stop = StopToken::new();
    let world = World {
        disk: Arc::new(RealDisk),
        clock: Arc::new(RealClock::new()),
        progress: &NoProgress,
        stop: &stop,
    };
    let (before, allocated) = (process_cpu_time(), thread_allocations());
    let report = clew_collect::run(&options, world, &mut sink)?;
    let cpu = process_cpu_time().saturating_sub(before);
    let allocations = thread_allocations() - allocated;
    let document_bytes = std::fs::metadata(&out).map_or(0, |found| found.len());
    Ok(Round {
        failed: report.counters.parse_errors,
        cpu,
        allocations,
        document_bytes,
    })
}
