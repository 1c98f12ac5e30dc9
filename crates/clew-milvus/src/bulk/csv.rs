//! Files of values between separators, as RFC 4180 has them: a line of names, and a row in each line below it.

use std::path::Path;

use serde_json::{Map, Value};

use super::cell::cell;
use super::json::{Bytes, push};
use super::wrong;
use crate::collection::Collection;
use crate::error::Result;

/// What parts values, and what stands for none.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Style {
    separator: u8,
    null: String,
}

impl Style {
    /// Reads the options of an import.
    ///
    /// # Errors
    /// When the separator is not one character that can be one.
    pub(crate) fn read(separator: Option<&str>, null: Option<&str>) -> Result<Style> {
        let separator = match separator.unwrap_or(",").as_bytes() {
            [one] if one.is_ascii() && !matches!(*one, 0 | b'\n' | b'\r' | b'"') => *one,
            _ => {
                return Err(wrong(format!(
                    "unsupported csv separator: {}",
                    separator.unwrap_or_default()
                )));
            }
        };
        Ok(Style {
            separator,
            null: null.unwrap_or_default().to_string(),
        })
    }
}

/// A file of values between separators.
pub(super) struct Table {
    bytes: Bytes,
    style: Style,
    names: Vec<String>,
}

impl Table {
    pub(super) fn open(path: &Path, style: Style) -> Result<Self> {
        let mut table = Table {
            bytes: Bytes::open(path)?,
            style,
            names: Vec::new(),
        };
        let head = table.cut()?;
        let head = head.ok_or_else(|| wrong("the file has no line of names"))?;
        table.names = table.split(&head)?;
        for (at, name) in table.names.iter().enumerate() {
            if table.names.iter().take(at).any(|other| other == name) {
                return Err(wrong(format!("duplicate key found, key={name}")));
            }
        }
        Ok(table)
    }

    pub(super) fn given(&self) -> u64 {
        self.bytes.given
    }

    /// The text of the next row, which may have several lines; empty ones are passed over.
    pub(super) fn cut(&mut self) -> Result<Option<Vec<u8>>> {
        let mut row = Vec::new();
        let mut in_quotes = false;
        let from = self.bytes.given;
        loop {
            let byte = self.bytes.next()?;
            match byte {
                None | Some(b'\n') if !in_quotes => {
                    if row.last() == Some(&b'\r') {
                        row.pop();
                    }
                    if !row.is_empty() {
                        return Ok(Some(row));
                    }
                    if byte.is_none() {
                        return Ok(None);
                    }
                    self.bytes.check_gap(from)?;
                }
                None => return Err(wrong("a quoted value does not end")),
                Some(byte) => {
                    in_quotes ^= byte == b'"';
                    push(&mut row, byte)?;
                }
            }
        }
    }

    /// The values of a row.
    fn split(&self, row: &[u8]) -> Result<Vec<String>> {
        let mut values = Vec::new();
        let mut value = Vec::new();
        let mut bytes = row.iter().copied().peekable();
        loop {
            let is_quoted = bytes.next_if_eq(&b'"').is_some();
            let mut is_ended = false;
            loop {
                match bytes.next() {
                    Some(b'"') if is_quoted && !is_ended => {
                        // Two stand for one.
                        match bytes.next_if_eq(&b'"') {
                            Some(quote) => value.push(quote),
                            None => is_ended = true,
                        }
                    }
                    Some(byte) if byte == self.style.separator && (is_ended || !is_quoted) => {
                        break;
                    }
                    None => {
                        values.push(text(value)?);
                        return Ok(values);
                    }
                    Some(_) if is_ended => {
                        return Err(wrong("something stands behind a quoted value"));
                    }
                    Some(b'"') if !is_quoted => {
                        return Err(wrong("a quote stands in a value that is not quoted"));
                    }
                    Some(byte) => value.push(byte),
                }
            }
            values.push(text(std::mem::take(&mut value))?);
        }
    }

    /// A row as an object.
    pub(super) fn read(&self, row: &[u8], collection: &Collection) -> Result<Map<String, Value>> {
        let values = self.split(row)?;
        if values.len() != self.names.len() {
            return Err(wrong(format!(
                "the number of fields in the row is not equal to the header: {} is not {}",
                values.len(),
                self.names.len()
            )));
        }
        let mut object = Map::new();
        for (name, value) in self.names.iter().zip(values) {
            let value = cell(collection, (name, value), &self.style.null)?;
            object.insert(name.clone(), value);
        }
        Ok(object)
    }
}

fn text(bytes: Vec<u8>) -> Result<String> {
    String::from_utf8(bytes).map_err(|_| wrong("a value is no UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(name: &str, text: &str) -> Result<Vec<Vec<String>>> {
        let file = format!("clew-csv-{}-{name}", std::process::id());
        let path = std::env::temp_dir().join(file);
        std::fs::write(&path, text).unwrap();
        let read = || -> Result<Vec<Vec<String>>> {
            let mut table = Table::open(&path, Style::read(None, None)?)?;
            let mut rows = vec![table.names.clone()];
            while let Some(row) = table.cut()? {
                rows.push(table.split(&row)?);
            }
            Ok(rows)
        };
        let outcome = read();
        std::fs::remove_file(&path).unwrap();
        outcome
    }

    #[test]
    fn lines_are_cut_into_values() {
        let read = rows(
            "good",
            "id,text,v\r\n1,plain,\"[1,2]\"\r\n\r\n2,\"a \"\"b\"\",\nc\",\n3,,\"\"\r",
        );
        let want: Vec<Vec<&str>> = vec![
            vec!["id", "text", "v"],
            vec!["1", "plain", "[1,2]"],
            vec!["2", "a \"b\",\nc", ""],
            vec!["3", "", ""],
        ];
        assert_eq!(read.unwrap(), want);
        for (text, said) in [
            ("", "no line of names"),
            ("a,b,a\n1,2,3", "duplicate key found, key=a"),
            ("a\n\"1", "does not end"),
            ("a\n\"1\"2", "behind a quoted value"),
            ("a\n1\"2\"", "not quoted"),
        ] {
            let error = rows("bad", text).unwrap_err().to_string();
            assert!(error.contains(said), "{text:?}: {error}");
        }
        for separator in ["", ";;", "\"", "\n", "ä"] {
            assert_eq!(Style::read(Some(separator), None).unwrap_err().code(), 2100);
        }
        assert_eq!(Style::read(Some("\t"), Some("NULL")).unwrap().null, "NULL");
    }
}
