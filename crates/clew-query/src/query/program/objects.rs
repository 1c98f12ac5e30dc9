//! What scripts make beside lists and maps: texts that grow, what goes through a list, and what is there or is not; and
//! the functions that make them.

use std::borrow::Cow;

use super::containers::{Held, Kind};
use super::doing::{Doing, What};
use super::failures;
use super::members;
use super::run::Machine;
use super::tree::{Node, Thrown};
use super::value::{STEP_BYTES, STEP_ITEMS, ScriptValue, TEXT_BYTES_MAX};
use super::{collections, functions, statics};
use crate::error::{ScriptError, ScriptErrorKind};

/// So many numbers has a range at most.
const RANGE_MAX: i64 = 1 << 20;

/// The function that makes an object of a class, of so many arguments.
pub(super) fn constructor(class: &str, arguments: usize) -> Option<&'static str> {
    Some(match (class, arguments) {
        ("ArrayList" | "LinkedList" | "ArrayDeque" | "Vector", 0) => "newList",
        ("Stack", 0) => "newStack",
        ("ArrayList" | "LinkedList" | "ArrayDeque" | "Vector", 1) => "copyOfList",
        ("HashMap" | "LinkedHashMap", 0) => "newMap",
        ("HashMap" | "LinkedHashMap", 1) => "copyOfMap",
        ("HashSet" | "LinkedHashSet", 0) => "newSet",
        ("HashSet" | "LinkedHashSet", 1) => "copyOfSet",
        ("TreeSet", 0 | 1) => "newSortedSet",
        ("TreeMap", 0 | 1) => "newSortedMap",
        ("StringBuilder" | "StringBuffer", 0 | 1) => "newBuilder",
        ("StringTokenizer", 1..=3) => "newTokenizer",
        _ => return None,
    })
}

/// A count.
pub(super) fn count<'a>(count: usize) -> ScriptValue<'a> {
    ScriptValue::Whole(i64::try_from(count).unwrap_or(i64::MAX))
}

/// What is there, unless it is null.
pub(super) fn optional<'a>(value: ScriptValue<'a>) -> Result<ScriptValue<'a>, ScriptError> {
    let items = match value {
        ScriptValue::Null => Vec::new(),
        value => vec![value],
    };
    ScriptValue::kept(Kind::Optional, items)
}

/// Numbers that may have fractions.
pub(super) fn floats<'a>(items: &[ScriptValue<'a>]) -> Result<Vec<ScriptValue<'a>>, ScriptError> {
    let each = items.iter();
    each.map(|item| item.want_number().map(ScriptValue::Float))
        .collect()
}

/// One number for those of a list: whole for whole numbers of a stream.
pub(super) fn folded<'a>(of: &ScriptValue<'a>, name: &str) -> Result<ScriptValue<'a>, ScriptError> {
    let items = of.items().unwrap_or_default();
    let is_whole = matches!(of, ScriptValue::Items(held) if held.kind() == Kind::Wholes);
    if is_whole && name == "sum" {
        let mut sum = 0_i64;
        for item in &items {
            sum = sum.wrapping_add(item.want_whole()?);
        }
        return Ok(ScriptValue::Whole(sum));
    }
    members::folded(&items, name)
}

fn out(place: i64, length: usize) -> ScriptError {
    ScriptError::new(
        ScriptErrorKind::Bounds,
        format!("index {place},length {length}"),
    )
}

fn none_there() -> ScriptError {
    ScriptError::new(ScriptErrorKind::NoElement, "No value present")
}

