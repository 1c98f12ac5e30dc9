//! What must hold in particular: the cases a random search would rarely hit.

use std::num::NonZeroI64;

use super::*;
use clew_query::aggregation::*;

fn doc(tags: &[&'static str]) -> Doc {
    Doc {
        tags: tags.to_vec(),
        ..Doc::default()
    }
}

fn repeated(tag: &'static str, count: usize) -> Vec<Doc> {
    vec![doc(&[tag]); count]
}

fn one_shard(docs: Vec<Doc>) -> Shards {
    vec![vec![docs]]
}

fn terms_of(shards: &Shards, spec: TermsSpec) -> TermsResult {
    let mut results = run(shards, &[named("t", AggSpec::Terms(spec), Vec::new())]);
    match results.remove(0).result {
        AggResult::Terms(terms) => terms,
        other => panic!("{other:?}"),
    }
}

fn counts(terms: &TermsResult) -> Vec<(String, u64)> {
    let text = |key: &Key| match key {
        Key::Str(text) => text.to_string(),
        other => format!("{other:?}"),
    };
    let pairs = terms.buckets.iter().map(|b| (text(&b.key), b.doc_count));
    pairs.collect()
}

fn pairs(list: &[(&str, u64)]) -> Vec<(String, u64)> {
    list.iter()
        .map(|(key, n)| ((*key).to_string(), *n))
        .collect()
}

fn dates_of(shards: &Shards, spec: DateHistogramSpec) -> Vec<(String, u64)> {
    let mut results = run(
        shards,
        &[named("d", AggSpec::DateHistogram(spec), Vec::new())],
    );
    let AggResult::DateHistogram(histogram) = results.remove(0).result else {
        panic!("not a date histogram");
    };
    let text = |key: &Key| match key {
        Key::Date(ms) => histogram.format.text_of_integer(*ms).unwrap(),
        other => panic!("{other:?}"),
    };
    let pairs = histogram.buckets.iter();
    pairs.map(|b| (text(&b.key), b.doc_count)).collect()
}

fn at(times: &[&str]) -> Shards {
    let docs = times.iter().map(|time| Doc {
        times: vec![ms(time)],
        ..Doc::default()
    });
    one_shard(docs.collect())
}

const DAY: DateInterval = DateInterval::Calendar(CalendarUnit::Day);
const MONTH: DateInterval = DateInterval::Calendar(CalendarUnit::Month);

#[test]
fn equal_counts_are_ordered_by_key() {
    let docs = ["c", "a", "b", "b", "c", "a", "z"].map(|tag| doc(&[tag]));
    let terms = terms_of(&one_shard(docs.to_vec()), TermsSpec::of("tag"));
    assert_eq!(
        counts(&terms),
        pairs(&[("a", 2), ("b", 2), ("c", 2), ("z", 1)])
    );
}

#[test]
fn a_documents_equal_values_count_once() {
    let shards = one_shard(vec![doc(&["a", "b", "a"]), doc(&["b", "b"])]);
    let terms = terms_of(&shards, TermsSpec::of("tag"));
    assert_eq!(counts(&terms), pairs(&[("b", 2), ("a", 1)]));
}

#[test]
fn the_error_bound_is_the_sum_of_what_shards_may_have_left_out() {
    // Each shard reports two terms; `b` is third in both and gets lost.
    let shard = |first: &'static str, second| {
        let mut docs = repeated(first, 5);
        docs.extend(repeated(second, 4));
        docs.extend(repeated("b", 3));
        vec![docs]
    };
    let shards = vec![shard("a", "c"), shard("a", "d")];
    let spec = TermsSpec {
        size: 2,
        shard_size: Some(2),
        show_error: true,
        ..TermsSpec::of("tag")
    };
    let terms = terms_of(&shards, spec);
    assert_eq!(counts(&terms), pairs(&[("a", 10), ("c", 4)]));
    // 4 + 4 at most; `d` is not shown, and `b` was never reported: 4 + 3 + 3.
    assert_eq!(terms.doc_count_error_upper_bound, Some(8));
    assert_eq!(terms.sum_other_doc_count, 10);
    let errors: Vec<_> = terms.buckets.iter().map(|b| b.doc_count_error).collect();
    assert_eq!(errors, [Some(0), Some(4)]);
}

#[test]
fn one_shard_alone_makes_no_error() {
    let mut docs = repeated("a", 3);
    docs.extend(repeated("b", 2));
    docs.extend(repeated("c", 1));
    let spec = TermsSpec {
        size: 1,
        shard_size: Some(1),
        ..TermsSpec::of("tag")
    };
    let terms = terms_of(&one_shard(docs), spec);
    assert_eq!(terms.doc_count_error_upper_bound, Some(0));
    assert_eq!(terms.sum_other_doc_count, 3);
}

