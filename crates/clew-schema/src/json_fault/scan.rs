//! The walk through a text up to what is wrong with it.

use super::{JsonFault, Opened, TextPlace};

/// How deep a text is followed, which is as far as Jackson goes.
const DEPTH_MAX: usize = 1_000;
/// So much of a word is told that nothing is.
const WORD_BYTES_MAX: usize = 256;
/// What may stand for a value.
const VALUES: &str = "(JSON String, Number, Array, Object or token 'null', 'true' or 'false')";

/// What is open, and where that began.
#[derive(Clone, Copy)]
enum Open {
    Object(usize),
    Array(usize),
}

impl Open {
    fn name(self) -> &'static str {
        match self {
            Open::Object(_) => "Object",
            Open::Array(_) => "Array",
        }
    }

    fn start(self) -> usize {
        match self {
            Open::Object(start) | Open::Array(start) => start,
        }
    }
}

/// What is due next.
#[derive(Clone, Copy)]
enum Due {
    Value,
    /// The first item of an array, or its end.
    FirstItem,
    /// The first name of an object, or its end.
    FirstName,
    Name,
    /// What stands behind a value.
    Behind,
    Nothing,
}

/// Whether a string is a name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quoted {
    Name,
    Value,
}

/// Why the walk ends before the text does: what is wrong, or something that is not known here.
pub(super) type Stop = Option<JsonFault>;

/// A text and a place in it.
pub(super) struct Scan<'a> {
    text: &'a [u8],
    at: usize,
    open: Vec<Open>,
}

