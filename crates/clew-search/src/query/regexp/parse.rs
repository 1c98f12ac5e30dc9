//! From text to an expression, by recursive descent.

use clew_query::RegexpSyntax;

use super::expression::{Expression, Expressions, TooComplex, other_than};

/// How deep parentheses may be nested.
const DEPTH_MAX: usize = 100;
/// How often something may be repeated.
const REPEATS_MAX: usize = 1000;

/// How many digits an end of an interval may have, zeros in front included: they are gone through one within the other.
const INTERVAL_DIGITS_MAX: usize = 100;

/// Why a text is no expression.
#[derive(Debug)]
pub(super) enum ParseError {
    Wrong(String),
    TooComplex,
}

impl From<TooComplex> for ParseError {
    fn from(TooComplex: TooComplex) -> Self {
        ParseError::TooComplex
    }
}

struct Parser<'a> {
    text: &'a str,
    made: &'a mut Expressions,
    rest: std::iter::Peekable<std::vec::IntoIter<char>>,
    syntax: RegexpSyntax,
    ignore_case: bool,
    depth: usize,
}

pub(super) fn parse(
    made: &mut Expressions,
    text: &str,
    syntax: RegexpSyntax,
    ignore_case: bool,
) -> Result<Expression, ParseError> {
    let characters: Vec<char> = text.chars().collect();
    let mut parser = Parser {
        text,
        made,
        rest: characters.into_iter().peekable(),
        syntax,
        ignore_case,
        depth: 0,
    };
    if text.is_empty() {
        return Ok(Expression::EMPTY);
    }
    let expression = parser.either()?;
    match parser.rest.next() {
        None => Ok(expression),
        Some(_) => Err(parser.wrong("end-of-string expected")),
    }
}

