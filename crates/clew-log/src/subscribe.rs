//! Subscriptions: scans that go on at the tail.
//!
//! A subscriber pulls. It holds a position and nothing else, so a slow one costs no memory and
//! never slows the writer; what it has not read is on disk.

use std::fmt;
use std::sync::Arc;

use crate::error::LogError;
use crate::log::Log;
use crate::options::Durability;
use crate::position::{Glsn, StreamId};
use crate::progress::Goal;
use crate::scan::{Order, Range, Scan, Selection};
use crate::subscribers::Subscriber;

/// One scan covers at most so many positions, so that the reported position keeps up with what
/// was really read.
const POSITIONS_MAX: u64 = 1 << 16;

/// What to subscribe to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubscribeOptions {
    /// Tells this subscriber from others in [`Log::subscribers`].
    pub name: String,
    /// The first position wanted; 0 for the lowest retained.
    pub from: Glsn,
    /// The streams wanted; empty for all.
    pub streams: Vec<StreamId>,
    /// When entries are shown: as soon as they are written (`Os`), or once they are durable
    /// (`Sync`), so that no crash can take back what was seen.
    pub visible: Durability,
}

/// A position in the log that moves on as entries arrive.
pub struct Subscription {
    log: Log,
    streams: Vec<StreamId>,
    goal: Goal,
    /// The life of the log that the positions are of.
    life: u64,
    next: Glsn,
    /// Nothing was read yet, and what is trimmed was not asked for.
    at_first: bool,
    subscriber: Arc<Subscriber>,
}

impl Log {
    /// Begins a subscription. Costs nothing until it is asked for entries.
    ///
    /// # Errors
    /// [`LogError::Trimmed`] when `from` is not retained any more.
    pub fn subscribe(&self, options: SubscribeOptions) -> Result<Subscription, LogError> {
        let SubscribeOptions {
            name,
            from,
            streams,
            visible,
        } = options;
        let first = self.first();
        let next = if from == Glsn::ZERO { first } else { from };
        if next < first {
            return Err(LogError::Trimmed { first });
        }
        let subscriber = Arc::new(Subscriber::new(name, next));
        self.shared()
            .subscribers
            .lock()
            .push(Arc::downgrade(&subscriber));
        let goal = match visible {
            Durability::Memory | Durability::Os => Goal::Readable,
            Durability::Sync => Goal::Durable,
        };
        Ok(Subscription {
            log: self.clone(),
            streams,
            goal,
            life: self.life(),
            next,
            at_first: from == Glsn::ZERO,
            subscriber,
        })
    }
}

impl Subscription {
    /// The next position that will be read: everything of the wanted streams below it has been
    /// given. Moves on also when other streams grow.
    pub fn position(&self) -> Glsn {
        self.next
    }

    /// Waits until there is anything at or behind the position, then gives a scan of it, which
    /// may turn out empty when it is all of other streams. Nothing is lost when this is cancelled.
    ///
    /// # Errors
    /// [`LogError::Trimmed`] when the log was trimmed beyond the position, [`LogError::Closed`]
    /// and [`LogError::Poisoned`] when the log has ended and all it has was given, [`LogError::Lost`] when it went
    /// on after a failure without what may have been given.
    pub async fn ready(&mut self) -> Result<Scan, LogError> {
        self.publish();
        loop {
            let progress = &self.log.shared().progress;
            let waited = progress.wait_async(self.life, self.next, self.goal).await;
            if !self.outlives(&waited) {
                waited?;
                return self.advance();
            }
        }
    }

    /// As [`ready`](Self::ready), for threads.
    ///
    /// # Errors
    /// As [`ready`](Self::ready).
    pub fn wait(&mut self) -> Result<Scan, LogError> {
        self.publish();
        loop {
            let waited = self
                .log
                .shared()
                .progress
                .wait(self.life, self.next, self.goal);
            if !self.outlives(&waited) {
                waited?;
                return self.advance();
            }
        }
    }

    /// Whoever was given durable entries only goes on when the log does. Others may have been given what it has
    /// lost, and must begin anew.
    fn outlives(&mut self, waited: &Result<(), LogError>) -> bool {
        let lost = matches!(waited, Err(LogError::Lost { .. }));
        let goes_on = lost && self.goal == Goal::Durable;
        if goes_on {
            self.life = self.log.life();
        }
        goes_on
    }

    /// Tells the log how far the subscriber has come: it asks for more once it has read all.
    fn publish(&self) {
        self.subscriber.has_reached(self.next);
    }

    fn advance(&mut self) -> Result<Scan, LogError> {
        let progress = &self.log.shared().progress;
        let end = match self.goal {
            Goal::Durable => progress.durable(),
            Goal::Readable | Goal::Written => progress.written(),
        };
        let to = end.next().min(self.next.plus(POSITIONS_MAX));
        let from = if self.at_first { Glsn::ZERO } else { self.next };
        let range = Range::Glsn { from, to };
        let selection = Selection {
            range,
            streams: self.streams.clone(),
            order: Order::Forward,
        };
        let scan = self.log.scan_with(&selection)?;
        (self.next, self.at_first) = (to, false);
        Ok(scan)
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription")
            .field("name", &self.subscriber.name())
            .field("position", &self.next)
            .finish_non_exhaustive()
    }
}
