//! Words that are near another word: the nearest of all segments, found with one automaton, and where their
//! postings lie, which the same walk tells.

use std::ops::Range;

use clew_query::{Fuzziness, QueryError, Rewrite, unless_stopped};
use clew_schema::{FieldKind, KeywordStyle, MappedField};
use tantivy::Term as IndexTerm;
use tantivy::schema::Field;

use super::compound::any;
use super::scored::Blend;
use super::text::{EXPANSIONS_MAX, must_be_indexed};
use super::{Compiler, Node};
use crate::query::automaton::Nearby;
use crate::query::constant::{Borrowed, knows};
use crate::query::near::Near;
use crate::ranked::{Around, FoundWord, NearWord, NearWords, SearchedField};

/// A word of one segment that is near.
struct Candidate {
    similarity: f32,
    /// Where its text is among those of all.
    text: Range<usize>,
    segment: usize,
    /// Its place among the words of the segment.
    number: u64,
}

/// Words of all segments that are near.
struct Candidates {
    /// Of so many characters is the word that they are near to.
    length: usize,
    texts: Vec<u8>,
    words: Vec<Candidate>,
}

impl Candidates {
    fn new(word: &str) -> Self {
        Candidates {
            length: word.chars().count(),
            texts: Vec::new(),
            words: Vec::new(),
        }
    }

    fn put(&mut self, (segment, number): (usize, u64), text: &[u8], distance: u8) {
        let begin = self.texts.len();
        self.texts.extend_from_slice(text);
        self.words.push(Candidate {
            similarity: similarity(distance, (self.length, text)),
            text: begin..self.texts.len(),
            segment,
            number,
        });
    }

    fn text(&self, word: &Candidate) -> &[u8] {
        &self.texts[word.text.clone()]
    }

    /// The most similar first, among these in the order of words, and of segments: as many as the first `most` words
    /// of `segments` segments are at the most; the others are gone.
    fn sort(&mut self, most: usize, segments: usize) {
        let Candidates { texts, words, .. } = self;
        let order = |a: &Candidate, b: &Candidate| {
            let similar = b.similarity.total_cmp(&a.similarity);
            let alike = || texts[a.text.clone()].cmp(&texts[b.text.clone()]);
            similar.then_with(alike).then(a.segment.cmp(&b.segment))
        };
        let enough = most * segments.max(1);
        if words.len() > enough {
            words.select_nth_unstable_by(enough, order);
            words.truncate(enough);
        }
        words.sort_unstable_by(order);
    }

    /// The first `most` words, which are sorted; `find` tells where the postings of those lie that are the same in
    /// some segments.
    fn words(
        &self,
        most: usize,
        find: impl Fn(&[u8], &[Candidate]) -> Result<FoundWord, QueryError>,
    ) -> Result<NearWords, QueryError> {
        let same = |a: &Candidate, b: &Candidate| self.text(a) == self.text(b);
        let words = self.words.chunk_by(same).take(most).map(|same| {
            let text = self.text(&same[0]);
            Ok(NearWord {
                text: String::from_utf8_lossy(text).into(),
                similarity: same[0].similarity,
                found: find(text, same)?,
            })
        });
        let words = words.collect::<Result<Vec<_>, QueryError>>()?;
        Ok(NearWords::new(words))
    }
}

/// Whether nothing of a field can be like a word.
fn is_without_words(kind: &FieldKind) -> bool {
    match kind {
        FieldKind::Keyword { style, .. } => *style == KeywordStyle::Wildcard,
        FieldKind::Integer(_)
        | FieldKind::Unsigned
        | FieldKind::Float(_)
        | FieldKind::Boolean
        | FieldKind::Date { .. }
        | FieldKind::DateNanos { .. }
        | FieldKind::Range { .. }
        | FieldKind::Ip
        | FieldKind::GeoPoint
        | FieldKind::Completion(_) => true,
        FieldKind::Text { .. }
        | FieldKind::Flat
        | FieldKind::Constant { .. }
        | FieldKind::Binary { .. }
        | FieldKind::RankFeatures
        | FieldKind::GeoShape
        | FieldKind::Percolator
        | FieldKind::Vector(_)
        | FieldKind::SparseVector => false,
    }
}

/// The refusal of words like one in a field that holds none.
pub(super) fn no_words(path: &str, kind: &str) -> QueryError {
    QueryError::create(format!(
        "Can only use fuzzy queries on keyword and text fields - not on [{path}] which is of type \
         [{kind}]"
    ))
}

