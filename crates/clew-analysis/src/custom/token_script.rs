//! Scripts that choose terms, as `condition` and `predicate_token_filter` have them: an expression of Painless over one
//! `token`, read into a tree when the analyzer is made.
//!
//! What is understood are the token's `term`, `type`, `position`, `positionIncrement`, `positionLength`, `startOffset`,
//! `endOffset` and `keyword`, methods of texts, `Character`'s questions about one letter (`Character.isDigit(token.term.charAt(0))`), comparisons, sums
//! and logic. Statements, variables and regular expressions are refused, and
//! so is what mixes kinds of values. A division by nothing, or a number beyond what Java's `long` holds, chooses nothing.

use super::Term;
use super::token_letter::LetterTest;
use super::token_pieces::{Piece, not_understood, pieces};

/// Longest script, in bytes. A tree is as deep as its script is long at most.
const SOURCE_MAX: usize = 2_000;
/// Brackets and signs that may stand inside of one another.
const DEPTH_MAX: usize = 50;

/// A script that is true or false of a term.
#[derive(Clone, Debug)]
pub(super) struct TokenScript(Node);

impl TokenScript {
    /// Reads a script.
    ///
    /// # Errors
    /// A reason, when it is not understood or says neither true nor false.
    pub(super) fn read(source: &str) -> Result<Self, String> {
        if source.len() > SOURCE_MAX {
            return Err(format!("a script has {SOURCE_MAX} bytes at most"));
        }
        let mut reader = Reader {
            pieces: pieces(source)?,
            at: 0,
        };
        if matches!(reader.pieces.first(), Some(Piece::Name(name)) if name == "return") {
            reader.at += 1;
        }
        let node = reader.expression(0, 0)?;
        reader.eat(";");
        match reader.pieces.get(reader.at) {
            Some(piece) => Err(not_understood(piece)),
            None => wants(Kind::Flag, node).map(TokenScript),
        }
    }

    /// Whether it is true of a term that stands there.
    pub(super) fn fits(&self, term: &Term, standing: Standing) -> bool {
        matches!(self.0.value(term, standing), Some(Value::Flag(true)))
    }
}

/// Where a term stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Standing {
    /// Places from the term before it.
    pub(super) step: usize,
    /// Where it begins in the text as that came, in units of UTF-16.
    pub(super) start: usize,
    /// Where it ends there.
    pub(super) end: usize,
}

/// What a part of a script is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Flag,
    Number,
    Text,
}

#[derive(Clone, Debug, PartialEq)]
enum Value {
    Flag(bool),
    Number(i64),
    Text(String),
}

/// What is known of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Member {
    Term,
    Type,
    Position,
    Increment,
    Start,
    End,
    Length,
    Keyword,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Or,
    And,
    Equal,
    Unequal,
    Less,
    LessEqual,
    More,
    MoreEqual,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

impl Operator {
    /// The operator of a sign, and how strongly it binds.
    fn of(sign: &str) -> Option<(Self, u8)> {
        Some(match sign {
            "||" => (Operator::Or, 0),
            "&&" => (Operator::And, 1),
            "==" | "===" => (Operator::Equal, 2),
            "!=" | "!==" => (Operator::Unequal, 2),
            "<" => (Operator::Less, 3),
            "<=" => (Operator::LessEqual, 3),
            ">" => (Operator::More, 3),
            ">=" => (Operator::MoreEqual, 3),
            "+" => (Operator::Add, 4),
            "-" => (Operator::Subtract, 4),
            "*" => (Operator::Multiply, 5),
            "/" => (Operator::Divide, 5),
            "%" => (Operator::Remainder, 5),
            _ => return None,
        })
    }

    /// What it takes on both sides, and what it makes of them; for comparisons whatever is on the left.
    fn kinds(self, left: Kind) -> (Kind, Kind) {
        match self {
            Operator::Or | Operator::And => (Kind::Flag, Kind::Flag),
            Operator::Equal | Operator::Unequal => (left, Kind::Flag),
            Operator::Less | Operator::LessEqual | Operator::More | Operator::MoreEqual => {
                (Kind::Number, Kind::Flag)
            }
            _ => (Kind::Number, Kind::Number),
        }
    }
}

