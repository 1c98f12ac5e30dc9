//! Reading what changes something: members and items that get values, and what is done with each item of a list.

use super::failures::is_caught;
use super::lexer::Token;
use super::operators::fitted;
use super::parser::Parser;
use super::run::{Machine, element};
use super::tree::{Assign, Catch, Lambda, Named, Node, Operator, Statement, Target, Thrown, Type};
use super::value::ScriptValue;
use super::{ScriptLanguage, collections, functions};
use crate::error::ScriptError;

/// Operators that give what stands before them the value that comes of it and another one.
const COMPOUND: &[(&str, Operator)] = &[
    ("+=", Operator::Add),
    ("-=", Operator::Subtract),
    ("*=", Operator::Multiply),
    ("/=", Operator::Divide),
    ("%=", Operator::Remainder),
    ("&=", Operator::BitAnd),
    ("|=", Operator::BitOr),
    ("^=", Operator::BitXor),
    ("<<=", Operator::ShiftLeft),
    (">>=", Operator::ShiftRight),
    (">>>=", Operator::ShiftRightUnsigned),
];

/// What `++` and `--` do.
fn counting(sign: &str) -> Option<Operator> {
    match sign {
        "++" => Some(Operator::Add),
        "--" => Some(Operator::Subtract),
        _ => None,
    }
}