#[test]
fn nothing_can_be_said_about_the_error_of_the_rarest_terms() {
    let mut docs = repeated("a", 3);
    docs.extend(repeated("b", 2));
    let spec = TermsSpec {
        size: 1,
        shard_size: Some(1),
        order: vec![OrderBy {
            key: OrderKey::Count,
            direction: Direction::Ascending,
        }],
        ..TermsSpec::of("tag")
    };
    let terms = terms_of(&one_shard(docs), spec);
    assert_eq!(counts(&terms), pairs(&[("b", 2)]));
    assert_eq!(terms.doc_count_error_upper_bound, None);
}

#[test]
fn min_doc_count_zero_lists_terms_that_no_document_matched() {
    let mut docs = vec![doc(&["a"]), doc(&["b"]), doc(&["c"])];
    docs[1].hidden = true;
    let shards = vec![vec![
        docs,
        vec![Doc {
            hidden: true,
            ..doc(&["d"])
        }],
    ]];
    let spec = TermsSpec {
        min_doc_count: 0,
        ..TermsSpec::of("tag")
    };
    let terms = terms_of(&shards, spec);
    assert_eq!(
        counts(&terms),
        pairs(&[("a", 1), ("c", 1), ("b", 0), ("d", 0)])
    );
}

#[test]
fn include_and_exclude_choose_terms() {
    let shards = one_shard(
        ["apple", "avocado", "banana", "apple"]
            .map(|t| doc(&[t]))
            .to_vec(),
    );
    let with = |include: Option<IncludeExclude>, exclude| {
        let spec = TermsSpec {
            filter: TermFilter { include, exclude },
            ..TermsSpec::of("tag")
        };
        counts(&terms_of(&shards, spec))
    };
    let pattern = |text: &str| Some(IncludeExclude::Pattern(text.to_string()));
    let values = |list: &[&str]| {
        let list = list.iter().map(|text| Scalar::Text((*text).to_string()));
        Some(IncludeExclude::Values(list.collect()))
    };
    assert_eq!(
        with(pattern("a.*"), None),
        pairs(&[("apple", 2), ("avocado", 1)])
    );
    // The whole term has to match.
    assert_eq!(with(pattern("a"), None), pairs(&[]));
    assert_eq!(
        with(pattern("a.*"), values(&["apple"])),
        pairs(&[("avocado", 1)])
    );
    assert_eq!(
        with(values(&["banana", "none"]), None),
        pairs(&[("banana", 1)])
    );
    assert_eq!(
        with(None, pattern(".*a")),
        pairs(&[("apple", 2), ("avocado", 1)])
    );
}

#[test]
fn missing_stands_in_for_documents_without_a_value() {
    for stand_in in ["a", "none"] {
        // The second segment has no column at all.
        let shards = vec![vec![vec![doc(&["a"]), doc(&[])], vec![doc(&[]), doc(&[])]]];
        let mut spec = TermsSpec::of("tag");
        spec.source.missing = Some(Scalar::Text(stand_in.to_string()));
        let expected = match stand_in {
            "a" => pairs(&[("a", 4)]),
            _ => pairs(&[("none", 3), ("a", 1)]),
        };
        assert_eq!(counts(&terms_of(&shards, spec)), expected);
    }
}

#[test]
fn addresses_are_terms() {
    let mut docs = Vec::new();
    for text in ["::ffff:10.0.0.2", "2001:db8::1", "::ffff:10.0.0.2"] {
        docs.push(Doc {
            addresses: vec![text.parse().unwrap()],
            ..Doc::default()
        });
    }
    docs.push(Doc::default());
    let mut spec = TermsSpec::of("ip");
    spec.source.missing = Some(Scalar::Text("10.0.0.9".to_string()));
    let terms = terms_of(&one_shard(docs), spec);
    let keys: Vec<(Key, u64)> = terms
        .buckets
        .iter()
        .map(|b| (b.key.clone(), b.doc_count))
        .collect();
    let ip = |text: &str| Key::Ip(text.parse().unwrap());
    let expected = [
        (ip("::ffff:10.0.0.2"), 2),
        (ip("::ffff:10.0.0.9"), 1),
        (ip("2001:db8::1"), 1),
    ];
    assert_eq!(keys, expected);
}

