//! The documents of a segment that match, one block after the other, for whoever may have enough of them. tantivy's own
//! loops go on to the end of the postings, whatever comes of what they hand on.

use std::ops::ControlFlow;

use clew_query::QueryError;
use tantivy::query::Weight;
use tantivy::{COLLECT_BLOCK_BUFFER_LEN, DocId, DocSet, Score, SegmentReader, TERMINATED};

/// Documents handed on at a time when scores are read one by one.
const SCORED: usize = 512;

/// Hands on the documents that match in a segment, deleted ones included, in blocks of at most 64, until `take` breaks
/// off or fails. The last block may be empty.
///
/// # Errors
/// Those of `take`, and when reading fails.
pub(crate) fn each_block(
    weight: &dyn Weight,
    reader: &SegmentReader,
    mut take: impl FnMut(&[DocId]) -> Result<ControlFlow<()>, QueryError>,
) -> Result<(), QueryError> {
    let mut scorer = weight.scorer(reader, 1.0)?;
    let mut docs = [0; COLLECT_BLOCK_BUFFER_LEN];
    loop {
        let count = scorer.fill_buffer(&mut docs);
        if take(&docs[..count])?.is_break() || count < docs.len() {
            return Ok(());
        }
    }
}

/// The same with their scores, in blocks of at most 512.
///
/// # Errors
/// Those of `take`, and when reading fails.
pub(crate) fn each_scored(
    weight: &dyn Weight,
    reader: &SegmentReader,
    mut take: impl FnMut(&[DocId], &[Score]) -> Result<ControlFlow<()>, QueryError>,
) -> Result<(), QueryError> {
    let mut scorer = weight.scorer(reader, 1.0)?;
    let mut docs = Vec::with_capacity(SCORED);
    let mut scores = Vec::with_capacity(SCORED);
    let mut doc = scorer.doc();
    while doc != TERMINATED {
        docs.push(doc);
        scores.push(scorer.score());
        if docs.len() == SCORED {
            if take(&docs, &scores)?.is_break() {
                return Ok(());
            }
            docs.clear();
            scores.clear();
        }
        doc = scorer.advance();
    }
    take(&docs, &scores).map(|_| ())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use tantivy::TantivyError;
    use tantivy::query::{Explanation, Scorer};

    use super::*;
    use crate::search::fixture::{Random, random_docs, snapshot};

    const DOCS: DocId = 1_300;

    /// All numbers below [`DOCS`], and how many steps were taken through them.
    #[derive(Clone)]
    struct Numbers {
        doc: DocId,
        steps: Arc<AtomicU32>,
    }

    impl DocSet for Numbers {
        fn advance(&mut self) -> DocId {
            self.steps.fetch_add(1, Ordering::Relaxed);
            self.doc = match self.doc + 1 {
                next if next < DOCS => next,
                _ => TERMINATED,
            };
            self.doc
        }

        fn doc(&self) -> DocId {
            self.doc
        }

        fn size_hint(&self) -> u32 {
            DOCS
        }
    }

    impl Scorer for Numbers {
        fn score(&mut self) -> Score {
            1.0
        }
    }

    impl Weight for Numbers {
        fn scorer(&self, _: &SegmentReader, _: Score) -> tantivy::Result<Box<dyn Scorer>> {
            Ok(Box::new(self.clone()))
        }

        fn explain(&self, _: &SegmentReader, _: DocId) -> tantivy::Result<Explanation> {
            Err(TantivyError::InvalidArgument("nobody asks".to_string()))
        }
    }

    /// Takes so many blocks; the documents in them, and how many steps that took.
    fn taken(blocks: usize, scored: bool) -> (Vec<DocId>, u32) {
        let snapshot = snapshot(&random_docs(&mut Random(1), &[3]));
        let reader = &snapshot.readers[0];
        let numbers = Numbers {
            doc: 0,
            steps: Arc::default(),
        };
        let (mut seen, mut left) = (Vec::new(), blocks);
        let mut take = |docs: &[DocId]| {
            seen.extend_from_slice(docs);
            left -= 1;
            Ok(match left {
                0 => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            })
        };
        let done = match scored {
            true => each_scored(&numbers, reader, |docs, scores| {
                assert_eq!(docs.len(), scores.len());
                take(docs)
            }),
            false => each_block(&numbers, reader, &mut take),
        };
        done.unwrap();
        (seen, numbers.steps.load(Ordering::Relaxed))
    }

    #[test]
    fn postings_are_not_gone_through_once_there_is_enough() {
        for (scored, block) in [(false, 64), (true, 512)] {
            let (seen, steps) = taken(2, scored);
            assert_eq!(seen, (0..2 * block).collect::<Vec<_>>());
            assert!(steps <= 2 * block, "{steps}");
            let (seen, _) = taken(usize::MAX, scored);
            assert_eq!(seen, (0..DOCS).collect::<Vec<_>>());
        }
    }
}
