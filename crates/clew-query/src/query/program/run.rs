//! A script at work on one document.

use std::time::Duration;

use clew_analysis::in_one_turn;
use serde_json::Value;

use super::document::ScriptDocument;
use super::emitted::AllEmitted;
use super::failures::again;
use super::operators::{apply, compared, fitted, holds, is_of, lenient, of_ints};
use super::tree::{Node, Operator, Statement, Thrown, Type};
use super::value::{STEP_ITEMS, ScriptValue};
use super::{Script, collections, members};
use crate::error::{ScriptError, ScriptErrorKind};

/// Steps of one run: some milliseconds of work.
pub(super) const STEPS_MAX: usize = 50_000;
/// Steps of one run that changes an object.
const CHANGE_STEPS_MAX: usize = 500_000;
/// Between two looks at the time of the request.
const STEPS_LOOK: usize = 1 << 18;
/// So long after its end what was found in time may be put together.
const GRACE: Duration = Duration::from_millis(50);
/// Bytes of what a run puts into lists and maps.
const HELD_BYTES_MAX: usize = 16 << 20;
/// What a value takes there, beside its text.
const VALUE_BYTES: usize = 32;

/// What a statement leads to.
pub(super) enum Flow<'a> {
    Next,
    Break,
    Continue,
    Return(ScriptValue<'a>),
}

/// A script at work.
pub(super) struct Machine<'a, 'd> {
    pub(super) script: &'a Script,
    pub(super) document: &'d mut dyn ScriptDocument<'a>,
    pub(super) variables: Vec<ScriptValue<'a>>,
    /// The byte of the text where the statement begins that is at work.
    pub(super) at: usize,
    /// How deep the trees are of functions of the script's own that are at work.
    pub(super) own_depth: usize,
    /// Its own parameters.
    pub(super) params: ScriptValue<'a>,
    /// The object that is there to be changed, or nothing.
    context: ScriptValue<'a>,
    steps: usize,
    /// How many there were when the request's time was last looked at.
    steps_looked: usize,
    steps_max: usize,
    held_bytes: usize,
    /// What it has emitted, where that is what it is for.
    pub(super) emitted: AllEmitted,
    /// What the last statement's value was, which is the script's where it says nothing else.
    pub(super) last: Option<ScriptValue<'a>>,
}

impl<'a, 'd> Machine<'a, 'd> {
    pub(super) fn new(script: &'a Script, document: &'d mut dyn ScriptDocument<'a>) -> Self {
        Machine {
            script,
            document,
            variables: vec![ScriptValue::Null; script.variables],
            at: 0,
            own_depth: 0,
            params: ScriptValue::Json(&script.params),
            context: ScriptValue::Null,
            steps: 0,
            steps_looked: 0,
            steps_max: STEPS_MAX,
            held_bytes: 0,
            emitted: AllEmitted::default(),
            last: None,
        }
    }

    /// A script at work on an object, which it may change as it may its parameters.
    pub(super) fn over(
        script: &'a Script,
        document: &'d mut dyn ScriptDocument<'a>,
        object: &'a Value,
    ) -> Self {
        Machine {
            params: ScriptValue::changeable(&script.params),
            context: ScriptValue::changeable(object),
            steps_max: CHANGE_STEPS_MAX,
            ..Machine::new(script, document)
        }
    }

    /// A script at work on what it shares with others, all of which are at work as long as that is there.
    pub(super) fn within(
        script: &'a Script,
        document: &'d mut dyn ScriptDocument<'a>,
        shared: ScriptValue<'a>,
        steps_max: usize,
    ) -> Self {
        Machine {
            context: shared,
            steps_max,
            ..Machine::new(script, document)
        }
    }

    /// Bytes that it put into lists and maps.
    pub(super) fn held_bytes(&self) -> usize {
        self.held_bytes
    }

