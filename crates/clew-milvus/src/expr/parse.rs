//! From words to a tree, by operator precedence.

use super::ExprError;
use super::token::{Token, Words};
use super::tree::{Expr, Kind, Operator, Path, Step};

/// How deep expressions may be nested.
const DEPTH_MAX: usize = 200;
/// Operators of one expression, comparisons and those that join them alike: a chain of them is as deep a tree.
const OPERATORS_MAX: usize = 5_000;
/// How tightly membership binds, and what stands in front of a value.
const MEMBERSHIP: u8 = 8;
const PREFIX: u8 = 12;

/// Reads an expression.
pub(super) fn parse(text: &str) -> Result<Expr, ExprError> {
    let mut parser = Parser {
        words: Words::new(text)?,
        depth: 0,
        operators: 0,
    };
    let expr = parser.expr(0)?;
    match parser.peek() {
        Token::End if expr.is_deeper_than(DEPTH_MAX) => Err(too_deep(0)),
        Token::End => Ok(expr),
        other => Err(parser.unexpected(&format!("extraneous input {}", shown(other)))),
    }
}

fn too_deep(at: usize) -> ExprError {
    ExprError::at(
        at,
        format!("the expression is nested deeper than {DEPTH_MAX}"),
    )
}

struct Parser<'t> {
    words: Words<'t>,
    depth: usize,
    operators: usize,
}

fn shown(token: &Token) -> String {
    match token {
        Token::Integer(number) => format!("'{number}'"),
        Token::Float(number) => format!("'{number}'"),
        Token::Text(text) => format!("'\"{}\"'", text.chars().take(40).collect::<String>()),
        Token::Name(name) => format!("'{name}'"),
        Token::Template(name) => format!("'{{{name}}}'"),
        Token::Symbol(symbol) => format!("'{symbol}'"),
        Token::End => "'<EOF>'".to_string(),
    }
}

/// A word of the language: all small or all large.
fn is_word(name: &str, word: &str) -> bool {
    name == word
        || (name.eq_ignore_ascii_case(word) && name.chars().all(|c| !c.is_ascii_lowercase()))
}

