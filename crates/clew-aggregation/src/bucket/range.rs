//! `range`, `date_range`, `ip_range` and `geo_distance`: ranges with their ends read and their names made.

use std::cmp::Ordering;
use std::net::Ipv6Addr;

use clew_platform::Pace;
use clew_query::AggError;
use clew_query::aggregation::{DistanceOrigin, EndKind, RangeItem, RangeSpec, Scalar};
use clew_schema::geo::GeoPoint;
use clew_schema::parse_network;

use crate::bucket::{AskedBuckets, Asking, BucketAgg, BucketPlan, InParent, Opening};
use crate::collect::places::Places;
use crate::collect::{Block, Collect, Planned, Segment};
use crate::counted::Partial;
use crate::field::column::ValueColumn;
use crate::field::context::AggContext;
use crate::field::rows::{Repeats, Rows};
use crate::field::values::{address, bound_ms, bound_number, date_format, plan_values, text_of};
use crate::field::{ValueKind, ValuePlan};
use crate::limits::Account;
use crate::reduce::{Budget, results_of};
use crate::result::{AggResult, RangeBucket, RangeEnd};
use crate::value::format::ValueFormat;
use crate::value::key::Key;

/// Ranges that a value is held against in a microsecond, about.
const PACE_RANGES: usize = 256;

/// Whether a value lies in a range.
enum Test {
    Number(f64, f64),
    /// Of the numbers that stand for values in this segment.
    Raw {
        from: u64,
        to: u64,
        /// The number of what no document has and stands in for missing values, and whether that lies in the range:
        /// such a number says nothing of the order.
        stand_in: Option<(u64, bool)>,
    },
}

impl Test {
    fn of(ends: RangeEnds, column: &ValueColumn) -> Self {
        match ends {
            RangeEnds::Numbers(from, to) => Test::Number(from, to),
            RangeEnds::Addresses(from, to) => {
                let first = |end: Option<_>, open: u64| {
                    end.map_or(open, |end| column.first_from(end).unwrap_or(u64::MAX))
                };
                let holds = |key: &Key| {
                    matches!(key, Key::Ip(own) if from.is_none_or(|from| *own >= from)
                        && to.is_none_or(|to| *own < to))
                };
                Test::Raw {
                    from: first(from, 0),
                    to: first(to, u64::MAX),
                    stand_in: column.stand_in().map(|(raw, key)| (raw, holds(key))),
                }
            }
        }
    }

    fn holds(&self, raw: u64, number: f64) -> bool {
        match self {
            Test::Number(from, to) => number >= *from && number < *to,
            Test::Raw {
                stand_in: Some((own, holds)),
                ..
            } if raw == *own => *holds,
            Test::Raw { from, to, .. } => raw >= *from && raw < *to,
        }
    }
}

pub(crate) struct Ranges {
    column: ValueColumn,
    rows: Rows,
    tests: Vec<Test>,
    origin: Option<DistanceOrigin>,
    places: Places,
    hits: Vec<u64>,
    pace: Pace,
}

impl Ranges {
    pub(crate) fn open(
        segment: Segment<'_>,
        plan: &dyn Planned,
        range: &RangePlan,
    ) -> Result<Self, AggError> {
        let column = ValueColumn::open(segment.reader, plan.values())?;
        let tests = range
            .ranges
            .iter()
            .map(|range| Test::of(range.ends, &column));
        Ok(Ranges {
            pace: Pace::of_lists(range.ranges.len() / PACE_RANGES),
            tests: tests.collect(),
            origin: range.origin,
            column,
            rows: Rows::default(),
            places: Places::open(segment, plan)?,
            hits: Vec::new(),
        })
    }
}

impl Collect for Ranges {
    fn collect(&mut self, block: Block<'_>, account: &mut Account) -> Result<(), AggError> {
        if self.column.is_empty() {
            return Ok(());
        }
        self.column
            .read_scored(block.docs, account, Repeats::Dropped, &mut self.rows)?;
        let mut at = 0;
        // There may be tens of thousands of ranges for each document.
        while at < self.rows.entries.len() && !self.pace.is_over() {
            let entry = self.rows.entries[at];
            self.hits.clear();
            while self.rows.entries.get(at) == Some(&entry) {
                let raw = self.rows.values[at];
                let number = match self.origin {
                    Some(origin) => {
                        GeoPoint::decode(raw).metres_to(origin.place) / origin.unit_metres
                    }
                    None => self.column.number(raw),
                };
                self.hits.extend(
                    (0_u64..)
                        .zip(&self.tests)
                        .filter(|(_, test)| test.holds(raw, number))
                        .map(|(place, _)| place),
                );
                at += 1;
            }
            // A document counts once per range, whatever number of its values lies in it.
            self.hits.sort_unstable();
            self.hits.dedup();
            let of = (block.docs[entry as usize], block.parents[entry as usize]);
            for place in &self.hits {
                self.places.add(of, *place, account)?;
            }
        }
        self.places.flush(account)
    }

