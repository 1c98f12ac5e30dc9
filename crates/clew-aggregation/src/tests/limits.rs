//! Bounds and refusals.

use std::cell::{Cell, RefCell};
use std::num::NonZeroI64;

use clew_platform::{CancellationToken, MemoryAccount, MemoryLimits, MemoryPurpose};
use clew_query::{AggError, AggErrorKind};

use super::*;
use crate::counted::buckets::Buckets;
use crate::value::key::{Key, KeyTable};
use clew_query::aggregation::*;

fn refusal(spec: AggSpec) -> AggError {
    let shards = vec![vec![vec![Doc::default()]]];
    try_run(&shards, &[named("x", spec, Vec::new())]).unwrap_err()
}

#[test]
fn text_fields_are_refused_with_a_hint() {
    let error = refusal(AggSpec::Terms(TermsSpec::of("body")));
    assert_eq!(error.kind(), AggErrorKind::Invalid);
    let text = error.to_string();
    assert!(
        text.starts_with("Text fields are not optimised for operations"),
        "{text}"
    );
    assert!(text.contains("[body]"), "{text}");
}

#[test]
fn unfit_types_are_refused() {
    let error = refusal(AggSpec::Avg(Source::field("tag")));
    assert_eq!(
        error.to_string(),
        "Field [tag] of type [keyword] is not supported for aggregation [avg]"
    );
    let error = refusal(AggSpec::Histogram(HistogramSpec::of("ip", 1.0)));
    assert_eq!(
        error.to_string(),
        "Field [ip] of type [ip] is not supported for aggregation [histogram]"
    );
}

#[test]
fn unknown_order_paths_are_refused() {
    let spec = TermsSpec {
        order: vec![OrderBy {
            key: OrderKey::Metric("nothing".to_string()),
            direction: Direction::Ascending,
        }],
        ..TermsSpec::of("tag")
    };
    let text = refusal(AggSpec::Terms(spec)).to_string();
    assert!(
        text.starts_with("Invalid aggregation order path [nothing]"),
        "{text}"
    );
}

#[test]
fn metrics_take_no_sub_aggregations() {
    let sub = named("y", AggSpec::Max(Source::field("code")), Vec::new());
    let agg = named("x", AggSpec::Max(Source::field("code")), vec![sub]);
    let error = try_run(&vec![vec![vec![Doc::default()]]], &[agg]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "Aggregator [x] cannot accept sub-aggregations"
    );
}

#[test]
fn gaps_beyond_the_bucket_limit_are_refused() {
    let doc = |time: &str| Doc {
        times: vec![ms(time)],
        ..Doc::default()
    };
    let shards = vec![vec![vec![
        doc("1990-01-01T00:00:00Z"),
        doc("2026-01-01T00:00:00Z"),
    ]]];
    let interval = DateInterval::Fixed {
        step_ms: NonZeroI64::new(1_000).unwrap(),
    };
    let spec = AggSpec::DateHistogram(DateHistogramSpec::of("at", interval));
    let error = try_run(&shards, &[named("d", spec, Vec::new())]).unwrap_err();
    assert_eq!(error.kind(), AggErrorKind::TooManyBuckets);
    let text = error.to_string();
    assert!(text.contains("[65535] but was [65536]"), "{text}");
    let spec = AggSpec::Histogram(HistogramSpec {
        extended_bounds: Some(Bounds {
            min: Some(Scalar::Float(0.0)),
            max: Some(Scalar::Float(1e18)),
        }),
        ..HistogramSpec::of("price", 0.001)
    });
    let error = refusal(spec);
    assert_eq!(error.kind(), AggErrorKind::TooManyBuckets);
}

#[test]
fn the_bucket_limit_counts_nested_buckets_too() {
    let docs: Vec<Doc> = (0..40)
        .map(|code| Doc {
            codes: vec![code],
            prices: vec![0.0, 1.0],
            ..Doc::default()
        })
        .collect();
    let inner = named(
        "i",
        AggSpec::Histogram(HistogramSpec::of("price", 1.0)),
        Vec::new(),
    );
    let spec = TermsSpec {
        size: 40,
        ..TermsSpec::of("code")
    };
    let request = [named("o", AggSpec::Terms(spec), vec![inner])];
    let limits = |buckets_max| AggLimits {
        buckets_max,
        ..AggLimits::default()
    };
    let shards = vec![vec![docs]];
    assert!(try_run_within(&shards, &request, limits(120)).is_ok());
    let error = try_run_within(&shards, &request, limits(119)).unwrap_err();
    assert_eq!(error.kind(), AggErrorKind::TooManyBuckets);
}

#[test]
fn memory_is_bounded_per_collector() {
    let docs: Vec<Doc> = (0..20_000)
        .map(|code| Doc {
            codes: vec![code * 1_000_003],
            ..Doc::default()
        })
        .collect();
    let request = [named(
        "t",
        AggSpec::Terms(TermsSpec::of("code")),
        Vec::new(),
    )];
    let limits = |memory_bytes_max| AggLimits {
        memory_bytes_max,
        ..AggLimits::default()
    };
    let shards = vec![vec![docs]];
    assert!(try_run_within(&shards, &request, limits(8 << 20)).is_ok());
    let error = try_run_within(&shards, &request, limits(100_000)).unwrap_err();
    assert_eq!(error.kind(), AggErrorKind::TooLarge);
}

