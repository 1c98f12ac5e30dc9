//! `composite`: buckets per combination of values, page by page.

use clew_aggregation::{CompositeResult, Key};
use clew_query::aggregation::{
    AggSpec, CompositeKind, CompositeSource, CompositeSpec, Direction, MissingOrder, Scalar,
};
use serde_json::{Map, Value, json};

use crate::aggs::AggDslError;
use crate::aggs::body::Body;
use crate::aggs::bucket::geo_grid::{bounds, geotile};
use crate::aggs::interval::{date_interval, date_offset};
use crate::aggs::plain::scalar;
use crate::aggs::render::{Rendering, TypeName, add_all};
use crate::aggs::settings::size;
use crate::aggs::shown::{insert_buckets, part_value, while_wanted};
use crate::aggs::table::{NO_VALUES, Row};
use crate::http::error::ApiError;
use crate::http::place::{Spot, token};

/// By name: the values it reads, and its reader.
pub(crate) const ROWS: &[Row] = &[Row::new("composite", NO_VALUES, |body| {
    read(body).map(AggSpec::Composite)
})];

fn read(body: &mut Body<'_>) -> Result<CompositeSpec, AggDslError> {
    body.require(&["sources"]);
    let size = size(body, 10)?;
    let sources = match body.take("sources") {
        None => Vec::new(),
        Some(value) => sources(body, value)?,
    };
    let after = match body.take("after") {
        None => None,
        Some(Value::Object(object)) => Some(after(object)?),
        Some(other) => return Err(body.wrong("after", other)),
    };
    Ok(CompositeSpec {
        sources,
        size,
        after,
    })
}

fn after(object: &Map<String, Value>) -> Result<Vec<(String, Option<Scalar>)>, AggDslError> {
    let one = |(name, value): (&String, &Value)| match value {
        Value::Null => Ok((name.clone(), None)),
        value => match scalar(value) {
            Some(scalar) => Ok((name.clone(), Some(scalar))),
            None => {
                let class = match value {
                    Value::Array(_) => "ArrayList",
                    _ => "HashMap",
                };
                let reason =
                    format!("Invalid value for [after.{name}], expected comparable, got [{class}]");
                Err(AggDslError::illegal(reason).of_shards())
            }
        },
    };
    object.iter().map(one).collect()
}

/// The sources of keys, each of a name of its own.
fn sources(body: &Body<'_>, value: &Value) -> Result<Vec<CompositeSource>, AggDslError> {
    let list = match value {
        Value::Array(list) => list.as_slice(),
        one @ Value::Object(_) => std::slice::from_ref(one),
        other => return Err(body.wrong("sources", other)),
    };
    let source = |value: &Value| {
        named_source(value, body.name).map_err(|error| body.in_field("sources", error))
    };
    let sources = list.iter().map(source).collect::<Result<Vec<_>, _>>()?;
    let wrong = |reason: String| {
        let error = AggDslError::illegal(reason).not_built(body.kind);
        error.in_field(body.kind, "sources").at(Spot::end_of(value))
    };
    if sources.is_empty() {
        let reason = "Composite [sources] cannot be null or empty";
        return Err(wrong(reason.to_string()));
    }
    for (at, source) in sources.iter().enumerate() {
        if sources[..at].iter().any(|other| other.name == source.name) {
            return Err(wrong(format!(
                "Composite source names must be unique, found duplicates: [{}]",
                source.name
            )));
        }
    }
    Ok(sources)
}

/// The only member of an object.
fn only(value: &Value) -> Result<(&str, &Value), AggDslError> {
    let wrong = |expected: &str, found: &str, spot: Spot| {
        let reason = format!(
            "Failed to parse object: expecting token of type [{expected}] but found [{found}]"
        );
        Err(AggDslError::parsing(reason).at(spot))
    };
    let Value::Object(members) = value else {
        return wrong("START_OBJECT", token(value), Spot::start_of(value));
    };
    let mut members = members.iter();
    match (members.next(), members.next()) {
        (None, _) => wrong("FIELD_NAME", "END_OBJECT", Spot::end_of(value)),
        (Some(_), Some((_, second))) => wrong("END_OBJECT", "FIELD_NAME", Spot::name_of(second)),
        (Some((name, value)), None) => Ok((name.as_str(), value)),
    }
}

