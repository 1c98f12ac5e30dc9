//! Reading what changes something: members and items that get values, and what is done with each item of a list.

use super::failures::CAUGHT;
use super::lexer::Token;
use super::parser::Parser;
use super::tree::{Catch, Lambda, Node, Operator, Statement, Thrown, Type};

/// Operators that give what stands before them the value that comes of it and another one.
pub(super) const COMPOUND: &[(&str, Operator)] = &[
    ("+=", Operator::Add),
    ("-=", Operator::Subtract),
    ("*=", Operator::Multiply),
    ("/=", Operator::Divide),
    ("%=", Operator::Remainder),
];

/// What `++` and `--` do.
pub(super) fn counting(sign: &str) -> Option<Operator> {
    match sign {
        "++" => Some(Operator::Add),
        "--" => Some(Operator::Subtract),
        _ => None,
    }
}

impl Parser<'_> {
    /// What becomes of a value that was read as a statement: something may be assigned to it.
    pub(super) fn assigned(&mut self, target: Node) -> Result<Statement, String> {
        let Token::Sign(sign) = *self.peek() else {
            return Ok(Statement::Value(target));
        };
        let compound = COMPOUND.iter().find(|(known, _)| *known == sign);
        let operator = compound.map(|(_, operator)| *operator);
        if let Some(operator) = counting(sign) {
            self.skip();
            return self.put(target, Some(operator), Node::Whole(1));
        }
        if sign != "=" && operator.is_none() {
            return Ok(Statement::Value(target));
        }
        self.skip();
        let value = self.expression()?;
        self.put(target, operator, value)
    }

    /// `++` or `--` before a member or an item.
    pub(super) fn counted_before(&mut self, operator: Operator) -> Result<Statement, String> {
        self.skip();
        let target = self.expression()?;
        self.put(target, Some(operator), Node::Whole(1))
    }

    fn put(
        &self,
        target: Node,
        operator: Option<Operator>,
        value: Node,
    ) -> Result<Statement, String> {
        let (of, key) = match target {
            Node::Member {
                of,
                name,
                safe: false,
            } => (*of, Node::Text(name)),
            Node::Index(of, key) => (*of, *key),
            _ => {
                return Err(self.wrong("invalid assignment: cannot assign a value to what stands"));
            }
        };
        Ok(Statement::Put {
            of,
            key,
            operator,
            value,
        })
    }

    /// What may fail, whose first word was read, and what is done then.
    pub(super) fn attempt(&mut self) -> Result<Statement, String> {
        let body = self.block()?;
        let mut catches = Vec::new();
        while self.take_word("catch") {
            self.expect("(")?;
            let class = self.word()?;
            if !CAUGHT.contains(&class.as_str()) {
                return Err(self.wrong(format_args!("unknown type [{class}]")));
            }
            let name = self.word()?;
            self.expect(")")?;
            let seen = self.scope.len();
            let place = self.declare(name, Type::Any)?;
            let body = self.block()?;
            self.scope.truncate(seen);
            catches.push(Catch { class, place, body });
        }
        match catches.is_empty() {
            true => Err(self.unexpected()),
            false => Ok(Statement::Try { body, catches }),
        }
    }

    /// `throw new IllegalArgumentException('reason')`, whose first word was read.
    pub(super) fn thrown(&mut self) -> Result<Statement, String> {
        if !self.take_word("new") {
            return Err(self.unexpected());
        }
        let class = self.word()?;
        let thrown = Thrown::named(&class)
            .ok_or_else(|| self.wrong(format_args!("unknown type [{class}]")))?;
        self.expect("(")?;
        let mut arguments = self.arguments(")")?;
        match (arguments.pop(), arguments.is_empty()) {
            (None, _) => Ok(Statement::Throw(thrown, Node::Null)),
            (Some(reason), true) => Ok(Statement::Throw(thrown, reason)),
            (Some(_), false) => Err(self.wrong(format_args!("[{class}] takes one argument"))),
        }
    }

    /// `x -> ..`, `(x, y) -> ..`, if that comes next.
    pub(super) fn lambda(&mut self) -> Result<Option<Lambda>, String> {
        let Some(names) = self.lambda_names() else {
            return Ok(None);
        };
        let (seen, operators) = (self.scope.len(), self.operators);
        let longest = self.longest;
        (self.operators, self.longest) = (0, 0);
        let lambda = self.inside(|parser| {
            let mut places = Vec::with_capacity(names.len());
            for name in names {
                places.push(parser.declare(name, Type::Any)?);
            }
            let body = match parser.is_at("{") {
                true => parser.block()?,
                false => {
                    let mut body = Vec::new();
                    parser.simple(&mut body)?;
                    body
                }
            };
            Ok(Lambda { places, body })
        });
        self.scope.truncate(seen);
        // The statement around it goes on, and its tree is deeper by what lies in the lambda.
        let inside = self.longest;
        (self.operators, self.longest) = (operators, longest);
        let lambda = lambda?;
        self.count(inside)?;
        Ok(Some(lambda))
    }

    /// The names before an arrow, which are gone past with it.
    fn lambda_names(&mut self) -> Option<Vec<String>> {
        let in_parentheses = self.is_at("(");
        let mut by = usize::from(in_parentheses);
        let mut names = Vec::new();
        loop {
            // A type may stand before the name.
            if matches!(self.ahead(by + 1), Token::Word(_)) {
                by += 1;
            }
            match self.ahead(by) {
                Token::Word(name) => names.push(name.clone()),
                Token::Sign(")") if in_parentheses && names.is_empty() => break,
                _ => return None,
            }
            by += 1;
            if !(in_parentheses && matches!(self.ahead(by), Token::Sign(","))) {
                break;
            }
            by += 1;
        }
        if in_parentheses {
            if !matches!(self.ahead(by), Token::Sign(")")) {
                return None;
            }
            by += 1;
        }
        if !matches!(self.ahead(by), Token::Sign("->")) {
            return None;
        }
        for _ in 0..=by {
            self.skip();
        }
        Some(names)
    }
}
