//! The same aggregations, computed the slow and obvious way, and both results written alike.

#![allow(
    clippy::cast_possible_truncation,
    reason = "the numbers of the tests are small"
)]

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;
use jiff::{Timestamp, Zoned};
use serde_json::{Map, Value, json};

use super::Doc;
use crate::value::zone::parse_zone;
use crate::*;
use clew_query::aggregation::*;

/// The documents that shards hold of a bucket; `None` where a shard did not report the bucket.
type Held<'a> = Vec<Option<Vec<&'a Doc>>>;

pub(super) fn expected(shards: &super::Shards, specs: &[NamedAgg]) -> Value {
    let held: Held<'_> = shards
        .iter()
        .map(|segments| {
            Some(
                segments
                    .iter()
                    .flatten()
                    .filter(|doc| !doc.hidden)
                    .collect(),
            )
        })
        .collect();
    let mut all = Map::new();
    for spec in specs {
        all.insert(spec.name.clone(), evaluate(spec, &held));
    }
    Value::Object(all)
}

fn subs(specs: &[NamedAgg], held: &Held<'_>) -> Value {
    let pairs = specs
        .iter()
        .map(|spec| (spec.name.clone(), evaluate(spec, held)));
    Value::Object(pairs.collect())
}

fn everything<'a>(held: &Held<'a>) -> Vec<&'a Doc> {
    held.iter().flatten().flatten().copied().collect()
}

/// A document's values of a field, as keys.
fn keys(doc: &Doc, field: &str) -> Vec<Key> {
    match field {
        "tag" => doc.tags.iter().map(|tag| Key::Str((*tag).into())).collect(),
        "code" => doc.codes.iter().map(|code| Key::I64(*code)).collect(),
        "price" => doc.prices.iter().map(|price| Key::F64(*price)).collect(),
        "flag" => doc.flags.iter().map(|flag| Key::Bool(*flag)).collect(),
        "at" => doc.times.iter().map(|time| Key::Date(*time)).collect(),
        "ip" => doc.addresses.iter().map(|ip| Key::Ip(*ip)).collect(),
        _ => Vec::new(),
    }
}

fn numbers(doc: &Doc, field: &str) -> Vec<f64> {
    keys(doc, field)
        .iter()
        .map(|key| match key {
            Key::I64(value) | Key::Date(value) => *value as f64,
            Key::F64(value) => *value,
            Key::Bool(value) => f64::from(u8::from(*value)),
            _ => panic!("not a number"),
        })
        .collect()
}

fn evaluate(agg: &NamedAgg, held: &Held<'_>) -> Value {
    let all = everything(held);
    let values = |source: &Source| -> Vec<f64> {
        all.iter()
            .flat_map(|doc| numbers(doc, &source.field))
            .collect()
    };
    match &agg.spec {
        AggSpec::Terms(spec) => terms(spec, &agg.subs, held),
        AggSpec::DateHistogram(spec) => date_histogram(spec, &agg.subs, held),
        AggSpec::Histogram(spec) => histogram(spec, &agg.subs, held),
        AggSpec::Missing(source) => {
            let without = narrow(held, |doc| keys(doc, &source.field).is_empty());
            json!({"count": everything(&without).len(), "subs": subs(&agg.subs, &without)})
        }
        AggSpec::Sum(source) => json!(total(&values(source))),
        AggSpec::Avg(source) => {
            let values = values(source);
            let count = values.len();
            json!((count > 0).then(|| values.iter().sum::<f64>() / count as f64))
        }
        AggSpec::Min(source) => json!(values(source).into_iter().reduce(f64::min)),
        AggSpec::Max(source) => json!(values(source).into_iter().reduce(f64::max)),
        AggSpec::ValueCount(source) => {
            let count = |doc: &&Doc| {
                let keys = keys(doc, &source.field);
                match source.field.as_str() {
                    "tag" | "ip" => keys.into_iter().collect::<BTreeSet<_>>().len(),
                    _ => keys.len(),
                }
            };
            json!(all.iter().map(count).sum::<usize>())
        }
        AggSpec::Cardinality(CardinalitySpec { source, .. }) => {
            let distinct: BTreeSet<Key> = all
                .iter()
                .flat_map(|doc| keys(doc, &source.field))
                .collect();
            json!(distinct.len())
        }
        AggSpec::Stats(source) => {
            let values = values(source);
            json!([values.len(), total(&values)])
        }
        other => panic!("the model does not know {other:?}"),
    }
}

