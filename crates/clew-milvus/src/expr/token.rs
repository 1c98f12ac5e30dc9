//! The words of an expression.

use std::collections::VecDeque;

use clew_platform::Pace;

use super::ExprError;

/// Longest expression, in bytes: long lists of keys are usual.
pub(super) const BYTES_MAX: usize = 8 << 20;

/// One word.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Integer(i64),
    Float(f64),
    Text(String),
    /// A name, or a word of the language.
    Name(String),
    /// `{name}`: a value that comes beside the expression.
    Template(String),
    Symbol(&'static str),
    End,
}

/// What a backslash says something of in a text.
const ESCAPED: [char; 22] = [
    '\'', '"', '\\', '?', 'a', 'b', 'f', 'n', 'r', 't', 'v', 'x', 'u', 'U', '0', '1', '2', '3',
    '4', '5', '6', '7',
];

/// Symbols, longer ones first.
const SYMBOLS: [&str; 33] = [
    "**", "==", "!=", "<=", ">=", "<<", ">>", "&&", "||", "=~", "!~", "+", "-", "*", "/", "%", "<",
    ">", "!", "~", "&", "^", "|", "(", ")", "[", "]", ",", "=", ".", "{", "}", "$",
];

/// The words of an expression, one after the other, each with the byte where it begins. Few are there at a time: a list of keys has
/// hundreds of thousands.
pub(super) struct Words<'t> {
    reader: Reader<'t>,
    /// The one before the next, the next one, and those behind it.
    window: VecDeque<(usize, Token)>,
    next: usize,
}

/// So many words are there from the next one on.
const AHEAD: usize = 3;

impl<'t> Words<'t> {
    /// Reads all of them once, so that what follows is about how they are put together.
    pub(super) fn new(text: &'t str) -> Result<Self, ExprError> {
        if text.len() > BYTES_MAX {
            return Err(ExprError::at(
                text.len(),
                format!("the expression is longer than {BYTES_MAX} bytes"),
            ));
        }
        let mut reader = Reader::new(text);
        while reader.word()?.1 != Token::End {}
        let mut words = Words {
            reader: Reader::new(text),
            window: VecDeque::with_capacity(AHEAD + 1),
            next: 0,
        };
        words.fill();
        Ok(words)
    }

    fn fill(&mut self) {
        while self.window.len() < self.next + AHEAD {
            let end = (self.reader.text.len(), Token::End);
            self.window.push_back(self.reader.word().unwrap_or(end));
        }
    }

    /// The word that comes so many behind the next one.
    pub(super) fn ahead(&self, by: usize) -> &Token {
        let found = self.window.get(self.next + by);
        found.map_or(&Token::End, |(_, token)| token)
    }

    /// The byte where the next one begins.
    pub(super) fn at(&self) -> usize {
        let next = self.window.get(self.next);
        next.map_or(self.reader.text.len(), |(at, _)| *at)
    }

    /// Goes on behind some.
    pub(super) fn skip(&mut self, count: usize) {
        self.next += count;
        self.window.drain(..self.next.saturating_sub(1));
        self.next = self.next.min(1);
        self.fill();
    }

    /// The next one, behind which it goes on.
    pub(super) fn take(&mut self) -> Token {
        let next = self.window.get_mut(self.next);
        let token = next.map_or(Token::End, |(_, token)| {
            std::mem::replace(token, Token::End)
        });
        self.skip(1);
        token
    }

    /// Goes back to where the one that was taken last begins, as an error tells it.
    pub(super) fn back(&mut self) {
        self.next = self.next.saturating_sub(1);
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    pace: Pace,
}

impl<'t> Reader<'t> {
    fn new(text: &'t str) -> Self {
        Reader {
            text,
            at: 0,
            pace: Pace::default(),
        }
    }

