//! English, by Porter's stemmer ("An algorithm for suffix stripping", 1980) with the two departures
//! that he made from the paper himself: `-bli` and `-logi` are endings too.

use super::{Ending, Word};

const NOUNS: [(&str, &str); 21] = [
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("bli", "ble"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
    ("logi", "log"),
];

const ADJECTIVES: [(&str, &str); 7] = [
    ("icate", "ic"),
    ("ative", ""),
    ("alize", "al"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ful", ""),
    ("ness", ""),
];

const REST: [&str; 20] = [
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "sion",
    "tion", "ou", "ism", "ate", "iti", "ous", "ive", "ize",
];

pub(super) fn stem(word: &mut Word) {
    if word.len() <= 2 {
        return;
    }
    plural(word);
    past(word);
    if word.ends("y") && has_vowel(word, 1) {
        word.change((0, "y", "i"));
    }
    if let Some((ending, put)) = NOUNS.iter().find(|(ending, _)| word.ends(ending)) {
        change_behind(word, 0, (0, ending, put));
    }
    if let Some((ending, put)) = ADJECTIVES.iter().find(|(ending, _)| word.ends(ending)) {
        change_behind(word, 0, (0, ending, put));
    }
    if let Some(ending) = REST.iter().find(|ending| word.ends(ending)) {
        // Of these two the letter stays that tells them apart.
        let put = match *ending {
            "sion" => "s",
            "tion" => "t",
            _ => "",
        };
        let length = ending.len() - put.len();
        if measure(word, length) > 1 {
            word.cut(length);
        }
    }
    last_e(word);
    if word.ends("ll") && measure(word, 1) > 1 {
        word.cut(1);
    }
}

fn plural(word: &mut Word) {
    let _ = word.change_first(&[
        (0, "sses", "ss"),
        (0, "ies", "i"),
        (0, "ss", "ss"),
        (0, "s", ""),
    ]);
}

fn past(word: &mut Word) {
    if word.ends("eed") {
        change_behind(word, 0, (0, "eed", "ee"));
        return;
    }
    let ending = ["ed", "ing"].into_iter().find(|ending| word.ends(ending));
    let Some(ending) = ending.filter(|ending| has_vowel(word, ending.len())) else {
        return;
    };
    word.cut(ending.len());
    if word.change_first(&[(0, "at", "ate"), (0, "bl", "ble"), (0, "iz", "ize")]) {
        return;
    }
    let doubled = word.len() > 1 && word.last(0) == word.last(1);
    if doubled && is_consonant(&word.0, word.len() - 1) {
        if !matches!(word.last(0), Some('l' | 's' | 'z')) {
            word.cut(1);
        }
    } else if measure(word, 0) == 1 && ends_short(word, 0) {
        word.0.push('e');
    }
}

fn last_e(word: &mut Word) {
    if !word.ends("e") {
        return;
    }
    let measure = measure(word, 1);
    if measure > 1 || measure == 1 && !ends_short(word, 1) {
        word.cut(1);
    }
}

/// Changes an ending behind which the rest of the word has more than so many syllables.
fn change_behind(word: &mut Word, syllables: usize, ending: Ending) {
    if measure(word, ending.1.len()) > syllables {
        word.change(ending);
    }
}

/// Whether a letter is one; `y` is where it does not follow another one.
fn is_consonant(letters: &[char], at: usize) -> bool {
    match letters[at] {
        'a' | 'e' | 'i' | 'o' | 'u' => false,
        'y' => {
            // In a run of `y` every second one is a vowel.
            let run = letters[..at]
                .iter()
                .rev()
                .take_while(|letter| **letter == 'y');
            let run = run.count();
            let first = at - run;
            let first_is = first == 0 || !is_consonant_letter(letters[first - 1]);
            first_is == (run % 2 == 0)
        }
        _ => true,
    }
}

/// The same of a letter that is no `y`.
fn is_consonant_letter(letter: char) -> bool {
    !matches!(letter, 'a' | 'e' | 'i' | 'o' | 'u')
}

/// The word without so many letters at its end.
fn rest(word: &Word, without: usize) -> &[char] {
    &word.0[..word.len().saturating_sub(without)]
}

fn has_vowel(word: &Word, without: usize) -> bool {
    let rest = rest(word, without);
    (0..rest.len()).any(|at| !is_consonant(rest, at))
}

/// How often a consonant follows a vowel.
fn measure(word: &Word, without: usize) -> usize {
    let rest = rest(word, without);
    (1..rest.len())
        .filter(|at| is_consonant(rest, *at) && !is_consonant(rest, at - 1))
        .count()
}

/// Whether it ends with a consonant, a vowel, and a consonant that is not silent.
fn ends_short(word: &Word, without: usize) -> bool {
    let rest = rest(word, without);
    let Some(last) = rest.len().checked_sub(3) else {
        return false;
    };
    is_consonant(rest, last)
        && !is_consonant(rest, last + 1)
        && is_consonant(rest, last + 2)
        && !matches!(rest[last + 2], 'w' | 'x' | 'y')
}
