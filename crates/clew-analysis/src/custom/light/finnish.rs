//! Finnish, by Savoy ("Report on CLEF-2003 monolingual tracks", 2003).

use super::{Ending, Word};

const LONG_CASES: [Ending; 9] = [
    (8, "nnen", "s"),
    (8, "ntena", "s"),
    (8, "tten", ""),
    (8, "eiden", ""),
    (6, "neen", ""),
    (6, "niin", ""),
    (6, "seen", ""),
    (6, "teen", ""),
    (6, "inen", ""),
];
const CASES: [Ending; 14] = [
    (6, "den", "s"),
    (6, "ksen", "s"),
    (6, "ssa", ""),
    (6, "sta", ""),
    (6, "lla", ""),
    (6, "lta", ""),
    (6, "tta", ""),
    (6, "ksi", ""),
    (6, "lle", ""),
    (5, "na", ""),
    (5, "ne", ""),
    (5, "nei", ""),
    (4, "ja", ""),
    (4, "ta", ""),
];

pub(super) fn stem(word: &mut Word) {
    if word.len() < 4 {
        return;
    }
    word.plain(&[("äå", 'a'), ("ö", 'o')]);
    while word.change_first(&[(8, "kin", ""), (8, "ko", "")]) {}
    word.change_first(&[(11, "dellinen", ""), (11, "dellisuus", "")]);
    word.change_first(&[
        (5, "lla", ""),
        (5, "tse", ""),
        (5, "sti", ""),
        (5, "ni", ""),
        (5, "aa", "a"),
    ]);
    case(word);
    last_letters(word);
    simplify(word);
}

fn is_vowel(letter: Option<char>) -> bool {
    matches!(letter, Some('a' | 'e' | 'i' | 'o' | 'u' | 'y'))
}

fn case(word: &mut Word) {
    if word.change_first(&LONG_CASES) {
        return;
    }
    if word.len() > 6 && word.ends("n") && is_vowel(word.last(1)) && word.last(2) == Some('h') {
        word.cut(3);
        return;
    }
    if word.change_first(&CASES) || word.len() <= 4 || word.cut_last(&['a']) {
        return;
    }
    if word.cut_last(&['n']) && is_vowel(word.last(0)) {
        word.cut(1);
    }
}

fn last_letters(word: &mut Word) {
    word.change((5, "hde", "ksi"));
    if !word.change_first(&[(4, "ei", ""), (4, "at", "")]) && word.len() > 3 {
        word.cut_last(&['t', 's', 'j', 'e', 'a', 'i']);
    }
}

fn simplify(word: &mut Word) {
    if word.len() > 8 {
        word.cut_last(&['e', 'o', 'u']);
    }
    if word.len() > 4 {
        word.cut_last(&['i']);
    }
    if word.len() > 4 {
        word.0
            .dedup_by(|next, letter| next == letter && matches!(*letter, 'k' | 'p' | 't'));
    }
}
