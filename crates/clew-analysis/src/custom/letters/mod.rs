//! Letters that a script writes in several ways, in one of them, as Lucene's normalizations of languages have it.

mod bengali;
mod indic;
mod nordic;
mod serbian;
mod sorani;

/// The writing of a language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Letters {
    Arabic,
    Bengali,
    Hindi,
    /// Letters of India in pieces.
    Indic,
    Persian,
    Serbian,
    Sorani,
    /// Those of Danish, Norwegian and Swedish in one way.
    Scandinavian,
    /// The same without what ASCII lacks.
    ScandinavianFolded,
}

impl Letters {
    /// The normalization of this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "arabic_normalization" => Letters::Arabic,
            "persian_normalization" => Letters::Persian,
            "hindi_normalization" => Letters::Hindi,
            "bengali_normalization" => Letters::Bengali,
            "indic_normalization" => Letters::Indic,
            "serbian_normalization" => Letters::Serbian,
            "sorani_normalization" => Letters::Sorani,
            "scandinavian_normalization" => Letters::Scandinavian,
            "scandinavian_folding" => Letters::ScandinavianFolded,
            _ => return None,
        })
    }

    /// A word in the one way of writing.
    pub(super) fn normalized(self, word: &str) -> String {
        match self {
            Letters::Arabic => word.chars().filter_map(arabic).collect(),
            Letters::Persian => word.chars().filter_map(persian).collect(),
            Letters::Hindi => hindi(word),
            Letters::Bengali => bengali::normalized(word),
            Letters::Indic => indic::normalized(word),
            Letters::Serbian => serbian::normalized(word),
            Letters::Sorani => sorani::normalized(word),
            Letters::Scandinavian => nordic::one_way(word),
            Letters::ScandinavianFolded => nordic::folded(word),
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
            '\u{906}' | '\u{972}' => '\u{905}',
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

#[cfg(test)]
mod tests {
    use super::Letters;

    /// Words and what OpenSearch makes of them.
    const ROWS: [(&str, &str); 7] = [
        (
            "bengali_normalization",
            "নিশ্চয\u{9bc}=নিস্চয\u{9bc} লক্ষ্মী=লক্স্মি শ্বাস=সাস বিশ্ব=বিসস উজ্জ্বল=উজ্জল ব্যাকরণ=বেকরন কন্যা=কনা দুঃখ=দুখখ অতঃ=অতহ প্রথমতঃ=প্রথমত চাঁদ=চাদ ক্িতি=খতি ভক্ি=ভকখ রঙ=রং হঠাৎ=হঠাত ্ব=্ব গাড\u{9bc}\u{9bc}=গাড\u{9bc}\u{9bc} বাড\u{9bc}ি=বাড\u{9bc}ি মূষিক=মুসিক",
        ),
        (
            "indic_normalization",
            "\u{905}\u{93e}\u{945}=\u{911} \u{905}\u{93e}\u{92a}=\u{906}\u{92a} \u{92c}\u{93e}\u{921}\u{9bc}\u{9bf}=\u{92c}\u{93e}\u{921}\u{9bc}\u{9bf} \u{9a1}\u{9bc}\u{9bf}=\u{9dc}\u{9bf} \u{9a3}\u{9cd}\u{200d}=\u{9a3}\u{9cd}\u{200d} \u{9a4}\u{9cd}\u{200d}=\u{9ce} \u{995}\u{9c7}\u{9be}=\u{995}\u{9cb} \u{a05}\u{a3e}=\u{a06} \u{a73}\u{a41}=\u{a09} \u{a85}\u{abe}\u{ac5}=\u{a91} \u{b92}\u{bd7}=\u{b94} \u{c2c}\u{c41}\u{c41}=\u{c0b} \u{c95}\u{cc6}\u{cc2}\u{cd5}=\u{c95}\u{ccb} \u{d28}\u{d4d}\u{200d}=\u{d7b} \u{915}\u{93c}=\u{958} \u{928}\u{93c}=\u{929}",
        ),
        (
            "sorani_normalization",
            "كوردي=کوردی دەنگيى=دەنگیی هةولير=هەولیر ئهو=ئهو پيه\u{200c}مان=پیەمان رۆژ=ڕۆژ وڒ=وڕ هھ\u{200c}ب=هەب كـوردستان\u{64e}=کوردستان \u{202b}کە=کە هـ=ه",
        ),
        (
            "serbian_normalization",
            "Ђорђе=Ђordje љубав=ljubav đak=djak čaša=casa џеп=dzep абв-xyz=abv-xyz",
        ),
        (
            "scandinavian_normalization",
            "blaabærsyltetöj=blåbærsyltetøj räksmörgås=ræksmørgås Aarhus=Århus øoe=øø aae=åe AESE=ÆSE kaos=kås",
        ),
        (
            "scandinavian_folding",
            "blåbärsyltetøj=blabarsyltetoj räksmörgås=raksmorgas Aarhus=Arhus øoe=oo aae=ae Ærø=Aro kaos=kas",
        ),
        ("hindi_normalization", "ॲप=अप आप=अप ऄ=ऄ हिन्दी=हिंदि क़लम=कलम"),
    ];

    #[test]
    fn letters_are_those_of_opensearch() {
        for (name, rows) in ROWS {
            let letters = Letters::named(name).unwrap();
            for (word, normal) in rows.split(' ').filter_map(|row| row.split_once('=')) {
                assert_eq!(letters.normalized(word), normal, "{name}: {word}");
            }
        }
    }
}
