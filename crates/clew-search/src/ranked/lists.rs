//! The posting lists of some words of a field in one segment: the documents of all of them, or the first ones.

use std::ops::Range;
use std::sync::Arc;

use clew_platform::Pace;
use tantivy::DocId;
use tantivy::postings::TermInfo;

use super::bm25::{BlockBounds, NO_NORMS, Weight};
use super::files::FieldFiles;
use super::layout::{read_docs, variable};
use super::list::{BLOCK, List};

/// Posting lists of a field in a segment.
#[derive(Debug)]
pub(crate) struct Lists {
    /// `None` when the segment has nothing of the field.
    files: Option<Arc<FieldFiles>>,
    words: Words,
}

#[derive(Debug)]
enum Words {
    /// Words that follow each other in the dictionary.
    Numbered(Range<u64>),
    Placed(Vec<TermInfo>),
}

impl Lists {
    pub(super) fn new(files: Option<Arc<FieldFiles>>, infos: Vec<TermInfo>) -> Self {
        Lists {
            files,
            words: Words::Placed(infos),
        }
    }

    /// Those of the words that begin so.
    pub(super) fn with_prefix(files: Option<Arc<FieldFiles>>, prefix: &[u8]) -> Self {
        let numbers = files
            .as_ref()
            .and_then(|files| files.dictionary.with_prefix(prefix));
        Lists {
            files,
            words: Words::Numbered(numbers.unwrap_or(0..0)),
        }
    }

    /// Whether there is no list for certain.
    pub(crate) fn is_empty(&self) -> bool {
        let is_empty = match &self.words {
            Words::Numbered(numbers) => numbers.is_empty(),
            Words::Placed(infos) => infos.is_empty(),
        };
        is_empty || self.files.is_none()
    }

    /// How many places of postings are held in memory.
    pub(crate) fn held(&self) -> usize {
        match &self.words {
            Words::Numbered(_) => 0,
            Words::Placed(infos) => infos.len(),
        }
    }

    fn infos<'a>(&'a self, files: &'a FieldFiles) -> impl Iterator<Item = TermInfo> + 'a {
        let (numbers, placed) = self.words();
        let numbered = files.dictionary.postings(numbers);
        numbered.chain(placed.iter().cloned())
    }

    /// The numbers of those that are numbered, and the others.
    fn words(&self) -> (Range<u64>, &[TermInfo]) {
        match &self.words {
            Words::Numbered(numbers) => (numbers.clone(), &[]),
            Words::Placed(infos) => (0..0, infos),
        }
    }

    /// How many documents the longest of the lists has.
    pub(crate) fn longest(&self) -> u32 {
        let Some(files) = &self.files else {
            return 0;
        };
        let (numbers, placed) = self.words();
        let counts = files.dictionary.frequencies(numbers);
        let counts = counts.chain(placed.iter().map(|info| info.doc_freq));
        counts.max().unwrap_or(0)
    }

    /// Tells the documents of one list after the other, some at a time. Where the request that the thread works for is
    /// over, some are left out: whoever takes them for all asks for that.
    pub(crate) fn each(&self, told: &mut dyn FnMut(&[DocId])) {
        let Some(files) = &self.files else {
            return;
        };
        let mut list = List::default();
        let mut docs = [0; BLOCK];
        let mut pace = Pace::default();
        for info in self.infos(files) {
            if pace.is_over() {
                return;
            }
            if info.doc_freq as usize >= BLOCK {
                if open(&mut list, files, &info) {
                    list.walk(&mut |docs| {
                        told(docs);
                        !pace.is_over()
                    });
                }
                continue;
            }
            let Some(bytes) = files.postings(&info) else {
                continue;
            };
            if info.doc_freq == 1 {
                told(&[variable(bytes).0]);
            } else {
                // Nearly all words are rare: what is behind full blocks is all there is of them.
                let docs = &mut docs[..info.doc_freq as usize];
                read_docs(bytes, 0, docs);
                told(docs);
            }
        }
    }

    /// The first `limit` documents that `admits` lets pass, ascending.
    pub(crate) fn first(&self, limit: usize, admits: &dyn Fn(DocId) -> bool) -> Vec<DocId> {
        let mut found = First {
            docs: Vec::with_capacity(limit + 1),
            limit,
        };
        if let (Some(files), true) = (&self.files, limit > 0) {
            for info in self.infos(files) {
                found.read(files, &info, admits);
            }
        }
        found.docs
    }
}

fn open<'a>(list: &mut List<'a>, files: &'a FieldFiles, info: &TermInfo) -> bool {
    let bounds = BlockBounds::new(&NO_NORMS, 1, 1);
    list.open(files, info, Weight::new(0.0, 1.0), (&NO_NORMS, bounds))
}

/// The first documents so far.
struct First {
    docs: Vec<DocId>,
    limit: usize,
}

impl First {
    /// Whether a document would still be among the first.
    fn wants(&self, doc: DocId) -> bool {
        self.docs.len() < self.limit || self.docs.last().is_some_and(|last| doc < *last)
    }

    fn put(&mut self, doc: DocId) {
        if let Err(place) = self.docs.binary_search(&doc) {
            self.docs.insert(place, doc);
            self.docs.truncate(self.limit);
        }
    }

    fn read(&mut self, files: &FieldFiles, info: &TermInfo, admits: &dyn Fn(DocId) -> bool) {
        if info.doc_freq as usize >= BLOCK {
            let mut list = List::default();
            if open(&mut list, files, info) {
                list.walk(&mut |docs| docs.iter().all(|doc| self.goes_on(*doc, admits)));
            }
            return;
        }
        // One number tells whether the list matters.
        let Some(mut bytes) = files.postings(info) else {
            return;
        };
        let mut doc = 0;
        for _ in 0..info.doc_freq {
            let (more, used) = variable(bytes);
            bytes = &bytes[used..];
            doc += more;
            if !self.goes_on(doc, admits) {
                return;
            }
        }
    }

    /// Takes a document, if it is one of the first; whether those behind it in a list may be.
    fn goes_on(&mut self, doc: DocId, admits: &dyn Fn(DocId) -> bool) -> bool {
        let goes_on = self.wants(doc);
        if goes_on && admits(doc) {
            self.put(doc);
        }
        goes_on
    }
}
