//! The tree that collectors are built from: fields are resolved, settings are checked, order paths
//! point at sub-aggregations.

use std::sync::Arc;

use clew_query::AggError;
use clew_query::SortMode;
use clew_search::Regexp;
use jiff::tz::TimeZone;

use super::auto_date::{AutoDatePlan, plan_auto_date};
use super::collect::WordsPlan;
use super::collector::AggContext;
use super::format::ValueFormat;
use super::key::Key;
use super::pipeline::PipelinePlan;
use super::plan_chain::{CompositePlan, Link, plan_composite, plan_grid, plan_multi_terms};
use super::plan_fields::{bound_ms, bound_number, check_patterns, plan_values};
use super::plan_filters::{FiltersPlan, check_nesting, plan_filters};
use super::plan_join::{JoinPlan, TopHitsPlan};
use super::plan_metrics::{QuantilePlan, plan_metric};
use super::plan_order::plan_order;
use super::plan_range::{RangePlan, plan_range};
use super::plan_relatives::RelativesPlan;
use super::plan_terms::{every_term, plan_rare_terms, plan_significant, plan_terms, words_of};
use super::profile::Figures;
use super::sample::SamplePlan;
use super::significance::SignificantPlan;
use super::zone::parse_zone;
use clew_query::aggregation::Grid;
use clew_query::aggregation::Heuristic;
use clew_query::aggregation::{AggSpec, NamedAgg, SampleSpec, Scalar, Source};
use clew_query::aggregation::{
    Bounds, DateHistogramSpec, DateInterval, Direction, HistogramSpec, SignificantSpec,
};

/// How deep aggregations may be nested.
const DEPTH_MAX: usize = 32;

/// One aggregation, ready to run.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) name: String,
    pub(crate) op: Op,
    pub(crate) values: ValuePlan,
    pub(crate) subs: Vec<Plan>,
    /// Computed over the buckets, or inside each of them.
    pub(crate) pipelines: Vec<PipelinePlan>,
    /// Where is noted what it costs, when somebody asks.
    pub(crate) figures: Option<Arc<Figures>>,
}

/// Where values come from and what they mean.
#[derive(Clone, Debug)]
pub(crate) struct ValuePlan {
    pub(crate) field: String,
    /// The column, unless the field is not mapped.
    pub(crate) column: Option<String>,
    pub(crate) kind: ValueKind,
    pub(crate) missing: Option<Key>,
    pub(crate) format: ValueFormat,
}

impl ValuePlan {
    /// Of an aggregation that reads no values itself.
    pub(crate) fn none() -> Self {
        ValuePlan {
            field: String::new(),
            column: None,
            kind: ValueKind::Unmapped,
            missing: None,
            format: ValueFormat::Raw,
        }
    }
}

/// What a column's values mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueKind {
    Unmapped,
    Keyword,
    Long,
    Double,
    Boolean,
    Date,
    /// Nanoseconds in the column, milliseconds everywhere else.
    DateNanos,
    Ip,
    Unsigned,
    Geo,
}

/// What is computed.
#[allow(
    clippy::large_enum_variant,
    reason = "there is one per aggregation, not one per bucket"
)]
#[derive(Clone, Debug)]
pub(crate) enum Op {
    Terms(TermsPlan),
    DateHistogram(DatePlan),
    Histogram(NumberPlan),
    Range(RangePlan),
    Missing,
    Moments(MomentKind),
    Extended {
        sigma: f64,
    },
    ValueCount,
    Join(JoinPlan),
    Relatives(RelativesPlan),
    TopHits(TopHitsPlan),
    Cardinality {
        threshold: usize,
    },
    Quantiles(QuantilePlan),
    WeightedAvg {
        weight: ValuePlan,
    },
    Filters(FiltersPlan),
    Global,
    Sample(SamplePlan),
    Matrix {
        fields: Vec<ValuePlan>,
        mode: SortMode,
    },
    Composite(CompositePlan),
    MultiTerms {
        links: Vec<Link>,
        terms: TermsPlan,
    },
    AutoDate(AutoDatePlan),
    GeoBounds {
        wrap: bool,
    },
    GeoCentroid,
    Grid {
        link: Link,
        grid: Grid,
        terms: TermsPlan,
    },
    /// Distinct values, joined to so many buckets at the end.
    Clusters {
        terms: TermsPlan,
        target: usize,
    },
}

