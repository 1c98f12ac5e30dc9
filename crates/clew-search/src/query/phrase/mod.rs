//! Phrases that tantivy's own do not find or score as OpenSearch does: those whose words may be
//! moved, and those one of whose places several words may take.

mod moves;

use std::sync::Arc;

use clew_platform::{Pace, stopped};
use clew_query::go_on_in_set;
use clew_schema::similarity::Weigher;
use tantivy::postings::{Postings, SegmentPostings};
use tantivy::query::{EmptyScorer, EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, DocSet, Score, SegmentReader, TERMINATED, Term};

use super::at_doc::no_match;
use super::constant::knows;
use super::forward::{Finder, Forward};
use super::weighed::{Lengths, told};
use moves::PhraseInDoc;

/// A place of the phrase and the words that it may hold.
#[derive(Clone, Debug)]
pub(crate) struct PhrasePlace {
    pub(crate) offset: usize,
    pub(crate) terms: Vec<Term>,
}

/// How often a phrase is where the words of its places stand at these positions.
pub(super) fn frequency(wanted: &[PhrasePlace], positions: &[Vec<u32>], slop: u32) -> f32 {
    let mut phrase = PhraseInDoc::new(wanted);
    for (place, positions) in (0..wanted.len()).zip(positions) {
        let list = phrase.list_of(place);
        if !phrase.is_read(list) {
            phrase.add(list, positions);
            phrase.end(list);
        }
    }
    phrase.frequency(i64::from(slop))
}

/// Documents with the phrase.
#[derive(Clone, Debug)]
pub(crate) struct MovingPhrase {
    pub(crate) field: Field,
    pub(crate) places: Vec<PhrasePlace>,
    /// How far words may be moved in all.
    pub(crate) slop: u32,
    /// What gives scores to all words together.
    pub(crate) weigher: Arc<Weigher>,
}

impl Query for MovingPhrase {
    fn weight(&self, _scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        Ok(Box::new(self.clone()))
    }
}

impl MovingPhrase {
    /// What looks for the phrase in a segment; `None` where one of its places has no word there.
    fn finder(
        &self,
        reader: &SegmentReader,
        boost: Score,
    ) -> tantivy::Result<Option<PhraseFinder>> {
        if !knows(reader, self.field) {
            return Ok(None);
        }
        let inverted = reader.inverted_index(self.field)?;
        let phrase = PhraseInDoc::new(&self.places);
        let mut postings = Vec::new();
        let mut pace = Pace::of_blocks();
        for terms in phrase.lists() {
            let mut of_place = Vec::with_capacity(terms.len());
            for term in terms {
                go_on_in_set(&mut pace)?;
                let option = IndexRecordOption::WithFreqsAndPositions;
                of_place.extend(inverted.read_postings(term, option)?);
            }
            if of_place.is_empty() {
                return Ok(None);
            }
            postings.push(of_place);
        }
        Ok(Some(PhraseFinder {
            phrase,
            slop: i64::from(self.slop),
            postings,
            lengths: Lengths::open(reader, self.field)?,
            weigher: self.weigher.clone(),
            boost,
            doc: 0,
            frequency: 0.0,
            pace: Pace::of_blocks(),
        }))
    }
}

impl Weight for MovingPhrase {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        Ok(match self.finder(reader, boost)? {
            Some(finder) => Box::new(Forward::open(finder)),
            None => Box::new(EmptyScorer),
        })
    }

    fn explain(&self, reader: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        let finder = self.finder(reader, 1.0)?;
        let mut finder = finder.ok_or_else(|| no_match(doc))?;
        if finder.find(doc) != doc {
            return Err(no_match(doc));
        }
        let score = told(&self.weigher, finder.frequency, finder.lengths.of(doc));
        let mut explanation = Explanation::new("Phrase Scorer", score.value());
        explanation.add_detail(score);
        Ok(explanation)
    }
}

/// So many lists take some 10 us for each document: whether the request is over is asked each time.
pub(crate) const MANY: usize = 256;

struct PhraseFinder {
    phrase: PhraseInDoc,
    slop: i64,
    /// Those of each list of words.
    postings: Vec<Vec<SegmentPostings>>,
    lengths: Lengths,
    weigher: Arc<Weigher>,
    boost: Score,
    doc: DocId,
    frequency: f32,
    pace: Pace,
}

impl Finder for PhraseFinder {
    fn find(&mut self, mut target: DocId) -> DocId {
        loop {
            self.doc = self.candidate(target);
            if self.doc == TERMINATED || self.pace.is_over() {
                return TERMINATED;
            }
            self.read();
            self.frequency = self.phrase.frequency(self.slop);
            if self.frequency > 0.0 {
                return self.doc;
            }
            target = self.doc + 1;
        }
    }

    fn score(&mut self) -> Score {
        let length = self.lengths.of(self.doc);
        self.weigher.score(self.frequency, length) * self.boost
    }

    fn most(&self) -> u32 {
        let most = |of_place: &Vec<SegmentPostings>| of_place.iter().map(DocSet::size_hint).max();
        self.postings.iter().filter_map(most).min().unwrap_or(0)
    }
}

impl PhraseFinder {
    /// The first document from `target` on that has a word for each place.
    fn candidate(&mut self, mut target: DocId) -> DocId {
        loop {
            if self.postings.len() >= MANY && stopped() {
                return TERMINATED;
            }
            let mut last = target;
            for of_place in &mut self.postings {
                let docs = of_place.iter_mut().map(|one| {
                    if one.doc() < last {
                        one.seek(last)
                    } else {
                        one.doc()
                    }
                });
                last = docs.min().unwrap_or(TERMINATED).max(last);
                if last == TERMINATED {
                    return TERMINATED;
                }
            }
            if last == target {
                return target;
            }
            target = last;
        }
    }

    fn read(&mut self) {
        let mut positions = Vec::new();
        for (list, of_place) in self.postings.iter_mut().enumerate() {
            self.phrase.begin(list);
            for one in of_place.iter_mut().filter(|one| one.doc() == self.doc) {
                one.positions(&mut positions);
                self.phrase.add(list, &positions);
            }
            self.phrase.end(list);
        }
    }
}
