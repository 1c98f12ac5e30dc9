//! Running a program over a line, with what can still be tried on a stack that is used again.

use super::parse::is_word;
use super::program::{Program, Step};
use crate::text::span::Span;

/// Steps that are tried for one line: as many as twenty columns take that may each be anything, some milliseconds.
const TRIED_MAX: u32 = 1_000_000;
/// Bytes that are looked at for the price of a step: a run over a long line takes as long as thousands of other steps.
const BYTES_OF_A_STEP: usize = 128;

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    Yes,
    No,
    /// Somebody else has to tell.
    Unknown,
}

/// Memory of a run.
#[derive(Debug, Default)]
pub(crate) struct Machine {
    /// Begins and ends of groups.
    places: Vec<usize>,
    left: Vec<Left>,
    tried: u32,
    /// Steps of all runs since somebody set it to zero.
    pub(crate) spent: u64,
}

const NOWHERE: usize = usize::MAX;

/// What can still be tried, or has to be undone before that.
#[derive(Clone, Copy, Debug)]
enum Left {
    /// From this step and byte.
    Try(usize, usize),
    /// From this step, the last of these bytes first, as long as the byte there is the next one that must be.
    Shorter {
        step: usize,
        least: usize,
        end: usize,
        next: Option<u8>,
    },
    /// A run that may take more, from this byte.
    Longer { run: usize, at: usize, last: usize },
    /// A place as it was.
    Place(usize, usize),
}

impl Machine {
    pub(super) fn find(&mut self, program: &Program, line: &[u8], groups: usize) -> Decision {
        self.tried = 0;
        let decision = self.first_match(program, line, groups);
        self.spent = self.spent.saturating_add(u64::from(self.tried));
        decision
    }

    fn first_match(&mut self, program: &Program, line: &[u8], groups: usize) -> Decision {
        for start in 0..=line.len() {
            self.places.clear();
            self.places.resize(2 * groups, NOWHERE);
            self.left.clear();
            match self.run(program, line, (0, start)) {
                Some(_) => return Decision::Yes,
                None if self.tried > TRIED_MAX => return Decision::Unknown,
                None if matches!(program.steps.first(), Some(Step::Start)) => break,
                None => {}
            }
        }
        Decision::No
    }

    /// Counts a step; nothing if it is one too many.
    #[inline]
    fn count(&mut self) -> Option<()> {
        self.tried = self.tried.saturating_add(1);
        (self.tried <= TRIED_MAX).then_some(())
    }

    /// Counts bytes that a step has looked at.
    #[inline]
    fn looked_at(&mut self, bytes: usize) {
        let steps = u32::try_from(bytes / BYTES_OF_A_STEP).unwrap_or(TRIED_MAX);
        self.tried = self.tried.saturating_add(steps);
    }

    pub(super) fn group(&self, group: usize) -> Option<Span> {
        let (start, end) = (
            *self.places.get(2 * group)?,
            *self.places.get(2 * group + 1)?,
        );
        (start != NOWHERE && end != NOWHERE).then(|| Span::new(start, end))
    }

    /// Runs from a step and a byte to `Matched`; returns the byte that it comes to.
    fn run(&mut self, program: &Program, line: &[u8], from: (usize, usize)) -> Option<usize> {
        let floor = self.left.len();
        let (mut step, mut at) = from;
        loop {
            self.count()?;
            let goes_on = match &program.steps[step] {
                Step::Matched => return Some(at),
                Step::Literal(_) | Step::Byte(_) | Step::Class(_) => {
                    let (end, is_there) = fixed(program, line, (step, at));
                    self.looked_at(end - at);
                    at = end;
                    is_there
                }
                Step::Known(known, past) => {
                    if let Some(end) = known.end(line, at) {
                        self.looked_at(end - at);
                        self.left.push(Left::Try(step + 1, at));
                        (step, at) = (*past, end);
                        continue;
                    }
                    true
                }
                Step::Run { .. } => match self.take_run(program, line, (step, at)) {
                    Some(end) => {
                        at = end;
                        true
                    }
                    None => false,
                },
                Step::Either {
                    first,
                    second,
                    begins,
                } => {
                    let may_begin = begins.is_none_or(|class| is_next(program, line, (class, at)));
                    if may_begin {
                        self.left.push(Left::Try(*second, at));
                    }
                    step = if may_begin { *first } else { *second };
                    continue;
                }
                Step::Jump(to) => {
                    step = *to;
                    continue;
                }
                Step::Save(place) => {
                    self.left.push(Left::Place(*place, self.places[*place]));
                    self.places[*place] = at;
                    true
                }
                Step::Atomic(_) | Step::Ahead(..) => match self.apart(program, line, (step, at)) {
                    Some(next) => {
                        (step, at) = next;
                        continue;
                    }
                    None => false,
                },
                Step::Behind(..) | Step::WordBoundary | Step::Start | Step::End => {
                    holds(program, line, (step, at))
                }
            };
            if goes_on {
                step += 1;
                continue;
            }
            (step, at) = self.back(program, line, floor)?;
        }
    }

    /// Runs what is matched by itself, and forgets what could still be tried of it; returns where the program goes on.
    fn apart(
        &mut self,
        program: &Program,
        line: &[u8],
        (step, at): (usize, usize),
    ) -> Option<(usize, usize)> {
        let height = self.left.len();
        let found = self.run(program, line, (step + 1, at));
        self.left.truncate(height);
        match &program.steps[step] {
            Step::Atomic(end) => Some((*end, found?)),
            Step::Ahead(end, wanted) => (found.is_some() == *wanted).then_some((*end, at)),
            _ => None,
        }
    }

