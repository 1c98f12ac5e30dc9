//! Whether somebody still waits for what a thread is doing. A request has one token; whatever works
//! for it asks the token now and then, and leaves off once it says so.
//!
//! A token is entered by a thread for as long as it works for the request, and the work asks for
//! [`stopped`] without having been handed anything: the places that can take long lie deep, behind
//! traits of other crates, and a token in every signature on the way there would be noise. Whoever
//! hands work to another thread takes [`CancellationToken::current`] along.
//!
//! Once stopped, a token stays stopped. So a loop may simply break off, with half of its result, as
//! long as whoever began it asks again before the result is taken for whole.
//!
//! For the same reason a token may bring memory along: what is made in such a place is [`booked`](book) on that, and given
//! back with the token. Where there is no more the work is stopped.

use std::cell::RefCell;
use std::error::Error;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;

use parking_lot::Mutex;

use crate::{Clock, MemoryExceeded, Reservation};

thread_local! {
    static CURRENT: RefCell<CancellationToken> = const { RefCell::new(CancellationToken(None)) };
}

/// Why work is to leave off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Stop {
    /// Nobody wants the result any more.
    Cancelled = 1,
    /// What is there when the time is up is wanted.
    TimedOut = 2,
}

impl Stop {
    fn of(state: u8) -> Option<Self> {
        match state {
            1 => Some(Stop::Cancelled),
            2 => Some(Stop::TimedOut),
            _ => None,
        }
    }
}

/// Says when to leave off. Clones say the same; the default one never does.
#[derive(Clone, Debug, Default)]
pub struct CancellationToken(Option<Arc<Shared>>);

#[derive(Debug)]
struct Shared {
    state: AtomicU8,
    reason: OnceLock<String>,
    /// What went wrong in the work itself.
    failure: OnceLock<Box<dyn Error + Send + Sync>>,
    deadline: Option<Deadline>,
    /// What the work books what it makes on.
    memory: Option<Mutex<Reservation>>,
    /// What stops this one too.
    parent: CancellationToken,
}

#[derive(Debug)]
struct Deadline {
    clock: Arc<dyn Clock>,
    /// In the clock's monotonic time.
    at: Duration,
}

impl CancellationToken {
    /// A token that stops when it is cancelled.
    pub fn new() -> Self {
        Self::made(None, None, CancellationToken(None))
    }

    /// A token that stops with this one, and, by itself, at a moment of the clock's monotonic time.
    pub fn until(&self, clock: Arc<dyn Clock>, at: Duration) -> Self {
        Self::made(Some(Deadline { clock, at }), None, self.clone())
    }

    /// A token that stops with this one, and by itself when work under it has failed.
    pub fn part(&self) -> Self {
        Self::made(None, None, self.clone())
    }

    /// The same, with memory for what the work makes, which is given back when the last clone of the token is gone.
    pub fn part_with(&self, memory: Reservation) -> Self {
        Self::made(None, Some(memory), self.clone())
    }

    fn made(
        deadline: Option<Deadline>,
        memory: Option<Reservation>,
        parent: CancellationToken,
    ) -> Self {
        CancellationToken(Some(Arc::new(Shared {
            state: AtomicU8::new(0),
            reason: OnceLock::new(),
            failure: OnceLock::new(),
            deadline,
            memory: memory.map(Mutex::new),
            parent,
        })))
    }

    /// Takes memory of the nearest token that has some; `None` where none has. What does not fit is that one's failure.
    fn booked<T>(
        &self,
        take: impl FnOnce(&mut Reservation) -> Result<T, MemoryExceeded>,
    ) -> Result<Option<T>, MemoryExceeded> {
        let mut token = self;
        while let Some(shared) = &token.0 {
            if let Some(memory) = &shared.memory {
                let taken = take(&mut memory.lock());
                return taken
                    .map(Some)
                    .inspect_err(|exceeded| token.fail(*exceeded));
            }
            token = &shared.parent;
        }
        Ok(None)
    }

    /// The token that this thread works under.
    pub fn current() -> Self {
        CURRENT.with_borrow(Clone::clone)
    }

    /// Stops what works under the token. The first reason stays; the default token cannot be stopped.
    pub fn cancel(&self, reason: &str) {
        if let Some(shared) = &self.0 {
            shared.reason.get_or_init(|| reason.to_string());
            shared.state.store(Stop::Cancelled as u8, Ordering::Release);
        }
    }

    /// Stops what works under the token, because something went wrong where nobody can be told: whoever began the work
    /// asks for the [`CancellationToken::failure`] at its end. The first one stays.
    pub fn fail(&self, failure: impl Error + Send + Sync + 'static) {
        self.cancel(&failure.to_string());
        if let Some(shared) = &self.0 {
            shared.failure.get_or_init(|| Box::new(failure));
        }
    }

    /// What [`CancellationToken::fail`] was told of this very token.
    pub fn failure(&self) -> Option<&(dyn Error + Send + Sync + 'static)> {
        let failure = self.0.as_ref()?.failure.get()?;
        Some(&**failure)
    }

