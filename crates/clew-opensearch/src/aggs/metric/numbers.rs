//! Metrics that tell one number: `min`, `max`, `avg`, `sum`, `value_count`, `cardinality`, `weighted_avg` and
//! `median_absolute_deviation`.

use clew_query::aggregation::{
    AggSpec, CardinalitySpec, MedianDeviationSpec, Source, WeightedAvgSpec,
};

use crate::aggs::AggDslError;
use crate::aggs::body::Body;
use crate::aggs::metric::percentiles::COMPRESSION_MAX;
use crate::aggs::settings::small;
use crate::aggs::table::{ALL_VALUES, NUMBERS, PLAIN_NUMBERS, Row};

/// Up to this many distinct values are counted exactly, unless the request says otherwise.
const PRECISION_THRESHOLD: u64 = 3_000;
/// The highest threshold a request can ask for.
const PRECISION_THRESHOLD_MAX: u64 = 40_000;
/// Compression of the median's deviation, which is computed from a digest of a digest.
const MEDIAN_COMPRESSION: f64 = 1_000.0;

/// By name: the values it reads, and its reader.
pub(crate) const ROWS: &[Row] = &[
    Row::new("min", NUMBERS, |body| body.source().map(AggSpec::Min)),
    Row::new("max", NUMBERS, |body| body.source().map(AggSpec::Max)),
    Row::new("avg", NUMBERS, |body| body.source().map(AggSpec::Avg)),
    Row::new("sum", NUMBERS, |body| body.source().map(AggSpec::Sum)),
    Row::new("value_count", ALL_VALUES, |body| {
        body.source().map(AggSpec::ValueCount)
    }),
    Row::new("cardinality", ALL_VALUES, cardinality),
    Row::new("weighted_avg", PLAIN_NUMBERS, weighted_avg),
    Row::new("median_absolute_deviation", PLAIN_NUMBERS, median_deviation),
];

fn cardinality(body: &mut Body<'_>) -> Result<AggSpec, AggDslError> {
    body.take("execution_hint");
    let asked = body.count_called("precision_threshold", "precisionThreshold")?;
    let threshold = asked.unwrap_or(PRECISION_THRESHOLD);
    Ok(AggSpec::Cardinality(CardinalitySpec {
        source: body.source()?,
        precision_threshold: small(threshold.min(PRECISION_THRESHOLD_MAX)),
    }))
}

fn median_deviation(body: &mut Body<'_>) -> Result<AggSpec, AggDslError> {
    let compression = body.number("compression")?.unwrap_or(MEDIAN_COMPRESSION);
    if compression <= 0.0 {
        let reason = format!(
            "[compression] must be greater than 0. Found [{compression:?}] in [{}]",
            body.name
        );
        return Err(body.in_field("compression", AggDslError::illegal(reason)));
    }
    Ok(AggSpec::MedianDeviation(MedianDeviationSpec {
        source: body.source()?,
        compression: compression.min(COMPRESSION_MAX),
    }))
}

fn weighted_avg(body: &mut Body<'_>) -> Result<AggSpec, AggDslError> {
    let format = body.only_text("format")?;
    body.take("value_type");
    let value = part(body, "value")?;
    Ok(AggSpec::WeightedAvg(WeightedAvgSpec {
        value,
        weight: part(body, "weight")?,
        format,
    }))
}

fn part(body: &mut Body<'_>, key: &'static str) -> Result<Source, AggDslError> {
    let Some(value) = body.take(key) else {
        let reason = format!("Could not find field name [{key}] in multiValuesSource");
        body.late(AggDslError::illegal(reason).of_shards());
        return Ok(Source::field(""));
    };
    body.part((key, "field_config"), value, field_config)
}

/// Values that are numbers: those of a field, or what a script makes of documents.
fn field_config(part: &mut Body<'_>) -> Result<Source, AggDslError> {
    let script = part.value_script()?;
    let field = part.only_text("field")?;
    let wrong = match (&field, &script) {
        (Some(_), Some(_)) => Some("configured"),
        (None, None) => Some("null"),
        _ => None,
    };
    if let Some(wrong) = wrong {
        part.late(AggDslError::illegal(format!(
            "[field] and [script] cannot both be {wrong}.  Please specify one or the other."
        )));
    }
    Ok(Source {
        script,
        missing: part.scalar("missing")?,
        value_type: Some("double".to_string()),
        ..Source::field(field.unwrap_or_default())
    })
}
