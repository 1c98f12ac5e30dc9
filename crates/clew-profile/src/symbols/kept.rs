//! The program's own symbols between captures. Reading them takes most of what finding names takes, in time and in memory, so
//! that a thread reads them once, answers for all who have addresses, and keeps them for a while where there is room. A thread of
//! its own, as what has been read borrows from what was read from, and both end together.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

use clew_platform::{MemoryAccount, MemoryExceeded, MemoryPurpose, Reservation, give_back_freed};
use object::{Object, ObjectSegment};
use parking_lot::Mutex;

use super::files::{Frame, Program, Symbols, parsed, symbol_bytes};

/// How long symbols stay that nobody asks for: longer than what scrapes profiles leaves between two, and not until the next
/// minutes of the profile that is always on.
const KEPT_FOR: Duration = Duration::from_secs(120);
/// They stay where they take no more than one in so many bytes of what searches may have: where memory is short, no search is to
/// be refused for them.
const KEPT_SHARE: usize = 8;

static KEEPER: Keeper = Keeper::new(KEPT_FOR);

/// Memory for the program's symbols, booked once for all who find names at the same time or, while the symbols stay, after
/// another. Held from before a capture until its names are found.
#[derive(Debug)]
pub struct SymbolUse {
    keeper: &'static Keeper,
    /// What another account than the one of the symbols that are there has booked: a process has one, but its tests have several.
    _beside: Option<Reservation>,
}

impl SymbolUse {
    /// For captures that come one after the other: the symbols stay for two minutes after the last of them, where they take no more
    /// than an eighth of what searches may have, and what the next one takes is some milliseconds.
    ///
    /// # Errors
    /// When the symbols do not fit now.
    pub fn kept(account: &Arc<MemoryAccount>) -> Result<Self, MemoryExceeded> {
        Self::booked(&KEEPER, account, true)
    }

    /// For a capture that comes alone: the symbols go with it, unless others keep them.
    ///
    /// # Errors
    /// As [`SymbolUse::kept`].
    pub fn once(account: &Arc<MemoryAccount>) -> Result<Self, MemoryExceeded> {
        Self::booked(&KEEPER, account, false)
    }

    fn booked(
        keeper: &'static Keeper,
        account: &Arc<MemoryAccount>,
        is_kept: bool,
    ) -> Result<Self, MemoryExceeded> {
        let mut state = keeper.state.lock();
        let bytes = symbol_bytes();
        let reserve = || account.reserve(MemoryPurpose::Searches, bytes);
        let is_theirs = (state.booked.as_ref()).map(|(theirs, _)| Arc::ptr_eq(theirs, account));
        let beside = match is_theirs {
            Some(true) => None,
            Some(false) => Some(reserve()?),
            None => {
                state.booked = Some((account.clone(), reserve()?));
                None
            }
        };
        let room = account.largest(MemoryPurpose::Searches) / KEPT_SHARE;
        state.stays |= is_kept && bytes <= room;
        state.users += 1;
        Ok(SymbolUse {
            keeper,
            _beside: beside,
        })
    }

    /// Of a program that keeps no account, or inside of another.
    fn unbooked(keeper: &'static Keeper) -> Self {
        keeper.state.lock().users += 1;
        SymbolUse {
            keeper,
            _beside: None,
        }
    }
}

impl Drop for SymbolUse {
    fn drop(&mut self) {
        let ended = self.keeper.state.lock().leave();
        if let Some(ended) = ended {
            ended.wait();
        }
    }
}

/// What addresses of the program are.
#[derive(Debug)]
pub(super) struct FoundFrames {
    /// Where the program begins, as its file counts.
    pub(super) first: u64,
    /// Of each address the function, and before it those that were inlined into it, the innermost first.
    pub(super) places: Vec<Vec<Frame>>,
}

/// Finds what lies so far from where the program begins in memory.
///
/// # Errors
/// When the program's symbols cannot be read, in words.
pub(super) fn find(offsets: Vec<u64>) -> Result<FoundFrames, String> {
    KEEPER.find(offsets)
}

/// Addresses, and where the answer is waited for.
#[derive(Debug)]
struct Question {
    offsets: Vec<u64>,
    answered: Sender<Result<FoundFrames, String>>,
}

/// Who has the symbols.
#[derive(Debug)]
struct Keeper {
    kept_for: Duration,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// Those who find names, or are about to.
    users: usize,
    /// Whether the symbols stay when there are none.
    stays: bool,
    reading: Option<Reading>,
    /// What the symbols take, for as long as they may be there, and whose account that is on.
    booked: Option<(Arc<MemoryAccount>, Reservation)>,
}

/// The thread that has the symbols, from the first question on.
#[derive(Debug)]
struct Reading {
    questions: Sender<Question>,
    thread: JoinHandle<()>,
}

/// Symbols that are let go of, and the memory that is given back after them.
#[derive(Debug)]
struct Ended {
    reading: Option<Reading>,
    booked: Option<Reservation>,
}

impl Ended {
    /// Waits until they are gone.
    fn wait(self) {
        let Ended { reading, booked } = self;
        if let Some(Reading { questions, thread }) = reading {
            drop(questions);
            // One that broke has told so by giving no answer.
            let _ = thread.join();
        }
        drop(booked);
    }
}

impl State {
    fn leave(&mut self) -> Option<Ended> {
        self.users -= 1;
        let is_there = self.reading.as_ref().is_some_and(Reading::goes_on);
        (self.users == 0 && !(self.stays && is_there)).then(|| self.end())
    }

