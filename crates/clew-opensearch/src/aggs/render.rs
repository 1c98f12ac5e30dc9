//! From typed results to the `aggregations` object of a reply.

use clew_text::{
    AggResult, Bucket, ExtendedStats, HistogramResult, Key, Metric, NamedResult, RangeBucket,
    Stats, TermsKind, TermsResult, ValueFormat,
};
use serde_json::{Map, Value, json};

/// Writes results as OpenSearch does; with `typed_keys` each name says its type.
pub fn render_aggs(results: &[NamedResult], typed_keys: bool) -> Value {
    let mut object = Map::new();
    add_all(&mut object, results, typed_keys);
    Value::Object(object)
}

fn add_all(object: &mut Map<String, Value>, results: &[NamedResult], typed_keys: bool) {
    for named in results {
        let name = if typed_keys {
            format!("{}#{}", type_name(&named.result), named.name)
        } else {
            named.name.clone()
        };
        let mut body = Map::new();
        if let Some(meta) = &named.meta {
            body.insert("meta".to_string(), meta.clone());
        }
        render(&mut body, &named.result, typed_keys);
        object.insert(name, Value::Object(body));
    }
}

/// The type of a result in a name, which clients choose their parser by.
fn type_name(result: &AggResult) -> &'static str {
    match result {
        AggResult::Terms(terms) => match terms.kind {
            TermsKind::Text => "sterms",
            TermsKind::Integer => "lterms",
            TermsKind::Float => "dterms",
            TermsKind::Unmapped => "umterms",
        },
        AggResult::DateHistogram(_) => "date_histogram",
        AggResult::Histogram(_) => "histogram",
        AggResult::Range { dates: true, .. } => "date_range",
        AggResult::Range { .. } => "range",
        AggResult::Missing { .. } => "missing",
        AggResult::Joined {
            is_nested: true, ..
        } => "nested",
        AggResult::Joined { .. } => "reverse_nested",
        AggResult::TopHits(_) => "top_hits",
        AggResult::Min(_) => "min",
        AggResult::Max(_) => "max",
        AggResult::Avg(_) => "avg",
        AggResult::Sum(_) => "sum",
        AggResult::ValueCount(_) => "value_count",
        AggResult::Cardinality(_) => "cardinality",
        AggResult::Stats(_) => "stats",
        AggResult::ExtendedStats(_) => "extended_stats",
        _ => "unknown",
    }
}

fn render(body: &mut Map<String, Value>, result: &AggResult, typed_keys: bool) {
    match result {
        AggResult::Terms(terms) => terms_body(body, terms, typed_keys),
        AggResult::DateHistogram(histogram) | AggResult::Histogram(histogram) => {
            histogram_body(body, histogram, typed_keys);
        }
        AggResult::Range {
            buckets,
            keyed,
            format,
            ..
        } => range_body(body, buckets, *keyed, format, typed_keys),
        AggResult::TopHits(hits) => {
            body.insert("hits".to_string(), crate::search::render_top_hits(hits));
        }
        AggResult::Missing { doc_count, subs }
        | AggResult::Joined {
            doc_count, subs, ..
        } => {
            body.insert("doc_count".to_string(), json!(doc_count));
            add_all(body, subs, typed_keys);
        }
        AggResult::Min(metric)
        | AggResult::Max(metric)
        | AggResult::Avg(metric)
        | AggResult::Sum(metric) => metric_body(body, metric),
        AggResult::ValueCount(count) | AggResult::Cardinality(count) => {
            body.insert("value".to_string(), json!(count));
        }
        AggResult::Stats(stats) => {
            stats_body(body, stats);
            stats_text(body, stats);
        }
        AggResult::ExtendedStats(stats) => extended_body(body, stats),
        _ => {}
    }
}

fn terms_body(body: &mut Map<String, Value>, terms: &TermsResult, typed_keys: bool) {
    let error = |error: Option<u64>| error.map_or(json!(-1), |error| json!(error));
    body.insert(
        "doc_count_error_upper_bound".to_string(),
        error(terms.doc_count_error_upper_bound),
    );
    body.insert(
        "sum_other_doc_count".to_string(),
        json!(terms.sum_other_doc_count),
    );
    let buckets = terms.buckets.iter().map(|bucket| {
        let mut object = Map::new();
        object.insert("key".to_string(), key_value(&bucket.key));
        if let Some(text) = key_text(&bucket.key, &terms.format) {
            object.insert("key_as_string".to_string(), json!(text));
        }
        object.insert("doc_count".to_string(), json!(bucket.doc_count));
        if terms.show_error {
            object.insert(
                "doc_count_error_upper_bound".to_string(),
                error(bucket.doc_count_error),
            );
        }
        add_all(&mut object, &bucket.subs, typed_keys);
        Value::Object(object)
    });
    body.insert("buckets".to_string(), buckets.collect());
}

fn histogram_body(body: &mut Map<String, Value>, histogram: &HistogramResult, typed_keys: bool) {
    let one = |bucket: &Bucket| {
        let text = key_text(&bucket.key, &histogram.format);
        let mut object = Map::new();
        if let Some(text) = &text {
            object.insert("key_as_string".to_string(), json!(text));
        }
        object.insert("key".to_string(), key_value(&bucket.key));
        object.insert("doc_count".to_string(), json!(bucket.doc_count));
        add_all(&mut object, &bucket.subs, typed_keys);
        let name = text.unwrap_or_else(|| plain_text(&bucket.key));
        (name, Value::Object(object))
    };
    let buckets = histogram.buckets.iter().map(one);
    let buckets = if histogram.keyed {
        Value::Object(buckets.collect())
    } else {
        buckets.map(|(_, bucket)| bucket).collect()
    };
    body.insert("buckets".to_string(), buckets);
}