    /// Takes the first of the lengths that a run may have; the others are left.
    fn take_run(
        &mut self,
        program: &Program,
        line: &[u8],
        (step, at): (usize, usize),
    ) -> Option<usize> {
        let Step::Run {
            class,
            least,
            most,
            greedy,
            next,
        } = &program.steps[step]
        else {
            return None;
        };
        if !*greedy {
            return self.take_short(program, line, (step, at));
        }
        let limit = line.len().min(at.saturating_add(*most));
        let length = program.run_of(*class, &line[at..limit]);
        self.looked_at(length);
        if length < *least {
            return None;
        }
        let (shortest, longest) = (at + least, at + length);
        let end = fitting(line, shortest, longest, *next)?;
        if end > shortest {
            self.left.push(Left::Shorter {
                step: step + 1,
                least: shortest,
                end: end - 1,
                next: *next,
            });
        }
        Some(end)
    }

    /// Takes the shortest of the lengths that a run may have and what must come next allows.
    fn take_short(
        &mut self,
        program: &Program,
        line: &[u8],
        (step, at): (usize, usize),
    ) -> Option<usize> {
        let Step::Run {
            class, least, most, ..
        } = &program.steps[step]
        else {
            return None;
        };
        let class = &program.classes[*class];
        let first = at
            .checked_add(*least)
            .filter(|first| *first <= line.len())?;
        self.looked_at(*least);
        if !line[at..first].iter().all(|byte| class[usize::from(*byte)]) {
            return None;
        }
        let last = line.len().min(at.saturating_add(*most));
        self.longer(program, line, (step, first, last))
    }

    /// The next end of a run that takes as little as will do, from a byte on.
    fn longer(
        &mut self,
        program: &Program,
        line: &[u8],
        (run, at, last): (usize, usize, usize),
    ) -> Option<usize> {
        let Step::Run { class, next, .. } = &program.steps[run] else {
            return None;
        };
        let class = &program.classes[*class];
        let end = match next {
            None => at,
            Some(byte) => {
                let rest = line.get(at..)?;
                let length = memchr::memchr(*byte, rest);
                self.looked_at(length.unwrap_or(rest.len()));
                at + length?
            }
        };
        if end > last || !line[at..end].iter().all(|byte| class[usize::from(*byte)]) {
            return None;
        }
        if end < last && class[usize::from(line[end])] {
            self.left.push(Left::Longer {
                run,
                at: end + 1,
                last,
            });
        }
        Some(end)
    }

    /// Goes back to what can still be tried; nowhere if nothing is left above the floor.
    fn back(&mut self, program: &Program, line: &[u8], floor: usize) -> Option<(usize, usize)> {
        while self.left.len() > floor {
            self.count()?;
            match self.left.pop()? {
                Left::Try(step, at) => return Some((step, at)),
                Left::Place(place, before) => self.places[place] = before,
                Left::Longer { run, at, last } => {
                    if let Some(end) = self.longer(program, line, (run, at, last)) {
                        return Some((run + 1, end));
                    }
                }
                Left::Shorter {
                    step,
                    least,
                    end,
                    next,
                } => {
                    let Some(end) = fitting(line, least, end, next) else {
                        continue;
                    };
                    if end > least {
                        self.left.push(Left::Shorter {
                            step,
                            least,
                            end: end - 1,
                            next,
                        });
                    }
                    return Some((step, end));
                }
            }
        }
        None
    }
}

/// Where what has one length ends, and whether it is there.
#[inline]
fn fixed(program: &Program, line: &[u8], (step, at): (usize, usize)) -> (usize, bool) {
    match &program.steps[step] {
        Step::Literal(bytes) => (at + bytes.len(), line[at..].starts_with(bytes)),
        Step::Byte(byte) => (at + 1, line.get(at) == Some(byte)),
        Step::Class(class) => (at + 1, is_next(program, line, (*class, at))),
        _ => (at, false),
    }
}

/// Whether the byte at a place is of a class.
#[inline]
fn is_next(program: &Program, line: &[u8], (class, at): (usize, usize)) -> bool {
    let class = &program.classes[class];
    line.get(at).is_some_and(|byte| class[usize::from(*byte)])
}

/// Whether what a step says of the bytes around a place is so.
fn holds(program: &Program, line: &[u8], (step, at): (usize, usize)) -> bool {
    let before = at.checked_sub(1).map(|at| line[at]);
    match &program.steps[step] {
        Step::Behind(class, wanted) => {
            before.is_some_and(|byte| program.classes[*class][usize::from(byte)]) == *wanted
        }
        Step::WordBoundary => {
            before.is_some_and(is_word) != line.get(at).is_some_and(|byte| is_word(*byte))
        }
        Step::Start => at == 0,
        Step::End => at == line.len(),
        _ => false,
    }
}

/// The last place of a range where the byte is the next one that must be.
fn fitting(line: &[u8], least: usize, end: usize, next: Option<u8>) -> Option<usize> {
    let Some(next) = next else {
        return Some(end);
    };
    // Mostly it is the very last one.
    if line.get(end) == Some(&next) {
        return Some(end);
    }
    memchr::memrchr(next, &line[least..end]).map(|at| least + at)
}