/// Which of the moments a result shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MomentKind {
    Min,
    Max,
    Avg,
    Sum,
    Stats,
}

#[derive(Clone, Debug)]
pub(crate) struct TermsPlan {
    pub(crate) size: usize,
    pub(crate) shard_size: usize,
    pub(crate) min_doc_count: u64,
    pub(crate) order: Vec<PlannedOrder>,
    pub(crate) filter: TermSets,
    pub(crate) show_error: bool,
    pub(crate) shape: TermsShape,
}

impl TermsPlan {
    /// How words are taken from texts, where there is no column.
    pub(crate) fn words(&self) -> Option<&Arc<WordsPlan>> {
        match &self.shape {
            TermsShape::Significant(significant) => significant.words.as_ref(),
            _ => None,
        }
    }
}

/// Which terms are shown.
#[derive(Clone, Debug)]
pub(crate) enum TermsShape {
    /// The first by their order.
    Plain,
    /// Those with few documents.
    Rare { max_doc_count: u64 },
    /// Those that are more frequent here than elsewhere.
    Significant(SignificantPlan),
}

/// Which terms count.
#[derive(Clone, Debug, Default)]
pub(crate) struct TermSets {
    pub(crate) include: Option<TermSet>,
    pub(crate) exclude: Option<TermSet>,
}

#[derive(Clone, Debug)]
pub(crate) enum TermSet {
    Keys(Vec<Key>),
    Pattern(Regexp),
    /// Terms whose hash leaves this remainder.
    Partition {
        part: u32,
        count: u32,
    },
}

#[derive(Clone, Debug)]
pub(crate) struct DatePlan {
    pub(crate) interval: DateInterval,
    pub(crate) zone: TimeZone,
    pub(crate) offset_ms: i64,
    pub(crate) min_doc_count: u64,
    pub(crate) extended: Option<Ends<i64>>,
    pub(crate) hard: Option<Ends<i64>>,
    pub(crate) order: Vec<PlannedOrder>,
    pub(crate) keyed: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct NumberPlan {
    pub(crate) interval: f64,
    pub(crate) offset: f64,
    pub(crate) min_doc_count: u64,
    pub(crate) extended: Option<Ends<f64>>,
    pub(crate) hard: Option<Ends<f64>>,
    pub(crate) order: Vec<PlannedOrder>,
    pub(crate) keyed: bool,
}

/// Both ends, each of which may be open.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ends<T> {
    pub(crate) min: Option<T>,
    pub(crate) max: Option<T>,
}

impl<T: PartialOrd + Copy> Ends<T> {
    /// Both ends included.
    pub(crate) fn holds_both(&self, value: T) -> bool {
        self.min.is_none_or(|min| value >= min) && self.max.is_none_or(|max| value <= max)
    }