    fn finish(self: Box<Self>, account: &mut Account) -> Result<Partial, AggError> {
        self.places.finish(account)
    }
}

/// Ranges in the order of their ends.
#[derive(Clone, Debug)]
pub(crate) struct RangePlan {
    pub(crate) ranges: Vec<PlannedRange>,
    pub(crate) keyed: bool,
    pub(crate) kind: EndKind,
    /// Where distances are measured from, and their unit in metres.
    pub(crate) origin: Option<DistanceOrigin>,
}

#[derive(Clone, Debug)]
pub(crate) struct PlannedRange {
    pub(crate) key: Option<String>,
    pub(crate) ends: RangeEnds,
}

/// Lower end included, upper end not.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RangeEnds {
    Numbers(f64, f64),
    Addresses(Option<Ipv6Addr>, Option<Ipv6Addr>),
}

impl PlannedRange {
    /// The ends as results show them.
    pub(crate) fn shown(&self) -> (Option<RangeEnd>, Option<RangeEnd>) {
        match self.ends {
            RangeEnds::Numbers(from, to) => {
                let end = |end: f64| end.is_finite().then_some(RangeEnd::Number(end));
                (end(from), end(to))
            }
            RangeEnds::Addresses(from, to) => {
                let end = |end: Option<Ipv6Addr>| {
                    end.map(|end| RangeEnd::Address(Key::Ip(end).to_string()))
                };
                (end(from), end(to))
            }
        }
    }

    /// Its name.
    pub(crate) fn name(
        &self,
        (from, to): (Option<&RangeEnd>, Option<&RangeEnd>),
        format: &ValueFormat,
    ) -> String {
        let text = |end: Option<&RangeEnd>| match end {
            None => "*".to_string(),
            Some(RangeEnd::Address(text)) => text.clone(),
            Some(RangeEnd::Number(number)) => format
                .text_of_number(*number)
                .unwrap_or_else(|| Key::F64(*number).to_string()),
        };
        let made = || format!("{}-{}", text(from), text(to));
        self.key.clone().unwrap_or_else(made)
    }
}

/// The plan of `range`, `date_range` and `ip_range`.
///
/// # Errors
/// [`AggError`] naming what is wrong.
fn plan_range(
    spec: &RangeSpec,
    name: &str,
    context: &AggContext<'_>,
) -> Result<(ValuePlan, RangePlan), AggError> {
    let kind = match spec.kind {
        EndKind::Dates => "date_range",
        EndKind::Addresses => "ip_range",
        EndKind::Distances => "geo_distance",
        EndKind::Numbers => "range",
    };
    let zone = context.zone(&spec.source, spec.time_zone.as_deref())?;
    let mut values = plan_values(&spec.source, kind, context)?;
    let dates = has_dates(spec, &values);
    if dates {
        let format = date_format(&spec.source, Some(&values.format))?;
        values.format = ValueFormat::Date {
            format,
            zone: zone.clone(),
        };
    }
    let end = |scalar: &Option<Scalar>, open: f64| match scalar {
        None => Ok(open),
        // A `range` takes numbers for milliseconds, with their fractions.
        Some(scalar @ (Scalar::Integer(_) | Scalar::Unsigned(_) | Scalar::Float(_)))
            if spec.kind != EndKind::Dates =>
        {
            bound_number(scalar)
        }
        Some(scalar) if dates => {
            // In a `date_range` the field's format reads numbers too, and may mean seconds by them.
            let written = Scalar::Text(text_of(scalar));
            let ms = bound_ms(&written, &values.format, &zone, context.now_ms)?;
            #[allow(
                clippy::cast_precision_loss,
                reason = "dates fit in 53 bits for 285,000 years"
            )]
            let ms = ms as f64;
            Ok(ms)
        }
        Some(scalar) => bound_number(scalar),
    };
    let planned = |range: &RangeItem| {
        if spec.kind == EndKind::Addresses {
            return addresses(range);
        }
        let is_distance = spec.kind == EndKind::Distances;
        let least = if is_distance { 0.0 } else { f64::NEG_INFINITY };
        let from = end(&range.from, least)?;
        let to = end(&range.to, f64::INFINITY)?;
        let mut key = range.key.clone();
        if is_distance && key.is_none() {
            key = distance_name(from, to);
        }
        Ok(PlannedRange {
            key,
            ends: RangeEnds::Numbers(from, to),
        })
    };
    let ranges = spec.ranges.iter().map(planned);
    let mut ranges = ranges.collect::<Result<Vec<_>, AggError>>()?;
    if ranges.is_empty() {
        return Err(AggError::invalid(format!(
            "No [ranges] specified for the [{name}] aggregation"
        )));
    }
    // Distances stay as they were given.
    if spec.kind != EndKind::Distances {
        ranges.sort_by(in_order);
    }
    let plan = RangePlan {
        ranges,
        keyed: spec.keyed,
        kind: spec.kind,
        origin: spec.origin,
    };
    Ok((values, plan))
}