impl Parser<'_> {
    fn peek(&self) -> &Token {
        self.words.ahead(0)
    }

    fn unexpected(&self, what: &str) -> ExprError {
        ExprError::at(self.words.at(), what)
    }

    fn eat(&mut self, symbol: &str) -> bool {
        let is_it = matches!(self.peek(), Token::Symbol(own) if *own == symbol);
        self.words.skip(usize::from(is_it));
        is_it
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let is_it = matches!(self.peek(), Token::Name(name) if is_word(name, word));
        self.words.skip(usize::from(is_it));
        is_it
    }

    fn expect(&mut self, symbol: &str) -> Result<(), ExprError> {
        if self.eat(symbol) {
            return Ok(());
        }
        let found = shown(self.peek());
        Err(self.unexpected(&format!("mismatched input {found} expecting '{symbol}'")))
    }

    fn deeper<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, ExprError>,
    ) -> Result<T, ExprError> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(too_deep(self.words.at()));
        }
        let read = read(self);
        self.depth -= 1;
        read
    }

    /// An expression whose operators bind more tightly than `above`.
    fn expr(&mut self, above: u8) -> Result<Expr, ExprError> {
        self.deeper(|parser| {
            let mut left = parser.prefix()?;
            loop {
                let at = parser.words.at();
                if let Some(negated) = parser.null_test()? {
                    let (at, value) = (left.at, Box::new(left));
                    let kind = Kind::IsNull { value, negated };
                    left = Expr { at, kind };
                    parser.count()?;
                    continue;
                }
                if let Some(negated) = parser.in_list(above) {
                    let (at, value) = (left.at, Box::new(left));
                    let list = Box::new(parser.expr(MEMBERSHIP)?);
                    let kind = Kind::In {
                        value,
                        list,
                        negated,
                    };
                    left = Expr { at, kind };
                    parser.count()?;
                    continue;
                }
                let Some(operator) = parser.operator() else {
                    return Ok(left);
                };
                let strength = operator.strength();
                if strength <= above {
                    return Ok(left);
                }
                parser.words.skip(1);
                parser.count()?;
                let right = parser.expr(strength)?;
                left = joined(at, operator, left, right);
            }
        })
    }

    /// Counts one more operator.
    fn count(&mut self) -> Result<(), ExprError> {
        self.operators += 1;
        if self.operators <= OPERATORS_MAX {
            return Ok(());
        }
        Err(self.unexpected(&format!(
            "the expression has more than {OPERATORS_MAX} operators"
        )))
    }

    fn operator(&self) -> Option<Operator> {
        Some(match self.peek() {
            Token::Symbol(symbol) => match *symbol {
                "||" => Operator::Or,
                "&&" => Operator::And,
                "|" => Operator::BitOr,
                "^" => Operator::BitXor,
                "&" => Operator::BitAnd,
                "==" => Operator::Equal,
                "!=" => Operator::NotEqual,
                "<" => Operator::Less,
                "<=" => Operator::LessEqual,
                ">" => Operator::Greater,
                ">=" => Operator::GreaterEqual,
                "=~" => Operator::Matches,
                "!~" => Operator::MatchesNot,
                "<<" => Operator::ShiftLeft,
                ">>" => Operator::ShiftRight,
                "+" => Operator::Add,
                "-" => Operator::Subtract,
                "*" => Operator::Multiply,
                "/" => Operator::Divide,
                "%" => Operator::Modulo,
                "**" => Operator::Power,
                _ => return None,
            },
            Token::Name(name) if is_word(name, "or") => Operator::Or,
            Token::Name(name) if is_word(name, "and") => Operator::And,
            Token::Name(name) if is_word(name, "like") => Operator::Like,
            _ => return None,
        })
    }

    /// `is null`, `is not null` behind a value: whether it is the second.
    fn null_test(&mut self) -> Result<Option<bool>, ExprError> {
        if !self.eat_word("is") {
            return Ok(None);
        }
        let negated = self.eat_word("not");
        if self.eat_word("null") {
            return Ok(Some(negated));
        }
        let found = shown(self.peek());
        Err(self.unexpected(&format!("mismatched input {found} expecting 'null'")))
    }

    /// `in`, `not in` behind a value: whether it is the second.
    fn in_list(&mut self, above: u8) -> Option<bool> {
        if MEMBERSHIP <= above {
            return None;
        }
        let is_at = |by: usize, word: &str| matches!(self.words.ahead(by), Token::Name(name) if is_word(name, word));
        let negated = is_at(0, "not");
        let length = usize::from(negated);
        if !is_at(length, "in") {
            return None;
        }
        self.words.skip(length + 1);
        Some(negated)
    }

    fn prefix(&mut self) -> Result<Expr, ExprError> {
        let at = self.words.at();
        let inner = |parser: &mut Self| Ok(Box::new(parser.expr(PREFIX)?));
        let kind = if self.eat("-") {
            match *inner(self)? {
                Expr {
                    kind: Kind::Integer(number),
                    ..
                } => Kind::Integer(number.wrapping_neg()),
                Expr {
                    kind: Kind::Float(number),
                    ..
                } => float_or_least(-number),
                other => Kind::Negative(Box::new(other)),
            }
        } else if self.eat("+") {
            return self.expr(PREFIX);
        } else if self.eat("~") {
            Kind::Inverted(inner(self)?)
        } else if self.eat("!") || self.eat_word("not") {
            Kind::Not(inner(self)?)
        } else if self.eat_word("exists") {
            Kind::Exists(inner(self)?)
        } else {
            return self.value();
        };
        Ok(Expr { at, kind })
    }

    fn value(&mut self) -> Result<Expr, ExprError> {
        let at = self.words.at();
        let kind = match self.words.take() {
            Token::Integer(number) => Kind::Integer(number),
            Token::Float(number) => Kind::Float(number),
            Token::Text(text) => Kind::Text(text),
            Token::Template(name) => Kind::Template(name),
            Token::Symbol("(") => {
                let inner = self.expr(0)?;
                self.expect(")")?;
                return Ok(inner);
            }
            Token::Symbol("$") => Kind::Path(self.part()?),
            Token::Symbol("[") => Kind::List(self.list("]")?),
            Token::Name(name) if matches!(name.as_str(), "true" | "True" | "TRUE") => {
                Kind::Bool(true)
            }
            Token::Name(name) if matches!(name.as_str(), "false" | "False" | "FALSE") => {
                Kind::Bool(false)
            }
            Token::Name(name) if is_word(&name, "iso") && self.is_text() => {
                Kind::Instant(self.text())
            }
            Token::Name(name) if is_word(&name, "interval") && self.is_text() => {
                Kind::Interval(self.text())
            }
            Token::Name(name) if self.eat("(") => self.call(name)?,
            Token::Name(name) => {
                let name = self.whole_name(name);
                // A part of all structs is a list, and has no way on.
                if name.ends_with(']') && matches!(self.peek(), Token::Symbol("[")) {
                    return Err(self.unexpected("extraneous input '['"));
                }
                let steps = self.steps()?;
                Kind::Path(Path { name, steps })
            }
            other => {
                self.words.back();
                return Err(self.unexpected(&format!(
                    "mismatched input {} expecting a value",
                    shown(&other)
                )));
            }
        };
        Ok(Expr { at, kind })
    }

    fn is_text(&self) -> bool {
        matches!(self.peek(), Token::Text(_))
    }

    fn text(&mut self) -> String {
        match self.words.take() {
            Token::Text(text) => text,
            _ => String::new(),
        }
    }

    fn list(&mut self, end: &str) -> Result<Vec<Expr>, ExprError> {
        let mut items = Vec::new();
        while !self.eat(end) {
            if !items.is_empty() {
                self.expect(",")?;
                if self.eat(end) {
                    break;
                }
            }
            items.push(self.expr(0)?);
        }
        Ok(items)
    }

    fn call(&mut self, name: String) -> Result<Kind, ExprError> {
        let (mut arguments, mut named) = (Vec::new(), Vec::new());
        while !self.eat(")") {
            if !(arguments.is_empty() && named.is_empty()) {
                self.expect(",")?;
                if self.eat(")") {
                    break;
                }
            }
            let argument = self.expr(0)?;
            match &argument.kind {
                Kind::Path(path) if path.steps.is_empty() && self.eat("=") => {
                    let key = path.name.to_ascii_lowercase();
                    named.push((key, self.expr(0)?));
                }
                _ => arguments.push(argument),
            }
        }
        let name = name.to_ascii_lowercase();
        let is_one = |argument: &Expr| matches!(&argument.kind, Kind::Path(path) if matches!(path.steps.last(), Some(Step::Part(_))));
        if name == "array_length" && arguments.iter().any(is_one) {
            return Err(self.unexpected("mismatched input: a part of one struct is no list"));
        }
        Ok(Kind::Call {
            name,
            arguments,
            named,
        })
    }

    /// The field of a struct: `[name]` behind what stands for the struct.
    fn part(&mut self) -> Result<Path, ExprError> {
        self.expect("[")?;
        let name = match self.words.take() {
            Token::Name(name) | Token::Text(name) => name,
            other => {
                self.words.back();
                return Err(self.unexpected(&format!(
                    "mismatched input {} expecting the name of a field of structs",
                    shown(&other)
                )));
            }
        };
        self.expect("]")?;
        Ok(Path {
            name: "$".to_string(),
            steps: vec![Step::Member(name)],
        })
    }

    /// A name, together with the part of a struct behind it: `clips[text]` is one name.
    fn whole_name(&mut self, name: String) -> String {
        let ahead = |by: usize| self.words.ahead(by);
        let part = match (ahead(0), ahead(1), ahead(2)) {
            (Token::Symbol("["), Token::Name(part), Token::Symbol("]")) => part.clone(),
            _ => return name,
        };
        self.words.skip(3);
        format!("{name}[{part}]")
    }

    /// The way into a field: `["key"]`, `[0]`, and `[0][part]` into a struct.
    fn steps(&mut self) -> Result<Vec<Step>, ExprError> {
        let mut steps = Vec::new();
        while self.eat("[") {
            steps.push(match self.words.take() {
                Token::Text(name) => Step::Member(name),
                Token::Integer(number) => match usize::try_from(number) {
                    Ok(number) => Step::Element(number),
                    Err(_) => return Err(self.unexpected("an element has a number from 0")),
                },
                Token::Name(part) if matches!(steps[..], [Step::Element(_)]) => Step::Part(part),
                other => {
                    self.words.back();
                    return Err(self.unexpected(&format!(
                        "mismatched input {} expecting a key or the number of an element",
                        shown(&other)
                    )));
                }
            });
            self.expect("]")?;
        }
        Ok(steps)
    }
}

/// The least whole number is one more below zero than the greatest is above it.
fn float_or_least(number: f64) -> Kind {
    const LEAST: f64 = -9_223_372_036_854_775_808.0;
    match number.to_bits() == LEAST.to_bits() {
        true => Kind::Integer(i64::MIN),
        false => Kind::Float(number),
    }
}

/// `a < b < c`, in this direction or the other, is a range: both hold.
fn joined(at: usize, operator: Operator, left: Expr, right: Expr) -> Expr {
    let Kind::Binary(before, _, middle) = &left.kind else {
        return binary(at, operator, left, right);
    };
    let is_range = before.is_order()
        && operator.is_order()
        && matches!(before, Operator::Less | Operator::LessEqual)
            == matches!(operator, Operator::Less | Operator::LessEqual);
    if !is_range {
        return binary(at, operator, left, right);
    }
    let second = binary(at, operator, (**middle).clone(), right);
    binary(left.at, Operator::And, left, second)
}

fn binary(at: usize, operator: Operator, left: Expr, right: Expr) -> Expr {
    Expr {
        at,
        kind: Kind::Binary(operator, Box::new(left), Box::new(right)),
    }
}
