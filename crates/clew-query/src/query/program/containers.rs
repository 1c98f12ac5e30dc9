//! Lists and maps that a script makes, or is given to change. All that name one see what becomes of it, as in Java.
//!
//! What comes from JSON is taken over level by level, when it is asked for: what a script does not touch stays as it was.
//! None can hold itself, and their depth ends: each has a level, and what it holds has higher ones.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use serde_json::{Map, Value};

use super::operators::is_same;
use super::value::ScriptValue;
use crate::error::{ScriptError, ScriptErrorKind};

/// So deep may lists and maps lie inside each other.
const LEVEL_MAX: usize = 128;

/// Something that is changed in place; two of them are equal if they are the same one.
#[derive(Debug)]
pub struct Held<T>(Arc<Mutex<Inside<T>>>);

#[derive(Debug)]
struct Inside<T> {
    level: usize,
    kind: Kind,
    what: T,
}

/// What something that is changed in place is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A list or a stream of anything; a map in the order in which its members came.
    Plain,
    /// A stream of whole numbers, whose sum is one.
    Wholes,
    /// A list that has each value once.
    Set,
    /// The same in the order of its values; a map in the order of its names.
    Sorted,
    /// A list that is used from its end.
    Stack,
    /// A text that grows: its one item.
    Builder,
    /// What goes through a list or a map: that, or null, and the items that come, the next one last.
    Iterator,
    /// One item, or none.
    Optional,
    /// A name and its value, as a map has them.
    Entry,
    /// A failure: what is wrong, and the name of its class.
    Failure,
}

/// Members of a map, in the order in which they came.
#[derive(Debug, Default)]
pub struct Members<'a> {
    next: u64,
    by_name: BTreeMap<Cow<'a, str>, (u64, ScriptValue<'a>)>,
    /// The map that an entry is of.
    of: Option<Weak<Mutex<Inside<Members<'a>>>>>,
}

impl<T> Clone for Held<T> {
    fn clone(&self) -> Self {
        Held(Arc::clone(&self.0))
    }
}

impl<T> PartialEq for Held<T> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl<T> Held<T> {
    fn new(what: T, level: usize) -> Self {
        let inside = Inside {
            level,
            kind: Kind::Plain,
            what,
        };
        Held(Arc::new(Mutex::new(inside)))
    }

    fn inside<R>(&self, with: impl FnOnce(&mut Inside<T>) -> R) -> R {
        let mut guard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let inside: &mut Inside<T> = &mut guard;
        with(inside)
    }

    /// What it is there for.
    pub(super) fn kind(&self) -> Kind {
        self.inside(|inside| inside.kind)
    }

    fn level(&self) -> usize {
        self.inside(|inside| inside.level)
    }

    /// Lets it hold a value, unless that holds it already.
    fn admit(&self, value: &ScriptValue<'_>) -> Result<(), ScriptError> {
        let level = self.level();
        sink(value, level)?;
        match self.level() == level {
            true => Ok(()),
            false => Err(ScriptError::argument(
                "Iterable object is self-referencing itself",
            )),
        }
    }
}

/// Notes that a value lies in something of a level.
fn sink(value: &ScriptValue<'_>, below: usize) -> Result<(), ScriptError> {
    let level = below + 1;
    let inner = match value {
        ScriptValue::Items(items) => items.inside(|inside| {
            if inside.level >= level {
                return Vec::new();
            }
            inside.level = level;
            let inner = inside.what.iter().filter(|item| is_held(item));
            inner.cloned().collect()
        }),
        ScriptValue::Members(members) => members.inside(|inside| {
            if inside.level >= level {
                return Vec::new();
            }
            inside.level = level;
            let inner = inside.what.by_name.values().map(|(_, value)| value);
            inner.filter(|value| is_held(value)).cloned().collect()
        }),
        // It may see what it would lie in.
        ScriptValue::Doing(_) => {
            return Err(ScriptError::argument(
                "a function cannot be put into a list or a map",
            ));
        }
        _ => return Ok(()),
    };
    if level > LEVEL_MAX {
        return Err(ScriptError::new(
            ScriptErrorKind::Limit,
            "lists and maps of a script are nested too deep",
        ));
    }
    inner.iter().try_for_each(|inner| sink(inner, level))
}

