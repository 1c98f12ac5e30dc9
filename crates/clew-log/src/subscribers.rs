//! Who reads the log at its tail, as far as the log knows: a name, and how far each has come.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::position::Glsn;

/// How far a subscriber has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubscriberStats {
    /// Its name.
    pub name: String,
    /// The next position it will read.
    pub position: Glsn,
    /// Entries of the log between that and the last.
    pub lag: u64,
}

/// The part of a subscription that the log knows.
#[derive(Debug)]
pub(crate) struct Subscriber {
    name: String,
    position: AtomicU64,
}

impl Subscriber {
    pub(crate) fn new(name: String, position: Glsn) -> Self {
        Subscriber {
            name,
            position: AtomicU64::new(position.get()),
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Notes the next position that will be read.
    pub(crate) fn has_reached(&self, position: Glsn) {
        self.position.store(position.get(), Ordering::Relaxed);
    }

    pub(crate) fn stats(&self, last: Glsn) -> SubscriberStats {
        let position = Glsn::new(self.position.load(Ordering::Relaxed));
        let lag = last.next().get().saturating_sub(position.get());
        SubscriberStats {
            name: self.name.clone(),
            position,
            lag,
        }
    }
}
