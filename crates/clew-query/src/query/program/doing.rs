//! Functions that are handed on: lambdas, what `::` names, orders, and what a stream is collected into.

use std::borrow::Cow;
use std::sync::Arc;

use super::collections;
use super::containers::Kind;
use super::functions::{self, Known};
use super::members;
use super::operators::is_same;
use super::run::{Flow, Machine};
use super::tree::{Lambda, Named};
use super::value::{STEP_ITEMS, ScriptValue};
use super::{ScriptLanguage, objects, own};
use crate::error::ScriptError;

/// So deep may functions be made of each other.
const DEPTH_MAX: usize = 16;

/// Things by the names of their groups, in the order in which these came.
pub(super) type Groups<'a, T> = Vec<(Cow<'a, str>, Vec<T>)>;

/// A function that is handed on.
#[derive(Debug, PartialEq)]
pub struct Doing<'a> {
    what: What<'a>,
    depth: usize,
}

/// What it does.
#[derive(Debug, PartialEq)]
pub(super) enum What<'a> {
    /// As it is written, while the variables around it are there.
    Here(&'a Lambda),
    /// As it is written, with what the variables around it were.
    Written(&'a Lambda, Vec<ScriptValue<'a>>),
    /// Compares two values as they are.
    Natural,
    /// Compares two values by what another function makes of each.
    By(ScriptValue<'a>),
    /// Compares two entries by this member.
    ByMember(&'static str),
    /// Compares the other way round.
    Reversed(ScriptValue<'a>),
    /// Compares by the second where the first finds no difference.
    Then(ScriptValue<'a>, ScriptValue<'a>),
    /// Collects a stream, in the way of this name.
    Collector(Cow<'a, str>, Vec<ScriptValue<'a>>),
}

impl<'a> Doing<'a> {
    /// A lambda that is called while its variables are there.
    pub(super) fn here(lambda: &'a Lambda) -> Self {
        Doing {
            what: What::Here(lambda),
            depth: 0,
        }
    }

    /// A function, unless it is made of too many.
    pub(super) fn made(what: What<'a>) -> Result<ScriptValue<'a>, ScriptError> {
        let depth = |value: &ScriptValue<'a>| match value {
            ScriptValue::Doing(inner) => inner.depth + 1,
            _ => 0,
        };
        let depth = match &what {
            What::Here(_) | What::Natural | What::ByMember(_) => 0,
            What::By(one) | What::Reversed(one) => depth(one),
            What::Then(one, other) => depth(one).max(depth(other)),
            What::Written(_, inner) | What::Collector(_, inner) => {
                inner.iter().map(depth).max().unwrap_or(0)
            }
        };
        if depth > DEPTH_MAX {
            return Err(ScriptError::argument(
                "functions of the script are made of each other too deep",
            ));
        }
        Ok(ScriptValue::Doing(Arc::new(Doing { what, depth })))
    }

    /// How a stream is collected by it, if it is there for that.
    fn collects(&self) -> Option<(&str, &[ScriptValue<'a>])> {
        match &self.what {
            What::Collector(name, arguments) => Some((&**name, arguments.as_slice())),
            _ => None,
        }
    }
}

impl<'a> Machine<'a, '_> {
    /// A lambda that is handed on, with what its variables are now.
    pub(super) fn handed(&mut self, lambda: &'a Lambda) -> Result<ScriptValue<'a>, ScriptError> {
        self.steps(lambda.around.len())?;
        let around = lambda.around.iter();
        let around = around.map(|place| self.variables.get(*place).cloned());
        let around = around.map(|value| value.unwrap_or(ScriptValue::Null));
        let around: Vec<ScriptValue<'a>> = around.collect();
        around.iter().try_for_each(|value| self.hold(value))?;
        Doing::made(What::Written(lambda, around))
    }

    /// What a function makes of its arguments.
    pub(super) fn applied(
        &mut self,
        doing: &Doing<'a>,
        arguments: &[ScriptValue<'a>],
    ) -> Result<ScriptValue<'a>, ScriptError> {
        // Orders are made of others, some of them twice.
        self.steps(1)?;
        match (&doing.what, arguments) {
            (What::Here(lambda), _) => self.lambda(lambda, arguments),
            (What::Written(lambda, around), _) => {
                self.steps(around.len())?;
                // Its tree lies in none of those that are at work.
                if self.own_depth + lambda.depth > own::DEPTH_MAX {
                    return Err(own::too_deep());
                }
                self.own_depth += lambda.depth;
                let mut before = Vec::with_capacity(around.len());
                for (place, value) in lambda.around.iter().zip(around) {
                    let there = self.variables.get(*place).cloned();
                    before.push(there.unwrap_or(ScriptValue::Null));
                    self.set(*place, value.clone());
                }
                let made = self.lambda(lambda, arguments);
                self.own_depth = self.own_depth.saturating_sub(lambda.depth);
                for (place, value) in lambda.around.iter().zip(before) {
                    self.set(*place, value);
                }
                made
            }
            (What::Natural, [left, right]) => collections::ordered(left, right),
            (What::By(key), [left, right]) => {
                let key = wanted(key)?;
                let left = self.applied(&key, std::slice::from_ref(left))?;
                let right = self.applied(&key, std::slice::from_ref(right))?;
                collections::ordered(&left, &right)
            }
            (What::ByMember(name), [left, right]) => {
                let member = |entry: &ScriptValue<'a>| entry.get(name).unwrap_or(ScriptValue::Null);
                collections::ordered(&member(left), &member(right))
            }
            (What::Reversed(order), [left, right]) => {
                let order = wanted(order)?;
                self.applied(&order, &[right.clone(), left.clone()])
            }
            (What::Then(first, second), [_, _]) => {
                let first = wanted(first)?;
                let order = self.applied(&first, arguments)?;
                match is_same(&order, &ScriptValue::Whole(0)) {
                    true => {
                        let second = wanted(second)?;
                        self.applied(&second, arguments)
                    }
                    false => Ok(order),
                }
            }
            _ => Err(ScriptError::argument(format!(
                "Incorrect number of parameters: [{}] are given",
                arguments.len()
            ))),
        }
    }

    /// What a lambda makes of its arguments.
    fn lambda(
        &mut self,
        lambda: &'a Lambda,
        arguments: &[ScriptValue<'a>],
    ) -> Result<ScriptValue<'a>, ScriptError> {
        if let Some(named) = &lambda.named {
            self.steps(1)?;
            return self.of_named(named, arguments);
        }
        let (want, have) = (lambda.places.len(), arguments.len());
        if want != have {
            return Err(ScriptError::argument(format!(
                "Incorrect number of parameters: a lambda takes [{want}], [{have}] are given"
            )));
        }
        for (place, argument) in lambda.places.iter().zip(arguments) {
            self.set(*place, argument.clone());
        }
        let last = self.last.take();
        let value = match self.block(&lambda.body)? {
            Flow::Return(value) => value,
            Flow::Next | Flow::Break | Flow::Continue => {
                self.last.take().unwrap_or(ScriptValue::Null)
            }
        };
        self.last = last;
        Ok(value)
    }

    /// What something that `::` names makes of its arguments.
    fn of_named(
        &mut self,
        named: &'a Named,
        arguments: &[ScriptValue<'a>],
    ) -> Result<ScriptValue<'a>, ScriptError> {
        match named {
            Named::Of(of, name) => {
                let of = self.value(of)?;
                self.call_with(&of, name, arguments)
            }
            Named::Own(places) => {
                let script = self.script;
                let takes = |place: &&usize| {
                    let own = script.functions.get(**place);
                    own.is_some_and(|own| own.places.len() == arguments.len())
                };
                let place = places.iter().find(takes).ok_or_else(|| {
                    let count = arguments.len();
                    ScriptError::argument(format!("no function takes [{count}] arguments"))
                })?;
                self.own_of(*place, arguments.to_vec())
            }
            Named::Class(class, name) if name == "new" => {
                let function = objects::constructor(class, arguments.len()).ok_or_else(|| {
                    ScriptError::argument(format!("objects of [{class}] cannot be made"))
                })?;
                self.function_of(function, arguments)
            }
            Named::Class(class, name) => {
                let language = ScriptLanguage::Painless;
                let count = arguments.len();
                match (
                    functions::known(language, Some(class.as_str()), name, count),
                    arguments,
                ) {
                    (Known::Function(function), _) => self.function_of(function, arguments),
                    (_, [first, others @ ..]) => self.call_with(first, name, others),
                    _ => Err(ScriptError::argument(format!(
                        "function reference [{class}::{name}/{count}] not found"
                    ))),
                }
            }
        }
    }

    /// What a function answers whose methods are called, if it has such a one.
    pub(super) fn of_doing(
        &mut self,
        doing: &Arc<Doing<'a>>,
        name: &str,
        arguments: &[ScriptValue<'a>],
    ) -> Result<ScriptValue<'a>, ScriptError> {
        let this = ScriptValue::Doing(Arc::clone(doing));
        match (name, arguments) {
            ("reversed", []) => Doing::made(What::Reversed(this)),
            ("thenComparing", [next]) => {
                let next = wanted(next)?;
                let takes_one = match &next.what {
                    What::Here(lambda) | What::Written(lambda, _) => lambda.places.len() < 2,
                    _ => false,
                };
                let next = ScriptValue::Doing(next);
                let next = match takes_one {
                    true => Doing::made(What::By(next))?,
                    false => next,
                };
                Doing::made(What::Then(this, next))
            }
            ("thenComparingInt" | "thenComparingLong" | "thenComparingDouble", [next]) => {
                let next = Doing::made(What::By(next.clone()))?;
                Doing::made(What::Then(this, next))
            }
            (
                "apply" | "test" | "accept" | "get" | "compare" | "applyAsInt" | "applyAsLong"
                | "applyAsDouble",
                _,
            ) => self.applied(doing, arguments),
            _ => Err(members::refused(&this, name, arguments.len())),
        }
    }

    /// What a stream is collected into.
    pub(super) fn collected(
        &mut self,
        items: Vec<ScriptValue<'a>>,
        how: &Doing<'a>,
    ) -> Result<ScriptValue<'a>, ScriptError> {
        let Some((name, arguments)) = how.collects() else {
            return self.each_collected(items, how);
        };
        self.steps(items.len() / STEP_ITEMS)?;
        match (name, arguments) {
            ("toSet", []) => {
                self.steps(items.len().saturating_mul(items.len()) / STEP_ITEMS)?;
                ScriptValue::set_of(items)
            }
            ("counting", []) => Ok(objects::count(items.len())),
            ("joining", [between, first, last]) => {
                let list = ScriptValue::listed(items)?;
                let joined = self.call_with(&list, "join", std::slice::from_ref(between))?;
                let first = first.shown();
                ScriptValue::made(format!("{first}{}{}", joined.shown(), last.shown()))
            }
            ("mapping", [each, ScriptValue::Null]) => {
                let each = wanted(each)?;
                self.each_collected(items, &each)
            }
            ("mapping", [each, then]) => {
                let (each, then) = (wanted(each)?, wanted(then)?);
                let made = self.each_made(items, &each)?;
                self.collected(made, &then)
            }
            (_, [each]) if name.starts_with("summing") || name.starts_with("averaging") => {
                let each = wanted(each)?;
                let made = self.each_made(items, &each)?;
                match (name.starts_with("averaging"), name.ends_with("Double")) {
                    (true, _) => members::folded(&made, "avg"),
                    (false, true) => members::folded(&made, "sum"),
                    (false, false) => {
                        objects::folded(&ScriptValue::kept(Kind::Wholes, made)?, "sum")
                    }
                }
            }
            ("minBy" | "maxBy", [order]) => {
                let order = wanted(order)?;
                self.furthest(items, name == "maxBy", Some(&order))
            }
            ("groupingBy" | "partitioningBy", [key, then @ ..]) => {
                let key = wanted(key)?;
                let groups = self.grouped(items, &key, name == "partitioningBy")?;
                let mut all = Vec::with_capacity(groups.len());
                for (name, group) in groups {
                    let made = match then {
                        [ScriptValue::Doing(then)] => self.collected(group, &Arc::clone(then))?,
                        [between @ ScriptValue::Text(_)] => {
                            let list = ScriptValue::listed(group)?;
                            self.call_with(&list, "join", std::slice::from_ref(between))?
                        }
                        _ => ScriptValue::listed(group)?,
                    };
                    all.push((name, made));
                }
                ScriptValue::mapped(all)
            }
            ("toMap", [key, value, others @ ..]) => self.mapped_by(items, key, value, others),
            _ => Err(ScriptError::argument(format!(
                "unknown call [Collectors.{name}]"
            ))),
        }
    }

    fn each_collected(
        &mut self,
        items: Vec<ScriptValue<'a>>,
        each: &Doing<'a>,
    ) -> Result<ScriptValue<'a>, ScriptError> {
        let made = self.each_made(items, each)?;
        ScriptValue::listed(made)
    }

    /// Items by the names that a function gives them, in the order in which these come.
    pub(super) fn grouped(
        &mut self,
        items: Vec<ScriptValue<'a>>,
        key: &Doing<'a>,
        in_two: bool,
    ) -> Result<Groups<'a, ScriptValue<'a>>, ScriptError> {
        let mut groups = Groups::new();
        if in_two {
            groups.push((Cow::Borrowed("false"), Vec::new()));
            groups.push((Cow::Borrowed("true"), Vec::new()));
        }
        for item in items {
            let name = self.applied(key, std::slice::from_ref(&item))?;
            self.hold(&item)?;
            self.put_in_group(&mut groups, &name, item)?;
        }
        Ok(groups)
    }

    /// Puts a thing into the group of a name, which may be a value of any depth.
    pub(super) fn put_in_group<T>(
        &mut self,
        groups: &mut Groups<'a, T>,
        name: &ScriptValue<'a>,
        thing: T,
    ) -> Result<(), ScriptError> {
        self.gone_through(name)?;
        self.steps(groups.len() / STEP_ITEMS)?;
        let name = collections::key(name);
        match groups.iter_mut().find(|(known, _)| *known == name) {
            Some((_, group)) => group.push(thing),
            None => groups.push((name, vec![thing])),
        }
        Ok(())
    }

    /// `toMap`: of two values with one name, a function makes one, or they are refused.
    fn mapped_by(
        &mut self,
        items: Vec<ScriptValue<'a>>,
        key: &ScriptValue<'a>,
        value: &ScriptValue<'a>,
        others: &[ScriptValue<'a>],
    ) -> Result<ScriptValue<'a>, ScriptError> {
        let (key, value) = (wanted(key)?, wanted(value)?);
        let made = ScriptValue::mapped(Vec::new())?;
        let ScriptValue::Members(members) = &made else {
            return Ok(ScriptValue::Null);
        };
        for item in items {
            let name = self.applied(&key, std::slice::from_ref(&item))?;
            self.gone_through(&name)?;
            let mut new = self.applied(&value, std::slice::from_ref(&item))?;
            if let Some(there) = members.get(&collections::key(&name)) {
                let [merge, ..] = others else {
                    return Err(ScriptError::new(
                        crate::error::ScriptErrorKind::State,
                        format!("Duplicate key {}", name.shown()),
                    ));
                };
                let merge = wanted(merge)?;
                new = self.applied(&merge, &[there, new])?;
            }
            self.hold(&new)?;
            members.put(collections::key(&name), new)?;
        }
        Ok(made)
    }

    /// The first or the last item of an order, if there is any.
    pub(super) fn furthest(
        &mut self,
        items: Vec<ScriptValue<'a>>,
        is_last: bool,
        order: Option<&Doing<'a>>,
    ) -> Result<ScriptValue<'a>, ScriptError> {
        let mut found: Option<ScriptValue<'a>> = None;
        self.steps(items.len() / STEP_ITEMS)?;
        for item in items {
            let is_further = match &found {
                None => true,
                Some(have) => {
                    let compared = match order {
                        Some(order) => self.applied(order, &[item.clone(), have.clone()])?,
                        None => collections::ordered(&item, have)?,
                    };
                    let compared = compared.want_number()?;
                    if is_last {
                        compared > 0.0
                    } else {
                        compared < 0.0
                    }
                }
            };
            if is_further {
                found = Some(item);
            }
        }
        ScriptValue::kept(Kind::Optional, found.into_iter().collect())
    }
}

/// A function that something needs.
fn wanted<'a>(value: &ScriptValue<'a>) -> Result<Arc<Doing<'a>>, ScriptError> {
    match value {
        ScriptValue::Doing(doing) => Ok(Arc::clone(doing)),
        other => Err(other.no_cast("java.util.function.Function")),
    }
}
