//! Texts that are not UTF-8, made so line by line.

use serde::{Deserialize, Serialize};

/// How a file's bytes are read as text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Encoding {
    /// UTF-8; what is not is replaced. A file that begins with the mark of UTF-16 is read as that.
    #[default]
    Utf8,
    /// Two bytes a unit, the lower one first.
    Utf16Le,
    /// Two bytes a unit, the higher one first.
    Utf16Be,
    /// A byte a character (ISO 8859-1).
    Latin1,
    /// One of the Encoding Standard's in which a newline is a byte that is in no other character.
    Other(&'static encoding_rs::Encoding),
}

/// Names that the Encoding Standard has not, of Filebeat and of others, and its own.
const OTHER_NAMES: [(&str, &str); 9] = [
    ("cp866", "ibm866"),
    ("iso8859-6e", "iso-8859-6-e"),
    ("iso8859-6i", "iso-8859-6-i"),
    ("iso8859-8e", "iso-8859-8-e"),
    ("iso8859-8i", "iso-8859-8-i"),
    ("koi8r", "koi8-r"),
    ("koi8u", "koi8-u"),
    ("latin-9", "iso-8859-15"),
    ("macintosh-cyrillic", "x-mac-cyrillic"),
];

impl Encoding {
    /// An encoding by its name in the Encoding Standard or in Filebeat, in capitals or not; `latin-1` is ISO 8859-1.
    pub fn named(name: &str) -> Option<Encoding> {
        let name = name.trim().to_ascii_lowercase();
        match name.as_str() {
            // What has a mark is told by it.
            "plain" | "nop" | "utf-16-bom" | "utf-16le-bom" | "utf-16be-bom" => {
                return Some(Encoding::Utf8);
            }
            "latin-1" | "latin1" | "iso-8859-1" | "iso8859-1" => return Some(Encoding::Latin1),
            _ => {}
        }
        let own = OTHER_NAMES.iter().find(|(other, _)| *other == name);
        let own = own.map_or(name.as_str(), |one| one.1);
        // `windows1250`, `cp1250`.
        let page = ["windows", "cp"]
            .iter()
            .find_map(|before| own.strip_prefix(*before))
            .filter(|page| page.bytes().all(|byte| byte.is_ascii_digit()));
        let own = page.map_or_else(|| own.to_owned(), |page| format!("windows-{page}"));
        let found = encoding_rs::Encoding::for_label_no_replacement(own.as_bytes())?;
        Some(match () {
            () if found == encoding_rs::UTF_8 => Encoding::Utf8,
            () if found == encoding_rs::UTF_16LE => Encoding::Utf16Le,
            () if found == encoding_rs::UTF_16BE => Encoding::Utf16Be,
            () => Encoding::Other(found),
        })
    }

    /// Its name.
    pub fn name(self) -> String {
        match self {
            Encoding::Utf8 => "utf-8".to_owned(),
            Encoding::Utf16Le => "utf-16le".to_owned(),
            Encoding::Utf16Be => "utf-16be".to_owned(),
            Encoding::Latin1 => "latin-1".to_owned(),
            Encoding::Other(encoding) => encoding.name().to_ascii_lowercase(),
        }
    }
}

impl TryFrom<String> for Encoding {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        Encoding::named(&name).ok_or_else(|| format!("no encoding is called [{name}]"))
    }
}

