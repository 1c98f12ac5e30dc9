//! The members of an object of JSON: where their names and values stand in it. The values are held to be JSON by the same
//! parser that reads documents, and not read any further.

use std::borrow::Cow;
use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::names::Names;
use super::{Reason, Slot};
use crate::text::Span;

/// One member.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    pub(super) name: Span,
    pub(super) value: Span,
}

/// The members of the object that was looked at last. Used again from object to object.
#[derive(Debug, Default)]
pub(super) struct Members {
    pub(super) found: Vec<Member>,
    /// The slots of the members so far, and those of the last object at the root: the next line mostly has the same.
    pub(super) seen: Vec<Slot>,
    before: Vec<Slot>,
    /// Names that are written with escapes, by the number of the member.
    escaped: Vec<(usize, String)>,
    /// For values that are put together.
    pub(super) written: Vec<u8>,
}

impl Members {
    /// Finds the members of the object at a place of a text; behind the text come names that had escapes.
    pub(super) fn scan(&mut self, text: &mut String, json: Span) -> Result<(), Reason> {
        self.found.clear();
        self.escaped.clear();
        self.seen.clear();
        let object = json.of(text);
        if !is_shallow(object.as_bytes()) {
            return Err(Reason::NotJson);
        }
        let mut deserializer = serde_json::Deserializer::from_str(object);
        let scan = Scan {
            members: self,
            base: text.as_ptr().addr(),
        };
        let done = deserializer
            .deserialize_map(scan)
            .and_then(|()| deserializer.end());
        done.map_err(|_| Reason::NotJson)?;
        for (at, name) in &self.escaped {
            let start = text.len();
            text.push_str(name);
            self.found[*at].name = Span::new(start, text.len());
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
        if parent.is_none() {
            std::mem::swap(&mut self.before, &mut self.seen);
        }
    }
}

/// Whether a text is JSON that is taken.
pub(super) fn check(json: &str) -> Result<(), Reason> {
    let read: Result<serde::de::IgnoredAny, _> = serde_json::from_str(json);
    match read {
        Ok(_) if is_shallow(json.as_bytes()) => Ok(()),
        _ => Err(Reason::NotJson),
    }
}

/// Objects nested deeper than servers accept are not taken.
fn is_shallow(json: &[u8]) -> bool {
    const DEPTH_MAX: usize = 60;
    let (mut depth, mut at) = (0_usize, 0);
    // Brackets in texts count too, until there are enough of them to look closer.
    if memchr::memchr2_iter(b'{', b'[', json)
        .nth(DEPTH_MAX)
        .is_none()
    {
        return true;
    }
    while let Some(byte) = json.get(at) {
        match byte {
            b'"' => {
                at += 1;
                while let Some(found) =
                    memchr::memchr2(b'"', b'\\', json.get(at..).unwrap_or_default())
                {
                    at += found;
                    if json[at] == b'"' {
                        break;
                    }
                    at += 2;
                }
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEPTH_MAX {
            return false;
        }
        at += 1;
    }
    true
}

struct Scan<'m> {
    members: &'m mut Members,
    /// Where the text begins in memory.
    base: usize,
}

impl Scan<'_> {
    /// Where a part of the text stands in it.
    fn place(&self, part: &str) -> Span {
        let start = part.as_ptr().addr() - self.base;
        Span::new(start, start + part.len())
    }
}

impl<'de> Visitor<'de> for Scan<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(Name(name)) = map.next_key()? {
            let name = match name {
                Cow::Borrowed(name) => self.place(name),
                Cow::Owned(name) => {
                    self.members.escaped.push((self.members.found.len(), name));
                    Span::default()
                }
            };
            let value: &RawValue = map.next_value()?;
            let value = self.place(value.get());
            self.members.found.push(Member { name, value });
        }
        Ok(())
    }
}

/// A name borrowed from the text, except where it has escapes.
#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);
