//! Norwegian, in each of the two ways in which it is written.

use super::Word;

/// A way of writing Norwegian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::custom) enum Norwegian {
    Bokmaal,
    Nynorsk,
}

/// Endings of words, by the letters that a word must have more than: first of both, then of each alone.
const LIGHT: [(usize, &str, &str, &str); 9] = [
    (7, "", "heter heten", "heita"),
    (8, "", "", "heiter leiken leikar"),
    (5, "dom", "het", ""),
    (6, "", "", "heit semd leik"),
    (7, "elser elsen", "", ""),
    (6, "else", "ende este eren", "ande aste aren"),
    (5, "ene", "ere est", "are ast ane"),
    (4, "er en et te", "st", "ar"),
    (3, "a e n", "", ""),
];
/// Those of plurals and of what is known alone.
const MINIMAL: [(usize, &str, &str, &str); 3] = [
    (5, "ene", "", "ane"),
    (4, "er en et", "", "ar"),
    (3, "a e", "", ""),
];

pub(super) fn light(word: &mut Word, way: Norwegian) {
    cut(word, way, &LIGHT);
}

pub(super) fn minimal(word: &mut Word, way: Norwegian) {
    cut(word, way, &MINIMAL);
}

fn cut(word: &mut Word, way: Norwegian, endings: &[(usize, &str, &str, &str)]) {
    word.change((4, "s", ""));
    for (longer_than, both, bokmaal, nynorsk) in endings {
        let own = match way {
            Norwegian::Bokmaal => bokmaal,
            Norwegian::Nynorsk => nynorsk,
        };
        if word.cut_listed(&[(*longer_than, both), (*longer_than, own)]) {
            return;
        }
    }
}
