//! Which aggregations take which kinds of values.

use clew_query::AggError;
use clew_schema::RangeKind;

use crate::field::ValueKind;

/// Histograms are of ranges of some kinds only, which is said apart.
pub(super) fn check_ranges(
    kind: RangeKind,
    type_name: &str,
    aggregation: &str,
) -> Result<(), AggError> {
    match (aggregation, kind) {
        ("histogram", RangeKind::Ip) => Err(AggError::invalid(format!(
            "Expected numeric range type but found non-numeric range [{type_name}]"
        ))),
        ("date_histogram", kind) if kind != RangeKind::Date => Err(AggError::invalid(format!(
            "Expected date range type but found range type [{type_name}]"
        ))),
        _ => Ok(()),
    }
}

/// Whether the buckets of an aggregation are cells that shapes have, too.
pub(super) fn has_cells(aggregation: &str) -> bool {
    matches!(aggregation, "geohash_grid" | "geotile_grid")
}

pub(super) fn supports(aggregation: &str, kind: ValueKind) -> bool {
    match aggregation {
        _ if matches!(kind, ValueKind::Range(_)) => matches!(
            aggregation,
            "value_count" | "cardinality" | "missing" | "histogram" | "date_histogram"
        ),
        _ if kind == ValueKind::Shape => {
            matches!(aggregation, "value_count" | "cardinality" | "missing")
        }
        _ if kind == ValueKind::Corners => aggregation == "geo_bounds",
        _ if kind == ValueKind::Outlines => has_cells(aggregation),
        _ if kind == ValueKind::Bytes => matches!(aggregation, "value_count" | "missing"),
        "value_count" | "cardinality" | "missing" | "diversified_sampler" => true,
        "terms" | "rare_terms" | "significant_terms" => kind != ValueKind::Geo,
        "geo_distance" | "geo_bounds" | "geo_centroid" | "geohash_grid" | "geotile_grid"
        | "geohex_grid" => {
            matches!(kind, ValueKind::Geo | ValueKind::Unmapped)
        }
        "ip_range" => matches!(kind, ValueKind::Ip | ValueKind::Unmapped),
        "date_range" => matches!(
            kind,
            ValueKind::Date
                | ValueKind::DateNanos
                | ValueKind::Long
                | ValueKind::Unsigned
                | ValueKind::Double
                | ValueKind::Unmapped
        ),
        _ => !matches!(kind, ValueKind::Keyword | ValueKind::Ip | ValueKind::Geo),
    }
}