impl<'a> Machine<'a, '_> {
    /// A list that is written out.
    pub(super) fn list(&mut self, items: &'a [Node]) -> Result<ScriptValue<'a>, ScriptError> {
        let items = self.all(items)?;
        items.iter().try_for_each(|item| self.hold(item))?;
        ScriptValue::listed(items)
    }

    /// A list of so many of the same item, or of such lists.
    pub(super) fn array(
        &mut self,
        sizes: &'a [Node],
        item: &'a Node,
    ) -> Result<ScriptValue<'a>, ScriptError> {
        let Some((size, inner)) = sizes.split_first() else {
            return self.value(item);
        };
        let size = self.value(size)?.want_whole()?;
        let size = usize::try_from(size)
            .map_err(|_| ScriptError::new(ScriptErrorKind::Runtime, size.to_string()))?;
        self.steps(size / STEP_ITEMS)?;
        let mut items = Vec::new();
        for _ in 0..size {
            let item = self.array(inner, item)?;
            self.hold(&item)?;
            items.push(item);
        }
        ScriptValue::listed(items)
    }

    /// A map that is written out.
    pub(super) fn map(
        &mut self,
        pairs: &'a [(Node, Node)],
    ) -> Result<ScriptValue<'a>, ScriptError> {
        let mut made = Vec::with_capacity(pairs.len());
        for (name, value) in pairs {
            let (name, value) = (self.value(name)?, self.value(value)?);
            self.gone_through(&name)?;
            self.hold(&value)?;
            made.push((collections::key(&name), value));
        }
        ScriptValue::mapped(made)
    }

    /// What a function makes of its arguments.
    pub(super) fn function_of(
        &mut self,
        name: &str,
        values: &[ScriptValue<'a>],
    ) -> Result<ScriptValue<'a>, ScriptError> {
        for value in values {
            match value {
                ScriptValue::Json(_) => self.steps(value.size().unwrap_or(0) / STEP_ITEMS)?,
                value => self.gone_through(value)?,
            }
        }
        if name.starts_with("new") {
            return self.object(name, values);
        }
        if let Some(found) = self.of_collections(name, values)? {
            return Ok(found);
        }
        if let Some(found) = self.of_processors(name, values)? {
            return Ok(found);
        }
        match (name, values) {
            ("copyOfList" | "copyOfSet" | "copyOfMap", [of]) => {
                self.hold(of)?;
                let size = of.size().unwrap_or(0);
                let looks = match name {
                    "copyOfSet" => size.saturating_mul(size),
                    _ => size,
                };
                self.steps(looks / STEP_ITEMS)?;
                collections::copied(name, of)
            }
            ("optional", [value]) => optional(value.clone()),
            ("naturalOrder", []) => Doing::made(What::Natural),
            ("byKey", []) => Doing::made(What::ByMember("key")),
            ("byValue", []) => Doing::made(What::ByMember("value")),
            ("comparing", [key]) => Doing::made(What::By(key.clone())),
            ("collector", [name, arguments @ ..]) => {
                let name = Cow::Owned(name.shown().into_owned());
                Doing::made(What::Collector(name, arguments.to_vec()))
            }
            ("range" | "rangeClosed", [from, to]) => {
                let (from, to) = (from.want_whole()?, to.want_whole()?);
                let to = to.saturating_add(i64::from(name == "rangeClosed"));
                let length = to.saturating_sub(from).clamp(0, RANGE_MAX);
                self.steps(usize::try_from(length).unwrap_or(0) / STEP_ITEMS)?;
                let mut numbers = Vec::new();
                for number in from..from.saturating_add(length) {
                    let number = ScriptValue::Whole(number);
                    self.hold(&number)?;
                    numbers.push(number);
                }
                ScriptValue::kept(Kind::Wholes, numbers)
            }
            _ => match statics::call(name, values)? {
                Some(found) => Ok(found),
                None => functions::call(name, self.script.language, values),
            },
        }
    }

    /// An object of a class that can be made.
    fn object(
        &mut self,
        name: &str,
        values: &[ScriptValue<'a>],
    ) -> Result<ScriptValue<'a>, ScriptError> {
        match (name, values) {
            ("newList", []) => ScriptValue::listed(Vec::new()),
            ("newStack", []) => ScriptValue::kept(Kind::Stack, Vec::new()),
            ("newMap", []) => ScriptValue::mapped(Vec::new()),
            ("newSet", []) => ScriptValue::set_of(Vec::new()),
            ("newSortedSet", []) => ScriptValue::kept(Kind::Sorted, Vec::new()),
            ("newSortedSet", [of]) => {
                self.hold(of)?;
                let items = of.items().unwrap_or_default();
                self.steps(items.len().saturating_mul(items.len()) / STEP_ITEMS)?;
                let set = ScriptValue::set_of(items)?;
                let items = collections::in_order(set.items().unwrap_or_default())?;
                ScriptValue::kept(Kind::Sorted, items)
            }
            ("newSortedMap", []) => ScriptValue::map_of(Kind::Sorted, Vec::new()),
            ("newSortedMap", [of]) => {
                self.hold(of)?;
                ScriptValue::map_of(Kind::Sorted, collections::pairs(of)?)
            }
            ("newBuilder", []) => self.builder(""),
            // How much room it has at first is of no account.
            ("newBuilder", [ScriptValue::Whole(_)]) => self.builder(""),
            ("newBuilder", [text]) => {
                let text = text.shown().into_owned();
                self.builder(&text)
            }
            ("newTokenizer", [text, others @ ..]) => {
                let tokens = tokens_of(text.want_text()?, others)?;
                self.steps(tokens.len() / STEP_ITEMS)?;
                tokens.iter().try_for_each(|token| self.hold(token))?;
                ScriptValue::iterator(ScriptValue::Null, tokens)
            }
            ("newFailure", [class, others @ ..]) => {
                let thrown = Thrown::named(&class.shown()).unwrap_or(Thrown::Other);
                let reason = others.first().cloned().unwrap_or(ScriptValue::Null);
                failures::failure(thrown.kind(), reason)
            }
            _ => Err(ScriptError::argument(format!("unknown call [{name}]"))),
        }
    }

    /// A text that grows.
    fn builder(&mut self, text: &str) -> Result<ScriptValue<'a>, ScriptError> {
        let text = ScriptValue::made(text.to_string())?;
        self.hold(&text)?;
        ScriptValue::kept(Kind::Builder, vec![text])
    }

    /// What something that is there for a purpose answers; `None` where lists answer alike.
    pub(super) fn of_kind(
        &mut self,
        items: &Held<Vec<ScriptValue<'a>>>,
        name: &str,
        arguments: &[ScriptValue<'a>],
    ) -> Result<Option<ScriptValue<'a>>, ScriptError> {
        let of = ScriptValue::Items(items.clone());
        if let "iterator" | "listIterator" = name {
            let all = items.all();
            self.steps(all.len() / STEP_ITEMS)?;
            all.iter().try_for_each(|item| self.hold(item))?;
            return ScriptValue::iterator(of, all).map(Some);
        }
        match (items.kind(), name, arguments) {
            (Kind::Builder, ..) => self.of_builder(items, name, arguments).map(Some),
            (Kind::Iterator, ..) => self.of_iterator(items, name, arguments).map(Some),
            (Kind::Optional, "isPresent", []) => Ok(Some(ScriptValue::Bool(items.len() > 0))),
            (Kind::Optional, "get" | "getAsInt" | "getAsLong" | "getAsDouble", []) => {
                items.at(0).map(Some).ok_or_else(none_there)
            }
            (Kind::Optional, "orElse", [other]) => {
                Ok(Some(items.at(0).unwrap_or_else(|| other.clone())))
            }
            (Kind::Optional, "toString" | "equals", _) => Ok(None),
            (Kind::Optional, ..) => Err(members::refused(&of, name, arguments.len())),
            (_, "findFirst" | "findAny", []) => {
                let first = items.at(0).into_iter().collect();
                ScriptValue::kept(Kind::Optional, first).map(Some)
            }
            (_, "max" | "min", []) => {
                let all = items.all();
                self.furthest(all, name == "max", None).map(Some)
            }
            (_, "average", []) => {
                let all = items.all();
                self.steps(all.len() / STEP_ITEMS)?;
                match all.is_empty() {
                    true => optional(ScriptValue::Null).map(Some),
                    false => optional(members::folded(&all, "avg")?).map(Some),
                }
            }
            (Kind::Wholes, "sum", []) => folded(&of, "sum").map(Some),
            (Kind::Wholes, "asDoubleStream", []) => {
                ScriptValue::listed(floats(&items.all())?).map(Some)
            }
            (Kind::Wholes, "sorted" | "distinct" | "limit" | "skip", _) => {
                self.steps(items.len() / STEP_ITEMS)?;
                let made = collections::call(&of, name, arguments)?;
                let made = made.and_then(|made| made.items()).unwrap_or_default();
                ScriptValue::kept(Kind::Wholes, made).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// What goes through a list or a map answers.
    fn of_iterator(
        &mut self,
        items: &Held<Vec<ScriptValue<'a>>>,
        name: &str,
        arguments: &[ScriptValue<'a>],
    ) -> Result<ScriptValue<'a>, ScriptError> {
        let left = items.len().saturating_sub(1);
        match (name, arguments) {
            ("hasNext" | "hasMoreTokens" | "hasMoreElements", []) => {
                Ok(ScriptValue::Bool(left > 0))
            }
            ("countTokens", []) => Ok(count(left)),
            ("next" | "nextToken" | "nextElement", []) if left > 0 => {
                items.take(left).ok_or_else(none_there)
            }
            ("next" | "nextToken" | "nextElement", []) => Err(none_there()),
            ("remove", []) => {
                let of = items.at(0).unwrap_or(ScriptValue::Null);
                let size = of.size().unwrap_or(0);
                self.steps(size / STEP_ITEMS)?;
                // The one that came last stands before all that are left.
                let place = size.checked_sub(left + 1);
                let place = place
                    .ok_or_else(|| ScriptError::new(ScriptErrorKind::State, "nothing came yet"))?;
                match &of {
                    ScriptValue::Items(list) => drop(list.take(place)),
                    ScriptValue::Members(map) => {
                        let name = map.all().into_iter().nth(place);
                        drop(name.and_then(|(name, _)| map.take(&name)));
                    }
                    _ => return Err(members::refused(&of, name, 0)),
                }
                Ok(ScriptValue::Null)
            }
            _ => {
                let of = ScriptValue::Items(items.clone());
                Err(members::refused(&of, name, arguments.len()))
            }
        }
    }

    /// What a text that grows answers.
    fn of_builder(
        &mut self,
        items: &Held<Vec<ScriptValue<'a>>>,
        name: &str,
        arguments: &[ScriptValue<'a>],
    ) -> Result<ScriptValue<'a>, ScriptError> {
        let of = ScriptValue::Items(items.clone());
        if let ("append" | "appendCodePoint", [more]) = (name, arguments) {
            let more = more.shown().into_owned();
            self.steps(more.len() / STEP_BYTES)?;
            self.hold(&ScriptValue::Text(Cow::Owned(more.clone())))?;
            if items.write(&more, true) > TEXT_BYTES_MAX {
                return Err(too_long());
            }
            return Ok(of);
        }
        let text = items.text();
        self.steps(text.len() / STEP_BYTES)?;
        if let ("insert" | "replace", Some(more)) = (name, arguments.last()) {
            let more = more.shown().into_owned();
            self.hold(&ScriptValue::Text(Cow::Owned(more)))?;
        }
        let units: Vec<u16> = text.encode_utf16().collect();
        let Some(made) = rewritten(units, name, arguments)? else {
            let text = ScriptValue::Text(Cow::Owned(text));
            return members::call(&text, name, arguments);
        };
        let made = String::from_utf16_lossy(&made);
        if items.write(&made, false) > TEXT_BYTES_MAX {
            return Err(too_long());
        }
        match name {
            "setLength" | "setCharAt" => Ok(ScriptValue::Null),
            _ => Ok(of),
        }
    }
}

/// The pieces of a text between letters that part them; the letters themselves, too,
/// if that is wanted.
fn tokens_of<'a>(
    text: &str,
    others: &[ScriptValue<'a>],
) -> Result<Vec<ScriptValue<'a>>, ScriptError> {
    let parting = match others.first() {
        Some(letters) => letters.want_text()?,
        None => " \t\n\r\u{c}",
    };
    let parts_too = others.get(1).map_or(Ok(false), ScriptValue::want_truth)?;
    let mut tokens = Vec::new();
    for piece in text.split_inclusive(|letter: char| parting.contains(letter)) {
        let token = piece.trim_end_matches(|letter: char| parting.contains(letter));
        let part = piece.get(token.len()..).unwrap_or_default();
        let part = Some(part).filter(|_| parts_too);
        let both = [Some(token), part].into_iter().flatten();
        let both = both.filter(|one| !one.is_empty());
        tokens.extend(both.map(|one| ScriptValue::Text(Cow::Owned(one.to_string()))));
    }
    Ok(tokens)
}

/// What a method makes of the letters of a text that grows; `None` where it changes nothing.
fn rewritten(
    units: Vec<u16>,
    name: &str,
    arguments: &[ScriptValue<'_>],
) -> Result<Option<Vec<u16>>, ScriptError> {
    let length = units.len();
    let place = |value: &ScriptValue<'_>| -> Result<usize, ScriptError> {
        let place = value.want_whole()?;
        let at = usize::try_from(place).ok().filter(|at| *at <= length);
        at.ok_or_else(|| out(place, length))
    };
    Ok(Some(match (name, arguments) {
        ("setLength", [to]) => {
            let to = place(to)?;
            units.get(..to).unwrap_or_default().to_vec()
        }
        ("reverse", []) => {
            let text = String::from_utf16_lossy(&units);
            let reversed: String = text.chars().rev().collect();
            reversed.encode_utf16().collect()
        }
        ("insert", [at, more]) => {
            let (at, more) = (place(at)?, more.shown().into_owned());
            let (before, after) = units.split_at(at);
            let more: Vec<u16> = more.encode_utf16().collect();
            [before, more.as_slice(), after].concat()
        }
        ("deleteCharAt", [at]) => {
            let at = place(at)?;
            if at >= length {
                return Err(out(at.try_into().unwrap_or(i64::MAX), length));
            }
            let (before, after) = units.split_at(at);
            [before, after.get(1..).unwrap_or_default()].concat()
        }
        ("delete" | "replace", [from, to, ..]) => {
            let from = place(from)?;
            let to = usize::try_from(to.want_whole()?).unwrap_or(0);
            let to = to.clamp(from, length);
            let (before, after) = (units.get(..from), units.get(to..));
            let more = arguments.get(2).map(|more| more.shown().into_owned());
            let more: Vec<u16> = more.unwrap_or_default().encode_utf16().collect();
            [
                before.unwrap_or_default(),
                more.as_slice(),
                after.unwrap_or_default(),
            ]
            .concat()
        }
        ("setCharAt", [at, letter]) => {
            let at = place(at)?;
            let letter = letter.shown().into_owned();
            let mut units = units;
            if let (Some(slot), Some(unit)) = (units.get_mut(at), letter.encode_utf16().next()) {
                *slot = unit;
            }
            units
        }
        _ => return Ok(None),
    }))
}

fn too_long() -> ScriptError {
    ScriptError::new(
        ScriptErrorKind::Limit,
        format!("a text of a script would be longer than [{TEXT_BYTES_MAX}] bytes"),
    )
}
