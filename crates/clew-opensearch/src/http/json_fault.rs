//! What is wrong with a text that is no JSON, in the words of the reader that OpenSearch has for it (Jackson's), with its
//! places. It is looked for only where reading has failed, and costs a walk through the text. What that reader takes and
//! ours does not (comments, say) is not told here.

use axum::http::StatusCode;

use super::error::{ApiError, Cause};
use super::place::line_and_column;

/// How deep a text is followed, which is as far as Jackson goes.
const DEPTH_MAX: usize = 1_000;
/// So much of a word is told that nothing is.
const WORD_BYTES_MAX: usize = 256;
/// What may stand for a value.
const VALUES: &str = "(JSON String, Number, Array, Object or token 'null', 'true' or 'false')";

/// What is wrong, as the type and the reason of an error.
#[derive(Debug, PartialEq, Eq)]
struct JsonFault {
    kind: &'static str,
    reason: String,
}

/// The first thing that is wrong with a text; `None` where nothing is that is known here.
fn json_fault(text: &[u8]) -> Option<JsonFault> {
    let mut scan = Scan {
        text,
        at: 0,
        open: Vec::new(),
    };
    scan.document().err().flatten()
}

/// A place as Jackson writes it, which does not say in which text.
fn source_place(line: usize, column: usize) -> String {
    format!(
        "[Source: REDACTED (`StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION` disabled); line: {line}, \
         column: {column}]"
    )
}

/// Where the reader of JSON itself says that it is, when it has read up to a character: behind it.
pub(crate) fn behind_token(line: usize, column: usize) -> String {
    format!("\n at {}", source_place(line, column + 1))
}

impl ApiError {
    /// JSON that cannot be read.
    pub(crate) fn malformed_json(error: &serde_json::Error) -> Self {
        let cause = Cause::new("json_parse_exception", error.to_string());
        Self::new(StatusCode::BAD_REQUEST, cause)
    }

    /// The same of a text, in the words that OpenSearch has for what is wrong with it.
    pub(crate) fn malformed_text(text: &[u8], error: &serde_json::Error) -> Self {
        let told = error.to_string();
        let cause = if told.starts_with("Duplicate field ") {
            let field = told.rsplit_once(" at line ").map_or("", |(field, _)| field);
            let behind = behind_token(error.line(), error.column());
            Cause::new("json_parse_exception", format!("{field}{behind}"))
        } else if let Some(fault) = json_fault(text) {
            Cause::new(fault.kind, fault.reason)
        } else {
            return Self::malformed_json(error);
        };
        Self::new(StatusCode::BAD_REQUEST, cause)
    }
}

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
type Stop = Option<JsonFault>;

struct Scan<'a> {
    text: &'a [u8],
    at: usize,
    open: Vec<Open>,
}

impl Scan<'_> {
    fn document(&mut self) -> Result<(), Stop> {
        let mut due = Due::Value;
        loop {
            self.skip_blanks();
            due = match (due, self.peek()) {
                (Due::Nothing, _) => return Ok(()),
                (Due::FirstItem, Some(b']')) | (Due::FirstName, Some(b'}')) => self.close(),
                (Due::FirstItem | Due::FirstName, None) => return Err(self.unclosed()),
                (Due::Value | Due::FirstItem, _) => self.value()?,
                (Due::FirstName | Due::Name, _) => self.name()?,
                (Due::Behind, _) => self.behind()?,
            };
        }
    }

    fn skip_blanks(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
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
            b']' | b'}' | b',' => return Err(self.unexpected(": expected a value")),
            // A comment, which Jackson passes over.
            b'/' => return Err(None),
            _ if is_of_word(byte) => self.word()?,
            _ => return Err(self.unexpected(&format!(": expected a valid value {VALUES}"))),
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
        self.skip_blanks();
        match self.peek() {
            Some(b':') => {
                self.at += 1;
                self.skip_blanks();
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
            (_, Some(b'/')) => Err(None),
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
            Quoted::Name => (": was expecting closing '\"' for name", "name"),
            Quoted::Value => (
                ": was expecting closing quote for a string value",
                "string value",
            ),
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
        if self.peek() == Some(b'-') {
            self.at += 1;
            self.digits(
                " in numeric value: expected digit (0-9) to follow minus sign, for valid numeric \
                 value",
            )?;
            return self.fraction();
        }
        if self.peek() == Some(b'0') && self.text.get(self.at + 1).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
            let reason = "Invalid numeric value: Leading zeroes not allowed";
            return Err(self.fault(reason.to_string()));
        }
        self.digits("")?;
        self.fraction()
    }

    /// What may follow the whole part of a number.
    fn fraction(&mut self) -> Result<(), Stop> {
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits(" in numeric value: Decimal point not followed by a digit")?;
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
            None => return Err(None),
        }
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        Ok(())
    }

    /// `true`, `false` or `null`; any other word is told whole, with the place behind it.
    fn word(&mut self) -> Result<(), Stop> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let length = rest.iter().take_while(|byte| is_of_word(**byte)).count();
        let word = &rest[..length];
        self.at += length;
        if matches!(word, b"true" | b"false" | b"null") {
            return Ok(());
        }
        let told = &word[..length.min(WORD_BYTES_MAX)];
        let more = if told.len() < length { "..." } else { "" };
        let told = String::from_utf8_lossy(told);
        let reason = format!("Unrecognized token '{told}{more}': was expecting {VALUES}");
        // The reader has seen what ends the word, too.
        if self.at < self.text.len() {
            self.at += 1;
        }
        Err(self.fault(reason))
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
        let place = match self.open.last() {
            Some(open) => {
                let place = self.place_of(open.start());
                format!("{} starting at {place}", open.name())
            }
            // Jackson tells of the root no more than its line.
            None => "root starting at [Source: REDACTED \
                     (`StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION` disabled); line: 1]"
                .to_string(),
        };
        self.fault(format!(
            "Unexpected close marker '{found}': expected '{wanted}' (for {place})"
        ))
    }

    /// The end of the text where something is open.
    fn unclosed(&self) -> Stop {
        let open = self.open.last()?;
        let (name, place) = (open.name(), self.place_of(open.start()));
        self.ended(&format!(
            ": expected close marker for {name} (start marker at {place})"
        ))
    }

    /// The end of the text behind a comma.
    fn ended_within(&self, open: Option<Open>) -> Stop {
        let name = open.map_or("root", Open::name);
        self.fault(format!(
            "Unexpected end-of-input within/between {name} entries"
        ))
    }

    fn ended(&self, wanted: &str) -> Stop {
        let fault = self.fault(format!("Unexpected end-of-input{wanted}"))?;
        Some(JsonFault {
            kind: "json_e_o_f_exception",
            ..fault
        })
    }

    fn fault(&self, reason: String) -> Stop {
        Some(JsonFault {
            kind: "json_parse_exception",
            reason: format!("{reason}\n at {}", self.place_of(self.at)),
        })
    }

    fn place_of(&self, at: usize) -> String {
        let (line, column) = line_and_column(self.text, at);
        source_place(line, column)
    }

    /// The character at the place, and its number.
    fn described(&self) -> String {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let known = &rest[..rest.len().min(4)];
        let letter = match std::str::from_utf8(known) {
            Ok(text) => text.chars().next(),
            Err(error) => std::str::from_utf8(&known[..error.valid_up_to()])
                .ok()
                .and_then(|text| text.chars().next()),
        };
        let letter = letter.unwrap_or(char::REPLACEMENT_CHARACTER);
        let code = u32::from(letter);
        match code {
            0..=31 => format!("CTRL-CHAR, code {code}"),
            32..=255 => format!("'{letter}' (code {code})"),
            _ => format!("'{letter}' (code {code} / 0x{code:x})"),
        }
    }
}