    /// Lower end included, upper end not.
    pub(crate) fn holds(&self, value: T) -> bool {
        self.min.is_none_or(|min| value >= min) && self.max.is_none_or(|max| value < max)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct PlannedOrder {
    pub(crate) by: By,
    pub(crate) direction: Direction,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum By {
    Count,
    Key,
    Metric {
        sub: usize,
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
}

/// Resolves a tree of aggregations.
///
/// # Errors
/// [`AggError`] naming the first thing that is wrong.
pub(crate) fn plan_all(
    specs: &[NamedAgg],
    context: &AggContext<'_>,
    depth: usize,
) -> Result<Vec<Plan>, AggError> {
    if depth > DEPTH_MAX {
        return Err(AggError::invalid(format!(
            "aggregations are nested more than [{DEPTH_MAX}] levels deep"
        )));
    }
    specs
        .iter()
        .filter(|spec| !matches!(spec.spec, AggSpec::Pipeline(_)))
        .map(|spec| plan_one(spec, context, depth))
        .collect()
}

fn plan_one(agg: &NamedAgg, context: &AggContext<'_>, depth: usize) -> Result<Plan, AggError> {
    check_nesting(agg, depth)?;
    let inside = AggContext {
        scope: agg.spec.scope_inside(context.scope),
        ..*context
    };
    let subs = match plan_all(&agg.subs, &inside, depth + 1) {
        Ok(subs) => subs,
        // What is wrong further out is told first.
        Err(inner) => {
            let outer = plan_values_of(agg, context, &[]).err();
            let is_outer = matches!(outer, Some(AggError::Unsupported { .. }));
            return Err(outer.filter(|_| is_outer).unwrap_or(inner));
        }
    };
    let (values, op) = plan_values_of(agg, context, &subs)?;
    let pipelines = PipelinePlan::all(&agg.subs, Some(agg))?;
    if !agg.subs.is_empty() && !op.has_buckets() {
        return Err(AggError::invalid(format!(
            "Aggregator [{}] cannot accept sub-aggregations",
            agg.name
        )));
    }
    Ok(Plan {
        name: agg.name.clone(),
        op,
        values,
        subs,
        pipelines,
        figures: context.stopwatch.map(Figures::new).map(Arc::new),
    })
}

/// What an aggregation computes, and of which values.
fn plan_values_of(
    agg: &NamedAgg,
    context: &AggContext<'_>,
    subs: &[Plan],
) -> Result<(ValuePlan, Op), AggError> {
    match plan_metric(&agg.spec, context)? {
        Some(planned) => Ok(planned),
        None => plan_buckets(agg, context, subs),
    }
}

/// The plan of an aggregation that is not a metric.
#[warn(clippy::wildcard_enum_match_arm)]
fn plan_buckets(
    agg: &NamedAgg,
    context: &AggContext<'_>,
    subs: &[Plan],
) -> Result<(ValuePlan, Op), AggError> {
    let values_of = |source: &Source, aggregation| plan_values(source, aggregation, context);
    Ok(match &agg.spec {
        AggSpec::Terms(spec) => {
            let values = values_of(&spec.source, "terms")?;
            check_patterns(&spec.filter, &values, &agg.name)?;
            let op = Op::Terms(plan_terms(spec, &values, subs)?);
            (values, op)
        }
        AggSpec::DateHistogram(spec) => plan_date_histogram(spec, context, subs)?,
        AggSpec::Histogram(spec) => {
            let values = values_of(&spec.source, "histogram")?;
            (values, Op::Histogram(plan_histogram(spec, subs)?))
        }
        AggSpec::Range(spec) => plan_range(spec, context)?,
        AggSpec::Missing(source) => (values_of(source, "missing")?, Op::Missing),
        AggSpec::RareTerms(spec) => {
            let values = values_of(&spec.source, "rare_terms")?;
            let op = Op::Terms(plan_rare_terms(spec, &values)?);
            (values, op)
        }
        AggSpec::GeoGrid(spec) => (ValuePlan::none(), plan_grid(spec, context)?),
        AggSpec::SignificantTerms(spec) => plan_significant_terms(spec, context, &agg.name)?,
        AggSpec::VariableWidth { source, buckets } => plan_clusters(source, *buckets, context)?,
        AggSpec::Filters(spec) => (ValuePlan::none(), Op::Filters(plan_filters(spec, context)?)),
        AggSpec::Nested { path } => {
            let join = JoinPlan::inwards(path, context);
            (ValuePlan::none(), Op::Join(join))
        }
        AggSpec::ReverseNested { path } => {
            let join = JoinPlan::outwards(&agg.name, path.as_deref(), context)?;
            (ValuePlan::none(), Op::Join(join))
        }
        AggSpec::Relatives { way, kind } => {
            let plan = RelativesPlan::new(*way, kind, context)?;
            (ValuePlan::none(), Op::Relatives(plan))
        }
        AggSpec::TopHits(spec) => {
            let plan = TopHitsPlan::new(&agg.name, spec, context)?;
            (ValuePlan::none(), Op::TopHits(plan))
        }
        AggSpec::Global => (ValuePlan::none(), Op::Global),
        AggSpec::Sample(spec) => plan_sample(spec, context)?,
        AggSpec::Composite(spec) => (
            ValuePlan::none(),
            Op::Composite(plan_composite(spec, context)?),
        ),
        AggSpec::MultiTerms(spec) => (ValuePlan::none(), plan_multi_terms(spec, context, subs)?),
        AggSpec::AutoDateHistogram(spec) => plan_auto_date(spec, context)?,
        AggSpec::Min(_)
        | AggSpec::Max(_)
        | AggSpec::Avg(_)
        | AggSpec::Sum(_)
        | AggSpec::ValueCount(_)
        | AggSpec::Stats(_)
        | AggSpec::ExtendedStats { .. }
        | AggSpec::Cardinality { .. }
        | AggSpec::Percentiles(_)
        | AggSpec::MedianDeviation { .. }
        | AggSpec::WeightedAvg { .. }
        | AggSpec::GeoBounds { .. }
        | AggSpec::GeoCentroid(_)
        | AggSpec::Matrix { .. }
        | AggSpec::Pipeline(_) => {
            // Metrics and pipelines are planned apart.
            return Err(AggError::invalid(format!(
                "Aggregator [{}] makes no buckets",
                agg.name
            )));
        }
    })
}

/// The plan of `significant_terms` and `significant_text`.
fn plan_significant_terms(
    spec: &SignificantSpec,
    context: &AggContext<'_>,
    name: &str,
) -> Result<(ValuePlan, Op), AggError> {
    let values = match &spec.words {
        Some(_) => words_of(&spec.source, context)?,
        None => plan_values(&spec.source, "significant_terms", context)?,
    };
    let op = Op::Terms(plan_significant(spec, &values, (context, name))?);
    Ok((values, op))
}

/// The plan of `variable_width_histogram`.
fn plan_clusters(
    source: &Source,
    buckets: u32,
    context: &AggContext<'_>,
) -> Result<(ValuePlan, Op), AggError> {
    let values = plan_values(source, "variable_width_histogram", context)?;
    let terms = every_term(TermSets::default(), TermsShape::Plain);
    let target = buckets as usize;
    Ok((values, Op::Clusters { terms, target }))
}

fn plan_sample(spec: &SampleSpec, context: &AggContext<'_>) -> Result<(ValuePlan, Op), AggError> {
    let values = match &spec.diverse {
        Some((source, _)) => plan_values(source, "diversified_sampler", context)?,
        None => ValuePlan::none(),
    };
    let sample = SamplePlan {
        size: spec.size as usize,
        per_value: spec.diverse.as_ref().map(|(_, most)| *most as usize),
    };
    Ok((values, Op::Sample(sample)))
}

impl Op {
    /// How buckets are ordered, where that is a choice.
    pub(crate) fn order(&self) -> Option<&[PlannedOrder]> {
        match self {
            Op::Terms(terms) | Op::MultiTerms { terms, .. } | Op::Grid { terms, .. } => {
                Some(&terms.order)
            }
            Op::DateHistogram(dates) => Some(&dates.order),
            Op::Histogram(numbers) => Some(&numbers.order),
            _ => None,
        }
    }

    pub(crate) fn has_buckets(&self) -> bool {
        match self {
            Op::Terms(_)
            | Op::DateHistogram(_)
            | Op::Histogram(_)
            | Op::Range(_)
            | Op::Missing
            | Op::Filters(_)
            | Op::Global
            | Op::Sample(_)
            | Op::Join(_)
            | Op::Relatives(_)
            | Op::Composite(_)
            | Op::MultiTerms { .. }
            | Op::AutoDate(_)
            | Op::Clusters { .. }
            | Op::Grid { .. } => true,
            Op::Moments(_)
            | Op::Extended { .. }
            | Op::ValueCount
            | Op::Cardinality { .. }
            | Op::Quantiles(_)
            | Op::WeightedAvg { .. }
            | Op::TopHits(_)
            | Op::Matrix { .. }
            | Op::GeoBounds { .. }
            | Op::GeoCentroid => false,
        }
    }
}

fn plan_date_histogram(
    spec: &DateHistogramSpec,
    context: &AggContext<'_>,
    subs: &[Plan],
) -> Result<(ValuePlan, Op), AggError> {
    let mut values = plan_values(&spec.source, "date_histogram", context)?;
    let zone = parse_zone(spec.time_zone.as_deref())?;
    // Keys are shown as clocks of the zone show them; an unmapped field still has empty buckets.
    values.format = match &values.format {
        ValueFormat::Date { format, .. } => ValueFormat::Date {
            format: format.clone(),
            zone: zone.clone(),
        },
        ValueFormat::Raw if values.kind == ValueKind::Unmapped => ValueFormat::Date {
            format: super::plan_fields::date_format(&spec.source, None)?,
            zone: zone.clone(),
        },
        other => other.clone(),
    };
    let ends = |bounds: &Option<Bounds>| -> Result<Option<Ends<i64>>, AggError> {
        let Some(bounds) = bounds else {
            return Ok(None);
        };
        let end = |scalar: &Option<Scalar>| {
            scalar
                .as_ref()
                .map(|scalar| bound_ms(scalar, &values.format, &zone, context.now_ms))
                .transpose()
        };
        let ends = Ends {
            min: end(&bounds.min)?,
            max: end(&bounds.max)?,
        };
        check_ends(&ends)?;
        Ok(Some(ends))
    };
    let (extended, hard) = (ends(&spec.extended_bounds)?, ends(&spec.hard_bounds)?);
    check_inside(&extended, &hard)?;
    let plan = DatePlan {
        interval: spec.interval,
        offset_ms: spec.offset_ms,
        min_doc_count: spec.min_doc_count,
        extended,
        hard,
        order: plan_order(&spec.order, subs)?,
        keyed: spec.keyed,
        zone,
    };
    Ok((values, Op::DateHistogram(plan)))
}

fn plan_histogram(spec: &HistogramSpec, subs: &[Plan]) -> Result<NumberPlan, AggError> {
    if !(spec.interval > 0.0 && spec.interval.is_finite()) {
        return Err(AggError::invalid(
            "[interval] must be >0 for histogram aggregation",
        ));
    }
    let ends = |bounds: &Option<Bounds>| -> Result<Option<Ends<f64>>, AggError> {
        let Some(bounds) = bounds else {
            return Ok(None);
        };
        let end = |scalar: &Option<Scalar>| scalar.as_ref().map(bound_number).transpose();
        let ends = Ends {
            min: end(&bounds.min)?,
            max: end(&bounds.max)?,
        };
        check_ends(&ends)?;
        Ok(Some(ends))
    };
    let (extended, hard) = (ends(&spec.extended_bounds)?, ends(&spec.hard_bounds)?);
    check_inside(&extended, &hard)?;
    Ok(NumberPlan {
        interval: spec.interval,
        offset: spec.offset,
        min_doc_count: spec.min_doc_count,
        extended,
        hard,
        order: plan_order(&spec.order, subs)?,
        keyed: spec.keyed,
    })
}

fn check_ends<T: PartialOrd + std::fmt::Display>(ends: &Ends<T>) -> Result<(), AggError> {
    match (&ends.min, &ends.max) {
        (Some(min), Some(max)) if min > max => Err(AggError::invalid(format!(
            "[extended_bounds.min][{min}] cannot be greater than [extended_bounds.max][{max}]"
        ))),
        _ => Ok(()),
    }
}

/// Buckets that are to be shown must not be ones that are to be left out.
fn check_inside<T: PartialOrd>(
    extended: &Option<Ends<T>>,
    hard: &Option<Ends<T>>,
) -> Result<(), AggError> {
    let (Some(extended), Some(hard)) = (extended, hard) else {
        return Ok(());
    };
    let below = matches!((&extended.min, &hard.min), (Some(inner), Some(outer)) if inner < outer);
    let above = matches!((&extended.max, &hard.max), (Some(inner), Some(outer)) if inner > outer);
    if below || above {
        return Err(AggError::invalid(
            "Extended bounds have to be inside hard bounds",
        ));
    }
    Ok(())
}
