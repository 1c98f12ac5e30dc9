//! Statements of a script: variables, choices, loops.

use super::lexer::Token;
use super::parser::Parser;
use super::tree::{Node, Statement, Target, Type};

/// Words that no variable may have as its name, and that begin no declaration.
const KEYWORDS: &[&str] = &[
    "return",
    "if",
    "else",
    "for",
    "while",
    "do",
    "new",
    "in",
    "instanceof",
    "break",
    "continue",
    "null",
    "true",
    "false",
    "throw",
    "try",
    "catch",
    "doc",
    "params",
    "ctx",
    "_score",
];

/// How many variables a script may have.
const VARIABLES_MAX: usize = 1000;

/// Assignments to variables whose values nobody asks for become statements, which take fewer steps.
fn settle(body: &mut [Statement]) {
    for statement in body {
        let Statement::Value(Node::Assign(assign)) = statement else {
            continue;
        };
        let Target::Variable(place, kind) = &assign.target else {
            continue;
        };
        let (place, kind, operator) = (*place, *kind, assign.operator);
        let value = std::mem::replace(&mut assign.value, Node::Null);
        let value = match operator {
            Some(operator) => {
                let before = Box::new(Node::Variable(place));
                Node::Pair(operator, before, Box::new(value))
            }
            None => value,
        };
        *statement = Statement::Set {
            place,
            kind,
            // What is added to a whole number may have a fraction.
            cut: operator.is_some(),
            value,
        };
    }
}

/// The same of all but the last statement, whose value may be that of the script.
fn settle_before_last(body: &mut [Statement]) {
    if let Some((_, before)) = body.split_last_mut() {
        settle(before);
    }
}

