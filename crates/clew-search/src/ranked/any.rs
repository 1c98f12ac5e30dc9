//! Documents with any of some words. The documents are walked in windows; in each, the words are divided into
//! those whose best documents there, all together, cannot reach the hits that are kept, and the others. Only
//! documents with one of the others are scored, and only the best of these are looked up in the rest.

use clew_platform::Pace;
use tantivy::DocId;

use super::bm25::rounded;
use super::candidates::Candidates;
use super::dense::{Dense, Needs, dense, reach_of_impacts};
use super::hits::Hits;
use super::list::{BLOCK, List};

/// Documents of the largest window: its sums fill half of a core's fastest cache.
const WINDOW: u32 = 4096;
const WORDS: usize = WINDOW as usize / 64;
/// So few documents are sorted in less time than marks of a window are read.
const SORTED_MAX: usize = 32;
/// The sum of a document that no list has.
const NONE: f64 = -0.0;
/// The first window is small, so that there is a threshold soon.
const FIRST_WINDOW: u32 = 256;
/// With so few words a window ends where the first block does: its bounds are tighter then, and windows that are left out
/// are worth more than what each costs. Two words are found 10 % faster where similar documents lie beside each other
/// (1 M sentences), three 3 %, neither slower where they do not; ten take twice as long.
const FEW: usize = 3;
/// But it is not narrower than this.
const NARROWEST_WINDOW: u32 = 128;

/// One word: no sums are needed.
pub(super) fn one(list: &mut List<'_>, hits: &mut Hits<'_>) {
    let mut scores = [0.0; BLOCK];
    let mut pace = Pace::default();
    while !list.is_over() && !pace.is_over() {
        let floor = hits.floor();
        if list.block_bound() > floor {
            let docs = list.score_until(tantivy::TERMINATED, &mut scores);
            take_better(docs, &scores, hits);
        }
        if !list.next_block() {
            return;
        }
    }
}

fn take_better(docs: &[DocId], scores: &[f32; BLOCK], hits: &mut Hits<'_>) {
    let mut floor = hits.floor();
    for (doc, score) in docs.iter().zip(scores) {
        if *score > floor && hits.admits(*doc) {
            hits.take(*doc, *score);
            floor = hits.floor();
        }
    }
}

/// What a search needs besides its lists; its memory is used again in the next segment.
pub(super) struct Sums {
    /// The sums of a window's documents. A list adds nothing below zero: where the sign is set, none has the document.
    sums: Vec<f64>,
    /// The documents of the window that a list has, each once, in any order.
    docs: Vec<DocId>,
    /// A bit for each document of the window, all zero.
    marks: [u64; WORDS],
    pub(super) candidates: Candidates,
    /// The sums of the bounds of the lists around some documents.
    pub(super) near: Vec<f64>,
    /// The places of the lists, those that matter least first, and the sums of their bounds.
    order: Vec<(f32, usize)>,
    below: Vec<f64>,
    pub(super) dense: Dense,
}

impl Default for Sums {
    fn default() -> Self {
        Sums {
            sums: Vec::new(),
            docs: Vec::new(),
            marks: [0; WORDS],
            candidates: Candidates::default(),
            near: Vec::new(),
            order: Vec::new(),
            below: Vec::new(),
            dense: Dense::default(),
        }
    }
}

impl Sums {
    /// Makes room for so many lists.
    pub(super) fn begin(&mut self, lists: usize) {
        self.near.clear();
        self.near.resize(lists + 1, 0.0);
    }
}

