//! The values of an event's fields by slot, and a mark of each: a line that ends forgets all of them by clearing these, and
//! two events with the same fields are known by comparing them.

use super::names::Slot;
use super::value::Value;

/// Whether a field is there, and is written in quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Mark {
    Missing,
    Bare,
    Quoted,
}

/// Values by slot.
#[derive(Debug, Default)]
pub(super) struct Fields {
    /// What stands at one that is marked as missing is of a line before.
    values: Vec<Value>,
    /// A [`Mark`] each, as bytes, which are compared many at once.
    marks: Vec<u8>,
}

impl Fields {
    /// Has room for so many slots.
    pub(super) fn grow(&mut self, slots: usize) {
        self.values.resize(slots, Value::Missing);
        self.marks.resize(slots, Mark::Missing as u8);
    }

    /// Takes all away.
    #[inline]
    pub(super) fn clear(&mut self) {
        self.marks.fill(Mark::Missing as u8);
    }

    /// By slot.
    #[inline]
    pub(super) fn marks(&self) -> &[u8] {
        &self.marks
    }

    #[inline]
    pub(super) fn has(&self, slot: Slot) -> bool {
        self.marks[slot.index()] != Mark::Missing as u8
    }

    #[inline]
    pub(super) fn get(&self, slot: Slot) -> Value {
        match self.has(slot) {
            true => self.values[slot.index()],
            false => Value::Missing,
        }
    }

    /// The value of a field that is there.
    #[inline]
    pub(super) fn present(&self, slot: Slot) -> Value {
        debug_assert!(self.has(slot));
        self.values[slot.index()]
    }

    #[inline]
    pub(super) fn set(&mut self, slot: Slot, value: Value) {
        self.marks[slot.index()] = value.mark() as u8;
        self.values[slot.index()] = value;
    }
}
