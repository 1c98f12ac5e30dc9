//! Arabic, by Larkey, Ballesteros and Connell's tenth light stemmer ("Improving stemming for Arabic information
//! retrieval", 2002).

use super::Word;

const PREFIXES: [&str; 7] = ["ال", "وال", "بال", "كال", "فال", "لل", "و"];
const SUFFIXES: [&str; 10] = ["ها", "ان", "ات", "ون", "ين", "يه", "ية", "ه", "ة", "ي"];

pub(super) fn stem(word: &mut Word) {
    // A prefix of one letter leaves three letters, others two.
    let prefix = PREFIXES.iter().find_map(|prefix| {
        let length = prefix.chars().count();
        let least = if length == 1 { 4 } else { length + 2 };
        let is_prefix = prefix
            .chars()
            .zip(&word.0)
            .all(|(one, other)| one == *other);
        (word.len() >= least && is_prefix).then_some(length)
    });
    word.0.drain(..prefix.unwrap_or(0));
    for suffix in SUFFIXES {
        word.change((suffix.chars().count() + 1, suffix, ""));
    }
}