/// Several words.
pub(super) fn any(lists: &mut [List<'_>], sums: &mut Sums, hits: &mut Hits<'_>) {
    sums.begin(lists.len());
    sums.sums.resize(WINDOW as usize, NONE);
    let from = dense(lists, Needs::Any, sums, hits);
    let (mut order, mut below) = (
        std::mem::take(&mut sums.order),
        std::mem::take(&mut sums.below),
    );
    order.clear();
    order.extend((0..lists.len()).map(|place| (0.0, place)));
    below.clear();
    below.resize(lists.len() + 1, 0.0);
    windows(lists, from, (&mut order, &mut below), (sums, hits));
    (sums.order, sums.below) = (order, below);
}

/// Puts the lists that have impacts before the others, with what they add at most anywhere, and says how many they are.
fn put_aside(lists: &[List<'_>], order: &mut [(f32, usize)], below: &mut [f64]) -> usize {
    for (best, place) in &mut *order {
        *best = lists[*place].best_of_impacts().unwrap_or(f32::INFINITY);
    }
    order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let count = order.partition_point(|(best, _)| *best < f32::INFINITY);
    for (at, (best, _)) in order[..count].iter().enumerate() {
        below[at + 1] = below[at] + f64::from(*best);
    }
    count
}

fn windows(
    lists: &mut [List<'_>],
    mut from: DocId,
    (order, below): (&mut [(f32, usize)], &mut [f64]),
    (sums, hits): (&mut Sums, &mut Hits<'_>),
) {
    let mut width = FIRST_WINDOW;
    // Once lists with impacts are not enough for a hit, they are put aside until documents of the other lists are looked
    // up in them: impacts bound these better than blocks do.
    let reach = reach_of_impacts(lists);
    // How many are put aside, and how many lists did not matter in the window before.
    let (mut aside, mut needed) = (0, 0);
    let mut pace = Pace::of_lists(lists.len());
    while !pace.is_over() {
        if aside == 0 && reach > 0.0 && reach <= hits.floor() {
            aside = put_aside(lists, order, below);
            needed = aside;
        }
        let walked = order[aside..].iter().map(|(_, place)| &lists[*place]);
        let living = walked.filter(|list| !list.is_over());
        let Some(next) = living.map(List::next_at_least).min() else {
            return;
        };
        from = from.max(next);
        if from >= tantivy::TERMINATED {
            return;
        }
        let mut end = from.saturating_add(width);
        let floor = hits.floor();
        if floor > f32::MIN {
            end = bound(lists, (&mut order[aside..], needed - aside), (from, end));
            for (at, (best, _)) in order.iter().enumerate().skip(aside) {
                below[at + 1] = below[at] + f64::from(*best);
            }
            // The same rounding as a hit's score gets: a sum that is no more than the floor then is no hit.
            needed = below[1..].partition_point(|sum| rounded(*sum) <= floor);
            needed = needed.max(aside);
            if needed == lists.len() {
                from = end;
                // All that are walked matter for where the next window ends.
                needed = aside;
                continue;
            }
            // Several lists are summed up, in as much memory as a window of this width takes; one alone needs none, and
            // may go as far as its bound holds.
            if needed + 1 < lists.len() {
                end = end.min(from.saturating_add(width));
            }
        }
        // A document with none of the essential words cannot be a hit, so that only theirs are walked.
        let (rest, essential) = order.split_at(needed);
        match essential {
            [_] => around_one(lists, (order, aside), (from, end), (&mut *sums, &mut *hits)),
            several => {
                for (_, place) in several {
                    sums.add(&mut lists[*place], (from, end));
                }
                sums.gather(from, below[needed], hits);
                complete(lists, (rest, below), &mut sums.candidates, hits);
            }
        }
        from = end;
        width = (width * 2).min(WINDOW);
    }
}

/// Bounds every list's scores in a window and sorts them by it. The window grows to where the first list that
/// mattered before enters another block; that of few lists shrinks to where any of them does.
fn bound(
    lists: &mut [List<'_>],
    (order, needed): (&mut [(f32, usize)], usize),
    (from, end): (DocId, DocId),
) -> DocId {
    let (mut reach, mut nearest) = (tantivy::TERMINATED, tantivy::TERMINATED);
    for (at, (_, place)) in order.iter().enumerate() {
        let list = &mut lists[*place];
        list.shallow(from);
        if list.is_over() {
            continue;
        }
        let entered = list.last().saturating_add(1);
        nearest = nearest.min(entered);
        if at >= needed {
            reach = reach.min(entered);
        }
    }
    let mut end = end.max(reach).min(tantivy::TERMINATED);
    if order.len() <= FEW {
        end = end.min(nearest.max(from.saturating_add(NARROWEST_WINDOW)));
    }
    for (best, place) in order.iter_mut() {
        let list = &mut lists[*place];
        *best = if list.is_over() {
            0.0
        } else {
            list.weight.times(list.factor_until(end - 1))
        };
    }
    order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    end
}

/// The documents of the only list that matters, the last in the order; the others add to their scores. Where its block
/// and those of the others around it hold nothing good enough, the documents up to the end of the first of them are
/// passed over.
fn around_one(
    lists: &mut [List<'_>],
    (order, aside): (&[(f32, usize)], usize),
    (mut from, end): (DocId, DocId),
    (sums, hits): (&mut Sums, &mut Hits<'_>),
) {
    let Some(((_, only), rest)) = order.split_last() else {
        return;
    };
    let Sums {
        candidates,
        near: below,
        ..
    } = sums;
    while from < end {
        lists[*only].shallow(from);
        let mut last = lists[*only].last().min(end - 1);
        for (at, (bound, place)) in rest.iter().enumerate() {
            let list = &mut lists[*place];
            let bound = if at < aside {
                *bound
            } else {
                list.shallow(from);
                last = last.min(list.last());
                list.block_bound()
            };
            below[at + 1] = below[at] + f64::from(bound);
        }
        let others = below[rest.len()];
        let lead = &mut lists[*only];
        if rounded(f64::from(lead.block_bound()) + others) > hits.floor() {
            lead.seek(from);
            candidates.read(lead, last + 1, (others, &*hits));
            complete(lists, (rest, below), candidates, hits);
        }
        from = last + 1;
    }
}

impl Sums {
    /// Adds a list's scores in a window to the sums.
    pub(super) fn add(&mut self, list: &mut List<'_>, (from, end): (DocId, DocId)) {
        let mut scores = [0.0; BLOCK];
        list.seek(from);
        loop {
            let last = list.last();
            let docs = list.score_until(end, &mut scores);
            let mut count = self.docs.len();
            self.docs.resize(count + docs.len(), 0);
            // Whether another list has a document cannot be foreseen: a branch would cost more.
            for (doc, score) in docs.iter().zip(&scores) {
                let sum = &mut self.sums[(doc - from) as usize];
                self.docs[count] = *doc;
                count += usize::from(sum.is_sign_negative());
                *sum += f64::from(*score);
            }
            self.docs.truncate(count);
            if last.saturating_add(1) >= end {
                return;
            }
            list.shallow(last + 1);
        }
    }

    /// The sums of a window that begins at a document, by their places in it.
    pub(super) fn each(&self, from: DocId, mut told: impl FnMut(usize, f64)) {
        for doc in &self.docs {
            let place = (doc - from) as usize;
            told(place, self.sums[place]);
        }
    }

    /// The sum at a place of a window.
    pub(super) fn sum(&self, place: usize) -> f64 {
        self.sums.get(place).copied().unwrap_or(NONE)
    }

    /// Takes the sums of a window away.
    pub(super) fn forget(&mut self, from: DocId) {
        for doc in self.docs.drain(..) {
            self.sums[(doc - from) as usize] = NONE;
        }
    }

    /// Takes the documents of a window whose sums may be good enough with `others` added.
    fn gather(&mut self, from: DocId, others: f64, hits: &Hits<'_>) {
        let reach = hits.reach(others);
        let found = &mut self.candidates.docs;
        found.resize(self.docs.len(), 0);
        let mut count = 0;
        for doc in &self.docs {
            found[count] = *doc;
            count += usize::from(self.sums[(doc - from) as usize] > reach);
        }
        found.truncate(count);
        if hits.is_choosy() {
            found.retain(|doc| hits.admits(*doc));
        }
        if count > SORTED_MAX {
            sort_by_marks(found, from, &mut self.marks);
        } else {
            found.sort_unstable();
        }
        let sums = found.iter().map(|doc| self.sums[(doc - from) as usize]);
        self.candidates.sums.extend(sums);
        self.forget(from);
    }
}

/// Sorts documents of a window, which are all different; what is marked before and after is nothing.
fn sort_by_marks(docs: &mut Vec<DocId>, from: DocId, marks: &mut [u64; WORDS]) {
    for doc in docs.drain(..) {
        let place = (doc - from) as usize;
        marks[place / 64] |= 1 << (place % 64);
    }
    for (base, word) in (from..).step_by(64).zip(marks) {
        let mut left = std::mem::take(word);
        while left != 0 {
            docs.push(base + left.trailing_zeros());
            left &= left - 1;
        }
    }
}

/// Looks the candidates up in the lists that are left, the one that matters most first, and takes those that
/// are good enough.
fn complete(
    lists: &mut [List<'_>],
    (rest, below): (&[(f32, usize)], &[f64]),
    candidates: &mut Candidates,
    hits: &mut Hits<'_>,
) {
    for (at, (_, place)) in rest.iter().enumerate().rev() {
        let list = &mut lists[*place];
        // What it must have if this list and those that matter less all gave their most; and what without this one.
        let (with, without) = (hits.reach(below[at + 1]), hits.reach(below[at]));
        candidates.retain_from(0, |doc, sum| {
            if *sum <= with {
                return false;
            }
            // Candidates ascend, so that the list goes forward only.
            let bound = list.bound_of(doc);
            if *sum + f64::from(bound) <= without {
                return false;
            }
            if bound > 0.0 && list.seek(doc) == doc {
                *sum += f64::from(list.score());
            }
            true
        });
    }
    candidates.take(hits);
}
