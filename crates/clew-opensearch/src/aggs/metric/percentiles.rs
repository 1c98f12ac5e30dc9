//! `percentiles` and `percentile_ranks`.

use clew_aggregation::{PercentilesKind, PercentilesResult};
use clew_query::aggregation::{AggSpec, Method, PercentilesSpec};
use clew_schema::fraction_text;
use serde_json::{Map, Value, json};

use crate::aggs::AggDslError;
use crate::aggs::body::Body;
use crate::aggs::render::TypeName;
use crate::aggs::table::{NUMBERS, Row};

/// The percentages shown unless the request says otherwise.
pub(crate) const PERCENTS: [f64; 7] = [1.0, 5.0, 25.0, 50.0, 75.0, 95.0, 99.0];
/// Digests are this exact unless the request says otherwise.
const COMPRESSION: f64 = 100.0;
/// More would take more memory than the values themselves.
pub(crate) const COMPRESSION_MAX: f64 = 100_000.0;

/// By name: the values it reads, and its reader.
pub(crate) const ROWS: &[Row] = &[
    Row::new("percentiles", NUMBERS, |body| {
        percentiles(body).map(AggSpec::Percentiles)
    }),
    Row::new("percentile_ranks", NUMBERS, |body| {
        ranks(body).map(AggSpec::Percentiles)
    }),
];

fn percentiles(body: &mut Body<'_>) -> Result<PercentilesSpec, AggDslError> {
    let points = some_points(body, "percents", "empty")?;
    let points = points.unwrap_or_else(|| PERCENTS.to_vec());
    let beyond = points.iter().find(|point| !(0.0..=100.0).contains(*point));
    if let Some(point) = beyond {
        let reason = format!(
            "percent must be in [0,100], got [{point:?}]: [{}]",
            body.name
        );
        body.late(AggDslError::illegal(reason).not_built(body.kind));
    }
    Ok(PercentilesSpec {
        points,
        ranks: false,
        keyed: body.flag_or("keyed", true)?,
        method: method(body)?,
        source: body.source()?,
    })
}

/// The numbers to tell of, of which there must be some where they are given; OpenSearch says of none in these words.
fn some_points(
    body: &mut Body<'_>,
    key: &str,
    none: &str,
) -> Result<Option<Vec<f64>>, AggDslError> {
    let points = body.numbers_or_one(key)?;
    if points.as_ref().is_some_and(Vec::is_empty) {
        let reason = format!("[{key}] must not be {none}: [{}]", body.name);
        body.late(AggDslError::illegal(reason).not_built(body.kind));
    }
    Ok(points)
}

fn ranks(body: &mut Body<'_>) -> Result<PercentilesSpec, AggDslError> {
    let source = body.source()?;
    let points = some_points(body, "values", "an empty array")?;
    if points.is_none() {
        let reason = format!("[values] must not be null: [{}]", body.name);
        body.late(AggDslError::illegal(reason));
    }
    Ok(PercentilesSpec {
        points: points.unwrap_or_default(),
        ranks: true,
        keyed: body.flag_or("keyed", true)?,
        method: method(body)?,
        source,
    })
}

fn method(body: &mut Body<'_>) -> Result<Method, AggDslError> {
    let digest = body.take("tdigest");
    let hdr = body.take("hdr");
    if digest.is_some() && hdr.is_some() {
        return Err(AggDslError::illegal(
            "Only one percentiles method should be declared.",
        ));
    }
    if let Some(hdr) = hdr {
        let mut members = hdr.as_object().into_iter().flatten();
        if let Some((key, null)) = members.find(|(_, value)| value.is_null()) {
            return Err(body.wrong(key, null));
        }
        let digits = body.part(("hdr", "hdr"), hdr, hdr_digits)?;
        return Ok(Method::Hdr { digits });
    }
    let compression = match digest {
        Some(digest) => body.part(("tdigest", "tdigest"), digest, compression)?,
        None => COMPRESSION,
    };
    Ok(Method::TDigest {
        compression: compression.min(COMPRESSION_MAX),
    })
}

/// How many digits of a value count.
fn hdr_digits(part: &mut Body<'_>) -> Result<u8, AggDslError> {
    let key = "number_of_significant_value_digits";
    match u8::try_from(part.whole(key)?.unwrap_or(3)) {
        Ok(digits @ 0..=5) => Ok(digits),
        _ => {
            let reason = "[numberOfSignificantValueDigits] must be between 0 and 5";
            Err(part.in_field(key, AggDslError::illegal(reason)))
        }
    }
}

/// How exact a digest is.
fn compression(part: &mut Body<'_>) -> Result<f64, AggDslError> {
    let compression = part.number("compression")?.unwrap_or(COMPRESSION);
    if compression < 0.0 {
        let reason =
            format!("[compression] must be greater than or equal to 0. Found [{compression:?}]");
        return Err(part.in_field("compression", AggDslError::illegal(reason)));
    }
    Ok(compression)
}

/// Writes its result, and says the type.
pub(crate) fn write(body: &mut Map<String, Value>, percentiles: &PercentilesResult) -> TypeName {
    let text =
        |value: &Option<f64>| value.and_then(|value| percentiles.format.text_of_number(value));
    let values = if percentiles.keyed {
        let mut object = Map::new();
        for (point, value) in &percentiles.points {
            let name = fraction_text(*point);
            if let Some(text) = text(value) {
                object.insert(format!("{name}_as_string"), json!(text));
            }
            object.insert(name, json!(value));
        }
        Value::Object(object)
    } else {
        let one = |(point, value): &(f64, Option<f64>)| match text(value) {
            Some(text) => json!({"key": point, "value": value, "value_as_string": text}),
            None => json!({"key": point, "value": value}),
        };
        percentiles.points.iter().map(one).collect()
    };
    body.insert("values".to_string(), values);
    match percentiles.kind {
        PercentilesKind::TDigest => "tdigest_percentiles",
        PercentilesKind::Hdr => "hdr_percentiles",
        PercentilesKind::TDigestRanks => "tdigest_percentile_ranks",
        PercentilesKind::HdrRanks => "hdr_percentile_ranks",
        PercentilesKind::Buckets => "percentiles_bucket",
    }
}
