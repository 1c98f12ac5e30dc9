//! One account of the memory that requests and upkeep may take together, so that what does not fit is refused by
//! name instead of tried: a process that the system kills for its memory takes every request with it.
//!
//! Only what can grow large is booked: bodies, operations, results, buffers, merges, caches. The rest, with
//! what the allocator leaves unused and the pages of mapped files, is what the limit leaves free of the machine.
//! Numbers are atomic; nothing locks but those who wait.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

mod limits;
mod real;

pub use limits::MemoryLimits;
use real::RealMemory;
#[cfg(test)]
pub(crate) use real::own_bytes;

/// Whoever wants no more than this may have the last part of an account, so that small requests go on beside
/// large ones that are refused.
const SMALL_BYTES: usize = 64 << 10;
/// That part: one in so many bytes.
const SMALL_SHARE: usize = 16;
/// While no more than this part of the limit of all is taken, what the process really has does not count: an allocator may
/// keep what was given back to it, and a request must not be refused for ever.
const ALONE_SHARE: usize = 8;
/// How often whoever waits looks whether it is still wanted; also what a missed wake-up costs.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// What memory is taken for. Each has a limit of its own, and all together have one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemoryPurpose {
    /// Bodies of requests, from their first byte until they are done with.
    Bodies,
    /// What the operations of writes take beside their bodies until they are answered.
    Operations,
    /// What requests find: buckets, hits, rows; and answers until they are sent.
    Searches,
    /// Documents that are in no segment yet.
    Buffers,
    /// Vectors, graphs and orders of documents in merges.
    Merges,
}

impl MemoryPurpose {
    /// Every purpose.
    pub const ALL: [MemoryPurpose; 5] = [
        MemoryPurpose::Bodies,
        MemoryPurpose::Operations,
        MemoryPurpose::Searches,
        MemoryPurpose::Buffers,
        MemoryPurpose::Merges,
    ];

    /// The purpose in one word, for labels.
    pub fn name(self) -> &'static str {
        match self {
            MemoryPurpose::Bodies => "bodies",
            MemoryPurpose::Operations => "operations",
            MemoryPurpose::Searches => "searches",
            MemoryPurpose::Buffers => "buffers",
            MemoryPurpose::Merges => "merges",
        }
    }
}

/// What a reservation would have exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryScope {
    /// The limit of its purpose.
    Purpose,
    /// The limit of all together.
    Total,
}

/// A reservation that did not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryExceeded {
    /// What the memory was wanted for.
    pub purpose: MemoryPurpose,
    /// Whose limit it is.
    pub scope: MemoryScope,
    /// Bytes that the reservation would have had.
    pub wanted: usize,
    /// Bytes that were taken already, by others and by the reservation itself.
    pub used: usize,
    /// Bytes that would have been taken with it.
    pub would_be: usize,
    /// The limit.
    pub limit: usize,
}

impl MemoryExceeded {
    /// Whether the reservation is too large even with nothing else taken.
    pub fn can_never_fit(&self) -> bool {
        self.wanted > self.limit
    }
}

impl fmt::Display for MemoryExceeded {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MemoryExceeded {
            purpose,
            would_be,
            limit,
            ..
        } = self;
        let whose = match self.scope {
            MemoryScope::Purpose => purpose.name(),
            MemoryScope::Total => "all",
        };
        let purpose = purpose.name();
        write!(
            formatter,
            "memory of {purpose} would be {would_be} bytes, the limit of {whose} is {limit}"
        )
    }
}

impl std::error::Error for MemoryExceeded {}

/// How much of a limit is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryFigures {
    /// Bytes that are taken.
    pub used: usize,
    /// Bytes that may be taken.
    pub limit: usize,
    /// Reservations that were refused by this limit.
    pub refused: u64,
    /// Reservations that were granted, with their growth.
    pub granted_bytes: u64,
}

/// A limit and what is taken of it.
#[derive(Debug)]
struct Pool {
    limit: AtomicUsize,
    used: AtomicUsize,
    refused: AtomicU64,
    granted_bytes: AtomicU64,
}

impl Pool {
    fn new(limit: usize) -> Self {
        Pool {
            limit: AtomicUsize::new(limit),
            used: AtomicUsize::new(0),
            refused: AtomicU64::new(0),
            granted_bytes: AtomicU64::new(0),
        }
    }

    /// What a reservation of so many bytes may fill the pool up to.
    fn limit_for(&self, whole: usize) -> usize {
        let limit = self.limit.load(Ordering::Relaxed);
        if whole <= SMALL_BYTES {
            limit
        } else {
            limit - limit / SMALL_SHARE
        }
    }

