//! Values of fields: small, and copied freely; texts are places in the event's text.

use std::ops::Range;

use super::fields::Mark;
use crate::json_text::{escape, next_escape};
use crate::text::{Civil, ISO_BYTES, IsoTimes, Span};

/// A value.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Value {
    /// There is none.
    #[default]
    Missing,
    /// Text, not escaped.
    Text(Span),
    /// JSON that is written as it stands.
    Json(Span),
    /// A whole number.
    Int(i64),
    /// A number.
    Float(f64),
    /// A truth.
    Bool(bool),
    /// `null`.
    Null,
    /// Milliseconds since the epoch, written as ISO 8601 in UTC.
    Time(i64),
}

/// Bytes that are copied at once. A block needs no call, and most parts of a line are shorter.
const BLOCK: usize = 32;

/// Puts a part of some bytes at a place of `out`, which has bytes of no meaning from there on; returns where it ends. Where it
/// is short, and there are enough bytes on both sides, a whole block is copied, of which what is too much means nothing.
#[inline]
pub(super) fn put(out: &mut Vec<u8>, at: usize, bytes: &[u8], part: Range<usize>) -> usize {
    let length = part.len();
    let block = bytes.get(part.start..).and_then(|rest| rest.first_chunk());
    let room = out.get_mut(at..).and_then(|rest| rest.first_chunk_mut());
    if let (Some(block), Some(room)) = (block, room)
        && length <= BLOCK
    {
        let (block, room): (&[u8; BLOCK], &mut [u8; BLOCK]) = (block, room);
        *room = *block;
        return at + length;
    }
    put_long(out, at, &bytes[part])
}

/// The same for what is long, or where there is no room.
#[inline(never)]
fn put_long(out: &mut Vec<u8>, at: usize, bytes: &[u8]) -> usize {
    /// Room for what comes next.
    const MORE: usize = 512;
    let end = at + bytes.len();
    if out.len() < end + BLOCK {
        out.resize(end + MORE, 0);
    }
    out[at..end].copy_from_slice(bytes);
    end
}

/// The same with what JSON wants escaped.
fn put_escaped(out: &mut Vec<u8>, mut at: usize, bytes: &[u8], part: Range<usize>) -> usize {
    let (text, mut from) = (&bytes[..part.end], part.start);
    loop {
        let special = next_escape(text, from);
        at = put(out, at, bytes, from..special);
        let Some(byte) = text.get(special) else {
            return at;
        };
        let (escape, length) = escape(*byte);
        at = put_long(out, at, &escape[..length]);
        from = special + 1;
    }
}

/// The texts that values are parts of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Texts<'a> {
    pub(super) bytes: &'a [u8],
    /// Where the line is, in which bytes to escape are known.
    pub(super) line: Span,
    /// The part of it that has all of them.
    pub(super) to_escape: Span,
    pub(super) iso: &'a IsoTimes,
}

impl Texts<'_> {
    /// Whether a part surely has nothing to escape: in the line it stands before all that has, or behind.
    #[inline]
    fn is_clean(&self, part: Span) -> bool {
        (part.start() >= self.line.start() && part.end() <= self.to_escape.start())
            || (part.start() >= self.to_escape.end() && part.end() <= self.line.end())
    }
}

impl Value {
    /// Whether it is there, and is written in quotes.
    #[inline]
    pub(super) fn mark(self) -> Mark {
        match self {
            Value::Missing => Mark::Missing,
            Value::Text(_) | Value::Time(_) => Mark::Quoted,
            Value::Json(_) | Value::Int(_) | Value::Float(_) | Value::Bool(_) | Value::Null => {
                Mark::Bare
            }
        }
    }

    /// Appends the value as JSON.
    pub(super) fn write(self, texts: Texts<'_>, out: &mut Vec<u8>) {
        let quote = (self.mark() == Mark::Quoted).then_some(b'"');
        out.extend(quote);
        let end = self.put_bare(&texts, out, out.len());
        out.truncate(end);
        out.extend(quote);
    }

    /// Puts the value as JSON, without the quotes around it, as [`put`] does.
    #[inline]
    pub(super) fn put_bare(self, texts: &Texts<'_>, out: &mut Vec<u8>, at: usize) -> usize {
        match self.as_it_stands(texts) {
            Some(part) => put(out, at, texts.bytes, part.range()),
            None => self.put_made(texts, out, at),
        }
    }

    /// The part of the texts that it is written as: most values are, and need no call then.
    #[inline]
    fn as_it_stands(self, texts: &Texts<'_>) -> Option<Span> {
        match self {
            Value::Json(part) => Some(part),
            Value::Text(part) => texts.is_clean(part).then_some(part),
            _ => None,
        }
    }

    /// Puts a value that does not stand in the texts as it is written.
    #[inline(never)]
    fn put_made(self, texts: &Texts<'_>, out: &mut Vec<u8>, at: usize) -> usize {
        match self {
            Value::Text(part) => put_escaped(out, at, texts.bytes, part.range()),
            Value::Time(ms) => put(out, at, &texts.iso.text(ms), 0..ISO_BYTES),
            Value::Int(number) => {
                let mut digits = itoa::Buffer::new();
                put_long(out, at, digits.format(number).as_bytes())
            }
            other => other.put_rarer(out, at),
        }
    }

    /// The same for what a line has less of.
    #[inline(never)]
    fn put_rarer(self, out: &mut Vec<u8>, at: usize) -> usize {
        out.resize(at, 0);
        match self {
            Value::Missing => out.extend_from_slice(b"null"),
            other => other.write_plain(out),
        }
        out.len()
    }

    /// Appends a value that is no text of the event as plain text.
    pub(super) fn write_plain(self, out: &mut Vec<u8>) {
        match self {
            Value::Int(number) => {
                out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
            }
            // JSON has no infinities.
            Value::Float(number) => match serde_json::Number::from_f64(number) {
                Some(number) => out.extend_from_slice(number.to_string().as_bytes()),
                None => out.extend_from_slice(b"null"),
            },
            Value::Bool(true) => out.extend_from_slice(b"true"),
            Value::Bool(false) => out.extend_from_slice(b"false"),
            Value::Time(ms) => Civil::from_utc_ms(ms).push_iso(out),
            Value::Null => out.extend_from_slice(b"null"),
            Value::Missing | Value::Text(_) | Value::Json(_) => {}
        }
    }
}
