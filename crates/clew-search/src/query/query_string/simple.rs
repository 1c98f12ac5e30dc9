//! The simple query language: `+` and, `|` or, `-` not, `"phrase"~n`, `word*`, `word~n`, and
//! parentheses. Whatever makes no sense is left out; no text is an error.
//!
//! Operators have no precedence: what stands left of one is one operand. A sign whose feature is
//! switched off is a character like any other.

use clew_platform::Pace;
use clew_query::{Operator, QueryError, SimpleFeatures};

use super::{Clause, Occurrence, Word};
use crate::query::compile::DEPTH_MAX as NESTED_MAX;

/// How deep parentheses may be nested; deeper ones are read as if they were not there.
const DEPTH_MAX: usize = 20;

struct Parser<'a> {
    /// The text as far as this group goes.
    text: &'a [char],
    /// Where each parenthesis is closed, in all of the text; see [`closings`].
    closings: &'a [usize],
    at: usize,
    default: Operator,
    features: SimpleFeatures,
    /// Whether the analyzers leave nothing of a clause, which then is not there: an operator before it is that of the next.
    says_nothing: &'a dyn Fn(&Clause) -> bool,
    depth: usize,
    /// What was read so far, joined.
    parts: Vec<(Occurrence, Clause)>,
    /// The operator that joins `parts`, and the one that was read last.
    joined_by: Option<Operator>,
    next: Option<Operator>,
    negated: bool,
    /// How often what stood left of an operator became one operand.
    nested: usize,
    too_deep: bool,
    /// Whether a quote of this group was seen to be never closed: then no later one is.
    unclosed_quote: bool,
    pace: Pace,
}

/// # Errors
/// [`QueryError::TooDeep`], before a tree is made that is too deep to be walked through.
pub(super) fn parse(
    text: &str,
    (default, features): (Operator, SimpleFeatures),
    says_nothing: &dyn Fn(&Clause) -> bool,
) -> Result<Clause, QueryError> {
    let text: Vec<char> = text.chars().collect();
    let closings = closings(&text, features);
    let mut parser = Parser::of(&text, &closings, (default, features), says_nothing);
    parser.run();
    if parser.too_deep {
        return Err(QueryError::TooDeep { max: NESTED_MAX });
    }
    let parts = parser.parts;
    Ok(Clause::Group { parts, boost: 1.0 })
}

/// A parenthesis that is never closed, and whatever is none.
const NEVER: usize = usize::MAX;

/// For each place with an opening parenthesis the place of the one that closes it. Found for all at once: to look for each
/// alone would take a time that is the square of the text's length.
fn closings(text: &[char], features: SimpleFeatures) -> Vec<usize> {
    let mut closings = vec![NEVER; text.len()];
    let (mut open, mut escaped) = (Vec::new(), false);
    for (at, character) in text.iter().enumerate() {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = features.has(SimpleFeatures::ESCAPE),
            '(' => open.push(at),
            ')' => {
                if let Some(opening) = open.pop() {
                    closings[opening] = at;
                }
            }
            _ => {}
        }
    }
    closings
}

impl<'a> Parser<'a> {
    /// Reads all of the group; less where the request is over.
    fn run(&mut self) {
        while let Some(character) = self.text.get(self.at) {
            if self.too_deep || self.pace.is_over() {
                return;
            }
            self.step(*character);
        }
    }

    fn of(
        text: &'a [char],
        closings: &'a [usize],
        (default, features): (Operator, SimpleFeatures),
        says_nothing: &'a dyn Fn(&Clause) -> bool,
    ) -> Self {
        Parser {
            text,
            closings,
            at: 0,
            default,
            features,
            says_nothing,
            depth: 0,
            parts: Vec::new(),
            joined_by: None,
            next: None,
            negated: false,
            nested: 0,
            too_deep: false,
            unclosed_quote: false,
            pace: Pace::default(),
        }
    }

    /// A parser of what lies inside of parentheses.
    fn inside(&self, text: &'a [char], at: usize) -> Self {
        let how = (self.default, self.features);
        Parser {
            at,
            depth: self.depth + 1,
            pace: self.pace.clone(),
            ..Parser::of(text, self.closings, how, self.says_nothing)
        }
    }

