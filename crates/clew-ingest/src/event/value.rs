//! Values of fields: small, and copied freely; texts are places in the event's text.

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

impl Value {
    /// Appends the value as JSON.
    pub(super) fn write(self, texts: &[u8], out: &mut Vec<u8>) {
        match self {
            Value::Text(span) => {
                out.push(b'"');
                push_escaped(out, &texts[span.start()..span.end()]);
                out.push(b'"');
            }
            Value::Json(span) => out.extend_from_slice(&texts[span.start()..span.end()]),
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
