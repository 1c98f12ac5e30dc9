//! `clew log verify` and `clew log dump`: the files themselves.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Args;
use clew_log::{LogError, VerifyReport};
use clew_platform::RealDisk;
use serde_json::json;

use super::bar;
use super::place::log_folder;
use super::summary::SummaryFormat;
use crate::given_folder::is_folder;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  clew log verify ./data
      exit status 0 when all is well, 1 when anything is damaged
  clew log verify ./data/log --format json")]
pub(crate) struct VerifyArguments {
    /// Data folder or log folder; a server may be using it.
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// What the report looks like.
    #[arg(long, value_enum, default_value = "text")]
    format: SummaryFormat,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  clew log dump ./data --limit 20")]
pub(crate) struct DumpArguments {
    /// Data folder or log folder.
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// End after so many pieces.
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
}

pub(crate) fn verify(arguments: &VerifyArguments) -> anyhow::Result<()> {
    let dir = existing(&arguments.dir)?;
    let bar = bar::of_bytes(Some(bytes_in(&dir)?));
    let report = clew_log::verify(&RealDisk, &dir, &mut |bytes| bar.set_position(bytes))
        .with_context(|| format!("cannot verify the log in {}", dir.display()))?;
    bar.finish_and_clear();
    let mut out = std::io::stdout().lock();
    match arguments.format {
        SummaryFormat::Json => writeln!(out, "{}", object(&report))?,
        SummaryFormat::Text => write!(out, "{}", text(&report))?,
    }
    match report.damage.len() {
        0 => Ok(()),
        1 => bail!("the log in {} is damaged in one place", dir.display()),
        places => bail!("the log in {} is damaged in {places} places", dir.display()),
    }
}

pub(crate) fn dump(arguments: &DumpArguments) -> anyhow::Result<()> {
    let dir = existing(&arguments.dir)?;
    let mut out = BufWriter::new(std::io::stdout().lock());
    let mut left = arguments.limit.unwrap_or(u64::MAX);
    let (mut file, mut written) = (PathBuf::new(), Ok(()));
    if left > 0 {
        clew_log::dump(&RealDisk, &dir, &mut |frame| {
            if file != frame.path {
                file = frame.path.to_owned();
                written = writeln!(out, "{}", file.display());
            }
            written =
                std::mem::replace(&mut written, Ok(())).and_then(|()| writeln!(out, "{frame}"));
            left -= 1;
            written.is_ok() && left > 0
        })?;
    }
    written?;
    out.flush()?;
    Ok(())
}

fn existing(given: &Path) -> anyhow::Result<PathBuf> {
    let dir = log_folder(given);
    if !is_folder(&dir)? {
        bail!("{} is no folder", dir.display());
    }
    Ok(dir)
}

/// The size of a folder's files.
fn bytes_in(dir: &Path) -> anyhow::Result<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(dir).with_context(|| format!("cannot list {}", dir.display()))? {
        bytes += entry?.metadata().map_or(0, |metadata| metadata.len());
    }
    Ok(bytes)
}

fn text(report: &VerifyReport) -> String {
    let mut text = String::new();
    for damage in &report.damage {
        text += &match place(damage) {
            Some((path, offset, reason)) => format!("{}:{offset}: {reason}\n", path.display()),
            None => format!("{damage}\n"),
        };
    }
    text += &format!(
        "{} entries, GLSN {}..{}, in {} files of {} bytes\n",
        report.entries, report.first, report.last, report.files, report.bytes
    );
    if report.torn_bytes > 0 {
        text += &format!(
            "{} bytes at the end belong to an append that was not finished; opening the log cuts them\n",
            report.torn_bytes
        );
    }
    text
}

fn object(report: &VerifyReport) -> serde_json::Value {
    let damage = report.damage.iter().map(|damage| match place(damage) {
        Some((path, offset, reason)) => json!({"file": path, "offset": offset, "reason": reason}),
        None => json!({"reason": damage.to_string()}),
    });
    json!({
        "files": report.files, "bytes": report.bytes, "entries": report.entries,
        "first_glsn": report.first.get(), "last_glsn": report.last.get(),
        "torn_bytes": report.torn_bytes, "damage": damage.collect::<Vec<_>>(),
    })
}

fn place(damage: &LogError) -> Option<(&Path, u64, &'static str)> {
    match damage {
        LogError::Corrupt {
            path,
            offset,
            reason,
        } => Some((path, *offset, reason)),
        _ => None,
    }
}