impl Compiler<'_> {
    /// Refuses words like one in ids, and in fields of one value each that is no word.
    pub(super) fn check_fuzzy(&self, path: &str) -> Result<(), QueryError> {
        match self.context.snapshot.mapping.field(path) {
            Some(mapped) if is_without_words(&mapped.kind) => {
                Err(no_words(&mapped.path, mapped.kind.type_name()))
            }
            None if path == "_id" => Err(no_words(path, path)),
            Some(_) | None => Ok(()),
        }
    }

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
            _ => Err(no_words(path, mapped.kind.type_name())),
        }
    }

    /// The nearest terms; unless something else is asked for, all score as if they were as frequent as the most frequent
    /// of them, and less the farther they are.
    pub(super) fn nearby_terms(
        &mut self,
        (mapped, field): (&MappedField, Field),
        word: &str,
        fuzziness: &Fuzziness,
        boost: f32,
    ) -> Result<Node, QueryError> {
        let length = word.chars().count();
        if fuzziness.edits(length) == 0 {
            return self.word(mapped, field, word, boost);
        }
        let rewrite = fuzziness.rewrite;
        let most = match rewrite {
            Rewrite::Usual => fuzziness.max_expansions,
            _ => rewrite.words_max().unwrap_or(EXPANSIONS_MAX),
        };
        let fuzziness = &Fuzziness {
            max_expansions: most,
            ..*fuzziness
        };
        let words = self.nearby_words(field, word, fuzziness)?;
        if !matches!(rewrite, Rewrite::Usual | Rewrite::TopBlended(_)) {
            let words = words.as_slice().iter();
            let words = words.map(|near| (near.text.to_string(), near.similarity));
            return self.joined_words((mapped, field), words.collect(), rewrite, boost);
        }
        self.count_expanded(words.as_slice().len())?;
        let snapshot = self.context.snapshot;
        let counts_occurrences = self.similarity(mapped).counts_occurrences();
        let mut blend = Blend {
            docs: 0,
            occurrences: counts_occurrences.then_some(0),
        };
        let mut terms = Vec::with_capacity(words.as_slice().len());
        for near in words.as_slice() {
            let term = IndexTerm::from_field_text(field, &near.text);
            let docs = snapshot.docs_weighed(&term, near.found.frequency())?;
            blend.docs = blend.docs.max(docs);
            if let Some(all) = &mut blend.occurrences {
                *all += snapshot.occurrences(&term, &near.found)?;
            }
            terms.push(term);
        }
        let mut nodes = Vec::with_capacity(terms.len());
        for (near, term) in words.as_slice().iter().zip(terms) {
            let found = (term, words.found(near));
            nodes.push(self.term_with_frequency(mapped, found, blend, boost * near.similarity)?);
        }
        Ok(any(nodes, 1))
    }

    /// The nearest words of all segments, the most similar first.
    fn nearby_words(
        &self,
        field: Field,
        word: &str,
        fuzziness: &Fuzziness,
    ) -> Result<NearWords, QueryError> {
        let snapshot = self.context.snapshot;
        let most = fuzziness.max_expansions.clamp(1, EXPANSIONS_MAX);
        let Some(searched) = snapshot.searched(field)? else {
            let mut candidates = self.by_table(field, word, fuzziness)?;
            candidates.sort(most, snapshot.readers.len());
            return candidates.words(most, |text, _| {
                let text = String::from_utf8_lossy(text);
                Ok(snapshot.find(&IndexTerm::from_field_text(field, &text))?)
            });
        };
        let around = Around {
            word: word.into(),
            edits: fuzziness.edits(word.chars().count()),
            prefix_length: fuzziness.prefix_length,
            transpositions: fuzziness.transpositions,
            most,
        };
        searched.near(around, || {
            let mut candidates = match Near::new(word, fuzziness) {
                Some(near) => by_walk(&searched, &near, word),
                None => self.by_table(field, word, fuzziness)?,
            };
            // What was not walked to its end is not to be kept.
            unless_stopped()?;
            candidates.sort(most, snapshot.readers.len());
            candidates.words(most, |text, same| {
                let numbers = same.iter().map(|one| (one.segment, one.number));
                Ok(searched.numbered(text, numbers))
            })
        })
    }

    /// The words of all segments that are near, by an automaton for any word.
    fn by_table(
        &self,
        field: Field,
        word: &str,
        fuzziness: &Fuzziness,
    ) -> Result<Candidates, QueryError> {
        let automaton = Nearby::new(word, fuzziness);
        let mut candidates = Candidates::new(word);
        for (segment, reader) in self.context.snapshot.readers.iter().enumerate() {
            if !knows(reader, field) {
                continue;
            }
            let inverted = reader.inverted_index(field)?;
            let mut stream = inverted
                .terms()
                .search(Borrowed::new(&automaton))
                .into_stream()?;
            while stream.advance() {
                let text = std::str::from_utf8(stream.key()).ok();
                if let Some(distance) = text.and_then(|text| automaton.distance(text)) {
                    candidates.put((segment, stream.term_ord()), stream.key(), distance);
                }
            }
        }
        unless_stopped()?;
        Ok(candidates)
    }
}

/// The words of all segments that are near, by walking through their dictionaries.
fn by_walk(field: &SearchedField, near: &Near, word: &str) -> Candidates {
    let mut candidates = Candidates::new(word);
    for (segment, automaton) in field.automata().enumerate() {
        if let Some(automaton) = automaton {
            near.find(automaton, &mut |distance, text, number| {
                candidates.put((segment, number), text, distance);
            });
        }
    }
    candidates
}

/// One for the same word, less for each edit, and the less the shorter the words are.
#[allow(
    clippy::cast_precision_loss,
    reason = "a word's length is far below a float's precision"
)]
fn similarity(distance: u8, (length, text): (usize, &[u8])) -> f32 {
    // Characters begin with bytes that are not the further ones of another.
    let own = text.iter().filter(|byte| **byte & 0xC0 != 0x80).count();
    let shorter = length.min(own).max(1);
    (1.0 - f32::from(distance) / shorter as f32).max(0.0)
}