    /// Why the work is to leave off; `None` while it shall go on. Costs a load from memory for each token above this
    /// one, and for those with a moment a look at the clock: ask once for some thousand steps.
    pub fn stopped(&self) -> Option<Stop> {
        let shared = self.0.as_ref()?;
        if let Some(stop) = Stop::of(shared.state.load(Ordering::Acquire)) {
            return Some(stop);
        }
        let own = shared.deadline.as_ref();
        let stop = shared.parent.stopped().or_else(|| {
            own.filter(|deadline| deadline.clock.monotonic() >= deadline.at)
                .map(|_| Stop::TimedOut)
        })?;
        shared.state.store(stop as u8, Ordering::Release);
        Some(stop)
    }

    /// Whether nobody wants the result, or its time has been up for longer than this.
    pub fn overdue(&self, grace: Duration) -> bool {
        let Some(shared) = &self.0 else {
            return false;
        };
        shared.state.load(Ordering::Acquire) == Stop::Cancelled as u8
            || shared.parent.overdue(grace)
            || shared.deadline.as_ref().is_some_and(|deadline| {
                deadline.clock.monotonic() >= deadline.at.saturating_add(grace)
            })
    }

    /// What [`CancellationToken::cancel`] was told.
    pub fn reason(&self) -> Option<&str> {
        let shared = self.0.as_ref()?;
        let own = shared.reason.get().map(String::as_str);
        own.or_else(|| shared.parent.reason())
    }

    /// This thread works under the token until the result is dropped.
    #[must_use = "the thread leaves the token when this is dropped"]
    pub fn enter(&self) -> Entered {
        Entered {
            before: CURRENT.replace(self.clone()),
            of_this_thread: PhantomData,
        }
    }

    /// The future, which works under the token whenever it is polled. Whoever has one that cannot be moved puts it into a box.
    pub fn scope<F: Future + Unpin>(self, future: F) -> Scoped<F> {
        Scoped {
            token: self,
            future,
        }
    }
}

/// Whether what this thread does is to be left off.
pub fn stopped() -> bool {
    CURRENT.with_borrow(|token| token.stopped().is_some())
}

/// Whether what this thread does is of no use any more: it was cancelled, or its time has been up for longer than
/// this. For what puts together results that were found in time.
pub fn overdue(grace: Duration) -> bool {
    CURRENT.with_borrow(|token| token.overdue(grace))
}

/// Takes memory for what this thread makes, until the work that it makes it for is over. Work that brings no memory along
/// books nothing.
///
/// # Errors
/// When it does not fit: the work is stopped then, and this its [`failure`](CancellationToken::failure).
pub fn book(bytes: usize) -> Result<(), MemoryExceeded> {
    let booked = CURRENT.with_borrow(|token| token.booked(|memory| memory.grow(bytes)));
    booked.map(drop)
}

/// The same for what is there only for a while: until what is returned is dropped.
///
/// # Errors
/// As [`book`].
pub fn book_for_a_while(bytes: usize) -> Result<Option<Reservation>, MemoryExceeded> {
    CURRENT.with_borrow(|token| {
        token.booked(|memory| {
            let mut held = memory.sibling();
            held.grow(bytes).map(|()| held)
        })
    })
}

/// A thread at work under a token.
pub struct Entered {
    before: CancellationToken,
    of_this_thread: PhantomData<*const ()>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        CURRENT.set(std::mem::take(&mut self.before));
    }
}

/// A future that works under a token.
pub struct Scoped<F> {
    token: CancellationToken,
    future: F,
}

impl<F: Future + Unpin> Future for Scoped<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let _entered = self.token.enter();
        Pin::new(&mut self.future).poll(context)
    }
}

/// Asks for [`stopped`] once for so many steps, for loops whose steps are short.
#[derive(Clone, Debug)]
pub struct Pace {
    left: u32,
    between: u32,
    stopped: bool,
}

impl Pace {
    const STEPS: u32 = 1024;
    const BLOCKS: u32 = 32;

    /// For steps of some hundred documents, or of some microseconds otherwise.
    pub fn of_blocks() -> Self {
        Self::with(Self::BLOCKS)
    }

    /// The same for steps that go over so many lists, each of which may have thousands.
    pub fn of_lists(lists: usize) -> Self {
        let most = u32::try_from(lists).unwrap_or(Self::BLOCKS);
        Self::with(Self::BLOCKS / most.clamp(1, Self::BLOCKS))
    }

    fn with(between: u32) -> Self {
        Pace {
            left: between,
            between,
            stopped: false,
        }
    }

    /// Counts a step; whether to leave off.
    #[inline]
    pub fn is_over(&mut self) -> bool {
        self.left -= 1;
        if self.left == 0 {
            self.left = self.between;
            self.stopped = self.stopped || stopped();
        }
        self.stopped
    }

    /// Whether a step was the last.
    pub fn is_stopped(&self) -> bool {
        self.stopped
    }
}

impl Default for Pace {
    /// For steps of one document, term or character.
    fn default() -> Self {
        Self::with(Self::STEPS)
    }
}

#[cfg(test)]
mod tests;
