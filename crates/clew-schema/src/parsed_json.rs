//! What JSON takes once it is read, told from its text before anything is made of it: two bytes can become a structure of
//! several hundred.

use clew_platform::Pace;
use serde_json::Value;

/// More than any machine has, and little enough to be added up.
const UNTOLD_BYTES: usize = 1 << 48;
/// As deep as `serde_json` reads.
const DEPTH_MAX: usize = 128;
/// A member of an object: the hash of its name, its name and its value.
const MEMBER_BYTES: usize = size_of::<usize>() + size_of::<String>() + size_of::<Value>();
/// A bucket of the table that finds members: where one is, and a byte of its hash.
const BUCKET_BYTES: usize = size_of::<usize>() + 1;
/// What such a table has at its end: it is looked through by so many bytes at once.
const TABLE_END_BYTES: usize = 16;
/// Allocators give texts no less than this, and nothing in between.
const TEXT_BYTES: usize = 16;
/// A text with escapes, or a number of many digits, is put together in a buffer that stays for the next. It has room for twice as
/// much at most, and for a moment is there as it was besides; by then there is no text yet.
const BUFFERED_TEXT_FACTOR: usize = 2;
const BUFFERED_NUMBER_FACTOR: usize = 3;
/// Numbers up to this need none.
const SHORT_NUMBER_BYTES: usize = 16;

/// Memory that JSON takes while it is read as [`Value`]s, in bytes, at the moment at which it takes most, its own text left out: lists
/// and objects have room for more than is in them, and the largest of them is there twice while it grows. Of texts one behind
/// the other it is that of all of them; of what is no JSON at least that of the part that is. Costs one pass over the text.
/// Once the request is over it is more than there can be.
pub fn parsed_json_bytes(text: &[u8]) -> usize {
    let mut taken = Taken::default();
    let mut open: Vec<Structure> = Vec::new();
    let mut at = 0;
    let mut pace = Pace::default();
    while let Some(rest) = text.get(at..) {
        if pace.is_over() {
            return UNTOLD_BYTES;
        }
        let next = rest.iter().position(is_mark);
        taken.add_number(next.unwrap_or(rest.len()));
        let Some(next) = next else {
            break;
        };
        at += next + 1;
        match rest[next] {
            b'"' => at = taken.add_text(text, at),
            b'{' => begin(&mut open, Kind::Object),
            b'[' => {
                begin(&mut open, Kind::List);
                // A list has one value more than commas, or none.
                let mut behind = text[at..].iter();
                if behind.find(|byte| !byte.is_ascii_whitespace()) != Some(&b']') {
                    taken.add_value(open.last_mut());
                }
            }
            b',' => {
                if open.last().is_none_or(|inner| inner.kind == Kind::List) {
                    taken.add_value(open.last_mut());
                }
            }
            b':' => taken.add_value(open.last_mut()),
            _ => {
                open.pop();
            }
        }
    }
    taken.at_most()
}

/// Memory that a value takes beside itself, in bytes, where its lists and objects have got what is in them one after the other; a copy
/// may have less room. Costs a visit of each value in it.
pub fn json_value_bytes(value: &Value) -> usize {
    let of_all = |kind: Kind, count: usize| kind.bytes(kind.room_of(count));
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text_bytes(text.len()),
        Value::Array(items) => {
            let inner = items.iter().map(json_value_bytes);
            inner.fold(of_all(Kind::List, items.len()), usize::saturating_add)
        }
        Value::Object(members) => {
            let inner = members.iter();
            let inner = inner.map(|(name, value)| {
                text_bytes(name.len()).saturating_add(json_value_bytes(value))
            });
            inner.fold(of_all(Kind::Object, members.len()), usize::saturating_add)
        }
    }
}

/// What separates values, and what begins texts, in which there are no such marks.
fn is_mark(byte: &u8) -> bool {
    matches!(byte, b'"' | b',' | b':' | b'[' | b']' | b'{' | b'}')
}

/// Goes into a list or an object. Deeper than is read there is nothing: what comes then belongs to another text.
fn begin(open: &mut Vec<Structure>, kind: Kind) {
    if open.len() >= DEPTH_MAX {
        open.clear();
    }
    open.push(Structure {
        kind,
        values: 0,
        room: 0,
    });
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    List,
    Object,
}

impl Kind {
    /// The room of one that gets a value beyond what it has room for.
    fn next_room(self, room: usize) -> usize {
        match (self, room) {
            (Kind::List, 0) => 4,
            (Kind::Object, 0) => 3,
            (Kind::Object, 3) => 7,
            (_, room) => room.saturating_mul(2),
        }
    }

    /// The room of one that has got so many values, one after the other.
    fn room_of(self, values: usize) -> usize {
        let mut room = 0;
        while room < values {
            room = self.next_room(room);
        }
        room
    }

    /// What room takes, in bytes.
    fn bytes(self, room: usize) -> usize {
        match (self, room) {
            (_, 0) => 0,
            (Kind::List, room) => room.saturating_mul(size_of::<Value>()),
            (Kind::Object, room) => {
                // An eighth of the table is free, of a small one a bucket.
                let buckets = (room / 7).saturating_mul(8).max(4);
                let table = buckets
                    .saturating_mul(BUCKET_BYTES)
                    .saturating_add(TABLE_END_BYTES);
                room.saturating_mul(MEMBER_BYTES).saturating_add(table)
            }
        }
    }
}

