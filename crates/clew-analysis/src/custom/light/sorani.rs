//! Sorani, the Kurdish that is written with Arabic letters: postpositions, possessives, then one ending of a noun.

use super::{Ending, Word};

/// Postpositions; of the second only the vowel goes.
const POSTPOSITIONS: [Ending; 3] = [(5, "دا", ""), (4, "نا", "ن"), (6, "ەوە", "")];
const POSSESSIVES: [Ending; 3] = [(6, "مان", ""), (6, "یان", ""), (6, "تان", "")];

/// Endings of nouns in the order in which they are looked for: of one thing and of several, some, the and these.
const NOUNS: [Ending; 18] = [
    (6, "ێکی", ""),
    (7, "یەکی", ""),
    (5, "ێک", ""),
    (6, "یەک", ""),
    (6, "ەکە", ""),
    (5, "کە", ""),
    (7, "ەکان", ""),
    (6, "کان", ""),
    (7, "یانی", ""),
    (6, "انی", ""),
    (6, "یان", ""),
    (5, "ان", ""),
    (7, "یانە", ""),
    (6, "انە", ""),
    (5, "ایە", "ا"),
    (5, "ەیە", "ە"),
    (4, "ە", ""),
    (4, "ی", ""),
];

pub(super) fn stem(word: &mut Word) {
    word.change_first(&POSTPOSITIONS);
    word.change_first(&POSSESSIVES);
    word.change_first(&NOUNS);
}
