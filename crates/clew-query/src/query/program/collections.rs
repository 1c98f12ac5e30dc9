//! Methods of lists and maps that a script can change.

use std::borrow::Cow;

use super::containers::{Held, Kind, Members, distinct};
use super::ends;
pub(super) use super::methods::{DEEP, GROWING, MAKING, METHODS, QUICK, READING};
use super::objects::count;
use super::operators::is_same;
use super::value::ScriptValue;
use crate::error::{ScriptError, ScriptErrorKind};

/// No text may become so long.
const JOINED_BYTES_MAX: usize = 1 << 20;

/// What a list or a map answers that can be changed; `None` where only such have no such method.
pub(super) fn call<'a>(
    of: &ScriptValue<'a>,
    name: &str,
    arguments: &[ScriptValue<'a>],
) -> Result<Option<ScriptValue<'a>>, ScriptError> {
    match of {
        ScriptValue::Items(items) => {
            let of_set = match items.is_set() {
                true => set_method(items, name, arguments)?,
                false => None,
            };
            match of_set {
                Some(found) => Ok(Some(found)),
                None => items_method(items, name, arguments),
            }
        }
        ScriptValue::Members(members) => members_method(members, name, arguments),
        _ => Ok(None),
    }
}

/// The name of a member that a value stands for.
pub(super) fn key<'a>(value: &ScriptValue<'a>) -> Cow<'a, str> {
    match value {
        ScriptValue::Text(text) => text.clone(),
        other => Cow::Owned(other.shown().into_owned()),
    }
}

/// Gives a member of a map, or an item of a list, a value.
pub(super) fn put<'a>(
    of: &ScriptValue<'a>,
    at: &ScriptValue<'a>,
    value: ScriptValue<'a>,
) -> Result<(), ScriptError> {
    match of {
        ScriptValue::Null => Err(ScriptError::null("put")),
        ScriptValue::Members(members) => members.put(key(at), value).map(|_| ()),
        ScriptValue::Items(items) => {
            let place = of.counted_back(at.want_whole()?);
            let known = usize::try_from(place).ok();
            let Some(known) = known.filter(|known| *known < items.len()) else {
                return Err(beyond(place, items.len()));
            };
            items.set(known, value).map(|_| ())
        }
        other => {
            let (kind, name) = (other.type_name(), at.shown());
            Err(ScriptError::argument(format!(
                "dynamic setter [{kind}, {name}] not found"
            )))
        }
    }
}

pub(super) fn beyond(place: i64, length: usize) -> ScriptError {
    ScriptError::new(
        ScriptErrorKind::Bounds,
        format!("Index {place} out of bounds for length {length}"),
    )
}

pub(super) fn nothing_there() -> ScriptError {
    ScriptError::new(ScriptErrorKind::NoElement, "there is no element")
}

fn several<'a>(value: &ScriptValue<'a>) -> Result<Vec<ScriptValue<'a>>, ScriptError> {
    value
        .items()
        .ok_or_else(|| value.no_cast("java.util.Collection"))
}

fn items_method<'a>(
    items: &Held<Vec<ScriptValue<'a>>>,
    name: &str,
    arguments: &[ScriptValue<'a>],
) -> Result<Option<ScriptValue<'a>>, ScriptError> {
    let place = |value: &ScriptValue<'a>| -> Result<usize, ScriptError> {
        let place = value.want_whole()?;
        usize::try_from(place).map_err(|_| beyond(place, items.len()))
    };
    let out = |place: usize| beyond(i64::try_from(place).unwrap_or(i64::MAX), items.len());
    Ok(Some(match (name, arguments) {
        ("add", [value]) => {
            items.insert(items.len(), value.clone())?;
            ScriptValue::Bool(true)
        }
        ("add", [at, value]) => {
            let at = place(at)?;
            if !items.insert(at, value.clone())? {
                return Err(out(at));
            }
            ScriptValue::Null
        }
        ("set", [at, value]) => {
            let at = place(at)?;
            items.set(at, value.clone())?.ok_or_else(|| out(at))?
        }
        ("remove", [at]) => {
            let at = place(at)?;
            items.take(at).ok_or_else(|| out(at))?
        }
        ("addAll", [more]) => {
            let more = several(more)?;
            let is_some = !more.is_empty();
            let mut all = items.all();
            all.extend(more);
            items.replace(all)?;
            ScriptValue::Bool(is_some)
        }
        ("addAll", [at, more]) => ends::inserted(items, place(at)?, several(more)?)?,
        ("removeAll" | "retainAll", [others]) => {
            ScriptValue::Bool(without(items, others, name == "retainAll")?)
        }
        ("clear", []) => {
            items.replace(Vec::new())?;
            ScriptValue::Null
        }
        ("containsAll", [others]) => {
            let all = items.all();
            let has = |other: &ScriptValue<'a>| all.iter().any(|item| is_same(item, other));
            ScriptValue::Bool(several(others)?.iter().all(has))
        }
        ("lastIndexOf", [value]) => {
            let all = items.all();
            let found = all.iter().rposition(|item| is_same(item, value));
            found.map_or(ScriptValue::Whole(-1), count)
        }
        ("reverse", []) => {
            let mut all = items.all();
            all.reverse();
            items.replace(all)?;
            ScriptValue::Null
        }
        ("sort", [ScriptValue::Null]) => {
            items.replace(in_order(items.all())?)?;
            ScriptValue::Null
        }
        ("push" | "addLast" | "offer" | "addFirst" | "offerFirst" | "offerLast", [value]) => {
            ends::pushed(items, name, value)?
        }
        (_, []) => match ends::from_an_end(items, name)? {
            Some(found) => found,
            None => return stream_method(items, name, arguments),
        },
        _ => return stream_method(items, name, arguments),
    }))
}