/// A method of texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
    Length,
    IsEmpty,
    Contains,
    StartsWith,
    EndsWith,
    Equals,
    EqualsIgnoreCase,
    IndexOf,
    Itself,
    Lower,
    Upper,
}

impl Method {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "length" => Method::Length,
            "isEmpty" => Method::IsEmpty,
            "contains" => Method::Contains,
            "startsWith" => Method::StartsWith,
            "endsWith" => Method::EndsWith,
            "equals" => Method::Equals,
            "equalsIgnoreCase" => Method::EqualsIgnoreCase,
            "indexOf" => Method::IndexOf,
            "toString" => Method::Itself,
            "toLowerCase" => Method::Lower,
            "toUpperCase" => Method::Upper,
            _ => return None,
        })
    }

    /// Whether it takes another text.
    fn takes_text(self) -> bool {
        self.kind() == Kind::Flag && self != Method::IsEmpty || self == Method::IndexOf
    }

    fn kind(self) -> Kind {
        match self {
            Method::Length | Method::IndexOf => Kind::Number,
            Method::Itself | Method::Lower | Method::Upper => Kind::Text,
            _ => Kind::Flag,
        }
    }

    fn of(self, text: &str, other: &str) -> Value {
        let lower = crate::stream::lower;
        // Java counts the units of UTF-16.
        let units = |text: &str| number(text.encode_utf16().count());
        match self {
            Method::Length => Value::Number(units(text)),
            Method::IsEmpty => Value::Flag(text.is_empty()),
            Method::Contains => Value::Flag(text.contains(other)),
            Method::StartsWith => Value::Flag(text.starts_with(other)),
            Method::EndsWith => Value::Flag(text.ends_with(other)),
            Method::Equals => Value::Flag(text == other),
            Method::EqualsIgnoreCase => Value::Flag(lower(text) == lower(other)),
            Method::IndexOf => {
                let at = text.find(other);
                Value::Number(at.map_or(-1, |at| units(&text[..at])))
            }
            Method::Itself => Value::Text(text.to_string()),
            Method::Lower => Value::Text(lower(text)),
            Method::Upper => Value::Text(text.to_uppercase()),
        }
    }
}

