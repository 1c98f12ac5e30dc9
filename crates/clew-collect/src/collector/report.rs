//! What a run tells of itself: its figures while it runs, its report at the end.

use std::time::Duration;

use super::{Collector, REPORT_FILES_MAX};
use crate::error::CollectError;
use crate::figures::{FileLag, RunFigures};
use crate::input::{SkipReason, Tail};
use crate::progress::{CollectReport, Failures, FileReport, Skipped};

impl Collector<'_> {
    /// The run as it is now.
    pub(super) fn figures(&self) -> RunFigures {
        let now_ms = self.now().wall_ms;
        let lag = |tail: &Tail| {
            let entry = self.registry.get(tail.slot);
            let ahead = tail.stat.size_bytes.saturating_sub(entry.position.offset);
            let lag_bytes = (!tail.compressed).then_some(ahead);
            let behind = lag_bytes.is_some_and(|bytes| bytes > 0);
            let age_ms = now_ms.saturating_sub(entry.updated_ms);
            FileLag {
                path: tail.path.clone(),
                lag_bytes,
                lag: Duration::from_millis(if behind { age_ms } else { 0 }),
            }
        };
        let files = self.fleet.tails.iter().take(REPORT_FILES_MAX);
        RunFigures {
            counters: self.counters,
            files: files.map(lag).collect(),
            failures: self.failures().counts,
            buffers: self.sink.buffers(),
            times: self.times,
        }
    }

    /// Waits for what outputs still hold in buffers, so that what becomes of it is told.
    pub(super) fn finish(&mut self) -> Result<(), CollectError> {
        // That may take long, and a process that dies meanwhile must not have read all of it for nothing: outputs that know no ids
        // would have it twice.
        self.registry.save()?;
        let now = self.world.clock.monotonic();
        self.patterns.save(self.encoder.plans_mut(), now);
        self.sink.finish().map_err(CollectError::Sink)
    }

    /// Counts what was refused for good when its delivery had long been told.
    pub(super) fn count_buffers(&mut self) {
        let buffers = self.sink.buffers();
        let refused: u64 = buffers.iter().map(|buffer| buffer.counts.rejected).sum();
        self.counters.events_rejected += refused.saturating_sub(self.refused_later);
        self.refused_later = refused;
    }

    /// What processors could not do.
    fn failures(&self) -> Failures {
        let mut failures = Failures::default();
        for planned in self.encoder.plans() {
            failures.counts.extend(planned.plan.failures());
            failures
                .lines
                .extend_from_slice(planned.plan.failed_lines());
        }
        failures
    }

    pub(super) fn report(&mut self) -> CollectReport {
        self.tell_progress();
        let mut files: Vec<FileReport> = self
            .fleet
            .tails
            .iter()
            .map(|tail| FileReport {
                path: tail.path.clone(),
                parser: tail
                    .parser
                    .map_or_else(String::new, |p| p.as_str().to_owned()),
                offset_bytes: self.registry.get(tail.slot).position.offset,
            })
            .collect();
        files.sort_by(|a, b| a.path.cmp(&b.path));
        files.truncate(REPORT_FILES_MAX);
        let left_alone = self
            .fleet
            .skipped
            .iter()
            .map(|(path, reason)| (path, reason.clone()));
        let failed =
            self.fleet.tails.iter().filter_map(|tail| {
                Some((&tail.path, SkipReason::Unreadable(tail.failure.clone()?)))
            });
        let mut skipped: Vec<Skipped> = left_alone
            .chain(failed)
            .map(|(path, reason)| Skipped {
                path: path.clone(),
                reason,
            })
            .collect();
        skipped.sort_by(|a, b| a.path.cmp(&b.path));
        skipped.truncate(REPORT_FILES_MAX);
        CollectReport {
            counters: self.counters,
            files,
            skipped,
            buffers: self.sink.buffers(),
            failures: self.failures(),
        }
    }
}