    /// Whether the calling thread is the one that has the symbols: it may have been ended, and another one begun.
    fn is_read_here(&self) -> bool {
        let own = std::thread::current().id();
        let reading = self.reading.as_ref();
        reading.is_some_and(|reading| reading.thread.thread().id() == own)
    }

    fn end(&mut self) -> Ended {
        self.stays = false;
        Ended {
            reading: self.reading.take(),
            booked: self.booked.take().map(|(_, booked)| booked),
        }
    }
}

impl Reading {
    fn goes_on(&self) -> bool {
        !self.thread.is_finished()
    }
}

impl Keeper {
    const fn new(kept_for: Duration) -> Self {
        Keeper {
            kept_for,
            state: Mutex::new(State {
                users: 0,
                stays: false,
                reading: None,
                booked: None,
            }),
        }
    }

    fn find(&'static self, offsets: Vec<u64>) -> Result<FoundFrames, String> {
        // Nobody lets go of the symbols meanwhile.
        let _use = SymbolUse::unbooked(self);
        let (answered, answer) = mpsc::channel();
        let broke = || "the thread that reads its symbols has broken down".to_string();
        let asked = self.questions()?.send(Question { offsets, answered });
        asked.map_err(|_| broke())?;
        answer.recv().map_err(|_| broke())?
    }

    fn questions(&'static self) -> Result<Sender<Question>, String> {
        let mut state = self.state.lock();
        if let Some(reading) = state.reading.as_ref().filter(|reading| reading.goes_on()) {
            return Ok(reading.questions.clone());
        }
        let (questions, asked) = mpsc::channel();
        let thread = std::thread::Builder::new()
            .name("clew-symbols".into())
            .spawn(move || self.read(&asked))
            .map_err(|error| error.to_string())?;
        state.reading = Some(Reading {
            questions: questions.clone(),
            thread,
        });
        Ok(questions)
    }

    /// Reads the symbols, and has them for as long as somebody wants them.
    fn read(&self, asked: &Receiver<Question>) {
        let _broken = WhenBroken(self);
        let ended = self.try_read(asked).unwrap_or_else(|reason| {
            // There is nothing to keep, and the file may be there the next time: what was asked up to now is refused.
            drop(self.give_up());
            let refuse = |_: &[u64]| Err(reason.clone());
            self.answer(asked, refuse)
        });
        // The allocator would have what was freed for as long as nobody else wants as much.
        give_back_freed();
        drop(ended);
    }

    fn try_read(&self, asked: &Receiver<Question>) -> Result<Option<Ended>, String> {
        let program = Program::open()?;
        let file = parsed(&program.bytes)?;
        let first = file.segments().map(|segment| segment.address()).min();
        let first = first.unwrap_or_default() & !0xfff;
        if let Some(symbols) = Symbols::of(&file)? {
            return self.answer_by(&symbols, first, asked);
        }
        let bytes = program.beside(&file)?;
        let symbols = Symbols::of(&parsed(&bytes)?)?;
        let symbols = symbols.ok_or("the file beside it has no debugging information")?;
        let symbols = symbols.owned();
        drop(bytes);
        self.answer_by(&symbols, first, asked)
    }

    fn answer_by(
        &self,
        symbols: &Symbols<'_>,
        first: u64,
        asked: &Receiver<Question>,
    ) -> Result<Option<Ended>, String> {
        let context = symbols.context()?;
        let find = |offsets: &[u64]| {
            let at = |offset: &u64| symbols.frames(&context, offset.wrapping_add(first));
            Ok(FoundFrames {
                first,
                places: offsets.iter().map(at).collect(),
            })
        };
        Ok(self.answer(asked, find))
    }

    /// Answers until nobody wants the symbols; what is given back then, unless whoever ended this does so.
    fn answer(
        &self,
        asked: &Receiver<Question>,
        find: impl Fn(&[u64]) -> Result<FoundFrames, String>,
    ) -> Option<Ended> {
        loop {
            match next_question(asked, self.kept_for) {
                Ok(Question { offsets, answered }) => {
                    // Whoever asked may have gone.
                    let _ = answered.send(find(&offsets));
                }
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => {
                    if let Some(ended) = self.end_idle() {
                        return Some(ended);
                    }
                }
            }
        }
    }

    /// Lets go of the symbols that the calling thread has, if nobody is about to want them.
    fn end_idle(&self) -> Option<Ended> {
        let mut state = self.state.lock();
        (state.users == 0 && state.is_read_here()).then(|| state.end())
    }

    /// Has another thread read the symbols that the calling one has not; what is given back, if nobody wants them.
    fn give_up(&self) -> Option<Ended> {
        let mut state = self.state.lock();
        if !state.is_read_here() {
            return None;
        }
        if state.users == 0 {
            return Some(state.end());
        }
        state.stays = false;
        state.reading = None;
        None
    }
}

/// Gives up for a thread that breaks down: whoever asked it may have left before it is gone, and would leave its memory booked.
#[derive(Debug)]
struct WhenBroken<'k>(&'k Keeper);

impl Drop for WhenBroken<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            drop(self.0.give_up());
        }
    }
}

/// Waits for the next question.
fn next_question(
    asked: &Receiver<Question>,
    within: Duration,
) -> Result<Question, RecvTimeoutError> {
    asked.recv_timeout(within)
}

#[cfg(test)]
mod tests;
