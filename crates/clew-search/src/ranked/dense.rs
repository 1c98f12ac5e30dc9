//! Documents with some words of which at least one is frequent: its impacts are added for all documents of a window at
//! once, in whole numbers, which is less work than reading its list. Of the sums it is certain how far they are off, so
//! the sums of the best tell a score that enough documents exceed, and only documents that may have more are
//! looked up in the lists.

use clew_kernels::{IMPACTS_CHUNK as CHUNK, WordImpacts};
use clew_platform::Pace;
use tantivy::DocId;

use super::any::Sums;
use super::bm25::rounded;
use super::hits::Hits;
use super::list::List;

/// Documents of a window: its sums fill a quarter of a core's fastest cache.
const WINDOW: u32 = 4096;
/// All words together are looked for in their lists where one of them is in less than one of so many documents: its
/// list leads there.
pub(super) const RARITY_OF_ALL: u64 = 16;
/// Lists with fewer documents in all are read in less time than impacts.
const RARITY_OF_ANY: u64 = 8;
/// Of more words their parts of a sum would be too coarse.
const WORDS_MAX: usize = 16;
/// Hits for which it is tried: what many exceed is learnt too slowly.
const WANTED_MAX: usize = 256;
/// What a document has at most.
const WHOLE: f64 = 60_000.0;

/// Which words a document needs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Needs {
    Any,
    All,
}

/// The memory of a search.
#[derive(Default)]
pub(super) struct Dense {
    sums: Vec<u16>,
    /// The greatest sum of each chunk of documents, which are passed over together.
    greatest: Vec<u16>,
    /// The greatest sums, falling.
    best: Vec<u16>,
    /// Documents that may be good enough, and their sums.
    found: Vec<(DocId, u16)>,
}

