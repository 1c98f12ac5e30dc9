//! Texts that are not UTF-8, made so line by line.

use serde::{Deserialize, Serialize};

/// How a file's bytes are read as text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Encoding {
    /// UTF-8; what is not is replaced. A file that begins with the mark of UTF-16 is read as that.
    #[default]
    #[serde(rename = "utf-8")]
    Utf8,
    /// Two bytes a unit, the lower one first.
    #[serde(rename = "utf-16le")]
    Utf16Le,
    /// Two bytes a unit, the higher one first.
    #[serde(rename = "utf-16be")]
    Utf16Be,
    /// A byte a character (ISO 8859-1).
    #[serde(rename = "latin-1", alias = "latin1", alias = "iso-8859-1")]
    Latin1,
    /// The same with the euro's sign (ISO 8859-15).
    #[serde(rename = "iso-8859-15", alias = "latin-9")]
    Latin9,
    /// The same with the letters and marks that Windows has where ISO 8859-1 has controls.
    #[serde(rename = "windows-1252", alias = "cp1252")]
    Windows1252,
}

/// What ISO 8859-15 has in the place of other characters.
const LATIN_9: [(u8, char); 8] = [
    (0xa4, '€'),
    (0xa6, 'Š'),
    (0xa8, 'š'),
    (0xb4, 'Ž'),
    (0xb8, 'ž'),
    (0xbc, 'Œ'),
    (0xbd, 'œ'),
    (0xbe, 'Ÿ'),
];

/// What Windows-1252 has from 0x80 on; where it has nothing, the control of that number.
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}',
    '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

impl Encoding {
    /// What the first bytes of a file say of the encoding.
    pub(crate) fn marked(start: &[u8]) -> Option<Encoding> {
        match start {
            [0xff, 0xfe, ..] => Some(Encoding::Utf16Le),
            [0xfe, 0xff, ..] => Some(Encoding::Utf16Be),
            _ => None,
        }
    }

    /// Bytes of one unit.
    fn unit(self) -> usize {
        match self {
            Encoding::Utf8 | Encoding::Latin1 | Encoding::Latin9 | Encoding::Windows1252 => 1,
            Encoding::Utf16Le | Encoding::Utf16Be => 2,
        }
    }

    /// Where the line that starts at `at` ends in the window, its end included. `at` has to be the start of a unit.
    pub(crate) fn line_end(self, window: &[u8], at: usize) -> Option<usize> {
        let newline = match self {
            Encoding::Utf8 | Encoding::Latin1 | Encoding::Latin9 | Encoding::Windows1252 => {
                return memchr::memchr(b'\n', &window[at..]).map(|found| at + found + 1);
            }
            Encoding::Utf16Le => [b'\n', 0],
            Encoding::Utf16Be => [0, b'\n'],
        };
        let units = window[at..].chunks_exact(2);
        let found = units.into_iter().position(|unit| unit == newline)?;
        Some(at + found * 2 + 2)
    }

    /// The character of a byte, of an encoding that has one for each.
    fn char_of(self, byte: u8) -> char {
        let other = match self {
            Encoding::Latin9 => LATIN_9.iter().find(|(of, _)| *of == byte).map(|one| one.1),
            Encoding::Windows1252 => {
                let place = usize::from(byte).checked_sub(0x80);
                place.and_then(|place| WINDOWS_1252.get(place)).copied()
            }
            _ => None,
        };
        other.unwrap_or(char::from(byte))
    }

    /// Appends a line as UTF-8, without its end and without a mark in front.
    pub(crate) fn append(self, line: &[u8], text: &mut Vec<u8>) {
        let before = text.len();
        match self {
            Encoding::Utf8 => text.extend_from_slice(behind_nuls(line)),
            Encoding::Latin1 | Encoding::Latin9 | Encoding::Windows1252 => {
                for byte in behind_nuls(line) {
                    push_char(text, self.char_of(*byte));
                }
            }
            Encoding::Utf16Le | Encoding::Utf16Be => {
                let units = line.chunks_exact(self.unit()).map(|unit| match self {
                    Encoding::Utf16Le => u16::from_le_bytes([unit[0], unit[1]]),
                    _ => u16::from_be_bytes([unit[0], unit[1]]),
                });
                for read in char::decode_utf16(units) {
                    push_char(text, read.unwrap_or(char::REPLACEMENT_CHARACTER));
                }
            }
        }
        if text[before..].starts_with("\u{feff}".as_bytes()) {
            text.drain(before..before + '\u{feff}'.len_utf8());
        }
        for end in [b'\n', b'\r'] {
            if text.len() > before && text.last() == Some(&end) {
                text.pop();
            }
        }
    }
}

/// A line's text, of a file's first line without the mark that some programs put in front of UTF-8.
pub(crate) fn unmarked(text: &[u8], offset: u64) -> &[u8] {
    const MARK: &[u8] = b"\xef\xbb\xbf";
    match offset {
        0 => text.strip_prefix(MARK).unwrap_or(text),
        _ => text,
    }
}

/// A line without the NUL bytes in front of it, which are what a file system leaves of lines that were lost with the power.
pub(super) fn behind_nuls(line: &[u8]) -> &[u8] {
    let nuls = line.iter().take_while(|byte| **byte == 0).count();
    &line[nuls..]
}

fn push_char(text: &mut Vec<u8>, letter: char) {
    let mut buffer = [0; 4];
    text.extend_from_slice(letter.encode_utf8(&mut buffer).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_every_encoding_become_utf_8() {
        let check = |encoding: Encoding, bytes: &[u8], expected: &[&str]| {
            let mut lines = Vec::new();
            let mut at = 0;
            while let Some(end) = encoding.line_end(bytes, at) {
                let mut text = Vec::new();
                encoding.append(&bytes[at..end], &mut text);
                lines.push(String::from_utf8(text).unwrap());
                at = end;
            }
            assert_eq!(lines, expected);
            assert_eq!(at, bytes.len());
        };
        // Ċ (U+010A) has the byte of a newline in it, and so has ਀ (U+0A00).
        let text = "\u{feff}aĊ\u{a00}\u{a0a}\r\n🪵\nend\n";
        let le: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let be: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        let lines = ["aĊ\u{a00}\u{a0a}", "🪵", "end"];
        check(Encoding::Utf16Le, &le, &lines);
        check(Encoding::Utf16Be, &be, &lines);
        check(Encoding::Utf8, text.as_bytes(), &lines);
        check(Encoding::Latin1, b"caf\xe9\r\n\n", &["café", ""]);
        check(Encoding::Latin9, b"5 \xa4 \xe9\n", &["5 € é"]);
        check(
            Encoding::Windows1252,
            b"\x935 \x80\x94 \x9f\x81\xa4\n",
            &["“5 €” Ÿ\u{81}¤"],
        );
        check(Encoding::Utf8, b"\0\0\0a\n\0\n", &["a", ""]);
        // Half of a pair.
        check(Encoding::Utf16Le, b"\x00\xd8\n\0", &["\u{fffd}"]);
        assert_eq!(Encoding::marked(&le), Some(Encoding::Utf16Le));
        assert_eq!(Encoding::marked(&be), Some(Encoding::Utf16Be));
        assert_eq!(Encoding::marked(b"\xff"), None);
    }
}
