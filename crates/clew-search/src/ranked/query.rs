//! What can be ranked here, as the compiler of queries describes it.

use std::sync::Arc;

use clew_platform::{Pace, stopped};

use super::any::Sums;
use super::bm25::{Weight, rounded};
use super::count::Marks;
use super::dense::{Needs, dense};
use super::field::{FoundWord, SearchedField};
use super::filter::Filter;
use super::hits::{Admission, Hits};
use super::list::List;
use super::phrase::{PhraseWord, Scoring, phrase};
use super::{all, any, count};

/// Words from which on most documents are looked at, as each adds little to what another may have.
const MANY_WORDS: usize = 4;

/// A word of a field, which was measured.
#[derive(Clone, Debug)]
pub(crate) struct WordIn {
    pub(crate) field: Arc<SearchedField>,
    pub(crate) found: FoundWord,
    pub(crate) weight: Weight,
}

impl WordIn {
    /// Opens the word's list of a segment; `false` when there is none.
    pub(super) fn open<'a>(&'a self, list: &mut List<'a>, weight: Weight, segment: usize) -> bool {
        let found = (
            self.found.in_segment(segment),
            self.field.files(segment),
            self.field.table(),
            self.field.bounds(segment),
        );
        let (Some(info), Some(files), Some(table), Some(bounds)) = found else {
            return false;
        };
        if !list.open(files, info, weight, (table, bounds)) {
            return false;
        }
        list.impacts = self.field.impacts(&self.found, segment);
        list.tail_best = match list.impacts {
            Some(impacts) => Some(impacts.greatest_factor()),
            None => {
                let summary = self.field.summary_beside(&self.found);
                summary.map(|summary| summary.segments[segment].1)
            }
        };
        true
    }

    fn prefetch(&self, segment: usize) {
        if let (Some(info), Some(files)) =
            (self.found.in_segment(segment), self.field.files(segment))
        {
            files.prefetch(info);
        }
    }

    fn open_part<'a>(
        &'a self,
        part: &mut PhraseWord<'a>,
        (at, weight): (u32, Weight),
        segment: usize,
    ) -> bool {
        let info = self.found.in_segment(segment);
        let files = self.field.files(segment);
        let (Some(info), Some(files)) = (info, files) else {
            return false;
        };
        let Some(positions) = files.positions(info) else {
            return false;
        };
        part.open(at, positions);
        self.open(&mut part.list, weight, segment)
    }

    /// The greatest factor in a segment, when it is known.
    fn best_factor(&self, segment: usize) -> Option<f32> {
        match self.field.summary_beside(&self.found) {
            Some(summary) => summary.segments.get(segment).map(|(best, _)| *best),
            None => {
                let impacts = self.field.impacts(&self.found, segment)?;
                Some(impacts.greatest_factor())
            }
        }
    }

    fn is_in(&self, segment: usize) -> bool {
        self.found.in_segment(segment).is_some()
    }
}

/// How the words of a query are joined.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    /// Any of them.
    Any(Vec<WordIn>),
    /// All of them.
    All(Vec<WordIn>),
    /// All of them at these places, scored with this weight.
    Phrase(Vec<(u32, WordIn)>, Weight),
}

/// A query that can be ranked.
#[derive(Clone, Debug)]
pub(crate) struct Ranked {
    shape: Shape,
    /// Hits must match these.
    pub(crate) within: Vec<Filter>,
    /// Hits must match none of these.
    pub(crate) without: Vec<Filter>,
}

impl Ranked {
    pub(crate) fn new(shape: Shape) -> Self {
        Ranked {
            shape,
            within: Vec::new(),
            without: Vec::new(),
        }
    }

    /// The words, when any of them is enough and nothing is filtered.
    pub(crate) fn any_words(&self) -> Option<&[WordIn]> {
        match &self.shape {
            Shape::Any(words) if self.within.is_empty() && self.without.is_empty() => Some(words),
            _ => None,
        }
    }

    /// About how many documents must be looked at when matches are counted to a limit; 0 where it is few for certain.
    pub(crate) fn documents(&self, count_to: Option<u64>) -> u64 {
        let counts_all = count_to == Some(u64::MAX);
        let sum = |words: &[WordIn]| words.iter().map(|word| word.found.frequency()).sum();
        let least = |words: &mut dyn Iterator<Item = &WordIn>| {
            words.map(|word| word.found.frequency()).min().unwrap_or(0)
        };
        match &self.shape {
            Shape::Any(words) if counts_all || words.len() >= MANY_WORDS => sum(words),
            Shape::All(words) if counts_all => least(&mut words.iter()),
            Shape::Phrase(words, _) if counts_all => least(&mut words.iter().map(|(_, word)| word)),
            _ => 0,
        }
    }

