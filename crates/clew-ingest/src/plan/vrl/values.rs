//! Fields of an event as values of programs, and back. Texts are parts of one copy of the event's texts, by which those that
//! a program has left alone are known again.

use bytestring::ByteString;
use chrono::{DateTime, SecondsFormat, Utc};
use vrl::value::{KeyString, ObjectMap, Value as Given};

use crate::event::{Event, Reason, Slot, Value};
use crate::text::Span;

/// The texts of an event, with what programs have made of them.
const MADE_BYTES_MAX: usize = 1 << 30;

/// The fields of the present event; its memory is used again.
#[derive(Debug, Default)]
pub(super) struct Fields {
    slots: Vec<Slot>,
    found: Vec<(Slot, Value)>,
    /// A copy of a part of the event's texts, and where it begins.
    texts: ByteString,
    texts_at: usize,
}

impl Fields {
    /// Some of the event's fields at the root, or all of them.
    pub(super) fn take(
        &mut self,
        event: &mut Event,
        named: Option<&[Slot]>,
    ) -> Result<Given, Reason> {
        self.slots.clear();
        match named {
            Some(named) => self.slots.extend_from_slice(named),
            None => event.root_slots(&mut self.slots),
        }
        self.found.clear();
        let mut texts: Option<Span> = None;
        for slot in &self.slots {
            let value = event.whole(*slot);
            if let Value::Text(span) = value {
                let both = texts.unwrap_or(span);
                let start = both.start().min(span.start());
                texts = Some(Span::new(start, both.end().max(span.end())));
            }
            if value != Value::Missing {
                self.found.push((*slot, value));
            }
        }
        let texts = texts.unwrap_or_default();
        self.texts = event.at(texts).into();
        self.texts_at = texts.start();
        let mut root = ObjectMap::new();
        for (slot, value) in &self.found {
            let name = KeyString::from(event.root_name(*slot));
            root.insert(name, self.given(event, *value)?);
        }
        Ok(Given::Object(root))
    }

    fn given(&self, event: &Event, value: Value) -> Result<Given, Reason> {
        Ok(match value {
            Value::Text(span) => {
                let start = span.start() - self.texts_at;
                let part = &self.texts[start..start + span.len()];
                Given::String(self.texts.slice_ref(part))
            }
            Value::Json(span) => {
                serde_json::from_str(event.at(span)).map_err(|_| Reason::NotJson)?
            }
            Value::Int(number) => Given::Integer(number),
            Value::Float(number) => Given::from_f64_or_zero(number),
            Value::Bool(flag) => Given::Boolean(flag),
            Value::Time(ms) => match DateTime::<Utc>::from_timestamp_millis(ms) {
                Some(time) => Given::Timestamp(time),
                None => Given::Null,
            },
            Value::Missing | Value::Null => Given::Null,
        })
    }

    /// Puts what a program has left in the place of what it was given.
    pub(super) fn give(
        &mut self,
        event: &mut Event,
        named: Option<&[Slot]>,
        mut left: ObjectMap,
    ) -> Result<(), Reason> {
        // What cannot be put back is found out before anything is changed.
        self.found.clear();
        for slot in named.unwrap_or_default() {
            let value = match left.remove(event.root_name(*slot)) {
                Some(value) => self.value(event, value)?,
                None => Value::Missing,
            };
            self.found.push((*slot, value));
        }
        for (name, value) in left {
            let slot = event.root_slot(&name)?;
            let value = self.value(event, value)?;
            self.found.push((slot, value));
        }
        if named.is_none() {
            event.clear();
        }
        for (slot, value) in &self.found {
            event.put(*slot, *value)?;
        }
        Ok(())
    }

    fn value(&self, event: &mut Event, left: Given) -> Result<Value, Reason> {
        Ok(match left {
            Given::String(text) => Value::Text(self.text(event, &text)?),
            Given::Bytes(bytes) => Value::Text(self.text(event, &String::from_utf8_lossy(&bytes))?),
            Given::Regex(regex) => Value::Text(self.text(event, regex.as_str())?),
            Given::Integer(number) => Value::Int(number),
            Given::Float(number) => Value::Float(number.into_inner()),
            Given::Boolean(flag) => Value::Bool(flag),
            Given::Timestamp(time) if time.timestamp_subsec_nanos().is_multiple_of(1_000_000) => {
                Value::Time(time.timestamp_millis())
            }
            Given::Timestamp(time) => {
                let written = time.to_rfc3339_opts(SecondsFormat::AutoSi, true);
                Value::Text(own(event, &written)?)
            }
            Given::Null => Value::Null,
            Given::Object(_) | Given::Array(_) => {
                let json = serde_json::to_string(&left).map_err(|_| Reason::NotJson)?;
                Value::Json(own(event, &json)?)
            }
        })
    }

    /// A text where it stands in the event's, if it is a part of the copy; else behind them.
    fn text(&self, event: &mut Event, text: &str) -> Result<Span, Reason> {
        let at = text
            .as_ptr()
            .addr()
            .wrapping_sub(self.texts.as_ptr().addr());
        let is_inside = at
            .checked_add(text.len())
            .is_some_and(|end| end <= self.texts.len());
        match is_inside {
            true => Ok(Span::new(at, at + text.len()).after(self.texts_at)),
            false => own(event, text),
        }
    }
}

/// A text that a program has made, behind the event's own.
fn own(event: &mut Event, text: &str) -> Result<Span, Reason> {
    if event.line().len() + text.len() > MADE_BYTES_MAX {
        return Err(Reason::TooLong);
    }
    Ok(event.own(|out| out.push_str(text)))
}
