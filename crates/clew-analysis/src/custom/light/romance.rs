//! Italian, Portuguese and Spanish.

use super::{Ending, Word};

const ACCENTS: [(&str, char); 5] = [
    ("àáâä", 'a'),
    ("òóôö", 'o'),
    ("èéêë", 'e'),
    ("ùúûü", 'u'),
    ("ìíîï", 'i'),
];

pub(super) fn italian(word: &mut Word) {
    if word.len() < 6 {
        return;
    }
    word.plain(&ACCENTS);
    let silent: &[char] = match word.last(0) {
        Some('e' | 'i') => &['i', 'h'],
        Some('a' | 'o') => &['i'],
        _ => return,
    };
    word.cut(1);
    word.cut_last(silent);
}

pub(super) fn spanish(word: &mut Word) {
    if word.len() < 5 {
        return;
    }
    word.plain(&ACCENTS);
    if word.cut_last(&['o', 'a', 'e']) || word.change((0, "eses", "es")) {
        return;
    }
    word.change_first(&[(0, "ces", "z"), (0, "os", ""), (0, "as", ""), (0, "es", "")]);
}

/// Plurals of Portuguese, and its adverbs.
const PLURALS: [Ending; 14] = [
    (4, "res", "r"),
    (4, "ses", "s"),
    (4, "les", "l"),
    (4, "zes", "z"),
    (3, "ns", "m"),
    (4, "eis", "el"),
    (4, "éis", "el"),
    (4, "ais", "al"),
    (4, "óis", "ol"),
    (4, "is", "il"),
    (3, "ões", "ão"),
    (3, "ães", "ão"),
    (6, "mente", ""),
    (3, "s", ""),
];

/// Feminine forms of Portuguese and their masculine ones.
const FEMININE: [Ending; 13] = [
    (7, "inha", "inho"),
    (7, "iaca", "iaco"),
    (7, "eira", "eiro"),
    (6, "osa", "oso"),
    (6, "ica", "ico"),
    (6, "ida", "ido"),
    (6, "ada", "ado"),
    (6, "iva", "ivo"),
    (6, "ama", "amo"),
    (6, "ona", "ão"),
    (6, "ora", "or"),
    (6, "esa", "ês"),
    (6, "na", "no"),
];

pub(super) fn portuguese(word: &mut Word) {
    if word.len() < 4 {
        return;
    }
    word.change_first(&PLURALS);
    if word.len() > 3 && word.ends("a") {
        word.change_first(&FEMININE);
    }
    if word.len() > 4 {
        word.cut_last(&['e', 'a', 'o']);
    }
    word.plain(&[("ã", 'a'), ("õ", 'o'), ("ç", 'c')]);
    word.plain(&ACCENTS);
}