/// Whether ends may be dates: those of numbers are none, unless a format says how they are written.
fn has_dates(spec: &RangeSpec, values: &ValuePlan) -> bool {
    let counts = matches!(
        values.kind,
        ValueKind::Long | ValueKind::Unsigned | ValueKind::Double
    );
    match spec.kind {
        EndKind::Dates => !counts || values.made.is_some() || spec.source.format.is_some(),
        _ => matches!(values.format, ValueFormat::Date { .. }),
    }
}

/// The name that a range of distances has without one of its own: they begin at nothing, whether that is said or not.
fn distance_name(from: f64, to: f64) -> Option<String> {
    (from.abs() < f64::MIN_POSITIVE).then(|| {
        let to = Some(Key::F64(to)).filter(|_| to.is_finite());
        let to = to.map_or_else(|| "*".to_string(), |to| to.to_string());
        format!("*-{to}")
    })
}

fn in_order(a: &PlannedRange, b: &PlannedRange) -> Ordering {
    match (a.ends, b.ends) {
        (RangeEnds::Numbers(a_from, a_to), RangeEnds::Numbers(b_from, b_to)) => {
            a_from.total_cmp(&b_from).then(a_to.total_cmp(&b_to))
        }
        (RangeEnds::Addresses(a_from, a_to), RangeEnds::Addresses(b_from, b_to)) => {
            // An open end is before all others below, and behind them above.
            let above = |to: Option<Ipv6Addr>| (to.is_none(), to);
            a_from.cmp(&b_from).then(above(a_to).cmp(&above(b_to)))
        }
        _ => Ordering::Equal,
    }
}

fn addresses(range: &RangeItem) -> Result<PlannedRange, AggError> {
    if let Some(mask) = &range.mask {
        let (from, to) = network(mask).ok_or_else(|| {
            AggError::invalid(format!(
                "'{mask}' is not an IP address with a prefix length."
            ))
        })?;
        return Ok(PlannedRange {
            key: Some(range.key.clone().unwrap_or_else(|| mask.clone())),
            ends: RangeEnds::Addresses(from, to),
        });
    }
    let end = |end: &Option<Scalar>| {
        let read = |scalar: &Scalar| address(&text_of(scalar));
        end.as_ref().map(read).transpose()
    };
    Ok(PlannedRange {
        key: range.key.clone(),
        ends: RangeEnds::Addresses(end(&range.from)?, end(&range.to)?),
    })
}

/// The first address of a network, and the first behind it.
fn network(mask: &str) -> Option<(Option<Ipv6Addr>, Option<Ipv6Addr>)> {
    let (first, last) = parse_network(mask)?;
    let behind = last.to_bits().checked_add(1);
    Some((
        (!first.is_unspecified()).then_some(first),
        behind.map(Ipv6Addr::from_bits),
    ))
}

impl AskedBuckets for RangeSpec {
    fn plan(&self, asking: &Asking<'_>) -> Result<(ValuePlan, BucketPlan), AggError> {
        let (values, plan) = plan_range(self, asking.name, asking.context)?;
        Ok((values, plan.into()))
    }

    fn factory_name(&self) -> &'static str {
        "RangeAggregatorFactory"
    }
}

impl BucketAgg for RangePlan {
    fn open(&self, opening: Opening<'_>) -> Result<Box<dyn Collect>, AggError> {
        let Opening { segment, plan, .. } = opening;
        Ok(Box::new(Ranges::open(segment, plan, self)?))
    }

    fn result(&self, of: InParent<'_>, budget: &mut Budget<'_>) -> Result<AggResult, AggError> {
        let node = of.node;
        let rows = of.rows();
        let format = &node.plan.values().format;
        let mut made = Vec::with_capacity(self.ranges.len());
        for (place, one) in (0_i64..).zip(&self.ranges) {
            budget.take()?;
            let row = rows.iter().find(|row| row.key == place);
            let (from, to) = one.shown();
            let name = one.name((from.as_ref(), to.as_ref()), format);
            made.push(RangeBucket {
                name: Key::Str(name.into()),
                from,
                to,
                doc_count: row.map_or(0, |row| row.count),
                subs: results_of(&node.subs, row.and_then(|row| row.number), budget)?,
            });
        }
        Ok(AggResult::Range {
            buckets: made,
            keyed: self.keyed,
            kind: self.kind,
            format: format.clone(),
        })
    }

    fn profiled_as(&self, _: &ValuePlan) -> &'static str {
        "RangeAggregator"
    }
}
