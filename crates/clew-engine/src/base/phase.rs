//! When something was done, as it is told to those who ask where the time went.

use std::time::Duration;

use clew_platform::Clock;
use clew_profile::{Attribute, Spent, Trace};

/// A part of what was done for a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Phase {
    /// When it began, since the epoch.
    pub began: Duration,
    /// How long it took.
    pub took: Duration,
}

impl Phase {
    /// Tells the trace of a request of its part at one shard.
    pub(crate) fn tell(
        self,
        trace: &Trace,
        name: &'static str,
        (index, shard): (&str, u32),
        more: Option<Attribute>,
    ) {
        trace.tell(name, (self.began, self.took), || {
            let place = [
                ("clew.index", index.to_string().into()),
                ("clew.shard", shard.into()),
            ];
            place.into_iter().chain(more).collect()
        });
    }
}

/// Does a part of what a request asks for, of which its trace is told where somebody wants its spans.
pub(crate) async fn in_span<T>(
    clock: &dyn Clock,
    name: &'static str,
    attributes: impl FnOnce() -> Vec<Attribute>,
    work: impl Future<Output = T>,
) -> T {
    let Some(trace) = Spent::recorded() else {
        return work.await;
    };
    let (began, since) = (clock.since_epoch(), clock.monotonic());
    let done = work.await;
    let took = clock.monotonic().saturating_sub(since);
    trace.tell(name, (began, took), attributes);
    done
}
