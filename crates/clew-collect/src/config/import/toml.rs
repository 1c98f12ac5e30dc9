//! TOML, as configurations of shippers are written in it: tables, lists of them, texts, numbers, lists and tables in one line. Times
//! are texts here. Lines of tables are kept, for what is told of them.

use serde_json::{Map, Value};

/// Values inside each other.
const DEPTH_MAX: usize = 30;

/// What a text says.
#[derive(Debug, Default)]
pub(super) struct Toml {
    pub(super) tree: Map<String, Value>,
    /// The names of tables, with the lines that begin them.
    pub(super) lines: Vec<(String, usize)>,
}

/// A line, counted from 1, and what is wrong in it.
type Wrong = (usize, String);

/// Reads a text.
///
/// # Errors
/// The line that is not understood, and why.
pub(super) fn read(text: &str) -> Result<Toml, Wrong> {
    let mut reader = Reader { text, at: 0 };
    let mut toml = Toml::default();
    // The table that keys belong to.
    let mut path: Vec<String> = Vec::new();
    loop {
        reader.skip_lines();
        if reader.rest().is_empty() {
            return Ok(toml);
        }
        let line = reader.line();
        if reader.take("[") {
            let is_item = reader.take("[");
            path = reader.key()?;
            if !reader.take(if is_item { "]]" } else { "]" }) {
                return Err((line, "a table's name has no end".to_owned()));
            }
            toml.lines.push((path.join("."), line));
            let made = match is_item {
                true => add_item(&mut toml.tree, &path),
                false => table(&mut toml.tree, &path).is_some(),
            };
            if !made {
                return Err((line, format!("[{}] is no table", path.join("."))));
            }
        } else {
            let mut key = reader.key()?;
            reader.skip_blanks();
            if !reader.take("=") {
                return Err((line, "a key has no value".to_owned()));
            }
            let value = reader.value(0)?;
            let last = key.pop().unwrap_or_default();
            let whole = [&path[..], &key[..]].concat();
            let Some(members) = table(&mut toml.tree, &whole) else {
                return Err((line, format!("[{}] is no table", whole.join("."))));
            };
            members.insert(last, value);
        }
        reader.end_of_line()?;
    }
}

/// The table at a path, made where there is none; of a list the last one.
fn table<'m>(
    mut at: &'m mut Map<String, Value>,
    path: &[String],
) -> Option<&'m mut Map<String, Value>> {
    for key in path {
        let inner = at
            .entry(key.clone())
            .or_insert_with(|| Value::Object(Map::new()));
        at = match inner {
            Value::Object(members) => members,
            Value::Array(items) => items.last_mut()?.as_object_mut()?,
            _ => return None,
        };
    }
    Some(at)
}

/// Adds a table to the list at a path; false if something else is there.
fn add_item(tree: &mut Map<String, Value>, path: &[String]) -> bool {
    let Some((last, before)) = path.split_last() else {
        return false;
    };
    let Some(members) = table(tree, before) else {
        return false;
    };
    let list = members
        .entry(last.clone())
        .or_insert_with(|| Value::Array(Vec::new()));
    match list {
        Value::Array(items) => {
            items.push(Value::Object(Map::new()));
            true
        }
        _ => false,
    }
}