/// Each value once, in the order in which they are first.
pub(super) fn distinct(items: Vec<ScriptValue<'_>>) -> Vec<ScriptValue<'_>> {
    let mut kept = Vec::<ScriptValue<'_>>::new();
    for item in items {
        if !kept.iter().any(|have| is_same(have, &item)) {
            kept.push(item);
        }
    }
    kept
}

fn is_held(value: &ScriptValue<'_>) -> bool {
    matches!(value, ScriptValue::Items(_) | ScriptValue::Members(_))
}

/// A value of JSON that the script can change, in something of the level before.
fn taken_over(value: &Value, level: usize) -> ScriptValue<'_> {
    match value {
        Value::Array(items) => {
            let items = items.iter().map(ScriptValue::Json);
            ScriptValue::Items(Held::new(items.collect(), level))
        }
        Value::Object(members) => {
            let mut all = Members::default();
            for (name, value) in members {
                all.put(Cow::Borrowed(name.as_str()), ScriptValue::Json(value));
            }
            ScriptValue::Members(Held::new(all, level))
        }
        single => ScriptValue::of_json(single),
    }
}

/// A value that lies in something of a level, as it can be changed.
fn seen<'a>(slot: &mut ScriptValue<'a>, level: usize) -> ScriptValue<'a> {
    if let ScriptValue::Json(value) = *slot {
        // Numbers that scripts do not have stay what they are.
        let seen = taken_over(value, level + 1);
        if is_held(&seen) {
            *slot = seen.clone();
        }
        return seen;
    }
    slot.clone()
}

impl<'a> ScriptValue<'a> {
    /// A value of JSON that the script can change.
    pub(super) fn changeable(value: &'a Value) -> Self {
        taken_over(value, 0)
    }

    /// A list that was made.
    pub(super) fn listed(items: Vec<ScriptValue<'a>>) -> Result<Self, ScriptError> {
        let list = Held::new(Vec::new(), 0);
        for item in &items {
            list.admit(item)?;
        }
        list.inside(|inside| inside.what = items);
        Ok(ScriptValue::Items(list))
    }

    /// Items that are there for something.
    pub(super) fn kept(kind: Kind, items: Vec<ScriptValue<'a>>) -> Result<Self, ScriptError> {
        let list = Self::listed(items)?;
        if let ScriptValue::Items(items) = &list {
            items.inside(|inside| inside.kind = kind);
        }
        Ok(list)
    }

    /// A map that is there for something.
    pub(super) fn map_of(
        kind: Kind,
        pairs: Vec<(Cow<'a, str>, ScriptValue<'a>)>,
    ) -> Result<Self, ScriptError> {
        let map = Self::mapped(pairs)?;
        if let ScriptValue::Members(members) = &map {
            members.inside(|inside| inside.kind = kind);
        }
        Ok(map)
    }

    /// A list that was made, and has each value once.
    pub(super) fn set_of(items: Vec<ScriptValue<'a>>) -> Result<Self, ScriptError> {
        Self::kept(Kind::Set, distinct(items))
    }

    /// A name and its value.
    pub(super) fn entry(name: Cow<'a, str>, value: ScriptValue<'a>) -> Result<Self, ScriptError> {
        let key = (Cow::Borrowed("key"), ScriptValue::Text(name));
        Self::map_of(Kind::Entry, vec![key, (Cow::Borrowed("value"), value)])
    }

    /// What goes through items of something.
    pub(super) fn iterator(of: ScriptValue<'a>, items: Vec<Self>) -> Result<Self, ScriptError> {
        let mut all = vec![of];
        all.extend(items.into_iter().rev());
        Self::kept(Kind::Iterator, all)
    }

    /// A map that was made.
    pub(super) fn mapped(pairs: Vec<(Cow<'a, str>, ScriptValue<'a>)>) -> Result<Self, ScriptError> {
        let map = Held::new(Members::default(), 0);
        for (name, value) in pairs {
            map.put(name, value)?;
        }
        Ok(ScriptValue::Members(map))
    }
}

