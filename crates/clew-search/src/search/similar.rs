//! Terms of a field that are spelled like another one.

use std::collections::HashMap;

use clew_platform::Pace;
use clew_query::{QueryError, unless_stopped};
use tantivy::Term;

use super::likeness::Likeness;
use crate::snapshot::Snapshot;

/// How alike terms must be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spelling {
    /// Most characters that differ, at most 2.
    pub edits_max: usize,
    /// Characters at the beginning that must be the same.
    pub prefix: usize,
    /// Shorter words are not corrected.
    pub length_min: usize,
    /// Terms that are less alike are none.
    pub accuracy: f32,
    /// What says how alike they are.
    pub likeness: Likeness,
}

impl Default for Spelling {
    fn default() -> Self {
        Spelling {
            edits_max: 2,
            prefix: 1,
            length_min: 4,
            accuracy: 0.5,
            likeness: Likeness::default(),
        }
    }
}

/// A term that is spelled like the one that was asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct SimilarTerm {
    /// The term.
    pub text: String,
    /// How alike the two are, up to 1.
    pub score: f32,
    /// In how many documents it is.
    pub docs: u64,
}

/// In how many documents of a shard a field has a term.
///
/// # Errors
/// When a term dictionary cannot be read.
pub fn term_docs(snapshot: &Snapshot, path: &str, term: &str) -> Result<u64, QueryError> {
    let field = snapshot.mapping.field(path);
    let Some(field) = field.and_then(|mapped| snapshot.searchable(mapped)) else {
        return Ok(0);
    };
    Ok(snapshot.doc_freq(&Term::from_field_text(field, term))?)
}

/// The terms of a shard's field that are spelled like a term, in no particular order.
///
/// # Errors
/// When a term dictionary cannot be read.
pub fn similar_terms(
    snapshot: &Snapshot,
    path: &str,
    term: &str,
    spelling: Spelling,
) -> Result<Vec<SimilarTerm>, QueryError> {
    let wanted: Vec<char> = term.chars().collect();
    let field = snapshot.mapping.field(path);
    let Some(field) = field.and_then(|mapped| snapshot.searchable(mapped)) else {
        return Ok(Vec::new());
    };
    if wanted.len() < spelling.length_min {
        return Ok(Vec::new());
    }
    let prefix: String = wanted.iter().take(spelling.prefix).collect();
    let mut found: Vec<SimilarTerm> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for reader in &snapshot.readers {
        let inverted = reader.inverted_index(field)?;
        let mut terms = inverted
            .terms()
            .range()
            .ge(prefix.as_bytes())
            .into_stream()?;
        let mut pace = Pace::default();
        while terms.advance() && !pace.is_over() {
            let Ok(text) = std::str::from_utf8(terms.key()) else {
                continue;
            };
            if !text.starts_with(&prefix) {
                break;
            }
            if text == term {
                continue;
            }
            let Some((edits, other)) = edits(&wanted, text, spelling.edits_max) else {
                continue;
            };
            let score = spelling.likeness.of(&wanted, &other, edits);
            if score < spelling.accuracy {
                continue;
            }
            let docs = u64::from(terms.value().doc_freq);
            if let Some(at) = places.get(text) {
                found[*at].docs += docs;
                continue;
            }
            places.insert(text.to_string(), found.len());
            found.push(SimilarTerm {
                text: text.to_string(),
                score,
                docs,
            });
        }
    }
    unless_stopped()?;
    Ok(found)
}

