//! Persian: plurals, comparisons and the vowel that joins, each where two letters are left.

use super::Word;

pub(super) fn stem(word: &mut Word) {
    for ending in ["ات", "ان", "ترين", "تر", "يي", "ي", "ها", "\u{200c}"] {
        word.change((ending.chars().count() + 1, ending, ""));
    }
}