#[test]
fn days_and_months_are_those_of_the_zone() {
    let shards = at(&[
        "2026-03-28T22:30:00Z",
        "2026-03-28T23:30:00Z",
        "2026-03-29T21:30:00Z",
        "2026-03-31T22:00:00Z",
    ]);
    let spec = |interval| DateHistogramSpec {
        time_zone: Some("Europe/Berlin".to_string()),
        ..DateHistogramSpec::of("at", interval)
    };
    assert_eq!(
        dates_of(&shards, spec(DAY)),
        pairs(&[
            ("2026-03-28T00:00:00.000+01:00", 1),
            ("2026-03-29T00:00:00.000+01:00", 2),
            ("2026-03-30T00:00:00.000+02:00", 0),
            ("2026-03-31T00:00:00.000+02:00", 0),
            ("2026-04-01T00:00:00.000+02:00", 1),
        ])
    );
    assert_eq!(
        dates_of(&shards, spec(MONTH)),
        pairs(&[
            ("2026-03-01T00:00:00.000+01:00", 3),
            ("2026-04-01T00:00:00.000+02:00", 1),
        ])
    );
}

#[test]
fn extended_bounds_show_buckets_beyond_the_data() {
    let bounds = |min: &str, max: &str| {
        Some(Bounds {
            min: Some(Scalar::Text(min.to_string())),
            max: Some(Scalar::Text(max.to_string())),
        })
    };
    let spec = |field: &str| DateHistogramSpec {
        extended_bounds: bounds("2026-01-01", "2026-01-03"),
        ..DateHistogramSpec::of(field, DAY)
    };
    let shards = at(&["2026-01-02T05:00:00Z"]);
    let days = |counts: [u64; 3]| {
        let keys = ["01", "02", "03"].map(|day| format!("2026-01-{day}T00:00:00.000Z"));
        keys.into_iter().zip(counts).collect::<Vec<_>>()
    };
    assert_eq!(dates_of(&shards, spec("at")), days([0, 1, 0]));
    // They only ever extend.
    let narrow = DateHistogramSpec {
        extended_bounds: bounds("2026-01-02", "2026-01-02"),
        ..spec("at")
    };
    let wide = at(&["2026-01-01T01:00:00Z", "2026-01-03T01:00:00Z"]);
    assert_eq!(dates_of(&wide, narrow), days([1, 0, 1]));
    // Without any data, or any such field, the bounds alone are shown.
    assert_eq!(
        dates_of(&one_shard(vec![doc(&["a"])]), spec("at")),
        days([0, 0, 0])
    );
    assert_eq!(dates_of(&shards, spec("nowhere")), days([0, 0, 0]));
    // With an offset the ends are rounded first and moved then.
    let moved = DateHistogramSpec {
        offset_ms: 6 * 3_600_000,
        extended_bounds: bounds("2026-01-02T03:00:00Z", "2026-01-02T03:00:00Z"),
        ..DateHistogramSpec::of("nowhere", DAY)
    };
    assert_eq!(
        dates_of(&shards, moved),
        pairs(&[("2026-01-02T06:00:00.000Z", 0)])
    );
}

#[test]
fn hard_bounds_cut_buckets_off() {
    let shards = at(&[
        "2026-01-01T05:00:00Z",
        "2026-01-02T05:00:00Z",
        "2026-01-03T05:00:00Z",
    ]);
    let spec = DateHistogramSpec {
        hard_bounds: Some(Bounds {
            min: Some(Scalar::Text("2026-01-02".to_string())),
            max: Some(Scalar::Text("2026-01-03".to_string())),
        }),
        ..DateHistogramSpec::of("at", DAY)
    };
    assert_eq!(
        dates_of(&shards, spec),
        pairs(&[("2026-01-02T00:00:00.000Z", 1)])
    );
}

#[test]
fn histograms_can_be_ordered_by_count() {
    let shards = at(&[
        "2026-01-01T05:00:00Z",
        "2026-01-03T05:00:00Z",
        "2026-01-03T06:00:00Z",
    ]);
    let spec = DateHistogramSpec {
        order: vec![OrderBy {
            key: OrderKey::Count,
            direction: Direction::Descending,
        }],
        ..DateHistogramSpec::of("at", DAY)
    };
    assert_eq!(
        dates_of(&shards, spec),
        pairs(&[
            ("2026-01-03T00:00:00.000Z", 2),
            ("2026-01-01T00:00:00.000Z", 1),
            ("2026-01-02T00:00:00.000Z", 0),
        ])
    );
}

#[test]
fn empty_days_have_empty_metrics() {
    let shards = at(&["2026-01-01T05:00:00Z", "2026-01-03T05:00:00Z"]);
    let spec = AggSpec::DateHistogram(DateHistogramSpec::of("at", DAY));
    let subs = vec![
        named("avg", AggSpec::Avg(Source::field("price")), Vec::new()),
        named("tags", AggSpec::Terms(TermsSpec::of("tag")), Vec::new()),
    ];
    let results = run(&shards, &[named("d", spec, subs)]);
    let AggResult::DateHistogram(histogram) = &results[0].result else {
        panic!("not a date histogram");
    };
    let empty = &histogram.buckets[1];
    assert_eq!(empty.doc_count, 0);
    let AggResult::Avg(avg) = &empty.subs[0].result else {
        panic!("not an average");
    };
    assert_eq!(avg.value, None);
    let AggResult::Terms(tags) = &empty.subs[1].result else {
        panic!("not terms");
    };
    assert!(tags.buckets.is_empty() && tags.doc_count_error_upper_bound == Some(0));
}