impl Parser<'_> {
    /// In Lucene's words, with the place that was reached.
    fn wrong(&self, what: &str) -> ParseError {
        let left: usize = self.rest.clone().map(char::len_utf16).sum();
        let place = self.text.encode_utf16().count() - left;
        ParseError::Wrong(format!("{what} at position {place}"))
    }

    fn at_its_end(&self) -> ParseError {
        ParseError::Wrong("unexpected end-of-string".to_string())
    }

    fn enter(&mut self) -> Result<(), ParseError> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(self.wrong("parentheses are nested too deeply"));
        }
        Ok(())
    }

    fn take(&mut self, sign: char) -> bool {
        self.rest.next_if_eq(&sign).is_some()
    }

    fn take_sign(&mut self, sign: char, feature: u32) -> bool {
        self.syntax.has(feature) && self.take(sign)
    }

    fn either(&mut self) -> Result<Expression, ParseError> {
        self.enter()?;
        let mut parts = vec![self.both()?];
        while self.take('|') {
            parts.push(self.both()?);
        }
        self.depth -= 1;
        Ok(self.made.either(parts)?)
    }

    fn both(&mut self) -> Result<Expression, ParseError> {
        let mut parts = vec![self.row()?];
        while self.take_sign('&', RegexpSyntax::INTERSECTION) {
            parts.push(self.row()?);
        }
        Ok(self.made.both(parts)?)
    }

    fn row(&mut self) -> Result<Expression, ParseError> {
        let mut parts = vec![self.repeated()?];
        loop {
            match self.rest.peek() {
                None | Some(')' | '|') => break,
                Some('&') if self.syntax.has(RegexpSyntax::INTERSECTION) => break,
                Some(_) => parts.push(self.repeated()?),
            }
        }
        self.joined(parts)
    }

    /// One behind the other.
    fn joined(&mut self, parts: Vec<Expression>) -> Result<Expression, ParseError> {
        let mut joined = Expression::EMPTY;
        for part in parts.into_iter().rev() {
            joined = self.made.then(part, joined)?;
        }
        Ok(joined)
    }

    fn repeated(&mut self) -> Result<Expression, ParseError> {
        let mut part = self.not()?;
        while let Some(sign) = self.rest.next_if(|next| "?*+{".contains(*next)) {
            part = match sign {
                '?' => self.made.either(vec![Expression::EMPTY, part])?,
                '*' => self.made.any(part)?,
                '+' => self.made.repeated(part, 1, None)?,
                _ => {
                    let least = self.count()?;
                    let most = match self.take(',') {
                        false => Some(least),
                        true if self.rest.peek() == Some(&'}') => None,
                        true => Some(self.count()?),
                    };
                    if !self.take('}') {
                        return Err(self.wrong("expected '}'"));
                    }
                    if most.is_some_and(|most| most < least) {
                        return Err(self.wrong("illegal repetition range"));
                    }
                    self.made.repeated(part, least, most)?
                }
            };
        }
        Ok(part)
    }

    fn digits(&mut self) -> String {
        let mut digits = String::new();
        while let Some(digit) = self.rest.next_if(char::is_ascii_digit) {
            digits.push(digit);
        }
        digits
    }

    fn count(&mut self) -> Result<usize, ParseError> {
        let digits = self.digits();
        match digits.parse() {
            Ok(count) if count <= REPEATS_MAX => Ok(count),
            Ok(_) => Err(self.wrong("too many repetitions")),
            Err(_) => Err(self.wrong("integer expected")),
        }
    }

    fn not(&mut self) -> Result<Expression, ParseError> {
        if self.take_sign('~', RegexpSyntax::COMPLEMENT) {
            self.enter()?;
            let inner = self.not()?;
            self.depth -= 1;
            return Ok(self.made.not(inner)?);
        }
        if self.take('[') {
            return self.class();
        }
        self.simple()
    }

    fn class(&mut self) -> Result<Expression, ParseError> {
        let negated = self.take('^');
        let mut ranges = Vec::new();
        if self.rest.peek().is_none() {
            return Err(self.at_its_end());
        }
        while self.rest.peek().is_some_and(|next| *next != ']') {
            if let Some(more) = self.shorthand() {
                ranges.extend(more);
                continue;
            }
            let low = self.literal()?;
            if !self.take('-') {
                ranges.extend(self.cases(low));
            } else if self.rest.peek() == Some(&']') {
                ranges.extend([(low.into(), low.into()), ('-'.into(), '-'.into())]);
            } else {
                let high = self.literal()?;
                if high < low {
                    return Err(self.wrong("invalid range in a class of characters"));
                }
                ranges.push((low.into(), high.into()));
            }
        }
        if !self.take(']') {
            return Err(self.wrong("expected ']'"));
        }
        if ranges.is_empty() {
            return Err(self.wrong("empty class of characters"));
        }
        Ok(self
            .made
            .one(if negated { other_than(ranges) } else { ranges })?)
    }

    /// A character, and what is the same when case does not count.
    fn cases(&self, character: char) -> Vec<(u32, u32)> {
        let mut same = vec![(character.into(), character.into())];
        if self.ignore_case && character.is_ascii_alphabetic() {
            for other in [
                character.to_ascii_lowercase(),
                character.to_ascii_uppercase(),
            ] {
                same.push((other.into(), other.into()));
            }
        }
        same
    }

    /// `\d` and the like.
    fn shorthand(&mut self) -> Option<Vec<(u32, u32)>> {
        let mut ahead = self.rest.clone();
        if ahead.next() != Some('\\') {
            return None;
        }
        let range = |low: char, high: char| (u32::from(low), u32::from(high));
        let letter = ahead.next()?;
        let ranges = match letter.to_ascii_lowercase() {
            'd' => vec![range('0', '9')],
            's' => vec![range('\t', '\n'), range('\r', '\r'), range(' ', ' ')],
            'w' => vec![
                range('0', '9'),
                range('A', 'Z'),
                range('_', '_'),
                range('a', 'z'),
            ],
            _ => return None,
        };
        self.rest = ahead;
        if letter.is_ascii_lowercase() {
            return Some(ranges);
        }
        Some(other_than(ranges))
    }

    /// A character, maybe behind a backslash, behind which no letter stands for itself.
    fn literal(&mut self) -> Result<char, ParseError> {
        let escaped = self.take('\\');
        let next = self.rest.next().ok_or_else(|| self.at_its_end())?;
        if escaped && next.is_ascii_alphabetic() {
            let reason = format!("invalid character class \\{}", u32::from(next));
            return Err(ParseError::Wrong(reason));
        }
        Ok(next)
    }

    fn simple(&mut self) -> Result<Expression, ParseError> {
        if self.take('.') {
            return Ok(Expression::ANY_CHARACTER);
        }
        if self.take_sign('#', RegexpSyntax::EMPTY) {
            return Ok(Expression::NEVER);
        }
        if self.take_sign('@', RegexpSyntax::ANY_TEXT) {
            return Ok(Expression::ANY_TEXT);
        }
        if self.take('"') {
            return self.quoted();
        }
        if self.take('(') {
            if self.take(')') {
                return Ok(Expression::EMPTY);
            }
            let inner = self.either()?;
            if !self.take(')') {
                return Err(self.wrong("expected ')'"));
            }
            return Ok(inner);
        }
        if self.take_sign('<', RegexpSyntax::INTERVAL) {
            return self.interval();
        }
        if let Some(ranges) = self.shorthand() {
            return Ok(self.made.one(ranges)?);
        }
        // A sign that stands behind nothing that it could be about means itself, as in Lucene.
        let character = self.literal()?;
        let cases = self.cases(character);
        Ok(self.made.one(cases)?)
    }

    fn quoted(&mut self) -> Result<Expression, ParseError> {
        let mut parts = Vec::new();
        loop {
            match self.rest.next() {
                None => return Err(self.wrong("expected '\"'")),
                Some('"') => break,
                Some(character) => {
                    let cases = self.cases(character);
                    parts.push(self.made.one(cases)?);
                }
            }
        }
        self.joined(parts)
    }

    /// `<low-high>`: whole numbers. Ends with the same number of digits want that number of digits.
    fn interval(&mut self) -> Result<Expression, ParseError> {
        let low = self.digits();
        let is_range = self.take('-');
        let high = self.digits();
        if !is_range || low.is_empty() || high.is_empty() || !self.take('>') {
            let is_closed = self.rest.any(|next| next == '>');
            return Err(self.wrong(match is_closed {
                true => "interval syntax error",
                false => "expected '>'",
            }));
        }
        let fixed = low.len() == high.len();
        let parsed = |digits: &str| match digits.len() {
            ..=INTERVAL_DIGITS_MAX => digits.parse::<u32>().ok().map(u64::from),
            _ => None,
        };
        let (Some(a), Some(b)) = (parsed(&low), parsed(&high)) else {
            return Err(self.wrong("illegal interval"));
        };
        let (low_number, high_number) = (a.min(b), a.max(b));
        if fixed {
            let width = low.len();
            let digits = |number: u64| format!("{number:0width$}").into_bytes();
            let (low, high) = (digits(low_number), digits(high_number));
            return Ok(between(self.made, &low, &high)?);
        }
        let mut parts = Vec::new();
        let mut from = low_number;
        while from <= high_number {
            let digits = from.to_string();
            let last = "9".repeat(digits.len()).parse().unwrap_or(u64::MAX);
            let to = high_number.min(last);
            let to_digits = to.to_string();
            parts.push(between(self.made, digits.as_bytes(), to_digits.as_bytes())?);
            from = to + 1;
        }
        let zero = self.made.character('0')?;
        let zeros = self.made.any(zero)?;
        let numbers = self.made.either(parts)?;
        Ok(self.made.then(zeros, numbers)?)
    }
}

/// Numbers of as many digits as both ends have.
fn between(made: &mut Expressions, low: &[u8], high: &[u8]) -> Result<Expression, TooComplex> {
    let (Some((first, low)), Some((last, high))) = (low.split_first(), high.split_first()) else {
        return Ok(Expression::EMPTY);
    };
    let digits =
        |made: &mut Expressions, from: u8, to: u8| made.one(vec![(from.into(), to.into())]);
    if first == last {
        let rest = between(made, low, high)?;
        let digit = digits(made, *first, *first)?;
        return made.then(digit, rest);
    }
    let (zeros, nines) = (vec![b'0'; low.len()], vec![b'9'; low.len()]);
    let mut branches = vec![
        ((*first, *first), between(made, low, &nines)?),
        ((*last, *last), between(made, &zeros, high)?),
    ];
    if last - first > 1 {
        branches.push(((first + 1, last - 1), between(made, &zeros, &nines)?));
    }
    let mut parts = Vec::with_capacity(branches.len());
    for ((from, to), rest) in branches {
        let digit = digits(made, from, to)?;
        parts.push(made.then(digit, rest)?);
    }
    made.either(parts)
}
