//! The moments that query iterators began at. Clients read such an iterator page by page: each is a query that says the time which
//! the first one was answered with, and sees the rows as they were then, whatever is written meanwhile.

use std::collections::HashMap;
use std::time::Duration;

use clew_engine::Pinned;
use parking_lot::Mutex;

use super::Service;
use super::read::Guarantee;
use crate::collections::Opened;
use crate::error::Result;

/// Most moments that are kept; of more, those that were not asked for the longest time go.
const MOMENTS_MAX: usize = 1_000;
/// How long a moment is kept after its last page.
const IDLE_MAX: Duration = Duration::from_secs(600);

/// The rows of an index as they were.
struct Moment {
    /// When it was asked for last.
    used: Duration,
    /// The index.
    uuid: String,
    pinned: Pinned,
}

/// The moments, by the times that clients were told.
#[derive(Default)]
pub(super) struct Moments {
    kept: Mutex<HashMap<u64, Moment>>,
}

impl Moments {
    fn find(&self, time: u64, uuid: &str, now: Duration) -> Option<Pinned> {
        let mut kept = self.kept.lock();
        let moment = kept.get_mut(&time).filter(|moment| moment.uuid == uuid)?;
        moment.used = now;
        Some(moment.pinned.clone())
    }

    fn keep(&self, time: u64, moment: Moment) {
        self.sweep(moment.used);
        let mut kept = self.kept.lock();
        kept.insert(time, moment);
        if kept.len() > MOMENTS_MAX {
            let oldest = kept.iter().min_by_key(|(_, moment)| moment.used);
            let oldest = oldest.map(|(time, _)| *time);
            if let Some(time) = oldest {
                kept.remove(&time);
            }
        }
    }

    pub(super) fn forget(&self, time: u64) {
        self.kept.lock().remove(&time);
    }

    /// Forgets those that nobody asks for any more.
    pub(super) fn sweep(&self, now: Duration) {
        let is_new = |_: &u64, moment: &mut Moment| now.saturating_sub(moment.used) <= IDLE_MAX;
        self.kept.lock().retain(is_new);
    }
}

impl Service {
    /// What a query reads, and the time that is told with it. A page of an iterator reads what its first one read; one whose moment is
    /// not kept any more, for its client waited too long or the server was started again, what is there now.
    ///
    /// # Errors
    /// When the collection cannot be read.
    pub(super) fn moment(
        &self,
        opened: &Opened,
        (is_page, guarantee): (bool, Guarantee),
    ) -> Result<(Pinned, u64)> {
        let (uuid, now) = (opened.handle.uuid(), self.monotonic());
        if is_page && let Some(pinned) = self.moments().find(guarantee.timestamp, uuid, now) {
            return Ok((pinned, guarantee.timestamp));
        }
        let pinned = self.engine().pin(std::slice::from_ref(&opened.handle))?;
        let time = self.timestamp();
        if is_page {
            let moment = Moment {
                used: now,
                uuid: uuid.to_string(),
                pinned: pinned.clone(),
            };
            self.moments().keep(time, moment);
        }
        Ok((pinned, time))
    }
}
