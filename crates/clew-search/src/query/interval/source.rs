//! A rule over terms, and the same rule over one segment's postings.

use std::sync::Arc;

use clew_platform::{Pace, stopped};
use clew_query::{IntervalRelation, Script, go_on_in_set};
use tantivy::postings::{Postings, SegmentPostings};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet, SegmentReader, TERMINATED, Term};

use super::algebra::{self, Interval};
use super::scripted;
use crate::query::constant::knows;
use crate::query::phrase::MANY;

/// Gives intervals; `L` is what a leaf is: terms, or their postings in a segment.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum IntervalSource<L> {
    /// Any of the words of a leaf.
    Words(L),
    Any(Vec<IntervalSource<L>>),
    Ordered(Vec<IntervalSource<L>>),
    Unordered(Vec<IntervalSource<L>>),
    /// In any order, none over another.
    Apart(Vec<IntervalSource<L>>),
    /// As `span_near` joins: what is near enough, minimal or not.
    Near {
        sources: Vec<IntervalSource<L>>,
        in_order: bool,
        slop: u32,
    },
    Repeated(Box<IntervalSource<L>>, usize),
    MaxGaps(Box<IntervalSource<L>>, u32),
    Related(
        Box<IntervalSource<L>>,
        IntervalRelation,
        Box<IntervalSource<L>>,
    ),
    Extended {
        source: Box<IntervalSource<L>>,
        before: u32,
        after: u32,
    },
    First(Box<IntervalSource<L>>, u32),
    /// Those that a script holds of.
    Scripted(Box<IntervalSource<L>>, Arc<Script>),
}

/// A rule over terms.
pub(crate) type TermSource = IntervalSource<Vec<Term>>;

/// Alternatives that a disjunction is pulled up into, at most.
const ALTERNATIVES_MAX: usize = 64;
/// Sources that a rule may grow to when its disjunctions are pulled up.
const SIZE_MAX: usize = 4096;

impl<L> IntervalSource<L> {
    /// No interval at all.
    pub(crate) fn nothing() -> Self {
        IntervalSource::Any(Vec::new())
    }

    /// The least width of an interval.
    pub(crate) fn extent_min(&self) -> i64 {
        match self {
            IntervalSource::Words(_) => 1,
            IntervalSource::Any(sources) => sources
                .iter()
                .map(IntervalSource::extent_min)
                .min()
                .unwrap_or(0),
            IntervalSource::Ordered(sources)
            | IntervalSource::Unordered(sources)
            | IntervalSource::Apart(sources)
            | IntervalSource::Near { sources, .. } => {
                sources.iter().map(IntervalSource::extent_min).sum()
            }
            IntervalSource::Extended {
                source,
                before,
                after,
            } => source.extent_min() + i64::from(*before) + i64::from(*after),
            // Repeated or not: in a score the times do not count as wider.
            IntervalSource::Repeated(source, _)
            | IntervalSource::MaxGaps(source, _)
            | IntervalSource::Related(source, ..)
            | IntervalSource::Scripted(source, _)
            | IntervalSource::First(source, _) => source.extent_min(),
        }
    }

    fn try_map<M, E>(
        &self,
        leaf: &mut impl FnMut(&L) -> Result<M, E>,
    ) -> Result<IntervalSource<M>, E> {
        let mut list = |sources: &[IntervalSource<L>]| -> Result<Vec<IntervalSource<M>>, E> {
            sources.iter().map(|source| source.try_map(leaf)).collect()
        };
        Ok(match self {
            IntervalSource::Any(sources) => IntervalSource::Any(list(sources)?),
            IntervalSource::Ordered(sources) => IntervalSource::Ordered(list(sources)?),
            IntervalSource::Unordered(sources) => IntervalSource::Unordered(list(sources)?),
            IntervalSource::Apart(sources) => IntervalSource::Apart(list(sources)?),
            IntervalSource::Near {
                sources,
                in_order,
                slop,
            } => IntervalSource::Near {
                sources: list(sources)?,
                in_order: *in_order,
                slop: *slop,
            },
            IntervalSource::Words(words) => IntervalSource::Words(leaf(words)?),
            IntervalSource::Repeated(source, times) => {
                IntervalSource::Repeated(Box::new(source.try_map(leaf)?), *times)
            }
            IntervalSource::MaxGaps(source, gaps) => {
                IntervalSource::MaxGaps(Box::new(source.try_map(leaf)?), *gaps)
            }
            IntervalSource::Related(source, relation, filter) => IntervalSource::Related(
                Box::new(source.try_map(leaf)?),
                *relation,
                Box::new(filter.try_map(leaf)?),
            ),
            IntervalSource::Extended {
                source,
                before,
                after,
            } => IntervalSource::Extended {
                source: Box::new(source.try_map(leaf)?),
                before: *before,
                after: *after,
            },
            IntervalSource::First(source, end) => {
                IntervalSource::First(Box::new(source.try_map(leaf)?), *end)
            }
            IntervalSource::Scripted(source, script) => {
                IntervalSource::Scripted(Box::new(source.try_map(leaf)?), Arc::clone(script))
            }
        })
    }
}

