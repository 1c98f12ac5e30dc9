//! Which aggregations take which kinds of values.

use clew_query::AggError;
use clew_query::aggregation::Source;
use clew_schema::RangeKind;

use crate::field::ValueKind;
use crate::field::values::{hinted_kind, unsupported};

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

/// Refuses a format of values that have but one way to be shown.
pub(super) fn check_format(
    source: &Source,
    type_name: &str,
    kind: ValueKind,
) -> Result<(), AggError> {
    let has_formats = matches!(
        kind,
        ValueKind::Long
            | ValueKind::Double
            | ValueKind::Unsigned
            | ValueKind::Date
            | ValueKind::DateNanos
            | ValueKind::Range(RangeKind::Date)
    );
    if has_formats || source.format.is_none() {
        return Ok(());
    }
    Err(AggError::invalid(format!(
        "Field [{}] of type [{type_name}] does not support custom formats",
        source.field
    )))
}

/// Refuses values that a request takes for such as the field has none of, or the aggregation has no use for.
pub(super) fn check_hint(
    source: &Source,
    (type_name, kind): (&'static str, ValueKind),
    aggregation: &'static str,
) -> Result<(), AggError> {
    let Some(hinted) = source.value_type.as_deref().and_then(hinted_kind) else {
        return Ok(());
    };
    let is_number = |kind: ValueKind| {
        matches!(
            kind,
            ValueKind::Long
                | ValueKind::Double
                | ValueKind::Unsigned
                | ValueKind::Boolean
                | ValueKind::Date
                | ValueKind::DateNanos
        )
    };
    match (is_number(hinted), is_number(kind)) {
        (true, false) => Err(AggError::invalid(format!(
            "Expected numeric type on field [{}], but got [{type_name}]",
            source.field
        ))),
        _ if !supports(aggregation, hinted) => Err(unsupported(source, type_name, aggregation)),
        _ => Ok(()),
    }
}

/// What an aggregation takes the values of a field for that no mapping says anything about; what stands in for them says it
/// elsewhere.
pub(super) fn usual_kind(aggregation: &str) -> Option<ValueKind> {
    Some(match aggregation {
        "min"
        | "max"
        | "avg"
        | "sum"
        | "stats"
        | "extended_stats"
        | "percentiles"
        | "percentile_ranks"
        | "median_absolute_deviation"
        | "weighted_avg"
        | "histogram"
        | "variable_width_histogram"
        | "range" => ValueKind::Long,
        "geo_distance" | "geo_bounds" | "geo_centroid" | "geohash_grid" | "geotile_grid"
        | "geohex_grid" => ValueKind::Geo,
        "ip_range" => ValueKind::Ip,
        _ => return None,
    })
}

/// The refusal of a pattern for what are no texts.
pub(super) fn no_pattern(name: &str, kind: ValueKind) -> AggError {
    let instead = match kind {
        ValueKind::Ip => "values for include/exclude clauses",
        _ => "numeric values for include/exclude clauses used to filter numeric fields",
    };
    AggError::aggregation(format!(
        "Aggregation [{name}] cannot support regular expression style include/exclude settings as \
         they can only be applied to string fields. Use an array of {instead}"
    ))
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
        "value_count" | "cardinality" | "missing" => true,
        "diversified_sampler" => !matches!(kind, ValueKind::Ip | ValueKind::Geo),
        "variable_width_histogram" | "median_absolute_deviation" => matches!(
            kind,
            ValueKind::Long | ValueKind::Unsigned | ValueKind::Double | ValueKind::Unmapped
        ),
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
