//! `clew verify` and `clew repair`: a data folder held against what was written, and what can be done about damage.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail};
use clap::Args;
use clew_engine::{Cure, FileDamage, FolderReport, GiveUp, RepairStep, ShardReport};
use clew_platform::{Disk, RealDisk};
use serde_json::{Value, json};

use crate::aside::aside;
use crate::given_folder::is_folder;
use crate::log::{SummaryFormat, bar};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  clew verify ./data
      exit status 0 when all is well, 1 when anything is damaged
  clew verify ./data --format json
  clew verify ./snapshots")]
pub(crate) struct VerifyArguments {
    /// Data folder, which no server may be using (a running one checks itself: POST /_verify), or repository of
    /// snapshots.
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// What the report looks like.
    #[arg(long, value_enum, default_value = "text")]
    format: SummaryFormat,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  clew repair ./data
      say what could be done, and do nothing
  clew repair ./data --yes
      do it; nothing is deleted, damaged files go to ./data/aside")]
pub(crate) struct RepairArguments {
    /// Data folder; no server may be using it.
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// Do what would be done.
    #[arg(long)]
    yes: bool,
    /// Give up the segments that are damaged where the log cannot bring back what was in them.
    #[arg(long)]
    give_up_segments: bool,
}

pub(crate) fn verify(arguments: &VerifyArguments) -> anyhow::Result<()> {
    let dir = &arguments.dir;
    if !dir.join("log").is_dir() && clew_engine::is_repository(&RealDisk, dir) {
        return verify_snapshots(arguments);
    }
    let report = report_of(&arguments.dir)?;
    let profiles = crate::profile::damage_of_kept(dir)?;
    let profiles: Vec<String> = profiles.iter().map(ToString::to_string).collect();
    let mut out = std::io::stdout().lock();
    match arguments.format {
        SummaryFormat::Json => writeln!(out, "{}", object(&report, &profiles))?,
        SummaryFormat::Text => {
            for damage in &profiles {
                writeln!(out, "{damage}: the profiles that were kept begin anew")?;
            }
            write!(out, "{}", text(&report))?;
        }
    }
    crate::login::verify(dir)?;
    if report.is_sound() && profiles.is_empty() {
        return Ok(());
    }
    bail!("{} is damaged", arguments.dir.display())
}

/// The same for a repository of snapshots.
fn verify_snapshots(arguments: &VerifyArguments) -> anyhow::Result<()> {
    let dir = &arguments.dir;
    let bar = bar::of_bytes(None);
    let report =
        clew_engine::verify_repository(&RealDisk, dir, &mut |bytes| bar.set_position(bytes));
    bar.finish_and_clear();
    let report = report.with_context(|| format!("cannot verify {}", dir.display()))?;
    let mut out = std::io::stdout().lock();
    match arguments.format {
        SummaryFormat::Json => writeln!(
            out,
            "{}",
            json!({
                "sound": report.damage.is_empty(), "snapshots": report.snapshots,
                "files": report.files, "bytes": report.bytes,
                "damage": report.damage.iter().map(damage_object).collect::<Vec<_>>(),
                "foreign": report.foreign,
            })
        )?,
        SummaryFormat::Text => {
            for damage in &report.damage {
                writeln!(out, "{}", line(damage))?;
            }
            for path in &report.foreign {
                writeln!(out, "{}: no snapshot speaks of it", path.display())?;
            }
            let (snapshots, files, bytes) = (report.snapshots, report.files, report.bytes);
            writeln!(
                out,
                "{files} files of {bytes} bytes in {snapshots} snapshots"
            )?;
        }
    }
    if report.damage.is_empty() {
        return Ok(());
    }
    bail!("{} is damaged", dir.display())
}

fn damage_object(one: &FileDamage) -> Value {
    json!({"file": one.path, "offset": one.offset, "reason": one.reason})
}

pub(crate) fn repair(arguments: &RepairArguments) -> anyhow::Result<()> {
    let report = report_of(&arguments.dir)?;
    let give_up = match arguments.give_up_segments {
        true => GiveUp::Segments,
        false => GiveUp::Nothing,
    };
    let steps = clew_engine::plan_repair(&report, give_up);
    let mut out = std::io::stdout().lock();
    for step in &steps {
        writeln!(out, "{}", words(step))?;
    }
    if let Some(damage) = &report.catalog {
        writeln!(
            out,
            "{}: there is no repair for the catalog: put a copy of it back",
            line(damage)
        )?;
    }
    if let Some(reason) = &report.incomplete {
        writeln!(
            out,
            "{reason}: there is no repair for that: put the missing files back"
        )?;
    }
    if !report.log.damage.is_empty() {
        writeln!(out, "there is no repair for the log: see `clew log verify`")?;
    }
    if steps.is_empty() {
        writeln!(out, "no shard is damaged")?;
        return beyond_repair(&report, &arguments.dir);
    }
    if !arguments.yes {
        writeln!(out, "nothing was done; --yes does it")?;
        return Ok(());
    }
    let aside = aside(&arguments.dir);
    clew_engine::repair(&RealDisk, &arguments.dir, &steps, &aside)
        .with_context(|| format!("cannot repair {}", arguments.dir.display()))?;
    if aside.exists() {
        writeln!(out, "damaged files are in {}", aside.display())?;
    }
    match steps.iter().filter(|step| step.cure == Cure::None).count() {
        0 => beyond_repair(&report, &arguments.dir),
        left => bail!("{left} shards are as damaged as before"),
    }
}

/// Whoever starts a server after a repair must not be told that all is well where that cannot start.
fn beyond_repair(report: &FolderReport, dir: &Path) -> anyhow::Result<()> {
    let is_whole =
        report.catalog.is_none() && report.incomplete.is_none() && report.log.damage.is_empty();
    match is_whole {
        true => Ok(()),
        false => bail!("{} is damaged, and not by a shard alone", dir.display()),
    }
}

fn report_of(dir: &Path) -> anyhow::Result<FolderReport> {
    if !is_folder(dir)? {
        bail!("{} is no folder", dir.display());
    }
    if !is_folder(&dir.join("log"))? {
        bail!("{} is no data folder: it has no log", dir.display());
    }
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    let bar = bar::of_bytes(None);
    let report = clew_engine::verify_folder(&disk, dir, &mut |bytes| bar.set_position(bytes));
    bar.finish_and_clear();
    let mut report = report.with_context(|| format!("cannot verify {}", dir.display()))?;
    // What is kept beside the engine's files.
    let own = [
        crate::login::FILE,
        crate::profile::KEPT_FOLDER,
        clew_opensearch::REPOSITORIES_FOLDER,
    ];
    let own = own.map(|name| dir.join(name));
    report.foreign.retain(|path| !own.contains(path));
    Ok(report)
}

fn line(damage: &FileDamage) -> String {
    let path = damage.path.display();
    match damage.offset {
        Some(offset) => format!("{path}:{offset}: {}", damage.reason),
        None => format!("{path}: {}", damage.reason),
    }
}

fn text(report: &FolderReport) -> String {
    let mut text = String::new();
    for damage in &report.log.damage {
        text += &format!("{damage}\n");
    }
    if let Some(reason) = &report.incomplete {
        text += &format!("{reason}\n");
    }
    for damage in report.damage() {
        text += &format!("{}\n", line(damage));
    }
    for shard in report
        .shards
        .iter()
        .filter(|shard| !shard.damage.is_empty())
    {
        text += &format!("{}\n", cost(shard));
    }
    for path in &report.foreign {
        text += &format!("{}: nobody here wrote it\n", path.display());
    }
    let log = &report.log;
    text += &format!(
        "{} files of {} bytes in {} shards, {} entries in a log of {} bytes\n",
        report.files,
        report.bytes,
        report.shards.len(),
        log.entries,
        log.bytes
    );
    text
}

/// What the damage of a shard means to those who use it.
fn cost(shard: &ShardReport) -> String {
    let rows = match shard.checkpoint {
        _ if shard.has_other_operations => {
            format!("{} rows, and not those that were logged", shard.rows)
        }
        Some(_) => format!(
            "{} rows, {} of them in damaged segments",
            shard.rows, shard.rows_damaged
        ),
        None => "its manifest cannot be read".to_string(),
    };
    let log = match (shard.log_has_all, shard.checkpoint) {
        (true, _) => "the log still has everything that was ever written to it".to_string(),
        (false, Some(checkpoint)) => {
            format!("the log has only what came after position {checkpoint} for certain")
        }
        (false, None) => "the log does not have everything that was written to it".to_string(),
    };
    format!(
        "shard {} of index {} refuses everything: {rows}; {log}",
        shard.number, shard.index
    )
}

fn words(step: &RepairStep) -> String {
    let shard = format!("shard {} of index {}", step.number, step.index);
    match step.cure {
        Cure::FromTheLog => {
            format!("{shard}: its files go aside and it is made anew from the log; nothing is lost")
        }
        Cure::GiveUpSegments { rows } => {
            format!("{shard}: its damaged segments go aside, and {rows} rows with them")
        }
        Cure::None => format!(
            "{shard}: nothing; restore the index from a snapshot, or give up what is damaged with --give-up-segments"
        ),
    }
}

fn object(report: &FolderReport, profiles: &[String]) -> Value {
    let shards = report.shards.iter().map(|shard| {
        json!({
            "index": shard.index, "uuid": shard.uuid, "shard": shard.number,
            "rows": shard.rows, "rows_damaged": shard.rows_damaged,
            "checkpoint": shard.checkpoint.map(|checkpoint| checkpoint.get()),
            "log_has_all": shard.log_has_all,
            "damage": shard.damage.iter().map(damage_object).collect::<Vec<_>>(),
        })
    });
    let log = report
        .log
        .damage
        .iter()
        .map(|damage| json!({"reason": damage.to_string()}));
    json!({
        "sound": report.is_sound() && profiles.is_empty(),
        "files": report.files, "bytes": report.bytes, "profiles": profiles,
        "catalog": report.catalog.as_ref().map(damage_object),
        "incomplete": report.incomplete,
        "shards": shards.collect::<Vec<_>>(),
        "log": {"entries": report.log.entries, "bytes": report.log.bytes, "damage": log.collect::<Vec<_>>()},
        "foreign": report.foreign,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_not_there_is_told_from_one_without_data() {
        let folder = tempfile::tempdir().unwrap();
        for (dir, told) in [
            (folder.path().join("none"), "none is no folder"),
            (folder.path().to_path_buf(), "is no data folder"),
        ] {
            let error = report_of(&dir).map(|_| ()).unwrap_err().to_string();
            assert!(error.contains(told), "{error}");
        }
    }
}
