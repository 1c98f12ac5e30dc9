//! Calls of methods, and of what is done with each item of a list.

use super::changes;
use super::members;
use super::run::{Flow, Machine};
use super::tree::{Lambda, Node};
use super::value::ScriptValue;
use crate::error::ScriptError;

/// So many items are gone through in one step.
const STEP_ITEMS: usize = 16;

impl<'a> Machine<'a, '_> {
    /// What a value answers.
    pub(super) fn call(
        &mut self,
        of: &ScriptValue<'a>,
        name: &str,
        arguments: &'a [Node],
    ) -> Result<ScriptValue<'a>, ScriptError> {
        if let [before @ .., Node::Lambda(lambda)] = arguments {
            let before = self.all(before)?;
            return self.with_each(of, name, &before, lambda);
        }
        let arguments = self.all(arguments)?;
        match of {
            &ScriptValue::Pattern(pattern) => return self.of_pattern(pattern, name, &arguments),
            ScriptValue::Matcher(matcher) => return self.of_matcher(matcher, name, &arguments),
            _ => {}
        }
        if !matches!(of, ScriptValue::Items(_) | ScriptValue::Members(_)) {
            let found = members::call(of, name, &arguments)?;
            if name == "splitOnToken" {
                self.hold(&found)?;
                self.steps(found.size().unwrap_or(0) / STEP_ITEMS)?;
            }
            return Ok(found);
        }
        let grows = changes::GROWING.contains(&name);
        if grows {
            arguments
                .iter()
                .try_for_each(|argument| self.hold(argument))?;
        }
        let is_set = matches!(of, ScriptValue::Items(items) if items.is_set());
        // What is put before others moves them, and where each value is once all are looked at.
        let moves = name == "add" && (arguments.len() > 1 || is_set);
        if moves || !changes::QUICK.contains(&name) {
            let others = arguments
                .iter()
                .filter_map(ScriptValue::size)
                .sum::<usize>();
            let size = of.size().unwrap_or(0);
            // Some look for each of the others.
            let looks = match name {
                "removeAll" | "retainAll" | "containsAll" => size.saturating_mul(others.max(1)),
                "addAll" if is_set => size.saturating_add(others).saturating_mul(others.max(1)),
                "distinct" => size.saturating_mul(size),
                _ => size.saturating_add(others),
            };
            self.steps(looks / STEP_ITEMS)?;
        }
        let Some(found) = changes::call(of, name, &arguments)? else {
            return members::call(of, name, &arguments);
        };
        let is_made = arguments.is_empty() || changes::MAKING.contains(&name);
        if grows && is_made {
            self.hold(&found)?;
        }
        Ok(found)
    }

    /// What a method answers that does something with each item.
    fn with_each(
        &mut self,
        of: &ScriptValue<'a>,
        name: &str,
        before: &[ScriptValue<'a>],
        lambda: &'a Lambda,
    ) -> Result<ScriptValue<'a>, ScriptError> {
        match (of, name, before) {
            (ScriptValue::Null, ..) => Err(ScriptError::null(name)),
            (ScriptValue::Members(members), "forEach" | "each", []) => {
                for (name, value) in members.all() {
                    self.applied(lambda, &[ScriptValue::Text(name), value])?;
                }
                Ok(ScriptValue::Null)
            }
            (ScriptValue::Members(members), "computeIfAbsent", [key]) => {
                if let Some(there) = members.get(&changes::key(key))
                    && there != ScriptValue::Null
                {
                    return Ok(there);
                }
                let made = self.applied(lambda, std::slice::from_ref(key))?;
                self.hold(&made)?;
                if made != ScriptValue::Null {
                    members.put(changes::key(key), made.clone())?;
                }
                Ok(made)
            }
            (
                ScriptValue::Text(text),
                "replaceAll" | "replaceFirst",
                [ScriptValue::Pattern(pattern)],
            ) => self.replaced_by((*pattern, text), name, lambda),
            (_, _, []) => self.over_items(of, name, lambda),
            _ => Err(members::refused(of, name, before.len() + 1)),
        }
    }

    fn over_items(
        &mut self,
        of: &ScriptValue<'a>,
        name: &str,
        lambda: &'a Lambda,
    ) -> Result<ScriptValue<'a>, ScriptError> {
        let Some(items) = of.items() else {
            return Err(members::refused(of, name, 1));
        };
        self.steps(items.len() / STEP_ITEMS)?;
        let held = match of {
            ScriptValue::Items(held) => Some(held),
            _ => None,
        };
        Ok(match (name, held) {
            ("forEach" | "each", _) => {
                for item in items {
                    self.applied(lambda, &[item])?;
                }
                ScriptValue::Null
            }
            ("removeIf", Some(held)) => {
                let before = items.len();
                let kept = self.kept(items, lambda, Wanted::Others)?;
                let is_changed = kept.len() != before;
                held.replace(kept)?;
                ScriptValue::Bool(is_changed)
            }
            ("replaceAll", Some(held)) => {
                let made = self.each_made(items, lambda)?;
                held.replace(made)?;
                ScriptValue::Null
            }
            ("sort", Some(held)) => {
                let sorted = self.sorted(items, lambda)?;
                held.replace(sorted)?;
                ScriptValue::Null
            }
            ("sorted", _) => ScriptValue::listed(self.sorted(items, lambda)?)?,
            ("filter" | "findAll", _) => {
                ScriptValue::listed(self.kept(items, lambda, Wanted::These)?)?
            }
            ("find", _) => {
                let found = self.kept(items, lambda, Wanted::These)?;
                found.into_iter().next().unwrap_or(ScriptValue::Null)
            }
            ("map" | "collect" | "mapToInt" | "mapToLong" | "mapToDouble", _) => {
                ScriptValue::listed(self.each_made(items, lambda)?)?
            }
            ("any" | "anyMatch", _) => {
                ScriptValue::Bool(!self.kept(items, lambda, Wanted::These)?.is_empty())
            }
            ("noneMatch", _) => {
                ScriptValue::Bool(self.kept(items, lambda, Wanted::These)?.is_empty())
            }
            ("every" | "allMatch", _) => {
                ScriptValue::Bool(self.kept(items, lambda, Wanted::Others)?.is_empty())
            }
            _ => return Err(members::refused(of, name, 1)),
        })
    }

    /// The items that something holds of, or does not.
    fn kept(
        &mut self,
        items: Vec<ScriptValue<'a>>,
        lambda: &'a Lambda,
        wanted: Wanted,
    ) -> Result<Vec<ScriptValue<'a>>, ScriptError> {
        let mut kept = Vec::new();
        for item in items {
            let holds = self.applied(lambda, std::slice::from_ref(&item))?;
            if holds.want_truth()? == (wanted == Wanted::These) {
                kept.push(item);
            }
        }
        Ok(kept)
    }

    fn each_made(
        &mut self,
        items: Vec<ScriptValue<'a>>,
        lambda: &'a Lambda,
    ) -> Result<Vec<ScriptValue<'a>>, ScriptError> {
        let mut made = Vec::with_capacity(items.len());
        for item in items {
            let value = self.applied(lambda, &[item])?;
            self.hold(&value)?;
            made.push(value);
        }
        Ok(made)
    }

    /// Items in the order that a comparison of two gives them, which need not make sense.
    fn sorted(
        &mut self,
        mut items: Vec<ScriptValue<'a>>,
        lambda: &'a Lambda,
    ) -> Result<Vec<ScriptValue<'a>>, ScriptError> {
        if items.len() < 2 {
            return Ok(items);
        }
        let second = items.split_off(items.len() / 2);
        let mut first = self.sorted(items, lambda)?.into_iter().peekable();
        let mut second = self.sorted(second, lambda)?.into_iter().peekable();
        let mut merged = Vec::new();
        while let (Some(left), Some(right)) = (first.peek(), second.peek()) {
            let order = self.applied(lambda, &[left.clone(), right.clone()])?;
            merged.extend(match order.want_number()? > 0.0 {
                true => second.next(),
                false => first.next(),
            });
        }
        merged.extend(first);
        merged.extend(second);
        Ok(merged)
    }

    /// What a lambda makes of its arguments.
    pub(super) fn applied(
        &mut self,
        lambda: &'a Lambda,
        arguments: &[ScriptValue<'a>],
    ) -> Result<ScriptValue<'a>, ScriptError> {
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
}

/// Which items are kept.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    /// Those that something holds of.
    These,
    /// Those that it does not hold of.
    Others,
}