/// The sum; that of nothing is plain zero.
fn total(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |sum, value| sum + value)
}

/// The documents of a bucket, in the shards that have the parent.
fn narrow<'a>(held: &Held<'a>, belongs: impl Fn(&Doc) -> bool) -> Held<'a> {
    held.iter()
        .map(|docs| {
            let docs = docs.as_ref()?;
            Some(docs.iter().copied().filter(|doc| belongs(doc)).collect())
        })
        .collect()
}

fn order_by_metric(agg: &NamedAgg, docs: &Held<'_>) -> f64 {
    let empty = match agg.spec {
        AggSpec::Min(_) => f64::INFINITY,
        AggSpec::Max(_) => f64::NEG_INFINITY,
        _ => f64::NAN,
    };
    evaluate(agg, docs).as_f64().unwrap_or(empty)
}

struct Candidate<'a> {
    key: Key,
    count: u64,
    held: Held<'a>,
}

fn compare(
    order: &[OrderBy],
    specs: &[NamedAgg],
    a: &Candidate<'_>,
    b: &Candidate<'_>,
) -> Ordering {
    for one in order {
        let ordering = match &one.key {
            OrderKey::Count => a.count.cmp(&b.count),
            OrderKey::Key => a.key.cmp(&b.key),
            OrderKey::Metric(name) => {
                let agg = specs.iter().find(|spec| &spec.name == name).unwrap();
                let (a, b) = (order_by_metric(agg, &a.held), order_by_metric(agg, &b.held));
                if a.is_nan() || b.is_nan() {
                    match a.is_nan().cmp(&b.is_nan()) {
                        Ordering::Equal => continue,
                        last => return last,
                    }
                }
                a.partial_cmp(&b).unwrap()
            }
        };
        let ordering = match one.direction {
            Direction::Ascending => ordering,
            Direction::Descending => ordering.reverse(),
        };
        if ordering != Ordering::Equal {
            return ordering;
        }
    }
    a.key.cmp(&b.key)
}

/// What one shard reports.
struct Report<'a> {
    kept: Vec<Candidate<'a>>,
    other: u64,
    error: u64,
    unbounded: bool,
}

fn report<'a>(
    spec: &TermsSpec,
    order: &[OrderBy],
    specs: &[NamedAgg],
    docs: &[&'a Doc],
) -> Report<'a> {
    let size = spec.size as usize;
    let suggested = match order[0].key {
        OrderKey::Key => size,
        _ => size + size / 2 + 10,
    };
    let shard_size = spec.shard_size.map_or(suggested, |n| n as usize).max(size);
    let mut of_key: BTreeMap<Key, Vec<&Doc>> = BTreeMap::new();
    for doc in docs {
        let distinct: BTreeSet<Key> = keys(doc, &spec.source.field).into_iter().collect();
        for key in distinct {
            of_key.entry(key).or_default().push(doc);
        }
    }
    let mut kept: Vec<Candidate<'_>> = of_key
        .into_iter()
        .map(|(key, docs)| Candidate {
            key,
            count: docs.len() as u64,
            held: vec![Some(docs)],
        })
        .collect();
    kept.sort_by(|a, b| compare(order, specs, a, b));
    let dropped = kept.split_off(kept.len().min(shard_size));
    let full = kept.len() == shard_size;
    let (mut error, mut unbounded) = (0, false);
    match (&order[0].key, order[0].direction) {
        (OrderKey::Key, _) => {}
        (OrderKey::Count, Direction::Descending) if full => {
            error = kept.iter().map(|c| c.count).min().unwrap();
        }
        _ => unbounded = full && order[0] != most_first(),
    }
    Report {
        kept,
        other: dropped.iter().map(|dropped| dropped.count).sum(),
        error,
        unbounded,
    }
}

