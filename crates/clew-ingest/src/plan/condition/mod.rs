//! Conditions on an event: `if:` of a step, and whatever else depends on what an event says. The words are those of Beats:
//! `equals`, `contains`, `regexp`, `range`, `network`, `has_fields`, `and`, `or`, `not`. Of a list one item has to contain a text,
//! or to be as an expression says. Four words Beats do not have: `is` asks for the same value of the same kind, which is what `equals` of Beats does,
//! `includes` for an item that is the same, `within` whether the field is a part of a text, and `compare` what it is to another field.

mod relation;

use std::borrow::Cow;

use memchr::memmem::Finder;
use serde_json::{Map, Value as Json};

use self::relation::Relation;
use super::network::Networks;
use super::read::slot;
use crate::error::DefinitionError;
use crate::event::{Event, Kind, Slot, Value};
use crate::text::{Span, any_item};
use clew_analysis::{JavaPattern, java_pattern};

/// Conditions inside each other.
const DEPTH_MAX: usize = 20;

/// A condition.
#[derive(Debug)]
pub(super) enum Condition {
    /// The field says the same.
    Equals(Slot, Literal),
    /// The field is the same: a text that spells a number is none.
    Is(Slot, Literal),
    /// The field, or an item of it, has the text in it.
    Contains(Slot, Box<Finder<'static>>),
    /// The field is a list that has the item, or a text that has the text in it.
    Includes(Slot, Literal),
    /// The field, or an item of it, is a part of the text.
    Within(Slot, String),
    Regexp(Slot, JavaPattern),
    Range(Slot, Bounds),
    /// The field is an address in one of these.
    Network(Slot, Networks),
    HasFields(Vec<Slot>),
    /// The one field is this to the other.
    Compare(Slot, Relation, Slot),
    And(Vec<Condition>),
    Or(Vec<Condition>),
    Not(Box<Condition>),
}

/// What a field is compared with.
#[derive(Debug)]
pub(super) enum Literal {
    Text(String),
    Number(f64),
    Bool(bool),
}

/// What a number lies between.
#[derive(Debug, Default)]
pub(super) struct Bounds {
    gt: Option<f64>,
    gte: Option<f64>,
    lt: Option<f64>,
    lte: Option<f64>,
    /// Whether a text that spells a number is none, as in Beats.
    numbers_only: bool,
}

impl Condition {
    pub(super) fn parse(event: &mut Event, written: &Json) -> Result<Self, DefinitionError> {
        Condition::parse_at(event, written, 0)
    }

    fn parse_at(event: &mut Event, written: &Json, depth: usize) -> Result<Self, DefinitionError> {
        if depth > DEPTH_MAX {
            return Err(refused("has too many conditions inside each other"));
        }
        let (name, what) = only(written).ok_or_else(|| refused("must be one condition"))?;
        let mut all = |what: &Json| match what {
            Json::Array(items) if !items.is_empty() => {
                let items = items.iter();
                let items = items.map(|item| Condition::parse_at(event, item, depth + 1));
                items.collect::<Result<Vec<_>, _>>()
            }
            _ => Err(refused("[and] and [or] want lists of conditions")),
        };
        match name {
            "and" => return all(what).map(Condition::And),
            "or" => return all(what).map(Condition::Or),
            "not" => {
                let inner = Condition::parse_at(event, what, depth + 1)?;
                return Ok(Condition::Not(Box::new(inner)));
            }
            "has_fields" => return has_fields(event, what),
            _ => {}
        }
        let Json::Object(fields) = what else {
            return Err(refused(&format!(
                "[{name}] wants fields and what they are compared with"
            )));
        };
        let mut parts = Vec::new();
        for (path, what) in fields {
            let dotted = dotted_bound(name, path, what);
            let (path, what) = match &dotted {
                Some((path, what)) => (*path, what),
                None => (path.as_str(), what),
            };
            let slot = slot(event, path)?;
            match name {
                "compare" => parts.extend(relation::parse(event, slot, what)?),
                _ => parts.push(compared(name, slot, what)?),
            }
        }
        match parts.len() {
            0 => Err(refused(&format!("[{name}] names no field"))),
            1 => Ok(parts.remove(0)),
            _ => Ok(Condition::And(parts)),
        }
    }