impl<'a> Held<Vec<ScriptValue<'a>>> {
    pub(super) fn len(&self) -> usize {
        self.inside(|inside| inside.what.len())
    }

    pub(super) fn at(&self, place: usize) -> Option<ScriptValue<'a>> {
        self.inside(|inside| {
            let level = inside.level;
            let slot = inside.what.get_mut(place)?;
            Some(seen(slot, level))
        })
    }

    /// Whether it has each value once.
    pub(super) fn is_set(&self) -> bool {
        matches!(self.kind(), Kind::Set | Kind::Sorted)
    }

    /// The text that grows in it.
    pub(super) fn text(&self) -> String {
        self.inside(|inside| match inside.what.first() {
            Some(ScriptValue::Text(text)) => text.clone().into_owned(),
            _ => String::new(),
        })
    }

    /// Puts more behind the text that grows in it, or has another text: how long that is, in bytes.
    pub(super) fn write(&self, text: &str, is_more: bool) -> usize {
        self.inside(|inside| {
            if let Some(ScriptValue::Text(there)) = inside.what.first_mut() {
                let there = there.to_mut();
                if !is_more {
                    there.clear();
                }
                there.push_str(text);
                return there.len();
            }
            inside.what = vec![ScriptValue::Text(Cow::Owned(text.to_string()))];
            text.len()
        })
    }

    /// All items.
    pub(super) fn all(&self) -> Vec<ScriptValue<'a>> {
        self.inside(|inside| {
            let level = inside.level;
            let slots = inside.what.iter_mut();
            slots.map(|slot| seen(slot, level)).collect()
        })
    }

    /// Puts an item before the one at a place; whether there is such a place.
    pub(super) fn insert(&self, place: usize, value: ScriptValue<'a>) -> Result<bool, ScriptError> {
        self.admit(&value)?;
        Ok(self.inside(|inside| {
            let is_there = place <= inside.what.len();
            if is_there {
                inside.what.insert(place, value);
            }
            is_there
        }))
    }

    /// Puts an item in the place of another, which is given back; `None` where there is no such place.
    pub(super) fn set(
        &self,
        place: usize,
        value: ScriptValue<'a>,
    ) -> Result<Option<ScriptValue<'a>>, ScriptError> {
        self.admit(&value)?;
        Ok(self.inside(|inside| {
            let slot = inside.what.get_mut(place)?;
            Some(std::mem::replace(slot, value))
        }))
    }

    pub(super) fn take(&self, place: usize) -> Option<ScriptValue<'a>> {
        self.inside(|inside| {
            let is_there = place < inside.what.len();
            is_there.then(|| inside.what.remove(place))
        })
    }

    /// Has other items, all of which it may hold.
    pub(super) fn replace(&self, items: Vec<ScriptValue<'a>>) -> Result<(), ScriptError> {
        for item in &items {
            self.admit(item)?;
        }
        self.inside(|inside| inside.what = items);
        Ok(())
    }

    pub(super) fn to_json(&self) -> Value {
        self.inside(|inside| inside.what.iter().map(ScriptValue::to_json).collect())
    }

    /// Takes all that its items have inside off what is left; whether there was enough.
    pub(super) fn counted_off(&self, left: &mut usize) -> bool {
        self.inside(|inside| inside.what.iter().all(|item| item.counted_off(left)))
    }

    /// Whether all that it holds fits into what is left.
    pub(super) fn fits(&self, left: &mut usize) -> bool {
        self.inside(|inside| inside.what.iter().all(|item| item.fits(left)))
    }
}

impl<'a> Members<'a> {
    fn put(&mut self, name: Cow<'a, str>, value: ScriptValue<'a>) -> Option<ScriptValue<'a>> {
        if let Some((_, slot)) = self.by_name.get_mut(&*name) {
            return Some(std::mem::replace(slot, value));
        }
        self.by_name.insert(name, (self.next, value));
        self.next += 1;
        None
    }
}

