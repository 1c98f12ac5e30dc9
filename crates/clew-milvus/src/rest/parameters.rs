//! What a search says of itself beside what it looks for.

use serde_json::Value;

use super::body::{Body, Result, pair, text_of};
use crate::error::MilvusError;
use crate::instant::ZONE;
use crate::proto::KeyValuePair;

/// The parameter that says by what fields rows or hits are brought into an order.
pub(super) const ORDER_BY: &str = "order_by_fields";
/// What says how hits are grouped, and the parameters that these are.
pub(super) const GROUPING: [(&str, &str); 3] = [
    ("groupingField", "group_by_field"),
    ("groupSize", "group_size"),
    ("strictGroupSize", "strict_group_size"),
];
/// Rows of a query, and hits of a search, that says no number.
pub(super) const LIMIT: i64 = 100;

/// The parameters of a search of a field: those that have members of their own, and those of the member that is `said`.
/// These mean the same beside `params` as within, and stand by themselves, too, as in Milvus.
///
/// # Errors
/// When one is said twice.
pub(super) fn read((body, said): (&Body, &str), field: &str) -> Result<Vec<KeyValuePair>> {
    let given = Body(body.object(said)?);
    let mut params = given.object("params")?;
    let mut all = vec![
        pair("anns_field", field),
        pair("topk", body.number("limit")?.unwrap_or(LIMIT)),
    ];
    if let Some(offset) = body.number("offset")? {
        all.push(pair("offset", offset));
    }
    let metric = given.text_or("metricType", &body.text_or("metricType", "")?)?;
    if !metric.is_empty() {
        all.push(pair("metric_type", metric));
    }
    let mut doubly = Vec::new();
    for (name, key) in GROUPING.into_iter().chain([(ZONE, ZONE)]) {
        if let Some(value) = body.get(name) {
            all.push(pair(key, text_of(value)));
        }
    }
    // All of it stands in one of both places.
    if is_grouped(body) {
        doubly.extend(GROUPING.map(|(_, key)| (key, "grouping")));
    }
    let order = body.texts("orderByFields")?;
    if !order.is_empty() {
        all.push(pair(ORDER_BY, order.join(",")));
        doubly.push((ORDER_BY, "order by"));
    }
    for (key, what) in doubly {
        if given.0.contains_key(key) || (key == ORDER_BY && params.contains_key(key)) {
            let said =
                format!("ambiguous {what}: it is said by the search, and as {key} in {said}, too");
            return Err(MilvusError::Invalid(said).into());
        }
    }
    for (key, value) in &given.0 {
        if key == "params" || key == "metricType" || value.is_null() {
            continue;
        }
        let within = params.entry(key.clone()).or_insert_with(|| value.clone());
        if !is_same(within, value) {
            return Err(MilvusError::Invalid(format!(
                "ambiguous parameter: {key}, in search_param: {value}, in search_param.params: {within}"
            ))
            .into());
        }
        let name = match key.as_str() {
            "ignoreGrowing" => "ignore_growing",
            other => other,
        };
        if !all.iter().any(|pair| pair.key == name) {
            all.push(pair(name, text_of(value)));
        }
    }
    all.push(pair("params", Value::Object(params)));
    Ok(all)
}

/// Whether a search says by members of its own how hits are grouped.
pub(super) fn is_grouped(body: &Body) -> bool {
    GROUPING.iter().any(|(name, _)| body.get(name).is_some())
}

/// Whether two values mean the same: 10 and 10.0 do.
fn is_same(one: &Value, other: &Value) -> bool {
    let numbers = one.as_f64().zip(other.as_f64());
    one == other || numbers.is_some_and(|(one, other)| one.to_bits() == other.to_bits())
}
