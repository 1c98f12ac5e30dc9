//! Expressions, and what is left of one behind a character (Brzozowski's derivatives).
//!
//! Expressions that obviously mean the same are made the same, which keeps the number of those
//! that can be left finite.

use std::sync::Arc;

/// The last character, as a number.
const LAST: u32 = char::MAX as u32;

/// An expression that is simplified as far as its constructors do.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Expression {
    /// Only the empty text.
    Empty,
    /// One character of these ranges, which are in order and apart; without any, no text at all.
    One(Arc<Vec<(u32, u32)>>),
    Then(Arc<(Expression, Expression)>),
    Any(Arc<Expression>),
    /// Sorted, and none of them twice; so are those of `Both`.
    Either(Arc<Vec<Expression>>),
    Both(Arc<Vec<Expression>>),
    Not(Arc<Expression>),
}

use Expression::{Any, Both, Either, Empty, Not, One, Then};

impl Expression {
    pub(super) fn never() -> Self {
        One(Arc::new(Vec::new()))
    }

    pub(super) fn any_character() -> Self {
        One(Arc::new(vec![(0, LAST)]))
    }

    pub(super) fn any_text() -> Self {
        Any(Arc::new(Self::any_character()))
    }

    pub(super) fn character(character: char) -> Self {
        Self::one(vec![(character.into(), character.into())])
    }

    /// One character of any of the ranges.
    pub(super) fn one(mut ranges: Vec<(u32, u32)>) -> Self {
        ranges.sort_unstable();
        let mut joined: Vec<(u32, u32)> = Vec::with_capacity(ranges.len());
        for (low, high) in ranges {
            match joined.last_mut() {
                Some(last) if low <= last.1.saturating_add(1) => last.1 = last.1.max(high),
                _ => joined.push((low, high)),
            }
        }
        One(Arc::new(joined))
    }

    /// One character of none of the ranges.
    pub(super) fn other_than(ranges: Vec<(u32, u32)>) -> Self {
        let One(taken) = Self::one(ranges) else {
            return Self::never();
        };
        let (mut left, mut from) = (Vec::new(), 0);
        for (low, high) in taken.iter() {
            if from < *low {
                left.push((from, low - 1));
            }
            from = high + 1;
        }
        if from <= LAST {
            left.push((from, LAST));
        }
        One(Arc::new(left))
    }

    pub(super) fn is_never(&self) -> bool {
        matches!(self, One(ranges) if ranges.is_empty())
    }

    fn is_any_text(&self) -> bool {
        matches!(self, Any(inner) if **inner == Self::any_character())
    }

    pub(super) fn then(self, after: Self) -> Self {
        match (self, after) {
            (first, after) if first.is_never() || after.is_never() => Self::never(),
            (Empty, after) => after,
            (first, Empty) => first,
            // To the right, so that the same text is written in one way.
            (Then(pair), after) => {
                let (first, second) = (pair.0.clone(), pair.1.clone());
                Then(Arc::new((first, second.then(after))))
            }
            (first, after) => Then(Arc::new((first, after))),
        }
    }

    pub(super) fn any(self) -> Self {
        match self {
            Empty => Empty,
            never if never.is_never() => Empty,
            Any(inner) => Any(inner),
            other => Any(Arc::new(other)),
        }
    }

    pub(super) fn either(parts: Vec<Self>) -> Self {
        let mut flat = Vec::with_capacity(parts.len());
        for part in parts {
            match part {
                Either(inner) => flat.extend(inner.iter().cloned()),
                never if never.is_never() => {}
                everything if everything.is_any_text() => return everything,
                other => flat.push(other),
            }
        }
        flat.sort_unstable();
        flat.dedup();
        match flat.len() {
            0 => Self::never(),
            1 => flat.remove(0),
            _ => Either(Arc::new(flat)),
        }
    }

    pub(super) fn both(parts: Vec<Self>) -> Self {
        let mut flat = Vec::with_capacity(parts.len());
        for part in parts {
            match part {
                Both(inner) => flat.extend(inner.iter().cloned()),
                never if never.is_never() => return never,
                everything if everything.is_any_text() => {}
                other => flat.push(other),
            }
        }
        flat.sort_unstable();
        flat.dedup();
        match flat.len() {
            0 => Self::any_text(),
            1 => flat.remove(0),
            _ => Both(Arc::new(flat)),
        }
    }

    pub(super) fn not(self) -> Self {
        match self {
            Not(inner) => (*inner).clone(),
            never if never.is_never() => Self::any_text(),
            everything if everything.is_any_text() => Self::never(),
            other => Not(Arc::new(other)),
        }
    }

    /// Between `least` and `most` times.
    pub(super) fn repeated(&self, least: usize, most: Option<usize>) -> Self {
        let mut made = match most {
            None => self.clone().any(),
            Some(most) => (least..most).fold(Empty, |rest, _| {
                Self::either(vec![Empty, self.clone().then(rest)])
            }),
        };
        for _ in 0..least {
            made = self.clone().then(made);
        }
        made
    }

    /// Whether the empty text matches.
    pub(super) fn takes_nothing(&self) -> bool {
        match self {
            Empty | Any(_) => true,
            One(_) => false,
            Then(pair) => pair.0.takes_nothing() && pair.1.takes_nothing(),
            Either(parts) => parts.iter().any(Self::takes_nothing),
            Both(parts) => parts.iter().all(Self::takes_nothing),
            Not(inner) => !inner.takes_nothing(),
        }
    }

    /// What has to follow the character.
    pub(super) fn after(&self, character: u32) -> Self {
        match self {
            Empty => Self::never(),
            One(ranges) => {
                let has = |(low, high): &(u32, u32)| (*low..=*high).contains(&character);
                if ranges.iter().any(has) {
                    Empty
                } else {
                    Self::never()
                }
            }
            Then(pair) => {
                let first = pair.0.after(character).then(pair.1.clone());
                if pair.0.takes_nothing() {
                    Self::either(vec![first, pair.1.after(character)])
                } else {
                    first
                }
            }
            Any(inner) => inner.after(character).then(self.clone()),
            Either(parts) => Self::either(parts.iter().map(|p| p.after(character)).collect()),
            Both(parts) => Self::both(parts.iter().map(|p| p.after(character)).collect()),
            Not(inner) => inner.after(character).not(),
        }
    }

    /// Adds every number at which a character may begin to mean something else.
    pub(super) fn boundaries(&self, found: &mut Vec<u32>) {
        match self {
            Empty => {}
            One(ranges) => {
                for (low, high) in ranges.iter() {
                    found.push(*low);
                    if *high < LAST {
                        found.push(high + 1);
                    }
                }
            }
            Then(pair) => {
                pair.0.boundaries(found);
                pair.1.boundaries(found);
            }
            Any(inner) | Not(inner) => inner.boundaries(found),
            Either(parts) | Both(parts) => parts.iter().for_each(|part| part.boundaries(found)),
        }
    }
}
