//! Values of fields: small, and copied freely; texts are places in the event's text.

use clew_kernels::Parts;

use super::fields::Mark;
use crate::json_text::push_part_escaped;
use crate::text::{Civil, IsoTimes, Span};

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

/// What a value is, whether it is kept as it is or as JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Time,
    Number,
    Truth,
    /// Nothing, or objects and lists.
    Other,
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
        self.write_bare(&texts, &mut Parts::new(out, 0));
        out.extend(quote);
    }

    /// Appends the value as JSON, without the quotes around it. Always a part of the loop over all values, which takes 6 % fewer
    /// instructions so than with a call.
    #[inline(always)]
    pub(super) fn write_bare(self, texts: &Texts<'_>, out: &mut Parts<'_>) {
        match self.as_it_stands(texts) {
            Some(part) => out.push(texts.bytes, part.range()),
            None => out.with(|out| self.write_made(texts, out)),
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

    /// Appends a value that does not stand in the texts as it is written.
    #[inline(never)]
    fn write_made(self, texts: &Texts<'_>, out: &mut Vec<u8>) {
        match self {
            Value::Text(part) => push_part_escaped(out, texts.bytes, part.range()),
            Value::Time(ms) => texts.iso.push(ms, out),
            Value::Missing => out.extend_from_slice(b"null"),
            other => other.write_plain(out),
        }
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
