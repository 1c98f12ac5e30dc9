//! Functions of a script's own, which stand before its statements. A call has variables of its own, and sees no others.

use super::lexer::Token;
use super::operators::fitted;
use super::parser::Parser;
use super::run::{Flow, Machine};
use super::tree::{Node, Own, Type};
use super::value::ScriptValue;
use crate::error::{ScriptError, ScriptErrorKind};

/// How many functions a script may have.
const FUNCTIONS_MAX: usize = 100;
/// How deep the trees of functions may lie in each other that are at work: each level takes some of the stack.
pub(super) const DEPTH_MAX: usize = 400;

/// The error of functions that lie deeper in each other.
pub(super) fn too_deep() -> ScriptError {
    ScriptError::new(
        ScriptErrorKind::Limit,
        "functions of the script call each other too deep",
    )
}

impl Parser<'_> {
    /// Finds the names of all functions, which call those behind them, too.
    pub(super) fn own_names(&mut self) -> Result<(), String> {
        let mut by = 0;
        while let Some((name, count, end)) = self.own_ahead(by) {
            let known = (name, count);
            if self.function_names.contains(&known) {
                let (name, count) = known;
                return Err(self.wrong(format_args!(
                    "function [{name}] with [{count}] arguments is already defined"
                )));
            }
            if self.function_names.len() >= FUNCTIONS_MAX {
                return Err(self.wrong(format_args!("more than [{FUNCTIONS_MAX}] functions")));
            }
            let kind = self.type_ahead(by).map_or(Type::Any, |(kind, _)| kind);
            self.function_names.push(known);
            self.function_kinds.push(kind);
            by = end;
        }
        Ok(())
    }

    /// The name of the function that begins so many tokens ahead, how many arguments it takes, and where it ends.
    fn own_ahead(&self, by: usize) -> Option<(String, usize, usize)> {
        let length = match self.ahead(by) {
            Token::Word(kind) if kind == "void" => 1,
            _ => self.type_ahead(by)?.1,
        };
        let mut at = by + length;
        let (Token::Word(name), Token::Sign("(")) = (self.ahead(at), self.ahead(at + 1)) else {
            return None;
        };
        let name = name.clone();
        at += 2;
        let mut count = usize::from(!matches!(self.ahead(at), Token::Sign(")")));
        while !matches!(self.ahead(at), Token::Sign(")")) {
            count += usize::from(matches!(self.ahead(at), Token::Sign(",")));
            // What is no declaration ends nowhere.
            if !matches!(
                self.ahead(at),
                Token::Word(_) | Token::Sign("," | "." | "[" | "]")
            ) {
                return None;
            }
            at += 1;
        }
        let mut open = 0_usize;
        loop {
            at += 1;
            match self.ahead(at) {
                Token::Sign("{") => open += 1,
                Token::Sign("}") => open = open.saturating_sub(1),
                Token::End => return None,
                _ => {}
            }
            if open == 0 {
                return Some((name, count, at + 1));
            }
        }
    }

    /// Reads a function, if one comes next.
    pub(super) fn own_function(&mut self) -> Result<bool, String> {
        let found = match self.peek() {
            Token::Word(kind) if kind == "void" => Some((Type::Any, 1)),
            _ => self.type_ahead(0),
        };
        let Some((kind, count)) = found else {
            return Ok(false);
        };
        let (Token::Word(name), Token::Sign("(")) = (self.ahead(count), self.ahead(count + 1))
        else {
            return Ok(false);
        };
        let name = name.clone();
        (0..count + 2).for_each(|_| self.skip());
        let first = self.variables;
        let places = self.own_arguments()?;
        let known = (name, places.len());
        // All of them are known before the first is read.
        if self.function_names.get(self.functions.len()) != Some(&known) {
            return Err(self.unexpected());
        }
        if !self.is_at("{") {
            return Err(self.unexpected());
        }
        (self.deepest, self.longest) = (0, 0);
        let body = self.block()?;
        self.scope.clear();
        self.functions.push(Own {
            places,
            variables: first..self.variables,
            depth: 1 + self.deepest + self.longest,
            kind,
            body,
        });
        Ok(true)
    }

    /// `int x, def y)`
    fn own_arguments(&mut self) -> Result<Vec<(usize, Type)>, String> {
        let mut places = Vec::new();
        if self.take(")") {
            return Ok(places);
        }
        loop {
            let Some((kind, count)) = self.type_ahead(0) else {
                let name = self.word()?;
                return Err(self.wrong(format_args!("unknown type [{name}]")));
            };
            (0..count).for_each(|_| self.skip());
            let name = self.word()?;
            let place = match name.as_str() {
                "ctx" | "doc" | "params" => self.declare_any(name, kind)?,
                _ => self.declare(name, kind)?,
            };
            places.push((place, kind));
            if self.take(")") {
                return Ok(places);
            }
            self.expect(",")?;
        }
    }

    /// A call of a function of the script's own, whose name was read.
    pub(super) fn own_call(&mut self, name: &str) -> Result<Node, String> {
        self.expect("(")?;
        let arguments = self.arguments(")")?;
        let count = arguments.len();
        let mut known = self.function_names.iter();
        let place = known.position(|(own, takes)| own == name && *takes == count);
        match place {
            Some(place) => Ok(Node::Own(place, arguments)),
            None => Err(self.wrong(format_args!(
                "unknown call [{name}] with [{count}] arguments"
            ))),
        }
    }
}

impl<'a> Machine<'a, '_> {
    /// What a function of the script's own makes of its arguments.
    pub(super) fn own(
        &mut self,
        place: usize,
        arguments: &'a [Node],
    ) -> Result<ScriptValue<'a>, ScriptError> {
        let arguments = self.all(arguments)?;
        self.own_of(place, arguments)
    }

    /// The same, of values.
    pub(super) fn own_of(
        &mut self,
        place: usize,
        arguments: Vec<ScriptValue<'a>>,
    ) -> Result<ScriptValue<'a>, ScriptError> {
        let script = self.script;
        let Some(function) = script.functions.get(place) else {
            return Ok(ScriptValue::Null);
        };
        let mut given = Vec::with_capacity(arguments.len());
        for (argument, (place, kind)) in arguments.into_iter().zip(&function.places) {
            given.push((*place, fitted(*kind, argument, false)?));
        }
        let before = self.enter(function)?;
        for (place, argument) in given {
            self.set(place, argument);
        }
        let last = self.last.take();
        let done = self.block(&function.body);
        let said = std::mem::replace(&mut self.last, last);
        self.leave(function, before);
        let value = match done? {
            Flow::Return(value) => value,
            Flow::Next | Flow::Break | Flow::Continue => said.unwrap_or(ScriptValue::Null),
        };
        fitted(function.kind, value, false)
    }

    /// Begins a call; what the function's variables were in a call around this one is given back.
    fn enter(&mut self, function: &Own) -> Result<Vec<ScriptValue<'a>>, ScriptError> {
        if self.own_depth + function.depth > DEPTH_MAX {
            return Err(too_deep());
        }
        self.own_depth += function.depth;
        self.steps(function.variables.len())?;
        let own = self.variables.get(function.variables.clone());
        Ok(own.map(<[_]>::to_vec).unwrap_or_default())
    }

    fn leave(&mut self, function: &Own, before: Vec<ScriptValue<'a>>) {
        self.own_depth = self.own_depth.saturating_sub(function.depth);
        for (place, value) in function.variables.clone().zip(before) {
            self.set(place, value);
        }
    }
}
