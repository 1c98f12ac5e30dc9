//! A reader that walks JSON text in place: it hands out slices and positions, so that vectors can be
//! read straight from their digits and cut out of the source, and nothing else is ever copied.

use std::borrow::Cow;

use crate::json_fault::TextPlace;

/// Where and why text is no JSON, or none that is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct JsonError {
    pub(super) offset: usize,
    pub(super) reason: String,
    /// Whether the text is no JSON.
    pub(super) is_syntax: bool,
    /// The field whose text it is, and the field's type.
    pub(super) value_of: Option<Box<(String, &'static str)>>,
}

/// Arrays and objects inside each other that are read.
pub(super) const NESTING_MAX: usize = 100;

/// Room that a text with escapes gets at first.
const ESCAPED_BYTES: usize = 512;

/// What stands at the reader's place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JsonKind {
    Object,
    Array,
    Text,
    Number,
    Bool,
    Null,
}

impl JsonKind {
    /// What readers of JSON call the beginning of such a value.
    pub(super) fn token(self) -> &'static str {
        match self {
            JsonKind::Object => "START_OBJECT",
            JsonKind::Array => "START_ARRAY",
            JsonKind::Text => "VALUE_STRING",
            JsonKind::Number => "VALUE_NUMBER",
            JsonKind::Bool => "VALUE_BOOLEAN",
            JsonKind::Null => "VALUE_NULL",
        }
    }
}

/// A name of an object, with the byte it starts at and the one behind it.
pub(super) struct Member<'a> {
    pub(super) name: Cow<'a, str>,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// JSON text and a place in it.
pub(super) struct JsonReader<'a> {
    text: &'a str,
    pub(super) at: usize,
    /// Where the digits of escapes are that name half a character.
    pub(super) half_characters: Vec<usize>,
}

type Result<T> = std::result::Result<T, JsonError>;

