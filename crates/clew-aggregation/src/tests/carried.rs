//! Partial results that are written down and read again give the results that they gave before. The tests' own runner
//! holds both against each other; here are the kinds that its other users leave out.

use proptest::prelude::*;

use clew_query::aggregation::*;
use clew_query::{Order, SortKey, SortMode, SortValue};
use clew_schema::geo::GeoPoint;
use clew_search::{MergedHit, ShardHit};

use super::property::shards;
use super::{Shards, named, run};
use crate::counted::{Partial, TopList, TopLists};
use crate::numbers::moments::Points;

fn metrics() -> Vec<AggSpec> {
    let source = Source::field;
    let percentiles = |method, ranks| {
        AggSpec::Percentiles(PercentilesSpec {
            source: source("price"),
            points: vec![1.0, 50.0],
            ranks,
            keyed: true,
            method,
        })
    };
    let distinct = |field, precision_threshold| {
        AggSpec::Cardinality(CardinalitySpec {
            source: source(field),
            precision_threshold,
        })
    };
    vec![
        AggSpec::Min(source("price")),
        AggSpec::Stats(source("code")),
        AggSpec::ExtendedStats(ExtendedStatsSpec {
            source: source("price"),
            sigma: 2.0,
        }),
        AggSpec::ValueCount(source("tag")),
        // Exact, and estimated from three values on.
        distinct("tag", 100),
        distinct("at", 2),
        percentiles(Method::default(), false),
        percentiles(Method::default(), true),
        AggSpec::MedianDeviation(MedianDeviationSpec {
            source: source("code"),
            compression: 100.0,
        }),
        AggSpec::Matrix(MatrixSpec {
            fields: vec![source("code"), source("price")],
            mode: SortMode::Avg,
        }),
    ]
}

fn buckets() -> Vec<AggSpec> {
    let source = Source::field;
    let combined = |name: &str, kind| CompositeSource {
        name: name.to_string(),
        kind,
        missing_bucket: true,
        missing_order: MissingOrder::Default,
        direction: Direction::Descending,
    };
    let every = TermsSpec {
        min_doc_count: 0,
        shard_size: Some(3),
        size: 2,
        ..TermsSpec::of("tag")
    };
    let month = DateInterval::Calendar(CalendarUnit::Month);
    vec![
        AggSpec::Terms(every),
        AggSpec::DateHistogram(DateHistogramSpec::of("at", month)),
        AggSpec::Histogram(HistogramSpec::of("price", 2.5)),
        AggSpec::Missing(source("code")),
        AggSpec::RareTerms(RareTermsSpec {
            source: source("tag"),
            max_doc_count: 5,
            filter: TermFilter::default(),
        }),
        AggSpec::SignificantTerms(SignificantSpec {
            source: source("tag"),
            size: 3,
            shard_size: None,
            min_doc_count: 1,
            shard_min_doc_count: 1,
            filter: TermFilter::default(),
            heuristic: Heuristic::Percentage,
            background: None,
            words: None,
        }),
        AggSpec::VariableWidth(VariableWidthSpec {
            source: source("price"),
            buckets: 3,
        }),
        AggSpec::AutoDateHistogram(AutoDateSpec {
            source: source("at"),
            buckets: 4,
            time_zone: None,
            minimum: None,
        }),
        AggSpec::Composite(CompositeSpec {
            sources: vec![
                combined("tag", CompositeKind::Terms(source("tag"))),
                combined("flag", CompositeKind::Terms(source("flag"))),
            ],
            size: 5,
            after: None,
        }),
        AggSpec::MultiTerms(MultiTermsSpec {
            sources: vec![source("tag"), source("code")],
            size: 4,
            shard_size: None,
            min_doc_count: 1,
            shard_min_doc_count: 0,
            order: Vec::new(),
            show_error: true,
        }),
    ]
}

/// Every metric, by itself.
fn inside() -> Vec<NamedAgg> {
    let all = (0..).zip(metrics());
    all.map(|(at, spec): (usize, _)| named(&format!("m{at}"), spec, Vec::new()))
        .collect()
}

fn run_each(shards: &Shards, buckets: impl Iterator<Item = AggSpec>) {
    for spec in buckets {
        run(shards, &[named("a", spec, inside())]);
    }
}

// Two, each with every other kind of buckets, so that they run side by side: no other of this crate takes as long.
proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn partial_results_mean_the_same_once_they_were_written_and_read(shards in shards()) {
        run_each(&shards, buckets().into_iter().step_by(2));
        run(&shards, &inside());
    }

    #[test]
    fn partial_results_of_every_other_kind_mean_the_same_too(shards in shards()) {
        run_each(&shards, buckets().into_iter().skip(1).step_by(2));
    }
}

/// Written and read, as its text says it.
fn check(partial: &Partial) {
    let mut written = Vec::new();
    ciborium::into_writer(partial, &mut written).unwrap();
    let read: Partial = ciborium::from_reader(&written[..]).unwrap();
    assert_eq!(format!("{read:?}"), format!("{partial:?}"));
}

#[test]
fn documents_and_points_are_written_too() {
    let sort = vec![SortValue::Str("é".to_string()), SortValue::F64(f64::NAN)];
    let hit = MergedHit {
        shard: 3,
        hit: ShardHit {
            segment: 1,
            doc: 7,
            score: Some(1.5),
            sort,
            group: None,
        },
    };
    check(&Partial::TopHits(TopLists {
        lists: vec![
            TopList::default(),
            TopList {
                total: 9,
                max_score: Some(1.5),
                hits: vec![hit],
            },
        ],
        keys: std::sync::Arc::new(vec![SortKey::Score { order: Order::Desc }]),
        limit: 3,
    }));
    let mut points = Points::default();
    points.add(GeoPoint {
        lat: 52.5,
        lon: -180.0,
    });
    check(&Partial::Points(vec![Points::default(), points]));
}
