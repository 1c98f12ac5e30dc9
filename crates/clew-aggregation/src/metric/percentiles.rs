//! `percentiles`, `percentile_ranks` and `median_absolute_deviation`: what is read of a distribution of values.

#![warn(clippy::wildcard_enum_match_arm)]

use clew_query::AggError;
use clew_query::aggregation::{MedianDeviationSpec, Method, PercentilesSpec};

use crate::collect::{Block, Collect, Planned, Segment};
use crate::counted::{Partial, QuantileStates};
use crate::field::ValuePlan;
use crate::field::column::ValueColumn;
use crate::field::context::AggContext;
use crate::field::rows::{Repeats, Rows};
use crate::field::values::plan_values;
use crate::limits::{Account, grow};
use crate::metric::{InBucket, Metric, SHAPE, of_bucket};
use crate::numbers::quantile::QuantileState;
use crate::order::Property;
use crate::reduce::Budget;
use crate::result::{AggResult, Metric as MetricResult, PercentilesKind, PercentilesResult};
use crate::value::format::ValueFormat;

/// The distribution of values.
pub(crate) struct Quantiles {
    column: ValueColumn,
    rows: Rows,
    states: Vec<QuantileState>,
    method: Method,
}

impl Quantiles {
    pub(crate) fn open(
        segment: Segment<'_>,
        plan: &dyn Planned,
        method: Method,
    ) -> Result<Self, AggError> {
        Ok(Quantiles {
            column: ValueColumn::open(segment.reader, plan.values())?,
            rows: Rows::default(),
            states: Vec::new(),
            method,
        })
    }
}

impl Collect for Quantiles {
    fn collect(&mut self, block: Block<'_>, account: &mut Account) -> Result<(), AggError> {
        if self.column.is_empty() {
            return Ok(());
        }
        self.column
            .read_scored(block.docs, account, Repeats::Kept, &mut self.rows)?;
        for (entry, raw) in self.rows.entries.iter().zip(&self.rows.values) {
            let parent = block.parents[*entry as usize];
            grow(&mut self.states, parent, account)?;
            let value = self.column.number(*raw);
            let state = &mut self.states[parent as usize];
            let before = state.heap_bytes();
            state.add(value, self.method)?;
            let more = state.heap_bytes().saturating_sub(before);
            if more > 0 {
                account.charge(more)?;
            }
        }
        Ok(())
    }

    fn finish(self: Box<Self>, _: &mut Account) -> Result<Partial, AggError> {
        Ok(Partial::Quantiles(QuantileStates {
            states: self.states,
            method: self.method,
        }))
    }
}

/// What is read of a distribution.
#[derive(Clone, Debug)]
pub(crate) struct QuantilePlan {
    pub(crate) method: Method,
    pub(crate) wanted: Wanted,
}

/// Which numbers of a distribution.
#[derive(Clone, Debug)]
pub(crate) enum Wanted {
    /// Values at percentages.
    Percentiles { percents: Vec<f64>, keyed: bool },
    /// Percentages of values.
    Ranks { values: Vec<f64>, keyed: bool },
    /// The median distance from the median.
    MedianDeviation,
}

impl QuantilePlan {
    /// The number that an order's path names.
    pub(crate) fn number_of(&self, name: Option<&str>) -> Option<Property> {
        let number = || name.and_then(|name| name.parse::<f64>().ok());
        match &self.wanted {
            Wanted::MedianDeviation => {
                matches!(name, None | Some("value")).then_some(Property::Value)
            }
            Wanted::Percentiles { .. } => number().map(Property::Point),
            Wanted::Ranks { .. } => number().map(Property::Rank),
        }
    }
}

