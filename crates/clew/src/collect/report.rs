//! What a run of the collector did, for people.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clew_collect::{BufferFigures, CollectReport, Counters, SkipReason};
use indicatif::{HumanBytes, HumanCount};

/// Whoever reads it may have gone, which is no failure of the run.
pub(super) fn print(report: &CollectReport) {
    let _ = write(&mut io::stderr().lock(), report);
}

fn write(out: &mut dyn Write, report: &CollectReport) -> io::Result<()> {
    let counters = &report.counters;
    for file in report.files.iter().filter(|file| !file.parser.is_empty()) {
        let size = HumanBytes(file.offset_bytes).to_string();
        writeln!(
            out,
            "  read     {:<14} {size:>12}  {}",
            file.parser,
            file.path.display()
        )?;
    }
    for skipped in &report.skipped {
        writeln!(
            out,
            "  skipped  {:<27}  {}",
            skipped.reason.to_string(),
            skipped.path.display()
        )?;
    }
    writeln!(
        out,
        "{} files read, {} skipped: {} lines, {} events sent, {} already there, {} refused, \
         {} lines their parser could not take, {} retries",
        counters.files_found,
        counters.files_skipped,
        HumanCount(counters.lines_read),
        HumanCount(counters.events_acked),
        HumanCount(counters.events_duplicate),
        HumanCount(counters.events_rejected),
        HumanCount(counters.parse_errors),
        HumanCount(counters.retries + of_buffers(report, |buffer| buffer.counts.retries)),
    )?;
    tell_dropped(out, report)?;
    if counters.events_unrouted > 0 {
        let count = HumanCount(counters.events_unrouted);
        writeln!(
            out,
            "{count} events for which no output's condition holds were sent nowhere"
        )?;
    }
    if counters.lines_truncated > 0 {
        let count = HumanCount(counters.lines_truncated);
        writeln!(
            out,
            "{count} lines were longer than their input allows, and were cut"
        )?;
    }
    if counters.handshakes_failed > 0 {
        let count = HumanCount(counters.handshakes_failed);
        writeln!(out, "{count} handshakes of TLS failed")?;
    }
    if counters.patterns > 0 {
        writeln!(out, "{} patterns of lines", HumanCount(counters.patterns))?;
    }
    tell_failures(out, report)
}

/// What outputs refused for good is an error of a run that ends by itself: nobody may look at its report.
///
/// # Errors
/// How many events, of which outputs, and where they are kept.
pub(super) fn refusals(report: &CollectReport, dead_letters: &Path) -> anyhow::Result<()> {
    let all = report.counters.events_rejected;
    if all == 0 {
        return Ok(());
    }
    let has_refused = |buffer: &&BufferFigures| buffer.counts.rejected > 0;
    let later = report.buffers.iter().filter(has_refused);
    let told: Vec<String> = later
        .map(|buffer| {
            let (count, path) = (buffer.counts.rejected, buffer.rejected_in.display());
            format!("{count} by {} out of its buffer ({path})", buffer.output)
        })
        .collect();
    let at_once = all.saturating_sub(report.buffers.iter().map(|one| one.counts.rejected).sum());
    let at_once = (at_once > 0).then(|| format!("{at_once} at once ({})", dead_letters.display()));
    let told: Vec<String> = at_once.into_iter().chain(told).collect();
    anyhow::bail!(
        "{all} events were refused for good, and are kept with the reasons: {}",
        told.join(", ")
    )
}

/// Files that the command line names, and that are not there or cannot be read, are an error of a run that ends by itself, as they
/// are of `cat`.
///
/// # Errors
/// Which ones.
pub(super) fn unread(report: &CollectReport, named: &[PathBuf]) -> anyhow::Result<()> {
    let told = |path: &PathBuf| {
        let whole = std::path::absolute(path).unwrap_or_default();
        let skipped = report.skipped.iter().find(|one| one.path == whole)?;
        let path = path.display();
        match &skipped.reason {
            SkipReason::Missing => Some(format!("there is no {path}")),
            SkipReason::Unreadable(reason) => Some(format!("cannot read {path}: {reason}")),
            reason @ SkipReason::NameNotText => Some(format!("cannot read {path}: {reason}")),
            _ => None,
        }
    };
    let told: Vec<String> = named.iter().filter_map(told).collect();
    match told.is_empty() {
        true => Ok(()),
        false => anyhow::bail!("{}", told.join("; ")),
    }
}

/// What processors could not do.
fn tell_failures(out: &mut dyn Write, report: &CollectReport) -> io::Result<()> {
    for failure in &report.failures.counts {
        let tag = failure.tag.as_deref().unwrap_or("-");
        writeln!(
            out,
            "  failed   {:<14} {tag:<12} {:<16} {}",
            failure.step,
            failure.reason.as_str(),
            HumanCount(failure.count)
        )?;
    }
    for failed in &report.failures.lines {
        writeln!(
            out,
            "  example  {:<14} {:<16} {}",
            failed.step,
            failed.reason.as_str(),
            failed.line
        )?;
        if !failed.said.is_empty() {
            writeln!(out, "           {}", failed.said)?;
        }
    }
    Ok(())
}

/// What was counted in all buffers.
fn of_buffers(report: &CollectReport, count: fn(&BufferFigures) -> u64) -> u64 {
    report.buffers.iter().map(count).sum()
}

/// What was left out on purpose, or because there was no room for it.
fn tell_dropped(out: &mut dyn Write, report: &CollectReport) -> io::Result<()> {
    let counters: &Counters = &report.counters;
    let made_room = of_buffers(report, |buffer| buffer.counts.dropped);
    let damaged = of_buffers(report, |buffer| buffer.counts.damaged_bytes);
    let told = [
        (
            damaged,
            "bytes of buffers were damaged or broken off, and are left out",
        ),
        (
            made_room,
            "events made room for others in a buffer that was full, and are lost",
        ),
        (counters.events_dropped, "events were dropped by processors"),
        (
            counters.lines_dropped,
            "datagrams were dropped, as the output did not take more",
        ),
        (counters.requests_refused, "requests were refused"),
    ];
    for (count, what) in told.into_iter().filter(|(count, _)| *count > 0) {
        writeln!(out, "{} {what}", HumanCount(count))?;
    }
    Ok(())
}
