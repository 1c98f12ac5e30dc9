//! Terms of a field that are spelled like another one.

use std::collections::HashMap;

use clew_platform::Pace;
use clew_query::{QueryError, unless_stopped};
use tantivy::Term;

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
}

impl Default for Spelling {
    fn default() -> Self {
        Spelling {
            edits_max: 2,
            prefix: 1,
            length_min: 4,
            accuracy: 0.5,
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
            let Some((edits, length)) = edits(&wanted, text, spelling.edits_max) else {
                continue;
            };
            let score = likeness(edits, wanted.len().min(length));
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

#[allow(clippy::cast_precision_loss, reason = "terms are short")]
fn likeness(edits: usize, length: usize) -> f32 {
    1.0 - edits as f32 / length.max(1) as f32
}

/// How many characters differ, and how many the other term has; `None` when too many differ.
fn edits(wanted: &[char], text: &str, max: usize) -> Option<(usize, usize)> {
    let other: Vec<char> = text.chars().collect();
    if wanted.len().abs_diff(other.len()) > max {
        return None;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=other.len()).collect();
    for i in 1..=wanted.len() {
        let mut row = vec![i];
        for j in 1..=other.len() {
            let differs = usize::from(wanted[i - 1] != other[j - 1]);
            let mut best = (last[j - 1] + differs).min(last[j] + 1).min(row[j - 1] + 1);
            let swapped =
                i > 1 && j > 1 && wanted[i - 1] == other[j - 2] && wanted[i - 2] == other[j - 1];
            if swapped {
                best = best.min(before[j - 2] + 1);
            }
            row.push(best);
        }
        if row.iter().min().is_none_or(|least| *least > max) {
            return None;
        }
        before = std::mem::replace(&mut last, row);
    }
    let edits = *last.last()?;
    (edits <= max).then_some((edits, other.len()))
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
}
