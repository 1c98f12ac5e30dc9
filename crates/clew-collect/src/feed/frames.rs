//! Lines out of a stream of bytes, as RFC 6587 has them: separated by newlines, or, as it has seen of some senders, by NULs (Python's
//! handler is one), or each with its length in front, which a message that begins with a digit has.

use super::PARCEL_BYTES;

/// Whole lines behind each other, and where each of them ends and whether it was cut.
pub(super) type WholeLines = (Vec<u8>, Vec<(usize, bool)>);

/// How a stream says where a message ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Separation {
    /// By newlines only.
    Newlines,
    /// By a length in front, or else by a newline or a NUL.
    Counted,
}

impl Separation {
    /// Where a message ends that has no length in front.
    fn end(self, bytes: &[u8]) -> Option<usize> {
        match self {
            Separation::Newlines => memchr::memchr(b'\n', bytes),
            Separation::Counted => memchr::memchr2(b'\n', 0, bytes),
        }
    }
}

/// A stream of bytes on its way to lines.
#[derive(Debug)]
pub(super) struct LineFrames {
    separation: Separation,
    bytes_max: usize,
    /// Bytes that are not a whole line yet.
    left: Vec<u8>,
    /// What is still to come of a line that was cut, and is passed over.
    passing: Passing,
    text: Vec<u8>,
    ends: Vec<(usize, bool)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Passing {
    Nothing,
    Bytes(usize),
    ToNewline,
}

/// Digits of a length at most: a longer number is no length.
const LENGTH_DIGITS_MAX: usize = 9;

impl LineFrames {
    pub(super) fn new(separation: Separation, bytes_max: usize) -> Self {
        LineFrames {
            separation,
            bytes_max,
            left: Vec::new(),
            passing: Passing::Nothing,
            text: Vec::new(),
            ends: Vec::new(),
        }
    }

    /// Takes bytes of the stream.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let mut left = std::mem::take(&mut self.left);
        left.extend_from_slice(bytes);
        let mut at = 0;
        while at < left.len() {
            let passed = self.step(&left[at..]);
            if passed == 0 {
                break;
            }
            at += passed;
        }
        left.drain(..at);
        self.left = left;
    }

    /// A message that is whole, such as a datagram.
    pub(super) fn push_whole(&mut self, message: &[u8]) {
        let blank = |byte: &u8| matches!(byte, b'\n' | b'\r' | 0);
        let end = message.iter().rposition(|byte| !blank(byte));
        if let Some(end) = end {
            self.add(&message[..=end], false);
        }
    }

    /// Nothing more will come: what is left is a line.
    pub(super) fn finish(&mut self) {
        let left = std::mem::take(&mut self.left);
        if self.passing == Passing::Nothing {
            self.push_whole(&left);
        }
    }

    /// Whether enough has come to be handed over.
    pub(super) fn is_full(&self) -> bool {
        self.text.len() >= PARCEL_BYTES
    }

    /// The whole lines so far, if there are some.
    pub(super) fn take(&mut self) -> Option<WholeLines> {
        if self.ends.is_empty() {
            return None;
        }
        Some((
            std::mem::take(&mut self.text),
            std::mem::take(&mut self.ends),
        ))
    }

    /// Takes a line, or a part of one that is passed over; returns how many bytes that were.
    fn step(&mut self, bytes: &[u8]) -> usize {
        match self.passing {
            Passing::Bytes(count) => {
                let passed = count.min(bytes.len());
                self.passing = match count - passed {
                    0 => Passing::Nothing,
                    more => Passing::Bytes(more),
                };
                return passed;
            }
            Passing::ToNewline => {
                let found = self.separation.end(bytes);
                if found.is_some() {
                    self.passing = Passing::Nothing;
                }
                return found.map_or(bytes.len(), |at| at + 1);
            }
            Passing::Nothing => {}
        }
        // Between messages with lengths some senders write newlines, too.
        if matches!(bytes[0], b'\n' | b'\r' | 0) {
            return 1;
        }
        if self.separation == Separation::Counted
            && let Some((digits, length)) = counted(bytes)
        {
            return self.step_counted(bytes, digits, length);
        }
        match self.separation.end(bytes) {
            Some(end) => {
                let line = bytes[..end].strip_suffix(b"\r").unwrap_or(&bytes[..end]);
                self.add(line, false);
                end + 1
            }
            None if bytes.len() > self.bytes_max => {
                self.add(bytes, true);
                self.passing = Passing::ToNewline;
                bytes.len()
            }
            None => 0,
        }
    }