#[test]
fn ranges_overlap_and_count_a_document_once_each() {
    let docs = [vec![1.0, 2.0], vec![5.0], vec![10.0], vec![]].map(|prices| Doc {
        prices,
        ..Doc::default()
    });
    let range = |from: Option<f64>, to: Option<f64>| RangeItem {
        key: None,
        from: from.map(Scalar::Float),
        to: to.map(Scalar::Float),
        mask: None,
    };
    let spec = AggSpec::Range(RangeSpec {
        source: Source::field("price"),
        ranges: vec![
            range(Some(5.0), None),
            range(None, Some(5.0)),
            range(Some(1.0), Some(10.0)),
        ],
        keyed: false,
        kind: EndKind::Numbers,
        time_zone: None,
        origin: None,
    });
    let end = |end: &Option<RangeEnd>| match end {
        Some(RangeEnd::Number(number)) => Some(*number),
        _ => None,
    };
    let results = run(&one_shard(docs.to_vec()), &[named("r", spec, Vec::new())]);
    let AggResult::Range { buckets, .. } = &results[0].result else {
        panic!("not ranges");
    };
    let shown: Vec<_> = buckets
        .iter()
        .map(|b| (end(&b.from), end(&b.to), b.doc_count))
        .collect();
    let expected = [
        (None, Some(5.0), 1),
        (Some(1.0), Some(10.0), 2),
        (Some(5.0), None, 2),
    ];
    assert_eq!(shown, expected);
}

#[test]
fn variance_follows_from_the_squares() {
    let docs = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0].map(|price| Doc {
        prices: vec![price],
        ..Doc::default()
    });
    let shards = vec![
        vec![docs[..3].to_vec(), docs[3..5].to_vec()],
        vec![docs[5..].to_vec()],
    ];
    let spec = AggSpec::ExtendedStats(ExtendedStatsSpec {
        source: Source::field("price"),
        sigma: 2.0,
    });
    let results = run(&shards, &[named("s", spec, Vec::new())]);
    let AggResult::ExtendedStats(stats) = &results[0].result else {
        panic!("not stats");
    };
    assert_eq!((stats.stats.count, stats.stats.avg), (8, Some(5.0)));
    assert_eq!(stats.sum_of_squares, Some(232.0));
    assert_eq!(stats.variance, Some(4.0));
    assert_eq!(stats.variance_sampling, Some(32.0 / 7.0));
}

#[test]
fn sums_do_not_depend_on_how_documents_are_spread() {
    let price = |price: f64| Doc {
        prices: vec![price],
        ..Doc::default()
    };
    let sum = |shards: &Shards| {
        let spec = AggSpec::Sum(Source::field("price"));
        let results = run(shards, &[named("s", spec, Vec::new())]);
        match &results[0].result {
            AggResult::Sum(metric) => metric.value.unwrap(),
            other => panic!("{other:?}"),
        }
    };
    let docs: Vec<Doc> = (0..1_000).map(|_| price(0.1)).collect();
    let together = sum(&one_shard(docs.clone()));
    let apart = sum(&docs.chunks(100).map(|docs| vec![docs.to_vec()]).collect());
    assert_eq!(together.to_bits(), apart.to_bits());
    assert_eq!(together, 100.0);
}

#[test]
fn many_distinct_values_are_estimated_within_two_percent() {
    let docs = (0..30_000).map(|code| Doc {
        codes: vec![code],
        ..Doc::default()
    });
    let docs: Vec<Doc> = docs.collect();
    let shards = vec![vec![docs[..20_000].to_vec()], vec![docs[10_000..].to_vec()]];
    let spec = AggSpec::Cardinality(CardinalitySpec {
        source: Source::field("code"),
        precision_threshold: 3_000,
    });
    let results = run(&shards, &[named("c", spec, Vec::new())]);
    let AggResult::Cardinality(count) = results[0].result else {
        panic!("not a cardinality");
    };
    assert!(count.abs_diff(30_000) < 600, "estimated {count}");
}

#[test]
fn fixed_intervals_without_a_zone_start_at_the_epoch() {
    let interval = DateInterval::Fixed {
        step_ms: NonZeroI64::new(30_000).unwrap(),
    };
    let shards = at(&["2026-01-01T00:00:29.999Z", "2026-01-01T00:00:30Z"]);
    assert_eq!(
        dates_of(&shards, DateHistogramSpec::of("at", interval)),
        pairs(&[
            ("2026-01-01T00:00:00.000Z", 1),
            ("2026-01-01T00:00:30.000Z", 1)
        ])
    );
}
