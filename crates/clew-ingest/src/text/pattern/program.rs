//! A tree as a program of small steps.

use super::known::Known;
use super::parse::{Class, Tree};

/// Steps of one program.
const STEPS_MAX: usize = 20_000;

/// A step; places in the program are indexes of steps.
#[derive(Debug)]
pub(super) enum Step {
    Literal(Box<[u8]>),
    /// A literal of one byte.
    Byte(u8),
    Class(usize),
    /// As many bytes of a class as there are, or as few as will do.
    Run {
        class: usize,
        least: usize,
        most: usize,
        greedy: bool,
        /// The byte that must come next, where only one can.
        next: Option<u8>,
    },
    /// The shortcut, which goes on at the place, or else what follows.
    Known(Known, usize),
    /// The first, and if that leads nowhere the second.
    Either {
        first: usize,
        second: usize,
        /// The class of bytes that the first begins with, where that is known.
        begins: Option<usize>,
    },
    Jump(usize),
    /// A group begins or ends.
    Save(usize),
    /// What follows up to `Matched` is kept as it matched first; the program goes on at the place.
    Atomic(usize),
    /// What follows up to `Matched` must match here, or must not.
    Ahead(usize, bool),
    Behind(usize, bool),
    WordBoundary,
    Start,
    End,
    Matched,
}

/// A program.
#[derive(Debug, Default)]
pub(super) struct Program {
    pub(super) steps: Vec<Step>,
    pub(super) classes: Vec<Class>,
    /// Of each class the bytes that it lacks, where these are few.
    lacked: Vec<Option<Lacked>>,
}

/// One to three bytes of ASCII: where the first of them is, is found many bytes at a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lacked([u8; 3]);

impl Lacked {
    /// The bytes that a class lacks, if they are few; one that is fewer stands there more than once.
    fn of(class: &Class) -> Option<Lacked> {
        let mut lacked = (0..128).zip(class).filter(|(_, is_in)| !**is_in);
        let first = lacked.next()?.0;
        let second = lacked.next().map_or(first, |(byte, _)| byte);
        let third = lacked.next().map_or(second, |(byte, _)| byte);
        lacked
            .next()
            .is_none()
            .then_some(Lacked([first, second, third]))
    }

    /// How many bytes come before the first of them.
    pub(super) fn run(self, bytes: &[u8]) -> usize {
        let Lacked([first, second, third]) = self;
        let found = match second == third {
            true => memchr::memchr2(first, second, bytes),
            false => memchr::memchr3(first, second, third, bytes),
        };
        found.unwrap_or(bytes.len())
    }
}

impl Program {
    /// Nothing if it becomes too long, or has what steps do not do.
    pub(super) fn compile(tree: &Tree) -> Option<Program> {
        let mut program = Program::default();
        program.add(tree)?;
        program.push(Step::Matched)?;
        program.look_ahead();
        program.lacked = program.classes.iter().map(Lacked::of).collect();
        Some(program)
    }

    /// How many bytes of a class some bytes, all of ASCII, begin with.
    pub(super) fn run_of(&self, class: usize, bytes: &[u8]) -> usize {
        if let Some(lacked) = self.lacked[class] {
            return lacked.run(bytes);
        }
        let class = &self.classes[class];
        let end = bytes.iter().position(|byte| !class[usize::from(*byte)]);
        end.unwrap_or(bytes.len())
    }

    fn push(&mut self, step: Step) -> Option<usize> {
        self.steps.push(step);
        (self.steps.len() <= STEPS_MAX).then(|| self.steps.len() - 1)
    }

    fn class(&mut self, class: &Class) -> usize {
        let known = self.classes.iter().position(|known| known == class);
        known.unwrap_or_else(|| {
            self.classes.push(*class);
            self.classes.len() - 1
        })
    }

    fn add(&mut self, tree: &Tree) -> Option<()> {
        match tree {
            Tree::Literal(bytes) => {
                self.push(match bytes.as_slice() {
                    [byte] => Step::Byte(*byte),
                    bytes => Step::Literal(bytes.into()),
                })?;
            }
            Tree::Class(class) => {
                let class = self.class(class);
                self.push(Step::Class(class))?;
            }
            Tree::Sequence(parts) => parts.iter().try_for_each(|part| self.add(part))?,
            Tree::Alternatives(parts) => self.add_alternatives(parts)?,
            Tree::Repeat {
                inner,
                least,
                most,
                greedy,
            } => self.add_repeat(inner, (*least, *most), *greedy)?,
            Tree::Group(group, inner) => {
                self.push(Step::Save(2 * group))?;
                self.add(inner)?;
                self.push(Step::Save(2 * group + 1))?;
            }
            Tree::Known(known, inner) => {
                let at = self.push(Step::Matched)?;
                self.add(inner)?;
                self.steps[at] = Step::Known(*known, self.steps.len());
            }
            Tree::Atomic(inner) => self.add_apart(inner, Step::Atomic)?,
            Tree::Ahead(inner, wanted) => {
                let wanted = *wanted;
                self.add_apart(inner, |end| Step::Ahead(end, wanted))?;
            }
            Tree::Behind(class, wanted) => {
                let class = self.class(class);
                self.push(Step::Behind(class, *wanted))?;
            }
            Tree::WordBoundary => drop(self.push(Step::WordBoundary)?),
            Tree::Start => drop(self.push(Step::Start)?),
            Tree::End => drop(self.push(Step::End)?),
        }
        Some(())
    }

