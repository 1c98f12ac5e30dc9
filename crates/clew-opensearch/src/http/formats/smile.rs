//! Smile, the binary JSON of Jackson (github.com/FasterXML/smile-format-specification, version 0), on its way to JSON. Read
//! here, so that each value goes into the booked text as it comes: a deserializer of serde would give names and numbers back
//! as values first.

use super::json_text::{BinaryText, JsonText};
use super::{add_big, malformed};
use crate::http::error::ApiError;

/// What a document begins with; a byte of its version and its options follows.
pub(super) const BEGIN: &[u8] = b":)\n";
/// Names that were there are told by their number.
const SHARES_NAMES: u8 = 1;
/// Short texts that were there are told by their number.
const SHARES_TEXTS: u8 = 2;
/// As many are told by number; then counting begins anew.
const SHARED_MAX: usize = 1024;

pub(super) const END_OF_TEXT: u8 = 0xfc;
const END_OF_ARRAY: u8 = 0xf9;
const END_OF_OBJECT: u8 = 0xfb;
/// Between documents, and behind the last.
const END_OF_CONTENT: u8 = 0xff;

/// Reads the one value of a body. Bytes become texts in base64.
pub(super) fn read(body: &[u8], json: &mut JsonText) -> Result<(), ApiError> {
    let mut source = Source::begin(body)?;
    source.next_value(json)?;
    match source.bytes {
        [] | [END_OF_CONTENT] => Ok(()),
        _ => Err(wrong("Malformed content, found extra data after parsing")),
    }
}

/// Reads values that are each a document, with the end of content behind it, as lines of JSON. One that is not ended is a
/// line without its end, which those who read lines refuse in their own words.
pub(super) fn read_lines(body: &[u8], json: &mut JsonText) -> Result<(), ApiError> {
    let mut left = body;
    while !left.is_empty() {
        let end = memchr::memchr(END_OF_CONTENT, left);
        let (document, rest) = left.split_at(end.unwrap_or(left.len()));
        if !document.is_empty() {
            read(document, json)?;
        }
        if end.is_some() {
            json.end_line()?;
        }
        left = rest.get(1..).unwrap_or_default();
    }
    Ok(())
}

struct Source<'a> {
    /// What is not read yet.
    bytes: &'a [u8],
    /// Where documents share them, the names so far.
    names: Option<Vec<&'a str>>,
    /// The same of short texts.
    texts: Option<Vec<&'a str>>,
}

impl<'a> Source<'a> {
    fn begin(body: &'a [u8]) -> Result<Self, ApiError> {
        let (options, bytes) = body
            .strip_prefix(BEGIN)
            .and_then(|rest| rest.split_first())
            .ok_or_else(|| wrong("Input does not start with Smile format header"))?;
        if options >> 4 != 0 {
            let version = options >> 4;
            return Err(wrong(format!(
                "Header version number bits (0x{version:x}) indicate unrecognized version"
            )));
        }
        let shared = |bit: u8| (options & bit != 0).then(Vec::new);
        Ok(Source {
            bytes,
            names: shared(SHARES_NAMES),
            texts: shared(SHARES_TEXTS),
        })
    }

    fn next_value(&mut self, json: &mut JsonText) -> Result<(), ApiError> {
        let token = self.byte()?;
        self.value(token, json)
    }

