//! Snowball's stemmers as Lucene has them. Lucene keeps the versions that were there when its indexes were made, while
//! Snowball's go on; where the difference is one of spelling alone, words are respelled on their way in and out.
//!
//! Not respelled, because the endings themselves are others by now: Danish, Estonian, Norwegian, Swedish, Greek and
//! `kp`.

use std::borrow::Cow;

use frostem::{Algorithm, Stemmer};

/// One stemmer of Snowball.
#[derive(Clone)]
pub(super) struct Snowball {
    stemmer: Stemmer,
    spelling: Spelling,
    /// Whether an apostrophe is a sign like others; the stemmer of today takes off what stands before or behind it.
    has_plain_apostrophes: bool,
}

/// What words go through before and after the stemmer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Spelling {
    AsWritten,
    /// Words begin as others do; the stemmer of today leaves some beginnings whole.
    English,
    /// `ae`, `oe` and `ue` are two letters each; the stemmer of today reads umlauts there.
    German,
    /// ş and ţ have cedillas, and letters with commas are no letters of Romanian; today it is the other way round.
    Romanian,
    /// Words of fewer than four letters are whole, of which the stemmer of today would leave one.
    Greek,
}

/// Beginnings of English words of which the stemmer of today takes nothing off: `organization` is no `organ` there.
const WHOLE: [&str; 6] = ["emerg", "inter", "later", "organ", "past", "univers"];

/// What stands for an apostrophe while the stemmer is at a word: a character that no text has.
const APOSTROPHE: &str = "\u{fdd2}";

/// Letters of a word of Greek that has an ending.
const GREEK_LETTERS_MIN: usize = 4;

impl Snowball {
    /// The stemmer of a name, in any case.
    ///
    /// # Errors
    /// A reason in OpenSearch's words, when there is no such stemmer.
    pub(super) fn named(name: &str) -> Result<Self, String> {
        let name = name.to_lowercase();
        let (algorithm, spelling) = match name.as_str() {
            "english" => ("english", Spelling::English),
            "german" => ("german", Spelling::German),
            "german2" => ("german", Spelling::AsWritten),
            "romanian" => ("romanian", Spelling::Romanian),
            "greek" => ("greek", Spelling::Greek),
            // Lucene has kept Snowball's first stemmer for Dutch; the name now means another one.
            "dutch" => ("dutch_porter", Spelling::AsWritten),
            "kp" => ("dutch", Spelling::AsWritten),
            other => (other, Spelling::AsWritten),
        };
        let algorithm = Algorithm::from_name(algorithm)
            .map_err(|_| format!("Invalid stemmer class specified: {name}"))?;
        let has_plain_apostrophes = matches!(
            name.as_str(),
            "danish"
                | "estonian"
                | "french"
                | "german"
                | "german2"
                | "italian"
                | "lithuanian"
                | "norwegian"
                | "turkish"
        );
        Ok(Snowball {
            stemmer: Stemmer::new(algorithm),
            spelling,
            has_plain_apostrophes,
        })
    }

    /// The stem of a word in lower case.
    pub(super) fn stem(&self, word: &str) -> String {
        if !self.has_plain_apostrophes || !word.contains('\'') {
            return self.respelled(word);
        }
        let word = word.replace('\'', APOSTROPHE);
        self.respelled(&word).replace(APOSTROPHE, "'")
    }

    fn respelled(&self, word: &str) -> String {
        match self.spelling {
            Spelling::English if WHOLE.iter().any(|whole| word.starts_with(whole)) => {
                let (first, rest) = word.split_at(1);
                // Another letter of the same kind: nothing of the stemmer asks which one a word begins with.
                let other = if matches!(first, "l" | "p") { 'b' } else { 'a' };
                let stem = self.stemmer.stem(&format!("{other}{rest}")).into_owned();
                format!("{first}{}", stem.get(1..).unwrap_or_default())
            }
            Spelling::Greek if word.chars().count() < GREEK_LETTERS_MIN => word.to_string(),
            Spelling::AsWritten | Spelling::English | Spelling::Greek => {
                self.stemmer.stem(word).into_owned()
            }
            Spelling::German => self.stemmer.stem(&without_digraphs(word)).into_owned(),
            Spelling::Romanian => {
                let word: String = word.chars().map(with_comma).collect();
                let stem = self.stemmer.stem(&word);
                stem.chars().map(with_cedilla).collect()
            }
        }
    }
}

/// A word in which no `ae`, `oe` or `ue` is read as an umlaut: the umlaut stands before the `e`, which the stemmer takes for
/// the same kind of letter, and in the end writes without its dots.
fn without_digraphs(word: &str) -> Cow<'_, str> {
    if !["ae", "oe", "ue"].iter().any(|pair| word.contains(pair)) {
        return Cow::Borrowed(word);
    }
    let mut out = String::with_capacity(word.len() + 4);
    let mut before = None;
    let mut letters = word.chars().peekable();
    while let Some(letter) = letters.next() {
        let is_before_e = letters.peek() == Some(&'e');
        out.push(match letter {
            'a' if is_before_e => 'ä',
            'o' if is_before_e => 'ö',
            // Between vowels it counts as a consonant, and is read as it is.
            'u' if is_before_e && !before.is_some_and(is_german_vowel) => 'ü',
            other => other,
        });
        before = Some(letter);
    }
    Cow::Owned(out)
}

fn is_german_vowel(letter: char) -> bool {
    "aeiouyäöü".contains(letter)
}

/// What stands for letters with commas while the stemmer is at a word: characters that no text has.
const COMMAS: [char; 2] = ['\u{fdd0}', '\u{fdd1}'];

fn with_comma(letter: char) -> char {
    match letter {
        'ș' => COMMAS[0],
        'ț' => COMMAS[1],
        'ş' => 'ș',
        'ţ' => 'ț',
        other => other,
    }
}

fn with_cedilla(letter: char) -> char {
    match letter {
        'ș' => 'ş',
        'ț' => 'ţ',
        other if other == COMMAS[0] => 'ș',
        other if other == COMMAS[1] => 'ț',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_stemmed_as_lucene_does() {
        for (name, word, stem) in [
            ("german", "oe", "oe"),
            ("german", "ßoe", "ssoe"),
            ("german", "uerß", "uerss"),
            ("german", "qoem", "qoem"),
            ("German", "häuser", "haus"),
            ("german2", "oe", "o"),
            ("romanian", "ş", "ş"),
            ("romanian", "ţq", "ţq"),
            ("romanian", "oşble", "oşble"),
            ("romanian", "și", "și"),
            ("romanian", "casele", "cas"),
            ("greek", "μια", "μια"),
            ("greek", "ζωη", "ζωη"),
            ("greek", "σπιτι", "σπιτ"),
            ("English", "organizations", "organ"),
            ("English", "universities", "univers"),
            ("English", "international", "intern"),
            ("English", "later", "later"),
            ("English", "generation", "generat"),
            ("French", "l'école", "l'écol"),
            ("Italian", "l'amico", "l'amic"),
            ("German2", "powershot's", "powershot's"),
            ("Danish", "fox's", "fox's"),
            ("Lithuanian", "fox's", "fox'"),
        ] {
            let found = Snowball::named(name).unwrap().stem(word);
            assert_eq!(found, stem, "{name}: {word}");
        }
        assert!(Snowball::named("klingon").is_err());
    }
}