/// Whether a byte is one of a word; letters beyond ASCII are, with all of their bytes.
fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || byte >= 0x80
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Holds type, reason and column against those that OpenSearch 2.19 answers.
    fn check(text: &str, (kind, reason, column): (&str, &str, usize)) {
        let fault = json_fault(text.as_bytes()).expect(text);
        let told = format!("{reason}\n at {}", source_place(1, column));
        assert_eq!((fault.kind, fault.reason), (kind, told), "{text}");
    }

    #[test]
    fn faults_are_told_as_opensearch_tells_them() {
        let token = |word: &str| format!("Unrecognized token '{word}': was expecting {VALUES}");
        let parse = "json_parse_exception";
        for (text, reason, column) in [
            ("x", token("x").as_str(), 2),
            (r#"{"query":{"match_all":{}}} x"#, token("x").as_str(), 29),
            (r#"{"query": nul}"#, token("nul").as_str(), 15),
            (
                r#"{"query":{"match_all":{}},}"#,
                "Unexpected character ('}' (code 125)): was expecting double-quote to start field \
                 name",
                27,
            ),
            (
                r#"{"query" {"match_all":{}}}"#,
                "Unexpected character ('{' (code 123)): was expecting a colon to separate field \
                 name and value",
                10,
            ),
            (
                "{'query':1}",
                "Unexpected character (''' (code 39)): was expecting double-quote to start field \
                 name",
                2,
            ),
            (
                r#"{"a":01}"#,
                "Invalid numeric value: Leading zeroes not allowed",
                7,
            ),
            (
                r#"{"query":{"match":{"t":"\x"}}}"#,
                "Unrecognized character escape 'x' (code 120)",
                26,
            ),
        ] {
            check(text, (parse, reason, column));
        }
        let end = "json_e_o_f_exception";
        let start = source_place(1, 1);
        let unclosed = format!(
            "Unexpected end-of-input: expected close marker for Object (start marker at {start})"
        );
        check("{", (end, &unclosed, 2));
        check(r#"{"query":{"match_all":{}}"#, (end, &unclosed, 26));
        let within = "Unexpected end-of-input within/between Object entries";
        check(r#"{"index":"#, (end, within, 10));
    }

    #[test]
    fn what_is_json_and_what_nests_too_deeply_have_no_fault_here() {
        let deep = "[".repeat(100_000);
        for text in [
            "",
            "{}",
            r#" {"a": [1, -2.5e+3, "é\n\u00e9", true, false, null, {}], "b": []} "#,
            "{} {}",
            "/* a comment */ {}",
            deep.as_str(),
        ] {
            // Of nothing at all whoever reads tells.
            if !text.is_empty() {
                assert_eq!(json_fault(text.as_bytes()), None, "{text:.40}");
            }
        }
    }

    #[test]
    fn every_beginning_of_a_text_has_a_fault_or_none_and_never_a_panic() {
        let text = r#"{"a": [1, -2.5e+3, "é\u00e9", true], "b": {"c": null}}"#.as_bytes();
        for end in 1..text.len() {
            json_fault(&text[..end]);
            let mut broken = text.to_vec();
            broken[end] = b'\xff';
            json_fault(&broken);
        }
    }
}
