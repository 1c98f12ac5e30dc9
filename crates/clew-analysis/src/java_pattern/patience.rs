//! How long may be looked for matches of what looks around: the processor's time, as no count of steps tells what they take
//! together. Some do well with one for each character of a text, and others go over all of it with each.

use std::cell::Cell;
use std::time::Duration;

use clew_platform::thread_cpu_time;

/// Time of the processor that all looking in one text may take, or in all texts of one turn.
pub(super) const TIME_MAX: Duration = Duration::from_secs(1);
/// Long attempts in one text.
pub(super) const LONG_MAX: u32 = 64;
/// Attempts between two looks at the clock.
const LOOK_EVERY: u32 = 16;

thread_local! {
    /// The turn that this thread is in.
    static TURN: Cell<Turn> = const { Cell::new(Turn::None) };
}

#[derive(Clone, Copy)]
enum Turn {
    None,
    /// Nothing has been looked for in it yet.
    New,
    /// It ends when the thread has used so much time.
    Until(Duration),
}

/// While this is held, all that its thread looks for has one time together, rather than each text its own. One inside of another
/// is part of that.
#[derive(Debug)]
#[must_use]
pub struct InOneTurn {
    is_first: bool,
}

/// Begins a turn on this thread.
pub fn in_one_turn() -> InOneTurn {
    let is_first = matches!(TURN.get(), Turn::None);
    if is_first {
        TURN.set(Turn::New);
    }
    InOneTurn { is_first }
}

impl Drop for InOneTurn {
    fn drop(&mut self) {
        if self.is_first {
            TURN.set(Turn::None);
        }
    }
}

/// What is left for one text.
#[derive(Debug)]
pub(super) struct Patience {
    pub(super) long_left: u32,
    attempts: u32,
    until: Option<Duration>,
}

impl Patience {
    pub(super) fn new() -> Self {
        Patience {
            long_left: LONG_MAX,
            attempts: 0,
            until: None,
        }
    }

    /// For what has to be found soon.
    pub(super) fn without_long() -> Self {
        Patience {
            long_left: 0,
            ..Self::new()
        }
    }

    /// Whether another attempt may be begun. Looks at the clock for the first, for each one that goes on for longer, and for one of
    /// some others.
    pub(super) fn is_over(&mut self, goes_on: bool) -> bool {
        let is_looked_at = goes_on || self.attempts.is_multiple_of(LOOK_EVERY);
        self.attempts = self.attempts.wrapping_add(1);
        if !is_looked_at {
            return false;
        }
        let now = thread_cpu_time();
        let until = *self.until.get_or_insert_with(|| match TURN.get() {
            Turn::Until(until) => until,
            Turn::None => now + TIME_MAX,
            Turn::New => {
                TURN.set(Turn::Until(now + TIME_MAX));
                now + TIME_MAX
            }
        });
        now > until
    }
}
