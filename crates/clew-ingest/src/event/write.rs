//! An event as one object of JSON.

use super::value::push_short;
use super::{Event, Slot, Value};

impl Event {
    /// Appends the event as JSON: names with dots become objects inside each other.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.reserve(self.text.len() + self.names.keys_bytes());
        self.write_fields(self.names.order(), None, out);
    }

    /// Appends what is in an object that was taken apart.
    pub(super) fn write_below(&self, object: Slot, out: &mut Vec<u8>) {
        self.write_fields(self.names.below(object), Some(object), out);
    }

    fn write_fields(&self, order: &[Slot], root: Option<Slot>, out: &mut Vec<u8>) {
        let texts = self.all_texts();
        out.push(b'{');
        // The innermost object that is open.
        let mut object = root;
        for slot in order {
            let value = self.values[slot.index()];
            if matches!(value, Value::Missing) {
                continue;
            }
            let name = self.names.written(*slot);
            if name.parent != object {
                object = self.close_up_to(object, name.parent, out);
                self.open_down_to(name.parent, object, out);
                object = name.parent;
            }
            let start = usize::from(out.last() == Some(&b'{'));
            push_short(out, &name.key, start..usize::from(name.key_bytes));
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
        let name = self.names.written(slot);
        self.open_down_to(name.parent, object, out);
        let start = usize::from(out.last() == Some(&b'{'));
        push_short(out, &name.key, start..usize::from(name.key_bytes));
        out.push(b'{');
    }
}
