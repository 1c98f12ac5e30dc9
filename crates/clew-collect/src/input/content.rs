//! Telling text from everything else that lies in a log folder, by the first bytes.

use super::SkipReason;
use crate::frame::Encoding;

/// First bytes that name a format for certain. Gzip and Zstandard are not here: they are read.
const FORMATS: [(&[u8], &str); 7] = [
    (b"\xfd7zXZ\0", "compressed with xz"),
    (b"BZh", "compressed with bzip2"),
    (b"\x04\x22\x4d\x18", "compressed with lz4"),
    (b"PK\x03\x04", "a zip archive"),
    (b"LPKSHHRH", "a systemd journal"),
    (b"\x7fELF", "a program"),
    (b"SQLite format 3\0", "a database"),
];

/// Why a file that starts like this is not read as text; `None` when it is.
pub(crate) fn refuse(start: &[u8], encoding: Encoding) -> Option<SkipReason> {
    if let Some((_, name)) = FORMATS.iter().find(|(magic, _)| start.starts_with(magic)) {
        return Some(SkipReason::Binary(name));
    }
    // Every byte is part of some text in these.
    if encoding != Encoding::Utf8 {
        return None;
    }
    if memchr::memchr(0, start).is_some() && !begins_lines_only(start) {
        return Some(SkipReason::Binary("it holds NUL bytes"));
    }
    let strange = strange_bytes(start);
    // Latin-1 text has a few bytes that are not UTF-8; more than one in eight is no language.
    (strange * 8 > start.len()).then_some(SkipReason::Binary("most of it is not UTF-8"))
}

/// Whether NUL bytes stand at the beginning of lines and nowhere else: what is left of lines that were lost with the power. There
/// has to be something beside them.
fn begins_lines_only(start: &[u8]) -> bool {
    let mut before = b'\n';
    let begin_lines = start.iter().all(|byte| {
        let fits = *byte != 0 || matches!(before, 0 | b'\n');
        before = *byte;
        fits
    });
    begin_lines && start.iter().any(|byte| *byte != 0)
}

/// Bytes that are not UTF-8, or control characters that no log uses.
fn strange_bytes(start: &[u8]) -> usize {
    let control =
        |byte: &u8| *byte < 0x20 && !matches!(byte, 0 | b'\t' | b'\n' | b'\r' | 0x1b | 0x0c);
    let controls = start.iter().filter(|byte| control(byte)).count();
    let mut broken = 0;
    let mut passed = 0;
    for chunk in start.utf8_chunks() {
        passed += chunk.valid().len() + chunk.invalid().len();
        // The sample may have cut its last character.
        if passed < start.len() {
            broken += chunk.invalid().len();
        }
    }
    controls + broken
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_in_any_language_passes_and_binaries_do_not() {
        for text in [
            "".as_bytes(),
            "plain\r\n\tok \x1b[31mred\x1b[0m".as_bytes(),
            "журнал 日志 🪵".as_bytes(),
            b"caf\xe9 au lait, s'il vous pla\xeet",
            // Lines that were lost with the power.
            b"\0\0\0\0\0\0one\ntwo\n\0\0\n\0\0\0\0\0\0\0\0\0\0three",
            // A character cut by the end of the sample.
            &"a journal of 日".as_bytes()[..15],
        ] {
            assert_eq!(refuse(text, Encoding::Utf8), None, "{text:?}");
        }
        assert_eq!(
            refuse(b"\xfd7zXZ\0\0", Encoding::Latin1),
            Some(SkipReason::Binary("compressed with xz"))
        );
        assert_eq!(
            refuse(b"LPKSHHRH\0", Encoding::Utf8),
            Some(SkipReason::Binary("a systemd journal"))
        );
        assert!(refuse(&[0; 100], Encoding::Utf8).is_some());
        assert!(matches!(
            refuse(b"text\0text", Encoding::Utf8),
            Some(SkipReason::Binary(_))
        ));
        assert!(matches!(
            refuse(b"\x80\x91\xfe\x01\x02abc", Encoding::Utf8),
            Some(SkipReason::Binary(_))
        ));
    }
}
