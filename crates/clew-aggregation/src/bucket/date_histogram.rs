//! `date_histogram`: a bucket per interval of time.

use clew_query::AggError;
use clew_query::aggregation::{DateHistogramSpec, DateInterval, Scalar};
use clew_schema::Span;
use jiff::tz::TimeZone;
use tantivy::columnar::MonotonicallyMappableToU64;

use crate::bucket::steps::{Ends, Steps, enough, fill, histogram_buckets, read_ends};
use crate::bucket::{AskedBuckets, Asking, BucketAgg, BucketPlan, InParent, Opening};
use crate::collect::slots::Slots;
use crate::collect::{Block, Collect, Level, Planned, Segment};
use crate::counted::Partial;
use crate::field::column::{CLOCKS_FROM_MS, CLOCKS_TO_MS, ValueColumn};
use crate::field::context::AggContext;
use crate::field::values::{bound_ms, date_format, plan_values, text_of};
use crate::field::{ValueKind, ValuePlan};
use crate::limits::Account;
use crate::order::path::{Ordered, plan_order};
use crate::order::{PlannedOrder, Row};
use crate::reduce::Budget;
use crate::result::{AggResult, HistogramResult};
use crate::value::format::ValueFormat;
use crate::value::key::Key;
use crate::value::rounding::{Arithmetic, Rounding, Starts};

/// Buckets of time.
pub(crate) struct DateHistogram {
    steps: Steps,
    numbering: Numbering,
    hard: Option<Ends<i64>>,
    /// The field, where its values are ranges.
    ranges: Option<String>,
}

/// How an instant finds its bucket, cheapest first.
enum Numbering {
    /// All intervals are equally long.
    Arithmetic(Arithmetic),
    /// The starts of all intervals are listed; a bucket is known by its place.
    Listed(Starts),
    /// A bucket is known by the instant it begins.
    Rounded { rounding: Rounding, hint: usize },
}

impl Numbering {
    fn of(rounding: Rounding, range: Option<(i64, i64)>) -> Self {
        if let Some(by) = rounding.arithmetic() {
            return Numbering::Arithmetic(by);
        }
        let listed = range.and_then(|(min, max)| rounding.starts(min..=max));
        listed.map_or(Numbering::Rounded { rounding, hint: 0 }, Numbering::Listed)
    }

    /// Where bucket numbers lie, if they are close together.
    fn span(&self, range: Option<(i64, i64)>) -> Option<(u64, u64)> {
        let (min, max) = range?;
        match self {
            Numbering::Arithmetic(by) => Some((by.step_of(min).to_u64(), by.step_of(max).to_u64())),
            Numbering::Listed(starts) => Some((0_i64.to_u64(), place(starts.len() - 1).to_u64())),
            Numbering::Rounded { .. } => None,
        }
    }
}

fn place(index: usize) -> i64 {
    i64::try_from(index).expect("lists of starts are short")
}

impl DateHistogram {
    pub(crate) fn open(
        segment: Segment<'_>,
        plan: &dyn Planned,
        dates: &DatePlan,
        level: Level,
    ) -> Result<Self, AggError> {
        let column = ValueColumn::open(segment.reader, plan.values())?;
        if let ValueKind::Range(_) = plan.values().kind {
            return Self::of_ranges(segment, plan, dates, (column, level));
        }
        let range = column
            .range()
            .map(|(min, max)| (column.instant(min), column.instant(max)));
        let (min, max) = column.instants().unwrap_or((0, 0));
        let rounding = Rounding::prepare(dates.interval, &dates.zone, dates.offset_ms, min..=max);
        let numbering = Numbering::of(rounding, range);
        let slots = Slots::for_range(numbering.span(range), level);
        Ok(DateHistogram {
            steps: Steps::open(column, slots, (segment, plan))?,
            numbering,
            hard: dates.hard,
            ranges: None,
        })
    }

    /// Over ranges, whose buckets are known by the instants they begin.
    fn of_ranges(
        segment: Segment<'_>,
        plan: &dyn Planned,
        dates: &DatePlan,
        (column, level): (ValueColumn, Level),
    ) -> Result<Self, AggError> {
        let known = CLOCKS_FROM_MS..=CLOCKS_TO_MS;
        let rounding = Rounding::prepare(dates.interval, &dates.zone, dates.offset_ms, known);
        Ok(DateHistogram {
            steps: Steps::open(column, Slots::for_range(None, level), (segment, plan))?,
            numbering: Numbering::Rounded { rounding, hint: 0 },
            hard: dates.hard,
            ranges: Some(plan.values().field.clone()),
        })
    }
}

impl Collect for DateHistogram {
    fn collect(&mut self, block: Block<'_>, account: &mut Account) -> Result<(), AggError> {
        if let (Some(field), Numbering::Rounded { rounding, .. }) = (&self.ranges, &self.numbering)
        {
            let hard = self.hard;
            let steps_of = |span: Span| {
                let (from, to) = span.moments();
                let (min, max) = hard.map_or((None, None), |hard| (hard.min, hard.max));
                let from = min.map_or(from, |min: i64| min.max(from));
                let to = max.map_or(to, |max: i64| max.min(to));
                let round = |instant| rounding.round(instant, &mut 0);
                Some((round(from), round(to)))
            };
            let next = |start: i64| rounding.next(start);
            return self
                .steps
                .collect_ranges((block, field), account, steps_of, next);
        }
        let within = |start: i64| self.hard.is_none_or(|hard| hard.holds(start));
        match &mut self.numbering {
            Numbering::Arithmetic(by) => self.steps.collect(block, account, |column, raw| {
                let step = by.step_of(column.instant(raw));
                within(by.start_of(step)).then_some(step)
            }),
            Numbering::Listed(starts) => self.steps.collect(block, account, |column, raw| {
                let at = starts.place_of(column.instant(raw));
                within(starts.start_of(at)).then_some(place(at))
            }),
            Numbering::Rounded { rounding, hint } => {
                self.steps.collect(block, account, |column, raw| {
                    let start = rounding.round(column.instant(raw), hint);
                    within(start).then_some(start)
                })
            }
        }
    }

