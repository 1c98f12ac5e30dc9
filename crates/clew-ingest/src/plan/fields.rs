//! Steps that set, move, change and remove whole fields.

use serde_json::{Map, Value as Json};

use super::cut::line_of;
use super::read::{slot, slots};
use super::spelling::Spelling;
use super::step::{Step, Work};
use crate::error::DefinitionError;
use crate::event::{Event, Kind, Reason, Slot, Value};
use crate::java::java_text;
use crate::members::{flag, text};
use crate::pipeline::{Field, Flow};
use crate::steps::convert::{ConvertType, Typed};
use crate::steps::fields::{Copied, Removed};
use crate::steps::values::Change;
use crate::text::Span;

/// `drop`.
#[derive(Debug)]
pub(super) struct Drop;

impl Step for Drop {
    fn apply(&mut self, _: &mut Event, _: &mut Work) -> Result<Flow, Reason> {
        Ok(Flow::Dropped)
    }
}

/// `add`: a field with the same value in every event.
#[derive(Debug)]
struct Add {
    field: Slot,
    json: String,
    replace: bool,
}

pub(super) fn read_add(
    event: &mut Event,
    config: &mut Map<String, Json>,
) -> Result<Box<dyn Step>, DefinitionError> {
    let value = config.remove("value");
    let value = value.ok_or_else(|| DefinitionError::missing("value"))?;
    Ok(Box::new(Add {
        field: slot(event, &text(config, "field")?)?,
        json: value.to_string(),
        replace: flag(config, "override", true)?,
    }))
}

impl Step for Add {
    fn apply(&mut self, event: &mut Event, _: &mut Work) -> Result<Flow, Reason> {
        if self.replace || !event.has(self.field) {
            let json = event.own(|out| out.push_str(&self.json));
            event.put(self.field, Value::Json(json))?;
        }
        Ok(Flow::On)
    }
}

/// `keep`: takes away every field but some.
#[derive(Debug)]
struct Keep(Vec<Slot>);

pub(super) fn read_keep(
    event: &mut Event,
    config: &mut Map<String, Json>,
) -> Result<Box<dyn Step>, DefinitionError> {
    Ok(Box::new(Keep(slots(event, config)?)))
}

impl Step for Keep {
    fn apply(&mut self, event: &mut Event, _: &mut Work) -> Result<Flow, Reason> {
        event.keep(&self.0);
        Ok(Flow::On)
    }
}

/// `remove`.
#[derive(Debug)]
struct Remove {
    fields: Vec<Slot>,
    ignore_missing: bool,
}

pub(super) fn remove(event: &mut Event, step: Removed) -> Result<Box<dyn Step>, DefinitionError> {
    let (paths, is_kept) = step.paths().unwrap_or_default();
    let slots = paths.iter().map(|path| slot(event, path));
    let fields = slots.collect::<Result<_, _>>()?;
    if is_kept {
        return Ok(Box::new(Keep(fields)));
    }
    Ok(Box::new(Remove {
        fields,
        ignore_missing: step.ignore_missing,
    }))
}

impl Step for Remove {
    fn apply(&mut self, event: &mut Event, _: &mut Work) -> Result<Flow, Reason> {
        for slot in &self.fields {
            if !self.ignore_missing && !event.has(*slot) {
                return Err(Reason::Missing);
            }
            event.remove(*slot);
        }
        Ok(Flow::On)
    }
}

/// `rename` and `copy`.
#[derive(Debug)]
struct Move {
    from: Slot,
    to: Slot,
    ignore_missing: bool,
    replace: bool,
    remove: bool,
}

pub(super) fn rename(
    event: &mut Event,
    field: &Field,
    replace: bool,
) -> Result<Box<dyn Step>, DefinitionError> {
    Ok(Box::new(Move {
        from: slot(event, &field.from)?,
        to: slot(event, &field.to)?,
        ignore_missing: field.ignore_missing,
        replace,
        remove: true,
    }))
}

