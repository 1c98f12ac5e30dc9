//! Compares buckets as a request ordered them; equal ones by key, so that no order is left to
//! chance.

pub(crate) mod path;

use std::cmp::Ordering;

use clew_platform::{Reservation, book_for_a_while};
use clew_query::AggError;
use clew_query::aggregation::{Direction, Heuristic};

use crate::counted::buckets::Buckets;
use crate::counted::{Partial, QuantileStates};
use crate::numbers::moments::{Moments, Weighted};
use crate::numbers::quantile::QuantileState;
use crate::value::key::Key;

/// A bucket to be made; one without a number has no documents.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) key: i64,
    pub(crate) count: u64,
    pub(crate) number: Option<u32>,
}

/// Compares the buckets of one aggregation. Metrics are computed once per bucket, not once per
/// comparison.
pub(crate) struct Comparison<'a> {
    buckets: &'a Buckets,
    criteria: Vec<Criterion>,
    _memory: Option<Reservation>,
}

struct Criterion {
    what: What,
    direction: Direction,
}

enum What {
    Count,
    Key,
    /// The metric's value per bucket, and that of a bucket without documents.
    Metric {
        values: Vec<f64>,
        empty: f64,
    },
}

impl<'a> Comparison<'a> {
    /// By these criteria, the first one first.
    ///
    /// # Errors
    /// As [`Buckets::scores`]; when there is no memory for the metrics.
    pub(crate) fn new(buckets: &'a Buckets, order: &[PlannedOrder]) -> Result<Self, AggError> {
        let metrics = order.iter().filter(|one| match one.by {
            By::Count | By::Key => false,
            By::Score(_) | By::Metric { .. } => true,
        });
        let bytes = metrics.count() * buckets.table.len() * size_of::<f64>();
        let memory = book_for_a_while(bytes)?;
        let criterion = |one: &PlannedOrder| -> Result<Criterion, AggError> {
            Ok(Criterion {
                what: match &one.by {
                    By::Count => What::Count,
                    By::Key => What::Key,
                    By::Score(heuristic) => What::Metric {
                        values: buckets.scores(heuristic)?,
                        empty: 0.0,
                    },
                    By::Metric { way, property } => metric(buckets, way, *property),
                },
                direction: one.direction,
            })
        };
        let criteria = order.iter().map(criterion);
        Ok(Comparison {
            buckets,
            criteria: criteria.collect::<Result<_, AggError>>()?,
            _memory: memory,
        })
    }

    /// Compares two buckets by number.
    pub(crate) fn of_buckets(&self, a: u32, b: u32) -> Ordering {
        let count = |number: u32| self.buckets.counts[number as usize];
        let key = |number: u32| &self.buckets.table.keys()[number as usize];
        self.first_difference(
            |what| match what {
                What::Count => count(a).cmp(&count(b)),
                What::Key => Key::cmp(key(a), key(b)),
                What::Metric { .. } => Ordering::Equal,
            },
            |values, _| (values[a as usize], values[b as usize]),
        )
        .unwrap_or_else(|| Key::cmp(key(a), key(b)))
    }

    /// Compares two buckets of a histogram, of which some only fill a gap.
    pub(crate) fn of_rows(&self, a: &Row, b: &Row) -> Ordering {
        self.first_difference(
            |what| match what {
                What::Count => a.count.cmp(&b.count),
                What::Key => a.key.cmp(&b.key),
                What::Metric { .. } => Ordering::Equal,
            },
            |values, empty| {
                let value = |row: &Row| row.number.map_or(empty, |number| values[number as usize]);
                (value(a), value(b))
            },
        )
        .unwrap_or_else(|| a.key.cmp(&b.key))
    }

    fn first_difference(
        &self,
        plain: impl Fn(&What) -> Ordering,
        numbers: impl Fn(&[f64], f64) -> (f64, f64),
    ) -> Option<Ordering> {
        self.criteria
            .iter()
            .map(|criterion| match &criterion.what {
                What::Metric { values, empty } => {
                    let (a, b) = numbers(values, *empty);
                    compare_numbers(a, b, criterion.direction)
                }
                what => directed(plain(what), criterion.direction),
            })
            .find(|ordering| ordering.is_ne())
    }
}

fn directed(ordering: Ordering, direction: Direction) -> Ordering {
    match direction {
        Direction::Ascending => ordering,
        Direction::Descending => ordering.reverse(),
    }
}

/// What is not a number comes last in either direction.
fn compare_numbers(a: f64, b: f64, direction: Direction) -> Ordering {
    match (a.is_nan(), b.is_nan()) {
        (false, false) => directed(a.total_cmp(&b), direction),
        (a_is_nan, b_is_nan) => a_is_nan.cmp(&b_is_nan),
    }
}

/// The numbers at the end of a way through single buckets.
fn metric(buckets: &Buckets, way: &[usize], property: Property) -> What {
    let empty = property.of_nothing();
    let values = numbers(buckets, way, (property, empty));
    What::Metric { values, empty }
}

