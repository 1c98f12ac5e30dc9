//! Files of JSON, cut into the objects that they list.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::{ROW_BYTES_MAX, folder, unread, wrong};
use crate::error::Result;

const BUFFER_BYTES: usize = 64 << 10;
/// What some programs put in front of a text.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// The member that rows are in where a file is one object.
const ROWS: &str = "rows";

/// A file, byte by byte.
pub(super) struct Bytes {
    file: File,
    buffer: Vec<u8>,
    at: usize,
    /// Bytes that were given.
    pub(super) given: u64,
}

impl Bytes {
    pub(super) fn open(path: &Path) -> Result<Self> {
        let file = folder::open(path)?;
        let mut bytes = Bytes {
            file,
            buffer: Vec::new(),
            at: 0,
            given: 0,
        };
        bytes.fill()?;
        if bytes.buffer.starts_with(BYTE_ORDER_MARK) {
            bytes.at = BYTE_ORDER_MARK.len();
        }
        Ok(bytes)
    }

    fn fill(&mut self) -> Result<()> {
        self.buffer.resize(BUFFER_BYTES, 0);
        let read = self.file.read(&mut self.buffer);
        let read = read.map_err(|error| unread(&error))?;
        self.buffer.truncate(read);
        self.at = 0;
        Ok(())
    }

    /// The next byte, which stays the next one.
    pub(super) fn peek(&mut self) -> Result<Option<u8>> {
        if self.at >= self.buffer.len() {
            self.fill()?;
        }
        Ok(self.buffer.get(self.at).copied())
    }

    /// The next byte.
    pub(super) fn next(&mut self) -> Result<Option<u8>> {
        let byte = self.peek()?;
        if byte.is_some() {
            self.at += 1;
            self.given += 1;
        }
        Ok(byte)
    }

    /// The next byte that is no white space.
    fn next_sign(&mut self) -> Result<Option<u8>> {
        let from = self.given;
        loop {
            match self.next()? {
                Some(b' ' | b'\t' | b'\r' | b'\n') => self.check_gap(from)?,
                byte => return Ok(byte),
            }
        }
    }

    /// Refuses so much white space that a row could be in it: reading it would take as long as that of a file.
    pub(super) fn check_gap(&self, from: u64) -> Result<()> {
        match self.given - from > ROW_BYTES_MAX as u64 {
            false => Ok(()),
            true => Err(wrong(format!(
                "more than {ROW_BYTES_MAX} bytes of white space lie between rows"
            ))),
        }
    }
}

/// Puts a byte to a row.
///
/// # Errors
/// When the row becomes too long.
pub(super) fn push(row: &mut Vec<u8>, byte: u8) -> Result<()> {
    if row.len() >= ROW_BYTES_MAX {
        return Err(wrong(format!("a row has more than {ROW_BYTES_MAX} bytes")));
    }
    row.push(byte);
    Ok(())
}

/// Where in a file of one list the reader is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Start,
    /// Behind the bracket of the list.
    First,
    /// Behind a row.
    Next,
    End,
}

/// A list of objects.
pub(super) struct List {
    bytes: Bytes,
    place: Place,
    is_wrapped: bool,
}

impl List {
    pub(super) fn open(path: &Path) -> Result<Self> {
        Ok(List {
            bytes: Bytes::open(path)?,
            place: Place::Start,
            is_wrapped: false,
        })
    }

    pub(super) fn given(&self) -> u64 {
        self.bytes.given
    }

    /// The text of the next row.
    ///
    /// # Errors
    /// When the file is no list of objects.
    pub(super) fn cut(&mut self) -> Result<Option<Vec<u8>>> {
        if self.place == Place::Start {
            self.begin()?;
        }
        if self.place == Place::End {
            return Ok(None);
        }
        let sign = match (self.bytes.next_sign()?, self.place) {
            (Some(b','), Place::Next) => self.bytes.next_sign()?,
            (Some(b']'), _) => return self.end().map(|()| None),
            (sign, Place::First) => sign,
            (Some(_), _) => return Err(wrong("invalid JSON format, rows are parted by ','")),
            (None, _) => None,
        };
        self.place = Place::Next;
        match sign {
            Some(b'{') => self.object().map(Some),
            Some(other) => Err(wrong(format!(
                "invalid JSON format, each row should be a key-value map, but one begins with '{}'",
                char::from(other)
            ))),
            None => Err(wrong("invalid JSON format, rows list should end with ']'")),
        }
    }

    fn begin(&mut self) -> Result<()> {
        let mut sign = self.bytes.next_sign()?;
        if sign == Some(b'{') {
            self.is_wrapped = true;
            self.key()?;
            sign = self.bytes.next_sign()?;
            if sign != Some(b'[') {
                return Err(wrong(
                    "invalid JSON format, rows list should begin with '['",
                ));
            }
        }
        if sign != Some(b'[') {
            return Err(wrong(
                "invalid JSON format, the content should be started with '{' or '['",
            ));
        }
        self.place = Place::First;
        Ok(())
    }

