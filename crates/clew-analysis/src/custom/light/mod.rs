//! Light stemmers: they take off what inflection adds and leave what derivation adds, so that fewer
//! words become the same term than under Snowball's stemmers.
//!
//! Savoy's for French, German, Italian, Portuguese, Russian, Spanish and Swedish ("Light stemming
//! approaches for the French, Portuguese, German and Hungarian languages", 2006), and others that take
//! off plurals only, and Porter's for English, as Lucene reads all of them. A word's endings are rules: how long the word must
//! be, the ending, and what stands in its place. All count letters, not bytes.

mod arabic;
mod bengali;
mod brazilian;
mod bulgarian;
mod caumanns;
mod czech;
mod finnish;
mod french;
mod german;
mod hindi;
mod hungarian;
mod indonesian;
mod latvian;
mod norwegian;
mod persian;
mod plural;
mod porter;
mod romance;
mod slavic;
mod sorani;
mod swedish;

pub(super) use german::normalized as german_normalized;

use norwegian::Norwegian;

/// One light stemmer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Light {
    Arabic,
    Bengali,
    Brazilian,
    Bulgarian,
    /// What the filter `german_stem` does; no stemmer by its name.
    Caumanns,
    Czech,
    Finnish,
    French,
    German,
    Hindi,
    Hungarian,
    Indonesian,
    Italian,
    Latvian,
    Norwegian(Norwegian),
    Persian,
    Portuguese,
    Russian,
    Sorani,
    Spanish,
    Swedish,
    PluralNorwegian(Norwegian),
    PluralEnglish,
    /// Plurals with the `e` of `boxes`.
    PluralsEnglish,
    PluralFrench,
    PluralGerman,
    PluralPortuguese,
    Porter,
}

impl Light {
    /// The stemmer that goes by this name in settings.
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "arabic" => Light::Arabic,
            "bengali" => Light::Bengali,
            "brazilian" => Light::Brazilian,
            "bulgarian" => Light::Bulgarian,
            "czech" => Light::Czech,
            "hindi" => Light::Hindi,
            "indonesian" => Light::Indonesian,
            "latvian" => Light::Latvian,
            "light_finnish" => Light::Finnish,
            "light_french" => Light::French,
            "light_german" => Light::German,
            "light_hungarian" => Light::Hungarian,
            "light_italian" => Light::Italian,
            "light_norwegian" => Light::Norwegian(Norwegian::Bokmaal),
            "light_nynorsk" => Light::Norwegian(Norwegian::Nynorsk),
            "light_portuguese" => Light::Portuguese,
            "light_russian" => Light::Russian,
            "light_spanish" => Light::Spanish,
            "light_swedish" => Light::Swedish,
            "minimal_norwegian" => Light::PluralNorwegian(Norwegian::Bokmaal),
            "minimal_nynorsk" => Light::PluralNorwegian(Norwegian::Nynorsk),
            "persian" => Light::Persian,
            "sorani" => Light::Sorani,
            "minimal_english" => Light::PluralEnglish,
            "plural_english" | "pluralenglish" => Light::PluralsEnglish,
            "minimal_french" => Light::PluralFrench,
            "minimal_german" => Light::PluralGerman,
            "english" | "porter" => Light::Porter,
            "minimal_portuguese" => Light::PluralPortuguese,
            _ => return None,
        })
    }

    /// The stem of a word in lower case.
    pub(super) fn stem(self, word: &str) -> String {
        let mut word = Word(word.chars().collect());
        match self {
            Light::Arabic => arabic::stem(&mut word),
            Light::Bengali => bengali::stem(&mut word),
            Light::Brazilian => brazilian::stem(&mut word),
            Light::Bulgarian => bulgarian::stem(&mut word),
            Light::Caumanns => caumanns::stem(&mut word),
            Light::Czech => czech::stem(&mut word),
            Light::Finnish => finnish::stem(&mut word),
            Light::French => french::stem(&mut word),
            Light::German => german::stem(&mut word),
            Light::Hindi => hindi::stem(&mut word),
            Light::Hungarian => hungarian::stem(&mut word),
            Light::Indonesian => indonesian::stem(&mut word),
            Light::Italian => romance::italian(&mut word),
            Light::Latvian => latvian::stem(&mut word),
            Light::Norwegian(way) => norwegian::light(&mut word, way),
            Light::Persian => persian::stem(&mut word),
            Light::Portuguese => romance::portuguese(&mut word),
            Light::Russian => slavic::russian(&mut word),
            Light::Sorani => sorani::stem(&mut word),
            Light::Spanish => romance::spanish(&mut word),
            Light::Swedish => swedish::stem(&mut word),
            Light::PluralEnglish => plural::english(&mut word),
            Light::PluralsEnglish => plural::plurals(&mut word),
            Light::PluralFrench => plural::french(&mut word),
            Light::PluralGerman => plural::german(&mut word),
            Light::PluralNorwegian(way) => norwegian::minimal(&mut word, way),
            Light::PluralPortuguese => plural::portuguese(&mut word),
            Light::Porter => porter::stem(&mut word),
        }
        word.0.into_iter().collect()
    }
}

/// A word that loses its ending, letter by letter.
struct Word(Vec<char>);

