//! Regular expressions over terms, in Lucene's syntax: besides what is usual `@` for any text, `#`
//! for none, `&` for both, `~` for what does not match, `<1-20>` for numbers and `"..."` for
//! text as it stands. An expression is always about the whole term.
//!
//! `parse` reads the expression, `expression` says what is left of one behind a character, and from
//! that this module makes a table of states, so that a dictionary is walked with one look-up a
//! character.

mod expression;
mod parse;

use std::collections::HashMap;

use clew_query::{QueryError, RegexpOptions};
use foldhash::fast::FixedState;
use tantivy_fst::Automaton;

use super::automaton::Partial;
use expression::{Expression, Expressions};
use parse::ParseError;

/// How large a request may let it grow.
const STATES_LIMIT: usize = 100_000;
/// Expressions, parts of them and moves that may be made for each of those states, as many as Lucene allows.
const EFFORT_PER_STATE: usize = 10;

/// Terms that match an expression.
#[derive(Clone, Debug)]
pub struct Regexp {
    states: Vec<State>,
    /// Where characters begin that lead to another state than those before, for each state, and that state.
    moves: Vec<(u32, u32)>,
}

/// A state of the table.
#[derive(Clone, Copy, Debug)]
struct State {
    /// Where its moves are among those of all.
    moves: (u32, u32),
    is_match: bool,
    /// Whether nothing matches any more.
    is_dead: bool,
}

#[derive(Clone, Copy, Debug)]
pub struct RegexpState {
    state: u32,
    partial: Partial,
}

impl Regexp {
    /// # Errors
    /// When the text is no expression, or one that is too complex for the options.
    pub fn new(text: &str, options: RegexpOptions) -> Result<Self, QueryError> {
        let states_max = options.states_max.min(STATES_LIMIT);
        let mut made = Expressions::new(states_max * EFFORT_PER_STATE);
        Self::build(&mut made, text, options).map_err(|error| match error {
            ParseError::Wrong(reason) => QueryError::illegal(reason),
            ParseError::TooComplex => QueryError::create(format!(
                "Determinizing {text} would require more than {states_max} effort."
            )),
        })
    }

    fn build(
        made: &mut Expressions,
        text: &str,
        options: RegexpOptions,
    ) -> Result<Self, ParseError> {
        let first = parse::parse(made, text, options.syntax, options.ignore_case)?;
        let mut found = vec![first];
        let mut numbers: HashMap<Expression, u32, FixedState> = HashMap::default();
        numbers.insert(first, 0);
        let (mut states, mut moves) = (Vec::new(), Vec::new());
        while let Some(expression) = found.get(states.len()).copied() {
            let begin = length(&moves);
            let own = made.moves(expression)?;
            made.spend(own.len())?;
            for (character, after) in own.iter() {
                let fresh = length(&found);
                let number = *numbers.entry(*after).or_insert(fresh);
                if number == fresh {
                    found.push(*after);
                }
                moves.push((*character, number));
            }
            states.push(State {
                moves: (begin, length(&moves)),
                is_match: made.takes_nothing(expression),
                is_dead: expression == Expression::NEVER,
            });
        }
        Ok(Regexp { states, moves })
    }

    /// Whether the whole text matches.
    pub fn matches(&self, text: &str) -> bool {
        let mut state = self.start();
        for byte in text.bytes() {
            state = self.accept(&state, byte);
        }
        self.is_match(&state)
    }
}

impl Automaton for Regexp {
    type State = RegexpState;

    fn start(&self) -> RegexpState {
        RegexpState {
            state: 0,
            partial: Partial::default(),
        }
    }

    fn is_match(&self, state: &RegexpState) -> bool {
        state.partial.is_complete() && self.states[state.state as usize].is_match
    }

    fn can_match(&self, state: &RegexpState) -> bool {
        !self.states[state.state as usize].is_dead
    }

    fn accept(&self, state: &RegexpState, byte: u8) -> RegexpState {
        let mut after = *state;
        if let Some(character) = after.partial.push(byte) {
            let (begin, end) = self.states[state.state as usize].moves;
            let moves = &self.moves[begin as usize..end as usize];
            // The first move is that of the first character there is.
            let begun = |(begin, _): &(u32, u32)| *begin <= u32::from(character);
            after.state = moves[moves.partition_point(begun) - 1].1;
        }
        after
    }
}

/// The length of a list that the effort keeps short.
fn length<T>(list: &[T]) -> u32 {
    u32::try_from(list.len()).expect("the effort is far below 2^32")
}

#[cfg(test)]
mod tests;