impl Parser<'_> {
    /// All statements up to the end.
    pub(super) fn program(&mut self) -> Result<Vec<Statement>, String> {
        let mut body = Vec::new();
        self.own_names()?;
        while self.own_function()? {}
        while *self.peek() != Token::End {
            self.statement(&mut body)?;
        }
        settle_before_last(&mut body);
        Ok(body)
    }

    /// A block, or one statement; what it declares is not seen behind it.
    pub(super) fn block(&mut self) -> Result<Vec<Statement>, String> {
        let seen = self.scope.len();
        let body = self.inside(|parser| {
            let mut body = Vec::new();
            if !parser.take("{") {
                parser.statement(&mut body)?;
                return Ok(body);
            }
            while !parser.take("}") {
                parser.statement(&mut body)?;
            }
            settle_before_last(&mut body);
            Ok(body)
        });
        self.scope.truncate(seen);
        body
    }

    fn statement(&mut self, body: &mut Vec<Statement>) -> Result<(), String> {
        let (at, before) = (self.place(), body.len());
        let is_block = self.is_at("{");
        self.one_statement(body)?;
        // What is in a block says itself where it is.
        if body.len() > before && !is_block {
            body.insert(before, Statement::At(at));
        }
        Ok(())
    }

    fn one_statement(&mut self, body: &mut Vec<Statement>) -> Result<(), String> {
        self.operators = 0;
        if self.take(";") {
            return Ok(());
        }
        if self.is_at("{") {
            body.extend(self.block()?);
            return Ok(());
        }
        if self.take_word("if") {
            let statement = self.inside(Self::choose)?;
            body.push(statement);
            return Ok(());
        }
        if self.take_word("try") {
            let statement = self.attempt()?;
            body.push(statement);
            return Ok(());
        }
        if self.take_word("for") {
            return self.for_loop(body);
        }
        if self.take_word("while") {
            self.expect("(")?;
            let condition = self.expression()?;
            self.expect(")")?;
            let mut inside = self.block()?;
            settle(&mut inside);
            body.push(Statement::Loop {
                condition: Some(condition),
                step: Vec::new(),
                body: inside,
            });
            return Ok(());
        }
        if self.take_word("do") {
            let statement = self.done_first()?;
            body.push(statement);
            return self.end();
        }
        if self.take_word("return") {
            let value = match self.is_at(";") || self.is_at("}") || *self.peek() == Token::End {
                true => None,
                false => Some(self.expression()?),
            };
            body.push(Statement::Return(value));
        } else if self.take_word("break") {
            body.push(Statement::Break);
        } else if self.take_word("continue") {
            body.push(Statement::Continue);
        } else if self.take_word("throw") {
            body.push(self.thrown()?);
        } else {
            self.simple(body)?;
        }
        self.end()
    }

    /// The end of a statement, which the last of a block may leave out.
    fn end(&mut self) -> Result<(), String> {
        if self.take(";") || self.is_at("}") || *self.peek() == Token::End {
            return Ok(());
        }
        Err(self.unexpected())
    }

    fn choose(&mut self) -> Result<Statement, String> {
        self.expect("(")?;
        let condition = self.expression()?;
        self.expect(")")?;
        let yes = self.block()?;
        let no = match self.take_word("else") {
            true => self.block()?,
            false => Vec::new(),
        };
        Ok(Statement::If(condition, yes, no))
    }

    /// `do .. while (condition)`, whose first word was read: the step between two rounds ends it.
    fn done_first(&mut self) -> Result<Statement, String> {
        let mut body = self.block()?;
        settle(&mut body);
        if !self.take_word("while") {
            return Err(self.unexpected());
        }
        self.expect("(")?;
        let condition = self.expression()?;
        self.expect(")")?;
        Ok(Statement::Loop {
            condition: None,
            step: vec![Statement::If(condition, Vec::new(), vec![Statement::Break])],
            body,
        })
    }

    /// A loop over a list, or with a beginning, a condition and a step.
    fn for_loop(&mut self, body: &mut Vec<Statement>) -> Result<(), String> {
        self.expect("(")?;
        let typed = self.type_ahead(0).filter(|(_, count)| {
            matches!(
                (self.ahead(*count), self.ahead(count + 1)),
                (Token::Word(_), Token::Sign(":"))
            )
        });
        let in_list = typed.is_some()
            || matches!(
                (self.peek(), self.ahead(1)),
                (Token::Word(_), Token::Word(next)) if next == "in"
            );
        match in_list {
            true => self.each(typed.unwrap_or((Type::Any, 0)), body),
            false => self.stepped(body),
        }
    }

    /// A loop over a list, whose variable is of a type that so many tokens name.
    fn each(
        &mut self,
        (kind, count): (Type, usize),
        body: &mut Vec<Statement>,
    ) -> Result<(), String> {
        let seen = self.scope.len();
        (0..count).for_each(|_| self.skip());
        let name = self.word()?;
        self.skip();
        let list = self.expression()?;
        self.expect(")")?;
        let place = self.declare(name, kind)?;
        let mut inside = self.block()?;
        settle(&mut inside);
        self.scope.truncate(seen);
        if kind != Type::Any {
            let value = Node::Variable(place);
            let fitted = Statement::Set {
                place,
                kind,
                cut: false,
                value,
            };
            inside.insert(0, fitted);
        }
        body.push(Statement::Each {
            place,
            list,
            body: inside,
        });
        Ok(())
    }

    /// A loop with a beginning, a condition and a step, any of which may be left out.
    fn stepped(&mut self, body: &mut Vec<Statement>) -> Result<(), String> {
        let seen = self.scope.len();
        if !self.is_at(";") {
            self.simple(body)?;
        }
        self.expect(";")?;
        let condition = match self.is_at(";") {
            true => None,
            false => Some(self.expression()?),
        };
        self.expect(";")?;
        let mut step = Vec::new();
        while !self.take(")") {
            self.simple(&mut step)?;
            if !self.take(",") && !self.is_at(")") {
                return Err(self.unexpected());
            }
        }
        let mut inside = self.block()?;
        settle(&mut inside);
        settle(&mut step);
        self.scope.truncate(seen);
        body.push(Statement::Loop {
            condition,
            step,
            body: inside,
        });
        Ok(())
    }

    pub(super) fn declare(&mut self, name: String, kind: Type) -> Result<usize, String> {
        if KEYWORDS.contains(&name.as_str()) {
            return Err(self.wrong(format_args!("invalid name of a variable [{name}]")));
        }
        self.declare_any(name, kind)
    }

    /// The same, of a name that may be one of what scripts see, as functions of their own may call what they are given.
    pub(super) fn declare_any(&mut self, name: String, kind: Type) -> Result<usize, String> {
        if self.scope.iter().any(|(known, ..)| *known == name) {
            return Err(self.wrong(format_args!("variable [{name}] is already defined")));
        }
        if self.variables >= VARIABLES_MAX {
            return Err(self.wrong(format_args!("more than [{VARIABLES_MAX}] variables")));
        }
        let place = self.variables;
        self.variables += 1;
        self.scope.push((name, kind, place));
        Ok(place)
    }

    /// A declaration, an assignment, or a value.
    pub(super) fn simple(&mut self, body: &mut Vec<Statement>) -> Result<(), String> {
        if let Some((kind, count)) = self.type_ahead(0)
            && let Token::Word(variable) = self.ahead(count)
            && !KEYWORDS.contains(&variable.as_str())
        {
            (0..count).for_each(|_| self.skip());
            return self.declarations(kind, body);
        }
        if let (Token::Word(name), Token::Word(variable)) = (self.peek(), self.ahead(1))
            && !KEYWORDS.contains(&name.as_str())
            && !KEYWORDS.contains(&variable.as_str())
        {
            return Err(format!("{}: unknown type [{name}]", self.unexpected()));
        }
        let value = self.expression()?;
        body.push(Statement::Value(value));
        Ok(())
    }

    /// The type that begins so many tokens ahead, and how many tokens it has: `int`, `Map.Entry`, `String[][]`.
    pub(super) fn type_ahead(&self, by: usize) -> Option<(Type, usize)> {
        let Token::Word(name) = self.ahead(by) else {
            return None;
        };
        let (mut kind, mut count) = (Type::named(name), 1);
        if name == "Map"
            && matches!(self.ahead(by + 1), Token::Sign("."))
            && matches!(self.ahead(by + 2), Token::Word(inner) if inner == "Entry")
        {
            count = 3;
        }
        while matches!(
            (self.ahead(by + count), self.ahead(by + count + 1)),
            (Token::Sign("["), Token::Sign("]"))
        ) {
            kind = kind.map(|_| Type::Any);
            count += 2;
        }
        Some((kind?, count))
    }

    /// The class that a value is asked for: what is not boxed is, and arrays are lists.
    pub(super) fn class(&mut self) -> Result<String, String> {
        let word = self.word()?;
        let mut class = match word.as_str() {
            "int" => "Integer",
            "long" => "Long",
            "short" => "Short",
            "byte" => "Byte",
            "double" => "Double",
            "float" => "Float",
            "boolean" => "Boolean",
            "char" => "Character",
            other => other,
        };
        while self.take("[") {
            self.expect("]")?;
            class = "List";
        }
        Ok(class.to_string())
    }

    /// Variables of one type, each with its value or with none.
    fn declarations(&mut self, kind: Type, body: &mut Vec<Statement>) -> Result<(), String> {
        loop {
            let name = self.word()?;
            let value = match self.take("=") {
                true if kind == Type::Any => self.argument()?,
                true => self.expression()?,
                false => match kind {
                    Type::Whole | Type::Int | Type::Short | Type::Byte | Type::Char => {
                        Node::Whole(0)
                    }
                    Type::Float => Node::Float(0.0),
                    Type::Bool => Node::Bool(false),
                    Type::Any | Type::Text => Node::Null,
                },
            };
            let place = self.declare(name, kind)?;
            body.push(Statement::Set {
                place,
                kind,
                cut: false,
                value,
            });
            if !self.take(",") {
                return Ok(());
            }
        }
    }
}
