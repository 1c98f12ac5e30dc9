//! Where the words of a phrase are in a text.

use clew_analysis::Token;
use clew_platform::Pace;

/// The words of a phrase, wherever it is.
pub(super) fn phrase(
    words: &[Token],
    terms: &[String],
    (slop, open): (usize, bool),
    pace: &mut Pace,
) -> Vec<usize> {
    if slop > 0 && !open {
        return near(words, terms, slop, pace);
    }
    let mut found = Vec::new();
    for start in 0..words.len() {
        if pace.is_over() {
            break;
        }
        found.extend(phrase_at(words, start, terms, (slop, open)));
    }
    found
}

/// Words near each other, in any order: from the first of each on, the one that lies first always moves on.
fn near(words: &[Token], terms: &[String], slop: usize, pace: &mut Pace) -> Vec<usize> {
    let places = |term: &String| -> Vec<usize> {
        let words = words.iter().enumerate();
        let found = words.filter(|(_, word)| word.text == *term);
        found.map(|(at, _)| at).collect()
    };
    let places: Vec<Vec<usize>> = terms.iter().map(places).collect();
    let mut at = vec![0; places.len()];
    let mut found = Vec::new();
    loop {
        let now = places.iter().zip(&at).map(|(of_term, at)| of_term.get(*at));
        let Some(now) = now
            .map(Option::<&usize>::copied)
            .collect::<Option<Vec<usize>>>()
        else {
            return found;
        };
        let (Some(first), Some(last)) = (now.iter().min(), now.iter().max()) else {
            return found;
        };
        let width = words[*last].position - words[*first].position + 1;
        if width <= slop + terms.len() {
            found.extend(&now);
        }
        if pace.is_over() {
            return found;
        }
        if let Some(moves) = now.iter().position(|one| one == first) {
            at[moves] += 1;
        }
    }
}

/// The words of a phrase that starts at one; none when it does not.
fn phrase_at(
    words: &[Token],
    start: usize,
    terms: &[String],
    (slop, open): (usize, bool),
) -> Vec<usize> {
    let Some((first, rest)) = terms.split_first() else {
        return Vec::new();
    };
    if words[start].text != *first {
        return Vec::new();
    }
    let mut places = vec![start];
    let mut at = start;
    let mut left = slop;
    for (number, term) in rest.iter().enumerate() {
        let last = number + 1 == rest.len();
        // No farther than the term may be: it is looked for anew from every word that the phrase may begin with.
        let gap = |word: usize| words[word].position.saturating_sub(words[at].position + 1);
        let near = (at + 1..words.len()).take_while(|word| gap(*word) <= left);
        let next = near.into_iter().find(|word| {
            let text = &words[*word].text;
            text == term || (open && last && text.starts_with(term.as_str()))
        });
        let Some(next) = next else {
            return Vec::new();
        };
        let gap = gap(next);
        left -= gap;
        at = next;
        places.push(next);
    }
    places
}
