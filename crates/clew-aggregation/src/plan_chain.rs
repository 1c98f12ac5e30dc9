//! Aggregations over combinations of several sources: `composite` and `multi_terms`.

use std::cmp::Ordering;

use clew_query::AggError;
use jiff::tz::TimeZone;

use super::collector::AggContext;
use super::format::ValueFormat;
use super::key::Key;
use super::partial::Buckets;
use super::plan::{
    By, Op, Plan, PlannedOrder, TermSets, TermsPlan, TermsShape, ValueKind, ValuePlan,
};
use super::plan_fields::{bound_ms, bound_number, date_format, key_of, plan_values, text_of};
use super::plan_order::{order_or_count, plan_order};
use super::zone::parse_zone;
use clew_query::aggregation::Grid;
use clew_query::aggregation::{
    CompositeKind, CompositeSource, CompositeSpec, MissingOrder, MultiTermsSpec, Scalar,
};
use clew_query::aggregation::{DateInterval, Direction, GridSpec};

/// One source of a combination.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    pub(crate) name: String,
    pub(crate) values: ValuePlan,
    pub(crate) step: Step,
    /// Whether documents without a value have a bucket.
    pub(crate) missing_bucket: bool,
    pub(crate) direction: Direction,
    pub(crate) missing_order: MissingOrder,
}

/// What of a value is combined.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Value,
    Number {
        interval: f64,
    },
    Date {
        interval: DateInterval,
        zone: TimeZone,
        offset_ms: i64,
    },
    Cell(Grid),
}

/// A `composite` aggregation.
#[derive(Clone, Debug)]
pub(crate) struct CompositePlan {
    pub(crate) links: Vec<Link>,
    pub(crate) size: usize,
    /// Only combinations behind this one.
    pub(crate) after: Option<Box<[Key]>>,
}

impl CompositePlan {
    /// Which of two combinations comes first.
    pub(crate) fn compare(&self, a: &[Key], b: &[Key]) -> Ordering {
        let pairs = self.links.iter().zip(a.iter().zip(b));
        pairs
            .map(|(link, (a, b))| link.compare(a, b))
            .find(|ordering| ordering.is_ne())
            .unwrap_or(Ordering::Equal)
    }

    /// The numbers of the first combinations behind `after`, in order.
    pub(crate) fn page(&self, buckets: &Buckets, numbers: &[u32]) -> Vec<u32> {
        let key = |number: &u32| match &buckets.table.keys()[*number as usize] {
            Key::Tuple(keys) => &keys[..],
            _ => &[],
        };
        let wanted = numbers.iter().filter(|number| self.is_wanted(key(number)));
        let mut wanted: Vec<u32> = wanted.copied().collect();
        wanted.sort_unstable_by(|a, b| self.compare(key(a), key(b)));
        wanted.truncate(self.size);
        wanted
    }

    /// Whether a combination comes behind `after`.
    fn is_wanted(&self, key: &[Key]) -> bool {
        let after = self.after.as_deref();
        after.is_none_or(|after| self.compare(key, after) == Ordering::Greater)
    }
}

impl Link {
    fn compare(&self, a: &Key, b: &Key) -> Ordering {
        let directed = |ordering: Ordering| match self.direction {
            Direction::Ascending => ordering,
            Direction::Descending => ordering.reverse(),
        };
        match (a, b, self.missing_order) {
            (Key::Null, Key::Null, _) => Ordering::Equal,
            (Key::Null, _, MissingOrder::First) | (_, Key::Null, MissingOrder::Last) => {
                Ordering::Less
            }
            (Key::Null, _, MissingOrder::Last) | (_, Key::Null, MissingOrder::First) => {
                Ordering::Greater
            }
            // Nothing is less than every value.
            (Key::Null, _, MissingOrder::Default) => directed(Ordering::Less),
            (_, Key::Null, MissingOrder::Default) => directed(Ordering::Greater),
            (a, b, _) => directed(a.cmp(b)),
        }
    }
}

/// The plan of a `composite` aggregation.
///
/// # Errors
/// [`AggError`] naming what is wrong.
pub(crate) fn plan_composite(
    spec: &CompositeSpec,
    context: &AggContext<'_>,
) -> Result<CompositePlan, AggError> {
    let size = spec.size as usize;
    if size > context.limits.buckets_max {
        return Err(AggError::TooManyBuckets {
            max: context.limits.buckets_max,
            count: size,
        });
    }
    let links = spec.sources.iter().map(|source| link(source, context));
    let links = links.collect::<Result<Vec<_>, _>>()?;
    let after = match &spec.after {
        None => None,
        Some(after) => Some(after_key(after, &links, context)?),
    };
    Ok(CompositePlan { links, size, after })
}

