//! `composite`: buckets per combination of values, page by page.

use std::cmp::Ordering;

use clew_platform::Pace;
use clew_query::aggregation::{CompositeKind, CompositeSource, CompositeSpec, Scalar};
use clew_query::{AggError, go_on_reducing, sorted_in_time};

use crate::bucket::chain::{Chain, Link, LinkStep, adopt_links, shown_tuple};
use crate::bucket::{AskedBuckets, Asking, BucketAgg, BucketPlan, InParent, Opening};
use crate::collect::Collect;
use crate::counted::buckets::{Buckets, retain};
use crate::field::context::AggContext;
use crate::field::rows::Repeats;
use crate::field::values::{
    bound_ms, bound_number, date_format, key_of, plan_values, text_of, unsupported,
};
use crate::field::{ValueKind, ValuePlan};
use crate::reduce::{Budget, results_of};
use crate::result::{AggResult, Bucket, BucketExtra, CompositeResult};
use crate::value::format::ValueFormat;
use crate::value::key::{Key, number_of};

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
    ///
    /// # Errors
    /// Once the request is over.
    fn page(&self, buckets: &Buckets, numbers: &[u32]) -> Result<Vec<u32>, AggError> {
        let key = |number: &u32| match &buckets.table.keys()[*number as usize] {
            Key::Tuple(keys) => &keys[..],
            _ => &[],
        };
        let wanted = numbers.iter().filter(|number| self.is_wanted(key(number)));
        let wanted: Vec<u32> = wanted.copied().collect();
        let mut sorted = sorted_in_time(wanted, |a, b| self.compare(key(a), key(b)))?;
        sorted.truncate(self.size);
        Ok(sorted)
    }

    /// Whether a combination comes behind `after`.
    fn is_wanted(&self, key: &[Key]) -> bool {
        let after = self.after.as_deref();
        after.is_none_or(|after| self.compare(key, after) == Ordering::Greater)
    }
}

/// The plan of a `composite` aggregation.
///
/// # Errors
/// [`AggError`] naming what is wrong.
fn plan_composite(
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
            (plan, LinkStep::Value)
        }
        CompositeKind::Cells {
            source,
            grid,
            bounds,
        } => {
            let step = LinkStep::Cell {
                grid: *grid,
                bounds: *bounds,
            };
            let values = plan_values(source, "geotile_grid", context)?;
            if values.kind == ValueKind::Outlines {
                return Err(unsupported(source, "geo_shape", "geotile_grid"));
            }
            (values, step)
        }
        CompositeKind::Histogram { source, interval } => {
            let interval = *interval;
            let mut plan = plan_values(source, "histogram", context)?;
            // Keys stay numbers.
            if matches!(plan.format, ValueFormat::Unsigned) {
                plan.format = ValueFormat::Raw;
            }
            (plan, LinkStep::Number { interval })
        }
        CompositeKind::DateHistogram {
            source,
            interval,
            time_zone,
            offset_ms,
        } => {
            let zone = context.zone(source, time_zone.as_deref())?;
            let mut plan = plan_values(source, "date_histogram", context)?;
            plan.format = match &source.format {
                None => ValueFormat::Raw,
                Some(_) => ValueFormat::Date {
                    format: date_format(source, None)?,
                    zone: zone.clone(),
                },
            };
            let step = LinkStep::Date {
                interval: *interval,
                zone,
                offset_ms: *offset_ms,
            };
            (plan, step)
        }
    };
    check_no_range(&values, context)?;
    Ok(Link {
        name: source.name.clone(),
        repeats: repeats_of(&values),
        values,
        step,
        missing_bucket: source.missing_bucket,
        direction: source.direction,
        missing_order: source.missing_order,
    })
}

/// A range is no key, and the buckets that it lies in would be many.
fn check_no_range(values: &ValuePlan, context: &AggContext<'_>) -> Result<(), AggError> {
    if !matches!(values.kind, ValueKind::Range(_)) {
        return Ok(());
    }
    let field = context.mapping.field(&values.field);
    Err(AggError::Unsupported {
        type_name: field.map_or("range", |field| field.kind.type_name()),
        field: values.field.clone(),
        aggregation: "composite",
    })
}

/// As in OpenSearch, a document counts as often as it has a number, but for a script's; of texts and addresses it has each
/// once.
fn repeats_of(values: &ValuePlan) -> Repeats {
    match values.kind {
        ValueKind::Keyword | ValueKind::Ip | ValueKind::Unmapped => Repeats::Dropped,
        _ if values.made.is_some() => Repeats::Dropped,
        _ => Repeats::Kept,
    }
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
                "Invalid value for [after.{}], expected comparable, got [null]",
                link.name
            )));
        };
        key_behind(link, value, context)
    };
    links.iter().map(key).collect()
}

