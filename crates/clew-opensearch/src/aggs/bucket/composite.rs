//! `composite`: buckets per combination of values, page by page.

use clew_aggregation::{Bucket, CompositeResult, Key};
use clew_query::aggregation::{
    AggSpec, CompositeKind, CompositeSource, CompositeSpec, Direction, MissingOrder, Scalar,
};
use serde_json::{Map, Value, json};

use crate::aggs::AggDslError;
use crate::aggs::body::{Body, scalar};
use crate::aggs::bucket::geo_grid::geotile;
use crate::aggs::interval::{date_interval, date_offset};
use crate::aggs::render::{Rendering, TypeName, add_all};
use crate::aggs::settings::size;
use crate::aggs::shown::{insert_buckets, part_value, while_wanted};
use crate::aggs::table::{NO_VALUES, Row};
use crate::http::error::ApiError;

/// By name: the values it reads, and its reader.
pub(crate) const ROWS: &[Row] = &[Row::new("composite", NO_VALUES, |body| {
    read(body).map(AggSpec::Composite)
})];

fn read(body: &mut Body<'_>) -> Result<CompositeSpec, AggDslError> {
    let size = size(body, 10)?;
    let sources = match body.take("sources") {
        None => return Err(AggDslError::illegal("Required [sources]")),
        Some(Value::Array(list)) => {
            let sources = list.iter().map(|value| named_source(body, value));
            sources.collect::<Result<Vec<_>, _>>()?
        }
        Some(one) => vec![named_source(body, one)?],
    };
    if sources.is_empty() {
        return Err(AggDslError::illegal(
            "Composite [sources] cannot be null or empty",
        ));
    }
    for (at, source) in sources.iter().enumerate() {
        if sources[..at].iter().any(|other| other.name == source.name) {
            return Err(AggDslError::illegal(format!(
                "Composite source names must be unique, found duplicates: [{}]",
                source.name
            )));
        }
    }
    let after = match body.take("after") {
        None => None,
        Some(Value::Object(object)) => Some(after(body, object)?),
        Some(other) => return Err(body.wrong("after", other)),
    };
    Ok(CompositeSpec {
        sources,
        size,
        after,
    })
}

fn after(
    body: &Body<'_>,
    object: &Map<String, Value>,
) -> Result<Vec<(String, Option<Scalar>)>, AggDslError> {
    let one = |(name, value): (&String, &Value)| match value {
        Value::Null => Ok((name.clone(), None)),
        value => match scalar(value) {
            Some(scalar) => Ok((name.clone(), Some(scalar))),
            None => Err(body.wrong("after", value)),
        },
    };
    object.iter().map(one).collect()
}

/// `{"name": {"terms": {...}}}`.
fn named_source(body: &Body<'_>, value: &Value) -> Result<CompositeSource, AggDslError> {
    let only = |value: &Value| {
        let object = value.as_object().filter(|object| object.len() == 1)?;
        let (name, value) = object.iter().next()?;
        Some((name.clone(), value.clone()))
    };
    let wrong = || {
        AggDslError::parsing(format!(
            "a source of [{}] must be an object with a name and in it a type",
            body.name
        ))
    };
    let (name, inner) = only(value).ok_or_else(wrong)?;
    let (kind, settings) = only(&inner).ok_or_else(wrong)?;
    let settings = settings.as_object().ok_or_else(wrong)?.clone();
    let mut source = Body::new(&kind, &name, &settings);
    let direction = match source.text("order")?.map(|text| text.to_ascii_lowercase()) {
        None => Direction::Ascending,
        Some(text) if text == "asc" => Direction::Ascending,
        Some(text) if text == "desc" => Direction::Descending,
        Some(text) => {
            return Err(AggDslError::illegal(format!(
                "Unknown order direction [{text}]"
            )));
        }
    };
    let missing_order = match source.text("missing_order")?.as_deref() {
        None | Some("default") => MissingOrder::Default,
        Some("first") => MissingOrder::First,
        Some("last") => MissingOrder::Last,
        Some(text) => {
            return Err(AggDslError::illegal(format!(
                "Unknown missing order [{text}]"
            )));
        }
    };
    let missing_bucket = source.flag("missing_bucket")?;
    if missing_order != MissingOrder::Default && !missing_bucket {
        return Err(AggDslError::illegal(
            "missing_order can only be set if missing_bucket is true",
        ));
    }
    let kind = composite_kind(&kind, &mut source)?;
    source.end()?;
    Ok(CompositeSource {
        name,
        kind,
        missing_bucket,
        missing_order,
        direction,
    })
}

fn composite_kind(kind: &str, source: &mut Body<'_>) -> Result<CompositeKind, AggDslError> {
    Ok(match kind {
        "terms" => CompositeKind::Terms(source.source()?),
        "histogram" => {
            let interval = source.number("interval")?;
            let Some(interval) = interval.filter(|interval| *interval > 0.0) else {
                return Err(AggDslError::illegal(
                    "[interval] must be greater than 0 for [histogram] source",
                ));
            };
            CompositeKind::Histogram {
                source: source.source()?,
                interval,
            }
        }
        "date_histogram" => CompositeKind::DateHistogram {
            interval: date_interval(source)?,
            time_zone: source.text("time_zone")?,
            offset_ms: date_offset(source)?,
            source: source.source()?,
        },
        "geotile_grid" => CompositeKind::Cells {
            grid: geotile(source)?,
            source: source.source()?,
        },
        other => {
            return Err(AggDslError::parsing(format!(
                "invalid source type: {other}"
            )));
        }
    })
}

/// Writes its result, and says the type.
pub(crate) fn write(
    body: &mut Map<String, Value>,
    composite: &CompositeResult,
    how: Rendering<'_>,
) -> Result<TypeName, ApiError> {
    let key = |bucket: &Bucket| {
        let parts = match &bucket.key {
            Key::Tuple(keys) => &keys[..],
            _ => &[],
        };
        let mut object = Map::new();
        for ((name, format), key) in composite.names.iter().zip(&composite.formats).zip(parts) {
            object.insert(name.clone(), part_value(key, format));
        }
        Value::Object(object)
    };
    if let Some(last) = composite.buckets.last() {
        body.insert("after_key".to_string(), key(last));
    }
    let buckets = while_wanted(&composite.buckets).map(|bucket| {
        let mut object = Map::new();
        object.insert("key".to_string(), key(bucket));
        object.insert("doc_count".to_string(), json!(bucket.doc_count));
        add_all(&mut object, &bucket.subs, how)?;
        Ok(Value::Object(object))
    });
    insert_buckets(body, buckets)?;
    Ok("composite")
}
