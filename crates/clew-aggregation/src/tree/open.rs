//! The collectors of plans.

use clew_query::AggError;

use crate::bucket::chain::Chain;
use crate::bucket::date_histogram::DateHistogram;
use crate::bucket::filters::Filters;
use crate::bucket::grid::GridPlan;
use crate::bucket::histogram::NumberHistogram;
use crate::bucket::missing::Missing;
use crate::bucket::multi_terms::MultiTermsPlan;
use crate::bucket::nested::Join;
use crate::bucket::range::Ranges;
use crate::bucket::relatives::Relatives;
use crate::bucket::terms::Terms;
use crate::bucket::variable_width::ClustersPlan;
use crate::bucket::words::Words;
use crate::collect::places::{Counted, Everything};
use crate::collect::timed::opened;
use crate::collect::{Collect, Level, Segment};
use crate::metric::top_hits::TopHits;
use crate::tree::{Op, Plan};

/// The collectors of a list of aggregations.
pub(crate) fn open_all(
    segment: Segment<'_>,
    plans: &[Plan],
    level: Level,
) -> Result<Vec<Box<dyn Collect>>, AggError> {
    plans
        .iter()
        .map(|plan| opened(plan.figures.as_ref(), || open(segment, plan, level)))
        .collect()
}

fn open(segment: Segment<'_>, plan: &Plan, level: Level) -> Result<Box<dyn Collect>, AggError> {
    Ok(match &plan.op {
        Op::Terms(terms) => match terms.words() {
            Some(words) => Box::new(Words::open(segment, plan, (words, &terms.filter))?),
            None => Box::new(Terms::open(segment, plan, terms, level)?),
        },
        Op::DateHistogram(dates) => Box::new(DateHistogram::open(segment, plan, dates, level)?),
        Op::Clusters(ClustersPlan { terms, .. }) => {
            Box::new(Terms::open(segment, plan, terms, level)?)
        }
        Op::AutoDate(auto) => {
            let dates = auto.collected();
            Box::new(DateHistogram::open(segment, plan, &dates, level)?)
        }
        Op::Histogram(numbers) => Box::new(NumberHistogram::open(segment, plan, numbers, level)?),
        Op::Range(range) => Box::new(Ranges::open(segment, plan, range)?),
        Op::Missing => Box::new(Missing::open(segment, plan)?),
        Op::Join(join) => Box::new(Join::open(segment, plan, join)?),
        Op::Relatives(relatives) => Box::new(Relatives::open(segment, plan, relatives)),
        Op::TopHits(top) => Box::new(TopHits::open(segment.reader, top)?),
        Op::Metric(metric) => metric.as_metric().open(segment, plan)?,
        Op::Filters(filters) => Box::new(Filters::open(segment, plan, filters)?),
        Op::Composite(composite) => Box::new(Chain::open(segment, plan, &composite.links)?),
        Op::MultiTerms(MultiTermsPlan { links, .. }) => {
            Box::new(Chain::open(segment, plan, links)?)
        }
        Op::Grid(GridPlan { link, .. }) => {
            let links = std::slice::from_ref(link);
            Box::new(Chain::open(segment, plan, links)?)
        }
        Op::Global | Op::Sample(_) => {
            Box::new(Everything::open(segment, plan, Counted::WhatTheyStandFor)?)
        }
    })
}
