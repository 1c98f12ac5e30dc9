//! Where the buckets of a histogram go on behind the last one that there is.

use clew_query::AggError;
use clew_query::aggregation::{AggSpec, CalendarUnit, DateInterval};
use jiff::tz::TimeZone;

use crate::bucket::steps::{start_of_step, step_of_number};
use crate::field::column::{CLOCKS_FROM_MS, CLOCKS_TO_MS};
use crate::result::AggResult;
use crate::value::key::Key;
use crate::value::rounding::Rounding;
use crate::value::zone::parse_zone;

/// How a histogram's buckets follow each other.
#[derive(Clone, Debug)]
pub(crate) enum Axis {
    Numbers {
        interval: f64,
        offset: f64,
    },
    Dates {
        interval: DateInterval,
        zone: TimeZone,
        offset_ms: i64,
    },
    /// By the unit that the data chose.
    Chosen {
        zone: TimeZone,
    },
}

impl Axis {
    /// That of an aggregation's buckets, if they have one.
    ///
    /// # Errors
    /// [`AggError`] when its time zone is none.
    pub(super) fn of(spec: &AggSpec) -> Result<Option<Self>, AggError> {
        Ok(match spec {
            AggSpec::Histogram(histogram) => Some(Axis::Numbers {
                interval: histogram.interval,
                offset: histogram.offset,
            }),
            AggSpec::DateHistogram(histogram) => Some(Axis::Dates {
                interval: histogram.interval,
                zone: parse_zone(histogram.time_zone.as_deref())?,
                offset_ms: histogram.offset_ms,
            }),
            AggSpec::AutoDateHistogram(histogram) => Some(Axis::Chosen {
                zone: parse_zone(histogram.time_zone.as_deref())?,
            }),
            _ => None,
        })
    }

    /// The keys that follow the last bucket of a result.
    pub(super) fn keys_behind(&self, result: &AggResult, count: usize) -> Vec<Key> {
        let buckets = result.buckets().unwrap_or_default();
        let last = buckets.last().map(|bucket| bucket.key.clone());
        let rounding = match (self, result) {
            (
                Axis::Dates {
                    interval,
                    zone,
                    offset_ms,
                },
                _,
            ) => Some(Rounding::prepare(*interval, zone, *offset_ms, KNOWN)),
            (Axis::Chosen { zone }, AggResult::AutoDateHistogram { interval, .. }) => {
                let unit = DateInterval::Calendar(unit_of(interval));
                Some(Rounding::prepare(unit, zone, 0, KNOWN))
            }
            (Axis::Numbers { .. } | Axis::Chosen { .. }, _) => None,
        };
        let next = |key: &Key| match (self, key, &rounding) {
            (Axis::Numbers { interval, offset }, Key::F64(key), _) => {
                let step = step_of_number(key + interval, *interval, *offset);
                Some(Key::F64(start_of_step(step, *interval, *offset)))
            }
            (_, Key::Date(key), Some(rounding)) => Some(Key::Date(rounding.next(*key))),
            _ => None,
        };
        std::iter::successors(last, next)
            .skip(1)
            .take(count)
            .collect()
    }
}

/// Between which moments changes of clocks are known.
const KNOWN: std::ops::RangeInclusive<i64> = CLOCKS_FROM_MS..=CLOCKS_TO_MS;

/// The unit of an interval that the data chose, which is shown as a number with a letter.
fn unit_of(interval: &str) -> CalendarUnit {
    match interval.chars().last() {
        Some('m') => CalendarUnit::Minute,
        Some('h') => CalendarUnit::Hour,
        Some('d') => CalendarUnit::Day,
        Some('M') => CalendarUnit::Month,
        Some('y') => CalendarUnit::Year,
        _ => CalendarUnit::Second,
    }
}