impl TermSource {
    /// The sources whose union this one is. A condition on intervals must be asked of each of
    /// them: among all together the minimal one might fail it and hide a longer one that does not.
    pub(crate) fn alternatives(self) -> Vec<TermSource> {
        match self {
            IntervalSource::Any(sources) => sources
                .into_iter()
                .flat_map(TermSource::alternatives)
                .collect(),
            IntervalSource::Ordered(sources) => distributed(sources, IntervalSource::Ordered),
            IntervalSource::Unordered(sources) => distributed(sources, IntervalSource::Unordered),
            IntervalSource::Apart(sources) => distributed(sources, IntervalSource::Apart),
            other => vec![other],
        }
    }

    /// Each alternative with a condition, and their union.
    pub(crate) fn each(self, condition: impl Fn(TermSource) -> TermSource) -> TermSource {
        let alternatives = self.clone().alternatives();
        if alternatives.len() > ALTERNATIVES_MAX {
            return condition(self);
        }
        let mut sources: Vec<TermSource> = alternatives.into_iter().map(&condition).collect();
        if sources.len() == 1 {
            return sources.remove(0);
        }
        let whole = IntervalSource::Any(sources);
        if whole.size() > SIZE_MAX {
            return condition(self);
        }
        whole
    }

    /// How many sources it is made of.
    fn size(&self) -> usize {
        1 + match self {
            IntervalSource::Words(_) => 0,
            IntervalSource::Any(sources)
            | IntervalSource::Ordered(sources)
            | IntervalSource::Unordered(sources)
            | IntervalSource::Apart(sources)
            | IntervalSource::Near { sources, .. } => {
                sources.iter().map(IntervalSource::size).sum()
            }
            IntervalSource::Related(source, _, filter) => source.size() + filter.size(),
            IntervalSource::Repeated(source, _)
            | IntervalSource::MaxGaps(source, _)
            | IntervalSource::Extended { source, .. }
            | IntervalSource::Scripted(source, _)
            | IntervalSource::First(source, _) => source.size(),
        }
    }

    /// The terms of all leaves that a match may count.
    pub(crate) fn terms(&self) -> Vec<Term> {
        let mut terms = Vec::new();
        self.gather(&mut terms);
        terms.sort();
        terms.dedup();
        terms
    }

    fn gather(&self, terms: &mut Vec<Term>) {
        match self {
            IntervalSource::Words(words) => terms.extend(words.iter().cloned()),
            IntervalSource::Any(sources)
            | IntervalSource::Ordered(sources)
            | IntervalSource::Unordered(sources)
            | IntervalSource::Apart(sources)
            | IntervalSource::Near { sources, .. } => {
                sources.iter().for_each(|source| source.gather(terms));
            }
            IntervalSource::Related(source, relation, filter) => {
                source.gather(terms);
                // What must not be there tells nothing of what is.
                if relation.needs_filter() {
                    filter.gather(terms);
                }
            }
            IntervalSource::Repeated(source, _)
            | IntervalSource::MaxGaps(source, _)
            | IntervalSource::Extended { source, .. }
            | IntervalSource::Scripted(source, _)
            | IntervalSource::First(source, _) => source.gather(terms),
        }
    }

    /// The postings of this segment.
    pub(crate) fn open(&self, reader: &SegmentReader) -> tantivy::Result<SegmentSource> {
        let mut pace = Pace::of_blocks();
        self.try_map(&mut |terms: &Vec<Term>| {
            let mut postings = Vec::with_capacity(terms.len());
            for term in terms {
                go_on_in_set(&mut pace)?;
                if !knows(reader, term.field()) {
                    continue;
                }
                let inverted = reader.inverted_index(term.field())?;
                let option = IndexRecordOption::WithFreqsAndPositions;
                postings.extend(inverted.read_postings(term, option)?);
            }
            Ok(Leaf(postings))
        })
    }
}

fn distributed(
    sources: Vec<TermSource>,
    join: impl Fn(Vec<TermSource>) -> TermSource,
) -> Vec<TermSource> {
    let choices: Vec<Vec<TermSource>> = sources
        .iter()
        .map(|source| source.clone().alternatives())
        .collect();
    let count = choices
        .iter()
        .try_fold(1_usize, |count, list| count.checked_mul(list.len()));
    if count.is_none_or(|count| count > ALTERNATIVES_MAX) {
        return vec![join(sources)];
    }
    let mut chosen: Vec<Vec<TermSource>> = vec![Vec::new()];
    for list in choices {
        chosen = chosen
            .into_iter()
            .flat_map(|begun| {
                list.iter().map(move |next| {
                    let mut begun = begun.clone();
                    begun.push(next.clone());
                    begun
                })
            })
            .collect();
    }
    chosen.into_iter().map(join).collect()
}

/// The postings of the words that a leaf stands for.
pub(crate) struct Leaf(Vec<SegmentPostings>);

/// A rule over one segment's postings. Documents must be asked for in ascending order.
pub(crate) type SegmentSource = IntervalSource<Leaf>;

