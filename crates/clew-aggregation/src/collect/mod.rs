//! Collectors of one segment. Each gets blocks of documents together with the bucket of its parent
//! that every document fell into, and hands documents on to its own sub-aggregations likewise.

pub(crate) mod chain;
mod filters;
mod geo;
mod histogram;
mod join;
mod matrix;
mod metric;
mod quantiles;
mod range;
mod relatives;
mod slots;
mod terms;
mod top_hits;
mod words;

pub(crate) use filters::{Counted, Everything};
pub(crate) use histogram::{start_of_step, step_of_number};
pub(crate) use words::WordsPlan;

use clew_query::AggError;
use tantivy::{DocId, SegmentReader};

use super::limits::Account;
use super::partial::Partial;
use super::plan::{Op, Plan};
use super::profile::opened;

/// One segment of a shard.
#[derive(Clone, Copy)]
pub(crate) struct Segment<'a> {
    pub(crate) reader: &'a SegmentReader,
    /// Its place among the shard's segments.
    pub(crate) ord: usize,
}

/// Documents and, for each, the parent's bucket; ascending, with repeats where a document is in
/// several buckets.
#[derive(Clone, Copy)]
pub(crate) struct Block<'a> {
    pub(crate) docs: &'a [DocId],
    pub(crate) parents: &'a [u32],
}

/// Counts what one aggregation wants of a segment.
pub(crate) trait Collect: Send {
    fn collect(&mut self, block: Block<'_>, account: &mut Account) -> Result<(), AggError>;
    /// What was counted, with keys that mean the same in every segment; what that takes is booked before it is made.
    fn finish(self: Box<Self>, account: &mut Account) -> Result<Partial, AggError>;
}

/// The collectors of a list of aggregations.
pub(crate) fn open_all(
    segment: Segment<'_>,
    plans: &[Plan],
    level: Level,
) -> Result<Vec<Box<dyn Collect>>, AggError> {
    plans
        .iter()
        .map(|plan| opened(plan, || open(segment, plan, level)))
        .collect()
}

/// What collectors have counted, in their order.
pub(crate) fn finish_all(
    collectors: Vec<Box<dyn Collect>>,
    account: &mut Account,
) -> Result<Vec<Partial>, AggError> {
    let finish = |collector: Box<dyn Collect>| collector.finish(account);
    collectors.into_iter().map(finish).collect()
}

/// Whether there is one parent bucket or many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    Root,
    Nested,
}

fn open(segment: Segment<'_>, plan: &Plan, level: Level) -> Result<Box<dyn Collect>, AggError> {
    Ok(match &plan.op {
        Op::Terms(terms) => match terms.words() {
            Some(words) => Box::new(words::Words::open(segment, plan, (words, &terms.filter))?),
            None => Box::new(terms::Terms::open(segment, plan, terms, level)?),
        },
        Op::DateHistogram(dates) => {
            Box::new(histogram::DateHistogram::open(segment, plan, dates, level)?)
        }
        Op::Clusters { terms, .. } => Box::new(terms::Terms::open(segment, plan, terms, level)?),
        Op::AutoDate(auto) => {
            let dates = auto.collected();
            Box::new(histogram::DateHistogram::open(
                segment, plan, &dates, level,
            )?)
        }
        Op::Histogram(numbers) => Box::new(histogram::NumberHistogram::open(
            segment, plan, numbers, level,
        )?),
        Op::Range(range) => Box::new(range::Ranges::open(segment, plan, range)?),
        Op::Missing => Box::new(range::Missing::open(segment, plan)?),
        Op::Join(join) => Box::new(join::Join::open(segment, plan, join)?),
        Op::Relatives(relatives) => Box::new(relatives::Relatives::open(segment, plan, relatives)),
        Op::TopHits(top) => Box::new(top_hits::TopHits::open(segment.reader, top)?),
        Op::Moments(_) => Box::new(metric::Basic::open(segment, plan)?),
        Op::Extended { .. } => Box::new(metric::Extended::open(segment, plan)?),
        Op::ValueCount => Box::new(metric::ValueCount::open(segment, plan)?),
        Op::Cardinality { threshold } => {
            Box::new(metric::Cardinality::open(segment, plan, *threshold)?)
        }
        Op::Quantiles(_) => Box::new(quantiles::Quantiles::open(segment, plan)?),
        Op::WeightedAvg { weight } => {
            Box::new(quantiles::WeightedAvg::open(segment, plan, weight)?)
        }
        Op::Filters(filters) => Box::new(filters::Filters::open(segment, plan, filters)?),
        Op::Composite(composite) => Box::new(chain::Chain::open(segment, plan, &composite.links)?),
        Op::MultiTerms { links, .. } => Box::new(chain::Chain::open(segment, plan, links)?),
        Op::Grid { link, .. } => {
            let links = std::slice::from_ref(link);
            Box::new(chain::Chain::open(segment, plan, links)?)
        }
        Op::GeoBounds { .. } | Op::GeoCentroid => Box::new(geo::GeoMetric::open(segment, plan)?),
        Op::Matrix { fields, mode } => Box::new(matrix::Matrix::open(segment, fields, *mode)?),
        Op::Global | Op::Sample(_) => {
            Box::new(Everything::open(segment, plan, Counted::WhatTheyStandFor)?)
        }
    })
}

/// Sub-aggregations and the block being put together for them.
pub(crate) struct Subs {
    collectors: Vec<Box<dyn Collect>>,
    docs: Vec<DocId>,
    parents: Vec<u32>,
}

impl Subs {
    pub(crate) fn open(segment: Segment<'_>, plan: &Plan) -> Result<Self, AggError> {
        Ok(Subs {
            collectors: open_all(segment, &plan.subs, Level::Nested)?,
            docs: Vec::new(),
            parents: Vec::new(),
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.collectors.is_empty()
    }

    #[inline]
    pub(crate) fn push(&mut self, doc: DocId, bucket: u32) {
        self.docs.push(doc);
        self.parents.push(bucket);
    }

    /// Hands on what was pushed.
    pub(crate) fn flush(&mut self, account: &mut Account) -> Result<(), AggError> {
        if !self.docs.is_empty() {
            for collector in &mut self.collectors {
                let block = Block {
                    docs: &self.docs,
                    parents: &self.parents,
                };
                collector.collect(block, account)?;
            }
        }
        self.docs.clear();
        self.parents.clear();
        Ok(())
    }

    pub(crate) fn finish(self, account: &mut Account) -> Result<Vec<Partial>, AggError> {
        finish_all(self.collectors, account)
    }
}