/// The plan of `percentiles` and `percentile_ranks`.
///
/// # Errors
/// [`AggError`] when the field cannot serve.
pub(crate) fn plan_percentiles(
    spec: &PercentilesSpec,
    context: &AggContext<'_>,
) -> Result<(ValuePlan, QuantilePlan), AggError> {
    let name = if spec.ranks {
        "percentile_ranks"
    } else {
        "percentiles"
    };
    let values = plan_values(&spec.source, name, context)?;
    let mut points = spec.points.clone();
    points.sort_by(f64::total_cmp);
    let keyed = spec.keyed;
    let wanted = if spec.ranks {
        Wanted::Ranks {
            values: points,
            keyed,
        }
    } else {
        Wanted::Percentiles {
            percents: points,
            keyed,
        }
    };
    let plan = QuantilePlan {
        method: spec.method,
        wanted,
    };
    Ok((values, plan))
}

/// The plan of `median_absolute_deviation`.
///
/// # Errors
/// [`AggError`] when the field cannot serve.
pub(crate) fn plan_median_deviation(
    spec: &MedianDeviationSpec,
    context: &AggContext<'_>,
) -> Result<(ValuePlan, QuantilePlan), AggError> {
    let compression = spec.compression;
    let values = plan_values(&spec.source, "median_absolute_deviation", context)?;
    let plan = QuantilePlan {
        method: Method::TDigest { compression },
        wanted: Wanted::MedianDeviation,
    };
    Ok((values, plan))
}

fn quantiles_result(plan: &QuantilePlan, state: &QuantileState, format: &ValueFormat) -> AggResult {
    let is_hdr = matches!(plan.method, Method::Hdr { .. });
    let (kind, asked, found, keyed) = match &plan.wanted {
        Wanted::MedianDeviation => {
            return AggResult::MedianDeviation(MetricResult {
                value: state.median_deviation(plan.method),
                format: format.clone(),
            });
        }
        Wanted::Percentiles { percents, keyed } => {
            let kind = if is_hdr {
                PercentilesKind::Hdr
            } else {
                PercentilesKind::TDigest
            };
            (
                kind,
                percents,
                state.percentiles(percents, plan.method),
                *keyed,
            )
        }
        Wanted::Ranks { values, keyed } => {
            let kind = if is_hdr {
                PercentilesKind::HdrRanks
            } else {
                PercentilesKind::TDigestRanks
            };
            (kind, values, state.ranks(values, plan.method), *keyed)
        }
    };
    AggResult::Percentiles(PercentilesResult {
        kind,
        points: asked.iter().copied().zip(found).collect(),
        keyed,
        format: format.clone(),
    })
}

impl Metric for QuantilePlan {
    fn open(&self, segment: Segment<'_>, plan: &dyn Planned) -> Result<Box<dyn Collect>, AggError> {
        Ok(Box::new(Quantiles::open(segment, plan, self.method)?))
    }

    fn empty(&self) -> Partial {
        Partial::Quantiles(QuantileStates {
            states: Vec::new(),
            method: self.method,
        })
    }

    fn result(&self, of: InBucket<'_>, _: &mut Budget<'_>) -> AggResult {
        let Partial::Quantiles(states) = of.partial else {
            unreachable!("{SHAPE}");
        };
        let empty = QuantileState::default();
        let state = of_bucket(&states.states, of.bucket).unwrap_or(&empty);
        quantiles_result(self, state, &of.values.format)
    }

    fn property(&self, name: Option<&str>) -> Option<Property> {
        self.number_of(name)
    }

    fn profiled_as(&self) -> &'static str {
        let is_hdr = matches!(self.method, Method::Hdr { .. });
        match (&self.wanted, is_hdr) {
            (Wanted::MedianDeviation, _) => "MedianAbsoluteDeviationAggregator",
            (Wanted::Percentiles { .. }, false) => "TDigestPercentilesAggregator",
            (Wanted::Percentiles { .. }, true) => "HDRPercentilesAggregator",
            (Wanted::Ranks { .. }, false) => "TDigestPercentileRanksAggregator",
            (Wanted::Ranks { .. }, true) => "HDRPercentileRanksAggregator",
        }
    }

    fn result_bytes(&self) -> usize {
        let points = match &self.wanted {
            Wanted::Percentiles { percents, .. } => percents.len(),
            Wanted::Ranks { values, .. } => values.len(),
            Wanted::MedianDeviation => 0,
        };
        points * size_of::<(f64, Option<f64>)>()
    }
}
