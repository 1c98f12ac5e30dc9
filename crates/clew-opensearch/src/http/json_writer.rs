//! Writes one JSON answer into one buffer. A tree of values would copy every `_source` twice;
//! here a source's bytes are spliced in as they are.

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
        write_json(&mut self.buffer, key);
        self.buffer.push(b':');
        self.needs_comma = false;
        self
    }

    pub(crate) fn string(&mut self, text: &str) -> &mut Self {
        self.scalar(text)
    }

    pub(crate) fn unsigned(&mut self, number: u64) -> &mut Self {
        self.scalar(&number)
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

fn write_json<T: serde::Serialize + ?Sized>(buffer: &mut Vec<u8>, value: &T) {
    serde_json::to_writer(buffer, value).expect("a vector takes every byte and the keys are text");
}

#[cfg(test)]
mod tests {
    use super::*;

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