pub(super) fn copy(event: &mut Event, step: &Copied) -> Result<Box<dyn Step>, DefinitionError> {
    let (from, to) = step.paths().unwrap_or_default();
    Ok(Box::new(Move {
        from: slot(event, from)?,
        to: slot(event, to)?,
        ignore_missing: step.ignore_missing,
        replace: step.replace,
        remove: step.remove,
    }))
}

impl Step for Move {
    fn apply(&mut self, event: &mut Event, _: &mut Work) -> Result<Flow, Reason> {
        if !event.has(self.from) {
            return match self.ignore_missing {
                true => Ok(Flow::On),
                false => Err(Reason::Missing),
            };
        }
        if !self.replace && event.has(self.to) {
            return Err(Reason::AlreadyThere);
        }
        let value = event.whole(self.from);
        if self.remove {
            event.remove(self.from);
        }
        event.put(self.to, value)?;
        Ok(Flow::On)
    }
}

/// `convert`.
#[derive(Debug)]
struct Convert {
    from: Slot,
    to: Slot,
    ignore_missing: bool,
    kind: ConvertType,
    spelling: Spelling,
}

pub(super) fn convert(
    event: &mut Event,
    field: &Field,
    kind: ConvertType,
    spelling: Spelling,
) -> Result<Box<dyn Step>, DefinitionError> {
    Ok(Box::new(Convert {
        from: slot(event, &field.from)?,
        to: slot(event, &field.to)?,
        ignore_missing: field.ignore_missing,
        kind,
        spelling,
    }))
}

impl Convert {
    /// Each item of a list, as pipelines have it.
    fn items(&self, list: &str) -> Option<Json> {
        let Ok(Json::Array(items)) = serde_json::from_str(list) else {
            return None;
        };
        let one = |item: Json| {
            if item.is_null() || item.is_array() || item.is_object() {
                return None;
            }
            if !item.is_string() && matches!(self.kind, ConvertType::Auto) {
                return Some(item);
            }
            let text = java_text(&item);
            Some(
                match self.spelling.read(self.kind, &text, item.is_number())? {
                    Typed::Text => text.into(),
                    Typed::Whole(number) => number.into(),
                    Typed::Float(number) => number.into(),
                    Typed::Bool(truth) => truth.into(),
                },
            )
        };
        items
            .into_iter()
            .map(one)
            .collect::<Option<Vec<_>>>()
            .map(Json::Array)
    }
}

impl Step for Convert {
    fn apply(&mut self, event: &mut Event, _: &mut Work) -> Result<Flow, Reason> {
        if let Value::Json(list) = event.get(self.from)
            && event.at(list).starts_with('[')
        {
            let items = self.items(event.at(list)).ok_or(Reason::NotConvertible)?;
            event.put_json(self.to, &items.to_string())?;
            return Ok(Flow::On);
        }
        let Some(text) = line_of(event, self.from, self.ignore_missing)? else {
            return Ok(Flow::On);
        };
        // An object spells nothing either.
        let spells = matches!(event.kind(self.from), Kind::Text | Kind::Time | Kind::Truth);
        let read = self.spelling.read(self.kind, event.at(text), !spells);
        let value = match read.ok_or(Reason::NotConvertible)? {
            Typed::Text => Value::Text(text),
            Typed::Whole(number) => Value::Int(number),
            Typed::Float(number) => Value::Float(number),
            Typed::Bool(truth) => Value::Bool(truth),
        };
        event.put(self.to, value)?;
        Ok(Flow::On)
    }
}

/// `lowercase`, `uppercase`, `trim`.
#[derive(Debug)]
struct Letters {
    from: Slot,
    to: Slot,
    ignore_missing: bool,
    change: Change,
}

pub(super) fn letters(
    event: &mut Event,
    field: &Field,
    change: Change,
) -> Result<Box<dyn Step>, DefinitionError> {
    Ok(Box::new(Letters {
        from: slot(event, &field.from)?,
        to: slot(event, &field.to)?,
        ignore_missing: field.ignore_missing,
        change,
    }))
}

