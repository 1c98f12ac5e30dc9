//! An event as one object of JSON. Lines of one kind have the same fields, so what stands between their values is put
//! together once, as a layout, and copied for each line.

use std::ops::Range;

use clew_kernels::Parts;

use super::fields::{Fields, Mark};
use super::names::Names;
use super::value::Texts;
use super::{Event, Slot};

/// Layouts that are remembered. Lines of more kinds than these in turns have theirs made again and again.
const LAYOUTS_MAX: usize = 8;

/// Bytes of the largest layout that is remembered: lines bring names, and these may be long.
const REMEMBERED_BYTES_MAX: usize = 64 << 10;

/// Bytes behind the texts of a layout, so that each is copied as a block.
const PADDING: [u8; 32] = [0; 32];

/// What an event with certain fields is written as, but for their values.
#[derive(Debug, Default)]
struct Layout {
    /// The fields that it is for, by slot.
    marks: Vec<u8>,
    values: Vec<Place>,
    /// What stands in front of each value, one behind the other, then what stands behind the last.
    texts: Vec<u8>,
    end: Range<usize>,
}

/// A value, and which of the texts stands in front of it.
#[derive(Clone, Copy, Debug)]
struct Place {
    slot: Slot,
    start: u32,
    end: u32,
}

/// The layouts of the last events.
#[derive(Debug, Default)]
pub(super) struct Layouts {
    known: Vec<Layout>,
    /// That of the last event.
    last: usize,
    /// The one that gives way to the next that is not known.
    oldest: usize,
    /// For what is written once.
    scratch: Layout,
}

impl Event {
    /// Appends the event as JSON: names with dots become objects inside each other, and what is hidden is left out.
    pub fn write(&mut self, out: &mut Vec<u8>) {
        let texts = Texts {
            bytes: self.text.as_bytes(),
            line: self.line,
            to_escape: self.to_escape,
            iso: &self.iso,
        };
        let layout = self.layouts.of(&self.names, &self.fields);
        layout.write(&self.fields, &texts, out);
    }

    /// As [`Event::write`], with what is hidden.
    pub fn write_all(&mut self, out: &mut Vec<u8>) {
        self.write_once(None, out);
    }

    /// Appends what is in an object that was taken apart.
    pub(super) fn write_below(&mut self, object: Slot, out: &mut Vec<u8>) {
        self.write_once(Some(object), out);
    }

    /// Appends all fields, or those in an object.
    fn write_once(&mut self, root: Option<Slot>, out: &mut Vec<u8>) {
        let order = match root {
            None => self.names.order_of_all(),
            Some(object) => self.names.below(object),
        };
        let mut layout = std::mem::take(&mut self.layouts.scratch);
        layout.make(&self.names, &self.fields, (order, root));
        layout.write(&self.fields, &self.all_texts(), out);
        self.layouts.scratch = layout;
    }
}

impl Layouts {
    /// The layout of an event with these fields.
    #[inline]
    fn of(&mut self, names: &Names, fields: &Fields) -> &Layout {
        let is_it = |layout: &Layout| layout.marks == fields.marks();
        if !self.known.get(self.last).is_some_and(is_it) {
            match self.known.iter().position(is_it) {
                Some(known) => self.last = known,
                None => return self.make(names, fields),
            }
        }
        &self.known[self.last]
    }

    /// Makes it in the place of the oldest, unless it is very large.
    #[cold]
    fn make(&mut self, names: &Names, fields: &Fields) -> &Layout {
        if self.known.len() < LAYOUTS_MAX {
            self.known.push(Layout::default());
        }
        let mut layout = std::mem::take(&mut self.known[self.oldest]);
        layout.make(names, fields, (names.order(), None));
        if layout.texts.len() > REMEMBERED_BYTES_MAX {
            self.scratch = layout;
            return &self.scratch;
        }
        self.last = self.oldest;
        self.oldest = (self.oldest + 1) % LAYOUTS_MAX;
        self.known[self.last] = layout;
        &self.known[self.last]
    }
}

impl Layout {
    /// Appends an event's fields.
    fn write(&self, fields: &Fields, texts: &Texts<'_>, out: &mut Vec<u8>) {
        // Most values are parts of the line, and each byte of it is in one of them.
        let mut out = Parts::new(out, self.texts.len() + texts.line.len());
        for Place { slot, start, end } in &self.values {
            out.push(&self.texts, *start as usize..*end as usize);
            fields.present(*slot).write_bare(texts, &mut out);
        }
        out.push(&self.texts, self.end.clone());
    }

    /// Makes it the one of these fields, which are all in the root.
    fn make(&mut self, names: &Names, fields: &Fields, (order, root): (&[Slot], Option<Slot>)) {
        self.marks.clear();
        self.marks.extend_from_slice(fields.marks());
        self.values.clear();
        self.texts.clear();
        self.texts.push(b'{');
        let mut start = 0;
        // The innermost object that is open.
        let mut open = root;
        for slot in order.iter().copied().filter(|slot| fields.has(*slot)) {
            let parent = names.parent(slot);
            if parent != open {
                open = self.close_up_to(names, open, parent);
                self.open_down_to(names, parent, open);
                open = parent;
            }
            self.push_key(names, slot);
            let is_quoted = fields.get(slot).mark() == Mark::Quoted;
            self.texts.extend(is_quoted.then_some(b'"'));
            let end = self.texts.len();
            self.values.push(Place {
                slot,
                start: short(start),
                end: short(end),
            });
            start = end;
            self.texts.extend(is_quoted.then_some(b'"'));
        }
        self.close_up_to(names, open, root);
        self.texts.push(b'}');
        self.end = start..self.texts.len();
        self.texts.extend_from_slice(&PADDING);
    }

    fn push_key(&mut self, names: &Names, slot: Slot) {
        let start = usize::from(self.texts.last() == Some(&b'{'));
        self.texts.extend_from_slice(&names.key(slot)[start..]);
    }

    /// Closes objects until what is wanted is in the one that is open; returns that.
    fn close_up_to(
        &mut self,
        names: &Names,
        mut open: Option<Slot>,
        wanted: Option<Slot>,
    ) -> Option<Slot> {
        while let Some(object) = open {
            if wanted.is_some_and(|wanted| names.is_within(wanted, object)) {
                break;
            }
            self.texts.push(b'}');
            open = names.parent(object);
        }
        open
    }

    fn open_down_to(&mut self, names: &Names, wanted: Option<Slot>, open: Option<Slot>) {
        let Some(slot) = wanted.filter(|_| wanted != open) else {
            return;
        };
        self.open_down_to(names, names.parent(slot), open);
        self.push_key(names, slot);
        self.texts.push(b'{');
    }
}

/// A place in the texts of a layout: all keys that there can be have fewer bytes.
fn short(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
