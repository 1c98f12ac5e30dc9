//! German by Caumanns' "A fast and simple stemming algorithm for German words" (1999), as Lucene's `german_stem` reads it:
//! groups of letters that sound as one become one sign, endings go as long as there are any, and the groups come back.

use super::Word;

/// The second of two equal letters.
const AGAIN: char = '*';
/// Groups of letters and the signs that stand for them; longer ones first.
const GROUPS: &[(&str, char)] = &[
    ("sch", '$'),
    ("ch", '§'),
    ("ei", '%'),
    ("ie", '&'),
    ("ig", '#'),
    ("st", '!'),
];

pub(super) fn stem(word: &mut Word) {
    word.0 = word
        .0
        .iter()
        .flat_map(|letter| letter.to_lowercase())
        .collect();
    if !word.0.iter().all(|letter| letter.is_alphabetic()) {
        return;
    }
    let hidden = substitute(&mut word.0);
    strip(word, hidden);
    if word.len() > 5 && word.ends("erin*") {
        word.0.pop();
        strip(word, hidden);
    }
    if word.last(0) == Some('z') {
        word.0.pop();
        word.0.push('x');
    }
    resubstitute(&mut word.0);
    // The participle of what begins with `ge`.
    if word.len() > 4
        && let Some(at) = word
            .0
            .windows(4)
            .position(|four| four == ['g', 'e', 'g', 'e'])
    {
        word.0.drain(at..at + 2);
    }
}

/// Puts signs for groups of letters; how many letters that hides.
fn substitute(letters: &mut Vec<char>) -> usize {
    let mut hidden = 0;
    let mut at = 0;
    while at < letters.len() {
        if at > 0 && letters[at] == letters[at - 1] {
            letters[at] = AGAIN;
        } else {
            match letters[at] {
                'ä' => letters[at] = 'a',
                'ö' => letters[at] = 'o',
                'ü' => letters[at] = 'u',
                'ß' => {
                    letters[at] = 's';
                    letters.insert(at + 1, 's');
                    hidden += 1;
                }
                _ => {}
            }
        }
        let rest = &letters[at..];
        let begins = |group: &str| {
            let mut rest = rest.iter();
            group.chars().all(|letter| rest.next() == Some(&letter))
        };
        let group = GROUPS.iter().find(|group| begins(group.0));
        if let Some((group, sign)) = group {
            drop(letters.splice(at..at + group.len(), [*sign]));
            hidden += group.len() - 1;
        }
        at += 1;
    }
    hidden
}

/// Takes off endings. Letters behind signs count where it is asked how long a word is.
fn strip(word: &mut Word, hidden: usize) {
    while word.len() > 3 {
        let length = word.len() + hidden;
        let ends_long =
            length > 5 && word.ends("nd") || length > 4 && (word.ends("em") || word.ends("er"));
        if ends_long {
            word.0.truncate(word.len() - 2);
        } else if matches!(word.last(0), Some('e' | 's' | 'n' | 't')) {
            word.0.pop();
        } else {
            return;
        }
    }
}

/// Puts the groups back.
fn resubstitute(letters: &mut Vec<char>) {
    let mut out: Vec<char> = Vec::with_capacity(letters.len() + 8);
    for letter in letters.iter() {
        let group = GROUPS.iter().find(|(_, sign)| sign == letter);
        match (group, out.last().copied()) {
            (Some((group, _)), _) => out.extend(group.chars()),
            (None, Some(before)) if *letter == AGAIN => out.push(before),
            _ => out.push(*letter),
        }
    }
    *letters = out;
}

#[cfg(test)]
mod tests {
    use super::super::Light;

    #[test]
    fn endings_go_as_long_as_there_are_any() {
        for (word, stem) in [
            ("häuser", "hau"),
            ("tränen", "tra"),
            ("lehrerinnen", "lehreri"),
            ("gegessen", "gess"),
            ("gegenüber", "genub"),
            ("abgegeben", "abgeb"),
            ("katze", "katx"),
            ("stadtischen", "stadtisch"),
            ("schiessen", "schiess"),
            ("bettes", "bett"),
            ("steige", "steig"),
            ("ziege", "zieg"),
            ("könig", "konig"),
            ("a-b", "a-b"),
            ("abend", "abend"),
            ("straße", "strass"),
            ("oe", "oe"),
        ] {
            assert_eq!(Light::Caumanns.stem(word), stem, "{word}");
        }
    }
}
