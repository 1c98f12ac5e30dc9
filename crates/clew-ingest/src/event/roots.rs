//! The fields at the root of an event, for who takes all of them and puts others in their place.

use super::{Event, Reason, Slot};

impl Event {
    /// The slot of a field at the root; dots in its name are no borders.
    pub(crate) fn root_slot(&mut self, name: &str) -> Result<Slot, Reason> {
        let slot = self.names.intern_member(None, name);
        self.fields.grow(self.names.len());
        slot
    }

    /// Adds the slots of all fields at the root that there have ever been, but for a hidden one.
    pub(crate) fn root_slots(&self, slots: &mut Vec<Slot>) {
        let order = self.names.order().iter();
        slots.extend(order.filter(|slot| self.names.parent(**slot).is_none()));
    }

    /// The name of a field at the root.
    pub(crate) fn root_name(&self, slot: Slot) -> &str {
        self.names.path(slot)
    }

    /// Takes all fields away but what is hidden.
    pub(crate) fn clear(&mut self) {
        self.names.keep(&[], &mut self.fields);
    }
}