    /// Takes `more` for a reservation that has `whole` bytes then; what is used and the limit, if it does not
    /// fit.
    fn take(&self, more: usize, whole: usize) -> Result<(), (usize, usize)> {
        let limit = self.limit_for(whole);
        let next = |used: usize| used.checked_add(more).filter(|next| *next <= limit);
        let taken = self
            .used
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
        match taken {
            Ok(_) => {
                self.granted_bytes.fetch_add(more as u64, Ordering::Relaxed);
                Ok(())
            }
            Err(used) => Err((used, limit)),
        }
    }

    fn take_anyway(&self, more: usize) {
        self.used.fetch_add(more, Ordering::Relaxed);
        self.granted_bytes.fetch_add(more as u64, Ordering::Relaxed);
    }

    fn give_back(&self, bytes: usize) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }

    fn figures(&self) -> MemoryFigures {
        MemoryFigures {
            used: self.used.load(Ordering::Relaxed),
            limit: self.limit.load(Ordering::Relaxed),
            refused: self.refused.load(Ordering::Relaxed),
            granted_bytes: self.granted_bytes.load(Ordering::Relaxed),
        }
    }
}

/// The account: a pool for each purpose, and one over all of them.
#[derive(Debug)]
pub struct MemoryAccount {
    total: Pool,
    pools: [Pool; MemoryPurpose::ALL.len()],
    real: RealMemory,
    /// Those who wait for memory.
    waiting: AtomicUsize,
    gate: Mutex<()>,
    freed: Condvar,
}

impl MemoryAccount {
    /// An account with these limits and nothing taken.
    pub fn new(limits: MemoryLimits) -> Arc<Self> {
        Arc::new(MemoryAccount {
            total: Pool::new(limits.total),
            pools: MemoryPurpose::ALL.map(|purpose| Pool::new(limits.of(purpose))),
            real: RealMemory::new(limits.real),
            waiting: AtomicUsize::new(0),
            gate: Mutex::new(()),
            freed: Condvar::new(),
        })
    }

    /// Changes the limits. What is taken already stays taken.
    pub fn set_limits(&self, limits: MemoryLimits) {
        self.total.limit.store(limits.total, Ordering::Relaxed);
        self.real.set_limit(limits.real);
        for purpose in MemoryPurpose::ALL {
            let pool = self.pool(purpose);
            pool.limit.store(limits.of(purpose), Ordering::Relaxed);
        }
        self.wake();
    }

    fn pool(&self, purpose: MemoryPurpose) -> &Pool {
        &self.pools[purpose as usize]
    }

    /// Figures of one purpose.
    pub fn figures(&self, purpose: MemoryPurpose) -> MemoryFigures {
        self.pool(purpose).figures()
    }

    /// Figures of all together.
    pub fn total(&self) -> MemoryFigures {
        self.total.figures()
    }

    /// What the process really has and may have, in bytes; how much it has is read now and then, and only where it is limited.
    pub fn real(&self) -> MemoryFigures {
        MemoryFigures {
            used: self.real.bytes(),
            limit: self.real.limit(),
            ..MemoryFigures::default()
        }
    }

    /// The largest reservation that a purpose can ever have beside nothing else.
    pub fn largest(&self, purpose: MemoryPurpose) -> usize {
        let large = SMALL_BYTES + 1;
        let own = self.pool(purpose).limit_for(large);
        own.min(self.total.limit_for(large))
    }

    /// An empty reservation, to grow as memory is wanted.
    pub fn open(self: &Arc<Self>, purpose: MemoryPurpose) -> Reservation {
        Reservation {
            account: self.clone(),
            purpose,
            bytes: 0,
        }
    }

    /// Takes memory.
    ///
    /// # Errors
    /// When it does not fit now.
    pub fn reserve(
        self: &Arc<Self>,
        purpose: MemoryPurpose,
        bytes: usize,
    ) -> Result<Reservation, MemoryExceeded> {
        let mut reservation = self.open(purpose);
        reservation.grow(bytes)?;
        Ok(reservation)
    }

    /// Takes memory as soon as others have given back enough; `Ok(None)` once `wanted` says no. Blocks.
    ///
    /// Whoever holds memory that others may wait for must not wait here: two could wait for each other.
    ///
    /// # Errors
    /// When it can never fit.
    pub fn wait(
        self: &Arc<Self>,
        purpose: MemoryPurpose,
        bytes: usize,
        wanted: impl Fn() -> bool,
    ) -> Result<Option<Reservation>, MemoryExceeded> {
        let mut reservation = self.open(purpose);
        let mut gate = None;
        let ended = loop {
            match reservation.try_grow(bytes) {
                Ok(()) => break Ok(true),
                Err(exceeded) if exceeded.can_never_fit() => {
                    break Err(self.refused(exceeded));
                }
                Err(_) if !wanted() => break Ok(false),
                Err(_) => {}
            }
            match &mut gate {
                // The next try comes after whoever gives back must see that somebody waits.
                None => {
                    self.waiting.fetch_add(1, Ordering::SeqCst);
                    gate = Some(self.gate.lock());
                }
                Some(gate) => {
                    self.freed.wait_for(gate, LOOK_EVERY);
                }
            }
        };
        if gate.is_some() {
            self.waiting.fetch_sub(1, Ordering::SeqCst);
        }
        ended.map(|taken| taken.then_some(reservation))
    }

