//! Writes one JSON answer into one buffer. A tree of values would copy every `_source` twice;
//! here a source's bytes are spliced in as they are.

use std::io;

use serde::Serialize as _;
use serde_json::Value;

/// A growing JSON text. The caller keeps begin and end in pairs; commas are put by the writer.
pub(crate) struct JsonWriter {
    buffer: Vec<u8>,
    needs_comma: bool,
}

/// Where a field says `false` for now.
pub(crate) struct NotYet(std::ops::Range<usize>);

impl JsonWriter {
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        JsonWriter {
            buffer: Vec::with_capacity(bytes),
            needs_comma: false,
        }
    }

    /// Bytes that are written.
    pub(crate) fn len(&self) -> usize {
        self.buffer.len()
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.buffer
    }

    pub(crate) fn begin_object(&mut self) -> &mut Self {
        self.open(b'{')
    }

    pub(crate) fn end_object(&mut self) -> &mut Self {
        self.close(b'}')
    }

    pub(crate) fn begin_array(&mut self) -> &mut Self {
        self.open(b'[')
    }

    pub(crate) fn end_array(&mut self) -> &mut Self {
        self.close(b']')
    }

    pub(crate) fn key(&mut self, key: &str) -> &mut Self {
        self.separate();
        write_text(&mut self.buffer, key);
        self.buffer.push(b':');
        self.needs_comma = false;
        self
    }

    pub(crate) fn string(&mut self, text: &str) -> &mut Self {
        self.separate();
        write_text(&mut self.buffer, text);
        self.needs_comma = true;
        self
    }

    pub(crate) fn unsigned(&mut self, number: u64) -> &mut Self {
        match u8::try_from(number) {
            Ok(digit @ 0..=9) => self.raw(&[b'0' + digit]),
            _ => self.scalar(&number),
        }
    }

    /// A score or another 32-bit number, with as few digits as give it back exactly.
    pub(crate) fn float(&mut self, number: f32) -> &mut Self {
        self.scalar(&number)
    }

    pub(crate) fn boolean(&mut self, value: bool) -> &mut Self {
        self.scalar(&value)
    }

    pub(crate) fn null(&mut self) -> &mut Self {
        self.raw(b"null")
    }

    pub(crate) fn value(&mut self, value: &Value) -> &mut Self {
        self.scalar(value)
    }

    /// The same of a value that may be long, as long as somebody wants it, which is asked for once in a while; whether it
    /// was written to its end. What was not is no JSON.
    pub(crate) fn value_while(&mut self, value: &Value, wanted: &dyn Fn() -> bool) -> bool {
        self.separate();
        let out = WhileWanted {
            buffer: &mut self.buffer,
            pieces: 0,
            wanted,
        };
        self.needs_comma = true;
        serde_json::to_writer(out, value).is_ok()
    }

    /// Splices bytes that are one JSON value already.
    pub(crate) fn raw(&mut self, json: &[u8]) -> &mut Self {
        self.separate();
        self.buffer.extend_from_slice(json);
        self.needs_comma = true;
        self
    }

    pub(crate) fn string_field(&mut self, key: &str, text: &str) -> &mut Self {
        self.key(key).string(text)
    }

    pub(crate) fn unsigned_field(&mut self, key: &str, number: u64) -> &mut Self {
        self.key(key).unsigned(number)
    }

    pub(crate) fn boolean_field(&mut self, key: &str, value: bool) -> &mut Self {
        self.key(key).boolean(value)
    }

    /// Writes a field that says `false` until something turns out to be so; where it says that.
    pub(crate) fn unless_so(&mut self, key: &str) -> NotYet {
        self.key(key).boolean(false);
        let end = self.buffer.len();
        NotYet(end - b"false".len()..end)
    }

    /// Has the field say `true`. All that was written behind it is moved.
    pub(crate) fn is_so(&mut self, field: NotYet) {
        self.buffer.splice(field.0, *b"true");
    }

    fn scalar<T: serde::Serialize + ?Sized>(&mut self, value: &T) -> &mut Self {
        self.separate();
        write_json(&mut self.buffer, value);
        self.needs_comma = true;
        self
    }

    fn open(&mut self, bracket: u8) -> &mut Self {
        self.separate();
        self.buffer.push(bracket);
        self.needs_comma = false;
        self
    }

    fn close(&mut self, bracket: u8) -> &mut Self {
        self.buffer.push(bracket);
        self.needs_comma = true;
        self
    }

    fn separate(&mut self) {
        if self.needs_comma {
            self.buffer.push(b',');
        }
    }
}

