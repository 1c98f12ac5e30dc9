//! An event as one object of JSON.

use super::{Event, Slot, Value};

impl Event {
    /// Appends the event as JSON: names with dots become objects inside each other.
    pub fn write(&self, out: &mut Vec<u8>) {
        self.write_fields(self.names.order(), None, out);
    }

    /// Appends what is in an object that was taken apart.
    pub(super) fn write_below(&self, object: Slot, out: &mut Vec<u8>) {
        self.write_fields(self.names.below(object), Some(object), out);
    }

    fn write_fields(&self, order: &[Slot], root: Option<Slot>, out: &mut Vec<u8>) {
        let texts = self.text.as_bytes();
        out.push(b'{');
        // The innermost object that is open.
        let mut object = root;
        for slot in order {
            let value = self.values[slot.index()];
            if value == Value::Missing {
                continue;
            }
            let parent = self.names.parent(*slot);
            if parent != object {
                object = self.close_up_to(object, parent, out);
                self.open_down_to(parent, object, out);
                object = parent;
            }
            separate(out);
            out.extend_from_slice(self.names.key(*slot));
            value.write(texts, out);
        }
        self.close_up_to(object, root, out);
        out.push(b'}');
    }

    /// Closes objects until what is wanted is in the one that is open; returns that.
    fn close_up_to(
        &self,
        mut object: Option<Slot>,
        wanted: Option<Slot>,
        out: &mut Vec<u8>,
    ) -> Option<Slot> {
        while let Some(open) = object {
            if wanted.is_some_and(|wanted| self.names.is_within(wanted, open)) {
                break;
            }
            out.push(b'}');
            object = self.names.parent(open);
        }
        object
    }

    fn open_down_to(&self, wanted: Option<Slot>, object: Option<Slot>, out: &mut Vec<u8>) {
        let Some(slot) = wanted.filter(|_| wanted != object) else {
            return;
        };
        self.open_down_to(self.names.parent(slot), object, out);
        separate(out);
        out.extend_from_slice(self.names.key(slot));
        out.push(b'{');
    }
}

/// A comma behind a member.
fn separate(out: &mut Vec<u8>) {
    if out.last() != Some(&b'{') {
        out.push(b',');
    }
}
