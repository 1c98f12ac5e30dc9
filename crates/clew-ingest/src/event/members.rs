//! The members of the object of JSON that was looked at last, and what is remembered from one object to the next.

use serde_json::{Map, Value as Json};

use super::names::Names;
use super::{Event, Reason, Slot, Value};
use crate::text::{Member, Span, members};

/// Members. Used again from object to object.
#[derive(Debug, Default)]
pub(super) struct Members {
    pub(super) found: Vec<Member>,
    /// The slots of the members so far, and those of the last object at the root: the next line mostly has the same.
    pub(super) seen: Vec<Slot>,
    before: Vec<Slot>,
    /// For values that are put together.
    pub(super) written: Vec<u8>,
}

impl Members {
    /// Finds the members of the object at a place of a text; behind the text come names that had escapes.
    pub(super) fn scan(&mut self, text: &mut String, json: Span) -> Result<(), Reason> {
        self.seen.clear();
        if !members(json.of(text), &mut self.found) {
            self.found.clear();
            return Err(Reason::NotJson);
        }
        for member in &mut self.found {
            member.value = member.value.after(json.start());
            member.name = member.name.after(json.start());
            if member.is_escaped {
                let quoted = Span::new(member.name.start() - 1, member.name.end() + 1);
                let name: Result<String, _> = serde_json::from_str(quoted.of(text));
                let start = text.len();
                text.push_str(&name.map_err(|_| Reason::NotJson)?);
                member.name = Span::new(start, text.len());
            }
        }
        Ok(())
    }

    /// The slot of a member if it is the one that the last object had there.
    pub(super) fn expected(
        &self,
        at: usize,
        parent: Option<Slot>,
        name: &str,
        names: &Names,
    ) -> Option<Slot> {
        let slot = *self.before.get(at)?;
        (parent.is_none() && names.path(slot) == name).then_some(slot)
    }

    /// Keeps the slots of an object at the root for the next one.
    pub(super) fn remember(&mut self, parent: Option<Slot>) {
        if parent.is_none() && !self.seen.is_empty() {
            std::mem::swap(&mut self.before, &mut self.seen);
        }
    }
}

/// What becomes of a value that is there when a member of its name comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Present {
    Stays,
    GivesWay,
}

impl Event {
    /// As [`Event::put_members`], but objects that are there get the members, and what else is there is asked about.
    ///
    /// # Errors
    /// As there.
    pub(crate) fn add_members(
        &mut self,
        parent: Option<Slot>,
        json: Span,
        present: Present,
    ) -> Result<(), Reason> {
        let json = self.on_one_line(json)?;
        let mut members = std::mem::take(&mut self.members);
        let done = members.scan(&mut self.text, json);
        let found = std::mem::take(&mut members.found);
        self.members = members;
        done?;
        for member in &found {
            let slot = self.member_slot(parent, member.name)?;
            let is_there = self.has(slot);
            if is_there && self.at(member.value).starts_with('{') && self.is_object(slot) {
                self.add_members(Some(slot), member.value, present)?;
            } else if !is_there || present == Present::GivesWay {
                self.put(slot, Value::Json(member.value))?;
            }
        }
        self.members.found = found;
        Ok(())
    }

    /// Changes the members of a field, or of the event itself, that were others before; the rest stays as it is.
    ///
    /// # Errors
    /// When one cannot be set.
    pub(crate) fn update(
        &mut self,
        parent: Option<Slot>,
        before: &Map<String, Json>,
        now: &Map<String, Json>,
    ) -> Result<(), Reason> {
        for name in before.keys().filter(|name| !now.contains_key(*name)) {
            let slot = self.named_slot(parent, name)?;
            self.remove(slot);
        }
        for (name, value) in now {
            match (before.get(name), value) {
                (Some(old), _) if old == value => {}
                (Some(Json::Object(old)), Json::Object(new)) if !new.is_empty() => {
                    let slot = self.named_slot(parent, name)?;
                    self.update(Some(slot), old, new)?;
                }
                _ => {
                    let slot = self.named_slot(parent, name)?;
                    self.put_json(slot, &value.to_string())?;
                }
            }
        }
        Ok(())
    }

    /// The slot of a member by its name.
    fn named_slot(&mut self, parent: Option<Slot>, name: &str) -> Result<Slot, Reason> {
        let name = self.own(|out| out.push_str(name));
        self.member_slot(parent, name)
    }

    /// Whether a field is an object, taken apart or not.
    fn is_object(&mut self, slot: Slot) -> bool {
        match self.get(slot) {
            Value::Missing => self.has(slot),
            Value::Json(json) => self.at(json).starts_with('{'),
            _ => false,
        }
    }
}
