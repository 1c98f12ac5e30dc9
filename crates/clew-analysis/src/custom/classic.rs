//! `classic`: words as Lucene's first grammar for European languages cuts them, which keeps together names of companies,
//! acronyms, addresses of mail, names of hosts, and numbers with signs in them.
//!
//! At each place the longest of several patterns is taken, and of those that are equally long the first.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

/// What of a text is looked at at once, in bytes; a word that fills it goes on with the next one.
const WINDOW: usize = 512;

/// Chinese and Japanese, each letter of which is a word; they count as no letters otherwise.
const CJ: &str = r"\x{3040}-\x{30ff}\x{3100}-\x{312f}\x{31f0}-\x{31ff}\x{3300}-\x{337f}\x{3400}-\x{4dbf}\x{4e00}-\x{9fff}\x{f900}-\x{faff}\x{ff65}-\x{ff9f}";

/// Patterns in their order, with what their words are called: `L` stands for a letter, `A` for letters and digits, `H`
/// for such with a digit, `P` for a sign inside of numbers.
const PATTERNS: [(&str, &str); 14] = [
    ("A", "<ALPHANUM>"),
    ("L+(?:'L+)+", "<APOSTROPHE>"),
    (r"L\.(?:L\.)+", "<ACRONYM>"),
    ("L+[&@]L+", "<COMPANY>"),
    (r"A(?:[.\-_]A)*@A(?:[.\-]A)+", "<EMAIL>"),
    (r"A(?:\.A)+", "<HOST>"),
    ("APH", "<NUM>"),
    ("HPA", "<NUM>"),
    ("A(?:PHPA)+", "<NUM>"),
    ("H(?:PAPH)+", "<NUM>"),
    ("APH(?:PAPH)+", "<NUM>"),
    ("HPA(?:PHPA)+", "<NUM>"),
    ("C", "<CJ>"),
    // A host at the end of a sentence.
    (r"A\.(?:A\.)+", DOTTED),
];

/// Words of hosts with one point too many.
const DOTTED: &str = "<ACRONYM_DEP>";

static WORDS: LazyLock<Vec<(Regex, &'static str)>> = LazyLock::new(|| {
    let letter = format!(r"[\p{{L}}--[{CJ}]]");
    let either = format!(r"(?:{letter}|[\p{{Nd}}\x{{e00}}-\x{{e59}}])");
    let spelled = |pattern: &str| -> String {
        let each = pattern.chars().map(|sign| match sign {
            'L' => letter.clone(),
            'A' => format!("{either}+"),
            'H' => format!(r"{either}*\p{{Nd}}{either}*"),
            'P' => r"[_\-/.,]".to_string(),
            'C' => format!("[{CJ}]"),
            other => other.to_string(),
        });
        each.collect()
    };
    let compiled = PATTERNS.into_iter().map(|(pattern, kind)| {
        let pattern = format!(r"\A(?:{})", spelled(pattern));
        let pattern = Regex::new(&pattern).expect("the patterns are those of this file");
        (pattern, kind)
    });
    compiled.collect()
});

/// The word at the beginning of a text: where it ends, and what it is called.
fn first(text: &str) -> Option<(usize, &'static str)> {
    let text = &text[..text.floor_char_boundary(WINDOW)];
    let mut best: Option<(usize, &'static str)> = None;
    for (pattern, kind) in WORDS.iter() {
        let end = pattern.find(text).map_or(0, |found| found.end());
        if end > best.map_or(0, |(end, _)| end) {
            best = Some((end, *kind));
        }
    }
    best
}

/// Where the words of a text lie, and how many bytes of that are the word: the point behind a host is not.
pub(super) fn words(text: &str) -> Vec<(Range<usize>, usize)> {
    let mut found: Vec<(Range<usize>, usize)> = Vec::new();
    // Whether the last word filled its window, so that it may go on behind it.
    let mut goes_on = false;
    let mut at = 0;
    while let Some(letter) = text[at..].chars().next() {
        let Some((length, kind)) = first(&text[at..]) else {
            at += letter.len_utf8();
            goes_on = false;
            continue;
        };
        let extra = usize::from(kind == DOTTED);
        let before = found.last_mut().filter(|_| goes_on);
        if let Some((range, letters)) = before {
            range.end = at + length;
            *letters = range.len() - extra;
        } else {
            found.push((at..at + length, length - extra));
        }
        goes_on = length == text[at..].floor_char_boundary(WINDOW) && length + at < text.len();
        at += length;
    }
    found
}

/// What a word that was cut here is called.
pub(super) fn kind(word: &str) -> &'static str {
    first(word).map_or("<ALPHANUM>", |(_, kind)| kind)
}

/// A word without what says no more of it: the `'s` of an owner, and the points of an acronym. `None` where it stays.
pub(super) fn plain(word: &str, kind: &str) -> Option<String> {
    match kind {
        "<APOSTROPHE>" => {
            let owner = word.strip_suffix("'s").or_else(|| word.strip_suffix("'S"));
            owner.map(String::from)
        }
        "<ACRONYM>" => Some(word.replace('.', "")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_belongs_together_stays_together() {
        let text = "For product AB3423, visit X&Y at example.com, email info@example.com, or call the operator's \
                    number 1-800-555-1234. P.S. 你好 at a-b 3.14 host.org.";
        let found: Vec<(&str, &str)> = words(text)
            .into_iter()
            .map(|(range, letters)| &text[range.start..range.start + letters])
            .map(|word| (word, kind(word)))
            .filter(|(_, kind)| *kind != "<ALPHANUM>")
            .collect();
        assert_eq!(
            found,
            [
                ("X&Y", "<COMPANY>"),
                ("example.com", "<HOST>"),
                ("info@example.com", "<EMAIL>"),
                ("operator's", "<APOSTROPHE>"),
                ("1-800-555-1234", "<NUM>"),
                ("P.S.", "<ACRONYM>"),
                ("你", "<CJ>"),
                ("好", "<CJ>"),
                // Of equally long ones the first.
                ("3.14", "<HOST>"),
                ("host.org", "<HOST>"),
            ]
        );
        let plainly = |text: &str| -> Vec<String> {
            let found = words(text).into_iter();
            found.map(|(range, _)| text[range].to_string()).collect()
        };
        assert_eq!(plainly("a-b (c_d) x"), ["a", "b", "c", "d", "x"]);
        assert_eq!(plainly(&"x".repeat(1200)), ["x".repeat(1200)]);
        assert_eq!(words("see ab.cd."), [(0..3, 3), (4..10, 5)]);
    }

    #[test]
    fn owners_and_points_go() {
        for (word, expected) in [
            ("operator's", Some("operator")),
            ("O'Reilly", None),
            ("P.S.", Some("PS")),
            ("example.com", None),
        ] {
            assert_eq!(plain(word, kind(word)).as_deref(), expected, "{word}");
        }
    }
}
