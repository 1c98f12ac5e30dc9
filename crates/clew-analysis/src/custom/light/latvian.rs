//! Latvian, by Kreslins ("A stemming algorithm for Latvian", 1996), inflection only.

use super::Word;

/// Endings: the vowels that a word must have more than, and whether the consonant before it is softened.
const ENDINGS: [(&str, usize, bool); 38] = [
    ("ajiem", 3, false),
    ("ajai", 3, false),
    ("ajam", 2, false),
    ("ajām", 2, false),
    ("ajos", 2, false),
    ("ajās", 2, false),
    ("iem", 2, true),
    ("ajā", 2, false),
    ("ais", 2, false),
    ("ai", 2, false),
    ("ei", 2, false),
    ("ām", 1, false),
    ("am", 1, false),
    ("ēm", 1, false),
    ("īm", 1, false),
    ("im", 1, false),
    ("um", 1, false),
    ("us", 1, true),
    ("as", 1, false),
    ("ās", 1, false),
    ("es", 1, false),
    ("os", 1, true),
    ("ij", 1, false),
    ("īs", 1, false),
    ("ēs", 1, false),
    ("is", 1, false),
    ("ie", 1, false),
    ("u", 1, true),
    ("a", 1, true),
    ("i", 1, true),
    ("e", 1, false),
    ("ā", 1, false),
    ("ē", 1, false),
    ("ī", 1, false),
    ("ū", 1, false),
    ("o", 1, false),
    ("s", 0, false),
    ("š", 0, false),
];
const VOWELS: [char; 9] = ['a', 'e', 'i', 'o', 'u', 'ā', 'ē', 'ī', 'ū'];

pub(super) fn stem(word: &mut Word) {
    let vowels = word
        .0
        .iter()
        .filter(|letter| VOWELS.contains(letter))
        .count();
    for (ending, more_than, softens) in ENDINGS {
        let length = ending.chars().count();
        if vowels > more_than && word.change((length + 2, ending, "")) {
            if softens {
                harden(word, ending);
            }
            return;
        }
    }
}

/// Takes back what an ending did to the consonants before it.
fn harden(word: &mut Word, ending: &str) {
    if ending == "u" && word.change_first(&[(1, "kš", "kst"), (1, "ņņ", "nn")]) {
        return;
    }
    word.change_first(&[
        (1, "pj", "p"),
        (1, "bj", "b"),
        (1, "mj", "m"),
        (1, "vj", "v"),
        (1, "šņ", "sn"),
        (1, "žņ", "zn"),
        (1, "šļ", "sl"),
        (1, "žļ", "zl"),
        (1, "ļņ", "ln"),
        (1, "ļļ", "ll"),
        (0, "č", "c"),
        (0, "ļ", "l"),
        (0, "ņ", "n"),
    ]);
}
