//! Letters that a script writes in several ways, in one of them, as Lucene's normalizations of languages have it.

/// The writing of a language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Letters {
    Arabic,
    Persian,
    Hindi,
}

impl Letters {
    /// The normalization of this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "arabic_normalization" => Letters::Arabic,
            "persian_normalization" => Letters::Persian,
            "hindi_normalization" => Letters::Hindi,
            _ => return None,
        })
    }

    /// A word in the one way of writing.
    pub(super) fn normalized(self, word: &str) -> String {
        match self {
            Letters::Arabic => word.chars().filter_map(arabic).collect(),
            Letters::Persian => word.chars().filter_map(persian).collect(),
            Letters::Hindi => hindi(word),
        }
    }
}

/// Without vowel signs and the stretching of words; alef, yeh and teh marbuta each in one form.
fn arabic(letter: char) -> Option<char> {
    Some(match letter {
        '\u{622}' | '\u{623}' | '\u{625}' => '\u{627}',
        '\u{649}' => '\u{64a}',
        '\u{629}' => '\u{647}',
        '\u{640}' | '\u{64b}'..='\u{652}' => return None,
        other => other,
    })
}

/// The letters that Persian writes otherwise, as Arabic does.
fn persian(letter: char) -> Option<char> {
    Some(match letter {
        '\u{6cc}' | '\u{6d2}' => '\u{64a}',
        '\u{6a9}' => '\u{643}',
        '\u{6c0}' | '\u{6c1}' => '\u{647}',
        '\u{654}' => return None,
        other => other,
    })
}

/// Long vowels as short ones, without dots below and signs that join, nasals in one form.
fn hindi(word: &str) -> String {
    let letters: Vec<char> = word.chars().collect();
    let mut out = String::with_capacity(word.len());
    let mut at = 0;
    while let Some(letter) = letters.get(at) {
        at += 1;
        let found = match letter {
            // An n that no vowel follows.
            '\u{928}' if letters.get(at) == Some(&'\u{94d}') => {
                at += 1;
                '\u{902}'
            }
            '\u{901}' => '\u{902}',
            '\u{93c}' | '\u{94d}' | '\u{200c}' | '\u{200d}' => continue,
            '\u{929}' => '\u{928}',
            '\u{931}' => '\u{930}',
            '\u{934}' => '\u{933}',
            '\u{958}' => '\u{915}',
            '\u{959}' => '\u{916}',
            '\u{95a}' => '\u{917}',
            '\u{95b}' => '\u{91c}',
            '\u{95c}' => '\u{921}',
            '\u{95d}' => '\u{922}',
            '\u{95e}' => '\u{92b}',
            '\u{95f}' => '\u{92f}',
            '\u{904}' | '\u{906}' => '\u{905}',
            '\u{908}' => '\u{907}',
            '\u{90a}' => '\u{909}',
            '\u{960}' => '\u{90b}',
            '\u{961}' => '\u{90c}',
            '\u{90d}' | '\u{90e}' | '\u{910}' => '\u{90f}',
            '\u{911}' | '\u{912}' | '\u{914}' => '\u{913}',
            '\u{940}' => '\u{93f}',
            '\u{942}' => '\u{941}',
            '\u{944}' => '\u{943}',
            '\u{963}' => '\u{962}',
            '\u{945}' | '\u{946}' | '\u{948}' => '\u{947}',
            '\u{949}' | '\u{94a}' | '\u{94c}' => '\u{94b}',
            other => *other,
        };
        out.push(found);
    }
    out
}
