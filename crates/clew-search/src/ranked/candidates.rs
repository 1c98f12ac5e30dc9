//! Documents that may still be hits, with what is known of their scores: word by word more is added, and those that
//! cannot be good enough any more are dropped.

use tantivy::DocId;

use super::bm25::rounded;
use super::hits::Hits;
use super::list::{BLOCK, List};

/// Documents that may be good enough, ascending, with the sums of their scores so far.
#[derive(Default)]
pub(super) struct Candidates {
    pub(super) docs: Vec<DocId>,
    pub(super) sums: Vec<f64>,
}

impl Candidates {
    /// Takes the list's documents in its block up to `end` that may be good enough with `others` added.
    pub(super) fn read(
        &mut self,
        list: &mut List<'_>,
        end: DocId,
        (others, hits): (f64, &Hits<'_>),
    ) {
        let mut scores = [0.0; BLOCK];
        let reach = hits.reach(others);
        let docs = list.score_until(end, &mut scores);
        let before = self.docs.len();
        self.docs.resize(before + docs.len(), 0);
        self.sums.resize(before + docs.len(), 0.0);
        // Every document is written, and the place moves on only behind the good ones: which these are cannot
        // be foreseen, so a branch would cost more.
        let mut place = before;
        for (doc, score) in docs.iter().zip(&scores) {
            let sum = f64::from(*score);
            self.docs[place] = *doc;
            self.sums[place] = sum;
            place += usize::from(sum > reach);
        }
        self.docs.truncate(place);
        self.sums.truncate(place);
        if hits.is_choosy() {
            self.retain_from(before, |doc, _| hits.admits(doc));
        }
    }

    /// Takes the documents up to `end` that are in both lists, and in the first one's current block, and may be good enough
    /// with `rest` added. There are no candidates before.
    pub(super) fn meet(
        &mut self,
        (list, other): (&mut List<'_>, &mut List<'_>),
        end: DocId,
        (rest, hits): (f64, &Hits<'_>),
    ) {
        let mut places = [[0; BLOCK]; 2];
        let mut scores = [0.0; BLOCK];
        let bound = f64::from(list.block_bound());
        let least = other.impacts_from(hits.reach(rest + bound));
        let count = match least {
            Some((impacts, least)) => list.find_impacts(impacts, least, end, &mut places[0]),
            None => list.find_common(other, end, &mut places),
        };
        let own = &places[0][..count];
        let docs = own.iter().map(|place| list.doc_at(*place as usize));
        self.docs.extend(docs);
        list.score_at(own, &self.docs, &mut scores);
        let own_scores = scores[..count].iter();
        self.sums.extend(own_scores.map(|score| f64::from(*score)));
        if least.is_some() {
            self.keep_common(other, hits.reach(rest));
        } else {
            // Nearly all would pass a test before, and what is not good enough is dropped with the next word or the last.
            other.score_at(&places[1][..count], &self.docs, &mut scores);
            for (sum, score) in self.sums.iter_mut().zip(&scores) {
                *sum += f64::from(*score);
            }
        }
        if hits.is_choosy() {
            self.retain_from(0, |doc, _| hits.admits(doc));
        }
    }

    /// Leaves the candidates from a place on that `stays` says so of; it may change their sums.
    pub(super) fn retain_from(
        &mut self,
        from: usize,
        mut stays: impl FnMut(DocId, &mut f64) -> bool,
    ) {
        let mut place = from;
        for at in from..self.docs.len() {
            let (doc, mut sum) = (self.docs[at], self.sums[at]);
            let stay = stays(doc, &mut sum);
            self.docs[place] = doc;
            self.sums[place] = sum;
            place += usize::from(stay);
        }
        self.docs.truncate(place);
        self.sums.truncate(place);
    }

    /// Leaves those above `reach` without the list that are in it, with its scores added.
    pub(super) fn keep_common(&mut self, list: &mut List<'_>, reach: f64) {
        self.retain_from(0, |doc, sum| {
            let bound = list.bound_of(doc);
            let found = bound > 0.0 && *sum + f64::from(bound) > reach && list.seek(doc) == doc;
            if found {
                *sum += f64::from(list.score());
            }
            found && *sum > reach
        });
    }

    /// Hands over those that are good enough.
    pub(super) fn take(&mut self, hits: &mut Hits<'_>) {
        for (doc, sum) in self.docs.drain(..).zip(self.sums.drain(..)) {
            // The floor rises with each that is taken, so it is asked again for the next.
            let score = rounded(sum);
            if score > hits.floor() {
                hits.take(doc, score);
            }
        }
    }
}