    fn finish(self: Box<Self>, account: &mut Account) -> Result<Partial, AggError> {
        let numbering = self.numbering;
        self.steps.finish(
            |step| {
                Key::I64(match &numbering {
                    Numbering::Arithmetic(by) => by.start_of(step),
                    Numbering::Listed(starts) => {
                        starts.start_of(usize::try_from(step).expect("places are not negative"))
                    }
                    Numbering::Rounded { .. } => step,
                })
            },
            account,
        )
    }
}

/// The buckets of time to show, by key.
///
/// # Errors
/// [`AggError::TooManyBuckets`], before the buckets are made.
fn filled_dates(
    plan: &DatePlan,
    rows: Vec<Row>,
    budget: &mut Budget,
) -> Result<Vec<Row>, AggError> {
    if plan.min_doc_count > 0 {
        return enough(rows, plan.min_doc_count, budget);
    }
    let data = rows.first().zip(rows.last()).map(|(a, b)| (a.key, b.key));
    let extended = plan.extended.unwrap_or(Ends {
        min: None,
        max: None,
    });
    let known = [
        data.map(|(min, _)| min),
        data.map(|(_, max)| max),
        extended.min,
        extended.max,
    ];
    let known = || known.into_iter().flatten();
    let (Some(min), Some(max)) = (known().min(), known().max()) else {
        return Ok(rows);
    };
    let rounding = Rounding::prepare(plan.interval, &plan.zone, plan.offset_ms, min..=max);
    // Given ends are rounded as if there was no offset, and then moved by it.
    let plain = Rounding::prepare(plan.interval, &plan.zone, 0, min..=max);
    let round = |instant| plain.round(instant, &mut 0).saturating_add(plan.offset_ms);
    let span = Ends {
        min: extended.min.map(round),
        max: extended.max.map(round),
    };
    fill(rows, span, |key| rounding.next(key), budget)
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

fn plan_date_histogram(
    spec: &DateHistogramSpec,
    name: &str,
    context: &AggContext<'_>,
    subs: &[&dyn Ordered],
) -> Result<(ValuePlan, DatePlan), AggError> {
    let zone = context.zone(&spec.source, spec.time_zone.as_deref())?;
    let mut values = plan_values(&spec.source, "date_histogram", context)?;
    // Keys are shown as clocks of the zone show them; an unmapped field still has empty buckets.
    values.format = match &values.format {
        ValueFormat::Date { format, .. } => ValueFormat::Date {
            format: format.clone(),
            zone: zone.clone(),
        },
        ValueFormat::Raw if values.kind == ValueKind::Unmapped => ValueFormat::Date {
            format: date_format(&spec.source, None)?,
            zone: zone.clone(),
        },
        other => other.clone(),
    };
    let end = |end: &Scalar| bound_ms(end, &values.format, &zone, context.now_ms);
    let written = (&spec.extended_bounds, &spec.hard_bounds);
    let [extended, hard] = read_ends(written, name, end, text_of)?;
    let hard = hard.map(|ends| whole_intervals(ends, spec.interval, &zone));
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
    Ok((values, plan))
}

/// Ends that buckets must lie within, each as the start of its interval: an offset does not move them.
fn whole_intervals(ends: Ends<i64>, interval: DateInterval, zone: &TimeZone) -> Ends<i64> {
    let known = || [ends.min, ends.max].into_iter().flatten();
    let (Some(min), Some(max)) = (known().min(), known().max()) else {
        return ends;
    };
    let plain = Rounding::prepare(interval, zone, 0, min..=max);
    let start = |instant| plain.round(instant, &mut 0);
    Ends {
        min: ends.min.map(start),
        max: ends.max.map(start),
    }
}

impl AskedBuckets for DateHistogramSpec {
    fn plan(&self, asking: &Asking<'_>) -> Result<(ValuePlan, BucketPlan), AggError> {
        let (values, plan) = plan_date_histogram(self, asking.name, asking.context, asking.subs)?;
        Ok((values, plan.into()))
    }

    fn factory_name(&self) -> &'static str {
        "DateHistogramAggregatorFactory"
    }
}

impl BucketAgg for DatePlan {
    fn open(&self, opening: Opening<'_>) -> Result<Box<dyn Collect>, AggError> {
        let Opening {
            segment,
            plan,
            level,
        } = opening;
        Ok(Box::new(DateHistogram::open(segment, plan, self, level)?))
    }

    fn result(&self, of: InParent<'_>, budget: &mut Budget<'_>) -> Result<AggResult, AggError> {
        let node = of.node;
        let rows = of.rows();
        let rows = filled_dates(self, rows, budget)?;
        let buckets = histogram_buckets(node, &self.order, rows, Key::Date, budget)?;
        Ok(AggResult::DateHistogram(HistogramResult {
            buckets,
            keyed: self.keyed,
            format: node.plan.values().format.clone(),
        }))
    }

    fn profiled_as(&self, _: &ValuePlan) -> &'static str {
        "DateHistogramAggregator"
    }

    fn order(&self) -> Option<&[PlannedOrder]> {
        Some(&self.order)
    }
}
