//! Random documents, segments, shards and requests against the model.

use std::num::NonZeroI64;

use proptest::prelude::*;

use super::model::{expected, written};
use super::{Doc, Shards, named, run};
use clew_query::aggregation::*;

const TAGS: [&str; 8] = ["", "a", "b", "ba", "c", "d", "é", "zz"];

fn doc() -> impl Strategy<Value = Doc> {
    (
        prop::collection::vec(prop::sample::select(&TAGS[..]), 0..4),
        prop::collection::vec(-3_i64..6, 0..3),
        prop::collection::vec((-20_i32..40).prop_map(|n| f64::from(n) / 4.0), 0..2),
        prop::collection::vec(any::<bool>(), 0..2),
        // A week around a change of the clocks in Berlin, to the second.
        prop::collection::vec(
            (0_i64..604_800).prop_map(|s| 1_774_400_000_000 + s * 1_000),
            0..3,
        ),
        prop::bool::weighted(0.2),
    )
        .prop_map(|(tags, codes, prices, flags, times, hidden)| Doc {
            tags,
            codes,
            prices,
            flags,
            times,
            addresses: Vec::new(),
            hidden,
        })
}

pub(super) fn shards() -> impl Strategy<Value = Shards> {
    let segment = prop::collection::vec(doc(), 1..30);
    prop::collection::vec(prop::collection::vec(segment, 1..4), 1..4)
}

fn metric() -> impl Strategy<Value = NamedAgg> {
    let numeric = prop::sample::select(vec!["code", "price", "at", "flag"]).prop_map(Source::field);
    let any =
        prop::sample::select(vec!["tag", "code", "price", "ip", "nowhere"]).prop_map(Source::field);
    prop_oneof![
        numeric.clone().prop_map(AggSpec::Sum),
        numeric.clone().prop_map(AggSpec::Avg),
        numeric.clone().prop_map(AggSpec::Min),
        numeric.clone().prop_map(AggSpec::Max),
        numeric.prop_map(AggSpec::Stats),
        any.clone().prop_map(AggSpec::ValueCount),
        any.prop_map(|source| AggSpec::Cardinality(CardinalitySpec {
            source,
            precision_threshold: 100,
        })),
    ]
    .prop_map(|spec| named("metric", spec, Vec::new()))
}

fn direction() -> impl Strategy<Value = Direction> {
    prop::sample::select(vec![Direction::Ascending, Direction::Descending])
}

/// A metric to order by, always there under this name.
fn ordered(spec: AggSpec, mut subs: Vec<NamedAgg>) -> NamedAgg {
    subs.push(named(
        "key",
        AggSpec::Avg(Source::field("price")),
        Vec::new(),
    ));
    subs.push(named(
        "top",
        AggSpec::Max(Source::field("code")),
        Vec::new(),
    ));
    named("terms", spec, subs)
}

fn terms(subs: Vec<NamedAgg>) -> impl Strategy<Value = NamedAgg> {
    let key = prop_oneof![
        Just(OrderKey::Count),
        Just(OrderKey::Key),
        Just(OrderKey::Metric("key".to_string())),
        Just(OrderKey::Metric("top".to_string())),
    ];
    let order = (key, direction()).prop_map(|(key, direction)| OrderBy { key, direction });
    (
        prop::sample::select(vec!["tag", "code", "price", "flag", "at", "nowhere"]),
        1_u32..6,
        prop::option::of(1_u32..6),
        1_u64..4,
        prop::collection::vec(order, 0..3),
    )
        .prop_map(move |(field, size, shard_size, min_doc_count, order)| {
            let spec = TermsSpec {
                size,
                shard_size,
                min_doc_count,
                order,
                ..TermsSpec::of(field)
            };
            ordered(AggSpec::Terms(spec), subs.clone())
        })
}

fn histogram(subs: Vec<NamedAgg>) -> impl Strategy<Value = NamedAgg> {
    let field = prop::sample::select(vec!["price", "code"]);
    let interval = prop::sample::select(vec![0.5, 1.0, 2.0, 3.0]);
    (field, interval, -2_i32..3, 0_u64..3).prop_map(
        move |(field, interval, offset, min_doc_count)| {
            let spec = HistogramSpec {
                offset: f64::from(offset) / 2.0,
                min_doc_count,
                ..HistogramSpec::of(field, interval)
            };
            named("histogram", AggSpec::Histogram(spec), subs.clone())
        },
    )
}

fn date_histogram(subs: Vec<NamedAgg>) -> impl Strategy<Value = NamedAgg> {
    let fixed = |ms| DateInterval::Fixed {
        step_ms: NonZeroI64::new(ms).unwrap(),
    };
    let interval = prop::sample::select(vec![
        (fixed(5_400_000), None),
        (fixed(43_200_000), None),
        (
            DateInterval::Calendar(CalendarUnit::Hour),
            Some("Europe/Berlin"),
        ),
        (
            DateInterval::Calendar(CalendarUnit::Day),
            Some("Europe/Berlin"),
        ),
        (
            DateInterval::Calendar(CalendarUnit::Day),
            Some("America/New_York"),
        ),
        (DateInterval::Calendar(CalendarUnit::Day), None),
        (
            DateInterval::Calendar(CalendarUnit::Week),
            Some("Europe/Berlin"),
        ),
        (
            DateInterval::Calendar(CalendarUnit::Month),
            Some("Asia/Tokyo"),
        ),
    ]);
    let offset = prop::sample::select(vec![0_i64, 3_600_000, -7_200_000]);
    (interval, offset, 0_u64..3).prop_map(move |((interval, zone), offset_ms, min_doc_count)| {
        let spec = DateHistogramSpec {
            offset_ms,
            min_doc_count,
            time_zone: zone.map(str::to_string),
            ..DateHistogramSpec::of("at", interval)
        };
        named("dates", AggSpec::DateHistogram(spec), subs.clone())
    })
}

fn bucket(subs: Vec<NamedAgg>) -> impl Strategy<Value = NamedAgg> {
    let missing = prop::sample::select(vec!["tag", "price", "nowhere"]);
    let inside = subs.clone();
    prop_oneof![
        3 => terms(subs.clone()),
        1 => histogram(subs.clone()),
        2 => date_histogram(subs),
        1 => missing.prop_map(move |field| {
            named("missing", AggSpec::Missing(Source::field(field)), inside.clone())
        }),
    ]
}

/// Up to three levels of buckets, metrics at each.
fn request() -> impl Strategy<Value = Vec<NamedAgg>> {
    let innermost = metric().prop_flat_map(|metric| bucket(vec![metric]));
    let middle = (innermost, metric())
        .prop_flat_map(|(inner, metric)| bucket(vec![metric, inner]))
        .boxed();
    let outer = (middle.clone(), metric()).prop_flat_map(|(inner, metric)| {
        bucket(vec![inner]).prop_map(move |outer| vec![metric.clone(), outer])
    });
    prop_oneof![
        bucket(Vec::new()).prop_map(|only| vec![only]),
        middle.prop_map(|two| vec![two]),
        outer,
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 256,
        rng_seed: proptest::test_runner::RngSeed::Fixed(7),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn results_equal_the_models(shards in shards(), request in request()) {
        let results = run(&shards, &request);
        prop_assert_eq!(written(&results), expected(&shards, &request));
    }
}