/// An ending that words lose that have more letters than a number: what stands in its place.
type Ending = (usize, &'static str, &'static str);

impl Word {
    fn len(&self) -> usize {
        self.0.len()
    }

    /// The last letter but so many.
    fn last(&self, before: usize) -> Option<char> {
        let at = self.len().checked_sub(before + 1)?;
        self.0.get(at).copied()
    }

    fn ends(&self, ending: &str) -> bool {
        let mut letters = self.0.iter().rev();
        ending
            .chars()
            .rev()
            .all(|letter| letters.next() == Some(&letter))
    }

    /// Takes off so many letters.
    fn cut(&mut self, letters: usize) {
        let left = self.len().saturating_sub(letters);
        self.0.truncate(left);
    }

    /// Puts another letter in the place of the last but so many.
    fn put_last(&mut self, before: usize, letter: char) {
        let at = self.len().checked_sub(before + 1);
        if let Some(place) = at.and_then(|at| self.0.get_mut(at)) {
            *place = letter;
        }
    }

    /// Takes off the last letter where it is one of these.
    fn cut_last(&mut self, letters: &[char]) -> bool {
        let found = self.last(0).is_some_and(|last| letters.contains(&last));
        if found {
            self.cut(1);
        }
        found
    }

    /// Puts something in the place of an ending that a longer word has; whether it had it.
    fn change(&mut self, (longer_than, ending, put): (usize, &str, &str)) -> bool {
        let found = self.len() > longer_than && self.ends(ending);
        if found {
            self.cut(ending.chars().count());
            self.0.extend(put.chars());
        }
        found
    }

    /// Applies the first rule that fits; whether one did.
    fn change_first(&mut self, rules: &[Ending]) -> bool {
        rules.iter().any(|rule| self.change(*rule))
    }

    /// Takes off the first of the endings that it has; they are listed by the letters that a word must have more
    /// than, between spaces. Whether it had one.
    fn cut_listed(&mut self, endings: &[(usize, &str)]) -> bool {
        endings.iter().any(|(longer_than, endings)| {
            let mut endings = endings.split_whitespace();
            endings.any(|ending| self.change((*longer_than, ending, "")))
        })
    }

    /// Takes off one of two letters that are the same at the end.
    fn cut_double(&mut self) {
        if let (Some(last), Some(before)) = (self.last(0), self.last(1))
            && last == before
            && last.is_alphabetic()
        {
            self.cut(1);
        }
    }

    /// Takes accents off the vowels that a language marks so.
    fn plain(&mut self, accents: &[(&str, char)]) {
        for letter in &mut self.0 {
            let found = accents.iter().find(|(marked, _)| marked.contains(*letter));
            if let Some((_, plain)) = found {
                *letter = *plain;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stems_are_those_of_opensearch() {
        for (name, words) in include_str!("stems.txt")
            .split("\n\n")
            .filter_map(|part| part.split_once('\n'))
        {
            let stemmer = Light::named(name).unwrap();
            for (word, stem) in words.lines().filter_map(|line| line.split_once(' ')) {
                assert_eq!(stemmer.stem(word), stem, "{name}: {word}");
            }
        }
    }

    #[test]
    fn english_plurals_lose_no_more_than_their_ending() {
        let stemmer = Light::named("plural_english").unwrap();
        for (word, stem) in [
            ("boxes", "box"),
            ("axes", "axe"),
            ("shoes", "shoe"),
            ("potatoes", "potato"),
            ("dishes", "dish"),
            ("classes", "class"),
            ("caches", "cache"),
            ("beaches", "beach"),
            ("spies", "spy"),
            ("pies", "pie"),
            ("houses", "house"),
            ("bus", "bus"),
            ("glass", "glass"),
            ("running", "running"),
            ("is", "is"),
        ] {
            assert_eq!(stemmer.stem(word), stem, "{word}");
        }
    }

    #[test]
    fn anything_has_a_stem() {
        for name in [
            "",
            "x",
            "é",
            "ss",
            "eee",
            "ß",
            "日本語",
            "\u{0301}",
            "issement",
            "xxxxxxxxxxxx",
        ] {
            for stemmer in [
                Light::Arabic,
                Light::Bulgarian,
                Light::Czech,
                Light::Hindi,
                Light::Latvian,
                Light::French,
                Light::German,
                Light::Italian,
                Light::Portuguese,
                Light::Russian,
                Light::Spanish,
                Light::Swedish,
                Light::PluralEnglish,
                Light::PluralsEnglish,
                Light::PluralFrench,
                Light::PluralGerman,
                Light::PluralPortuguese,
                Light::Porter,
                Light::Bengali,
                Light::Brazilian,
                Light::Finnish,
                Light::Hungarian,
                Light::Indonesian,
                Light::Norwegian(Norwegian::Bokmaal),
                Light::Norwegian(Norwegian::Nynorsk),
                Light::Persian,
                Light::PluralNorwegian(Norwegian::Bokmaal),
                Light::PluralNorwegian(Norwegian::Nynorsk),
                Light::Sorani,
            ] {
                assert!(stemmer.stem(name).chars().count() <= name.chars().count());
            }
        }
    }
}