/// A text, and how far it is read.
struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn line(&self) -> usize {
        self.text[..self.at].matches('\n').count() + 1
    }

    fn wrong<T>(&self, reason: &str) -> Result<T, Wrong> {
        Err((self.line(), reason.to_owned()))
    }

    fn take(&mut self, prefix: &str) -> bool {
        let is_there = self.rest().starts_with(prefix);
        if is_there {
            self.at += prefix.len();
        }
        is_there
    }

    /// Takes the next letter.
    fn letter(&mut self) -> Option<char> {
        let letter = self.rest().chars().next()?;
        self.at += letter.len_utf8();
        Some(letter)
    }

    fn skip_blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches([' ', '\t']).len();
    }

    /// Passes over blanks, ends of lines and comments.
    fn skip_lines(&mut self) {
        loop {
            let rest = self.rest();
            self.at += rest.len() - rest.trim_start().len();
            if !self.rest().starts_with('#') {
                return;
            }
            self.skip_comment();
        }
    }

    fn skip_comment(&mut self) {
        let rest = self.rest();
        self.at += rest.find('\n').unwrap_or(rest.len());
    }

    fn end_of_line(&mut self) -> Result<(), Wrong> {
        self.skip_blanks();
        if self.rest().starts_with('#') {
            self.skip_comment();
        }
        match self.rest().chars().next() {
            None | Some('\n' | '\r') => Ok(()),
            Some(_) => self.wrong("there is more behind a value"),
        }
    }

    /// A key with its parts between dots.
    fn key(&mut self) -> Result<Vec<String>, Wrong> {
        let mut parts = Vec::new();
        loop {
            self.skip_blanks();
            let part = if self.take("\"") {
                self.basic("\"")?
            } else if self.take("'") {
                self.literal("'")?
            } else {
                let rest = self.rest();
                let end = rest.find(|letter: char| {
                    !letter.is_ascii_alphanumeric() && letter != '_' && letter != '-'
                });
                let part = &rest[..end.unwrap_or(rest.len())];
                if part.is_empty() {
                    return self.wrong("a key is missing");
                }
                self.at += part.len();
                part.to_owned()
            };
            parts.push(part);
            self.skip_blanks();
            if !self.take(".") {
                return Ok(parts);
            }
        }
    }

    fn value(&mut self, depth: usize) -> Result<Value, Wrong> {
        self.skip_blanks();
        if depth > DEPTH_MAX {
            return self.wrong("too many values are inside each other");
        }
        // Texts of several lines: an end of line that comes first is not of them.
        for (quotes, is_basic) in [("\"\"\"", true), ("'''", false)] {
            if self.take(quotes) {
                if !self.take("\r\n") {
                    self.take("\n");
                }
                return match is_basic {
                    true => self.basic(quotes),
                    false => self.literal(quotes),
                }
                .map(Value::String);
            }
        }
        if self.take("\"") {
            return self.basic("\"").map(Value::String);
        }
        if self.take("'") {
            return self.literal("'").map(Value::String);
        }
        if self.take("[") {
            return self.list(depth);
        }
        if self.take("{") {
            return self.inline_table(depth);
        }
        self.word()
    }

    /// What stands without quotes: a truth, a number, or a time, which is a text.
    fn word(&mut self) -> Result<Value, Wrong> {
        let rest = self.rest();
        let end = rest.find([',', ']', '}', '#', '\n', '\r']);
        let word = rest[..end.unwrap_or(rest.len())].trim_end();
        if word.is_empty() {
            return self.wrong("a value is missing");
        }
        self.at += word.len();
        let number = word.replace('_', "");
        Ok(match (word, number.parse::<i64>(), number.parse::<f64>()) {
            ("true", ..) => true.into(),
            ("false", ..) => false.into(),
            (_, Ok(whole), _) => whole.into(),
            (_, _, Ok(number)) => number.into(),
            _ => word.into(),
        })
    }

    fn list(&mut self, depth: usize) -> Result<Value, Wrong> {
        let mut items = Vec::new();
        loop {
            self.skip_lines();
            if self.take("]") {
                return Ok(items.into());
            }
            items.push(self.value(depth + 1)?);
            self.skip_lines();
            if !self.take(",") && !self.rest().starts_with(']') {
                return self.wrong("a list has no end");
            }
        }
    }

    fn inline_table(&mut self, depth: usize) -> Result<Value, Wrong> {
        let mut members = Map::new();
        loop {
            self.skip_lines();
            if self.take("}") {
                return Ok(members.into());
            }
            let mut key = self.key()?;
            if !self.take("=") {
                return self.wrong("a key has no value");
            }
            let value = self.value(depth + 1)?;
            let last = key.pop().unwrap_or_default();
            match table(&mut members, &key) {
                Some(inner) => inner.insert(last, value),
                None => return self.wrong("a key is in what is no table"),
            };
            self.skip_lines();
            if !self.take(",") && !self.rest().starts_with('}') {
                return self.wrong("a table has no end");
            }
        }
    }

    /// A text in single quotes, up to its end.
    fn literal(&mut self, quotes: &str) -> Result<String, Wrong> {
        let Some(end) = self.rest().find(quotes) else {
            return self.wrong("a text has no end");
        };
        let text = self.rest()[..end].to_owned();
        self.at += end + quotes.len();
        Ok(text)
    }

    /// A text in double quotes, with its escapes, up to its end.
    fn basic(&mut self, quotes: &str) -> Result<String, Wrong> {
        let mut out = String::new();
        loop {
            if self.take(quotes) {
                return Ok(out);
            }
            match self.letter() {
                None => return self.wrong("a text has no end"),
                Some('\\') => self.escape(&mut out)?,
                Some(letter) => out.push(letter),
            }
        }
    }

    fn escape(&mut self, out: &mut String) -> Result<(), Wrong> {
        let Some(letter) = self.letter() else {
            return self.wrong("a text has no end");
        };
        out.push(match letter {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'u' | 'U' => {
                let digits = if letter == 'u' { 4 } else { 8 };
                let code = self.rest().get(..digits);
                let code = code.and_then(|code| u32::from_str_radix(code, 16).ok());
                let Some(letter) = code.and_then(char::from_u32) else {
                    return self.wrong("an escape names no letter");
                };
                self.at += digits;
                letter
            }
            // A line that goes on in the next one.
            blank if blank.is_whitespace() => {
                let rest = self.rest();
                self.at += rest.len() - rest.trim_start().len();
                return Ok(());
            }
            other => other,
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tables_lists_and_texts_are_read() {
        let text = "data_dir = \"/var/lib/vector\" # here\n\
            [sources.app]\ntype = 'file'\ninclude = [\n  \"a\", # one\n  'b\\d',\n]\nread.from = 7\n\n\
            [transforms.\"p.q\"]\nsource = '''\n. = 1\n.a = \"x\"'''\nshort = \"\"\"\na \\\n  b\\u0021\"\"\"\n\
            route = { a = '.x == 1', \"b c\" = true, }\n\
            [[list.items]]\nn = 1_000\n[[list.items]]\nn = -1.5\nat = 2026-01-02T03:04:05Z\n";
        let toml = read(text).unwrap();
        assert_eq!(
            Value::Object(toml.tree),
            json!({
                "data_dir": "/var/lib/vector",
                "sources": {"app": {"type": "file", "include": ["a", "b\\d"], "read": {"from": 7}}},
                "transforms": {"p.q": {
                    "source": ". = 1\n.a = \"x\"", "short": "a b!",
                    "route": {"a": ".x == 1", "b c": true},
                }},
                "list": {"items": [{"n": 1000}, {"n": -1.5, "at": "2026-01-02T03:04:05Z"}]},
            })
        );
        assert_eq!(toml.lines[0], ("sources.app".to_owned(), 2));
    }

    #[test]
    fn what_is_none_is_told_with_its_line() {
        for (text, line, reason) in [
            ("a = 1\nb", 2, "a key has no value"),
            ("[a\n", 1, "a table's name has no end"),
            ("a = [1, 2", 1, "a list has no end"),
            ("a = 'x", 1, "a text has no end"),
            (
                "a = 1 \"b\"\nc = \"x\" y",
                2,
                "there is more behind a value",
            ),
            ("a = 1\n[a]", 2, "[a] is no table"),
            ("a = \"\\u12\"", 1, "an escape names no letter"),
        ] {
            assert_eq!(
                read(text).unwrap_err(),
                (line, reason.to_owned()),
                "{text:?}"
            );
        }
        let deep = format!("a = {}", "[".repeat(1000));
        assert!(read(&deep).is_err());
    }
}
