//! The first documents of many posting lists together, from the beginning of each list only.

use tantivy::postings::TermInfo;
use tantivy::{DocId, SegmentReader};

use super::files::{FieldFiles, SegmentFiles};
use super::layout::variable;
use super::list::{BLOCK, walk};
use crate::query::Lists;

/// The first `limit` documents that `admits` lets pass, ascending.
///
/// # Errors
/// When the segment cannot be read.
pub(crate) fn first(
    (reader, files): (&SegmentReader, &SegmentFiles),
    lists: &Lists,
    limit: usize,
    admits: &dyn Fn(DocId) -> bool,
) -> tantivy::Result<Vec<DocId>> {
    let mut found = First {
        docs: Vec::with_capacity(limit + 1),
        limit,
    };
    if limit == 0 || lists.infos.is_empty() {
        return Ok(found.docs);
    }
    let Some(field) = files.field(reader, lists.field)? else {
        return Ok(found.docs);
    };
    for info in &lists.infos {
        found.read(&field, info, admits);
    }
    Ok(found.docs)
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

    fn read(&mut self, field: &FieldFiles, info: &TermInfo, admits: &dyn Fn(DocId) -> bool) {
        if info.doc_freq as usize >= BLOCK {
            walk(field, info, &mut |doc| {
                let goes_on = self.wants(doc);
                if goes_on && admits(doc) {
                    self.put(doc);
                }
                goes_on
            });
            return;
        }
        // Nearly all words are rare: one number tells whether the list matters.
        let mut bytes = &field.postings.as_slice()[info.postings_range.clone()];
        let mut doc = 0;
        for _ in 0..info.doc_freq {
            let (more, used) = variable(bytes);
            bytes = &bytes[used..];
            doc += more;
            if !self.wants(doc) {
                return;
            }
            if admits(doc) {
                self.put(doc);
            }
        }
    }
}
