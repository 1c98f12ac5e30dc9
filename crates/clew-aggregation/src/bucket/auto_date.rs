//! `auto_date_histogram`: intervals of time whose length the data chooses. Documents are counted in short ones, and when all
//! shards are merged, each parent's are joined until they are few enough.

use clew_platform::Pace;
use clew_query::aggregation::{AutoDateSpec, CalendarUnit, DateInterval};
use clew_query::{AggError, go_on_reducing};
use jiff::tz::TimeZone;
use tantivy::SegmentReader;

use crate::bucket::date_histogram::{DateHistogram, DatePlan};
use crate::bucket::{AskedBuckets, Asking, BucketAgg, BucketPlan, InParent, Opening};
use crate::collect::{Collect, Planned};
use crate::counted::Partial;
use crate::counted::buckets::{Axis, Buckets};
use crate::field::column::ValueColumn;
use crate::field::context::AggContext;
use crate::field::values::{date_format, plan_values};
use crate::field::{ValueKind, ValuePlan};
use crate::reduce::{Budget, results_of};
use crate::result::{AggResult, Bucket, BucketExtra, HistogramResult};
use crate::value::format::ValueFormat;
use crate::value::key::{Key, KeyTable, number_of};
use crate::value::rounding::Rounding;

/// A unit of time, its letter, its least length, and how many of it an interval may have.
struct Unit {
    unit: CalendarUnit,
    letter: &'static str,
    length_ms: i64,
    counts: &'static [usize],
}

const UNITS: [Unit; 6] = [
    Unit {
        unit: CalendarUnit::Second,
        letter: "s",
        length_ms: 1_000,
        counts: &[1, 5, 10, 30],
    },
    Unit {
        unit: CalendarUnit::Minute,
        letter: "m",
        length_ms: 60_000,
        counts: &[1, 5, 10, 30],
    },
    Unit {
        unit: CalendarUnit::Hour,
        letter: "h",
        length_ms: 3_600_000,
        counts: &[1, 3, 12],
    },
    Unit {
        unit: CalendarUnit::Day,
        letter: "d",
        length_ms: 86_400_000,
        counts: &[1, 7],
    },
    Unit {
        unit: CalendarUnit::Month,
        letter: "M",
        length_ms: 28 * 86_400_000,
        counts: &[1, 3],
    },
    Unit {
        unit: CalendarUnit::Year,
        letter: "y",
        length_ms: 365 * 86_400_000,
        counts: &[1, 5, 10, 20, 50, 100],
    },
];

/// While counting, no shard has more intervals than this between its first and last document.
const COUNTED_MAX: i64 = 65_536;

/// The most buckets that can be asked for.
const BUCKETS_MAX: u32 = 10_000;

/// An `auto_date_histogram`.
#[derive(Clone, Debug)]
pub(crate) struct AutoDatePlan {
    target: usize,
    zone: TimeZone,
    /// The least unit that is wanted: a place in the list of units.
    least: usize,
    /// The one that documents are counted by, likewise.
    base: usize,
}

impl AutoDatePlan {
    /// How documents are counted.
    fn collected(&self) -> DatePlan {
        DatePlan {
            interval: DateInterval::Calendar(UNITS[self.base].unit),
            zone: self.zone.clone(),
            offset_ms: 0,
            min_doc_count: 0,
            extended: None,
            hard: None,
            order: Vec::new(),
            keyed: false,
        }
    }

    fn interval_of_nothing(&self) -> String {
        format!("1{}", UNITS[self.least].letter)
    }