impl<'a> Held<Members<'a>> {
    pub(super) fn len(&self) -> usize {
        self.inside(|inside| inside.what.by_name.len())
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.inside(|inside| inside.what.by_name.contains_key(name))
    }

    pub(super) fn get(&self, name: &str) -> Option<ScriptValue<'a>> {
        self.inside(|inside| {
            let level = inside.level;
            let (_, slot) = inside.what.by_name.get_mut(name)?;
            Some(seen(slot, level))
        })
    }

    /// Gives a member a value, and back the one that it had.
    pub(super) fn put(
        &self,
        name: Cow<'a, str>,
        value: ScriptValue<'a>,
    ) -> Result<Option<ScriptValue<'a>>, ScriptError> {
        self.admit(&value)?;
        Ok(self.inside(|inside| inside.what.put(name, value)))
    }

    pub(super) fn take(&self, name: &str) -> Option<ScriptValue<'a>> {
        let level = self.level();
        let taken = self.inside(|inside| inside.what.by_name.remove(name));
        taken.map(|(_, mut value)| seen(&mut value, level))
    }

    pub(super) fn clear(&self) {
        self.inside(|inside| inside.what.by_name.clear());
    }

    /// All members as entries.
    pub(super) fn entries(&self) -> Result<Vec<ScriptValue<'a>>, ScriptError> {
        let mut entries = Vec::new();
        for (name, value) in self.all() {
            let entry = ScriptValue::entry(name, value)?;
            if let ScriptValue::Members(members) = &entry {
                let of = Some(Arc::downgrade(&self.0));
                members.inside(|inside| inside.what.of = of);
            }
            entries.push(entry);
        }
        Ok(entries)
    }

    /// Gives an entry another value, in its map, too; the one that it had is given back.
    pub(super) fn set_value(
        &self,
        value: &ScriptValue<'a>,
    ) -> Result<Option<ScriptValue<'a>>, ScriptError> {
        let of = self.inside(|inside| inside.what.of.as_ref().and_then(Weak::upgrade));
        if let (Some(of), Some(ScriptValue::Text(name))) = (of, self.get("key")) {
            Held(of).put(name, value.clone())?;
        }
        self.put(Cow::Borrowed("value"), value.clone())
    }

    /// Takes all that its values have inside off what is left; whether there was enough.
    pub(super) fn counted_off(&self, left: &mut usize) -> bool {
        self.inside(|inside| {
            let mut members = inside.what.by_name.values();
            members.all(|(_, value)| value.counted_off(left))
        })
    }

    /// All members, in the order in which they came.
    pub(super) fn all(&self) -> Vec<(Cow<'a, str>, ScriptValue<'a>)> {
        let mut all = self.inside(|inside| {
            let level = inside.level;
            let members = inside.what.by_name.iter_mut();
            let each = members.map(|(name, (at, slot))| (*at, name.clone(), seen(slot, level)));
            each.collect::<Vec<_>>()
        });
        if self.kind() != Kind::Sorted {
            all.sort_by_key(|(at, ..)| *at);
        } else if all.iter().all(|(_, name, _)| name.parse::<i64>().is_ok()) {
            // Names that are numbers come in the order of these.
            all.sort_by_key(|(_, name, _)| name.parse::<i64>().unwrap_or(0));
        }
        let each = all.into_iter();
        each.map(|(_, name, value)| (name, value)).collect()
    }

    pub(super) fn to_json(&self) -> Value {
        self.inside(|inside| {
            let mut all: Vec<_> = inside.what.by_name.iter().collect();
            if inside.kind != Kind::Sorted {
                all.sort_by_key(|(_, (at, _))| *at);
            }
            let each = all.into_iter();
            let json: Map<String, Value> = each
                .map(|(name, (_, value))| (name.clone().into_owned(), value.to_json()))
                .collect();
            Value::Object(json)
        })
    }

    /// Whether all that it holds fits into what is left.
    pub(super) fn fits(&self, left: &mut usize) -> bool {
        self.inside(|inside| {
            let mut members = inside.what.by_name.iter();
            members.all(|(name, (_, value))| {
                *left = left.saturating_sub(name.len());
                value.fits(left)
            })
        })
    }
}
