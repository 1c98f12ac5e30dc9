//! Sort clauses.

use clew_query::{
    GeoDistanceKey, Missing, NestedSort, Order, ScriptKey, ScriptPurpose, ScriptSort, SortKey,
    SortMode, SortNumeric, SortValue, Unmapped, refusal_of_text,
};
use clew_schema::geo::{DistanceUnit, GeoPoint};
use serde_json::Value;

use super::DslError;
use super::object::{Parameters, plain};
use crate::http::place::Spot;

/// Reads `sort`: a name, an object, or an array of these.
///
/// # Errors
/// When the JSON is not a sort; the reason is OpenSearch's.
pub fn parse_sort(value: &Value) -> Result<Vec<SortKey>, DslError> {
    keys(value).map(unless_usual)
}

/// Reads `sort` of a URI: names, behind each an order where there is a colon. What has another word there is passed over,
/// as in OpenSearch; `None` where nothing is left.
pub(crate) fn parse_uri_sort(names: &[&str]) -> Option<Vec<SortKey>> {
    let keys = names.iter().filter_map(|name| match name.rsplit_once(':') {
        None => Some(plain_key(name, None)),
        Some((name, "asc")) => Some(plain_key(name, Some(Order::Asc))),
        Some((name, "desc")) => Some(plain_key(name, Some(Order::Desc))),
        Some(_) => None,
    });
    let keys: Vec<SortKey> = keys.collect();
    (!keys.is_empty()).then(|| unless_usual(keys))
}

/// By falling score is the order anyway: such hits carry no sort values.
fn unless_usual(keys: Vec<SortKey>) -> Vec<SortKey> {
    match &keys[..] {
        [SortKey::Score { order: Order::Desc }] => Vec::new(),
        _ => keys,
    }
}

fn keys(value: &Value) -> Result<Vec<SortKey>, DslError> {
    match value {
        Value::Null => Ok(Vec::new()),
        Value::Array(values) => {
            let mut keys = Vec::new();
            for value in values {
                keys.extend(parse_one(value)?);
            }
            Ok(keys)
        }
        // What stands alone is a name, whatever it looks like.
        Value::Number(_) | Value::Bool(_) => Ok(vec![plain_key(&plain(value), None)]),
        one => parse_one(one),
    }
}

