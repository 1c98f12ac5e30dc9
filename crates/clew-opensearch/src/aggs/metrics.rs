//! Metrics that have settings of their own.

use clew_query::SortMode;
use clew_query::aggregation::{
    AggSpec, MatrixSpec, MedianDeviationSpec, Method, PercentilesSpec, Source, WeightedAvgSpec,
};
use serde_json::Value;

use super::body::Body;
use super::error::AggDslError;

/// The percentages shown unless the request says otherwise.
pub(super) const PERCENTS: [f64; 7] = [1.0, 5.0, 25.0, 50.0, 75.0, 95.0, 99.0];
/// Digests are this exact unless the request says otherwise.
const COMPRESSION: f64 = 100.0;
/// Compression of the median's deviation, which is computed from a digest of a digest.
const MEDIAN_COMPRESSION: f64 = 1_000.0;
/// More would take more memory than the values themselves.
const COMPRESSION_MAX: f64 = 100_000.0;

/// The metric of a type, if it is one of these.
pub(super) fn parse(kind: &str, body: &mut Body<'_>) -> Result<Option<AggSpec>, AggDslError> {
    Ok(Some(match kind {
        "percentiles" => AggSpec::Percentiles(percentiles(body)?),
        "percentile_ranks" => AggSpec::Percentiles(ranks(body)?),
        "median_absolute_deviation" => {
            let compression = body.number("compression")?.unwrap_or(MEDIAN_COMPRESSION);
            if compression <= 0.0 {
                return Err(AggDslError::illegal(format!(
                    "[compression] must be greater than 0. Found [{compression:?}] in [{}]",
                    body.name
                )));
            }
            AggSpec::MedianDeviation(MedianDeviationSpec {
                source: body.source()?,
                compression: compression.min(COMPRESSION_MAX),
            })
        }
        "weighted_avg" => {
            let format = body.text("format")?;
            body.take("value_type");
            let value = part(body, "value")?;
            AggSpec::WeightedAvg(WeightedAvgSpec {
                value: Source { format, ..value },
                weight: part(body, "weight")?,
            })
        }
        "matrix_stats" => matrix(body)?,
        _ => return Ok(None),
    }))
}

fn matrix(body: &mut Body<'_>) -> Result<AggSpec, AggDslError> {
    let names = match body.take("fields").or_else(|| body.take("field")) {
        Some(Value::Array(names)) => names.iter().collect(),
        Some(name @ Value::String(_)) => vec![name],
        Some(other) => return Err(body.wrong("fields", other)),
        None => Vec::new(),
    };
    if names.is_empty() {
        return Err(AggDslError::illegal(format!(
            "Required [fields] for aggregation [{}] of type [matrix_stats]",
            body.name
        )));
    }
    let missing = match body.take("missing") {
        Some(Value::Object(members)) => Some(members),
        Some(other) => return Err(body.wrong("missing", other)),
        None => None,
    };
    let source = |name: &Value| {
        let name = name.as_str().ok_or_else(|| body.wrong("fields", name))?;
        let stand_in = missing.and_then(|members| members.get(name));
        Ok(Source {
            missing: stand_in.and_then(super::body::scalar),
            ..Source::field(name)
        })
    };
    let fields = names
        .into_iter()
        .map(source)
        .collect::<Result<_, AggDslError>>()?;
    let mode = match body.text("mode")?.as_deref() {
        None | Some("avg") => SortMode::Avg,
        Some("min") => SortMode::Min,
        Some("max") => SortMode::Max,
        Some("sum") => SortMode::Sum,
        Some("median") => SortMode::Median,
        Some(other) => {
            return Err(AggDslError::illegal(format!(
                "Unknown MultiValueMode: {other}"
            )));
        }
    };
    Ok(AggSpec::Matrix(MatrixSpec { fields, mode }))
}

fn part(body: &mut Body<'_>, key: &str) -> Result<Source, AggDslError> {
    let Some(value) = body.take(key) else {
        return Err(AggDslError::illegal(format!("[{key}] must not be null")));
    };
    let settings = value.as_object().ok_or_else(|| body.wrong(key, value))?;
    let mut part = Body::new(body.kind, body.name, settings);
    let source = part.source()?;
    part.end()?;
    Ok(source)
}

fn percentiles(body: &mut Body<'_>) -> Result<PercentilesSpec, AggDslError> {
    let points = body.numbers("percents")?;
    let points = points.unwrap_or_else(|| PERCENTS.to_vec());
    let beyond = points.iter().find(|point| !(0.0..=100.0).contains(*point));
    if let Some(point) = beyond {
        return Err(AggDslError::illegal(format!(
            "percent must be in [0,100], got [{point:?}]: [{}]",
            body.name
        )));
    }
    Ok(PercentilesSpec {
        points,
        ranks: false,
        keyed: body.flag_or("keyed", true)?,
        method: method(body)?,
        source: body.source()?,
    })
}

fn ranks(body: &mut Body<'_>) -> Result<PercentilesSpec, AggDslError> {
    let points = body.numbers("values")?.ok_or_else(|| {
        AggDslError::illegal(format!("[values] must not be null: [{}]", body.name))
    })?;
    Ok(PercentilesSpec {
        points,
        ranks: true,
        keyed: body.flag_or("keyed", true)?,
        method: method(body)?,
        source: body.source()?,
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
    let object = |key: &str, value: &Value| match value.as_object() {
        Some(settings) => Ok(settings.clone()),
        None => Err(body.wrong(key, value)),
    };
    if let Some(hdr) = hdr {
        let settings = object("hdr", hdr)?;
        let mut part = Body::new("hdr", body.name, &settings);
        let digits = part.number("number_of_significant_value_digits")?;
        part.end()?;
        let digits = digits.unwrap_or(3.0);
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the number is between 0 and 5"
        )]
        let whole = digits.clamp(0.0, 5.0) as u8;
        if f64::from(whole).total_cmp(&digits).is_ne() {
            return Err(AggDslError::illegal(format!(
                "[numberOfSignificantValueDigits] must be between 0 and 5: [{}]",
                body.name
            )));
        }
        return Ok(Method::Hdr { digits: whole });
    }
    let mut compression = None;
    if let Some(digest) = digest {
        let settings = object("tdigest", digest)?;
        let mut part = Body::new("tdigest", body.name, &settings);
        compression = part.number("compression")?;
        part.end()?;
    }
    let compression = compression.unwrap_or(COMPRESSION);
    if compression < 0.0 {
        return Err(AggDslError::illegal(format!(
            "[compression] must be greater than or equal to 0. Found [{compression:?}] in [{}]",
            body.name
        )));
    }
    Ok(Method::TDigest {
        compression: compression.min(COMPRESSION_MAX),
    })
}