fn range_body(
    body: &mut Map<String, Value>,
    ranges: &[RangeBucket],
    keyed: bool,
    format: &ValueFormat,
    typed_keys: bool,
) {
    let end_text = |end: Option<f64>| match end {
        None => "*".to_string(),
        Some(end) => format
            .text_of_number(end)
            .unwrap_or_else(|| plain_number(end)),
    };
    let one = |range: &RangeBucket| {
        let name = range
            .key
            .clone()
            .unwrap_or_else(|| format!("{}-{}", end_text(range.from), end_text(range.to)));
        let mut object = Map::new();
        if !keyed {
            object.insert("key".to_string(), json!(name));
        }
        for (end, value) in [("from", range.from), ("to", range.to)] {
            let Some(value) = value else {
                continue;
            };
            object.insert(end.to_string(), json!(value));
            if let Some(text) = format.text_of_number(value) {
                object.insert(format!("{end}_as_string"), json!(text));
            }
        }
        object.insert("doc_count".to_string(), json!(range.doc_count));
        add_all(&mut object, &range.subs, typed_keys);
        (name, Value::Object(object))
    };
    let buckets = ranges.iter().map(one);
    let buckets = if keyed {
        Value::Object(buckets.collect())
    } else {
        buckets.map(|(_, bucket)| bucket).collect()
    };
    body.insert("buckets".to_string(), buckets);
}

fn metric_body(body: &mut Map<String, Value>, metric: &Metric) {
    body.insert("value".to_string(), json!(metric.value));
    let text = metric
        .value
        .and_then(|value| metric.format.text_of_number(value));
    if let Some(text) = text {
        body.insert("value_as_string".to_string(), json!(text));
    }
}

fn stats_body(body: &mut Map<String, Value>, stats: &Stats) {
    body.insert("count".to_string(), json!(stats.count));
    body.insert("min".to_string(), json!(stats.min));
    body.insert("max".to_string(), json!(stats.max));
    body.insert("avg".to_string(), json!(stats.avg));
    body.insert("sum".to_string(), json!(stats.sum));
}

fn stats_text(body: &mut Map<String, Value>, stats: &Stats) {
    if stats.count == 0 {
        return;
    }
    let all = [
        ("min_as_string", stats.min),
        ("max_as_string", stats.max),
        ("avg_as_string", stats.avg),
        ("sum_as_string", Some(stats.sum)),
    ];
    for (name, value) in all {
        let text = value.and_then(|value| stats.format.text_of_number(value));
        if let Some(text) = text {
            body.insert(name.to_string(), json!(text));
        }
    }
}

fn extended_body(body: &mut Map<String, Value>, extended: &ExtendedStats) {
    let stats = &extended.stats;
    stats_body(body, stats);
    let root = |variance: Option<f64>| variance.map(f64::sqrt);
    let numbers = [
        ("sum_of_squares", extended.sum_of_squares),
        ("variance", extended.variance),
        ("variance_population", extended.variance),
        ("variance_sampling", extended.variance_sampling),
        ("std_deviation", root(extended.variance)),
        ("std_deviation_population", root(extended.variance)),
        ("std_deviation_sampling", root(extended.variance_sampling)),
    ];
    for (name, value) in numbers {
        body.insert(name.to_string(), number_or_name(value));
    }
    let bound = |variance: Option<f64>, sign: f64| {
        let distance = root(variance).map(|deviation| deviation * extended.sigma * sign);
        number_or_name(
            stats
                .avg
                .zip(distance)
                .map(|(avg, distance)| avg + distance),
        )
    };
    body.insert(
        "std_deviation_bounds".to_string(),
        json!({
            "upper": bound(extended.variance, 1.0),
            "lower": bound(extended.variance, -1.0),
            "upper_population": bound(extended.variance, 1.0),
            "lower_population": bound(extended.variance, -1.0),
            "upper_sampling": bound(extended.variance_sampling, 1.0),
            "lower_sampling": bound(extended.variance_sampling, -1.0),
        }),
    );
    stats_text(body, stats);
}

/// JSON has no word for what is not a number; OpenSearch quotes it.
fn number_or_name(value: Option<f64>) -> Value {
    match value {
        Some(value) if value.is_nan() => json!("NaN"),
        value => json!(value),
    }
}

fn key_value(key: &Key) -> Value {
    match key {
        Key::I64(value) | Key::Date(value) => json!(value),
        Key::F64(value) => json!(value),
        Key::Str(text) => json!(text),
        Key::Bool(value) => json!(i64::from(*value)),
        Key::Ip(_) => json!(plain_text(key)),
    }
}

fn key_text(key: &Key, format: &ValueFormat) -> Option<String> {
    match key {
        Key::I64(value) | Key::Date(value) => format.text_of_integer(*value),
        Key::Bool(value) => format.text_of_integer(i64::from(*value)),
        Key::F64(value) => format.text_of_number(*value),
        Key::Str(_) | Key::Ip(_) => None,
    }
}

fn plain_text(key: &Key) -> String {
    match key {
        Key::I64(value) | Key::Date(value) => value.to_string(),
        Key::F64(value) => plain_number(*value),
        Key::Str(text) => text.to_string(),
        Key::Bool(value) => value.to_string(),
        Key::Ip(address) => address
            .to_ipv4_mapped()
            .map_or_else(|| address.to_string(), |short| short.to_string()),
    }
}

/// A number that always shows its decimal point, as in JSON.
fn plain_number(value: f64) -> String {
    json!(value).to_string()
}
