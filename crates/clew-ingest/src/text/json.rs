//! The members of an object of JSON: where they stand in a text, which is held to be JSON all through (RFC 8259). Nothing is
//! made of the values, and nothing allocated, whether the text is JSON or not.

use super::span::{Span, TEXT_BYTES_MAX};
use crate::json_text::next_escape;

/// Objects and lists inside each other; what is deeper servers do not take.
const DEPTH_MAX: usize = 60;

/// One member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    /// Its name, without quotes.
    pub(crate) name: Span,
    /// Whether the name has escapes.
    pub(crate) is_escaped: bool,
    /// Its value as it stands.
    pub(crate) value: Span,
}

/// Finds the members of the object that a text is; false if it is none.
pub(crate) fn members(text: &str, found: &mut Vec<Member>) -> bool {
    found.clear();
    if text.len() > TEXT_BYTES_MAX {
        return false;
    }
    let mut scanner = Scanner {
        bytes: text.as_bytes(),
        at: 0,
    };
    scanner.object(0, |member| found.push(member)).is_some() && scanner.is_done()
}

/// Whether a text is JSON.
pub(crate) fn is_json(text: &str) -> bool {
    let mut scanner = Scanner {
        bytes: text.as_bytes(),
        at: 0,
    };
    text.len() <= TEXT_BYTES_MAX && scanner.value(0).is_some() && scanner.is_done()
}

/// Whether a function holds for an item of the list that a text is, as the item is written.
pub(crate) fn any_item(text: &str, mut is_it: impl FnMut(&str) -> bool) -> bool {
    let mut scanner = Scanner {
        bytes: text.as_bytes(),
        at: 0,
    };
    let mut is_found = false;
    let each = |item: Span| is_found = is_found || is_it(item.of(text));
    text.len() <= TEXT_BYTES_MAX && scanner.list(0, each).is_some() && is_found
}

struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Scanner<'_> {
    fn is_done(&mut self) -> bool {
        self.skip_space();
        self.at == self.bytes.len()
    }

    #[inline]
    fn skip_space(&mut self) {
        while matches!(self.bytes.get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// The next byte that is no space.
    #[inline]
    fn peek(&mut self) -> Option<u8> {
        self.skip_space();
        self.bytes.get(self.at).copied()
    }

    #[inline]
    fn expect(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    fn object(&mut self, depth: usize, mut each: impl FnMut(Member)) -> Option<()> {
        self.expect(b'{')?;
        if depth >= DEPTH_MAX {
            return None;
        }
        if self.peek()? == b'}' {
            self.at += 1;
            return Some(());
        }
        loop {
            self.expect(b'"')?;
            let start = self.at;
            let is_escaped = self.string()?;
            let name = Span::new(start, self.at - 1);
            self.expect(b':')?;
            self.skip_space();
            let start = self.at;
            self.value(depth + 1)?;
            each(Member {
                name,
                is_escaped,
                value: Span::new(start, self.at),
            });
            match self.peek()? {
                b',' => self.at += 1,
                b'}' => {
                    self.at += 1;
                    return Some(());
                }
                _ => return None,
            }
        }
    }

    fn list(&mut self, depth: usize, mut each: impl FnMut(Span)) -> Option<()> {
        self.expect(b'[')?;
        if depth >= DEPTH_MAX {
            return None;
        }
        if self.peek()? == b']' {
            self.at += 1;
            return Some(());
        }
        loop {
            self.skip_space();
            let start = self.at;
            self.value(depth + 1)?;
            each(Span::new(start, self.at));
            match self.peek()? {
                b',' => self.at += 1,
                b']' => {
                    self.at += 1;
                    return Some(());
                }
                _ => return None,
            }
        }
    }

    fn value(&mut self, depth: usize) -> Option<()> {
        match self.peek()? {
            b'"' => {
                self.at += 1;
                self.string().map(drop)
            }
            b'{' => self.object(depth, |_| ()),
            b'[' => self.list(depth, |_| ()),
            b't' => self.word(b"true"),
            b'f' => self.word(b"false"),
            b'n' => self.word(b"null"),
            _ => self.number(),
        }
    }

    fn word(&mut self, word: &[u8]) -> Option<()> {
        let is_there = self.bytes[self.at..].starts_with(word);
        is_there.then(|| self.at += word.len())
    }

    /// A string whose first quote is behind; says whether it has escapes.
    fn string(&mut self) -> Option<bool> {
        let mut is_escaped = false;
        loop {
            self.at = next_escape(self.bytes, self.at);
            match self.bytes.get(self.at)? {
                b'"' => {
                    self.at += 1;
                    return Some(is_escaped);
                }
                b'\\' => {
                    is_escaped = true;
                    let length = match self.bytes.get(self.at + 1)? {
                        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => 2,
                        b'u' => {
                            let digits = self.bytes.get(self.at + 2..self.at + 6)?;
                            digits.iter().all(u8::is_ascii_hexdigit).then_some(6)?
                        }
                        _ => return None,
                    };
                    self.at += length;
                }
                // A control character.
                _ => return None,
            }
        }
    }

    fn number(&mut self) -> Option<()> {
        if self.bytes.get(self.at) == Some(&b'-') {
            self.at += 1;
        }
        match self.bytes.get(self.at)? {
            b'0' => self.at += 1,
            _ => self.digits()?,
        }
        if self.bytes.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.bytes.get(self.at), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.bytes.get(self.at), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Some(())
    }

    /// One digit or more.
    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
        }
        (self.at > start).then_some(())
    }
}

#[cfg(test)]
mod tests;