    fn value(&mut self, token: u8, json: &mut JsonText) -> Result<(), ApiError> {
        match token {
            0x01..=0x1f => json.text(shared(self.texts.as_deref(), usize::from(token) - 1)?),
            0x20 => json.text(""),
            0x21 => json.null(),
            0x22 => json.boolean(false),
            0x23 => json.boolean(true),
            0x24 | 0x25 => {
                let number = self.unsigned()?;
                json.number(unfolded(number))
            }
            0x26 => {
                let number = self.big()?;
                json.number(number)
            }
            0x28 => {
                let bits = self.bits(5)?;
                // The bits above are of no number of 32 bits.
                let bits = u32::try_from(bits & u64::from(u32::MAX)).unwrap_or_default();
                json.float(f32::from_bits(bits))
            }
            0x29 => {
                let bits = self.bits(10)?;
                json.double(f64::from_bits(bits))
            }
            0x2a => self.decimal(json),
            0x40..=0x7f => {
                let text = self.short_text(usize::from(token & 0x3f) + 1)?;
                json.text(text)
            }
            0x80..=0xbf => {
                let text = self.short_text(usize::from(token & 0x3f) + 2)?;
                json.text(text)
            }
            0xc0..=0xdf => json.number(unfolded(u64::from(token & 0x1f))),
            0xe0 | 0xe4 => {
                let text = self.long_text()?;
                json.text(text)
            }
            0xe8 => self.packed(json),
            0xec..=0xef => {
                let number = self.long_number(token)?;
                json.text(shared(self.texts.as_deref(), number)?)
            }
            0xf8 => self.array(json),
            0xfa => self.object(json),
            0xfd => self.raw(json),
            _ => Err(wrong(format!(
                "Invalid type marker byte 0x{token:02x} for expected value token"
            ))),
        }
    }

    fn array(&mut self, json: &mut JsonText) -> Result<(), ApiError> {
        json.open(b'[')?;
        loop {
            match self.byte()? {
                END_OF_ARRAY => return json.close(b']'),
                token => self.value(token, json)?,
            }
        }
    }

    fn object(&mut self, json: &mut JsonText) -> Result<(), ApiError> {
        json.open(b'{')?;
        loop {
            let token = self.byte()?;
            if token == END_OF_OBJECT {
                return json.close(b'}');
            }
            let name = self.name(token)?;
            json.key(name)?;
            self.next_value(json)?;
        }
    }