fn most_first() -> OrderBy {
    OrderBy {
        key: OrderKey::Count,
        direction: Direction::Descending,
    }
}

fn terms(spec: &TermsSpec, specs: &[NamedAgg], held: &Held<'_>) -> Value {
    let by_count = [most_first()];
    let order = if spec.order.is_empty() {
        &by_count[..]
    } else {
        &spec.order[..]
    };
    let mut merged: BTreeMap<Key, (u64, Held<'_>, u64)> = BTreeMap::new();
    let (mut other, mut error, mut unbounded, mut shards) = (0, 0, false, 0);
    for (shard, docs) in held.iter().enumerate() {
        let Some(docs) = docs else { continue };
        let report = report(spec, order, specs, docs);
        shards += 1;
        other += report.other;
        error += report.error;
        unbounded |= report.unbounded;
        for candidate in report.kept {
            let entry = merged
                .entry(candidate.key)
                .or_insert_with(|| (0, vec![None; held.len()], 0));
            entry.0 += candidate.count;
            entry.1[shard] = candidate.held.into_iter().next().unwrap();
            entry.2 += report.error;
        }
    }
    let mut reported = BTreeMap::new();
    let mut candidates = Vec::new();
    for (key, (count, held, own)) in merged {
        reported.insert(key.clone(), own);
        if count >= spec.min_doc_count {
            candidates.push(Candidate { key, count, held });
        }
    }
    candidates.sort_by(|a, b| compare(order, specs, a, b));
    let beyond = candidates.split_off(candidates.len().min(spec.size as usize));
    other += beyond.iter().map(|beyond| beyond.count).sum::<u64>();
    let buckets: Vec<Value> = candidates
        .iter()
        .map(|bucket| {
            let own = (!unbounded).then(|| error - reported[&bucket.key]);
            json!({
                "key": format!("{:?}", bucket.key), "count": bucket.count, "error": own,
                "subs": subs(specs, &bucket.held),
            })
        })
        .collect();
    let error = match (unbounded, shards) {
        (true, _) => None,
        (false, 0 | 1) => Some(0),
        _ => Some(error),
    };
    json!({"buckets": buckets, "other": other, "error": error})
}

fn histogram_of<'a>(
    held: &Held<'a>,
    key_of: impl Fn(&Doc) -> BTreeSet<i64>,
) -> BTreeMap<i64, Held<'a>> {
    let all: BTreeSet<i64> = everything(held)
        .iter()
        .flat_map(|doc| key_of(doc))
        .collect();
    all.into_iter()
        .map(|key| {
            let mut inside = narrow(held, |doc| key_of(doc).contains(&key));
            // A shard without documents in the bucket did not report it.
            for docs in &mut inside {
                if docs.as_ref().is_some_and(Vec::is_empty) {
                    *docs = None;
                }
            }
            (key, inside)
        })
        .collect()
}

fn render_rows(
    rows: BTreeMap<i64, Held<'_>>,
    min_doc_count: u64,
    specs: &[NamedAgg],
    key: impl Fn(i64) -> Key,
) -> Value {
    let rows = rows.into_iter().map(|(step, held)| {
        let count = everything(&held).len() as u64;
        (count >= min_doc_count).then(|| {
            json!({"key": format!("{:?}", key(step)), "count": count, "subs": subs(specs, &held)})
        })
    });
    rows.flatten().collect()
}

fn date_histogram(spec: &DateHistogramSpec, specs: &[NamedAgg], held: &Held<'_>) -> Value {
    let zone = parse_zone(spec.time_zone.as_deref()).unwrap();
    let field = &spec.source.field;
    let round = |ms: i64| round(ms - spec.offset_ms, spec.interval, &zone) + spec.offset_ms;
    let mut rows = histogram_of(held, |doc| {
        numbers(doc, field)
            .into_iter()
            .map(|ms| round(ms as i64))
            .collect()
    });
    if spec.min_doc_count == 0
        && let (Some((first, _)), Some((last, _))) = (rows.first_key_value(), rows.last_key_value())
    {
        // Walking in steps shorter than any interval meets every one of them.
        let (mut at, last) = (*first, *last);
        while at < last {
            at += 1_800_000;
            rows.entry(round(at.min(last)))
                .or_insert_with(|| vec![None; held.len()]);
        }
    }
    render_rows(rows, spec.min_doc_count, specs, Key::Date)
}

