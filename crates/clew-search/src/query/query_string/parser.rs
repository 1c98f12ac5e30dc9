//! Clauses of the strict query language, by recursive descent.
//!
//! AND, OR and NOT are not operators with precedence: as in Lucene's classic language they mark
//! the clauses beside them as required, optional or forbidden.

use clew_query::Operator;

use super::lexer::Token;
use super::{Clause, Occurrence, Word};

/// How deep parentheses may be nested.
const DEPTH_MAX: usize = 20;

struct Parser {
    tokens: std::vec::IntoIter<Token>,
    default: Operator,
    depth: usize,
}

pub(super) fn parse(tokens: Vec<Token>, default: Operator) -> Result<Clause, String> {
    let mut parser = Parser {
        tokens: tokens.into_iter(),
        default,
        depth: 0,
    };
    let clause = parser.group()?;
    match parser.tokens.next() {
        None => Ok(clause),
        Some(token) => Err(format!("unexpected {token:?}")),
    }
}

impl Parser {
    fn next_if(&mut self, wanted: impl Fn(&Token) -> bool) -> Option<Token> {
        self.tokens
            .as_slice()
            .first()
            .filter(|token| wanted(token))?;
        self.tokens.next()
    }

    fn take(&mut self, token: &Token) -> bool {
        self.next_if(|next| next == token).is_some()
    }

