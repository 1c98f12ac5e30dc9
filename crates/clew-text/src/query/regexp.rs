//! Regular expressions over terms, in Lucene's syntax: besides what is usual `@` for any text, `#`
//! for none, `&` for both, `~` for what does not match, `<1-20>` for numbers and `"..."` for
//! text as it stands. An expression is always about the whole term.
//!
//! `parse` reads the expression, `expression` says what is left of one behind a character, and from
//! that this module makes a table of states, so that a dictionary is walked with one look-up a
//! character.

mod expression;
mod parse;

use std::collections::BTreeMap;

use tantivy_fst::Automaton;

use super::automaton::Partial;
use super::error::QueryError;
use expression::Expression;

/// States of a table, as `max_determinized_states` of the protocol.
const STATES_MAX: usize = 10_000;

/// Which signs beyond the usual ones mean something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegexpSyntax(u32);

impl Default for RegexpSyntax {
    fn default() -> Self {
        RegexpSyntax(u32::MAX)
    }
}

impl RegexpSyntax {
    pub(crate) const INTERSECTION: u32 = 1;
    pub(crate) const COMPLEMENT: u32 = 1 << 1;
    pub(crate) const EMPTY: u32 = 1 << 2;
    pub(crate) const ANY_TEXT: u32 = 1 << 3;
    pub(crate) const INTERVAL: u32 = 1 << 4;

    /// From names joined by `|`.
    ///
    /// # Errors
    /// The reason, naming what is not known.
    pub fn parse(names: &str) -> Result<Self, String> {
        let mut syntax = 0;
        for name in names.split('|').filter(|name| !name.is_empty()) {
            syntax |= match name.to_ascii_uppercase().as_str() {
                "NONE" => 0,
                "ALL" => u32::MAX,
                "INTERSECTION" => Self::INTERSECTION,
                "COMPLEMENT" => Self::COMPLEMENT,
                "EMPTY" => Self::EMPTY,
                "ANYSTRING" => Self::ANY_TEXT,
                "INTERVAL" => Self::INTERVAL,
                _ => return Err(format!("Unknown regexp flag [{name}]")),
            };
        }
        Ok(RegexpSyntax(syntax))
    }

    pub(crate) fn has(self, sign: u32) -> bool {
        self.0 & sign != 0
    }
}

/// Terms that match an expression.
#[derive(Clone, Debug)]
pub(crate) struct Regexp {
    /// Where each class of characters begins; characters of one class lead to the same state.
    classes: Vec<u32>,
    /// The next state for each state and class.
    next: Vec<u32>,
    accepting: Vec<bool>,
    /// States from which nothing matches any more.
    dead: Vec<bool>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct RegexpState {
    state: u32,
    partial: Partial,
}

impl Regexp {
    pub(crate) fn new(
        text: &str,
        syntax: RegexpSyntax,
        ignore_case: bool,
    ) -> Result<Self, QueryError> {
        let expression = parse::parse(text, syntax, ignore_case).map_err(QueryError::illegal)?;
        let mut classes = vec![0];
        expression.boundaries(&mut classes);
        classes.sort_unstable();
        classes.dedup();
        let mut states = vec![expression.clone()];
        let mut known = BTreeMap::from([(expression, 0_usize)]);
        let mut next = Vec::new();
        let mut at = 0;
        while let Some(state) = states.get(at).cloned() {
            for class in &classes {
                let after = state.after(*class);
                let fresh = known.len();
                let target = *known.entry(after.clone()).or_insert(fresh);
                if target == fresh {
                    states.push(after);
                }
                next.push(u32::try_from(target).unwrap_or(u32::MAX));
            }
            if states.len() > STATES_MAX {
                return Err(QueryError::illegal(format!(
                    "Determinizing [{text}] would require more than {STATES_MAX} states"
                )));
            }
            at += 1;
        }
        Ok(Regexp {
            classes,
            next,
            accepting: states.iter().map(Expression::takes_nothing).collect(),
            dead: states.iter().map(Expression::is_never).collect(),
        })
    }

    /// Whether the whole text matches.
    pub(crate) fn matches(&self, text: &str) -> bool {
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
        state.partial.is_complete() && self.accepting[state.state as usize]
    }

    fn can_match(&self, state: &RegexpState) -> bool {
        !self.dead[state.state as usize]
    }

    fn accept(&self, state: &RegexpState, byte: u8) -> RegexpState {
        let mut after = *state;
        if let Some(character) = after.partial.push(byte) {
            let begun = |begin: &u32| *begin <= u32::from(character);
            let class = self.classes.partition_point(begun) - 1;
            after.state = self.next[state.state as usize * self.classes.len() + class];
        }
        after
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_mean_what_they_mean_in_lucene() {
        let check = |expression: &str, yes: &[&str], no: &[&str]| {
            let regexp = Regexp::new(expression, RegexpSyntax::default(), false).unwrap();
            for text in yes {
                assert!(regexp.matches(text), "{expression} {text}");
            }
            for text in no {
                assert!(!regexp.matches(text), "{expression} {text}");
            }
        };
        check("ab?c", &["abc", "ac"], &["abbc", "xabc"]);
        check("a.*|b+", &["a", "axyz", "bb"], &["", "ba"]);
        check("a{2,3}", &["aa", "aaa"], &["a", "aaaa"]);
        check("a{2}b{1,}", &["aab", "aabb"], &["aa", "ab"]);
        check("[a-cx]é", &["bé", "xé"], &["dé", "b"]);
        check("[^a-c]+", &["dé", "z"], &["", "a", "za"]);
        check("@", &["", "anything"], &[]);
        check("#", &[], &["", "a"]);
        check("r&.*d", &[], &["r", "red"]);
        check("r.*&.*d", &["red", "rd"], &["r", "read "]);
        check("~(red)", &["", "re", "redd"], &["red"]);
        check("~red", &["ed", "xed"], &["red"]);
        check("<1-200>", &["1", "007", "200"], &["0", "201", "", "x"]);
        check("v<09-11>", &["v09", "v10", "v11"], &["v9", "v12", "v0010"]);
        check("\"a.b\"c*", &["a.b", "a.bcc"], &["axb"]);
        check("a\\.b", &["a.b"], &["axb"]);
        check("\\d+\\w", &["12a", "123"], &["a1"]);
        check("()|a", &["", "a"], &["b"]);
        check("東.", &["東京"], &["東", "東京都"]);
    }

    #[test]
    fn signs_can_be_switched_off_and_case_ignored() {
        let plain = RegexpSyntax::parse("NONE").unwrap();
        assert!(Regexp::new("a@b", plain, false).unwrap().matches("a@b"));
        let regexp = Regexp::new("Re[d]", plain, true).unwrap();
        assert!(regexp.matches("rED") && !regexp.matches("re"));
        assert!(RegexpSyntax::parse("SOME").is_err());
    }

    #[test]
    fn what_is_no_expression_is_refused() {
        for wrong in [
            "(a", "a)", "[a", "a{", "<1-", "<x>", "*", "\"a", "a|*", "[z-a]",
        ] {
            assert!(
                Regexp::new(wrong, RegexpSyntax::default(), false).is_err(),
                "{wrong}"
            );
        }
        let huge = "(a|b)*a.{20}";
        assert!(Regexp::new(huge, RegexpSyntax::default(), false).is_err());
    }
}
