//! What a run of the collector did, for people.

use clew_collect::{CollectReport, Counters};
use indicatif::{HumanBytes, HumanCount};

pub(super) fn print(report: &CollectReport) {
    let counters = &report.counters;
    for file in report.files.iter().filter(|file| !file.parser.is_empty()) {
        let size = HumanBytes(file.offset_bytes).to_string();
        eprintln!(
            "  read     {:<14} {size:>12}  {}",
            file.parser,
            file.path.display()
        );
    }
    for skipped in &report.skipped {
        eprintln!(
            "  skipped  {:<27}  {}",
            skipped.reason.to_string(),
            skipped.path.display()
        );
    }
    eprintln!(
        "{} files read, {} skipped: {} lines, {} events sent, {} already there, {} refused, \
         {} lines their parser could not take, {} retries",
        counters.files_found,
        counters.files_skipped,
        HumanCount(counters.lines_read),
        HumanCount(counters.events_acked),
        HumanCount(counters.events_duplicate),
        HumanCount(counters.events_rejected),
        HumanCount(counters.parse_errors),
        HumanCount(counters.retries),
    );
    tell_dropped(counters);
    if counters.events_unrouted > 0 {
        let count = HumanCount(counters.events_unrouted);
        eprintln!("{count} events for which no output's condition holds were sent nowhere");
    }
    if counters.lines_truncated > 0 {
        let count = HumanCount(counters.lines_truncated);
        eprintln!("{count} lines were longer than their input allows, and were cut");
    }
    if counters.handshakes_failed > 0 {
        let count = HumanCount(counters.handshakes_failed);
        eprintln!("{count} handshakes of TLS failed");
    }
    if counters.patterns > 0 {
        eprintln!("{} patterns of lines", HumanCount(counters.patterns));
    }
    for failure in &report.failures.counts {
        let tag = failure.tag.as_deref().unwrap_or("-");
        eprintln!(
            "  failed   {:<14} {tag:<12} {:<16} {}",
            failure.step,
            failure.reason.as_str(),
            HumanCount(failure.count)
        );
    }
    for failed in &report.failures.lines {
        eprintln!(
            "  example  {:<14} {:<16} {}",
            failed.step,
            failed.reason.as_str(),
            failed.line
        );
        if !failed.said.is_empty() {
            eprintln!("           {}", failed.said);
        }
    }
}

/// What was left out on purpose, or because there was no room for it.
fn tell_dropped(counters: &Counters) {
    let told = [
        (counters.events_dropped, "events were dropped by processors"),
        (
            counters.lines_dropped,
            "datagrams were dropped, as the output did not take more",
        ),
        (counters.requests_refused, "requests were refused"),
    ];
    for (count, what) in told.into_iter().filter(|(count, _)| *count > 0) {
        eprintln!("{} {what}", HumanCount(count));
    }
}
