//! Lists that are used from their ends, as stacks and queues are, and what is put between others.

use super::collections::{beyond, nothing_there};
use super::containers::{Held, Kind};
use super::value::ScriptValue;
use crate::error::ScriptError;

/// Puts an item at an end of a list.
pub(super) fn pushed<'a>(
    items: &Held<Vec<ScriptValue<'a>>>,
    name: &str,
    value: &ScriptValue<'a>,
) -> Result<ScriptValue<'a>, ScriptError> {
    let is_first = matches!(name, "addFirst" | "offerFirst")
        || (name == "push" && items.kind() != Kind::Stack);
    let place = if is_first { 0 } else { items.len() };
    items.insert(place, value.clone())?;
    Ok(match name {
        "push" => value.clone(),
        "offer" | "offerFirst" | "offerLast" => ScriptValue::Bool(true),
        _ => ScriptValue::Null,
    })
}

/// The item at an end of a list, which may be taken away.
pub(super) fn from_an_end<'a>(
    items: &Held<Vec<ScriptValue<'a>>>,
    name: &str,
) -> Result<Option<ScriptValue<'a>>, ScriptError> {
    let last = items.len().wrapping_sub(1);
    let top = match items.kind() {
        Kind::Stack => last,
        _ => 0,
    };
    let found = match name {
        "empty" => return Ok(Some(ScriptValue::Bool(items.len() == 0))),
        "getFirst" | "element" | "first" | "peekFirst" => items.at(0),
        "getLast" | "last" | "peekLast" => items.at(last),
        "peek" => items.at(top),
        "removeFirst" | "poll" | "pollFirst" | "remove" => items.take(0),
        "removeLast" | "pollLast" => items.take(last),
        "pop" => items.take(top),
        _ => return Ok(None),
    };
    match (found, name) {
        (None, "peek" | "peekFirst" | "peekLast" | "poll" | "pollFirst" | "pollLast") => {
            Ok(Some(ScriptValue::Null))
        }
        (None, _) => Err(nothing_there()),
        (found, _) => Ok(found),
    }
}

/// Puts items before the one at a place; whether these are any.
pub(super) fn inserted<'a>(
    items: &Held<Vec<ScriptValue<'a>>>,
    place: usize,
    more: Vec<ScriptValue<'a>>,
) -> Result<ScriptValue<'a>, ScriptError> {
    let mut all = items.all();
    if place > all.len() {
        let place = i64::try_from(place).unwrap_or(i64::MAX);
        return Err(beyond(place, all.len()));
    }
    let is_some = !more.is_empty();
    all.splice(place..place, more);
    items.replace(all)?;
    Ok(ScriptValue::Bool(is_some))
}
