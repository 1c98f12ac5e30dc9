//! Calls of methods, and of what is done with each item of a list.

use std::sync::Arc;

use super::collections;
use super::containers::{Held, Kind};
use super::doing::Doing;
use super::members;
use super::run::Machine;
use super::tree::Node;
use super::value::{STEP_ITEMS, ScriptValue};
use crate::error::{ScriptError, ScriptErrorKind};

impl<'a> Machine<'a, '_> {
    /// Counts all that lies in a list or a map, for what goes through every level of it.
    pub(super) fn gone_through(&mut self, value: &ScriptValue<'a>) -> Result<(), ScriptError> {
        if !matches!(
            value,
            ScriptValue::List(_) | ScriptValue::Items(_) | ScriptValue::Members(_)
        ) {
            return Ok(());
        }
        match value.inside() {
            Some(inside) => self.steps(inside / STEP_ITEMS),
            None => Err(ScriptError::new(
                ScriptErrorKind::Limit,
                "lists and maps of the script have too much inside to go through",
            )),
        }
    }

    /// What a value answers.
    pub(super) fn call(
        &mut self,
        of: &ScriptValue<'a>,
        name: &str,
        arguments: &'a [Node],
    ) -> Result<ScriptValue<'a>, ScriptError> {
        let mut values = Vec::with_capacity(arguments.len());
        for argument in arguments {
            values.push(match argument {
                // What it is called by is done before its variables are gone.
                Node::Lambda(lambda) if !matches!(of, ScriptValue::Doing(_)) => {
                    ScriptValue::Doing(Arc::new(Doing::here(lambda)))
                }
                argument => self.value(argument)?,
            });
        }
        self.call_with(of, name, &values)
    }

    /// The same, of values.
    pub(super) fn call_with(
        &mut self,
        of: &ScriptValue<'a>,
        name: &str,
        arguments: &[ScriptValue<'a>],
    ) -> Result<ScriptValue<'a>, ScriptError> {
        if let ScriptValue::Doing(doing) = of {
            return self.of_doing(doing, name, arguments);
        }
        // What cannot be changed answers as what can, but for what would change it.
        if let ("getByPath", [ScriptValue::Text(path), others @ ..]) = (name, arguments) {
            self.steps(path.len() / STEP_ITEMS)?;
            return collections::by_path(of, path, others.first());
        }
        let is_deep = collections::DEEP.contains(&name);
        // The name of a member may be a list, too.
        if is_deep || matches!(of, ScriptValue::Members(_)) {
            let each = arguments.iter();
            each.take(1).try_for_each(|one| self.gone_through(one))?;
        }
        if is_deep {
            self.gone_through(of)?;
        }
        if collections::READING.contains(&name) {
            let copy = match of {
                &ScriptValue::Json(value) => Some(ScriptValue::changeable(value)),
                ScriptValue::List(items) => Some(ScriptValue::listed(items.to_vec())?),
                _ => None,
            };
            if let Some(copy) = copy {
                self.steps(of.size().unwrap_or(0))?;
                return self.call_with(&copy, name, arguments);
            }
        }
        if let [before @ .., ScriptValue::Doing(doing)] = arguments {
            return self.with_each(of, name, before, doing);
        }
        match of {
            &ScriptValue::Pattern(pattern) => return self.of_pattern(pattern, name, arguments),
            ScriptValue::Matcher(matcher) => return self.of_matcher(matcher, name, arguments),
            ScriptValue::Items(items) => {
                if let Some(found) = self.of_kind(items, name, arguments)? {
                    return Ok(found);
                }
            }
            _ => {}
        }
        if !matches!(of, ScriptValue::Items(_) | ScriptValue::Members(_)) {
            let found = members::call(of, name, arguments)?;
            if matches!(name, "splitOnToken" | "toCharArray" | "chars") {
                self.hold(&found)?;
                self.steps(found.size().unwrap_or(0) / STEP_ITEMS)?;
            }
            return Ok(found);
        }
        let grows = collections::GROWING.contains(&name);
        self.counted(of, name, arguments)?;
        let Some(found) = collections::call(of, name, arguments)? else {
            return members::call(of, name, arguments);
        };
        let is_made = arguments.is_empty() || collections::MAKING.contains(&name);
        if grows && is_made {
            self.hold(&found)?;
        }
        Ok(found)
    }

    /// Counts what a method of a list or a map holds, and the items that it goes through.
    fn counted(
        &mut self,
        of: &ScriptValue<'a>,
        name: &str,
        arguments: &[ScriptValue<'a>],
    ) -> Result<(), ScriptError> {
        if collections::GROWING.contains(&name) {
            arguments
                .iter()
                .try_for_each(|argument| self.hold(argument))?;
        }
        let is_set = matches!(of, ScriptValue::Items(items) if items.is_set());
        if is_set && matches!(name, "add" | "addAll" | "remove") {
            arguments
                .iter()
                .try_for_each(|one| self.gone_through(one))?;
            let has_inner = arguments.iter().any(|one| one.size().is_some());
            if has_inner {
                self.gone_through(of)?;
            }
        }
        // What is put before others moves them, and where each value is once all are looked at.
        let moves = name == "add" && (arguments.len() > 1 || is_set);
        if moves || !collections::QUICK.contains(&name) {
            let others = arguments
                .iter()
                .filter_map(ScriptValue::size)
                .sum::<usize>();
            let size = of.size().unwrap_or(0);
            // Some look for each of the others.
            let looks = match name {
                "removeAll" | "retainAll" | "containsAll" | "keySet.removeAll"
                | "keySet.retainAll" | "values.removeAll" | "values.retainAll" => {
                    size.saturating_mul(others.max(1))
                }
                "addAll" if is_set => size.saturating_add(others).saturating_mul(others.max(1)),
                "distinct" => size.saturating_mul(size),
                _ => size.saturating_add(others),
            };
            self.steps(looks / STEP_ITEMS)?;
        }
        Ok(())
    }

    /// What a method answers that does something with each item.
    fn with_each(
        &mut self,
        of: &ScriptValue<'a>,
        name: &str,
        before: &[ScriptValue<'a>],
        lambda: &Doing<'a>,
    ) -> Result<ScriptValue<'a>, ScriptError> {
        match (of, name, before) {
            (ScriptValue::Null, ..) => Err(ScriptError::null(name)),
            (ScriptValue::Members(members), ..) => self.over_members(members, name, before, lambda),
            (
                ScriptValue::Text(text),
                "replaceAll" | "replaceFirst",
                [ScriptValue::Pattern(pattern)],
            ) => self.replaced_by((*pattern, text), name, lambda),
            (_, _, []) => self.over_items(of, name, lambda),
            _ => self.over_items_with(of, name, before, lambda),
        }
    }

    fn over_items(
        &mut self,
        of: &ScriptValue<'a>,
        name: &str,
        lambda: &Doing<'a>,
    ) -> Result<ScriptValue<'a>, ScriptError> {
        let Some(items) = of.items() else {
            return Err(members::refused(of, name, 1));
        };
        self.steps(items.len() / STEP_ITEMS)?;
        let held = match of {
            ScriptValue::Items(held) => Some(held),
            _ => None,
        };
        let kind = held.map_or(Kind::Plain, Held::kind);
        if kind == Kind::Optional {
            return self.over_optional(of, items, name, lambda);
        }
        // A stream of numbers stays one where nothing else is made of them.
        let kind = match kind {
            Kind::Wholes => Kind::Wholes,
            _ => Kind::Plain,
        };
        Ok(match (name, held) {
            ("forEach" | "each" | "peek", _) => {
                for item in items {
                    self.applied(lambda, &[item])?;
                }
                match name {
                    "forEach" => ScriptValue::Null,
                    _ => of.clone(),
                }
            }
            ("removeIf" | "replaceAll" | "sort", Some(held)) => {
                self.changed_by(held, name, lambda)?
            }
            ("sorted", _) => ScriptValue::kept(kind, self.sorted(items, lambda)?)?,
            ("filter" | "findAll", _) => {
                ScriptValue::kept(kind, self.kept(items, lambda, Wanted::These)?)?
            }
            ("mapToInt" | "mapToLong", _) => {
                ScriptValue::kept(Kind::Wholes, self.each_made(items, lambda)?)?
            }
            ("map", _) => ScriptValue::kept(kind, self.each_made(items, lambda)?)?,
            ("any" | "anyMatch", _) => {
                ScriptValue::Bool(!self.kept(items, lambda, Wanted::These)?.is_empty())
            }
            ("noneMatch", _) => {
                ScriptValue::Bool(self.kept(items, lambda, Wanted::These)?.is_empty())
            }
            ("every" | "allMatch", _) => {
                ScriptValue::Bool(self.kept(items, lambda, Wanted::Others)?.is_empty())
            }
            ("collect", _) => self.collected(items, lambda)?,
            ("toArray", _) => ScriptValue::listed(items)?,
            _ => self.made_of_items(of, items, name, lambda)?,
        })
    }

    /// The items that something holds of, or does not.
    pub(super) fn kept(
        &mut self,
        items: Vec<ScriptValue<'a>>,
        lambda: &Doing<'a>,
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

    pub(super) fn each_made(
        &mut self,
        items: Vec<ScriptValue<'a>>,
        lambda: &Doing<'a>,
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
    pub(super) fn sorted(
        &mut self,
        mut items: Vec<ScriptValue<'a>>,
        lambda: &Doing<'a>,
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
}

/// Which items are kept.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Those that something holds of.
    These,
    /// Those that it does not hold of.
    Others,
}