/// Whether enough documents are in the lists that have impacts.
fn pays(lists: &[List<'_>], needs: Needs) -> bool {
    let counts = lists.iter().filter_map(|list| {
        let docs = list.impacts?.shares().len() as u64;
        Some((u64::from(list.count), docs))
    });
    match needs {
        Needs::Any => {
            let (count, docs) = counts.fold((0, 0), |(sum, _), (count, docs)| (sum + count, docs));
            docs > 0 && count >= docs / RARITY_OF_ANY
        }
        Needs::All => {
            let dense = counts.filter(|(count, docs)| *count >= docs / RARITY_OF_ALL);
            dense.count() == lists.len()
        }
    }
}

/// The score that no document exceeds by lists with impacts alone.
pub(super) fn reach_of_impacts(lists: &[List<'_>]) -> f32 {
    let best = lists.iter().filter_map(List::best_of_impacts);
    rounded(best.map(f64::from).sum())
}

/// How scores become whole numbers.
struct Scale {
    /// What a score of one is.
    unit: f64,
    /// What a full impact of each list adds; none where the list has no impacts.
    factors: [Option<u16>; WORDS_MAX],
    /// What a document has more at most than its sum, and less.
    more: u16,
    less: u16,
    reach: f32,
    needs: Needs,
    wanted: usize,
}

impl Scale {
    /// `None` where impacts are of no use.
    fn new(lists: &[List<'_>], needs: Needs, hits: &Hits<'_>) -> Option<Self> {
        let wanted = hits
            .wanted()
            .filter(|wanted| (1..=WANTED_MAX).contains(wanted))?;
        if !pays(lists, needs) || lists.len() > WORDS_MAX || hits.counts() {
            return None;
        }
        let whole: f64 = lists
            .iter()
            .map(|list| {
                let full = list.impacts.map_or(1.0, |impacts| impacts.full());
                f64::from(list.weight.times(full))
            })
            .sum();
        let unit = WHOLE / whole;
        if !(unit.is_finite() && unit > 0.0) {
            return None;
        }
        let mut scale = Scale {
            unit,
            factors: [None; WORDS_MAX],
            more: u16::try_from(lists.len()).ok()?,
            less: 0,
            reach: 0.0,
            needs,
            wanted,
        };
        for (list, factor) in lists.iter().zip(&mut scale.factors) {
            if let Some(impacts) = list.impacts {
                let full = f64::from(list.weight.times(impacts.full())) * unit;
                // A product is divided by 256.
                let whole = whole_part((full * 256.0 / 255.0).ceil());
                *factor = Some(whole);
                // An impact is rounded up by less than one, its factor by less than one, the product down.
                scale.less += whole / 256 + 3 + whole_part(full * f64::from(impacts.slack()) + 1.0);
            }
        }
        scale.reach = reach_of_impacts(lists);
        Some(scale)
    }

    /// The least sum of a document that exceeds a score.
    fn sum_above(&self, score: f32) -> u16 {
        // A score is rounded.
        let least = f64::from(score) * self.unit * (1.0 - 1e-6);
        whole_part(least).saturating_sub(self.more)
    }

    /// The score that a document has at least, by its sum.
    fn score_of(&self, sum: u16) -> f32 {
        let least = f64::from(sum.saturating_sub(self.less));
        rounded(least / self.unit * (1.0 - 1e-6))
    }
}

/// Goes through the documents for as long as any with impacts alone may be good enough, and says how far it came; at
/// the beginning where impacts are of no use.
pub(super) fn dense(
    lists: &mut [List<'_>],
    needs: Needs,
    sums: &mut Sums,
    hits: &mut Hits<'_>,
) -> DocId {
    let Some(scale) = Scale::new(lists, needs, hits) else {
        return 0;
    };
    let docs = lists.iter().filter_map(|list| list.impacts);
    let docs = docs.map(|impacts| impacts.shares().len()).max();
    let docs = docs
        .and_then(|docs| DocId::try_from(docs).ok())
        .unwrap_or(0);
    let mut dense = std::mem::take(&mut sums.dense);
    dense.best.clear();
    let mut from = 0;
    let mut pace = Pace::of_lists(lists.len());
    while from < docs && scale.reach > hits.floor() && !pace.is_over() {
        let end = (from + WINDOW).min(docs);
        dense.window(lists, &scale, (from, end), (&mut *sums, &mut *hits));
        from = end;
    }
    sums.dense = dense;
    if from < docs {
        from
    } else {
        tantivy::TERMINATED
    }
}

impl Dense {
    fn window(
        &mut self,
        lists: &mut [List<'_>],
        scale: &Scale,
        (from, end): (DocId, DocId),
        (exact, hits): (&mut Sums, &mut Hits<'_>),
    ) {
        let places = from as usize..end as usize;
        self.sums.resize(places.len(), 0);
        self.greatest.resize(places.len().div_ceil(CHUNK), 0);
        let mut words: [WordImpacts<'_>; WORDS_MAX] = [(&[], 0); WORDS_MAX];
        let (mut count, mut has_lists) = (0, false);
        for (list, factor) in lists.iter_mut().zip(&scale.factors) {
            match (list.impacts, factor) {
                (Some(impacts), Some(factor)) => {
                    let shares = impacts.shares().get(places.clone()).unwrap_or_default();
                    words[count] = (shares, *factor);
                    count += 1;
                }
                _ if list.is_over() => {}
                // Windows ascend without gaps: a list that only goes forward has all that is left of it before it.
                _ => {
                    exact.add(list, (from, end));
                    has_lists = true;
                }
            }
        }
        let needs_all = scale.needs == Needs::All;
        let sums = (&mut self.sums[..], &mut self.greatest[..]);
        clew_kernels::kernels().sum_impacts(&words[..count], needs_all, sums.0, sums.1);
        if has_lists {
            exact.each(from, |place, sum| {
                self.sums[place] += whole_part(sum * scale.unit);
                let greatest = &mut self.greatest[place / CHUNK];
                *greatest = self.sums[place].max(*greatest);
            });
        }
        self.find(scale, from, hits);
        self.look_up(lists, scale, (from, exact), hits);
        if has_lists {
            exact.forget(from);
        }
    }

    /// Finds the documents that may be good enough by their sums.
    fn find(&mut self, scale: &Scale, from: DocId, hits: &mut Hits<'_>) {
        self.found.clear();
        let mut least = scale.sum_above(hits.floor());
        let chunks = self.sums.chunks(CHUNK).zip(&self.greatest);
        for (first, (chunk, greatest)) in (from..).step_by(CHUNK).zip(chunks) {
            if *greatest < least {
                continue;
            }
            for (doc, sum) in (first..).zip(chunk) {
                if *sum < least || *sum == 0 || !hits.admits(doc) {
                    continue;
                }
                self.found.push((doc, *sum));
                // So many documents have that sum or more, each at least the score that goes with it: enough hits.
                if let Some(worst) = keep(&mut self.best, *sum, scale.wanted) {
                    hits.expect(scale.score_of(worst));
                    least = scale.sum_above(hits.floor());
                }
            }
        }
    }

    /// Hands over what is found, as far as it is good enough by the lists.
    fn look_up(
        &self,
        lists: &mut [List<'_>],
        scale: &Scale,
        (from, exact): (DocId, &Sums),
        hits: &mut Hits<'_>,
    ) {
        for (doc, sum) in &self.found {
            let floor = hits.floor();
            if *sum < scale.sum_above(floor) {
                continue;
            }
            // Lists without impacts were added exactly; those with impacts are asked for what they really have.
            let mut sum = exact.sum((doc - from) as usize);
            for list in &mut *lists {
                if list.impacts.is_some_and(|impacts| impacts.has(*doc)) && list.seek(*doc) == *doc
                {
                    sum += f64::from(list.score());
                }
            }
            let score = rounded(sum);
            if score > floor {
                hits.take(*doc, score);
            }
        }
    }
}

/// Puts a sum among the best ones; says what the worst of these is when it changes and they are enough.
fn keep(best: &mut Vec<u16>, sum: u16, wanted: usize) -> Option<u16> {
    if best.len() == wanted && best.last().is_some_and(|worst| *worst >= sum) {
        return None;
    }
    best.insert(best.partition_point(|other| *other >= sum), sum);
    best.truncate(wanted);
    best.last().copied().filter(|_| best.len() == wanted)
}

/// The greatest whole number up to this, as far as there are such.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "what is too large or too small becomes the greatest or least number"
)]
fn whole_part(number: f64) -> u16 {
    number as u16
}
