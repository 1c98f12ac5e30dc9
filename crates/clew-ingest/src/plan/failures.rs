//! What failed: counted by step and reason, and some lines to look at.

use super::step::Failed;
use crate::event::Reason;

/// Lines that are kept of each step and reason, of all, and their bytes.
const LINES_EACH_MAX: usize = 3;
const LINES_MAX: usize = 30;
const LINE_BYTES_MAX: usize = 500;

/// How often a step failed for a reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailureCount {
    /// The step's name.
    pub step: &'static str,
    /// Its tag, if it has one.
    pub tag: Option<String>,
    /// The reason.
    pub reason: Reason,
    /// How often.
    pub count: u64,
}

/// A line that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedLine {
    /// The step's name.
    pub step: &'static str,
    /// Why it failed.
    pub reason: Reason,
    /// What the step says of it; nothing where the reason says all.
    pub said: String,
    /// The line, perhaps cut.
    pub line: String,
}

/// The lines that are kept.
#[derive(Debug, Default)]
pub(super) struct Failures {
    lines: Vec<FailedLine>,
}

impl Failures {
    /// Keeps the line if there are few of its kind yet.
    pub(super) fn sample(&mut self, failed: &Failed, line: &str) {
        let (step, reason) = (failed.step, failed.reason);
        if self.lines.len() >= LINES_MAX {
            return;
        }
        let is_alike = |kept: &&FailedLine| kept.step == step && kept.reason == reason;
        if self.lines.iter().filter(is_alike).count() >= LINES_EACH_MAX {
            return;
        }
        let end = line.floor_char_boundary(LINE_BYTES_MAX);
        let line = line[..end].to_owned();
        self.lines.push(FailedLine {
            step,
            reason,
            said: failed.said.clone(),
            line,
        });
    }

    pub(super) fn lines(&self) -> &[FailedLine] {
        &self.lines
    }
}