    /// Whether it holds for an event.
    pub(super) fn holds(&self, event: &mut Event) -> bool {
        match self {
            Condition::Equals(slot, literal) => literal.is(event, *slot),
            Condition::Is(slot, literal) => {
                literal.is_of(event.kind(*slot)) && literal.is(event, *slot)
            }
            Condition::Contains(slot, finder) => {
                any_text(event, *slot, |text| finder.find(text.as_bytes()).is_some())
            }
            Condition::Includes(slot, literal) => literal.is_in(event, *slot),
            Condition::Within(slot, whole) => any_text(event, *slot, |text| whole.contains(text)),
            Condition::Regexp(slot, pattern) => {
                // What takes too many steps does not fit.
                any_text(event, *slot, |text| pattern.is_match(text).unwrap_or(false))
            }
            Condition::Range(slot, bounds) => {
                let may_be = !bounds.numbers_only || event.kind(*slot) == Kind::Number;
                may_be && number(event, *slot).is_some_and(|number| bounds.have(number))
            }
            Condition::Network(slot, networks) => {
                let text = event.text(*slot);
                text.is_some_and(|text| networks.have(event.at(text)))
            }
            Condition::HasFields(slots) => slots.iter().all(|slot| event.has(*slot)),
            Condition::Compare(left, relation, right) => relation.holds(event, *left, *right),
            Condition::And(parts) => parts.iter().all(|part| part.holds(event)),
            Condition::Or(parts) => parts.iter().any(|part| part.holds(event)),
            Condition::Not(inner) => !inner.holds(event),
        }
    }
}

impl Literal {
    fn is(&self, event: &mut Event, slot: Slot) -> bool {
        match self {
            Literal::Number(wanted) => number(event, slot) == Some(*wanted),
            Literal::Bool(wanted) => match event.get(slot) {
                Value::Bool(found) => found == *wanted,
                _ => event
                    .text(slot)
                    .is_some_and(|text| event.at(text) == if *wanted { "true" } else { "false" }),
            },
            Literal::Text(wanted) => event
                .text(slot)
                .is_some_and(|text| event.at(text) == wanted),
        }
    }

    /// Whether it is of a kind of values.
    fn is_of(&self, kind: Kind) -> bool {
        match self {
            Literal::Text(_) => matches!(kind, Kind::Text | Kind::Time),
            Literal::Number(_) => kind == Kind::Number,
            Literal::Bool(_) => kind == Kind::Truth,
        }
    }

    /// Whether a field is a list that has it, or says the same, or as a text has it in it.
    fn is_in(&self, event: &mut Event, slot: Slot) -> bool {
        if list(event, slot).is_some() {
            return any_text(event, slot, |item| self.is_spelled(item));
        }
        match self {
            Literal::Text(wanted) => any_text(event, slot, |text| text.contains(wanted)),
            Literal::Number(_) | Literal::Bool(_) => self.is(event, slot),
        }
    }

    /// Whether an item of a list says the same.
    fn is_spelled(&self, item: &str) -> bool {
        match self {
            Literal::Text(wanted) => item == wanted,
            Literal::Number(wanted) => item.parse::<f64>().ok() == Some(*wanted),
            Literal::Bool(wanted) => item == if *wanted { "true" } else { "false" },
        }
    }
}

/// The JSON of a field that is a list.
fn list(event: &mut Event, slot: Slot) -> Option<Span> {
    match event.get(slot) {
        Value::Json(json) if event.at(json).starts_with('[') => Some(json),
        _ => None,
    }
}

/// Whether a field's text is as it should be, or that of one of its items.
fn any_text(event: &mut Event, slot: Slot, is_it: impl Fn(&str) -> bool) -> bool {
    if let Some(list) = list(event, slot) {
        return any_item(event.at(list), |item| is_it(&plain(item)));
    }
    let text = event.text(slot);
    text.is_some_and(|text| is_it(event.at(text)))
}

/// What a value of JSON says as text: strings without their quotes, others as they stand.
fn plain(json: &str) -> Cow<'_, str> {
    match json
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
    {
        None => json.into(),
        Some(text) if !text.contains('\\') => text.into(),
        Some(_) => serde_json::from_str(json).unwrap_or_default(),
    }
}