    /// The next word; the end, too, once the request is over, for which whoever reads the expression asks.
    fn word(&mut self) -> Result<(usize, Token), ExprError> {
        if self.pace.is_over() {
            return Ok((self.at, Token::End));
        }
        self.skip_space();
        Ok((self.at, self.token()?))
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn skip_space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn take_while(&mut self, keep: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let end = rest.find(|c| !keep(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn token(&mut self) -> Result<Token, ExprError> {
        let Some(first) = self.peek() else {
            return Ok(Token::End);
        };
        let second = self.rest().chars().nth(1);
        match first {
            '"' | '\'' => self.quoted(false),
            'r' | 'R' if matches!(second, Some('"' | '\'')) => {
                self.at += 1;
                self.quoted(true)
            }
            '0'..='9' => self.number(),
            '.' if second.is_some_and(|c| c.is_ascii_digit()) => self.number(),
            '{' => self.template(),
            '$' if self.rest().starts_with("$meta") => {
                self.at += "$meta".len();
                Ok(Token::Name("$meta".to_string()))
            }
            first if first == '_' || first.is_ascii_alphabetic() => {
                let name = self.take_while(|c| c == '_' || c.is_ascii_alphanumeric());
                Ok(Token::Name(name.to_string()))
            }
            _ => self.symbol(first),
        }
    }

    fn symbol(&mut self, first: char) -> Result<Token, ExprError> {
        let rest = self.rest();
        let symbol = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol));
        let symbol = symbol.ok_or_else(|| {
            ExprError::at(self.at, format!("token recognition error at: '{first}'"))
        })?;
        self.at += symbol.len();
        Ok(Token::Symbol(symbol))
    }

    fn template(&mut self) -> Result<Token, ExprError> {
        let start = self.at;
        self.at += 1;
        self.skip_space();
        let name = self.take_while(|c| c == '_' || c.is_ascii_alphanumeric());
        self.skip_space();
        if name.is_empty() || self.peek() != Some('}') {
            return Err(ExprError::at(
                start,
                "expected the name of a template value as in {name}",
            ));
        }
        self.at += 1;
        Ok(Token::Template(name.to_string()))
    }

    /// A text in quotes; in a raw one a backslash is a backslash.
    fn quoted(&mut self, raw: bool) -> Result<Token, ExprError> {
        let start = self.at;
        let Some(quote) = self.peek() else {
            return Ok(Token::End);
        };
        self.at += 1;
        let mut text = String::new();
        loop {
            let Some(next) = self.peek() else {
                return Err(ExprError::at(
                    start,
                    "the text has no end: a quote is missing",
                ));
            };
            self.at += next.len_utf8();
            match next {
                end if end == quote => return Ok(Token::Text(text)),
                '\\' if raw => {
                    text.push('\\');
                    // What is escaped does not end it and escapes nothing: both stay.
                    if let Some(escaped) = self.peek() {
                        text.push(escaped);
                        self.at += escaped.len_utf8();
                    }
                }
                '\\' => {
                    // Of other letters the backslash stays, too: regular expressions and patterns have their own escapes.
                    if self.peek().is_some_and(|next| !ESCAPED.contains(&next)) {
                        text.push('\\');
                    }
                    text.push(self.escaped()?);
                }
                other => text.push(other),
            }
        }
    }

    fn escaped(&mut self) -> Result<char, ExprError> {
        let start = self.at;
        let Some(next) = self.peek() else {
            return Err(ExprError::at(start, "a backslash has nothing behind it"));
        };
        self.at += next.len_utf8();
        Ok(match next {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'a' => '\x07',
            'b' => '\x08',
            'f' => '\x0c',
            'v' => '\x0b',
            'x' => self.code(2, 16)?,
            'u' => self.code(4, 16)?,
            'U' => self.code(8, 16)?,
            '0'..='7' => {
                self.at -= 1;
                let digits = self
                    .rest()
                    .chars()
                    .take(3)
                    .take_while(|c| c.is_digit(8))
                    .count();
                self.code(digits, 8)?
            }
            other => other,
        })
    }

    fn code(&mut self, digits: usize, radix: u32) -> Result<char, ExprError> {
        let start = self.at;
        let number = self
            .rest()
            .get(..digits)
            .and_then(|digits| u32::from_str_radix(digits, radix).ok());
        let code = number.and_then(char::from_u32);
        let code =
            code.ok_or_else(|| ExprError::at(start, "an escape in a text is no character"))?;
        self.at += digits;
        Ok(code)
    }

    fn number(&mut self) -> Result<Token, ExprError> {
        let start = self.at;
        let rest = self.rest();
        for (prefix, radix) in [("0x", 16), ("0X", 16), ("0b", 2), ("0B", 2)] {
            if rest.starts_with(prefix) {
                self.at += 2;
                let digits = self.take_while(|c| c.is_ascii_alphanumeric());
                let number = i64::from_str_radix(digits, radix);
                return number
                    .map(Token::Integer)
                    .map_err(|_| ExprError::at(start, format!("{prefix}{digits} is no number")));
            }
        }
        self.take_while(|c| c.is_ascii_digit());
        let mut is_float = false;
        if self.peek() == Some('.') {
            is_float = true;
            self.at += 1;
            self.take_while(|c| c.is_ascii_digit());
        }
        if matches!(self.peek(), Some('e' | 'E')) {
            let signed = matches!(self.rest().chars().nth(1), Some('+' | '-'));
            let digit = self.rest().chars().nth(1 + usize::from(signed));
            if digit.is_some_and(|c| c.is_ascii_digit()) {
                is_float = true;
                self.at += 1 + usize::from(signed);
                self.take_while(|c| c.is_ascii_digit());
            }
        }
        let digits = &self.text[start..self.at];
        let octal = digits.len() > 1 && digits.starts_with('0') && !is_float;
        let integer = match octal {
            true => i64::from_str_radix(&digits[1..], 8).ok(),
            false => digits.parse().ok(),
        };
        if !is_float && let Some(integer) = integer {
            return Ok(Token::Integer(integer));
        }
        // Whole numbers that are too large for 64 bits are taken as far as they can be.
        let float: Option<f64> = digits.parse().ok().filter(|float: &f64| float.is_finite());
        float
            .map(Token::Float)
            .ok_or_else(|| ExprError::at(start, format!("{digits} is no number")))
    }
}