/// Leaves of a list what is in another one, or what is not; whether that changed it.
fn without<'a>(
    items: &Held<Vec<ScriptValue<'a>>>,
    others: &ScriptValue<'a>,
    stays: bool,
) -> Result<bool, ScriptError> {
    let others = several(others)?;
    let mut all = items.all();
    let before = all.len();
    all.retain(|item| others.iter().any(|other| is_same(item, other)) == stays);
    let is_changed = all.len() != before;
    items.replace(all)?;
    Ok(is_changed)
}

/// What those answer otherwise that have each value once.
fn set_method<'a>(
    items: &Held<Vec<ScriptValue<'a>>>,
    name: &str,
    arguments: &[ScriptValue<'a>],
) -> Result<Option<ScriptValue<'a>>, ScriptError> {
    let has = |value: &ScriptValue<'a>| items.all().iter().any(|have| is_same(have, value));
    let made = ScriptValue::Bool(match (name, arguments) {
        ("add", [value]) => !has(value) && items.insert(items.len(), value.clone())?,
        ("addAll", [more]) => {
            let mut is_changed = false;
            for value in several(more)? {
                is_changed |= !has(&value) && items.insert(items.len(), value)?;
            }
            is_changed
        }
        ("remove", [value]) => {
            let all = items.all();
            let found = all.iter().position(|have| is_same(have, value));
            found.and_then(|at| items.take(at)).is_some()
        }
        _ => return Ok(None),
    });
    if items.kind() == Kind::Sorted && name != "remove" {
        items.replace(in_order(items.all())?)?;
    }
    Ok(Some(made))
}

/// Methods that make other lists, as streams do.
fn stream_method<'a>(
    items: &Held<Vec<ScriptValue<'a>>>,
    name: &str,
    arguments: &[ScriptValue<'a>],
) -> Result<Option<ScriptValue<'a>>, ScriptError> {
    let part = |from: i64, to: i64| {
        let all = items.all();
        let ends = usize::try_from(from).ok().zip(usize::try_from(to).ok());
        let part = ends.and_then(|(from, to)| Some(all.get(from..to)?.to_vec()));
        part.ok_or_else(|| beyond(to, items.len()))
    };
    let length = i64::try_from(items.len()).unwrap_or(i64::MAX);
    Ok(Some(match (name, arguments) {
        ("subList", [from, to]) => {
            ScriptValue::listed(part(from.want_whole()?, to.want_whole()?)?)?
        }
        ("limit", [most]) => ScriptValue::listed(part(0, most.want_whole()?.min(length))?)?,
        ("skip", [first]) => ScriptValue::listed(part(first.want_whole()?.min(length), length)?)?,
        ("clone", []) => ScriptValue::kept(items.kind(), items.all())?,
        ("stream" | "toList" | "boxed" | "toArray" | "asList" | "asCollection", [])
        | ("collect", [ScriptValue::Null]) => ScriptValue::listed(items.all())?,
        ("collect" | "join", [ScriptValue::Text(between)]) => {
            let mut joined = String::new();
            for (at, item) in items.all().iter().enumerate() {
                if at > 0 {
                    joined.push_str(between);
                }
                joined.push_str(&item.shown());
                // It is too long already, which is told below.
                if joined.len() > JOINED_BYTES_MAX {
                    break;
                }
            }
            ScriptValue::made(joined)?
        }
        ("sorted", []) => ScriptValue::listed(in_order(items.all())?)?,
        ("distinct", []) => ScriptValue::listed(distinct(items.all()))?,
        _ => return Ok(None),
    }))
}