/// Rounds down by the calendar, for zones whose clocks change by whole hours.
pub(crate) fn round(ms: i64, interval: DateInterval, zone: &jiff::tz::TimeZone) -> i64 {
    let at: Zoned = Timestamp::from_millisecond(ms)
        .unwrap()
        .to_zoned(zone.clone());
    let date = at.date();
    let start = |date: Date| {
        let noon = date.at(12, 0, 0, 0).to_zoned(zone.clone()).unwrap();
        noon.start_of_day().unwrap().timestamp().as_millisecond()
    };
    match interval {
        DateInterval::Fixed { step_ms } => ms.div_euclid(step_ms.get()) * step_ms.get(),
        DateInterval::Calendar(unit) => match unit {
            CalendarUnit::Second => ms.div_euclid(1_000) * 1_000,
            CalendarUnit::Minute => ms.div_euclid(60_000) * 60_000,
            CalendarUnit::Hour => ms.div_euclid(3_600_000) * 3_600_000,
            CalendarUnit::Day => start(date),
            CalendarUnit::Week => {
                let back = i64::from(date.weekday().to_monday_zero_offset());
                start(date.saturating_sub(jiff::Span::new().days(back)))
            }
            CalendarUnit::Month => start(date.first_of_month()),
            CalendarUnit::Quarter => {
                let month = (date.month() - 1) / 3 * 3 + 1;
                start(Date::new(date.year(), month, 1).unwrap())
            }
            CalendarUnit::Year => start(date.first_of_year()),
        },
    }
}

fn histogram(spec: &HistogramSpec, specs: &[NamedAgg], held: &Held<'_>) -> Value {
    let field = &spec.source.field;
    let mut rows = histogram_of(held, |doc| {
        numbers(doc, field)
            .into_iter()
            .map(|value| ((value - spec.offset) / spec.interval).floor() as i64)
            .collect()
    });
    if spec.min_doc_count == 0
        && let (Some((first, _)), Some((last, _))) = (rows.first_key_value(), rows.last_key_value())
    {
        for step in *first..=*last {
            rows.entry(step).or_insert_with(|| vec![None; held.len()]);
        }
    }
    render_rows(rows, spec.min_doc_count, specs, |step| {
        Key::F64(step as f64 * spec.interval + spec.offset)
    })
}

/// Results in the model's words.
pub(super) fn written(results: &[NamedResult]) -> Value {
    let pairs = results
        .iter()
        .map(|named| (named.name.clone(), written_one(&named.result)));
    Value::Object(pairs.collect())
}

fn written_one(result: &AggResult) -> Value {
    let bucket = |bucket: &Bucket| {
        json!({
            "key": format!("{:?}", bucket.key), "count": bucket.doc_count,
            "subs": written(&bucket.subs),
        })
    };
    match result {
        AggResult::Terms(terms) => {
            let buckets: Vec<Value> = terms
                .buckets
                .iter()
                .map(|one| {
                    let mut value = bucket(one);
                    value["error"] = json!(one.doc_count_error);
                    value
                })
                .collect();
            json!({
                "buckets": buckets, "other": terms.sum_other_doc_count,
                "error": terms.doc_count_error_upper_bound,
            })
        }
        AggResult::DateHistogram(histogram) | AggResult::Histogram(histogram) => {
            histogram.buckets.iter().map(bucket).collect()
        }
        AggResult::Missing { doc_count, subs } => {
            json!({"count": doc_count, "subs": written(subs)})
        }
        AggResult::Min(metric)
        | AggResult::Max(metric)
        | AggResult::Avg(metric)
        | AggResult::Sum(metric) => json!(metric.value),
        AggResult::ValueCount(count) | AggResult::Cardinality(count) => json!(count),
        AggResult::Stats(stats) => json!([stats.count, stats.sum]),
        other => panic!("the model does not know {other:?}"),
    }
}