impl<'a> Scan<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        Scan {
            text,
            at: 0,
            open: Vec::new(),
        }
    }

    /// Walks through all of the text, or to what is wrong with it.
    pub(super) fn document(&mut self) -> Result<(), Stop> {
        let mut due = Due::Value;
        loop {
            self.skip_blanks()?;
            due = match (due, self.peek()) {
                (Due::Nothing, _) => return Ok(()),
                (Due::FirstItem, Some(b']')) | (Due::FirstName, Some(b'}')) => self.close(),
                (Due::FirstItem, Some(b'}')) => return Err(self.wrong_close('}', ']')),
                (Due::FirstName, Some(b']')) => return Err(self.wrong_close(']', '}')),
                (Due::FirstItem | Due::FirstName, None) => return Err(self.unclosed()),
                (Due::Value | Due::FirstItem, _) => self.value()?,
                (Due::FirstName | Due::Name, _) => self.name()?,
                (Due::Behind, _) => self.behind()?,
            };
        }
    }

    /// Goes over white space and comments.
    fn skip_blanks(&mut self) -> Result<(), Stop> {
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\n' | b'\r' | b'\t' => self.at += 1,
                b'/' => self.comment()?,
                0..b' ' => {
                    let what = self.described();
                    self.at += 1;
                    return Err(self.fault(format!(
                        "Illegal character ({what}): only regular white space (\\r, \\n, \\t) is allowed between tokens"
                    )));
                }
                _ => break,
            }
        }
        Ok(())
    }

    /// Goes over a comment, up to the end of its line or its mark.
    fn comment(&mut self) -> Result<(), Stop> {
        self.at += 1;
        let end: &[u8] = match self.peek() {
            Some(b'/') => b"\n",
            Some(b'*') => b"*/",
            Some(_) => {
                return Err(self.unexpected(": was expecting either '*' or '/' for a comment"));
            }
            None => return Err(self.ended(" in a comment")),
        };
        self.at += 1;
        let rest = self.text.get(self.at..).unwrap_or_default();
        match rest.windows(end.len()).position(|bytes| bytes == end) {
            Some(length) => self.at += length + end.len(),
            None => {
                self.at = self.text.len();
                if end == b"*/" {
                    return Err(self.ended(" in a comment"));
                }
            }
        }
        Ok(())
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn close(&mut self) -> Due {
        self.open.pop();
        self.at += 1;
        Due::Behind
    }

    fn value(&mut self) -> Result<Due, Stop> {
        let Some(byte) = self.peek() else {
            return Err(self.ended_within(self.open.last().copied()));
        };
        match byte {
            b'{' | b'[' => {
                if self.open.len() == DEPTH_MAX {
                    return Err(None);
                }
                let (open, due) = match byte {
                    b'{' => (Open::Object(self.at), Due::FirstName),
                    _ => (Open::Array(self.at), Due::FirstItem),
                };
                self.open.push(open);
                self.at += 1;
                return Ok(due);
            }
            b'"' => self.quoted(Quoted::Value)?,
            b'-' | b'0'..=b'9' => self.number()?,
            b'+' => return Err(self.plus_sign()),
            b']' | b'}' | b',' => return Err(self.unexpected(": expected a value")),
            _ if is_of_word(byte) => self.word("")?,
            _ => return Err(self.no_value()),
        }
        Ok(Due::Behind)
    }

    fn name(&mut self) -> Result<Due, Stop> {
        match self.peek() {
            None => return Err(self.ended_within(self.open.last().copied())),
            Some(b'"') => self.quoted(Quoted::Name)?,
            Some(_) => {
                let wanted = ": was expecting double-quote to start field name";
                return Err(self.unexpected(wanted));
            }
        }
        self.skip_blanks()?;
        match self.peek() {
            Some(b':') => {
                self.at += 1;
                self.skip_blanks()?;
                match self.peek() {
                    Some(_) => Ok(Due::Value),
                    None => Err(self.ended(" within/between Object entries")),
                }
            }
            Some(_) => {
                let wanted = ": was expecting a colon to separate field name and value";
                Err(self.unexpected(wanted))
            }
            None => Err(self.ended(" within/between Object entries")),
        }
    }

    fn behind(&mut self) -> Result<Due, Stop> {
        let (Some(open), byte) = (self.open.last().copied(), self.peek()) else {
            // Another text may follow the first.
            return match self.peek() {
                None => Ok(Due::Nothing),
                Some(b'}') => Err(self.wrong_close('}', ']')),
                Some(b']') => Err(self.wrong_close(']', '}')),
                Some(_) => self.value(),
            };
        };
        match (open, byte) {
            (_, None) => Err(self.unclosed()),
            (Open::Object(_), Some(b'}')) | (Open::Array(_), Some(b']')) => Ok(self.close()),
            (Open::Object(_), Some(b']')) => Err(self.wrong_close(']', '}')),
            (Open::Array(_), Some(b'}')) => Err(self.wrong_close('}', ']')),
            (_, Some(b',')) => {
                self.at += 1;
                Ok(match open {
                    Open::Object(_) => Due::Name,
                    Open::Array(_) => Due::Value,
                })
            }
            (_, Some(_)) => {
                let wanted = format!(": was expecting comma to separate {} entries", open.name());
                Err(self.unexpected(&wanted))
            }
        }
    }

    fn quoted(&mut self, kind: Quoted) -> Result<(), Stop> {
        let (behind, inside) = match kind {
            Quoted::Name => (" in field name", "name"),
            Quoted::Value => (" in VALUE_STRING", "string value"),
        };
        self.at += 1;
        loop {
            match self.peek() {
                None => return Err(self.ended(behind)),
                Some(b'"') => break,
                Some(b'\\') => {
                    self.at += 1;
                    self.escape()?;
                }
                Some(byte) if byte < b' ' => {
                    let what = self.described();
                    return Err(self.fault(format!(
                        "Illegal unquoted character ({what}): has to be escaped using backslash to \
                         be included in {inside}"
                    )));
                }
                Some(_) => self.at += 1,
            }
        }
        self.at += 1;
        Ok(())
    }

    /// What stands behind a backslash.
    fn escape(&mut self) -> Result<(), Stop> {
        match self.peek() {
            None => return Err(self.ended(" in character escape sequence")),
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {}
            Some(b'u') => {
                for _ in 0..4 {
                    self.at += 1;
                    match self.peek() {
                        None => return Err(self.ended(" in character escape sequence")),
                        Some(digit) if digit.is_ascii_hexdigit() => {}
                        Some(_) => {
                            let wanted = ": expected a hex-digit for character escape sequence";
                            return Err(self.unexpected(wanted));
                        }
                    }
                }
            }
            Some(_) => {
                let what = self.described();
                return Err(self.fault(format!("Unrecognized character escape {what}")));
            }
        }
        self.at += 1;
        Ok(())
    }

    fn number(&mut self) -> Result<(), Stop> {
        let is_negative = self.peek() == Some(b'-');
        if is_negative {
            self.at += 1;
            match self.peek() {
                Some(b'I') => return self.word("-"),
                Some(b'.') => return Err(self.no_value()),
                _ => {}
            }
        }
        if self.peek() == Some(b'0') && self.text.get(self.at + 1).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
            let reason = "Invalid numeric value: Leading zeroes not allowed";
            return Err(self.fault(reason.to_string()));
        }
        self.digits(if is_negative {
            " in numeric value: expected digit (0-9) to follow minus sign, for valid numeric value"
        } else {
            ""
        })?;
        self.fraction()
    }

    /// What may follow the whole part of a number.
    fn fraction(&mut self) -> Result<(), Stop> {
        if self.peek() == Some(b'.') {
            let wanted = " in numeric value: Decimal point not followed by a digit";
            if self.at + 1 == self.text.len() {
                return Err(self.unexpected(wanted));
            }
            self.at += 1;
            self.digits(wanted)?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits(" in numeric value: Exponent indicator not followed by a digit")?;
        }
        Ok(())
    }

    /// Goes over digits, of which there must be one.
    fn digits(&mut self, wanted: &str) -> Result<(), Stop> {
        match self.peek() {
            Some(byte) if byte.is_ascii_digit() => {}
            Some(_) => return Err(self.unexpected(wanted)),
            None => {
                // What was read before the number is told.
                return Err(match self.open.last() {
                    Some(Open::Object(_)) => self.ended(" in FIELD_NAME"),
                    _ => None,
                });
            }
        }
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        Ok(())
    }

    /// A number with a sign that it cannot have.
    fn plus_sign(&mut self) -> Stop {
        self.at += 1;
        if self.peek() == Some(b'I') {
            return self.word("+").err().flatten();
        }
        self.fault(
            "Unexpected character ('+' (code 43)) in numeric value: JSON spec does not allow numbers to have plus signs: \
             enable `JsonReadFeature.ALLOW_LEADING_PLUS_SIGN_FOR_NUMBERS` to allow"
                .to_string(),
        )
    }

    /// `true`, `false` or `null`; any other word is told whole, with the place behind it and the sign before it.
    fn word(&mut self, sign: &str) -> Result<(), Stop> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let length = rest.iter().take_while(|byte| is_of_word(**byte)).count();
        let word = rest.get(..length).unwrap_or_default();
        self.at += length;
        let is_no_number = match word {
            b"true" | b"false" | b"null" if sign.is_empty() => return Ok(()),
            b"NaN" => sign.is_empty(),
            b"INF" => !sign.is_empty(),
            _ => word == b"Infinity",
        };
        if is_no_number {
            let word = String::from_utf8_lossy(word);
            return Err(self.fault(format!(
                "Non-standard token '{sign}{word}': enable `JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS` to allow"
            )));
        }
        let told = word.get(..WORD_BYTES_MAX).unwrap_or(word);
        let more = if told.len() < length { "..." } else { "" };
        let told = String::from_utf8_lossy(told);
        let reason = format!("Unrecognized token '{sign}{told}{more}': was expecting {VALUES}");
        // The reader has seen what ends the word, too.
        if self.at < self.text.len() {
            self.at += 1;
        }
        Err(self.fault(reason))
    }

    /// A character that no value begins with.
    fn no_value(&self) -> Stop {
        self.unexpected(&format!(": expected a valid value {VALUES}"))
    }

    /// A character that cannot stand here.
    fn unexpected(&self, wanted: &str) -> Stop {
        self.fault(format!(
            "Unexpected character ({}){wanted}",
            self.described()
        ))
    }

    /// A bracket that closes what is not open.
    fn wrong_close(&self, found: char, wanted: char) -> Stop {
        let (name, opened) = match self.open.last() {
            Some(open) => (open.name(), self.opened(*open)),
            None => ("root", Opened::Root),
        };
        let told = format!(
            "Unexpected close marker '{found}': expected '{wanted}' (for {name} starting at "
        );
        Some(JsonFault {
            opened: Some((opened, ")")),
            ..self.fault(told)?
        })
    }

    /// The end of the text where something is open.
    fn unclosed(&self) -> Stop {
        let open = self.open.last()?;
        let wanted = format!(
            ": expected close marker for {} (start marker at ",
            open.name()
        );
        Some(JsonFault {
            opened: Some((self.opened(*open), ")")),
            ..self.ended(&wanted)?
        })
    }

    fn opened(&self, open: Open) -> Opened {
        Opened::At(TextPlace::of(self.text, open.start()))
    }

    /// The end of the text behind a comma.
    fn ended_within(&self, open: Option<Open>) -> Stop {
        let name = open.map_or("root", Open::name);
        self.fault(format!(
            "Unexpected end-of-input within/between {name} entries"
        ))
    }

    fn ended(&self, wanted: &str) -> Stop {
        Some(JsonFault {
            is_end: true,
            ..self.fault(format!("Unexpected end-of-input{wanted}"))?
        })
    }

    fn fault(&self, reason: String) -> Stop {
        Some(JsonFault {
            is_end: false,
            place: TextPlace::of(self.text, self.at),
            reason,
            opened: None,
        })
    }

    /// The character at the place, and its number.
    fn described(&self) -> String {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let known = rest.get(..4).unwrap_or(rest);
        let letter = match std::str::from_utf8(known) {
            Ok(text) => text.chars().next(),
            Err(error) => {
                let valid = known.get(..error.valid_up_to()).unwrap_or_default();
                std::str::from_utf8(valid)
                    .ok()
                    .and_then(|text| text.chars().next())
            }
        };
        let letter = letter.unwrap_or(char::REPLACEMENT_CHARACTER);
        let code = u32::from(letter);
        match code {
            0..=31 | 127..=159 => format!("(CTRL-CHAR, code {code})"),
            32..=255 => format!("'{letter}' (code {code})"),
            _ => format!("'{letter}' (code {code} / 0x{code:x})"),
        }
    }
}

/// Whether a byte is one of a word; letters beyond ASCII are, with all of their bytes.
fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || byte >= 0x80
}
