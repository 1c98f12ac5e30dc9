//! Words that are near another word: the nearest of all segments, found with one automaton, and where their
//! postings lie, which the same walk tells.

use std::cmp::Ordering;

use tantivy::schema::Field;
use tantivy::{SegmentReader, Term as IndexTerm};

use super::compound::any;
use super::text::{EXPANSIONS_MAX, is_match_only, must_be_indexed};
use super::{Compiler, Node};
use crate::mapping::{FieldKind, MappedField};
use crate::query::automaton::Nearby;
use crate::query::constant::{Borrowed, knows};
use crate::query::error::QueryError;
use crate::query::near::Near;
use crate::query::tree::Fuzziness;
use crate::ranked::{FoundWord, SearchedField};

/// A word that is near, and where its postings lie.
struct NearWord {
    text: String,
    similarity: f32,
    found: FoundWord,
}

/// A word of one segment that is near.
struct Candidate {
    similarity: f32,
    text: String,
    segment: usize,
    /// Its place among the words of the segment.
    number: u64,
}

impl Candidate {
    /// The most similar first; among these in the order of words, and of segments.
    fn order(&self, other: &Self) -> Ordering {
        let texts = self.text.cmp(&other.text);
        let similar = other.similarity.total_cmp(&self.similarity);
        similar.then(texts).then(self.segment.cmp(&other.segment))
    }
}

impl Compiler<'_> {
    pub(super) fn fuzzy(
        &mut self,
        path: &str,
        word: &str,
        fuzziness: &Fuzziness,
        boost: f32,
    ) -> Result<Node, QueryError> {
        let Some((mapped, field)) = self.field(path) else {
            return Ok(Node::nothing());
        };
        match mapped.kind {
            FieldKind::Text { .. } | FieldKind::Keyword { .. } => {
                must_be_indexed(mapped)?;
                self.nearby_terms((mapped, field), word, fuzziness, boost)
            }
            _ => Err(QueryError::create(format!(
                "Can only use fuzzy queries on keyword and text fields - not on [{path}] which is \
                 of type [{}]",
                mapped.kind.type_name()
            ))),
        }
    }

    /// The nearest terms; all score as if they were as frequent as the most frequent of them, and
    /// less the farther they are.
    pub(super) fn nearby_terms(
        &mut self,
        (mapped, field): (&MappedField, Field),
        word: &str,
        fuzziness: &Fuzziness,
        boost: f32,
    ) -> Result<Node, QueryError> {
        let length = word.chars().count();
        if fuzziness.edits(length) == 0 || fuzziness.prefix_length >= length {
            return self.word(mapped, field, word, boost);
        }
        let words = self.nearby_words(field, word, fuzziness)?;
        let most = words.iter().map(|near| near.found.frequency()).max();
        let most = most.unwrap_or(0);
        let mut nodes = Vec::with_capacity(words.len());
        for near in words {
            let own = near.found.frequency();
            let term = IndexTerm::from_field_text(field, &near.text);
            let node = if is_match_only(mapped) {
                self.counted_term(term, boost)?
            } else {
                let found = (term, near.found);
                self.term_with_frequency(mapped, found, most, boost * near.similarity)?
            };
            let dead = self.context.snapshot.dead_docs();
            nodes.push(Node {
                at_least: own.saturating_sub(dead),
                exact: dead == 0 && own == most,
                ..node
            });
        }
        Ok(any(nodes, 1))
    }

    /// The nearest words of all segments, the most similar first.
    fn nearby_words(
        &self,
        field: Field,
        word: &str,
        fuzziness: &Fuzziness,
    ) -> Result<Vec<NearWord>, QueryError> {
        let snapshot = self.context.snapshot;
        let searched = snapshot.searched(field)?;
        let mut candidates = match (Near::new(word, fuzziness), &searched) {
            (Some(near), Some(searched)) => by_walk(searched, &near, word),
            _ => by_table(
                &snapshot.readers,
                field,
                &Nearby::new(word, fuzziness),
                word,
            )?,
        };
        candidates.sort_unstable_by(Candidate::order);
        let most = fuzziness.max_expansions.clamp(1, EXPANSIONS_MAX);
        let words = candidates.chunk_by(|a, b| a.text == b.text).take(most);
        let mut found = Vec::new();
        for same in words {
            let term = IndexTerm::from_field_text(field, &same[0].text);
            found.push(NearWord {
                text: same[0].text.clone(),
                similarity: same[0].similarity,
                found: match &searched {
                    Some(searched) => {
                        let mut numbers = vec![None; snapshot.readers.len()];
                        for one in same {
                            numbers[one.segment] = Some(one.number);
                        }
                        searched.numbered(&numbers)
                    }
                    None => snapshot.find(&term)?,
                },
            });
        }
        Ok(found)
    }
}

/// The words of all segments that are near, by walking through their dictionaries.
fn by_walk(field: &SearchedField, near: &Near, word: &str) -> Vec<Candidate> {
    let length = word.chars().count();
    let mut candidates = Vec::new();
    for (segment, automaton) in field.automata().enumerate() {
        let Some(automaton) = automaton else {
            continue;
        };
        near.find(automaton, &mut |distance, term, number| {
            let text = String::from_utf8_lossy(term).into_owned();
            candidates.push(Candidate {
                similarity: similarity(distance, (length, &text)),
                text,
                segment,
                number,
            });
        });
    }
    candidates
}

/// The same with an automaton for any word.
fn by_table(
    readers: &[SegmentReader],
    field: Field,
    automaton: &Nearby,
    word: &str,
) -> Result<Vec<Candidate>, QueryError> {
    let length = word.chars().count();
    let mut candidates = Vec::new();
    for (segment, reader) in readers.iter().enumerate() {
        if !knows(reader, field) {
            continue;
        }
        let inverted = reader.inverted_index(field)?;
        let mut stream = inverted.terms().search(Borrowed(automaton)).into_stream()?;
        while stream.advance() {
            let Ok(text) = std::str::from_utf8(stream.key()) else {
                continue;
            };
            if let Some(distance) = automaton.distance(text) {
                candidates.push(Candidate {
                    similarity: similarity(distance, (length, text)),
                    text: text.to_string(),
                    segment,
                    number: stream.term_ord(),
                });
            }
        }
    }
    Ok(candidates)
}

/// One for the same word, less for each edit, and the less the shorter the words are.
#[allow(
    clippy::cast_precision_loss,
    reason = "a word's length is far below a float's precision"
)]
fn similarity(distance: u8, (length, text): (usize, &str)) -> f32 {
    let shorter = length.min(text.chars().count()).max(1);
    (1.0 - f32::from(distance) / shorter as f32).max(0.0)
}
