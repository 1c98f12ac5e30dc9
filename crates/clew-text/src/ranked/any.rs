//! Documents with any of some words. The documents are walked in windows; in each, the words are divided into
//! those whose best documents there, all together, cannot reach the hits that are kept, and the others. Only
//! documents with one of the others are scored, and only the best of these are looked up in the rest.

use tantivy::DocId;

use super::bm25::rounded;
use super::hits::Hits;
use super::list::{BLOCK, List};

/// Documents of the largest window: its sums fill half of a core's fastest cache.
const WINDOW: u32 = 4096;
const WORDS: usize = WINDOW as usize / 64;
/// The first window is small, so that there is a threshold soon.
const FIRST_WINDOW: u32 = 256;

/// One word: no sums are needed.
pub(super) fn one(list: &mut List<'_>, hits: &mut Hits<'_>) {
    let mut scores = [0.0; BLOCK];
    while !list.is_over() {
        let floor = hits.floor();
        let end = list.last();
        if list.block_bound() > floor {
            let docs = list.score_until(end.saturating_add(1), &mut scores);
            take_better(docs, &scores, hits);
        }
        if end == tantivy::TERMINATED {
            return;
        }
        list.shallow(end + 1);
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

/// A document and the sum of its scores so far.
pub(super) type Candidate = (DocId, f64);

/// What one search needs besides its lists.
struct Sums {
    sums: Vec<f64>,
    used: [u64; WORDS],
    candidates: Vec<Candidate>,
}

/// Several words.
pub(super) fn any(lists: &mut [List<'_>], hits: &mut Hits<'_>) {
    let mut sums = Sums {
        sums: vec![0.0; WINDOW as usize],
        used: [0; WORDS],
        candidates: Vec::with_capacity(BLOCK),
    };
    // The places of the lists, those that matter least first, and the sums of their bounds.
    let mut order: Vec<(f32, usize)> = (0..lists.len()).map(|place| (0.0, place)).collect();
    let mut below = vec![0.0; lists.len() + 1];
    let (mut from, mut width) = (0, FIRST_WINDOW);
    loop {
        let living = lists.iter().filter(|list| !list.is_over());
        let Some(next) = living.map(List::next_at_least).min() else {
            return;
        };
        from = from.max(next);
        if from >= tantivy::TERMINATED {
            return;
        }
        let mut end = from.saturating_add(width);
        let floor = hits.floor();
        let mut needed = 0;
        if floor > f32::MIN {
            end = bound(lists, &mut order, (from, end));
            for (at, (best, _)) in order.iter().enumerate() {
                below[at + 1] = below[at] + f64::from(*best);
            }
            needed = below[1..].partition_point(|sum| rounded(*sum) <= floor);
            if needed == lists.len() {
                from = end;
                continue;
            }
            end = end.min(from.saturating_add(width));
        }
        sums.candidates.clear();
        let (rest, essential) = order.split_at(needed);
        match essential {
            [(_, only)] => from_one(
                &mut lists[*only],
                (from, end),
                below[needed],
                (&mut sums.candidates, hits),
            ),
            several => {
                for (_, place) in several {
                    add(&mut lists[*place], (from, end), &mut sums);
                }
                sums.gather(from, below[needed], hits);
            }
        }
        complete(lists, (rest, &below), &mut sums.candidates, hits);
        from = end;
        width = (width * 2).min(WINDOW);
    }
}

/// Bounds every list's scores in a window and sorts them by it. The window grows to where the first list enters
/// another block, as the bounds hold as far.
fn bound(lists: &mut [List<'_>], order: &mut [(f32, usize)], (from, end): (DocId, DocId)) -> DocId {
    let mut reach = tantivy::TERMINATED;
    for list in lists.iter_mut() {
        list.shallow(from);
        if !list.is_over() {
            reach = reach.min(list.last().saturating_add(1));
        }
    }
    let end = end.max(reach).min(tantivy::TERMINATED);
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

/// The documents of the only list that matters, block by block, that may be good enough with `others` added.
fn from_one(
    list: &mut List<'_>,
    (from, end): (DocId, DocId),
    others: f64,
    (candidates, hits): (&mut Vec<Candidate>, &Hits<'_>),
) {
    let floor = hits.floor();
    let mut scores = [0.0; BLOCK];
    list.shallow(from);
    loop {
        let last = list.last();
        if rounded(f64::from(list.block_bound()) + others) > floor {
            list.seek(from);
            let docs = list.score_until(end, &mut scores);
            for (doc, score) in docs.iter().zip(&scores) {
                let sum = f64::from(*score);
                if rounded(sum + others) > floor && hits.admits(*doc) {
                    candidates.push((*doc, sum));
                }
            }
        }
        if last.saturating_add(1) >= end {
            return;
        }
        list.shallow(last + 1);
    }
}

/// Adds a list's scores in a window to the sums.
fn add(list: &mut List<'_>, (from, end): (DocId, DocId), sums: &mut Sums) {
    let mut scores = [0.0; BLOCK];
    list.seek(from);
    loop {
        let last = list.last();
        for (doc, score) in list.score_until(end, &mut scores).iter().zip(&scores) {
            let place = (doc - from) as usize;
            sums.sums[place] += f64::from(*score);
            sums.used[place / 64] |= 1 << (place % 64);
        }
        if last.saturating_add(1) >= end {
            return;
        }
        list.shallow(last + 1);
    }
}

impl Sums {
    /// The documents whose sums may be good enough with `others` added; the sums are zero afterwards.
    fn gather(&mut self, from: DocId, others: f64, hits: &Hits<'_>) {
        let floor = hits.floor();
        for (base, word) in (from..).step_by(64).zip(&mut self.used) {
            let mut left = std::mem::take(word);
            while left != 0 {
                let doc = base + left.trailing_zeros();
                left &= left - 1;
                let sum = std::mem::take(&mut self.sums[(doc - from) as usize]);
                if rounded(sum + others) > floor && hits.admits(doc) {
                    self.candidates.push((doc, sum));
                }
            }
        }
    }
}

/// Looks the candidates up in the lists that are left, the one that matters most first, and takes those that
/// are good enough.
fn complete(
    lists: &mut [List<'_>],
    (rest, below): (&[(f32, usize)], &[f64]),
    candidates: &mut Vec<Candidate>,
    hits: &mut Hits<'_>,
) {
    for (at, (_, place)) in rest.iter().enumerate().rev() {
        let (list, floor) = (&mut lists[*place], hits.floor());
        candidates.retain_mut(|(doc, sum)| {
            if rounded(*sum + below[at + 1]) <= floor {
                return false;
            }
            list.shallow(*doc);
            let best = f64::from(list.block_bound());
            if rounded(*sum + below[at] + best) <= floor {
                return false;
            }
            if list.seek(*doc) == *doc {
                *sum += f64::from(list.score());
            }
            true
        });
    }
    for (doc, sum) in candidates.drain(..) {
        let score = rounded(sum);
        if score > hits.floor() {
            hits.take(doc, score);
        }
    }
}