impl<'a> JsonReader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Result<Self> {
        let text = std::str::from_utf8(bytes).map_err(|error| JsonError {
            offset: error.valid_up_to(),
            reason: "Invalid UTF-8".to_string(),
            is_syntax: false,
            value_of: None,
        })?;
        Ok(JsonReader {
            text,
            at: 0,
            half_characters: Vec::new(),
        })
    }

    /// The text between two places that this reader was at.
    pub(super) fn text(&self, start: usize, end: usize) -> &'a str {
        self.text.get(start..end).unwrap_or_default()
    }

    pub(super) fn bytes(&self) -> &'a [u8] {
        self.text.as_bytes()
    }

    /// Refuses what is JSON all the same.
    pub(super) fn fail<T>(&self, reason: impl Into<String>) -> Result<T> {
        self.fail_at(self.at, reason)
    }

    /// The same, of another place.
    pub(super) fn fail_at<T>(&self, offset: usize, reason: impl Into<String>) -> Result<T> {
        Err(JsonError {
            offset,
            reason: reason.into(),
            is_syntax: false,
            value_of: None,
        })
    }

    /// Refuses what is no JSON.
    pub(super) fn broken<T>(&self, reason: impl Into<String>) -> Result<T> {
        self.fail(reason).map_err(|error| JsonError {
            is_syntax: true,
            ..error
        })
    }

    /// Where a byte of the text is.
    pub(super) fn place(&self, at: usize) -> TextPlace {
        TextPlace::of(self.bytes(), at)
    }

    /// Where the first token of the next value ends, of which [`kind`](Self::kind) has told that it is no number.
    pub(super) fn place_behind(&self, kind: JsonKind) -> TextPlace {
        let length = match kind {
            JsonKind::Null => "null".len(),
            JsonKind::Bool if self.byte() == Some(b'f') => "false".len(),
            JsonKind::Bool => "true".len(),
            JsonKind::Object | JsonKind::Array | JsonKind::Text | JsonKind::Number => 1,
        };
        self.place(self.at + length)
    }

    fn unexpected<T>(&self, wanted: &str) -> Result<T> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        match rest.chars().next() {
            Some(found) => self.broken(format!(
                "Unexpected character ('{}' (code {})): expected {wanted}",
                found.escape_default(),
                u32::from(found)
            )),
            None => self.broken(format!("Unexpected end-of-input: expected {wanted}")),
        }
    }

    pub(super) fn byte(&self) -> Option<u8> {
        self.bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.byte() {
            self.at += 1;
        }
    }

    /// What the next value is, without reading it.
    pub(super) fn kind(&mut self) -> Result<JsonKind> {
        self.skip_space();
        match self.byte() {
            Some(b'{') => Ok(JsonKind::Object),
            Some(b'[') => Ok(JsonKind::Array),
            Some(b'"') => Ok(JsonKind::Text),
            Some(b'-' | b'0'..=b'9') => Ok(JsonKind::Number),
            Some(b't' | b'f') => Ok(JsonKind::Bool),
            Some(b'n') => Ok(JsonKind::Null),
            _ => self.unexpected("a valid value"),
        }
    }

    /// Whether an object begins here, behind white space.
    pub(super) fn is_at_object(&mut self) -> bool {
        self.skip_space();
        self.byte() == Some(b'{')
    }

    /// Reads `{` or `[`, which [`kind`](Self::kind) has seen.
    pub(super) fn open(&mut self) {
        self.at += 1;
    }

    /// The next name of an object with its colon, or its end.
    pub(super) fn member(&mut self, is_first: bool) -> Result<Option<Member<'a>>> {
        self.skip_space();
        if self.byte() == Some(b'}') {
            self.at += 1;
            return Ok(None);
        }
        if !is_first {
            if self.byte() != Some(b',') {
                return self.unexpected("comma to separate Object entries");
            }
            self.at += 1;
            self.skip_space();
        }
        if self.byte() != Some(b'"') {
            return self.unexpected("double-quote to start field name");
        }
        let start = self.at;
        let name = self.string()?;
        let end = self.at;
        self.skip_space();
        if self.byte() != Some(b':') {
            return self.unexpected("a colon to separate field name and value");
        }
        self.at += 1;
        Ok(Some(Member { name, start, end }))
    }

    /// Whether an array has another element, before which the reader then stands.
    pub(super) fn element(&mut self, is_first: bool) -> Result<bool> {
        self.skip_space();
        if self.byte() == Some(b']') {
            self.at += 1;
            return Ok(false);
        }
        if !is_first {
            if self.byte() != Some(b',') {
                return self.unexpected("comma to separate Array entries");
            }
            self.at += 1;
        }
        Ok(true)
    }

    /// Reads text in quotes, which [`kind`](Self::kind) has seen.
    pub(super) fn string(&mut self) -> Result<Cow<'a, str>> {
        let start = self.at + 1;
        self.at = start;
        match self.skip_plain()? {
            b'"' => {
                let text = self.text(start, self.at);
                self.at += 1;
                Ok(Cow::Borrowed(text))
            }
            _ => self.escaped_string(start).map(Cow::Owned),
        }
    }

    /// Goes to the next quote or backslash of a text.
    fn skip_plain(&mut self) -> Result<u8> {
        let rest = &self.bytes()[self.at.min(self.text.len())..];
        let stops = |b: &u8| matches!(b, b'"' | b'\\' | 0..=0x1f);
        match rest.iter().position(stops) {
            Some(length) => {
                self.at += length;
                match rest[length] {
                    byte @ (b'"' | b'\\') => Ok(byte),
                    control => self.broken(format!(
                        "Illegal unquoted character ((CTRL-CHAR, code {control})): has to be escaped using backslash to be included in string value"
                    )),
                }
            }
            None => {
                self.at = self.text.len();
                self.broken("Unexpected end-of-input in string value")
            }
        }
    }

    fn escaped_string(&mut self, start: usize) -> Result<String> {
        let plain = self.text(start, self.at);
        let mut out = String::with_capacity(ESCAPED_BYTES.max(2 * plain.len()));
        out.push_str(plain);
        loop {
            let plain = self.at;
            let stop = self.skip_plain()?;
            out.push_str(self.text(plain, self.at));
            self.at += 1;
            if stop == b'"' {
                return Ok(out);
            }
            out.push(self.escape()?);
        }
    }

    /// The character behind a backslash.
    fn escape(&mut self) -> Result<char> {
        let byte = self.byte();
        self.at += 1;
        Ok(match byte {
            Some(b'n') => '\n',
            Some(b't') => '\t',
            Some(b'r') => '\r',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'u') => return self.unicode_escape(),
            _ => {
                self.at -= 1;
                return self.unexpected("an escape sequence");
            }
        })
    }

    /// Four hexadecimal digits, or two times four for a pair. Half a pair, as cut-off text has
    /// them, is read as a replacement sign and remembered: other readers refuse it.
    fn unicode_escape(&mut self) -> Result<char> {
        let start = self.at;
        let first = self.four_digits()?;
        if (0xd800..0xdc00).contains(&first) && self.bytes()[self.at..].starts_with(b"\\u") {
            let back = self.at;
            self.at += 2;
            let second = self.four_digits()?;
            if (0xdc00..0xe000).contains(&second) {
                let pair = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                return Ok(char::from_u32(pair).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            self.at = back;
        }
        Ok(char::from_u32(first).unwrap_or_else(|| {
            self.half_characters.push(start);
            char::REPLACEMENT_CHARACTER
        }))
    }

    fn four_digits(&mut self) -> Result<u32> {
        let digits = self.text.get(self.at..self.at + 4).unwrap_or_default();
        if digits.len() != 4 || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            return self.broken("Unexpected character: expected 4 hexadecimal digits");
        }
        self.at += 4;
        Ok(u32::from_str_radix(digits, 16).unwrap_or(0xfffd))
    }

    /// Reads a number, as it is written. One beyond every float is refused here already, because
    /// whoever reads the stored source later would stumble over it.
    pub(super) fn number(&mut self) -> Result<&'a str> {
        let start = self.at;
        let mut has_exponent = false;
        if self.byte() == Some(b'-') {
            self.at += 1;
        }
        match self.byte() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.skip_digits(),
            _ => return self.unexpected("a digit"),
        }
        if self.byte() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.byte() {
            has_exponent = true;
            self.at += 1;
            if let Some(b'+' | b'-') = self.byte() {
                self.at += 1;
            }
            self.digits()?;
        }
        if self
            .byte()
            .is_some_and(|b| b.is_ascii_alphanumeric() || b == b'.')
        {
            return self.unexpected("the end of a number");
        }
        let text = self.text(start, self.at);
        // Below that length digits alone cannot reach the limit.
        let is_large = has_exponent || text.len() > 300;
        if is_large && !fast_float2::parse::<f64, _>(text).is_ok_and(f64::is_finite) {
            self.at = start;
            return self.fail("Numeric value out of range");
        }
        Ok(text)
    }

    fn skip_digits(&mut self) {
        while self.byte().is_some_and(|b| b.is_ascii_digit()) {
            self.at += 1;
        }
    }

    fn digits(&mut self) -> Result<()> {
        let start = self.at;
        self.skip_digits();
        if self.at == start {
            return self.unexpected("a digit");
        }
        Ok(())
    }

    /// Reads `true` or `false`.
    pub(super) fn boolean(&mut self) -> Result<bool> {
        if self.byte() == Some(b't') {
            self.word("true")?;
            Ok(true)
        } else {
            self.word("false")?;
            Ok(false)
        }
    }

    /// Reads `null`.
    pub(super) fn null(&mut self) -> Result<()> {
        self.word("null")
    }

    fn word(&mut self, word: &str) -> Result<()> {
        if !self.bytes()[self.at..].starts_with(word.as_bytes()) {
            return self.broken(format!("Unrecognized token: was expecting '{word}'"));
        }
        self.at += word.len();
        Ok(())
    }

    /// Reads over a value of any kind, checking its form.
    pub(super) fn skip_value(&mut self) -> Result<()> {
        // Whether each open bracket is an object's, and whether it has had an entry.
        let mut open: Vec<(JsonKind, bool)> = Vec::new();
        loop {
            let kind = self.kind()?;
            match kind {
                JsonKind::Object | JsonKind::Array => {
                    if open.len() >= NESTING_MAX {
                        return self.fail(too_deep());
                    }
                    self.open();
                    open.push((kind, true));
                }
                JsonKind::Text => drop(self.string()?),
                JsonKind::Number => drop(self.number()?),
                JsonKind::Bool => drop(self.boolean()?),
                JsonKind::Null => self.null()?,
            }
            loop {
                let Some((kind, is_first)) = open.last_mut() else {
                    return Ok(());
                };
                let first = std::mem::replace(is_first, false);
                let more = if *kind == JsonKind::Object {
                    self.member(first)?.is_some()
                } else {
                    self.element(first)?
                };
                if more {
                    break;
                }
                open.pop();
            }
        }
    }

    /// What else stands behind the document: white space, or the beginning of another value.
    pub(super) fn behind(&mut self) -> Result<Option<JsonKind>> {
        self.skip_space();
        if self.at >= self.text.len() {
            return Ok(None);
        }
        let kind = self.kind()?;
        match kind {
            JsonKind::Number => drop(self.number()?),
            JsonKind::Bool => drop(self.boolean()?),
            JsonKind::Null => self.null()?,
            JsonKind::Object | JsonKind::Array | JsonKind::Text => {}
        }
        Ok(Some(kind))
    }
}

/// The reason for refusing what is nested too deeply.
pub(super) fn too_deep() -> String {
    format!("Document nesting depth exceeds the maximum allowed ({NESTING_MAX})")
}
