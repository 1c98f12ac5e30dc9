//! How many lines per CPU-second does reading, parsing and encoding one file cost?
//!
//! `throughput FILE [PARSER [PROCESSORS [OUTPUT [PRESET]]]]`: processors are a YAML list; without an output, or with `-`, the
//! documents go nowhere; a preset joins lines to events, such as `java`.
//! What counts is the time of this process, not the wall's.

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;

use clew_collect::config::{Compression, ProcessorConfig};
use clew_collect::{
    CollectOptions, Delivery, Event, FileSink, FileSinkOptions, Multiline, MultilineRule,
    NoProgress, Sink, SinkError, StopToken, World, run,
};
use clew_platform::{RealClock, RealDisk};

struct Nowhere {
    document_bytes: usize,
}

impl Sink for Nowhere {
    fn deliver(&mut self, batch: &[Event]) -> Result<Delivery, SinkError> {
        self.document_bytes += batch
            .iter()
            .map(|event| event.document.len())
            .sum::<usize>();
        Ok(Delivery {
            acked: batch.len() as u64,
            ..Delivery::default()
        })
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = PathBuf::from(arguments.next().ok_or("name a file")?);
    let registry = std::env::temp_dir().join(format!("throughput-{}.json", std::process::id()));
    let mut options = CollectOptions::new(vec![file], registry.clone());
    options.files[0].parse = arguments.next().as_deref().unwrap_or("auto").parse()?;
    if let Some(written) = arguments.next() {
        let processors: Vec<serde_json::Value> = serde_yaml_ng::from_str(&written)?;
        let processors = processors.into_iter().map(ProcessorConfig::unnamed);
        options.processors = vec![processors.collect()];
    }
    let output = arguments.next().filter(|path| path != "-");
    if let Some(preset) = arguments.next() {
        let rule = MultilineRule::preset(&preset).ok_or("no such preset")?;
        options.files[0].multiline = Some(Multiline::new(rule));
    }
    let stop = StopToken::new();
    let world = World {
        disk: Arc::new(RealDisk),
        clock: Arc::new(RealClock::new()),
        progress: &NoProgress,
        stop: &stop,
    };
    let mut sink = Nowhere { document_bytes: 0 };
    let before = cpu_seconds()?;
    let report = match output {
        None => run(&options, world, &mut sink)?,
        Some(path) => {
            let disk = Arc::clone(&world.disk);
            let file = FileSinkOptions {
                path: path.into(),
                rotate_bytes: u64::MAX,
                files_kept: 0,
                compression: Compression::None,
                sync: true,
            };
            run(&options, world, &mut FileSink::new(disk, file))?
        }
    };
    let seconds = cpu_seconds()? - before;
    std::fs::remove_file(&registry)?;
    let lines = report.counters.lines_read;
    #[allow(clippy::cast_precision_loss, reason = "a figure for people")]
    let rate = lines as f64 / seconds / 1e6;
    let parser = report
        .files
        .first()
        .map_or("-", |file| file.parser.as_str());
    eprintln!(
        "{parser}: {lines} lines, {} errors, {} document bytes, {seconds:.2} CPU-s, {rate:.2} M lines/CPU-s",
        report.counters.parse_errors, sink.document_bytes
    );
    for failed in report.failures.counts {
        eprintln!("{} {} {}", failed.step, failed.reason, failed.count);
    }
    Ok(())
}

/// User and system time of this process.
fn cpu_seconds() -> Result<f64, Box<dyn Error>> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let after_name = stat.rsplit_once(") ").ok_or("no process name")?.1;
    let ticks: Vec<&str> = after_name.split(' ').collect();
    let (user, system): (u32, u32) = (ticks[11].parse()?, ticks[12].parse()?);
    Ok(f64::from(user + system) / 100.0)
}