    fn step(&mut self, character: char) {
        let has = |feature| self.features.has(feature);
        match character {
            '-' if has(SimpleFeatures::NOT) => {
                self.negated = !self.negated;
                self.at += 1;
                // Everything else, even a space, ends the negation.
                return;
            }
            '(' if has(SimpleFeatures::PRECEDENCE) => self.parenthesis(),
            ')' if has(SimpleFeatures::PRECEDENCE) => self.at += 1,
            '"' if has(SimpleFeatures::PHRASE) => self.phrase(),
            '+' if has(SimpleFeatures::AND) => self.operator(Operator::And),
            '|' if has(SimpleFeatures::OR) => self.operator(Operator::Or),
            ' ' | '\t' | '\n' | '\r' if has(SimpleFeatures::WHITESPACE) => self.at += 1,
            _ => self.word(),
        }
        self.negated = false;
    }

    /// The first of several operators counts; before the first clause none does.
    fn operator(&mut self, operator: Operator) {
        if !self.parts.is_empty() {
            self.next.get_or_insert(operator);
        }
        self.at += 1;
    }

    fn parenthesis(&mut self) {
        self.at += 1;
        let closing = self.closings[self.at - 1];
        // Beyond the group none of its parentheses is closed.
        if closing >= self.text.len() {
            return;
        }
        let start = std::mem::replace(&mut self.at, closing + 1);
        if start == closing {
            self.next = None;
            return;
        }
        if self.depth >= DEPTH_MAX {
            return;
        }
        let mut inner = self.inside(&self.text[..closing], start);
        inner.run();
        self.too_deep |= inner.too_deep;
        if !inner.parts.is_empty() {
            let parts = inner.parts;
            self.add(Clause::Group { parts, boost: 1.0 });
        }
    }

    fn phrase(&mut self) {
        let start = self.at + 1;
        if self.unclosed_quote {
            self.at = start;
            return;
        }
        let (mut text, mut at) = (String::new(), start);
        loop {
            match self.text.get(at) {
                // A quote that is never closed means nothing.
                None => {
                    self.unclosed_quote = true;
                    self.at = start;
                    return;
                }
                Some('"') => break,
                Some('\\') if self.features.has(SimpleFeatures::ESCAPE) => {
                    at += 1;
                    text.extend(self.text.get(at));
                }
                Some(character) => text.push(*character),
            }
            at += 1;
        }
        self.at = at + 1;
        if text.is_empty() {
            self.next = None;
            return;
        }
        let near = self.features.has(SimpleFeatures::NEAR) && self.text.get(self.at) == Some(&'~');
        let slop = near.then(|| self.distance());
        self.add(Clause::Phrase {
            text,
            slop: slop.and_then(|distance| distance.parse().ok()),
            boost: 1.0,
        });
    }

    /// What follows a `~`, which is as far as a word goes.
    fn distance(&mut self) -> String {
        self.at += 1;
        let rest = &self.text[self.at..];
        let text: String = rest.iter().take_while(|next| !self.ends(**next)).collect();
        self.at += text.chars().count();
        match text.as_str() {
            "" => "2".to_string(),
            // What is no number is none.
            other => other.parse().unwrap_or(0_u32).to_string(),
        }
    }

    fn ends(&self, character: char) -> bool {
        let feature = match character {
            '"' => SimpleFeatures::PHRASE,
            '|' => SimpleFeatures::OR,
            '+' => SimpleFeatures::AND,
            '(' | ')' => SimpleFeatures::PRECEDENCE,
            ' ' | '\t' | '\n' | '\r' => SimpleFeatures::WHITESPACE,
            _ => return false,
        };
        self.features.has(feature)
    }

    fn word(&mut self) {
        let (mut text, mut prefix) = (String::new(), false);
        let fuzzy_allowed = self.features.has(SimpleFeatures::FUZZY);
        while let Some(character) = self.text.get(self.at).copied() {
            if character == '\\' && self.features.has(SimpleFeatures::ESCAPE) {
                prefix = false;
                text.extend(self.text.get(self.at + 1));
                self.at += 2;
                continue;
            }
            if self.ends(character) || (character == '~' && fuzzy_allowed) {
                break;
            }
            // Only a star at the end is one.
            prefix =
                character == '*' && !text.is_empty() && self.features.has(SimpleFeatures::PREFIX);
            text.push(character);
            self.at += 1;
        }
        self.at = self.at.min(self.text.len());
        let fuzzy =
            (self.text.get(self.at) == Some(&'~') && fuzzy_allowed).then(|| Some(self.distance()));
        if text.is_empty() {
            return;
        }
        let pattern = (prefix && fuzzy.is_none()).then(|| {
            let literal = text.strip_suffix('*').unwrap_or(&text);
            let mut pattern = String::with_capacity(text.len());
            for character in literal.chars() {
                if matches!(character, '*' | '?' | '\\') {
                    pattern.push('\\');
                }
                pattern.push(character);
            }
            pattern + "*"
        });
        self.add(Clause::Word(Word {
            text,
            pattern,
            fuzzy,
            boost: 1.0,
        }));
    }

