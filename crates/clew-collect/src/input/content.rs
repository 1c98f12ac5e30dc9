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

/// Where an archive of files, which may be texts, says that it is one.
const TAR_AT: usize = 257;
const TAR: &[u8] = b"ustar";

/// Why a file that starts like this is not read as text; `None` when it is.
pub(crate) fn refuse(start: &[u8], encoding: Encoding) -> Option<SkipReason> {
    if let Some((_, name)) = FORMATS.iter().find(|(magic, _)| start.starts_with(magic)) {
        return Some(SkipReason::Binary(name));
    }
    // Every byte is part of some text in these.
    if encoding != Encoding::Utf8 {
        return None;
    }
    if start.get(TAR_AT..).is_some_and(|at| at.starts_with(TAR)) {
        return Some(SkipReason::Binary("a tar archive"));
    }
    let nuls = nuls_in_lines(start);
    // Programs that end or divide texts by NULs write words between them; UTF-16 has one beside every letter, and records of numbers more.
    if nuls * 4 > start.len() || !start.is_empty() && start.iter().all(|byte| *byte == 0) {
        return Some(SkipReason::Binary("it holds NUL bytes"));
    }
    let strange = strange_bytes(start);
    // Latin-1 text has a few bytes that are not UTF-8; more than one in eight is no language.
    let is_strange = strange > 0 && (strange + nuls) * 8 > start.len();
    is_strange.then_some(SkipReason::Binary("most of it is not UTF-8"))
}

/// NUL bytes but those at the beginning of lines, which are what is left of lines that were lost with the power.
fn nuls_in_lines(start: &[u8]) -> usize {
    let (mut nuls, mut begins) = (0, true);
    for byte in start {
        match byte {
            0 if begins => {}
            0 => nuls += 1,
            _ => begins = *byte == b'\n',
        }
    }
    nuls
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
            // Texts that NULs end or divide.
            b"text\0text",
            b"HOME=/root\0PATH=/bin:/sbin\0",
            b"a line with a name\0 of C in it\nand one that is caf\xe9\n",
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
        let mut archive = b"app.log".to_vec();
        archive.resize(TAR_AT, 0);
        archive.extend_from_slice(b"ustar\x0000");
        archive.resize(512, 0);
        archive.extend_from_slice(&b"a line of text\n".repeat(500));
        for binary in [
            archive.as_slice(),
            b"U\0T\0F\0-\x001\x006\0\n\0",
            b"\x07\0\0\0pts/0\0\0\0\0\0\0\0\0\0\0\0\0\0ts/0root",
            b"name\0\x01\x02\0other\0\x03\x04",
        ] {
            assert!(
                matches!(refuse(binary, Encoding::Utf8), Some(SkipReason::Binary(_))),
                "{binary:?}"
            );
        }
        assert!(matches!(
            refuse(b"\x80\x91\xfe\x01\x02abc", Encoding::Utf8),
            Some(SkipReason::Binary(_))
        ));
    }
}