/// One number of each bucket; `empty` where there is none.
fn numbers(buckets: &Buckets, way: &[usize], (property, empty): (Property, f64)) -> Vec<f64> {
    let count = buckets.table.len();
    let (sub, further) = way.split_first().expect("an order's way has a metric");
    let mut values = match &buckets.subs[*sub] {
        Partial::Buckets(single) if !further.is_empty() => {
            let mut values = vec![empty; count];
            let inside = numbers(single, further, (property, empty));
            for (parent, number) in single.table.parents().iter().zip(inside) {
                values[*parent as usize] = number;
            }
            values
        }
        last => numbers_of(last, property, count),
    };
    values.resize(count, empty);
    values
}

#[allow(
    clippy::cast_precision_loss,
    reason = "2^53 documents will not be counted"
)]
fn numbers_of(counted: &Partial, property: Property, count: usize) -> Vec<f64> {
    match counted {
        Partial::Counts(counts) => counts.iter().map(|count| *count as f64).collect(),
        Partial::Distinct(sketches) => {
            let counts = sketches.sketches.iter().map(|sketch| sketch.count() as f64);
            counts.collect()
        }
        Partial::Weighted(sums) => sums.iter().map(Weighted::mean).collect(),
        // Boxes and middles are no numbers; no order names them.
        Partial::Points(_) | Partial::Matrix(_) | Partial::Scripted(_) => Vec::new(),
        Partial::Quantiles(states) => states.numbers(property),
        Partial::Moments(moments) => moments.iter().map(|m| property.of_moments(m)).collect(),
        Partial::Extended(moments) => {
            let values = moments.iter().map(|moments| match property {
                Property::SumOfSquares => moments.squares.value(),
                Property::Variance => moments.variance(),
                Property::VarianceSampling => moments.variance_sampling(),
                Property::Deviation => moments.variance().sqrt(),
                Property::DeviationSampling => moments.variance_sampling().sqrt(),
                Property::Bound(away) => moments.basic.mean() + away * moments.variance().sqrt(),
                Property::BoundSampling(away) => {
                    moments.basic.mean() + away * moments.variance_sampling().sqrt()
                }
                _ => property.of_moments(&moments.basic),
            });
            values.collect()
        }
        // One cannot order by documents.
        Partial::TopHits(_) => vec![0.0; count],
        // The only bucket aggregation one can order by has at most one bucket per parent.
        Partial::Buckets(single) => {
            let mut values = vec![0.0; count];
            for (parent, count) in single.table.parents().iter().zip(&single.counts) {
                values[*parent as usize] = *count as f64;
            }
            values
        }
    }
}

impl Property {
    /// The number of a bucket without documents.
    fn of_nothing(self) -> f64 {
        match self {
            Property::Variance
            | Property::VarianceSampling
            | Property::Deviation
            | Property::DeviationSampling
            | Property::Bound(_)
            | Property::BoundSampling(_)
            | Property::Value
            | Property::Point(_)
            | Property::Rank(_) => f64::NAN,
            Property::SumOfSquares => 0.0,
            _ => self.of_moments(&Moments::default()),
        }
    }

    #[allow(
        clippy::cast_precision_loss,
        reason = "2^53 values will not be counted"
    )]
    fn of_moments(self, moments: &Moments) -> f64 {
        match self {
            Property::Count => moments.count as f64,
            Property::Min => moments.min,
            Property::Max => moments.max,
            Property::Avg => moments.mean(),
            _ => moments.sum.value(),
        }
    }
}

impl QuantileStates {
    /// One number of each bucket.
    pub(crate) fn numbers(&self, property: Property) -> Vec<f64> {
        let one = |state: &QuantileState| {
            let number = match property {
                Property::Point(percent) => state.percentiles(&[percent], self.method)[0],
                Property::Rank(value) => state.ranks(&[value], self.method)[0],
                _ => state.median_deviation(self.method),
            };
            number.unwrap_or(f64::NAN)
        };
        self.states.iter().map(one).collect()
    }
}

#[derive(Clone, Debug)]
pub(crate) struct PlannedOrder {
    pub(crate) by: By,
    pub(crate) direction: Direction,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum By {
    Count,
    Key,
    /// A number of a metric, which may lie in single buckets: the places of these among their siblings, then its own.
    Metric {
        way: Vec<usize>,
        property: Property,
    },
    /// How significant a term is.
    Score(Heuristic),
}

/// A number of a metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Property {
    /// The only number there is.
    Value,
    /// The value at a percentage.
    Point(f64),
    /// The percentage of a value.
    Rank(f64),
    Count,
    Min,
    Max,
    Avg,
    Sum,
    SumOfSquares,
    Variance,
    VarianceSampling,
    Deviation,
    DeviationSampling,
    /// So many deviations beside the mean.
    Bound(f64),
    BoundSampling(f64),
}
