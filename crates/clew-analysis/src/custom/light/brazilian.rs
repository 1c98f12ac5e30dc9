//! Portuguese as Brazil writes it: what Snowball's stemmer for Portuguese does, to words that have lost their accents
//! before, and with the departures of the one that Lucene has had from its beginnings.

use super::Word;

/// Endings of nouns and adjectives, what stands in their place, and where they must lie.
const NOUNS: [(&str, &str, Region); 42] = [
    ("uciones", "u", Region::Second),
    ("imentos", "", Region::Second),
    ("amentos", "", Region::Second),
    ("adores", "", Region::Second),
    ("adoras", "", Region::Second),
    // It is found and stays.
    ("logias", "logias", Region::Second),
    ("encias", "ente", Region::Second),
    ("amente", "", Region::First),
    ("idades", "", Region::Second),
    ("acoes", "", Region::Second),
    ("imento", "", Region::Second),
    ("amento", "", Region::Second),
    ("adora", "", Region::Second),
    ("ismos", "", Region::Second),
    ("istas", "", Region::Second),
    ("logia", "log", Region::Second),
    ("ucion", "u", Region::Second),
    ("encia", "ente", Region::Second),
    ("mente", "", Region::Second),
    ("idade", "", Region::Second),
    ("acao", "", Region::Second),
    ("ezas", "", Region::Second),
    ("icos", "", Region::Second),
    ("icas", "", Region::Second),
    ("ismo", "", Region::Second),
    ("avel", "", Region::Second),
    ("ivel", "", Region::Second),
    ("ista", "", Region::Second),
    ("osos", "", Region::Second),
    ("osas", "", Region::Second),
    ("ador", "", Region::Second),
    ("ivas", "", Region::Second),
    ("ivos", "", Region::Second),
    ("eiras", "eir", Region::VerbButFirst),
    ("eza", "", Region::Second),
    ("ico", "", Region::Second),
    ("ica", "", Region::Second),
    ("oso", "", Region::Second),
    ("osa", "", Region::Second),
    ("iva", "", Region::Second),
    ("ivo", "", Region::Second),
    ("eira", "eir", Region::VerbButFirst),
];

/// Endings of verbs, longest first.
const VERBS: &str = "issemos essemos assemos ariamos eriamos iriamos \
    iremos eremos aremos avamos iramos eramos aramos asseis esseis isseis arieis erieis irieis \
    irmos iamos armos ermos areis ereis ireis asses esses isses astes assem essem issem ardes erdes \
    irdes ariam eriam iriam arias erias irias estes istes aveis \
    aria eria iria asse esse isse aste este iste arei erei irei aram eram iram avam arem erem irem \
    ando endo indo arao erao irao adas idas aras eras iras avas ares eres ires ados idos amos emos \
    imos ieis \
    ada ida ara era ira iam ado ido ias ais eis ear \
    ia ei am em ar er ir as es is eu iu ou";

const ACCENTS: [(&str, char); 7] = [
    ("áâã", 'a'),
    ("éê", 'e'),
    ("í", 'i'),
    ("óôõ", 'o'),
    ("úü", 'u'),
    ("ç", 'c'),
    ("ñ", 'n'),
];

/// The part of a word that an ending must lie in.
#[derive(Clone, Copy)]
enum Region {
    /// Behind the first consonant that follows a vowel.
    First,
    /// Behind the first such of the first region.
    Second,
    /// That of verbs, which the ending's first letter may lie before.
    VerbButFirst,
}

pub(super) fn stem(word: &mut Word) {
    let mut bare = Word(lower(&word.0));
    bare.plain(&ACCENTS);
    let is_sign = |letter: char| matches!(letter, '"' | '\'' | '-' | ',' | ';' | '.' | '?' | '!');
    if bare.len() > 1 && bare.0.first().is_some_and(|letter| is_sign(*letter)) {
        bare.0.remove(0);
    }
    if bare.len() > 1 && bare.last(0).is_some_and(is_sign) {
        bare.cut(1);
    }
    let units: usize = bare.0.iter().map(|letter| letter.len_utf16()).sum();
    if !(3..30).contains(&units) {
        return;
    }
    word.0 = bare.0;
    if word.0.iter().all(|letter| letter.is_alphabetic()) {
        take_ending(word);
    }
}

fn lower(letters: &[char]) -> Vec<char> {
    let text: String = letters.iter().collect();
    text.to_lowercase().chars().collect()
}

fn take_ending(word: &mut Word) {
    let first = behind_consonant(&word.0);
    let second = first.and_then(|start| Some(start + behind_consonant(word.0.get(start..)?)?));
    let verb = verb_region(&word.0);
    let lies = |word: &Word, ending: &str, region: Option<usize>| {
        region.is_some_and(|start| start + ending.len() <= word.len()) && word.ends(ending)
    };
    let noun = NOUNS.iter().find(|(ending, _, region)| match region {
        Region::First => lies(word, ending, first),
        Region::Second => lies(word, ending, second),
        Region::VerbButFirst => word.ends(ending) && lies(word, &ending[1..], verb),
    });
    let whole = Word(word.0.clone());
    if let Some((ending, put, _)) = noun {
        word.change((0, ending, put));
    }
    let Some(verb) = verb else {
        return;
    };
    if noun.is_none() {
        let found = VERBS
            .split(' ')
            .find(|ending| lies(word, ending, Some(verb)));
        match found {
            // It is found and stays.
            Some("ira") => {}
            Some(ending) => word.cut(ending.len()),
            None => {
                let mut rest = ["os", "a", "i", "o"].into_iter();
                if let Some(ending) = rest.find(|ending| lies(word, ending, Some(verb))) {
                    word.cut(ending.len());
                }
            }
        }
    }
    // How the word ended before says what goes last.
    if lies(&whole, "e", Some(verb)) {
        word.change((0, "e", ""));
        for (ending, vowel) in [("gue", "u"), ("cie", "i")] {
            if lies(&whole, ending, Some(verb)) {
                word.change((0, vowel, ""));
            }
        }
    }
}

fn is_vowel(letter: char) -> bool {
    matches!(letter, 'a' | 'e' | 'i' | 'o' | 'u')
}

/// Where the letters begin that follow the first consonant behind a vowel; the last letter is not looked at.
fn behind_consonant(letters: &[char]) -> Option<usize> {
    let (_, looked_at) = letters.split_last()?;
    let vowel = looked_at.iter().position(|letter| is_vowel(*letter))?;
    let behind = looked_at.get(vowel..)?;
    let consonant = behind.iter().position(|letter| !is_vowel(*letter))?;
    Some(vowel + consonant + 1)
}

/// Where endings of verbs may begin, by the first letters of the word.
fn verb_region(letters: &[char]) -> Option<usize> {
    let (_, looked_at) = letters.split_last()?;
    let behind = |wanted_is_vowel: bool| {
        let rest = looked_at.get(2..)?;
        let at = rest
            .iter()
            .position(|letter| is_vowel(*letter) == wanted_is_vowel)?;
        Some(at + 3)
    };
    let is_vowel_at = |at: usize| letters.get(at).is_some_and(|letter| is_vowel(*letter));
    let usual = (letters.len() > 3).then_some(3);
    let by_start = match (is_vowel_at(0), is_vowel_at(1)) {
        _ if letters.len() < 2 => None,
        (_, false) => behind(true),
        (true, true) => behind(false),
        (false, true) => None,
    };
    by_start.or(usual)
}
