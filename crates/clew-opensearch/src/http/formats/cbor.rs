//! CBOR (RFC 8949): bodies on their way to JSON, and answers.

use ciborium_ll::{Decoder, Error, Header, simple, tag};
use serde_json::Value;

use super::json_text::{BinaryText, JsonText};
use super::{add_big, malformed};
use crate::http::error::ApiError;

/// What is read at once of a text or of bytes.
const CHUNK_BYTES: usize = 4 << 10;

/// Headers of numbers up to this length are of 16 or 32 bits.
const FLOAT_HEADER_BYTES: usize = 5;

/// Reads the one value of a body. Bytes become texts in base64, names that are numbers become texts; tags say nothing but of
/// long whole numbers.
pub(super) fn read(body: &[u8], json: &mut JsonText) -> Result<(), ApiError> {
    let mut source = Source {
        decoder: Decoder::from(body),
        chunk: [0; CHUNK_BYTES],
    };
    let first = source.pull()?;
    source.value(first, json)?;
    match source.decoder.offset() == body.len() {
        true => Ok(()),
        false => Err(wrong("Malformed content, found extra data after parsing")),
    }
}

/// A value as a document.
pub(super) fn document(value: &Value) -> Vec<u8> {
    let mut bytes = Vec::new();
    ciborium::into_writer(value, &mut bytes).expect("a vector takes every byte");
    bytes
}

struct Source<'a> {
    decoder: Decoder<&'a [u8]>,
    /// Room for a part of a text.
    chunk: [u8; CHUNK_BYTES],
}

/// What stands before a value.
#[derive(Clone, Copy)]
struct Item {
    header: Header,
    /// Its own length, in bytes.
    length: usize,
}

impl Source<'_> {
    fn pull(&mut self) -> Result<Item, ApiError> {
        let begin = self.decoder.offset();
        let header = self.decoder.pull().map_err(unread)?;
        Ok(Item {
            header,
            length: self.decoder.offset() - begin,
        })
    }

    fn value(&mut self, item: Item, json: &mut JsonText) -> Result<(), ApiError> {
        match item.header {
            Header::Positive(number) => json.number(number),
            Header::Negative(number) => json.number(negative(u128::from(number))),
            #[expect(
                clippy::cast_possible_truncation,
                reason = "it came as 32 bits or fewer"
            )]
            Header::Float(number) if item.length <= FLOAT_HEADER_BYTES => json.float(number as f32),
            Header::Float(number) => json.double(number),
            Header::Simple(simple::FALSE) => json.boolean(false),
            Header::Simple(simple::TRUE) => json.boolean(true),
            Header::Simple(simple::NULL | simple::UNDEFINED) => json.null(),
            Header::Simple(other) => json.number(other),
            Header::Text(length) => {
                json.begin_text()?;
                self.text(length, |part| json.text_part(part))?;
                json.end_text()
            }
            Header::Bytes(length) => {
                let mut binary = BinaryText::begin(json)?;
                self.bytes(length, |part| binary.push(part))?;
                binary.end()
            }
            Header::Array(length) => self.array(length, json),
            Header::Map(length) => self.map(length, json),
            Header::Tag(kind) => self.tagged(kind, json),
            Header::Break => Err(wrong("Unexpected Break (0xFF) token in a place of a value")),
        }
    }

    /// The value behind a tag; of several the last one counts.
    fn tagged(&mut self, mut kind: u64, json: &mut JsonText) -> Result<(), ApiError> {
        loop {
            let item = self.pull()?;
            match item.header {
                Header::Tag(next) => kind = next,
                Header::Bytes(length) if matches!(kind, tag::BIGPOS | tag::BIGNEG) => {
                    let number = self.big(length)?;
                    return match kind {
                        tag::BIGPOS => json.number(number),
                        _ => json.number(negative(number)),
                    };
                }
                _ => return self.value(item, json),
            }
        }
    }

    fn big(&mut self, length: Option<usize>) -> Result<u128, ApiError> {
        let mut bytes = Vec::new();
        self.bytes(length, |part| add_big(&mut bytes, part))?;
        let number = bytes
            .iter()
            .fold(0, |number, byte| (number << 8) | u128::from(*byte));
        Ok(number)
    }

    fn array(&mut self, length: Option<usize>, json: &mut JsonText) -> Result<(), ApiError> {
        json.open(b'[')?;
        let mut left = length;
        while let Some(item) = self.next(&mut left)? {
            self.value(item, json)?;
        }
        json.close(b']')
    }

    fn map(&mut self, length: Option<usize>, json: &mut JsonText) -> Result<(), ApiError> {
        json.open(b'{')?;
        let mut left = length;
        while let Some(name) = self.next(&mut left)? {
            match name.header {
                Header::Text(length) => {
                    let mut whole = String::new();
                    self.text(length, |part| {
                        whole.push_str(part);
                        Ok(())
                    })?;
                    json.key(&whole)?;
                }
                Header::Positive(number) => json.key(&number.to_string())?,
                Header::Negative(number) => json.key(&negative(u128::from(number)))?,
                _ => return Err(wrong("a name of a member is neither a text nor a number")),
            }
            let value = self.pull()?;
            self.value(value, json)?;
        }
        json.close(b'}')
    }

    /// What comes next of so many, or until they end.
    fn next(&mut self, left: &mut Option<usize>) -> Result<Option<Item>, ApiError> {
        if let Some(count) = left {
            if *count == 0 {
                return Ok(None);
            }
            *count -= 1;
            return self.pull().map(Some);
        }
        let item = self.pull()?;
        Ok((item.header != Header::Break).then_some(item))
    }

    fn text(
        &mut self,
        length: Option<usize>,
        mut take: impl FnMut(&str) -> Result<(), ApiError>,
    ) -> Result<(), ApiError> {
        let mut segments = self.decoder.text(length);
        while let Some(mut segment) = segments.pull().map_err(unread)? {
            while let Some(part) = segment.pull(&mut self.chunk).map_err(unread)? {
                take(part)?;
            }
        }
        Ok(())
    }

    fn bytes(
        &mut self,
        length: Option<usize>,
        mut take: impl FnMut(&[u8]) -> Result<(), ApiError>,
    ) -> Result<(), ApiError> {
        let mut segments = self.decoder.bytes(length);
        while let Some(mut segment) = segments.pull().map_err(unread)? {
            while let Some(part) = segment.pull(&mut self.chunk).map_err(unread)? {
                take(part)?;
            }
        }
        Ok(())
    }
}

/// The number whose distance below -1 is given.
fn negative(below: u128) -> String {
    match below.checked_add(1) {
        Some(number) => format!("-{number}"),
        // 2 to the power of 128.
        None => "-340282366920938463463374607431768211456".to_string(),
    }
}

fn unread<E>(error: Error<E>) -> ApiError {
    match error {
        Error::Io(_) => wrong("Unexpected end-of-input"),
        Error::Syntax(at) => wrong(format!("Invalid CBOR at byte offset [{at}]")),
    }
}

fn wrong(reason: impl Into<String>) -> ApiError {
    malformed("json_parse_exception", reason)
}