    /// What is matched by itself; groups inside would have to be forgotten with it.
    fn add_apart(&mut self, inner: &Tree, step: impl Fn(usize) -> Step) -> Option<()> {
        if inner.has_groups() {
            return None;
        }
        let at = self.push(Step::Matched)?;
        self.add(inner)?;
        self.push(Step::Matched)?;
        self.steps[at] = step(self.steps.len());
        Some(())
    }

    fn add_alternatives(&mut self, parts: &[Tree]) -> Option<()> {
        let mut jumps = Vec::new();
        for (number, part) in parts.iter().enumerate() {
            if number + 1 == parts.len() {
                self.add(part)?;
                break;
            }
            let either = self.push(Step::Matched)?;
            self.add(part)?;
            jumps.push(self.push(Step::Matched)?);
            self.steps[either] = either_of(either + 1, self.steps.len());
        }
        for jump in jumps {
            self.steps[jump] = Step::Jump(self.steps.len());
        }
        Some(())
    }

    fn add_repeat(
        &mut self,
        inner: &Tree,
        (least, most): (u32, Option<u32>),
        greedy: bool,
    ) -> Option<()> {
        let class = match inner {
            Tree::Class(class) => Some(**class),
            Tree::Literal(bytes) if bytes.len() == 1 => {
                let mut class = [false; 256];
                class[usize::from(bytes[0])] = true;
                Some(class)
            }
            _ => None,
        };
        if let Some(class) = class {
            let class = self.class(&class);
            self.push(Step::Run {
                class,
                least: least as usize,
                most: most.map_or(usize::MAX, |most| most as usize),
                greedy,
                next: None,
            })?;
            return Some(());
        }
        for _ in 0..least {
            self.add(inner)?;
        }
        let order = |on: usize, out: usize| match greedy {
            true => either_of(on, out),
            false => either_of(out, on),
        };
        let Some(most) = most else {
            if inner.can_be_empty() {
                return None;
            }
            let either = self.push(Step::Matched)?;
            self.add(inner)?;
            self.push(Step::Jump(either))?;
            self.steps[either] = order(either + 1, self.steps.len());
            return Some(());
        };
        let mut eithers = Vec::new();
        for _ in least..most {
            eithers.push(self.push(Step::Matched)?);
            self.add(inner)?;
        }
        for either in eithers {
            self.steps[either] = order(either + 1, self.steps.len());
        }
        Some(())
    }

    /// Notes for every run which byte must come behind it, and for every choice what its first part begins with.
    fn look_ahead(&mut self) {
        for at in 0..self.steps.len() {
            match &self.steps[at] {
                Step::Run { .. } => {
                    let byte = self.first_byte(at + 1);
                    if let Step::Run { next, .. } = &mut self.steps[at] {
                        *next = byte;
                    }
                }
                Step::Either { first, .. } => {
                    let mut class = [false; 256];
                    let is_known = self.add_first(*first, &mut class, 0);
                    let known = is_known.map(|()| self.class(&class));
                    if let Step::Either { begins, .. } = &mut self.steps[at] {
                        *begins = known;
                    }
                }
                _ => {}
            }
        }
    }

    /// Adds the bytes that what follows may begin with; nothing if it may be empty, or is not worth looking into.
    fn add_first(&self, mut at: usize, class: &mut Class, depth: usize) -> Option<()> {
        const DEPTH_MAX: usize = 30;
        if depth > DEPTH_MAX {
            return None;
        }
        loop {
            match self.steps.get(at)? {
                Step::Literal(bytes) => {
                    class[usize::from(*bytes.first()?)] = true;
                    return Some(());
                }
                Step::Byte(byte) => {
                    class[usize::from(*byte)] = true;
                    return Some(());
                }
                Step::Class(own) | Step::Run { class: own, .. } => {
                    for (is_in, own) in class.iter_mut().zip(&self.classes[*own]) {
                        *is_in |= own;
                    }
                    match &self.steps[at] {
                        Step::Run { least: 0, .. } => at += 1,
                        _ => return Some(()),
                    }
                }
                Step::Either { first, second, .. } => {
                    self.add_first(*first, class, depth + 1)?;
                    at = *second;
                }
                Step::Jump(to) if *to > at => at = *to,
                // These take no bytes; a look ahead has steps of its own, which are passed over.
                Step::Save(_)
                | Step::Known(..)
                | Step::Behind(..)
                | Step::WordBoundary
                | Step::Atomic(_) => at += 1,
                Step::Ahead(end, _) => at = *end,
                Step::Start | Step::End | Step::Jump(_) | Step::Matched => return None,
            }
        }
    }

    fn first_byte(&self, mut at: usize) -> Option<u8> {
        loop {
            match self.steps.get(at)? {
                Step::Literal(bytes) => return bytes.first().copied(),
                Step::Byte(byte) => return Some(*byte),
                Step::Save(_) => at += 1,
                Step::Jump(to) if *to > at => at = *to,
                _ => return None,
            }
        }
    }
}

fn either_of(first: usize, second: usize) -> Step {
    Step::Either {
        first,
        second,
        begins: None,
    }
}
