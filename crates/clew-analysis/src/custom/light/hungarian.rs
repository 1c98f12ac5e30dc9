//! Hungarian.

use super::Word;

const ACCENTS: [(&str, char); 5] = [
    ("á", 'a'),
    ("ëé", 'e'),
    ("í", 'i'),
    ("óőõö", 'o'),
    ("úűũûü", 'u'),
];

pub(super) fn stem(word: &mut Word) {
    word.plain(&ACCENTS);
    case(word);
    possessive(word);
    plural(word);
    if word.len() > 3 {
        word.cut_last(&['a', 'e', 'i', 'o']);
    }
}

fn is_vowel(letter: Option<char>) -> bool {
    matches!(letter, Some('a' | 'e' | 'i' | 'o' | 'u' | 'y'))
}

/// Whether the letter before so many is a consonant that stands twice.
fn is_doubled(word: &Word, before: usize) -> bool {
    !is_vowel(word.last(before)) && word.last(before) == word.last(before + 1)
}

/// Cuts the first of these endings that has a letter of the kind before it.
fn cut_behind(word: &mut Word, longer_than: usize, endings: &str, behind_vowel: bool) -> bool {
    let mut endings = endings.split(' ');
    endings.any(|ending| {
        is_vowel(word.last(ending.len())) == behind_vowel && word.change((longer_than, ending, ""))
    })
}

fn case(word: &mut Word) {
    if word.cut_listed(&[
        (6, "kent"),
        (5, "nak nek val vel ert rol ban ben bol nal nel hoz hez tol"),
    ]) {
        return;
    }
    let joined = word.len() > 5 && (word.ends("al") || word.ends("el"));
    if joined && is_doubled(word, 2) {
        word.cut(3);
        return;
    }
    if word.cut_listed(&[(4, "at et ot va ve ra re ba be ul ig")])
        || cut_behind(word, 4, "on en", false)
    {
        return;
    }
    let is_a_case = word.len() > 4 && !word.cut_last(&['t', 'n']) && is_doubled(word, 1);
    if is_a_case && word.cut_last(&['a', 'e']) {
        word.cut(1);
    }
}

fn possessive(word: &mut Word) {
    let found = cut_behind(word, 6, "atok otok etek", false)
        || word.cut_listed(&[(6, "itek itok")])
        || cut_behind(word, 5, "unk tok tek", false)
        || cut_behind(word, 5, "juk", true)
        || word.cut_listed(&[(5, "ink")])
        || cut_behind(word, 4, "am em om ad ed od uk", false)
        || cut_behind(word, 4, "nk ja je", true)
        || word.cut_listed(&[(4, "im id ik")]);
    if !found {
        let _ = cut_behind(word, 3, "a e", false)
            || cut_behind(word, 3, "m d", true)
            || word.change((3, "i", ""));
    }
}

fn plural(word: &mut Word) {
    word.change_first(&[(4, "ak", ""), (4, "ok", ""), (4, "ek", ""), (3, "k", "")]);
}
