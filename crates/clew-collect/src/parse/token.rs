//! Cutting text at bytes, with SIMD search; all separators are ASCII, so every cut is a character
//! boundary.

/// The text before and after the first such byte.
pub(crate) fn split(text: &str, separator: u8) -> Option<(&str, &str)> {
    let at = memchr::memchr(separator, text.as_bytes())?;
    Some((&text[..at], &text[at + 1..]))
}

/// The text before and after the last such byte.
pub(crate) fn split_last(text: &str, separator: u8) -> Option<(&str, &str)> {
    let at = memchr::memrchr(separator, text.as_bytes())?;
    Some((&text[..at], &text[at + 1..]))
}

/// The next word and the text after the spaces that end it; the last word has an empty rest.
pub(crate) fn word(text: &str) -> Option<(&str, &str)> {
    let (word, mut rest) = split(text, b' ').unwrap_or((text, ""));
    // Mostly there is one.
    while let Some(behind) = rest.strip_prefix(' ') {
        rest = behind;
    }
    (!word.is_empty()).then_some((word, rest))
}

/// The text between an opening byte, which must come first, and the next closing byte; and the rest.
pub(crate) fn enclosed(text: &str, open: char, close: u8) -> Option<(&str, &str)> {
    split(text.strip_prefix(open)?, close)
}

/// The inside of a text in double quotes, escapes left as they are, and the rest.
pub(crate) fn quoted(text: &str) -> Option<(&str, &str)> {
    let inside = text.strip_prefix('"')?;
    let bytes = inside.as_bytes();
    let mut from = 0;
    loop {
        let at = from + memchr::memchr2(b'"', b'\\', &bytes[from..])?;
        if bytes[at] == b'"' {
            return Some((&inside[..at], &inside[at + 1..]));
        }
        from = (at + 2).min(bytes.len());
    }
}

/// The text that a line begins with, of so many bytes at most; what is behind them, or is no UTF-8, is left out.
pub(crate) fn text_start(line: &[u8], bytes_max: usize) -> &str {
    let near = &line[..line.len().min(bytes_max)];
    near.utf8_chunks().next().map_or("", |chunk| chunk.valid())
}

/// `None` for the dash that stands for "nothing".
pub(crate) fn present(text: &str) -> Option<&str> {
    (!text.is_empty() && text != "-").then_some(text)
}

/// What levels are called.
pub(crate) const LEVEL_NAMES: [&str; 10] = [
    "info",
    "error",
    "warning",
    "debug",
    "notice",
    "trace",
    "critical",
    "fatal",
    "alert",
    "emergency",
];

/// The common name of a log level, one of [`LEVEL_NAMES`], whatever its spelling.
pub(crate) fn level(text: &str) -> Option<&'static str> {
    const SPELLINGS: [(&str, &str); 37] = [
        ("info", "info"),
        ("error", "error"),
        ("warning", "warning"),
        ("warn", "warning"),
        ("debug", "debug"),
        ("notice", "notice"),
        ("trace", "trace"),
        ("err", "error"),
        ("crit", "critical"),
        ("critical", "critical"),
        ("fatal", "fatal"),
        ("alert", "alert"),
        ("emerg", "emergency"),
        ("emergency", "emergency"),
        ("panic", "emergency"),
        ("severe", "error"),
        ("log", "info"),
        ("information", "info"),
        ("trace1", "trace"),
        ("trace2", "trace"),
        ("trace3", "trace"),
        ("trace4", "trace"),
        ("trace5", "trace"),
        ("trace6", "trace"),
        ("trace7", "trace"),
        ("trace8", "trace"),
        ("fine", "debug"),
        ("verbose", "debug"),
        // Three letters as Serilog and zerolog have them, four as the console of .NET.
        ("inf", "info"),
        ("wrn", "warning"),
        ("dbg", "debug"),
        ("vrb", "debug"),
        ("trc", "trace"),
        ("ftl", "fatal"),
        ("dbug", "debug"),
        ("trce", "trace"),
        ("fail", "error"),
    ];
    SPELLINGS
        .iter()
        .find(|(name, _)| text.eq_ignore_ascii_case(name))
        .map(|(_, level)| *level)
}