    /// Reads the name of the one member, and the colon behind it.
    fn key(&mut self) -> Result<()> {
        const KEY_BYTES_MAX: usize = 100;
        let mut key = Vec::new();
        let mut is_open = self.bytes.next_sign()? == Some(b'"');
        while is_open && key.len() < KEY_BYTES_MAX {
            match self.bytes.next()? {
                Some(b'"') | None => is_open = false,
                Some(byte) => key.push(byte),
            }
        }
        let key = String::from_utf8_lossy(&key);
        if !key.eq_ignore_ascii_case(ROWS) || self.bytes.next_sign()? != Some(b':') {
            return Err(wrong(format!(
                "invalid JSON format, the root key should be '{ROWS}', but get '{key}'"
            )));
        }
        Ok(())
    }

    /// Reads what is behind the list: nothing that counts.
    fn end(&mut self) -> Result<()> {
        self.place = Place::End;
        if self.is_wrapped && self.bytes.next_sign()? != Some(b'}') {
            return Err(wrong(
                "invalid JSON format, nothing may follow the rows list",
            ));
        }
        match self.bytes.next_sign()? {
            None => Ok(()),
            Some(_) => Err(wrong(
                "invalid JSON format, nothing may follow the rows list",
            )),
        }
    }

    /// The object whose brace was read.
    fn object(&mut self) -> Result<Vec<u8>> {
        let mut row = vec![b'{'];
        let (mut depth, mut in_text, mut is_escaped) = (1_usize, false, false);
        while depth > 0 {
            let Some(byte) = self.bytes.next()? else {
                return Err(wrong("invalid JSON format, the last row does not end"));
            };
            push(&mut row, byte)?;
            if in_text {
                in_text = is_escaped || byte != b'"';
                is_escaped = !is_escaped && byte == b'\\';
                continue;
            }
            match byte {
                b'"' => in_text = true,
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                _ => {}
            }
        }
        Ok(row)
    }
}

/// An object in each line.
pub(super) struct Lines {
    bytes: Bytes,
}

impl Lines {
    pub(super) fn open(path: &Path) -> Result<Self> {
        let bytes = Bytes::open(path)?;
        Ok(Lines { bytes })
    }

    pub(super) fn given(&self) -> u64 {
        self.bytes.given
    }

    /// The next line that has something.
    pub(super) fn cut(&mut self) -> Result<Option<Vec<u8>>> {
        let mut row: Vec<u8> = Vec::new();
        let from = self.bytes.given;
        loop {
            let byte = self.bytes.next()?;
            match byte {
                Some(b'\n') | None if row.iter().any(|byte| !byte.is_ascii_whitespace()) => {
                    return Ok(Some(row));
                }
                Some(b'\n') => {
                    row.clear();
                    self.bytes.check_gap(from)?;
                }
                None => return Ok(None),
                Some(byte) => push(&mut row, byte)?,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows of a file with this text.
    fn cut(name: &str, text: &str) -> Result<Vec<String>> {
        let file = format!("clew-json-{}-{name}", std::process::id());
        let path = std::env::temp_dir().join(file);
        std::fs::write(&path, text).unwrap();
        let mut rows = Vec::new();
        let mut read = || -> Result<()> {
            let mut list = List::open(&path)?;
            while let Some(row) = list.cut()? {
                rows.push(String::from_utf8(row).unwrap());
            }
            assert_eq!(list.cut()?, None);
            Ok(())
        };
        let outcome = read();
        std::fs::remove_file(&path).unwrap();
        outcome.map(|()| rows)
    }

    #[test]
    fn lists_are_cut_into_their_objects() {
        let long = format!("[{}]", vec!["{\"a\": [1, {}]}"; 20_000].join(",\n"));
        assert_eq!(cut("long", &long).unwrap().len(), 20_000);
        for (text, rows) in [
            ("[]", &[][..]),
            ("\u{feff} [ {} ]\n", &["{}"]),
            (
                "{\"Rows\": [{\"a\": \"}]\\\"\"}, {\"b\": {\"c\": [1]}}]}",
                &["{\"a\": \"}]\\\"\"}", "{\"b\": {\"c\": [1]}}"],
            ),
        ] {
            assert_eq!(cut("good", text).unwrap(), rows);
        }
        for (text, said) in [
            ("", "should be started with"),
            ("7", "should be started with"),
            ("{\"id\": 1}", "the root key should be 'rows', but get 'id'"),
            ("{\"rows\": {}}", "rows list should begin with '['"),
            ("[{}", "rows list should end with ']'"),
            ("[{},", "rows list should end with ']'"),
            ("[{\"a\": 1", "the last row does not end"),
            ("[{} {}]", "rows are parted by ','"),
            ("[{}, 1]", "one begins with '1'"),
            ("[{}] x", "nothing may follow"),
            ("{\"rows\": [], \"more\": 1}", "nothing may follow"),
        ] {
            let error = cut("bad", text).unwrap_err().to_string();
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}