impl Parser<'_> {
    /// What `++` and `--` do here: in expressions there is nothing to change.
    pub(super) fn counts(&self, sign: &str) -> Option<Operator> {
        let is_painless = self.language == ScriptLanguage::Painless;
        counting(sign).filter(|_| is_painless)
    }

    /// What becomes of a value that was read: something may be assigned to it.
    pub(super) fn assignment(&mut self, target: Node) -> Result<Node, String> {
        let Token::Sign(sign) = *self.peek() else {
            return Ok(target);
        };
        let compound = COMPOUND.iter().find(|(known, _)| *known == sign);
        let operator = compound.map(|(_, operator)| *operator);
        let is_painless = self.language == ScriptLanguage::Painless;
        if !is_painless || (sign != "=" && operator.is_none()) {
            return Ok(target);
        }
        self.skip();
        self.count(1)?;
        let value = self.expression()?;
        self.assign(target, operator, value, false)
    }

    /// Gives what stands a value; `before` asks for the one that it had.
    pub(super) fn assign(
        &self,
        target: Node,
        operator: Option<Operator>,
        value: Node,
        before: bool,
    ) -> Result<Node, String> {
        let target = match target {
            Node::Variable(place) => {
                let mut known = self.scope.iter().rev();
                let known = known.find(|(_, _, known)| *known == place);
                let kind = known.map_or(Type::Any, |(_, kind, _)| *kind);
                Target::Variable(place, kind)
            }
            Node::Member {
                of,
                name,
                safe: false,
                ..
            } => Target::Member(of, Box::new(Node::Text(name))),
            Node::Index(of, key) => Target::Member(of, key),
            _ => {
                return Err(self.wrong("invalid assignment: cannot assign a value to what stands"));
            }
        };
        Ok(Node::Assign(Box::new(Assign {
            target,
            operator,
            value,
            before,
        })))
    }

    /// What an operator makes of two values: of whole numbers of 32 bits another one, as far as the text tells what they are.
    pub(super) fn paired(&self, operator: Operator, left: Node, right: Node) -> Node {
        let has_ints = match operator {
            Operator::Add | Operator::Subtract | Operator::Multiply | Operator::Divide => {
                self.is_int(&left) && self.is_int(&right)
            }
            // By how much it is shifted may be any whole number.
            Operator::ShiftLeft | Operator::ShiftRight | Operator::ShiftRightUnsigned => {
                self.is_int(&left)
            }
            _ => false,
        };
        let (left, right) = (Box::new(left), Box::new(right));
        match self.language == ScriptLanguage::Painless && has_ints {
            true => Node::PairOfInts(operator, left, right),
            false => Node::Pair(operator, left, right),
        }
    }

    /// A choice between two values: where one is a fraction, as far as the text tells, a whole number is one, too.
    pub(super) fn choice_of(&self, condition: Node, yes: Node, no: Node) -> Node {
        let fractions = (self.is_fraction(&yes), self.is_fraction(&no));
        // What a call answers has no type that the text tells.
        let fits = |node: Node| match self.is_int(&node) && !matches!(node, Node::Call { .. }) {
            true => Node::Cast(Type::Float, Box::new(node)),
            false => node,
        };
        let (yes, no) = match fractions {
            (true, false) => (yes, fits(no)),
            (false, true) => (fits(yes), no),
            (true, true) | (false, false) => (yes, no),
        };
        Node::Choice(Box::new(condition), Box::new(yes), Box::new(no))
    }

    /// Whether what has a value has a fraction, as far as its text tells.
    fn is_fraction(&self, node: &Node) -> bool {
        match node {
            Node::Float(_) => true,
            Node::Cast(kind, _) => *kind == Type::Float,
            Node::Negated(inner) => self.is_fraction(inner),
            Node::Function(name, arguments) => {
                self.language == ScriptLanguage::Painless
                    && functions::makes_fraction(name, arguments.len())
            }
            _ => false,
        }
    }

    /// Whether what has a value has one of 32 bits, as far as its text tells.
    pub(super) fn is_int(&self, node: &Node) -> bool {
        match node {
            Node::Whole(number) => i32::try_from(*number).is_ok(),
            Node::Variable(place) => {
                let mut known = self.scope.iter();
                known.any(|(_, kind, known)| known == place && kind.is_int())
            }
            Node::Own(place, _) => {
                let kind = self.function_kinds.get(*place);
                kind.is_some_and(|kind| kind.is_int())
            }
            Node::Cast(kind, _) => kind.is_int(),
            Node::Flipped(inner) => self.is_int(inner),
            Node::PairOfInts(..) => true,
            Node::Pair(
                Operator::Remainder | Operator::BitAnd | Operator::BitOr | Operator::BitXor,
                left,
                right,
            ) => self.is_int(left) && self.is_int(right),
            Node::Call { name, .. } => matches!(
                name.as_str(),
                "charAt" | "hashCode" | "indexOf" | "intValue" | "lastIndexOf" | "length" | "size"
            ),
            _ => false,
        }
    }

    pub(super) fn arguments(&mut self, end: &str) -> Result<Vec<Node>, String> {
        let mut arguments = Vec::new();
        if self.take(end) {
            return Ok(arguments);
        }
        loop {
            let argument = self.argument()?;
            arguments.push(argument);
            if self.take(end) {
                return Ok(arguments);
            }
            self.expect(",")?;
        }
    }

    /// A value, a lambda, or what `::` names.
    pub(super) fn argument(&mut self) -> Result<Node, String> {
        if let Some(lambda) = self.lambda()? {
            return Ok(Node::Lambda(lambda));
        }
        if let Some(named) = self.reference()? {
            return Ok(self.named_lambda(named));
        }
        let value = self.expression()?;
        if !self.take("::") {
            return Ok(value);
        }
        let name = self.word()?;
        Ok(self.named_lambda(Named::Of(Box::new(value), name)))
    }

    /// What may fail, whose first word was read, and what is done then.
    pub(super) fn attempt(&mut self) -> Result<Statement, String> {
        let body = self.block()?;
        let mut catches = Vec::new();
        while self.take_word("catch") {
            self.expect("(")?;
            let class = self.word()?;
            if !is_caught(&class) {
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
            // Something that was made, or caught, before.
            let failure = self.expression()?;
            return Ok(Statement::Throw(Thrown::Again, failure));
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
            Ok(Lambda {
                places,
                body,
                around: Vec::new(),
                depth: 0,
                named: None,
            })
        });
        self.scope.truncate(seen);
        // The statement around it goes on, and its tree is deeper by what lies in the lambda.
        let inside = self.longest;
        (self.operators, self.longest) = (operators, longest);
        let mut lambda = lambda?;
        lambda.around = self.seen();
        lambda.depth = 1 + self.deepest + inside;
        self.count(inside)?;
        Ok(Some(lambda))
    }

    /// The places of the variables that can be seen.
    fn seen(&self) -> Vec<usize> {
        self.scope.iter().map(|(_, _, place)| *place).collect()
    }

    /// What `::` names, as a lambda.
    fn named_lambda(&self, named: Named) -> Node {
        Node::Lambda(Lambda {
            places: Vec::new(),
            body: Vec::new(),
            around: self.seen(),
            depth: 1 + self.deepest,
            named: Some(named),
        })
    }

    /// `String::length`, `Map.Entry::getKey`, `this::own`, if that comes next.
    pub(super) fn reference(&mut self) -> Result<Option<Named>, String> {
        let Token::Word(word) = self.peek() else {
            return Ok(None);
        };
        let word = word.clone();
        let count = match self.type_ahead(0) {
            Some((_, count)) => count,
            None => 1,
        };
        if !matches!(self.ahead(count), Token::Sign("::"))
            || self.scope.iter().any(|(name, ..)| *name == word)
        {
            return Ok(None);
        }
        let is_class = word.starts_with(|first: char| first.is_ascii_uppercase()) || count > 1;
        if !is_class && word != "this" {
            return Ok(None);
        }
        (0..=count).for_each(|_| self.skip());
        let name = self.word()?;
        if word != "this" {
            return Ok(Some(Named::Class(word, name)));
        }
        let known = self.function_names.iter().enumerate();
        let places = known.filter(|(_, (own, _))| *own == name);
        let places: Vec<usize> = places.map(|(place, _)| place).collect();
        match places.is_empty() {
            true => Err(self.wrong(format_args!("function [{name}] not found"))),
            false => Ok(Some(Named::Own(places))),
        }
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

impl<'a> Machine<'a, '_> {
    /// Gives something a value, which is the value of it all, or the one from before.
    pub(super) fn assigned(&mut self, assign: &'a Assign) -> Result<ScriptValue<'a>, ScriptError> {
        let (before, made) = match &assign.target {
            Target::Variable(place, kind) => {
                let before = match assign.operator {
                    Some(_) => self.variables.get(*place).cloned(),
                    None => None,
                };
                let before = before.unwrap_or(ScriptValue::Null);
                let made = self.combined(assign, &before)?;
                let made = fitted(*kind, made, assign.operator.is_some())?;
                self.set(*place, made.clone());
                (before, made)
            }
            Target::Member(of, key) => {
                let (of, key) = (self.value(of)?, self.value(key)?);
                self.gone_through(&key)?;
                let before = match assign.operator {
                    Some(_) => element(&of, &key)?,
                    None => ScriptValue::Null,
                };
                let made = self.combined(assign, &before)?;
                self.hold(&made)?;
                collections::put(&of, &key, made.clone())?;
                (before, made)
            }
        };
        Ok(if assign.before { before } else { made })
    }

    /// The value that is given.
    fn combined(
        &mut self,
        assign: &'a Assign,
        before: &ScriptValue<'a>,
    ) -> Result<ScriptValue<'a>, ScriptError> {
        let value = self.value(&assign.value)?;
        match assign.operator {
            Some(operator) => self.paired(operator, before, &value),
            None => Ok(value),
        }
    }
}

/// A call of a method. Items that are taken out of the names, the values or the entries of a map are taken out of that.
pub(super) fn call_of_part(call: Node) -> Node {
    let Node::Call {
        of,
        name,
        arguments,
        safe,
        at,
    } = call
    else {
        return call;
    };
    match *of {
        Node::Call {
            of,
            name: part,
            arguments: none,
            safe: inner,
            ..
        } if matches!(
            name.as_str(),
            "clear" | "iterator" | "remove" | "removeAll" | "removeIf" | "retainAll"
        ) && none.is_empty()
            && matches!(part.as_str(), "keySet" | "values" | "entrySet") =>
        {
            Node::Call {
                of,
                name: format!("{part}.{name}"),
                arguments,
                safe: inner,
                at,
            }
        }
        of => Node::Call {
            of: Box::new(of),
            name,
            arguments,
            safe,
            at,
        },
    }
}