    fn group(&mut self) -> Result<Clause, String> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(format!("more than {DEPTH_MAX} nested parentheses"));
        }
        let mut parts: Vec<(Occurrence, Clause)> = Vec::new();
        let mut is_signed = false;
        while !matches!(self.tokens.as_slice().first(), None | Some(Token::Close)) {
            if let Some(words) = self.words_in_a_row() {
                let occurrence = match self.default {
                    Operator::And => Occurrence::Must,
                    Operator::Or => Occurrence::Should,
                };
                parts.push((occurrence, Clause::Words(words)));
                continue;
            }
            let (mut and, mut or) = (false, false);
            if self.take(&Token::And) {
                and = true;
            } else if self.take(&Token::Or) {
                or = true;
            }
            if (and || or) && parts.is_empty() {
                return Err("an operator needs a clause before it".to_string());
            }
            let mut sign = None;
            while let Some(token) =
                self.next_if(|token| matches!(token, Token::Plus | Token::Minus | Token::Not))
            {
                sign = Some(match token {
                    Token::Plus => Occurrence::Must,
                    _ => Occurrence::MustNot,
                });
            }
            is_signed |= sign.is_some();
            let clause = self.clause()?;
            // The clause before takes part in the operator too.
            if let Some((before, _)) = parts.last_mut()
                && *before != Occurrence::MustNot
            {
                if and {
                    *before = Occurrence::Must;
                } else if or && self.default == Operator::And {
                    *before = Occurrence::Should;
                }
            }
            let occurrence = match (sign, self.default) {
                (Some(Occurrence::MustNot), _) => Occurrence::MustNot,
                // Behind OR a plus says nothing where every clause has one.
                (_, Operator::And) if or => Occurrence::Should,
                (_, Operator::And) => Occurrence::Must,
                (Some(sign), Operator::Or) => sign,
                (None, Operator::Or) if and => Occurrence::Must,
                (None, Operator::Or) => Occurrence::Should,
            };
            parts.push((occurrence, clause));
        }
        self.depth -= 1;
        // One clause that nothing is said about is not joined with anything.
        if let [(occurrence, clause)] = &mut parts[..]
            && !is_signed
            && !matches!(clause, Clause::Words(_))
        {
            *occurrence = Occurrence::Should;
        }
        Ok(Clause::Group { parts, boost: 1.0 })
    }

    /// At least two plain words, up to one that something belongs to: a boost, an operator.
    fn words_in_a_row(&mut self) -> Option<Vec<String>> {
        let plain = |token: &Token| match token {
            Token::Word {
                text,
                pattern: None,
            } => Some(text.clone()),
            _ => None,
        };
        let rest = self.tokens.as_slice();
        let mut words: Vec<String> = rest.iter().map_while(plain).collect();
        let bound = matches!(
            rest.get(words.len()),
            Some(Token::And | Token::Or | Token::Tilde(_) | Token::Boost(_))
        );
        if bound {
            words.pop();
        }
        if words.len() < 2 {
            return None;
        }
        self.tokens.nth(words.len() - 1);
        Some(words)
    }

    /// Clauses behind a parenthesis, up to the one that closes it.
    fn parenthesis(&mut self) -> Result<Clause, String> {
        if self.take(&Token::Close) {
            return Err("a parenthesis holds nothing".to_string());
        }
        let group = self.group()?;
        if !self.take(&Token::Close) {
            return Err("a parenthesis is not closed".to_string());
        }
        let boost = self.boost();
        let Clause::Group { parts, .. } = group else {
            return Ok(group);
        };
        Ok(Clause::Group { parts, boost })
    }

    fn clause(&mut self) -> Result<Clause, String> {
        let token = self.tokens.next().ok_or("a clause is missing at the end")?;
        match token {
            Token::Field(name) => {
                // Looked at first: a text of fields alone would go as deep as it is long.
                if matches!(self.tokens.as_slice().first(), Some(Token::Field(_))) {
                    return Err(format!("field [{name}] needs a value"));
                }
                let inner = self.clause()?;
                Ok(Clause::Field {
                    name,
                    inner: Box::new(inner),
                })
            }
            Token::Open => self.parenthesis(),
            Token::Word { text, pattern } => {
                let mut boost = self.boost();
                let fuzzy = self.tilde();
                if fuzzy.is_some() {
                    boost *= self.boost();
                }
                Ok(Clause::Word(Word {
                    text,
                    pattern,
                    fuzzy,
                    boost,
                }))
            }
            Token::Phrase(text) => {
                let slop = self
                    .tilde()
                    .flatten()
                    .map_or(Ok(None), |text| slop_of(&text))?;
                let boost = self.boost();
                Ok(Clause::Phrase { text, slop, boost })
            }
            Token::Range {
                low,
                high,
                low_inclusive,
                high_inclusive,
            } => Ok(Clause::Range {
                low: low.map(|text| (text, low_inclusive)),
                high: high.map(|text| (text, high_inclusive)),
                boost: self.boost(),
            }),
            Token::Compare(operator, text) => Ok(self.comparison(operator, text)),
            Token::Regexp(pattern) => Ok(Clause::Regexp {
                pattern,
                boost: self.boost(),
            }),
            other => Err(format!("unexpected {other:?}")),
        }
    }

    fn comparison(&mut self, operator: &str, text: String) -> Clause {
        let end = Some((text, operator.ends_with('=')));
        let (low, high) = if operator.starts_with('>') {
            (end, None)
        } else {
            (None, end)
        };
        Clause::Range {
            low,
            high,
            boost: self.boost(),
        }
    }

    fn boost(&mut self) -> f32 {
        match self.next_if(|token| matches!(token, Token::Boost(_))) {
            Some(Token::Boost(boost)) => boost,
            _ => 1.0,
        }
    }

    fn tilde(&mut self) -> Option<Option<String>> {
        match self.next_if(|token| matches!(token, Token::Tilde(_))) {
            Some(Token::Tilde(number)) => Some((!number.is_empty()).then_some(number)),
            _ => None,
        }
    }
}

/// How far words of a phrase may be moved: a number, whose fraction is cut off. What is none is passed over.
fn slop_of(text: &str) -> Result<Option<u32>, String> {
    /// More is no more.
    const SLOP_MAX: f32 = 2_147_483_648.0;
    let Ok(number) = text.parse::<f32>() else {
        return Ok(None);
    };
    if number <= -1.0 {
        return Err(format!("Slop must be >= 0, got {number}"));
    }
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the conversion saturates"
    )]
    let slop = number.min(SLOP_MAX) as u32;
    Ok(Some(slop))
}