    /// Gives the best to `hits` and says `true`, when they are those of one word and known from its champions alone;
    /// otherwise nothing of `hits` is of use.
    pub(crate) fn take_champions(&self, segments: &[Admission<'_>], hits: &mut Hits<'_>) -> bool {
        let (Shape::Any(words), Some(wanted)) = (&self.shape, hits.wanted()) else {
            return false;
        };
        let [word] = &words[..] else {
            return false;
        };
        let Some(summary) = word.field.summary(&word.found) else {
            return false;
        };
        let (mut missing, mut worst) = (wanted, f32::MAX);
        for one in &summary.champions.best {
            let score = word.weight.times(one.factor);
            // Factors that differ may score the same: the first in the index is the better one then.
            if missing == 0 && score < worst {
                return true;
            }
            if segments[one.segment()].admits(one.doc) {
                hits.take_at((one.segment(), one.doc), score);
                if missing > 0 {
                    (missing, worst) = (missing - 1, score);
                }
            }
        }
        let behind = || {
            let last = summary.champions.best.last()?;
            Some(word.weight.times(last.factor.next_down()))
        };
        summary.champions.are_all || (missing == 0 && behind().is_some_and(|score| score < worst))
    }

    /// Whether matches are counted apart from ranking: where they need not be looked at one by one. The list of a single
    /// word is read once for both.
    pub(crate) fn counts_apart(&self) -> bool {
        match &self.shape {
            Shape::Any(words) => words.len() > 1,
            Shape::All(words) => words.iter().all(|word| word.field.is_dense(&word.found)),
            Shape::Phrase(..) => false,
        }
    }

    /// Counts the matches of some segments that count, until there are more than `most`, and says whether there was
    /// time to; not of phrases.
    pub(crate) fn count(
        &self,
        admissions: &[Admission<'_>],
        segments: impl Iterator<Item = usize>,
        most: u64,
    ) -> (u64, bool) {
        let (mut room, mut marks) = (Room::default(), Marks::default());
        let mut count = 0;
        for segment in segments {
            if count > most {
                break;
            }
            if stopped() {
                return (count, false);
            }
            let (admission, most) = (&admissions[segment], most - count);
            count += match &self.shape {
                Shape::Any(words) => {
                    let files = words.iter().filter_map(|word| word.field.files(segment));
                    let docs = files.map(|files| files.docs).max().unwrap_or(0);
                    let (lists, _) = room.lists(words.iter(), segment);
                    marks.any((lists, docs), admission, most)
                }
                Shape::All(words) => room
                    .all_lists(words, segment)
                    .map_or(0, |(lists, _)| count::all(lists, admission, most)),
                Shape::Phrase(..) => 0,
            };
        }
        (count, !stopped())
    }

    /// The segments, the best first, so that the others may be passed over; those that are alike stay in their order.
    pub(crate) fn order(&self, segments: usize) -> Vec<(f32, usize)> {
        let bounds = (0..segments).map(|segment| (self.bound(segment), segment));
        let mut order: Vec<(f32, usize)> = bounds.collect();
        order.sort_by(|a, b| b.0.total_cmp(&a.0));
        order
    }

    /// The same segments; while one is read, what is read first in the next one is on its way: it lies nowhere near, and
    /// waiting for one list after the other is a good part of the time that a small segment takes.
    pub(crate) fn ahead<S>(
        &self,
        segments: impl Iterator<Item = S>,
        number: impl Fn(&S) -> usize,
    ) -> impl Iterator<Item = S> {
        let asked = segments.inspect(move |segment| self.prefetch(number(segment)));
        let mut asked = asked.peekable();
        std::iter::from_fn(move || {
            let now = asked.next();
            asked.peek();
            now
        })
    }

    fn prefetch(&self, segment: usize) {
        match &self.shape {
            Shape::Any(words) | Shape::All(words) => {
                words.iter().for_each(|word| word.prefetch(segment));
            }
            Shape::Phrase(words, _) => words.iter().for_each(|(_, word)| word.prefetch(segment)),
        }
    }

    /// Gives the matches of some segments that may be among the best to `hits`; `false` when the time was over before.
    pub(crate) fn run<'a>(
        &'a self,
        segments: &[Admission<'a>],
        order: impl Iterator<Item = (f32, usize)>,
        hits: &mut Hits<'a>,
    ) -> bool {
        if !segments.iter().any(Admission::is_choosy) {
            self.expect(hits);
        }
        let mut room = Room::default();
        for (bound, segment) in order {
            if stopped() {
                return false;
            }
            hits.begin(segment, &segments[segment]);
            if bound > hits.floor() {
                self.segment(segment, &mut room, hits);
            }
        }
        // Walks through a segment break off by themselves.
        !stopped()
    }

    /// The best score in a segment, as far as it is known.
    fn bound(&self, segment: usize) -> f32 {
        let score = |word: &WordIn, factor: f32| f64::from(word.weight.times(factor));
        let sum = |words: &[WordIn]| {
            let scores = words.iter().map(|word| {
                let factor = word.best_factor(segment)?;
                Some(score(word, factor))
            });
            scores.sum::<Option<f64>>().map(rounded)
        };
        let known = match &self.shape {
            Shape::Any(words) => sum(words),
            Shape::All(words) if !words.iter().all(|word| word.is_in(segment)) => Some(f32::MIN),
            Shape::All(words) => sum(words),
            Shape::Phrase(words, weight) => {
                let factors = words.iter().map(|(_, word)| word.best_factor(segment));
                let least = factors.reduce(|a, b| Some(a?.min(b?))).flatten();
                least.map(|factor| weight.times(factor))
            }
        };
        known.unwrap_or(f32::INFINITY)
    }

    /// Tells the score that enough documents have by one word alone.
    fn expect(&self, hits: &mut Hits<'_>) {
        let (Shape::Any(words), Some(wanted)) = (&self.shape, hits.wanted()) else {
            return;
        };
        let last = wanted.wrapping_sub(1);
        for word in words {
            let summary = word.field.summary_beside(&word.found);
            if let Some(one) = summary.and_then(|summary| summary.champions.best.get(last)) {
                hits.expect(word.weight.times(one.factor));
            }
        }
    }

    fn segment<'a>(&'a self, segment: usize, room: &mut Room<'a>, hits: &mut Hits<'a>) {
        match &self.shape {
            Shape::Any(words) => match room.lists(words.iter(), segment) {
                ([], _) => {}
                ([only], sums) => {
                    // What is left then is not good enough.
                    if dense(std::slice::from_mut(only), Needs::Any, sums, hits) == 0 {
                        any::one(only, hits);
                    }
                }
                (several, sums) => any::any(several, sums, hits),
            },
            Shape::All(words) => {
                if let Some((lists, sums)) = room.all_lists(words, segment) {
                    all::all(lists, sums, hits);
                }
            }
            Shape::Phrase(words, weight) => {
                if !room.by_rarity(words.iter().map(|(at, word)| (*at, word)), segment) {
                    return;
                }
                room.parts.resize_with(words.len(), PhraseWord::default);
                for ((at, word), part) in room.order.iter().zip(&mut room.parts) {
                    if !word.open_part(part, (*at, *weight), segment) {
                        return;
                    }
                }
                let first = words.first().map(|(_, word)| &word.field);
                let scoring = first.and_then(|field| {
                    Some(Scoring {
                        weight: *weight,
                        table: field.table()?,
                        lengths: field.files(segment)?.lengths(),
                    })
                });
                if let Some(scoring) = scoring {
                    phrase(&mut room.parts, scoring, hits);
                }
            }
        }
    }
}

/// The memory of a search, which goes from segment to segment.
#[derive(Default)]
struct Room<'a> {
    /// Words and their places, the rarest of a segment first.
    order: Vec<(u32, &'a WordIn)>,
    lists: Vec<List<'a>>,
    sums: Sums,
    parts: Vec<PhraseWord<'a>>,
}

impl<'a> Room<'a> {
    /// Puts words in the order of how rare they are in a segment, before their lists are opened, which are large to
    /// move; `false` when one is not there.
    fn by_rarity(
        &mut self,
        words: impl Iterator<Item = (u32, &'a WordIn)>,
        segment: usize,
    ) -> bool {
        self.order.clear();
        self.order.extend(words);
        let count = |word: &WordIn| {
            word.found
                .in_segment(segment)
                .map_or(0, |info| info.doc_freq)
        };
        self.order.sort_by_key(|(_, word)| count(word));
        self.order
            .first()
            .is_none_or(|(_, rarest)| count(rarest) > 0)
    }

    /// The lists of the words, the rarest first, when a segment has all of them.
    fn all_lists(
        &mut self,
        words: &'a [WordIn],
        segment: usize,
    ) -> Option<(&mut [List<'a>], &mut Sums)> {
        if !self.by_rarity(words.iter().map(|word| (0, word)), segment) {
            return None;
        }
        let order = std::mem::take(&mut self.order);
        let (lists, _) = self.lists(order.iter().map(|(_, word)| *word), segment);
        let has_all = lists.len() == words.len();
        self.order = order;
        has_all.then(|| (&mut self.lists[..words.len()], &mut self.sums))
    }

    /// The lists of the words that a segment has.
    fn lists(
        &mut self,
        words: impl Iterator<Item = &'a WordIn>,
        segment: usize,
    ) -> (&mut [List<'a>], &mut Sums) {
        let (mut count, mut pace) = (0, Pace::default());
        for word in words {
            // Whoever reads the lists asks whether the request is over.
            if pace.is_over() {
                break;
            }
            if count == self.lists.len() {
                // Made where it stays: a list has room for a block of documents, which pushing one would copy.
                self.lists.resize_with(count + 1, List::default);
            }
            count += usize::from(word.open(&mut self.lists[count], word.weight, segment));
        }
        (&mut self.lists[..count], &mut self.sums)
    }
}
