//! Swedish.

use super::Word;

const ENDINGS: [(usize, &[&str]); 4] = [
    (7, &["elser", "heten"]),
    (6, &["arne", "erna", "ande", "else", "aste", "orna", "aren"]),
    (5, &["are", "ast", "het"]),
    (4, &["ar", "er", "or", "en", "at", "te", "et"]),
];

pub(super) fn stem(word: &mut Word) {
    word.change((4, "s", ""));
    for (longer_than, endings) in ENDINGS {
        for ending in endings {
            if word.change((longer_than, ending, "")) {
                return;
            }
        }
    }
    if word.len() > 3 {
        word.cut_last(&['t', 'a', 'e', 'n']);
    }
}