    /// The object as it is now.
    pub(super) fn context(&self) -> &ScriptValue<'a> {
        &self.context
    }

    /// `None` where the script says nothing of a document.
    pub(super) fn run(&mut self) -> Result<Option<ScriptValue<'a>>, ScriptError> {
        let script = self.script;
        // One look around a text may take a second, and its steps allow thousands: all of them have a time together.
        let _turn = in_one_turn();
        let done = self.block(&script.body);
        match done.map_err(|error| error.placed(self.at))? {
            Flow::Return(value) => Ok(Some(value)),
            Flow::Next | Flow::Break | Flow::Continue => Ok(self.last.take()),
        }
    }

    fn step(&mut self) -> Result<(), ScriptError> {
        self.steps(1)
    }

    pub(super) fn steps(&mut self, count: usize) -> Result<(), ScriptError> {
        self.steps = self.steps.saturating_add(count);
        let max = self.steps_max;
        if self.steps > max {
            return Err(ScriptError::new(
                ScriptErrorKind::Limit,
                format!("the script takes more than [{max}] steps for one document"),
            ));
        }
        if self.steps - self.steps_looked >= STEPS_LOOK {
            self.steps_looked = self.steps;
            self.in_time()?;
        }
        Ok(())
    }

    /// Ends the script when nobody waits for it any more.
    pub(super) fn in_time(&self) -> Result<(), ScriptError> {
        if clew_platform::overdue(GRACE) {
            return Err(ScriptError::new(
                ScriptErrorKind::Limit,
                "the script was at work when the time of its request was up",
            ));
        }
        Ok(())
    }

    /// Counts what a list or a map comes to hold.
    pub(super) fn hold(&mut self, value: &ScriptValue<'a>) -> Result<(), ScriptError> {
        let inside = match value {
            ScriptValue::Text(text) => text.len(),
            ScriptValue::Matcher(matcher) => matcher.bytes(),
            other => other.size().unwrap_or(0).saturating_mul(VALUE_BYTES),
        };
        self.held_bytes = self.held_bytes.saturating_add(inside + VALUE_BYTES);
        if self.held_bytes > HELD_BYTES_MAX {
            return Err(ScriptError::new(
                ScriptErrorKind::Limit,
                format!("the script holds more than [{HELD_BYTES_MAX}] bytes in lists and maps"),
            ));
        }
        Ok(())
    }

    pub(super) fn block(&mut self, body: &'a [Statement]) -> Result<Flow<'a>, ScriptError> {
        for statement in body {
            if let Statement::At(at) = statement {
                self.at = *at;
                continue;
            }
            match self.statement(statement)? {
                Flow::Next => {}
                other => return Ok(other),
            }
        }
        Ok(Flow::Next)
    }

    fn statement(&mut self, statement: &'a Statement) -> Result<Flow<'a>, ScriptError> {
        self.step()?;
        // Only a value that nothing stands behind is what the script says.
        self.last = None;
        match statement {
            Statement::Set {
                place,
                kind,
                cut,
                value,
            } => {
                let value = fitted(*kind, self.value(value)?, *cut)?;
                self.set(*place, value);
                Ok(Flow::Next)
            }
            Statement::Put {
                of,
                key,
                operator,
                value,
            } => {
                self.put((of, key), *operator, value)?;
                Ok(Flow::Next)
            }
            Statement::Try { body, catches } => self.attempt(body, catches),
            Statement::Throw(thrown, reason) => {
                let reason = self.value(reason)?;
                self.gone_through(&reason)?;
                Err(match thrown {
                    Thrown::Again => again(&reason),
                    thrown => ScriptError::new(thrown.kind(), reason.shown().into_owned()),
                })
            }
            Statement::If(condition, yes, no) => match self.truth(condition)? {
                true => self.block(yes),
                false => self.block(no),
            },
            Statement::Loop {
                condition,
                step,
                body,
            } => self.repeat(condition.as_ref(), step, body),
            Statement::Each { place, list, body } => self.each(*place, list, body),
            Statement::Return(value) => Ok(Flow::Return(match value {
                Some(value) => self.value(value)?,
                None => ScriptValue::Null,
            })),
            Statement::Value(value) => {
                self.last = Some(self.value(value)?);
                Ok(Flow::Next)
            }
            Statement::At(at) => {
                self.at = *at;
                Ok(Flow::Next)
            }
            Statement::Break => Ok(Flow::Break),
            Statement::Continue => Ok(Flow::Continue),
        }
    }

    fn repeat(
        &mut self,
        condition: Option<&'a Node>,
        step: &'a [Statement],
        body: &'a [Statement],
    ) -> Result<Flow<'a>, ScriptError> {
        loop {
            self.step()?;
            if let Some(condition) = condition
                && !self.truth(condition)?
            {
                return Ok(Flow::Next);
            }
            match self.block(body)? {
                Flow::Next | Flow::Continue => {}
                Flow::Break => return Ok(Flow::Next),
                back @ Flow::Return(_) => return Ok(back),
            }
            if let Flow::Break = self.block(step)? {
                return Ok(Flow::Next);
            }
            self.last = None;
        }
    }

    fn each(
        &mut self,
        place: usize,
        list: &'a Node,
        body: &'a [Statement],
    ) -> Result<Flow<'a>, ScriptError> {
        let list = self.value(list)?;
        self.steps(list.size().unwrap_or(0) / STEP_ITEMS)?;
        let items = list
            .items()
            .ok_or_else(|| list.no_cast("java.lang.Iterable"))?;
        for item in items {
            self.set(place, item);
            match self.block(body)? {
                Flow::Next | Flow::Continue => {}
                Flow::Break => return Ok(Flow::Next),
                back @ Flow::Return(_) => return Ok(back),
            }
            self.last = None;
        }
        Ok(Flow::Next)
    }

    /// Gives a member of a map, or an item of a list, a value.
    fn put(
        &mut self,
        (of, key): (&'a Node, &'a Node),
        operator: Option<Operator>,
        value: &'a Node,
    ) -> Result<(), ScriptError> {
        let (of, key) = (self.value(of)?, self.value(key)?);
        self.gone_through(&key)?;
        let value = match operator {
            None => self.value(value)?,
            Some(operator) => {
                let before = element(&of, &key)?;
                let value = self.value(value)?;
                self.paired(operator, &before, &value)?
            }
        };
        self.hold(&value)?;
        collections::put(&of, &key, value)
    }

    pub(super) fn set(&mut self, place: usize, value: ScriptValue<'a>) {
        if let Some(variable) = self.variables.get_mut(place) {
            *variable = value;
        }
    }

    fn truth(&mut self, node: &'a Node) -> Result<bool, ScriptError> {
        holds(&self.value(node)?, self.script.language)
    }

    pub(super) fn all(&mut self, nodes: &'a [Node]) -> Result<Vec<ScriptValue<'a>>, ScriptError> {
        nodes.iter().map(|node| self.value(node)).collect()
    }

    pub(super) fn value(&mut self, node: &'a Node) -> Result<ScriptValue<'a>, ScriptError> {
        self.step()?;
        let value = self.of_node(node)?;
        // Whoever has it goes through it.
        self.steps(value.steps())?;
        Ok(value)
    }

    fn of_node(&mut self, node: &'a Node) -> Result<ScriptValue<'a>, ScriptError> {
        Ok(match node {
            Node::Null => ScriptValue::Null,
            Node::Bool(truth) => ScriptValue::Bool(*truth),
            Node::Whole(number) | Node::Long(number) => ScriptValue::Whole(*number),
            Node::Float(number) => ScriptValue::Float(*number),
            Node::Text(text) => ScriptValue::Text(text.as_str().into()),
            Node::Pattern(pattern) => ScriptValue::Pattern(pattern),
            Node::List(items) => self.list(items)?,
            Node::Map(pairs) => self.map(pairs)?,
            Node::Params => self.parameters()?,
            Node::Context => self.context.clone(),
            Node::Variable(place) => self
                .variables
                .get(*place)
                .cloned()
                .unwrap_or(ScriptValue::Null),
            Node::Not(inner) => ScriptValue::Bool(!self.truth(inner)?),
            Node::And(left, right) => ScriptValue::Bool(self.truth(left)? && self.truth(right)?),
            Node::Or(left, right) => ScriptValue::Bool(self.truth(left)? || self.truth(right)?),
            Node::Choice(condition, yes, no) => match self.truth(condition)? {
                true => self.value(yes)?,
                false => self.value(no)?,
            },
            Node::Otherwise(first, other) => match self.value(first)? {
                ScriptValue::Null => self.value(other)?,
                value => value,
            },
            Node::Pair(operator, left, right) => {
                let (left, right) = (self.value(left)?, self.value(right)?);
                self.paired(*operator, &left, &right)?
            }
            Node::PairOfInts(operator, left, right) => self.ints(*operator, left, right)?,
            Node::Negated(inner) => self.negated(inner)?,
            Node::Flipped(inner) => ScriptValue::Whole(!self.value(inner)?.want_whole()?),
            Node::Cast(kind, inner) => self.cast(*kind, inner)?,
            Node::Is(inner, class) => ScriptValue::Bool(is_of(&self.value(inner)?, class)),
            Node::Lambda(lambda) => self.handed(lambda)?,
            Node::Assign(assign) => self.assigned(assign)?,
            Node::Array(sizes, item) => self.array(sizes, item)?,
            Node::Function(name, arguments) => self.function(name, arguments)?,
            Node::Own(place, arguments) => self.own(*place, arguments)?,
            Node::Member { of, name, safe, at } => match self.value(of)? {
                ScriptValue::Null if *safe => ScriptValue::Null,
                value => members::member(&value, name).map_err(|error| error.placed(*at))?,
            },
            Node::Index(of, index) => self.index(of, index)?,
            Node::Call {
                of,
                name,
                arguments,
                safe,
                at,
            } => match self.value(of)? {
                ScriptValue::Null if *safe => ScriptValue::Null,
                value => self
                    .call(&value, name, arguments)
                    .map_err(|error| error.placed(*at))?,
            },
            Node::Source
            | Node::Score
            | Node::Now
            | Node::Values(_)
            | Node::Value(_)
            | Node::IsMapped(_)
            | Node::Measure(_) => self.of_document(node)?,
        })
    }

    /// What an operator makes of two whole numbers of 32 bits, as far as they are such.
    fn ints(
        &mut self,
        operator: Operator,
        left: &'a Node,
        right: &'a Node,
    ) -> Result<ScriptValue<'a>, ScriptError> {
        let (left, right) = (self.value(left)?, self.value(right)?);
        match of_ints(operator, &left, &right) {
            Some(made) => Ok(made),
            None => self.paired(operator, &left, &right),
        }
    }

    /// What an operator makes of two values, with steps for the lists and maps that it goes through.
    pub(super) fn paired(
        &mut self,
        operator: Operator,
        left: &ScriptValue<'a>,
        right: &ScriptValue<'a>,
    ) -> Result<ScriptValue<'a>, ScriptError> {
        if let Operator::Find | Operator::Match = operator {
            return self.looked_for(operator, left, right);
        }
        if let Operator::Equal | Operator::NotEqual = operator {
            let (same, values) = compared(left, right);
            self.steps(values / STEP_ITEMS)?;
            return Ok(ScriptValue::Bool(same == (operator == Operator::Equal)));
        }
        self.gone_through(left)?;
        self.gone_through(right)?;
        apply(operator, self.script.language, left, right)
    }

    fn negated(&mut self, inner: &'a Node) -> Result<ScriptValue<'a>, ScriptError> {
        let value = self.value(inner)?;
        if let ScriptValue::Whole(number) = value {
            return Ok(ScriptValue::Whole(number.wrapping_neg()));
        }
        let number = lenient(&value, self.script.language);
        let number = number.ok_or_else(|| value.no_cast("double"))?;
        Ok(ScriptValue::Float(-number))
    }

    fn cast(&mut self, kind: Type, inner: &'a Node) -> Result<ScriptValue<'a>, ScriptError> {
        let value = self.value(inner)?;
        fitted(kind, value, true)
    }

    fn index(&mut self, of: &'a Node, index: &'a Node) -> Result<ScriptValue<'a>, ScriptError> {
        let (of, index) = (self.value(of)?, self.value(index)?);
        self.gone_through(&index)?;
        element(&of, &index)
    }
}

/// A member of a map, or an item of a list.
pub(super) fn element<'a>(
    of: &ScriptValue<'a>,
    index: &ScriptValue<'a>,
) -> Result<ScriptValue<'a>, ScriptError> {
    if let ScriptValue::Null = of {
        return Err(ScriptError::null("get"));
    }
    let member = match of {
        ScriptValue::Json(Value::Object(_)) | ScriptValue::Members(_) => of.get(&index.shown()),
        _ => None,
    };
    match member {
        Some(member) => Ok(member),
        None => of.at(of.counted_back(index.want_whole()?)),
    }
}
