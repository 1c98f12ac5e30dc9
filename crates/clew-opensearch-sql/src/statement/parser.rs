//! Reads expressions by precedence. Statements of SQL and commands of PPL are read around this.

use serde_json::Value;

use crate::error::SqlError;
use crate::functions::regexes::FITS;
use crate::functions::times::{MOMENTS, is_unit};
use crate::statement::calls::compared;
use crate::statement::expr::{Expr, Logic, Op};
use crate::statement::lex::TokenKind;
use crate::statement::words::{Parser, is_clause};

/// Parentheses and functions inside one another.
const DEPTH_MAX: usize = 40;
/// Operators of arithmetic: each may be a level of its own.
const OPERATORS_MAX: usize = 200;
/// Parts of expressions that stand once more than they were written.
pub(crate) const COPIES_MAX: usize = 10_000;

impl Parser<'_> {
    /// Goes into something that may have others of its kind inside.
    pub(crate) fn deeper(&mut self) -> Result<(), SqlError> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(SqlError::too_large(format!(
                "the query is nested deeper than {DEPTH_MAX} levels"
            )));
        }
        Ok(())
    }

    /// An expression.
    pub(crate) fn expr(&mut self) -> Result<Expr, SqlError> {
        self.deeper()?;
        let expr = self.joined("or", Logic::Or, Self::exclusive);
        self.depth -= 1;
        expr
    }

    /// One of two, but not both.
    fn exclusive(&mut self) -> Result<Expr, SqlError> {
        let mut left = self.joined("and", Logic::And, Self::negation)?;
        while self.keyword("xor") {
            self.count_operator()?;
            let right = self.joined("and", Logic::And, Self::negation)?;
            left = binary(Op::Unequal, left, right);
        }
        Ok(left)
    }

    fn joined(
        &mut self,
        keyword: &str,
        logic: Logic,
        mut part: impl FnMut(&mut Self) -> Result<Expr, SqlError>,
    ) -> Result<Expr, SqlError> {
        let first = part(self)?;
        if !self.is_keyword(0, keyword) {
            return Ok(first);
        }
        let mut parts = vec![first];
        while self.keyword(keyword) {
            parts.push(part(self)?);
        }
        Ok(Expr::Logic(logic, parts))
    }

    fn negation(&mut self) -> Result<Expr, SqlError> {
        let mut negated = false;
        while self.keyword("not") {
            negated = !negated;
        }
        let expr = self.comparison()?;
        Ok(if negated {
            Expr::Not(Box::new(expr))
        } else {
            expr
        })
    }

    fn comparison(&mut self) -> Result<Expr, SqlError> {
        let left = self.sum()?;
        let op = match self.peek() {
            Some(TokenKind::Symbol("=" | "==")) => Op::Equal,
            Some(TokenKind::Symbol("<>" | "!=")) => Op::Unequal,
            Some(TokenKind::Symbol("<")) => Op::Less,
            Some(TokenKind::Symbol("<=")) => Op::LessOrEqual,
            Some(TokenKind::Symbol(">")) => Op::Greater,
            Some(TokenKind::Symbol(">=")) => Op::GreaterOrEqual,
            _ => return self.predicate(left),
        };
        self.at += 1;
        let right = self.sum()?;
        Ok(compared(op, left, right))
    }

    /// `IS NULL`, `IS TRUE`, `IN`, `LIKE` and `BETWEEN`, each of which may be negated.
    fn predicate(&mut self, left: Expr) -> Result<Expr, SqlError> {
        if self.keyword("is") {
            let negated = self.keyword("not");
            let truths = ["true", "false"];
            if let Some(truth) = truths.iter().find(|word| self.is_keyword(0, word)) {
                self.at += 1;
                return Ok(not_if(negated, is_known(left, *truth == "true")));
            }
            if !self.keyword("missing") {
                self.expect_keyword("null")?;
            }
            return Ok(not_if(negated, Expr::IsNull(Box::new(left))));
        }
        let follows = ["in", "like", "between", "regexp", "rlike"]
            .iter()
            .any(|word| self.is_keyword(1, word));
        let negated = follows && self.keyword("not");
        if self.keyword("in") {
            if self.is_subsearch() {
                let list = vec![self.subsearch()?];
                return Ok(not_if(negated, Expr::In(Box::new(left), list)));
            }
            self.expect("(")?;
            if self.is_keyword(0, "select") {
                let list = vec![self.subquery()?];
                return Ok(not_if(negated, Expr::In(Box::new(left), list)));
            }
            let list = self.list(Self::sum)?;
            self.expect(")")?;
            return Ok(not_if(negated, Expr::In(Box::new(left), list)));
        }
        if self.keyword("like") {
            let mut pattern = self.sum()?;
            if self.keyword("escape") {
                pattern = self.escaped(pattern)?;
            }
            return Ok(not_if(negated, binary(Op::Like, left, pattern)));
        }
        if self.keyword("regexp") || self.keyword("rlike") {
            let pattern = self.sum()?;
            return Ok(not_if(negated, Expr::call(FITS, vec![left, pattern])));
        }
        if self.keyword("between") {
            let low = self.sum()?;
            self.expect_keyword("and")?;
            let high = self.sum()?;
            self.copies(&left)?;
            let both = vec![
                binary(Op::GreaterOrEqual, left.clone(), low),
                binary(Op::LessOrEqual, left, high),
            ];
            return Ok(not_if(negated, Expr::Logic(Logic::And, both)));
        }
        Ok(left)
    }

    /// Counts the parts of what is about to stand once more: within each other they would double without end.
    pub(crate) fn copies(&mut self, expr: &Expr) -> Result<(), SqlError> {
        self.copies += expr.size();
        if self.copies > COPIES_MAX {
            return Err(SqlError::too_large(format!(
                "the query would repeat more than {COPIES_MAX} parts of expressions"
            )));
        }
        Ok(())
    }

    /// A pattern of `LIKE` behind which `ESCAPE` was read: with backslashes instead of the character that is said.
    fn escaped(&mut self, pattern: Expr) -> Result<Expr, SqlError> {
        let escape = self.text()?;
        let mut characters = escape.chars();
        let (Some(escape), None) = (characters.next(), characters.next()) else {
            return Err(SqlError::semantic("ESCAPE needs one character"));
        };
        let Expr::Literal(Value::String(text)) = pattern else {
            return Err(SqlError::semantic(
                "ESCAPE needs a pattern in quotes before it",
            ));
        };
        let mut written = String::with_capacity(text.len());
        let mut characters = text.chars();
        while let Some(character) = characters.next() {
            if character == escape {
                written.push('\\');
                written.extend(characters.next());
            } else if character == '\\' {
                written.push_str("\\\\");
            } else {
                written.push(character);
            }
        }
        Ok(Expr::Literal(written.into()))
    }

    pub(crate) fn sum(&mut self) -> Result<Expr, SqlError> {
        let ops = [("+", Op::Add), ("-", Op::Subtract)];
        self.operations(&ops, |parser| {
            let ops = [("*", Op::Multiply), ("/", Op::Divide), ("%", Op::Modulo)];
            parser.operations(&ops, Self::signed)
        })
    }

    fn operations(
        &mut self,
        ops: &[(&str, Op)],
        mut operand: impl FnMut(&mut Self) -> Result<Expr, SqlError>,
    ) -> Result<Expr, SqlError> {
        let mut left = operand(self)?;
        while let Some((_, op)) = ops.iter().find(|(symbol, _)| self.is_symbol(0, symbol)) {
            self.at += 1;
            self.count_operator()?;
            left = binary(*op, left, operand(self)?);
        }
        Ok(left)
    }

    fn count_operator(&mut self) -> Result<(), SqlError> {
        self.operators += 1;
        if self.operators > OPERATORS_MAX {
            return Err(SqlError::too_large(format!(
                "the query has more than {OPERATORS_MAX} operators of arithmetic"
            )));
        }
        Ok(())
    }

    fn signed(&mut self) -> Result<Expr, SqlError> {
        let mut negative = false;
        while self.is_symbol(0, "-") || self.is_symbol(0, "+") {
            negative ^= self.symbol("-") || !self.symbol("+");
        }
        let expr = self.primary()?;
        if !negative {
            return Ok(expr);
        }
        if let Expr::Literal(Value::Number(number)) = &expr {
            let text = number.to_string();
            let text = match text.strip_prefix('-') {
                Some(positive) => positive.to_string(),
                None => format!("-{text}"),
            };
            return Ok(Expr::Literal(
                serde_json::from_str(&text).unwrap_or(Value::Null),
            ));
        }
        Ok(binary(Op::Subtract, Expr::Literal(0.into()), expr))
    }

    fn primary(&mut self) -> Result<Expr, SqlError> {
        let Some(kind) = self.peek().cloned() else {
            return Err(self.error("an expression"));
        };
        let expr = match kind {
            TokenKind::Symbol("(") => {
                self.at += 1;
                if self.is_keyword(0, "select") {
                    return self.subquery();
                }
                let inner = self.expr()?;
                self.expect(")")?;
                return Ok(inner);
            }
            TokenKind::Symbol("[") if self.is_subsearch() => return self.subsearch(),
            TokenKind::Symbol("[") => return self.names(),
            TokenKind::Symbol("{") => return self.braced(),
            TokenKind::Symbol("?") => {
                let value = self.parameters.pop();
                Expr::Literal(value.ok_or_else(|| self.error("a value in [parameters]"))?)
            }
            TokenKind::Text(text) | TokenKind::Interval(text) => Expr::Literal(text.into()),
            TokenKind::Number(digits) => {
                Expr::Literal(serde_json::from_str(&digits).map_err(|_| self.error("a number"))?)
            }
            TokenKind::Name(name) => Expr::Column(name),
            TokenKind::Word(word) => return self.word(&word),
            TokenKind::Symbol(_) => return Err(self.error("an expression")),
        };
        self.at += 1;
        Ok(expr)
    }

    /// A constant with a name, a function or a column.
    fn word(&mut self, word: &str) -> Result<Expr, SqlError> {
        let name = word.to_ascii_lowercase();
        if self.is_symbol(1, "(") && !is_clause(word)
            || matches!(name.as_str(), "left" | "right" | "like") && self.is_symbol(1, "(")
        {
            self.at += 2;
            return match name.as_str() {
                "exists" if self.is_keyword(0, "select") => self.exists(),
                "cast" => self.cast(),
                "extract" => self.extract(),
                "position" => self.position_in(),
                _ => self.call(name),
            };
        }
        if name == "interval" && matches!(self.peek_at(1), Some(TokenKind::Number(_))) {
            return self.interval();
        }
        if name == "case" {
            self.at += 1;
            return self.case();
        }
        // A text in quotes behind the name of a type is a value of it.
        if let (true, Some(TokenKind::Text(text))) = (
            matches!(name.as_str(), "timestamp" | "date" | "time"),
            self.peek_at(1),
        ) {
            let text = Expr::Literal(text.clone().into());
            self.at += 2;
            return Ok(Expr::call(&name, vec![text]));
        }
        let expr = match name.as_str() {
            "true" => Expr::Literal(true.into()),
            "false" => Expr::Literal(false.into()),
            "null" => Expr::Literal(Value::Null),
            _ if MOMENTS.contains(&name.as_str()) => Expr::call(&name, Vec::new()),
            _ if is_clause(word) => return Err(self.error("an expression")),
            _ => Expr::column(word),
        };
        self.at += 1;
        Ok(expr)
    }

    /// `{ts '2024-01-01 00:00:00'}` and `{fn upper(name)}`, as drivers write them.
    fn braced(&mut self) -> Result<Expr, SqlError> {
        self.at += 1;
        let expr = if self.keyword("fn") {
            self.expr()?
        } else {
            let kind = self.name()?.to_ascii_lowercase();
            let kind = match kind.as_str() {
                "d" | "date" => "date",
                "t" | "time" => "time",
                "ts" | "timestamp" => "timestamp",
                _ => return Err(self.error("a text behind D, T, TS or FN")),
            };
            Expr::call(kind, vec![Expr::Literal(self.text()?.into())])
        };
        self.expect("}")?;
        Ok(expr)
    }

    /// `CAST(value AS type)`.
    fn cast(&mut self) -> Result<Expr, SqlError> {
        let value = self.expr()?;
        self.expect_keyword("as")?;
        let kind = self.name()?.to_ascii_lowercase();
        self.expect(")")?;
        Ok(Expr::call("cast", vec![value, Expr::Literal(kind.into())]))
    }

    /// `EXTRACT(part FROM moment)`.
    fn extract(&mut self) -> Result<Expr, SqlError> {
        let part = self.name()?;
        self.expect_keyword("from")?;
        let moment = self.expr()?;
        self.expect(")")?;
        Ok(Expr::call(
            "extract",
            vec![Expr::Literal(part.into()), moment],
        ))
    }

    /// `POSITION(part IN text)`.
    fn position_in(&mut self) -> Result<Expr, SqlError> {
        let part = self.sum()?;
        if !self.keyword("in") {
            self.expect(",")?;
        }
        let text = self.sum()?;
        self.expect(")")?;
        Ok(Expr::call("position", vec![part, text]))
    }

    /// `INTERVAL 1 DAY`.
    fn interval(&mut self) -> Result<Expr, SqlError> {
        self.at += 1;
        let count = self.sum()?;
        let unit = match self.peek() {
            Some(TokenKind::Word(word)) => word.to_ascii_lowercase(),
            _ => return Err(self.error("the unit of an interval")),
        };
        if !is_unit(&unit) {
            return Err(self.error("the unit of an interval"));
        }
        self.at += 1;
        Ok(Expr::call(
            "interval",
            vec![count, Expr::Literal(unit.into())],
        ))
    }

    /// `CASE [value] WHEN condition THEN result .. ELSE result END`, as conditions and results.
    fn case(&mut self) -> Result<Expr, SqlError> {
        let value = if self.is_keyword(0, "when") {
            None
        } else {
            Some(self.expr()?)
        };
        let mut args = Vec::new();
        while self.keyword("when") {
            let condition = self.expr()?;
            args.push(match &value {
                Some(value) => {
                    self.copies(value)?;
                    binary(Op::Equal, value.clone(), condition)
                }
                None => condition,
            });
            self.expect_keyword("then")?;
            args.push(self.expr()?);
        }
        if args.is_empty() {
            return Err(self.error("WHEN"));
        }
        args.push(if self.keyword("else") {
            self.expr()?
        } else {
            Expr::Literal(Value::Null)
        });
        self.expect_keyword("end")?;
        Ok(Expr::call("case", args))
    }

    /// Names of fields with boosts: `[title ^ 2, 'body']`.
    fn names(&mut self) -> Result<Expr, SqlError> {
        self.expect("[")?;
        let names = self.list(|parser| {
            let name = match parser.peek() {
                Some(TokenKind::Text(_)) => parser.text()?,
                Some(TokenKind::Symbol("*")) => {
                    parser.at += 1;
                    "*".to_string()
                }
                _ => parser.name()?,
            };
            let has_boost =
                parser.symbol("^") || matches!(parser.peek(), Some(TokenKind::Number(_)));
            let boost = match parser.peek() {
                Some(TokenKind::Number(digits)) if has_boost => format!("^{digits}"),
                _ if has_boost => return Err(parser.error("a number")),
                _ => String::new(),
            };
            parser.at += usize::from(has_boost);
            Ok(Value::from(name + &boost))
        })?;
        self.expect("]")?;
        Ok(Expr::Literal(Value::Array(names)))
    }
}

pub(crate) fn binary(op: Op, left: Expr, right: Expr) -> Expr {
    Expr::Binary(op, Box::new(left), Box::new(right))
}

/// Whether an expression is true, or false; where it is null it is neither.
fn is_known(expr: Expr, truth: bool) -> Expr {
    // A search can do the one. The other does not double what stands in parentheses, however deep.
    let known = match &expr {
        Expr::Column(_) => Some(Expr::Not(Box::new(Expr::IsNull(Box::new(expr.clone()))))),
        _ => None,
    };
    let equal = binary(Op::Equal, expr, Expr::Literal(truth.into()));
    match known {
        Some(known) => Expr::Logic(Logic::And, vec![known, equal]),
        None => Expr::call("coalesce", vec![equal, Expr::Literal(false.into())]),
    }
}

fn not_if(negated: bool, expr: Expr) -> Expr {
    if negated {
        Expr::Not(Box::new(expr))
    } else {
        expr
    }
}
