//! From text to an expression, by recursive descent.

use super::RegexpSyntax;
use super::expression::Expression;

/// How deep parentheses may be nested.
const DEPTH_MAX: usize = 100;
/// How often something may be repeated.
const REPEATS_MAX: usize = 1000;

struct Parser<'a> {
    text: &'a str,
    rest: std::iter::Peekable<std::vec::IntoIter<char>>,
    syntax: RegexpSyntax,
    ignore_case: bool,
    depth: usize,
}

pub(super) fn parse(
    text: &str,
    syntax: RegexpSyntax,
    ignore_case: bool,
) -> Result<Expression, String> {
    let characters: Vec<char> = text.chars().collect();
    let mut parser = Parser {
        text,
        rest: characters.into_iter().peekable(),
        syntax,
        ignore_case,
        depth: 0,
    };
    if text.is_empty() {
        return Ok(Expression::Empty);
    }
    let expression = parser.either()?;
    match parser.rest.next() {
        None => Ok(expression),
        Some(_) => Err(parser.wrong("end-of-string expected")),
    }
}

impl Parser<'_> {
    fn wrong(&self, what: &str) -> String {
        format!("{what} in [{}]", self.text)
    }

    fn take(&mut self, sign: char) -> bool {
        self.rest.next_if_eq(&sign).is_some()
    }

    fn take_sign(&mut self, sign: char, feature: u32) -> bool {
        self.syntax.has(feature) && self.take(sign)
    }

    fn either(&mut self) -> Result<Expression, String> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(self.wrong("parentheses are nested too deeply"));
        }
        let mut parts = vec![self.both()?];
        while self.take('|') {
            parts.push(self.both()?);
        }
        self.depth -= 1;
        Ok(Expression::either(parts))
    }

    fn both(&mut self) -> Result<Expression, String> {
        let mut parts = vec![self.row()?];
        while self.take_sign('&', RegexpSyntax::INTERSECTION) {
            parts.push(self.row()?);
        }
        Ok(Expression::both(parts))
    }

    fn row(&mut self) -> Result<Expression, String> {
        let mut parts = vec![self.repeated()?];
        loop {
            match self.rest.peek() {
                None | Some(')' | '|') => break,
                Some('&') if self.syntax.has(RegexpSyntax::INTERSECTION) => break,
                Some(_) => parts.push(self.repeated()?),
            }
        }
        let joined = parts.into_iter().rev();
        Ok(joined.fold(Expression::Empty, |after, part| part.then(after)))
    }

    fn repeated(&mut self) -> Result<Expression, String> {
        let mut part = self.not()?;
        while let Some(sign) = self.rest.next_if(|next| "?*+{".contains(*next)) {
            part = match sign {
                '?' => Expression::either(vec![Expression::Empty, part]),
                '*' => part.any(),
                '+' => part.repeated(1, None),
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
                    part.repeated(least, most)
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

    fn count(&mut self) -> Result<usize, String> {
        let digits = self.digits();
        match digits.parse() {
            Ok(count) if count <= REPEATS_MAX => Ok(count),
            Ok(_) => Err(self.wrong("too many repetitions")),
            Err(_) => Err(self.wrong("integer expected")),
        }
    }

    fn not(&mut self) -> Result<Expression, String> {
        if self.take_sign('~', RegexpSyntax::COMPLEMENT) {
            return Ok(self.not()?.not());
        }
        if self.take('[') {
            return self.class();
        }
        self.simple()
    }

    fn class(&mut self) -> Result<Expression, String> {
        let negated = self.take('^');
        let mut ranges = Vec::new();
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
        Ok(if negated {
            Expression::other_than(ranges)
        } else {
            Expression::one(ranges)
        })
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
        match Expression::other_than(ranges) {
            Expression::One(others) => Some(others.to_vec()),
            _ => None,
        }
    }

    fn literal(&mut self) -> Result<char, String> {
        self.take('\\');
        let next = self.rest.next();
        next.ok_or_else(|| self.wrong("unexpected end-of-string"))
    }

    fn simple(&mut self) -> Result<Expression, String> {
        if self.take('.') {
            return Ok(Expression::any_character());
        }
        if self.take_sign('#', RegexpSyntax::EMPTY) {
            return Ok(Expression::never());
        }
        if self.take_sign('@', RegexpSyntax::ANY_TEXT) {
            return Ok(Expression::any_text());
        }
        if self.take('"') {
            return self.quoted();
        }
        if self.take('(') {
            if self.take(')') {
                return Ok(Expression::Empty);
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
            return Ok(Expression::one(ranges));
        }
        let sign = self.rest.peek().copied();
        if let Some(sign) = sign.filter(|next| "?*+{)|".contains(*next)) {
            return Err(self.wrong(&format!("unexpected [{sign}]")));
        }
        let character = self.literal()?;
        Ok(Expression::one(self.cases(character)))
    }

    fn quoted(&mut self) -> Result<Expression, String> {
        let mut parts = Vec::new();
        loop {
            match self.rest.next() {
                None => return Err(self.wrong("expected '\"'")),
                Some('"') => break,
                Some(character) => parts.push(Expression::one(self.cases(character))),
            }
        }
        let joined = parts.into_iter().rev();
        Ok(joined.fold(Expression::Empty, |after, part| part.then(after)))
    }

    /// `<low-high>`: whole numbers. Ends with the same number of digits want that number of digits.
    fn interval(&mut self) -> Result<Expression, String> {
        let low = self.digits();
        let is_range = self.take('-');
        let high = self.digits();
        if !is_range || low.is_empty() || high.is_empty() || !self.take('>') {
            return Err(self.wrong("expected an interval like <1-10>"));
        }
        let fixed = low.len() == high.len();
        let parsed = |digits: &str| -> Option<u64> { Some(u64::from(digits.parse::<u32>().ok()?)) };
        let (Some(a), Some(b)) = (parsed(&low), parsed(&high)) else {
            return Err(self.wrong("illegal interval"));
        };
        let (low_number, high_number) = (a.min(b), a.max(b));
        if fixed {
            let width = low.len();
            let digits = |number: u64| format!("{number:0width$}").into_bytes();
            return Ok(between(&digits(low_number), &digits(high_number)));
        }
        let mut parts = Vec::new();
        let mut from = low_number;
        while from <= high_number {
            let digits = from.to_string();
            let last = "9".repeat(digits.len()).parse().unwrap_or(u64::MAX);
            let to = high_number.min(last);
            parts.push(between(digits.as_bytes(), to.to_string().as_bytes()));
            from = to + 1;
        }
        let zeros = Expression::character('0').any();
        Ok(zeros.then(Expression::either(parts)))
    }
}

/// Numbers of as many digits as both ends have.
fn between(low: &[u8], high: &[u8]) -> Expression {
    let (Some((first, low)), Some((last, high))) = (low.split_first(), high.split_first()) else {
        return Expression::Empty;
    };
    let digits = |from: u8, to: u8| Expression::one(vec![(from.into(), to.into())]);
    if first == last {
        return digits(*first, *first).then(between(low, high));
    }
    let (zeros, nines) = (vec![b'0'; low.len()], vec![b'9'; low.len()]);
    let mut parts = vec![
        digits(*first, *first).then(between(low, &nines)),
        digits(*last, *last).then(between(&zeros, high)),
    ];
    if last - first > 1 {
        parts.push(digits(first + 1, last - 1).then(between(&zeros, &nines)));
    }
    Expression::either(parts)
}