    fn name(&mut self, token: u8) -> Result<&'a str, ApiError> {
        let name = match token {
            0x20 => return Ok(""),
            0x30..=0x33 => {
                let number = self.long_number(token)?;
                return shared(self.names.as_deref(), number);
            }
            0x40..=0x7f => return shared(self.names.as_deref(), usize::from(token & 0x3f)),
            0x34 => self.long_text()?,
            0x80..=0xbf => self.text(usize::from(token & 0x3f) + 1)?,
            0xc0..=0xf7 => self.text(usize::from(token - 0xc0) + 2)?,
            _ => {
                return Err(wrong(format!(
                    "Invalid type marker byte 0x{token:02x} for expected field name (or END_OBJECT marker)"
                )));
            }
        };
        share(self.names.as_mut(), name);
        Ok(name)
    }

    /// A text that later ones may refer to.
    fn short_text(&mut self, length: usize) -> Result<&'a str, ApiError> {
        let text = self.text(length)?;
        share(self.texts.as_mut(), text);
        Ok(text)
    }

    fn long_text(&mut self) -> Result<&'a str, ApiError> {
        let length = memchr::memchr(END_OF_TEXT, self.bytes).ok_or_else(ended)?;
        let text = self.text(length)?;
        self.byte()?;
        Ok(text)
    }

    fn text(&mut self, length: usize) -> Result<&'a str, ApiError> {
        let bytes = self.take(length)?;
        std::str::from_utf8(bytes).map_err(|error| wrong(format!("Invalid UTF-8: {error}")))
    }

    /// The number of what is shared, whose upper bits are in its token.
    fn long_number(&mut self, token: u8) -> Result<usize, ApiError> {
        let low = self.byte()?;
        Ok((usize::from(token & 3) << 8) | usize::from(low))
    }

    /// A number of any length: seven bits a byte, and six in the last, whose upper bit is set.
    fn unsigned(&mut self) -> Result<u64, ApiError> {
        let mut number: u64 = 0;
        loop {
            let byte = self.byte()?;
            let is_last = byte & 0x80 != 0;
            let (bits, part) = if is_last { (6, byte & 0x3f) } else { (7, byte) };
            if number.leading_zeros() < bits {
                return Err(wrong("Overflow in VInt: more than 64 bits"));
            }
            number = (number << bits) | u64::from(part);
            if is_last {
                return Ok(number);
            }
        }
    }

    fn length(&mut self) -> Result<usize, ApiError> {
        let length = self.unsigned()?;
        usize::try_from(length).map_err(|_| ended())
    }

    /// So many bytes of seven bits each; those that are too many for the number fall off.
    fn bits(&mut self, count: usize) -> Result<u64, ApiError> {
        let bytes = self.take(count)?;
        Ok(joined(bytes))
    }

    /// Bytes of which seven take eight, so that none of them is taken for a mark; the last ones have a byte for their lowest
    /// bits.
    fn sevens(
        &mut self,
        mut take: impl FnMut(&[u8]) -> Result<(), ApiError>,
    ) -> Result<(), ApiError> {
        let length = self.length()?;
        let (whole, rest) = (length / 7, length % 7);
        let rest_bytes = if rest == 0 { 0 } else { rest + 1 };
        let packed = whole
            .checked_mul(8)
            .and_then(|bytes| bytes.checked_add(rest_bytes));
        let packed = self.take(packed.ok_or_else(ended)?)?;
        let (groups, last) = packed.split_at(whole * 8);
        for group in groups.chunks_exact(8) {
            take(&joined(group).to_be_bytes()[1..])?;
        }
        if let Some((lowest, upper)) = last.split_last() {
            let bits = (joined(upper) << rest) | u64::from(*lowest);
            take(&bits.to_be_bytes()[8 - rest..])?;
        }
        Ok(())
    }

    fn packed(&mut self, json: &mut JsonText) -> Result<(), ApiError> {
        let mut binary = BinaryText::begin(json)?;
        self.sevens(|part| binary.push(part))?;
        binary.end()
    }

    fn raw(&mut self, json: &mut JsonText) -> Result<(), ApiError> {
        let length = self.length()?;
        let bytes = self.take(length)?;
        let mut binary = BinaryText::begin(json)?;
        binary.push(bytes)?;
        binary.end()
    }

    /// A whole number in two's complement.
    fn big(&mut self) -> Result<i128, ApiError> {
        let mut bytes = Vec::new();
        self.sevens(|part| add_big(&mut bytes, part))?;
        let sign = match bytes.first() {
            Some(first) if first & 0x80 != 0 => -1,
            _ => 0,
        };
        Ok(bytes
            .iter()
            .fold(sign, |number, byte| (number << 8) | i128::from(*byte)))
    }

    /// A whole number, and how many of its digits stand behind the point.
    fn decimal(&mut self, json: &mut JsonText) -> Result<(), ApiError> {
        let scale = unfolded(self.unsigned()?);
        let number = self.big()?;
        match scale {
            0 => json.number(number),
            // With the sign of an exponent, which is the other one.
            scale => json.number(format!("{number}e{}", -i128::from(scale))),
        }
    }

    fn byte(&mut self) -> Result<u8, ApiError> {
        let (first, rest) = self.bytes.split_first().ok_or_else(ended)?;
        self.bytes = rest;
        Ok(*first)
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], ApiError> {
        let (bytes, rest) = self.bytes.split_at_checked(length).ok_or_else(ended)?;
        self.bytes = rest;
        Ok(bytes)
    }
}

/// Seven bits of each byte, one after another.
fn joined(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0, |bits, byte| (bits << 7) | u64::from(byte & 0x7f))
}

/// A number whose sign is its lowest bit.
fn unfolded(number: u64) -> i64 {
    (number >> 1).cast_signed() ^ -((number & 1).cast_signed())
}

fn shared<'a>(all: Option<&[&'a str]>, number: usize) -> Result<&'a str, ApiError> {
    let all = all.unwrap_or_default();
    all.get(number).copied().ok_or_else(|| {
        let count = all.len();
        wrong(format!(
            "Invalid shared reference {number}; only got {count} in buffer (invalid content)"
        ))
    })
}

fn share<'a>(all: Option<&mut Vec<&'a str>>, text: &'a str) {
    if let Some(all) = all {
        if all.len() == SHARED_MAX {
            all.clear();
        }
        all.push(text);
    }
}

fn ended() -> ApiError {
    wrong("Unexpected end-of-input")
}

fn wrong(reason: impl Into<String>) -> ApiError {
    malformed("json_parse_exception", reason)
}