/// `{"name": {"terms": {...}}}`.
fn named_source(value: &Value, aggregation: &str) -> Result<CompositeSource, AggDslError> {
    let (name, inner) = only(value)?;
    let (kind, written) = only(inner)?;
    let settings = written.as_object().ok_or_else(|| {
        let reason =
            format!("a source of [{aggregation}] must be an object with a name and in it a type");
        AggDslError::parsing(reason).at(Spot::start_of(written))
    })?;
    let mut source = Body::new(kind, name, settings);
    let direction = match source.text("order")?.map(|text| text.to_ascii_uppercase()) {
        None => Direction::Ascending,
        Some(text) if text == "ASC" => Direction::Ascending,
        Some(text) if text == "DESC" => Direction::Descending,
        Some(text) => {
            let reason = format!("No enum constant org.opensearch.search.sort.SortOrder.{text}");
            return Err(source.in_field("order", AggDslError::illegal(reason)));
        }
    };
    let missing_order = match source.text("missing_order")?.as_deref() {
        None | Some("default") => MissingOrder::Default,
        Some("first") => MissingOrder::First,
        Some("last") => MissingOrder::Last,
        Some(text) => {
            let constant = text.to_ascii_uppercase();
            let reason = format!(
                "No enum constant \
                 org.opensearch.search.aggregations.bucket.missing.MissingOrder.{constant}"
            );
            return Err(source.in_field("missing_order", AggDslError::illegal(reason)));
        }
    };
    let missing_bucket = source.flag("missing_bucket")?;
    if missing_order != MissingOrder::Default && !missing_bucket {
        let reason = "missing_order require missing_bucket is true";
        return Err(AggDslError::illegal(reason).of_shards());
    }
    let kind = composite_kind((kind, written), &mut source)?;
    source.end()?;
    Ok(CompositeSource {
        name: name.to_string(),
        kind,
        missing_bucket,
        missing_order,
        direction,
    })
}

fn composite_kind(
    (kind, written): (&str, &Value),
    source: &mut Body<'_>,
) -> Result<CompositeKind, AggDslError> {
    let lacking: &[&str] = match kind {
        "date_histogram" => &["missing"],
        _ => &["missing", "format"],
    };
    source.lack(lacking)?;
    Ok(match kind {
        "terms" => CompositeKind::Terms(source.source()?),
        "histogram" => {
            let interval = source.number("interval")?.unwrap_or(0.0);
            if interval <= 0.0 {
                let reason = "[interval] must be greater than 0 for [histogram] source";
                let error = source.in_field("interval", AggDslError::illegal(reason));
                source.late(error);
            }
            CompositeKind::Histogram {
                source: source.source()?,
                interval,
            }
        }
        "date_histogram" => CompositeKind::DateHistogram {
            interval: date_interval(source)?,
            time_zone: source.time_zone()?,
            offset_ms: date_offset(source)?,
            source: source.source()?,
        },
        "geotile_grid" => CompositeKind::Cells {
            grid: geotile(source)?,
            bounds: bounds(source)?,
            source: source.source()?,
        },
        other => {
            let reason = format!("invalid source type: {other}");
            return Err(AggDslError::parsing(reason).at(Spot::start_of(written)));
        }
    })
}

/// Writes its result, and says the type.
pub(crate) fn write(
    body: &mut Map<String, Value>,
    composite: &CompositeResult,
    how: Rendering<'_>,
) -> Result<TypeName, ApiError> {
    let shown = |key: &Key| {
        let parts = match key {
            Key::Tuple(keys) => &keys[..],
            _ => &[],
        };
        let mut object = Map::new();
        for ((name, format), key) in composite.names.iter().zip(&composite.formats).zip(parts) {
            object.insert(name.clone(), part_value(key, format));
        }
        Value::Object(object)
    };
    let last = composite.buckets.last().map(|bucket| &bucket.key);
    if let Some(last) = composite.ended_at.as_ref().or(last) {
        body.insert("after_key".to_string(), shown(last));
    }
    let buckets = while_wanted(&composite.buckets).map(|bucket| {
        let mut object = Map::new();
        object.insert("key".to_string(), shown(&bucket.key));
        object.insert("doc_count".to_string(), json!(bucket.doc_count));
        add_all(&mut object, &bucket.subs, how)?;
        Ok(Value::Object(object))
    });
    insert_buckets(body, buckets)?;
    Ok("composite")
}
