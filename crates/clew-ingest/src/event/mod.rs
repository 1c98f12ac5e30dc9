//! An event on its way from a line to JSON: fields that are parts of the line, small values, or text made on the way, all in
//! memory that the next line uses again. A steady stream of lines allocates nothing.
//!
//! Names are interned ([`Names`]): steps know fields by number ([`Slot`]). What a line brings of its own (the members of its
//! JSON, the keys of its pairs) is interned when it is first seen, up to [`NAMES_MAX`].
//!
//! An object is either kept as JSON, as it stood in the line, or taken apart into its members, never both: it is taken apart
//! when somebody asks for a member of it.

mod fields;
mod members;
mod names;
mod reason;
#[cfg(feature = "vrl")]
mod roots;
mod value;
mod write;

pub(crate) use members::Present;
pub use names::{NAMES_MAX, Slot};
pub use reason::Reason;
pub(crate) use value::Kind;
pub use value::Value;

use std::fmt::{self, Write};

use fields::Fields;
use members::Members;
use names::Names;
use value::Texts;
use write::Layouts;

use crate::json_text::to_escape;
use crate::text::{IsoTimes, Span, is_json};

/// What the lists of a short line may take while they are made.
const LISTS_BYTES_MAX: usize = 1 << 20;

/// An event, and the names of its fields.
#[derive(Debug, Default)]
pub struct Event {
    names: Names,
    fields: Fields,
    /// What all lines of a file share, then the line, then texts that were made.
    text: String,
    shared_bytes: usize,
    /// The line, and the part of it that has all its bytes to escape.
    line: Span,
    to_escape: Span,
    members: Members,
    iso: IsoTimes,
    layouts: Layouts,
}

impl Event {
    /// The slot of a field, whose path has the names of objects around it: `http.request.method`.
    ///
    /// # Errors
    /// When there are too many names.
    pub fn slot(&mut self, path: &str) -> Result<Slot, Reason> {
        let slot = self.names.intern(path);
        self.fields.grow(self.names.len());
        slot
    }

    /// The slot of an object that steps know like any other, and that is not written with the event. Before any other slot.
    ///
    /// # Errors
    /// When there are too many names.
    pub fn hide(&mut self, name: &str) -> Result<Slot, Reason> {
        let slot = self.names.hide(name);
        self.fields.grow(self.names.len());
        slot
    }

    /// Whether anything hidden is there.
    pub fn has_hidden(&self) -> bool {
        self.names
            .hidden()
            .iter()
            .any(|slot| self.fields.has(*slot))
    }

    /// The slot of a name that is one name although it may have dots in it.
    fn member_slot(&mut self, parent: Option<Slot>, name: Span) -> Result<Slot, Reason> {
        let slot = self.names.intern_member(parent, name.of(&self.text));
        self.fields.grow(self.names.len());
        slot
    }

    /// Forgets the last line, and the texts that lines have shared.
    pub fn forget(&mut self) {
        self.fields.clear();
        self.text.clear();
        self.shared_bytes = 0;
        (self.line, self.to_escape) = (Span::default(), Span::default());
    }

    /// Adds a text that the next lines share, behind [`Event::forget`] and others; returns where it is.
    pub fn share(&mut self, text: fmt::Arguments<'_>) -> Span {
        let shared = self.own(|out| {
            // A string takes whatever it is given.
            let _ = out.write_fmt(text);
        });
        self.shared_bytes = shared.end();
        shared
    }

    /// Forgets the last line, and begins with another; returns where it is.
    ///
    /// # Errors
    /// When it is too long.
    pub fn begin(&mut self, line: &str) -> Result<Span, Reason> {
        self.fields.clear();
        self.text.truncate(self.shared_bytes);
        if line.len() > crate::text::LINE_BYTES_MAX {
            return Err(Reason::TooLong);
        }
        self.line = self.own(|out| out.push_str(line));
        let (first, end) = to_escape(line.as_bytes());
        self.to_escape = Span::new(first, end).after(self.line.start());
        Ok(self.line)
    }