impl Bounds {
    fn have(&self, number: f64) -> bool {
        self.gt.is_none_or(|bound| number > bound)
            && self.gte.is_none_or(|bound| number >= bound)
            && self.lt.is_none_or(|bound| number < bound)
            && self.lte.is_none_or(|bound| number <= bound)
    }
}

/// A field as a number, if it spells one.
fn number(event: &mut Event, slot: Slot) -> Option<f64> {
    match event.get(slot) {
        Value::Float(number) => Some(number),
        #[allow(clippy::cast_precision_loss, reason = "bounds are floats as well")]
        Value::Int(number) => Some(number as f64),
        _ => {
            let text = event.text(slot)?;
            event.at(text).trim().parse().ok()
        }
    }
}

fn compared(name: &str, slot: Slot, what: &Json) -> Result<Condition, DefinitionError> {
    let text = || {
        let text = what.as_str();
        text.ok_or_else(|| refused(&format!("[{name}] wants a text")))
    };
    Ok(match name {
        "equals" => Condition::Equals(slot, literal(name, what)?),
        "is" => Condition::Is(slot, literal(name, what)?),
        "includes" => Condition::Includes(slot, literal(name, what)?),
        "within" => Condition::Within(slot, text()?.to_owned()),
        "contains" => Condition::Contains(slot, Box::new(Finder::new(text()?).into_owned())),
        "regexp" => Condition::Regexp(
            slot,
            java_pattern(text()?).map_err(|error| refused(&format!("[regexp] {error}")))?,
        ),
        "range" => Condition::Range(slot, bounds(what)?),
        "network" => {
            let networks = Networks::parse(what);
            let networks = networks.map_err(|wrong| refused(&format!("[network] {wrong}")))?;
            Condition::Network(slot, networks)
        }
        other => {
            return Err(refused(&format!(
                "has no condition [{other}]; there are equals, is, contains, includes, within, \
                 compare, regexp, range, network, has_fields, and, or, not"
            )));
        }
    })
}

fn literal(name: &str, what: &Json) -> Result<Literal, DefinitionError> {
    Ok(match what {
        Json::String(text) => Literal::Text(text.clone()),
        Json::Bool(truth) => Literal::Bool(*truth),
        other => Literal::Number(
            other
                .as_f64()
                .ok_or_else(|| refused(&format!("[{name}] wants a text, a number or a truth")))?,
        ),
    })
}

/// A bound of a range as Beats write it, `http.response.code.gte: 400`: the field, and the bound by its name.
fn dotted_bound<'p>(name: &str, path: &'p str, what: &Json) -> Option<(&'p str, Json)> {
    let (field, bound) = path.rsplit_once('.')?;
    let is_bound = name == "range" && what.is_number();
    let is_known = matches!(bound, "gt" | "gte" | "lt" | "lte");
    (is_bound && is_known).then(|| (field, serde_json::json!({bound: what})))
}

fn bounds(what: &Json) -> Result<Bounds, DefinitionError> {
    let wrong = || refused("[range] wants gt, gte, lt or lte, and numbers");
    let members = what.as_object().filter(|members| !members.is_empty());
    let mut bounds = Bounds::default();
    for (name, number) in members.ok_or_else(wrong)? {
        let place = match name.as_str() {
            "numbers_only" => {
                bounds.numbers_only = number.as_bool().ok_or_else(wrong)?;
                continue;
            }
            "gt" => &mut bounds.gt,
            "gte" => &mut bounds.gte,
            "lt" => &mut bounds.lt,
            "lte" => &mut bounds.lte,
            _ => return Err(wrong()),
        };
        *place = Some(number.as_f64().ok_or_else(wrong)?);
    }
    Ok(bounds)
}

fn has_fields(event: &mut Event, what: &Json) -> Result<Condition, DefinitionError> {
    let wrong = || refused("[has_fields] wants a list of fields");
    let mut slots = Vec::new();
    for name in what.as_array().ok_or_else(wrong)? {
        slots.push(slot(event, name.as_str().ok_or_else(wrong)?)?);
    }
    Ok(Condition::HasFields(slots))
}

/// The one member of an object.
fn only(written: &Json) -> Option<(&str, &Json)> {
    let members: &Map<String, Json> = written.as_object()?;
    let first = members.iter().next()?;
    (members.len() == 1).then_some((first.0.as_str(), first.1))
}

fn refused(reason: &str) -> DefinitionError {
    DefinitionError::malformed(reason)
}
