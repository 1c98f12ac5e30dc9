//! From tokens to what has a value. Parameters are known here already: those that are single values are put in their
//! places, and fields may be named by them.

use serde_json::Value;

use super::assign::call_of_part;
use super::lexer::{Token, tokens};
use super::members;
use super::tree::{CLASS_LEVEL, CLASSES, LEVELS, Node, Operator, Own, Statement, Type};
use super::{ScriptLanguage, ScriptMeasure, ScriptPurpose};

/// How deep a script may be nested.
const DEPTH_MAX: usize = 100;
/// Operators, members and calls of a statement: a long row of them is a deep tree, which is walked down for each document.
const OPERATORS_MAX: usize = 400;

/// How errors begin of tokens that have no place where they stand.
const UNEXPECTED: &str = "unexpected ";

/// What was read.
pub(super) struct Read {
    pub(super) fields: Vec<String>,
    pub(super) measures: Vec<ScriptMeasure>,
    pub(super) wanted_at: Vec<(usize, usize)>,
    pub(super) scored: bool,
    pub(super) variables: usize,
    pub(super) functions: Vec<Own>,
    pub(super) body: Vec<Statement>,
}

/// Reads a script.
pub(super) struct Parser<'a> {
    tokens: Vec<(usize, Token)>,
    at: usize,
    depth: usize,
    /// Those of the statement that is read.
    pub(super) operators: usize,
    pub(super) language: ScriptLanguage,
    pub(super) params: &'a Value,
    pub(super) purpose: ScriptPurpose,
    pub(super) fields: Vec<String>,
    pub(super) measures: Vec<ScriptMeasure>,
    /// Regular expressions that were read.
    pub(super) patterns: usize,
    /// Fields of which one value is wanted, and where.
    wanted_at: Vec<(usize, usize)>,
    /// Whether the score was asked for.
    pub(super) scored: bool,
    /// What is wrong with the first name that stands for nothing.
    pub(super) unresolved: Option<String>,
    /// Variables that can be seen, with their places.
    pub(super) scope: Vec<(String, Type, usize)>,
    pub(super) variables: usize,
    /// Functions of the script's own that were read.
    pub(super) functions: Vec<Own>,
    /// The names of these, and of the one that is read, with how many arguments they take.
    pub(super) function_names: Vec<(String, usize)>,
    /// What each of these gives back.
    pub(super) function_kinds: Vec<Type>,
    /// How deep what was read is, and how many operators a statement of it has.
    pub(super) deepest: usize,
    pub(super) longest: usize,
}

impl<'a> Parser<'a> {
    pub(super) fn new(
        text: &str,
        language: ScriptLanguage,
        params: &'a Value,
        purpose: ScriptPurpose,
    ) -> Result<Self, String> {
        Ok(Parser {
            tokens: tokens(text)?,
            at: 0,
            depth: 0,
            operators: 0,
            language,
            params,
            purpose,
            fields: Vec::new(),
            measures: Vec::new(),
            patterns: 0,
            wanted_at: Vec::new(),
            scored: false,
            unresolved: None,
            scope: Vec::new(),
            variables: 0,
            functions: Vec::new(),
            function_names: Vec::new(),
            function_kinds: Vec::new(),
            deepest: 0,
            longest: 0,
        })
    }

    pub(super) fn read(mut self) -> Result<Read, String> {
        let body = self.whole();
        // All of a text is read before its names are looked up.
        let body = match (body, self.unresolved.take()) {
            (Err(reason), Some(unresolved)) if !reason.starts_with(UNEXPECTED) => {
                return Err(unresolved);
            }
            (Ok(_), Some(unresolved)) => return Err(unresolved),
            (body, _) => body?,
        };
        if body.is_empty() {
            return Err("the script is empty".to_string());
        }
        Ok(Read {
            fields: self.fields,
            measures: self.measures,
            wanted_at: self.wanted_at,
            scored: self.scored,
            variables: self.variables,
            functions: self.functions,
            body,
        })
    }

    fn whole(&mut self) -> Result<Vec<Statement>, String> {
        let body = match self.language {
            ScriptLanguage::Painless => self.program()?,
            ScriptLanguage::Expression => {
                let value = self.expression()?;
                self.take(";");
                vec![Statement::Value(value)]
            }
        };
        match self.peek() {
            Token::End => Ok(body),
            _ => Err(self.unexpected()),
        }
    }

    pub(super) fn peek(&self) -> &Token {
        self.ahead(0)
    }

    pub(super) fn ahead(&self, by: usize) -> &Token {
        let token = self.tokens.get(self.at + by);
        token.map_or(&Token::End, |(_, token)| token)
    }

    pub(super) fn skip(&mut self) {
        self.at += 1;
    }

    pub(super) fn is_at(&self, sign: &str) -> bool {
        matches!(self.peek(), Token::Sign(have) if *have == sign)
    }

    pub(super) fn take(&mut self, sign: &str) -> bool {
        let found = self.is_at(sign);
        self.at += usize::from(found);
        found
    }

