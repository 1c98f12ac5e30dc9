//! Completions of several shards in one order: the root half of the completion suggester.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap, HashSet};

use clew_platform::Pace;
use clew_search::{Completed, CompletionWish};

use crate::base::error::EngineError;
use crate::search::pinned::PinnedShard;

/// A text that begins with what was typed, and the document that it stands in.
pub struct Completion<'a> {
    /// Of what is alike the first found is the best.
    number: usize,
    shard: &'a PinnedShard,
    found: Completed,
}

impl Completion<'_> {
    /// The text.
    pub fn input(&self) -> &str {
        &self.found.input
    }

    /// Its weight, times the boosts of the contexts that it was found by.
    pub fn score(&self) -> f32 {
        self.found.score
    }

    /// The contexts that it was found by, where some were asked for: a list for each.
    pub fn contexts(&self) -> Option<&serde_json::Value> {
        self.found.contexts.as_ref()
    }

    /// The name of the document's index.
    pub fn index(&self) -> &str {
        self.shard.index().name()
    }

    /// The document's id.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn id(&self) -> Result<&str, EngineError> {
        self.shard.id(self.found.place)
    }

    /// The document, with its vectors. Reads and unpacks the block that it is stored in.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn source(&self) -> Result<Vec<u8>, EngineError> {
        self.shard.source(self.found.place)
    }
}

/// The better the greater.
impl Ord for Completion<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let (one, than) = (&self.found, &other.found);
        let score = one.score.total_cmp(&than.score);
        let text = || (&than.normal, &than.input).cmp(&(&one.normal, &one.input));
        score.then_with(text).then(other.number.cmp(&self.number))
    }
}

impl PartialOrd for Completion<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Completion<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Completion<'_> {}

fn bytes_of(found: &Completed) -> usize {
    /// What the contexts of an entry take.
    const CONTEXTS_BYTES: usize = 256;
    let contexts = found.contexts.as_ref().map_or(0, |_| CONTEXTS_BYTES);
    size_of::<Completion<'_>>() + found.input.len() + found.normal.len() + contexts
}

/// Completions, the heaviest first; each document once, by the heaviest of its texts.
#[derive(Default)]
pub struct Completions<'a> {
    /// Mostly few of very many are wanted, so the others need no order.
    found: BinaryHeap<Completion<'a>>,
    taken: HashSet<(*const PinnedShard, (usize, tantivy::DocId))>,
    /// How many texts of each shard were among its best.
    offered: HashMap<*const PinnedShard, usize>,
}

impl<'a> Completions<'a> {
    /// Adds those of a shard; about how many bytes they take.
    ///
    /// # Errors
    /// When the field is none for this, contexts are missing, or reading fails.
    pub fn add(
        &mut self,
        shard: &'a PinnedShard,
        wish: &CompletionWish,
    ) -> Result<usize, EngineError> {
        let found = shard.complete(wish)?;
        let bytes = found.iter().map(bytes_of).sum();
        let numbered = (self.found.len()..).zip(found);
        self.found
            .extend(numbered.map(|(number, found)| Completion {
                number,
                shard,
                found,
            }));
        Ok(bytes)
    }

    /// The next that `wanted` takes, of the `most` best texts of each shard; a text that it passes over does not count
    /// among them, while a further one of a document that was told does, as in OpenSearch. None either once the request is
    /// over.
    pub fn next_where(
        &mut self,
        most: usize,
        mut wanted: impl FnMut(&Completion<'a>) -> bool,
    ) -> Option<Completion<'a>> {
        let mut pace = Pace::default();
        while let Some(next) = self.found.pop() {
            if pace.is_over() {
                return None;
            }
            let shard = std::ptr::from_ref(next.shard);
            let offered = self.offered.entry(shard).or_default();
            if *offered == most || !wanted(&next) {
                continue;
            }
            *offered += 1;
            if self.taken.insert((shard, next.found.place)) {
                return Some(next);
            }
        }
        None
    }
}