    /// A message behind its length, or behind the digits that may become one.
    fn step_counted(&mut self, bytes: &[u8], digits: usize, length: Option<usize>) -> usize {
        let Some(length) = length else {
            return 0;
        };
        let message = &bytes[digits..];
        if message.len() >= length {
            self.push_whole(&message[..length]);
            return digits + length;
        }
        if message.len() > self.bytes_max {
            self.add(message, true);
            self.passing = Passing::Bytes(length - message.len());
            return bytes.len();
        }
        0
    }

    fn add(&mut self, line: &[u8], cut: bool) {
        let kept = &line[..line.len().min(self.bytes_max)];
        self.text.extend_from_slice(kept);
        let cut = cut || kept.len() < line.len();
        self.ends.push((self.text.len(), cut));
    }
}

/// The bytes that a length takes with its blank, and the length, if it is all there; `None` if the message has none.
fn counted(bytes: &[u8]) -> Option<(usize, Option<usize>)> {
    let digits = bytes
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    if digits == 0 || digits > LENGTH_DIGITS_MAX || bytes[0] == b'0' {
        return None;
    }
    match bytes.get(digits) {
        None => Some((digits, None)),
        Some(b' ') => {
            let length = std::str::from_utf8(&bytes[..digits]).ok()?.parse().ok()?;
            Some((digits + 1, Some(length)))
        }
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(frames: &mut LineFrames) -> Vec<String> {
        let (text, ends) = frames.take().unwrap_or_default();
        let mut start = 0;
        let line = |&(end, cut): &(usize, bool)| {
            let line = String::from_utf8(text[start..end].to_vec()).unwrap();
            start = end;
            line + if cut { "+" } else { "" }
        };
        ends.iter().map(line).collect()
    }

    #[test]
    fn every_cut_of_a_stream_gives_the_same_lines() {
        let check = |separation, stream: &str, expected: &[&str]| {
            for step in 1..=stream.len() {
                let mut frames = LineFrames::new(separation, 20);
                let mut found = Vec::new();
                for part in stream.as_bytes().chunks(step) {
                    frames.push(part);
                    found.extend(lines(&mut frames));
                }
                frames.finish();
                found.extend(lines(&mut frames));
                assert_eq!(found, expected, "{stream:?} by {step}");
            }
        };
        let newlines = Separation::Newlines;
        check(
            newlines,
            "one\ntwo\r\n\n3 x\nend",
            &["one", "two", "3 x", "end"],
        );
        check(newlines, "", &[]);
        check(
            newlines,
            &("x".repeat(50) + "\ny\n"),
            &[&("x".repeat(20) + "+"), "y"],
        );
        let counted = Separation::Counted;
        check(
            counted,
            "5 <1>ab6 <1>a\nb<2>x\n3 <1>",
            &["<1>ab", "<1>a\nb", "<2>x", "<1>"],
        );
        check(counted, "3 abc\n4 abcd\n", &["abc", "abcd"]);
        check(counted, "<1>a\0<2>b\n\0<3>c", &["<1>a", "<2>b", "<3>c"]);
        check(newlines, "a\0b\n", &["a\0b"]);
        check(
            counted,
            &("x".repeat(50) + "\0y\0"),
            &[&("x".repeat(20) + "+"), "y"],
        );
        // Digits that are no length.
        check(
            counted,
            "2026-01-02 a\n007 b\n12345678901 c\n",
            &["2026-01-02 a", "007 b", "12345678901 c"],
        );
        let long = format!("50 {}2 ok", "x".repeat(50));
        check(counted, &long, &[&("x".repeat(20) + "+"), "ok"]);
        check(counted, "99 broken off", &["99 broken off"]);
        // A length that nobody could send is no reason to keep bytes.
        check(
            counted,
            &("999999999 ".to_owned() + &"x".repeat(90)),
            &[&("x".repeat(20) + "+")],
        );
    }
}
