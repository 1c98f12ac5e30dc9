//! A body of another format on its way to JSON: its parts come in their order, and their text is booked as it grows, so what
//! is short in the other format and long in JSON meets the limits of bodies.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use clew_platform::Reservation;
use clew_schema::short_double;

use super::malformed;
use crate::http::body::BodyLimits;
use crate::http::body::growing::GrowingBody;
use crate::http::error::ApiError;

/// As deep as values may lie in each other: no more than the reader of JSON takes.
const DEPTH_MAX: usize = 128;

/// A growing JSON text. The caller keeps begin and end in pairs; commas are put here.
pub(super) struct JsonText {
    body: GrowingBody,
    needs_comma: bool,
    depth: usize,
}

impl JsonText {
    /// An empty one, of a request that has so many bytes already.
    pub(super) fn beside(bytes: usize, limits: &BodyLimits) -> Self {
        JsonText {
            body: GrowingBody::beside(bytes, limits),
            needs_comma: false,
            depth: 0,
        }
    }

    /// Memory for what is there only while the body is read: until the reservation is dropped.
    pub(super) fn hold(&self, bytes: usize) -> Result<Reservation, ApiError> {
        self.body.hold(bytes)
    }

    pub(super) fn into_bytes(self) -> Bytes {
        self.body.into_bytes()
    }

    /// Opens an object (`{`) or an array (`[`).
    pub(super) fn open(&mut self, bracket: u8) -> Result<(), ApiError> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            let reason = format!(
                "Document nesting depth ({}) exceeds the maximum allowed ({DEPTH_MAX})",
                self.depth
            );
            return Err(malformed("stream_constraints_exception", reason));
        }
        self.separate()?;
        self.needs_comma = false;
        self.body.push(&[bracket])
    }

    /// Closes what was opened.
    pub(super) fn close(&mut self, bracket: u8) -> Result<(), ApiError> {
        self.depth = self.depth.saturating_sub(1);
        self.needs_comma = true;
        self.body.push(&[bracket])
    }

    /// The name of a member, whose value comes next.
    pub(super) fn key(&mut self, name: &str) -> Result<(), ApiError> {
        self.separate()?;
        self.quoted(name)?;
        self.needs_comma = false;
        self.body.push(b":")
    }

    pub(super) fn text(&mut self, text: &str) -> Result<(), ApiError> {
        self.separate()?;
        self.needs_comma = true;
        self.quoted(text)
    }

    /// A text that comes in parts, until [`JsonText::end_text`].
    pub(super) fn begin_text(&mut self) -> Result<(), ApiError> {
        self.separate()?;
        self.needs_comma = true;
        self.body.push(b"\"")
    }

    pub(super) fn text_part(&mut self, part: &str) -> Result<(), ApiError> {
        let bytes = part.as_bytes();
        let mut plain = 0;
        for (at, &byte) in bytes.iter().enumerate() {
            if byte >= 0x20 && byte != b'"' && byte != b'\\' {
                continue;
            }
            self.body.push(&bytes[plain..at])?;
            match byte {
                b'"' | b'\\' => self.body.push(&[b'\\', byte])?,
                b'\n' => self.body.push(b"\\n")?,
                _ => self.body.push(format!("\\u{byte:04x}").as_bytes())?,
            }
            plain = at + 1;
        }
        self.body.push(&bytes[plain..])
    }

    pub(super) fn end_text(&mut self) -> Result<(), ApiError> {
        self.body.push(b"\"")
    }

    /// A whole number, or another one that is written already.
    pub(super) fn number(&mut self, number: impl ToString) -> Result<(), ApiError> {
        self.word(&number.to_string())
    }

    /// A number of 64 bits; as a text where JSON has none such.
    pub(super) fn double(&mut self, number: f64) -> Result<(), ApiError> {
        match serde_json::Number::from_f64(number) {
            Some(number) => self.number(number),
            None => self.text(unlike_json(number)),
        }
    }

    /// A number of 32 bits, with as few digits as give it back exactly.
    pub(super) fn float(&mut self, number: f32) -> Result<(), ApiError> {
        self.double(short_double(number))
    }

    pub(super) fn boolean(&mut self, value: bool) -> Result<(), ApiError> {
        self.word(if value { "true" } else { "false" })
    }

    pub(super) fn null(&mut self) -> Result<(), ApiError> {
        self.word("null")
    }

    /// Ends a line: what comes next is a value of its own.
    pub(super) fn end_line(&mut self) -> Result<(), ApiError> {
        self.needs_comma = false;
        self.body.push(b"\n")
    }

    fn word(&mut self, word: &str) -> Result<(), ApiError> {
        self.separate()?;
        self.needs_comma = true;
        self.body.push(word.as_bytes())
    }

    fn quoted(&mut self, text: &str) -> Result<(), ApiError> {
        self.body.push(b"\"")?;
        self.text_part(text)?;
        self.body.push(b"\"")
    }

    fn separate(&mut self) -> Result<(), ApiError> {
        match self.needs_comma {
            true => self.body.push(b","),
            false => Ok(()),
        }
    }
}

fn unlike_json(number: f64) -> &'static str {
    if number.is_nan() {
        "NaN"
    } else if number > 0.0 {
        "Infinity"
    } else {
        "-Infinity"
    }
}

/// Bytes that are put together as base64 before they are a text.
const BINARY_BYTES: usize = 3 << 10;

/// Bytes that come in parts, as a text in base64.
pub(super) struct BinaryText<'a> {
    json: &'a mut JsonText,
    bytes: Vec<u8>,
}

impl<'a> BinaryText<'a> {
    pub(super) fn begin(json: &'a mut JsonText) -> Result<Self, ApiError> {
        json.begin_text()?;
        Ok(BinaryText {
            json,
            bytes: Vec::with_capacity(BINARY_BYTES),
        })
    }

    pub(super) fn push(&mut self, part: &[u8]) -> Result<(), ApiError> {
        for piece in part.chunks(BINARY_BYTES) {
            let (now, later) = piece.split_at(piece.len().min(BINARY_BYTES - self.bytes.len()));
            self.bytes.extend_from_slice(now);
            if self.bytes.len() == BINARY_BYTES {
                self.write()?;
            }
            self.bytes.extend_from_slice(later);
        }
        Ok(())
    }

    pub(super) fn end(mut self) -> Result<(), ApiError> {
        self.write()?;
        self.json.end_text()
    }

    /// Writes what is there: three bytes at a time until the last.
    fn write(&mut self) -> Result<(), ApiError> {
        let text = STANDARD.encode(&self.bytes);
        self.bytes.clear();
        self.json.body.push(text.as_bytes())
    }
}
