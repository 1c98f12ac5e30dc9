//! How alike two words are, by the measures that Lucene's spell checker knows.

/// A measure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Likeness {
    /// Edits, of which two swapped neighbours are one, against the shorter word.
    #[default]
    Damerau,
    /// Edits, of which two swapped neighbours are two, against the longer word.
    Levenshtein,
    /// Letters that are near the same place in both words, above all those that both begin with.
    JaroWinkler,
    /// Edits of pairs of neighbours, against the longer word.
    Pairs,
}

/// Longer words are measured by their edits: the other measures look at each letter of one word for each of the other.
const LETTERS_MAX: usize = 256;
/// Words that are less alike by Jaro's measure gain nothing by how they begin.
const WINKLER_LEAST: f32 = 0.7;

impl Likeness {
    /// How alike two words are, up to 1, of which it is known by how many edits they differ.
    pub(super) fn of(self, one: &[char], other: &[char], edits: usize) -> f32 {
        let (shorter, longer) = match one.len() < other.len() {
            true => (one, other),
            false => (other, one),
        };
        let by_edits = 1.0 - number(edits) / number(shorter.len().max(1));
        if longer.len() > LETTERS_MAX {
            return by_edits;
        }
        let length = number(longer.len().max(1));
        match self {
            Likeness::Damerau => by_edits,
            Likeness::Levenshtein => 1.0 - distance(one, other, differs) / length,
            Likeness::Pairs if shorter.len() < 2 => same_places(one, other) / length,
            Likeness::Pairs => 1.0 - distance(one, other, pairs_differ) / length,
            Likeness::JaroWinkler => jaro_winkler(shorter, longer),
        }
    }
}

#[allow(clippy::cast_precision_loss, reason = "terms are short")]
fn number(count: usize) -> f32 {
    count as f32
}

/// Letters that are at the same places.
fn same_places(one: &[char], other: &[char]) -> f32 {
    let pairs = one.iter().zip(other);
    number(pairs.filter(|(one, other)| one == other).count())
}

/// What it costs to put the letter at one place in the place of another.
type Replaced = fn(&[char], usize, &[char], usize) -> f32;

fn differs(one: &[char], i: usize, other: &[char], j: usize) -> f32 {
    number(usize::from(one.get(i) != other.get(j)))
}

/// The same of a letter with the one before it, of which the first one has none: that is no part of the pair where neither
/// has one.
fn pairs_differ(one: &[char], i: usize, other: &[char], j: usize) -> f32 {
    let before = |word: &[char], at: usize| at.checked_sub(1).and_then(|at| word.get(at).copied());
    let (first, second) = (before(one, i), before(other, j));
    let of = match first.is_none() && second.is_none() {
        true => 1.0,
        false => 2.0,
    };
    (number(usize::from(first != second)) + differs(one, i, other, j)) / of
}

/// The least that letters put in, left out and replaced cost.
fn distance(one: &[char], other: &[char], replaced: Replaced) -> f32 {
    let mut last: Vec<f32> = (0..=one.len()).map(number).collect();
    let mut row = Vec::with_capacity(last.len());
    for j in 0..other.len() {
        row.clear();
        let mut left = number(j + 1);
        row.push(left);
        for (i, above) in last.windows(2).enumerate() {
            let diagonal = above[0] + replaced(one, i, other, j);
            left = (left + 1.0).min(above[1] + 1.0).min(diagonal);
            row.push(left);
        }
        std::mem::swap(&mut last, &mut row);
    }
    last.last().copied().unwrap_or_default()
}

fn jaro_winkler(shorter: &[char], longer: &[char]) -> f32 {
    let reach = (longer.len() / 2).saturating_sub(1);
    let mut taken = vec![false; longer.len()];
    let mut found = Vec::new();
    for (place, letter) in shorter.iter().enumerate() {
        let (start, end) = (place.saturating_sub(reach), place + reach + 1);
        let free = (start..end.min(longer.len())).find(|at| !taken[*at] && longer[*at] == *letter);
        if let Some(at) = free {
            taken[at] = true;
            found.push(letter);
        }
    }
    if found.is_empty() {
        return 0.0;
    }
    let there = longer.iter().zip(&taken).filter(|(_, taken)| **taken);
    let moved = found
        .iter()
        .zip(there)
        .filter(|(one, (other, _))| *one != other)
        .count()
        / 2;
    let (both, moved) = (number(found.len()), number(moved));
    let shares = both / number(shorter.len()) + both / number(longer.len());
    let jaro = (shares + (both - moved) / both) / 3.0;
    if jaro < WINKLER_LEAST {
        return jaro;
    }
    let begun = shorter
        .iter()
        .zip(longer)
        .take_while(|(one, other)| one == other)
        .count();
    let each = (1.0 / number(longer.len())).min(0.1);
    jaro + each * number(begun) * (1.0 - jaro)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_as_alike_as_in_lucene() {
        use Likeness::{JaroWinkler, Levenshtein, Pairs};
        for (one, other, measure, expected) in [
            ("quikc", "quick", Levenshtein, 0.6),
            ("quikc", "quick", JaroWinkler, 0.953_333_3),
            ("quikc", "quick", Pairs, 0.7),
            ("foxx", "fox", Levenshtein, 0.75),
            ("foxx", "fox", JaroWinkler, 0.941_666_66),
            ("runn", "runner", JaroWinkler, 0.933_333_34),
            ("runn", "runs", Pairs, 0.875),
            ("netwrk", "network", Pairs, 0.785_714_27),
            ("disc", "disk", JaroWinkler, 0.883_333_3),
            ("brwn", "brown", Levenshtein, 0.8),
        ] {
            let letters = |word: &str| word.chars().collect::<Vec<char>>();
            let found = measure.of(&letters(one), &letters(other), 1);
            assert!(
                (found - expected).abs() < 1e-5,
                "{one} {other} {measure:?}: {found}"
            );
        }
        let long: Vec<char> = "a".repeat(1000).chars().collect();
        assert!((Pairs.of(&long, &long[1..], 1) - (1.0 - 1.0 / 999.0)).abs() < 1e-6);
    }
}