    fn take(
        &self,
        purpose: MemoryPurpose,
        more: usize,
        whole: usize,
    ) -> Result<(), MemoryExceeded> {
        let exceeded = |scope, (used, limit): (usize, usize)| MemoryExceeded {
            purpose,
            scope,
            wanted: whole,
            used,
            would_be: used.saturating_add(more),
            limit,
        };
        let pool = self.pool(purpose);
        pool.take(more, whole)
            .map_err(|found| exceeded(MemoryScope::Purpose, found))?;
        self.total.take(more, whole).map_err(|found| {
            pool.give_back(more);
            exceeded(MemoryScope::Total, found)
        })?;
        self.check_real(more, whole).map_err(|found| {
            pool.give_back(more);
            self.total.give_back(more);
            exceeded(MemoryScope::Total, found)
        })
    }

    /// Looks whether what is taken fits beside what is on no account.
    fn check_real(&self, more: usize, whole: usize) -> Result<(), (usize, usize)> {
        let MemoryFigures { used, limit, .. } = self.total.figures();
        if whole <= SMALL_BYTES || used <= limit / ALONE_SHARE {
            return Ok(());
        }
        self.real.check(more)
    }

    fn give_back(&self, purpose: MemoryPurpose, bytes: usize) {
        if bytes == 0 {
            return;
        }
        self.pool(purpose).give_back(bytes);
        self.total.give_back(bytes);
        self.wake();
    }

    fn wake(&self) {
        if self.waiting.load(Ordering::SeqCst) > 0 {
            drop(self.gate.lock());
            self.freed.notify_all();
        }
    }

    /// Counts a refusal.
    fn refused(&self, exceeded: MemoryExceeded) -> MemoryExceeded {
        let pool = match exceeded.scope {
            MemoryScope::Purpose => self.pool(exceeded.purpose),
            MemoryScope::Total => &self.total,
        };
        pool.refused.fetch_add(1, Ordering::Relaxed);
        exceeded
    }
}

/// Memory that is taken of an account; given back when dropped.
#[derive(Debug)]
pub struct Reservation {
    account: Arc<MemoryAccount>,
    purpose: MemoryPurpose,
    bytes: usize,
}

impl Reservation {
    /// Bytes that are taken.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// An empty reservation for the same.
    pub fn sibling(&self) -> Self {
        self.account.open(self.purpose)
    }

    /// Takes more.
    ///
    /// # Errors
    /// When it does not fit now; what was taken stays taken.
    pub fn grow(&mut self, more: usize) -> Result<(), MemoryExceeded> {
        self.try_grow(more)
            .map_err(|exceeded| self.account.refused(exceeded))
    }

    fn try_grow(&mut self, more: usize) -> Result<(), MemoryExceeded> {
        if more == 0 {
            return Ok(());
        }
        let whole = self.bytes.saturating_add(more);
        self.account.take(self.purpose, more, whole)?;
        self.bytes = whole;
        Ok(())
    }

    /// Takes what is missing to so many bytes, and nothing if it has them.
    ///
    /// # Errors
    /// As [`Reservation::grow`].
    pub fn grow_to(&mut self, bytes: usize) -> Result<(), MemoryExceeded> {
        self.grow(bytes.saturating_sub(self.bytes))
    }

    /// Gives back what is above so many bytes.
    pub fn shrink_to(&mut self, bytes: usize) {
        if bytes < self.bytes {
            self.account.give_back(self.purpose, self.bytes - bytes);
            self.bytes = bytes;
        }
    }

    /// Has so many bytes from now on, whether they fit or not: for memory that is there already, and of which
    /// whoever books it gives up some when the limit is passed.
    pub fn set(&mut self, bytes: usize) {
        if bytes > self.bytes {
            let more = bytes - self.bytes;
            self.account.pool(self.purpose).take_anyway(more);
            self.account.total.take_anyway(more);
            self.bytes = bytes;
        } else {
            self.shrink_to(bytes);
        }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.account.give_back(self.purpose, self.bytes);
    }
}

#[cfg(test)]
mod tests;