impl From<Encoding> for String {
    fn from(encoding: Encoding) -> String {
        encoding.name()
    }
}

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
            Encoding::Utf8 | Encoding::Latin1 | Encoding::Other(_) => 1,
            Encoding::Utf16Le | Encoding::Utf16Be => 2,
        }
    }

    /// Where the line that starts at `at` ends in the window, its end included. `at` has to be the start of a unit.
    pub(crate) fn line_end(self, window: &[u8], at: usize) -> Option<usize> {
        let newline = match self {
            Encoding::Utf8 | Encoding::Latin1 | Encoding::Other(_) => {
                return memchr::memchr(b'\n', &window[at..]).map(|found| at + found + 1);
            }
            Encoding::Utf16Le => [b'\n', 0],
            Encoding::Utf16Be => [0, b'\n'],
        };
        let units = window[at..].chunks_exact(2);
        let found = units.into_iter().position(|unit| unit == newline)?;
        Some(at + found * 2 + 2)
    }

    /// Appends a line as UTF-8, without its end and without a mark in front.
    pub(crate) fn append(self, line: &[u8], text: &mut Vec<u8>) {
        let before = text.len();
        match self {
            Encoding::Utf8 => text.extend_from_slice(behind_nuls(line)),
            Encoding::Latin1 => {
                for byte in behind_nuls(line) {
                    push_char(text, char::from(*byte));
                }
            }
            Encoding::Other(encoding) => {
                let (read, _) = encoding.decode_without_bom_handling(behind_nuls(line));
                text.extend_from_slice(read.as_bytes());
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
        let named = |name: &str| Encoding::named(name).expect(name);
        check(named("iso8859-15"), b"5 \xa4 \xe9\n", &["5 € é"]);
        check(
            named("windows1252"),
            b"\x935 \x80\x94 \x9f\x81\xa4\n",
            &["“5 €” Ÿ\u{81}¤"],
        );
        check(named("gbk"), b"\xc8\xd5\xd6\xbe\r\na\n", &["日志", "a"]);
        check(
            named("gb18030"),
            b"\x84\x31\x95\x33\x81\x30\x84\x36\n",
            &["¥"],
        );
        check(named("big5"), b"\xa4\xe9\xbbx\n", &["日誌"]);
        check(named("shift-jis"), b"\x83\x5c\x83\x8d\x83O\n", &["ソログ"]);
        check(named("euc-jp"), b"\xa5\xed\xa5\xb0\n", &["ログ"]);
        check(named("euc-kr"), b"\xb7\xce\xb1\xd7\n", &["로그"]);
        check(named("koi8r"), b"\xd6\xd5\xd2\xce\xc1\xcc\n", &["журнал"]);
        check(named("cp866"), b"\xa6\xe3\xe0\xad\xa0\xab\n", &["журнал"]);
        check(named("macintosh"), b"caf\x8e\n", &["café"]);
        // Half of a character.
        check(named("gbk"), b"\xc8\n", &["\u{fffd}"]);
        check(Encoding::Utf8, b"\0\0\0a\n\0\n", &["a", ""]);
        // Half of a pair.
        check(Encoding::Utf16Le, b"\x00\xd8\n\0", &["\u{fffd}"]);
        assert_eq!(Encoding::marked(&le), Some(Encoding::Utf16Le));
        assert_eq!(Encoding::marked(&be), Some(Encoding::Utf16Be));
        assert_eq!(Encoding::marked(b"\xff"), None);
    }

    #[test]
    fn encodings_have_the_names_that_others_give_them() {
        for (name, own) in [
            ("UTF-8", "utf-8"),
            ("plain", "utf-8"),
            ("utf-16", "utf-16le"),
            ("Latin1", "latin-1"),
            ("latin-9", "iso-8859-15"),
            ("cp1251", "windows-1251"),
            ("windows874", "windows-874"),
            ("iso8859-2", "iso-8859-2"),
            ("iso8859-8i", "iso-8859-8-i"),
            ("sjis", "shift_jis"),
            ("macintosh-cyrillic", "x-mac-cyrillic"),
        ] {
            let found = Encoding::named(name).expect(name);
            assert_eq!(found.name(), own);
            assert_eq!(Encoding::named(own), Some(found));
        }
        for name in ["", "utf-9", "cp437", "hz-gb-2312", "replacement"] {
            assert_eq!(Encoding::named(name), None, "{name}");
        }
        let wrong = serde_json::from_str::<Encoding>("\"utf-9\"").unwrap_err();
        assert!(wrong.to_string().contains("no encoding is called [utf-9]"));
    }
}