#[test]
fn what_the_column_of_ids_takes_is_booked_before_it_is_made() {
    let docs = vec![Doc::default(); 20_000];
    let shards = vec![vec![docs]];
    let limits = AggLimits {
        memory_bytes_max: 200_000,
        ..AggLimits::default()
    };
    let count = |field: &str| {
        let spec = AggSpec::Cardinality(CardinalitySpec {
            source: Source::field(field),
            precision_threshold: 100,
        });
        try_run_within(&shards, &[named("x", spec, Vec::new())], limits)
    };
    assert!(count("code").is_ok());
    // Twelve bytes for each document.
    let error = count("_id").unwrap_err();
    assert_eq!(error.kind(), AggErrorKind::TooLarge);
    assert!(error.to_string().contains("240000"), "{error}");
}

#[test]
fn what_results_take_is_booked_while_they_are_made() {
    let mapping = mapping();
    let docs: Vec<Doc> = (0..3_000)
        .map(|code| Doc {
            codes: vec![code],
            ..Doc::default()
        })
        .collect();
    let spec = TermsSpec {
        size: 3_000,
        ..TermsSpec::of("code")
    };
    let inner = named("max", AggSpec::Max(Source::field("code")), Vec::new());
    let request = [named("t", AggSpec::Terms(spec), vec![inner])];
    let index = build_segment(&mapping, &docs);
    let searcher = index.reader().unwrap().searcher();
    let counted = || {
        let mut collector = AggCollector::new(&request, context(&mapping)).unwrap();
        collector.segment(0, searcher.segment_reader(0)).unwrap();
        collector.collect(&(0..3_000).collect::<Vec<_>>()).unwrap();
        collector.finish().unwrap()
    };
    let booked = Cell::new(0);
    let book = |bytes| {
        booked.set(booked.get() + bytes);
        Ok(())
    };
    counted().into_results(&book).unwrap();
    let results = 3_000 * (size_of::<Bucket>() + size_of::<NamedResult>());
    assert!(
        booked.get().abs_diff(results) < 100_000,
        "{} of {results}",
        booked.get()
    );

    let account = MemoryAccount::new(MemoryLimits {
        searches: results / 2,
        ..MemoryLimits::none()
    });
    let memory = RefCell::new(account.open(MemoryPurpose::Searches));
    let error = counted()
        .into_results(&|bytes| memory.borrow_mut().grow(bytes))
        .unwrap_err();
    assert_eq!(error.kind(), AggErrorKind::TooLarge);
}

#[test]
fn an_index_without_the_field_adds_nothing_to_one_with_it() {
    let with = mapping();
    let without = Mapping::new();
    let request = [named("t", AggSpec::Terms(TermsSpec::of("tag")), Vec::new())];
    let doc = Doc {
        tags: vec!["a"],
        ..Doc::default()
    };
    let index = build_segment(&with, [&doc]);
    let searcher = index.reader().unwrap().searcher();
    let mut collector = AggCollector::new(&request, context(&with)).unwrap();
    collector.segment(0, searcher.segment_reader(0)).unwrap();
    collector.collect(&[0]).unwrap();
    let mut all = AggCollector::new(&request, context(&without))
        .unwrap()
        .finish()
        .unwrap();
    all.merge(collector.finish().unwrap()).unwrap();
    let results = all.into_result().unwrap();
    let AggResult::Terms(terms) = &results[0].result else {
        panic!("not terms");
    };
    assert_eq!(terms.kind, TermsKind::Text);
    assert_eq!(terms.buckets.len(), 1);
}

/// A token of work that may take so much.
fn with_memory(bytes: usize) -> CancellationToken {
    let account = MemoryAccount::new(MemoryLimits {
        searches: bytes,
        ..MemoryLimits::none()
    });
    CancellationToken::new().part_with(account.open(MemoryPurpose::Searches))
}

#[test]
fn many_aggregations_are_booked_before_they_count_anything() {
    let many = |count: usize| -> Vec<NamedAgg> {
        let max = |number: usize| {
            let spec = AggSpec::Max(Source::field("code"));
            named(&format!("m{number}"), spec, Vec::new())
        };
        (0..count).map(max).collect()
    };
    let shards = vec![vec![vec![Doc::default()]]];
    let token = with_memory(32 << 10);
    let _entered = token.enter();
    // Those of a segment are gone when the next one comes.
    let segments = vec![vec![vec![Doc::default()]; 40]];
    assert!(try_run(&segments, &many(1)).is_ok());
    let error = try_run(&shards, &many(100)).unwrap_err();
    assert!(matches!(error, AggError::Memory(_)), "{error}");
}

#[test]
fn lists_of_the_buckets_of_each_parent_are_booked() {
    let mut table = KeyTable::default();
    for key in 0..1_000 {
        table.number(0, Key::I64(key));
    }
    let buckets = Buckets::of(table, vec![1; 1_000], Vec::new());
    assert_eq!(buckets.by_parent().unwrap().of_parent(0).len(), 1_000);
    let token = with_memory(4_000);
    let _entered = token.enter();
    assert!(buckets.by_parent().is_err());
}
