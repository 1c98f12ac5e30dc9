//! Stemmers that take off plurals and little else.

use super::{Ending, Word};

/// English, as Harman's stemmer of the letter s does it ("How effective is suffixing?", 1991).
pub(super) fn english(word: &mut Word) {
    if word.len() < 3 || !word.ends("s") || word.ends("us") || word.ends("ss") {
        return;
    }
    if word.ends("ies") && word.len() > 3 && !matches!(word.last(3), Some('a' | 'e')) {
        word.change((3, "ies", "y"));
        return;
    }
    let stays = word.ends("es") && matches!(word.last(2), Some('i' | 'a' | 'o' | 'e'));
    if !stays {
        word.cut(1);
    }
}

/// English words that end in `oes` or `ches` and keep their `e`, by their ending.
const KEPT: [(&str, &[&str]); 2] = [
    ("oes", &["shoes", "canoes", "oboes"]),
    (
        "ches",
        &[
            "cliches",
            "avalanches",
            "mustaches",
            "moustaches",
            "quiches",
            "headaches",
            "heartaches",
            "porsches",
            "tranches",
            "caches",
        ],
    ),
];

/// English plurals and nothing else, with the `e` of `boxes` and `dishes`.
pub(super) fn plurals(word: &mut Word) {
    if word.len() < 3 || !word.ends("s") || word.ends("us") || word.ends("ss") {
        return;
    }
    let rules: [Ending; 6] = [
        (4, "ies", "y"),
        (4, "xes", "x"),
        (3, "oes", "o"),
        (4, "shes", "sh"),
        (4, "sses", "ss"),
        (4, "ches", "ch"),
    ];
    let keeps = |(ending, words): &(&str, &[&str])| {
        word.ends(ending) && words.iter().any(|kept| word.ends(kept))
    };
    if KEPT.iter().any(keeps) || !word.change_first(&rules) {
        word.cut(1);
    }
}

/// French.
pub(super) fn french(word: &mut Word) {
    if word.len() < 6 {
        return;
    }
    if word.ends("x") {
        word.change((0, "aux", "alx"));
        word.cut(1);
        return;
    }
    for letter in ['s', 'r', 'e', 'é'] {
        word.cut_last(&[letter]);
    }
    word.cut_double();
}

/// German.
pub(super) fn german(word: &mut Word) {
    if word.len() < 5 {
        return;
    }
    word.plain(&[("ä", 'a'), ("ö", 'o'), ("ü", 'u')]);
    let rules: [Ending; 9] = [
        (6, "nen", ""),
        (5, "en", ""),
        (5, "se", ""),
        (5, "es", ""),
        (5, "er", ""),
        (0, "n", ""),
        (0, "e", ""),
        (0, "s", ""),
        (0, "r", ""),
    ];
    word.change_first(&rules);
}

/// Portuguese words that only look like plurals, by their ending.
const NO_PLURALS: [(Ending, usize, &[&str]); 11] = [
    ((0, "ns", "m"), 1, &[]),
    ((0, "ões", "ão"), 3, &[]),
    ((0, "ães", "ão"), 1, &["mães"]),
    ((0, "ais", "al"), 1, &["cais", "mais"]),
    ((0, "éis", "el"), 2, &[]),
    ((0, "eis", "el"), 2, &[]),
    ((0, "óis", "ol"), 2, &[]),
    (
        (0, "is", "il"),
        2,
        &[
            "lápis",
            "cais",
            "mais",
            "crúcis",
            "biquínis",
            "pois",
            "depois",
            "dois",
            "leis",
        ],
    ),
    ((0, "les", "l"), 3, &[]),
    ((0, "res", "r"), 3, &["árvores"]),
    (
        (0, "s", ""),
        2,
        &[
            "aliás", "pires", "lápis", "cais", "mais", "mas", "menos", "férias", "fezes",
            "pêsames", "crúcis", "gás", "atrás", "moisés", "através", "convés", "ês", "país",
            "após", "ambas", "ambos", "messias", "depois",
        ],
    ),
];

/// Portuguese, by the first step of Orengo and Huyck's stemmer ("A stemming algorithm for the Portuguese
/// language", 2001).
pub(super) fn portuguese(word: &mut Word) {
    if word.len() < 3 || !word.ends("s") {
        return;
    }
    let whole: String = word.0.iter().collect();
    for (ending, stem_min, exceptions) in NO_PLURALS {
        let letters = ending.1.chars().count();
        if word.ends(ending.1)
            && word.len() >= letters + stem_min
            && !exceptions.contains(&whole.as_str())
        {
            word.change(ending);
            return;
        }
    }
}
