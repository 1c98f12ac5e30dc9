//! The aggregations there are, with the kinds of values each reads, as node information lists them.

use serde_json::{Map, Value, json};

/// Aggregations that read no values of their own.
const OTHER: &[&str] = &[
    "adjacency_matrix",
    "composite",
    "filter",
    "filters",
    "global",
    "multi_terms",
    "sampler",
];
const NUMBERS: &[&str] = &[
    "avg",
    "extended_stats",
    "histogram",
    "matrix_stats",
    "max",
    "median_absolute_deviation",
    "min",
    "percentile_ranks",
    "percentiles",
    "stats",
    "sum",
    "variable_width_histogram",
    "weighted_avg",
];
const DATES: &[&str] = &[
    "auto_date_histogram",
    "date_histogram",
    "date_range",
    "range",
];
const ANY: &[&str] = &[
    "cardinality",
    "diversified_sampler",
    "missing",
    "rare_terms",
    "significant_terms",
    "significant_text",
    "terms",
    "value_count",
];
const PLACES: &[&str] = &[
    "geo_bounds",
    "geo_centroid",
    "geo_distance",
    "geohash_grid",
    "geotile_grid",
];

/// Names and kinds of values.
pub(crate) fn supported() -> Value {
    let groups: [(&[&str], &[&str]); 7] = [
        (OTHER, &["other"]),
        (NUMBERS, &["boolean", "date", "numeric"]),
        (DATES, &["boolean", "date", "numeric"]),
        (ANY, &["boolean", "bytes", "date", "ip", "numeric"]),
        (PLACES, &["geopoint"]),
        (&["ip_range"], &["ip"]),
        (&["children", "parent"], &["bytes"]),
    ];
    let mut all = Map::new();
    for (names, types) in groups {
        for name in names {
            all.insert((*name).to_string(), json!({"types": types}));
        }
    }
    Value::Object(all)
}
