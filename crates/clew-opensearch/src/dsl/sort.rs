//! Sort clauses.

use clew_text::{Missing, Mode, Order, SortKey, SortValue};
use serde_json::Value;

use super::DslError;
use super::object::{Parameters, plain};

/// Reads `sort`: a name, an object, or an array of these.
///
/// # Errors
/// When the JSON is not a sort; the reason is OpenSearch's.
pub fn parse_sort(value: &Value) -> Result<Vec<SortKey>, DslError> {
    match value {
        Value::Null => Ok(Vec::new()),
        Value::Array(values) => {
            let mut keys = Vec::new();
            for value in values {
                keys.extend(parse_one(value)?);
            }
            Ok(keys)
        }
        one => parse_one(one),
    }
}

fn parse_one(value: &Value) -> Result<Vec<SortKey>, DslError> {
    match value {
        Value::String(name) => {
            // Old clients write the order behind a colon.
            let (name, order) = match name.rsplit_once(':') {
                Some((name, "asc")) => (name, Some(Order::Asc)),
                Some((name, "desc")) => (name, Some(Order::Desc)),
                _ => (name.as_str(), None),
            };
            Ok(vec![plain_key(name, order)])
        }
        Value::Object(object) => object
            .iter()
            .map(|(name, value)| match value {
                Value::Object(_) => detailed(name, value),
                Value::String(text) => Ok(plain_key(name, Some(order(text)?))),
                Value::Null => Ok(plain_key(name, None)),
                _ => Err(malformed()),
            })
            .collect(),
        _ => Err(malformed()),
    }
}

fn malformed() -> DslError {
    DslError::illegal(
        "malformed sort format, within the sort array, an object, or an actual string are allowed",
    )
}

fn order(text: &str) -> Result<Order, DslError> {
    match text.to_ascii_lowercase().as_str() {
        "asc" => Ok(Order::Asc),
        "desc" => Ok(Order::Desc),
        _ => Err(DslError::illegal(format!("Unknown SortOrder [{text}]"))),
    }
}

fn plain_key(name: &str, order: Option<Order>) -> SortKey {
    match name {
        "_score" => SortKey::Score {
            order: order.unwrap_or(Order::Desc),
        },
        "_doc" | "_shard_doc" => SortKey::Doc {
            order: order.unwrap_or(Order::Asc),
        },
        path => SortKey::field(path, order.unwrap_or(Order::Asc)),
    }
}

fn detailed(name: &str, value: &Value) -> Result<SortKey, DslError> {
    let mut parameters = Parameters::new("field_sort", value)?;
    let order = parameters
        .text("order")?
        .map(|text| order(&text))
        .transpose()?;
    let missing = match parameters.take("missing") {
        None | Some(Value::Null) => Missing::Last,
        Some(Value::String(text)) if text == "_last" => Missing::Last,
        Some(Value::String(text)) if text == "_first" => Missing::First,
        Some(Value::Bool(truth)) => Missing::Value(SortValue::I64(i64::from(*truth))),
        Some(Value::Number(number)) => Missing::Value(match number.as_i64() {
            Some(whole) => SortValue::I64(whole),
            None if number.is_u64() => SortValue::U64(number.as_u64().unwrap_or(u64::MAX)),
            None => SortValue::F64(number.as_f64().unwrap_or(f64::MAX)),
        }),
        Some(other) => Missing::Value(SortValue::Str(plain(other))),
    };
    let mode = match parameters.text("mode")?.as_deref() {
        None => None,
        Some("min") => Some(Mode::Min),
        Some("max") => Some(Mode::Max),
        Some("sum") => Some(Mode::Sum),
        Some("avg") => Some(Mode::Avg),
        Some("median") => Some(Mode::Median),
        Some(other) => {
            return Err(DslError::illegal(format!("Unknown SortMode [{other}]")));
        }
    };
    let unmapped = parameters.text("unmapped_type")?.is_some();
    parameters.ignore(&["numeric_type", "format", "ignore_unmapped"]);
    parameters.finish()?;
    Ok(match plain_key(name, order) {
        SortKey::Field { path, order, .. } => SortKey::Field {
            path,
            order,
            missing,
            mode,
            unmapped_ok: unmapped,
        },
        other => other,
    })
}
