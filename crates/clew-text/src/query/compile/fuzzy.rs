//! Words that are nearly the one that is looked for.

use tantivy::schema::Field;
use tantivy::{SegmentReader, Term as IndexTerm};

use super::compound::any;
use super::scored::{Blend, is_match_only};
use super::text::{EXPANSIONS_MAX, must_be_indexed};
use super::{Compiler, Node};
use crate::mapping::{FieldKind, MappedField};
use crate::query::automaton::Nearby;
use crate::query::constant::{Borrowed, knows};
use crate::query::error::QueryError;
use crate::query::near::Near;
use crate::query::tree::Fuzziness;

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
        let mut frequencies = Vec::new();
        for (distance, text) in self.nearby_words(field, word, fuzziness)? {
            let term = IndexTerm::from_field_text(field, &text);
            let found = self.context.snapshot.find(&term)?;
            let shorter = length.min(text.chars().count()).max(1);
            frequencies.push((term, found, similarity(distance, shorter)));
        }
        let docs = frequencies.iter().map(|(_, found, _)| found.frequency());
        let most = docs.max().unwrap_or(0);
        let occurrences = if self.similarity(mapped).counts_occurrences() {
            let mut all = 0;
            for (_, found, _) in &frequencies {
                all += self.context.snapshot.occurrences(field, found)?;
            }
            Some(all)
        } else {
            None
        };
        let blend = Blend {
            docs: most,
            occurrences,
        };
        let mut nodes = Vec::with_capacity(frequencies.len());
        for (term, found, similarity) in frequencies {
            let own = found.frequency();
            let node = if is_match_only(mapped) {
                self.counted_term(term, boost)?
            } else {
                self.term_with_frequency(mapped, (term, found), blend, boost * similarity)?
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

    /// The nearest words of all segments, with their distances.
    fn nearby_words(
        &self,
        field: Field,
        word: &str,
        fuzziness: &Fuzziness,
    ) -> Result<Vec<(u8, String)>, QueryError> {
        let snapshot = self.context.snapshot;
        let near = Near::new(word, fuzziness);
        let mut found: Vec<(u8, String)> = Vec::new();
        for (segment, reader) in snapshot.readers.iter().enumerate() {
            if !knows(reader, field) {
                continue;
            }
            let mut put = |distance: u8, term: &[u8]| {
                found.push((distance, String::from_utf8_lossy(term).into_owned()));
            };
            match (&near, snapshot.files(segment)) {
                (Some(near), Some(files)) => {
                    if let Some(dictionary) = files.dictionary(field)? {
                        near.find(&dictionary, &mut put);
                    }
                }
                _ => nearby_by_table(reader, field, &Nearby::new(word, fuzziness), &mut put)?,
            }
        }
        found.sort();
        found.dedup();
        found.truncate(fuzziness.max_expansions.clamp(1, EXPANSIONS_MAX));
        Ok(found)
    }
}

/// Tells the words of a segment that are near, and their distances.
fn nearby_by_table(
    reader: &SegmentReader,
    field: Field,
    automaton: &Nearby,
    put: &mut dyn FnMut(u8, &[u8]),
) -> Result<(), QueryError> {
    let inverted = reader.inverted_index(field)?;
    let mut stream = inverted.terms().search(Borrowed(automaton)).into_stream()?;
    while stream.advance() {
        let distance = std::str::from_utf8(stream.key())
            .ok()
            .and_then(|term| automaton.distance(term));
        if let Some(distance) = distance {
            put(distance, stream.key());
        }
    }
    Ok(())
}

/// One for the same word, less for each edit.
#[allow(
    clippy::cast_precision_loss,
    reason = "a word's length is far below a float's precision"
)]
fn similarity(distance: u8, shorter: usize) -> f32 {
    (1.0 - f32::from(distance) / shorter as f32).max(0.0)
}
