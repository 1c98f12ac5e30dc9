//! Writes whose time is taken, because their index tells those that are slow.

use std::time::Duration;

use bytes::Bytes;

use crate::base::slow::SlowWrite;
use crate::base::write_request::Action;
use crate::index::handle::Index;
use crate::node::engine::Inner;

/// What is told of a write if it turns out to be slow; none where nobody asks.
pub(super) type Watch = Option<Box<Watched>>;

/// A write whose time is taken.
pub(super) struct Watched {
    source: Bytes,
    routing: Option<String>,
    /// When what is done just now began.
    since: Duration,
    /// What was done before.
    took: Duration,
}

impl Watched {
    /// What of it has been done so far counts, what other writes do from now on does not.
    pub(super) fn pause(&mut self, now: Duration) {
        self.took += now.saturating_sub(self.since);
    }

    /// It goes on.
    pub(super) fn resume(&mut self, now: Duration) {
        self.since = now;
    }

    /// It is done, after so much more: what is told of it, if it was slow.
    pub(super) fn slow(self, index: &Index, more: Duration) -> Option<Box<SlowWrite>> {
        let settings = index.settings.load();
        let (slow, took) = (&settings.slow, self.took + more);
        let level = slow.write.level(took, slow.write_level)?;
        Some(Box::new(SlowWrite {
            level,
            took,
            source: self.source,
            routing: self.routing,
        }))
    }
}

impl Inner {
    /// Takes the time of a write from now on, if its index wants that. Deletions are never told.
    pub(super) fn watch(&self, index: &Index, action: &Action, routing: Option<&str>) -> Watch {
        if !index.settings.load().slow.write.is_on() {
            return None;
        }
        let source = match action {
            Action::Index { source, .. } => source,
            Action::Update(spec) => spec.doc.as_ref().or(spec.upsert.as_ref())?,
            Action::Delete => return None,
        };
        Some(Box::new(Watched {
            source: source.clone(),
            routing: routing.map(String::from),
            since: self.clock.monotonic(),
            took: Duration::ZERO,
        }))
    }
}
