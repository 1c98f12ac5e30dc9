//! Steps whose texts bring the names of fields: `kv`, `logfmt`; and `csv`, whose cells have theirs in the definition.

use serde_json::{Map, Value as Json};

use super::cut::line_of;
use super::read::slot;
use super::reshaped::Reshaped;
use super::step::{Step, Work};
use crate::error::DefinitionError;
use crate::event::{Event, Reason, Slot, Value};
use crate::members::{flag, optional, text};
use crate::pipeline::Flow;
use crate::steps::structured::{Csv, KeyValues};
use crate::text::{Cell, Pair, PairValue, Span, Values, logfmt, pairs, quoted_pairs};

/// How a text is cut into pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quotes {
    /// They are letters as others, and every part is a pair.
    Letters,
    /// Values may stand in them, or in brackets, and what is no pair is passed over.
    AroundValues,
}

impl Quotes {
    /// Reads `quotes`, which only lines have.
    pub(super) fn take(config: &mut Map<String, Json>) -> Result<Self, DefinitionError> {
        Ok(match flag(config, "quotes", false)? {
            true => Quotes::AroundValues,
            false => Quotes::Letters,
        })
    }
}

/// `kv`.
#[derive(Debug)]
struct KeyValueStep {
    field: Slot,
    step: KeyValues,
    quotes: Quotes,
    /// Whether a text without pairs fails, where what is no pair is passed over.
    needs_pairs: bool,
    reshaped: Option<Reshaped>,
    found: Vec<Pair>,
    /// The fields that the present text has set.
    set: Vec<Slot>,
}

pub(super) fn key_values(
    event: &mut Event,
    step: KeyValues,
    (quotes, needs_pairs, reshaped): (Quotes, bool, Option<Reshaped>),
) -> Result<Box<dyn Step>, DefinitionError> {
    Ok(Box::new(KeyValueStep {
        field: slot(event, &step.field)?,
        step,
        quotes,
        needs_pairs,
        reshaped,
        found: Vec::new(),
        set: Vec::new(),
    }))
}

impl Step for KeyValueStep {
    fn apply(&mut self, event: &mut Event, _: &mut Work) -> Result<Flow, Reason> {
        let Some(line) = line_of(event, self.field, self.step.ignore_missing)? else {
            return Ok(Flow::On);
        };
        let step = &self.step;
        let (text, found) = (event.at(line), &mut self.found);
        if let Some(reshaped) = &self.reshaped {
            let made = reshaped.object_of(text, step)?;
            if self.needs_pairs && made.is_empty() {
                return Err(Reason::NoMatch);
            }
            for (key, value) in made {
                put_made(event, step, &key, &value)?;
            }
            return Ok(Flow::On);
        }
        match self.quotes {
            Quotes::AroundValues => {
                let separators = (&step.between_pairs, &step.within_pair);
                quoted_pairs(text, separators, Values::default(), found)
                    .map_err(|_| Reason::TooLong)?;
            }
            Quotes::Letters => {
                let is_whole = pairs(text, &step.between_pairs, &step.within_pair, found);
                if !is_whole.map_err(|_| Reason::TooLong)? {
                    return Err(Reason::NoMatch);
                }
            }
        }
        self.set.clear();
        for pair in &self.found {
            let PairValue::Text(value) = pair.value else {
                continue;
            };
            let (key, value) = (pair.key.after(line.start()), value.after(line.start()));
            let Some(cleaned) = step.cleaned(event.at(key), event.at(value)) else {
                continue;
            };
            let (key, value) = (event.place_of(cleaned.0), event.place_of(cleaned.1));
            // A server would refuse the whole event for a field without a name.
            if key.is_empty() && step.prefix.is_empty() {
                continue;
            }
            let slot = named(event, step.target.as_deref(), &step.prefix, key)?;
            // With quotes, what was there before gives way, as it does to what other steps find.
            if self.quotes == Quotes::AroundValues && !self.set.contains(&slot) {
                self.set.push(slot);
                event.put(slot, Value::Text(value))?;
            } else {
                event.append(slot, Value::Text(value))?;
            }
        }
        match self.needs_pairs && self.set.is_empty() {
            true => Err(Reason::NoMatch),
            false => Ok(Flow::On),
        }
    }
}

/// Sets the field of a key, whose value is not a part of the text.
fn put_made(event: &mut Event, step: &KeyValues, key: &str, value: &Json) -> Result<(), Reason> {
    if key.is_empty() && step.prefix.is_empty() {
        return Ok(());
    }
    let name = event.own(|out| out.push_str(key));
    let slot = named(event, step.target.as_deref(), &step.prefix, name)?;
    match value {
        Json::String(text) => event.put_text(slot, text),
        other => event.put_json(slot, &other.to_string()),
    }
}