/// How many characters differ, and those of the other term; `None` when too many differ. Costs the length times
/// twice as many as may differ: what lies farther from the same place in both is farther than that.
fn edits(wanted: &[char], text: &str, max: usize) -> Option<(usize, Vec<char>)> {
    // A character has one to four bytes.
    if text.len() + max < wanted.len() || text.len() > 4 * (wanted.len() + max) {
        return None;
    }
    let other: Vec<char> = text.chars().collect();
    if wanted.len().abs_diff(other.len()) > max {
        return None;
    }
    // Rows hold what is within the band, and one that is too far everywhere else.
    let far = max + 1;
    let mut before = vec![far; other.len() + 1];
    let mut last = before.clone();
    let mut row = before.clone();
    for j in band(0, max, other.len()) {
        last[j] = j;
    }
    for i in 1..=wanted.len() {
        let mut least = far;
        let columns = band(i, max, other.len());
        // What the row held three rows ago lies to the left and may be looked at.
        if let Some(left) = columns.start().checked_sub(1) {
            row[left] = far;
        }
        for j in columns {
            row[j] = match j.checked_sub(1) {
                None => i,
                Some(left) => {
                    let differs = usize::from(wanted[i - 1] != other[left]);
                    let best = (last[left] + differs).min(last[j] + 1).min(row[left] + 1);
                    let swapped = i > 1
                        && j > 1
                        && wanted[i - 1] == other[j - 2]
                        && wanted[i - 2] == other[left];
                    match swapped {
                        true => best.min(before[j - 2] + 1),
                        false => best,
                    }
                }
            };
            least = least.min(row[j]);
        }
        if least > max {
            return None;
        }
        // The next row, and the one that is made anew.
        std::mem::swap(&mut before, &mut last);
        std::mem::swap(&mut last, &mut row);
    }
    let edits = last[other.len()];
    (edits <= max).then_some((edits, other))
}

/// The places of the other term that are near enough to a place of this one.
fn band(place: usize, max: usize, length: usize) -> std::ops::RangeInclusive<usize> {
    place.saturating_sub(max)..=place.saturating_add(max).min(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(a: &str, b: &str, expected: Option<usize>) {
        let wanted: Vec<char> = a.chars().collect();
        assert_eq!(
            edits(&wanted, b, 2).map(|(edits, _)| edits),
            expected,
            "{a} {b}"
        );
    }

    #[test]
    fn swapped_neighbours_are_one_edit() {
        check("amsterdma", "amsterdam", Some(1));
        check("meetpu", "meetup", Some(1));
        check("abcd", "abcd", Some(0));
        check("abcd", "abxy", Some(2));
        check("abcd", "wxyz", None);
        check("abcd", "abcdefg", None);
    }

    /// The same from the whole table.
    fn plain(a: &[char], b: &[char]) -> usize {
        let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
        for i in 0..=a.len() {
            for j in 0..=b.len() {
                table[i][j] = if i == 0 || j == 0 {
                    i + j
                } else {
                    let differs = usize::from(a[i - 1] != b[j - 1]);
                    let mut best = table[i - 1][j - 1] + differs;
                    best = best.min(table[i - 1][j] + 1).min(table[i][j - 1] + 1);
                    if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                        best = best.min(table[i - 2][j - 2] + 1);
                    }
                    best
                };
            }
        }
        table[a.len()][b.len()]
    }

    #[test]
    fn the_band_says_what_the_whole_table_says() {
        let words: Vec<String> = (0..729_u32)
            .map(|n| {
                let digits = (0..6).map(|at| n / 3_u32.pow(at) % 3);
                let letters = digits.map(|digit| ['a', 'b', 'é'][digit as usize]);
                letters.take(n as usize % 7).collect()
            })
            .collect();
        for a in words.iter().step_by(3) {
            let a: Vec<char> = a.chars().collect();
            for b in &words {
                let other: Vec<char> = b.chars().collect();
                let all = plain(&a, &other);
                for max in [1, 2] {
                    let expected = (all <= max).then(|| (all, other.clone()));
                    assert_eq!(edits(&a, b, max), expected, "{a:?} {b} {max}");
                }
            }
        }
    }

    #[test]
    fn five_places_of_another_word_are_looked_at_for_each_of_a_word() {
        let length = 30_000;
        let looked = (1..=length).map(|place| band(place, 2, length).count());
        assert!(looked.sum::<usize>() <= 5 * length);
        let word = "a".repeat(length);
        let wanted: Vec<char> = word.chars().collect();
        let found = edits(&wanted, &format!("{word}b"), 2);
        assert_eq!(
            found.map(|(edits, other)| (edits, other.len())),
            Some((1, length + 1))
        );
    }
}