/// A value's JSON, as [`JsonWriter::value_while`] writes it; `None` once nobody wants it.
pub(crate) fn json_while(value: &Value, wanted: &dyn Fn() -> bool) -> Option<Vec<u8>> {
    let mut json = JsonWriter::with_capacity(0);
    let is_whole = json.value_while(value, wanted);
    is_whole.then(|| json.into_bytes())
}

/// The same for people, on many lines.
pub(crate) fn pretty_while(value: &Value, wanted: &dyn Fn() -> bool) -> Option<Vec<u8>> {
    let mut buffer = Vec::new();
    let out = WhileWanted {
        buffer: &mut buffer,
        pieces: 0,
        wanted,
    };
    let written = value.serialize(&mut serde_json::Serializer::pretty(out));
    written.is_ok().then_some(buffer)
}

/// Pieces of JSON that are written between two looks at whether anybody wants it: names, numbers, commas.
const PIECES: usize = 4096;

/// A buffer that takes no more once nobody wants what is written into it.
struct WhileWanted<'a> {
    buffer: &'a mut Vec<u8>,
    pieces: usize,
    wanted: &'a dyn Fn() -> bool,
}

impl io::Write for WhileWanted<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.pieces += 1;
        if self.pieces.is_multiple_of(PIECES) && !(self.wanted)() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.buffer.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes a text; one that stands for itself, as names do, in one piece.
fn write_text(buffer: &mut Vec<u8>, text: &str) {
    // All of them: without a branch for each there is one for many.
    let escaped = |any, byte| any | (byte < b' ') | (byte == b'"') | (byte == b'\\');
    if text.bytes().fold(false, escaped) {
        write_json(buffer, text);
    } else {
        buffer.reserve(text.len() + 3);
        buffer.push(b'"');
        buffer.extend_from_slice(text.as_bytes());
        buffer.push(b'"');
    }
}

fn write_json<T: serde::Serialize + ?Sized>(buffer: &mut Vec<u8>, value: &T) {
    serde_json::to_writer(buffer, value).expect("a vector takes every byte and the keys are text");
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use serde_json::json;

    use super::*;

    #[test]
    fn a_long_value_is_written_only_as_long_as_somebody_wants_it() {
        let long = json!({"a": (0..100_000).collect::<Vec<u32>>(), "b": {}});
        let mut whole = JsonWriter::with_capacity(0);
        whole.begin_array();
        assert!(whole.value_while(&long, &|| true));
        whole.null().end_array();
        assert_eq!(
            whole.into_bytes(),
            json!([long, null]).to_string().into_bytes()
        );
        let asked = Cell::new(0);
        let wanted = || {
            asked.set(asked.get() + 1);
            asked.get() < 3
        };
        let mut part = JsonWriter::with_capacity(0);
        assert!(!part.value_while(&long, &wanted));
        assert_eq!(asked.get(), 3);
        assert!(part.len() < 100_000);
    }

    #[test]
    fn texts_and_numbers_are_written_as_by_the_library() {
        let texts = [
            "",
            "plain",
            "é \u{7f} /",
            "a\"b",
            "\\",
            "tab\t",
            "\u{1}",
            "end\n",
        ];
        for text in texts {
            let mut json = JsonWriter::with_capacity(0);
            json.string(text);
            assert_eq!(json.into_bytes(), json!(text).to_string().into_bytes());
        }
        for number in [0, 1, 9, 10, 255, 256, u64::MAX] {
            let mut json = JsonWriter::with_capacity(0);
            json.unsigned(number);
            assert_eq!(json.into_bytes(), number.to_string().into_bytes());
        }
    }

    #[test]
    fn commas_stand_between_values_only() {
        let mut json = JsonWriter::with_capacity(64);
        json.begin_object()
            .string_field("a\"", "x")
            .key("b")
            .begin_array();
        json.unsigned(1)
            .raw(b"{\"c\":2}")
            .begin_object()
            .end_object()
            .null();
        json.end_array()
            .key("d")
            .float(0.1)
            .boolean_field("e", true)
            .end_object();
        assert_eq!(
            String::from_utf8(json.into_bytes()).unwrap(),
            r#"{"a\"":"x","b":[1,{"c":2},{},null],"d":0.1,"e":true}"#
        );
    }
}