impl Letters {
    /// Each text of a list; what else is in it stays.
    fn items(&self, list: &str) -> Option<Json> {
        let Ok(Json::Array(mut items)) = serde_json::from_str(list) else {
            return None;
        };
        for item in &mut items {
            if let Json::String(text) = item {
                *text = match self.change {
                    Change::Trim => text.trim().to_owned(),
                    Change::Lower => text.to_lowercase(),
                    _ => text.to_uppercase(),
                };
            }
        }
        Some(Json::Array(items))
    }
}

impl Step for Letters {
    fn apply(&mut self, event: &mut Event, _: &mut Work) -> Result<Flow, Reason> {
        if let Value::Json(json) = event.whole(self.from)
            && event.at(json).starts_with(['[', '{'])
        {
            let items = self.items(event.at(json)).ok_or(Reason::Unfit)?;
            event.put_json(self.to, &items.to_string())?;
            return Ok(Flow::On);
        }
        let Some(text) = line_of(event, self.from, self.ignore_missing)? else {
            return Ok(Flow::On);
        };
        let changed = match self.change {
            Change::Trim => {
                let part = event.at(text);
                let start = text.start() + (part.len() - part.trim_start().len());
                Span::new(start, start + part.trim().len())
            }
            Change::Lower => event.own_changed(text, str::make_ascii_lowercase, str::to_lowercase),
            _ => event.own_changed(text, str::make_ascii_uppercase, str::to_uppercase),
        };
        event.put(self.to, Value::Text(changed))?;
        Ok(Flow::On)
    }
}

/// `truncate`: texts that are longer, in bytes or in characters, are cut between characters.
#[derive(Debug)]
struct Truncate {
    fields: Vec<Slot>,
    bytes_max: usize,
    characters_max: usize,
}

pub(super) fn read_truncate(
    event: &mut Event,
    config: &mut Map<String, Json>,
) -> Result<Box<dyn Step>, DefinitionError> {
    let fields = slots(event, config)?;
    let bytes_max = length_of(config, "max_bytes", "must be a number of bytes")?;
    let characters_max = length_of(config, "max_characters", "must be a number of characters")?;
    if bytes_max.or(characters_max).is_none() {
        return Err(DefinitionError::missing("max_bytes"));
    }
    Ok(Box::new(Truncate {
        fields,
        bytes_max: bytes_max.unwrap_or(usize::MAX),
        characters_max: characters_max.unwrap_or(usize::MAX),
    }))
}

/// A length that a step may be told.
fn length_of(
    config: &mut Map<String, Json>,
    name: &'static str,
    refusal: &str,
) -> Result<Option<usize>, DefinitionError> {
    let Some(value) = config.remove(name) else {
        return Ok(None);
    };
    let length = value
        .as_u64()
        .and_then(|length| usize::try_from(length).ok());
    match length {
        None => Err(DefinitionError::refused(name, refusal)),
        length => Ok(length),
    }
}

impl Step for Truncate {
    fn apply(&mut self, event: &mut Event, _: &mut Work) -> Result<Flow, Reason> {
        for slot in &self.fields {
            // Numbers, and lists as they are written, are no texts.
            let is_text = event.kind(*slot) == Kind::Text;
            let Some(text) = event.text(*slot).filter(|_| is_text) else {
                continue;
            };
            let written = event.at(text);
            let mut end = written.floor_char_boundary(self.bytes_max);
            // Characters are counted only where there may be too many of them.
            if end > self.characters_max {
                let beyond = written.char_indices().nth(self.characters_max);
                end = beyond.map_or(end, |(at, _)| at.min(end));
            }
            if end < text.len() {
                let cut = Span::new(text.start(), text.start() + end);
                event.put(*slot, Value::Text(cut))?;
            }
        }
        Ok(Flow::On)
    }
}
