//! French.

use super::{Ending, Word};

/// What happens to a word with an ending.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Then {
    /// It is done.
    Stop,
    /// Later endings are looked for.
    Go,
}

/// Endings in the order in which they are looked for.
const ENDINGS: [(Ending, Then); 29] = [
    ((9, "issement", "ir"), Then::Stop),
    ((8, "issant", "ir"), Then::Stop),
    ((6, "ivement", "if"), Then::Stop),
    ((6, "ement", "e"), Then::Stop),
    ((11, "ficatrice", "fier"), Then::Stop),
    ((10, "ficateur", "fier"), Then::Stop),
    ((9, "catrice", "quer"), Then::Stop),
    ((8, "cateur", "quer"), Then::Stop),
    ((8, "atrice", "er"), Then::Stop),
    ((7, "ateur", "er"), Then::Stop),
    ((6, "trice", "teur"), Then::Go),
    ((5, "ième", ""), Then::Stop),
    ((7, "teuse", "ter"), Then::Stop),
    ((6, "teur", "ter"), Then::Stop),
    ((5, "euse", "eu"), Then::Stop),
    ((8, "ère", "er"), Then::Stop),
    ((7, "ive", "if"), Then::Stop),
    ((4, "folle", "fou"), Then::Stop),
    ((4, "molle", "mou"), Then::Stop),
    ((9, "nnelle", "n"), Then::Stop),
    ((9, "nnel", "n"), Then::Stop),
    ((4, "ète", "et"), Then::Go),
    ((8, "ique", ""), Then::Go),
    ((8, "esse", "e"), Then::Stop),
    ((7, "inage", "in"), Then::Stop),
    ((9, "isation", ""), Then::Stop),
    ((9, "isateur", ""), Then::Stop),
    ((8, "ation", ""), Then::Stop),
    ((8, "ition", ""), Then::Stop),
];

const ACCENTS: [(&str, char); 6] = [
    ("àáâ", 'a'),
    ("ô", 'o'),
    ("èéê", 'e'),
    ("ùû", 'u'),
    ("î", 'i'),
    ("ç", 'c'),
];

pub(super) fn stem(word: &mut Word) {
    if word.len() > 5 && word.ends("x") {
        if word.ends("aux") && word.last(3) != Some('e') {
            word.change((0, "aux", "al"));
        } else {
            word.cut(1);
        }
    }
    for plural in ["x", "s"] {
        word.change((3, plural, ""));
    }
    for (ending, then) in ENDINGS {
        if word.change(ending) && then == Then::Stop {
            if ending.1 == "isation" && word.len() > 5 {
                word.change((5, "ual", "uel"));
            }
            break;
        }
    }
    simplify(word);
}

/// Writes the word without accents and doubled letters, and takes off its last vowels.
fn simplify(word: &mut Word) {
    if word.len() > 4 {
        word.plain(&ACCENTS);
        word.0
            .dedup_by(|next, letter| next == letter && letter.is_alphabetic());
    }
    if word.len() > 4 && word.ends("ie") {
        word.cut(2);
    }
    if word.len() > 4 {
        word.cut_last(&['r']);
        word.cut_last(&['e']);
        word.cut_last(&['e']);
        word.cut_double();
    }
}