    fn add(&mut self, clause: Clause) {
        if (self.says_nothing)(&clause) {
            return;
        }
        let clause = if self.negated {
            // What is not wanted stands beside everything that is.
            let parts = vec![
                (Occurrence::MustNot, clause),
                (Occurrence::Should, Clause::All),
            ];
            Clause::Group { parts, boost: 1.0 }
        } else {
            clause
        };
        if self.parts.is_empty() {
            // How the first takes part is told by the operator behind it.
            self.parts.push((Occurrence::Should, clause));
            self.next = None;
            return;
        }
        let operator = self.next.take().unwrap_or(self.default);
        let occurrence = match operator {
            Operator::And => Occurrence::Must,
            Operator::Or => Occurrence::Should,
        };
        match self.joined_by {
            None => self.parts[0].0 = occurrence,
            Some(before) if before == operator => {}
            Some(_) => {
                self.nested += 1;
                self.too_deep |= self.nested > NESTED_MAX;
                let parts = std::mem::take(&mut self.parts);
                let left = Clause::Group { parts, boost: 1.0 };
                self.parts.push((occurrence, left));
            }
        }
        self.joined_by = Some(operator);
        self.parts.push((occurrence, clause));
    }
}

#[cfg(test)]
mod tests {
    use clew_platform::CancellationToken;

    use super::*;

    fn parts(text: &str) -> Vec<(Occurrence, Clause)> {
        let how = (Operator::Or, SimpleFeatures::default());
        let parsed = parse(text, how, &|_| false);
        let Ok(Clause::Group { parts, .. }) = parsed else {
            panic!("a text is a group");
        };
        parts
    }

    #[test]
    fn parentheses_close_those_that_are_open() {
        let inner = Clause::Group {
            parts: parts("a (b) c"),
            boost: 1.0,
        };
        assert_eq!(parts("(a (b) c)"), [(Occurrence::Should, inner)]);
        // One that is never closed is not there, wherever it stands.
        assert_eq!(parts("(a (b) c"), parts("a (b) c"));
        assert_eq!(parts("x ((a b) c"), parts("x (a b) c"));
        assert_eq!(parts("(a \\) b)").len(), 1);
    }

    #[test]
    fn what_says_nothing_is_not_there_and_leaves_its_operator_to_the_next() {
        let is_the = |clause: &Clause| matches!(clause, Clause::Word(word) if word.text == "the");
        let left = |text: &str| {
            let how = (Operator::Or, SimpleFeatures::default());
            match parse(text, how, &is_the) {
                Ok(Clause::Group { parts, .. }) => parts,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(left("a the + the b"), parts("a + b"));
        assert_eq!(left("a + (the) b | c"), parts("a + b | c"));
        assert_eq!(left("the + a b"), parts("a b"));
        assert_eq!(left("-the a -(the | the)"), parts("a"));
        // What was never written takes it along.
        assert_eq!(left("a + () b"), parts("a b"));
    }

    #[test]
    fn operators_that_change_without_end_are_refused() {
        let nested = |text: &str, times| {
            let text = text.repeat(times) + "c";
            let how = (Operator::Or, SimpleFeatures::default());
            parse(&text, how, &|_| false)
        };
        assert!(nested("a + b | ", NESTED_MAX / 2).is_ok());
        for text in ["a + b | ", "(a + b | ", "a b + "] {
            let refused = nested(text, 100_000);
            assert!(matches!(refused, Err(QueryError::TooDeep { .. })), "{text}");
        }
    }

    #[test]
    fn signs_that_are_never_closed_cost_no_more_than_others() {
        // Each of them once looked through all of the rest.
        for sign in ["(", "(a ", "\"a ~\\"] {
            let text = sign.repeat(200_000) + "a";
            assert!(!parts(&text).is_empty(), "{sign}");
        }
    }

    #[test]
    fn a_request_that_is_over_is_not_read_on() {
        let token = CancellationToken::new();
        token.cancel("by user request");
        let _entered = token.enter();
        let text = "a ".repeat(10_000);
        assert!(parts(&text).len() < 2_000);
        assert!(
            crate::query::query_string::lexer::tokens(&text)
                .unwrap()
                .len()
                < 2_000
        );
    }
}
