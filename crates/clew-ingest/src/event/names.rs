//! Names of fields, each with a number, and the order in which they are written: every object's members together.

use std::collections::HashMap;
use std::ops::Range;

use foldhash::fast::FixedState;

use super::Reason;
use super::fields::Fields;
use super::value::Value;
use crate::json_text::push_text;

/// Names that one pipeline remembers, objects included.
pub const NAMES_MAX: usize = 1024;
/// Names of objects inside each other; what is deeper is one name with dots.
const DEPTH_MAX: usize = 20;

/// The number of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slot(u16);

impl Slot {
    #[inline]
    pub(super) fn index(self) -> usize {
        usize::from(self.0)
    }
}

#[derive(Debug)]
struct Name {
    path: Box<str>,
    /// The last part as it is written behind another member: `,"method":`.
    key: Box<[u8]>,
    parent: Option<Slot>,
    /// Where the names in it stand in the order.
    below: Range<usize>,
}

/// The longest key.
const KEY_BYTES_MAX: usize = 32 << 10;

/// All names of a pipeline.
#[derive(Debug, Default)]
pub(super) struct Names {
    names: Vec<Name>,
    by_path: HashMap<Box<str>, Slot, FixedState>,
    /// Every name behind the object it is in, and all that is in an object together.
    order: Vec<Slot>,
    /// How many of the first of them are not written with the others.
    hidden: usize,
    path: String,
}

impl Names {
    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    /// All names but those that are hidden.
    pub(super) fn order(&self) -> &[Slot] {
        &self.order[self.hidden..]
    }

    /// All names.
    pub(super) fn order_of_all(&self) -> &[Slot] {
        &self.order
    }

    /// Names that are hidden.
    pub(super) fn hidden(&self) -> &[Slot] {
        &self.order[..self.hidden]
    }

    /// Interns a name before any other: it is hidden, and so is all that will be in it.
    pub(super) fn hide(&mut self, name: &str) -> Result<Slot, Reason> {
        debug_assert!(self.names.is_empty(), "hidden names are the first in order");
        let slot = self.intern(name)?;
        self.hidden = self.order.len();
        Ok(slot)
    }

    #[inline]
    pub(super) fn parent(&self, slot: Slot) -> Option<Slot> {
        self.names[slot.index()].parent
    }

    /// The last part of a name as a member that stands behind another one.
    pub(super) fn key(&self, slot: Slot) -> &[u8] {
        &self.names[slot.index()].key
    }

    pub(super) fn path(&self, slot: Slot) -> &str {
        &self.names[slot.index()].path
    }

    /// Whether nothing is around it nor in it.
    #[inline]
    pub(super) fn is_alone(&self, slot: Slot) -> bool {
        let name = &self.names[slot.index()];
        name.parent.is_none() && name.below.is_empty()
    }

    /// The number of a path, whose dots are borders of names.
    pub(super) fn intern(&mut self, path: &str) -> Result<Slot, Reason> {
        if let Some(slot) = self.by_path.get(path) {
            return Ok(*slot);
        }
        let is_shallow = path.split('.').count() <= DEPTH_MAX;
        let (parent, name) = match path.rsplit_once('.') {
            Some((around, name)) if is_shallow && !around.is_empty() && !name.is_empty() => {
                (Some(self.intern(around)?), name)
            }
            _ => (None, path),
        };
        self.add(path.into(), name, parent)
    }

    /// The number of a member of an object; its name may have dots, which are no borders.
    pub(super) fn intern_member(
        &mut self,
        parent: Option<Slot>,
        name: &str,
    ) -> Result<Slot, Reason> {
        let Some(parent) = parent else {
            return match self.by_path.get(name) {
                Some(slot) => Ok(*slot),
                None => self.add(name.into(), name, None),
            };
        };
        let mut path = std::mem::take(&mut self.path);
        path.clear();
        path.push_str(self.path(parent));
        path.push('.');
        path.push_str(name);
        let slot = match self.by_path.get(path.as_str()) {
            Some(slot) => Ok(*slot),
            None => self.add(path.as_str().into(), name, Some(parent)),
        };
        self.path = path;
        slot
    }

    fn add(&mut self, path: Box<str>, name: &str, parent: Option<Slot>) -> Result<Slot, Reason> {
        let number = u16::try_from(self.names.len()).unwrap_or(u16::MAX);
        if usize::from(number) >= NAMES_MAX {
            return Err(Reason::TooManyNames);
        }
        let slot = Slot(number);
        let mut key = vec![b','];
        push_text(&mut key, name);
        key.push(b':');
        if key.len() > KEY_BYTES_MAX {
            return Err(Reason::TooLong);
        }
        self.names.push(Name {
            path: path.clone(),
            key: key.into(),
            parent,
            below: 0..0,
        });
        self.by_path.insert(path, slot);
        let place = match parent {
            None => self.order.len(),
            Some(parent) => {
                if self.hidden > 0 && self.is_within(parent, self.order[0]) {
                    self.hidden += 1;
                }
                self.end_of(parent)
            }
        };
        self.order.insert(place, slot);
        self.place_all();
        Ok(slot)
    }

    /// Behind the last name in an object, in the order.
    fn end_of(&self, object: Slot) -> usize {
        let below = &self.names[object.index()].below;
        match below.is_empty() {
            false => below.end,
            true => {
                self.order
                    .iter()
                    .take_while(|slot| **slot != object)
                    .count()
                    + 1
            }
        }
    }

    /// Says anew for each object where the names in it stand in the order.
    fn place_all(&mut self) {
        for (at, slot) in self.order.iter().enumerate() {
            self.names[slot.index()].below = at + 1..at + 1;
            let mut around = self.names[slot.index()].parent;
            while let Some(object) = around {
                let object = &mut self.names[object.index()];
                object.below.end = at + 1;
                around = object.parent;
            }
        }
    }

    /// Whether a name is an object's or in it.
    pub(super) fn is_within(&self, slot: Slot, object: Slot) -> bool {
        let mut at = Some(slot);
        while let Some(slot) = at {
            if slot == object {
                return true;
            }
            at = self.parent(slot);
        }
        false
    }

    /// The names in an object.
    pub(super) fn below(&self, object: Slot) -> &[Slot] {
        &self.order[self.names[object.index()].below.clone()]
    }

    pub(super) fn is_any_below(&self, object: Slot, fields: &Fields) -> bool {
        self.below(object).iter().any(|slot| fields.has(*slot))
    }

    /// Whether something around a name, or in it, has a value.
    pub(super) fn is_any_around(&self, slot: Slot, fields: &Fields) -> bool {
        let mut around = self.parent(slot);
        while let Some(object) = around {
            if fields.has(object) {
                return true;
            }
            around = self.parent(object);
        }
        self.is_any_below(slot, fields)
    }

    pub(super) fn clear_below(&self, object: Slot, fields: &mut Fields) {
        for slot in self.below(object) {
            fields.set(*slot, Value::Missing);
        }
    }

    /// Clears all values but those of some names and of what is in them, and hidden ones.
    pub(super) fn keep(&self, kept: &[Slot], fields: &mut Fields) {
        for slot in self.order() {
            if !kept.iter().any(|kept| self.is_within(*slot, *kept)) {
                fields.set(*slot, Value::Missing);
            }
        }
    }
}