/// Items in the order of their values: numbers or texts.
pub(super) fn in_order<'a>(
    mut items: Vec<ScriptValue<'a>>,
) -> Result<Vec<ScriptValue<'a>>, ScriptError> {
    let all_whole = items.iter().all(|item| item.want_whole().is_ok());
    let all_text = items.iter().all(|item| item.want_text().is_ok());
    if all_whole {
        items.sort_by_key(|item| item.want_whole().unwrap_or(0));
    } else if all_text {
        items.sort_by(|a, b| a.want_text().unwrap_or("").cmp(b.want_text().unwrap_or("")));
    } else {
        for item in &items {
            item.want_number()?;
        }
        let number = |item: &ScriptValue<'a>| item.number().unwrap_or(0.0);
        items.sort_by(|a, b| number(a).total_cmp(&number(b)));
    }
    Ok(items)
}

fn members_method<'a>(
    members: &Held<Members<'a>>,
    name: &str,
    arguments: &[ScriptValue<'a>],
) -> Result<Option<ScriptValue<'a>>, ScriptError> {
    let or_null = |value: Option<ScriptValue<'a>>| value.unwrap_or(ScriptValue::Null);
    let values = || members.all().into_iter().map(|(_, value)| value);
    Ok(Some(match (name, arguments) {
        ("size", []) => count(members.len()),
        ("isEmpty", []) => ScriptValue::Bool(members.len() == 0),
        ("containsKey", [name]) => ScriptValue::Bool(members.has(&key(name))),
        ("containsValue", [value]) => ScriptValue::Bool(values().any(|have| is_same(&have, value))),
        ("get", [name]) => or_null(members.get(&key(name))),
        ("getOrDefault", [name, default]) => {
            members.get(&key(name)).unwrap_or_else(|| default.clone())
        }
        ("remove", [name]) => or_null(members.take(&key(name))),
        ("put", [name, value]) => or_null(members.put(key(name), value.clone())?),
        ("putIfAbsent", [name, value]) => match members.get(&key(name)) {
            None | Some(ScriptValue::Null) => {
                members.put(key(name), value.clone())?;
                ScriptValue::Null
            }
            Some(there) => there,
        },
        ("replace", [name, value]) => match members.has(&key(name)) {
            true => or_null(members.put(key(name), value.clone())?),
            false => ScriptValue::Null,
        },
        ("putAll", [others]) => {
            for (name, value) in pairs(others)? {
                members.put(name, value)?;
            }
            ScriptValue::Null
        }
        ("clear", []) => {
            members.clear();
            ScriptValue::Null
        }
        ("clone", []) => match members.kind() {
            Kind::Sorted => ScriptValue::map_of(Kind::Sorted, members.all())?,
            _ => ScriptValue::mapped(members.all())?,
        },
        ("keySet", []) => {
            let names = members.all().into_iter().map(|(name, _)| name);
            ScriptValue::listed(names.map(ScriptValue::Text).collect())?
        }
        ("values", []) => ScriptValue::listed(values().collect())?,
        ("entrySet", []) => ScriptValue::listed(members.entries()?)?,
        ("firstKey" | "lastKey", []) => {
            let mut all = members.all();
            let found = match name {
                "firstKey" => all.into_iter().next(),
                _ => all.pop(),
            };
            let found = found.ok_or_else(nothing_there)?;
            ScriptValue::Text(found.0)
        }
        ("getMessage", []) => or_null(members.get("message")),
        ("getKey", []) => or_null(members.get("key")),
        ("getValue", []) => or_null(members.get("value")),
        ("setValue", [value]) => or_null(members.set_value(value)?),
        _ => return part_method(members, name, arguments),
    }))
}