impl SegmentSource {
    /// The first document from `target` on that has the words needed, wherever they stand.
    pub(crate) fn candidate(&mut self, target: DocId) -> DocId {
        match self {
            IntervalSource::Words(Leaf(postings)) => {
                // So many take a while for each document.
                if postings.len() >= MANY && stopped() {
                    return TERMINATED;
                }
                let docs = postings.iter_mut().map(|one| reach(one, target));
                docs.min().unwrap_or(TERMINATED)
            }
            IntervalSource::Any(sources) => {
                let docs = sources.iter_mut().map(|source| source.candidate(target));
                docs.min().unwrap_or(TERMINATED)
            }
            IntervalSource::Ordered(sources)
            | IntervalSource::Unordered(sources)
            | IntervalSource::Apart(sources)
            | IntervalSource::Near { sources, .. } => agreed(target, |doc| {
                let docs = sources.iter_mut().map(|source| source.candidate(doc));
                docs.max().unwrap_or(TERMINATED)
            }),
            IntervalSource::Related(source, relation, filter) if relation.needs_filter() => {
                agreed(target, |doc| {
                    source.candidate(doc).max(filter.candidate(doc))
                })
            }
            IntervalSource::Repeated(source, _)
            | IntervalSource::MaxGaps(source, _)
            | IntervalSource::Related(source, ..)
            | IntervalSource::Extended { source, .. }
            | IntervalSource::Scripted(source, _)
            | IntervalSource::First(source, _) => source.candidate(target),
        }
    }

    /// The minimal intervals of a document.
    pub(crate) fn intervals(&mut self, doc: DocId) -> Vec<Interval> {
        match self {
            IntervalSource::Words(Leaf(postings)) => words(postings, doc),
            IntervalSource::Any(sources) => {
                let all = sources.iter_mut().flat_map(|source| source.intervals(doc));
                algebra::minimal(all.collect())
            }
            IntervalSource::Ordered(sources) => {
                lists(sources, doc).map_or_else(Vec::new, |lists| algebra::ordered(&lists))
            }
            IntervalSource::Unordered(sources) => {
                lists(sources, doc).map_or_else(Vec::new, |lists| algebra::unordered(&lists))
            }
            IntervalSource::Apart(sources) => {
                lists(sources, doc).map_or_else(Vec::new, algebra::apart)
            }
            IntervalSource::Near {
                sources,
                in_order,
                slop,
            } => {
                let slop = i64::from(*slop);
                match (lists(sources, doc), *in_order) {
                    (None, _) => Vec::new(),
                    (Some(lists), true) => algebra::near_in_order(&lists, slop),
                    (Some(lists), false) => algebra::near(&lists, slop),
                }
            }
            IntervalSource::Repeated(source, times) => {
                algebra::repeated(&source.intervals(doc), *times)
            }
            IntervalSource::MaxGaps(source, gaps) => {
                let mut list = source.intervals(doc);
                list.retain(|interval| interval.gaps <= i64::from(*gaps));
                list
            }
            IntervalSource::Related(source, relation, filter) => {
                let list = source.intervals(doc);
                if list.is_empty() {
                    return list;
                }
                algebra::related(list, *relation, &filter.intervals(doc))
            }
            IntervalSource::Extended {
                source,
                before,
                after,
            } => {
                let mut list = source.intervals(doc);
                for interval in &mut list {
                    interval.start = interval.start.saturating_sub(*before);
                    interval.end = interval.end.saturating_add(*after);
                }
                // Starts that were cut off at 0 may have become equal.
                algebra::minimal(list)
            }
            IntervalSource::First(source, end) => {
                let mut list = source.intervals(doc);
                list.retain(|interval| interval.end < *end);
                list
            }
            IntervalSource::Scripted(source, script) => {
                let mut list = source.intervals(doc);
                scripted::keep(script, &mut list);
                list
            }
        }
    }
}

fn reach(postings: &mut SegmentPostings, target: DocId) -> DocId {
    if postings.doc() < target {
        postings.seek(target)
    } else {
        postings.doc()
    }
}

/// The first document from `target` on that `next` gives back unchanged.
fn agreed(target: DocId, mut next: impl FnMut(DocId) -> DocId) -> DocId {
    let mut doc = target;
    loop {
        let at = next(doc);
        if at == doc || at == TERMINATED {
            return at;
        }
        doc = at;
    }
}

fn words(postings: &mut [SegmentPostings], doc: DocId) -> Vec<Interval> {
    let mut found = Vec::new();
    let mut positions = Vec::new();
    for one in postings {
        if reach(one, doc) == doc {
            one.positions(&mut positions);
            found.extend(positions.iter().map(|position| Interval::word(*position)));
        }
    }
    algebra::minimal(found)
}

/// The intervals of each source, when none of them lacks any.
fn lists(sources: &mut [SegmentSource], doc: DocId) -> Option<Vec<Vec<Interval>>> {
    let mut lists = Vec::with_capacity(sources.len());
    for source in sources {
        let list = source.intervals(doc);
        if list.is_empty() {
            return None;
        }
        lists.push(list);
    }
    Some(lists)
}