    /// The buckets of one parent: their starts, and for each key of `keys` (ascending) its start.
    fn axis(&self, keys: &[i64]) -> (Axis, Vec<i64>) {
        let (Some(first), Some(last)) = (keys.first(), keys.last()) else {
            return (
                Axis {
                    starts: Vec::new(),
                    interval: self.interval_of_nothing(),
                },
                Vec::new(),
            );
        };
        let mut place = self.base;
        loop {
            let unit = &UNITS[place];
            let most = unit.counts.last().copied().unwrap_or(1) * self.target;
            let interval = DateInterval::Calendar(unit.unit);
            let rounding = Rounding::prepare(interval, &self.zone, 0, *first..=*last);
            let starts = starts(&rounding, *first, *last, most);
            if starts.len() > most && place + 1 < UNITS.len() {
                place += 1;
                continue;
            }
            let fits = |count: &&usize| starts.len().div_ceil(**count) <= self.target;
            let count = unit.counts.iter().find(fits).or(unit.counts.last());
            let count = count.copied().unwrap_or(1);
            let chosen: Vec<i64> = starts.iter().step_by(count).copied().collect();
            let start_of = |key: &i64| {
                let after = chosen.partition_point(|start| start <= key);
                chosen[after.saturating_sub(1)]
            };
            let of_keys = keys.iter().map(start_of).collect();
            let axis = Axis {
                interval: format!("{count}{}", unit.letter),
                starts: chosen,
            };
            return (axis, of_keys);
        }
    }
}

/// The starts of all intervals from one instant to another; one more than `most` is enough, unless
/// it is the longest interval there is.
fn starts(rounding: &Rounding, first: i64, last: i64, most: usize) -> Vec<i64> {
    let mut starts = vec![rounding.round(first, &mut 0)];
    while let Some(start) = starts.last().copied() {
        let next = rounding.next(start);
        if next > last || next <= start || starts.len() > most.max(BUCKETS_MAX as usize * 100) {
            break;
        }
        starts.push(next);
    }
    starts
}

/// How many buckets can be asked for: each may come as the finest intervals of a unit first, all of which are bounded.
fn buckets_max(all: usize, least: usize) -> usize {
    let units = UNITS.iter().take(UNITS.len() - 1);
    let units = units.skip(least);
    let finest = units.flat_map(|unit| unit.counts).copied().max();
    let most = all / finest.unwrap_or(1);
    most.clamp(1, BUCKETS_MAX as usize)
}

/// The plan of an `auto_date_histogram`.
///
/// # Errors
/// [`AggError`] naming what is wrong.
fn plan_auto_date(
    spec: &AutoDateSpec,
    context: &AggContext<'_>,
) -> Result<(ValuePlan, AutoDatePlan), AggError> {
    let least = spec.minimum.and_then(|minimum| {
        let mut units = UNITS.iter();
        units.position(|unit| unit.unit == minimum)
    });
    let least = least.unwrap_or(0);
    let most = buckets_max(context.limits.buckets_max, least);
    if spec.buckets == 0 || spec.buckets as usize > most {
        return Err(AggError::invalid(format!(
            "buckets must be less than {most}"
        )));
    }
    let zone = context.zone(&spec.source, spec.time_zone.as_deref())?;
    let mut values = plan_values(&spec.source, "auto_date_histogram", context)?;
    if matches!(
        values.kind,
        ValueKind::Date | ValueKind::DateNanos | ValueKind::Unmapped
    ) {
        values.format = ValueFormat::Date {
            format: date_format(&spec.source, Some(&values.format))?,
            zone: zone.clone(),
        };
    }
    let readers = context
        .searcher
        .map_or(&[][..], |s| &s.snapshot.readers[..]);
    let plan = AutoDatePlan {
        target: spec.buckets as usize,
        zone,
        least,
        base: base_unit(readers, &values, least)?,
    };
    Ok((values, plan))
}

/// The shortest unit of which the shard's data has not too many.
fn base_unit(
    readers: &[SegmentReader],
    values: &ValuePlan,
    least: usize,
) -> Result<usize, AggError> {
    let mut range: Option<(i64, i64)> = None;
    for reader in readers {
        let column = ValueColumn::open(reader, values)?;
        if let Some((min, max)) = column.range() {
            let (min, max) = (column.instant(min), column.instant(max));
            range = Some(range.map_or((min, max), |(low, high)| (low.min(min), high.max(max))));
        }
    }
    let span = range.map_or(0, |(min, max)| max.saturating_sub(min));
    let fits = |unit: &Unit| span / unit.length_ms <= COUNTED_MAX;
    let place = UNITS.iter().position(fits).unwrap_or(UNITS.len() - 1);
    Ok(place.max(least))
}