/// Methods that change a map by its names or its values.
fn part_method<'a>(
    members: &Held<Members<'a>>,
    name: &str,
    arguments: &[ScriptValue<'a>],
) -> Result<Option<ScriptValue<'a>>, ScriptError> {
    Ok(Some(match (name, arguments) {
        ("keySet.iterator" | "values.iterator" | "entrySet.iterator", []) => {
            let part = name.split('.').next().unwrap_or(name);
            let items = members_method(members, part, &[])?;
            let items = items.and_then(|items| items.items()).unwrap_or_default();
            ScriptValue::iterator(ScriptValue::Members(members.clone()), items)?
        }
        // Only where the value is this one.
        ("remove", [name, before]) | ("replace", [name, before, _]) => {
            let there = members.get(&key(name));
            let is_it = there.is_some_and(|there| is_same(&there, before));
            match arguments.get(2) {
                Some(new) if is_it => drop(members.put(key(name), new.clone())?),
                None if is_it => drop(members.take(&key(name))),
                _ => {}
            }
            ScriptValue::Bool(is_it)
        }
        ("keySet.clear" | "values.clear" | "entrySet.clear", []) => {
            members.clear();
            ScriptValue::Null
        }
        ("keySet.remove", [name]) => ScriptValue::Bool(members.take(&key(name)).is_some()),
        ("values.remove", [value]) => {
            let mut all = members.all().into_iter();
            let found = all.find(|(_, have)| is_same(have, value));
            ScriptValue::Bool(found.and_then(|(name, _)| members.take(&name)).is_some())
        }
        (
            "keySet.removeAll" | "keySet.retainAll" | "values.removeAll" | "values.retainAll",
            [others],
        ) => {
            let (stays, others) = (name.ends_with("retainAll"), several(others)?);
            let mut is_changed = false;
            for (name_of, value) in members.all() {
                let part = match name.starts_with("keySet") {
                    true => ScriptValue::Text(name_of.clone()),
                    false => value,
                };
                if others.iter().any(|other| is_same(other, &part)) != stays {
                    members.take(&name_of);
                    is_changed = true;
                }
            }
            ScriptValue::Bool(is_changed)
        }
        _ => return Ok(None),
    }))
}

/// How two values stand to each other: below, at or above zero.
pub(super) fn ordered<'a>(
    left: &ScriptValue<'a>,
    right: &ScriptValue<'a>,
) -> Result<ScriptValue<'a>, ScriptError> {
    let order = match (left, right) {
        (ScriptValue::Whole(left), ScriptValue::Whole(right))
        | (ScriptValue::Lapse(left), ScriptValue::Lapse(right))
        | (
            ScriptValue::Date(left) | ScriptValue::Moment(left, _),
            ScriptValue::Date(right) | ScriptValue::Moment(right, _),
        ) => left.cmp(right),
        (ScriptValue::Text(left), ScriptValue::Text(right)) => left.cmp(right),
        (ScriptValue::Bool(left), ScriptValue::Bool(right)) => left.cmp(right),
        _ => left.want_number()?.total_cmp(&right.want_number()?),
    };
    Ok(ScriptValue::Whole(order as i64))
}

/// The members of a map, in their order.
pub(super) fn pairs<'a>(
    value: &ScriptValue<'a>,
) -> Result<Vec<(Cow<'a, str>, ScriptValue<'a>)>, ScriptError> {
    match value {
        ScriptValue::Members(members) => Ok(members.all()),
        ScriptValue::Json(serde_json::Value::Object(members)) => {
            let members = members.iter();
            let pair = members.map(|(name, value)| (Cow::from(name), ScriptValue::Json(value)));
            Ok(pair.collect())
        }
        other => Err(other.no_cast("java.util.Map")),
    }
}

/// A list, or a map, with what is in another one.
pub(super) fn copied<'a>(name: &str, of: &ScriptValue<'a>) -> Result<ScriptValue<'a>, ScriptError> {
    match name {
        "copyOfList" => ScriptValue::listed(several(of)?),
        "copyOfSet" => ScriptValue::set_of(several(of)?),
        _ => ScriptValue::mapped(pairs(of)?),
    }
}

/// What lies in maps and lists on a way of names and places; what stands instead where nothing does.
pub(super) fn by_path<'a>(
    of: &ScriptValue<'a>,
    path: &str,
    instead: Option<&ScriptValue<'a>>,
) -> Result<ScriptValue<'a>, ScriptError> {
    let mut found = of.clone();
    for part in path.split('.') {
        found = match found.get(part) {
            Some(member) => member,
            None => match part.parse() {
                Ok(place) => found.at(place).unwrap_or(ScriptValue::Null),
                Err(_) => ScriptValue::Null,
            },
        };
    }
    match (found, instead) {
        (ScriptValue::Null, Some(instead)) => Ok(instead.clone()),
        (ScriptValue::Null, None) => Err(ScriptError::argument(format!(
            "Could not find value at path [{path}]"
        ))),
        (found, _) => Ok(found),
    }
}
