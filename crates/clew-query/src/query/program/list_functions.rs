//! Functions of `java.util.Collections` that look at lists, or change them in place.

use super::collections;
use super::objects;
use super::operators::is_same;
use super::run::Machine;
use super::statics;
use super::value::{STEP_ITEMS, ScriptValue};
use crate::error::{ScriptError, ScriptErrorKind};

/// Functions by class and name, with how many arguments they take.
const FUNCTIONS: &[(&str, usize)] = &[
    ("Collections.binarySearch", 2),
    ("Collections.disjoint", 2),
    ("Collections.fill", 2),
    ("Collections.frequency", 2),
    ("Collections.indexOfSubList", 2),
    ("Collections.nCopies", 2),
    ("Collections.replaceAll", 3),
    ("Collections.rotate", 2),
    ("Collections.swap", 3),
];

/// The function that a class has under a name.
pub(super) fn known(class: &str, name: &str, arguments: usize) -> Option<&'static str> {
    statics::in_table(FUNCTIONS, (class, name), arguments)
}

impl<'a> Machine<'a, '_> {
    /// What such a function makes of its arguments, which were gone through; `None` where it is another one.
    pub(super) fn of_collections(
        &mut self,
        name: &str,
        values: &[ScriptValue<'a>],
    ) -> Result<Option<ScriptValue<'a>>, ScriptError> {
        let Some(function) = name.strip_prefix("Collections.") else {
            return Ok(None);
        };
        let (list, others) = match (function, values) {
            ("nCopies", [count, value]) => return self.copies(count, value).map(Some),
            (_, [list, others @ ..]) => (list, others),
            _ => return Ok(None),
        };
        let items = items_of(list)?;
        match (function, others) {
            ("frequency", [value]) => {
                let found = items.iter().filter(|item| is_same(item, value));
                Ok(Some(objects::count(found.count())))
            }
            ("disjoint" | "indexOfSubList", [other]) => {
                let part = items_of(other)?;
                // Each of the one is looked at for each of the other.
                let inside = list.inside().unwrap_or(usize::MAX);
                self.steps(inside.saturating_mul(part.len()) / STEP_ITEMS)?;
                Ok(Some(match function {
                    "disjoint" => {
                        let has = |item| part.iter().any(|other| is_same(item, other));
                        ScriptValue::Bool(!items.iter().any(has))
                    }
                    _ => place_of(&items, &part),
                }))
            }
            ("binarySearch", [value]) => found_in_order(&items, value).map(Some),
            _ => self.rearranged(list, items, function, others),
        }
    }

    /// A list of so many of one value.
    fn copies(
        &mut self,
        count: &ScriptValue<'a>,
        value: &ScriptValue<'a>,
    ) -> Result<ScriptValue<'a>, ScriptError> {
        let count = count.want_whole()?;
        let count = usize::try_from(count)
            .map_err(|_| ScriptError::argument(format!("List length = {count}")))?;
        self.steps(count / STEP_ITEMS)?;
        let mut items = Vec::new();
        for _ in 0..count {
            self.hold(value)?;
            items.push(value.clone());
        }
        ScriptValue::listed(items)
    }

    /// What is done to a list in its place.
    fn rearranged(
        &mut self,
        list: &ScriptValue<'a>,
        mut items: Vec<ScriptValue<'a>>,
        function: &str,
        others: &[ScriptValue<'a>],
    ) -> Result<Option<ScriptValue<'a>>, ScriptError> {
        let length = items.len();
        let mut answer = ScriptValue::Null;
        match (function, others) {
            ("fill", [value]) => {
                for item in &mut items {
                    self.hold(value)?;
                    *item = value.clone();
                }
            }
            ("replaceAll", [old, new]) => {
                let mut is_changed = false;
                for item in &mut items {
                    if is_same(item, old) {
                        self.hold(new)?;
                        *item = new.clone();
                        is_changed = true;
                    }
                }
                answer = ScriptValue::Bool(is_changed);
            }
            ("rotate", [by]) => {
                let by = by.want_whole()?;
                let by = i64::try_from(length.max(1)).map(|length| by.rem_euclid(length));
                items.rotate_right(by.ok().and_then(|by| usize::try_from(by).ok()).unwrap_or(0));
            }
            ("swap", [one, other]) => {
                let place = |place: &ScriptValue<'a>| -> Result<usize, ScriptError> {
                    let place = place.want_whole()?;
                    let known = usize::try_from(place).ok().filter(|place| *place < length);
                    known.ok_or_else(|| collections::beyond(place, length))
                };
                items.swap(place(one)?, place(other)?);
            }
            _ => return Ok(None),
        }
        match list {
            ScriptValue::Items(held) => held.replace(items)?,
            other => {
                let reason = format!("[{}] cannot be changed", other.type_name());
                return Err(ScriptError::new(ScriptErrorKind::Unsupported, reason));
            }
        }
        Ok(Some(answer))
    }
}

fn items_of<'a>(list: &ScriptValue<'a>) -> Result<Vec<ScriptValue<'a>>, ScriptError> {
    list.items().ok_or_else(|| list.no_cast("java.util.List"))
}

/// Where a list begins first in another one: -1 where it does not.
fn place_of<'a>(items: &[ScriptValue<'a>], part: &[ScriptValue<'a>]) -> ScriptValue<'a> {
    if part.is_empty() {
        return ScriptValue::Whole(0);
    }
    let found = items.windows(part.len()).position(|window| {
        let mut pairs = window.iter().zip(part);
        pairs.all(|(item, other)| is_same(item, other))
    });
    found.map_or(ScriptValue::Whole(-1), objects::count)
}

/// Where a value is in a list that is in order; where it is not, one below the negative of where it would be.
fn found_in_order<'a>(
    items: &[ScriptValue<'a>],
    value: &ScriptValue<'a>,
) -> Result<ScriptValue<'a>, ScriptError> {
    let (mut from, mut to) = (0, items.len());
    while from < to {
        let middle = from + (to - from) / 2;
        let Some(item) = items.get(middle) else {
            break;
        };
        match collections::ordered(item, value)?.want_whole()? {
            0 => return Ok(objects::count(middle)),
            order if order < 0 => from = middle + 1,
            _ => to = middle,
        }
    }
    let place = i64::try_from(from).unwrap_or(i64::MAX - 1);
    Ok(ScriptValue::Whole(-place - 1))
}