    fn all_texts(&self) -> Texts<'_> {
        Texts {
            bytes: self.text.as_bytes(),
            line: self.line,
            to_escape: self.to_escape,
            iso: &self.iso,
        }
    }

    /// Sets a field of a line that has just begun, when nothing around it and nothing in it is there.
    #[inline]
    pub fn place(&mut self, slot: Slot, value: Value) {
        debug_assert!(!self.names.is_any_around(slot, &self.fields));
        self.fields.set(slot, value);
    }

    /// The present line, with what was made of it.
    #[cfg(feature = "vrl")]
    pub(crate) fn line(&self) -> &str {
        self.text.get(self.shared_bytes..).unwrap_or_default()
    }

    /// The present line alone.
    pub(crate) fn line_alone(&self) -> &str {
        self.line.of(&self.text)
    }

    /// Adds text that no line has.
    pub(crate) fn own(&mut self, write: impl FnOnce(&mut String)) -> Span {
        let start = self.text.len();
        write(&mut self.text);
        Span::new(start, self.text.len())
    }

    /// The text at a place.
    pub(crate) fn at(&self, span: Span) -> &str {
        span.of(&self.text)
    }

    /// The slot of a field whose path is a part of the texts.
    pub(crate) fn slot_at(&mut self, path: Span) -> Result<Slot, Reason> {
        let slot = self.names.intern(path.of(&self.text));
        self.fields.grow(self.names.len());
        slot
    }

    /// Where a text stands that is a part of the texts.
    pub(crate) fn place_of(&self, part: &str) -> Span {
        let start = part.as_ptr().addr() - self.text.as_ptr().addr();
        Span::new(start, start + part.len())
    }

    /// Sets a field, or puts a value behind the ones that it has: together they are a list. Each is written anew, so that a
    /// line that makes long lists fails once they are some times as long as itself.
    pub(crate) fn append(&mut self, slot: Slot, value: Value) -> Result<(), Reason> {
        let before = self.whole(slot);
        if before == Value::Missing {
            return self.put(slot, value);
        }
        if self.text.len() > 4 * self.line.len() + LISTS_BYTES_MAX {
            return Err(Reason::TooLong);
        }
        let mut written = std::mem::take(&mut self.members.written);
        written.clear();
        before.write(self.all_texts(), &mut written);
        match written.first() {
            Some(b'[') => {
                written.pop();
            }
            _ => written.insert(0, b'['),
        }
        written.push(b',');
        value.write(self.all_texts(), &mut written);
        written.push(b']');
        let json = self.own(|out| out.push_str(std::str::from_utf8(&written).unwrap_or("null")));
        self.members.written = written;
        self.put(slot, Value::Json(json))
    }

    /// A changed copy of a part of the texts: by the first function where all of it is ASCII.
    pub(crate) fn own_changed(
        &mut self,
        part: Span,
        ascii: fn(&mut str),
        other: fn(&str) -> String,
    ) -> Span {
        if !self.at(part).is_ascii() {
            let changed = other(self.at(part));
            return self.own(|out| out.push_str(&changed));
        }
        let span = self.own(|out| out.extend_from_within(part.range()));
        ascii(&mut self.text[span.range()]);
        span
    }

    /// A part of the texts that is one value of JSON, as a value.
    pub(crate) fn checked_json(&mut self, text: Span) -> Result<Value, Reason> {
        let written = self.at(text);
        let trimmed = written.trim_ascii();
        let start = text.start() + (written.len() - written.trim_ascii_start().len());
        let json = Span::new(start, start + trimmed.len());
        if !is_json(trimmed) {
            return Err(Reason::NotJson);
        }
        self.on_one_line(json).map(Value::Json)
    }

    /// The same JSON without line ends between its values: a document is one line.
    fn on_one_line(&mut self, json: Span) -> Result<Span, Reason> {
        let written = self.at(json);
        if memchr::memchr(b'\n', written.as_bytes()).is_none() {
            return Ok(json);
        }
        let read: serde_json::Value = serde_json::from_str(written).map_err(|_| Reason::NotJson)?;
        Ok(self.own(|out| out.push_str(&read.to_string())))
    }

    /// Sets a field to a text that no line has.
    ///
    /// # Errors
    /// As [`Event::put`].
    pub fn put_text(&mut self, slot: Slot, text: &str) -> Result<(), Reason> {
        let span = self.own(|out| out.push_str(text));
        self.put(slot, Value::Text(span))
    }

    /// Sets a field to a value of JSON.
    ///
    /// # Errors
    /// As [`Event::put`].
    pub fn put_json(&mut self, slot: Slot, json: &str) -> Result<(), Reason> {
        let span = self.own(|out| out.push_str(json));
        self.put(slot, Value::Json(span))
    }

    /// Sets members of a field, or of the event itself, given as the inside of an object of JSON.
    ///
    /// # Errors
    /// When they are none, or one cannot be set.
    pub fn put_object(&mut self, parent: Option<Slot>, members: &str) -> Result<(), Reason> {
        let object = self.own(|out| {
            out.push('{');
            out.push_str(members);
            out.push('}');
        });
        self.put_members(parent, object)
    }

    /// Puts an object of JSON in the place of all fields.
    pub(crate) fn replace(&mut self, object: &str) -> Result<(), Reason> {
        self.fields.clear();
        let json = self.own(|out| out.push_str(object));
        self.put_members(None, json)
    }

    /// The value of a field as it is; an object that was taken apart is missing here.
    #[inline]
    pub fn get(&mut self, slot: Slot) -> Value {
        if !self.fields.has(slot) && self.names.parent(slot).is_some() {
            // Whatever goes wrong, the field is not there.
            let _ = self.open_above(slot);
        }
        self.fields.get(slot)
    }

    /// What kind of value a field has.
    pub(crate) fn kind(&mut self, slot: Slot) -> Kind {
        match self.get(slot) {
            Value::Text(_) => Kind::Text,
            Value::Time(_) => Kind::Time,
            Value::Int(_) | Value::Float(_) => Kind::Number,
            Value::Bool(_) => Kind::Truth,
            Value::Json(json) => match self.at(json).as_bytes().first() {
                Some(b'"') => Kind::Text,
                Some(b't' | b'f') => Kind::Truth,
                Some(b'-' | b'0'..=b'9') => Kind::Number,
                _ => Kind::Other,
            },
            Value::Missing | Value::Null => Kind::Other,
        }
    }

    /// Whether a field is there, be it an object.
    pub fn has(&mut self, slot: Slot) -> bool {
        self.get(slot) != Value::Missing || self.names.is_any_below(slot, &self.fields)
    }

    /// Sets a field. Objects around it are made or taken apart as need be; what was in it gives way.
    ///
    /// # Errors
    /// When a field around it has a value that is no object.
    #[inline]
    pub fn put(&mut self, slot: Slot, value: Value) -> Result<(), Reason> {
        if !self.names.is_alone(slot) {
            self.make_room(slot)?;
        }
        self.fields.set(slot, value);
        Ok(())
    }

    /// Takes apart what is around a field, and takes away what is in it.
    fn make_room(&mut self, slot: Slot) -> Result<(), Reason> {
        self.open_above(slot)?;
        self.names.clear_below(slot, &mut self.fields);
        Ok(())
    }

    /// Takes a field away, and what is in it.
    pub fn remove(&mut self, slot: Slot) {
        if self.put(slot, Value::Missing).is_err() {
            // Around it is something that cannot have it.
        }
    }

    /// Takes away every field but these, and those in them or around them.
    pub(crate) fn keep(&mut self, kept: &[Slot]) {
        for slot in kept {
            self.get(*slot);
        }
        self.names.keep(kept, &mut self.fields);
    }

    /// The value of a field as one value: an object that was taken apart is put together.
    pub(crate) fn whole(&mut self, slot: Slot) -> Value {
        let value = self.get(slot);
        if value != Value::Missing || !self.names.is_any_below(slot, &self.fields) {
            return value;
        }
        let mut written = std::mem::take(&mut self.members.written);
        written.clear();
        self.write_below(slot, &mut written);
        // What is written of texts is text.
        let json = self.own(|out| out.push_str(std::str::from_utf8(&written).unwrap_or("null")));
        self.members.written = written;
        Value::Json(json)
    }

    /// A field as text, if it is there and not null.
    pub(crate) fn text(&mut self, slot: Slot) -> Option<Span> {
        match self.whole(slot) {
            Value::Missing | Value::Null => None,
            Value::Text(span) => Some(span),
            Value::Json(span) => (self.at(span) != "null").then(|| self.plain(span)),
            other => {
                let mut written = std::mem::take(&mut self.members.written);
                written.clear();
                other.write_plain(&mut written);
                let span =
                    self.own(|out| out.push_str(std::str::from_utf8(&written).unwrap_or_default()));
                self.members.written = written;
                Some(span)
            }
        }
    }

    /// What a field says as text, if it is there and not null.
    pub fn text_of(&mut self, slot: Slot) -> Option<&str> {
        let span = self.text(slot)?;
        Some(self.at(span))
    }

    /// A field that is an object, as JSON.
    pub fn object_of(&mut self, slot: Slot) -> Option<&str> {
        match self.whole(slot) {
            Value::Json(span) => Some(self.at(span)).filter(|json| json.starts_with('{')),
            _ => None,
        }
    }

    /// What a JSON value says as text: strings without their quotes, others as they stand.
    fn plain(&mut self, json: Span) -> Span {
        let written = self.at(json);
        if !written.starts_with('"') {
            return json;
        }
        if !written.contains('\\') {
            return Span::new(json.start() + 1, json.end() - 1);
        }
        let text: String = serde_json::from_str(written).unwrap_or_default();
        self.own(|out| out.push_str(&text))
    }

    /// Takes apart the objects around a field that are kept as JSON.
    fn open_above(&mut self, slot: Slot) -> Result<(), Reason> {
        let Some(parent) = self.names.parent(slot) else {
            return Ok(());
        };
        self.open_above(parent)?;
        match self.fields.get(parent) {
            Value::Missing => Ok(()),
            Value::Json(json) if self.at(json).starts_with('{') => {
                self.fields.set(parent, Value::Missing);
                let opened = self.put_members(Some(parent), json);
                if opened.is_err() {
                    // Of an object that brings too many names nothing is lost.
                    self.names.clear_below(parent, &mut self.fields);
                    self.fields.set(parent, Value::Json(json));
                }
                opened
            }
            _ => Err(Reason::NotAnObject),
        }
    }

    /// Sets the members of an object of JSON, which is in the texts, inside a field or at the root.
    ///
    /// # Errors
    /// When it is no JSON object, in which case nothing is set, or when a member cannot be set.
    pub fn put_members(&mut self, parent: Option<Slot>, json: Span) -> Result<(), Reason> {
        let json = self.on_one_line(json)?;
        let mut members = std::mem::take(&mut self.members);
        let mut done = members.scan(&mut self.text, json);
        for at in 0..members.found.len() {
            if done.is_err() {
                break;
            }
            done = self.put_member(&mut members, at, parent);
        }
        members.remember(parent);
        self.members = members;
        done
    }

    fn put_member(
        &mut self,
        members: &mut Members,
        at: usize,
        parent: Option<Slot>,
    ) -> Result<(), Reason> {
        let member = members.found[at];
        let name = member.name.of(&self.text);
        let slot = match members.expected(at, parent, name, &self.names) {
            Some(slot) => slot,
            None => self.member_slot(parent, member.name)?,
        };
        members.seen.push(slot);
        self.put(slot, Value::Json(member.value))
    }
}
