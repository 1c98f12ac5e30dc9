//! Expressions, and what is left of one behind a character (Brzozowski's derivatives).
//!
//! Expressions that obviously mean the same are made the same and kept once, so that two of them are
//! compared by their numbers, and what is left of one is found once, however often it is asked for.
//! Whatever is made is counted: the text of an expression says little about how large it is, as
//! repeats of repeats multiply.

use std::collections::BTreeMap;
use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::FixedState;

/// The last character, as a number.
const LAST: u32 = char::MAX as u32;

/// The number of an expression among [`Expressions`], which simplify it as far as they do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Expression(u32);

impl Expression {
    /// No text at all.
    pub(super) const NEVER: Self = Expression(0);
    /// Only the empty text.
    pub(super) const EMPTY: Self = Expression(1);
    pub(super) const ANY_CHARACTER: Self = Expression(2);
    pub(super) const ANY_TEXT: Self = Expression(3);

    fn at(self) -> usize {
        self.0 as usize
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Form {
    Empty,
    /// One character of these ranges, which are in order and apart; without any, no text at all.
    One(Arc<[(u32, u32)]>),
    /// The first is none of these itself, so that the same text is written in one way.
    Then(Expression, Expression),
    Any(Expression),
    /// Sorted, and none of them twice; so are those of `Both`.
    Either(Arc<[Expression]>),
    Both(Arc<[Expression]>),
    Not(Expression),
}

/// What is left behind the characters from each of these numbers on, up to the next one; the first is 0.
pub(super) type Moves = Arc<[(u32, Expression)]>;

/// The expressions would be larger than their maker may spend on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooComplex;

/// All expressions that were made from one, each once.
#[derive(Debug)]
pub(super) struct Expressions {
    forms: Vec<Form>,
    known: HashMap<Form, Expression, FixedState>,
    /// Whether the empty text matches.
    nullable: Vec<bool>,
    /// Of those that were asked.
    moves: Vec<Option<Moves>>,
    effort_left: usize,
}

impl Expressions {
    /// `effort_max` bounds the expressions made, the parts of each, and the moves between them, taken together.
    pub(super) fn new(effort_max: usize) -> Self {
        let mut made = Expressions {
            forms: Vec::new(),
            known: HashMap::default(),
            nullable: Vec::new(),
            moves: Vec::new(),
            effort_left: effort_max,
        };
        let usual = [
            (Form::One(Arc::new([])), Expression::NEVER),
            (Form::Empty, Expression::EMPTY),
            (Form::One(Arc::new([(0, LAST)])), Expression::ANY_CHARACTER),
            (Form::Any(Expression::ANY_CHARACTER), Expression::ANY_TEXT),
        ];
        for (form, number) in usual {
            assert_eq!(made.add(form), number, "the usual ones come first");
        }
        made
    }

    /// Whether the empty text matches.
    pub(super) fn takes_nothing(&self, expression: Expression) -> bool {
        self.nullable[expression.at()]
    }

    /// Counts work before it is done.
    pub(super) fn spend(&mut self, effort: usize) -> Result<(), TooComplex> {
        self.effort_left = self.effort_left.checked_sub(effort).ok_or(TooComplex)?;
        Ok(())
    }

    #[cfg(test)]
    pub(super) fn effort_left(&self) -> usize {
        self.effort_left
    }

    fn add(&mut self, form: Form) -> Expression {
        if let Some(known) = self.known.get(&form) {
            return *known;
        }
        let number = u32::try_from(self.forms.len()).expect("the effort is far below 2^32");
        let nullable = match &form {
            Form::Empty | Form::Any(_) => true,
            Form::One(_) => false,
            Form::Then(first, after) => self.takes_nothing(*first) && self.takes_nothing(*after),
            Form::Either(parts) => parts.iter().any(|part| self.takes_nothing(*part)),
            Form::Both(parts) => parts.iter().all(|part| self.takes_nothing(*part)),
            Form::Not(inner) => !self.takes_nothing(*inner),
        };
        self.known.insert(form.clone(), Expression(number));
        self.forms.push(form);
        self.nullable.push(nullable);
        self.moves.push(None);
        Expression(number)
    }

    fn make(&mut self, form: Form) -> Result<Expression, TooComplex> {
        self.spend(1)?;
        Ok(self.add(form))
    }

    pub(super) fn character(&mut self, character: char) -> Result<Expression, TooComplex> {
        self.one(vec![(character.into(), character.into())])
    }

    /// One character of any of the ranges.
    pub(super) fn one(&mut self, ranges: Vec<(u32, u32)>) -> Result<Expression, TooComplex> {
        self.spend(ranges.len())?;
        self.make(Form::One(joined(ranges).into()))
    }

    pub(super) fn then(
        &mut self,
        first: Expression,
        after: Expression,
    ) -> Result<Expression, TooComplex> {
        match (first, after) {
            (Expression::NEVER, _) | (_, Expression::NEVER) => return Ok(Expression::NEVER),
            (Expression::EMPTY, other) | (other, Expression::EMPTY) => return Ok(other),
            _ => {}
        }
        let mut heads = Vec::new();
        let mut rest = first;
        while let Form::Then(head, tail) = self.forms[rest.at()] {
            self.spend(1)?;
            heads.push(head);
            rest = tail;
        }
        let mut made = match (&self.forms[rest.at()], &self.forms[after.at()]) {
            // Any number of times, twice, is any number of times.
            (Form::Any(_), _) if rest == after => after,
            (Form::Any(_), Form::Then(next, _)) if rest == *next => after,
            _ => self.make(Form::Then(rest, after))?,
        };
        while let Some(head) = heads.pop() {
            made = self.make(Form::Then(head, made))?;
        }
        Ok(made)
    }

    pub(super) fn any(&mut self, inner: Expression) -> Result<Expression, TooComplex> {
        match self.forms[inner.at()] {
            Form::Any(_) => Ok(inner),
            _ if inner == Expression::EMPTY || inner == Expression::NEVER => Ok(Expression::EMPTY),
            _ => self.make(Form::Any(inner)),
        }
    }

    pub(super) fn either(&mut self, parts: Vec<Expression>) -> Result<Expression, TooComplex> {
        self.spend(parts.len())?;
        let mut flat = Vec::with_capacity(parts.len());
        let mut ranges = Vec::new();
        for part in parts {
            match &self.forms[part.at()] {
                Form::Either(inner) => {
                    let inner = inner.clone();
                    self.spend(inner.len())?;
                    flat.extend_from_slice(&inner);
                }
                Form::One(more) => ranges.extend_from_slice(more),
                _ if part == Expression::ANY_TEXT => return Ok(part),
                _ => flat.push(part),
            }
        }
        // Of all classes of characters one is made, also of that among the parts of another.
        flat.retain(|part| match &self.forms[part.at()] {
            Form::One(more) => {
                ranges.extend_from_slice(more);
                false
            }
            _ => true,
        });
        if !ranges.is_empty() {
            flat.push(self.one(ranges)?);
        }
        flat.sort_unstable();
        flat.dedup();
        let empty = flat.iter().position(|part| *part == Expression::EMPTY);
        let others = |part: &&Expression| self.takes_nothing(**part);
        if let Some(empty) = empty.filter(|_| flat.iter().filter(others).count() > 1) {
            flat.remove(empty);
        }
        match flat.as_slice() {
            [] => Ok(Expression::NEVER),
            [only] => Ok(*only),
            _ => self.make(Form::Either(flat.into())),
        }
    }

    pub(super) fn both(&mut self, parts: Vec<Expression>) -> Result<Expression, TooComplex> {
        self.spend(parts.len())?;
        let mut flat = Vec::with_capacity(parts.len());
        for part in parts {
            match &self.forms[part.at()] {
                Form::Both(inner) => {
                    let inner = inner.clone();
                    self.spend(inner.len())?;
                    flat.extend_from_slice(&inner);
                }
                _ if part == Expression::NEVER => return Ok(part),
                _ if part == Expression::ANY_TEXT => {}
                _ => flat.push(part),
            }
        }
        flat.sort_unstable();
        flat.dedup();
        match flat.as_slice() {
            [] => Ok(Expression::ANY_TEXT),
            [only] => Ok(*only),
            _ => self.make(Form::Both(flat.into())),
        }
    }

    pub(super) fn not(&mut self, inner: Expression) -> Result<Expression, TooComplex> {
        match self.forms[inner.at()] {
            Form::Not(twice) => Ok(twice),
            _ if inner == Expression::NEVER => Ok(Expression::ANY_TEXT),
            _ if inner == Expression::ANY_TEXT => Ok(Expression::NEVER),
            _ => self.make(Form::Not(inner)),
        }
    }

    /// Between `least` and `most` times.
    pub(super) fn repeated(
        &mut self,
        part: Expression,
        least: usize,
        most: Option<usize>,
    ) -> Result<Expression, TooComplex> {
        let mut made = Expression::EMPTY;
        match most {
            None => made = self.any(part)?,
            Some(most) => {
                for _ in least..most {
                    let once_more = self.then(part, made)?;
                    made = self.either(vec![Expression::EMPTY, once_more])?;
                }
            }
        }
        for _ in 0..least {
            made = self.then(part, made)?;
        }
        Ok(made)
    }

    /// What has to follow each character. The way down is kept in a list: expressions are deeper than a
    /// thread's stack is.
    pub(super) fn moves(&mut self, root: Expression) -> Result<Moves, TooComplex> {
        let mut pending = vec![root];
        loop {
            let Some(top) = pending.last().copied() else {
                unreachable!("the root stays until its moves are known");
            };
            if let Some(known) = &self.moves[top.at()] {
                if pending.len() == 1 {
                    return Ok(known.clone());
                }
                pending.pop();
                continue;
            }
            let known = pending.len();
            self.push_unknown(top, &mut pending);
            if pending.len() == known {
                let made = self.moves_of(top)?;
                self.spend(made.len())?;
                self.moves[top.at()] = Some(made);
            }
        }
    }

    /// Adds those whose moves the moves of this one are made from, and that are not known yet.
    fn push_unknown(&self, expression: Expression, pending: &mut Vec<Expression>) {
        let mut push = |inner: Expression| {
            if self.moves[inner.at()].is_none() {
                pending.push(inner);
            }
        };
        match &self.forms[expression.at()] {
            Form::Empty | Form::One(_) => {}
            Form::Then(first, after) => {
                push(*first);
                if self.takes_nothing(*first) {
                    push(*after);
                }
            }
            Form::Any(inner) | Form::Not(inner) => push(*inner),
            Form::Either(parts) | Form::Both(parts) => parts.iter().copied().for_each(push),
        }
    }

    /// The moves of what is inside, which are known.
    fn known_moves(&self, inner: Expression) -> Moves {
        let known = self.moves[inner.at()].clone();
        known.expect("what an expression is made of comes first")
    }

    fn moves_of(&mut self, expression: Expression) -> Result<Moves, TooComplex> {
        match self.forms[expression.at()].clone() {
            Form::Empty => Ok(Arc::new([(0, Expression::NEVER)])),
            Form::One(ranges) => Ok(moves_of_class(&ranges)),
            Form::Then(first, after) => {
                let moves = self.mapped(first, |all, left| all.then(left, after))?;
                if !self.takes_nothing(first) {
                    return Ok(moves);
                }
                let behind = self.known_moves(after);
                self.joined_moves(&[moves, behind], Expression::NEVER, Self::either)
            }
            Form::Any(inner) => self.mapped(inner, |all, left| all.then(left, expression)),
            Form::Not(inner) => self.mapped(inner, Self::not),
            Form::Either(parts) => {
                let moves: Vec<Moves> = parts.iter().map(|part| self.known_moves(*part)).collect();
                self.joined_moves(&moves, Expression::NEVER, Self::either)
            }
            Form::Both(parts) => {
                let moves: Vec<Moves> = parts.iter().map(|part| self.known_moves(*part)).collect();
                self.joined_moves(&moves, Expression::ANY_TEXT, Self::both)
            }
        }
    }

    /// The moves of what is inside, with something done to what is left behind each.
    fn mapped(
        &mut self,
        inner: Expression,
        change: impl Fn(&mut Self, Expression) -> Result<Expression, TooComplex>,
    ) -> Result<Moves, TooComplex> {
        let moves = self.known_moves(inner);
        let mut changed = Vec::with_capacity(moves.len());
        for (begin, left) in moves.iter() {
            let left = change(self, *left)?;
            push_move(&mut changed, (*begin, left));
        }
        Ok(changed.into())
    }

    /// The moves of parts together. `nothing` changes nothing where it is among what is joined, so that only the
    /// parts that a character means something to are looked at behind it.
    fn joined_moves(
        &mut self,
        parts: &[Moves],
        nothing: Expression,
        join: fn(&mut Self, Vec<Expression>) -> Result<Expression, TooComplex>,
    ) -> Result<Moves, TooComplex> {
        let numbered = parts.iter().enumerate();
        let mut changes: Vec<(u32, usize, Expression)> = numbered
            .flat_map(|(part, moves)| moves.iter().map(move |(begin, left)| (*begin, part, *left)))
            .collect();
        self.spend(changes.len())?;
        changes.sort_unstable();
        let mut now = BTreeMap::new();
        let mut all = Vec::new();
        for changes in changes.chunk_by(|a, b| a.0 == b.0) {
            for (_, part, left) in changes {
                if *left == nothing {
                    now.remove(part);
                } else {
                    now.insert(*part, *left);
                }
            }
            let left = join(self, now.values().copied().collect())?;
            push_move(&mut all, (changes[0].0, left));
        }
        Ok(all.into())
    }
}

/// Adds a move unless the characters before lead to the same.
fn push_move(moves: &mut Vec<(u32, Expression)>, (begin, left): (u32, Expression)) {
    if moves.last().is_none_or(|(_, before)| *before != left) {
        moves.push((begin, left));
    }
}

fn moves_of_class(ranges: &[(u32, u32)]) -> Moves {
    let mut moves = Vec::with_capacity(2 * ranges.len() + 1);
    if ranges.first().is_none_or(|(low, _)| *low > 0) {
        moves.push((0, Expression::NEVER));
    }
    for (low, high) in ranges {
        moves.push((*low, Expression::EMPTY));
        if *high < LAST {
            moves.push((high + 1, Expression::NEVER));
        }
    }
    moves.into()
}

/// The ranges in order, and apart.
fn joined(mut ranges: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
    ranges.sort_unstable();
    let mut joined: Vec<(u32, u32)> = Vec::with_capacity(ranges.len());
    for (low, high) in ranges {
        match joined.last_mut() {
            Some(last) if low <= last.1.saturating_add(1) => last.1 = last.1.max(high),
            _ => joined.push((low, high)),
        }
    }
    joined
}

/// The characters that are in none of the ranges.
pub(super) fn other_than(ranges: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
    let (mut left, mut from) = (Vec::new(), 0);
    for (low, high) in joined(ranges) {
        if from < low {
            left.push((from, low - 1));
        }
        from = high + 1;
    }
    if from <= LAST {
        left.push((from, LAST));
    }
    left
}