/// The slot of a name that is in the texts, inside a field and behind a prefix.
fn named(
    event: &mut Event,
    target: Option<&str>,
    prefix: &str,
    name: Span,
) -> Result<Slot, Reason> {
    if target.is_none() && prefix.is_empty() {
        return event.slot_at(name);
    }
    let path = event.own(|out| {
        if let Some(target) = target {
            out.push_str(target);
            out.push('.');
        }
        out.push_str(prefix);
        out.extend_from_within(name.range());
    });
    event.slot_at(path)
}

/// `logfmt`.
#[derive(Debug)]
struct Logfmt {
    field: Slot,
    target: Option<String>,
    ignore_missing: bool,
    found: Vec<Pair>,
}

pub(super) fn read_logfmt(
    event: &mut Event,
    config: &mut Map<String, Json>,
) -> Result<Box<dyn Step>, DefinitionError> {
    Ok(Box::new(Logfmt {
        field: slot(event, &text(config, "field")?)?,
        target: optional(config, "target_field")?,
        ignore_missing: flag(config, "ignore_missing", false)?,
        found: Vec::new(),
    }))
}

impl Step for Logfmt {
    fn apply(&mut self, event: &mut Event, _: &mut Work) -> Result<Flow, Reason> {
        let Some(line) = line_of(event, self.field, self.ignore_missing)? else {
            return Ok(Flow::On);
        };
        if !logfmt(event.at(line), &mut self.found) {
            return Err(Reason::NoMatch);
        }
        for pair in &self.found {
            let value = match pair.value {
                PairValue::Text(span) => Value::Text(span.after(line.start())),
                // Escapes that JSON does not have stay as they are.
                PairValue::Json(span) => {
                    let span = span.after(line.start());
                    let inside = Span::new(span.start() + 1, span.end() - 1);
                    event.checked_json(span).unwrap_or(Value::Text(inside))
                }
                PairValue::Nothing => Value::Bool(true),
            };
            let key = pair.key.after(line.start());
            let slot = named(event, self.target.as_deref(), "", key)?;
            event.append(slot, value)?;
        }
        Ok(Flow::On)
    }
}

/// Cells without names that a line may have behind those with one.
const UNNAMED_MAX: usize = 1000;

/// `csv`.
#[derive(Debug)]
struct CsvStep {
    field: Slot,
    targets: Vec<Slot>,
    /// What the fields of cells without names are called in front of the cells' numbers, which are counted from 1.
    unnamed: Option<String>,
    empty: Option<String>,
    step: Csv,
    cells: Vec<Cell>,
    made: String,
}

/// `unnamed` is the text in front of the numbers of cells that have no name; such cells are not looked at if there is none.
pub(super) fn csv(
    event: &mut Event,
    step: Csv,
    unnamed: Option<String>,
) -> Result<Box<dyn Step>, DefinitionError> {
    let targets = step.targets.iter().map(|target| slot(event, target));
    let targets = targets.collect::<Result<_, _>>()?;
    Ok(Box::new(CsvStep {
        field: slot(event, &step.field)?,
        targets,
        unnamed,
        empty: step.empty.as_ref().map(Json::to_string),
        step,
        cells: Vec::new(),
        made: String::new(),
    }))
}

impl Step for CsvStep {
    fn apply(&mut self, event: &mut Event, _: &mut Work) -> Result<Flow, Reason> {
        let Some(line) = line_of(event, self.field, self.step.ignore_missing)? else {
            return Ok(Flow::On);
        };
        self.made.clear();
        let unnamed_max = self.unnamed.as_ref().map_or(0, |_| UNNAMED_MAX);
        let (cells, cells_max) = (self.step.cells, self.targets.len() + unnamed_max);
        if !cells.cut(event.at(line), cells_max, &mut self.cells, &mut self.made) {
            return Err(Reason::NoMatch);
        }
        let made = event.own(|out| out.push_str(&self.made));
        for (at, cell) in self.cells.iter().enumerate() {
            let span = match cell {
                Cell::Line(span) => span.after(line.start()),
                Cell::Made(span) => span.after(made.start()),
            };
            // Behind the last separator is no cell unless something is.
            let is_none = span.is_empty() && (span.start() == line.end() || self.empty.is_none());
            if is_none {
                continue;
            }
            let target = match (self.targets.get(at), &self.unnamed) {
                (Some(target), _) => *target,
                (None, Some(before)) => numbered(event, before, at + 1)?,
                (None, None) => break,
            };
            match &self.empty {
                Some(empty) if span.is_empty() => {
                    let json = event.own(|out| out.push_str(empty));
                    event.put(target, Value::Json(json))?;
                }
                _ => event.put(target, Value::Text(span))?,
            }
        }
        Ok(Flow::On)
    }
}

/// The slot of a text with a number behind it.
fn numbered(event: &mut Event, before: &str, number: usize) -> Result<Slot, Reason> {
    let path = event.own(|out| {
        out.push_str(before);
        out.push_str(&number.to_string());
    });
    event.slot_at(path)
}