/// The key of a source behind which the page begins.
fn key_behind(link: &Link, value: &Scalar, context: &AggContext<'_>) -> Result<Key, AggError> {
    let (kind, format) = (link.values.kind, &link.values.format);
    match &link.step {
        LinkStep::Value => match (kind, value, format) {
            (ValueKind::Keyword, Scalar::Text(_), _) => key_of(value, kind, format, context.now_ms),
            (ValueKind::Keyword, other, _) => Err(AggError::invalid(format!(
                "invalid value, expected string, got {}",
                called(other)
            ))),
            // Moments are numbers here, unless a format is asked for.
            (ValueKind::Date | ValueKind::DateNanos, Scalar::Text(_), ValueFormat::Raw) => {
                key_of(value, ValueKind::Long, format, context.now_ms)
            }
            _ => key_of(value, kind, format, context.now_ms),
        },
        LinkStep::Number { .. } => bound_number(value).map(Key::F64),
        LinkStep::Cell { .. } => {
            let tile = text_of(value);
            let is_tile = tile.split('/').all(|part| part.parse::<u32>().is_ok());
            if !is_tile || tile.split('/').count() != 3 {
                return Err(AggError::invalid(format!(
                    "Invalid geotile_grid hash string of {tile}. Must be three integers in a form \
                     \"zoom/x/y\"."
                )));
            }
            Ok(Key::Str(tile.into()))
        }
        LinkStep::Date { zone, .. } => bound_ms(value, format, zone, context.now_ms).map(Key::I64),
    }
}

/// What OpenSearch calls a value by.
fn called(value: &Scalar) -> &'static str {
    match value {
        Scalar::Integer(whole) if i32::try_from(*whole).is_ok() => "Integer",
        Scalar::Integer(_) => "Long",
        Scalar::Unsigned(_) => "BigInteger",
        Scalar::Float(_) => "Double",
        Scalar::Boolean(_) => "Boolean",
        Scalar::Text(_) => "String",
    }
}

impl AskedBuckets for CompositeSpec {
    fn plan(&self, asking: &Asking<'_>) -> Result<(ValuePlan, BucketPlan), AggError> {
        let plan = plan_composite(self, asking.context)?;
        Ok((ValuePlan::none(), plan.into()))
    }

    fn has_pages(&self) -> bool {
        true
    }

    fn factory_name(&self) -> &'static str {
        "CompositeAggregationFactory"
    }
}

impl BucketAgg for CompositePlan {
    fn open(&self, opening: Opening<'_>) -> Result<Box<dyn Collect>, AggError> {
        let Opening { segment, plan, .. } = opening;
        Ok(Box::new(Chain::open(segment, plan, &self.links)?))
    }

    fn bytes_per_doc(&self) -> usize {
        let links = self.links.iter();
        links.map(|link| link.values.bytes_per_doc()).sum()
    }

    fn result(&self, of: InParent<'_>, budget: &mut Budget<'_>) -> Result<AggResult, AggError> {
        let InParent {
            node,
            buckets,
            parent,
        } = of;
        let mut made = Vec::new();
        for number in self.page(buckets, node.numbers(parent))? {
            budget.take()?;
            let at = number as usize;
            made.push(Bucket {
                key: shown_tuple(&buckets.table.keys()[at], &self.links),
                doc_count: buckets.counts[at],
                doc_count_error: None,
                extra: BucketExtra::None,
                subs: results_of(&node.subs, Some(number), budget)?,
            });
        }
        let links = &self.links;
        Ok(AggResult::Composite(CompositeResult {
            names: links.iter().map(|link| link.name.clone()).collect(),
            formats: links
                .iter()
                .map(|link| link.values.format.clone())
                .collect(),
            buckets: made,
            ended_at: None,
        }))
    }

    fn profiled_as(&self, _: &ValuePlan) -> &'static str {
        "CompositeAggregator"
    }

    fn cut(&self, buckets: &mut Buckets, parent_count: usize) -> Result<(), AggError> {
        cut_page(self, buckets, parent_count)
    }

    fn adopt(&mut self, theirs: &Self) {
        adopt_links(&mut self.links, &theirs.links);
    }
}

/// Only the first combinations behind the page before can be on this page. Combinations are ordered
/// by nothing but themselves, so this loses nothing.
fn cut_page(
    composite: &CompositePlan,
    buckets: &mut Buckets,
    parent_count: usize,
) -> Result<(), AggError> {
    let by_parent = buckets.by_parent()?;
    let mut keep = vec![false; buckets.table.len()];
    let mut pace = Pace::default();
    for parent in 0..parent_count {
        go_on_reducing(&mut pace)?;
        for number in composite.page(buckets, by_parent.of_parent(number_of(parent)))? {
            keep[number as usize] = true;
        }
    }
    retain(buckets, &keep)
}