fn parse_one(value: &Value) -> Result<Vec<SortKey>, DslError> {
    match value {
        // A colon is part of the name: only URIs have an order behind one.
        Value::String(name) => Ok(vec![plain_key(name, None)]),
        Value::Object(object) => object
            .iter()
            .map(|(name, value)| match value {
                Value::Object(_) if matches!(name.as_str(), "_geo_distance" | "_geoDistance") => {
                    geo_distance(value)
                }
                Value::Object(_) if name == "_script" => by_script(value),
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
        _ => Err(DslError::illegal(format!(
            "No enum constant org.opensearch.search.sort.SortOrder.{}",
            text.to_uppercase()
        ))),
    }
}

/// The `order` among the parameters of a sort.
fn order_of(parameters: &mut Parameters<'_>) -> Result<Option<Order>, DslError> {
    let order = parameters.text("order")?.map(|text| order(&text));
    order
        .transpose()
        .map_err(|error| parameters.in_field("order", error))
}

fn plain_key(name: &str, order: Option<Order>) -> SortKey {
    match name {
        "_score" => SortKey::Score {
            order: order.unwrap_or(Order::Desc),
        },
        "_doc" => SortKey::Doc {
            order: order.unwrap_or(Order::Asc),
        },
        path => SortKey::field(path, order.unwrap_or(Order::Asc)),
    }
}

/// `_geo_distance`: a field, the points that distances are from, and how they are shown.
fn geo_distance(value: &Value) -> Result<SortKey, DslError> {
    let mut parameters = Parameters::new("_geo_distance", value)?;
    let order = match parameters.text("order")? {
        Some(text) => order(&text)?,
        None => Order::Asc,
    };
    let mode = mode(&mut parameters)?;
    if mode == Some(SortMode::Sum) {
        return Err(DslError::illegal(
            "sort_mode [sum] isn't supported for sorting by geo distance",
        ));
    }
    let on_plane = super::geo::is_on_plane(&mut parameters)?;
    let unit = super::geo::unit(&mut parameters)?;
    let unmapped_ok = parameters.flag("ignore_unmapped")?.unwrap_or(false);
    let is_lenient = super::geo::is_lenient(&mut parameters)?;
    let Some((path, value)) = parameters.take_any() else {
        return Err(DslError::illegal(
            "Geo distance sorting needs at least one point.",
        ));
    };
    parameters.finish()?;
    let within = |point| match is_lenient {
        true => super::geo::in_range(point),
        false => point,
    };
    let origins: Vec<GeoPoint> = GeoPoint::many_from_json(value)
        .and_then(|points| {
            let points = points.into_iter().map(within);
            points.map(GeoPoint::checked).collect()
        })
        .map_err(|reason: String| {
            DslError::illegal(format!("{reason} for geo distance sort on [{path}]"))
        })?;
    // The nearest ones to one point in metres are found by another way there, which knows no planes.
    let is_plain = origins.len() == 1
        && unit == DistanceUnit::metres()
        && order == Order::Asc
        && matches!(mode, None | Some(SortMode::Min));
    Ok(SortKey::GeoDistance(GeoDistanceKey {
        path: path.to_string(),
        origins,
        unit,
        order,
        mode,
        on_plane: on_plane && !is_plain,
        unmapped_ok,
    }))
}

/// `_script`: a number or a text that a script makes of each document.
fn by_script(value: &Value) -> Result<SortKey, DslError> {
    let mut parameters = Parameters::new("_script", value)?;
    let order = order_of(&mut parameters)?.unwrap_or(Order::Asc);
    let kind = match parameters.text("type")?.as_deref() {
        None => None,
        Some("number") => Some(ScriptSort::Number),
        Some("string") => Some(ScriptSort::Text),
        Some(other) => {
            let error = DslError::illegal(format!("Unknown ScriptSortType [{other}]"));
            return Err(parameters.in_field("type", error));
        }
    };
    mode(&mut parameters).map_err(|error| parameters.in_field("mode", error))?;
    let script = parameters.take("script");
    if parameters.has("nested") {
        return Err(DslError::illegal(
            "[_script] cannot sort by scripts over nested objects",
        ));
    }
    parameters.finish_by_name()?;
    let (script, kind) = match (script, kind) {
        (Some(script), Some(kind)) => (script, kind),
        (Some(_), None) => return Err(DslError::illegal("Required [type]")),
        (None, Some(_)) => return Err(DslError::illegal("Required [script]")),
        (None, None) => return Err(DslError::illegal("Required [script, type]")),
    };
    let script = super::script::Written::of("_script", script)?.read(ScriptPurpose::Order)?;
    if !script.measures().is_empty() {
        return Err(DslError::illegal(
            "[_script] cannot sort by distances of vectors: use [script_score]",
        ));
    }
    Ok(SortKey::Script(Box::new(ScriptKey {
        script,
        kind,
        order,
    })))
}

fn mode(parameters: &mut Parameters<'_>) -> Result<Option<SortMode>, DslError> {
    let Some(asked) = parameters.text("mode")? else {
        return Ok(None);
    };
    Ok(Some(match asked.to_ascii_lowercase().as_str() {
        "min" => SortMode::Min,
        "max" => SortMode::Max,
        "avg" => SortMode::Avg,
        "sum" => SortMode::Sum,
        "median" => SortMode::Median,
        _ => return Err(DslError::illegal(format!("Unknown SortMode [{asked}]"))),
    }))
}

fn detailed(name: &str, value: &Value) -> Result<SortKey, DslError> {
    if name == "_score" {
        // Every document has one score: there is an order to ask for, and nothing else.
        let mut parameters = Parameters::new("_score", value)?;
        let order = order_of(&mut parameters)?;
        parameters.finish_by_name()?;
        return Ok(plain_key(name, order));
    }
    let mut parameters = Parameters::new("field_sort", value)?;
    let order = order_of(&mut parameters)?;
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
        Some(other) if other.is_array() || other.is_object() => {
            return Err(parameters.other_sort("missing", other));
        }
        Some(other) => Missing::Value(SortValue::Str(plain(other))),
    };
    let mode = mode(&mut parameters).map_err(|error| parameters.in_field("mode", error))?;
    let unmapped = unmapped(&mut parameters)?;
    let nested = nested_of(&mut parameters)?;
    let numeric = numeric_type(&mut parameters)
        .map_err(|error| parameters.in_field("numeric_type", error))?;
    parameters.ignore(&["ignore_unmapped"]);
    parameters.finish_by_name()?;
    Ok(match plain_key(name, order) {
        SortKey::Field { path, order, .. } => SortKey::Field {
            path,
            order,
            missing,
            mode,
            unmapped,
            nested,
            numeric,
        },
        other => other,
    })
}

/// `unmapped_type`: what a field is where no mapping says it.
fn unmapped(parameters: &mut Parameters<'_>) -> Result<Unmapped, DslError> {
    let name = match parameters.take("unmapped_type") {
        None => return Ok(Unmapped::Refused),
        Some(Value::String(name)) => name,
        Some(other) => return Err(parameters.other_sort("unmapped_type", other)),
    };
    if let Some(reason) = without_order(name) {
        return Ok(Unmapped::WithoutOrder(reason));
    }
    Ok(match name.as_str() {
        "boolean" | "byte" | "short" | "integer" => Unmapped::Int,
        "long" | "date" | "date_nanos" => Unmapped::Long,
        "unsigned_long" => Unmapped::Unsigned,
        "half_float" | "float" | "double" => Unmapped::Float,
        // That of old clients.
        "string" => Unmapped::Empty,
        other if clew_opensearch_mapping::is_type(other) => Unmapped::Empty,
        _ => Unmapped::OfNoType(name.clone()),
    })
}

/// Why nothing is ordered by a field of a type of which no more is said than its name.
fn without_order(name: &str) -> Option<String> {
    // What OpenSearch calls the field.
    let field = format!("__anonymous_{name}");
    Some(match name {
        "text" | "match_only_text" | "search_as_you_type" => refusal_of_text(&field),
        "geo_point" | "geo_shape" => format!(
            "can't sort on {name} field without using specific sorting feature, like geo_distance"
        ),
        "wildcard" | "binary" => format!(
            "Can't load fielddata on [{field}] because fielddata is unsupported on fields of type \
             [{name}]. Use doc values instead."
        ),
        "flat_object" => {
            format!("Field [{field}] of type [{name}] does not support doc_value in root field")
        }
        "scaled_float" => "Field [scaling_factor] is required".to_string(),
        "alias" => format!("The [path] property must be specified for field [{field}]."),
        _ => return None,
    })
}

/// The nested objects that `nested` names, or the members that older clients write in its place.
fn nested_of(parameters: &mut Parameters<'_>) -> Result<Option<Box<NestedSort>>, DslError> {
    let named = match parameters.take("nested") {
        None | Some(Value::Null) => None,
        Some(value) => {
            let read = nested(value, 0);
            let read = read.map_err(|error| parameters.in_field("nested", error));
            Some(Box::new(read?))
        }
    };
    let path = parameters.text("nested_path")?;
    let filter = match parameters.take("nested_filter") {
        None | Some(Value::Null) => None,
        Some(filter) => Some(super::query(filter, 0)?),
    };
    if named.is_some() {
        if path.is_some() || filter.is_some() {
            return Err(DslError::illegal(
                "Setting both nested_path/nested_filter and nested not allowed",
            ));
        }
        return Ok(named);
    }
    // Without a path nothing is filtered.
    Ok(path.map(|path| {
        Box::new(NestedSort {
            filter,
            ..NestedSort::new(path)
        })
    }))
}

/// `numeric_type`: what the numbers of a field are ordered as.
fn numeric_type(parameters: &mut Parameters<'_>) -> Result<Option<SortNumeric>, DslError> {
    let Some(asked) = parameters.text("numeric_type")? else {
        return Ok(None);
    };
    Ok(Some(match asked.to_ascii_lowercase().as_str() {
        "long" => SortNumeric::Long,
        "double" => SortNumeric::Double,
        "date" => SortNumeric::Date,
        "date_nanos" => SortNumeric::DateNanos,
        _ => {
            return Err(DslError::illegal(format!(
                "invalid value for [numeric_type], must be [long, double, date, date_nanos], got {asked}"
            )));
        }
    }))
}

/// How deep objects may lie inside others.
const NESTED_MAX: usize = 20;

/// The nested objects that a document is ordered by.
fn nested(value: &Value, depth: usize) -> Result<NestedSort, DslError> {
    if depth > NESTED_MAX {
        return Err(super::too_deep());
    }
    let mut parameters = Parameters::new("nested_sort", value)?;
    let path = parameters.text("path")?;
    let filter = match parameters.take("filter") {
        None | Some(Value::Null) => None,
        Some(filter) => Some(super::query(filter, depth)?),
    };
    let max_children = parameters.whole("max_children")?;
    let inner = match parameters.take("nested") {
        None | Some(Value::Null) => None,
        Some(inner) => Some(Box::new(nested(inner, depth + 1)?)),
    };
    if let Some((name, value)) = parameters.first() {
        let reason = format!("malformed nested sort format, unknown field name [{name}]");
        return Err(DslError::illegal(reason).at(Spot::start_of(value)));
    }
    let path = path.ok_or_else(|| DslError::illegal("Required [path]"))?;
    let mut sort = NestedSort::new(path);
    sort.filter = filter;
    sort.max_children = max_children;
    sort.inner = inner;
    Ok(sort)
}