fn joined_dates(
    auto: &AutoDatePlan,
    plan: &dyn Planned,
    buckets: Buckets,
) -> Result<Buckets, AggError> {
    let by_parent = buckets.by_parent()?;
    let whole = |number: &u32| match buckets.table.keys()[*number as usize] {
        Key::I64(key) => key,
        _ => 0,
    };
    let parents = buckets.table.parent_count();
    let mut table: KeyTable<Key> = KeyTable::default();
    let mut counts: Vec<u64> = Vec::new();
    let mut map = vec![0_u32; buckets.table.len()];
    let mut axes = Vec::new();
    let mut pace = Pace::default();
    for parent in 0..parents {
        let mut numbers = by_parent.of_parent(parent).to_vec();
        numbers.sort_unstable_by_key(whole);
        let keys: Vec<i64> = numbers.iter().map(whole).collect();
        let (axis, starts) = auto.axis(&keys);
        for (number, start) in numbers.iter().zip(starts) {
            go_on_reducing(&mut pace)?;
            let (new, _) = table.number(parent, Key::I64(start));
            counts.resize(counts.len().max(new as usize + 1), 0);
            counts[new as usize] += buckets.counts[*number as usize];
            map[*number as usize] = new;
        }
        axes.push(axis);
    }
    debug_assert_eq!(number_of(counts.len()) as usize, table.len());
    let mut subs: Vec<Partial> = plan.empty_subs();
    for (mine, theirs) in subs.iter_mut().zip(buckets.subs) {
        mine.merge(theirs, Some(&map))?;
    }
    Ok(Buckets {
        axes,
        ..Buckets::of(table, counts, subs)
    })
}

impl AskedBuckets for AutoDateSpec {
    fn plan(&self, asking: &Asking<'_>) -> Result<(ValuePlan, BucketPlan), AggError> {
        let (values, plan) = plan_auto_date(self, asking.context)?;
        Ok((values, plan.into()))
    }
}

impl BucketAgg for AutoDatePlan {
    fn open(&self, opening: Opening<'_>) -> Result<Box<dyn Collect>, AggError> {
        let Opening {
            segment,
            plan,
            level,
        } = opening;
        let dates = self.collected();
        Ok(Box::new(DateHistogram::open(segment, plan, &dates, level)?))
    }

    fn result(&self, of: InParent<'_>, budget: &mut Budget<'_>) -> Result<AggResult, AggError> {
        let node = of.node;
        let axis = of
            .parent
            .and_then(|parent| of.buckets.axes.get(parent as usize));
        let rows = of.rows();
        let mut rows = rows.into_iter().peekable();
        let mut made = Vec::new();
        for start in axis.map_or(&[][..], |axis| &axis.starts) {
            budget.take()?;
            let row = rows.next_if(|row| row.key == *start);
            made.push(Bucket {
                key: Key::Date(*start),
                doc_count: row.map_or(0, |row| row.count),
                doc_count_error: None,
                extra: BucketExtra::None,
                subs: results_of(&node.subs, row.and_then(|row| row.number), budget)?,
            });
        }
        Ok(AggResult::AutoDateHistogram {
            histogram: HistogramResult {
                buckets: made,
                keyed: false,
                format: node.plan.values().format.clone(),
            },
            interval: axis.map_or_else(|| self.interval_of_nothing(), |axis| axis.interval.clone()),
        })
    }

    fn profiled_as(&self, _: &ValuePlan) -> &'static str {
        "AutoDateHistogramAggregator.FromSingle"
    }

    /// Times are rounded as the coarsest shard did.
    fn adopt(&mut self, theirs: &Self) {
        self.base = self.base.max(theirs.base);
    }

    fn settle(&self, plan: &dyn Planned, buckets: Buckets) -> Result<Buckets, AggError> {
        joined_dates(self, plan, buckets)
    }
}
