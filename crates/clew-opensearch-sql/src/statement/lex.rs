//! The words of SQL and PPL. Both languages have the same ones, so that both share one parser of
//! expressions; a pipe is only a symbol here.

use crate::error::SqlError;

/// One word of a statement, and the bytes of the text that it stands at.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// What a word is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TokenKind {
    /// A keyword or a name, with the dots of its path.
    Word(String),
    /// A name in backticks, which is no keyword.
    Name(String),
    /// A text in single or double quotes.
    Text(String),
    /// Digits, perhaps with a point and an exponent.
    Number(String),
    /// A length of time, as in `15m`.
    Interval(String),
    /// Punctuation and operators.
    Symbol(&'static str),
}

/// Longer symbols come before those that they begin with.
const SYMBOLS: [&str; 25] = [
    "<=", ">=", "<>", "!=", "==", "(", ")", "[", "]", ",", "+", "-", "*", "/", "%", "=", "<", ">",
    "^", "|", ";", "?", ".", "{", "}",
];

/// Reads all words of a statement.
///
/// # Errors
/// A quote that is not closed, or a character that no word begins with.
pub(crate) fn tokens(text: &str) -> Result<Vec<Token>, SqlError> {
    let mut lexer = Lexer { text, at: 0 };
    let mut tokens = Vec::new();
    while lexer.skip_blank() {
        let start = lexer.at;
        let kind = lexer.kind()?;
        tokens.push(Token {
            kind,
            start,
            end: lexer.at,
        });
    }
    Ok(tokens)
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn first(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Moves behind blanks and comments; false at the end.
    fn skip_blank(&mut self) -> bool {
        loop {
            let rest = self.rest();
            let blank = rest.len() - rest.trim_start().len();
            let comment = &rest[blank..];
            let length = if comment.starts_with("/*") {
                comment.find("*/").map_or(comment.len(), |end| end + 2)
            } else if comment.starts_with("-- ") {
                comment.find('\n').unwrap_or(comment.len())
            } else {
                0
            };
            self.at += blank + length;
            if length == 0 {
                return !self.rest().is_empty();
            }
        }
    }

    fn kind(&mut self) -> Result<TokenKind, SqlError> {
        let first = self.first().unwrap_or_default();
        if first.is_ascii_digit() {
            return Ok(self.number());
        }
        if first == '\'' || first == '"' {
            return self.quoted(first).map(TokenKind::Text);
        }
        if first == '`' || is_name(first) {
            return self.name();
        }
        let rest = self.rest();
        let Some(symbol) = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) else {
            return Err(SqlError::syntax(
                self.text,
                self.at,
                &first.to_string(),
                "an expression",
            ));
        };
        self.at += symbol.len();
        Ok(TokenKind::Symbol(symbol))
    }

    fn while_true(&mut self, wanted: impl Fn(char) -> bool) -> String {
        let taken: String = self.rest().chars().take_while(|c| wanted(*c)).collect();
        self.at += taken.len();
        taken
    }

    fn number(&mut self) -> TokenKind {
        let mut digits = self.while_true(|c| c.is_ascii_digit());
        let mut after = self.rest().chars();
        if after.next() == Some('.') && after.next().is_some_and(|c| c.is_ascii_digit()) {
            self.at += 1;
            digits.push('.');
            digits.push_str(&self.while_true(|c| c.is_ascii_digit()));
        }
        let rest = self.rest();
        let exponent = rest
            .strip_prefix(['e', 'E'])
            .map(|rest| rest.strip_prefix(['+', '-']).unwrap_or(rest));
        if exponent.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())) {
            let signed = rest.len() - exponent.map_or(0, str::len);
            digits.push_str(&rest[..signed]);
            self.at += signed;
            digits.push_str(&self.while_true(|c| c.is_ascii_digit()));
            return TokenKind::Number(digits);
        }
        let unit = self.while_true(|c| c.is_ascii_alphabetic());
        if unit.is_empty() {
            TokenKind::Number(digits)
        } else {
            TokenKind::Interval(digits + &unit)
        }
    }

    /// A quote inside is doubled, or behind a backslash.
    fn quoted(&mut self, quote: char) -> Result<String, SqlError> {
        let start = self.at;
        let mut text = String::new();
        let mut characters = self.text[start..].char_indices().skip(1).peekable();
        while let Some((at, character)) = characters.next() {
            if character == quote {
                if characters.next_if(|(_, next)| *next == quote).is_none() {
                    self.at = start + at + quote.len_utf8();
                    return Ok(text);
                }
                text.push(quote);
            } else if character == '\\'
                && let Some((_, escaped)) = characters.next_if(|(_, next)| *next == quote)
            {
                text.push(escaped);
            } else {
                text.push(character);
            }
        }
        Err(SqlError::syntax(
            self.text,
            start,
            &quote.to_string(),
            "a closing quote",
        ))
    }

    /// Parts between dots, each bare or in backticks.
    fn name(&mut self) -> Result<TokenKind, SqlError> {
        let mut name = String::new();
        let mut is_quoted = false;
        loop {
            if self.first() == Some('`') {
                is_quoted = true;
                name.push_str(&self.quoted('`')?);
            } else {
                name.push_str(&self.while_true(|c| is_name(c) || c.is_ascii_digit()));
            }
            let mut after = self.rest().chars();
            let goes_on = after.next() == Some('.')
                && after
                    .next()
                    .is_some_and(|c| c == '`' || is_name(c) || c.is_ascii_digit());
            if !goes_on {
                break;
            }
            self.at += 1;
            name.push('.');
        }
        Ok(if is_quoted {
            TokenKind::Name(name)
        } else {
            TokenKind::Word(name)
        })
    }
}

fn is_name(character: char) -> bool {
    character.is_alphabetic() || character == '_' || character == '@' || character == '$'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[TokenKind]) {
        let kinds: Vec<TokenKind> = tokens(text)
            .unwrap()
            .into_iter()
            .map(|token| token.kind)
            .collect();
        assert_eq!(kinds, expected, "{text}");
    }

    #[test]
    fn words_are_told_apart() {
        let word = |text: &str| TokenKind::Word(text.to_string());
        let number = |text: &str| TokenKind::Number(text.to_string());
        check("a.b  @t", &[word("a.b"), word("@t")]);
        check("`a b`.c", &[TokenKind::Name("a b.c".into())]);
        check(
            "'it''s' \"x\\\"y\"",
            &[
                TokenKind::Text("it's".into()),
                TokenKind::Text("x\"y".into()),
            ],
        );
        check(
            "1.5 2e3 15m",
            &[
                number("1.5"),
                number("2e3"),
                TokenKind::Interval("15m".into()),
            ],
        );
        check(
            "a<=b|c",
            &[
                word("a"),
                TokenKind::Symbol("<="),
                word("b"),
                TokenKind::Symbol("|"),
                word("c"),
            ],
        );
        check("a /* b */ -- c\n d", &[word("a"), word("d")]);
    }

    #[test]
    fn what_is_no_word_is_refused() {
        for text in ["'open", "`open", "a # b", "\u{7f}"] {
            assert!(tokens(text).is_err(), "{text}");
        }
    }
}