/// What a text takes that is this long.
fn text_bytes(length: usize) -> usize {
    length.next_multiple_of(TEXT_BYTES)
}

/// A list or an object that is being read.
struct Structure {
    kind: Kind,
    values: usize,
    /// Values that it has room for.
    room: usize,
}

/// What was found so far, in bytes.
#[derive(Default)]
struct Taken {
    /// Structures with all their room, and texts.
    kept: usize,
    /// The largest structure that has grown, as it was before.
    grown: usize,
    /// The buffer of what is put together.
    buffer: usize,
}

impl Taken {
    /// Adds a value to the structure that it is in. Where there is none the text is no JSON, or one that was cut before.
    fn add_value(&mut self, inner: Option<&mut Structure>) {
        let Some(inner) = inner else {
            self.kept = self.kept.saturating_add(3 * MEMBER_BYTES);
            return;
        };
        if inner.values == inner.room {
            let before = inner.kind.bytes(inner.room);
            inner.room = inner.kind.next_room(inner.room);
            let more = inner.kind.bytes(inner.room) - before;
            self.kept = self.kept.saturating_add(more);
            self.grown = self.grown.max(before);
        }
        inner.values += 1;
    }

    /// Adds the text that begins at a place; where what is behind it begins. No text has more than a line.
    fn add_text(&mut self, all: &[u8], from: usize) -> usize {
        let (mut end, mut is_escaped) = (from, false);
        loop {
            let rest = all.get(end..).unwrap_or_default();
            let Some(next) = memchr::memchr3(b'"', b'\\', b'\n', rest) else {
                end = all.len();
                break;
            };
            end += next;
            if rest[next] != b'\\' {
                break;
            }
            is_escaped = true;
            // What is escaped does not end it.
            end += 2;
        }
        let length = end - from;
        self.kept = self.kept.saturating_add(text_bytes(length));
        if is_escaped {
            let buffer = length.saturating_mul(BUFFERED_TEXT_FACTOR);
            self.buffer = self.buffer.max(buffer);
        }
        end + 1
    }

    /// Adds what stands between two marks, in which there is at most a number of so many digits.
    fn add_number(&mut self, length: usize) {
        if length > SHORT_NUMBER_BYTES {
            let buffer = length.saturating_mul(BUFFERED_NUMBER_FACTOR);
            self.buffer = self.buffer.max(buffer);
        }
    }

    fn at_most(&self) -> usize {
        let structures = self.kept.saturating_add(self.grown);
        structures.saturating_add(self.buffer)
    }
}

#[cfg(test)]
mod tests {
    use clew_platform::CancellationToken;

    use super::*;

    #[test]
    fn what_nobody_waits_for_is_told_as_too_much() {
        let text = format!("[{}1]", "1,".repeat(3_000));
        assert!(parsed_json_bytes(text.as_bytes()) < UNTOLD_BYTES);
        let token = CancellationToken::new();
        token.cancel("by user request");
        let _entered = token.enter();
        assert_eq!(parsed_json_bytes(text.as_bytes()), UNTOLD_BYTES);
    }

    #[test]
    fn nothing_is_taken_but_for_lists_objects_and_texts() {
        for text in [
            "", " ", "null", "1.5e7", "[]", "[ ]", "{}", "\"\"", "nonsense",
        ] {
            assert_eq!(parsed_json_bytes(text.as_bytes()), 0, "{text}");
        }
        let text = format!("\"{}\"", "a, [b]: {c}, ".repeat(1_600));
        assert_eq!(parsed_json_bytes(text.as_bytes()), text.len() - 2);
    }

    #[test]
    fn texts_one_behind_the_other_take_what_each_does() {
        for text in ["{\"a\":[1,2,3]}", "[[{}],[0,\"\\\"\"]]", "[\"cut off"] {
            let one = parsed_json_bytes(text.as_bytes());
            let three = parsed_json_bytes(format!("{text}\n{text}\n{text}").as_bytes());
            assert!(one > 0 && three >= 2 * one, "{text}: {one}, {three}");
        }
    }

    #[test]
    fn what_is_no_json_is_told_as_far_as_it_goes() {
        let list = 4 * size_of::<Value>();
        for (text, least) in [
            ("[0,", list),
            ("[\"", list),
            ("[\"\\", list),
            ("]]}[0", list),
            (",", size_of::<Value>()),
            ("1:2", size_of::<Value>()),
        ] {
            let told = parsed_json_bytes(text.as_bytes());
            assert!((least..2 * least + 500).contains(&told), "{text}: {told}");
        }
        // Deeper than anything is read.
        let deep = "[".repeat(10_000);
        assert!(parsed_json_bytes(deep.as_bytes()) >= DEPTH_MAX * list);
        let deep = format!("{}\n[{}0]", "[".repeat(10_000), "0,".repeat(10_000));
        assert!(parsed_json_bytes(deep.as_bytes()) >= 10_001 * size_of::<Value>());
    }
}
