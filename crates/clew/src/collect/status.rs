//! `clew collect status`: how far each file of a registry was read, how much of it is left, and what of it outputs have not
//! taken.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use clew_collect::{CollectOptions, FileStatus, Waiting};
use clew_platform::{RealClock, RealDisk};
use indicatif::HumanBytes;
use serde_json::json;

use super::configured;

#[derive(Debug, Args)]
pub(crate) struct StatusArguments {
    /// The registry; a collector may be using it.
    #[arg(long, value_name = "FILE", default_value = "clew-registry.json")]
    registry: PathBuf,
    /// A configuration: its registry is looked at.
    #[arg(long, value_name = "FILE", conflicts_with = "registry")]
    config: Option<PathBuf>,
    /// One JSON object, for programs.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &StatusArguments) -> anyhow::Result<()> {
    let (registry, buffers) = match &arguments.config {
        Some(file) => {
            let config = configured::read(file)?;
            let buffers = config.outputs.iter().filter_map(|one| one.kind.buffer());
            let folders: Vec<PathBuf> = buffers.map(|buffer| buffer.folder.clone()).collect();
            (config.general.registry, folders)
        }
        None => (arguments.registry.clone(), Vec::new()),
    };
    let is_there = registry.try_exists();
    // Of a name that was mistyped nothing would be told.
    if !is_there.with_context(|| format!("cannot look at the registry {}", registry.display()))? {
        anyhow::bail!(
            "there is no registry {}: no collector has read a file with it yet",
            registry.display()
        );
    }
    let files = clew_collect::status(&RealDisk, &RealClock::new(), &registry)?;
    let untaken = Untaken::find(&registry, &buffers);
    let mut out = std::io::stdout().lock();
    match arguments.json {
        true => writeln!(out, "{}", as_json(&files, &untaken))?,
        false => print(&mut out, &files, &untaken)?,
    }
    Ok(())
}

/// Events that were read and that outputs have not taken: how many each dead-letter file has, and what is in each folder of
/// events that wait. Files and folders that have none are left out.
#[derive(Debug, Default)]
struct Untaken {
    rejected: Vec<(PathBuf, u64)>,
    waiting: Vec<(PathBuf, Waiting)>,
}

impl Untaken {
    /// Looks beside a registry, and into buffers of outputs. What cannot be read has none.
    fn find(registry: &Path, buffers: &[PathBuf]) -> Untaken {
        let options = CollectOptions::new(Vec::new(), registry.to_owned());
        let mut folders = entries(&options.waiting_path());
        folders.extend_from_slice(buffers);
        folders.sort();
        let mut untaken = Untaken::default();
        let rejected = folders.iter().map(|folder| folder.join("rejected.ndjson"));
        for file in std::iter::once(options.dead_letter_path()).chain(rejected) {
            let events = lines(&file).unwrap_or_default();
            if events > 0 {
                untaken.rejected.push((file, events));
            }
        }
        for folder in folders {
            let waiting = clew_collect::waiting(&RealDisk, &folder).unwrap_or_default();
            if waiting.bytes > 0 {
                untaken.waiting.push((folder, waiting));
            }
        }
        untaken
    }
}

/// What is in a folder; nothing if there is none.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

/// The lines of a file, which is as large as a dead-letter file may become.
fn lines(file: &Path) -> std::io::Result<u64> {
    let mut reader = BufReader::with_capacity(1 << 18, File::open(file)?);
    let mut lines = 0;
    while reader.skip_until(b'\n')? > 0 {
        lines += 1;
    }
    Ok(lines)
}

fn print(out: &mut dyn Write, files: &[FileStatus], untaken: &Untaken) -> std::io::Result<()> {
    for file in files {
        let behind = match file.lag_bytes {
            None => "-".to_owned(),
            Some(bytes) => format!("{} {:.1}s", HumanBytes(bytes), file.lag.as_secs_f64()),
        };
        let fit = file.fit.as_ref();
        let fit = fit.map_or_else(String::new, |fit| format!("  (chosen: {fit})"));
        writeln!(
            out,
            "{:<14} {:>12} {behind:>20}  {}{fit}",
            file.parser.as_deref().unwrap_or("-"),
            HumanBytes(file.offset_bytes).to_string(),
            file.path.display()
        )?;
    }
    let lag = HumanBytes(lag_bytes(files));
    writeln!(out, "{} files, {lag} behind", files.len())?;
    for (folder, waiting) in &untaken.waiting {
        let (bytes, events, folder) = (HumanBytes(waiting.bytes), waiting.events, folder.display());
        writeln!(
            out,
            "{bytes} wait for an output in {folder}: {events} events"
        )?;
        if waiting.damaged_bytes > 0 {
            let bytes = HumanBytes(waiting.damaged_bytes);
            writeln!(
                out,
                "{bytes} of that are damaged or broken off, and will be left out"
            )?;
        }
    }
    for (file, events) in &untaken.rejected {
        let file = file.display();
        writeln!(
            out,
            "{events} events were refused for good, and are kept in {file}"
        )?;
    }
    Ok(())
}

/// Bytes that are not delivered yet, of all files together.
fn lag_bytes(files: &[FileStatus]) -> u64 {
    files.iter().filter_map(|file| file.lag_bytes).sum()
}

/// The same for programs. What is not known is `null`.
fn as_json(files: &[FileStatus], untaken: &Untaken) -> serde_json::Value {
    let of_file = |file: &FileStatus| {
        let fit = file.fit.as_ref();
        json!({
            "path": file.path.to_string_lossy(),
            "parser": file.parser,
            "chosen": fit.map(ToString::to_string),
            "offset_bytes": file.offset_bytes,
            "lag_bytes": file.lag_bytes,
            "lag_seconds": file.lag_bytes.map(|_| file.lag.as_secs_f64()),
        })
    };
    let of_rejected = |(path, events): &(PathBuf, u64)| {
        let path = path.to_string_lossy();
        json!({ "path": path, "events": events })
    };
    let of_waiting = |(path, waiting): &(PathBuf, Waiting)| {
        json!({
            "path": path.to_string_lossy(),
            "bytes": waiting.bytes,
            "events": waiting.events,
            "damaged_bytes": waiting.damaged_bytes,
        })
    };
    let rejected = untaken.rejected.iter();
    let waiting = untaken.waiting.iter();
    json!({
        "files": files.iter().map(of_file).collect::<Vec<_>>(),
        "lag_bytes": lag_bytes(files),
        "rejected": rejected.map(of_rejected).collect::<Vec<_>>(),
        "waiting": waiting.map(of_waiting).collect::<Vec<_>>(),
    })
}
