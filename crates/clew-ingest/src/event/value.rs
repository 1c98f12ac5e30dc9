//! Values of fields: small, and copied freely; texts are places in the event's text.

use std::ops::Range;

use crate::json_text::{push_escaped, push_number};
use crate::text::{Civil, Span};

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

/// Appends a part of some bytes. Where it is short and there are enough bytes, a whole block is copied and what is too much
/// taken back: a block needs no call, and most parts of a line are short.
#[inline]
pub(super) fn push_short(out: &mut Vec<u8>, bytes: &[u8], part: Range<usize>) {
    const BLOCK: usize = 32;
    let length = part.len();
    match bytes
        .get(part.start..)
        .and_then(|rest| rest.first_chunk::<BLOCK>())
    {
        Some(block) if length <= BLOCK => {
            let end = out.len() + length;
            out.extend_from_slice(block);
            out.truncate(end);
        }
        _ => out.extend_from_slice(&bytes[part]),
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
}

impl Texts<'_> {
    /// Whether a part surely has nothing to escape.
    fn is_clean(&self, part: Span) -> bool {
        part.start() >= self.line.start()
            && part.end() <= self.line.end()
            && (part.end() <= self.to_escape.start() || part.start() >= self.to_escape.end())
    }
}

impl Value {
    /// Appends the value as JSON.
    #[inline]
    pub(super) fn write(self, texts: Texts<'_>, out: &mut Vec<u8>) {
        match self {
            Value::Text(span) => {
                out.push(b'"');
                match texts.is_clean(span) {
                    true => push_short(out, texts.bytes, span.range()),
                    false => push_escaped(out, &texts.bytes[span.range()]),
                }
                out.push(b'"');
            }
            Value::Json(span) => push_short(out, texts.bytes, span.range()),
            Value::Time(ms) => {
                out.push(b'"');
                Civil::from_utc_ms(ms).push_iso(out);
                out.push(b'"');
            }
            Value::Missing => out.extend_from_slice(b"null"),
            other => other.write_plain(out),
        }
    }

    /// Appends a value that is no text of the event as plain text.
    pub(super) fn write_plain(self, out: &mut Vec<u8>) {
        match self {
            Value::Int(number) => {
                if number < 0 {
                    out.push(b'-');
                }
                push_number(out, number.unsigned_abs());
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
