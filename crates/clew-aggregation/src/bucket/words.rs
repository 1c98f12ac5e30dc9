//! Terms of a text that has no column: the sources of the documents are read and cut into words.
//! Slow by nature, which is why people take samples first.

use std::collections::{BTreeSet, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use clew_analysis::for_each_token;
use clew_query::AggError;
use clew_schema::{SourceCursor, Sources};
use serde_json::Value;
use tantivy::DocId;
use tantivy::schema::Field;

use crate::collect::slots::count_one;
use crate::collect::{Block, Collect, Planned, Segment, Subs};
use crate::counted::Partial;
use crate::counted::buckets::Buckets;
use crate::field::{TermSet, TermSets};
use crate::limits::Account;
use crate::value::key::{Entry, Key, KeyTable};
use crate::value::partition::part_of;

/// Words in a row that, seen again, are a copy.
const COPY_WORDS: usize = 6;

/// Which text, and how it is cut.
#[derive(Clone, Debug)]
pub(crate) struct WordsPlan {
    pub(crate) field: Field,
    pub(crate) analyzer: String,
    /// Where the source has the text.
    pub(crate) paths: Vec<String>,
    /// Whether rows of words that were there before do not count again.
    pub(crate) drops_copies: bool,
}

pub(crate) struct Words {
    plan: Arc<WordsPlan>,
    filter: TermSets,
    sources: SourceCursor,
    field: String,
    table: KeyTable<Key>,
    counts: Vec<u64>,
    sizes: Vec<u64>,
    subs: Subs,
    seen: Seen,
    /// The document read last, and its words.
    last: Option<(DocId, BTreeSet<String>)>,
}

impl Words {
    pub(crate) fn open(
        segment: Segment<'_>,
        plan: &dyn Planned,
        (words, filter): (&Arc<WordsPlan>, &TermSets),
    ) -> Result<Self, AggError> {
        let sources = Sources::open(segment.reader);
        let sources = sources.map_err(|source| AggError::Column {
            field: plan.values().field.clone(),
            source,
        })?;
        Ok(Words {
            plan: words.clone(),
            filter: filter.clone(),
            sources: sources.cursor(),
            field: plan.values().field.clone(),
            table: KeyTable::default(),
            counts: Vec::new(),
            sizes: Vec::new(),
            subs: plan.open_subs(segment)?,
            seen: Seen::default(),
            last: None,
        })
    }

    /// Reads the words of a document, each once.
    fn read(&mut self, doc: DocId, account: &mut Account) -> Result<(), AggError> {
        if self.last.as_ref().is_some_and(|(last, _)| *last == doc) {
            return Ok(());
        }
        let source = self.sources.get(doc).map_err(|source| AggError::Column {
            field: self.field.clone(),
            source,
        })?;
        let mut found = BTreeSet::new();
        if let Ok(source) = serde_json::from_slice::<Value>(source) {
            let mut texts = Vec::new();
            for path in &self.plan.paths {
                clew_search::texts_at(&source, path, &mut texts);
            }
            for text in texts {
                self.words_of(&text, &mut found, account)?;
            }
        }
        self.last = Some((doc, found));
        Ok(())
    }

    fn words_of(
        &mut self,
        text: &str,
        found: &mut BTreeSet<String>,
        account: &mut Account,
    ) -> Result<(), AggError> {
        let mut words = Vec::new();
        for_each_token(&self.plan.analyzer, text, |token| {
            words.push(token.text.clone())
        });
        if self.plan.drops_copies {
            account.charge(words.len() * size_of::<u64>())?;
            self.seen.drop_copies(&mut words);
        }
        found.extend(words.into_iter().filter(|word| admits(&self.filter, word)));
        Ok(())
    }
}

impl Collect for Words {
    fn collect(&mut self, block: Block<'_>, account: &mut Account) -> Result<(), AggError> {
        for (doc, parent) in block.docs.iter().zip(block.parents) {
            count_one(&mut self.sizes, *parent, account)?;
            self.read(*doc, account)?;
            let Some((_, words)) = self.last.take() else {
                continue;
            };
            for word in &words {
                let key = Key::Str(word.as_str().into());
                let (number, entry) = self.table.number(*parent, key);
                if entry == Entry::New {
                    account.charge(size_of::<Key>() + word.len() + 4 * size_of::<u32>())?;
                }
                count_one(&mut self.counts, number, account)?;
                if !self.subs.is_empty() {
                    self.subs.push(*doc, number);
                }
            }
            self.last = Some((*doc, words));
        }
        self.subs.flush(account)
    }

    fn finish(self: Box<Self>, account: &mut Account) -> Result<Partial, AggError> {
        let mut counts = self.counts;
        counts.truncate(self.table.len());
        let mut buckets = Buckets::of(self.table, counts, self.subs.finish(account)?);
        buckets.background.sizes = self.sizes;
        Ok(Partial::Buckets(buckets))
    }
}

fn admits(filter: &TermSets, word: &str) -> bool {
    let holds = |set: &TermSet| match set {
        TermSet::Keys(keys) => keys
            .iter()
            .any(|key| matches!(key, Key::Str(key) if **key == *word)),
        TermSet::Pattern(pattern) => pattern.matches(word),
        TermSet::Partition { part, count } => part_of(&Key::Str(word.into()), *count) == *part,
    };
    filter.include.as_ref().is_none_or(holds) && !filter.exclude.as_ref().is_some_and(holds)
}

/// Rows of words that were there.
#[derive(Default)]
struct Seen(HashSet<u64>);

impl Seen {
    /// Leaves out words that belong to a row that earlier texts have, and remembers this text's.
    fn drop_copies(&mut self, words: &mut Vec<String>) {
        let hashes: Vec<u64> = words
            .windows(COPY_WORDS)
            .map(|row| {
                let mut hasher = DefaultHasher::new();
                row.hash(&mut hasher);
                hasher.finish()
            })
            .collect();
        let mut is_copy = vec![false; words.len()];
        for (start, hash) in hashes.iter().enumerate() {
            if self.0.contains(hash) {
                is_copy[start..start + COPY_WORDS].fill(true);
            }
        }
        self.0.extend(hashes);
        let mut is_copy = is_copy.into_iter();
        words.retain(|_| !is_copy.next().unwrap_or(false));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_were_there_do_not_count_again() {
        let mut seen = Seen::default();
        let mut cut = |text: &str| {
            let mut words: Vec<String> = text.split(' ').map(String::from).collect();
            seen.drop_copies(&mut words);
            words.join(" ")
        };
        assert_eq!(cut("a b c d e f g"), "a b c d e f g");
        assert_eq!(cut("x a b c d e f g y"), "x y");
        assert_eq!(cut("b c d e f"), "b c d e f");
        assert_eq!(cut(""), "");
    }
}
