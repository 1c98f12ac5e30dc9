//! What lists, maps and streams answer to functions: the items that are found, gathered and grouped by them.

use std::borrow::Cow;

use super::collections;
use super::containers::{Held, Kind, Members};
use super::doing::{Doing, Groups};
use super::lambdas::Wanted;
use super::members;
use super::objects;
use super::run::Machine;
use super::value::{STEP_ITEMS, ScriptValue};
use crate::error::ScriptError;

impl<'a> Machine<'a, '_> {
    /// What a function makes of a list in its place.
    pub(super) fn changed_by(
        &mut self,
        held: &Held<Vec<ScriptValue<'a>>>,
        name: &str,
        lambda: &Doing<'a>,
    ) -> Result<ScriptValue<'a>, ScriptError> {
        let items = held.all();
        let before = items.len();
        let made = match name {
            "removeIf" => self.kept(items, lambda, Wanted::Others)?,
            "replaceAll" => self.each_made(items, lambda)?,
            _ => self.sorted(items, lambda)?,
        };
        let is_changed = made.len() != before;
        held.replace(made)?;
        Ok(match name {
            "removeIf" => ScriptValue::Bool(is_changed),
            _ => ScriptValue::Null,
        })
    }

    /// What is made of the items of a list or a stream.
    pub(super) fn made_of_items(
        &mut self,
        of: &ScriptValue<'a>,
        items: Vec<ScriptValue<'a>>,
        name: &str,
        lambda: &Doing<'a>,
    ) -> Result<ScriptValue<'a>, ScriptError> {
        Ok(match name {
            "find" => {
                let found = self.kept(items, lambda, Wanted::These)?;
                found.into_iter().next().unwrap_or(ScriptValue::Null)
            }
            "count" => objects::count(self.kept(items, lambda, Wanted::These)?.len()),
            "mapToObj" => ScriptValue::listed(self.each_made(items, lambda)?)?,
            "mapToDouble" => {
                let made = self.each_made(items, lambda)?;
                ScriptValue::listed(objects::floats(&made)?)?
            }
            "flatMap" => self.flattened(items, lambda)?,
            "sum" => {
                let made = self.each_made(items, lambda)?;
                members::folded(&made, "sum")?
            }
            "findResult" => self.first_made(items, lambda)?,
            "findResults" => {
                let mut made = self.each_made(items, lambda)?;
                made.retain(|one| *one != ScriptValue::Null);
                ScriptValue::listed(made)?
            }
            "groupBy" => {
                let groups = self.grouped(items, lambda, false)?;
                let mut all = Vec::with_capacity(groups.len());
                for (name, group) in groups {
                    all.push((name, ScriptValue::listed(group)?));
                }
                ScriptValue::mapped(all)?
            }
            "split" => {
                let these = self.kept(items.clone(), lambda, Wanted::These)?;
                let others = self.kept(items, lambda, Wanted::Others)?;
                let both = vec![ScriptValue::listed(these)?, ScriptValue::listed(others)?];
                ScriptValue::listed(both)?
            }
            "eachWithIndex" => {
                for (at, item) in items.into_iter().enumerate() {
                    self.applied(lambda, &[item, objects::count(at)])?;
                }
                of.clone()
            }
            "reduce" => {
                let mut items = items.into_iter();
                let Some(mut all) = items.next() else {
                    return ScriptValue::kept(Kind::Optional, Vec::new());
                };
                for item in items {
                    all = self.applied(lambda, &[all, item])?;
                }
                ScriptValue::kept(Kind::Optional, vec![all])?
            }
            "max" | "min" => self.furthest(items, name == "max", Some(lambda))?,
            _ => return Err(members::refused(of, name, 1)),
        })
    }

    /// The items of all lists that a function makes.
    fn flattened(
        &mut self,
        items: Vec<ScriptValue<'a>>,
        lambda: &Doing<'a>,
    ) -> Result<ScriptValue<'a>, ScriptError> {
        let mut all = Vec::new();
        for inner in self.each_made(items, lambda)? {
            let inner = inner
                .items()
                .ok_or_else(|| inner.no_cast("java.util.stream.Stream"))?;
            for item in inner {
                self.hold(&item)?;
                all.push(item);
            }
        }
        ScriptValue::listed(all)
    }

    /// The first that a function makes of an item that is not null.
    fn first_made(
        &mut self,
        items: Vec<ScriptValue<'a>>,
        lambda: &Doing<'a>,
    ) -> Result<ScriptValue<'a>, ScriptError> {
        for item in items {
            let made = self.applied(lambda, &[item])?;
            if made != ScriptValue::Null {
                return Ok(made);
            }
        }
        Ok(ScriptValue::Null)
    }

    /// The same, with something before the function.
    pub(super) fn over_items_with(
        &mut self,
        of: &ScriptValue<'a>,
        name: &str,
        before: &[ScriptValue<'a>],
        lambda: &Doing<'a>,
    ) -> Result<ScriptValue<'a>, ScriptError> {
        let items = of.items();
        let (Some(items), [first]) = (items, before) else {
            return Err(members::refused(of, name, before.len() + 1));
        };
        self.steps(items.len() / STEP_ITEMS)?;
        match name {
            "reduce" => {
                let mut all = first.clone();
                for item in items {
                    all = self.applied(lambda, &[all, item])?;
                }
                Ok(all)
            }
            "findResult" => Ok(match self.first_made(items, lambda)? {
                ScriptValue::Null => first.clone(),
                found => found,
            }),
            "collect" => {
                let made = ScriptValue::listed(self.each_made(items, lambda)?)?;
                self.call_with(first, "addAll", &[made])?;
                Ok(first.clone())
            }
            _ => Err(members::refused(of, name, 2)),
        }
    }

    /// What is there, or is not, answers to a function.
    pub(super) fn over_optional(
        &mut self,
        of: &ScriptValue<'a>,
        items: Vec<ScriptValue<'a>>,
        name: &str,
        lambda: &Doing<'a>,
    ) -> Result<ScriptValue<'a>, ScriptError> {
        let there = items.into_iter().next();
        match (name, there) {
            ("orElseGet", Some(there)) => Ok(there),
            ("orElseGet", None) => self.applied(lambda, &[]),
            ("map", Some(there)) => {
                let made = self.applied(lambda, &[there])?;
                objects::optional(made)
            }
            ("flatMap", Some(there)) => self.applied(lambda, &[there]),
            ("filter", Some(there)) => {
                let holds = self.applied(lambda, std::slice::from_ref(&there))?;
                match holds.want_truth()? {
                    true => objects::optional(there),
                    false => objects::optional(ScriptValue::Null),
                }
            }
            ("map" | "flatMap" | "filter", None) => objects::optional(ScriptValue::Null),
            ("ifPresent", Some(there)) => {
                self.applied(lambda, &[there])?;
                Ok(ScriptValue::Null)
            }
            ("ifPresent", None) => Ok(ScriptValue::Null),
            _ => Err(members::refused(of, name, 1)),
        }
    }

    /// What a map answers to a function of names and values.
    pub(super) fn over_members(
        &mut self,
        members: &Held<Members<'a>>,
        name: &str,
        before: &[ScriptValue<'a>],
        lambda: &Doing<'a>,
    ) -> Result<ScriptValue<'a>, ScriptError> {
        if let [key] = before
            && let Some(found) = self.computed(members, name, key, lambda)?
        {
            return Ok(found);
        }
        if let ("merge", [key, value]) = (name, before) {
            let made = match members.get(&collections::key(key)) {
                None | Some(ScriptValue::Null) => value.clone(),
                Some(there) => self.applied(lambda, &[there, value.clone()])?,
            };
            return self.keep(members, key, made);
        }
        let all = members.all();
        self.steps(all.len() / STEP_ITEMS)?;
        let of = ScriptValue::Members(members.clone());
        if name == "collect" || name == "findResult" || name == "findResults" {
            return self.made_of_members(&of, all, name, (before, lambda));
        }
        if let Some(part) = name.strip_suffix(".removeIf") {
            return self.removed(members, part, lambda);
        }
        if matches!(name, "forEach" | "each" | "replaceAll" | "groupBy") {
            return self.done_with_members(members, all, name, lambda);
        }
        let (mut found, mut count) = (Vec::new(), 0_usize);
        for (key, value) in all {
            let given = [ScriptValue::Text(key.clone()), value.clone()];
            let holds = self.applied(lambda, &given)?.want_truth()?;
            count += usize::from(holds);
            match name {
                "find" if holds => return ScriptValue::entry(key, value),
                "every" if !holds => return Ok(ScriptValue::Bool(false)),
                "findAll" if holds => {
                    self.hold(&value)?;
                    found.push((key, value));
                }
                "find" | "every" | "findAll" | "count" => {}
                _ => return Err(members::refused(&of, name, before.len() + 1)),
            }
        }
        Ok(match name {
            "count" => objects::count(count),
            "every" => ScriptValue::Bool(true),
            "findAll" => ScriptValue::mapped(found)?,
            _ => ScriptValue::Null,
        })
    }

    /// What is done with each member, or made of it in the place of its value.
    fn done_with_members(
        &mut self,
        members: &Held<Members<'a>>,
        all: Vec<(Cow<'a, str>, ScriptValue<'a>)>,
        name: &str,
        lambda: &Doing<'a>,
    ) -> Result<ScriptValue<'a>, ScriptError> {
        let mut groups: Groups<'a, (Cow<'a, str>, ScriptValue<'a>)> = Vec::new();
        for (key, value) in all {
            let given = [ScriptValue::Text(key.clone()), value.clone()];
            let made = self.applied(lambda, &given)?;
            if name == "replaceAll" {
                self.hold(&made)?;
                members.put(key, made)?;
            } else if name == "groupBy" {
                self.hold(&value)?;
                self.put_in_group(&mut groups, &made, (key, value))?;
            }
        }
        match name {
            "groupBy" => {
                let mut made = Vec::with_capacity(groups.len());
                for (name, group) in groups {
                    made.push((name, ScriptValue::mapped(group)?));
                }
                ScriptValue::mapped(made)
            }
            "each" => Ok(ScriptValue::Members(members.clone())),
            _ => Ok(ScriptValue::Null),
        }
    }

    /// Takes the members away of whose names, values or both something holds.
    fn removed(
        &mut self,
        members: &Held<Members<'a>>,
        part: &str,
        lambda: &Doing<'a>,
    ) -> Result<ScriptValue<'a>, ScriptError> {
        let mut is_changed = false;
        for (key, value) in members.all() {
            let given = match part {
                "keySet" => ScriptValue::Text(key.clone()),
                "values" => value,
                _ => ScriptValue::entry(key.clone(), value)?,
            };
            if self.applied(lambda, &[given])?.want_truth()? {
                members.take(&key);
                is_changed = true;
            }
        }
        Ok(ScriptValue::Bool(is_changed))
    }

    /// Gives a member what was computed; null takes it away.
    fn keep(
        &mut self,
        members: &Held<Members<'a>>,
        key: &ScriptValue<'a>,
        made: ScriptValue<'a>,
    ) -> Result<ScriptValue<'a>, ScriptError> {
        self.hold(&made)?;
        match made {
            ScriptValue::Null => {
                members.take(&collections::key(key));
            }
            ref made => {
                members.put(collections::key(key), made.clone())?;
            }
        }
        Ok(made)
    }

    /// `computeIfAbsent` and its like; `None` where it is another method.
    fn computed(
        &mut self,
        members: &Held<Members<'a>>,
        name: &str,
        key: &ScriptValue<'a>,
        lambda: &Doing<'a>,
    ) -> Result<Option<ScriptValue<'a>>, ScriptError> {
        let there = members.get(&collections::key(key));
        let there = there.unwrap_or(ScriptValue::Null);
        let is_there = there != ScriptValue::Null;
        Ok(Some(match name {
            "computeIfAbsent" if is_there => there,
            "computeIfPresent" if !is_there => ScriptValue::Null,
            "computeIfAbsent" => {
                let made = self.applied(lambda, std::slice::from_ref(key))?;
                match made {
                    ScriptValue::Null => made,
                    made => self.keep(members, key, made)?,
                }
            }
            "computeIfPresent" | "compute" => {
                let made = self.applied(lambda, &[key.clone(), there])?;
                self.keep(members, key, made)?
            }
            _ => return Ok(None),
        }))
    }

    /// The lists that a function makes of a map.
    fn made_of_members(
        &mut self,
        of: &ScriptValue<'a>,
        all: Vec<(Cow<'a, str>, ScriptValue<'a>)>,
        name: &str,
        (before, lambda): (&[ScriptValue<'a>], &Doing<'a>),
    ) -> Result<ScriptValue<'a>, ScriptError> {
        let mut made = Vec::with_capacity(all.len());
        for (key, value) in all {
            let one = self.applied(lambda, &[ScriptValue::Text(key), value])?;
            if name != "collect" && one == ScriptValue::Null {
                continue;
            }
            if name == "findResult" {
                return Ok(one);
            }
            self.hold(&one)?;
            made.push(one);
        }
        match (name, before) {
            ("findResult", []) => Ok(ScriptValue::Null),
            ("findResult", [instead]) => Ok(instead.clone()),
            ("collect" | "findResults", []) => ScriptValue::listed(made),
            ("collect", [into]) => {
                let made = ScriptValue::listed(made)?;
                self.call_with(into, "addAll", &[made])?;
                Ok(into.clone())
            }
            _ => Err(members::refused(of, name, before.len() + 1)),
        }
    }
}