    pub(super) fn expect(&mut self, sign: &str) -> Result<(), String> {
        match self.take(sign) {
            true => Ok(()),
            false => Err(self.unexpected()),
        }
    }

    pub(super) fn take_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Token::Word(have) if have == word);
        self.at += usize::from(found);
        found
    }

    pub(super) fn word(&mut self) -> Result<String, String> {
        let Token::Word(word) = self.peek() else {
            return Err(self.unexpected());
        };
        let word = word.clone();
        self.at += 1;
        Ok(word)
    }

    /// The error of a token that has no place here.
    pub(super) fn unexpected(&self) -> String {
        let Some((at, token)) = self.tokens.get(self.at) else {
            return format!("{UNEXPECTED}end of script.");
        };
        let shown = match token {
            Token::End => return format!("{UNEXPECTED}end of script. at [{at}]"),
            Token::Whole(number) | Token::Long(number) => number.to_string(),
            Token::Float(number) => format!("{number:?}"),
            Token::Text(text) => format!("'{text}'"),
            Token::Word(word) => word.clone(),
            Token::Regex(text, flags) => format!("/{text}/{flags}"),
            Token::Sign(sign) => (*sign).to_string(),
        };
        format!("{UNEXPECTED}token ['{shown}'] at [{at}]")
    }

    /// The byte of the text where the next token begins.
    pub(super) fn place(&self) -> usize {
        self.tokens.get(self.at).map_or(0, |(at, _)| *at)
    }

    /// An error about what stands before this place.
    pub(super) fn wrong(&self, what: impl std::fmt::Display) -> String {
        format!("{what} at [{}]", self.place_before())
    }

    /// The byte of the text where the token begins that was read last.
    pub(super) fn place_before(&self) -> usize {
        let before = self.tokens.get(self.at.saturating_sub(1));
        before.map_or(0, |(at, _)| *at)
    }

    /// Goes one level down, with something that leads back up.
    pub(super) fn inside<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, String>,
    ) -> Result<T, String> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(self.wrong(format_args!(
                "the script is nested more than [{DEPTH_MAX}] deep"
            )));
        }
        self.deepest = self.deepest.max(self.depth);
        let found = read(self);
        self.depth -= 1;
        found
    }

    pub(super) fn expression(&mut self) -> Result<Node, String> {
        self.inside(|parser| {
            let target = parser.choice()?;
            parser.assignment(target)
        })
    }

    fn choice(&mut self) -> Result<Node, String> {
        let condition = self.any_of()?;
        if self.take("?:") {
            let other = self.expression()?;
            return Ok(Node::Otherwise(Box::new(condition), Box::new(other)));
        }
        if !self.take("?") {
            return Ok(condition);
        }
        let yes = self.expression()?;
        self.expect(":")?;
        let no = self.expression()?;
        Ok(self.choice_of(condition, yes, no))
    }

    fn any_of(&mut self) -> Result<Node, String> {
        let mut left = self.all_of()?;
        while self.take("||") {
            self.count(1)?;
            let right = self.all_of()?;
            left = Node::Or(Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn all_of(&mut self) -> Result<Node, String> {
        let mut left = self.pair(0)?;
        while self.take("&&") {
            self.count(1)?;
            let right = self.pair(0)?;
            left = Node::And(Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    /// Counts operators of the statement that is read.
    pub(super) fn count(&mut self, more: usize) -> Result<(), String> {
        self.operators += more;
        self.longest = self.longest.max(self.operators);
        match self.operators > OPERATORS_MAX {
            true => Err(self.wrong(format_args!("more than [{OPERATORS_MAX}] operators"))),
            false => Ok(()),
        }
    }

    fn pair(&mut self, level: usize) -> Result<Node, String> {
        let Some(operators) = LEVELS.get(level) else {
            return self.unary();
        };
        let mut left = self.pair(level + 1)?;
        while let Some(operator) = self.operator(operators) {
            self.count(1)?;
            let right = self.pair(level + 1)?;
            left = self.paired(operator, left, right);
        }
        if level == CLASS_LEVEL && self.take_word("instanceof") {
            let class = self.class()?;
            if !CLASSES.contains(&class.as_str()) {
                return Err(self.wrong(format_args!("unknown type [{class}]")));
            }
            left = Node::Is(Box::new(left), class);
        }
        Ok(left)
    }

    fn operator(&mut self, operators: &[Operator]) -> Option<Operator> {
        let Token::Sign(sign) = self.peek() else {
            return None;
        };
        let sign = match *sign {
            "===" => "==",
            "!==" => "!=",
            other => other,
        };
        let found = operators.iter().find(|one| one.sign() == sign).copied();
        self.at += usize::from(found.is_some());
        found
    }

    fn unary(&mut self) -> Result<Node, String> {
        if let Token::Sign(sign) = *self.peek()
            && let Some(operator) = self.counts(sign)
        {
            self.skip();
            let target = self.inside(Self::unary)?;
            return self.assign(target, Some(operator), Node::Whole(1), false);
        }
        if self.take("-") {
            let node = self.inside(Self::unary)?;
            return Ok(match node {
                Node::Whole(number) => Node::Whole(number.wrapping_neg()),
                Node::Long(number) => Node::Long(number.wrapping_neg()),
                Node::Float(number) => Node::Float(-number),
                node if self.is_int(&node) => self.paired(Operator::Subtract, Node::Whole(0), node),
                node => Node::Negated(Box::new(node)),
            });
        }
        if self.take("+") {
            return self.inside(Self::unary);
        }
        if self.take("!") {
            return Ok(Node::Not(Box::new(self.inside(Self::unary)?)));
        }
        if self.take("~") {
            return Ok(Node::Flipped(Box::new(self.inside(Self::unary)?)));
        }
        if let Some(kind) = self.cast() {
            return Ok(Node::Cast(kind, Box::new(self.inside(Self::unary)?)));
        }
        self.postfix()
    }

    /// A type in parentheses with a value behind it.
    fn cast(&mut self) -> Option<Type> {
        let (Token::Sign("("), Token::Word(name), Token::Sign(")")) =
            (self.peek(), self.ahead(1), self.ahead(2))
        else {
            return None;
        };
        let kind = Type::named(name)?;
        let is_variable = self.scope.iter().any(|(known, ..)| known == name);
        if is_variable || matches!(self.ahead(3), Token::End) {
            return None;
        }
        self.at += 3;
        Some(kind)
    }

    fn postfix(&mut self) -> Result<Node, String> {
        let mut node = self.atom()?;
        loop {
            let safe = self.is_at("?.");
            if self.take(".") || self.take("?.") {
                self.count(1)?;
                node = self.member(node, safe)?;
            } else if self.take("[") {
                self.count(1)?;
                let index = self.expression()?;
                self.expect("]")?;
                node = self.element(node, index)?;
            } else if let Token::Sign(sign) = *self.peek()
                && let Some(operator) = self.counts(sign)
            {
                self.skip();
                self.count(1)?;
                return self.assign(node, Some(operator), Node::Whole(1), true);
            } else {
                return Ok(node);
            }
        }
    }

    fn member(&mut self, of: Node, safe: bool) -> Result<Node, String> {
        let at = self.place_before();
        let name = self.word()?;
        if self.take("(") {
            let arguments = self.arguments(")")?;
            if let (Node::Params, "get", [Node::Text(key)]) = (&of, name.as_str(), &arguments[..]) {
                return self.param(key);
            }
            if !members::is_method(&name, arguments.len()) {
                let count = arguments.len();
                return Err(self.wrong(format_args!(
                    "member method [{name}/{count}] is not supported"
                )));
            }
            return Ok(call_of_part(Node::Call {
                of: Box::new(of),
                name,
                arguments,
                safe,
                at,
            }));
        }
        match of {
            Node::Params => self.param(&name),
            Node::Values(field) if name == "value" && !safe => {
                self.wanted_at.push((field, at));
                Ok(Node::Value(field))
            }
            Node::Values(field) if name == "values" => Ok(Node::Values(field)),
            of => Ok(Node::Member {
                of: Box::new(of),
                name,
                safe,
                at,
            }),
        }
    }

    fn element(&mut self, of: Node, index: Node) -> Result<Node, String> {
        match (of, index) {
            (Node::Params, Node::Text(name)) => self.param(&name),
            (of, index) => Ok(Node::Index(Box::new(of), Box::new(index))),
        }
    }

    /// A whole number that is written without an `L`, which was read: it has 32 bits. The least one has no positive of its
    /// size, and stands behind a minus.
    fn int_literal(&self, number: i64) -> Result<Node, String> {
        let sign = self.at.checked_sub(2).and_then(|at| self.tokens.get(at));
        let is_negated = matches!(sign, Some((_, Token::Sign("-"))));
        let most = i64::from(i32::MAX) + i64::from(is_negated);
        if (i64::from(i32::MIN)..=most).contains(&number) {
            return Ok(Node::Whole(number));
        }
        Err(self.wrong(format_args!(
            "Invalid int constant [{number}]. If you want a long constant then change it to \
             [{number}L]."
        )))
    }

    fn atom(&mut self) -> Result<Node, String> {
        let token = self.peek().clone();
        match token {
            Token::Whole(number) | Token::Long(number) => {
                self.skip();
                if self.language == ScriptLanguage::Expression {
                    return Ok(Node::Cast(Type::Float, Box::new(Node::Whole(number))));
                }
                if let Token::Long(number) = token {
                    return Ok(Node::Long(number));
                }
                self.int_literal(number)
            }
            Token::Float(number) => {
                self.skip();
                Ok(Node::Float(number))
            }
            Token::Text(text) => {
                self.skip();
                Ok(Node::Text(text))
            }
            Token::Sign("(") => {
                self.skip();
                let node = self.expression()?;
                self.expect(")")?;
                Ok(node)
            }
            Token::Sign("[") => {
                self.skip();
                self.listed()
            }
            Token::Word(word) => {
                self.skip();
                self.named(&word)
            }
            Token::Regex(text, flags) => {
                self.skip();
                self.pattern(text, flags)
            }
            Token::Sign(_) | Token::End => Err(self.unexpected()),
        }
    }
}
