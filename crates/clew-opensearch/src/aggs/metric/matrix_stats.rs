//! `matrix_stats`: how several fields are distributed, and how they vary together.

use clew_aggregation::MatrixResult;
use clew_query::SortMode;
use clew_query::aggregation::{AggSpec, MatrixSpec, Source};
use serde_json::{Map, Value, json};

use crate::aggs::AggDslError;
use crate::aggs::body::Body;
use crate::aggs::java_order::java_order;
use crate::aggs::plain::scalar;
use crate::aggs::render::TypeName;
use crate::aggs::table::{NO_VALUES, Row};

/// By name: the values it reads, and its reader.
pub(crate) const ROWS: &[Row] = &[Row::new("matrix_stats", NO_VALUES, read)];

fn read(body: &mut Body<'_>) -> Result<AggSpec, AggDslError> {
    // Its numbers have no texts, which a format would be of.
    body.only_text("format")?;
    let names = match body.take("fields") {
        Some(Value::Array(names)) => names.iter().collect(),
        Some(name @ Value::String(_)) => vec![name],
        Some(other) => return Err(body.wrong("fields", other)),
        None => Vec::new(),
    };
    if names.is_empty() {
        let reason = format!(
            "Required [fields] for aggregation [{}] of type [matrix_stats]",
            body.name
        );
        body.late(AggDslError::illegal(reason));
    }
    let missing = match body.take("missing") {
        Some(Value::Object(members)) => Some(members),
        Some(other) => return Err(body.wrong("missing", other)),
        None => None,
    };
    let source = |name: &Value| -> Result<Source, AggDslError> {
        let name = name.as_str().ok_or_else(|| body.wrong("fields", name))?;
        let stand_in = missing.and_then(|members| members.get(name));
        Ok(Source {
            missing: stand_in.and_then(scalar),
            ..Source::field(name)
        })
    };
    let mut fields: Vec<Source> = Vec::new();
    for name in names {
        let source = source(name)?;
        // A field that is named twice is one.
        if fields.iter().all(|known| known.field != source.field) {
            fields.push(source);
        }
    }
    let mode = match body.only_text("mode")?.as_deref() {
        None | Some("avg") => SortMode::Avg,
        Some("min") => SortMode::Min,
        Some("max") => SortMode::Max,
        Some("sum") => SortMode::Sum,
        Some("median") => SortMode::Median,
        Some(other) => {
            return Err(AggDslError::illegal(format!("Illegal sort mode: {other}")));
        }
    };
    Ok(AggSpec::Matrix(MatrixSpec { fields, mode }))
}

/// Writes its result, and says the type.
pub(crate) fn write(body: &mut Map<String, Value>, matrix: &MatrixResult) -> TypeName {
    let name = "matrix_stats";
    body.insert("doc_count".to_string(), json!(matrix.doc_count));
    if matrix.doc_count == 0 {
        return name;
    }
    let order = java_order(&matrix.names);
    let by_name = |numbers: &[f64]| -> Map<String, Value> {
        let each = order.iter();
        each.map(|at| (matrix.names[*at].clone(), shown(numbers[*at])))
            .collect()
    };
    let fields = order.iter().map(|at| {
        let (at, field) = (*at, &matrix.fields[*at]);
        json!({
            "name": matrix.names[at],
            "count": matrix.doc_count,
            "mean": shown(field.mean),
            "variance": shown(field.variance),
            "skewness": shown(field.skewness),
            "kurtosis": shown(field.kurtosis),
            "covariance": by_name(&matrix.covariance[at]),
            "correlation": by_name(&matrix.correlation[at]),
        })
    });
    body.insert("fields".to_string(), fields.collect());
    name
}

/// A number, or what Java writes for one that is none.
fn shown(number: f64) -> Value {
    if number.is_nan() {
        return json!("NaN");
    }
    json!(number)
}
