//! What is told of a run: counters while it runs, and the report at its end.

use std::path::PathBuf;

use clew_ingest::{FailedLine, FailureCount};

use crate::counters::Counters;
use crate::figures::RunFigures;
use crate::input::SkipReason;
use crate::sink::BufferFigures;

/// Receives the counters now and then: after each look for files and each delivered batch.
pub trait Progress {
    /// Called from the collecting thread; should return quickly.
    fn report(&self, counters: &Counters);

    /// Whether more is to be told now, for which every file is looked at. Asked as often as there are reports.
    fn wants_figures(&self) -> bool {
        false
    }

    /// Called from the collecting thread after somebody wanted it; should return quickly.
    fn figures(&self, _figures: RunFigures) {}
}

/// Progress nobody looks at.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoProgress;

impl Progress for NoProgress {
    fn report(&self, _: &Counters) {}
}

/// One file that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileReport {
    /// Where it was last seen.
    pub path: PathBuf,
    /// The parser's name; empty when the file never had a line.
    pub parser: String,
    /// Position reached and acknowledged, in (decompressed) bytes.
    pub offset_bytes: u64,
}

/// One file that was found and not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// The file.
    pub path: PathBuf,
    /// Why it was left alone.
    pub reason: SkipReason,
}

/// What one run did.
#[derive(Clone, Debug, Default)]
pub struct CollectReport {
    /// The counters at the end.
    pub counters: Counters,
    /// Files read, by path.
    pub files: Vec<FileReport>,
    /// Files not read, by path; at most [`crate::REPORT_FILES_MAX`], `files_skipped` has the count.
    pub skipped: Vec<Skipped>,
    /// Buffers of outputs, and what became of what was in them.
    pub buffers: Vec<BufferFigures>,
    /// What processors could not do.
    pub failures: Failures,
}

/// What processors could not do: how often, and to which lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Failures {
    /// By step and reason.
    pub counts: Vec<FailureCount>,
    /// Some of the lines.
    pub lines: Vec<FailedLine>,
}
