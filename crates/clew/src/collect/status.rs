//! `clew collect status`: how far each file of a registry was read, and how much of it is left.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use clew_collect::FileStatus;
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
    let registry = match &arguments.config {
        Some(file) => configured::read(file)?.general.registry,
        None => arguments.registry.clone(),
    };
    // Of a name that was mistyped nothing would be told.
    if !registry.exists() {
        anyhow::bail!(
            "there is no registry {}: no collector has read a file with it yet",
            registry.display()
        );
    }
    let files = clew_collect::status(&RealDisk, &RealClock::new(), &registry)?;
    let mut out = std::io::stdout().lock();
    match arguments.json {
        true => writeln!(out, "{}", as_json(&files))?,
        false => print(&mut out, &files)?,
    }
    Ok(())
}

fn print(out: &mut dyn Write, files: &[FileStatus]) -> std::io::Result<()> {
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
    writeln!(out, "{} files, {lag} behind", files.len())
}

/// Bytes that are not delivered yet, of all files together.
fn lag_bytes(files: &[FileStatus]) -> u64 {
    files.iter().filter_map(|file| file.lag_bytes).sum()
}

/// The same for programs. What is not known is `null`.
fn as_json(files: &[FileStatus]) -> serde_json::Value {
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
    json!({
        "files": files.iter().map(of_file).collect::<Vec<_>>(),
        "lag_bytes": lag_bytes(files),
    })
}
