//! Indonesian, by Tala ("A study of stemming effects on information retrieval in Bahasa Indonesia", 2003): particles and
//! possessives, then prefixes and suffixes, of which some do not go together.

use super::Word;

/// Prefixes that tell which suffixes a word cannot have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Prefix {
    Ke,
    Peng,
    Di,
    Meng,
    Ter,
    Ber,
    Pe,
    /// It says nothing of suffixes.
    Per,
}

/// Prefixes of the first order: what is taken, what stands in its place, and whether a vowel must follow.
const FIRST: [(&str, &str, bool, Prefix); 14] = [
    ("meng", "", false, Prefix::Meng),
    ("meny", "s", true, Prefix::Meng),
    ("men", "", false, Prefix::Meng),
    ("mem", "", false, Prefix::Meng),
    ("me", "", false, Prefix::Meng),
    ("peng", "", false, Prefix::Peng),
    ("peny", "s", true, Prefix::Peng),
    ("peny", "", false, Prefix::Peng),
    ("pen", "t", true, Prefix::Peng),
    ("pen", "", false, Prefix::Peng),
    ("pem", "", false, Prefix::Peng),
    ("di", "", false, Prefix::Di),
    ("ter", "", false, Prefix::Ter),
    ("ke", "", false, Prefix::Ke),
];

/// Suffixes, and the prefixes that they do not go with.
const SUFFIXES: [(&str, &[Prefix]); 3] = [
    ("kan", &[Prefix::Ke, Prefix::Peng, Prefix::Pe]),
    ("an", &[Prefix::Di, Prefix::Meng, Prefix::Ter]),
    ("i", &[Prefix::Ber, Prefix::Ke, Prefix::Peng]),
];

pub(super) fn stem(word: &mut Word) {
    let mut stem = Stem {
        syllables: word.0.iter().filter(|letter| is_vowel(**letter)).count(),
        lost: Vec::new(),
        word,
    };
    stem.cut_end(&["kah", "lah", "pun"]);
    stem.cut_end(&["ku", "mu", "nya"]);
    if stem.first_prefix() {
        if stem.suffix() {
            stem.second_prefix();
        }
    } else {
        stem.second_prefix();
        stem.suffix();
    }
}

fn is_vowel(letter: char) -> bool {
    matches!(letter, 'a' | 'e' | 'i' | 'o' | 'u')
}

/// A word on its way; what it loses counts as one syllable each time, and two are left.
struct Stem<'w> {
    word: &'w mut Word,
    syllables: usize,
    lost: Vec<Prefix>,
}

impl Stem<'_> {
    fn has_more(&self) -> bool {
        self.syllables > 2
    }

    fn cut_end(&mut self, endings: &[&str]) -> bool {
        let mut endings = endings.iter();
        let found = self.has_more() && endings.any(|ending| self.word.change((0, ending, "")));
        self.syllables -= usize::from(found);
        found
    }

    fn cut_start(&mut self, letters: usize, put: &str, prefix: Prefix) -> bool {
        self.word.0.splice(..letters, put.chars());
        self.syllables -= 1;
        self.lost.push(prefix);
        true
    }

    fn starts(&self, prefix: &str) -> bool {
        let letters = self.word.0.iter().copied();
        letters.take(prefix.len()).eq(prefix.chars())
    }

    fn letter(&self, at: usize) -> Option<char> {
        self.word.0.get(at).copied()
    }

    fn first_prefix(&mut self) -> bool {
        if !self.has_more() {
            return false;
        }
        let found = FIRST.iter().find(|(prefix, _, before_vowel, _)| {
            self.starts(prefix)
                && (!before_vowel || self.letter(prefix.len()).is_some_and(is_vowel))
        });
        found.is_some_and(|(prefix, put, _, lost)| self.cut_start(prefix.len(), put, *lost))
    }

    fn second_prefix(&mut self) -> bool {
        if !self.has_more() {
            return false;
        }
        let is_whole = |whole: &str| self.word.len() == whole.len() && self.starts(whole);
        if self.starts("ber") || is_whole("belajar") {
            return self.cut_start(3, "", Prefix::Ber);
        }
        let before_er = self.letter(2).is_some_and(|letter| !is_vowel(letter))
            && (self.letter(3), self.letter(4)) == (Some('e'), Some('r'));
        if self.starts("be") && before_er {
            return self.cut_start(2, "", Prefix::Ber);
        }
        if self.starts("per") || is_whole("pelajar") {
            return self.cut_start(3, "", Prefix::Per);
        }
        self.starts("pe") && self.cut_start(2, "", Prefix::Pe)
    }

    fn suffix(&mut self) -> bool {
        let goes_with = |prefixes: &[Prefix]| {
            let mut lost = self.lost.iter();
            lost.all(|prefix| !prefixes.contains(prefix))
        };
        let found = SUFFIXES.iter().find(|(suffix, not_with)| {
            self.word.ends(suffix)
                && goes_with(not_with)
                && (*suffix != "i" || !self.word.ends("si"))
        });
        found.is_some_and(|(suffix, _)| self.cut_end(&[suffix]))
    }
}