fn link(source: &CompositeSource, context: &AggContext<'_>) -> Result<Link, AggError> {
    let (values, step) = match &source.kind {
        CompositeKind::Terms(values) => {
            let mut plan = plan_values(values, "terms", context)?;
            // Dates stay numbers unless a format is asked for.
            if values.format.is_none()
                && matches!(plan.kind, ValueKind::Date | ValueKind::DateNanos)
            {
                plan.format = ValueFormat::Raw;
            }
            (plan, Step::Value)
        }
        CompositeKind::Cells { source, grid } => {
            (plan_values(source, "geo_grid", context)?, Step::Cell(*grid))
        }
        CompositeKind::Histogram { source, interval } => {
            let interval = *interval;
            (
                plan_values(source, "histogram", context)?,
                Step::Number { interval },
            )
        }
        CompositeKind::DateHistogram {
            source,
            interval,
            time_zone,
            offset_ms,
        } => {
            let mut plan = plan_values(source, "date_histogram", context)?;
            let zone = parse_zone(time_zone.as_deref())?;
            plan.format = match &source.format {
                None => ValueFormat::Raw,
                Some(_) => ValueFormat::Date {
                    format: date_format(source, None)?,
                    zone: zone.clone(),
                },
            };
            let step = Step::Date {
                interval: *interval,
                zone,
                offset_ms: *offset_ms,
            };
            (plan, step)
        }
    };
    Ok(Link {
        name: source.name.clone(),
        values,
        step,
        missing_bucket: source.missing_bucket,
        direction: source.direction,
        missing_order: source.missing_order,
    })
}

fn after_key(
    after: &[(String, Option<Scalar>)],
    links: &[Link],
    context: &AggContext<'_>,
) -> Result<Box<[Key]>, AggError> {
    if after.len() != links.len() {
        return Err(AggError::invalid(format!(
            "[after] has {} value(s) but [sources] has {}",
            after.len(),
            links.len()
        )));
    }
    let key = |link: &Link| {
        let found = after.iter().find(|(name, _)| *name == link.name);
        let Some((_, value)) = found else {
            return Err(AggError::invalid(format!(
                "Missing value for [after.{}]",
                link.name
            )));
        };
        let Some(value) = value else {
            if link.missing_bucket {
                return Ok(Key::Null);
            }
            return Err(AggError::invalid(format!(
                "Invalid value for [after.{}], expected a value",
                link.name
            )));
        };
        let format = &link.values.format;
        match &link.step {
            Step::Value => key_of(value, link.values.kind, format, context.now_ms),
            Step::Number { .. } => bound_number(value).map(Key::F64),
            Step::Cell(_) => Ok(Key::Str(text_of(value).into())),
            Step::Date { zone, .. } => bound_ms(value, format, zone, context.now_ms).map(Key::I64),
        }
    };
    links.iter().map(key).collect()
}

/// The plan of a `multi_terms` aggregation.
///
/// # Errors
/// [`AggError`] naming what is wrong.
pub(crate) fn plan_multi_terms(
    spec: &MultiTermsSpec,
    context: &AggContext<'_>,
    subs: &[Plan],
) -> Result<Op, AggError> {
    let links = spec.sources.iter().map(|source| {
        Ok(Link {
            name: source.field.clone(),
            values: plan_values(source, "terms", context)?,
            step: Step::Value,
            missing_bucket: false,
            direction: Direction::Ascending,
            missing_order: MissingOrder::Default,
        })
    });
    let links = links.collect::<Result<Vec<_>, AggError>>()?;
    let order = order_or_count(plan_order(&spec.order, subs)?);
    let size = spec.size as usize;
    let shard_size = spec
        .shard_size
        .map_or(size + size / 2 + 10, |asked| asked as usize);
    let terms = TermsPlan {
        size,
        shard_size: shard_size.max(size),
        min_doc_count: spec.min_doc_count,
        order,
        filter: TermSets::default(),
        show_error: spec.show_error,
        shape: TermsShape::Plain,
    };
    Ok(Op::MultiTerms { links, terms })
}

/// The plan of a grid: its cells are terms of one source.
///
/// # Errors
/// [`AggError`] when the field has no points.
pub(crate) fn plan_grid(spec: &GridSpec, context: &AggContext<'_>) -> Result<Op, AggError> {
    let link = Link {
        name: spec.source.field.clone(),
        values: plan_values(&spec.source, "geo_grid", context)?,
        step: Step::Cell(spec.grid),
        missing_bucket: false,
        direction: Direction::Ascending,
        missing_order: MissingOrder::Default,
    };
    let size = spec.size as usize;
    let shard_size = spec
        .shard_size
        .map_or(size + size / 2 + 10, |asked| asked as usize);
    let terms = TermsPlan {
        size,
        shard_size: shard_size.max(size),
        min_doc_count: 1,
        order: cells_first(),
        filter: TermSets::default(),
        show_error: false,
        shape: TermsShape::Plain,
    };
    Ok(Op::Grid {
        link,
        grid: spec.grid,
        terms,
    })
}

/// The fullest cells first, and of equal ones the last.
fn cells_first() -> Vec<PlannedOrder> {
    let falling = |by| PlannedOrder {
        by,
        direction: Direction::Descending,
    };
    vec![falling(By::Count), falling(By::Key)]
}
