//! When a run writes down how far it has come.

use std::time::Duration;

use super::Collector;
use crate::error::CollectError;

impl Collector<'_> {
    /// Saves how far files were read, and patterns of lines, unless that was done a moment ago.
    pub(super) fn save_if_due(&mut self) -> Result<(), CollectError> {
        let now = self.world.clock.monotonic();
        let plans = self.encoder.plans_mut();
        self.patterns.save_if_due(plans, now);
        if now.saturating_sub(self.saved_at) >= self.pause_between_saves() {
            self.registry.save()?;
            self.saved_at = self.world.clock.monotonic();
            self.save_took = self.saved_at.saturating_sub(now);
            self.times.registry += self.save_took;
        }
        Ok(())
    }

    /// How long a run that waits may wait until there is something to save: what is sent again after a crash is what was
    /// delivered since the last save, and outputs that know no ids have it twice.
    pub(super) fn until_saved(&self) -> Duration {
        if !self.registry.is_unsaved() {
            return Duration::MAX;
        }
        let due = self.saved_at.saturating_add(self.pause_between_saves());
        due.saturating_sub(self.world.clock.monotonic())
    }

    /// At most a tenth of the time goes into saving, unless that is what was asked for.
    fn pause_between_saves(&self) -> Duration {
        let interval = self.options.registry_interval;
        match interval.is_zero() {
            true => interval,
            false => interval.max(self.save_took * 10),
        }
    }
}
