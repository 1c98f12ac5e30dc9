//! Conditions on two fields of an event: `compare: {took: {gt: limit}}`. Numbers are compared as such where both fields spell one,
//! and are the same as what spells them; everything else as text. A field that is not there is in no order to any other, and the
//! same only as another one that is not there.

use std::cmp::Ordering;

use serde_json::Value as Json;

use super::super::read::slot;
use super::{Condition, any_text, list, number, refused};
use crate::error::DefinitionError;
use crate::event::{Event, Slot, Value};

/// What a field is to another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::plan) enum Relation {
    /// It says the same.
    Same,
    Greater,
    GreaterOrSame,
    Less,
    LessOrSame,
    /// It is an item of a list, or a part of a text.
    In,
}

impl Relation {
    fn named(name: &str) -> Option<Relation> {
        Some(match name {
            "eq" => Relation::Same,
            "gt" => Relation::Greater,
            "gte" => Relation::GreaterOrSame,
            "lt" => Relation::Less,
            "lte" => Relation::LessOrSame,
            "in" => Relation::In,
            _ => return None,
        })
    }

    /// Whether the left field of an event is this to the right one.
    pub(super) fn holds(self, event: &mut Event, left: Slot, right: Slot) -> bool {
        let is_in_order = |event: &mut Event, fits: fn(Ordering) -> bool| {
            order(event, left, right).is_some_and(fits)
        };
        match self {
            Relation::Same => is_same(event, left, right),
            Relation::Greater => is_in_order(event, Ordering::is_gt),
            Relation::GreaterOrSame => is_in_order(event, Ordering::is_ge),
            Relation::Less => is_in_order(event, Ordering::is_lt),
            Relation::LessOrSame => is_in_order(event, Ordering::is_le),
            Relation::In => is_in(event, left, right),
        }
    }
}

/// Reads `{gt: limit}`, of which all have to hold.
pub(super) fn parse(
    event: &mut Event,
    left: Slot,
    what: &Json,
) -> Result<Vec<Condition>, DefinitionError> {
    let wrong =
        || refused("[compare] wants eq, gt, gte, lt, lte or in, and the names of other fields");
    let members = what.as_object().filter(|members| !members.is_empty());
    let mut parts = Vec::new();
    for (name, other) in members.ok_or_else(wrong)? {
        let relation = Relation::named(name).ok_or_else(wrong)?;
        let other = other.as_str().ok_or_else(wrong)?;
        parts.push(Condition::Compare(left, relation, slot(event, other)?));
    }
    Ok(parts)
}

fn is_same(event: &mut Event, left: Slot, right: Slot) -> bool {
    if is_number(event, left) || is_number(event, right) {
        let numbers = (number(event, left), number(event, right));
        return numbers.0.is_some() && numbers.0 == numbers.1;
    }
    match (event.text(left), event.text(right)) {
        (Some(left), Some(right)) => event.at(left) == event.at(right),
        (left, right) => left.is_none() && right.is_none(),
    }
}

/// Whether a field is a number, and not only a text that spells one.
fn is_number(event: &mut Event, slot: Slot) -> bool {
    match event.get(slot) {
        Value::Int(_) | Value::Float(_) => true,
        Value::Json(json) => event
            .at(json)
            .starts_with(|first: char| first == '-' || first.is_ascii_digit()),
        _ => false,
    }
}

fn order(event: &mut Event, left: Slot, right: Slot) -> Option<Ordering> {
    if let (Some(left), Some(right)) = (number(event, left), number(event, right)) {
        return left.partial_cmp(&right);
    }
    let (left, right) = (event.text(left)?, event.text(right)?);
    Some(event.at(left).cmp(event.at(right)))
}

fn is_in(event: &mut Event, left: Slot, right: Slot) -> bool {
    let Some(wanted) = event.text(left) else {
        return false;
    };
    let wanted = event.at(wanted).to_owned();
    match list(event, right) {
        Some(_) => any_text(event, right, |item| item == wanted),
        None => any_text(event, right, |text| text.contains(wanted.as_str())),
    }
}
