//! The words near another word that were searched for lately: finding them walks through the dictionary of every
//! segment, which takes longer than ranking what they are in.

use std::mem::size_of;
use std::sync::Arc;

use tantivy::postings::TermInfo;

use super::field::FoundWord;
use super::recent::Recent;
use crate::cache_room::cache_bytes;

/// What is kept of a field in each of two generations, in bytes.
const BYTES_MAX: usize = 1 << 21;
/// About what a word takes besides its text and its places: what is shared of it, and what is known of its scores.
const WORD_BYTES: usize = size_of::<NearWord>() + 256;
/// About what a search takes besides its words.
const ASKED_BYTES: usize = size_of::<Around>() + 64;
/// Where a word lies in a segment, and its best scores there.
const PLACE_BYTES: usize = size_of::<Option<TermInfo>>() + size_of::<(f32, f32)>();

/// Everything that decides which words are near.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Around {
    pub(crate) word: Box<str>,
    pub(crate) edits: u8,
    pub(crate) prefix_length: usize,
    pub(crate) transpositions: bool,
    /// So many words are taken at most.
    pub(crate) most: usize,
}

/// A word that is near, and where its postings lie.
#[derive(Debug)]
pub(crate) struct NearWord {
    pub(crate) text: Box<str>,
    pub(crate) similarity: f32,
    pub(crate) found: FoundWord,
}

/// Words that are near, the most similar first.
#[derive(Clone, Debug)]
pub(crate) struct NearWords {
    words: Arc<[NearWord]>,
    /// Whether they were asked for before.
    are_known: bool,
}

impl NearWords {
    pub(crate) fn new(words: Vec<NearWord>) -> Self {
        NearWords {
            words: words.into(),
            are_known: false,
        }
    }

    pub(crate) fn as_slice(&self) -> &[NearWord] {
        &self.words
    }

    /// Where the postings of one of the words lie.
    pub(crate) fn found(&self, word: &NearWord) -> FoundWord {
        if self.are_known {
            word.found.asked_again()
        } else {
            word.found.clone()
        }
    }

    fn bytes(&self, segments: usize) -> usize {
        let word = WORD_BYTES + segments * PLACE_BYTES;
        let words = self.words.iter().map(|near| word + near.text.len());
        words.sum()
    }
}

/// The searches of a field.
#[derive(Debug)]
pub(super) struct NearBefore(Recent<Around, NearWords>);

impl Default for NearBefore {
    fn default() -> Self {
        NearBefore(Recent::new(cache_bytes(BYTES_MAX)))
    }
}

impl NearBefore {
    pub(super) fn get(&mut self, around: &Around) -> Option<NearWords> {
        self.0.get(around).map(|words| NearWords {
            are_known: true,
            ..words
        })
    }

    pub(super) fn put(&mut self, around: Around, words: NearWords, segments: usize) {
        let size = ASKED_BYTES + around.word.len() + words.bytes(segments);
        self.0.put(around, words, size);
    }
}

#[cfg(test)]
mod tests {
    use clew_query::{Fuzziness, FuzzyDistance, Query, Rewrite};

    use super::*;
    use crate::search::fixture::{Random, random_docs, run, snapshot};
    use crate::search::{ShardRequest, ShardResult, TrackTotal};
    use crate::snapshot::Snapshot;

    fn search(snapshot: &Snapshot, query: &Query) -> ShardResult {
        let request = ShardRequest {
            track_total: TrackTotal::Exact,
            ..ShardRequest::new(query)
        };
        run(snapshot, request)
    }

    fn searches() -> Vec<Query> {
        let mut all = Vec::new();
        for (number, word) in ["w1", "w12", "1w2", "Tag1", "tag"].iter().enumerate() {
            for edits in 1..=2 {
                for (prefix_length, transpositions) in [(0, true), (0, false), (1, true), (2, true)]
                {
                    for max_expansions in [1, 3, 50] {
                        all.push(Query::Fuzzy {
                            field: if number < 3 { "body" } else { "tags" }.into(),
                            value: (*word).into(),
                            fuzziness: Fuzziness {
                                distance: FuzzyDistance::Fixed(edits),
                                prefix_length,
                                max_expansions,
                                transpositions,
                                rewrite: Rewrite::Usual,
                            },
                            boost: 1.0,
                        });
                    }
                }
            }
        }
        all
    }

    #[test]
    fn what_is_asked_for_again_is_what_was_found_first() {
        let snapshot = snapshot(&random_docs(&mut Random(5), &[400, 90, 1, 200]));
        let again = || {
            Snapshot::new(
                snapshot.mapping.clone(),
                snapshot.readers.clone(),
                snapshot.stub().clone(),
            )
        };
        for round in 0..3 {
            for query in searches() {
                let alone = search(&again(), &query);
                assert_eq!(search(&snapshot, &query), alone, "{query:?} round {round}");
            }
        }
    }

    fn words(count: usize) -> NearWords {
        let words = (0..count).map(|number| NearWord {
            text: format!("word{number}").into(),
            similarity: 0.5,
            found: FoundWord::new(vec![None; 8]),
        });
        NearWords::new(words.collect())
    }

    #[test]
    fn searches_are_bounded_by_their_words() {
        let mut before = NearBefore::default();
        let around = |number: usize| Around {
            word: number.to_string().into(),
            edits: 1,
            prefix_length: 0,
            transpositions: true,
            most: 50,
        };
        for number in 0..2_000 {
            before.put(around(number), words(50), 8);
        }
        let kept = (0..2_000).filter(|number| before.get(&around(*number)).is_some());
        let kept = kept.count();
        // Getting one of the older generation lets others go, but never adds any.
        let each = words(50).bytes(8);
        assert!(kept > 0 && kept <= 2 * BYTES_MAX / each, "{kept}");
        assert!(!words(50).are_known && before.get(&around(1_999)).unwrap().are_known);
        // Far more words than are ever kept.
        before.put(around(0), words(10_000), 8);
        assert!(before.get(&around(0)).is_none());
    }
}