/// A count as Java has it.
fn number(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

#[derive(Clone, Debug)]
enum Node {
    Given(Value),
    Token(Member),
    Not(Box<Node>),
    Negative(Box<Node>),
    Pair(Box<(Node, Node)>, Operator),
    /// A method of a text, with the text that it takes or an empty one.
    Call(Box<(Node, Node)>, Method),
    /// What is asked of the letter of a text that stands at a place.
    Letter(Box<(Node, Node)>, LetterTest),
}

impl Node {
    fn kind(&self) -> Kind {
        match self {
            Node::Given(Value::Flag(_)) | Node::Token(Member::Keyword) | Node::Not(_) => Kind::Flag,
            Node::Given(Value::Text(_)) | Node::Token(Member::Term | Member::Type) => Kind::Text,
            Node::Given(Value::Number(_))
            | Node::Token(
                Member::Position | Member::Increment | Member::Length | Member::Start | Member::End,
            )
            | Node::Negative(_) => Kind::Number,
            Node::Pair(_, operator) => operator.kinds(Kind::Number).1,
            Node::Call(_, method) => method.kind(),
            Node::Letter(..) => Kind::Flag,
        }
    }

    /// Its value for a term; none where a number cannot be told.
    fn value(&self, term: &Term, standing: Standing) -> Option<Value> {
        Some(match self {
            Node::Given(value) => value.clone(),
            Node::Token(member) => match member {
                Member::Term => Value::Text(term.token.text.clone()),
                Member::Type => Value::Text(term.kind.to_string()),
                Member::Position => Value::Number(number(term.token.position)),
                Member::Increment => Value::Number(number(standing.step)),
                Member::Start => Value::Number(number(standing.start)),
                Member::End => Value::Number(number(standing.end)),
                Member::Length => Value::Number(number(term.token.position_length)),
                Member::Keyword => Value::Flag(term.is_keyword),
            },
            Node::Not(inner) => Value::Flag(inner.value(term, standing)? == Value::Flag(false)),
            Node::Negative(inner) => match inner.value(term, standing)? {
                Value::Number(number) => Value::Number(number.checked_neg()?),
                other => other,
            },
            Node::Pair(both, operator) => {
                let left = both.0.value(term, standing)?;
                // What is decided already asks for no more.
                match (operator, &left) {
                    (Operator::Or, Value::Flag(true)) | (Operator::And, Value::Flag(false)) => left,
                    _ => paired(*operator, &left, &both.1.value(term, standing)?)?,
                }
            }
            Node::Call(both, method) => {
                match (both.0.value(term, standing)?, both.1.value(term, standing)?) {
                    (Value::Text(text), Value::Text(other)) => method.of(&text, &other),
                    _ => return None,
                }
            }
            Node::Letter(both, test) => {
                match (both.0.value(term, standing)?, both.1.value(term, standing)?) {
                    (Value::Text(text), Value::Number(at)) => Value::Flag(test.fits(&text, at)?),
                    _ => return None,
                }
            }
        })
    }
}

/// What an operator makes of two values of the kinds that it takes.
fn paired(operator: Operator, left: &Value, right: &Value) -> Option<Value> {
    if let (Value::Number(left), Value::Number(right)) = (left, right) {
        let (left, right) = (*left, *right);
        return Some(match operator {
            Operator::Less => Value::Flag(left < right),
            Operator::LessEqual => Value::Flag(left <= right),
            Operator::More => Value::Flag(left > right),
            Operator::MoreEqual => Value::Flag(left >= right),
            Operator::Add => Value::Number(left.checked_add(right)?),
            Operator::Subtract => Value::Number(left.checked_sub(right)?),
            Operator::Multiply => Value::Number(left.checked_mul(right)?),
            Operator::Divide => Value::Number(left.checked_div(right)?),
            Operator::Remainder => Value::Number(left.checked_rem(right)?),
            Operator::Unequal => Value::Flag(left != right),
            Operator::Equal | Operator::Or | Operator::And => Value::Flag(left == right),
        });
    }
    Some(Value::Flag(match operator {
        Operator::Or => *left == Value::Flag(true) || *right == Value::Flag(true),
        Operator::And => *left == Value::Flag(true) && *right == Value::Flag(true),
        Operator::Unequal => left != right,
        _ => left == right,
    }))
}

/// A part that is of this kind.
fn wants(kind: Kind, node: Node) -> Result<Node, String> {
    if node.kind() == kind {
        return Ok(node);
    }
    Err(format!(
        "a {:?} stands where a {kind:?} is wanted in a script about a token",
        node.kind()
    ))
}

/// Makes a tree of pieces.
struct Reader {
    pieces: Vec<Piece>,
    at: usize,
}

impl Reader {
    /// Passes over a sign that is next; whether it was.
    fn eat(&mut self, sign: &'static str) -> bool {
        let found = self.pieces.get(self.at) == Some(&Piece::Sign(sign));
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, sign: &'static str) -> Result<(), String> {
        if self.eat(sign) {
            return Ok(());
        }
        Err(match self.pieces.get(self.at) {
            Some(piece) => not_understood(piece),
            None => format!("compile error: [{sign}] is missing"),
        })
    }

    /// The next piece.
    fn take(&mut self) -> Result<Piece, String> {
        let piece = self.pieces.get(self.at).cloned();
        self.at += 1;
        piece.ok_or_else(|| "compile error: unexpected end of script".to_string())
    }

    /// Parts between operators that bind at least so strongly.
    fn expression(&mut self, least: u8, depth: usize) -> Result<Node, String> {
        let mut left = self.unary(depth)?;
        while let Some(Piece::Sign(sign)) = self.pieces.get(self.at)
            && let Some((operator, strength)) = Operator::of(sign)
            && strength >= least
        {
            self.at += 1;
            let right = self.expression(strength + 1, depth)?;
            let (taken, _) = operator.kinds(left.kind());
            let both = (wants(taken, left)?, wants(taken, right)?);
            left = Node::Pair(Box::new(both), operator);
        }
        Ok(left)
    }

    fn unary(&mut self, depth: usize) -> Result<Node, String> {
        if depth > DEPTH_MAX {
            return Err(format!("a script nests {DEPTH_MAX} deep at most"));
        }
        if self.eat("!") {
            let inner = wants(Kind::Flag, self.unary(depth + 1)?)?;
            return Ok(Node::Not(Box::new(inner)));
        }
        if self.eat("-") {
            let inner = wants(Kind::Number, self.unary(depth + 1)?)?;
            return Ok(Node::Negative(Box::new(inner)));
        }
        let mut node = self.operand(depth)?;
        while self.eat(".") {
            node = self.call(node, depth)?;
        }
        Ok(node)
    }

    fn operand(&mut self, depth: usize) -> Result<Node, String> {
        Ok(match self.take()? {
            Piece::Number(number) => Node::Given(Value::Number(number)),
            Piece::Text(text) => Node::Given(Value::Text(text)),
            Piece::Name(name) if name == "true" || name == "false" => {
                Node::Given(Value::Flag(name == "true"))
            }
            Piece::Name(name) if name == "token" => Node::Token(self.member()?),
            Piece::Name(name) if name == "Character" => self.letter(depth)?,
            Piece::Sign("(") => {
                let inner = self.expression(0, depth + 1)?;
                self.expect(")")?;
                inner
            }
            other => return Err(not_understood(&other)),
        })
    }

    /// What stands behind `token`: a member, or the method that gets it.
    fn member(&mut self) -> Result<Member, String> {
        self.expect(".")?;
        let piece = self.take()?;
        let Piece::Name(name) = &piece else {
            return Err(not_understood(&piece));
        };
        let (member, is_method) = match name.as_str() {
            "term" => (Member::Term, false),
            "getTerm" => (Member::Term, true),
            "type" => (Member::Type, false),
            "getType" => (Member::Type, true),
            "position" => (Member::Position, false),
            "getPosition" => (Member::Position, true),
            "positionIncrement" => (Member::Increment, false),
            "getPositionIncrement" => (Member::Increment, true),
            "startOffset" => (Member::Start, false),
            "getStartOffset" => (Member::Start, true),
            "endOffset" => (Member::End, false),
            "getEndOffset" => (Member::End, true),
            "positionLength" => (Member::Length, false),
            "getPositionLength" => (Member::Length, true),
            "keyword" => (Member::Keyword, false),
            "isKeyword" => (Member::Keyword, true),
            _ => return Err(not_understood(&piece)),
        };
        if is_method {
            self.expect("(")?;
            self.expect(")")?;
        }
        Ok(member)
    }

    /// What stands behind `Character`: a question about the letter of a text.
    fn letter(&mut self, depth: usize) -> Result<Node, String> {
        self.expect(".")?;
        let piece = self.take()?;
        let test = match &piece {
            Piece::Name(name) => LetterTest::named(name),
            Piece::Number(_) | Piece::Text(_) | Piece::Sign(_) => None,
        };
        let test = test.ok_or_else(|| not_understood(&piece))?;
        self.expect("(")?;
        let mut text = self.operand(depth + 1)?;
        loop {
            self.expect(".")?;
            let next = self.pieces.get(self.at);
            if matches!(next, Some(Piece::Name(name)) if name == "charAt") {
                self.at += 1;
                break;
            }
            text = self.call(text, depth)?;
        }
        self.expect("(")?;
        let at = wants(Kind::Number, self.expression(0, depth + 1)?)?;
        self.expect(")")?;
        self.expect(")")?;
        Ok(Node::Letter(Box::new((wants(Kind::Text, text)?, at)), test))
    }

    /// A method of a text.
    fn call(&mut self, node: Node, depth: usize) -> Result<Node, String> {
        let piece = self.take()?;
        let method = match &piece {
            Piece::Name(name) => Method::named(name),
            Piece::Number(_) | Piece::Text(_) | Piece::Sign(_) => None,
        };
        let method = method.ok_or_else(|| not_understood(&piece))?;
        self.expect("(")?;
        let other = if method.takes_text() {
            self.expression(0, depth + 1)?
        } else {
            Node::Given(Value::Text(String::new()))
        };
        self.expect(")")?;
        let both = (wants(Kind::Text, node)?, wants(Kind::Text, other)?);
        Ok(Node::Call(Box::new(both), method))
    }
}

#[cfg(test)]
mod tests;
